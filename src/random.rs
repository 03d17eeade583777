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

/// The generator of a seed.
pub(crate) fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Another one of the same seed, for what must be independent of what the first one gives.
pub(crate) fn second_generator(seed: u64) -> ChaCha8Rng {
    let mut generator = generator(seed);
    generator.set_stream(1);
    generator
}
