//! Random permutations of what can be permuted.
//!
//! First nodes that occur in the same places, group by group: in a chain, all units of a layer. Then what is tied together: the units and
//! rows of a group belong to one bundle, and so do those of all groups that share nodes, so that a channel moves with its `scale` and its
//! depthwise convolution. Bundles that are alike take each other's places.

use std::collections::HashMap;

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::moves::Moves;
use super::nodes::{Nodes, ZEROS};
use super::union::Union;
use crate::error::{ErrorCode, Result};
use crate::memory::{collected, copied, filled, room, zeros};
use crate::network::Network;
use crate::sorting::sort_by_key;

const WHAT: &str = "a permutation";

/// A permutation for each list of nodes.
pub(super) fn shuffled(network: &Network, rng: &mut ChaCha8Rng) -> Result<Vec<Vec<usize>>> {
    let nodes = Nodes::of(network)?;
    let (alike, tied) = (Bundles::of_one(network, &nodes)?, Bundles::of_groups(network, &nodes)?);
    let mut swaps = Vec::new();
    for bundles in [&alike, &tied] {
        for class in &bundles.classes {
            let mut order = copied(WHAT, class)?;
            order.shuffle(rng);
            swaps.push((bundles, class, order));
        }
    }
    let mut moved: Vec<u32> = collected(WHAT, 0..nodes.count() as u32)?;
    swaps.iter().try_for_each(|(bundles, class, order)| bundles.swap(class, order, &mut moved))?;
    if !is_symmetry(network, &nodes, &moved)? {
        // Nodes that occur several times in one tensor may be alike and yet have no place to go: such classes stay.
        moved.iter_mut().zip(0..).for_each(|(moved, node)| *moved = node);
        for (bundles, class, order) in &swaps {
            let before = copied(WHAT, &moved)?;
            bundles.swap(class, order, &mut moved)?;
            if !is_symmetry(network, &nodes, &moved)? {
                moved = before;
            }
        }
    }
    let lists = nodes.written().iter().zip(nodes.in_lists(&moved)?);
    Ok(lists.map(|(written, list)| list.iter().map(|&node| (node - written.first) as usize).collect()).collect())
}

fn is_symmetry(network: &Network, nodes: &Nodes, moved: &[u32]) -> Result<bool> {
    match Moves::of(network, nodes, moved) {
        Ok(_) => Ok(true),
        Err(error) if error.code == ErrorCode::InvalidTransformation => Ok(false),
        Err(error) => Err(error),
    }
}

/// Nodes that move together, and which of these can take each other's places.
struct Bundles {
    /// The nodes, bundle by bundle, ascending in each.
    nodes: Vec<u32>,
    /// Where each bundle begins there, and where the last one ends.
    starts: Vec<usize>,
    /// Bundles that are alike, in the order of their first nodes.
    classes: Vec<Vec<usize>>,
}

impl Bundles {
    /// Every node by itself; those are alike that occur in the same groups of the same layers.
    fn of_one(network: &Network, nodes: &Nodes) -> Result<Self> {
        let set = collected(WHAT, 0..nodes.count() as u32)?;
        Self::new(&set, &filled(WHAT, false, nodes.count())?, &profiles(network, nodes, true)?)
    }

    /// What layers of several groups tie together; those are alike whose nodes occur in the same layers. What is tied to node 0 or to
    /// zeros stays.
    fn of_groups(network: &Network, nodes: &Nodes) -> Result<Self> {
        let count = nodes.count();
        let mut union = Union::new(WHAT, count)?;
        // Node 0's set holds what is fixed: also all that no group ties, which has moved already.
        let mut is_tied = filled(WHAT, false, count)?;
        for (l, layer) in network.layout().layers().iter().enumerate().filter(|(_, layer)| layer.groups > 1) {
            let (rows, units) = (nodes.rows(l), nodes.units(l));
            let rows = rows.chunks_exact(rows.len() / layer.groups);
            for (rows, units) in rows.zip(units.chunks_exact(units.len() / layer.groups)) {
                for &node in rows.iter().chain(units) {
                    let node = if node == ZEROS { 0 } else { node };
                    union.unite(rows[0], node);
                    is_tied[node as usize] = true;
                }
            }
        }
        for (node, is_tied) in is_tied.iter().enumerate() {
            if !is_tied {
                union.unite(0, node as u32);
            }
        }
        let set: Vec<u32> = collected(WHAT, (0..count as u32).map(|node| union.find(node)))?;
        let is_held: Vec<bool> = collected(WHAT, set.iter().map(|&set| set == 0))?;
        Self::new(&set, &is_held, &profiles(network, nodes, false)?)
    }

    /// Of the set of every node, which nodes are held, and what nodes are alike.
    fn new(set: &[u32], is_held: &[bool], profile: &[u64]) -> Result<Self> {
        let mut nodes: Vec<u32> = room(WHAT, set.len())?;
        nodes.extend((1..set.len() as u32).filter(|&node| !is_held[node as usize]));
        sort_by_key(&mut nodes, |&node| set[node as usize]);
        let mut starts = room(WHAT, nodes.len() + 1)?;
        let mut class_of: Vec<usize> = room(WHAT, nodes.len())?;
        let mut alike: HashMap<Vec<u64>, usize> = HashMap::new();
        let mut sizes = Vec::new();
        let mut start = 0;
        while let Some(&first) = nodes.get(start) {
            let of = set[first as usize];
            let end = start + nodes[start..].partition_point(|&node| set[node as usize] == of);
            let key = nodes[start..end].iter().map(|&node| profile[node as usize]).collect();
            let class = *alike.entry(key).or_insert(sizes.len());
            if class == sizes.len() {
                sizes.push(0);
            }
            sizes[class] += 1;
            class_of.push(class);
            starts.push(start);
            start = end;
        }
        starts.push(start);
        let mut classes: Vec<Vec<usize>> = sizes.into_iter().map(|size| room(WHAT, size)).collect::<Result<_>>()?;
        class_of.into_iter().enumerate().for_each(|(bundle, class)| classes[class].push(bundle));
        Ok(Self { nodes, starts, classes })
    }

    fn members(&self, bundle: usize) -> &[u32] {
        &self.nodes[self.starts[bundle]..self.starts[bundle + 1]]
    }

    /// Puts the bundles of `order`, as they have moved so far, in the places of those of `class`.
    fn swap(&self, class: &[usize], order: &[usize], moved: &mut [u32]) -> Result<()> {
        let before = copied(WHAT, moved)?;
        for (&to, &from) in class.iter().zip(order) {
            for (&to, &from) in self.members(to).iter().zip(self.members(from)) {
                moved[to as usize] = before[from as usize];
            }
        }
        Ok(())
    }
}

/// A number for each node that tells where it occurs: the same for nodes that are rows and units of the same layers as often, and of the
/// same groups where these are told apart.
fn profiles(network: &Network, nodes: &Nodes, tells_groups_apart: bool) -> Result<Vec<u64>> {
    let mut profiles: Vec<u64> = zeros(WHAT, nodes.count())?;
    for (l, layer) in network.layout().layers().iter().enumerate() {
        for (side, list) in [nodes.rows(l), nodes.units(l)].into_iter().enumerate() {
            let each = list.len() / layer.groups;
            for (i, &node) in list.iter().enumerate() {
                if let Some(profile) = profiles.get_mut(node as usize) {
                    let group = if tells_groups_apart { i / each } else { 0 };
                    for value in [l, side, group] {
                        // FNV-1a, of 64 bits at a time.
                        *profile = (profile.rotate_left(23) ^ (value as u64 + 1)).wrapping_mul(0x0100_0000_01b3);
                    }
                }
            }
        }
    }
    Ok(profiles)
}
