//! The list of files at a zip's end. Everything that it says is checked against the bytes that are there before anything is read:
//! one end, which is that of the file; as many entries as it says; each with its data before the list, none over another. Of the archive
//! no more is read than that.

use std::collections::HashSet;
use std::ops::Range;

use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::io::source::{Source, some};
use crate::memory::room;

const END: &[u8] = b"PK\x05\x06";
const END_64: &[u8] = b"PK\x06\x06";
const LOCATOR_64: &[u8] = b"PK\x06\x07";
const ENTRY: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";

/// Bytes of an entry and of an end without what has no fixed length.
const ENTRY_BYTES: usize = 46;
const END_BYTES: usize = 22;
const LOCAL_BYTES: usize = 30;
const END_64_BYTES: usize = 56;
const LOCATOR_64_BYTES: usize = 20;
/// What stands for a number that is in the 64-bit field.
const BEYOND: u64 = 0xffff_ffff;

/// A file of an archive.
#[derive(Debug)]
pub(in crate::io) struct Entry {
    pub name: String,
    pub is_deflated: bool,
    pub crc: u32,
    /// Where its bytes lie in the archive, and how many they unfold to.
    pub place: Range<u64>,
    pub size: u64,
}

fn broken(what: &str) -> Error {
    Error::new(ErrorCode::Parse, format!("the zip archive cannot be read: {what}"))
}

/// A number of so many bytes, little end first.
fn number(bytes: &[u8], at: usize, width: usize) -> Result<u64> {
    let found = bytes.get(at..).and_then(|rest| rest.get(..width)).ok_or_else(|| broken("it ends too early"))?;
    Ok(found.iter().rev().fold(0, |n, &byte| (n << 8) | u64::from(byte)))
}

fn index(n: u64) -> Result<usize> {
    usize::try_from(n).map_err(|_| broken("it says that it is longer than it is"))
}

/// Where the list of files is, and how many there are.
struct Place {
    start: u64,
    end: u64,
    count: u64,
}

/// The files, in the archive's order.
///
/// # Errors
/// `Parse` for what is no zip, broken, encrypted, packed in another way than by deflate, or has files over each other or twice.
pub(in crate::io) fn read(archive: &dyn Source) -> Result<Vec<Entry>> {
    let place = find(archive)?;
    let list = &some(archive, place.start, index(place.end - place.start)?)?[..];
    ensure!(
        place.count <= (list.len() / ENTRY_BYTES) as u64,
        Parse,
        "the zip archive cannot be read: it says that it has {} files, more than its list of {} bytes has",
        place.count,
        list.len()
    );
    let mut entries = room("the files of an archive", place.count as usize)?;
    let mut places = room("the places of an archive's files", place.count as usize)?;
    let mut names = HashSet::new();
    let mut at = 0;
    for _ in 0..place.count {
        let (entry, start, next) = entry(archive, list, at, place.start)?;
        ensure!(names.insert(entry.name.clone()), Parse, "the zip archive has {} twice", entry.name);
        places.push((start, entry.place.end));
        entries.push(entry);
        at = next;
    }
    ensure!(at == list.len(), Parse, "the zip archive cannot be read: its list of files is longer than its files");
    places.sort_unstable();
    let overlaps = places.windows(2).any(|pair| matches!(pair, [(_, end), (start, _)] if start < end));
    ensure!(!overlaps, Parse, "the zip archive has files that lie over each other, which no program writes");
    Ok(entries)
}

/// The end of the archive, which is also the file's.
fn find(archive: &dyn Source) -> Result<Place> {
    let most = (END_BYTES + usize::from(u16::MAX)) as u64;
    let from = archive.len().saturating_sub(most);
    let tail = some(archive, from, archive.len().min(most) as usize)?;
    let found = tail.windows(END.len()).rposition(|window| window == END);
    let Some(at) = found else { bail!(Parse, "the zip archive has no end: it was cut off") };
    let (bytes, end) = (tail.get(at..).unwrap_or_default(), from + at as u64);
    let comment = number(bytes, 20, 2)?;
    ensure!(
        end + END_BYTES as u64 + comment == archive.len(),
        Parse,
        "the zip archive cannot be read: there are other bytes after its end"
    );
    let (count, size, start) = (number(bytes, 10, 2)?, number(bytes, 12, 4)?, number(bytes, 16, 4)?);
    // Archives of 4 GiB, and PyTorch's of any size, have a second end before this one.
    let before = end.checked_sub(LOCATOR_64_BYTES as u64).map(|at| some(archive, at, LOCATOR_64_BYTES)).transpose()?;
    let locator = before.filter(|bytes| bytes.starts_with(LOCATOR_64));
    let (end, count, size, start) = match locator {
        None => (end, count, size, start),
        Some(locator) => {
            let at = number(&locator, 8, 8)?;
            let is_before = at.checked_add(END_64_BYTES as u64).is_some_and(|behind| behind <= archive.len());
            let second = if is_before { some(archive, at, END_64_BYTES)? } else { Vec::new() };
            let is_there = at < end && second.starts_with(END_64);
            ensure!(is_there, Parse, "the zip archive cannot be read: its 64-bit end is not where it should be");
            (at, number(&second, 32, 8)?, number(&second, 40, 8)?, number(&second, 48, 8)?)
        }
    };
    ensure!(
        start.checked_add(size) == Some(end),
        Parse,
        "the zip archive cannot be read: its list of files is not before its end"
    );
    Ok(Place { start, end, count })
}

/// One entry of the list, where it begins in the archive, and where the next begins in the list.
fn entry(archive: &dyn Source, list: &[u8], at: usize, limit: u64) -> Result<(Entry, u64, usize)> {
    let rest = list.get(at..).unwrap_or_default();
    ensure!(rest.starts_with(ENTRY), Parse, "the zip archive cannot be read: its list of files is broken");
    let length = |offset: usize| number(rest, offset, 2).map(|n| n as usize);
    let (name_length, extra_length, comment) = (length(28)?, length(30)?, length(32)?);
    let part = |start: usize, length: usize| {
        rest.get(start..).and_then(|rest| rest.get(..length)).ok_or_else(|| broken("its list of files is cut off"))
    };
    let name = String::from_utf8_lossy(part(ENTRY_BYTES, name_length)?).into_owned();
    let extra = part(ENTRY_BYTES + name_length, extra_length)?;
    let next = ENTRY_BYTES + name_length + extra_length + comment;
    ensure!(next <= rest.len(), Parse, "the zip archive cannot be read: its list of files is cut off");
    let (flags, method) = (number(rest, 8, 2)?, number(rest, 10, 2)?);
    ensure!(flags & 1 == 0, Parse, "{name} in the archive is encrypted: unpack it with its password first");
    ensure!(
        matches!(method, 0 | 8),
        Parse,
        "{name} in the archive is packed in a way that is not read (method {method}): stored and deflated files are"
    );
    let [size, packed, start] = sizes(rest, extra)?;
    let place = local(archive, limit, start, packed)
        .map_err(|error| Error::new(error.code, format!("{name} in the archive: {}", error.message)))?;
    ensure!(
        method == 8 || size == packed,
        Parse,
        "{name} in the archive is to be {size} bytes long, but {packed} are stored"
    );
    let entry = Entry { name, is_deflated: method == 8, crc: number(rest, 16, 4)? as u32, place, size };
    Ok((entry, start, at + next))
}

/// Unfolded and packed size, and where the file begins; from the 64-bit field where they are not in the entry.
fn sizes(entry: &[u8], extra: &[u8]) -> Result<[u64; 3]> {
    let mut found = [number(entry, 24, 4)?, number(entry, 20, 4)?, number(entry, 42, 4)?];
    let mut at = 0;
    while at + 4 <= extra.len() && found.contains(&BEYOND) {
        let (kind, length) = (number(extra, at, 2)?, number(extra, at + 2, 2)? as usize);
        at += 4;
        if kind == 1 {
            let mut field = at;
            for value in found.iter_mut().filter(|value| **value == BEYOND) {
                *value = number(extra.get(..at + length).unwrap_or_default(), field, 8)?;
                field += 8;
            }
            break;
        }
        at += length;
    }
    Ok(found)
}

/// Where the packed bytes are of the file that begins here.
fn local(archive: &dyn Source, limit: u64, start: u64, packed: u64) -> Result<Range<u64>> {
    let has_room = start.checked_add(LOCAL_BYTES as u64).is_some_and(|end| end <= limit);
    let header = if has_room { some(archive, start, LOCAL_BYTES)? } else { Vec::new() };
    ensure!(header.starts_with(LOCAL), Parse, "the list of files says where it begins, but it is not there");
    let from = start + LOCAL_BYTES as u64 + number(&header, 26, 2)? + number(&header, 28, 2)?;
    let end = from.checked_add(packed).filter(|&end| end <= limit);
    let end = end.ok_or_else(|| broken("it has fewer bytes than its list of files says"))?;
    Ok(from..end)
}
