//! `landscape`.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::{Outcome, whole};
use crate::cli::invocation::Invocation;
use crate::cli::nearest::hint;
use crate::cli::open::Opened;
use crate::control::Control;
use crate::engine::Engine;
use crate::error::{Error, ErrorCode, Result, bail};
use crate::landscape::{Axis, Direction, Normalization, landscape};
use crate::operator::OperatorKind;

/// Points along a direction, of a line and of a plane, where nobody says.
const POINTS: [usize; 2] = [51, 21];

pub(super) async fn run(
    invocation: &Invocation,
    opened: &Opened,
    engine: &Engine,
    control: &Control<'_>,
    result: &mut Map<String, Value>,
) -> Result<Outcome> {
    let arguments = &invocation.landscape;
    let (directions, normalization, axis) = check(invocation)?;
    let is_line = directions.len() < 2;
    let directions: Vec<(Direction, Axis)> = directions.into_iter().map(|direction| (direction, axis)).collect();
    result.insert("directions".into(), json!(arguments.directions));
    result.insert("extent".into(), json!(arguments.extent));
    let rows = Rc::new(RefCell::new(Vec::new()));
    let watched = recording(&control.finishable(), &rows);
    let found = match landscape(engine, &opened.parameters, &directions, normalization, &watched).await {
        Ok(found) => json!(found),
        // The rows that are there are a smaller plane.
        Err(Error { code: ErrorCode::Aborted, .. }) if !control.is_stopped() && !rows.borrow().is_empty() => {
            let s = axis.coordinates()?;
            let (rows, t) = (rows.borrow(), if is_line { &[][..] } else { &s[..] });
            let loss: Vec<f64> = rows.iter().flatten().copied().collect();
            let not_finite = loss.iter().filter(|loss| !loss.is_finite()).count();
            result.insert(
                "landscape".into(),
                json!({ "s": s, "t": t[..rows.len().min(t.len())], "loss": loss, "accuracy": [], "notFinite": not_finite, "center": result["loss"] }),
            );
            return Ok(Outcome { stopped: true, ..whole() });
        }
        Err(error) => return Err(error),
    };
    result.insert("landscape".into(), found);
    Ok(whole())
}

/// What can be said before files are read: the directions, what their lengths are matched to, and the points along each.
///
/// # Errors
/// `InvalidOption` for directions that are not measured alike, and for too few points or too many.
pub(super) fn check(invocation: &Invocation) -> Result<(Vec<Direction>, Normalization, Axis)> {
    let arguments = &invocation.landscape;
    let points = arguments.points.unwrap_or(POINTS[usize::from(arguments.directions.len() > 1)]);
    let axis = Axis { from: -arguments.extent, to: arguments.extent, points };
    axis.coordinates()?;
    let mut directions = Vec::new();
    let mut normalizations = Vec::new();
    for (i, name) in arguments.directions.iter().enumerate() {
        let (found, normalization) = direction(name, i)?;
        directions.push(match found {
            Direction::Random { seed } => {
                Direction::Random { seed: invocation.seed.wrapping_mul(2).wrapping_add(seed) }
            }
            other => other,
        });
        normalizations.push(normalization);
    }
    let [normalization, ..] = normalizations[..] else { bail!(InvalidOption, "no direction was named") };
    if normalizations.iter().any(|other| *other != normalization) {
        bail!(
            InvalidOption,
            "{} have lengths that are measured differently: take two of filter, two of layer, or random and eigen",
            arguments.directions.join(" and ")
        );
    }
    Ok((directions, normalization, axis))
}

/// The same control, which keeps the rows that are done.
fn recording<'a>(control: &Control<'a>, rows: &Rc<RefCell<Vec<Vec<f64>>>>) -> Control<'a> {
    let rows = rows.clone();
    let keep = move |losses: &Option<Vec<f64>>| rows.borrow_mut().extend(losses.clone());
    if control.is_watched() {
        control.map_progress(move |progress| {
            keep(&progress.losses);
            progress
        })
    } else {
        control.clone().on_progress(move |progress| keep(&progress.losses))
    }
}

/// The direction of this name, the i-th of those that are drawn, and what its length is matched to.
pub(in crate::cli) fn direction(name: &str, i: usize) -> Result<(Direction, Normalization)> {
    const NAMES: [&str; 4] = ["filter", "layer", "random", "eigen"];
    let random = Direction::Random { seed: i as u64 };
    let eigen = |index| Direction::Eigenvector { operator: OperatorKind::HESSIAN, index };
    match name.split_once(':') {
        None if name == "filter" => Ok((random, Normalization::Filter)),
        None if name == "layer" => Ok((random, Normalization::Layer)),
        None if name == "random" => Ok((random, Normalization::None)),
        None if name == "eigen" => Ok((eigen(i as isize), Normalization::None)),
        Some(("eigen", index)) => match index.parse() {
            Ok(index) => Ok((eigen(index), Normalization::None)),
            Err(_) => {
                bail!(InvalidOption, "eigen:{index}: eigenvectors are counted from 0, from the smallest by -1, -2")
            }
        },
        _ => bail!(
            InvalidOption,
            "there is no direction \"{name}\"{} (there are {})",
            hint(name, NAMES, ""),
            NAMES.join(", ")
        ),
    }
}
