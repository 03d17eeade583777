//! Where numbers in names do not tell which normalisation is which layer's, the order of the file does, or it is said that nothing does.

use super::partners::{assert_found, convolutions, network};
use super::{arrays, as_torch, close, distinct, with_statistics};
use crate::error::Result;
use crate::io::checkpoint::{self, graph};
use crate::io::{Array, Model, naive};
use crate::network::{Layer, Network};

/// Two convolutions and three dense layers of one width, with or without a scale behind each, and a last layer.
fn numbered_on(with_scale: [bool; 5], units: usize) -> Network {
    let dense = |has: bool| {
        let scale = if has { r#"{"type": "scale"},"# } else { "" };
        let bias = !has;
        format!(r#"{{"type": "dense", "units": {units}, "bias": {bias}}}, {scale} {{"type": "relu"}},"#)
    };
    let (convolutions, dense) =
        (convolutions(&with_scale[..2]), with_scale[2..].iter().map(|&has| dense(has)).collect::<String>());
    let tail = r#"{"type": "global_avg_pool2d"}, {"type": "flatten"},"#;
    let json =
        format!(r#"{{"input": [2, 6, 6], "layers": [{convolutions} {tail} {dense} {{"type": "dense", "units": 3}}]}}"#);
    Network::from_json(&json).expect("a network")
}

/// The weights of a network with scales under these names, in the order of the names or the alphabet's.
fn given(network: &Network, names: &[&str], order: Option<&[&str]>) -> Vec<(String, Array)> {
    let marked = |l: usize, layer: &Layer| match layer {
        Layer::Scale { .. } => format!("{} bn", names[l]),
        _ => names[l].to_owned(),
    };
    let given = with_statistics(as_torch(network, &distinct(network), marked));
    let mut given: Vec<(String, Array)> =
        given.into_iter().map(|(name, array)| (name.replace(" bn", ""), array)).collect();
    match order {
        None => given.sort_by(|(a, _), (b, _)| a.cmp(b)),
        Some(order) => given.sort_by_key(|(name, _)| {
            order.iter().position(|first| name.rsplit_once('.').is_some_and(|(module, _)| module == *first))
        }),
    }
    given
}

/// These weights in a network without scales: whether it computes what the one with scales does, and the notes.
fn folded(scaled: &Network, given: Vec<(String, Array)>, plain: Option<&Network>) -> Result<(bool, String)> {
    let arrays = checkpoint::prepared(arrays(given))?;
    let model = Model::new(graph(&arrays, plain, Some(&[2, 6, 6]))?)?;
    let inputs: Vec<f64> = (0..72).map(|i| f64::from(i).sin()).collect();
    let expected = naive::outputs(scaled, &distinct(scaled), &inputs);
    let found = naive::outputs(&model.network, &model.parameters, &inputs);
    Ok((close(&found, &expected), model.notes.join("; ")))
}

#[test]
fn lists_side_by_side_are_counted_through() {
    let all = network(&convolutions(&[true, true, true]));
    let but_first = network(&convolutions(&[false, true, true]));
    for [layer, norm] in [["layers.{}", "norms.{}"], ["convs.{}", "bns.{}.bn"], ["body.{}.conv", "body_norms.{}.bn"]] {
        let [layers, norms] = [layer, norm].map(|of| [0, 1, 2].map(|i| of.replace("{}", &i.to_string())));
        let [[a, b, c], [x, y, z]] = [&layers, &norms].map(|of| [0, 1, 2].map(|i| of[i].as_str()));
        assert_found(&all, &[a, x, b, y, c, z, "out"], &[Some(&[a, b, c, x, y, z, "out"]), None]);
        // A list that is shorter has other numbers.
        assert_found(&but_first, &[a, b, x, c, y, "out"], &[Some(&[a, b, c, x, y, "out"]), None]);
    }
}

#[test]
fn normalisations_are_counted_on_where_layers_of_another_kind_begin_anew() {
    let network = numbered_on([true; 5], 4);
    let names = ["conv1", "bn1", "conv2", "bn2", "fc1", "bn3", "fc2", "bn4", "fc3", "bn5", "fc4"];
    let layers_first = ["conv1", "conv2", "bn1", "bn2", "fc1", "fc2", "fc3", "bn3", "bn4", "bn5", "fc4"];
    assert_found(&network, &names, &[Some(&names), Some(&layers_first), None]);
    // Other widths, of which numbers are no better.
    let network = numbered_on([true; 5], 5);
    assert_found(&network, &names, &[Some(&names), Some(&layers_first), None]);
}

#[test]
fn keras_counts_on_in_a_second_network() {
    let two = network(&convolutions(&[true, true]));
    let three = network(&convolutions(&[false, true, true]));
    for [a, x, b, y, c] in [
        ["dense_3", "batch_normalization_2", "dense_4", "batch_normalization_3", "dense_5"],
        ["conv2d_1", "batch_normalization", "conv2d_2", "batch_normalization_1", "dense"],
        ["net/conv2d_8", "net/batch_normalization_9", "net/conv2d_9", "net/batch_normalization_10", "net/dense_2"],
    ] {
        assert_found(&two, &[a, x, b, y, c], &[Some(&[a, x, b, y, c]), None]);
        let first = if a.contains("net/") { "net/conv2d_7" } else { "conv2d" };
        assert_found(&three, &[first, a, x, b, y, c], &[Some(&[first, a, x, b, y, c])]);
        // Without scales, each is the normalisation of the layer before it.
        let plain = network(&convolutions(&[false, false]));
        let names = [a, x, b, y, c];
        let (is_same, notes) = folded(&two, given(&two, &names, Some(&names)), Some(&plain)).expect("a model");
        assert!(is_same && !notes.contains("taken to stand behind"), "{notes}");
    }
}

#[test]
fn numbers_and_the_order_of_the_file_that_disagree_are_said() {
    // Numbers would be right the other way round.
    let some = numbered_on([false, true, true, false, false], 4);
    let names = ["conv1", "conv2", "bn1", "fc1", "bn2", "fc2", "fc3", "fc4"];
    assert_found(&some, &names, &[Some(&names)]);
    let notes = |order: Option<&[&str]>| {
        let arrays = checkpoint::prepared(arrays(given(&some, &names, order))).expect("in order");
        graph(&arrays, Some(&some), None).expect("a graph").notes.join("; ")
    };
    let [by_file, by_alphabet] = [notes(Some(&names)), notes(None)];
    assert!(by_file.contains("is taken to be bn1, and may be bn2"), "{by_file}");
    assert!(by_alphabet.contains("is taken to be bn2, and may be bn1"), "{by_alphabet}");
    // Names of several kinds have no order but the alphabet's.
    let three = network(&convolutions(&[true, true, true]));
    let error = |names: [&str; 7]| {
        let arrays = checkpoint::prepared(arrays(given(&three, &names, None))).expect("in order");
        graph(&arrays, Some(&three), None)
    };
    let refused = error(["conv1", "a_bn5", "conv2", "b_bn6", "conv3", "bn7", "fc"]).expect_err("no order");
    assert!(refused.message.contains("nothing tells which scales a_bn5, b_bn6, bn7 are"), "{refused}");
    let said = error(["conv_i", "norm_x", "conv_j", "norm_y", "conv_k", "norm_z", "fc"]).expect("said");
    assert!(said.notes.iter().any(|note| note.contains("nothing tells the order of norm_x, norm_y, norm_z")));
}

#[test]
fn without_scales_normalisations_are_those_of_the_layers_before_them() {
    let three = network(&convolutions(&[false, true, true]));
    let plain = network(&convolutions(&[false, false, false]));
    let names = ["conv1", "conv2", "bn1", "conv3", "bn2", "fc"];
    for named in [Some(&plain), None] {
        let (is_same, notes) = folded(&three, given(&three, &names, Some(&names)), named).expect("a model");
        assert!(
            notes.contains("bn1 is taken to stand behind conv2, as in the file, though conv1 has its number"),
            "{notes}"
        );
        assert!(is_same || named.is_none(), "{notes}");
        let (_, notes) = folded(&three, given(&three, &names, None), named).expect("a model");
        assert!(
            notes.contains("bn1 is taken to stand behind conv1, and nothing says that it does not behind conv3"),
            "{notes}"
        );
    }
    // Where every layer has one, and where numbers and the file tell the same, nothing is open.
    let all = network(&convolutions(&[true, true, true]));
    let every = ["conv1", "bn1", "conv2", "bn2", "conv3", "bn3", "fc"];
    let first = network(&convolutions(&[true, true, false]));
    let of_first = ["conv1", "bn1", "conv2", "bn2", "conv3", "fc"];
    for (scaled, names, order) in
        [(&all, &every[..], Some(&every[..])), (&all, &every[..], None), (&first, &of_first[..], Some(&of_first[..]))]
    {
        let (is_same, notes) = folded(scaled, given(scaled, names, order), Some(&plain)).expect("a model");
        assert!(is_same && !notes.contains("taken to stand behind"), "{notes}");
    }
    // One that the file has before its layer may normalise what that reads.
    let two = network(&convolutions(&[true, true]));
    let names = ["conv1", "bn1", "conv2", "bn2", "fc"];
    let ahead = ["bn1", "conv1", "bn2", "conv2", "fc"];
    let plain = network(&convolutions(&[false, false]));
    let (_, notes) = folded(&two, given(&two, &names, Some(&ahead)), Some(&plain)).expect("a model");
    assert!(notes.contains("bn1 is taken to stand behind conv1, though the file has it before"), "{notes}");
}

#[test]
fn a_width_that_one_layer_has_tells_its_normalisation() {
    let names = ["conv1", "bn1", "conv2", "bn2", "fc1", "bn3", "fc2", "fc3", "fc4"];
    let of = |units: usize, has: bool| {
        let dense = |units: usize, has: bool| {
            let scale = if has { r#"{"type": "scale"},"# } else { "" };
            format!(r#"{{"type": "dense", "units": {units}}}, {scale} {{"type": "relu"}},"#)
        };
        let (convolutions, dense) =
            (convolutions(&[has, has]), dense(units, has) + &dense(6, false) + &dense(7, false));
        let tail = r#"{"type": "global_avg_pool2d"}, {"type": "flatten"},"#;
        let json = format!(
            r#"{{"input": [2, 6, 6], "layers": [{convolutions} {tail} {dense} {{"type": "dense", "units": 3}}]}}"#
        );
        Network::from_json(&json).expect("a network")
    };
    let eight = of(8, true);
    for order in [Some(&names[..]), None] {
        let (is_same, notes) = folded(&eight, given(&eight, &names, order), Some(&of(8, false))).expect("a model");
        assert!(is_same, "{notes}");
    }
    // Two have it, and the inputs.
    for units in [4, 6, 2] {
        let several = of(units, true);
        let error = folded(&several, given(&several, &names, None), Some(&of(units, false))).expect_err("several");
        assert!(error.message.contains("nothing says where in the network it stands"), "{error}");
    }
}
