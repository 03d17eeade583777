//! Estimators over symmetric linear operators. None of them knows what a network is.

mod dense;
mod density;
mod diagonal;
mod hutch_plus_plus;
mod hutchinson;
mod krylov;
mod lanczos;
mod orthonormal;
mod power;
mod refine;
mod symmetric;
mod tridiagonal;

pub use dense::{DenseSpectrum, dense_eigenvectors, dense_matrix, dense_spectrum};
pub(crate) use dense::{SymmetricMatrix, spectrum_of, symmetric_matrix};
pub use density::{Moment, SpectralDensity, StochasticLanczos};
pub(crate) use diagonal::ensure_spread;
pub use diagonal::{DiagonalEstimate, diagonal};
pub use hutch_plus_plus::{NormEstimate, TraceAndNorm, frobenius_norm, hutch_plus_plus, trace_and_norm};
pub(crate) use hutch_plus_plus::{columns_of, ensure_enough, trace_and_norm_beyond};
pub use hutchinson::{TraceEstimate, hutchinson};
pub(crate) use krylov::Explored;
pub use lanczos::{Goal, Lanczos, Spectrum};
pub use orthonormal::orthonormal_columns;
pub use power::{PowerIteration, PowerResult};
pub(crate) use refine::refine;
pub(crate) use symmetric::{decomposed, decomposed_row, symmetric_eigen, symmetric_eigenvalues};

pub(crate) use crate::numbers::mean_and_error;
pub use crate::random::seed_of_draw;
pub(crate) use crate::random::{generator, random_normal, random_signs, second_generator};

use crate::engine::{Precision, Vector, Vectors};
use crate::error::{Result, ensure};
use crate::memory::{collected, room};
use crate::numbers::{inner, norm};
use crate::operator::SymmetricOperator;

/// In single precision, numbers below this are near enough to the smallest there are that products of them may be lost: a spectrum
/// that is smaller as a whole is checked in double precision.
pub(crate) const LOST: f64 = 1e-30;

/// Fails where an iteration may take no product: it would have no value to give.
pub(crate) fn ensure_product(max_products: usize) -> Result<()> {
    ensure!(max_products > 0, InvalidOption, "the most products are 0, but at least one must be allowed");
    Ok(())
}

/// Fails for what no residual could be compared with. None at all, 0, has an iteration go on as far as it may.
pub(crate) fn ensure_tolerance(tolerance: Option<f64>) -> Result<()> {
    if let Some(tolerance) = tolerance {
        let holds = tolerance.is_finite() && tolerance >= 0.0;
        ensure!(holds, InvalidOption, "the tolerance is {tolerance}, but must be finite and not negative");
    }
    Ok(())
}

/// An eigenvalue with what says how far to trust it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Eigenpair {
    /// λ: in exact arithmetic the Rayleigh quotient of the vector.
    pub value: f64,
    /// ‖A v − λ v‖ at ‖v‖ = 1: an eigenvalue of A is at most this far.
    pub residual: f64,
    /// Where it is known to be nearer: ‖R‖² / η, of second order in what the vectors that were found together lack.
    #[serde(skip)]
    pub error_bound: Option<f64>,
    /// Is the residual, or the bound, within the tolerance that was asked for?
    pub converged: bool,
    /// v, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector: Option<Vec<f64>>,
}

impl Eigenpair {
    /// An eigenvalue of A is at most this far.
    fn error(&self) -> f64 {
        self.error_bound.unwrap_or(self.residual)
    }
}

/// Rayleigh quotients and residuals of the columns of x, in double precision on the host whatever the device's: the
/// last digits of an eigenvalue are decided here. Residuals up to `tolerance` times the spectral norm count as converged;
/// `norm_known` is what is known of it, beside the quotients themselves.
pub(crate) async fn rayleigh_ritz(
    operator: &dyn SymmetricOperator,
    x: &Vector,
    tolerance: f64,
    norm_known: f64,
    keep_vectors: bool,
) -> Result<Vec<Eigenpair>> {
    let vectors: &dyn Vectors = operator.vectors();
    let mut ax = vectors.zeros(x.len(), x.columns())?;
    operator.apply(x, &mut ax).await?;
    let (x, ax) = (vectors.download(x).await?, vectors.download(&ax).await?);
    let n = operator.len();
    let mut pairs = Vec::new();
    for (x, ax) in x.chunks_exact(n).zip(ax.chunks_exact(n)) {
        let value = inner(x, ax) / inner(x, x);
        let length = norm(x.iter().copied());
        let residual = norm(x.iter().zip(ax).map(|(x, y)| y - value * x)) / length;
        if !value.is_finite() || !residual.is_finite() {
            return Err(overflow(vectors));
        }
        let vector = keep_vectors.then(|| unit(x, length)).transpose()?;
        pairs.push(Eigenpair { value, residual, error_bound: None, converged: false, vector });
    }
    let scale = pairs.iter().map(|pair| pair.value.abs()).fold(norm_known, f64::max);
    if scale < LOST && vectors.precision() == Precision::F32 {
        let mut units = room("vectors in double precision", x.len())?;
        for x in x.chunks_exact(n) {
            let length = norm(x.iter().copied());
            units.extend(x.iter().map(|x| x / length));
        }
        // What single precision lost to underflow shows in the residuals of products in double precision.
        let products = operator.apply_in_f64(&units).await?.unwrap_or_default();
        for ((pair, x), ax) in pairs.iter_mut().zip(units.chunks_exact(n)).zip(products.chunks_exact(n)) {
            pair.residual = pair.residual.max(norm(x.iter().zip(ax).map(|(x, y)| y - pair.value * x)));
        }
    }
    for pair in &mut pairs {
        pair.converged = pair.residual <= tolerance * scale;
    }
    Ok(pairs)
}

/// An eigenvector of this length, at length 1.
fn unit(x: &[f64], length: f64) -> Result<Vec<f64>> {
    collected("an eigenvector", x.iter().map(|x| x / length))
}

/// What is said where a product of a unit vector is no number.
pub(crate) fn overflow(vectors: &dyn Vectors) -> crate::error::Error {
    let found = crate::engine::overflows("the curvature", vectors.precision());
    crate::error::Error::new(crate::error::ErrorCode::NotFinite, found)
}
