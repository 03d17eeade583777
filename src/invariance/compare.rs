//! One number before and after: how far it moved, how far it may, and what that says.

use super::kinks::Kinks;
use super::number::Number;
use super::{Cell, Expected, Verdict};
use crate::engine::{Engine, Precision};
use crate::error::{Error, Result};
use crate::measure::MeasureValue;
use crate::symmetry;

/// How many times the largest change seen among roundings of the points is still taken for rounding.
const SAFETY: f64 = 4.0;

/// What holds under these kinds of maps holds under a map that is made of no others.
pub(super) fn holds_under(kinds: symmetry::Kinds, map: symmetry::Kinds) -> bool {
    (kinds.layerwise || !map.layerwise) && (kinds.nodewise || !map.nodewise) && (kinds.permutation || !map.permutation)
}

/// Rounding of one pass, relative to the numbers it works on: L layers forward and as many back, each a sum over up to
/// `fan` terms whose errors add like a random walk, ε √fan; times 4 for the passes that meet in one product.
fn rounding(engine: &Engine, precision: Precision) -> f64 {
    let layers = engine.problem().network().layout().layers();
    let fan = layers.iter().map(|layer| layer.inputs.max(layer.outputs)).max().unwrap_or(1);
    8.0 * precision.epsilon() * layers.len() as f64 * (fan as f64).sqrt()
}

/// Random numbers are not permuted with the units: what is left to chance then shows with other ones.
pub(super) fn draws_anew(map: symmetry::Kinds) -> bool {
    map.permutation
}

/// What underflow may take from a number without a trace: derivatives have fewer digits the further they are below the smallest
/// normal number, and measures multiply them by weights, twice at most.
fn lost_to_underflow(theta: &[f64], precision: Precision) -> f64 {
    let largest = theta.iter().fold(1.0, |m, w: &f64| f64::max(m, w.abs()));
    precision.smallest() / precision.epsilon() * largest * largest
}

/// A tolerance before any rounding is measured.
#[derive(Debug, Clone, Default)]
struct Estimate {
    absolute: f64,
    /// Without the standard errors, which are chance and not a lack of digits.
    known_to: f64,
    reason: String,
}

/// One quantity at θ and at T(θ).
#[derive(Debug, Clone)]
pub(super) struct Comparison {
    pub quantity: usize,
    /// The coarser of those that the two numbers were computed in.
    pub precision: Precision,
    /// What was counted, if it was.
    pub kinks: Option<Kinks>,
    /// The same in double precision, where single precision is refuted by it.
    pub in_double: Option<Box<Comparison>>,
    expected: Expected,
    numbers: [Result<Number>; 2],
    estimate: Estimate,
    /// The largest changes at roundings of the two points, and how many there were.
    spreads: [f64; 2],
    roundings: usize,
    /// Were other random numbers drawn at each?
    reseeded: bool,
    failure: Option<Error>,
}

impl Comparison {
    pub fn new(
        engine: &Engine,
        quantity: usize,
        expected: Expected,
        map: symmetry::Kinds,
        before: Result<Number>,
        after: Result<Number>,
    ) -> Self {
        let own = engine.info().precision;
        let numbers = [before, after];
        let precisions = numbers.iter().flatten().map(|number| number.value.precision.unwrap_or(own));
        let precision = precisions.max_by(|a, b| a.epsilon().total_cmp(&b.epsilon())).unwrap_or(own);
        let estimate = match &numbers {
            [Ok(before), Ok(after)] => Estimate::of(rounding(engine, precision), precision, map, before, after),
            _ => Estimate::default(),
        };
        let failure = numbers.iter().find_map(|number| number.as_ref().err().cloned());
        let (kinks, in_double, spreads, roundings, reseeded) = (None, None, [0.0; 2], 0, draws_anew(map));
        Self {
            quantity,
            precision,
            kinks,
            in_double,
            expected,
            numbers,
            estimate,
            spreads,
            roundings,
            reseeded,
            failure,
        }
    }

    /// Takes in the numbers at a rounding of each point θ.
    pub fn spread_by(&mut self, before: (&[f64], &Result<Number>), after: (&[f64], &Result<Number>)) {
        self.roundings += 1;
        for ((number, (theta, rounded)), spread) in self.numbers.iter().zip([before, after]).zip(&mut self.spreads) {
            match (number, rounded) {
                (Ok(number), Ok(rounded)) => {
                    *spread = spread.max(number.distance(rounded)).max(lost_to_underflow(theta, self.precision));
                }
                (_, Err(error)) => self.failure = Some(error.clone()),
                (Err(_), Ok(_)) => {}
            }
        }
    }

    /// Is it found to have changed where theory says that it stands still?
    pub fn speaks_against_theory(&self) -> bool {
        self.expected == Expected::Invariant && self.verdict() == Verdict::Changed
    }

    /// Is the number known, by the measure of its rounding, to less than a third of its digits, and far less well than was
    /// thought?
    pub fn is_coarse(&self) -> bool {
        let digits = self.precision.epsilon().cbrt() * self.magnitude();
        self.measured() > f64::max(digits, SAFETY * self.estimate.absolute)
    }

    /// Would rounding cover a change by half of the number? Then that it stands still says nothing.
    fn is_blunt(&self) -> bool {
        self.values()[0] != 0.0 && self.estimate.known_to > 0.5 * self.magnitude()
    }

    /// What the roundings of the points allow.
    fn measured(&self) -> f64 {
        SAFETY * self.spreads.iter().sum::<f64>()
    }

    fn tolerance(&self) -> f64 {
        self.estimate.absolute + self.measured()
    }

    fn values(&self) -> [f64; 2] {
        self.numbers.each_ref().map(|number| number.as_ref().map_or(f64::NAN, |number| number.value.value))
    }

    fn change(&self) -> f64 {
        match &self.numbers {
            [Ok(before), Ok(after)] => before.distance(after),
            _ => f64::NAN,
        }
    }

    /// What changes are relative to.
    fn magnitude(&self) -> f64 {
        let [before, after] = self.values();
        [before, after, 1.0].into_iter().map(f64::abs).find(|m| *m > 0.0).unwrap_or(1.0)
    }

    fn has_converged(&self) -> bool {
        self.numbers.iter().flatten().all(|number| number.value.converged)
    }

    fn verdict(&self) -> Verdict {
        if self.failure.is_some() || self.in_double.is_some() {
            return Verdict::Unresolved;
        }
        let is_still = self.change() <= self.tolerance();
        match (self.has_converged(), is_still) {
            (true, true) if !self.is_coarse() && !self.is_blunt() => Verdict::Invariant,
            (_, true) => Verdict::Unresolved,
            (false, false) if self.expected == Expected::Invariant => Verdict::Unresolved,
            // What moved by more than its error bars has moved, converged or not.
            (_, false) => Verdict::Changed,
        }
    }

    fn reason(&self) -> String {
        if let Some(error) = &self.failure {
            return format!("unresolved: {error}");
        }
        let mut reason = self.estimate.reason.clone();
        if self.roundings > 0 {
            reason += &format!(
                "; {:.1e}, {SAFETY} times what it changes by where both points are rounded another way{}, {} times",
                self.measured(),
                if self.reseeded { " and other random numbers drawn" } else { "" },
                self.roundings
            );
        }
        let why = match &self.in_double {
            _ if self.verdict() != Verdict::Unresolved => None,
            Some(double) => Some(format!(
                "{} cannot tell: in f64 it changes by {:.1e} of its size, within {:.1e}",
                self.precision.name(),
                double.change() / double.magnitude(),
                double.tolerance() / double.magnitude()
            )),
            None if !self.has_converged() => Some("an estimate has not converged".to_owned()),
            None => match self.kinks.filter(|kinks| kinks.total() > 0) {
                Some(kinks) => Some(kinks.to_string()),
                None => Some(format!("it is known to ±{:.1e} only", self.measured().max(self.estimate.known_to))),
            },
        };
        why.map_or(reason.clone(), |why| format!("unresolved: {why}. Tolerance: {reason}"))
    }

    /// The table's cell.
    pub fn cell(&self, transformation: usize, measure: &'static str) -> Cell {
        let [before, after] = self.values();
        let (verdict, magnitude) = (self.verdict(), self.magnitude());
        // Of a number near 0, a relative change may be beyond what a number can hold.
        let relative = |change: f64| if change == 0.0 { 0.0 } else { f64::min(change / magnitude, f64::MAX) };
        Cell {
            measure,
            transformation,
            before,
            after,
            relative_change: if self.change().is_nan() { f64::NAN } else { relative(self.change()) },
            expected: self.expected,
            verdict,
            agrees: !self.speaks_against_theory(),
            tolerance: relative(self.tolerance()),
            reason: self.reason(),
            kinks: self.kinks.map(|kinks| kinks.total()),
        }
    }
}

impl Estimate {
    fn of(rounding: f64, precision: Precision, map: symmetry::Kinds, before: &Number, after: &Number) -> Self {
        let (before, after) = (&before.value, &after.value);
        let size = before.value.abs();
        let scale = [size, before.scale.abs(), after.scale.abs()].into_iter().fold(0.0, f64::max).min(f64::MAX);
        let off = |value: &MeasureValue| value.error_bound.or(value.residual).unwrap_or(0.0);
        let residuals = off(before) + off(after);
        // Draws that the map takes along are the same before and after: their spread is in both numbers alike.
        let errors = before.standard_error.zip(after.standard_error).filter(|_| !holds_under(before.paired, map));
        let spread = errors.map(|(a, b)| 4.0 * a.hypot(b));
        let name = precision.name();
        let mut reason = if scale > size * 1.01 {
            format!("rounding in {name}, {rounding:.1e} of numbers as large as {scale:.3e} on the way to it")
        } else {
            format!("rounding in {name}, {rounding:.1e} of its size")
        };
        if before.residual.is_some() {
            let what = if before.error_bound.or(after.error_bound).is_some() {
                "what residuals leave open"
            } else {
                "the residuals"
            };
            reason += &format!("; {what} before and after, together {residuals:.1e}");
        }
        if let Some(spread) = spread {
            reason += &format!("; 4 standard errors of the estimates, {spread:.1e}");
        }
        let known_to = rounding * scale + residuals;
        Self { absolute: known_to + spread.unwrap_or(0.0), known_to, reason }
    }
}
