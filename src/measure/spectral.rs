//! What measures ask of an operator's spectrum, whichever operator it is.

use super::known::{Ends, Known};
use super::row::{ALWAYS, Compute, Cost, Family, LAYERWISE, NEVER_BUT_PERMUTED, OfSpectrum};
use super::{Measure, MeasureValue};
use crate::error::Result;
use crate::linalg::{Eigenpair, Goal};
use crate::operator::{Metric, OperatorKind};

const BOTH: Goal = Goal::Extremes { top: 1, bottom: 1 };

/// A row about an operator: what rescaling the operator withstands, all that is read off its spectrum does.
const fn about(of: OperatorKind, cost: Cost, ends: Option<Goal>, by: OfSpectrum) -> Measure {
    let (family, invariant) = match of.whole.metric() {
        None => (Family::Curvature, NEVER_BUT_PERMUTED),
        Some(Metric::Layerwise) => (Family::Riemannian, LAYERWISE),
        Some(Metric::Nodewise) => (Family::Riemannian, ALWAYS),
    };
    Measure { invariant, ..Measure::new(family, cost, Compute::Spectrum(of, ends, by)) }
}

/// The largest eigenvalue.
pub(super) const fn max_eigenvalue(of: OperatorKind) -> Measure {
    // What is never negative has its norm there.
    let ends = if of.whole.is_gauss_newton() { Goal::SpectralNorm } else { BOTH };
    let by: OfSpectrum = |known, row, of| Box::pin(end(known, row, of, |ends| (ends.max.value, &ends.max)));
    about(of, Cost::Eigenvalues, Some(ends), by)
}

/// The smallest eigenvalue.
pub(super) const fn min_eigenvalue(of: OperatorKind) -> Measure {
    let by: OfSpectrum = |known, row, of| Box::pin(end(known, row, of, |ends| (ends.min.value, &ends.min)));
    about(of, Cost::Eigenvalues, Some(BOTH), by)
}

/// The largest magnitude of an eigenvalue.
pub(super) const fn spectral_norm(of: OperatorKind) -> Measure {
    let by: OfSpectrum = |known, row, of| Box::pin(end(known, row, of, |ends| (ends.norm(), ends.dominant())));
    about(of, Cost::Eigenvalues, Some(Goal::SpectralNorm), by)
}

/// The trace.
pub(super) const fn trace(of: OperatorKind) -> Measure {
    about(of, Cost::Sweep, None, |known, _, of| Box::pin(known.trace(of)))
}

/// The Frobenius norm.
pub(super) const fn frobenius_norm(of: OperatorKind) -> Measure {
    about(of, Cost::Probes, None, |known, _, of| Box::pin(known.frobenius_norm(of)))
}

async fn end(
    known: &mut Known<'_, '_>,
    row: &Measure,
    of: OperatorKind,
    choice: fn(&Ends) -> (f64, &Eigenpair),
) -> Result<MeasureValue> {
    let ends = known.ends(of).await?;
    let (value, pair) = choice(&ends);
    Ok(eigenvalue(row.exact(value, ends.norm()), pair, &ends))
}

/// A value that is, or is made of, this one of a spectrum's ends.
pub(super) fn eigenvalue(value: MeasureValue, pair: &Eigenpair, ends: &Ends) -> MeasureValue {
    let (residual, iterations) = (Some(pair.residual), Some(ends.products));
    MeasureValue { residual, error_bound: pair.error_bound, iterations, converged: pair.converged, ..value }
}
