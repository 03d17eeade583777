use std::io::Write;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::*;
use crate::error::ErrorCode;
use crate::io::mutations::survived;

/// An archive that Python wrote, with deflated files.
const PACKED: &[u8] = include_bytes!("../../../tests/fixtures/numpy/packed.npz");
const PYTORCH: &[u8] = include_bytes!("../../../tests/fixtures/pytorch/zip.pt");

fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).expect("in memory");
    encoder.finish().expect("in memory")
}

/// An archive whose files are packed already, each said to unfold to so many bytes of this checksum.
fn packed(files: &[(String, Vec<u8>, u32, u32)]) -> Vec<u8> {
    let stored = files.iter().map(|(name, data, ..)| (name.as_str(), data.clone()));
    let mut bytes = write(stored).expect("an archive");
    let list = list_of(&bytes);
    let mut at = list;
    for (name, _, size, crc) in files {
        bytes[at + 10] = 8;
        bytes[at + 16..at + 20].copy_from_slice(&crc.to_le_bytes());
        bytes[at + 24..at + 28].copy_from_slice(&size.to_le_bytes());
        at += 46 + name.len();
    }
    bytes
}

/// Where the list of files begins, in an archive without a comment.
fn list_of(bytes: &[u8]) -> usize {
    let end = bytes.len() - 22;
    u32::from_le_bytes(bytes[end + 16..end + 20].try_into().expect("four bytes")) as usize
}

fn crc_of(content: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(content);
    crc.sum()
}

fn two() -> Vec<u8> {
    let files = [("first", vec![1; 100]), ("second", vec![2; 50])];
    write(files.into_iter()).expect("an archive")
}

fn says(bytes: &[u8]) -> String {
    Archive::open(bytes).err().expect("no archive").message
}

#[test]
fn files_are_read_as_they_were_written() {
    let mut zip = Archive::open(Box::leak(two().into_boxed_slice())).expect("an archive");
    assert_eq!(zip.names(), ["first", "second"]);
    assert_eq!(zip.read("second").expect("a file"), [2; 50]);
    assert_eq!(zip.read("first").expect("a file"), [1; 100]);
    assert!(zip.has("first") && !zip.has("third") && zip.read("third").is_err());
    assert_eq!(Archive::open(&write(std::iter::empty()).expect("an archive")).expect("an empty one").names().len(), 0);
    let content: Vec<u8> = (0..200_000u32).flat_map(u32::to_le_bytes).collect();
    let file = packed(&[("a".into(), deflated(&content), content.len() as u32, crc_of(&content))]);
    assert_eq!(Archive::open(&file).expect("an archive").read("a").expect("a file"), content);
}

#[test]
fn bombs_are_refused() {
    let zeros = vec![0; 4 << 20];
    let file = packed(&[("a".into(), deflated(&zeros), zeros.len() as u32, crc_of(&zeros))]);
    let error = Archive::open(&file).expect("an archive").read("a").expect_err("a bomb");
    assert_eq!(error.code, ErrorCode::TooLarge);
    assert!(error.message.contains("a unfolds to 4 MiB"), "{error}");
    // Many small ones are as large.
    let part = &zeros[..200 << 10];
    let files: Vec<_> = (0..40).map(|i| (format!("{i}"), deflated(part), part.len() as u32, crc_of(part))).collect();
    let file = packed(&files);
    let mut zip = Archive::open(&file).expect("an archive");
    let read = zip.names().iter().filter(|name| zip.read(name).is_ok()).count();
    assert!((5..40).contains(&read), "{read} of 40");
    // What is said of the size is held.
    for (size, what) in [(100, "more"), (300 << 10, "less")] {
        let file = packed(&[("a".into(), deflated(part), size, crc_of(part))]);
        let error = Archive::open(&file).expect("an archive").read("a").expect_err("another size");
        assert!(error.message.contains(what), "{error}");
    }
}

#[test]
fn archives_that_are_broken_say_where() {
    let whole = two();
    let (list, end) = (list_of(&whole), whole.len() - 22);
    let second = list + 46 + "first".len();
    let changed = |at: usize, to: &[u8]| {
        let mut bytes = whole.clone();
        bytes[at..at + to.len()].copy_from_slice(to);
        bytes
    };
    for (bytes, what) in [
        (changed(list + 8, &[1]), "first in the archive is encrypted"),
        (changed(second + 10, &[12]), "second in the archive is packed in a way that is not read (method 12)"),
        (changed(second + 42, &[0; 4]), "lie over each other"),
        (changed(second + 42, &[9]), "second in the archive: the list of files says where it begins"),
        (changed(second + 20, &[255, 255, 255, 0, 255, 255, 255, 0]), "fewer bytes"),
        (changed(list + 24, &[101]), "101 bytes long, but 100 are stored"),
        (changed(list + 20, &[0xff; 8]), "fewer bytes"),
        (changed(list + 28, &[0xff, 0xff]), "cut off"),
        (changed(end + 10, &[0xff, 0xff]), "65535 files, more than"),
        (changed(end + 10, &[1]), "longer than its files"),
        (changed(end + 16, &[0xff; 4]), "not before its end"),
        ([&whole[..], b"more"].concat(), "other bytes after its end"),
        (whole[..end].to_vec(), "no end"),
        (write([("a", vec![1]), ("a", vec![2])].into_iter()).expect("an archive"), "has a twice"),
    ] {
        assert!(says(&bytes).contains(what), "{} instead of {what}", says(&bytes));
    }
    let damaged = changed(60, &[7]);
    let error = Archive::open(&damaged).expect("an archive").read("first").expect_err("damaged");
    assert!(error.message.contains("checksum"), "{error}");
}

#[test]
fn sizes_beyond_32_bits_are_in_a_field_of_their_own() {
    // PyTorch's own archives have the 64-bit end, whatever their size.
    assert!(PYTORCH.windows(4).any(|window| window == b"PK\x06\x07"));
    assert_eq!(Archive::open(PYTORCH).expect("an archive").names().len(), 11);
    // One file of 7 bytes whose three numbers are there, after a field of another kind.
    let whole = write([("a", vec![5; 7])].into_iter()).expect("an archive");
    let (list, end) = (list_of(&whole), whole.len() - 22);
    let numbers: Vec<u8> = [7u64, 7, 0].iter().flat_map(|n| n.to_le_bytes()).collect();
    let extra = [&[9, 9, 2, 0, 1, 1, 1, 0, 24, 0][..], &numbers].concat();
    let mut bytes = [&whole[..end], &extra, &whole[end..]].concat();
    bytes[list + 20..list + 28].fill(0xff);
    bytes[list + 42..list + 46].fill(0xff);
    bytes[list + 30] = extra.len() as u8;
    let size = (end - list + extra.len()) as u8;
    bytes[end + extra.len() + 12] = size;
    assert_eq!(Archive::open(&bytes).expect("an archive").read("a").expect("a file"), [5; 7]);
    for cut in 1..=24 {
        let mut bytes = bytes.clone();
        bytes[list + 47 + 8] -= cut;
        assert!(Archive::open(&bytes).is_err(), "a field without its last {cut} bytes");
    }
}

#[test]
fn many_ends_and_many_files_take_no_time() {
    let since = Instant::now();
    let ends = [&b"PK\x05\x06"[..], &[0; 4], &[1, 0, 1, 0], &[0; 10]].concat().repeat(200_000);
    assert!(Archive::open(&ends).is_err());
    let files: Vec<(String, Vec<u8>)> = (0..60_000).map(|i| (i.to_string(), vec![1])).collect();
    let bytes = write(files.iter().map(|(name, data)| (name.as_str(), data.clone()))).expect("an archive");
    assert_eq!(Archive::open(&bytes).expect("an archive").names().len(), files.len());
    assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
}

#[test]
fn broken_archives_do_no_harm() {
    for bytes in [PACKED, PYTORCH, &two()] {
        let read = |bytes: &[u8]| {
            Archive::open(bytes)
                .is_ok_and(|mut zip| zip.names().iter().filter(|name| zip.read(name).is_ok()).count() > 0)
        };
        assert!(read(bytes));
        let survived = survived(bytes, 3000, read);
        assert!((1..3000).contains(&survived), "{survived}");
    }
}
