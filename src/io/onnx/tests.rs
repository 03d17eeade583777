//! Models that PyTorch exported, and others of ONNX's own helper, against the outputs that PyTorch and ONNX's reference evaluator
//! give; what is refused; and broken files. `tests/fixtures/onnx/write.py` wrote the files.

mod broken;
mod build;
mod refused;
mod scales;
mod small;
mod written;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::io::naive;
use crate::io::{BatchNormNode, File, Graph, Model, Operation};
use crate::network::{Layer, Network};

macro_rules! fixtures {
    ($($name:literal),+ $(,)?) => {
        /// The models, by name.
        const FIXTURES: &[(&str, &[u8])] =
            &[$(($name, include_bytes!(concat!("../../../tests/fixtures/onnx/", $name, ".onnx")))),+];
    };
}

fixtures![
    "channels_last",
    "concat",
    "external",
    "gelu",
    "gelu_tanh",
    "gemm",
    "half",
    "lenet",
    "mlp",
    "mlp_double",
    "newest",
    "normed_row",
    "preactivation",
    "prelu",
    "residual_pad",
    "residual_pad_fixed",
    "residual_projection",
    "residual_zeros",
    "row_as_image",
    "separable",
    "separable_folded",
    "sigmoid",
    "silu",
    "softplus",
];

const EXTERNAL: &[u8] = include_bytes!("../../../tests/fixtures/onnx/external.onnx.data");
const OUTPUTS: &str = include_str!("../../../tests/fixtures/onnx/outputs.json");

/// What a model gives.
#[derive(Deserialize)]
struct Record {
    shape: Vec<usize>,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
}

fn records() -> BTreeMap<String, Record> {
    serde_json::from_str(OUTPUTS).expect("outputs.json")
}

fn bytes_of(name: &str) -> &'static [u8] {
    FIXTURES.iter().find(|(known, _)| *known == name).expect("a fixture").1
}

fn files(name: &str, bytes: &[u8]) -> [File<'static>; 2] {
    [File::new(format!("models/{name}.onnx"), bytes.to_vec()), File::new("weights/external.onnx.data", EXTERNAL)]
}

fn opened(name: &str) -> Graph {
    let files = files(name, bytes_of(name));
    super::read(&files[0], &files, super::Asked::default()).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn layers(graph: &Graph) -> Vec<&'static str> {
    let name = |operation: &Operation| match operation {
        Operation::Layer { layer, .. } => layer.name(),
        Operation::BatchNorm(_) => "batch_norm",
    };
    graph.nodes.iter().map(|node| name(&node.operation)).collect()
}

/// A graph whose normalisations are scales, with their parameters: nothing is folded.
fn unfolded(graph: &Graph) -> (Network, Vec<f64>) {
    let mut parameters = Vec::new();
    let mut named = Vec::new();
    for node in &graph.nodes {
        let layer = match &node.operation {
            Operation::Layer { layer, weight, bias } => {
                parameters.extend([weight, bias].into_iter().flatten().flat_map(|slot| slot.values.clone()));
                layer.clone()
            }
            Operation::BatchNorm(norm) => {
                let BatchNormNode { scale, shift, mean, variance, epsilon, .. } = norm;
                let [scale, shift] = [scale, shift].map(|slot| slot.as_ref().expect("numbers").values.clone());
                let factors: Vec<f64> =
                    scale.iter().zip(&variance.values).map(|(s, v)| s / (v + epsilon).sqrt()).collect();
                parameters.extend(&factors);
                parameters.extend(shift.iter().zip(&mean.values).zip(&factors).map(|((b, m), f)| b - m * f));
                Layer::Scale { bias: true }
            }
        };
        named.push(crate::network::NamedLayer { layer, name: node.name.clone(), from: node.from.clone() });
    }
    (Network::graph(graph.input.clone(), named).expect("a network"), parameters)
}

fn assert_near(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let size = expected.iter().fold(0.0f64, |most, y| most.max(y.abs()));
    let error = found.iter().zip(expected).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
    assert!(size > 1e-3 && error <= tolerance * size, "{what}: {error} of {size}: {found:?} is not {expected:?}");
}

#[test]
fn every_model_gives_what_the_program_that_wrote_it_gives() {
    let records = records();
    assert_eq!(records.len(), FIXTURES.len(), "each fixture has its outputs");
    for (name, _) in FIXTURES {
        let (graph, record) = (opened(name), &records[*name]);
        if graph.input != record.shape {
            assert_eq!(graph.input.iter().product::<usize>(), record.shape.iter().product::<usize>(), "{name}");
        }
        let (network, parameters) = unfolded(&graph);
        let found = naive::outputs(&network, &parameters, &record.inputs);
        assert_near(name, &found, &record.outputs, 1e-6);
        // And with its normalisations folded.
        let model = Model::new(graph).expect("a model");
        let found = naive::outputs(&model.network, &model.parameters, &record.inputs);
        assert_near(name, &found, &record.outputs, 1e-6);
    }
}

#[test]
fn models_become_the_layers_that_they_are() {
    let mlp = opened("mlp");
    assert_eq!(layers(&mlp), ["dense", "relu", "dense", "leaky_relu", "dense"]);
    assert!(mlp.nodes.iter().all(|node| node.name.is_none() && node.from.is_none()), "a chain needs no names");
    let pad = layers(&opened("residual_pad"));
    assert_eq!(pad.iter().filter(|layer| **layer == "pad_channels").count(), 1, "{pad:?}");
    assert_eq!(
        pad.iter().filter(|layer| **layer == "avg_pool2d").count(),
        1,
        "rows and columns are taken at once: {pad:?}"
    );
    assert_eq!(layers(&opened("residual_pad_fixed")), pad);
    assert_eq!(layers(&opened("residual_zeros")), pad);
    for (name, layer) in [("gelu", "gelu"), ("gelu_tanh", "gelu"), ("silu", "silu"), ("prelu", "leaky_relu")] {
        assert_eq!(layers(&opened(name)), ["dense", layer, "dense", layer, "dense"], "{name}");
    }
    let norms = layers(&opened("preactivation")).iter().filter(|layer| **layer == "batch_norm").count();
    assert_eq!(norms, 3);
    assert_eq!(layers(&opened("separable_folded")).iter().filter(|layer| **layer == "batch_norm").count(), 0);
    assert_eq!(
        layers(&opened("channels_last")),
        ["conv2d", "relu", "max_pool2d", "flatten", "dense", "scale", "leaky_relu", "dense"]
    );
    assert_eq!(layers(&opened("row_as_image")), ["conv2d", "relu", "global_avg_pool2d", "flatten", "dense"]);
}

#[test]
fn what_was_taken_off_or_turned_is_said() {
    for (name, says) in [
        ("lenet", "LogSoftmax at the end is taken off"),
        ("channels_last", "channels come first here"),
        ("channels_last", "Softmax at the end"),
        ("newest", "ArgMax at the end"),
        ("prelu", "slopes of PRelu"),
        ("row_as_image", "images of 1×4×5"),
    ] {
        let notes = opened(name).notes;
        assert!(notes.iter().any(|note| note.contains(says)), "{name}: {notes:?}");
    }
    assert!(opened("mlp").notes.is_empty());
}

#[test]
fn names_stand_where_others_read_them_alone() {
    let graph = opened("residual_projection");
    let read: Vec<&String> =
        graph.nodes.iter().filter_map(|node| node.from.as_ref()).flat_map(|from| from.names()).collect();
    for node in &graph.nodes {
        if let Some(name) = &node.name {
            assert!(read.contains(&name) && name != "input", "{name}");
        }
    }
    assert!(graph.nodes.iter().filter(|node| node.name.is_some()).count() <= 2);
}

#[test]
fn files_are_known_by_name_or_by_their_beginning() {
    for (name, bytes) in FIXTURES {
        assert!((super::FORMAT.is)(&File::new("a.bin", *bytes)), "{name}");
    }
    assert!((super::FORMAT.is)(&File::new("A.ONNX", &b""[..])));
    assert!((super::PART.is)(&File::new("a.onnx.data", EXTERNAL)));
    assert!(!(super::PART.is)(&File::new("iris.data", EXTERNAL)));
    for bytes in [&b""[..], b"\x08\x08", b"\x93NUMPY", b"{\"a\": 1}", b"\x08\x07\x12\x04abc", b"PK\x03\x04"] {
        assert!(!(super::FORMAT.is)(&File::new("a.bin", bytes)), "{bytes:?}");
    }
    let all = files("external", bytes_of("external"));
    let opened = crate::io::open_model(&all, &crate::io::ModelOptions::default()).expect("a model");
    assert_eq!((opened.format, opened.model.parameters.len()), ("ONNX", 6 * 4 + 6 + 3 * 6 + 3));
}

#[test]
fn weights_are_found_by_whatever_name_the_model_has_for_them() {
    let [old, new] = [b"external.onnx.data", b"weights_of_it.data"];
    let mut model = bytes_of("external").to_vec();
    for at in 0..model.len() - old.len() {
        if model[at..].starts_with(old) {
            model[at..at + new.len()].copy_from_slice(new);
        }
    }
    let data = File::new("folder/weights_of_it.data", EXTERNAL);
    let csv = File::new("weights.csv", &b"a,b,label\n1,2,0\n3,4,1\n"[..]);
    let all = [data, File::new("m.onnx", model), csv];
    let sorted = crate::io::sort_files(&all).expect("files of known formats");
    assert_eq!((sorted.model, sorted.data), (vec![0, 1], vec![2]));
    let opened = crate::io::open_model(&all[..2], &crate::io::ModelOptions::default()).expect("a model");
    assert_eq!(opened.model.parameters.len(), 6 * 4 + 6 + 3 * 6 + 3);
}
