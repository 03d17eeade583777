//! Assignments of least cost, by a library's Hungarian algorithm (Kuhn 1955, Munkres 1957).

use pathfinding::kuhn_munkres::kuhn_munkres_min;
use pathfinding::matrix::Matrix;

use crate::error::{Result, ensure};

/// The most units a side: the algorithm takes their number to the third power.
const MAX_UNITS: usize = 2048;

/// Costs are whole multiples of this for the library: it needs them totally ordered.
const QUANTUM: f64 = 1e-9;

/// The largest cost told apart, that of a weight of 0 among them: above |ln| of every double precision number.
const MAX_COST: f64 = 1e3;

/// For each of `units` the target of `targets`, so that the sum of the costs is the least. If there are more units than targets,
/// each target is taken at most ⌈units / targets⌉ times; otherwise at most once.
///
/// # Errors
/// `TooLarge` above 2048 units or targets.
pub(super) fn assign(units: usize, targets: usize, cost: impl Fn(usize, usize) -> f64) -> Result<Vec<usize>> {
    ensure!(
        units.max(targets) <= MAX_UNITS,
        TooLarge,
        "the Hungarian choice is for layers of at most {MAX_UNITS} units, but it was asked for {units} and {targets}; \
         the diagonal one has no limit"
    );
    let copies = units.div_ceil(targets);
    let rows = (0..units).map(|unit| {
        let costs: Vec<i64> =
            (0..targets).map(|target| (cost(unit, target).min(MAX_COST) / QUANTUM).round() as i64).collect();
        costs.repeat(copies)
    });
    let Ok(matrix) = Matrix::from_rows(rows) else { return Ok(Vec::new()) };
    let (_, assigned) = kuhn_munkres_min(&matrix);
    Ok(assigned.into_iter().map(|column| column % targets).collect())
}
