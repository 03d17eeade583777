//! One device's side of the comparison: its numbers before and after, and how far they move when the points are rounded another
//! way.
//!
//! A map rounds the parameters, and the passes round what is computed from them. Moving every parameter by a few units in
//! the last place does both again: the spread of the numbers found so holds the condition of all that leads to them (the
//! logits' size, the softmax, cancellation, kinks that are crossed) and the rounding of the passes themselves. It is measured
//! at both points, since one of them may be near the end of what the device can hold.

use std::collections::HashMap;

use rand::Rng;
use rand_distr::StandardNormal;

use super::Expected;
use super::compare::{Comparison, draws_anew, holds_under};
use super::kinks::{Kinks, count_kinks};
use super::number::{Number, OUTPUTS, numbers};
use crate::control::{Control, Progress};
use crate::engine::{Engine, Precision, Segments};
use crate::error::Result;
use crate::linalg::generator;
use crate::measure::{Measure, MeasureOptions};
use crate::symmetry::{Kinds, Transformation};

/// Roundings of a point before a change counts as one.
const ROUNDINGS: usize = 8;

/// The same where units lie at their kinks: each rounding takes another half of them across.
const ROUNDINGS_AT_KINKS: usize = 24;

/// Residual of eigenvalues in f64, relative to the norm, where nobody says which: what a wrong formula changes is more than a millionth
/// of the norm, and the ends of spectra without a gap take a third of their products from there to 1e-9.
const EIGENVALUE_TOLERANCE: f64 = 1e-6;

/// Standard deviation of the roundings of a parameter, in units in the last place, for a single map.
pub(super) const UNITS: f64 = 1.0;

pub(super) struct Side<'a, 'c> {
    pub engine: &'a Engine,
    pub theta: &'a [f64],
    pub measures: &'a [&'static Measure],
    pub options: MeasureOptions,
    pub control: &'a Control<'c>,
    before: HashMap<usize, Result<Number>>,
    /// Numbers at roundings of θ, by rounding, quantity, and whether random numbers were drawn anew.
    rounded: HashMap<(usize, usize, bool), Result<Number>>,
    kinks: Vec<(Precision, Kinks)>,
}

impl<'a, 'c> Side<'a, 'c> {
    pub fn new(
        engine: &'a Engine,
        theta: &'a [f64],
        measures: &'a [&'static Measure],
        options: &'a MeasureOptions,
        control: &'a Control<'c>,
    ) -> Self {
        let (before, rounded, kinks) = (HashMap::new(), HashMap::new(), Vec::new());
        let own = (engine.info().precision == Precision::F64).then_some(EIGENVALUE_TOLERANCE);
        let sharpness = options.sharpness.to_compare();
        let options = MeasureOptions { tolerance: options.tolerance.or(own), sharpness, ..options.clone() };
        Self { engine, theta, measures, options, control, before, rounded, kinks }
    }

    /// A quantity's name: see [`numbers`].
    pub fn name(&self, quantity: usize) -> &'static str {
        quantity.checked_sub(1).map_or(OUTPUTS, |i| self.measures[i].key)
    }

    fn invariant(&self, quantity: usize) -> Kinds {
        let all = Kinds { layerwise: true, nodewise: true, permutation: true };
        quantity.checked_sub(1).map_or(all, |i| self.measures[i].invariant)
    }

    /// The numbers at θ.
    pub async fn before(&mut self, quantities: &[usize]) -> Result<Vec<Result<Number>>> {
        let missing: Vec<usize> = quantities.iter().copied().filter(|q| !self.before.contains_key(q)).collect();
        if !missing.is_empty() {
            let found = self.at(self.theta, &missing, &self.options).await?;
            self.before.extend(missing.into_iter().zip(found));
        }
        Ok(quantities.iter().map(|q| self.before[q].clone()).collect())
    }

    /// The numbers at T(θ) beside those before.
    pub async fn compare(
        &self,
        map: &Transformation,
        moved: &[f64],
        quantities: &[usize],
        before: &[Result<Number>],
    ) -> Result<Vec<Comparison>> {
        let after = self.at(moved, quantities, &self.options).await?;
        let pairs = quantities.iter().zip(before).zip(after);
        let expected = |quantity| {
            if holds_under(self.invariant(quantity), map.kinds()) { Expected::Invariant } else { Expected::Changes }
        };
        let pairs = pairs.map(|((&quantity, before), after)| {
            Comparison::new(self.engine, quantity, expected(quantity), map.kinds(), before.clone(), after)
        });
        Ok(pairs.collect())
    }

    /// Measures the rounding of what should have stood still and did not, as far as it takes.
    pub async fn settle(&mut self, map: &Transformation, moved: &[f64], column: &mut [Comparison]) -> Result<()> {
        for precision in [Precision::F64, Precision::F32] {
            let is_open = |found: &Comparison| found.precision == precision && found.speaks_against_theory();
            self.round(map, moved, column, &is_open, 0..ROUNDINGS).await?;
            let needs_kinks =
                |found: &Comparison| is_open(found) || (found.precision == precision && found.is_coarse());
            if !column.iter().any(needs_kinks) {
                continue;
            }
            let kinks = self.kinks(precision).await?;
            column.iter_mut().filter(|found| needs_kinks(found)).for_each(|found| found.kinks = Some(kinks));
            if kinks.total() > 0 {
                self.round(map, moved, column, &is_open, ROUNDINGS..ROUNDINGS_AT_KINKS).await?;
            }
        }
        Ok(())
    }

    async fn round(
        &mut self,
        map: &Transformation,
        moved: &[f64],
        column: &mut [Comparison],
        is_open: &dyn Fn(&Comparison) -> bool,
        rounds: std::ops::Range<usize>,
    ) -> Result<()> {
        let reseed = draws_anew(map.kinds());
        for i in rounds.clone() {
            let open: Vec<usize> = (0..column.len()).filter(|&c| is_open(&column[c])).collect();
            let Some(&first) = open.first() else { break };
            self.control.step(Progress::new("rounding", i, rounds.end)).await?;
            let amplitude = column[first].precision.epsilon() * UNITS * (map.len() as f64).sqrt();
            let quantities: Vec<usize> = open.iter().map(|&c| column[c].quantity).collect();
            let seed = self.options.seed.wrapping_add(if reseed { i as u64 + 1 } else { 0 });
            let options = MeasureOptions { seed, ..self.options.clone() };
            let missing = |q: &usize| !self.rounded.contains_key(&(i, *q, reseed));
            let missing: Vec<usize> = quantities.iter().copied().filter(missing).collect();
            if !missing.is_empty() {
                let theta = self.rounding(self.theta, i, amplitude);
                let found = self.at(&theta, &missing, &options).await?;
                self.rounded.extend(missing.iter().map(|&q| (i, q, reseed)).zip(found));
            }
            let after = self.at(&self.rounding(moved, i, amplitude), &quantities, &options).await?;
            for (&c, after) in open.iter().zip(&after) {
                let before = &self.rounded[&(i, column[c].quantity, reseed)];
                column[c].spread_by((self.theta, before), (moved, after));
            }
        }
        Ok(())
    }

    /// A point with every parameter rounded another way, and every block's rounded together.
    fn rounding(&self, theta: &[f64], i: usize, amplitude: f64) -> Vec<f64> {
        let mut rng = generator(i as u64);
        let mut normal = || rng.sample::<f64, _>(StandardNormal);
        let mut theta = theta.to_vec();
        for block in Segments::blocks(self.engine.problem().network().layout()).ranges() {
            let together = normal();
            theta[block].iter_mut().for_each(|w| *w *= 1.0 + amplitude * (together + normal()));
        }
        theta
    }

    async fn at(&self, theta: &[f64], quantities: &[usize], options: &MeasureOptions) -> Result<Vec<Result<Number>>> {
        numbers(self.engine, theta, self.measures, quantities, options, self.control).await
    }

    async fn kinks(&mut self, precision: Precision) -> Result<Kinks> {
        if let Some((_, kinks)) = self.kinks.iter().find(|(of, _)| *of == precision) {
            return Ok(*kinks);
        }
        let kinks = count_kinks(self.engine, self.theta, precision, self.control).await?;
        self.kinks.push((precision, kinks));
        Ok(kinks)
    }
}
