//! Eigenpairs at the end of an iteration.

use crate::error::Result;
use crate::linalg::krylov::{Basis, RitzPairs};
use crate::linalg::{Eigenpair, LOST, rayleigh_ritz, unit};
use crate::numbers::norm;

/// A tolerance below so many times the precision's ε is near enough to what products are off by for that to be measured.
const MEASURED: f64 = 1e6;

/// The chosen Ritz pairs with their residuals, and the products that these took.
///
/// The recurrence tells a residual but for what products are off by. In double precision that is next to nothing; in single
/// precision a product tells, with the largest pair that has converged, and gives that one its Rayleigh quotient in double precision.
/// Where products of numbers that are small may be lost as a whole, every pair has one.
pub(super) async fn of(
    basis: &Basis<'_>,
    ritz: &RitzPairs,
    chosen: &[usize],
    tolerance: f64,
    keep_vectors: bool,
) -> Result<(Vec<Eigenpair>, usize)> {
    let operator = basis.operator;
    if ritz.scale < LOST {
        let vectors = basis.ritz_vectors(ritz, chosen).await?;
        let pairs = rayleigh_ritz(operator, &vectors, tolerance, ritz.scale, keep_vectors).await?;
        return Ok((pairs, chosen.len()));
    }
    let (scale, epsilon) = (ritz.scale, operator.vectors().precision().epsilon());
    let mut residuals = ritz.residuals.clone();
    for &i in chosen {
        residuals[i] += basis.dropped(ritz, i)?;
    }
    let mut measured = None;
    if tolerance < MEASURED * epsilon {
        let rank = |i: usize| (residuals[i] <= tolerance * scale, ritz.values[i].abs());
        let first = |&&a: &&usize, &&b: &&usize| rank(a).0.cmp(&rank(b).0).then(rank(a).1.total_cmp(&rank(b).1));
        if let Some(&i) = chosen.iter().max_by(first) {
            let vector = basis.ritz_vectors(ritz, &[i]).await?;
            let pair = rayleigh_ritz(operator, &vector, tolerance, 0.0, false).await?.pop();
            measured = pair.map(|pair| (i, pair));
        }
    }
    // What is not its own residual is what the product was off by.
    let off = |(i, pair): &(usize, Eigenpair)| {
        let share = (residuals[*i] / pair.residual).min(1.0);
        pair.residual * (1.0 - share * share).sqrt()
    };
    let noise = measured.as_ref().map_or(epsilon * scale, off);
    let mut vectors = Vec::new();
    if keep_vectors {
        let found = operator.vectors().download(&basis.ritz_vectors(ritz, chosen).await?).await?;
        for x in found.chunks_exact(operator.len()) {
            vectors.push(unit(x, norm(x.iter().copied()))?);
        }
    }
    let mut vectors = vectors.into_iter();
    let pair = |&i: &usize| {
        let (value, residual) = match &measured {
            Some((of, pair)) if *of == i => (pair.value, pair.residual),
            _ => (ritz.values[i], residuals[i].hypot(noise)),
        };
        let converged = residual <= tolerance * scale;
        Eigenpair { value, residual, error_bound: None, converged, vector: vectors.next() }
    };
    Ok((chosen.iter().map(pair).collect(), usize::from(measured.is_some())))
}
