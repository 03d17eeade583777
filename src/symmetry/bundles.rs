//! Random permutations of what can be permuted: nodes that the same layers write and read, and with them those that are tied to them.
//!
//! A layer of as many groups as units (a `scale`, a depthwise convolution) ties each unit to the rows that read it: they move together,
//! as a bundle. Groups of several units stay where they are, and within them units and rows move.

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::collections::HashMap;

use super::moves::Moves;
use super::nodes::{Nodes, ZEROS};
use super::union::Union;
use crate::error::{Result, bail};
use crate::memory::{collected, filled, zeros};
use crate::network::{Network, ParametricLayer};

const WHAT: &str = "a permutation";

/// A permutation for each list of nodes, uniform among those of bundles that are alike.
pub(super) fn shuffled(network: &Network, rng: &mut ChaCha8Rng) -> Result<Vec<Vec<usize>>> {
    let nodes = Nodes::of(network)?;
    let bundles = Bundles::of(network, &nodes)?;
    let mut moved: Vec<u32> = collected(WHAT, 0..nodes.count() as u32)?;
    for class in &bundles.classes {
        let mut order: Vec<usize> = collected(WHAT, 0..class.len())?;
        order.shuffle(rng);
        for (&to, from) in class.iter().zip(order) {
            let from = class[from];
            for (&to, &from) in bundles.members(to).iter().zip(bundles.members(from)) {
                moved[to as usize] = from;
            }
        }
    }
    if Moves::of(network, &nodes, &moved).is_err() {
        // Nodes that occur several times in one tensor may be alike and yet have no place to go: such classes stay.
        moved = allowed(network, &nodes, &bundles, &moved)?;
    }
    let within = nodes.in_lists(&moved)?;
    let lists = nodes.written().iter().zip(within);
    Ok(lists.map(|(written, list)| list.iter().map(|&node| (node - written.first) as usize).collect()).collect())
}

/// A permutation without the classes that are no symmetries.
fn allowed(network: &Network, nodes: &Nodes, bundles: &Bundles, wanted: &[u32]) -> Result<Vec<u32>> {
    let mut moved: Vec<u32> = collected(WHAT, 0..nodes.count() as u32)?;
    for class in &bundles.classes {
        let members = || class.iter().flat_map(|&bundle| bundles.members(bundle));
        members().for_each(|&node| moved[node as usize] = wanted[node as usize]);
        if let Err(error) = Moves::of(network, nodes, &moved) {
            if error.code != crate::ErrorCode::InvalidTransformation {
                bail!(TooLarge, "{error}");
            }
            members().for_each(|&node| moved[node as usize] = node);
        }
    }
    Ok(moved)
}

/// Nodes that move together, and which of these can take each other's places.
struct Bundles {
    /// All nodes, bundle by bundle, ascending in each.
    nodes: Vec<u32>,
    /// Where each bundle begins there, and where the last one ends.
    starts: Vec<usize>,
    /// Bundles that are alike, in the order of their first nodes.
    classes: Vec<Vec<usize>>,
}

impl Bundles {
    fn members(&self, bundle: usize) -> &[u32] {
        &self.nodes[self.starts[bundle]..self.starts[bundle + 1]]
    }

    fn of(network: &Network, nodes: &Nodes) -> Result<Self> {
        let count = nodes.count();
        let mut union = Union::new(WHAT, count)?;
        let mut profile: Vec<u64> = zeros(WHAT, count)?;
        for (l, layer) in network.layout().layers().iter().enumerate() {
            let (rows, units) = (nodes.rows(l), nodes.units(l));
            for (r, &row) in rows.iter().enumerate() {
                let unit = units[layer.first_unit(r)];
                let is_tied = ties(layer) && is_free(unit);
                if is_tied && is_free(row) {
                    union.unite(row, unit);
                }
                note(&mut profile, row, [l, 0, if is_tied { 0 } else { r / (layer.outputs / layer.groups) }]);
            }
            for (c, &unit) in units.iter().enumerate() {
                note(&mut profile, unit, [l, 1, if ties(layer) { 0 } else { c / (units.len() / layer.groups) }]);
            }
        }
        // A bundle that a fixed node is tied to stays: its rows are no nodes to move, but the unit that they read is.
        let mut set: Vec<u32> = filled(WHAT, 0, count)?;
        for node in 0..count as u32 {
            set[node as usize] = union.find(node);
        }
        let is_held = held(network, nodes, &set)?;
        let mut order: Vec<u32> = collected(WHAT, 1..count as u32)?;
        order.sort_by_key(|&node| (set[node as usize], node));
        let mut bundles = Self { nodes: order, starts: Vec::new(), classes: Vec::new() };
        let mut alike: HashMap<Vec<u64>, usize> = HashMap::new();
        let mut start = 0;
        while let Some(&first) = bundles.nodes.get(start) {
            let of = set[first as usize];
            let end = start + bundles.nodes[start..].partition_point(|&node| set[node as usize] == of);
            let bundle = bundles.starts.len();
            bundles.starts.push(start);
            let key = bundles.nodes[start..end].iter().map(|&node| profile[node as usize]).collect();
            if !is_held[of as usize] {
                let class = *alike.entry(key).or_insert(bundles.classes.len());
                if class == bundles.classes.len() {
                    bundles.classes.push(Vec::new());
                }
                bundles.classes[class].push(bundle);
            }
            start = end;
        }
        bundles.starts.push(start);
        Ok(bundles)
    }
}

/// Of the sets of nodes, those with a unit that rows of node 0 are tied to.
fn held(network: &Network, nodes: &Nodes, set: &[u32]) -> Result<Vec<bool>> {
    let mut is_held = filled(WHAT, false, set.len())?;
    for (l, layer) in network.layout().layers().iter().enumerate().filter(|(_, layer)| ties(layer)) {
        for (r, &row) in nodes.rows(l).iter().enumerate() {
            let unit = nodes.units(l)[layer.first_unit(r)];
            if row == 0 && is_free(unit) {
                is_held[set[unit as usize] as usize] = true;
            }
        }
    }
    Ok(is_held)
}

/// Has each group of a layer one unit that it reads?
fn ties(layer: &ParametricLayer) -> bool {
    layer.groups > 1 && layer.units_in() == layer.groups
}

fn is_free(node: u32) -> bool {
    node != 0 && node != ZEROS
}

/// Adds an occurrence to a node's profile (FNV-1a): nodes that occur in the same places have the same.
fn note(profile: &mut [u64], node: u32, occurrence: [usize; 3]) {
    if is_free(node) {
        for value in occurrence {
            let mixed = profile[node as usize].rotate_left(17) ^ (value as u64).wrapping_add(0xcbf2_9ce4_8422_2325);
            profile[node as usize] = mixed.wrapping_mul(0x0100_0000_01b3);
        }
    }
}
