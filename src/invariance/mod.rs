//! The invariance check: measures × transformations → before, after, and whether that is what theory says.
//!
//! A change is first compared with an estimate: rounding of the passes relative to the number's own size, residuals, standard
//! errors. An invariant number that moves by more is not yet refuted, for nobody knows its condition: logits may be large,
//! losses and gradients may cancel, a unit may lie on its ReLU's kink. So its rounding is then measured, by computing it
//! again at roundings of both points (`side.rs`); only what moves by far more than that has changed.

mod compare;
mod kinks;
mod number;
mod side;

use serde::Serialize;

use self::compare::Comparison;
use self::number::of_a_number;
use self::side::Side;
use crate::control::{Control, Progress};
use crate::engine::{Engine, Precision};
use crate::error::{ErrorCode, Result, ensure};
use crate::measure::{Measure, MeasureOptions};
use crate::symmetry::Transformation;

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
    /// Nothing can be said, and [`Cell::reason`] says why: an estimate did not converge, a number is not finite, or it is
    /// known too coarsely, as where units lie within rounding of their kink.
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
    /// At θ. For `outputs`, the largest |output|. NaN where there is no finite number.
    pub before: f64,
    /// At T(θ). For `outputs`, the largest |output| there. NaN where there is no finite number.
    pub after: f64,
    /// |after − before| / |before|, and / |after| where before is 0; for `outputs`, the largest |change| over the largest
    /// |output|. NaN where one of them is; never infinite.
    pub relative_change: f64,
    /// What theory says.
    pub expected: Expected,
    /// What was found.
    pub verdict: Verdict,
    /// Does nothing speak against theory? `false` alone where what should stand still has changed: what is unresolved
    /// refutes nothing, nor does what may change and happens not to.
    pub agrees: bool,
    /// The relative change up to which the verdict is `invariant`. Always finite.
    pub tolerance: f64,
    /// What the tolerance is made of, or why nothing can be said.
    pub reason: String,
    /// Units that lie within rounding of 0 at some sample, and pools whose maximum does of another, each counted once a
    /// sample; where they were counted, because a change needed explaining.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinks: Option<usize>,
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
    /// Does no cell speak against theory?
    pub fn agrees(&self) -> bool {
        self.cells.iter().all(|cell| cell.agrees)
    }

    /// How many cells say nothing.
    pub fn unresolved(&self) -> usize {
        self.cells.iter().filter(|cell| cell.verdict == Verdict::Unresolved).count()
    }
}

/// Applies each transformation to θ, computes the measures anew, and compares. A measure that is not finite at one of the
/// points leaves its cell unresolved; the others are compared all the same. Where the options name no tolerance, eigenvalues have one
/// of 1e-6 in f64; and fewer subspaces and pairs of noise are drawn where they do not say how many. Leaves the engine prepared at θ, if
/// the device can hold that.
///
/// # Errors
/// What [`Transformation::apply`] and [`measure`](crate::measure::measure) say, but for numbers that are not finite;
/// `InvalidOption` without a measure or a transformation.
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
    engine.problem().check_parameters(parameters)?;
    let total = resolved.len() + 1;

    control.step(Progress::new("measures before", 0, total)).await?;
    let mut side = Side::new(engine, parameters, measures, options, control);
    let mut precise: Option<Engine> = None;
    let mut columns = Vec::new();
    for (t, (map, moved)) in resolved.iter().zip(&moved).enumerate() {
        let all: Vec<usize> = (0..=measures.len()).collect();
        let before = side.before(&all).await?;
        control.step(Progress::new("measures after", t + 1, total)).await?;
        let mut column = side.compare(map, moved, &all, &before).await?;
        side.settle(map, moved, &mut column).await?;
        in_double_precision(&side, map, moved, &mut column, &mut precise).await?;
        columns.push(column.iter().map(|found| found.cell(t, side.name(found.quantity))).collect::<Vec<Cell>>());
    }
    of_a_number(engine.prepare(parameters).await)?.ok();
    let cells = (0..=measures.len()).flat_map(|row| columns.iter().map(move |column| column[row].clone())).collect();
    Ok(InvarianceTable { transformations: resolved, cells })
}

/// What is found to change in single precision, against theory, may be below or above what that can hold: it has changed if
/// it does so in double precision too. Where the CPU cannot take the problem, what was found stands.
async fn in_double_precision(
    side: &Side<'_, '_>,
    map: &Transformation,
    moved: &[f64],
    column: &mut [Comparison],
    precise: &mut Option<Engine>,
) -> Result<()> {
    let refuted = |found: &Comparison| found.precision == Precision::F32 && found.speaks_against_theory();
    let suspects: Vec<usize> = column.iter().filter(|found| refuted(found)).map(|found| found.quantity).collect();
    if suspects.is_empty() {
        return Ok(());
    }
    let engine = match precise {
        Some(engine) => engine,
        None => match side.engine.in_f64() {
            Ok(engine) => precise.insert(engine),
            Err(error) if error.code == ErrorCode::TooLarge => return Ok(()),
            Err(error) => return Err(error),
        },
    };
    let mut double = Side::new(engine, side.theta, side.measures, &side.options, side.control);
    let before = double.before(&suspects).await?;
    let mut again = double.compare(map, moved, &suspects, &before).await?;
    double.settle(map, moved, &mut again).await?;
    for found in again.into_iter().filter(|found| !found.speaks_against_theory()) {
        let quantity = found.quantity;
        column[quantity].in_double = Some(Box::new(found));
    }
    Ok(())
}
