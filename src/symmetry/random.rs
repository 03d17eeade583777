//! Random members of the groups, from a seed.

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Transformation;
use crate::error::{Result, ensure};
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
    let free = network.layout().layers().len() - 1;
    let mut lambda: Vec<f64> = (0..free).map(|_| log_uniform(&mut rng, low, high)).collect();
    lambda.push(1.0 / lambda.iter().product::<f64>());
    Ok(Transformation::Layerwise { lambda })
}

pub(super) fn nodewise(network: &Network, seed: u64, low: f64, high: f64) -> Result<Transformation> {
    check_range(low, high)?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let factors =
        hidden_widths(network).map(|units| (0..units).map(|_| log_uniform(&mut rng, low, high)).collect()).collect();
    Ok(Transformation::Nodewise { factors })
}

pub(super) fn permutation(network: &Network, seed: u64) -> Transformation {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let permutations = hidden_widths(network)
        .map(|units| {
            let mut order: Vec<usize> = (0..units).collect();
            order.shuffle(&mut rng);
            order
        })
        .collect();
    Transformation::Permutation { permutations }
}

fn hidden_widths(network: &Network) -> impl Iterator<Item = usize> + '_ {
    let layers = network.layout().layers();
    layers[..layers.len() - 1].iter().map(|layer| layer.outputs)
}
