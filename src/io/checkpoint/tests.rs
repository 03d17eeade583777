//! Weights as other programs name and order them come to the parameters that they are.

mod blocks;
mod foreign;
mod groups;
mod order;
mod partners;
mod tied;

use serde_json::json;

use crate::io::{Array, Arrays, Elements, Model, checkpoint};
use crate::network::{BiasInitialization, Initialization, Layer, Network, Preset};

fn parameters(network: &Network, seed: u64) -> Vec<f64> {
    network.initialize(Initialization::KaimingNormal, BiasInitialization::Uniform, seed).expect("parameters")
}

/// Every number another one: at initialization all scales are the same, and any may have another one's place.
fn distinct(network: &Network) -> Vec<f64> {
    (0..network.parameter_count()).map(|i| 0.2 * (i as f64 * 0.7).sin()).collect()
}

fn array(shape: Vec<usize>, values: Vec<f64>) -> Array {
    Array::new(shape, Elements::F64(values)).expect("an array")
}

/// A network's weights as PyTorch would name them, a name a layer.
fn as_torch(network: &Network, theta: &[f64], name: impl Fn(usize, &Layer) -> String) -> Vec<(String, Array)> {
    let mut arrays = Vec::new();
    for (l, place) in network.layout().layers().iter().enumerate() {
        let layer = network.layer(place.layer);
        let name = name(l, layer);
        let shape = checkpoint::weight_shape(layer, place);
        arrays.push((format!("{name}.weight"), array(shape, theta[place.weight.clone()].to_vec())));
        if let Some(bias) = &place.bias {
            arrays.push((format!("{name}.bias"), array(vec![place.outputs], theta[bias.clone()].to_vec())));
        }
    }
    arrays
}

/// Statistics beside what was a scale: with μ = 0 and σ² + ε = 1 it stays what it is.
fn with_statistics(arrays: Vec<(String, Array)>) -> Vec<(String, Array)> {
    let mut out = Vec::new();
    for (name, array_of) in arrays {
        let statistics = name.strip_suffix(".bias").filter(|name| name.contains("bn")).map(str::to_string);
        let width = array_of.elements().len();
        out.push((name, array_of));
        if let Some(name) = statistics {
            out.push((format!("{name}.running_mean"), array(vec![width], vec![0.0; width])));
            out.push((format!("{name}.running_var"), array(vec![width], vec![1.0 - 1e-5; width])));
        }
    }
    out
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs().max(1.0))
}

fn arrays(arrays: Vec<(String, Array)>) -> Arrays {
    Arrays { arrays, ..Arrays::default() }
}

#[test]
fn the_weights_of_every_preset_find_it_again() {
    for preset in Preset::ALL {
        let network = preset.network();
        if network.parameter_count() > 2_000_000 {
            continue;
        }
        let theta = parameters(&network, 3);
        let name = |l: usize, layer: &Layer| match layer {
            Layer::Scale { .. } => format!("blocks.{l}.bn"),
            _ => format!("blocks.{l}.layer"),
        };
        let given = arrays(with_statistics(as_torch(&network, &theta, name)));
        let graph = checkpoint::graph(&given, None, None).expect("a graph");
        let model = Model::new(graph).expect("a model");
        assert!(model.network == network, "{}", preset.name());
        assert!(close(&model.parameters, &theta), "{}", preset.name());
        assert!(model.notes[0].contains(preset.name()), "{:?}", model.notes);
        // And back: other parameters come to stand where these came from.
        let other = parameters(&network, 4);
        let tensors = model.tensors(&other).expect("tensors");
        let again = given.arrays.iter().map(|(name, old)| {
            let values = tensors.get(name).cloned().unwrap_or_else(|| old.to_f64().expect("numbers"));
            (name.clone(), array(old.shape().to_vec(), values))
        });
        let again = arrays(again.collect());
        let graph = checkpoint::graph(&again, Some(&network), None).expect("a graph");
        assert!(close(&Model::new(graph).expect("a model").parameters, &other), "{}", preset.name());
    }
}

#[test]
fn names_that_lie_by_alphabet_are_counted() {
    // Layers of one shape: the tenth may not come before the second.
    let dense = r#"{"type": "dense", "units": 4}, {"type": "relu"}, "#.repeat(12);
    let json = format!(r#"{{"input": [4], "layers": [{dense} {{"type": "dense", "units": 2}}]}}"#);
    let network = Network::from_json(&json).expect("a network");
    let theta = parameters(&network, 9);
    let mut given = as_torch(&network, &theta, |l, _| format!("layers.{l}"));
    given.sort_by(|(a, _), (b, _)| a.cmp(b));
    assert_eq!(given[3].0, "layers.1.weight");
    assert_eq!(given[5].0, "layers.10.weight");
    let prepared = checkpoint::prepared(arrays(given)).expect("in order");
    for named in [Some(&network), None] {
        let model = Model::new(checkpoint::graph(&prepared, named, None).expect("a graph")).expect("a model");
        assert_eq!(model.parameters, theta);
    }
}

/// Hidden layers of one width are squares, which are turned as the others are.
#[test]
fn squares_by_letters_are_in_the_order_of_the_others() {
    for has_bias in [true, false] {
        let network = Network::dense(&[6, 8, 8, 3], has_bias).expect("a network");
        let theta = parameters(&network, 5);
        for is_torch in [true, false] {
            let mut given = Vec::new();
            for (l, place) in network.layout().layers().iter().enumerate() {
                let (rows, columns, weight) = (place.outputs, place.inputs, &theta[place.weight.clone()]);
                let turned = || (0..rows * columns).map(|i| weight[i % rows * columns + i / rows]).collect();
                given.push(match is_torch {
                    true => (format!("W{l}"), array(vec![rows, columns], weight.to_vec())),
                    false => (format!("W{l}"), array(vec![columns, rows], turned())),
                });
                if let Some(bias) = &place.bias {
                    given.push((format!("b{l}"), array(vec![rows], theta[bias.clone()].to_vec())));
                }
            }
            for named in [Some(&network), None] {
                let graph = checkpoint::graph(&arrays(given.clone()), named, None).expect("a graph");
                assert_eq!(Model::new(graph).expect("a model").parameters, theta, "{has_bias} {is_torch}");
            }
        }
    }
}

#[test]
fn normalisations_are_their_layers_partners_by_number_or_by_place() {
    // Registered conv1, conv2, bn1, bn2, where both have as many channels; and with the shortcut's at the end.
    let network = Network::from_json(
        r#"{"input": [2, 6, 6], "layers": [
            {"type": "conv2d", "channels": 4, "kernel": 3, "padding": 1, "bias": false}, {"type": "scale"}, {"type": "relu", "name": "a"},
            {"type": "conv2d", "channels": 4, "kernel": 1, "bias": false}, {"type": "scale", "name": "around"},
            {"type": "conv2d", "channels": 4, "kernel": 3, "padding": 1, "bias": false, "from": "a"}, {"type": "scale", "name": "b"},
            {"type": "add", "from": ["b", "around"]}, {"type": "relu"},
            {"type": "global_avg_pool2d"}, {"type": "flatten"}, {"type": "dense", "units": 3}]}"#,
    )
    .expect("a network");
    let theta = parameters(&network, 1);
    let names = ["conv1", "bn1", "down.0", "down.bn", "conv2", "bn2", "fc"];
    let named = with_statistics(as_torch(&network, &theta, |l, _| names[l].into()));
    let of = |name: &str| named.iter().filter(|(n, _)| n.starts_with(name)).cloned().collect::<Vec<_>>();
    for order in [["conv1", "conv2", "bn1", "bn2", "down", "fc"], ["conv1", "bn1", "conv2", "bn2", "down", "fc"]] {
        let given = arrays(order.iter().flat_map(|name| of(name)).collect());
        let graph = checkpoint::graph(&given, Some(&network), None).expect("a graph");
        let model = Model::new(graph).expect("a model");
        assert!(close(&model.parameters, &theta), "{order:?}");
    }
}

#[test]
fn weights_in_keras_order_are_put_channel_after_channel() {
    let network = Preset::LeNet.network();
    let theta = parameters(&network, 5);
    let mut given = Vec::new();
    for (l, place) in network.layout().layers().iter().enumerate() {
        let w = &theta[place.weight.clone()];
        let (rows, columns) = (place.outputs, place.inputs);
        let area = place.columns_per_unit;
        let units = columns / area;
        // Pixel after pixel, then the channel that comes in, then the one that goes out.
        let at = |p: usize, unit: usize, row: usize| w[row * columns + unit * area + p];
        let mut values = Vec::new();
        for p in 0..area {
            for unit in 0..units {
                values.extend((0..rows).map(|row| at(p, unit, row)));
            }
        }
        let shape = match network.layer(place.layer) {
            Layer::Conv2d(conv) => vec![conv.kernel[0], conv.kernel[1], units, rows],
            _ => vec![columns, rows],
        };
        given.push((format!("layer_{l}/kernel:0"), array(shape, values)));
        let bias = theta[place.bias.clone().expect("a bias")].to_vec();
        given.push((format!("layer_{l}/bias:0"), array(vec![rows], bias)));
    }
    let given = arrays(given);
    let model = Model::new(checkpoint::graph(&given, None, None).expect("a graph")).expect("a model");
    assert_eq!(model.parameters, theta);
    assert!(model.notes.iter().any(|note| note.contains("pixel after pixel")), "{:?}", model.notes);
    let tensors = model.tensors(&theta).expect("tensors");
    for (name, array) in &given.arrays {
        assert_eq!(tensors[name], array.to_f64().expect("numbers"), "{name}");
    }
}

#[test]
fn weights_of_no_preset_are_proposed_as_a_chain() {
    let network = Network::from_json(
        &json!({"input": [3, 32, 32], "layers": [
            {"type": "conv2d", "channels": 7, "kernel": 3, "padding": 1}, {"type": "relu"}, {"type": "max_pool2d", "size": 2},
            {"type": "conv2d", "channels": 9, "kernel": 3, "padding": 1}, {"type": "relu"}, {"type": "max_pool2d", "size": 2},
            {"type": "flatten"}, {"type": "dense", "units": 11}, {"type": "relu"}, {"type": "dense", "units": 4}]})
        .to_string(),
    )
    .expect("a network");
    let theta = parameters(&network, 2);
    let given = arrays(as_torch(&network, &theta, |l, _| format!("net.{l}")));
    let model = Model::new(checkpoint::graph(&given, None, None).expect("a graph")).expect("a model");
    assert_eq!((&model.network, &model.parameters), (&network, &theta));
    assert!(model.notes.iter().any(|note| note.contains("ReLU")), "{:?}", model.notes);
}

#[test]
fn images_are_flattened_where_the_first_layer_is_dense() {
    let [flat, image] =
        [(json!([12]), vec![]), (json!([3, 2, 2]), vec![json!({ "type": "flatten" })])].map(|(input, mut layers)| {
            layers.extend([
                json!({ "type": "dense", "units": 5 }),
                json!({ "type": "relu" }),
                json!({ "type": "dense", "units": 4 }),
            ]);
            Network::from_json(&json!({ "input": input, "layers": layers }).to_string()).expect("a network")
        });
    let theta = parameters(&flat, 2);
    let given = arrays(as_torch(&flat, &theta, |l, _| format!("{}", 2 * l + 1)));
    for (input, network) in [(None, &flat), (Some(&[12][..]), &flat), (Some(&[3, 2, 2][..]), &image)] {
        let model = Model::new(checkpoint::graph(&given, None, input).expect("a graph")).expect("a model");
        assert_eq!((&model.network, &model.parameters), (network, &theta), "{input:?}");
    }
    let error = checkpoint::graph(&given, None, Some(&[3, 2, 3])).expect_err("18 inputs");
    assert!(error.message.contains("over inputs of [3, 2, 3]"), "{error}");
}

#[test]
fn numbers_in_names_tell_pools() {
    // conv, normalisation, ReLU, pool: of 3, 4, 5 and 6 the last two have no weights; and dropout is none between dense layers.
    let conv = |channels: usize| json!({ "type": "conv2d", "channels": channels, "kernel": 3, "padding": 1 });
    let (relu, pool) = (json!({ "type": "relu" }), json!({ "type": "max_pool2d", "size": 2 }));
    let mut layers = Vec::new();
    let mut names = Vec::new();
    let (mut number, mut named) = (0, Vec::new());
    for (channels, is_pooled) in
        [(3, true), (4, true), (5, false), (5, true), (6, false), (6, true), (6, false), (6, true)]
    {
        layers.extend([conv(channels), relu.clone()]);
        names.push(format!("features.{number}"));
        named.push((number + 1, channels));
        number += 3;
        if is_pooled {
            layers.push(pool.clone());
            number += 1;
        }
    }
    layers.extend([json!({ "type": "flatten" }), json!({ "type": "dense", "units": 7 }), relu]);
    layers.push(json!({ "type": "dense", "units": 10 }));
    names.extend(["classifier.0".into(), "classifier.3".into()]);
    let network = json!({ "input": [3, 32, 32], "layers": layers }).to_string();
    let network = Network::from_json(&network).expect("a network");
    let theta = parameters(&network, 2);
    let mut given = as_torch(&network, &theta, |l, _| names[l].clone());
    for (number, width) in named {
        let row = |value: f64| array(vec![width], vec![value; width]);
        let at =
            given.iter().position(|(name, _)| *name == format!("features.{}.bias", number - 1)).expect("its place");
        let statistics = [("running_mean", row(0.0)), ("running_var", row(1.0 - 1e-5))];
        given.splice(at + 1..at + 1, statistics.map(|(leaf, array)| (format!("features.{number}.{leaf}"), array)));
    }
    let model = Model::new(checkpoint::graph(&arrays(given), None, None).expect("a graph")).expect("a model");
    assert_eq!(model.network, network);
    assert!(close(&model.parameters, &theta));
}

#[test]
fn a_choice_is_no_other_of_itself() {
    // A chain by Sequential's numbers that nothing else fits, a kernel of one pixel among them.
    let json = r#"{"input": [1, 28, 28], "layers": [
        {"type": "conv2d", "channels": 2, "kernel": 3, "padding": 1}, {"type": "relu"}, {"type": "max_pool2d", "size": 2},
        {"type": "conv2d", "channels": 3, "kernel": 1}, {"type": "relu"}, {"type": "max_pool2d", "size": 2},
        {"type": "flatten"}, {"type": "dense", "units": 10}]}"#;
    let network = Network::from_json(json).expect("a network");
    let given = arrays(as_torch(&network, &parameters(&network, 1), |l, _| format!("{}", [0, 3, 7][l])));
    let model = Model::new(checkpoint::graph(&given, None, None).expect("a graph")).expect("a model");
    assert_eq!(model.network, network);
    assert!(!model.notes.iter().any(|note| note.contains("other choice")), "{:?}", model.notes);
}

#[test]
fn the_usual_choice_is_the_first() {
    let network = |input: [usize; 3], layers: serde_json::Value| {
        Network::from_json(&json!({ "input": input, "layers": layers }).to_string()).expect("a network")
    };
    let conv = |channels: usize| json!({ "type": "conv2d", "channels": channels, "kernel": 3 });
    let (relu, pool) = (json!({ "type": "relu" }), json!({ "type": "max_pool2d", "size": 2 }));
    let (flat, dense) = (json!({ "type": "flatten" }), |units: usize| json!({ "type": "dense", "units": units }));
    // PyTorch's example for MNIST, with fewer channels; Keras' for CIFAR-10, whose names are not PyTorch's.
    let torch = network([1, 28, 28], json!([conv(3), relu, conv(4), relu, pool, flat, dense(5), relu, dense(10)]));
    let keras = network(
        [3, 32, 32],
        json!([conv(3), relu, pool, conv(4), relu, pool, conv(4), relu, flat, dense(6), relu, dense(10)]),
    );
    let named = as_torch(&torch, &parameters(&torch, 1), |l, _| format!("{}{l}", if l < 2 { "conv" } else { "fc" }));
    let model = Model::new(checkpoint::graph(&arrays(named), None, None).expect("a graph")).expect("a model");
    assert_eq!(model.network, torch);
    // Padding in the first and a pool behind it leave 12 × 12 pixels too.
    assert!(model.notes.iter().any(|note| note.starts_with("1 other choice fits")), "{:?}", model.notes);
    let named = as_torch(&keras, &parameters(&keras, 1), |l, _| format!("layer_{l}"));
    let named = named.into_iter().map(|(name, array)| match *array.shape() {
        [o, i, h, w] => {
            (name.replace(".weight", "/kernel"), self::array(vec![h, w, i, o], array.to_f64().expect("numbers")))
        }
        [o, i] => (name.replace(".weight", "/kernel"), self::array(vec![i, o], array.to_f64().expect("numbers"))),
        _ => (name.replace(".bias", "/bias"), array),
    });
    let model = Model::new(checkpoint::graph(&arrays(named.collect()), None, None).expect("a graph")).expect("a model");
    assert_eq!(model.network, keras);
}

#[test]
fn images_of_any_size_are_proposed_where_the_dense_layer_tells_it() {
    let of = |channels: [usize; 2], size: usize, layers: serde_json::Value| {
        let json = json!({ "input": [channels[0], size, size], "layers": layers });
        let network = Network::from_json(&json.to_string()).expect("a network");
        let named = as_torch(&network, &parameters(&network, 7), |l, _| format!("layers.{l}"));
        checkpoint::graph(&arrays(named), None, None).map(|graph| Model::new(graph).expect("a model").network)
    };
    let small = json!([
        { "type": "conv2d", "channels": 3, "kernel": 3, "padding": 1 }, { "type": "relu" }, { "type": "flatten" },
        { "type": "dense", "units": 4 },
    ]);
    assert_eq!(of([2, 3], 11, small.clone()).expect("a chain").input(), [2, 11, 11]);
    assert_eq!(of([3, 3], 64, small).expect("a chain").input(), [3, 64, 64]);
    // Strides are nothing that is guessed; what there is is said.
    let strided = json!([
        { "type": "conv2d", "channels": 3, "kernel": 3, "padding": 1, "stride": 4 }, { "type": "relu" }, { "type": "flatten" },
        { "type": "dense", "units": 4 }, { "type": "relu" }, { "type": "dense", "units": 1 },
    ]);
    let found = of([3, 3], 7 * 31, strided);
    assert!(found.is_err_and(|error| error.message.contains("[3, 3, 3, 3]")));
}

#[test]
fn normalisations_that_a_network_has_no_scales_for_are_folded_and_come_back_as_identities() {
    let network = Network::from_json(
        r#"{"input": [1, 28, 28], "layers": [{"type": "conv2d", "channels": 3, "kernel": 5}, {"type": "relu"},
            {"type": "max_pool2d", "size": 4}, {"type": "flatten"}, {"type": "dense", "units": 10}]}"#,
    )
    .expect("a network");
    let conv = array(vec![3, 1, 5, 5], (0..75).map(|i| (f64::from(i) * 0.7).sin()).collect());
    let row = |values: [f64; 3]| array(vec![3], values.to_vec());
    let dense = array(vec![10, 108], (0..1080).map(|i| (f64::from(i) * 0.3).cos()).collect());
    let given = arrays(vec![
        ("conv.weight".into(), conv.clone()),
        ("bn.weight".into(), row([1.5, -0.5, 2.0])),
        ("bn.bias".into(), row([0.1, 0.2, 0.3])),
        ("bn.running_mean".into(), row([0.5, -1.0, 0.25])),
        ("bn.running_var".into(), row([4.0, 0.25, 1.0])),
        ("fc.weight".into(), dense),
        ("fc.bias".into(), array(vec![10], vec![0.5; 10])),
    ]);
    let model = Model::new(checkpoint::graph(&given, Some(&network), None).expect("a graph")).expect("a model");
    let factor = 1.5 / (4.0f64 + 1e-5).sqrt();
    assert!((model.parameters[1] - factor * (0.7f64).sin()).abs() < 1e-14);
    assert!((model.parameters[75] - (0.1 - factor * 0.5)).abs() < 1e-14);
    let tensors = model.tensors(&model.parameters).expect("tensors");
    // The convolution has no place for a bias: the normalisation adds it.
    assert!((tensors["bn.weight"][0] - (4.0f64 + 1e-5).sqrt()).abs() < 1e-14);
    assert!((tensors["bn.bias"][0] - (0.5 + model.parameters[75])).abs() < 1e-14);
    assert!((tensors["conv.weight"][1] - model.parameters[1]).abs() < 1e-14);
}

#[test]
fn normalisations_without_factors_and_shifts_are_written_in_their_statistics() {
    let network = |middle: &str| {
        let json = format!(
            r#"{{"input": [2, 3, 3], "layers": [{{"type": "conv2d", "channels": 2, "kernel": 3, "bias": false}}, {middle}
                {{"type": "relu"}}, {{"type": "flatten"}}, {{"type": "dense", "units": 2}}]}}"#
        );
        Network::from_json(&json).expect("a network")
    };
    let row = |values: [f64; 2]| array(vec![2], values.to_vec());
    let given = arrays(vec![
        ("conv.weight".into(), array(vec![2, 2, 3, 3], (0..36).map(|i| (f64::from(i) * 0.7).sin()).collect())),
        ("bn.running_mean".into(), row([0.5, -1.0])),
        ("bn.running_var".into(), row([4.0, 0.25])),
        ("fc.weight".into(), array(vec![2, 2], vec![1.0, -0.5, 0.25, 2.0])),
        ("fc.bias".into(), row([0.5, 0.25])),
    ]);
    for middle in ["", r#"{"type": "scale"},"#] {
        let network = network(middle);
        let model = |arrays: &Arrays| {
            Model::new(checkpoint::graph(arrays, Some(&network), None).expect("a graph")).expect("a model")
        };
        let opened = model(&given);
        let wanted: Vec<f64> = opened.parameters.iter().map(|x| 1.5 * x).collect();
        let tensors = opened.tensors(&wanted).expect("tensors");
        let written = given.arrays.iter().map(|(name, old)| {
            let values = tensors.get(name).cloned().unwrap_or_else(|| old.to_f64().expect("numbers"));
            (name.clone(), array(old.shape().to_vec(), values))
        });
        assert!(close(&model(&arrays(written.collect())).parameters, &wanted), "{middle}");
        if middle.is_empty() {
            continue;
        }
        let negative: Vec<f64> = opened.parameters.iter().map(|x| -x).collect();
        let error = opened.tensors(&negative).expect_err("no variance makes a factor negative");
        assert!(error.message.contains("no factors"), "{error}");
    }
}

#[test]
fn layers_that_a_file_has_by_alphabet_follow_on_each_other() {
    let of = |list: &[(&str, [usize; 2])]| {
        let arrays = arrays(
            list.iter()
                .map(|(name, shape)| (format!("{name}.weight"), array(shape.to_vec(), vec![0.5; shape[0] * shape[1]])))
                .collect(),
        );
        let graph = checkpoint::graph(&arrays, None, None).expect("a graph");
        (graph.input.clone(), graph.notes.join("; "))
    };
    let (input, notes) = of(&[("hidden", [5, 4]), ("input", [4, 7]), ("output", [3, 5])]);
    assert_eq!(input, [7]);
    assert!(notes.contains("as they follow on each other, input, hidden, output"), "{notes}");
    let (_, notes) = of(&[("fc_in", [4, 7]), ("fc_three", [4, 4]), ("fc_two", [4, 4]), ("out", [3, 4])]);
    assert!(notes.contains("nothing tells the order of fc_three, fc_two"), "{notes}");
    for told in [["fc1", "fc2", "fc3", "out"], ["0", "2", "4", "6"]] {
        let shapes = [[4, 7], [4, 4], [4, 4], [3, 4]];
        let list: Vec<_> = told.into_iter().zip(shapes).collect();
        assert!(!of(&list).1.contains("alphabet"), "{told:?}");
    }
}

#[test]
fn what_is_guessed_of_weights_is_said() {
    let notes = |list: Vec<(&str, Vec<usize>, Elements)>| {
        let made = |(name, shape, elements): (&str, Vec<usize>, Elements)| {
            (name.to_string(), Array::new(shape, elements).expect("an array"))
        };
        let given = arrays(list.into_iter().map(made).collect());
        checkpoint::graph(&given, None, None).expect("a graph").notes.join("; ")
    };
    let single = |count: usize| Elements::F32(vec![0.5; count]);
    let unnamed = notes(vec![("arr_0", vec![2, 3], single(6)), ("arr_1", vec![2], single(2))]);
    assert!(unnamed.contains("no array has a name of weights: arr_0 [2, 3] were taken for layers"), "{unnamed}");
    let whole = notes(vec![("fc.weight", vec![2, 3], Elements::I64(vec![5; 6])), ("fc.bias", vec![2], single(2))]);
    assert!(whole.contains("fc.weight are whole numbers, and were taken as they are"), "{whole}");
    let usual = notes(vec![("fc.weight", vec![2, 3], single(6)), ("fc.bias", vec![2], single(2))]);
    assert!(!usual.contains("taken"), "{usual}");
    // A list of Linear, ReLU, BatchNorm1d, Linear is numbered 0, 2 and 3; Linear, BatchNorm1d, ReLU, Linear 0, 1 and 3.
    for (place, is_apart) in [(1, false), (2, true)] {
        let norm = ["weight", "bias", "running_mean", "running_var"].map(|of| format!("{place}.{of}"));
        let mut list = vec![("0.weight", vec![3, 2], single(6)), ("0.bias", vec![3], single(3))];
        list.extend(norm.iter().map(|name| (name.as_str(), vec![3], single(3))));
        list.extend([("3.weight", vec![2, 3], single(6)), ("3.bias", vec![2], single(2))]);
        let said = notes(list);
        assert!(said.contains("right behind their layers, before activations"), "{said}");
        assert_eq!(said.contains("something is between 0 and 2: if it is the activation"), is_apart, "{said}");
    }
}

#[test]
fn a_number_that_is_none_is_told_with_its_tensor() {
    let mut values = vec![0.5; 6];
    values[4] = f64::NAN;
    let bias = array(vec![3], vec![0.0; 3]);
    // As Keras has it, (inputs, units): number 4 there is another one of W.
    let given = arrays(vec![("fc.kernel".into(), array(vec![2, 3], values)), ("fc.bias".into(), bias)]);
    let error = Model::new(checkpoint::graph(&given, None, None).expect("a graph")).expect_err("no number");
    assert_eq!(error.code, crate::ErrorCode::NotFinite);
    assert!(error.message.starts_with("number 4 of fc.kernel is NaN"), "{error}");
}

#[test]
fn weights_that_do_not_fit_say_which() {
    let network = Preset::LeNet.network();
    let theta = parameters(&network, 1);
    let mut given = arrays(as_torch(&network, &theta, |l, _| format!("layer{l}")));
    let f1 = Preset::F1.network();
    let error = checkpoint::graph(&given, Some(&f1), None).expect_err("other weights");
    assert!(error.message.contains("[300, 784]") && error.message.contains("layer0 [6, 1, 5, 5]"), "{error}");
    given.arrays.push(("extra.weight".into(), array(vec![2, 2], vec![0.0; 4])));
    let error = checkpoint::graph(&given, Some(&network), None).expect_err("one too many");
    assert!(error.message.contains("extra [2, 2]"), "{error}");
    let error = checkpoint::graph(&arrays(Vec::new()), None, None).expect_err("nothing");
    assert!(error.message.contains("no weights"), "{error}");
}
