//! Broken versions of files, for the tests of what reads them.

use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

#[path = "../../tests/native/support/broken.rs"]
mod broken;
use broken::{broken, times};

/// Reads so many broken versions of a file, or so many times [`times`], and says how many of so many could be read; fails where one
/// takes more than a second.
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
