//! A network as its JSON spells it: layers that isoflat computes with, and batch normalisations, which must be folded first.

use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::images::Count;
use super::wiring::Names;
use super::{BatchNorm, Layer, NamedLayer, Network};
use crate::error::{Result, bail};

/// A network's JSON, not yet checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawNetwork {
    #[serde(deserialize_with = "shape")]
    pub input: Vec<usize>,
    pub layers: Vec<RawNamed>,
}

fn shape<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Vec<usize>, D::Error> {
    Vec::<Count>::deserialize(deserializer).map(|sizes| sizes.into_iter().map(|Count(n)| n).collect())
}

/// One of its layers.
pub(crate) enum RawLayer {
    /// One that a network may have.
    Layer(Layer),
    /// One that it may not.
    BatchNorm(BatchNorm),
}

/// A layer's JSON, with its name and what it reads.
pub(crate) struct RawNamed {
    pub layer: RawLayer,
    pub name: Option<String>,
    pub from: Option<Names>,
}

impl<'de> Deserialize<'de> for RawNamed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(LayerVisitor)
    }
}

/// Reads a layer by way of its fields: serde's own choice between the two kinds would lose the message of the one that is meant.
struct LayerVisitor;

impl<'de> Visitor<'de> for LayerVisitor {
    type Value = RawNamed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a layer, an object with a type")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> std::result::Result<RawNamed, A::Error> {
        let mut fields = Map::new();
        while let Some((key, value)) = access.next_entry::<String, Value>()? {
            if fields.contains_key(&key) {
                return Err(A::Error::custom(format!("the key \"{key}\" is there twice")));
            }
            fields.insert(key, value);
        }
        let name = taken(&mut fields, "name")?;
        let from = taken(&mut fields, "from")?;
        let layer = if fields.get("type").and_then(Value::as_str) == Some("batch_norm") {
            fields.remove("type");
            crate::json::from_value(&fields.into()).map(RawLayer::BatchNorm)
        } else {
            crate::json::from_value(&fields.into()).map(RawLayer::Layer)
        };
        Ok(RawNamed { layer: layer.map_err(A::Error::custom)?, name, from })
    }
}

/// The value of a key that every layer may have.
fn taken<T: DeserializeOwned, E: serde::de::Error>(
    fields: &mut Map<String, Value>,
    key: &str,
) -> std::result::Result<Option<T>, E> {
    fields
        .remove(key)
        .map(|value| crate::json::from_value(&value))
        .transpose()
        .map_err(|error| E::custom(format!("{key}: {error}")))
}

impl TryFrom<RawNetwork> for Network {
    type Error = crate::Error;

    fn try_from(raw: RawNetwork) -> Result<Self> {
        let layers = raw.layers.into_iter().enumerate().map(|(i, RawNamed { layer, name, from })| match layer {
            RawLayer::Layer(layer) => Ok(NamedLayer { layer, name, from }),
            RawLayer::BatchNorm(_) => bail!(
                InvalidNetwork,
                "layers[{i}] (batch_norm) does not withstand rescaling by itself, as its mean and shift stay where they are; \
                 fold it into the layer beside it: fold_batch_norm in Rust, Network.foldBatchNorm in JavaScript"
            ),
        });
        let layers = layers.collect::<Result<_>>()?;
        Self::graph(raw.input, layers)
    }
}

impl Serialize for NamedLayer {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Keys<'a> {
            #[serde(flatten)]
            layer: &'a Layer,
            #[serde(skip_serializing_if = "Option::is_none")]
            name: &'a Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            from: &'a Option<Names>,
        }
        Keys { layer: &self.layer, name: &self.name, from: &self.from }.serialize(serializer)
    }
}
