//! TensorFlow.js layers models: `model.json`, whose `modelTopology` is a Keras model's configuration, and beside it the shards
//! of weights that its `weightsManifest` names (<https://www.tensorflow.org/js/guide/save_load>). As TensorFlow.js itself saves
//! them, or `tensorflowjs_converter` from Keras 2 or 3.
//!
//! Keras counts images pixel after pixel; isoflat channel after channel. What goes between layers is followed with its shape
//! in the file and the order of its values (`tensor.rs`), so that kernels and the columns behind a flattened image come out right.
//!
//! Memory: at most 160 times the JSON, which is 4 MiB at most, and 24 times the shards.

mod activation;
mod builder;
mod config;
mod images;
mod keras;
mod layers;
mod manifest;
mod references;
mod rows;
mod tensor;
#[cfg(test)]
mod tests;
mod topology;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use self::builder::Builder;
pub(super) use self::keras::FORMAT as KERAS;
use self::manifest::Weights;
use super::format::{Content, Format};
use super::{File, Graph};
use crate::error::{Error, ErrorCode, Result, bail, ensure};

/// `model.json`.
pub(super) const FORMAT: Format = Format { name: "TensorFlow.js layers model", is: is_model, read };

/// A shard of its weights. It has no first bytes of its own: this stands behind all formats that have some.
pub(super) const SHARD: Format = Format { name: "its shards of weights", is: is_shard, read: read_shard };

/// The largest JSON that is read; models of a thousand layers have less than one MiB.
const MOST_JSON: usize = 4 << 20;

/// Does a file have the keys of `model.json`? Nothing is kept of it.
fn is_model(file: &File) -> bool {
    #[derive(Deserialize)]
    struct Keys {
        #[serde(rename = "modelTopology")]
        topology: Option<IgnoredAny>,
    }
    let start = file.bytes.iter().position(|byte| !byte.is_ascii_whitespace());
    let is_object = start.is_some_and(|start| file.bytes.get(start) == Some(&b'{'));
    is_object && serde_json::from_slice(&file.bytes).is_ok_and(|keys: Keys| keys.topology.is_some())
}

fn is_shard(file: &File) -> bool {
    file.has_extension("bin") || (file.base().contains("-shard") && !file.base().contains('.'))
}

/// A shard belongs to the model that names it.
fn read_shard(file: &File, others: &[File]) -> Result<Content> {
    let mut names = Vec::new();
    for model in others.iter().filter(|other| is_model(other)) {
        let shards = manifest::shards(&parsed(model)?, model, others)?;
        if shards.iter().any(|&shard| others.get(shard).is_some_and(|other| other.name == file.name)) {
            return Ok(Content::Part);
        }
        names.push(&model.name[..]);
    }
    ensure!(
        !names.is_empty(),
        Parse,
        "weights of TensorFlow.js say nothing of themselves: open them together with the model.json that names them"
    );
    bail!(Parse, "the weightsManifest of {} does not name it", names.join(", "))
}

fn parsed(model: &File) -> Result<Value> {
    ensure!(
        model.bytes.len() <= MOST_JSON,
        TooLarge,
        "the JSON has {} bytes, but isoflat reads {MOST_JSON} at most: weights belong into shards",
        model.bytes.len()
    );
    serde_json::from_slice(&model.bytes)
        .map_err(|error| Error::new(ErrorCode::Parse, format!("{} is no JSON: {error}", model.base())))
}

fn read(file: &File, others: &[File]) -> Result<Content> {
    graph(file, others).map(Content::Graph)
}

/// The graph that a model is.
fn graph(file: &File, others: &[File]) -> Result<Graph> {
    let json = parsed(file)?;
    let topology = &json["modelTopology"];
    let is_graph_model = json["format"] == "graph-model" || topology.get("node").is_some();
    ensure!(
        !is_graph_model,
        InvalidNetwork,
        "a graph model of TensorFlow.js has TensorFlow's operations, not layers: write a layers model (tensorflowjs_converter \
         --output_format=tfjs_layers_model, from the Keras model), or an ONNX file (tf2onnx)"
    );
    let topology = topology::Topology::new(topology)?;
    let mut weights = Weights::new(&json, file, others)?;
    Builder::new(&topology, &mut weights)?.build(&topology)
}
