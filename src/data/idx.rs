//! The IDX format of MNIST: two zero bytes, a type, the number of axes, their lengths (big-endian u32), the values.

use crate::error::{Result, ensure};

/// The type byte of unsigned bytes, the only one MNIST uses.
const UNSIGNED_BYTE: u8 = 0x08;

/// An IDX file of unsigned bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdxFile {
    /// Lengths of the axes, the samples' first.
    pub shape: Vec<usize>,
    /// The values, row-major.
    pub values: Vec<u8>,
}

impl IdxFile {
    /// Reads a file's bytes (not gzipped).
    ///
    /// # Errors
    /// `Parse` for another format, another type of values, or a length that does not fit the shape.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        ensure!(
            bytes.len() >= 4 && bytes[..2] == [0, 0],
            Parse,
            "not an IDX file: it does not begin with two zero bytes"
        );
        ensure!(
            bytes[2] == UNSIGNED_BYTE,
            Parse,
            "an IDX file of unsigned bytes is needed, but its type is {:#04x}",
            bytes[2]
        );
        let axes = usize::from(bytes[3]);
        let (header, values) = bytes[4..].split_at_checked(4 * axes).unwrap_or_default();
        ensure!(axes > 0 && header.len() == 4 * axes, Parse, "the IDX file ends within its header");
        let (lengths, _) = header.as_chunks::<4>();
        let shape: Vec<usize> = lengths.iter().map(|&length| u32::from_be_bytes(length) as usize).collect();
        let expected = shape.iter().try_fold(1u64, |product, &length| product.checked_mul(length as u64));
        ensure!(
            expected == Some(values.len() as u64),
            Parse,
            "the IDX file's shape is {shape:?}, but {} values follow",
            values.len()
        );
        Ok(Self { shape, values: crate::memory::copied("an IDX file's values", values)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_fits_and_refuses_the_rest() {
        let file = [0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6];
        let parsed = IdxFile::parse(&file).expect("a valid file");
        assert_eq!((parsed.shape, parsed.values), (vec![2, 3], vec![1, 2, 3, 4, 5, 6]));
        for cut in 0..file.len() {
            assert!(IdxFile::parse(&file[..cut]).is_err(), "cut to {cut} bytes");
        }
        let mut wrong = file;
        wrong[2] = 0x0d;
        assert!(IdxFile::parse(&wrong).is_err());
    }
}
