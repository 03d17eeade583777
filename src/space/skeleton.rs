//! Which weights stay fixed, and which paths lead to a weight (Jestädt 2025, sections 2.1 and 3.0.3, at any widths).
//!
//! One outgoing weight of every hidden unit (of a convolution: channel; in a graph: free node) is fixed. These H weights form a forest
//! towards the outputs; one incoming weight a unit, the fixed one where its row has one, forms a tree from the inputs. A path from an input
//! up the tree, over one free weight and down the forest is a basis path.

use serde::{Deserialize, Serialize};

use super::forest::{Choice, diagonal, hungarian, jobs};
use super::tree::tree;
use crate::control::Control;
use crate::error::{Result, bail, ensure};
use crate::event_loop::now;
use crate::memory::{collected, filled, room};
use crate::network::Network;
use crate::sorting::sort_by_key;
use crate::symmetry::{Nodes, ensure_homogeneous};

/// How the fixed weight of each hidden unit is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FixedChoice {
    /// Unit j's weight to unit j mod n of the next layer of n units; of a window, its first entry. In a graph, on the shortest way to the
    /// outputs, to the row j mod n of the n that are one step nearer, of the first layer with such rows.
    #[default]
    Diagonal,
    /// The assignment of units to units of the next layer that needs the least rescaling to magnitude 1 in all, Σ |ln |w||,
    /// last layer first; in wider layers a unit of the next one is taken as often as need be.
    Hungarian,
    /// The same with the thesis' cost (section 6.3.1), the distance to ±1, Σ ||w| − 1|: by it a weight of 0, which nothing rescales to
    /// ±1, costs less than one of 2.5. Distances from 1,000 on count as 1,000.
    HungarianDistance,
}

/// A fixed weight, or a step of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The unit at its other end: of the next layer for a fixed weight, of the layer before for a step of the tree.
    pub unit: usize,
    /// Its place in the parameter vector.
    pub index: usize,
    /// The node of that unit.
    pub(super) node: u32,
}

/// The fixed weights and the tree of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skeleton {
    fixed: Vec<Vec<Edge>>,
    tree: Vec<Vec<Edge>>,
    /// The free nodes, nearest to the outputs first: what a fixed weight leads to comes before it.
    from_outputs: Vec<u32>,
    /// Nearest to the inputs first.
    from_inputs: Vec<u32>,
}

const WHAT: &str = "the skeleton of a network";

impl Skeleton {
    /// Chooses the fixed weights. `parameters` matter for the Hungarian choices alone.
    ///
    /// # Errors
    /// `NotHomogeneous` for a network whose rescalings change its function; what [`Network::check_parameters`] says;
    /// `TooLarge` where the Hungarian choice would take too long.
    pub fn new(network: &Network, parameters: &[f64], choice: FixedChoice) -> Result<Self> {
        now(Self::new_under(network, parameters, choice, &Control::default()))
    }

    /// [`Skeleton::new`] where an event loop must run: the Hungarian choice takes a while in wide layers.
    ///
    /// # Errors
    /// As [`Skeleton::new`]; `Aborted`.
    pub async fn new_under(
        network: &Network,
        parameters: &[f64],
        choice: FixedChoice,
        control: &Control<'_>,
    ) -> Result<Self> {
        ensure_homogeneous(network)?;
        network.check_parameters(parameters)?;
        let nodes = Nodes::of(network)?;
        let jobs = jobs(network, &nodes)?;
        let fixed = match choice {
            FixedChoice::Diagonal => diagonal(network, &nodes, &jobs)?,
            FixedChoice::Hungarian => {
                hungarian(network, &nodes, &jobs, parameters, |weight| weight.ln().abs(), control).await?
            }
            FixedChoice::HungarianDistance => {
                hungarian(network, &nodes, &jobs, parameters, |weight| (weight - 1.0).abs(), control).await?
            }
        };
        let tree = tree(network, &nodes, &fixed)?;
        Ok(Self {
            from_outputs: collected(WHAT, fixed.iter().map(|choice| choice.node))?,
            from_inputs: collected(WHAT, tree.iter().map(|&(node, _)| node))?,
            fixed: listed(&nodes, fixed.iter().map(|&Choice { node, edge, .. }| (node, edge)))?,
            tree: listed(&nodes, tree.into_iter())?,
        })
    }

    /// For every unit of every hidden layer its fixed outgoing weight; in a graph, for every free node, listed as node-wise factors are.
    pub fn fixed(&self) -> &[Vec<Edge>] {
        &self.fixed
    }

    /// For every unit of every hidden layer, or free node, the incoming weight on its path.
    pub fn tree(&self) -> &[Vec<Edge>] {
        &self.tree
    }

    /// The fixed weights' places in the parameter vector, ascending.
    pub fn fixed_indices(&self) -> Vec<usize> {
        let mut indices: Vec<usize> = self.fixed.iter().flatten().map(|edge| edge.index).collect();
        sort_by_key(&mut indices, |&index| index);
        indices
    }

    /// For every parameter: may it move? Of the network that it is a skeleton of.
    pub fn free(&self, network: &Network) -> Vec<bool> {
        let mut free = vec![true; network.parameter_count()];
        self.mark(&mut free);
        free
    }

    /// [`Skeleton::free`], or `TooLarge`.
    pub(super) fn try_free(&self, network: &Network) -> Result<Vec<bool>> {
        let mut free = filled("which parameters are free", true, network.parameter_count())?;
        self.mark(&mut free);
        Ok(free)
    }

    fn mark(&self, free: &mut [bool]) {
        for edge in self.fixed.iter().flatten() {
            if let Some(may_move) = free.get_mut(edge.index) {
                *may_move = false;
            }
        }
    }

    /// H, the number of fixed weights.
    pub fn len(&self) -> usize {
        self.fixed.iter().map(Vec::len).sum()
    }

    /// Is no weight fixed? So in a network of one layer.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The product of fixed weights from every node to node 0.
    pub(super) fn out(&self, parameters: &[f64]) -> Result<Vec<f64>> {
        let edges = by_node(&self.fixed)?;
        let mut out = filled(WHAT, 1.0, edges.len() + 1)?;
        for &node in &self.from_outputs {
            let edge = edges[node as usize - 1];
            out[node as usize] = parameters[edge.index] * out[edge.node as usize];
        }
        Ok(out)
    }

    /// The nodes with their weights of the tree, nearest to the inputs first.
    pub(super) fn up(&self) -> Result<impl Iterator<Item = (u32, Edge)> + '_> {
        let edges = by_node(&self.tree)?;
        Ok(self.from_inputs.iter().map(move |&node| (node, edges[node as usize - 1])))
    }

    /// Fails for a skeleton of another network; gives its nodes.
    pub(super) fn check(&self, network: &Network) -> Result<Nodes> {
        let (nodes, layers) = (Nodes::of(network)?, network.layout().layers());
        let ends = |edge: &Edge| {
            let l = layers.partition_point(|layer| layer.weight.end <= edge.index);
            let layer = layers.get(l).filter(|layer| layer.weight.contains(&edge.index))?;
            let place = edge.index - layer.weight.start;
            let (row, column) = (place / layer.inputs, place % layer.inputs);
            Some((nodes.rows(l)[row], nodes.units(l)[layer.unit(row, column)]))
        };
        let is_of = |lists: &[Vec<Edge>], leads: &dyn Fn((u32, u32), u32, u32) -> bool| {
            lists.len() == nodes.written().len()
                && lists.iter().zip(nodes.written()).all(|(list, written)| {
                    let mut edges = list.iter().zip(written.first..);
                    list.len() == written.rows.len()
                        && edges.all(|(edge, node)| ends(edge).is_some_and(|ends| leads(ends, node, edge.node)))
                })
        };
        let fits = is_of(&self.fixed, &|(row, unit), node, other| (row, unit) == (other, node))
            && is_of(&self.tree, &|(row, unit), node, other| (row, unit) == (node, other));
        ensure!(fits, InvalidParameters, "the skeleton is of another network than {}", network.summary());
        Ok(nodes)
    }

    /// Fails where a weight of the tree or the forest is 0: paths over it have the value 0 whatever their other weights are.
    pub(super) fn check_nonzero(&self, network: &Network, nodes: &Nodes, parameters: &[f64]) -> Result<()> {
        for (what, edges) in [("fixed", &self.fixed), ("tree", &self.tree)] {
            if let Some((edge, node)) = self.zero(edges, parameters) {
                bail!(
                    InvalidParameters,
                    "the {what} weight of {}, parameter {}, is 0: no path over it has a value",
                    nodes.title(network, node),
                    edge.index
                );
            }
        }
        Ok(())
    }

    /// The first fixed weight that is 0, with its node.
    pub(super) fn fixed_zero(&self, parameters: &[f64]) -> Option<(Edge, u32)> {
        self.zero(&self.fixed, parameters)
    }

    fn zero(&self, edges: &[Vec<Edge>], parameters: &[f64]) -> Option<(Edge, u32)> {
        edges.iter().flatten().copied().zip(1..).find(|(edge, _)| parameters[edge.index] == 0.0)
    }
}

/// Edges of all free nodes, in lists.
fn listed(nodes: &Nodes, edges: impl Iterator<Item = (u32, Edge)>) -> Result<Vec<Vec<Edge>>> {
    let mut by_node = filled(WHAT, Edge { unit: 0, index: 0, node: 0 }, nodes.count())?;
    edges.for_each(|(node, edge)| by_node[node as usize] = edge);
    nodes.in_lists(&by_node)
}

/// The reverse: from node 1 on.
fn by_node(lists: &[Vec<Edge>]) -> Result<Vec<Edge>> {
    let mut edges = room(WHAT, lists.iter().map(Vec::len).sum())?;
    lists.iter().for_each(|list| edges.extend_from_slice(list));
    Ok(edges)
}
