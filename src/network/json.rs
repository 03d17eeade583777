//! A network as its JSON spells it: layers that isoflat computes with, and batch normalisations, which must be folded first.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::layer::Count;
use super::{BatchNorm, Layer, Network};
use crate::error::{Result, bail};

/// A network's JSON, not yet checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawNetwork {
    #[serde(deserialize_with = "shape")]
    pub(super) input: Vec<usize>,
    pub(super) layers: Vec<RawLayer>,
}

fn shape<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Vec<usize>, D::Error> {
    Vec::<Count>::deserialize(deserializer).map(|sizes| sizes.into_iter().map(|Count(n)| n).collect())
}

/// One of its layers.
pub(super) enum RawLayer {
    /// One that a network may have.
    Layer(Layer),
    /// One that it may not.
    BatchNorm(BatchNorm),
}

impl<'de> Deserialize<'de> for RawLayer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(LayerVisitor)
    }
}

/// Reads a layer by way of its fields: serde's own choice between the two kinds would lose the message of the one that is meant.
struct LayerVisitor;

impl<'de> Visitor<'de> for LayerVisitor {
    type Value = RawLayer;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a layer, an object with a type")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> std::result::Result<RawLayer, A::Error> {
        let mut fields = Map::new();
        while let Some((key, value)) = access.next_entry::<String, Value>()? {
            if fields.contains_key(&key) {
                return Err(A::Error::custom(format!("the key \"{key}\" is there twice")));
            }
            fields.insert(key, value);
        }
        if fields.get("type").and_then(Value::as_str) == Some("batch_norm") {
            fields.remove("type");
            return crate::json::from_value(&fields.into()).map(RawLayer::BatchNorm).map_err(A::Error::custom);
        }
        crate::json::from_value(&fields.into()).map(RawLayer::Layer).map_err(A::Error::custom)
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
