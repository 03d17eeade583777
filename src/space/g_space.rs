//! The G-space (Jestädt 2025, chapter 2, after Meng et al. 2019) of a network of any widths, with convolutions and pools.
//!
//! The coordinate of a free weight e from unit c to unit r is the value of its basis path, v_e = in(c) · w_e · out(r): in(c) is the product
//! of weights up the tree from an input to c, out(r) that of the fixed weights from r to an output (see [`Skeleton`]). Node-wise
//! rescaling leaves every v_e as it is. There are m − H of them; fixed weights never move.
//!
//! Backwards, in(c) needs no walk: the first free weight a that the tree meets on the way back from c has v_a = in(c) out(c') / (the fixed
//! weights in between), so w_e = κ_e v_e / v_a with a constant κ_e, a [`Quotient`]. On straight networks this is the thesis'
//! Table 2.3, with a = its w_j.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::fixing::ScalingWarning;
use super::skeleton::Skeleton;
use super::{ParameterSpace, chart_of_free};
use crate::engine::{Chart, NONE, Quotient};
use crate::error::{Result, ensure_finite};
use crate::memory::{copied, filled, room};
use crate::network::Network;

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
        skeleton.check(network)?;
        skeleton.check_nonzero(parameters)?;
        let layers = network.layout().layers();
        let free = skeleton.try_free(network)?;
        let (numerator, _) = chart_of_free(&free)?;
        let mut denominator = filled("a chart's constants", NONE, parameters.len())?;
        let mut scale = copied("a chart's constants", parameters)?;
        let out = skeleton.out(layers, parameters);
        // For each unit of the layer before: in(c) = factor · v[anchor], or 1 for an input.
        let mut before: Vec<(f64, u32)> = Vec::new();
        for (l, layer) in layers.iter().enumerate() {
            for (r, row) in layer.weight.clone().step_by(layer.inputs).enumerate() {
                for e in row..row + layer.inputs {
                    let &(factor, anchor) = before.get((e - row) / layer.columns_per_unit).unwrap_or(&(1.0, NONE));
                    if free[e] {
                        scale[e] = 1.0 / (factor * out[l][r]);
                        denominator[e] = anchor;
                    }
                }
                if let Some(bias) = &layer.bias {
                    scale[bias.start + r] = match biases {
                        Biases::Appended => 1.0,
                        Biases::Paths => 1.0 / out[l][r],
                    };
                }
            }
            let Some(tree) = skeleton.tree().get(l) else { break };
            before = tree
                .iter()
                .enumerate()
                .map(|(r, edge)| {
                    if free[edge.index] {
                        return (1.0 / out[l][r], numerator[edge.index]);
                    }
                    let (factor, anchor) = before[edge.unit];
                    (factor * parameters[edge.index], anchor)
                })
                .collect();
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
        self.skeleton.check_nonzero(parameters)?;
        let layers = self.network.layout().layers();
        let free = self.skeleton.try_free(&self.network)?;
        let out = self.skeleton.out(layers, parameters);
        let mut coordinates = room("coordinates", self.chart.dimension())?;
        let mut before: Vec<f64> = Vec::new();
        for (l, layer) in layers.iter().enumerate() {
            for (r, row) in layer.weight.clone().step_by(layer.inputs).enumerate() {
                for e in (row..row + layer.inputs).filter(|&e| free[e]) {
                    let incoming = before.get((e - row) / layer.columns_per_unit).unwrap_or(&1.0);
                    coordinates.push(incoming * parameters[e] * out[l][r]);
                }
            }
            if let Some(bias) = &layer.bias {
                coordinates.extend(parameters[bias.clone()].iter().zip(&out[l]).map(|(b, out)| match self.biases {
                    Biases::Appended => *b,
                    Biases::Paths => b * out,
                }));
            }
            let Some(tree) = self.skeleton.tree().get(l) else { break };
            before = tree.iter().map(|edge| parameters[edge.index] * before.get(edge.unit).unwrap_or(&1.0)).collect();
        }
        ensure_finite("path values", &coordinates)?;
        Ok(coordinates)
    }

    fn scaling_warning(&self, coordinates: &[f64]) -> Option<ScalingWarning> {
        let Chart::Quotient(quotient) = &*self.chart else { return None };
        ScalingWarning::of("the G-space multiplies weights", quotient.factors(coordinates).map(|(_, factor)| factor))
    }
}
