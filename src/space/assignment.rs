//! Assignments of least cost: the Hungarian algorithm (Kuhn 1955, Munkres 1957) by shortest augmenting paths (Jonker and Volgenant
//! 1987), one unit after the other, with targets that take several units. Dual variables of units and targets keep every reduced
//! cost at 0 or above; Dijkstra's algorithm over these finds the way to a target with room that costs the least, and along it
//! units change their targets.

use crate::control::{Control, Progress};
use crate::error::{Result, ensure};
use crate::memory::{collected, filled, room, zeros};

/// The most units a side: the algorithm takes their number to the third power.
const MAX_UNITS: usize = 2048;

/// Costs are whole multiples of this: sums of them are exact in whatever order.
const QUANTUM: f64 = 1e-9;

/// The largest cost told apart, that of a weight of 0 among them: above |ln| of every double precision number.
const MAX_COST: f64 = 1e3;

/// Turns a unit of the reduction before the rest is left to searches.
const TURNS: usize = 20;

/// Costs that are looked at between two looks at whether to stop: a few milliseconds.
const PIECE: usize = 1 << 18;

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
    let mut search = Search::new(&costs, targets, units.div_ceil(targets))?;
    let free = search.reduce(units, control).await?;
    for (done, &unit) in free.iter().enumerate() {
        control.step(Progress::new("assignment", done, free.len())).await?;
        search.assign(unit, control).await?;
    }
    let mut assigned = zeros("an assignment", units)?;
    for (target, members) in search.members.iter().enumerate() {
        members.iter().for_each(|&unit| assigned[unit] = target);
    }
    Ok(assigned)
}

/// The units so far, each at a target.
struct Search<'a> {
    /// (units, targets).
    costs: &'a [i64],
    /// The most units a target takes.
    capacity: usize,
    /// Of targets.
    members: Vec<Vec<usize>>,
    /// Of targets, 0 or below, and 0 of one that has room; a unit's follows from its target's.
    dual: Vec<i64>,
    /// Of targets: the least cost of a way there in the search under way, and the last step on it, a unit that moves there from
    /// another target.
    distance: Vec<i64>,
    step: Vec<Option<(usize, usize)>>,
    /// The targets, those whose distance is known first.
    order: Vec<usize>,
}

impl<'a> Search<'a> {
    fn new(costs: &'a [i64], targets: usize, capacity: usize) -> Result<Self> {
        const WHAT: &str = "an assignment";
        Ok(Self {
            costs,
            capacity,
            members: filled(WHAT, Vec::new(), targets)?,
            dual: zeros(WHAT, targets)?,
            distance: zeros(WHAT, targets)?,
            step: filled(WHAT, None, targets)?,
            order: collected(WHAT, 0..targets)?,
        })
    }

    fn cost(&self, unit: usize, target: usize) -> i64 {
        self.costs[unit * self.dual.len() + target] - self.dual[target]
    }

    /// Looks at ways on to the targets that are open, of a unit that would move from one that `reached` is the distance of.
    fn relax(&mut self, unit: usize, from: Option<usize>, reached: i64, known: usize) {
        let base = from.map_or(0, |target| reached - self.cost(unit, target));
        for &target in &self.order[known..] {
            let distance = base + self.cost(unit, target);
            if distance < self.distance[target] {
                self.distance[target] = distance;
                self.step[target] = from.map(|from| (unit, from));
            }
        }
    }

    /// Jonker and Volgenant's row reduction, for targets of one unit: a unit takes its best target, whose dual falls until the
    /// second best is as good, and sends away the unit that was there. Cheap, and few are left without a target: these.
    async fn reduce(&mut self, units: usize, control: &Control<'_>) -> Result<Vec<usize>> {
        let mut free = collected("units", (0..units).rev())?;
        if self.capacity > 1 || self.dual.len() < 2 {
            free.reverse();
            return Ok(free);
        }
        let mut left = room("units", units)?;
        // Two units that want the same targets could outbid each other for long.
        for turn in 0..TURNS * units {
            let Some(unit) = free.pop() else { break };
            if turn % PIECE.div_ceil(self.dual.len()) == 0 {
                control.breathe().await?;
            }
            let [(least, best), (second, next)] = self.two_best(unit);
            let is_free = self.members[best].is_empty();
            // Of two that are as good, the one that nobody has.
            let target = if least == second && !is_free { next } else { best };
            self.dual[target] -= if target == best { second - least } else { 0 };
            if let Some(before) = self.members[target].pop() {
                if least < second { free.push(before) } else { left.push(before) }
            }
            self.members[target].push(unit);
        }
        left.extend(free);
        Ok(left)
    }

    /// The two least costs of a unit, with their targets.
    fn two_best(&self, unit: usize) -> [(i64, usize); 2] {
        let mut two = [(i64::MAX, 0); 2];
        let costs = &self.costs[unit * self.dual.len()..][..self.dual.len()];
        for (target, (cost, dual)) in costs.iter().zip(&self.dual).enumerate() {
            let cost = cost - dual;
            if cost < two[0].0 {
                two = [(cost, target), two[0]];
            } else if cost < two[1].0 {
                two[1] = (cost, target);
            }
        }
        two
    }

    /// One more unit.
    async fn assign(&mut self, unit: usize, control: &Control<'_>) -> Result<()> {
        let targets = self.dual.len();
        self.distance.fill(i64::MAX);
        let (mut known, mut work) = (0, 0);
        self.relax(unit, None, 0, known);
        let last = loop {
            let open = known..targets;
            let at = open.min_by_key(|&place| self.distance[self.order[place]]).unwrap_or(known);
            let target = self.order[at];
            if self.members[target].len() < self.capacity {
                break target;
            }
            self.order.swap(known, at);
            known += 1;
            let members = std::mem::take(&mut self.members[target]);
            for &member in &members {
                self.relax(member, Some(target), self.distance[target], known);
            }
            work += (members.len() + 1) * (targets - known + 1);
            self.members[target] = members;
            if work > PIECE {
                work = 0;
                // A search that is left here has changed nothing yet.
                control.breathe().await?;
            }
        };
        for &target in &self.order[..known] {
            self.dual[target] += self.distance[target] - self.distance[last];
        }
        // Along the way every target hands a unit on to the next.
        let mut target = last;
        while let Some((moved, from)) = self.step[target] {
            self.members[from].retain(|&member| member != moved);
            self.members[target].push(moved);
            target = from;
        }
        self.members[target].push(unit);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use pathfinding::kuhn_munkres::kuhn_munkres_min;
    use pathfinding::matrix::Matrix;
    use rand::Rng;

    use super::*;
    use crate::event_loop::now;
    use crate::linalg::generator;

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
            asked.get() > 605
        });
        let found = now(assign(600, 600, |unit, target| costs[unit * 600 + target], &control));
        assert_eq!(found.expect_err("a stop").code, crate::ErrorCode::Aborted);
    }
}
