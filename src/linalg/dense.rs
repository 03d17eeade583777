//! Whole spectra of small operators, by products with the identity and a decomposition of the matrix that comes of them.

use std::ops::Range;

use super::symmetric::{Decomposition, symmetric_eigen, symmetric_eigenvalues, symmetric_ends};
use super::{Eigenpair, ensure_tolerance, overflow, rayleigh_ritz};
use crate::control::{Control, Progress};
use crate::error::{Result, ensure};
use crate::memory::{copied, room, zeros};
use crate::numbers::{largest, norm};
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
    let matrix = symmetric_matrix(operator, control).await?;
    let found = spectrum_of(matrix, operator, tolerance, control).await?;
    Ok(DenseSpectrum { products: found.products + operator.len(), ..found })
}

/// The same of an operator whose matrix is known: it takes two products, with the eigenvectors of both ends.
///
/// # Errors
/// `NotFinite` where numbers overflow; `Aborted`; the device's.
pub(crate) async fn spectrum_of(
    matrix: SymmetricMatrix,
    operator: &dyn SymmetricOperator,
    tolerance: f64,
    control: &Control<'_>,
) -> Result<DenseSpectrum> {
    control.step(Progress::new("eigenvalues of a matrix", 0, 1)).await?;
    let trace = matrix.trace();
    let eigen = finite(symmetric_ends(matrix.entries, matrix.size, control).await?, trace, operator)?;
    let ends = operator.vectors().upload(&eigen.vectors, 2)?;
    let mut pairs = rayleigh_ritz(operator, &ends, tolerance, 0.0, false).await?;
    let max = pairs.remove(1);
    let min = pairs.remove(0);
    let found = DenseSpectrum { values: eigen.values, max, min, trace, products: 2 };
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
    let matrix = symmetric_matrix(operator, control).await?;
    let trace = matrix.trace();
    let eigen = finite(symmetric_eigen(matrix.entries, matrix.size, control).await?, trace, operator)?;
    Ok((eigen.values, eigen.vectors))
}

/// An operator's symmetric part, by products with all unit vectors.
///
/// # Errors
/// As [`dense_matrix`].
pub(crate) async fn symmetric_matrix(
    operator: &dyn SymmetricOperator,
    control: &Control<'_>,
) -> Result<SymmetricMatrix> {
    let (size, mut entries) = (operator.len(), dense_matrix(operator, control).await?);
    for j in 0..size {
        for i in j + 1..size {
            let mean = 0.5 * entries[j * size + i] + 0.5 * entries[i * size + j];
            (entries[j * size + i], entries[i * size + j]) = (mean, mean);
        }
    }
    Ok(SymmetricMatrix { size, entries })
}

/// A symmetric matrix on the host.
pub(crate) struct SymmetricMatrix {
    size: usize,
    /// Column after column.
    entries: Vec<f64>,
}

impl SymmetricMatrix {
    /// The same once more.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn copied(&self) -> Result<Self> {
        Ok(Self { size: self.size, entries: copied("a matrix", &self.entries)? })
    }

    /// Each column; what is done to one entry is to be done to its mirror image.
    pub fn columns_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        self.entries.chunks_exact_mut(self.size.max(1))
    }

    /// The largest magnitude of an entry.
    pub fn largest(&self) -> f64 {
        largest(self.entries.iter().copied())
    }

    /// All its eigenvalues, ascending.
    ///
    /// # Errors
    /// `TooLarge`; `Aborted`.
    pub async fn eigenvalues(self, control: &Control<'_>) -> Result<Vec<f64>> {
        symmetric_eigenvalues(self.entries, self.size, control).await
    }

    /// The principal submatrix at these coordinates.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn principal(&self, ranges: &[Range<usize>]) -> Result<Self> {
        let size = ranges.iter().map(Range::len).sum();
        let mut entries = room("a matrix", size * size)?;
        for j in ranges.iter().cloned().flatten() {
            let column = &self.entries[j * self.size..(j + 1) * self.size];
            ranges.iter().for_each(|range| entries.extend_from_slice(&column[range.clone()]));
        }
        Ok(Self { size, entries })
    }

    fn trace(&self) -> f64 {
        self.entries.iter().step_by(self.size + 1).sum()
    }
}

/// The same, unless a number of it is none.
fn finite(eigen: Decomposition, trace: f64, operator: &dyn SymmetricOperator) -> Result<Decomposition> {
    if !trace.is_finite() || !eigen.values.iter().all(|value| value.is_finite()) {
        return Err(overflow(operator.vectors()));
    }
    Ok(eigen)
}
