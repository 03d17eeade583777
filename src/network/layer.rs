//! The layers a network is built of.

use serde::{Deserialize, Serialize};

fn yes() -> bool {
    true
}

fn one_by_one() -> [usize; 2] {
    [1, 1]
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
    /// Cross-correlation with W of shape (channels, input channels, kernel height, kernel width) over (C, H, W) images.
    Conv2d {
        /// Number of output channels.
        #[serde(deserialize_with = "count")]
        channels: usize,
        /// Size of the window.
        #[serde(deserialize_with = "pair")]
        kernel: [usize; 2],
        /// Steps of the window; 1 by default.
        #[serde(default = "one_by_one", deserialize_with = "pair")]
        stride: [usize; 2],
        /// Zeros around the image, at the top and bottom and at the left and right; 0 by default.
        #[serde(default, deserialize_with = "pair")]
        padding: [usize; 2],
        /// Whether there is a b, one number a channel.
        #[serde(default = "yes")]
        bias: bool,
    },
    /// The largest of each window; the first of equals in row-major order. Rows and columns that fill no window are left out.
    MaxPool2d {
        /// Size of the window.
        #[serde(deserialize_with = "pair")]
        size: [usize; 2],
        /// Steps of the window; its size by default.
        #[serde(default, deserialize_with = "some_pair", skip_serializing_if = "Option::is_none")]
        stride: Option<[usize; 2]>,
    },
    /// The mean of each window. Rows and columns that fill no window are left out.
    AvgPool2d {
        /// Size of the window.
        #[serde(deserialize_with = "pair")]
        size: [usize; 2],
        /// Steps of the window; its size by default.
        #[serde(default, deserialize_with = "some_pair", skip_serializing_if = "Option::is_none")]
        stride: Option<[usize; 2]>,
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
    /// tanh z. Not positively homogeneous, as all that follow: curvature and landscapes are computed, rescalings refused.
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

/// `[height, width]`, or one number for both.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a size must be a whole number, or two: [height, width]")]
enum Size {
    Both(Count),
    Pair([Count; 2]),
}

/// A whole number as files and options write it. They have 64 bits; where memory is addressed by 32, larger ones are refused in words.
#[derive(Clone, Copy)]
pub(super) struct Count(pub usize);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;
        impl serde::de::Visitor<'_> for Whole {
            type Value = Count;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "a whole number from 0 to {}", usize::MAX)
            }

            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Count, E> {
                let number = usize::try_from(value);
                number.map(Count).map_err(|_| E::invalid_value(serde::de::Unexpected::Unsigned(value), &self))
            }
        }
        deserializer.deserialize_u64(Whole)
    }
}

fn count<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    Count::deserialize(deserializer).map(|Count(n)| n)
}

impl From<Size> for [usize; 2] {
    fn from(size: Size) -> Self {
        match size {
            Size::Both(Count(n)) => [n, n],
            Size::Pair(pair) => pair.map(|Count(n)| n),
        }
    }
}

fn pair<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<[usize; 2], D::Error> {
    Size::deserialize(deserializer).map(Into::into)
}

fn some_pair<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<[usize; 2]>, D::Error> {
    Ok(Option::<Size>::deserialize(deserializer)?.map(Into::into))
}

impl Layer {
    /// φ(λ z) = λ φ(z) for every λ > 0?
    pub fn is_positively_homogeneous(&self) -> bool {
        !self.is_smooth()
    }

    /// Is it a linear function on each of finitely many pieces?
    pub fn is_piecewise_linear(&self) -> bool {
        !self.is_smooth()
    }

    fn is_smooth(&self) -> bool {
        matches!(self, Self::Tanh | Self::Sigmoid | Self::Softplus | Self::Silu | Self::Gelu { .. })
    }

    /// Has it parameters?
    pub fn is_parametric(&self) -> bool {
        matches!(self, Self::Dense { .. } | Self::Conv2d { .. })
    }

    /// The name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Dense { .. } => "dense",
            Self::Conv2d { .. } => "conv2d",
            Self::MaxPool2d { .. } => "max_pool2d",
            Self::AvgPool2d { .. } => "avg_pool2d",
            Self::Flatten => "flatten",
            Self::Relu => "relu",
            Self::LeakyRelu { .. } => "leaky_relu",
            Self::Identity => "identity",
            Self::Tanh => "tanh",
            Self::Sigmoid => "sigmoid",
            Self::Softplus => "softplus",
            Self::Silu => "silu",
            Self::Gelu { .. } => "gelu",
        }
    }
}
