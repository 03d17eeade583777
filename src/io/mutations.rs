//! Files that are broken on purpose, for the tests of what reads them: the same ones every time.

use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

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

/// Reads so many broken versions of a file, and how many of them could be read; fails where one takes more than a second.
pub(super) fn survived(bytes: &[u8], count: usize, read: impl Fn(&[u8]) -> bool) -> usize {
    let mut random = ChaCha8Rng::seed_from_u64(bytes.len() as u64);
    let mut survived = 0;
    for i in 0..count {
        let broken = broken(bytes, &mut random);
        let since = Instant::now();
        survived += usize::from(read(&broken));
        assert!(since.elapsed() < Duration::from_secs(1), "version {i} takes {:?}", since.elapsed());
    }
    survived
}
