//! Synthetic data as in Rangamani section 3.1, which does not say how inputs are drawn: standard normal here.

use rand::Rng;
use rand_distr::StandardNormal;

use crate::error::{Result, ensure};
use crate::memory::{collected, room};
use crate::network::Network;
use crate::problem::{Loss, Problem, Targets};
use crate::random::generator;

/// The most values that all inputs have together: 2 GiB of doubles.
const MOST: usize = 1 << 28;

/// Standard normal inputs with uniformly random labels, under cross-entropy.
///
/// # Errors
/// `InvalidOption` for no samples; `TooLarge` for over 2²⁸ values, or where they do not fit in memory.
pub fn synthetic(network: Network, samples: usize, seed: u64) -> Result<Problem> {
    ensure!(samples > 0, InvalidOption, "a synthetic problem needs at least one sample");
    let (most, width) = (MOST / network.input_len(), network.input_len());
    ensure!(
        samples <= most,
        TooLarge,
        "a synthetic problem has {MOST} values at most, but {samples} samples of {width} values were asked for: {most} samples fit"
    );
    let mut rng = generator(seed);
    let mut inputs: Vec<f64> = room("synthetic inputs", samples * width)?;
    inputs.extend((0..samples * width).map(|_| rng.sample::<f64, _>(StandardNormal)));
    let classes = network.output_len() as u32;
    let labels = collected("synthetic labels", (0..samples).map(|_| rng.random_range(0..classes)))?;
    Problem::new(network, Loss::CrossEntropy, inputs, Targets::Classes(labels))
}
