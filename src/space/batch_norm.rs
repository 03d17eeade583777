//! γ and β of batch normalisations with frozen statistics: coordinates in which frameworks have the parameters that are w = γ/σ̂ and
//! b = β − μ γ/σ̂ of a `scale` here, σ̂ = √(σ² + ε). The map is linear, so that curvature is Jᵀ H J; rescalings mix them.

use std::rc::Rc;

use super::ParameterSpace;
use crate::engine::{Chart, NONE, Shear, Sheared};
use crate::error::{Result, bail, ensure};
use crate::memory::{copied, room};
use crate::network::numbering::number_of;
use crate::network::{BatchStatistics, Layer, Network, ParametricLayer};

/// Coordinates: the parameters in their order, with γ in place of w and β in place of b.
pub struct BatchNormSpace {
    network: Network,
    /// Of each layer of statistics, where its parameters are.
    places: Vec<(ParametricLayer, BatchStatistics)>,
    chart: Rc<Chart>,
}

impl BatchNormSpace {
    /// γ and β of these layers; the others stay as they are.
    ///
    /// # Errors
    /// `InvalidOption` for a layer that is no scale with a bias or is named twice, and statistics of a wrong length or sign;
    /// `InvalidParameters` for statistics out of range; `TooLarge`.
    pub fn new(network: &Network, statistics: &[BatchStatistics]) -> Result<Self> {
        let most = statistics.iter().fold(0usize, |sum, found| sum.saturating_add(found.mean.len()));
        let mut rows = room("a chart's constants", most.saturating_mul(2))?;
        let mut places: Vec<(ParametricLayer, BatchStatistics)> = Vec::new();
        for found in statistics {
            let layer = found.layer;
            let number = number_of(layer);
            let place = network.layout().layers().get(layer);
            let scale = place.filter(|place| *network.layer(place.layer) == Layer::Scale { bias: true });
            let Some((place, bias)) = scale.and_then(|place| Some((place, place.bias.clone()?))) else {
                bail!(InvalidOption, "layer {number} is no scale with a bias, as a batch normalisation is one")
            };
            ensure!(
                places.iter().all(|(_, other)| other.layer != layer),
                InvalidOption,
                "layer {number} has statistics twice"
            );
            ensure!(
                found.mean.len() == place.outputs && found.deviation.len() == place.outputs,
                InvalidOption,
                "layer {number} has {} channels or features, but statistics of {} and {}",
                place.outputs,
                found.mean.len(),
                found.deviation.len()
            );
            ensure!(
                found.mean.iter().all(|mean| mean.is_finite())
                    && found.deviation.iter().all(|&d| d.is_finite() && d > 0.0),
                InvalidOption,
                "the statistics of layer {number} must be finite, with deviations above 0"
            );
            for (c, (mean, deviation)) in found.mean.iter().zip(&found.deviation).enumerate() {
                let [at, place] = [place.weight.start + c, bias.start + c].map(|place| place as u32);
                rows.push(Shear { place: at, own: 1.0 / deviation, other: 0.0, at: NONE });
                rows.push(Shear { place, own: 1.0, other: -mean / deviation, at });
            }
            let (mean, deviation) = (copied("means", &found.mean)?, copied("deviations", &found.deviation)?);
            places.push((place.clone(), BatchStatistics { layer, mean, deviation }));
        }
        let chart = Rc::new(Chart::Sheared(Sheared::new(network.parameter_count(), rows)?));
        Ok(Self { network: network.clone(), places, chart })
    }
}

impl ParameterSpace for BatchNormSpace {
    fn name(&self) -> &'static str {
        "batch_norm"
    }

    fn chart(&self) -> &Rc<Chart> {
        &self.chart
    }

    /// γ = σ̂ w, β = b + μ w.
    fn to_coordinates(&self, parameters: &[f64]) -> Result<Vec<f64>> {
        self.network.check_parameters(parameters)?;
        let mut coordinates = copied("coordinates", parameters)?;
        for (place, BatchStatistics { mean, deviation, .. }) in &self.places {
            let Some(bias) = &place.bias else { continue };
            for (c, (mean, deviation)) in mean.iter().zip(deviation).enumerate() {
                let w = parameters[place.weight.start + c];
                coordinates[place.weight.start + c] = deviation * w;
                coordinates[bias.start + c] += mean * w;
            }
        }
        Ok(coordinates)
    }
}
