//! The fixed weights: one that reads each free node, such that following them leads to node 0, whose factor is fixed, on a way as
//! short as there is. There always is one: the last layer that reads a node leads to nodes that are read later.

use super::assignment::assign;
use super::skeleton::Edge;
use crate::control::Control;
use crate::error::{Result, bail};
use crate::memory::{collected, filled, room};
use crate::network::{Network, ParametricLayer};
use crate::sorting::sort_by_key;
use crate::symmetry::Nodes;

const WHAT: &str = "the fixed weights";

/// Further than any node is.
pub(super) const FAR: u32 = u32::MAX;

/// Nodes whose weights are chosen from the same rows: units of one group of a layer that are as far from the outputs, and the rows that
/// are one step nearer.
pub(super) struct Job {
    /// The layer, among those with parameters.
    layer: usize,
    /// The units, and their nodes.
    units: Vec<(usize, u32)>,
    rows: Vec<usize>,
    /// Steps from the rows to node 0.
    distance: u32,
}

/// What there is to choose, nearest to the outputs first; every free node once, where a layer first reads it.
pub(super) fn jobs(network: &Network, nodes: &Nodes) -> Result<Vec<Job>> {
    let distance = distances(network, nodes)?;
    if let Some(node) = distance.iter().position(|&distance| distance == FAR) {
        bail!(InvalidNetwork, "no way leads from {} to the outputs", nodes.title(network, node as u32));
    }
    let mut is_chosen = filled(WHAT, false, nodes.count())?;
    is_chosen[0] = true;
    let mut jobs = Vec::new();
    for (l, layer) in network.layout().layers().iter().enumerate() {
        for group in groups(layer) {
            let at = |row: usize| distance[nodes.rows(l)[row] as usize];
            let nearest = group.rows.clone().map(at).min().unwrap_or(FAR);
            let mut units = room(WHAT, group.units.len())?;
            for unit in group.units {
                let node = nodes.units(l)[unit];
                if let Some(is_chosen) = is_chosen.get_mut(node as usize)
                    && !*is_chosen
                    && distance[node as usize] == nearest + 1
                {
                    *is_chosen = true;
                    units.push((unit, node));
                }
            }
            if !units.is_empty() {
                let mut rows = room(WHAT, group.rows.len())?;
                rows.extend(group.rows.filter(|&row| at(row) == nearest));
                jobs.push(Job { layer: l, units, rows, distance: nearest });
            }
        }
    }
    sort_by_key(&mut jobs, |job| job.distance);
    Ok(jobs)
}

/// Steps from every node to node 0, by weights that read it.
fn distances(network: &Network, nodes: &Nodes) -> Result<Vec<u32>> {
    let mut distance = filled(WHAT, FAR, nodes.count())?;
    distance[0] = 0;
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for (l, layer) in network.layout().layers().iter().enumerate().rev() {
            for group in groups(layer) {
                let rows = nodes.rows(l)[group.rows].iter().map(|&row| distance[row as usize]);
                let next = rows.min().unwrap_or(FAR).saturating_add(1);
                for &unit in &nodes.units(l)[group.units] {
                    if let Some(distance) = distance.get_mut(unit as usize)
                        && next < *distance
                    {
                        (*distance, has_changed) = (next, true);
                    }
                }
            }
        }
    }
    Ok(distance)
}

/// A part of a layer's rows, and the units that it reads.
#[derive(Clone)]
pub(super) struct Group {
    pub rows: std::ops::Range<usize>,
    pub units: std::ops::Range<usize>,
}

pub(super) fn groups(layer: &ParametricLayer) -> impl Iterator<Item = Group> + use<> {
    let (rows, units) = (layer.outputs / layer.groups, layer.units_in() / layer.groups);
    (0..layer.groups).map(move |g| Group { rows: g * rows..(g + 1) * rows, units: g * units..(g + 1) * units })
}

/// Place of the weight of a row that reads a unit (entry `tap` of its window).
pub(super) fn index(layer: &ParametricLayer, row: usize, unit: usize, tap: usize) -> usize {
    layer.weight.start + row * layer.inputs + (unit - layer.first_unit(row)) * layer.columns_per_unit + tap
}

/// A fixed weight of a node: the layer it is of, the unit there that has the node, and where it leads.
pub(super) struct Choice {
    pub layer: usize,
    pub unit: usize,
    pub node: u32,
    pub edge: Edge,
}

/// Unit j's weight to the row j mod n of the n there are.
pub(super) fn diagonal(network: &Network, nodes: &Nodes, jobs: &[Job]) -> Result<Vec<Choice>> {
    let mut choices = room(WHAT, nodes.count() - 1)?;
    for job in jobs {
        let layer = &network.layout().layers()[job.layer];
        choices.extend(job.units.iter().map(|&(unit, node)| {
            let row = job.rows[unit % job.rows.len()];
            let edge = Edge { unit: row, node: nodes.rows(job.layer)[row], index: index(layer, row, unit, 0) };
            Choice { layer: job.layer, unit, node, edge }
        }));
    }
    Ok(choices)
}

/// Nearest to the outputs first, since a node's rescaling changes the weights among which those before it choose. `cost`: of a rescaled
/// weight's magnitude.
pub(super) async fn hungarian(
    network: &Network,
    nodes: &Nodes,
    jobs: &[Job],
    parameters: &[f64],
    cost: impl Fn(f64) -> f64,
    control: &Control<'_>,
) -> Result<Vec<Choice>> {
    let mut choices = room(WHAT, nodes.count() - 1)?;
    let mut scale = filled(WHAT, 1.0, nodes.count())?;
    for job in jobs {
        let (layer, rows) = (&network.layout().layers()[job.layer], nodes.rows(job.layer));
        // Of a window the entry that costs the least.
        let best = |unit: usize, row: usize| {
            (0..layer.columns_per_unit)
                .map(|tap| index(layer, row, unit, tap))
                .map(|index| (cost((parameters[index] * scale[rows[row] as usize]).abs()), index))
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .unwrap_or((f64::INFINITY, index(layer, row, unit, 0)))
        };
        let of_pair = |j: usize, row: usize| best(job.units[j].0, job.rows[row]).0;
        let assigned = assign(job.units.len(), job.rows.len(), of_pair, control).await?;
        let found = job.units.iter().zip(assigned).map(|(&(unit, node), row)| {
            let row = job.rows[row];
            let edge = Edge { unit: row, node: rows[row], index: best(unit, row).1 };
            Choice { layer: job.layer, unit, node, edge }
        });
        let found: Vec<Choice> = collected(WHAT, found)?;
        for Choice { node, edge, .. } in &found {
            scale[*node as usize] = (parameters[edge.index] * scale[edge.node as usize]).abs();
        }
        choices.extend(found);
    }
    Ok(choices)
}
