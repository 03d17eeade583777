//! What is refused, in words.

use prost::Message;

use super::super::proto::*;
use super::super::{Asked, read};
use super::build::*;
use crate::error::ErrorCode;
use crate::io::File;

#[test]
fn what_isoflat_has_no_layer_for_is_refused_with_what_would_do() {
    let pool = |more: Vec<AttributeProto>| [vec![ints("kernel_shape", &[2, 2])], more].concat();
    let cases: Vec<(&str, &[&str], Vec<AttributeProto>, &str)> = vec![
        ("LayerNormalization", &[], vec![], "statistics are those of each sample"),
        ("HardSwish", &[], vec![], "Relu, ReLU6, LeakyRelu"),
        ("Softmax", &[], vec![], "not within"),
        ("Frobnicate", &[], vec![], "Frobnicate node 0 (x → a)"),
        ("Clip", &["zero", "five"], vec![], "the one from 0 to 6, ReLU6"),
        ("PRelu", &["slopes"], vec![], "one positive slope"),
        (
            "LeakyRelu",
            &[],
            vec![AttributeProto { name: "alpha".into(), f: -0.5, ..Default::default() }],
            "one positive slope",
        ),
        ("Mul", &["six"], vec![], "normalise the data"),
        ("Sub", &["channel"], vec![], "normalise the data"),
        ("Add", &["full"], vec![], "not of single values"),
        ("AveragePool", &[], pool(vec![ints("pads", &[1, 1, 1, 1])]), "count_include_pad"),
        ("AveragePool", &[], pool(vec![int("ceil_mode", 1), ints("strides", &[2, 2])]), "ceil_mode"),
        ("AveragePool", &[], pool(vec![ints("pads", &[0, 0, 1, 1]), ints("strides", &[2, 2])]), "ceil_mode=False"),
        ("MaxPool", &[], pool(vec![ints("dilations", &[2, 2])]), "dilations"),
        ("MaxPool", &[], vec![ints("kernel_shape", &[2])], "[height, width]"),
        ("Relu", &[], vec![int("mystery", 1)], "mystery"),
        ("Transpose", &[], vec![ints("perm", &[1, 0, 2, 3])], "samples"),
        ("Transpose", &[], vec![ints("perm", &[0, 0, 2, 3])], "no order"),
        ("Concat", &["full"], vec![int("axis", 1)], "only zeros"),
        ("Concat", &["x"], vec![int("axis", 2)], "channels or features"),
        ("Conv", &["k"], vec![ints("pads", &[-1, 0, 0, 0])], "negative"),
        ("Conv", &["k"], vec![int("group", 2)], "groups"),
        ("Conv", &["w"], vec![], "two-dimensional"),
        ("Conv", &["x"], vec![], "not a tensor of the file"),
        ("Conv", &["nothing"], vec![], "nothing in the graph gives"),
        ("MatMul", &["x"], vec![], "attention"),
        ("Mul", &["x"], vec![], "none of isoflat's activations"),
        ("ReduceMean", &[], vec![ints("axes", &[1])], "rows and columns"),
        ("Cast", &[], vec![int("to", 7)], "whole numbers"),
        ("Dropout", &["zero", "six"], vec![], "at random"),
        ("MaxPool", &[], vec![], "no kernel_shape"),
    ];
    for (op, more, attributes, says) in cases {
        let found = opened(&around(&[2, 5, 5], op, more, attributes));
        let error = found.err().unwrap_or_else(|| panic!("{op} is to be refused: {says}"));
        assert!(error.message.contains(says), "{op}: {error}");
        assert!(error.message.contains(op) || op == "Flatten", "{op}: {error}");
    }
}

#[test]
fn images_are_not_put_beside_their_own_transposes() {
    let nodes = vec![
        node("Transpose", &["x"], "t", vec![ints("perm", &[0, 1, 3, 2])]),
        node("Concat", &["x", "t"], "y", vec![int("axis", 1)]),
    ];
    let error = opened(&model(&[2, 5, 5], nodes, vec![])).expect_err("another order");
    assert!(error.message.contains("order of their axes"), "{error}");
}

#[test]
fn a_transposed_input_is_not_taken_for_the_images_themselves() {
    let nodes = |transposes: bool| {
        let from = if transposes { "t" } else { "x" };
        vec![
            node("Transpose", &["x"], "t", vec![ints("perm", &[0, 2, 1])]),
            node("Unsqueeze", &[from], "u", vec![ints("axes", &[1])]),
            node("Conv", &["u", "k"], "c", vec![]),
            node("Flatten", &["c"], "f", vec![]),
            node("MatMul", &["f", "w"], "y", vec![]),
        ]
    };
    let weights = || vec![tensor("k", &[2, 1, 3, 3], |i| i as f32), tensor("w", &[18, 2], |i| i as f32)];
    assert!(opened(&model(&[5, 5], nodes(false), weights())).is_ok());
    let error = opened(&model(&[5, 5], nodes(true), weights())).expect_err("another image");
    assert!(error.message.contains("which is not images"), "{error}");
}

#[test]
fn rows_that_were_images_of_one_channel_are_of_one_channel() {
    let nodes = vec![node("Flatten", &["x"], "f", vec![]), node("MatMul", &["f", "w"], "y", vec![])];
    let found = opened(&model(&[5, 4, 1], nodes, vec![tensor("w", &[20, 2], |i| i as f32)])).expect("a network");
    assert_eq!(found.input, [1, 5, 4]);
}

#[test]
fn outputs_of_classes_are_left_out_where_there_are_others() {
    let mut of = model(
        &[2],
        vec![
            node("MatMul", &["x", "w"], "z", vec![]),
            node("ArgMax", &["z"], "label", vec![int("axis", 1), int("keepdims", 0)]),
            node("Cast", &["label"], "text", vec![int("to", 7)]),
            node("Softmax", &["z"], "p", vec![int("axis", 1)]),
        ],
        vec![tensor("w", &[2, 2], |i| i as f32)],
    );
    let graph = of.graph.as_mut().expect("a graph");
    let mut label = info("text", &[]);
    label.r#type.as_mut().and_then(|of| of.tensor_type.as_mut()).expect("a type").elem_type = 7;
    graph.output = vec![label, info("p", &[2])];
    let found = opened(&of).expect("the probabilities");
    assert!(
        found.notes.iter().any(|note| note.contains("whole numbers or text are left out: text")),
        "{:?}",
        found.notes
    );
}

#[test]
fn outputs_that_nobody_computes_or_no_input_changes_are_left_out() {
    let of = |outputs: &[&str], output: Option<&str>| {
        let nodes = vec![
            node("MatMul", &["x", "w"], "y", vec![]),
            node("Identity", &["w"], "copy", vec![]),
            node("Relu", &["y"], "after", vec![]),
        ];
        let mut of = model(&[2], nodes, vec![tensor("w", &[2, 2], |i| i as f32)]);
        of.graph.as_mut().expect("a graph").output = outputs.iter().map(|name| info(name, &[2])).collect();
        read(&File::new("m.onnx", of.encode_to_vec()), &[], Asked { output, input: None })
    };
    for (outputs, says) in [
        (&["y", "nowhere"][..], "none of its nodes gives, are left out: nowhere"),
        (&["nowhere", "y", "x"], "none of its nodes gives, are left out: nowhere"),
        (&["y", "w", "copy"], "no input changes are left out: w, copy"),
        (&["y", "x"], "lie on the way"),
    ] {
        let graph = of(outputs, None).unwrap_or_else(|error| panic!("{outputs:?}: {error}"));
        assert_eq!(graph.nodes.len(), 1, "{outputs:?}");
        assert!(graph.notes.iter().any(|note| note.contains(says)), "{outputs:?}: {:?}", graph.notes);
    }
    let error = of(&["y", "nowhere"], Some("nowhere")).expect_err("not there");
    assert!(error.message.contains("declares the output nowhere, but none of its nodes gives it"), "{error}");
    assert!(of(&["nowhere"], Some("y")).is_ok());
    // One that is there, and that depends on the input, is a second one yet.
    assert!(of(&["y", "after", "nowhere"], None).expect_err("two").message.contains("2 outputs (y, after)"));
}

#[test]
fn what_a_normalisation_gives_besides_is_training_in_old_versions_alone() {
    let of = |version: i64, training: i64, reads: &str| {
        let mut norm =
            node("BatchNormalization", &["h", "s", "s", "s", "s"], "n", vec![int("training_mode", training)]);
        norm.output.push("mean".into());
        let nodes = vec![node("MatMul", &["x", "w"], "h", vec![]), norm, node("MatMul", &[reads, "v"], "y", vec![])];
        let tensors =
            vec![tensor("w", &[2, 2], |i| i as f32), tensor("v", &[2, 2], |i| i as f32), tensor("s", &[2], |_| 1.0)];
        let mut model = model(&[2], nodes, tensors);
        model.opset_import[0].version = version;
        opened(&model).map_err(|error| error.message)
    };
    assert!(of(15, 0, "n").is_ok());
    assert!(of(13, 0, "n").expect_err("training").contains("as in training"));
    assert!(of(15, 1, "n").expect_err("training").contains("as in training"));
    assert!(of(15, 0, "mean").expect_err("a statistic").contains("beside its first output"));
}

#[test]
fn numbers_that_are_a_slope_too_are_not_written_back() {
    let nodes = vec![
        node("MatMul", &["x", "w"], "a", vec![]),
        node("Add", &["a", "s"], "b", vec![]),
        node("PRelu", &["b", "s"], "r", vec![]),
        node("MatMul", &["r", "v"], "y", vec![]),
    ];
    let weights = ["w", "v"].map(|name| tensor(name, &[if name == "w" { 2 } else { 1 }, 1], |_| 1.0));
    let list = weights.into_iter().chain([tensor("s", &[1], |_| 0.25)]).collect();
    let found = opened(&model(&[2], nodes, list)).expect("a network");
    assert!(found.notes.iter().any(|note| note.contains("cannot be written back")), "{:?}", found.notes);
}

#[test]
fn models_as_a_whole_are_refused_where_they_are_no_network() {
    let dense = |from: &str, weight: &str, to: &str| node("MatMul", &[from, weight], to, vec![]);
    let w = || tensor("w", &[2, 2], |i| i as f32);
    let good = || model(&[2], vec![dense("x", "w", "y")], vec![w()]);
    assert!(opened(&good()).is_ok());
    let changed = |change: &dyn Fn(&mut ModelProto)| {
        let mut model = good();
        change(&mut model);
        opened(&model).expect_err("no network").message
    };
    let graph =
        |model: &mut ModelProto, change: &dyn Fn(&mut GraphProto)| change(model.graph.as_mut().expect("a graph"));
    for (says, change) in [
        ("operator set 8", &(|m: &mut ModelProto| m.opset_import[0].version = 8) as &dyn Fn(&mut ModelProto)),
        ("which version", &|m| m.opset_import.clear()),
        ("has no graph", &|m| m.graph = None),
        ("no output", &|m| graph(m, &|g| g.output.clear())),
        ("0 inputs", &|m| graph(m, &|g| g.input.clear())),
        ("2 inputs (x, z)", &|m| {
            graph(m, &|g| {
                g.input.push(info("z", &[2]));
                g.node.insert(0, node("Add", &["x", "z"], "s", vec![]));
                g.node[1].input[0] = "s".into();
            })
        }),
        ("not fixed", &|m| graph(m, &|g| g.input[0] = info("x", &[0]))),
        ("tied weights", &|m| {
            graph(m, &|g| {
                g.node[0].output[0] = "h".into();
                g.node.push(dense("h", "w", "y"));
            })
        }),
        ("two tensors of the name w", &|m| graph(m, &|g| g.initializer.push(w()))),
        ("comes before", &|m| {
            graph(m, &|g| {
                g.node[0].input[0] = "r".into();
                g.node.push(node("Relu", &["x"], "r", vec![]));
            })
        }),
        ("sparse", &|m| {
            graph(m, &|g| {
                let values = g.initializer.pop().map(Box::new);
                g.sparse_initializer.push(SparseTensorProto { values });
            })
        }),
        ("inline_local_functions", &|m| {
            graph(m, &|g| g.node[0].domain = "own".into());
            m.functions.push(FunctionProto { name: "MatMul".into(), domain: "own".into() });
        }),
        ("no operator of ONNX itself", &|m| graph(m, &|g| g.node[0].domain = "com.microsoft".into())),
        ("segments", &|m| graph(m, &|g| g.initializer[0].segment = Some(Segment { begin: 0, end: 1 }))),
        ("is to have 4 numbers", &|m| {
            graph(m, &|g| {
                g.initializer[0].float_data.pop();
            })
        }),
        ("2 outputs", &|m| {
            graph(m, &|g| {
                g.node.push(node("Relu", &["y"], "z", vec![]));
                g.output.push(info("z", &[]));
            })
        }),
        ("w is a tensor of the file", &|m| graph(m, &|g| g.output[0].name = "w".into())),
        ("declares the output nowhere, but none of its nodes gives it", &|m| {
            graph(m, &|g| g.output[0].name = "nowhere".into())
        }),
        ("no layer between", &|m| graph(m, &|g| g.node[0] = node("Dropout", &["x"], "y", vec![]))),
        ("y is behind sigmoid", &|m| {
            graph(m, &|g| {
                g.node[0].output[0] = "h".into();
                g.node.push(node("Sigmoid", &["h"], "y", vec![]));
            })
        }),
        ("multiplies by 0.5", &|m| {
            graph(m, &|g| {
                g.node[0].output[0] = "h".into();
                g.initializer.push(tensor("half", &[], |_| 0.5));
                g.node.push(node("Mul", &["h", "half"], "s", vec![]));
                g.node.push(node("Relu", &["s"], "y", vec![]));
            })
        }),
    ] {
        let message = changed(change);
        assert!(message.contains(says), "{says}: {message}");
    }
}

#[test]
fn sizes_beyond_all_bounds_are_refused_before_they_are_computed_with() {
    for shape in [vec![i64::MAX, 2], vec![1 << 40], vec![1 << 20, 1 << 20, 1 << 20]] {
        let nodes = vec![node("Flatten", &["x"], "f", vec![]), node("MatMul", &["f", "w"], "y", vec![])];
        let error = opened(&model(&shape, nodes, vec![tensor("w", &[2, 2], |_| 1.0)])).expect_err("no such input");
        assert_eq!(error.code, ErrorCode::TooLarge, "{error}");
    }
    for pads in [[0, 0, i64::MAX, i64::MAX, 0, 0, i64::MAX, 1], [0, i64::MAX, 0, 0, 0, i64::MAX, 0, 0]] {
        let nodes = vec![
            node("Pad", &["x", "pads"], "p", vec![]),
            node(
                "Conv",
                &["p", "k"],
                "c",
                vec![AttributeProto { name: "auto_pad".into(), s: "SAME_UPPER".into(), ..Default::default() }],
            ),
            node("Flatten", &["c"], "f", vec![]),
            node("MatMul", &["f", "w"], "y", vec![]),
        ];
        let tensors = vec![whole("pads", &pads), tensor("k", &[2, 2, 3, 3], |_| 1.0), tensor("w", &[2, 2], |_| 1.0)];
        assert!(opened(&model(&[2, 4, 4], nodes, tensors)).is_err());
    }
}
