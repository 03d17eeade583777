//! The binary version of CIFAR: rows of a label and 3072 pixels (red, green and blue, 32 rows of 32 each); CIFAR-100 has two labels,
//! coarse and fine. Nothing says so but the name's end, `.bin`, the length and labels within their range. The arrays are `inputs`
//! (bytes, [N, 3, 32, 32]), `targets` and, of CIFAR-100, `coarse`: as many bytes as the file's.

use std::ops::Range;

use super::format::{Content, Format};
use super::numbers::Stored;
use super::sliced::{self, Place, Rows};
use super::{Array, Arrays, Elements, File};
use crate::error::{Result, bail};
use crate::memory::{collected, room};

pub(super) const FORMAT: Format =
    Format { name: "CIFAR binary", is, read: |file, _| read(&file.bytes).map(Content::Arrays) };

/// Pixels of an image.
const PIXELS: usize = 3 * 32 * 32;

/// CIFAR-10's classes.
pub(super) const CLASSES: [&str; 10] =
    ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"];

/// What CIFAR-100 is said to be.
const COARSE: &str = "CIFAR-100: the fine labels are the targets; the array coarse has the coarse ones.";

/// How many classes each label of a row is of.
const VERSIONS: [&[u8]; 2] = [&[10], &[20, 100]];

fn is(file: &File) -> bool {
    file.has_extension("bin") && version(&file.bytes, file.bytes.len() as u64).is_some()
}

/// Is it CIFAR-10, whose classes have names?
pub(super) fn is_cifar_10(file: &File) -> bool {
    is(file) && version(&file.bytes, file.bytes.len() as u64).is_some_and(|labels| labels.len() == 1)
}

/// Which of the two: by the length, and the first row's labels, with which the bytes begin.
fn version(bytes: &[u8], length: u64) -> Option<&'static [u8]> {
    VERSIONS.into_iter().find(|labels| {
        let is_multiple = length > 0 && length.is_multiple_of((labels.len() + PIXELS) as u64);
        is_multiple && bytes.iter().zip(*labels).all(|(label, classes)| label < classes)
    })
}

/// What lies row after row in a file of so many bytes, of which the first are here.
pub(super) fn sliced(file: &File, length: u64) -> Option<sliced::Arrays> {
    let labels = version(&file.bytes, length).filter(|_| file.has_extension("bin"))?;
    let stride = labels.len() + PIXELS;
    let count = usize::try_from(length / stride as u64).ok()?;
    let rows = |shape: &[usize], part: Range<usize>, classes: Option<u8>| Rows {
        shape: [&[count], shape].concat(),
        stored: Stored::U8,
        is_big_endian: false,
        place: Place { range: 0..length, deflated: None },
        header: 0,
        stride,
        part,
        classes,
    };
    let column = |at: usize| rows(&[], at..at + 1, labels.get(at).copied());
    let mut arrays = vec![
        ("inputs".into(), rows(&[3, 32, 32], labels.len()..stride, None)),
        ("targets".into(), column(labels.len() - 1)),
    ];
    if labels.len() > 1 {
        arrays.push(("coarse".into(), column(0)));
        return Some(sliced::Arrays { arrays, notes: vec![COARSE.into()], classes: Vec::new() });
    }
    Some(sliced::Arrays { arrays, notes: Vec::new(), classes: CLASSES.map(str::to_owned).to_vec() })
}

fn read(bytes: &[u8]) -> Result<Arrays> {
    let Some(labels) = version(bytes, bytes.len() as u64) else {
        bail!(Parse, "{} bytes are no rows of 3073 (CIFAR-10) or 3074 (CIFAR-100) with labels in front", bytes.len())
    };
    let rows = || bytes.chunks_exact(labels.len() + PIXELS);
    for (i, row) in rows().enumerate() {
        let wrong = row.iter().zip(labels).find(|(label, classes)| label >= classes);
        if let Some((label, classes)) = wrong {
            bail!(Parse, "image {i} has the label {label}, but there are {classes} classes, 0 to {}", classes - 1);
        }
    }
    let count = rows().len();
    let mut pixels: Vec<u8> = room("CIFAR's pixels", count * PIXELS)?;
    rows().for_each(|row| pixels.extend_from_slice(row.get(labels.len()..).unwrap_or_default()));
    let column = |at: usize| -> Result<Array> {
        let labels = collected("CIFAR's labels", rows().map(|row| row.get(at).copied().unwrap_or_default()))?;
        Array::new(vec![count], Elements::U8(labels))
    };
    let inputs = Array::new(vec![count, 3, 32, 32], Elements::U8(pixels))?;
    let mut arrays = vec![("inputs".into(), inputs), ("targets".into(), column(labels.len() - 1)?)];
    let mut notes = Vec::new();
    if labels.len() > 1 {
        arrays.push(("coarse".into(), column(0)?));
        notes.push(COARSE.into());
    }
    Ok(Arrays { arrays, notes, ..Arrays::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(labels: &[&[u8]]) -> Vec<u8> {
        let row = |(i, labels): (usize, &&[u8])| [labels, &[i as u8; PIXELS][..]].concat();
        labels.iter().enumerate().flat_map(row).collect()
    }

    #[test]
    fn labels_and_pixels_are_taken_apart() {
        let found = read(&rows(&[&[3], &[9]])).expect("CIFAR-10");
        let inputs = found.get("inputs").expect("inputs");
        assert_eq!(inputs.shape(), [2, 3, 32, 32]);
        assert_eq!(inputs.elements(), &Elements::U8([vec![0; PIXELS], vec![1; PIXELS]].concat()));
        assert_eq!(found.get("targets").expect("targets").elements(), &Elements::U8(vec![3, 9]));
        let found = read(&rows(&[&[19, 99], &[0, 42]])).expect("CIFAR-100");
        assert_eq!(found.get("targets").expect("targets").elements(), &Elements::U8(vec![99, 42]));
        assert_eq!(found.get("coarse").expect("coarse").elements(), &Elements::U8(vec![19, 0]));
    }

    #[test]
    fn what_has_other_lengths_or_labels_is_refused() {
        let good = rows(&[&[3], &[9]]);
        assert!(is_cifar_10(&File::new("data_batch_1.bin", &good[..])));
        assert!(!is(&File::new("data_batch_1", &good[..])) && !is(&File::new("a.bin", &good[1..])));
        assert!(read(&good[..good.len() - 1]).is_err() && read(&[]).is_err());
        let error = read(&rows(&[&[3], &[10]])).expect_err("no class 10");
        assert!(error.message.contains("image 1 has the label 10"), "{error}");
    }
}
