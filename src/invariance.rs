//! The invariance check: measures × transformations → before, after, and whether that is what theory says.

use serde::Serialize;

use crate::control::{Control, Progress};
use crate::engine::{Engine, Precision};
use crate::error::{Result, ensure};
use crate::measure::{Measure, MeasureOptions, MeasureValue, measure};
use crate::symmetry::{Kinds, Transformation};

/// What theory says of a measure under a transformation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// It stands still.
    Invariant,
    /// It may change.
    Changes,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The change is within the tolerance.
    Invariant,
    /// It is beyond it.
    Changed,
    /// An estimate did not converge, so nothing can be said.
    Unresolved,
}

/// One measure under one transformation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cell {
    /// The measure's name; `outputs` for the outputs themselves.
    pub measure: &'static str,
    /// Index of the transformation.
    pub transformation: usize,
    /// At θ. For `outputs`, the largest |output|.
    pub before: f64,
    /// At T(θ). For `outputs`, the largest |output| there.
    pub after: f64,
    /// |after − before| / |before|; for `outputs`, the largest |change| over the largest |output|.
    pub relative_change: f64,
    /// What theory says.
    pub expected: Expected,
    /// What was found.
    pub verdict: Verdict,
    /// Does the finding bear theory out? What may change, and happens not to, does.
    pub agrees: bool,
    /// The relative change up to which the verdict is `invariant`.
    pub tolerance: f64,
    /// What the tolerance is made of.
    pub reason: String,
}

/// Measures × transformations, measure by measure.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InvarianceTable {
    /// The transformations, with random ones drawn.
    pub transformations: Vec<Transformation>,
    /// The cells.
    pub cells: Vec<Cell>,
}

impl InvarianceTable {
    /// Do all cells bear theory out?
    pub fn agrees(&self) -> bool {
        self.cells.iter().all(|cell| cell.agrees)
    }
}

/// Applies each transformation to θ, computes the measures anew, and compares.
///
/// # Errors
/// What [`Transformation::apply`] and [`measure`] say; `InvalidOption` without a measure or a transformation.
pub async fn invariance(
    engine: &Engine,
    parameters: &[f64],
    measures: &[&'static Measure],
    transformations: &[Transformation],
    options: &MeasureOptions,
    control: &Control<'_>,
) -> Result<InvarianceTable> {
    ensure!(!measures.is_empty(), InvalidOption, "no measure was asked for");
    ensure!(!transformations.is_empty(), InvalidOption, "no transformation was asked for");
    let network = engine.problem().network();
    let resolved: Vec<_> = transformations.iter().map(|map| map.resolve(network)).collect::<Result<_>>()?;
    // All are applied first: a map that is refused should not cost the measures before it.
    let moved: Vec<_> = resolved.iter().map(|map| map.apply(network, parameters)).collect::<Result<_>>()?;
    let total = resolved.len() + 1;

    control.step(Progress::new("measures before", 0, total)).await?;
    let before = measure(engine, parameters, measures, options, control).await?;
    let outputs_before = engine.outputs().await?;
    let mut columns = Vec::new();
    for (t, (map, moved)) in resolved.iter().zip(&moved).enumerate() {
        control.step(Progress::new("measures after", t + 1, total)).await?;
        let after = measure(engine, moved, measures, options, control).await?;
        let outputs_after = engine.outputs().await?;
        let mut column = vec![output_cell(engine, t, &outputs_before, &outputs_after)];
        for ((measure, before), after) in measures.iter().zip(&before).zip(&after) {
            column.push(compare(engine, t, measure.invariant, map.kinds(), before, after));
        }
        columns.push(column);
    }
    let cells = (0..=measures.len()).flat_map(|row| columns.iter().map(move |column| column[row].clone())).collect();
    Ok(InvarianceTable { transformations: resolved, cells })
}

/// What holds under these kinds of maps holds under a map that is made of no others.
fn holds_under(kinds: Kinds, map: Kinds) -> bool {
    (kinds.layerwise || !map.layerwise) && (kinds.nodewise || !map.nodewise) && (kinds.permutation || !map.permutation)
}

/// Rounding of one pass, relative to the numbers it works on: L layers forward and as many back, each a sum over up to
/// `fan` terms whose errors add like a random walk, ε √fan; times 4 for the passes that meet in one product.
fn rounding(engine: &Engine, precision: Precision) -> f64 {
    let layers = engine.problem().network().layout().layers();
    let fan = layers.iter().map(|layer| layer.inputs.max(layer.outputs)).max().unwrap_or(1);
    8.0 * precision.epsilon() * layers.len() as f64 * (fan as f64).sqrt()
}

fn compare(
    engine: &Engine,
    transformation: usize,
    invariant: Kinds,
    map: Kinds,
    before: &MeasureValue,
    after: &MeasureValue,
) -> Cell {
    let expected = if holds_under(invariant, map) { Expected::Invariant } else { Expected::Changes };
    let own = engine.info().precision;
    let precisions = [before, after].map(|value| value.precision.unwrap_or(own));
    let precision = if precisions[0].epsilon() >= precisions[1].epsilon() { precisions[0] } else { precisions[1] };
    let rounding = rounding(engine, precision);
    let scale = before.scale.max(after.scale);
    let residuals = before.residual.unwrap_or(0.0) + after.residual.unwrap_or(0.0);
    // Draws that the map takes along are the same before and after: their spread is in both numbers alike.
    let errors = before.standard_error.zip(after.standard_error).filter(|_| !holds_under(before.paired, map));
    let spread = errors.map(|(a, b)| 4.0 * a.hypot(b));
    let absolute = rounding * scale + residuals + spread.unwrap_or(0.0);
    let magnitude = before.value.abs().max(f64::MIN_POSITIVE);
    let name = precision.name();
    let mut reason = if scale > before.value.abs() * 1.01 {
        format!("rounding in {name}, {rounding:.1e} of numbers as large as {scale:.3e} on the way to it")
    } else {
        format!("rounding in {name}, {rounding:.1e} of its size")
    };
    if before.residual.is_some() {
        reason += &format!("; the residuals before and after, together {residuals:.1e}");
    }
    if let Some(spread) = spread {
        reason += &format!("; 4 standard errors of the estimates, {spread:.1e}");
    }
    let change = (after.value - before.value).abs();
    let is_still = change <= absolute;
    let verdict = match (before.converged && after.converged, is_still) {
        // What moved by more than its error bars has moved, converged or not.
        (_, false) => Verdict::Changed,
        (true, true) => Verdict::Invariant,
        (false, true) => Verdict::Unresolved,
    };
    Cell {
        measure: before.key,
        transformation,
        before: before.value,
        after: after.value,
        relative_change: change / magnitude,
        expected,
        verdict,
        agrees: expected == Expected::Changes || verdict == Verdict::Invariant,
        tolerance: absolute / magnitude,
        reason,
    }
}

fn output_cell(engine: &Engine, transformation: usize, before: &[f64], after: &[f64]) -> Cell {
    let largest = |values: &[f64]| values.iter().fold(0.0, |m, v: &f64| f64::max(m, v.abs()));
    let change = before.iter().zip(after).fold(0.0, |m, (a, b)| f64::max(m, (a - b).abs()));
    let (before, after) = (largest(before), largest(after));
    let relative_change = change / before.max(f64::MIN_POSITIVE);
    let tolerance = rounding(engine, engine.info().precision);
    let verdict = if relative_change <= tolerance { Verdict::Invariant } else { Verdict::Changed };
    Cell {
        measure: "outputs",
        transformation,
        before,
        after,
        relative_change,
        expected: Expected::Invariant,
        verdict,
        agrees: verdict == Verdict::Invariant,
        tolerance,
        reason: format!("rounding in {}, {tolerance:.1e} of the largest output", engine.info().precision.name()),
    }
}
