//! Ends of a spectrum that Lanczos has found in single precision, taken to double precision: Davidson's method (Davidson 1975) for some
//! pairs at once, by Rayleigh and Ritz.
//!
//! What is asked of a value is its own error, which is of second order in what its vector lacks: with X the wanted vectors, R = A X − X Θ
//! their residuals and η the distance of θ to what A has outside of X, an eigenvalue is within ‖R‖² / η of θ (Parlett 1998, section 11.7;
//! Mathias 1998). So Rayleigh quotients in double precision of what single precision has found are mostly all that is needed. η is
//! measured: the next vector at each wanted end comes along, and what is outside ends at its value, give or take its residual.
//!
//! But for what nobody has seen. Of two eigenvalues nearer to each other than single precision tells apart, one start vector shows one
//! mixture; the other is outside of X and of all that is measured, as near as can be. What the mixture lacks it has in its residual, which no
//! correction by what was seen makes smaller: so the innermost pair of an end has to be corrected until little of its residual is left,
//! or takes the other in. (That none is between the others an earlier search has made sure of.)
//!
//! Where that is not enough, a residual r of a pair (θ, x) asks for the correction −(A − θ)⁻¹ r. In the subspace that Lanczos has seen A
//! is known; outside of it are the eigenvalues that nobody looks for, near 0 beside θ.

use nalgebra::DMatrix;

use super::hutch_plus_plus::INDEPENDENT;
use super::krylov::Explored;
use super::{Eigenpair, Goal, Spectrum, decomposed, overflow};
use crate::control::{Control, Progress};
use crate::engine::{Segments, Vectors};
use crate::error::Result;
use crate::memory::{collected, room, zeros};
use crate::numbers::{dot, norm};
use crate::operator::SymmetricOperator;

const WHAT: &str = "eigenvectors in double precision";

/// Values so near to each other, relative to the norm, that a correction by their distance would be rounding: their vectors are in the
/// basis both.
const SAME: f64 = 1e-6;

/// So much of the residual that single precision left may be what corrections do not change.
const LEFT: f64 = 1.0 / 30.0;

/// A pair, and what it lacks: A x − θ x.
struct Open {
    pair: Eigenpair,
    residual: Vec<f64>,
}

/// What a search in single precision has seen.
struct Draft<'a> {
    vectors: &'a dyn Vectors,
    explored: &'a Explored,
    values: Vec<f64>,
    /// Of the projected operator, one after the other.
    eigenvectors: Vec<f64>,
    whole: Segments,
}

/// The pairs that `goal` names, of values to this `tolerance` relative to the norm, of what was `found` in the subspace that was `explored`
/// where `vectors` live; `None` where `most` products do not do. Eigenvectors come with them.
///
/// # Errors
/// `NotFinite` where products overflow; `TooLarge`; `Aborted`; the device's.
pub(crate) async fn refine(
    (found, explored, vectors): (&Spectrum, &Explored, &dyn Vectors),
    operator: &dyn SymmetricOperator,
    goal: Goal,
    tolerance: f64,
    most: usize,
    control: &Control<'_>,
) -> Result<Option<Spectrum>> {
    let draft = Draft::new(explored, vectors, operator.len())?;
    let counts = [found.top.len(), found.bottom.len()];
    // One more at each end that is wanted.
    let guarded = counts.map(|count| count + usize::from(count > 0));
    let mut basis = Projected { operator, columns: Vec::new(), products: Vec::new(), matrix: Vec::new() };
    let mut more = draft.ends(guarded).await?;
    // Residuals of the innermost pairs that were found.
    let mut drafted: Option<[f64; 2]> = None;
    loop {
        if basis.columns.len() + more.len() > most || !basis.extend(more).await? {
            return Ok(None);
        }
        // Of vectors that are none, or the same, as numbers that vanish in single precision have them, there is no pair each.
        if basis.columns.len() < guarded[0] + guarded[1] {
            return Ok(None);
        }
        let (mut ends, scale) = basis.pairs(guarded)?;
        let dominant = ends.iter().flatten().map(|open| open.pair.value.abs()).fold(0.0, f64::max);
        let is_wanted = |pair: &Eigenpair| goal != Goal::SpectralNorm || pair.value.abs() == dominant;
        let innermost = [0, 1].map(|end| ends[end][..counts[end]].last().map_or(0.0, |open| open.pair.residual));
        let is_seen = match drafted {
            Some(before) => [0, 1].map(|end| innermost[end] <= LEFT * before[end]),
            None => [false; 2],
        };
        drafted.get_or_insert(innermost);
        settle(&mut ends, counts, is_seen, tolerance * scale, is_wanted);
        let open = ends.iter().flatten().filter(|open| is_wanted(&open.pair) && !open.pair.converged);
        let worst = open.clone().map(|open| open.pair.error()).fold(0.0, f64::max);
        let progress = Progress::new("lanczos", basis.columns.len(), most);
        control.step(progress.with_estimate(dominant, if scale > 0.0 { worst / scale } else { 0.0 })).await?;
        more = Vec::new();
        for Open { pair, residual } in open {
            more.push(draft.correction(pair.value, residual, scale).await?);
        }
        if more.is_empty() {
            let [top, bottom] = ends.map(|end| end.into_iter().map(|open| open.pair).collect());
            let products = found.products + basis.columns.len();
            return Ok(Some(Spectrum { top, bottom, products, converged: true, verified: found.verified }));
        }
    }
}

/// Takes the guards from behind so many pairs of each end, and tells from them how far the values may be off; of the innermost only where
/// all that is near them `is_seen`.
fn settle(
    ends: &mut [Vec<Open>; 2],
    counts: [usize; 2],
    is_seen: [bool; 2],
    tolerance: f64,
    is_wanted: impl Fn(&Eigenpair) -> bool,
) {
    let guards: Vec<_> = ends.iter_mut().zip(counts).map(|(end, count)| end.drain(count..).next()).collect();
    let wanted = ends.iter().flatten().filter(|open| is_wanted(&open.pair));
    let length = norm(wanted.map(|open| open.pair.residual));
    for (((end, guard), is_seen), sign) in ends.iter_mut().zip(guards).zip(is_seen).zip([1.0, -1.0]) {
        let trusted = end.len() - usize::from(!is_seen && !end.is_empty());
        // Where what is not among the wanted begins, seen from this end.
        let rest = guard.map_or(f64::INFINITY, |Open { pair, .. }| sign * pair.value + pair.residual);
        for (i, Open { pair, .. }) in end.iter_mut().enumerate() {
            let distance = sign * pair.value - rest;
            let bound = length * (length / distance);
            let is_told = i < trusted && distance > 0.0 && bound < pair.residual && is_wanted(pair);
            pair.error_bound = is_told.then_some(bound);
            pair.converged = pair.error() <= tolerance;
        }
    }
}

/// Columns, the operator's products with them, and what it is between them.
struct Projected<'a> {
    operator: &'a dyn SymmetricOperator,
    columns: Vec<Vec<f64>>,
    products: Vec<Vec<f64>>,
    /// Rows of the lower triangle.
    matrix: Vec<Vec<f64>>,
}

impl Projected<'_> {
    /// Takes in what these add to the basis, and their products. `false` where they add nothing.
    async fn extend(&mut self, more: Vec<Vec<f64>>) -> Result<bool> {
        let (first, vectors) = (self.columns.len(), self.operator.vectors());
        for mut column in more {
            let mut length = 0.0;
            for _ in 0..3 {
                let before = norm(column.iter().copied());
                column.iter_mut().for_each(|x| *x /= before);
                for other in &self.columns {
                    let share = dot(other, &column);
                    column.iter_mut().zip(other).for_each(|(x, y)| *x -= share * y);
                }
                length = norm(column.iter().copied());
            }
            if length.is_finite() && length > INDEPENDENT {
                column.iter_mut().for_each(|x| *x /= length);
                self.columns.push(column);
            }
        }
        let new = self.columns.len() - first;
        if new == 0 {
            return Ok(false);
        }
        let mut x = room(WHAT, new * self.operator.len())?;
        self.columns[first..].iter().for_each(|column| x.extend_from_slice(column));
        let x = vectors.upload(&x, new)?;
        let mut ax = vectors.zeros(self.operator.len(), new)?;
        self.operator.apply(&x, &mut ax).await?;
        for product in vectors.download(&ax).await?.chunks_exact(self.operator.len()) {
            let column = &self.columns[self.products.len()];
            self.products.push(collected(WHAT, product.iter().copied())?);
            // The lower triangle: by products that were there before, in so far as it is symmetric.
            let mut row: Vec<f64> = self.products[..self.products.len() - 1].iter().map(|p| dot(p, column)).collect();
            row.push(dot(product, column));
            if row.iter().any(|x| !x.is_finite()) {
                return Err(overflow(vectors));
            }
            self.matrix.push(row);
        }
        Ok(true)
    }

    /// Of the largest and the smallest values so many with their residuals, and the norm as far as it is known.
    fn pairs(&self, counts: [usize; 2]) -> Result<([Vec<Open>; 2], f64)> {
        let (n, size) = (self.operator.len(), self.columns.len());
        let matrix = DMatrix::from_fn(size, size, |i, j| if i >= j { self.matrix[i][j] } else { self.matrix[j][i] });
        let eigen = decomposed(&matrix)?;
        let scale = eigen.values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let pair = |i: usize| {
            let (value, s) = (eigen.values[i], &eigen.vectors[i * size..(i + 1) * size]);
            let [mut x, mut residual]: [Vec<f64>; 2] = [zeros(WHAT, n)?, zeros(WHAT, n)?];
            for ((column, product), s) in self.columns.iter().zip(&self.products).zip(s) {
                x.iter_mut().zip(column).for_each(|(x, y)| *x += s * y);
                residual.iter_mut().zip(product).for_each(|(r, y)| *r += s * y);
            }
            residual.iter_mut().zip(&x).for_each(|(r, x)| *r -= value * x);
            let length = norm(residual.iter().copied());
            let pair = Eigenpair { value, residual: length, error_bound: None, converged: false, vector: Some(x) };
            Ok(Open { pair, residual })
        };
        let top = (0..counts[0]).map(|i| pair(size - 1 - i)).collect::<Result<_>>()?;
        let bottom = (0..counts[1]).map(pair).collect::<Result<_>>()?;
        Ok(([top, bottom], scale))
    }
}

impl<'a> Draft<'a> {
    fn new(explored: &'a Explored, vectors: &'a dyn Vectors, n: usize) -> Result<Self> {
        let eigen = decomposed(&explored.projected)?;
        let (values, eigenvectors) = (eigen.values, eigen.vectors);
        Ok(Self { vectors, explored, values, eigenvectors, whole: Segments::whole(n) })
    }

    fn eigenvector(&self, i: usize) -> &[f64] {
        let size = self.explored.size;
        &self.eigenvectors[i * size..(i + 1) * size]
    }

    /// The Ritz vectors of so many of the largest values and of the smallest.
    async fn ends(&self, [top, bottom]: [usize; 2]) -> Result<Vec<Vec<f64>>> {
        let size = self.explored.size;
        let mut found = Vec::new();
        for i in (0..top.min(size)).map(|i| size - 1 - i).chain(0..bottom.min(size)) {
            found.push(self.explored.combination(self.eigenvector(i), self.vectors).await?);
        }
        Ok(found)
    }

    /// −(A − θ)⁻¹ r, as far as the draft tells.
    async fn correction(&self, value: f64, residual: &[f64], scale: f64) -> Result<Vec<f64>> {
        let (size, length) = (self.explored.size, norm(residual.iter().copied()));
        let mut unit: Vec<f64> = collected(WHAT, residual.iter().map(|r| r / length))?;
        let r = self.vectors.upload(&unit, 1)?;
        let mut c = self.vectors.zeros(size, 1)?;
        self.vectors.segment_inner(&self.whole, &r, &self.explored.q, 0..size, &mut c, 0)?;
        let c = self.vectors.download(&c).await?;
        let same = SAME * scale;
        let outside = -1.0 / if value.abs() > same { -value } else { same };
        let mut s = zeros("coefficients of eigenvectors", size)?;
        for i in 0..size {
            let (eigenvector, distance) = (self.eigenvector(i), self.values[i] - value);
            let inside = if distance.abs() > same { -1.0 / distance } else { 0.0 };
            let share = (inside - outside) * dot(eigenvector, &c);
            s.iter_mut().zip(eigenvector).for_each(|(s, x)| *s += share * x);
        }
        // Of the size of 1, whatever the operator's: single precision holds it.
        s.iter_mut().for_each(|s: &mut f64| *s /= outside);
        let within = self.explored.combination(&s, self.vectors).await?;
        unit.iter_mut().zip(&within).for_each(|(u, w)| *u += w);
        Ok(unit)
    }
}
