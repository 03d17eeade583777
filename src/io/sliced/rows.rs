//! An array in a file, row after row, and some of its rows read.

use std::io::Read;
use std::ops::Range;

use flate2::Crc;
use flate2::read::DeflateDecoder;

use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::io::numbers::Stored;
use crate::io::source::{Source, Stream};
use crate::io::{Array, array};
use crate::memory::zeros;

/// Bytes that are read at once, or one row.
const PIECE: usize = 1 << 20;

/// Where an array's bytes are in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::io) struct Place {
    pub range: Range<u64>,
    /// Of bytes that are deflated: the checksum of what they unfold to.
    pub deflated: Option<u32>,
}

/// An array in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::io) struct Rows {
    pub shape: Vec<usize>,
    pub stored: Stored,
    pub is_big_endian: bool,
    pub place: Place,
    /// Bytes before the first row, unfolded.
    pub header: u64,
    /// Bytes from a row to the next, and which of them are the array's.
    pub stride: usize,
    pub part: Range<usize>,
    /// Of labels that say nothing of themselves: how many classes there are.
    pub classes: Option<u8>,
}

impl Rows {
    /// An array whose rows lie one behind the other. `None` where its shape cannot be counted, or has no rows.
    pub fn new(shape: Vec<usize>, stored: Stored, is_big_endian: bool, place: Place, header: u64) -> Option<Self> {
        let stride = array::count(shape.get(1..)?)?.checked_mul(stored.size())?;
        stride.checked_mul(*shape.first()?)?;
        Some(Self { shape, stored, is_big_endian, place, header, stride, part: 0..stride, classes: None })
    }

    /// The array that some of the rows are.
    ///
    /// # Errors
    /// `Parse` where the file is not what it says; `TooLarge`; the source's.
    pub fn read(&self, source: &dyn Source, rows: &Range<usize>) -> Result<Array> {
        let shape = [&[rows.len()], self.shape.get(1..).unwrap_or_default()].concat();
        let count = array::count(&shape).unwrap_or(usize::MAX);
        let mut all = self.stored.room(count)?;
        if count == 0 {
            return Array::new(shape, all);
        }
        let mut bytes = self.from(source, rows.start)?;
        let at_once = (PIECE / self.stride).clamp(1, rows.len());
        let mut piece = zeros("rows of an array", at_once * self.stride)?;
        for begin in rows.clone().step_by(at_once) {
            let count = at_once.min(rows.end - begin);
            let piece = piece.get_mut(..count * self.stride).unwrap_or_default();
            bytes.fill(piece)?;
            for row in 0..count {
                let part = row * self.stride + self.part.start..row * self.stride + self.part.end;
                piece.copy_within(part, row * self.part.len());
            }
            let own = piece.get(..count * self.part.len()).unwrap_or_default();
            self.ensure_classes(own, begin)?;
            self.stored.append(own, self.is_big_endian, &mut all)?;
        }
        if rows.end == self.shape[0] {
            bytes.ensure_end()?;
        }
        Array::new(shape, all)
    }

    fn ensure_classes(&self, labels: &[u8], first: usize) -> Result<()> {
        let Some(classes) = self.classes else { return Ok(()) };
        let Some(at) = labels.iter().position(|&label| label >= classes) else { return Ok(()) };
        bail!(
            Parse,
            "image {} has the label {}, but there are {classes} classes, 0 to {}",
            first + at,
            labels[at],
            classes - 1
        )
    }

    /// The bytes from a row on.
    fn from<'a>(&self, source: &'a dyn Source, row: usize) -> Result<Bytes<'a>> {
        let skipped = self.header + row as u64 * self.stride as u64;
        let Place { range, deflated } = &self.place;
        let stream = |at| Stream { source, at, end: range.end };
        let Some(crc) = deflated else {
            return Ok(Bytes { reader: Box::new(stream(range.start + skipped)), crc: None });
        };
        let mut bytes =
            Bytes { reader: Box::new(DeflateDecoder::new(stream(range.start))), crc: Some((Crc::new(), *crc)) };
        let mut left = skipped;
        let mut piece = zeros("rows of others", left.min(PIECE as u64) as usize)?;
        while left > 0 {
            let count = left.min(piece.len() as u64) as usize;
            bytes.fill(piece.get_mut(..count).unwrap_or_default())?;
            left -= count as u64;
        }
        Ok(bytes)
    }
}

/// Bytes of a file as they are unfolded.
struct Bytes<'a> {
    reader: Box<dyn Read + 'a>,
    /// Of what is deflated: the checksum so far, and what it is to be at the end.
    crc: Option<(Crc, u32)>,
}

impl Bytes<'_> {
    /// The next of them.
    fn fill(&mut self, into: &mut [u8]) -> Result<()> {
        let read = self.reader.read_exact(into);
        read.map_err(|error| Error::new(ErrorCode::Parse, format!("it cannot be read to its end: {error}")))?;
        if let Some((crc, _)) = &mut self.crc {
            crc.update(into);
        }
        Ok(())
    }

    /// Fails where what was deflated goes on, or was other bytes.
    fn ensure_end(&mut self) -> Result<()> {
        let Some((crc, expected)) = &self.crc else { return Ok(()) };
        let is_over = self.reader.read(&mut [0]).is_ok_and(|count| count == 0);
        ensure!(is_over, Parse, "an array in the archive is longer than the archive says");
        ensure!(crc.sum() == *expected, Parse, "an array in the archive is damaged: its checksum is another");
        Ok(())
    }
}
