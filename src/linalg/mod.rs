//! Estimators over symmetric linear operators. None of them knows what a network is.

mod dense;
mod density;
mod diagonal;
mod hutch_plus_plus;
mod hutchinson;
mod krylov;
mod lanczos;
mod power;
mod symmetric;

pub use dense::{DenseSpectrum, dense_eigenvectors, dense_matrix, dense_spectrum};
pub use density::{Moment, SpectralDensity, StochasticLanczos};
pub use diagonal::{DiagonalEstimate, diagonal};
pub use hutch_plus_plus::{NormEstimate, TraceAndNorm, frobenius_norm, hutch_plus_plus, trace_and_norm};
pub use hutchinson::{TraceEstimate, hutchinson};
pub use lanczos::{Goal, Lanczos, Spectrum};
pub use power::{PowerIteration, PowerResult};
pub(crate) use symmetric::symmetric_eigen;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use crate::engine::{Executor, Vector};
use crate::error::{Result, bail};
use crate::operator::SymmetricOperator;

/// An eigenvalue with what says how far to trust it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Eigenpair {
    /// λ, the Rayleigh quotient of the vector.
    pub value: f64,
    /// ‖A v − λ v‖ at ‖v‖ = 1: an eigenvalue of A is at most this far.
    pub residual: f64,
    /// Is the residual within the tolerance that was asked for?
    pub converged: bool,
    /// v, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector: Option<Vec<f64>>,
}

/// A standard normal vector from a seed, the same for every device.
pub(crate) fn random_normal(len: usize, rng: &mut ChaCha8Rng) -> Result<Vec<f64>> {
    crate::memory::collected("a random vector", (0..len).map(|_| rng.sample(StandardNormal)))
}

/// [`random_signs`], or `TooLarge`.
pub(crate) fn signs(len: usize, rng: &mut ChaCha8Rng) -> Result<Vec<f64>> {
    crate::memory::collected("random signs", (0..len).map(|_| if rng.random::<bool>() { 1.0 } else { -1.0 }))
}

/// `len` random signs, each 1 or −1: the probes of traces, norms and densities.
pub(crate) fn random_signs(len: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    (0..len).map(|_| if rng.random::<bool>() { 1.0 } else { -1.0 }).collect()
}

/// Mean of independent samples, and the standard deviation of that mean from their spread (0 for one sample).
pub(crate) fn mean_and_error(samples: &[f64]) -> (f64, f64) {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    if samples.len() < 2 {
        return (mean, 0.0);
    }
    let variance = samples.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

/// The generator of a seed.
pub(crate) fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Rayleigh quotients and residuals of the columns of x, in double precision on the host whatever the device's: the
/// last digits of an eigenvalue are decided here. Residuals up to `tolerance` times the spectral norm count as converged;
/// `norm` is what is known of it, beside the quotients themselves.
pub(crate) async fn rayleigh_ritz(
    operator: &dyn SymmetricOperator,
    x: &Vector,
    tolerance: f64,
    norm: f64,
    keep_vectors: bool,
) -> Result<Vec<Eigenpair>> {
    let executor: &dyn Executor = operator.executor();
    let mut ax = executor.zeros(x.len(), x.columns())?;
    operator.apply(x, &mut ax)?;
    let (x, ax) = (executor.download(x).await?, executor.download(&ax).await?);
    let n = operator.len();
    let mut pairs = Vec::new();
    for (x, ax) in x.chunks_exact(n).zip(ax.chunks_exact(n)) {
        let norm_squared: f64 = x.iter().map(|x| x * x).sum();
        let value = x.iter().zip(ax).map(|(x, y)| x * y).sum::<f64>() / norm_squared;
        let residual = x.iter().zip(ax).map(|(x, y)| (y - value * x).powi(2)).sum::<f64>() / norm_squared;
        if !value.is_finite() {
            bail!(NotFinite, "the curvature is not finite at this point: its numbers overflow");
        }
        let norm = norm_squared.sqrt();
        let vector = keep_vectors.then(|| x.iter().map(|x| x / norm).collect());
        pairs.push(Eigenpair { value, residual: residual.sqrt(), converged: false, vector });
    }
    let scale = pairs.iter().map(|pair| pair.value.abs()).fold(norm, f64::max);
    for pair in &mut pairs {
        pair.converged = pair.residual <= tolerance * scale;
    }
    Ok(pairs)
}
