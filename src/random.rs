//! Random numbers from seeds: the same for every device.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use crate::error::Result;
use crate::memory::collected;

/// A standard normal vector from a seed, the same for every device.
pub(crate) fn random_normal(len: usize, rng: &mut ChaCha8Rng) -> Result<Vec<f64>> {
    collected("a random vector", (0..len).map(|_| rng.sample(StandardNormal)))
}

/// `len` random signs, each 1 or −1: the probes of traces, diagonals, densities and of the subspace of Hutch++.
pub(crate) fn random_signs(len: usize, rng: &mut ChaCha8Rng) -> Result<Vec<f64>> {
    collected("random signs", (0..len).map(|_| if rng.random::<bool>() { 1.0 } else { -1.0 }))
}

/// The seed of one of several draws of a run: the first has the run's own, and the others have none that another run's first draws have, as
/// they would if they were counted on from it.
pub fn seed_of_draw(seed: u64, draw: usize) -> u64 {
    if draw == 0 {
        return seed;
    }
    // The first stream is the second generator's.
    stream(seed, draw as u64 + 1).random()
}

/// The generator of a seed.
pub(crate) fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Another one of the same seed, for what must be independent of what the first one gives.
pub(crate) fn second_generator(seed: u64) -> ChaCha8Rng {
    stream(seed, 1)
}

fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut generator = generator(seed);
    generator.set_stream(number);
    generator
}

#[cfg(test)]
mod tests {
    use super::seed_of_draw;

    #[test]
    fn runs_of_neighbouring_seeds_share_no_draws() {
        let mut seeds: Vec<u64> = (0..50).flat_map(|seed| (0..20).map(move |draw| seed_of_draw(seed, draw))).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 50 * 20);
        assert_eq!((seed_of_draw(7, 0), seed_of_draw(7, 3)), (7, seed_of_draw(7, 3)));
    }
}
