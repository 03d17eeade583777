//! Small models, each for one thing that a node may be.

use prost::Message;

use super::super::proto::*;
use super::super::{Asked, read};
use super::build::*;
use super::{assert_near, layers, unfolded};
use crate::error::ErrorCode;
use crate::io::naive;
use crate::io::{File, Model, ModelOptions, Operation, open_model};
use crate::network::{Layer, Pool2d};

#[test]
fn an_input_with_its_one_channel_last_is_declared_as_the_image_that_the_model_makes_of_it() {
    let nodes = |more: Vec<NodeProto>| {
        let nodes = vec![
            node("Reshape", &["x", "to"], "i", vec![]),
            node("Conv", &["i", "k"], "c", vec![]),
            node("Flatten", &["c"], "f", vec![]),
            node("MatMul", &["f", "w"], "y", vec![]),
        ];
        let tensors = vec![
            whole("to", &[-1, 1, 5, 4]),
            tensor("k", &[2, 1, 3, 3], |i| i as f32),
            tensor("w", &[12, 2], |i| i as f32),
        ];
        opened(&model(&[5, 4, 1], [more, nodes].concat(), tensors))
    };
    let graph = nodes(Vec::new()).expect("a graph");
    assert_eq!((graph.input.clone(), layers(&graph)), (vec![1, 5, 4], vec!["conv2d", "flatten", "dense"]));
    assert!(Model::new(graph).is_ok());
}

#[test]
fn an_image_of_one_row_becomes_features() {
    let nodes = vec![
        node("Conv", &["x", "k"], "c", vec![]),
        node("Squeeze", &["c"], "s", vec![ints("axes", &[1, 2])]),
        node("MatMul", &["s", "w"], "y", vec![]),
    ];
    let tensors = vec![tensor("k", &[1, 2, 3, 3], |i| i as f32), tensor("w", &[2, 2], |i| i as f32)];
    let graph = opened(&model(&[2, 3, 4], nodes, tensors)).expect("a graph");
    assert_eq!(layers(&graph), ["conv2d", "flatten", "dense"]);
    assert!(Model::new(graph).is_ok());
}

#[test]
fn a_normalisation_is_not_folded_into_a_scale_behind_a_flatten() {
    let nodes = vec![
        node("Relu", &["x"], "r", vec![]),
        node("BatchNormalization", &["r", "scale", "shift", "mean", "variance"], "n", vec![]),
        node("Flatten", &["n"], "f", vec![]),
        node("Mul", &["f", "factor"], "m", vec![]),
        node("MatMul", &["m", "w"], "y", vec![]),
    ];
    let mut tensors: Vec<TensorProto> =
        ["scale", "shift", "mean", "variance"].map(|name| tensor(name, &[2], |i| 1.0 + i as f32)).to_vec();
    tensors.push(tensor("factor", &[12], |i| 1.0 + i as f32));
    tensors.push(tensor("w", &[12, 2], |i| i as f32 / 5.0));
    let graph = opened(&model(&[2, 2, 3], nodes, tensors)).expect("a graph");
    let (network, parameters) = unfolded(&graph);
    let inputs: Vec<f64> = (0..12).map(|i| f64::from(i) / 3.0 - 1.5).collect();
    let expected = naive::outputs(&network, &parameters, &inputs);
    let model = Model::new(graph).expect("a model");
    assert_near("folded", &naive::outputs(&model.network, &model.parameters, &inputs), &expected, 1e-12);
}

#[test]
fn long_chains_are_read_quickly() {
    let begun = std::time::Instant::now();
    let chain = |op: &str, more: &[&str]| {
        let mut nodes = vec![node("MatMul", &["x", "w"], "0", vec![])];
        for i in 1..20_000usize {
            let (before, after) = ((i - 1).to_string(), i.to_string());
            nodes.push(node(op, &[&[before.as_str()], more].concat(), &after, vec![]));
        }
        nodes.push(node("MatMul", &["19999", "v"], "y", vec![]));
        let tensors =
            vec![tensor("w", &[2, 2], |i| i as f32), tensor("v", &[2, 2], |i| i as f32), tensor("one", &[], |_| 1.0)];
        opened(&model(&[2], nodes, tensors))
    };
    assert_eq!(chain("Tanh", &[]).expect("a graph").nodes.len(), 20_001);
    assert_eq!(chain("Identity", &[]).expect("a graph").nodes.len(), 2);
    assert_eq!(chain("Mul", &["one"]).expect("a graph").nodes.len(), 2);
    assert!(chain("Add", &["one"]).is_err());
    assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
}

#[test]
fn an_output_can_be_named() {
    let nodes = vec![
        node("MatMul", &["x", "a"], "h", vec![]),
        node("Relu", &["h"], "r", vec![]),
        node("MatMul", &["r", "b"], "y", vec![]),
    ];
    let tensors = vec![tensor("a", &[2, 3], |i| i as f32), tensor("b", &[3, 2], |i| i as f32)];
    let file = File::new("m.onnx", model(&[2], nodes, tensors).encode_to_vec());
    let named = |name: &str| read(&file, &[], Asked { output: Some(name), input: None });
    assert_eq!(layers(&named("h").expect("a graph")), ["dense"]);
    assert_eq!(layers(&named("y").expect("a graph")), ["dense", "relu", "dense"]);
    assert_eq!(named("z").expect_err("no such tensor").code, ErrorCode::InvalidOption);
}

#[test]
fn of_two_heads_one_is_named() {
    let nodes = vec![
        node("MatMul", &["x", "a"], "h", vec![]),
        node("MatMul", &["h", "b"], "y", vec![]),
        node("MatMul", &["h", "c"], "aux", vec![]),
    ];
    let tensors = vec![
        tensor("a", &[2, 3], |i| i as f32),
        tensor("b", &[3, 2], |i| i as f32),
        tensor("c", &[3, 4], |i| i as f32),
    ];
    let mut heads = model(&[2], nodes, tensors);
    heads.graph.as_mut().expect("a graph").output.push(info("aux", &[4]));
    let files = [File::new("m.onnx", heads.encode_to_vec())];
    let with = |output: Option<&str>| {
        open_model(&files, &ModelOptions { output: output.map(Into::into), ..ModelOptions::default() })
    };
    assert!(with(None).expect_err("two outputs").message.contains("by the option output"));
    assert_eq!(with(Some("y")).expect("a model").model.network.output_len(), 2);
    assert_eq!(with(Some("aux")).expect("a model").model.network.output_len(), 4);
}

#[test]
fn axes_that_are_open_are_those_that_are_said() {
    let mut open = around(&[2, 5, 5], "Relu", &[], vec![]);
    open.graph.as_mut().expect("a graph").input[0] = info("x", &[2, 0, 0]);
    let files = [File::new("m.onnx", open.encode_to_vec())];
    let with = |input: Option<&[usize]>| {
        open_model(&files, &ModelOptions { input: input.map(Into::into), ..ModelOptions::default() })
    };
    assert!(with(None).expect_err("open axes").message.contains("by the option input"));
    assert_eq!(with(Some(&[2, 5, 5])).expect("a model").model.network.input(), [2, 5, 5]);
    // The dense layer behind it is of 50 inputs, and the file says that there are two channels.
    assert!(with(Some(&[2, 4, 5])).is_err());
    assert_eq!(with(Some(&[3, 5, 5])).expect_err("other channels").code, ErrorCode::InvalidOption);
}

/// The loss has one softmax, and a logarithm of shares is one however often it is taken.
#[test]
fn one_softmax_is_taken_off() {
    let ends = |ops: &[&str]| {
        let mut nodes = vec![node("MatMul", &["x", "a"], "h0", vec![])];
        for (i, op) in ops.iter().enumerate() {
            let name = if i + 1 == ops.len() { "y".into() } else { format!("h{}", i + 1) };
            nodes.push(node(op, &[&format!("h{i}")], &name, vec![]));
        }
        opened(&model(&[2], nodes, vec![tensor("a", &[2, 3], |i| i as f32)]))
    };
    for fine in [&["Softmax"][..], &["LogSoftmax"], &["LogSoftmax", "LogSoftmax"], &["LogSoftmax", "Softmax"]] {
        let graph = ends(fine).expect("a graph");
        assert!(layers(&graph) == ["dense"] && graph.softmax.as_deref() == fine.last().copied(), "{fine:?}");
    }
    for other in [["Softmax", "Softmax"], ["Softmax", "LogSoftmax"]] {
        assert!(ends(&other).expect_err("two").message.contains("not within"), "{other:?}");
    }
}

#[test]
fn activations_in_several_nodes_are_one_layer() {
    let relu_by_max = around(&[2, 5, 5], "Max", &["zero"], vec![]);
    assert_eq!(layers(&opened(&relu_by_max).expect("a graph")), ["relu", "flatten", "dense"]);
    let relu_by_clip = around(&[2, 5, 5], "Clip", &["zero"], vec![]);
    assert_eq!(layers(&opened(&relu_by_clip).expect("a graph")), ["relu", "flatten", "dense"]);
    let twice = around(&[2, 5, 5], "Add", &["x"], vec![]);
    assert_eq!(layers(&opened(&twice).expect("a graph")), ["add", "flatten", "dense"]);
    let same = around(&[2, 5, 5], "Add", &["zero"], vec![]);
    assert_eq!(layers(&opened(&same).expect("a graph")), ["flatten", "dense"]);
}

#[test]
fn what_nothing_needs_is_left_out() {
    let nodes = vec![
        node("MatMul", &["x", "a"], "h", vec![]),
        node("Frobnicate", &["h"], "unused", vec![]),
        // Its layer is asked for its shape alone.
        node("MatMul", &["x", "b"], "shaped", vec![]),
        node("Shape", &["shaped"], "s", vec![]),
        node("Reshape", &["h", "s"], "r", vec![]),
        node("MatMul", &["r", "c"], "y", vec![]),
    ];
    let tensors = ["a", "b", "c"].map(|name| tensor(name, &[2, 2], |i| i as f32)).to_vec();
    assert_eq!(layers(&opened(&model(&[2], nodes, tensors)).expect("a graph")), ["dense", "dense"]);
}

#[test]
fn numbers_of_several_layers_are_read_but_have_no_place() {
    let nodes = vec![
        node("Gemm", &["x", "a", "bias"], "h", vec![]),
        node("Relu", &["h"], "r", vec![]),
        node("Gemm", &["r", "b", "bias"], "y", vec![]),
    ];
    let tensors = vec![
        tensor("a", &[2, 2], |i| i as f32),
        tensor("b", &[2, 2], |i| 1.0 - i as f32),
        tensor("bias", &[2], |_| 0.5),
    ];
    let graph = opened(&model(&[2], nodes, tensors)).expect("a graph");
    assert!(graph.notes.iter().any(|note| note.contains("bias")), "{:?}", graph.notes);
    let model = Model::new(graph).expect("a model");
    assert!(model.tensors(&model.parameters).is_err());
}

#[test]
fn one_number_is_the_bias_of_all_units() {
    let with = |shape: &[i64]| {
        let nodes = vec![node(
            "Gemm",
            &["x", "a", "c"],
            "y",
            vec![AttributeProto { name: "beta".into(), f: 2.0, ..Default::default() }],
        )];
        opened(&model(&[2], nodes, vec![tensor("a", &[2, 3], |i| i as f32), tensor("c", shape, |_| 0.25)]))
    };
    for shape in [&[][..], &[1], &[1, 1]] {
        let model = Model::new(with(shape).expect("a graph")).expect("a model");
        assert_eq!(model.parameters[6..], [0.5; 3], "{shape:?}");
        assert!(model.tensors(&model.parameters).is_err(), "{shape:?}");
    }
    assert!(with(&[2]).expect_err("two numbers").message.contains("3 units"));
}

#[test]
fn what_a_product_adds_may_be_a_layer() {
    let nodes = vec![
        node("MatMul", &["x", "a"], "h", vec![]),
        node("Relu", &["h"], "r", vec![]),
        node("Gemm", &["r", "b", "h"], "s", vec![]),
        node("MatMul", &["s", "w"], "y", vec![]),
    ];
    let square = |name| tensor(name, &[3, 3], |i| i as f32 - 4.0);
    let tensors = vec![square("a"), square("b"), tensor("w", &[3, 2], |i| i as f32)];
    let graph = opened(&model(&[3], nodes, tensors)).expect("a graph");
    assert_eq!(layers(&graph), ["dense", "relu", "dense", "add", "dense"]);
}

#[test]
fn channels_of_single_pixels_are_put_together_wherever_they_are() {
    let last = || vec![ints("perm", &[0, 2, 3, 1])];
    let nodes = vec![
        node("GlobalAveragePool", &["x"], "p", vec![]),
        node("Conv", &["p", "k"], "a", vec![]),
        node("Conv", &["p", "l"], "b", vec![]),
        node("Transpose", &["a"], "c", last()),
        node("Transpose", &["b"], "d", last()),
        node("Concat", &["c", "d"], "e", vec![int("axis", 3)]),
        node("Concat", &["d", "e"], "g", vec![int("axis", -1)]),
        node("Reshape", &["g", "to"], "f", vec![]),
        node("MatMul", &["f", "w"], "y", vec![]),
    ];
    let tensors = vec![
        tensor("k", &[3, 2, 1, 1], |i| i as f32),
        tensor("l", &[1, 2, 1, 1], |i| 2.0 - i as f32),
        tensor("w", &[5, 2], |i| i as f32),
        whole("to", &[-1, 5]),
    ];
    let graph = opened(&model(&[2, 4, 4], nodes.clone(), tensors.clone())).expect("a graph");
    let convolved = ["global_avg_pool2d", "conv2d", "conv2d"];
    assert_eq!(layers(&graph), [&convolved[..], &["concat", "concat", "flatten", "dense"]].concat());
    // Rows of pixels are no channels.
    let mut rows = nodes;
    rows[5] = node("Concat", &["c", "d"], "e", vec![int("axis", 2)]);
    assert!(opened(&model(&[2, 4, 4], rows, tensors)).is_err());
}

#[test]
fn names_of_classes_are_taken_off_with_the_softmax() {
    let mut zip = node("ZipMap", &["p"], "y", vec![ints("classlabels_int64s", &[0, 1])]);
    zip.domain = "ai.onnx.ml".into();
    let nodes = vec![node("MatMul", &["x", "w"], "h", vec![]), node("Softmax", &["h"], "p", vec![int("axis", 1)]), zip];
    let graph = opened(&model(&[2], nodes, vec![tensor("w", &[2, 2], |i| i as f32)])).expect("a graph");
    assert_eq!(layers(&graph), ["dense"]);
    assert!(graph.notes.iter().any(|note| note.contains("Softmax")), "{:?}", graph.notes);
}

#[test]
fn padding_goes_into_the_window_that_follows() {
    let nodes = |behind: &str, more: &[&str], attributes: Vec<AttributeProto>| {
        let nodes = vec![
            node("Pad", &["x", "pads"], "p", vec![]),
            node(behind, &[&["p"], more].concat(), "a", attributes),
            node("GlobalAveragePool", &["a"], "g", vec![]),
            node("Flatten", &["g"], "f", vec![]),
            node("MatMul", &["f", "w"], "y", vec![]),
        ];
        let pads = whole("pads", &[0, 1, 1, 0, 0, 0, 2, 0]);
        let tensors = vec![pads, tensor("k", &[3, 3, 3, 3], |i| i as f32), tensor("w", &[3, 2], |i| i as f32)];
        opened(&model(&[2, 4, 4], nodes, tensors))
    };
    let graph = nodes("Conv", &["k"], vec![ints("pads", &[0, 1, 0, 1])]).expect("a graph");
    assert_eq!(layers(&graph)[..2], ["pad_channels", "conv2d"]);
    let Operation::Layer { layer: Layer::Conv2d(conv), .. } = &graph.nodes[1].operation else {
        panic!("a convolution")
    };
    assert_eq!(conv.padding, [1, 1, 2, 1].into());
    assert!(nodes("MaxPool", &[], vec![ints("kernel_shape", &[2, 2])]).is_err(), "its padding is −∞");
    assert!(nodes("Flatten", &[], vec![]).is_err());
}

#[test]
fn padding_that_no_window_reaches_is_none() {
    // PyTorch's ceil_mode, which has nothing to round up here.
    let nodes = vec![
        node(
            "AveragePool",
            &["x"],
            "a",
            vec![ints("kernel_shape", &[2, 2]), ints("strides", &[2, 2]), ints("pads", &[0, 0, 1, 1])],
        ),
        node("GlobalAveragePool", &["a"], "g", vec![]),
        node("Flatten", &["g"], "f", vec![]),
        node("MatMul", &["f", "w"], "y", vec![]),
    ];
    let graph = opened(&model(&[2, 6, 4], nodes, vec![tensor("w", &[2, 2], |i| i as f32)])).expect("a graph");
    let Operation::Layer { layer: Layer::AvgPool2d(pool), .. } = &graph.nodes[0].operation else { panic!("a pool") };
    assert_eq!(*pool, Pool2d::new([2, 2]));
}

#[test]
fn constants_of_floating_point_are_not_divided_as_whole_numbers() {
    let of = |[three, two]: [TensorProto; 2]| {
        let nodes = vec![
            node("Div", &["a", "b"], "factor", vec![]),
            node("MatMul", &["x", "w"], "h", vec![]),
            node("Mul", &["h", "factor"], "y", vec![]),
        ];
        opened(&model(&[2], nodes, vec![three, two, tensor("w", &[2, 2], |i| 1.0 + i as f32)]))
    };
    let number = |name: &str, value: f32| tensor(name, &[], move |_| value);
    let error = of([number("a", 3.0), number("b", 2.0)]).expect_err("one and a half");
    assert!(error.message.contains("multiplies by 1.5"), "{error}");
    // A factor of one is no layer.
    let whole = |name: &str, value: i64| TensorProto { dims: Vec::new(), ..whole(name, &[value]) };
    for one in [[number("a", 2.0), number("b", 2.0)], [whole("a", 3), whole("b", 2)]] {
        assert_eq!(layers(&of(one).expect("a graph")), ["dense"]);
    }
}

#[test]
fn a_row_that_is_an_image_with_its_channels_last_is_one_to_all_that_read_it() {
    let [channels, height, width] = [2usize, 3, 4];
    let count = channels * height * width;
    let of = |row: &str, more: Vec<NodeProto>| {
        let nodes = vec![
            node("Reshape", &["x", "to"], "i", vec![]),
            node("Transpose", &["i"], "t", vec![ints("perm", &[0, 3, 1, 2])]),
            node("Conv", &["t", "k"], "c", vec![]),
            node("Flatten", &["c"], "f", vec![]),
            node("MatMul", &["f", "w"], "deep", vec![]),
            node("MatMul", &[row, "v"], "wide", vec![]),
            node("Add", &["deep", "wide"], "y", vec![]),
        ];
        let tensors = vec![
            whole("to", &[-1, height as i64, width as i64, channels as i64]),
            tensor("k", &[1, 2, 1, 1], |i| 1.0 + i as f32),
            tensor("w", &[12, 2], |i| (i as f32).cos()),
            tensor("v", &[count as i64, 2], |i| (i as f32).sin()),
        ];
        opened(&model(&[count as i64], [more, nodes].concat(), tensors)).expect("a graph")
    };
    // The model's row, pixel after pixel, and isoflat's image, channel after channel.
    let row: Vec<f64> = (0..count).map(|i| (i as f64 * 0.3).cos()).collect();
    let image: Vec<f64> = (0..count).map(|i| row[i % (height * width) * channels + i / (height * width)]).collect();
    let single = |value: f32| f64::from(value);
    let expected: Vec<f64> = (0..2)
        .map(|unit| {
            let deep = (0..12).map(|p| (row[2 * p] + 2.0 * row[2 * p + 1]) * single(((2 * p + unit) as f32).cos()));
            let wide = (0..count).map(|i| row[i] * single(((2 * i + unit) as f32).sin()));
            deep.sum::<f64>() + wide.sum::<f64>()
        })
        .collect();
    for (name, more) in [("x", vec![]), ("same", vec![node("Identity", &["x"], "same", vec![])])] {
        let model = Model::new(of(name, more)).expect("a model");
        assert_near(name, &naive::outputs(&model.network, &model.parameters, &image), &expected, 1e-12);
    }
}
