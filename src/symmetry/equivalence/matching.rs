//! Which unit of one network is which of another: from the inputs on, by what they read of units that are matched already.

use super::lengths::Classes;
use super::traits::{Traits, apart, traits};
use crate::error::Result;
use crate::memory::{collected, copied, filled, room};
use crate::network::{Network, ParametricLayer};
use crate::numbers::{largest, norm};
use crate::random::{generator, random_normal};
use crate::sorting::{sort_by, sort_by_key};
use crate::symmetry::nodes::{Nodes, Written, ZEROS, factor};

const WHAT: &str = "a matching of units";

/// Rows are as alike as this many tolerances where they are one: roundings of all layers before them are in them.
const ROOM: f64 = 1e3;
/// And no less than this.
const MOST: f64 = 1e-2;

/// What came of it.
pub(super) enum Match {
    /// The node of `a` that is in each one's place in `b`; and were some so alike that others could have been taken?
    Found { moved: Vec<u32>, has_ties: bool },
    /// Something has no counterpart.
    None { reason: String, has_ties: bool },
}

/// Matches the nodes of `b` with those of `a`, list by list. `is_rescaled`: by what they are when each is divided by its length; else as
/// they are.
pub(super) fn matched(
    network: &Network,
    nodes: &Nodes,
    a: &[f64],
    b: &[f64],
    is_rescaled: bool,
    tolerance: f64,
) -> Result<Match> {
    let lengths = |parameters: &[f64]| match is_rescaled {
        true => Classes::of_nodes(network, nodes)?.lengths(network, parameters),
        false => filled(WHAT, 1.0, nodes.count()),
    };
    let mut matching = Matching {
        network,
        nodes,
        of: [Side { parameters: a, lengths: lengths(a)? }, Side { parameters: b, lengths: lengths(b)? }],
        moved: collected(WHAT, 0..nodes.count() as u32)?,
        is_taken: filled(WHAT, false, nodes.count())?,
        reach: (ROOM * tolerance).min(MOST),
        has_ties: false,
        traits: None,
    };
    for written in nodes.written() {
        if let Some(reason) = matching.list(written)? {
            return Ok(Match::None { reason, has_ties: matching.has_ties });
        }
    }
    Ok(Match::Found { moved: matching.moved, has_ties: matching.has_ties })
}

struct Side<'a> {
    parameters: &'a [f64],
    lengths: Vec<f64>,
}

struct Matching<'a> {
    network: &'a Network,
    nodes: &'a Nodes,
    of: [Side<'a>; 2],
    moved: Vec<u32>,
    /// Nodes of `a` that have a counterpart.
    is_taken: Vec<bool>,
    /// How far apart what is one may be.
    reach: f64,
    has_ties: bool,
    /// Of both sides' nodes, once somebody needs them.
    traits: Option<[Vec<Traits>; 2]>,
}

/// What a node reads, divided by its length, in `b`'s order of units.
struct Row {
    node: u32,
    /// The part of the layer, in `b`.
    group: usize,
    values: Vec<f64>,
    /// Where it lies in one direction: those far from each other there are far apart.
    shadow: f64,
}

impl Matching<'_> {
    /// The nodes of one list; why they cannot be matched.
    fn list(&mut self, written: &Written) -> Result<Option<String>> {
        let layer = &self.network.layout().layers()[written.layer];
        let units = self.nodes.units(written.layer);
        let order = self.order(units)?;
        let Some(groups) = groups(layer, order.as_deref()) else {
            let layer = self.network.title(layer.layer);
            return Ok(Some(format!("what {layer} reads has other parts in one of them than in the other")));
        };
        let order = order.unwrap_or_default();
        let direction = random_normal(layer.inputs + 1, &mut generator(1))?;
        let length = norm(direction.iter().copied());
        let mut rows: [Vec<Row>; 2] = [room(WHAT, written.rows.len())?, room(WHAT, written.rows.len())?];
        // Those that nothing comes into are told apart by nothing here.
        let mut empty: [Vec<u32>; 2] = [room(WHAT, written.rows.len())?, room(WHAT, written.rows.len())?];
        for (node, &row) in (written.first..).zip(&written.rows) {
            for (side, (rows, empty)) in rows.iter_mut().zip(&mut empty).enumerate() {
                let own = self.of[side].lengths[node as usize];
                if own == 0.0 {
                    empty.push(node);
                    continue;
                }
                let row = row as usize;
                let group = row / (layer.outputs / layer.groups);
                let group = if side == 0 { groups[group] } else { group };
                let values = self.values(side, written.layer, row, group, (side == 0).then_some(&order), own)?;
                let shadow = values.iter().zip(&direction).map(|(v, d)| v * d / length).sum();
                rows.push(Row { node, group, values, shadow });
            }
        }
        if empty[0].len() != empty[1].len() {
            return Ok(Some(format!(
                "{} of the {} that {} is the first to write have nothing that comes in, and {} in the other",
                empty[0].len(),
                written.rows.len(),
                self.network.title(layer.layer),
                empty[1].len()
            )));
        }
        let [old, new] = empty;
        let mut several = room(WHAT, new.len())?;
        for node in new {
            several.push((node, copied(WHAT, &old)?));
        }
        if let Some(reason) = self.told_apart(&several)? {
            return Ok(Some(reason));
        }
        self.assign(rows)
    }

    /// Where each unit that comes in, in `b`, is in `a`: of a node that comes in at several places, as far down among them. None where
    /// one has no such place.
    fn order(&self, units: &[u32]) -> Result<Option<Vec<usize>>> {
        let mut by_node = collected(WHAT, 0..units.len())?;
        sort_by_key(&mut by_node, |&unit| units[unit]);
        let places = |node: u32| {
            let start = by_node.partition_point(|&unit| units[unit] < node);
            let end = by_node.partition_point(|&unit| units[unit] <= node);
            &by_node[start..end]
        };
        let mut order = filled(WHAT, 0, units.len())?;
        let mut start = 0;
        while let Some(&unit) = by_node.get(start) {
            let node = units[unit];
            let to = places(node);
            let from = if node == ZEROS { to } else { places(self.moved[node as usize]) };
            if from.len() != to.len() {
                return Ok(None);
            }
            to.iter().zip(from).for_each(|(&to, &from)| order[to] = from);
            start += to.len();
        }
        Ok(Some(order))
    }

    fn values(
        &self,
        side: usize,
        l: usize,
        row: usize,
        group: usize,
        order: Option<&Vec<usize>>,
        own: f64,
    ) -> Result<Vec<f64>> {
        let (layer, units) = (&self.network.layout().layers()[l], self.nodes.units(l));
        let Side { parameters, lengths } = &self.of[side];
        let weights = &parameters[layer.weight.start + row * layer.inputs..][..layer.inputs];
        let each = layer.inputs / layer.columns_per_unit;
        let mut values = room(WHAT, layer.inputs + 1)?;
        for unit in group * each..(group + 1) * each {
            let unit = order.map_or(unit, |order| order[unit]);
            let start = (unit - layer.first_unit(row)) * layer.columns_per_unit;
            let factor = factor(lengths, units[unit]) / own;
            values.extend(weights[start..][..layer.columns_per_unit].iter().map(|w| w * factor));
        }
        values.push(layer.bias.as_ref().map_or(0.0, |bias| parameters[bias.start + row] / own));
        Ok(values)
    }

    fn assign(&mut self, [mut old, mut new]: [Vec<Row>; 2]) -> Result<Option<String>> {
        // Of rows as they are, distances are relative to the longest.
        let longest = largest(old.iter().chain(&new).map(|row| norm(row.values.iter().copied())));
        let reach = self.reach * longest;
        for rows in [&mut old, &mut new] {
            sort_by(rows, |p, q| p.shadow.total_cmp(&q.shadow));
        }
        let mut several = Vec::new();
        for row in &new {
            let start = old.partition_point(|other| other.shadow < row.shadow - reach);
            let near = old[start..].iter().take_while(|other| other.shadow <= row.shadow + reach);
            let alike = near.filter(|other| {
                let between = row.values.iter().zip(&other.values).map(|(a, b)| a - b);
                other.group == row.group && norm(between) <= reach
            });
            let alike: Vec<u32> = collected(WHAT, alike.map(|other| other.node))?;
            match alike[..] {
                [] => return Ok(Some(format!("{} has no counterpart", self.nodes.title(self.network, row.node)))),
                [only] if !self.is_taken[only as usize] => self.take(row.node, only),
                _ => several.push((row.node, alike)),
            }
        }
        self.told_apart(&several)
    }

    fn take(&mut self, new: u32, old: u32) {
        (self.is_taken[old as usize], self.moved[new as usize]) = (true, old);
    }

    /// Nodes of `b` with those of `a` that they may be, as far as what comes in tells: by what becomes of them the most alike are one.
    fn told_apart(&mut self, several: &[(u32, Vec<u32>)]) -> Result<Option<String>> {
        self.has_ties |= several.iter().any(|(_, old)| old.len() > 1);
        if several.is_empty() {
            return Ok(None);
        }
        if self.traits.is_none() {
            let of = |side: &Side| traits(self.network, self.nodes, side.parameters, &side.lengths);
            self.traits = Some([of(&self.of[0])?, of(&self.of[1])?]);
        }
        let Some([of_old, of_new]) = &self.traits else { return Ok(None) };
        let mut pairs = room(WHAT, several.iter().map(|(_, old)| old.len()).sum())?;
        for (new, old) in several {
            let trait_of_new = &of_new[*new as usize];
            pairs.extend(old.iter().map(|&old| (apart(trait_of_new, &of_old[old as usize]), *new, old)));
        }
        sort_by(&mut pairs, |p, q| p.0.total_cmp(&q.0));
        let mut is_matched = filled(WHAT, false, self.nodes.count())?;
        for (_, new, old) in pairs {
            if !is_matched[new as usize] && !self.is_taken[old as usize] {
                is_matched[new as usize] = true;
                self.take(new, old);
            }
        }
        let left = several.iter().find(|(new, _)| !is_matched[*new as usize]);
        Ok(left.map(|(new, _)| format!("{} has no counterpart of its own", self.nodes.title(self.network, *new))))
    }
}

/// For each part of the layer in `a` the one in `b` that reads the same; None where parts do not go over into parts.
fn groups(layer: &ParametricLayer, order: Option<&[usize]>) -> Option<Vec<usize>> {
    let order = order?;
    let each = order.len() / layer.groups;
    let mut groups = vec![usize::MAX; layer.groups];
    for (group, units) in order.chunks_exact(each).enumerate() {
        let from = units[0] / each;
        if groups[from] != usize::MAX || units.iter().any(|unit| unit / each != from) {
            return None;
        }
        groups[from] = group;
    }
    Some(groups)
}
