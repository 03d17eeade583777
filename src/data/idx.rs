//! IDX files of unsigned bytes, as MNIST comes in.

use crate::error::{Result, ensure};
use crate::io::idx::{Parts, UNSIGNED_BYTES, parts};

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
        let Parts { kind, shape, elements } = parts(bytes)?;
        ensure!(
            kind == UNSIGNED_BYTES,
            Parse,
            "an IDX file of unsigned bytes is needed, but its type is {kind:#04x}: isoflat's dataset reader takes the others"
        );
        Ok(Self { shape, values: crate::memory::copied("an IDX file's values", elements)? })
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
        let mut signed = file;
        signed[2] = 0x09;
        assert!(IdxFile::parse(&signed).is_err());
    }
}
