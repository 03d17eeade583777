//! Weight fixing (Jestädt 2025, chapter 3): the ordinary parameters without one outgoing weight of every hidden unit, which stay at
//! their values bit for bit, whatever the optimiser, momentum and weight decay included: they are no coordinates.

use std::rc::Rc;

use super::skeleton::Skeleton;
use super::{ParameterSpace, chart_of_free};
use crate::engine::{Chart, NONE, Quotient};
use crate::error::{Result, bail};
use crate::memory::{collected, filled};
use crate::network::Network;

/// The parameters of a network that are not fixed.
pub struct WeightFixing {
    network: Network,
    /// The fixed weights' places and values.
    fixed: Vec<(usize, f64)>,
    /// The parameter of every coordinate.
    free: Vec<usize>,
    chart: Rc<Chart>,
}

impl WeightFixing {
    /// The space in which the skeleton's fixed weights have their values in `parameters`.
    ///
    /// # Errors
    /// What [`Network::check_parameters`] says; `InvalidParameters` for a skeleton of another network.
    pub fn new(network: &Network, skeleton: &Skeleton, parameters: &[f64]) -> Result<Self> {
        network.check_parameters(parameters)?;
        skeleton.check(network)?;
        let (numerator, free) = chart_of_free(&skeleton.try_free(network)?)?;
        let fixed: Vec<(usize, f64)> =
            skeleton.fixed_indices().into_iter().map(|index| (index, parameters[index])).collect();
        let mut scale = filled("a chart's constants", 1.0, parameters.len())?;
        for &(index, value) in &fixed {
            scale[index] = value;
        }
        let denominator = filled("a chart's constants", NONE, parameters.len())?;
        let chart = Rc::new(Chart::Quotient(Quotient::new(scale, numerator, denominator)?));
        Ok(Self { network: network.clone(), fixed, free, chart })
    }
}

impl ParameterSpace for WeightFixing {
    fn name(&self) -> &'static str {
        "weight_fixing"
    }

    fn chart(&self) -> &Rc<Chart> {
        &self.chart
    }

    /// # Errors
    /// What [`Network::check_parameters`] says; `InvalidParameters` where a fixed weight has another value.
    fn to_coordinates(&self, parameters: &[f64]) -> Result<Vec<f64>> {
        self.network.check_parameters(parameters)?;
        if let Some(&(index, value)) = self.fixed.iter().find(|&&(index, value)| parameters[index] != value) {
            bail!(
                InvalidParameters,
                "parameter {index} is {}, but is fixed at {value} in this space: reparametrise or set it first",
                parameters[index]
            );
        }
        collected("coordinates", self.free.iter().map(|&index| parameters[index]))
    }
}
