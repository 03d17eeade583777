//! Predictions: the graph's outputs are the program's.

use serde::Deserialize;

use super::super::super::Model;
use super::{FIXTURES, Fixture};
use crate::io::naive;

#[derive(Deserialize)]
struct Numbers {
    /// Shape of one input in the program's order.
    shape: Vec<usize>,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
    /// Are they probabilities?
    #[serde(default)]
    is_softmax: bool,
}

/// A sample in isoflat's order: channels first, where the program has them last.
fn channels_first(shape: &[usize], sample: &[f64], network: &[usize]) -> Vec<f64> {
    match *shape {
        [height, width, channels] if network == [channels, height, width] => {
            let at = |i: usize| sample[(i % (height * width)) * channels + i / (height * width)];
            (0..sample.len()).map(at).collect()
        }
        _ => sample.to_vec(),
    }
}

fn softmax(row: &[f64]) -> Vec<f64> {
    let largest = row.iter().fold(f64::NEG_INFINITY, |m, &z| m.max(z));
    let sum: f64 = row.iter().map(|z| (z - largest).exp()).sum();
    row.iter().map(|z| (z - largest).exp() / sum).collect()
}

#[test]
fn outputs_are_those_of_the_program() {
    for fixture in FIXTURES {
        let numbers: Numbers = serde_json::from_str(fixture.numbers).expect("numbers");
        let graph = fixture.graph().unwrap_or_else(|error| panic!("{}: {error}", fixture.name));
        let is_softmax = graph.notes.iter().any(|note| note.starts_with("the softmax at the end"));
        assert_eq!(is_softmax, numbers.is_softmax, "{}", fixture.name);
        let model = Model::new(graph).unwrap_or_else(|error| panic!("{}: {error}", fixture.name));
        let network = &model.network;
        let len = numbers.shape.iter().product();
        let mut worst = 0.0f64;
        let size = numbers.outputs.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let samples = numbers.inputs.chunks_exact(len).zip(numbers.outputs.chunks_exact(network.output_len()));
        let mut count = 0;
        for (sample, expected) in samples {
            let inputs = channels_first(&numbers.shape, sample, network.input());
            let found = naive::outputs(network, &model.parameters, &inputs);
            let found = if is_softmax { softmax(&found) } else { found };
            found.iter().zip(expected).for_each(|(a, b)| worst = worst.max((a - b).abs()));
            count += expected.len();
        }
        assert_eq!(count, numbers.outputs.len(), "{}", fixture.name);
        assert!(worst <= 1e-6 * size, "{}: {worst} of {size}", fixture.name);
        assert!(size > 0.01, "{}: outputs that say nothing", fixture.name);
    }
}

/// Every weight goes back to where it was: what a model writes are the file's numbers.
#[test]
fn weights_go_back_to_their_places() {
    for name in ["mlp", "lenet", "channels_first", "concatenation", "nested", "same", "keras3/model"] {
        let fixture = Fixture::get(name);
        let model = Model::new(fixture.graph().expect("a graph")).expect("a model");
        let tensors = model.tensors(&model.parameters).expect("tensors");
        let json: serde_json::Value = serde_json::from_slice(fixture.json).expect("a JSON");
        let bytes: Vec<u8> = fixture.shards.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
        let mut at = 0;
        for weight in json["weightsManifest"][0]["weights"].as_array().expect("weights") {
            let shape: Vec<usize> = serde_json::from_value(weight["shape"].clone()).expect("a shape");
            let count: usize = shape.iter().product();
            let expected: Vec<f64> = bytes[at..at + 4 * count]
                .chunks_exact(4)
                .map(|word| f64::from(f32::from_le_bytes(word.try_into().expect("four"))))
                .collect();
            at += 4 * count;
            let key = weight["name"].as_str().expect("a name");
            // A normalisation that was folded has changed, with the layers into which it went.
            let is_changed = name.starts_with("keras3") && key != "a/kernel" && key != "a/bias";
            assert!(is_changed || tensors.get(key) == Some(&expected), "{name}: {key}");
        }
        assert_eq!(at, bytes.len());
    }
}

#[test]
fn what_was_changed_is_said() {
    let notes = |name: &str| Fixture::get(name).graph().expect("a graph").notes.join("\n");
    for (name, says) in [
        ("lenet", "inputs of shape [10, 9, 2] in the file are [2, 10, 9] here"),
        ("lenet", "the softmax at the end is taken off"),
        ("quantized", "7 of 7 weights were quantised"),
        ("quantized", "inputs of shape [36] in the file are [1, 6, 6] here"),
        ("quantized", "is a leaky ReLU of slope"),
        ("nested", "inputs of shape [5, 5] in the file are [1, 5, 5] here"),
    ] {
        assert!(notes(name).contains(says), "{name}: {}", notes(name));
    }
    assert_eq!(notes("mlp"), "");
    assert_eq!(notes("channels_first"), "");
}
