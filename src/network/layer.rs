//! The layers a network is built of.

use serde::{Deserialize, Serialize};

use super::images::{Conv2d, Pool2d, count};

fn yes() -> bool {
    true
}

/// One layer, as the JSON of a network spells it: `{"type": "dense", "units": 10, "bias": true}`.
///
/// Sizes of windows are `[height, width]`; a single number means both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Layer {
    /// z = W a + b, with W of shape (units, inputs), row-major.
    Dense {
        /// Number of outputs.
        #[serde(deserialize_with = "count")]
        units: usize,
        /// Whether there is a b.
        #[serde(default = "yes")]
        bias: bool,
    },
    /// Cross-correlation over (C, H, W) images.
    Conv2d(Conv2d),
    /// z_c = w_c a_c + b_c: a factor and a bias for every channel or feature, as a batch normalisation with frozen statistics has
    /// them.
    Scale {
        /// Whether there is a b.
        #[serde(default = "yes")]
        bias: bool,
    },
    /// The largest of each window; the first of equals in row-major order.
    MaxPool2d(Pool2d),
    /// The mean of each window.
    AvgPool2d(Pool2d),
    /// The mean of each channel: images of 1 × 1.
    #[serde(deserialize_with = "crate::json::nothing")]
    GlobalAvgPool2d,
    /// Sum of what several layers give, of equal shapes.
    #[serde(deserialize_with = "crate::json::nothing")]
    Add,
    /// What several layers give, one after the other: their channels, or their features.
    #[serde(deserialize_with = "crate::json::nothing")]
    Concat,
    /// Channels, or features, of zeros before and after those that come in.
    PadChannels {
        /// So many before.
        #[serde(default, deserialize_with = "count")]
        before: usize,
        /// So many after.
        #[serde(default, deserialize_with = "count")]
        after: usize,
    },
    /// (C, H, W) as one row, channel after channel.
    #[serde(deserialize_with = "crate::json::nothing")]
    Flatten,
    /// max(z, 0), with derivative 0 at 0.
    #[serde(deserialize_with = "crate::json::nothing")]
    Relu,
    /// z for z > 0, slope · z otherwise; the slope must be positive.
    LeakyRelu {
        /// The slope on the negative side.
        slope: f64,
    },
    /// z itself.
    #[serde(deserialize_with = "crate::json::nothing")]
    Identity,
    /// min(max(z, 0), 6), with derivative 0 at 0 and 6, as MobileNets have it. Not positively homogeneous, as all that follow: curvature and
    /// landscapes are computed, rescalings refused.
    #[serde(deserialize_with = "crate::json::nothing")]
    Relu6,
    /// tanh z.
    #[serde(deserialize_with = "crate::json::nothing")]
    Tanh,
    /// 1/(1 + e⁻ᶻ).
    #[serde(deserialize_with = "crate::json::nothing")]
    Sigmoid,
    /// log(1 + eᶻ).
    #[serde(deserialize_with = "crate::json::nothing")]
    Softplus,
    /// z/(1 + e⁻ᶻ), also called swish.
    #[serde(deserialize_with = "crate::json::nothing")]
    Silu,
    /// z Φ(z) with the normal distribution function Φ (Hendrycks and Gimpel 2016).
    Gelu {
        /// Whether Φ is approximated.
        #[serde(default)]
        approximate: GeluApproximation,
    },
}

/// How a GELU's Φ is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GeluApproximation {
    /// As it is, by the error function.
    #[default]
    None,
    /// (1 + tanh(√(2/π)(z + 0.044715 z³)))/2.
    Tanh,
}

impl Layer {
    /// φ(λ z) = λ φ(z) for every λ > 0?
    pub fn is_positively_homogeneous(&self) -> bool {
        self.is_piecewise_linear() && !matches!(self, Self::Relu6)
    }

    /// Is it a linear function on each of finitely many pieces?
    pub fn is_piecewise_linear(&self) -> bool {
        !self.is_smooth()
    }

    /// A layer that is not listed does not compile: rescalings hang on the answer.
    fn is_smooth(&self) -> bool {
        match self {
            Self::Tanh | Self::Sigmoid | Self::Softplus | Self::Silu | Self::Gelu { .. } => true,
            Self::Dense { .. } | Self::Conv2d(_) | Self::Scale { .. } => false,
            Self::MaxPool2d(_) | Self::AvgPool2d(_) | Self::GlobalAvgPool2d => false,
            Self::Add | Self::Concat | Self::PadChannels { .. } | Self::Flatten => false,
            Self::Relu | Self::LeakyRelu { .. } | Self::Identity | Self::Relu6 => false,
        }
    }

    /// Is it a function of each value by itself, other than the identity?
    pub fn is_activation(&self) -> bool {
        matches!(self, Self::Relu | Self::LeakyRelu { .. } | Self::Relu6) || self.is_smooth()
    }

    /// Has it parameters?
    pub fn is_parametric(&self) -> bool {
        matches!(self, Self::Dense { .. } | Self::Conv2d(_) | Self::Scale { .. })
    }

    /// Gives a layer with parameters a b.
    pub(crate) fn add_bias(&mut self) {
        match self {
            Self::Dense { bias, .. } | Self::Scale { bias } | Self::Conv2d(Conv2d { bias, .. }) => *bias = true,
            _ => {}
        }
    }

    /// Does it take several inputs?
    pub fn is_joining(&self) -> bool {
        matches!(self, Self::Add | Self::Concat)
    }

    /// The name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Dense { .. } => "dense",
            Self::Conv2d(_) => "conv2d",
            Self::Scale { .. } => "scale",
            Self::MaxPool2d(_) => "max_pool2d",
            Self::AvgPool2d(_) => "avg_pool2d",
            Self::GlobalAvgPool2d => "global_avg_pool2d",
            Self::Add => "add",
            Self::Concat => "concat",
            Self::PadChannels { .. } => "pad_channels",
            Self::Flatten => "flatten",
            Self::Relu => "relu",
            Self::LeakyRelu { .. } => "leaky_relu",
            Self::Identity => "identity",
            Self::Relu6 => "relu6",
            Self::Tanh => "tanh",
            Self::Sigmoid => "sigmoid",
            Self::Softplus => "softplus",
            Self::Silu => "silu",
            Self::Gelu { .. } => "gelu",
        }
    }
}
