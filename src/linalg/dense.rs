//! Whole spectra of small operators, by products with the identity and a decomposition of the matrix that comes of them.

use super::symmetric::{Decomposition, symmetric_eigen, symmetric_ends};
use super::{Eigenpair, ensure_tolerance, overflow, rayleigh_ritz};
use crate::control::{Control, Progress};
use crate::error::{Result, ensure};
use crate::memory::{room, zeros};
use crate::numbers::norm;
use crate::operator::SymmetricOperator;

/// Columns of the identity that go through an operator together.
const COLUMNS: usize = 32;

/// The largest operator that is taken whole: 4096² doubles are 128 MiB.
const MAX_LEN: usize = 4096;

/// Every eigenvalue of an operator.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseSpectrum {
    /// Ascending.
    pub values: Vec<f64>,
    /// The largest, with the residual of a product on the device.
    pub max: Eigenpair,
    /// The smallest, with the residual of a product on the device.
    pub min: Eigenpair,
    /// Sum of the diagonal.
    pub trace: f64,
    /// Products with the operator.
    pub products: usize,
}

impl DenseSpectrum {
    /// The Frobenius norm: the length of the vector of eigenvalues.
    pub fn frobenius_norm(&self) -> f64 {
        norm(self.values.iter().copied())
    }
}

/// The operator as a dense matrix (n × n, symmetric up to rounding), column after column.
///
/// # Errors
/// `TooLarge` above 4096; `NotFinite` where products overflow; `Aborted`; the device's.
pub async fn dense_matrix(operator: &dyn SymmetricOperator, control: &Control<'_>) -> Result<Vec<f64>> {
    let n = operator.len();
    ensure!(n <= MAX_LEN, TooLarge, "a dense spectrum is for at most {MAX_LEN} parameters, but there are {n}");
    let vectors = operator.vectors();
    let mut matrix = room("a dense matrix", n * n)?;
    for start in (0..n).step_by(COLUMNS) {
        control.step(Progress::new("dense matrix", start, n)).await?;
        let columns = COLUMNS.min(n - start);
        let mut identity = zeros("columns of the identity", n * columns)?;
        for k in 0..columns {
            identity[k * n + start + k] = 1.0;
        }
        let x = vectors.upload(&identity, columns)?;
        let mut y = vectors.zeros(n, columns)?;
        operator.apply(&x, &mut y).await?;
        matrix.extend(vectors.download(&y).await?);
    }
    if !matrix.iter().all(|entry: &f64| entry.is_finite()) {
        return Err(overflow(vectors));
    }
    Ok(matrix)
}

/// Every eigenvalue of the operator's symmetric part. Its two ends count as converged within `tolerance`, relative to
/// the spectral norm.
///
/// # Errors
/// As [`dense_matrix`].
pub async fn dense_spectrum(
    operator: &dyn SymmetricOperator,
    tolerance: f64,
    control: &Control<'_>,
) -> Result<DenseSpectrum> {
    ensure_tolerance(Some(tolerance))?;
    let n = operator.len();
    let (matrix, trace) = symmetric_part(operator, control).await?;
    let eigen = finite(symmetric_ends(matrix, n, control).await?, trace, operator)?;
    let ends = operator.vectors().upload(&eigen.vectors, 2)?;
    let mut pairs = rayleigh_ritz(operator, &ends, tolerance, 0.0, false).await?;
    let max = pairs.remove(1);
    let min = pairs.remove(0);
    let found = DenseSpectrum { values: eigen.values, max, min, trace, products: n + 2 };
    if !found.frobenius_norm().is_finite() {
        return Err(overflow(operator.vectors()));
    }
    Ok(found)
}

/// Every eigenvalue of the operator's symmetric part, ascending, and the eigenvectors: n × n, of unit length, one after the
/// other in the same order.
///
/// # Errors
/// As [`dense_matrix`].
pub async fn dense_eigenvectors(
    operator: &dyn SymmetricOperator,
    control: &Control<'_>,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let (matrix, trace) = symmetric_part(operator, control).await?;
    let eigen = finite(symmetric_eigen(matrix, operator.len(), control).await?, trace, operator)?;
    Ok((eigen.values, eigen.vectors))
}

/// The symmetric part in the lower triangle, and the trace.
async fn symmetric_part(operator: &dyn SymmetricOperator, control: &Control<'_>) -> Result<(Vec<f64>, f64)> {
    let n = operator.len();
    let mut matrix = dense_matrix(operator, control).await?;
    let trace = matrix.iter().step_by(n + 1).sum();
    for j in 0..n {
        for i in j + 1..n {
            matrix[j * n + i] = 0.5 * matrix[j * n + i] + 0.5 * matrix[i * n + j];
        }
    }
    Ok((matrix, trace))
}

/// The same, unless a number of it is none.
fn finite(eigen: Decomposition, trace: f64, operator: &dyn SymmetricOperator) -> Result<Decomposition> {
    if !trace.is_finite() || !eigen.values.iter().all(|value| value.is_finite()) {
        return Err(overflow(operator.vectors()));
    }
    Ok(eigen)
}
