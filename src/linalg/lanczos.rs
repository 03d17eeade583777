//! Lanczos with full reorthogonalisation and thick restarts (Wu and Simon 2000): the largest and the smallest eigenvalues,
//! with their multiplicities.
//!
//! One start vector shows one copy of a multiple eigenvalue, and nothing of an eigenvector that is orthogonal to it. So
//! where that can matter, what has converged is kept, and the iteration goes on from a random vector orthogonal to it, until
//! that settles next to the wanted values without a new one among them; if there is a new one, it converges, and the search
//! begins again.
//! Eigenvalues at the end are Rayleigh quotients in double precision with explicitly computed residuals.

use super::krylov::{Basis, CHECK_EVERY, RitzPairs};
use super::{Eigenpair, generator, random_normal, rayleigh_ritz};
use crate::control::{Control, Progress};
use crate::error::{Result, ensure, ensure_finite};
use crate::operator::SymmetricOperator;

/// Share of the tolerance at which a residual estimate stops an iteration: rounding and what a restart leaves out have
/// the rest.
const SHARE: f64 = 0.25;

/// Share of its distance to the wanted values at which the residual of the value next to them ends the search for missed
/// ones. A random vector in n dimensions has about 1/√n of each eigenvector: steps that resolve a tenth of that distance
/// have amplified a missed one by far more.
const GAP_SHARE: f64 = 0.1;

/// What has to converge before the iteration stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// This many of the largest and of the smallest eigenvalues.
    Extremes {
        /// Of the largest.
        top: usize,
        /// Of the smallest.
        bottom: usize,
    },
    /// The eigenvalue of largest magnitude; the other end only as far as to know that it is smaller.
    SpectralNorm,
}

impl Goal {
    /// The least that reaches both.
    pub(crate) fn and(self, other: Self) -> Self {
        let ends = |goal| match goal {
            Self::Extremes { top, bottom } => [top, bottom],
            Self::SpectralNorm => [1, 1],
        };
        if self == other {
            return self;
        }
        let ([a, b], [c, d]) = (ends(self), ends(other));
        Self::Extremes { top: a.max(c), bottom: b.max(d) }
    }
}

/// What to do.
#[derive(Debug, Clone)]
pub struct Lanczos {
    /// What has to converge.
    pub goal: Goal,
    /// Residual, relative to the spectral norm, at which a pair has converged; `None` takes 1e-9 in f64 and 2e-5 in f32.
    pub tolerance: Option<f64>,
    /// Most products.
    pub max_products: usize,
    /// Vectors in the basis before a restart; `None` takes what suits the goal.
    pub basis: Option<usize>,
    /// Seed of the start vector, and of those that look for what it lacked.
    pub seed: u64,
    /// The start vector, where a random one is not wanted; of any length but 0.
    pub start: Option<Vec<f64>>,
    /// Whether eigenvectors are wanted.
    pub vectors: bool,
}

impl Default for Lanczos {
    fn default() -> Self {
        Self {
            goal: Goal::Extremes { top: 1, bottom: 1 },
            tolerance: None,
            max_products: 1000,
            basis: None,
            seed: 0,
            start: None,
            vectors: false,
        }
    }
}

/// Ends of a spectrum.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Spectrum {
    /// The largest, descending.
    pub top: Vec<Eigenpair>,
    /// The smallest, ascending.
    pub bottom: Vec<Eigenpair>,
    /// Products with the operator.
    pub products: usize,
    /// Has everything that the goal names converged?
    pub converged: bool,
    /// Was no eigenvalue missed, as far as a random vector that lacks no eigenvector can tell? Where two or more were wanted of
    /// an end, a second start from a random vector orthogonal to them has found none; a single one from a random start
    /// has no copies to miss. `false` where the products ran out before: the values are eigenvalues within their
    /// residuals, but there may be others between them.
    pub verified: bool,
}

impl Spectrum {
    /// The pair of largest magnitude.
    pub fn dominant(&self) -> Option<&Eigenpair> {
        self.top.iter().chain(&self.bottom).max_by(|a, b| a.value.abs().total_cmp(&b.value.abs()))
    }
}

/// A goal with the numbers that decide when it is reached.
struct Target {
    goal: Goal,
    top: usize,
    bottom: usize,
    tolerance: f64,
    /// Whether a search for missed values has to follow at the top, and at the bottom: for two or more, which may be copies, and
    /// after a start vector that is not random.
    verify: [bool; 2],
}

impl Lanczos {
    /// Runs it.
    ///
    /// # Errors
    /// `InvalidOption` for more eigenvalues than there are, a basis too small for them, or a start vector of another
    /// length or of zeros; `NotFinite` where products overflow; `Aborted`; the device's.
    pub async fn run(&self, operator: &dyn SymmetricOperator, control: &Control<'_>) -> Result<Spectrum> {
        let n = operator.len();
        let target = self.target(operator)?;
        let (top, bottom) = (target.top, target.bottom);
        let capacity = self.basis.unwrap_or(2 * (top + bottom) + 40).min(n);
        ensure!(
            capacity == n || capacity >= top + bottom + 4,
            InvalidOption,
            "a basis of {capacity} vectors is too small for {} eigenvalues",
            top + bottom
        );
        let mut basis = self.start(operator, capacity)?;
        let mut products = 0;
        // The wanted values that were kept when the search for missed ones began.
        let mut kept: Option<Vec<f64>> = None;
        let mut verified = false;
        let ritz = loop {
            let steps = CHECK_EVERY.min(capacity - basis.size).min(self.max_products.saturating_sub(products).max(1));
            products += basis.advance(steps).await?;
            let ritz = basis.ritz_pairs()?;
            let wanted = target.wanted(&ritz);
            let scale = ritz.scale();
            let worst = wanted.iter().map(|&i| ritz.residuals[i]).fold(0.0, f64::max);
            let phase = if kept.is_some() { "lanczos, verification" } else { "lanczos" };
            let progress = Progress::new(phase, products, self.max_products)
                .with_estimate(ritz.dominant(), if scale > 0.0 { worst / scale } else { 0.0 });
            control.step(progress).await?;
            let is_enough = basis.size >= top + bottom;
            if basis.size == n || (is_enough && basis.rest.is_some_and(|rest| target.holds(&ritz, rest, operator))) {
                verified = true;
                break ritz;
            }
            if products >= self.max_products {
                break ritz;
            }
            // A remainder of 0 makes every residual 0 and says nothing of what the start vector lacked.
            if basis.beta > 0.0 && is_enough && worst <= SHARE * target.tolerance * scale {
                let values: Vec<f64> = wanted.iter().map(|&i| ritz.values[i]).collect();
                let is_new = kept.as_ref().is_none_or(|kept| target.differ(kept, &values, scale, operator));
                if target.verify == [false; 2] || (!is_new && target.is_settled(&ritz, &wanted)) {
                    verified = true;
                    break ritz;
                }
                if is_new {
                    basis.restart_at_random(&ritz, &wanted).await?;
                    kept = Some(values);
                    continue;
                }
            }
            if basis.size == capacity {
                basis.restart(&ritz, &target.guarded(&ritz, capacity)).await?;
            }
        };
        let count = ritz.values.len();
        let (top, bottom) = (top.min(count), bottom.min(count));
        let chosen: Vec<usize> = (0..top).map(|i| count - 1 - i).chain(0..bottom).collect();
        let vectors = basis.ritz_vectors(&ritz, &chosen).await?;
        let mut pairs = rayleigh_ritz(operator, &vectors, target.tolerance, ritz.scale(), self.vectors).await?;
        products += chosen.len();
        let low = pairs.split_off(top);
        let mut spectrum = Spectrum { top: pairs, bottom: low, products, converged: false, verified };
        spectrum.converged = match self.goal {
            Goal::Extremes { .. } => spectrum.top.iter().chain(&spectrum.bottom).all(|pair| pair.converged),
            Goal::SpectralNorm => spectrum.dominant().is_some_and(|pair| pair.converged),
        };
        Ok(spectrum)
    }

    fn target(&self, operator: &dyn SymmetricOperator) -> Result<Target> {
        let n = operator.len();
        let (top, bottom) = match self.goal {
            Goal::Extremes { top, bottom } => (top, bottom),
            Goal::SpectralNorm => (1, 1),
        };
        ensure!(
            top <= n && bottom <= n,
            InvalidOption,
            "there are {n} eigenvalues, but {} were asked for",
            top.max(bottom)
        );
        ensure!(top + bottom > 0, InvalidOption, "no eigenvalue was asked for");
        let tolerance = self.tolerance.unwrap_or_else(|| operator.vectors().precision().eigenvalue_tolerance());
        let verify = [top, bottom].map(|count| count > 1 || (count > 0 && self.start.is_some()));
        Ok(Target { goal: self.goal, top, bottom, tolerance, verify })
    }

    fn start<'a>(&self, operator: &'a dyn SymmetricOperator, capacity: usize) -> Result<Basis<'a>> {
        let n = operator.len();
        let mut rng = generator(self.seed);
        let random = random_normal(n, &mut rng)?;
        let start = self.start.as_ref().unwrap_or(&random);
        ensure!(start.len() == n, InvalidOption, "the start vector has {} values, but must have {n}", start.len());
        ensure_finite("start vector", start)?;
        ensure!(start.iter().any(|&x| x != 0.0), InvalidOption, "the start vector is zero");
        Basis::start(operator, capacity, start, rng)
    }
}

impl Target {
    /// Ritz pairs whose residuals count, from the ends inwards. For a spectral norm, the dominant one, and the other end until
    /// it is known to be smaller.
    fn wanted(&self, ritz: &RitzPairs) -> Vec<usize> {
        let count = ritz.values.len();
        match self.goal {
            Goal::Extremes { .. } => {
                (0..self.top.min(count)).map(|i| count - 1 - i).chain(0..self.bottom.min(count)).collect()
            }
            Goal::SpectralNorm => {
                let (low, high) = (0, count - 1);
                let magnitude = |i: usize| ritz.values[i].abs();
                let (first, second) = if magnitude(high) >= magnitude(low) { (high, low) } else { (low, high) };
                // A Ritz value can still grow by about its residual.
                let settled = magnitude(second) + ritz.residuals[second] <= magnitude(first) * (1.0 - self.tolerance);
                if settled { vec![first] } else { vec![first, second] }
            }
        }
    }

    /// Are enough copies of a multiple eigenvalue, which is all there is beside these, among them? Those wanted of either end must not
    /// reach beyond the copies that were found.
    fn holds(&self, ritz: &RitzPairs, rest: f64, operator: &dyn SymmetricOperator) -> bool {
        let noise = 16.0 * operator.vectors().precision().epsilon() * ritz.scale();
        let count = |is_wanted: &dyn Fn(f64) -> bool| ritz.values.iter().filter(|&&value| is_wanted(value)).count();
        count(&|value| value >= rest - noise) >= self.top && count(&|value| value <= rest + noise) >= self.bottom
    }

    /// Are there values among these that were not among those kept, beyond what the tolerance and rounding explain?
    fn differ(&self, kept: &[f64], values: &[f64], scale: f64, operator: &dyn SymmetricOperator) -> bool {
        let noise = 16.0 * operator.vectors().precision().epsilon();
        let count = if self.goal == Goal::SpectralNorm { 1 } else { values.len() };
        let pairs = kept.iter().zip(values).take(count);
        pairs.fold(0.0, |m, (a, b)| f64::max(m, (a - b).abs())) > self.tolerance.max(noise) * scale
    }

    /// Are the values next to the wanted ones known well enough to say that they stay beyond? Those of a basis that began
    /// at random grow towards the ends of the spectrum; each can still grow by about its residual.
    fn is_settled(&self, ritz: &RitzPairs, wanted: &[usize]) -> bool {
        let count = ritz.values.len();
        let known = SHARE * self.tolerance * ritz.scale();
        let is_calm = |i: usize, gap: f64| ritz.residuals[i] <= f64::max(known, GAP_SHARE * gap);
        if self.goal == Goal::SpectralNorm {
            let (first, magnitude) = (wanted[0], |i: usize| ritz.values[i].abs());
            let others = (0..count).filter(|&i| i != first);
            let next = others.max_by(|&a, &b| magnitude(a).total_cmp(&magnitude(b)));
            return next.is_none_or(|i| is_calm(i, magnitude(first) - magnitude(i)));
        }
        if count <= self.top + self.bottom {
            return false;
        }
        let (below, above) = (count - 1 - self.top, self.bottom);
        let [top, bottom] = self.verify;
        (!top || is_calm(below, ritz.values[below + 1] - ritz.values[below]))
            && (!bottom || is_calm(above, ritz.values[above] - ritz.values[above - 1]))
    }

    /// The wanted Ritz pairs, ascending, with guards next to them: half of what is free. They speed up what is wanted.
    fn guarded(&self, ritz: &RitzPairs, capacity: usize) -> Vec<usize> {
        let (size, top, bottom) = (ritz.values.len(), self.top, self.bottom);
        let spare = (capacity - top - bottom) / 2;
        let (keep_top, keep_bottom) = match (top, bottom) {
            (_, 0) => (top + spare, 0),
            (0, _) => (0, bottom + spare),
            _ => (top + spare / 2, bottom + spare / 2),
        };
        (0..keep_bottom).chain(size - keep_top..size).collect()
    }
}
