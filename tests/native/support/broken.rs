//! Files that are broken on purpose: the same ones every time.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Numbers that lengths are set to.
const LENGTHS: [u64; 10] = [0, 1, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 1 << 40, i64::MAX as u64, u64::MAX];

/// A file with one to four faults: bits and bytes that changed, pieces that are gone, doubled or moved, an end that is missing, and
/// numbers of one to eight bytes that are as large as can be.
pub fn broken(bytes: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
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

/// How many times as many versions are read: `ISOFLAT_MUTATIONS=200 cargo test --release --test memory` takes about a million, and
/// holds what each of them takes against what is stated.
pub fn times() -> usize {
    std::env::var("ISOFLAT_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}
