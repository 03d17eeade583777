//! Zip archives: what npz files, PyTorch's and those of images have in common. What the list of files says is checked first
//! (`directory.rs`), in a time that is proportional to the file; an archive unfolds to at most [`TIMES`] times its own size and
//! [`SPARE`] bytes more, all that is read of it together.

pub(super) mod directory;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io::Read;

use flate2::Crc;
use flate2::read::DeflateDecoder;

use self::directory::Entry;
use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::memory::{in_words, make_room};

/// How much larger than itself an archive may be inside: arrays of weights and pictures are not.
const TIMES: u64 = 100;
const SPARE: u64 = 1 << 20;

/// What an empty zip begins with.
pub(super) const EMPTY_ARCHIVE: &[u8] = b"PK\x05\x06";

/// What a zip begins with.
const MAGIC: [&[u8]; 2] = [b"PK\x03\x04", EMPTY_ARCHIVE];

/// A zip that is read.
pub(super) struct Archive<'a> {
    bytes: &'a [u8],
    entries: Vec<Entry>,
    places: HashMap<String, usize>,
    /// Bytes that may still be unfolded.
    left: u64,
}

/// The most bytes that an archive of so many unfolds to.
pub(super) fn most_inside(length: u64) -> u64 {
    length.saturating_mul(TIMES).saturating_add(SPARE)
}

/// Does a file begin as a zip?
pub(super) fn is_zip(bytes: &[u8]) -> bool {
    MAGIC.iter().any(|magic| bytes.starts_with(magic))
}

impl<'a> Archive<'a> {
    /// Opens one.
    ///
    /// # Errors
    /// `Parse` for what is no zip, broken, encrypted, packed in another way than by deflate, or has files over each other or twice.
    pub fn open(bytes: &'a [u8]) -> Result<Self> {
        let entries = directory::read(&bytes)?;
        let places = entries.iter().enumerate().map(|(i, entry)| (entry.name.clone(), i)).collect();
        Ok(Self { bytes, entries, places, left: most_inside(bytes.len() as u64) })
    }

    /// Names of its files, in its own order.
    pub fn names(&self) -> Vec<String> {
        self.entries.iter().map(|entry| &entry.name).filter(|name| !name.ends_with('/')).cloned().collect()
    }

    /// Is there a file of this name?
    pub fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// What a file holds.
    ///
    /// # Errors
    /// `Parse` where it is not there, or not what the archive says of it; `TooLarge` where the archive unfolds to more than such a
    /// file does.
    pub fn read(&mut self, name: &str) -> Result<Vec<u8>> {
        let Some(entry) = self.places.get(name).and_then(|&i| self.entries.get(i)) else {
            bail!(Parse, "the archive has no file {name}")
        };
        let size = entry.size;
        ensure!(
            size <= self.left,
            TooLarge,
            "{name} unfolds to {}, and an archive may be {TIMES} times as large inside as it is itself: this is no file of weights \
             or data",
            in_words(size)
        );
        let data = self.bytes.get(entry.place.start as usize..entry.place.end as usize).unwrap_or_default();
        let content = if entry.is_deflated {
            unfolded(entry, data)?
        } else {
            crate::memory::copied("a file of an archive", data)?
        };
        let mut crc = Crc::new();
        crc.update(&content);
        ensure!(crc.sum() == entry.crc, Parse, "{name} in the archive is damaged: its checksum is another");
        self.left -= size;
        Ok(content)
    }
}

/// What a deflated file holds: memory is asked for as bytes come, so that a size that is only claimed costs nothing.
fn unfolded(entry: &Entry, data: &[u8]) -> Result<Vec<u8>> {
    const STEP: usize = 1 << 16;
    let wrong = |what: &str| {
        Error::new(
            ErrorCode::Parse,
            format!("{} in the archive is to be {} bytes long, but {what}", entry.name, entry.size),
        )
    };
    let mut decoder = DeflateDecoder::new(data);
    let mut content: Vec<u8> = Vec::new();
    let mut piece = [0; STEP];
    loop {
        let count = decoder.read(&mut piece).map_err(|error| wrong(&format!("cannot be unfolded: {error}")))?;
        let found = piece.get(..count).unwrap_or_default();
        if content.len() as u64 + count as u64 > entry.size {
            return Err(wrong("unfolds to more"));
        }
        if count == 0 {
            return if content.len() as u64 == entry.size { Ok(content) } else { Err(wrong("unfolds to less")) };
        }
        if content.capacity() - content.len() < count {
            // Twice what is there, but not more than there will be.
            let more = (content.len().max(STEP) as u64).min(entry.size - content.len() as u64) as usize;
            make_room("a file of an archive", &mut content, more.max(count))?;
        }
        content.extend_from_slice(found);
    }
}

/// A zip of these files, not packed, the same bytes every time.
///
/// # Errors
/// `TooLarge` where it does not fit in memory, or has 4 GiB or 65535 files.
pub(super) fn write<'n>(files: impl Iterator<Item = (&'n str, Vec<u8>)>) -> Result<Vec<u8>> {
    const WHAT: &str = "a zip archive";
    let short = |n: usize| u16::try_from(n).ok().filter(|&n| n < u16::MAX).ok_or_else(too_large);
    let long = |n: usize| u32::try_from(n).ok().filter(|&n| n < u32::MAX).ok_or_else(too_large);
    let (mut bytes, mut list, mut count) = (Vec::new(), Vec::new(), 0);
    for (name, content) in files {
        let mut crc = Crc::new();
        crc.update(&content);
        let size = long(content.len())?.to_le_bytes();
        // Version 2.0, names in UTF-8, stored, midnight of 1 January 1980.
        let mut common = vec![20, 0, 0, 8, 0, 0, 0, 0, 0x21, 0];
        common.extend([crc.sum().to_le_bytes(), size, size].concat());
        common.extend([short(name.len())?.to_le_bytes(), [0; 2]].concat());
        list.extend(
            [b"PK\x01\x02\x14\x00", &common[..], &[0; 10], &long(bytes.len())?.to_le_bytes(), name.as_bytes()].concat(),
        );
        let more = 64 + name.len() + content.len();
        if bytes.capacity() - bytes.len() < more {
            let more = more.max(bytes.len());
            make_room(WHAT, &mut bytes, more)?;
        }
        bytes.extend([b"PK\x03\x04", &common[..], name.as_bytes()].concat());
        bytes.extend(content);
        count += 1;
    }
    let (start, count) = (long(bytes.len())?.to_le_bytes(), short(count)?.to_le_bytes());
    make_room(WHAT, &mut bytes, list.len() + 64)?;
    bytes.extend(&list);
    bytes.extend(
        [b"PK\x05\x06", &[0; 4][..], &count, &count, &long(list.len())?.to_le_bytes(), &start, &[0; 2]].concat(),
    );
    Ok(bytes)
}

fn too_large() -> Error {
    Error::new(ErrorCode::TooLarge, "a zip archive of 4 GiB, or of 65535 files, is not written: safetensors holds more")
}
