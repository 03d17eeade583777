//! Normalisations that are spelled out, and factors of one channel.

use prost::Message;

use super::super::proto::*;
use super::super::{Asked, read, write};
use super::build::*;
use super::{assert_near, layers};
use crate::io::naive;
use crate::io::{File, Graph, Model};
use crate::network::Layer;

const INPUT: [i64; 3] = [2, 3, 3];

fn statistics() -> Vec<TensorProto> {
    vec![
        tensor("k", &[2, 2, 1, 1], |i| 0.7 - i as f32 * 0.3),
        tensor("b", &[2], |i| 0.2 - i as f32),
        tensor("gamma", &[2], |i| 1.5 - 2.0 * i as f32),
        tensor("beta", &[2], |i| 0.25 + i as f32),
        tensor("mean", &[2], |i| 0.5 - i as f32),
        tensor("variance", &[2], |i| 0.3 + i as f32),
        tensor("w", &[18, 2], |i| (i as f32).sin()),
        // The same as constants go with images.
        tensor("gammas", &[2, 1, 1], |i| 1.5 - 2.0 * i as f32),
        tensor("betas", &[1, 2, 1, 1], |i| 0.25 + i as f32),
        tensor("means", &[2, 1, 1], |i| 0.5 - i as f32),
        tensor("minus", &[2, 1, 1], |i| i as f32 - 0.5),
        tensor("variances", &[2, 1, 1], |i| 0.3 + i as f32),
        tensor("deviations", &[2, 1, 1], |i| (0.3 + i as f32 + 1e-5).sqrt()),
        tensor("factors", &[1, 2, 1, 1], |i| 1.0 / (0.3 + i as f32 + 1e-5).sqrt()),
        tensor("epsilon", &[], |_| 1e-5),
    ]
}

/// A model with these nodes from c to n between a convolution and a dense layer.
fn with(conv: &[&str], relu: bool, nodes: Vec<NodeProto>) -> ModelProto {
    let mut all = vec![node("Conv", &[&["x"], conv].concat(), if relu { "a" } else { "c" }, vec![])];
    all.extend(relu.then(|| node("Relu", &["a"], "c", vec![])));
    all.extend(nodes);
    all.extend([node("Flatten", &["n"], "f", vec![]), node("MatMul", &["f", "w"], "y", vec![])]);
    model(&INPUT, all, statistics())
}

fn outputs(graph: Graph, size: usize) -> Vec<f64> {
    let model = Model::new(graph).expect("a model");
    let inputs: Vec<f64> = (0..2 * size).map(|i| (i as f64 * 0.7).sin()).collect();
    naive::outputs(&model.network, &model.parameters, &inputs)
}

fn two(op: &str, one: &str, other: &str, to: &str) -> NodeProto {
    node(op, &[one, other], to, vec![])
}

/// Ways to spell a normalisation.
fn spelled() -> Vec<(&'static str, Vec<NodeProto>)> {
    let end = |from: &str| vec![two("Mul", "gammas", from, "g"), two("Add", "g", "betas", "n")];
    let root = || {
        vec![
            two("Add", "variances", "epsilon", "v"),
            node("Sqrt", &["v"], "s", vec![]),
            node("Reciprocal", &["s"], "r", vec![]),
        ]
    };
    let sub = || two("Sub", "c", "means", "m");
    vec![
        ("by deviations", [vec![sub(), two("Div", "m", "deviations", "d")], end("d")].concat()),
        ("by factors", [vec![sub(), two("Mul", "m", "factors", "d")], end("d")].concat()),
        ("by roots", [vec![sub()], root(), vec![two("Div", "m", "s", "d")], end("d")].concat()),
        ("by computed factors", [root(), vec![sub(), two("Mul", "m", "r", "d")], end("d")].concat()),
        ("less means", [vec![two("Add", "minus", "c", "m"), two("Div", "m", "deviations", "d")], end("d")].concat()),
        (
            "factors first",
            [
                root(),
                vec![sub(), two("Mul", "m", "gammas", "g"), two("Mul", "g", "r", "d"), two("Add", "d", "betas", "n")],
            ]
            .concat(),
        ),
        (
            "one factor",
            [
                root(),
                vec![sub(), two("Mul", "gammas", "r", "f1"), two("Mul", "m", "f1", "d"), two("Add", "d", "betas", "n")],
            ]
            .concat(),
        ),
    ]
}

#[test]
fn a_normalisation_that_is_spelled_out_is_one_scale() {
    let plain = || vec![node("BatchNormalization", &["c", "gamma", "beta", "mean", "variance"], "n", vec![])];
    for (conv, relu) in [(&["k"][..], false), (&["k", "b"], false), (&["k", "b"], true)] {
        let expected = outputs(opened(&with(conv, relu, plain())).expect("a graph"), 18);
        for (name, nodes) in spelled() {
            let graph = opened(&with(conv, relu, nodes)).unwrap_or_else(|error| panic!("{name}: {error}"));
            let found = layers(&graph).join(" ").replace(" relu", "");
            // What is added right behind a layer without a bias is its bias.
            let is_bias = name == "less means" && conv.len() == 1;
            let norms = if is_bias { "scale scale" } else { "batch_norm" };
            assert_eq!(found, format!("conv2d {norms} flatten dense"), "{name} {conv:?} {relu}");
            let scales = Model::new(graph.clone()).expect("a model").network;
            let scales =
                scales.named_layers().iter().filter(|named| matches!(named.layer, Layer::Scale { bias: true }));
            assert_eq!(scales.count(), 1, "{name}");
            assert_near(name, &outputs(graph, 18), &expected, 1e-6);
        }
    }
}

#[test]
fn a_normalisation_that_is_spelled_out_goes_back_to_its_factors_and_shifts() {
    for (name, nodes) in spelled() {
        let files = [File::new("m.onnx", with(&["k", "b"], true, nodes).encode_to_vec())];
        let of = |file: &File| Model::new(read(file, &[], Asked::default()).expect("a graph")).expect("a model");
        let model = of(&files[0]);
        let moved: Vec<f64> = model.parameters.iter().enumerate().map(|(i, x)| x + 0.1 * (i as f64).cos()).collect();
        let tensors = model.tensors(&moved);
        // A factor that was computed of γ is in the file no more.
        if name == "one factor" {
            assert!(tensors.expect_err("no place").message.contains("no place in the file"), "{name}");
            continue;
        }
        let tensors = tensors.unwrap_or_else(|error| panic!("{name}: {error}"));
        let written = write(&files[0], &files, &tensors).expect("a file");
        let again = of(&File::new("again.onnx", written));
        assert_near(name, &again.parameters, &moved, 1e-6);
    }
}

#[test]
fn what_is_added_alone_needs_a_bias() {
    let alone = vec![two("Sub", "c", "means", "n")];
    let error = opened(&with(&["k", "b"], true, alone.clone())).expect_err("no bias");
    assert!(error.message.contains("adds a number to each channel"), "{error}");
    let graph = opened(&with(&["k"], false, alone)).expect("a graph");
    assert_eq!(layers(&graph), ["conv2d", "flatten", "dense"]);
    // What is taken off is read by another besides.
    let nodes = vec![two("Sub", "c", "means", "m"), two("Div", "m", "deviations", "d"), two("Add", "m", "d", "n")];
    let error = opened(&with(&["k", "b"], true, nodes)).expect_err("two readers");
    assert!(error.message.contains("adds a number to each channel"), "{error}");
}

/// A model over images of one channel: these nodes from c to n behind a ReLU, with constants of a shape.
fn of_one(shape: &[i64], nodes: Vec<NodeProto>) -> Result<Graph, crate::error::Error> {
    let mut all = vec![node("Conv", &["x", "k", "b"], "a", vec![]), node("Relu", &["a"], "c", vec![])];
    all.extend(nodes);
    all.extend([node("Flatten", &["n"], "f", vec![]), node("MatMul", &["f", "w"], "y", vec![])]);
    let number = |name: &str, value: f32| tensor(name, shape, move |_| value);
    let tensors = vec![
        tensor("k", &[1, 1, 1, 1], |_| 0.5),
        tensor("b", &[1], |_| 0.25),
        tensor("w", &[9, 2], |i| (i as f32).cos()),
        number("mean", 0.5),
        number("deviation", 2.0),
        number("gamma", 3.0),
        number("beta", 0.25),
        number("one", 1.0),
        number("half", 0.5),
        number("root", std::f32::consts::SQRT_2),
    ];
    opened(&model(&[1, 3, 3], all, tensors))
}

#[test]
fn a_number_for_the_one_channel_is_a_scale() {
    let norm = || {
        vec![
            two("Sub", "c", "mean", "m"),
            two("Div", "m", "deviation", "d"),
            two("Mul", "d", "gamma", "g"),
            two("Add", "beta", "g", "n"),
        ]
    };
    let scaled = |factor: f64, shift: f64, relu: bool| {
        let inputs: Vec<f64> = (0..18).map(|i| (f64::from(i) * 0.7).sin()).collect();
        let of = |x: f64| factor * (0.5 * x + 0.25).max(0.0) + shift;
        let hidden: Vec<f64> = inputs.iter().map(|&x| if relu { of(x).max(0.0) } else { of(x) }).collect();
        let unit = |sample: usize, u: usize| -> f64 {
            (0..9).map(|i| hidden[9 * sample + i] * f64::from(((2 * i + u) as f32).cos())).sum()
        };
        (0..4).map(|i| unit(i / 2, i % 2)).collect::<Vec<f64>>()
    };
    let relu = |mut nodes: Vec<NodeProto>| {
        nodes.last_mut().expect("a node").output[0] = "z".into();
        [nodes, vec![node("Relu", &["z"], "n", vec![])]].concat()
    };
    let factor = || vec![two("Mul", "gamma", "c", "n")];
    let both = || vec![two("Mul", "c", "gamma", "g"), two("Add", "g", "beta", "n")];
    for shape in [&[1][..], &[1, 1, 1], &[1, 1, 1, 1]] {
        for (nodes, kind, w, b) in [
            (factor(), "scale", 3.0, 0.0),
            (both(), "scale", 3.0, 0.25),
            (norm(), "batch_norm", 1.5, -0.5),
            (vec![two("Mul", "c", "one", "n")], "scale", 1.0, 0.0),
        ] {
            for behind in [false, true] {
                let graph = of_one(shape, if behind { relu(nodes.clone()) } else { nodes.clone() });
                let graph = graph.unwrap_or_else(|error| panic!("{shape:?} {kind}: {error}"));
                let expected = [&["conv2d", "relu", kind][..], if behind { &["relu"] } else { &[] }];
                // A ReLU of what a factor of one gives is a ReLU.
                if !(behind && w == 1.0) {
                    assert_eq!(layers(&graph), [&expected.concat()[..], &["flatten", "dense"]].concat(), "{shape:?}");
                }
                assert_near(kind, &outputs(graph, 9), &scaled(w, b, behind), 1e-6);
            }
        }
        // Its factors and shifts go back to the file.
        let model = Model::new(of_one(shape, norm()).expect("a graph")).expect("a model");
        let tensors = model.tensors(&model.parameters).expect("places");
        assert!((tensors["gamma"][0] - 3.0).abs() < 1e-12 && (tensors["beta"][0] - 0.25).abs() < 1e-12);
        // An activation that is spelled out stays one.
        let gelu = vec![
            two("Div", "c", "root", "e0"),
            node("Erf", &["e0"], "e1", vec![]),
            two("Add", "e1", "one", "e2"),
            two("Mul", "c", "e2", "e3"),
            two("Mul", "e3", "half", "n"),
        ];
        assert_eq!(layers(&of_one(shape, gelu).expect("a graph")), ["conv2d", "relu", "gelu", "flatten", "dense"]);
        let error = of_one(shape, vec![two("Add", "c", "beta", "n")]).expect_err("no bias");
        assert!(error.message.contains("adds a number to each channel"), "{error}");
    }
    // A number without axes is for all values, of however many channels.
    assert!(of_one(&[], factor()).expect_err("a number").message.contains("multiplies by 3"));
}

#[test]
fn an_input_of_one_channel_is_not_normalised_within() {
    let nodes = vec![
        two("Sub", "x", "mean", "m"),
        two("Div", "m", "deviation", "n"),
        node("Flatten", &["n"], "f", vec![]),
        two("MatMul", "f", "w", "y"),
    ];
    let tensors = vec![
        tensor("mean", &[1, 1, 1], |_| 0.1307),
        tensor("deviation", &[1, 1, 1], |_| 0.3081),
        tensor("w", &[9, 2], |i| i as f32),
    ];
    let error = opened(&model(&[1, 3, 3], nodes, tensors)).expect_err("data");
    assert!(error.message.contains("normalise the data so before"), "{error}");
}
