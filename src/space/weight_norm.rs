//! Weight normalisation w = s v/‖v‖ (Salimans and Kingma 2016; Dinh et al. 2017, section 5.1): other coordinates for the same
//! functions, in which v may be scaled at will, so that the Hessian's eigenvalues along v are whatever one wants.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::ParameterSpace;
use crate::engine::{Chart, Normalized};
use crate::error::{Result, bail};
use crate::network::Network;
use crate::numbers::norm;

/// What is normalised together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// The incoming weights of a unit or channel: a row of W_l.
    #[default]
    Unit,
    /// All of W_l.
    Layer,
}

/// Coordinates: all s, in the order of the groups, then v and the biases in the order of the parameters.
pub struct WeightNorm {
    network: Network,
    groups: Vec<std::ops::Range<usize>>,
    chart: Rc<Chart>,
}

impl WeightNorm {
    /// Weight normalisation of this network.
    pub fn new(network: &Network, grouping: Grouping) -> Self {
        let layers = network.layout().layers().iter();
        let groups: Vec<_> = match grouping {
            Grouping::Layer => layers.map(|layer| layer.weight.clone()).collect(),
            Grouping::Unit => layers
                .flat_map(|layer| layer.weight.clone().step_by(layer.inputs).map(|row| row..row + layer.inputs))
                .collect(),
        };
        let chart = Chart::Normalized(Normalized::new(network.parameter_count(), groups.clone()));
        Self { network: network.clone(), groups, chart: Rc::new(chart) }
    }
}

impl ParameterSpace for WeightNorm {
    fn name(&self) -> &'static str {
        "weight_norm"
    }

    fn chart(&self) -> &Rc<Chart> {
        &self.chart
    }

    /// s = ‖w‖, v = w.
    ///
    /// # Errors
    /// What [`Network::check_parameters`] says; `InvalidParameters` where all weights of a group are 0.
    fn to_coordinates(&self, parameters: &[f64]) -> Result<Vec<f64>> {
        self.network.check_parameters(parameters)?;
        let mut coordinates = crate::memory::room("coordinates", self.chart.dimension())?;
        for group in &self.groups {
            let norm = norm(parameters[group.clone()].iter().copied());
            if norm == 0.0 {
                bail!(InvalidParameters, "parameters {group:?} are all 0: they have no direction to be normalised");
            }
            coordinates.push(norm);
        }
        coordinates.extend(parameters);
        Ok(coordinates)
    }
}
