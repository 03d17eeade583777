//! Where a file's bytes are: in memory, or where they are read when they are asked for.

use std::io::Read;

use crate::error::{Error, ErrorCode, Result};
use crate::memory::zeros;

/// A file of which some bytes can be had without the others.
pub trait Source {
    /// How many bytes it has.
    fn len(&self) -> u64;

    /// Is there nothing in it?
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its bytes from `at` on, as many as `into` has.
    ///
    /// # Errors
    /// `Parse` where there are not so many; the source's own.
    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<()>;
}

impl Source for &[u8] {
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<()> {
        let found = usize::try_from(at).ok().and_then(|at| self.get(at..)?.get(..into.len()));
        into.copy_from_slice(found.ok_or_else(|| Error::new(ErrorCode::Parse, "it ends too early"))?);
        Ok(())
    }
}

/// So many bytes of a source.
///
/// # Errors
/// The source's; `TooLarge`.
pub(super) fn some(source: &dyn Source, at: u64, length: usize) -> Result<Vec<u8>> {
    let mut bytes = zeros("a part of a file", length)?;
    source.read_at(at, &mut bytes)?;
    Ok(bytes)
}

/// A source's bytes one after the other, from a place to another.
pub(super) struct Stream<'a> {
    pub source: &'a dyn Source,
    pub at: u64,
    pub end: u64,
}

impl Read for Stream<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = (self.end - self.at).min(into.len() as u64) as usize;
        let into = into.get_mut(..count).unwrap_or_default();
        self.source.read_at(self.at, into).map_err(|error| std::io::Error::other(error.message))?;
        self.at += count as u64;
        Ok(count)
    }
}
