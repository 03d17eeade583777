//! The layers a network is built of.

use serde::{Deserialize, Serialize};

fn yes() -> bool {
    true
}

/// One layer, as the JSON of a network spells it: `{"type": "dense", "units": 10, "bias": true}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Layer {
    /// z = W a + b, with W of shape (units, inputs), row-major.
    Dense {
        /// Number of outputs.
        units: usize,
        /// Whether there is a b.
        #[serde(default = "yes")]
        bias: bool,
    },
    /// max(z, 0), with derivative 0 at 0.
    Relu,
    /// z for z > 0, slope · z otherwise; the slope must be positive.
    LeakyRelu {
        /// The slope on the negative side.
        slope: f64,
    },
    /// z itself.
    Identity,
    /// tanh z. Not positively homogeneous: curvature and landscapes are computed, rescalings refused.
    Tanh,
}

impl Layer {
    /// φ(λ z) = λ φ(z) for every λ > 0?
    pub fn is_positively_homogeneous(&self) -> bool {
        !matches!(self, Self::Tanh)
    }

    /// The name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Dense { .. } => "dense",
            Self::Relu => "relu",
            Self::LeakyRelu { .. } => "leaky_relu",
            Self::Identity => "identity",
            Self::Tanh => "tanh",
        }
    }
}
