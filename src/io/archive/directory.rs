//! The list of files at a zip's end. Everything that it says is checked against the bytes that are there before anything is read:
//! one end, which is that of the file; as many entries as it says; each with its data before the list, none over another.

use std::collections::HashSet;

use crate::error::{Error, ErrorCode, Result, bail, ensure};
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
/// What stands for a number that is in the 64-bit field.
const BEYOND: u64 = 0xffff_ffff;

/// A file of an archive.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub name: String,
    pub is_deflated: bool,
    pub crc: u32,
    /// Bytes as they lie in the archive, and how many they unfold to.
    pub data: &'a [u8],
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
    start: usize,
    end: usize,
    count: u64,
}

/// The files, in the archive's order.
///
/// # Errors
/// `Parse` for what is no zip, broken, encrypted, packed in another way than by deflate, or has files over each other or twice.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Entry<'_>>> {
    let place = find(bytes)?;
    let list = bytes.get(place.start..place.end).ok_or_else(|| broken("its list of files is outside of it"))?;
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
        let (entry, range, next) = entry(bytes, list, at, place.start)?;
        ensure!(names.insert(entry.name.clone()), Parse, "the zip archive has {} twice", entry.name);
        entries.push(entry);
        places.push(range);
        at = next;
    }
    ensure!(at == list.len(), Parse, "the zip archive cannot be read: its list of files is longer than its files");
    places.sort_unstable();
    let overlaps = places.windows(2).any(|pair| matches!(pair, [(_, end), (start, _)] if start < end));
    ensure!(!overlaps, Parse, "the zip archive has files that lie over each other, which no program writes");
    Ok(entries)
}

/// The end of the archive, which is also the file's.
fn find(bytes: &[u8]) -> Result<Place> {
    let from = bytes.len().saturating_sub(END_BYTES + usize::from(u16::MAX));
    let tail = bytes.get(from..).unwrap_or_default();
    let found = tail.windows(END.len()).rposition(|window| window == END);
    let Some(end) = found.map(|at| from + at) else { bail!(Parse, "the zip archive has no end: it was cut off") };
    let comment = number(bytes, end + 20, 2)?;
    ensure!(
        end as u64 + END_BYTES as u64 + comment == bytes.len() as u64,
        Parse,
        "the zip archive cannot be read: there are other bytes after its end"
    );
    let (count, size, start) = (number(bytes, end + 10, 2)?, number(bytes, end + 12, 4)?, number(bytes, end + 16, 4)?);
    // Archives of 4 GiB, and PyTorch's of any size, have a second end before this one.
    let locator = end.checked_sub(20).filter(|&at| bytes.get(at..).is_some_and(|rest| rest.starts_with(LOCATOR_64)));
    let (end, count, size, start) = match locator {
        None => (end, count, size, start),
        Some(locator) => {
            let at = index(number(bytes, locator + 8, 8)?)?;
            let is_there = bytes.get(at..locator).is_some_and(|rest| rest.starts_with(END_64));
            ensure!(is_there, Parse, "the zip archive cannot be read: its 64-bit end is not where it should be");
            let field = |offset: usize| at.checked_add(offset).ok_or_else(|| broken("it ends too early"));
            (at, number(bytes, field(32)?, 8)?, number(bytes, field(40)?, 8)?, number(bytes, field(48)?, 8)?)
        }
    };
    ensure!(
        start.checked_add(size) == Some(end as u64),
        Parse,
        "the zip archive cannot be read: its list of files is not before its end"
    );
    Ok(Place { start: index(start)?, end, count })
}

type Range = (u64, u64);

/// One entry of the list, the bytes that it has in the archive, and where the next begins.
fn entry<'a>(bytes: &'a [u8], list: &[u8], at: usize, limit: usize) -> Result<(Entry<'a>, Range, usize)> {
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
    let (data, end) = local(bytes.get(..limit).unwrap_or_default(), start, packed)
        .map_err(|error| Error::new(error.code, format!("{name} in the archive: {}", error.message)))?;
    ensure!(
        method == 8 || size == packed,
        Parse,
        "{name} in the archive is to be {size} bytes long, but {packed} are stored"
    );
    let entry = Entry { name, is_deflated: method == 8, crc: number(rest, 16, 4)? as u32, data, size };
    Ok((entry, (start, end), at + next))
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

/// The packed bytes of the file that begins here, and where they end.
fn local(bytes: &[u8], start: u64, packed: u64) -> Result<(&[u8], u64)> {
    let header = bytes.get(index(start)?..).unwrap_or_default();
    ensure!(header.starts_with(LOCAL), Parse, "the list of files says where it begins, but it is not there");
    let skipped = LOCAL_BYTES + number(header, 26, 2)? as usize + number(header, 28, 2)? as usize;
    let data = header.get(skipped..).and_then(|rest| rest.get(..index(packed).ok()?));
    let data = data.ok_or_else(|| broken("it has fewer bytes than its list of files says"))?;
    Ok((data, start + skipped as u64 + packed))
}
