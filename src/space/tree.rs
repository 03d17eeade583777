//! The tree: one weight that writes each free node, such that following them back leads to node 0 on a way as short as there is. There
//! always is one: the layer that is the first to write a node reads what has been written before.

use super::forest::{Choice, FAR, groups, index};
use super::skeleton::Edge;
use crate::error::{Result, bail};
use crate::memory::{filled, room};
use crate::network::Network;
use crate::sorting::sort_by_key;
use crate::symmetry::Nodes;

const WHAT: &str = "the weights of the tree";

/// Steps from zeros, which are taken for a beginning only where no way leads back to the inputs.
const FROM_ZEROS: u32 = 1 << 30;

/// The nodes with their weights, those nearest to the inputs first. A weight is a fixed one where one comes into the row that is the first to be
/// nearest; else that of row r from the unit r mod n of the n there are.
pub(super) fn tree(network: &Network, nodes: &Nodes, fixed: &[Choice]) -> Result<Vec<(u32, Edge)>> {
    let distance = distances(network, nodes)?;
    if let Some(node) = distance.iter().position(|&distance| distance == FAR) {
        bail!(InvalidNetwork, "no way leads from the inputs to {}", nodes.title(network, node as u32));
    }
    // The fixed weights by layer and row, the first unit of each row first.
    let mut incoming: Vec<(usize, usize, usize, usize)> = room(WHAT, fixed.len())?;
    incoming.extend(fixed.iter().map(|choice| (choice.layer, choice.edge.unit, choice.unit, choice.edge.index)));
    sort_by_key(&mut incoming, |&choice| choice);
    let mut is_chosen = filled(WHAT, false, nodes.count())?;
    let mut edges: Vec<(u32, Edge)> = room(WHAT, nodes.count() - 1)?;
    for (l, layer) in network.layout().layers().iter().enumerate() {
        let (rows, units) = (nodes.rows(l), nodes.units(l));
        for group in groups(layer) {
            let at = |unit: usize| distance_of(&distance, units[unit]);
            let least = group.units.clone().map(at).min().unwrap_or(FAR);
            let mut nearest: Vec<usize> = room(WHAT, group.units.len())?;
            nearest.extend(group.units.filter(|&unit| at(unit) == least));
            for row in group.rows.filter(|&row| distance[rows[row] as usize] == least + 1) {
                let node = rows[row];
                if std::mem::replace(&mut is_chosen[node as usize], true) {
                    continue;
                }
                let first = incoming.partition_point(|&(layer, to, ..)| (layer, to) < (l, row));
                let mut fixed = incoming[first..].iter().take_while(|&&(layer, to, ..)| (layer, to) == (l, row));
                let (unit, index) = match fixed.find(|&&(_, _, unit, _)| at(unit) == least) {
                    Some(&(_, _, unit, index)) => (unit, index),
                    None => {
                        let unit = nearest[row % nearest.len()];
                        (unit, index(layer, row, unit, 0))
                    }
                };
                edges.push((node, Edge { unit, node: units[unit], index }));
            }
        }
    }
    sort_by_key(&mut edges, |&(node, _)| distance[node as usize]);
    Ok(edges)
}

/// Steps to every node from node 0, by weights that write it.
fn distances(network: &Network, nodes: &Nodes) -> Result<Vec<u32>> {
    let mut distance = filled(WHAT, FAR, nodes.count())?;
    distance[0] = 0;
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for (l, layer) in network.layout().layers().iter().enumerate() {
            for group in groups(layer) {
                let units = nodes.units(l)[group.units].iter().map(|&unit| distance_of(&distance, unit));
                let next = units.min().unwrap_or(FAR).saturating_add(1);
                for &row in &nodes.rows(l)[group.rows] {
                    if next < distance[row as usize] {
                        (distance[row as usize], has_changed) = (next, true);
                    }
                }
            }
        }
    }
    Ok(distance)
}

fn distance_of(distance: &[u32], node: u32) -> u32 {
    distance.get(node as usize).copied().unwrap_or(FROM_ZEROS)
}
