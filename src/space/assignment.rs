//! Assignments of least cost: the Hungarian algorithm (Kuhn 1955, Munkres 1957) by shortest augmenting paths (Jonker and Volgenant
//! 1987), one unit after the other. Dual variables of units and columns keep every reduced cost at 0 or above; Dijkstra's
//! algorithm over these finds the way to a free column that costs the least, and along it assignments change sides.

use crate::control::{Control, Progress};
use crate::error::{Result, ensure};
use crate::memory::{collected, filled, room, zeros};

/// The most units a side: the algorithm takes their number to the third power.
const MAX_UNITS: usize = 2048;

/// Costs are whole multiples of this: sums of them are exact in whatever order.
const QUANTUM: f64 = 1e-9;

/// The largest cost told apart, that of a weight of 0 among them: above |ln| of every double precision number.
const MAX_COST: f64 = 1e3;

/// Columns that are looked at between two looks at whether to stop: a few milliseconds.
const PIECE: usize = 1 << 18;

/// No column, or no unit.
const NONE: usize = usize::MAX;

/// For each of `units` the target of `targets`, so that the sum of the costs is the least. If there are more units than targets,
/// each target is taken at most ⌈units / targets⌉ times; otherwise at most once.
///
/// # Errors
/// `TooLarge` above 2048 units or targets; `Aborted`.
pub(super) async fn assign(
    units: usize,
    targets: usize,
    cost: impl Fn(usize, usize) -> f64,
    control: &Control<'_>,
) -> Result<Vec<usize>> {
    ensure!(
        units.max(targets) <= MAX_UNITS,
        TooLarge,
        "the Hungarian choice is for layers of at most {MAX_UNITS} units, but it was asked for {units} and {targets}; \
         the diagonal one has no limit"
    );
    let mut costs: Vec<i64> = room("costs of an assignment", units * targets)?;
    for unit in 0..units {
        costs.extend((0..targets).map(|target| (cost(unit, target).min(MAX_COST) / QUANTUM).round() as i64));
        control.breathe().await?;
    }
    let mut search = Search::new(&costs, targets, targets * units.div_ceil(targets))?;
    for unit in 0..units {
        control.step(Progress::new("assignment", unit, units)).await?;
        search.assign(unit, control).await?;
    }
    let mut assigned = zeros("an assignment", units)?;
    for (column, &unit) in search.unit_of.iter().enumerate().filter(|(_, unit)| **unit != NONE) {
        assigned[unit] = column % targets;
    }
    Ok(assigned)
}

/// The units so far, each with a column; column j stands for target j mod targets.
struct Search<'a> {
    /// (units, targets).
    costs: &'a [i64],
    targets: usize,
    /// Of columns.
    target_of: Vec<usize>,
    unit_of: Vec<usize>,
    /// Of columns, 0 or below; a unit's follows from its column's.
    dual: Vec<i64>,
    /// Of columns: the least cost of a way there in the search under way, the column before on it, and whether it is known.
    distance: Vec<i64>,
    before: Vec<usize>,
    open: Vec<usize>,
}

impl<'a> Search<'a> {
    fn new(costs: &'a [i64], targets: usize, columns: usize) -> Result<Self> {
        const WHAT: &str = "an assignment";
        Ok(Self {
            costs,
            targets,
            target_of: collected(WHAT, (0..columns).map(|column| column % targets))?,
            unit_of: filled(WHAT, NONE, columns)?,
            dual: zeros(WHAT, columns)?,
            distance: zeros(WHAT, columns)?,
            before: zeros(WHAT, columns)?,
            open: room(WHAT, columns)?,
        })
    }

    /// One more unit.
    async fn assign(&mut self, unit: usize, control: &Control<'_>) -> Result<()> {
        let columns = self.unit_of.len();
        self.distance.fill(i64::MAX);
        self.before.fill(NONE);
        self.open.clear();
        self.open.extend(0..columns);
        // From the unit's own row on, by way of the units whose columns are reached.
        let (mut row, mut from, mut reached) = (unit, NONE, 0);
        let mut known: usize = 0;
        let mut work = 0;
        let last = loop {
            let costs = &self.costs[row * self.targets..][..self.targets];
            // What a way costs that leads here, less what this row's own column costs it.
            let base = if from == NONE { 0 } else { reached - (costs[self.target_of[from]] - self.dual[from]) };
            let (mut least, mut at) = (i64::MAX, 0);
            for (place, &column) in self.open[known..].iter().enumerate() {
                let cost = base + costs[self.target_of[column]] - self.dual[column];
                if cost < self.distance[column] {
                    self.distance[column] = cost;
                    self.before[column] = from;
                }
                if self.distance[column] < least {
                    (least, at) = (self.distance[column], known + place);
                }
            }
            work += columns - known;
            if work > PIECE {
                work = 0;
                // A search that is left here has changed nothing yet.
                control.breathe().await?;
            }
            let column = self.open[at];
            self.open.swap(known, at);
            if self.unit_of[column] == NONE {
                reached = least;
                break column;
            }
            known += 1;
            (row, from, reached) = (self.unit_of[column], column, least);
        };
        for &column in &self.open[..known] {
            self.dual[column] += self.distance[column] - reached;
        }
        // Along the way every column takes the unit of the one before.
        let mut column = last;
        loop {
            let before = self.before[column];
            if before == NONE {
                self.unit_of[column] = unit;
                break;
            }
            self.unit_of[column] = self.unit_of[before];
            column = before;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use pathfinding::kuhn_munkres::kuhn_munkres_min;
    use pathfinding::matrix::Matrix;
    use rand::Rng;

    use super::*;
    use crate::linalg::generator;
    use crate::ready::now;

    /// The least cost by the library, over columns that are repeated.
    fn least(costs: &[Vec<i64>], targets: usize) -> i64 {
        let copies = costs.len().div_ceil(targets);
        let rows = costs.iter().map(|row| row.repeat(copies));
        kuhn_munkres_min(&Matrix::from_rows(rows).expect("a matrix")).0
    }

    #[test]
    fn it_costs_what_the_library_says() {
        let mut rng = generator(1);
        for round in 0..400 {
            let (units, targets) = (rng.random_range(1..=14), rng.random_range(1..=14));
            // Few values, so that many costs are equal, or many.
            let most = [2, 5, 1_000_000][round % 3];
            let draw = |_| (0..targets).map(|_| rng.random_range(0..most)).collect();
            let costs: Vec<Vec<i64>> = (0..units).map(draw).collect();
            let cost = |unit: usize, target: usize| costs[unit][target] as f64 * QUANTUM;
            let found = now(assign(units, targets, cost, &Control::default())).expect("an assignment");
            let mut taken = vec![0; targets];
            found.iter().for_each(|&target| taken[target] += 1);
            assert!(taken.iter().all(|&times| times <= units.div_ceil(targets)), "{units} × {targets}: {found:?}");
            let total: i64 = found.iter().enumerate().map(|(unit, &target)| costs[unit][target]).sum();
            assert_eq!(total, least(&costs, targets), "{units} × {targets}");
        }
    }

    #[test]
    fn weights_of_zero_and_wide_layers() {
        let cost = |unit: usize, target: usize| if unit == target { 0.0 } else { f64::INFINITY };
        assert_eq!(now(assign(5, 5, cost, &Control::default())).expect("an assignment"), [0, 1, 2, 3, 4]);
        let found = now(assign(2049, 2, cost, &Control::default()));
        assert_eq!(found.expect_err("too wide").code, crate::ErrorCode::TooLarge);
        let mut rng = generator(2);
        let costs: Vec<f64> = (0..600 * 600).map(|_| rng.random_range(0.0..10.0)).collect();
        let asked = std::cell::Cell::new(0);
        let control = Control::default().stop_when(|| {
            asked.set(asked.get() + 1);
            asked.get() > 900
        });
        let found = now(assign(600, 600, |unit, target| costs[unit * 600 + target], &control));
        assert_eq!(found.expect_err("a stop").code, crate::ErrorCode::Aborted);
    }
}
