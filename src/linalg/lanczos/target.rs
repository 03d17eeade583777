//! What is wanted of a spectrum, and when it is there.

use super::Goal;
use super::verification::Limit;
use crate::linalg::krylov::RitzPairs;
use crate::operator::SymmetricOperator;

/// Share of the tolerance at which a residual estimate stops an iteration: rounding and what a restart leaves out have
/// the rest.
pub(super) const SHARE: f64 = 0.25;

/// Share of its distance to the wanted values at which the residual of the value next to them ends the search for missed
/// ones. A random vector in n dimensions has about 1/√n of each eigenvector: steps that resolve a tenth of that distance
/// have amplified a missed one by far more.
const GAP_SHARE: f64 = 0.1;

/// A goal with the numbers that decide when it is reached.
pub(super) struct Target {
    pub goal: Goal,
    pub top: usize,
    pub bottom: usize,
    pub tolerance: f64,
    /// Whether a search for missed values has to follow at the top, and at the bottom: for two or more, which may be copies, and
    /// after a start vector that is not random.
    pub verify: [bool; 2],
}

impl Target {
    /// Beyond what there must be nothing that these lack, at the ends where something may have been missed.
    pub fn limits(&self, ritz: &RitzPairs, operator: &dyn SymmetricOperator) -> Vec<Limit> {
        let (count, scale) = (ritz.values.len(), ritz.scale);
        let noise = 16.0 * operator.vectors().precision().epsilon();
        let slack = self.tolerance.max(noise) * scale;
        let [top, bottom] = [(self.top, 1.0), (self.bottom, -1.0)].map(|(wanted, sign)| (wanted.min(count), sign));
        let limit = |(wanted, sign): (usize, f64)| {
            let last = if sign > 0.0 { ritz.values[count - wanted] } else { ritz.values[wanted - 1] };
            let level = if self.goal == Goal::SpectralNorm { ritz.scale } else { sign * last } + slack;
            Limit { sign, beyond: wanted - 1, level }
        };
        [top, bottom].into_iter().zip(self.verify).filter(|(_, verify)| *verify).map(|(end, _)| limit(end)).collect()
    }

    /// Ritz pairs whose residuals count, from the ends inwards. For a spectral norm, the dominant one, and the other end until
    /// it is known to be smaller.
    pub fn wanted(&self, ritz: &RitzPairs) -> Vec<usize> {
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
    pub fn holds(&self, ritz: &RitzPairs, rest: f64, operator: &dyn SymmetricOperator) -> bool {
        let noise = 16.0 * operator.vectors().precision().epsilon() * ritz.scale;
        let count = |is_wanted: &dyn Fn(f64) -> bool| ritz.values.iter().filter(|&&value| is_wanted(value)).count();
        count(&|value| value >= rest - noise) >= self.top && count(&|value| value <= rest + noise) >= self.bottom
    }

    /// Are there values among these that were not among those kept, beyond what the tolerance and rounding explain?
    pub fn differ(&self, kept: &[f64], values: &[f64], scale: f64, operator: &dyn SymmetricOperator) -> bool {
        let noise = 16.0 * operator.vectors().precision().epsilon();
        let count = if self.goal == Goal::SpectralNorm { 1 } else { values.len() };
        let pairs = kept.iter().zip(values).take(count);
        pairs.fold(0.0, |m, (a, b)| f64::max(m, (a - b).abs())) > self.tolerance.max(noise) * scale
    }

    /// Are the values next to the wanted ones known well enough to say that they stay beyond? Those of a basis that began
    /// at random grow towards the ends of the spectrum; each can still grow by about its residual.
    pub fn is_settled(&self, ritz: &RitzPairs, wanted: &[usize]) -> bool {
        let count = ritz.values.len();
        let known = SHARE * self.tolerance * ritz.scale;
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

    /// The wanted Ritz pairs, ascending, with guards next to them: half of what is free. They speed up what is wanted. All, if there
    /// are no more.
    pub fn guarded(&self, ritz: &RitzPairs, capacity: usize) -> Vec<usize> {
        let (size, top, bottom) = (ritz.values.len(), self.top, self.bottom);
        let spare = (capacity - top - bottom) / 2;
        if size <= top + bottom + spare {
            return (0..size).collect();
        }
        let (keep_top, keep_bottom) = match (top, bottom) {
            (_, 0) => (top + spare, 0),
            (0, _) => (0, bottom + spare),
            _ => (top + spare / 2, bottom + spare / 2),
        };
        (0..keep_bottom).chain(size - keep_top..size).collect()
    }
}
