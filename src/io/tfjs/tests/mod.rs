//! Models that TensorFlow.js and `tensorflowjs_converter` wrote, against what they predict.

mod faults;
mod hostile;
mod numbers;

use super::super::{File, Graph};
use super::graph;
use crate::error::Result;

/// A fixture: its JSON, its shards, and a few predictions.
struct Fixture {
    name: &'static str,
    json: &'static [u8],
    shards: &'static [(&'static str, &'static [u8])],
    numbers: &'static str,
}

macro_rules! fixture {
    ($name:literal: $($shard:literal)+) => {
        Fixture {
            name: $name,
            json: include_bytes!(concat!("../../../../tests/fixtures/tfjs/", $name, ".json")),
            shards: &[$(($shard, include_bytes!(concat!("../../../../tests/fixtures/tfjs/", $shard)))),+],
            numbers: include_str!(concat!("../../../../tests/fixtures/tfjs/", $name, ".numbers.json")),
        }
    };
}

const FIXTURES: &[Fixture] = &[
    fixture!("mlp": "mlp.bin"),
    fixture!("lenet": "lenet-group1-shard1of3.bin" "lenet-group1-shard2of3.bin" "lenet-group1-shard3of3.bin"),
    fixture!("residual": "residual.bin"),
    fixture!("separable": "separable.bin"),
    fixture!("same": "same.bin"),
    fixture!("channels_first": "channels_first.bin"),
    fixture!("concatenation": "concatenation.bin"),
    fixture!("quantized": "quantized.bin"),
    fixture!("nested": "nested.bin"),
    fixture!("keras2/model": "keras2/group1-shard1of4.bin" "keras2/group1-shard2of4.bin"
        "keras2/group1-shard3of4.bin" "keras2/group1-shard4of4.bin"),
    fixture!("keras2_chain/model": "keras2_chain/group1-shard1of1.bin"),
    fixture!("keras3/model": "keras3/group1-shard1of1.bin"),
    fixture!("keras3_chain/model": "keras3_chain/group1-shard1of1.bin"),
    fixture!("keras3_grouped/model": "keras3_grouped/group1-shard1of1.bin"),
];

impl Fixture {
    fn get(name: &str) -> &'static Self {
        FIXTURES.iter().find(|fixture| fixture.name == name).expect("a fixture")
    }

    /// The model's JSON, and its shards behind it.
    fn files(&self) -> Vec<File<'static>> {
        let shards = self.shards.iter().map(|(name, bytes)| File::new(*name, *bytes));
        std::iter::once(File::new(format!("{}.json", self.name), self.json)).chain(shards).collect()
    }

    fn graph(&self) -> Result<Graph> {
        let files = self.files();
        graph(&files[0], &files)
    }
}

/// A JSON text with other shards: what the manifest of a fixture becomes.
fn changed(fixture: &Fixture, change: impl Fn(&mut serde_json::Value)) -> Result<Graph> {
    let mut json: serde_json::Value = serde_json::from_slice(fixture.json).expect("a JSON");
    change(&mut json);
    let text = json.to_string();
    let mut files = fixture.files();
    files[0] = File::new("model.json", text.as_bytes());
    graph(&files[0], &files)
}
