//! Which weights stay fixed, and which paths lead to a weight (Jestädt 2025, sections 2.1 and 3.0.3, at any widths).
//!
//! One outgoing weight of every hidden unit (of a convolution: channel) is fixed. These H weights form a forest towards the
//! outputs; one incoming weight a unit, the fixed one where its row has one, forms a tree from the inputs. A path from an input
//! up the tree, over one free weight and down the forest is a basis path.

use serde::{Deserialize, Serialize};

use super::assignment::assign;
use crate::control::Control;
use crate::error::{Result, bail, ensure};
use crate::event_loop::now;
use crate::memory::filled;
use crate::network::{Network, ParametricLayer};
use crate::symmetry::ensure_homogeneous;

/// How the fixed weight of each hidden unit is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FixedChoice {
    /// Unit j's weight to unit j mod n of the next layer of n units; of a window, its first entry.
    #[default]
    Diagonal,
    /// The assignment of units to units of the next layer that needs the least rescaling to magnitude 1 in all, Σ |ln |w||,
    /// last layer first; in wider layers a unit of the next one is taken as often as need be. Jestädt (section 6.3.1) adds up the
    /// distances to ±1, by which a weight of 0 costs less than one of 2.5.
    Hungarian,
}

/// A fixed weight, or a step of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The unit at its other end: of the next layer for a fixed weight, of the layer before for a step of the tree.
    pub unit: usize,
    /// Its place in the parameter vector.
    pub index: usize,
}

/// The fixed weights and the tree of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skeleton {
    fixed: Vec<Vec<Edge>>,
    tree: Vec<Vec<Edge>>,
}

/// Place of the weight from unit `column` of the layer before (entry `tap` of its window) to unit `row`.
fn index(layer: &ParametricLayer, row: usize, column: usize, tap: usize) -> usize {
    layer.weight.start + row * layer.inputs + column * layer.columns_per_unit + tap
}

impl Skeleton {
    /// Chooses the fixed weights. `parameters` matter for the Hungarian choice alone.
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
        let layers = network.layout().layers();
        let fixed = match choice {
            FixedChoice::Diagonal => layers.windows(2).map(|pair| diagonal(&pair[0], &pair[1])).collect(),
            FixedChoice::Hungarian => hungarian(layers, parameters, control).await?,
        };
        Ok(Self { tree: tree(layers, &fixed), fixed })
    }

    /// For every unit of every hidden layer its fixed outgoing weight.
    pub fn fixed(&self) -> &[Vec<Edge>] {
        &self.fixed
    }

    /// For every unit of every hidden layer the incoming weight on its path.
    pub fn tree(&self) -> &[Vec<Edge>] {
        &self.tree
    }

    /// The fixed weights' places in the parameter vector, ascending.
    pub fn fixed_indices(&self) -> Vec<usize> {
        let mut indices: Vec<usize> = self.fixed.iter().flatten().map(|edge| edge.index).collect();
        indices.sort_unstable();
        indices
    }

    /// For every parameter: may it move?
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
        self.fixed.iter().flatten().for_each(|edge| free[edge.index] = false);
    }

    /// H, the number of fixed weights.
    pub fn len(&self) -> usize {
        self.fixed.iter().map(Vec::len).sum()
    }

    /// Is no weight fixed? So in a network of one layer.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The product of fixed weights from every unit of every parametric layer to the output; 1 in the last layer.
    pub(super) fn out(&self, layers: &[ParametricLayer], parameters: &[f64]) -> Vec<Vec<f64>> {
        let mut out: Vec<Vec<f64>> = layers.iter().map(|layer| vec![1.0; layer.outputs]).collect();
        for l in (0..self.fixed.len()).rev() {
            out[l] = self.fixed[l].iter().map(|edge| parameters[edge.index] * out[l + 1][edge.unit]).collect();
        }
        out
    }

    /// Fails for a skeleton of another network.
    pub(super) fn check(&self, network: &Network) -> Result<()> {
        let layers = network.layout().layers();
        let is_weight = |l: usize, edge: &Edge| layers[l].weight.contains(&edge.index);
        let fits = self.fixed.len() + 1 == layers.len()
            && self.fixed.iter().zip(&self.tree).enumerate().all(|(l, (fixed, tree))| {
                fixed.len() == layers[l].outputs
                    && fixed.iter().all(|edge| edge.unit < layers[l + 1].outputs && is_weight(l + 1, edge))
                    && tree.iter().all(|edge| edge.unit < layers[l].inputs && is_weight(l, edge))
            });
        ensure!(fits, InvalidParameters, "the skeleton is of another network than {}", network.summary());
        Ok(())
    }

    /// Fails where a weight of the tree or the forest is 0: paths over it have the value 0 whatever their other weights are.
    pub(super) fn check_nonzero(&self, parameters: &[f64]) -> Result<()> {
        for (what, edges) in [("fixed", &self.fixed), ("tree", &self.tree)] {
            for (l, edges) in edges.iter().enumerate() {
                if let Some((j, edge)) = edges.iter().enumerate().find(|(_, edge)| parameters[edge.index] == 0.0) {
                    bail!(
                        InvalidParameters,
                        "the {what} weight of unit {j} of hidden layer {l}, parameter {}, is 0: no path over it has a value",
                        edge.index
                    );
                }
            }
        }
        Ok(())
    }
}

fn diagonal(layer: &ParametricLayer, next: &ParametricLayer) -> Vec<Edge> {
    (0..layer.outputs)
        .map(|j| {
            let unit = j % next.outputs;
            Edge { unit, index: index(next, unit, j, 0) }
        })
        .collect()
}

/// Last layer first, since a unit's rescaling changes the incoming weights among which the layer before chooses.
async fn hungarian(layers: &[ParametricLayer], parameters: &[f64], control: &Control<'_>) -> Result<Vec<Vec<Edge>>> {
    let hidden = layers.len() - 1;
    let mut fixed = vec![Vec::new(); hidden];
    let mut scale = vec![1.0; layers[hidden].outputs];
    for l in (0..hidden).rev() {
        let (units, next) = (layers[l].outputs, &layers[l + 1]);
        // Of a window the entry that needs the least rescaling.
        let best = |j: usize, row: usize| {
            (0..next.columns_per_unit)
                .map(|tap| index(next, row, j, tap))
                .map(|index| ((parameters[index] * scale[row]).abs().ln().abs(), index))
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .unwrap_or((f64::INFINITY, index(next, row, j, 0)))
        };
        let rows = assign(units, next.outputs, |j, row| best(j, row).0, control).await?;
        fixed[l] = rows.iter().enumerate().map(|(j, &row)| Edge { unit: row, index: best(j, row).1 }).collect();
        scale = fixed[l].iter().map(|edge: &Edge| (parameters[edge.index] * scale[edge.unit]).abs()).collect();
    }
    Ok(fixed)
}

fn tree(layers: &[ParametricLayer], fixed: &[Vec<Edge>]) -> Vec<Vec<Edge>> {
    let hidden = layers.len() - 1;
    (0..hidden)
        .map(|l| {
            let layer = &layers[l];
            let before = layer.inputs / layer.columns_per_unit;
            let mut edges: Vec<Edge> =
                (0..layer.outputs).map(|r| Edge { unit: r % before, index: index(layer, r, r % before, 0) }).collect();
            // Where a fixed weight comes in the path follows it: the first one of the row.
            let incoming = l.checked_sub(1).map_or(&[][..], |before| &fixed[before]);
            for (j, edge) in incoming.iter().enumerate().rev() {
                edges[edge.unit] = Edge { unit: j, index: edge.index };
            }
            edges
        })
        .collect()
}
