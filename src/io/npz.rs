//! NumPy's archives of arrays, `.npz`: a zip of `.npy` files.

use std::io::Read;

use flate2::read::DeflateDecoder;

use super::archive::{self, Archive, directory, is_zip};
use super::format::{Content, Format};
use super::sliced::{self, Place};
use super::source::{Source, Stream};
use super::{Array, Arrays, File, npy};
use crate::error::{Result, bail};

const END: &str = ".npy";

pub(super) const FORMAT: Format = Format {
    name: "NumPy (.npz)",
    is: |file| {
        // A broken archive is told apart by its name.
        let is_named = file.has_extension("npz");
        is_zip(&file.bytes)
            && Archive::open(&file.bytes).map_or(is_named, |zip| zip.names().iter().any(|n| n.ends_with(END)))
    },
    read: |file: &File, _| Ok(Content::Arrays(read(&file.bytes)?)),
};

/// Reads an archive's bytes. Arrays that are no numbers are left out, with a note.
///
/// # Errors
/// `Parse` for what is no archive of arrays, or where none of them has numbers; `TooLarge`.
pub(super) fn read(bytes: &[u8]) -> Result<Arrays> {
    let mut zip = Archive::open(bytes)?;
    let mut found = Arrays::default();
    for name in zip.names() {
        let Some(short) = name.strip_suffix(END) else { continue };
        match npy::read(&zip.read(&name)?) {
            Ok(array) => found.arrays.push((short.into(), array)),
            Err(error) => found.notes.push(format!("{short} is left out: {}", error.message)),
        }
    }
    if found.arrays.is_empty() {
        bail!(Parse, "the archive has no arrays of numbers: {}", found.notes.join("; "));
    }
    Ok(found)
}

/// What lies row after row in an archive. `None` where something would have to be read to be known.
pub(super) fn sliced(source: &dyn Source) -> Option<sliced::Arrays> {
    let mut found = sliced::Arrays::default();
    let entries = directory::read(source).ok()?;
    let inside = entries.iter().try_fold(0u64, |all, entry| all.checked_add(entry.size))?;
    if inside > archive::most_inside(source.len()) {
        return None;
    }
    for entry in &entries {
        let Some(short) = entry.name.strip_suffix(END) else { continue };
        let place = Place { range: entry.place.clone(), deflated: entry.is_deflated.then_some(entry.crc) };
        let packed = Stream { source, at: place.range.start, end: place.range.end };
        let mut head = Vec::new();
        let most = npy::HEADER as u64;
        let read = match entry.is_deflated {
            true => DeflateDecoder::new(packed).take(most).read_to_end(&mut head),
            false => packed.take(most).read_to_end(&mut head),
        };
        read.ok()?;
        match npy::rows(&head, entry.size, place) {
            Ok(Some(rows)) => found.arrays.push((short.into(), rows)),
            Ok(None) => return None,
            Err(error) => found.notes.push(format!("{short} is left out: {}", error.message)),
        }
    }
    (!found.arrays.is_empty()).then_some(found)
}

/// An archive of these arrays.
///
/// # Errors
/// `TooLarge`.
pub(super) fn write(arrays: &Arrays) -> Result<Vec<u8>> {
    arrays.ensure_distinct()?;
    let files: Vec<(String, &Array)> =
        arrays.arrays.iter().map(|(name, array)| (format!("{name}{END}"), array)).collect();
    let written: Vec<Vec<u8>> = files.iter().map(|(_, array)| npy::write(array)).collect::<Result<_>>()?;
    archive::write(files.iter().map(|(name, _)| name.as_str()).zip(written))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::mutations::survived;
    use crate::io::{Elements, told};

    macro_rules! fixture {
        ($name:literal) => {
            include_bytes!(concat!("../../tests/fixtures/numpy/", $name)).as_slice()
        };
    }

    #[test]
    fn archives_have_the_numbers_that_numpy_reads() {
        let expected = told::files(include_str!("../../tests/fixtures/numpy/expected.json"));
        for (name, bytes) in [("stored.npz", fixture!("stored.npz")), ("packed.npz", fixture!("packed.npz"))] {
            let found = read(bytes).expect("arrays");
            told::compare(&found, expected[name].clone());
            let names: Vec<&str> = found.arrays.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["conv.weight", "conv.bias", "labels", "folder/name"]);
            let again = read(&write(&found).expect("bytes")).expect("arrays");
            assert_eq!(again, found);
            assert_eq!(write(&again).expect("bytes"), write(&found).expect("bytes"));
        }
    }

    #[test]
    fn objects_are_left_out_with_a_note_and_refused_alone() {
        let found = read(fixture!("with_objects.npz")).expect("one array");
        assert_eq!(found.get("w").map(Array::elements), Some(&Elements::F64(vec![1.0, 1.0])));
        assert_eq!(found.arrays.len(), 1);
        assert!(
            found.notes.iter().any(|note| note.contains("names") && note.contains("pickled objects")),
            "{:?}",
            found.notes
        );
        let error = read(fixture!("objects.npz")).expect_err("no array");
        assert!(error.message.contains("pickled objects"), "{error}");
    }

    #[test]
    fn broken_archives_do_no_harm() {
        for bytes in [fixture!("stored.npz"), fixture!("packed.npz"), fixture!("with_objects.npz")] {
            let survived = survived(bytes, 3000, |bytes| read(bytes).is_ok());
            assert!((1..3000).contains(&survived), "{survived}");
        }
    }
}
