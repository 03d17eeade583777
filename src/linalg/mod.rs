//! Estimators over symmetric linear operators. None of them knows what a network is.

mod dense;
mod hutchinson;
mod lanczos;
mod power;

pub use dense::{DenseSpectrum, dense_matrix, dense_spectrum};
pub(crate) use hutchinson::mean_and_error;
pub use hutchinson::{TraceEstimate, hutchinson};
pub use lanczos::{Goal, Lanczos, Spectrum};
pub use power::{PowerIteration, PowerResult};

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
pub(crate) fn random_normal(len: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    (0..len).map(|_| rng.sample(StandardNormal)).collect()
}

/// The generator of a seed.
pub(crate) fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Rayleigh quotients and residuals of the columns of x, in double precision on the host whatever the device's: the
/// last digits of an eigenvalue are decided here.
pub(crate) async fn rayleigh_ritz(
    operator: &dyn SymmetricOperator,
    x: &Vector,
    tolerance: f64,
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
    let scale = pairs.iter().map(|pair| pair.value.abs()).fold(0.0, f64::max);
    for pair in &mut pairs {
        pair.converged = pair.residual <= tolerance * scale;
    }
    Ok(pairs)
}
