//! Orthonormal columns that are uniformly random: the orthonormal factor of normal ones.
//!
//! A = Q Lᵀ with A ᵀ A = L Lᵀ (Cholesky), and of columns that are not far longer than they are many again: what the first pass leaves of
//! the square of A's condition the second one removes. Rows go through in pieces that stay in the cache.

use rand::Rng;
use rand_distr::StandardNormal;

use super::generator;
use crate::control::Control;
use crate::error::{Result, ensure};
use crate::memory::{product, zeros};
use crate::numbers::dot;

const WHAT: &str = "a random subspace";

/// Rows of a piece.
const ROWS: usize = 512;

/// Columns so many times as long as they are many have a condition below 4/3 but by miracle: (√n + √k) / (√n − √k), and a fraction.
const LONG: usize = 64;

/// `dimension` orthonormal columns of length n, one after the other: a uniformly random subspace, the same for the same seed.
///
/// # Errors
/// `InvalidOption` for more columns than there are rows; `TooLarge`; `Aborted`.
pub async fn orthonormal_columns(n: usize, dimension: usize, seed: u64, control: &Control<'_>) -> Result<Vec<f64>> {
    ensure!(
        (1..=n).contains(&dimension),
        InvalidOption,
        "a subspace of dimension {dimension} was asked for, but there are {n} parameters"
    );
    let mut rng = generator(seed);
    let mut a: Vec<f64> = zeros(WHAT, product::<f64>(WHAT, &[n, dimension])?)?;
    // Columns that are as good as dependent, which a few in a hundred thousand squares of a thousand are, are drawn anew.
    'draw: loop {
        for column in a.chunks_exact_mut(n) {
            column.iter_mut().for_each(|x| *x = rng.sample(StandardNormal));
            control.breathe().await?;
        }
        for _ in 0..if n / dimension >= LONG { 1 } else { 2 } {
            let mut l = gram(&a, n, control).await?;
            if !factorize(&mut l, dimension, control).await? {
                continue 'draw;
            }
            divide(&mut a, n, &l, control).await?;
        }
        return Ok(a);
    }
}

/// The lower triangle of A ᵀ A, row by row.
async fn gram(a: &[f64], n: usize, control: &Control<'_>) -> Result<Vec<f64>> {
    let columns = a.len() / n;
    let mut found = zeros(WHAT, product::<f64>(WHAT, &[columns, columns])?)?;
    for start in (0..n).step_by(ROWS) {
        let rows = start..n.min(start + ROWS);
        for j in 0..columns {
            let one = &a[j * n..][rows.clone()];
            for i in 0..=j {
                found[j * columns + i] += dot(one, &a[i * n..][rows.clone()]);
            }
            control.breathe().await?;
        }
    }
    Ok(found)
}

/// The lower triangle of a symmetric matrix becomes its Cholesky factor, row by row. `false` where it is not positive. Our own, since a
/// library's cannot be interrupted.
async fn factorize(l: &mut [f64], size: usize, control: &Control<'_>) -> Result<bool> {
    for j in 0..size {
        let (above, row) = l.split_at_mut(j * size);
        for i in 0..j {
            let other = &above[i * size..][..=i];
            row[i] = (row[i] - dot(&row[..i], &other[..i])) / other[i];
        }
        let square = row[j] - dot(&row[..j], &row[..j]);
        // What is below is rounding.
        if square.is_nan() || square <= f64::EPSILON * row[j] {
            return Ok(false);
        }
        row[j] = square.sqrt();
        control.breathe().await?;
    }
    Ok(true)
}

/// A ← A L⁻ᵀ.
async fn divide(a: &mut [f64], n: usize, l: &[f64], control: &Control<'_>) -> Result<()> {
    let columns = a.len() / n;
    for start in (0..n).step_by(ROWS) {
        let rows = start..n.min(start + ROWS);
        for j in 0..columns {
            let (before, column) = a.split_at_mut(j * n);
            let column = &mut column[rows.clone()];
            for (i, other) in before.chunks_exact(n).enumerate() {
                let share = l[j * columns + i];
                column.iter_mut().zip(&other[rows.clone()]).for_each(|(x, q)| *x -= share * q);
            }
            let length = l[j * columns + j];
            column.iter_mut().for_each(|x| *x /= length);
            control.breathe().await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;

    #[test]
    fn columns_are_orthonormal_whatever_their_number() {
        for (n, dimension) in [(1, 1), (2, 2), (3, 1), (60, 60), (1000, 7), (1025, 20), (300, 300)] {
            let found = pollster::block_on(orthonormal_columns(n, dimension, 3, &Control::default())).expect("columns");
            let found = DMatrix::from_vec(n, dimension, found);
            let off = (found.transpose() * &found - DMatrix::identity(dimension, dimension)).amax();
            assert!(off < 1e-13 * dimension as f64, "{n} × {dimension}: {off:e}");
        }
    }

    /// Every direction is as likely: Q Qᵀ is dimension / n times the identity on average.
    #[test]
    fn subspaces_are_uniformly_random() {
        let (n, dimension, draws) = (6, 2, 4000);
        let mut mean = DMatrix::<f64>::zeros(n, n);
        for seed in 0..draws {
            let found =
                pollster::block_on(orthonormal_columns(n, dimension, seed, &Control::default())).expect("columns");
            let q = DMatrix::from_vec(n, dimension, found);
            mean += &q * q.transpose() / draws as f64;
        }
        let off = (mean - DMatrix::identity(n, n) * (dimension as f64 / n as f64)).amax();
        // An entry's standard deviation is below 0.3.
        assert!(off < 5.0 * 0.3 / (draws as f64).sqrt(), "{off}");
    }
}
