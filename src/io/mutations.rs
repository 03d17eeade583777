//! Files that are broken on purpose, for the tests of what reads them: the same ones every time.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{DataOptions, File, ModelOptions, open_dataset, open_model, sort_files};

/// Numbers that lengths are set to.
const LENGTHS: [u64; 10] = [0, 1, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 1 << 40, i64::MAX as u64, u64::MAX];

/// A file with one to four faults: bits and bytes that changed, pieces that are gone, doubled or moved, an end that is missing, and
/// numbers of one to eight bytes that are as large as can be.
fn broken(bytes: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut found = bytes.to_vec();
    for _ in 0..random.random_range(1..=4) {
        if found.is_empty() {
            break;
        }
        let at = random.random_range(0..found.len());
        let end = (at + random.random_range(1..=64)).min(found.len());
        match random.random_range(0..8) {
            0 => found[at] ^= 1 << random.random_range(0..8),
            1 => found[at] = random.random(),
            2 => found.truncate(at),
            3 => drop(found.drain(at..end)),
            4 => {
                let piece = found[at..end].to_vec();
                let to = random.random_range(0..=found.len());
                found.splice(to..to, piece);
            }
            5 => {
                let piece = found[at..end].to_vec();
                let to = random.random_range(0..=found.len() - piece.len());
                found[to..to + piece.len()].copy_from_slice(&piece);
            }
            _ => {
                let number = LENGTHS[random.random_range(0..LENGTHS.len())].to_le_bytes();
                let width = [1, 2, 4, 8][random.random_range(0..4)];
                found.iter_mut().skip(at).zip(&number[..width]).for_each(|(to, &byte)| *to = byte);
            }
        }
    }
    found
}

/// How many times as many versions: `ISOFLAT_MUTATIONS=200 cargo test --release --lib io::` reads about a million.
fn times() -> usize {
    std::env::var("ISOFLAT_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// Reads so many broken versions of a file, or so many times [`times`], and how many of so many could be read; fails where one takes more than a second.
pub(super) fn survived(bytes: &[u8], count: usize, read: impl Fn(&[u8]) -> bool) -> usize {
    let mut random = ChaCha8Rng::seed_from_u64(bytes.len() as u64);
    let mut survived = 0;
    for i in 0..count * times() {
        let broken = broken(bytes, &mut random);
        let since = Instant::now();
        survived += usize::from(read(&broken));
        assert!(since.elapsed() < Duration::from_secs(1), "version {i} takes {:?}", since.elapsed());
    }
    survived / times()
}

/// Files of a folder and of those in it.
fn files_in(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() { files_in(&entry, found) } else { found.push(entry) }
    }
}

#[test]
fn broken_files_of_every_format_are_read_or_refused() {
    /// Larger ones take long to break; there are smaller ones of their formats.
    const MOST: u64 = 100_000;
    const VERSIONS: usize = 10;
    let mut paths = Vec::new();
    files_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"), &mut paths);
    paths.retain(|path| path.metadata().is_ok_and(|data| data.len() <= MOST));
    assert!(paths.len() > 100, "{} files", paths.len());
    let mut whole = 0;
    for path in &paths {
        let bytes = std::fs::read(path).expect("a file");
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let read = |bytes: &[u8]| {
            let files = [File::new(name, bytes)];
            let is_model = open_model(&files, &ModelOptions::default()).is_ok();
            let is_data = open_dataset(&files, &DataOptions::default()).is_ok();
            sort_files(&files).is_ok() && (is_model || is_data)
        };
        whole += usize::from(read(&bytes));
        survived(&bytes, VERSIONS, read);
    }
    assert!(whole > 40, "{whole} of {} files could be read as they are", paths.len());
}
