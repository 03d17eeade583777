//! Random members of the groups, from a seed.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Transformation;
use super::nodes::Nodes;
use super::tensors::Tensors;
use crate::error::{Result, ensure};
use crate::memory::collected;
use crate::network::Network;

fn log_uniform(rng: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    (low.ln() + rng.random::<f64>() * (high.ln() - low.ln())).exp()
}

fn check_range(low: f64, high: f64) -> Result<()> {
    ensure!(
        low > 0.0 && low <= high && high.is_finite(),
        InvalidTransformation,
        "the factors' range is [{low}, {high}], but must be 0 < low ≤ high"
    );
    Ok(())
}

pub(super) fn layerwise(network: &Network, seed: u64, low: f64, high: f64) -> Result<Transformation> {
    check_range(low, high)?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let tensors = Tensors::of(network)?;
    let mut products = vec![None; tensors.count];
    products[0] = Some(1.0);
    let mut lambda = Vec::with_capacity(tensors.read.len());
    for (&read, &written) in tensors.read.iter().zip(&tensors.written) {
        let before = products[read as usize].unwrap_or(1.0);
        lambda.push(match products[written as usize] {
            Some(product) => product / before,
            None => {
                let factor = log_uniform(&mut rng, low, high);
                products[written as usize] = Some(before * factor);
                factor
            }
        });
    }
    Ok(Transformation::Layerwise { lambda })
}

pub(super) fn nodewise(network: &Network, seed: u64, low: f64, high: f64) -> Result<Transformation> {
    check_range(low, high)?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let nodes = Nodes::of(network)?;
    let factors = nodes.written().iter().map(|written| {
        collected("node-wise factors", (0..written.rows.len()).map(|_| log_uniform(&mut rng, low, high)))
    });
    Ok(Transformation::Nodewise { factors: factors.collect::<Result<_>>()? })
}

pub(super) fn permutation(network: &Network, seed: u64) -> Result<Transformation> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Ok(Transformation::Permutation { permutations: super::bundles::shuffled(network, &mut rng)? })
}
