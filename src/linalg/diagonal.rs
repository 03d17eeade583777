//! The diagonal of an operator: the mean of z ⊙ A z over random signs z (Bekas, Kokiopoulou and Saad 2007), or entry by
//! entry where that takes no more products.

use serde::Serialize;

use super::hutchinson::COLUMNS;
use super::{generator, overflow, random_signs};
use crate::control::{Control, Progress};
use crate::error::{Result, ensure};
use crate::memory::{collected, zeros};
use crate::numbers::{largest, power_near};
use crate::operator::SymmetricOperator;

const WHAT: &str = "a diagonal";

/// The diagonal of an operator.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiagonalEstimate {
    /// Its n entries.
    pub values: Vec<f64>,
    /// The standard error of each, from the probes' own spread; 0 where the diagonal is exact. That of entry i is about
    /// the length of row i without its diagonal entry, over √probes.
    pub standard_errors: Vec<f64>,
    /// Random probes; 0 where the diagonal is exact.
    pub probes: usize,
    /// Products with the operator.
    pub products: usize,
}

/// Fails for fewer products than standard errors take.
pub(crate) fn ensure_spread(products: usize) -> Result<()> {
    ensure!(products >= 2, InvalidOption, "a diagonal needs at least 2 probes, for its standard errors");
    Ok(())
}

/// The diagonal from this many products (at least 2): exact if they are as many as the operator is long, otherwise estimated
/// from as many probes.
///
/// # Errors
/// `InvalidOption` for fewer than 2 products; `NotFinite` where they overflow; `Aborted`; the device's.
pub async fn diagonal(
    operator: &dyn SymmetricOperator,
    products: usize,
    seed: u64,
    control: &Control<'_>,
) -> Result<DiagonalEstimate> {
    ensure_spread(products)?;
    let n = operator.len();
    let is_exact = products >= n;
    let total = products.min(n);
    let vectors = operator.vectors();
    let mut rng = generator(seed);
    let (mut values, mut squares): (Vec<f64>, Vec<f64>) = (zeros(WHAT, n)?, zeros(WHAT, n)?);
    // What squares are in units of: a power of two of the size of the first products, so that none overflows or vanishes.
    let mut unit = 0.0;
    for start in (0..total).step_by(COLUMNS) {
        control.step(Progress::new("diagonal", start, total)).await?;
        let columns = COLUMNS.min(total - start);
        let mut z = if is_exact { zeros(WHAT, n * columns)? } else { random_signs(n * columns, &mut rng)? };
        if is_exact {
            (0..columns).for_each(|k| z[k * n + start + k] = 1.0);
        }
        let x = vectors.upload(&z, columns)?;
        let mut y = vectors.zeros(n, columns)?;
        operator.apply(&x, &mut y).await?;
        let y = vectors.download(&y).await?;
        let size = largest(y.iter().copied());
        if !size.is_finite() {
            return Err(overflow(vectors));
        }
        if unit == 0.0 && size > 0.0 {
            unit = power_near(size);
        }
        for (k, (z, y)) in z.chunks_exact(n).zip(y.chunks_exact(n)).enumerate() {
            let count = (start + k + 1) as f64;
            for (i, (z, y)) in z.iter().zip(y).enumerate() {
                let sample = z * y;
                if is_exact {
                    values[i] += sample;
                } else {
                    // Mean and sum of squares about it, probe by probe (Welford).
                    let before = sample - values[i];
                    values[i] += before / count;
                    if unit > 0.0 {
                        squares[i] += before / unit * ((sample - values[i]) / unit);
                    }
                }
            }
        }
    }
    let count = total as f64;
    let errors = squares.iter().map(|s| (s / ((count - 1.0).max(1.0) * count)).sqrt() * unit);
    let standard_errors = collected(WHAT, errors)?;
    Ok(DiagonalEstimate { values, standard_errors, probes: if is_exact { 0 } else { total }, products: total })
}
