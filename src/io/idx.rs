//! IDX, the format of MNIST: two zero bytes, a byte for the elements' type, one for the number of axes, the axes' lengths and the
//! elements, all big-endian. Every type of elements is read; what is made of a file has at most eight times its bytes.

use super::format::{Content, Format};
use super::numbers::Stored;
use super::sliced::{self, Place, Rows};
use super::{Array, Arrays, File};
use crate::error::{Result, bail, ensure};

pub(super) const FORMAT: Format = Format { name: "IDX", is: |file| is(&file.bytes), read };

/// The type byte of unsigned bytes.
pub(crate) const UNSIGNED_BYTES: u8 = 0x08;

/// Types of elements: the byte that says so, and the bytes of one.
const TYPES: [(u8, usize); 6] = [(UNSIGNED_BYTES, 1), (0x09, 1), (0x0b, 2), (0x0c, 4), (0x0d, 4), (0x0e, 8)];

/// An IDX file's parts.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    /// The byte that says what the elements are.
    pub kind: u8,
    /// Lengths of the axes, the samples' first.
    pub shape: Vec<usize>,
    /// The elements' bytes, as many as the shape says.
    pub elements: &'a [u8],
}

/// The header of a file of which there is no more than the header, or all: the byte that says what the elements are, the bytes of one, the
/// lengths of the axes, and what follows.
///
/// # Errors
/// `Parse` for another format, or an unknown type of elements.
pub(super) fn header(bytes: &[u8]) -> Result<(u8, usize, Vec<usize>, &[u8])> {
    let Some((&[0, 0, kind, axes], rest)) = bytes.split_first_chunk() else {
        bail!(Parse, "not an IDX file: it does not begin with two zero bytes, a type and a number of axes")
    };
    let Some((_, size)) = TYPES.into_iter().find(|(known, _)| *known == kind) else {
        bail!(
            Parse,
            "the IDX file's type is {kind:#04x}, but there are 0x08 (bytes), 0x09 (signed bytes), 0x0b (16-bit integers), \
             0x0c (32-bit integers), 0x0d (f32) and 0x0e (f64)"
        )
    };
    let axes = usize::from(axes);
    ensure!(axes > 0, Parse, "the IDX file has no axes");
    let Some((header, elements)) = rest.split_at_checked(4 * axes) else {
        bail!(Parse, "the IDX file ends within its header: it has {axes} axes, of 4 bytes each")
    };
    let (lengths, _) = header.as_chunks::<4>();
    let shape = lengths.iter().map(|&length| u32::from_be_bytes(length) as usize).collect();
    Ok((kind, size, shape, elements))
}

/// Takes a file apart.
///
/// # Errors
/// As [`header`]; `Parse` for a length that does not fit the shape.
pub(crate) fn parts(bytes: &[u8]) -> Result<Parts<'_>> {
    let (kind, size, shape, elements) = header(bytes)?;
    let expected = shape.iter().try_fold(size as u64, |product, &length| product.checked_mul(length as u64));
    ensure!(
        expected == Some(elements.len() as u64),
        Parse,
        "the IDX file's shape is {shape:?}, of {size} bytes an element, but {} bytes follow",
        elements.len()
    );
    Ok(Parts { kind, shape, elements })
}

/// Such a file, by its first bytes; whether its length fits is the reader's to say.
pub(super) fn is(bytes: &[u8]) -> bool {
    matches!(bytes, &[0, 0, kind, axes, ..] if (1..=16).contains(&axes) && TYPES.iter().any(|(known, _)| *known == kind))
}

/// What lies row after row in a file of so many bytes that begins so.
pub(super) fn sliced(beginning: &[u8], length: u64) -> Option<sliced::Arrays> {
    let (kind, size, shape, elements) = header(beginning).ok()?;
    let before = (beginning.len() - elements.len()) as u64;
    let numbers = shape.iter().try_fold(size as u64, |product, &n| product.checked_mul(n as u64))?;
    let place = Place { range: 0..length, deflated: None };
    let rows = Rows::new(shape, stored(kind), true, place, before)?;
    let is_whole = numbers.checked_add(before) == Some(length);
    is_whole.then(|| sliced::Arrays { arrays: vec![(String::new(), rows)], ..sliced::Arrays::default() })
}

/// What elements are, by the byte that says so.
fn stored(kind: u8) -> Stored {
    match kind {
        UNSIGNED_BYTES => Stored::U8,
        0x09 => Stored::I8,
        0x0b => Stored::I16,
        0x0c => Stored::I32,
        0x0d => Stored::F32,
        _ => Stored::F64,
    }
}

fn read(file: &File, _: &[File]) -> Result<Content> {
    Ok(Content::Arrays(Arrays { arrays: vec![(String::new(), array(&file.bytes)?)], ..Arrays::default() }))
}

/// The array that a file is.
fn array(bytes: &[u8]) -> Result<Array> {
    let Parts { kind, shape, elements } = parts(bytes)?;
    Array::new(shape, stored(kind).elements(elements, true)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Elements;

    fn file(kind: u8, elements: &[u8]) -> Vec<u8> {
        [&[0, 0, kind, 1, 0, 0, 0, 2], elements].concat()
    }

    #[test]
    fn every_type_is_read_as_it_is_defined() {
        let found = |kind, elements: &[u8]| array(&file(kind, elements)).expect("a valid file").into_elements();
        assert_eq!(found(0x08, &[1, 255]), Elements::U8(vec![1, 255]));
        assert_eq!(found(0x09, &[1, 255]), Elements::I64(vec![1, -1]));
        assert_eq!(found(0x0b, &[1, 2, 0xff, 0xfe]), Elements::I64(vec![258, -2]));
        assert_eq!(found(0x0c, &[0, 1, 0, 0, 0xff, 0xff, 0xff, 0xfd]), Elements::I64(vec![65536, -3]));
        assert_eq!(found(0x0d, &[0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0]), Elements::F32(vec![1.0, -2.0]));
        let doubles = [1.5f64, -0.1].map(f64::to_be_bytes).concat();
        assert_eq!(found(0x0e, &doubles), Elements::F64(vec![1.5, -0.1]));
    }

    #[test]
    fn other_types_and_lengths_are_refused() {
        let whole = file(0x0d, &[0; 8]);
        for cut in 0..whole.len() {
            assert!(array(&whole[..cut]).is_err(), "cut to {cut} bytes");
        }
        assert!(array(&file(0x0a, &[0; 4])).expect_err("no type").message.contains("0x0a"));
        let huge = [0, 0, 0x0e, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0];
        assert!(array(&huge).is_err());
    }
}
