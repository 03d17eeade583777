//! The G-space (Jestädt 2025, chapter 2, after Meng et al. 2019) of a network of any widths, with convolutions and pools.
//!
//! The coordinate of a free weight e from unit c to unit r (in a graph: node) is the value of its basis path, v_e = in(c) · w_e · out(r): in(c) is the product
//! of weights up the tree from an input to c, out(r) that of the fixed weights from r to an output (see [`Skeleton`]). Node-wise
//! rescaling leaves every v_e as it is. There are m − H of them; fixed weights never move.
//!
//! Backwards, in(c) needs no walk: the first free weight a that the tree meets on the way back from c has v_a = in(c) out(c') / (the fixed
//! weights in between), so w_e = κ_e v_e / v_a with a constant κ_e, a [`Quotient`]. On straight networks this is the thesis'
//! Table 2.3, with a = its w_j, by which every later path's weight is divided: see [`TreeValues`](super::TreeValues) for where it begins.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::fixing::ScalingWarning;
use super::skeleton::Skeleton;
use super::{ParameterSpace, chart_of_free};
use crate::engine::{Chart, NONE, Quotient};
use crate::error::{Result, ensure_finite};
use crate::memory::{copied, filled, room};
use crate::network::Network;
use crate::symmetry::{Nodes, factor};

/// What biases are in the G-space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Biases {
    /// They stay as they are, as in the thesis: then they are not scale-invariant.
    #[default]
    Appended,
    /// v_b = b · out(r): a path that begins at the bias. Invariant.
    Paths,
}

/// The G-space of a network with these fixed weights.
pub struct GSpace {
    network: Network,
    skeleton: Skeleton,
    biases: Biases,
    chart: Rc<Chart>,
}

impl GSpace {
    /// The space in which the skeleton's fixed weights have their values in `parameters`.
    ///
    /// # Errors
    /// What [`Network::check_parameters`] says; `InvalidParameters` where a weight of the skeleton is 0, or it is of
    /// another network.
    pub fn new(network: &Network, skeleton: &Skeleton, parameters: &[f64], biases: Biases) -> Result<Self> {
        network.check_parameters(parameters)?;
        let nodes = skeleton.check(network)?;
        skeleton.check_nonzero(network, &nodes, parameters)?;
        let free = skeleton.try_free(network)?;
        let (numerator, _) = chart_of_free(&free)?;
        const WHAT: &str = "a chart's constants";
        let mut denominator = filled(WHAT, NONE, parameters.len())?;
        let mut scale = copied(WHAT, parameters)?;
        let out = skeleton.out(parameters)?;
        // For each node: in(c) = factor · v[anchor], or 1 of what is fixed.
        let mut before: Vec<(f64, u32)> = filled(WHAT, (1.0, NONE), nodes.count())?;
        let at = |before: &[(f64, u32)], node: u32| before.get(node as usize).copied().unwrap_or((1.0, NONE));
        for (node, edge) in skeleton.up()? {
            before[node as usize] = if free[edge.index] {
                (1.0 / out[node as usize], numerator[edge.index])
            } else {
                let (factor, anchor) = at(&before, edge.node);
                (factor * parameters[edge.index], anchor)
            };
        }
        for (l, layer) in network.layout().layers().iter().enumerate() {
            let (rows, units) = (nodes.rows(l), nodes.units(l));
            for (r, row) in layer.weight.clone().step_by(layer.inputs).enumerate() {
                let out = out[rows[r] as usize];
                for e in (row..row + layer.inputs).filter(|&e| free[e]) {
                    let (factor, anchor) = at(&before, units[layer.unit(r, e - row)]);
                    scale[e] = 1.0 / (factor * out);
                    denominator[e] = anchor;
                }
                if let Some(bias) = &layer.bias {
                    scale[bias.start + r] = match biases {
                        Biases::Appended => 1.0,
                        Biases::Paths => 1.0 / out,
                    };
                }
            }
        }
        let quotient = Quotient::new(scale, numerator, denominator)?;
        let (network, skeleton) = (network.clone(), skeleton.clone());
        Ok(Self { network, skeleton, biases, chart: Rc::new(Chart::Quotient(quotient)) })
    }

    /// The fixed weights and the tree.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }
}

impl ParameterSpace for GSpace {
    fn name(&self) -> &'static str {
        "g_space"
    }

    fn chart(&self) -> &Rc<Chart> {
        &self.chart
    }

    /// The path values of any parameters of this network, whose own fixed weights count: rescaled parameters have the same. Parameters
    /// whose fixed weights have other signs than the space's are other functions in it.
    ///
    /// # Errors
    /// What [`Network::check_parameters`] says; `InvalidParameters` where a weight of the skeleton is 0; `NotFinite`.
    fn to_coordinates(&self, parameters: &[f64]) -> Result<Vec<f64>> {
        self.network.check_parameters(parameters)?;
        let nodes = Nodes::of(&self.network)?;
        self.skeleton.check_nonzero(&self.network, &nodes, parameters)?;
        let free = self.skeleton.try_free(&self.network)?;
        let out = self.skeleton.out(parameters)?;
        let mut before = filled("coordinates", 1.0, nodes.count())?;
        for (node, edge) in self.skeleton.up()? {
            before[node as usize] = parameters[edge.index] * factor(&before, edge.node);
        }
        let mut coordinates = room("coordinates", self.chart.dimension())?;
        for (l, layer) in self.network.layout().layers().iter().enumerate() {
            let (rows, units) = (nodes.rows(l), nodes.units(l));
            for (r, row) in layer.weight.clone().step_by(layer.inputs).enumerate() {
                for e in (row..row + layer.inputs).filter(|&e| free[e]) {
                    let incoming = factor(&before, units[layer.unit(r, e - row)]);
                    coordinates.push(incoming * parameters[e] * out[rows[r] as usize]);
                }
            }
            if let Some(bias) = &layer.bias {
                let biases = parameters[bias.clone()].iter().zip(rows);
                coordinates.extend(biases.map(|(b, &row)| match self.biases {
                    Biases::Appended => *b,
                    Biases::Paths => b * out[row as usize],
                }));
            }
        }
        ensure_finite("path values", &coordinates)?;
        Ok(coordinates)
    }

    fn scaling_warning(&self, coordinates: &[f64]) -> Option<ScalingWarning> {
        let Chart::Quotient(quotient) = &*self.chart else { return None };
        if coordinates.len() != self.dimension() {
            return None;
        }
        ScalingWarning::of("the G-space multiplies weights", quotient.factors(coordinates).map(|(_, factor)| factor))
    }
}
