//! Files whose samples lie one behind the other, all of the same length, so that some of them can be read without the rest.

use std::ops::Range;

use super::idx;

/// How the samples of such a file lie. IDX is one, where it is not compressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sliced {
    header: Vec<u8>,
    sample: u64,
    samples: usize,
}

impl Sliced {
    /// The most bytes of a file's beginning that [`Sliced::of`] looks at.
    pub const BEGINNING: usize = 4 + 4 * 16;

    /// How a file lies, by its beginning and its length. `None` for one that has to be read as a whole, or that is not whole itself.
    pub fn of(beginning: &[u8], length: u64) -> Option<Self> {
        if !idx::is(beginning) {
            return None;
        }
        let (_, size, shape, elements) = idx::header(beginning).ok()?;
        let header = &beginning[..beginning.len() - elements.len()];
        let (&samples, rest) = shape.split_first()?;
        let sample = rest.iter().try_fold(size as u64, |product, &length| product.checked_mul(length as u64))?;
        let is_whole = sample.checked_mul(samples as u64)?.checked_add(header.len() as u64)? == length;
        (is_whole && sample > 0 && samples > 0).then(|| Self { header: header.to_vec(), sample, samples })
    }

    /// How many samples there are.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// What the file begins with.
    pub fn beginning(&self) -> &[u8] {
        &self.header
    }

    /// Where in the file these samples are, in bytes.
    pub fn place(&self, samples: &Range<usize>) -> Range<u64> {
        let at = |sample: usize| self.header.len() as u64 + self.sample * sample as u64;
        at(samples.start)..at(samples.end)
    }

    /// What a file of so many of the samples begins with; they themselves are behind it.
    pub fn header(&self, samples: usize) -> Vec<u8> {
        let mut header = self.header.clone();
        header[4..8].copy_from_slice(&(samples as u32).to_be_bytes());
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five samples of 2 × 3 numbers of two bytes.
    fn file() -> Vec<u8> {
        let axes = [5u32, 2, 3].map(u32::to_be_bytes).concat();
        [vec![0, 0, 0x0b, 3], axes, (0..60).collect()].concat()
    }

    #[test]
    fn some_samples_are_a_file_of_their_own() {
        let whole = file();
        let sliced = Sliced::of(&whole[..16], whole.len() as u64).expect("an IDX file");
        assert_eq!((sliced.samples(), sliced.beginning()), (5, &whole[..16]));
        assert_eq!(Sliced::of(&whole, whole.len() as u64), Some(sliced.clone()));
        let place = sliced.place(&(1..3));
        assert_eq!(place, 28..52);
        let some = [&sliced.header(2)[..], &whole[28..52]].concat();
        let parts = idx::parts(&some).expect("an IDX file");
        assert_eq!((parts.kind, parts.shape, parts.elements), (0x0b, vec![2, 2, 3], &whole[28..52]));
    }

    #[test]
    fn what_is_no_such_file_or_not_whole_is_read_as_a_whole() {
        let whole = file();
        for length in [0, 15, 75, 77] {
            assert_eq!(Sliced::of(&whole, length), None, "{length} bytes");
        }
        for cut in 0..16 {
            assert_eq!(Sliced::of(&whole[..cut], 76), None, "{cut} bytes of the header");
        }
        assert_eq!(Sliced::of(b"\x1f\x8b\x08\x00", 76), None);
        let empty = [0, 0, 8, 2, 0, 0, 0, 0, 0, 0, 0, 3];
        assert_eq!(Sliced::of(&empty, 12), None);
        let huge = [0, 0, 0x0e, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0];
        assert_eq!(Sliced::of(&huge, 17), None);
    }
}
