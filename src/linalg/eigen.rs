//! Eigenvalues and eigenvectors of a dense symmetric matrix.

use nalgebra::linalg::{SymmetricEigen, SymmetricTridiagonal};
use nalgebra::{DMatrix, Dyn};

/// Share of the largest entry below which an entry of the tridiagonal form is rounding, and taken for 0.
const NOTHING: f64 = 1e-3 * f64::EPSILON;

/// The eigendecomposition of a finite symmetric matrix, in no order.
///
/// Of a matrix of low rank, what nalgebra's reflections leave behind the rank is rounding, then rounding of rounding, and so on
/// down to where squares underflow: there its rotations divide 0 by 0. The tridiagonal form, which is still sound, is then
/// taken without what is below rounding.
pub(crate) fn symmetric_eigen(matrix: DMatrix<f64>) -> SymmetricEigen<f64, Dyn> {
    let found = matrix.clone().symmetric_eigen();
    let is_sound = |found: &SymmetricEigen<f64, Dyn>| {
        found.eigenvalues.iter().chain(&found.eigenvectors).all(|value| value.is_finite())
    };
    if is_sound(&found) {
        return found;
    }
    drop(found);
    let scale = matrix.amax();
    let (q, diagonal, beside) = SymmetricTridiagonal::new(matrix / scale).unpack();
    let mut tridiagonal = DMatrix::from_diagonal(&diagonal);
    for (i, &value) in beside.iter().enumerate() {
        (tridiagonal[(i, i + 1)], tridiagonal[(i + 1, i)]) = (value, value);
    }
    let nothing = NOTHING * tridiagonal.amax();
    tridiagonal.iter_mut().filter(|entry| entry.abs() < nothing).for_each(|entry| *entry = 0.0);
    let of_tridiagonal = tridiagonal.symmetric_eigen();
    SymmetricEigen { eigenvectors: q * of_tridiagonal.eigenvectors, eigenvalues: of_tridiagonal.eigenvalues * scale }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{generator, random_normal};

    /// A matrix that is rounding of rounding behind its first rows, as the reflections leave one of low rank.
    fn vanishing(seed: u64) -> DMatrix<f64> {
        let n = 12;
        let values = random_normal(2 * n, &mut generator(seed));
        let size = |i: usize| if i < 3 { 1.0 } else { 1e-161 };
        let mut matrix = DMatrix::zeros(n, n);
        for i in 0..n {
            matrix[(i, i)] = size(i) * values[i];
            if i + 1 < n {
                matrix[(i, i + 1)] = size(i + 1) * values[n + i];
                matrix[(i + 1, i)] = matrix[(i, i + 1)];
            }
        }
        matrix
    }

    #[test]
    fn what_vanishes_behind_the_rank_makes_no_nan() {
        let mut without = 0;
        for seed in 0..50 {
            let matrix = vanishing(seed);
            without += usize::from(matrix.clone().symmetric_eigen().eigenvalues.iter().any(|value| value.is_nan()));
            let found = symmetric_eigen(matrix.clone());
            let error = (found.recompose() - &matrix).amax();
            assert!(error <= 1e-14 * matrix.amax(), "seed {seed}: off by {error:e}");
        }
        assert!(without > 0, "nalgebra is sound by itself now");
    }
}
