//! How layers with parameters are counted: from 0 in code, as what is indexed by them is, and from 1 in names, messages and JSON, as in the
//! papers. For serde's `with`.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What messages and JSON call a layer.
pub(crate) const fn number_of(layer: usize) -> usize {
    layer.saturating_add(1)
}

fn layer_of<E: Error>(number: usize) -> Result<usize, E> {
    number.checked_sub(1).ok_or_else(|| E::custom("layer is 0, but layers with parameters are counted from 1"))
}

pub(crate) fn serialize<S: Serializer>(layer: &usize, serializer: S) -> Result<S::Ok, S::Error> {
    number_of(*layer).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    layer_of(usize::deserialize(deserializer)?)
}

/// Of what may be left out.
#[cfg(target_arch = "wasm32")]
pub(crate) mod optional {
    use super::{Deserialize, Deserializer, layer_of};

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
        Option::deserialize(deserializer)?.map(layer_of).transpose()
    }
}

/// Of lists.
pub(crate) mod list {
    use super::{Serializer, number_of};

    pub(crate) fn serialize<S: Serializer>(layers: &[usize], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(layers.iter().map(|&layer| number_of(layer)))
    }
}
