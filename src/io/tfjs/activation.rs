//! Activations: by their names, as other layers have them inside, or as layers of their own.

use serde_json::Value;

use super::config::Config;
use crate::error::{Result, bail, ensure};
use crate::network::{GeluApproximation, Layer};

/// What an activation is to isoflat.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Activation {
    /// The identity.
    None,
    /// One of isoflat's.
    Layer(Layer),
    /// One that is taken off at the end, and may be nowhere else.
    End(&'static str),
}

impl Activation {
    /// Of a layer's `activation`, a name or a configuration.
    ///
    /// # Errors
    /// `InvalidNetwork` for one that isoflat does not have, with what would do instead.
    pub fn inside(config: Config) -> Result<Self> {
        let Some(value) = config.get("activation") else { return Ok(Self::None) };
        let name = match value {
            Value::String(name) => name,
            _ => match (value.get("class_name").and_then(Value::as_str), value.get("config")) {
                // Keras 3's way to name a function.
                (Some("function"), Some(Value::String(name))) => name,
                (Some(class), inner) => match Self::of_layer(class, Config::new(inner, config.what))? {
                    Some(found) => return Ok(found),
                    None => class,
                },
                _ => bail!(Parse, "{}: activation must be a name, not {value}", config.what),
            },
        };
        Self::named(config.what, name)
    }

    /// By the name that Keras gives it.
    fn named(what: &str, name: &str) -> Result<Self> {
        Ok(Self::Layer(match name {
            "linear" => return Ok(Self::None),
            "softmax" => return Ok(Self::End("softmax")),
            "log_softmax" | "logSoftmax" => return Ok(Self::End("log_softmax")),
            "relu" => Layer::Relu,
            "leaky_relu" => Layer::LeakyRelu { slope: 0.2 },
            "tanh" => Layer::Tanh,
            "sigmoid" => Layer::Sigmoid,
            "softplus" => Layer::Softplus,
            "swish" | "silu" => Layer::Silu,
            "gelu" => Layer::Gelu { approximate: GeluApproximation::None },
            "gelu_new" => Layer::Gelu { approximate: GeluApproximation::Tanh },
            "relu6" => Layer::Relu6,
            _ => return unknown(what, name),
        }))
    }

    /// Of a layer that is an activation; none where it is another.
    ///
    /// # Errors
    /// As [`Activation::inside`].
    pub fn of_layer(class: &str, config: Config) -> Result<Option<Self>> {
        let what = config.what;
        Ok(Some(match class {
            "Activation" => Self::inside(config)?,
            "Softmax" => {
                let axis = config.axis("axis")?.unwrap_or(-1);
                ensure!(
                    axis == -1 || axis == 1,
                    InvalidNetwork,
                    "{what} is along axis {axis}: isoflat takes a softmax of a row of classes alone, at the end"
                );
                Self::End("softmax")
            }
            "ReLU" => {
                let slope = config.number("negative_slope", 0.0)?;
                let threshold = config.number("threshold", 0.0)?;
                ensure!(
                    threshold == 0.0,
                    InvalidNetwork,
                    "{what} has threshold {threshold}, which isoflat does not have: train with threshold 0"
                );
                match config.get("max_value") {
                    None => leaky(what, "negative_slope", slope)?,
                    Some(value) if value.as_f64() == Some(6.0) && slope == 0.0 => Self::Layer(Layer::Relu6),
                    Some(value) => return capped(what, value, slope),
                }
            }
            "LeakyReLU" => {
                let key = if config.get("negative_slope").is_some() { "negative_slope" } else { "alpha" };
                leaky(what, key, config.number(key, 0.3)?)?
            }
            "ELU" | "ThresholdedReLU" => return unknown(what, class),
            _ => return Ok(None),
        }))
    }
}

/// A ReLU with a slope on the negative side.
///
/// # Errors
/// `InvalidNetwork` for one below 0.
pub(super) fn leaky(what: &str, key: &str, slope: f64) -> Result<Activation> {
    ensure!(
        slope.is_finite() && slope >= 0.0,
        InvalidNetwork,
        "{what} has {key} {slope}, but isoflat's slopes are not negative"
    );
    Ok(Activation::Layer(if slope == 0.0 { Layer::Relu } else { Layer::LeakyRelu { slope } }))
}

fn capped<T>(what: &str, most: &Value, slope: f64) -> Result<T> {
    bail!(
        InvalidNetwork,
        "{what} is cut off above (max_value {most}, negative_slope {slope}): of such functions isoflat has ReLU6, with max_value 6 and \
         negative_slope 0; a ReLU without a largest value would do too"
    )
}

fn unknown<T>(what: &str, name: &str) -> Result<T> {
    bail!(
        InvalidNetwork,
        "{what} has the activation {name}, which isoflat does not have: it has relu, relu6, leaky_relu, tanh, sigmoid, softplus, silu and \
         gelu"
    )
}
