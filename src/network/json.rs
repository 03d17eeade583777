//! A network as its JSON spells it: layers that isoflat computes with, and batch normalisations, which must be folded first.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::Value;

use super::{BatchNorm, Layer, Network};
use crate::error::{Result, bail};

/// A network's JSON, not yet checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawNetwork {
    pub(super) input: Vec<usize>,
    pub(super) layers: Vec<RawLayer>,
}

/// One of its layers.
pub(super) enum RawLayer {
    /// One that a network may have.
    Layer(Layer),
    /// One that it may not.
    BatchNorm(BatchNorm),
}

impl<'de> Deserialize<'de> for RawLayer {
    /// By way of a JSON value: serde's own choice between the two would lose the message of the one that is meant.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        if value.get("type").and_then(Value::as_str) == Some("batch_norm") {
            value.as_object_mut().map(|fields| fields.remove("type"));
            return serde_json::from_value(value).map(Self::BatchNorm).map_err(D::Error::custom);
        }
        let layer = Layer::deserialize(&value).map_err(D::Error::custom)?;
        // serde does not look for unknown fields beside a tag that has none of its own.
        if matches!(layer, Layer::Flatten | Layer::Relu | Layer::Identity | Layer::Tanh)
            && let Some(field) = value.as_object().and_then(|fields| fields.keys().find(|key| *key != "type"))
        {
            let message = format!("unknown field `{field}`: {} has no fields but its type", layer.name());
            return Err(D::Error::custom(message));
        }
        Ok(Self::Layer(layer))
    }
}

impl TryFrom<RawNetwork> for Network {
    type Error = crate::Error;

    fn try_from(raw: RawNetwork) -> Result<Self> {
        let layers = raw.layers.into_iter().enumerate().map(|(i, layer)| match layer {
            RawLayer::Layer(layer) => Ok(layer),
            RawLayer::BatchNorm(_) => bail!(
                InvalidNetwork,
                "layer {i} (batch_norm) does not withstand rescaling by itself, as its mean and shift stay where they are; \
                 fold it into the layer beside it: fold_batch_norm in Rust, Network.foldBatchNorm in JavaScript"
            ),
        });
        let layers = layers.collect::<Result<_>>()?;
        Self::new(raw.input, layers)
    }
}
