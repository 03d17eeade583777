//! Batch normalisation with frozen statistics: folded into the layer beside it, or a scale where none takes it.

use serde::{Deserialize, Serialize};

use super::Network;
use super::folding::without_batch_norm;
use crate::error::{Result, bail, ensure, ensure_finite};
use crate::memory::{collected, filled};

/// `{"type": "batch_norm", "mean": [..], "variance": [..], "scale": [..], "shift": [..], "epsilon": 1e-5}`: a trained network's
/// scale · (x − mean) / √(variance + epsilon) + shift, one number of each a channel of an image, or a feature of a flat row.
///
/// It is no [`Layer`]: a mean and a shift that stay where they are make it not positively homogeneous. [`fold_batch_norm`]
/// makes a network without it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchNorm {
    pub mean: Vec<f64>,
    pub variance: Vec<f64>,
    /// 1 where it is absent.
    pub scale: Option<Vec<f64>>,
    /// 0 where it is absent.
    pub shift: Option<Vec<f64>>,
    #[serde(default = "default_epsilon")]
    pub epsilon: f64,
    /// Is it to be a scale even where a neighbour would take it?
    #[serde(skip)]
    pub is_scale: bool,
}

/// The frozen statistics of a batch normalisation that is a `scale` here, whose w and b are γ/√(σ² + ε) and β − μ w.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchStatistics {
    /// Which of the layers with parameters, counted from 0 (in JSON from 1).
    #[serde(with = "super::numbering")]
    pub layer: usize,
    /// μ of every channel or feature.
    pub mean: Vec<f64>,
    /// √(σ² + ε), likewise.
    pub deviation: Vec<f64>,
}

/// What PyTorch takes.
fn default_epsilon() -> f64 {
    1e-5
}

/// x ↦ factor · x + offset, a pair a channel or feature: what a batch normalisation with frozen statistics is.
pub(super) struct Affine {
    pub factor: Vec<f64>,
    pub offset: Vec<f64>,
}

impl BatchNorm {
    /// The map over `channels`; `what` names the layer in errors.
    pub(super) fn affine(self, what: &str, channels: usize) -> Result<Affine> {
        let scale = self.scale.map_or_else(|| filled("scales", 1.0, channels), Ok)?;
        let shift = self.shift.map_or_else(|| filled("shifts", 0.0, channels), Ok)?;
        for (name, values) in [("mean", &self.mean), ("variance", &self.variance), ("scale", &scale), ("shift", &shift)]
        {
            ensure!(
                values.len() == channels,
                InvalidNetwork,
                "{what} has {} values in its {name}, but {channels} channels or features come in",
                values.len()
            );
            ensure_finite(&format!("the {name} of {what}, "), values)?;
        }
        ensure!(
            self.epsilon.is_finite() && self.epsilon >= 0.0,
            InvalidNetwork,
            "{what} has epsilon {}, but it must be 0 or more",
            self.epsilon
        );
        if let Some(i) = self.variance.iter().position(|&v| v < 0.0 || v + self.epsilon <= 0.0) {
            bail!(
                InvalidNetwork,
                "{what} has variance[{i}] {} with epsilon {}, but their sum must be positive and neither negative",
                self.variance[i],
                self.epsilon
            );
        }
        let factors = scale.iter().zip(&self.variance).map(|(s, v)| s / (v + self.epsilon).sqrt());
        let factor: Vec<f64> = collected("factors", factors)?;
        let offsets = shift.iter().zip(&self.mean).zip(&factor).map(|((shift, mean), f)| shift - mean * f);
        let offset = collected("offsets", offsets)?;
        Ok(Affine { factor, offset })
    }
}

/// Folds every batch normalisation of a network into a neighbouring layer with parameters, or makes a scale of it: the same
/// function without it.
///
/// `parameters` are those of the layers that have some in the network without its batch normalisations, in the usual order;
/// theirs are in the JSON. What comes back has no batch normalisation, and a bias in every layer into which one was folded, whether
/// it had one or not.
///
/// One that comes straight behind a layer with parameters, before the activation, scales its rows, if nothing else reads them. One
/// that stands straight before one, and is read by that alone, scales its columns, if that convolution has no padding or the shift
/// comes to 0: around the image there are zeros, to which the normalisation would have added its shift. Identities and mean pools
/// between change nothing, nor does a flatten before a dense layer. Any other, as in a network that normalises before it activates,
/// becomes a `scale`. A network without batch normalisation comes back as it is.
///
/// # Errors
/// `Parse`; what [`Network::graph`] says; `InvalidNetwork` for statistics of a wrong length or sign; `InvalidParameters` for a
/// wrong number of them; `NotFinite`.
pub fn fold_batch_norm(network_json: &str, parameters: &[f64]) -> Result<(Network, Vec<f64>)> {
    let found = without_batch_norm(crate::json::read(network_json)?, parameters)?;
    Ok((found.network, found.parameters))
}
