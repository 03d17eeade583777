//! The synthetic data of Rangamani section 3.1.

use rand::Rng;

use crate::error::{Result, ensure};
use crate::linalg::{generator, random_normal};
use crate::network::Network;
use crate::problem::{Loss, Problem, Targets};

/// Standard normal inputs with uniformly random labels, under cross-entropy.
///
/// # Errors
/// `InvalidOption` for no samples; `TooLarge` where they do not fit in memory.
pub fn synthetic(network: Network, samples: usize, seed: u64) -> Result<Problem> {
    ensure!(samples > 0, InvalidOption, "a synthetic problem needs at least one sample");
    let values = samples.checked_mul(network.input_len()).filter(|&values| values <= 1 << 28);
    ensure!(
        values.is_some(),
        TooLarge,
        "{samples} samples of {} values are more than memory is for",
        network.input_len()
    );
    let mut rng = generator(seed);
    let inputs = random_normal(values.unwrap_or(0), &mut rng);
    let classes = network.output_len() as u32;
    let labels = (0..samples).map(|_| rng.random_range(0..classes)).collect();
    Problem::new(network, Loss::CrossEntropy, inputs, Targets::Classes(labels))
}
