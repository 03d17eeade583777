//! Assignments of least cost: the Hungarian algorithm (Kuhn 1955, Munkres 1957) by shortest augmenting paths (Jonker and Volgenant
//! 1987), one unit after the other, with targets that take several units. Dual variables of units and targets keep every reduced
//! cost at 0 or above; Dijkstra's algorithm over these finds the way to a target with room that costs the least, and along it
//! units change their targets.

use crate::control::{Control, Progress};
use crate::error::{Result, ensure};
use crate::memory::{collected, filled, room, zeros};

/// The most units a side: the algorithm takes their number to the third power.
const MAX_UNITS: usize = 2048;

/// Costs are whole multiples of this: sums of them are exact in whatever order. They are held twice, so that the last bit of a
/// sum can tell which of two equal ones is looked at first.
const QUANTUM: f64 = 1e-9;

/// The largest cost told apart, that of a weight of 0 among them: above |ln| of every double precision number.
const MAX_COST: f64 = 1e3;

/// Turns a unit, in each of so many passes of the reduction, before the rest is left to searches.
const TURNS: usize = 20;
const PASSES: usize = 2;

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
        costs.extend((0..targets).map(|target| 2 * (cost(unit, target).min(MAX_COST) / QUANTUM).round() as i64));
        control.breathe().await?;
    }
    let mut search = Search::new(&costs, units, targets)?;
    let free = search.reduce(units, control).await?;
    for (done, &unit) in free.iter().enumerate() {
        control.step(Progress::new("assignment", done, free.len())).await?;
        search.assign(unit, control).await?;
    }
    Ok(search.assigned)
}

/// The units so far, each at a target.
struct Search<'a> {
    /// (units, targets).
    costs: &'a [i64],
    /// The most units a target takes.
    capacity: usize,
    /// Of units, those that have one: their targets.
    assigned: Vec<usize>,
    /// Of targets.
    members: Vec<Vec<usize>>,
    /// Of targets: 1 where there is no room, so that of two ways that cost the same the one that ends is taken.
    is_full: Vec<i64>,
    /// Of targets, 0 or below where not all of them get units, and then 0 of one that has room; a unit's follows from its target's.
    dual: Vec<i64>,
    /// Of targets: the least cost of a way there in the search under way, and the unit that takes the last step on it.
    distance: Vec<i64>,
    mover: Vec<usize>,
    /// The distance with `is_full` of a target whose distance is not known for good.
    open: Vec<i64>,
    /// The targets whose distance is known for good.
    known: Vec<usize>,
}

impl<'a> Search<'a> {
    fn new(costs: &'a [i64], units: usize, targets: usize) -> Result<Self> {
        const WHAT: &str = "an assignment";
        Ok(Self {
            costs,
            capacity: units.div_ceil(targets),
            assigned: zeros(WHAT, units)?,
            members: filled(WHAT, Vec::new(), targets)?,
            is_full: zeros(WHAT, targets)?,
            dual: zeros(WHAT, targets)?,
            distance: zeros(WHAT, targets)?,
            mover: zeros(WHAT, targets)?,
            open: zeros(WHAT, targets)?,
            known: room(WHAT, targets)?,
        })
    }

    fn costs_of(&self, unit: usize) -> &'a [i64] {
        &self.costs[unit * self.dual.len()..][..self.dual.len()]
    }

    fn put(&mut self, unit: usize, target: usize) {
        self.assigned[unit] = target;
        self.members[target].push(unit);
        self.is_full[target] = i64::from(self.members[target].len() == self.capacity);
    }

    /// Looks at a unit's ways on, where a way of cost `base` leads to it.
    fn relax(&mut self, unit: usize, base: i64) {
        let costs = self.costs_of(unit);
        let Self { dual, distance, mover, open, is_full, .. } = self;
        let targets = costs.iter().zip(dual).zip(is_full).zip(distance).zip(open).zip(mover);
        for (((((&cost, &mut dual), &mut is_full), distance), open), mover) in targets {
            let found = base + cost - dual;
            // Never so at a target that is known for good.
            if found < *distance {
                (*distance, *open, *mover) = (found, found + is_full, unit);
            }
        }
    }

    /// The open target that is nearest.
    fn nearest(&self) -> usize {
        let least = self.open.iter().copied().fold(i64::MAX, i64::min);
        self.open.iter().position(|&open| open == least).unwrap_or(0)
    }

    /// Jonker and Volgenant's reductions, for targets of one unit; cheap, and few units are left without a target: these.
    async fn reduce(&mut self, units: usize, control: &Control<'_>) -> Result<Vec<usize>> {
        let mut free = collected("units", 0..units)?;
        if self.capacity > 1 || self.dual.len() < 2 {
            return Ok(free);
        }
        // The dual of a target that stays without a unit has to be 0.
        if units == self.dual.len() {
            free = self.reduce_targets(control).await?;
        }
        for _ in 0..PASSES {
            free = self.reduce_units(free, control).await?;
        }
        Ok(free)
    }

    /// Each target's dual becomes its least cost, and the unit of that cost takes it unless it has one; then the dual falls until
    /// the unit's second best is as good.
    async fn reduce_targets(&mut self, control: &Control<'_>) -> Result<Vec<usize>> {
        let targets = self.dual.len();
        let mut cheapest = zeros("units of the least costs", targets)?;
        self.dual.fill(i64::MAX);
        for (unit, costs) in self.costs.chunks_exact(targets).enumerate() {
            for ((&cost, dual), cheapest) in costs.iter().zip(&mut self.dual).zip(&mut cheapest) {
                if cost < *dual {
                    (*dual, *cheapest) = (cost, unit);
                }
            }
            self.look_up(unit, control).await?;
        }
        let mut taken = filled("units with a target", None, targets)?;
        for (target, &unit) in cheapest.iter().enumerate() {
            if taken[unit].is_none() {
                taken[unit] = Some(target);
                self.put(unit, target);
            }
        }
        for (unit, target) in taken.iter().enumerate() {
            if let Some(target) = *target {
                // Its own reduced cost is 0, the least there is.
                let [(first, best), (second, _)] = self.two_best(unit);
                self.dual[target] -= if best == target { second - first } else { 0 };
            }
            self.look_up(unit, control).await?;
        }
        Ok((0..targets).filter(|&unit| taken[unit].is_none()).collect())
    }

    /// Each of these units takes its best target, whose dual falls until the second best is as good, and sends away the unit that was
    /// there, which does the same; the units that are left.
    async fn reduce_units(&mut self, mut free: Vec<usize>, control: &Control<'_>) -> Result<Vec<usize>> {
        // Two units that want the same targets could outbid each other for long.
        let turns = TURNS * free.len();
        free.reverse();
        let mut left = room("units", free.len())?;
        for turn in 0..turns {
            let Some(unit) = free.pop() else { break };
            self.look_up(turn, control).await?;
            let [(least, best), (second, next)] = self.two_best(unit);
            let is_free = self.members[best].is_empty();
            // Of two that are as good, the one that nobody has.
            let target = if least == second && !is_free { next } else { best };
            self.dual[target] -= if target == best { second - least } else { 0 };
            if let Some(before) = self.members[target].pop() {
                if least < second { free.push(before) } else { left.push(before) }
            }
            self.put(unit, target);
        }
        left.extend(free);
        Ok(left)
    }

    /// Asks whether to stop, now and then, in the `turn`th of many turns over all targets.
    async fn look_up(&self, turn: usize, control: &Control<'_>) -> Result<()> {
        if turn.is_multiple_of(PIECE.div_ceil(self.dual.len())) { control.breathe().await } else { Ok(()) }
    }

    /// The two least costs of a unit, with their targets.
    fn two_best(&self, unit: usize) -> [(i64, usize); 2] {
        let mut two = [(i64::MAX, 0); 2];
        for (target, (cost, dual)) in self.costs_of(unit).iter().zip(&self.dual).enumerate() {
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
        self.distance.fill(i64::MAX);
        self.open.fill(i64::MAX);
        self.known.clear();
        self.relax(unit, 0);
        let mut work = 0;
        let last = loop {
            let target = self.nearest();
            if self.is_full[target] == 0 {
                break target;
            }
            self.open[target] = i64::MAX;
            self.known.push(target);
            let members = std::mem::take(&mut self.members[target]);
            for &member in &members {
                let reduced = self.costs_of(member)[target] - self.dual[target];
                self.relax(member, self.distance[target] - reduced);
            }
            work += (members.len() + 1) * self.dual.len();
            self.members[target] = members;
            if work > PIECE {
                work = 0;
                // A search that is left here has changed nothing yet.
                control.breathe().await?;
            }
        };
        for &target in &self.known {
            self.dual[target] += self.distance[target] - self.distance[last];
        }
        // Along the way every target hands a unit on to the next.
        let mut target = last;
        while self.mover[target] != unit {
            let moved = self.mover[target];
            let from = self.assigned[moved];
            self.members[from].retain(|&member| member != moved);
            self.put(moved, target);
            target = from;
        }
        self.put(unit, target);
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
            // And targets that are dear or cheap for all units.
            let offset = |target: usize| if round % 2 == 0 { 0 } else { (target as i64 * 7 % 5) * most };
            let draw = |_| (0..targets).map(|target| offset(target) + rng.random_range(0..most)).collect();
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
