//! Which normalisation is which layer's, as files name them and have them in order.

use super::{array, arrays, as_torch, close, distinct, with_statistics};
use crate::io::checkpoint::{self, graph};
use crate::io::{Array, Arrays, Model};
use crate::network::{Layer, Network};

/// A network of these layers.
pub(super) fn network(layers: &str) -> Network {
    let tail = r#"{"type": "global_avg_pool2d"}, {"type": "flatten"}, {"type": "dense", "units": 3}"#;
    Network::from_json(&format!(r#"{{"input": [2, 6, 6], "layers": [{layers} {tail}]}}"#)).expect("a network")
}

/// Convolutions of four channels: with a scale or none, and a ReLU behind.
pub(super) fn convolutions(with_scale: &[bool]) -> String {
    let conv = |&has: &bool| {
        let scale = if has { r#"{"type": "scale"},"# } else { "" };
        let bias = !has;
        format!(
            r#"{{"type": "conv2d", "channels": 4, "kernel": 3, "padding": 1, "bias": {bias}}}, {scale} {{"type": "relu"}},"#
        )
    };
    with_scale.iter().map(conv).collect()
}

/// Weights with these names, in this order or the alphabet's, come to their places, with statistics in the normalisations.
pub(super) fn assert_found(network: &Network, names: &[&str], orders: &[Option<&[&str]>]) {
    let theta = distinct(network);
    // Those of scales have statistics, whatever they are called.
    let marked = |l: usize, layer: &Layer| match layer {
        Layer::Scale { .. } => format!("{} bn", names[l]),
        _ => names[l].to_owned(),
    };
    let given = with_statistics(as_torch(network, &theta, marked));
    let given: Vec<(String, Array)> = given.into_iter().map(|(name, array)| (name.replace(" bn", ""), array)).collect();
    for order in orders {
        let mut given = given.clone();
        match order {
            Some(order) => given.sort_by_key(|(name, _)| {
                order.iter().position(|first| name.rsplit_once('.').is_some_and(|(module, _)| module == *first))
            }),
            None => given.sort_by(|(a, _), (b, _)| a.cmp(b)),
        }
        let arrays = checkpoint::prepared(arrays(given)).expect("in order");
        let model = Model::new(graph(&arrays, Some(network), None).expect("a graph")).expect("a model");
        assert!(close(&model.parameters, &theta), "{names:?} {order:?}");
    }
}

#[test]
fn beside_a_layer_is_its_normalisation() {
    let two = network(&convolutions(&[true, true]));
    let names = ["b1.conv", "b1.bn", "b2.conv", "b2.bn", "fc"];
    assert_found(&two, &names, &[Some(&names), None, Some(&["b1.bn", "b1.conv", "b2.bn", "b2.conv", "fc"])]);
    // A convolution before the blocks has none.
    let three = network(&convolutions(&[false, true, true]));
    let names = ["b0.conv", "b1.conv", "b1.bn", "b2.conv", "b2.bn", "fc"];
    assert_found(&three, &names, &[Some(&names), None]);
    let names = ["b0_conv", "b1.conv", "b1.bn", "b2.conv", "b2.bn", "fc"];
    assert_found(&three, &names, &[Some(&names), None]);
}

#[test]
fn names_but_for_the_kind_are_partners() {
    let three = network(&convolutions(&[true, true, true]));
    for names in [
        ["conv1_1", "bn1_1", "conv2_1", "bn2_1", "conv2_2", "bn2_2", "fc1"],
        ["block1_conv1", "block1_bn1", "block2_conv1", "block2_bn1", "block2_conv2", "block2_bn2", "fc1"],
        ["block1_1_conv", "block1_1_bn", "block2_1_conv", "block2_1_bn", "block2_2_conv", "block2_2_bn", "fc1"],
    ] {
        let convolutions_first = [names[0], names[2], names[4], names[1], names[5], names[3], names[6]];
        assert_found(&three, &names, &[Some(&names), None, Some(&convolutions_first)]);
    }
}

#[test]
fn numbers_that_contradict_the_network_are_counted_apart() {
    // As Flax counts them: the first convolution has no normalisation.
    let three = network(&convolutions(&[false, true, true]));
    let names = ["Conv_0", "Conv_1", "BatchNorm_0", "Conv_2", "BatchNorm_1", "Dense_0"];
    assert_found(&three, &names, &[Some(&names), None]);
    // Nothing says so without scales, unless the file has an order.
    let theta = distinct(&three);
    let marked = |l: usize, layer: &Layer| match layer {
        Layer::Scale { .. } => format!("{} bn", names[l]),
        _ => names[l].to_owned(),
    };
    let given = with_statistics(as_torch(&three, &theta, marked));
    let mut given: Vec<(String, Array)> =
        given.into_iter().map(|(name, array)| (name.replace(" bn", ""), array)).collect();
    given.sort_by(|(a, _), (b, _)| a.cmp(b));
    let plain = network(&convolutions(&[false, false, false]));
    let notes = |given: &[(String, Array)]| {
        let graph = graph(&arrays(given.to_vec()), Some(&plain), None).expect("a graph");
        graph.notes.join("; ")
    };
    let said = notes(&given);
    assert!(
        said.contains("BatchNorm_0 is taken to stand behind Conv_0, and nothing says that it does not behind Conv_2"),
        "{said}"
    );
    let row = |value: f64| array(vec![4], vec![value; 4]);
    for (leaf, value) in [("weight", 1.0), ("bias", 0.0), ("running_mean", 0.0), ("running_var", 1.0)] {
        given.push((format!("BatchNorm_2.{leaf}"), row(value)));
    }
    let said = notes(&given);
    assert!(!said.contains("count normalisations apart"), "{said}");
}

#[test]
fn one_more_normalisation_than_layers_stands_at_the_end_where_the_first_is_ahead() {
    let conv = r#"{"type": "conv2d", "channels": 4, "kernel": 3, "padding": 1, "bias": false}"#;
    let (scale, relu) = (r#"{"type": "scale"}"#, r#"{"type": "relu"}"#);
    let first = r#"{"type": "conv2d", "channels": 4, "kernel": 1, "bias": false, "name": "in"},"#;
    let block = format!(
        r#"{scale}, {conv}, {scale}, {relu}, {conv}, {{"type": "scale", "name": "out"}},
           {{"type": "add", "from": ["out", "in"]}},"#
    );
    let network = network(&format!("{first}{block}"));
    let names = ["stem", "b.0.bn1", "b.0.conv1", "b.0.bn2", "b.0.conv2", "b.0.bn3", "fc"];
    assert_found(&network, &names, &[Some(&names), None]);
    // Without a number its name says it, or its place among the others.
    let convolutions_first = ["stem", "b.0.conv1", "b.0.conv2", "b.0.bn1", "b.0.bn2", "b.0.bn", "fc"];
    for last in ["b.0.bn_out", "b.0.final_bn"] {
        let names = [names[0], names[1], names[2], names[3], names[4], last, names[6]];
        assert_found(&network, &names, &[Some(&names), None]);
    }
    let unnumbered = ["stem", "b.0.bn1", "b.0.conv1", "b.0.bn2", "b.0.conv2", "b.0.bn", "fc"];
    assert_found(&network, &unnumbered, &[Some(&unnumbered), Some(&convolutions_first)]);
    // So it does of the first, which others stand behind.
    let behind = ["stem", "b.0.bn", "b.0.conv1", "b.0.bn1", "b.0.conv2", "b.0.bn2", "fc"];
    assert_found(&network, &behind, &[Some(&behind)]);
    // By alphabet nothing does, unless the network has the names.
    let mut given = with_statistics(as_torch(&network, &distinct(&network), |l, _| unnumbered[l].into()));
    given.sort_by(|(a, _), (b, _)| a.cmp(b));
    let given = arrays(given);
    let error = graph(&given, Some(&network), None).expect_err("either side");
    assert!(error.message.contains("nothing tells whether b.0.bn1 stands before b.0.conv1 or behind it"), "{error}");
    let scale = |name: &str| format!(r#"{{"type": "scale", "name": "{name}"}}"#);
    let [one, two, last] = ["b.0.bn1", "b.0.bn2", "b.0.bn"].map(scale);
    let named =
        format!(r#"{first}{one}, {conv}, {two}, {relu}, {conv}, {last}, {{"type": "add", "from": ["b.0.bn", "in"]}},"#);
    let named = self::network(&named);
    let model = Model::new(graph(&given, Some(&named), None).expect("a graph")).expect("a model");
    assert!(close(&model.parameters, &distinct(&named)));
}

#[test]
fn layers_of_one_shape_that_only_the_alphabet_orders_are_said() {
    let dense = r#"{"type": "dense", "units": 4}, {"type": "relu"},"#.repeat(3);
    let json = format!(r#"{{"input": [4], "layers": [{dense} {{"type": "dense", "units": 2}}]}}"#);
    let network = Network::from_json(&json).expect("a network");
    let notes = |network: &Network, names: [&str; 4]| {
        let given = as_torch(network, &distinct(network), |l, _| names[l].into());
        graph(&arrays(given), Some(network), None).expect("a graph").notes.join("; ")
    };
    let said = notes(&network, ["fc_in", "fc_three", "fc_two", "out"]);
    assert!(said.contains("nothing tells the order of fc_in, fc_three, fc_two: that of the file is taken"), "{said}");
    // Numbers tell it, an order that is not the alphabet's, and names that the network has.
    for names in
        [["fc1", "fc2", "fc3", "out"], ["a.0.fc", "a.1.fc", "b.0.fc", "b.1.fc"], ["fc_in", "fc_two", "fc_three", "out"]]
    {
        assert_eq!(notes(&network, names).contains("alphabet"), names[0] == "a.0.fc", "{names:?}");
    }
    let mut named = json;
    for name in ["fc_in", "fc_three", "fc_two"] {
        named = named.replacen(r#""units": 4}"#, &format!(r#""units": 4, "name": "{name}"}}"#), 1);
    }
    let named = Network::from_json(&named).expect("a network");
    assert!(!notes(&named, ["fc_in", "fc_three", "fc_two", "out"]).contains("alphabet"));
}

#[test]
fn four_rows_may_be_a_bias_and_three_of_a_normalisation() {
    let rows = |count: usize| {
        let mut given = vec![("arr_0".to_owned(), array(vec![2, 3], (0..6).map(f64::from).collect()))];
        given.extend((1..=count).map(|i| (format!("arr_{i}"), array(vec![3], vec![1.0 + i as f64; 3]))));
        arrays(given)
    };
    let network = |bias: bool, scale: &str| {
        let json = format!(r#"{{"input": [2], "layers": [{{"type": "dense", "units": 3, "bias": {bias}}} {scale}]}}"#);
        Network::from_json(&json).expect("a network")
    };
    let scale = r#", {"type": "scale"}"#;
    let said = |rows: &Arrays, network: Option<&Network>| {
        graph(rows, network, None).map(|graph| graph.notes.join("; ").contains("the four rows behind arr_0 were taken"))
    };
    let error = said(&rows(4), Some(&network(true, scale))).expect_err("the first is a bias, or is not");
    assert!(error.message.contains("a bias and three without γ or β"), "{error}");
    assert!(!said(&rows(4), Some(&network(false, scale))).expect("the network says so"));
    assert!(said(&rows(4), Some(&network(true, ""))).expect("a fold gives a bias"));
    assert!(said(&rows(4), None).expect("a chain"));
    for of in [Some(network(true, scale)), None] {
        assert!(!said(&rows(5), of.as_ref()).expect("a bias, and four rows"));
    }
}

#[test]
fn a_dense_layer_has_no_number_of_a_convolution() {
    // All of one width, so that any could have any.
    let conv = r#"{"type": "conv2d", "channels": 4, "kernel": 3, "padding": 1, "bias": false}, {"type": "scale"}, {"type": "relu"},"#;
    let dense = r#"{"type": "dense", "units": 4, "bias": false}, {"type": "scale"}, {"type": "relu"}"#;
    let tail = r#"{"type": "global_avg_pool2d"}, {"type": "flatten"},"#;
    let json =
        format!(r#"{{"input": [2, 6, 6], "layers": [{conv} {conv} {tail} {dense}, {{"type": "dense", "units": 3}}]}}"#);
    let network = Network::from_json(&json).expect("a network");
    for last in ["bn3", "bn_fc"] {
        let names = ["conv1", "bn1", "conv2", "bn2", "fc1", last, "fc2"];
        assert_found(&network, &names, &[Some(&names), None]);
    }
}

#[test]
fn a_normalisation_before_the_last_layer_is_of_what_comes_before() {
    let json = r#"{"input": [2, 6, 6], "layers": [{"type": "conv2d", "channels": 4, "kernel": 3, "padding": 1},
        {"type": "relu"}, {"type": "global_avg_pool2d"}, {"type": "flatten"}, {"type": "dense", "units": 3}]}"#;
    let network = Network::from_json(json).expect("a network");
    let mut given = as_torch(&network, &distinct(&network), |l, _| ["body.conv", "head.fc"][l].into());
    let row = |leaf: &str| (format!("head.norm.{leaf}"), array(vec![4], vec![1.0; 4]));
    given.splice(2..2, ["weight", "bias", "running_mean", "running_var"].map(row));
    let graph = graph(&arrays(given), Some(&network), None).expect("a graph");
    assert!(graph.notes.iter().any(|note| note.contains("right behind their layers")), "{:?}", graph.notes);
}

#[test]
fn normalisations_that_have_no_layer_of_their_own_are_in_the_order_of_the_file() {
    let conv = |name: &str| {
        format!(r#"{{"type": "conv2d", "channels": 4, "kernel": 3, "padding": 1, "bias": false, "name": "{name}"}},"#)
    };
    let (scale, relu) = (r#"{"type": "scale"},"#, r#"{"type": "relu"},"#);
    let add = |of: [&str; 2], name: &str| format!(r#"{{"type": "add", "from": {of:?}, "name": "{name}"}},"#);
    // Activations and normalisations by turns.
    let turns =
        network(&format!(r#"{} {relu} {scale} {{"type": "tanh"}}, {scale} {{"type": "sigmoid"}}, {scale}"#, conv("a")));
    let names = ["net.0", "net.2", "net.4", "net.6", "net.9"];
    assert_found(&turns, &names, &[Some(&names), None]);
    // The first reads a sum, and the second one is read by a layer.
    let means = r#"{"type": "global_avg_pool2d"},"#;
    let [x, f] = [conv("x"), conv("f")];
    let ahead = network(&format!("{x} {scale} {relu} {f} {} {scale} {relu} {means} {scale}", add(["f", "x"], "s")));
    let names = ["net.0", "net.1", "net.2", "net.3", "net.4", "net.5"];
    assert_found(&ahead, &names, &[Some(&names), None]);
    // Behind a sum, where the next block reads them.
    let [x, f, g] = [conv("x"), conv("f"), conv("g")];
    let block = |conv: &str, of: [&str; 2], name: &str| {
        let scale = format!(r#"{{"type": "scale", "name": "{name}"}},"#);
        format!("{conv} {} {scale}", add(of, &format!("sum of {name}")))
    };
    let behind = network(&format!("{x} {} {}", block(&f, ["f", "x"], "p"), block(&g, ["g", "p"], "q")));
    let names = ["stem", "b.0.conv", "b.0.post", "b.1.conv", "b.1.post", "fc"];
    assert_found(&behind, &names, &[Some(&names), None]);
    // The first of all reads the inputs, and a sum reads it.
    let narrow =
        r#"{"type": "conv2d", "channels": 2, "kernel": 3, "padding": 1, "bias": false, "name": "x", "from": "input"},"#;
    let first = r#"{"type": "scale", "name": "first"},"#;
    let add = r#"{"type": "add", "from": ["input", "first", "x"]},"#;
    let first = network(&format!("{first} {narrow} {add} {relu} {means} {scale}"));
    let names = ["net.0", "net.1", "net.6", "net.7"];
    assert_found(&first, &names, &[Some(&names), None]);
}
