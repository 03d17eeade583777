//! Was an eigenvalue missed? One start vector shows one copy of a multiple eigenvalue, and nothing of an eigenvector that is
//! orthogonal to it. What a basis Q may have missed is in its complement, where a few products with a random vector tell.
//!
//! With A Q = Q T + q sᵀ and B the operator between vectors orthogonal to Q, Sylvester's law of inertia says that A has no more
//! eigenvalues above μ than T + s sᵀ/(μ − b) has, for any b < μ that B stays below; for all but the first k − 1 Ritz values θ of
//! residuals r that is none if Σ r²/(μ − θ) ≤ μ − b. Here μ lies the tolerance beyond the last wanted value, and b is the
//! largest number for which the inequality holds.
//!
//! That B stays below b is known from p Lanczos steps of a random vector y. A measure whose orthonormal polynomials are p_j has at
//! a point λ at most the mass 1/Σ p_j(λ)² (Chebyshev, Markov, Stieltjes; the Christoffel function), and beyond its Ritz values that
//! falls with every step and with λ. So an eigenvector of B of a value beyond b would have hardly any share in y, which
//! has some: in d dimensions less than w with a probability of √(2 d w/π).

use crate::error::Result;
use crate::linalg::decomposed;
use crate::linalg::krylov::{Basis, RitzPairs};
use crate::sorting::sort_by;

/// Probability with which eigenvalues missed at one end may go unnoticed in one verification.
const RISK: f64 = 1e-3;

/// Beyond what no more than some eigenvalues may lie, at one end of a spectrum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// 1 at the top, −1 at the bottom, where the operator is −A.
    pub sign: f64,
    /// How many of the outermost may lie beyond.
    pub beyond: usize,
    /// μ, times the sign.
    pub level: f64,
}

/// What is known of eigenvalues beyond the limits.
pub(super) enum Verdict {
    /// There are no more.
    Complete,
    /// There are: this combination of the steps' columns leads to them.
    Missed(Vec<f64>),
    /// More steps are needed: the mass that a missed one may have is so many times e too large.
    Open(f64),
    /// These steps do not tell, nor would more of them.
    Unclear,
}

/// A search of the complement of a basis.
pub(super) struct Verification {
    /// Columns of the basis; those behind it are the random vector's.
    columns: usize,
    /// Each limit with its b, times its sign.
    limits: Vec<(Limit, f64)>,
    /// Mass of a random vector's share in a direction that is almost never as small.
    mass: f64,
}

impl Verification {
    /// Of what these Ritz pairs may lack, in a space of so many dimensions.
    pub fn new(ritz: &RitzPairs, limits: &[Limit], dimension: usize) -> Self {
        let columns = ritz.values.len();
        let complement = dimension.saturating_sub(columns).max(1) as f64;
        let bounded = |limit: &Limit| {
            let mut pairs: Vec<(f64, f64)> = ritz
                .values
                .iter()
                .zip(&ritz.residuals)
                .map(|(value, residual)| (limit.sign * value, *residual))
                .collect();
            sort_by(&mut pairs, |a, b| b.0.total_cmp(&a.0));
            let rise: f64 = pairs.iter().skip(limit.beyond).map(|(value, r)| r * (r / (limit.level - value))).sum();
            (*limit, limit.level - rise)
        };
        let limits = limits.iter().map(bounded).collect();
        Self { columns, limits, mass: std::f64::consts::PI * RISK * RISK / (2.0 * complement) }
    }

    /// Logarithm of what a mass of 1/`sum` has too much.
    pub fn excess(&self, sum: f64) -> f64 {
        -(self.mass * sum).ln()
    }

    /// What the steps so far tell.
    ///
    /// # Errors
    /// `TooLarge` where the projected matrix does not fit in memory.
    pub fn verdict(&self, basis: &Basis) -> Result<Verdict> {
        let t = basis.projected(self.columns)?;
        let steps = t.nrows();
        let noise = basis.noise();
        let found = decomposed(&t)?;
        let columns = found.vectors.chunks_exact(steps);
        let is_beyond = |value: f64| self.limits.iter().any(|(limit, _)| limit.sign * value > limit.level);
        let missed: Vec<&[f64]> = found
            .values
            .iter()
            .zip(columns)
            .filter(|(value, _)| is_beyond(**value))
            .map(|(_, vector)| vector)
            .collect();
        if !missed.is_empty() {
            return Ok(Verdict::Missed((0..steps).map(|i| missed.iter().map(|vector| vector[i]).sum()).collect()));
        }
        let mut excess: f64 = 0.0;
        for (limit, bound) in &self.limits {
            if found.values.iter().any(|value| limit.sign * value >= *bound) {
                return Ok(Verdict::Unclear);
            }
            // p_{j−1} and p_j, by their recurrence.
            let (mut before, mut polynomial, mut sum) = (0.0, 1.0, 1.0);
            for j in 0..steps {
                let last = if j == 0 { 0.0 } else { t[(j - 1, j)] };
                let next = if j + 1 < steps { t[(j, j + 1)] } else { basis.beta.max(noise) };
                let value = (bound - limit.sign * t[(j, j)]) / next * polynomial - last / next * before;
                (before, polynomial) = (polynomial, value);
                sum += value * value;
                if !sum.is_finite() {
                    break;
                }
            }
            excess = excess.max(self.excess(sum));
        }
        Ok(match excess > 0.0 {
            true if basis.beta == 0.0 => Verdict::Unclear,
            true => Verdict::Open(excess),
            false => Verdict::Complete,
        })
    }
}
