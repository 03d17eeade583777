//! Weights whose names come in blocks are proposed as residual networks that compute the same.

use super::{array, arrays, as_torch, close, distinct, parameters, with_statistics};
use crate::io::checkpoint::{self, blocks, graph, modules};
use crate::io::{Array, Arrays, Elements, Model, naive};
use crate::network::{Conv2d, Layer, Network, Padding, Preset};

/// Names of the weights of a preset with three stages of three blocks, in the preset's order: what leads around comes first.
fn names(is_projected: bool, is_before: bool) -> Vec<String> {
    let mut names: Vec<String> = vec!["conv1".into()];
    if !is_before {
        names.push("bn1".into());
    }
    for stage in 1..=3 {
        for block in 0..3 {
            let is_around = is_projected && stage > 1 && block == 0;
            let (around, norm) =
                (is_around.then_some("shortcut.0"), (is_around && !is_before).then_some("shortcut.1.bn"));
            let of_block = match is_before {
                true => vec![Some("bn1"), around, Some("conv1"), Some("bn2"), Some("conv2")],
                false => vec![around, norm, Some("conv1"), Some("bn1"), Some("conv2"), Some("bn2")],
            };
            names.extend(of_block.into_iter().flatten().map(|leaf| format!("layer{stage}.{block}.{leaf}")));
        }
    }
    if is_before {
        names.push("bn".into());
    }
    names.push("linear".into());
    names
}

/// Its weights under these names, and statistics beside its scales, whatever they are called.
fn normalised(network: &Network, theta: &[f64], names: &[String]) -> Vec<(String, Array)> {
    let given = with_statistics(as_torch(network, theta, |l, layer| match layer {
        Layer::Scale { .. } => format!("{} bn", names[l]),
        _ => names[l].clone(),
    }));
    given.into_iter().map(|(name, array)| (name.replace(" bn", ""), array)).collect()
}

/// In the order in which PyTorch registers them, or safetensors sorts them.
fn in_order(mut given: Vec<(String, Array)>, is_sorted: bool) -> Vec<(String, Array)> {
    let all: Vec<String> = given.iter().map(|(name, _)| name.clone()).collect();
    let block = |name: &str| name.split('.').take(2).map(str::to_owned).collect::<Vec<_>>();
    let registered = |name: &str| {
        let is_same =
            |other: &String| if name.starts_with("layer") { block(other) == block(name) } else { other == name };
        (all.iter().position(is_same), name.contains("shortcut"))
    };
    match is_sorted {
        true => given.sort_by(|(a, _), (b, _)| a.cmp(b)),
        false => given.sort_by_key(|(name, _)| registered(name)),
    }
    given
}

#[test]
fn residual_networks_are_known_by_their_names_and_compute_the_same() {
    for (preset, is_projected, is_before) in [
        (Preset::ResNet20, false, false),
        (Preset::ResNet20Projection, true, false),
        (Preset::PreactResNet20, true, true),
    ] {
        let network = preset.network();
        let theta = parameters(&network, 3);
        let names = names(is_projected, is_before);
        let given = with_statistics(as_torch(&network, &theta, |l, _| names[l].clone()));
        let inputs: Vec<f64> = (0..3072).map(|i| f64::from(i).sin()).collect();
        let expected = naive::outputs(&network, &theta, &inputs);
        for is_sorted in [false, true] {
            let arrays = arrays(in_order(given.clone(), is_sorted));
            let (modules, left) = modules::modules(&arrays);
            assert!(left.is_empty(), "{left:?}");
            let Some((proposed, notes)) = blocks::proposed(&modules, None).expect("told") else {
                panic!("{}", preset.name())
            };
            assert!(notes[0].contains("9 blocks"), "{notes:?}");
            let model = Model::new(graph(&arrays, Some(&proposed), None).expect("a graph")).expect("a model");
            assert!(close(&naive::outputs(&model.network, &model.parameters, &inputs), &expected), "{}", preset.name());
        }
    }
}

/// As Transformers name a ResNet: `stages.0.layers.1.layer.0.convolution` in place of `layer1.1.conv1`.
#[test]
fn blocks_may_have_numbered_layers_in_them() {
    let network = Preset::ResNet20Projection.network();
    let theta = distinct(&network);
    let inputs: Vec<f64> = (0..3072).map(|i| f64::from(i).sin()).collect();
    let expected = naive::outputs(&network, &theta, &inputs);
    let renamed = |name: &String| match (name.as_str(), name.strip_prefix("layer").map(|rest| rest.split_at(1))) {
        ("conv1", _) => "resnet.embedder.embedder.convolution".into(),
        ("bn1", _) => "resnet.embedder.embedder.normalization".into(),
        (_, Some((stage, rest))) => {
            let (block, leaf) = rest[1..].split_once('.').expect("a block");
            let leaf = match leaf {
                "shortcut.0" => "shortcut.convolution",
                "shortcut.1.bn" => "shortcut.normalization",
                "conv1" => "layer.0.convolution",
                "bn1" => "layer.0.normalization",
                "conv2" => "layer.1.convolution",
                _ => "layer.1.normalization",
            };
            let stage = stage.parse::<usize>().expect("a stage") - 1;
            format!("resnet.encoder.stages.{stage}.layers.{block}.{leaf}")
        }
        _ => "classifier.1".into(),
    };
    let names: Vec<String> = names(true, false).iter().map(renamed).collect();
    let mut given = normalised(&network, &theta, &names);
    for _ in 0..2 {
        let arrays = arrays(given.clone());
        let found = blocks::proposed(&modules::modules(&arrays).0, None).expect("told");
        let (proposed, notes) = found.expect("a network");
        assert!(notes[0].contains("9 blocks"), "{notes:?}");
        let model = Model::new(graph(&arrays, Some(&proposed), None).expect("a graph")).expect("a model");
        assert!(close(&naive::outputs(&model.network, &model.parameters, &inputs), &expected));
        given.sort_by(|(a, _), (b, _)| a.cmp(b));
    }
    // The same names, but of networks with other strides.
    given.iter_mut().for_each(|(name, _)| *name = name.replace("resnet.", "regnet."));
    let others = arrays(given);
    assert!(blocks::proposed(&modules::modules(&others).0, None).expect("no fault").is_none());
}

#[test]
fn blocks_that_normalise_first_have_their_own_normalisations() {
    let preset = Preset::PreactResNet20.network();
    let theta = distinct(&preset);
    let inputs: Vec<f64> = (0..3072).map(|i| f64::from(i).sin()).collect();
    let expected = naive::outputs(&preset, &theta, &inputs);
    // By number, and as places in a list, which has an activation behind each normalisation.
    let numbered = names(true, true);
    let listed: Vec<String> = numbered
        .iter()
        .map(|name| {
            let places = [("bn1", "main.0"), ("conv1", "main.2"), ("bn2", "main.3"), ("conv2", "main.5")];
            let block = name.rsplit_once('.').map(|(block, _)| block);
            let place = places.iter().find(|(leaf, _)| block.is_some() && name.ends_with(leaf));
            place.zip(block).map_or(name.clone(), |((_, place), block)| format!("{block}.{place}"))
        })
        .collect();
    for names in [numbered, listed] {
        let given = normalised(&preset, &theta, &names);
        for is_sorted in [false, true] {
            let arrays = arrays(in_order(given.clone(), is_sorted));
            for named in [None, Some(&preset)] {
                let model = Model::new(graph(&arrays, named, None).expect("a graph")).expect("a model");
                let outputs = naive::outputs(&model.network, &model.parameters, &inputs);
                assert!(close(&outputs, &expected), "{} {is_sorted} {}", names[1], named.is_some());
                let is_open = |note: &String| note.contains("different things") || note.contains("nothing tells");
                assert!(!model.notes.iter().any(is_open), "{:?}", model.notes);
            }
        }
    }
}

/// Zeros of these shapes, with the statistics of normalisations.
fn zeros(list: &[(&str, &[usize])]) -> Vec<(String, Array)> {
    let mut out = Vec::new();
    for (name, shape) in list {
        let zeros = |shape: &[usize]| array(shape.to_vec(), vec![0.0; shape.iter().product()]);
        let leaves: &[&str] = match (shape, name.contains('/')) {
            ([_], false) => &["weight", "bias", "running_mean", "running_var"],
            ([_], true) => &["scale", "bias", "mean", "var"],
            (_, false) => &["weight"],
            (_, true) => &["kernel"],
        };
        let point = if name.contains('/') { '/' } else { '.' };
        out.extend(leaves.iter().map(|leaf| (format!("{name}{point}{leaf}"), zeros(shape))));
    }
    out
}

fn convolutions(network: &Network) -> Vec<&Conv2d> {
    let layers = network.named_layers().iter().map(|named| &named.layer);
    layers.filter_map(|layer| if let Layer::Conv2d(conv) = layer { Some(conv) } else { None }).collect()
}

fn proposed(list: &[(&str, &[usize])]) -> Option<Network> {
    let arrays = arrays(zeros(list));
    let (modules, _) = modules::modules(&arrays);
    let (network, _) = blocks::proposed(&modules, None).expect("told")?;
    // All of them have their place.
    graph(&arrays, Some(&network), None).expect("a graph");
    Some(network)
}

const BOTTLENECKS: &[(&str, &[usize])] = &[
    ("conv1", &[8, 3, 7, 7]),
    ("bn1", &[8]),
    ("layer1.0.conv1", &[8, 8, 1, 1]),
    ("layer1.0.bn1", &[8]),
    ("layer1.0.conv2", &[8, 2, 3, 3]),
    ("layer1.0.bn2", &[8]),
    ("layer1.0.conv3", &[32, 8, 1, 1]),
    ("layer1.0.bn3", &[32]),
    ("layer1.0.downsample.0", &[32, 8, 1, 1]),
    ("layer1.0.downsample.1", &[32]),
    ("layer2.0.conv1", &[16, 32, 1, 1]),
    ("layer2.0.bn1", &[16]),
    ("layer2.0.conv2", &[16, 4, 3, 3]),
    ("layer2.0.bn2", &[16]),
    ("layer2.0.conv3", &[64, 16, 1, 1]),
    ("layer2.0.bn3", &[64]),
    ("layer2.0.downsample.0", &[64, 32, 1, 1]),
    ("layer2.0.downsample.1", &[64]),
    ("fc", &[10, 64]),
];

#[test]
fn bottlenecks_halve_in_their_middle() {
    let network = proposed(BOTTLENECKS).expect("a network");
    assert_eq!(network.input(), [3, 224, 224]);
    let told: Vec<_> = convolutions(&network).iter().map(|c| (c.kernel[0], c.stride[0], c.groups)).collect();
    let first = [(7, 2, 1), (1, 1, 1), (1, 1, 1), (3, 1, 4), (1, 1, 1)];
    assert_eq!(told, [&first[..], &[(1, 2, 1), (1, 1, 1), (3, 2, 4), (1, 1, 1)]].concat());
    // Groups are no less assumed than sizes.
    let notes = graph(&arrays(zeros(BOTTLENECKS)), None, None).expect("a graph").notes.join("; ");
    assert!(notes.contains("a part of the channels: layer1.0.conv2 (4) and 1 more"), "{notes}");
}

#[test]
fn a_last_normalisation_is_there_or_not() {
    let list: &[(&str, &[usize])] = &[
        ("conv1", &[4, 3, 3, 3]),
        ("layer1.0.bn1", &[4]),
        ("layer1.0.conv1", &[8, 4, 3, 3]),
        ("layer1.0.bn2", &[8]),
        ("layer1.0.conv2", &[8, 8, 3, 3]),
        ("layer1.0.shortcut.0", &[8, 4, 1, 1]),
        ("linear", &[10, 8]),
        ("bn", &[8]),
    ];
    let last = |network: &Network| {
        let names: Vec<_> = network.named_layers().iter().map(|named| named.layer.name()).collect();
        names[names.len() - 5..].join(" ")
    };
    assert_eq!(last(&proposed(list).expect("a network")), "scale relu global_avg_pool2d flatten dense");
    assert_eq!(last(&proposed(&list[..7]).expect("a network")), "conv2d add global_avg_pool2d flatten dense");
}

#[test]
fn one_normalisation_outside_of_blocks_of_one_width_is_the_first_or_the_last() {
    let of = |stem: &'static str, norm: &'static str, is_last: bool, is_sorted: bool| {
        let block = ["layer1.0.bn1", "layer1.0.conv1", "layer1.0.bn2", "layer1.0.conv2"];
        let mut names = vec![stem];
        names.extend((!is_last).then_some(norm));
        names.extend(block);
        names.extend(is_last.then_some(norm));
        names.push("linear");
        if is_sorted {
            names.sort_unstable();
        }
        let shape = |name: &str| -> &[usize] {
            match name {
                name if name == stem => &[4, 3, 3, 3],
                "linear" => &[10, 4],
                name if name.contains("bn") => &[4],
                _ => &[4, 4, 3, 3],
            }
        };
        let list: Vec<(&str, &[usize])> = names.into_iter().map(|name| (name, shape(name))).collect();
        let arrays = arrays(zeros(&list));
        let (network, _) = blocks::proposed(&modules::modules(&arrays).0, None)?.expect("a network");
        let names: Vec<_> = network.named_layers().iter().map(|named| named.layer.name()).collect();
        Ok::<_, crate::error::Error>(names.join(" "))
    };
    let [ahead, behind] = [
        "conv2d scale relu conv2d scale relu conv2d add scale relu",
        "conv2d scale relu conv2d scale relu conv2d scale add relu",
    ];
    let tail = "global_avg_pool2d flatten dense";
    for (stem, norm, is_last, is_sorted, expected) in [
        ("conv1", "bn", true, false, ahead),
        ("conv1", "bn", false, false, behind),
        ("conv1", "bn_final", true, true, ahead),
        ("conv1", "bn_stem", false, true, behind),
        ("conv1", "bn1", false, true, behind),
        ("stem.conv", "stem.bn", false, true, behind),
    ] {
        let found = of(stem, norm, is_last, is_sorted).unwrap_or_else(|error| panic!("{norm}: {error}"));
        assert_eq!(found, format!("{expected} {tail}"), "{stem} {norm} {is_last} {is_sorted}");
    }
    let error = of("conv1", "bn", true, true).expect_err("the first or the last");
    assert!(error.message.contains("nothing tells whether bn stands behind conv1"), "{error}");
}

#[test]
fn what_leads_around_is_told_by_its_shape_where_no_name_says_it() {
    let renamed: Vec<(String, &[usize])> =
        BOTTLENECKS.iter().map(|(name, shape)| (name.replace("downsample", "other"), *shape)).collect();
    let renamed: Vec<(&str, &[usize])> = renamed.iter().map(|(name, shape)| (name.as_str(), *shape)).collect();
    let (one, other) = (proposed(BOTTLENECKS).expect("a network"), proposed(&renamed).expect("a network"));
    assert_eq!(one.summary(), other.summary());
}

#[test]
fn flax_pads_no_more_than_it_needs() {
    let network = proposed(&[
        ("params/conv_init", &[3, 3, 3, 4]),
        ("params/bn_init", &[4]),
        ("params/ResNetBlock_0/Conv_0", &[3, 3, 4, 4]),
        ("params/ResNetBlock_0/BatchNorm_0", &[4]),
        ("params/ResNetBlock_0/Conv_1", &[3, 3, 4, 4]),
        ("params/ResNetBlock_0/BatchNorm_1", &[4]),
        ("params/ResNetBlock_1/Conv_0", &[3, 3, 4, 8]),
        ("params/ResNetBlock_1/BatchNorm_0", &[8]),
        ("params/ResNetBlock_1/Conv_1", &[3, 3, 8, 8]),
        ("params/ResNetBlock_1/BatchNorm_1", &[8]),
        ("params/ResNetBlock_1/conv_proj", &[1, 1, 4, 8]),
        ("params/ResNetBlock_1/norm_proj", &[8]),
        ("params/Dense_0", &[8, 10]),
    ])
    .expect("a network");
    let halving: Vec<_> = convolutions(&network).iter().filter(|conv| conv.stride[0] == 2).map(|c| c.padding).collect();
    assert_eq!(halving, [Padding::NONE, Padding { before: [0, 0], after: [1, 1] }]);
}

#[test]
fn names_around_the_blocks_and_their_order_do_not_matter() {
    let inside: Vec<(String, &[usize])> =
        BOTTLENECKS.iter().map(|(name, shape)| (format!("1.{name}"), *shape)).collect();
    let inside: Vec<(&str, &[usize])> = inside.iter().map(|(name, shape)| (name.as_str(), *shape)).collect();
    let expected = proposed(BOTTLENECKS).expect("a network").summary();
    assert_eq!(proposed(&inside).expect("a network").summary(), expected);
    let mut blocks: Vec<(String, &[usize])> = vec![("stem".into(), &[2, 1, 3, 3])];
    for i in 0..12 {
        blocks.extend(["conv1", "conv2"].map(|leaf| (format!("res_blocks.{i}.{leaf}"), &[2, 2, 3, 3][..])));
    }
    // The last has more channels, as only its number says.
    let last = blocks.len() - 2;
    (blocks[last].1, blocks[last + 1].1) = (&[4, 2, 3, 3], &[4, 4, 3, 3]);
    blocks.push(("fc".into(), &[10, 4]));
    blocks.sort();
    let blocks: Vec<(&str, &[usize])> = blocks.iter().map(|(name, shape)| (name.as_str(), *shape)).collect();
    let network = proposed(&blocks).expect("a network");
    assert_eq!(convolutions(&network).iter().filter(|conv| conv.stride == [2, 2]).count(), 1);
}

#[test]
fn empty_arrays_and_factors_without_statistics_are_no_residual_networks() {
    let mut empty = BOTTLENECKS.to_vec();
    empty[0].1 = &[8, 0, 7, 7];
    assert!(proposed(&empty).is_none());
    // A group normalisation has the same names, and is another function.
    let grouped = zeros(BOTTLENECKS).into_iter().filter(|(name, _)| !name.contains("running"));
    let grouped = arrays(grouped.collect());
    assert!(blocks::proposed(&modules::modules(&grouped).0, None).expect("none").is_none());
    assert!(graph(&grouped, None, None).is_err());
}

#[test]
fn factors_without_statistics_are_scales_of_a_preset_where_somebody_says_so() {
    for (preset, is_projected) in [(Preset::ResNet20, false), (Preset::ResNet20Projection, true)] {
        let network = preset.network();
        let theta = distinct(&network);
        let names = names(is_projected, false);
        let given = arrays(as_torch(&network, &theta, |l, _| names[l].clone()));
        let error = graph(&given, None, None).expect_err("perhaps a group normalisation");
        assert!(error.message.contains("without statistics may be a layer, group or instance"), "{error}");
        assert!(error.message.contains(preset.name()), "{error}");
        let model = Model::new(graph(&given, Some(&network), None).expect("a graph")).expect("a model");
        assert_eq!(model.parameters, theta);
        let notes = model.notes.join("; ");
        assert!(notes.contains("more without statistics: taken for scales"), "{notes}");
        // Isoflat's own files say what they are; of others with such names nothing does, in whatever precision.
        let number = |l: usize| {
            let place = &network.layout().layers()[l];
            network.named_layers()[place.layer].name.clone().unwrap_or_else(|| place.layer.to_string())
        };
        let mut own = arrays(as_torch(&network, &theta, |l, _| number(l)));
        let notes = |given: &Arrays| {
            let model = Model::new(graph(given, None, None).expect("a graph")).expect("a model");
            assert!(model.network == network);
            model.notes.join("; ")
        };
        own.is_own = true;
        assert!(!notes(&own).contains("without statistics"));
        own.is_own = false;
        assert!(notes(&own).contains("without statistics: taken for scales"));
        for (_, array) in &mut own.arrays {
            let single = array.to_f64().expect("numbers").iter().map(|&x| x as f32).collect();
            *array = Array::new(array.shape().to_vec(), Elements::F32(single)).expect("an array");
        }
        assert!(notes(&own).contains("without statistics: taken for scales"));
    }
}

#[test]
fn a_shortcut_of_convolutions_in_every_block_halves_where_channels_change() {
    let mut list = BOTTLENECKS.to_vec();
    list.insert(10, ("layer1.1.conv1", &[8, 32, 1, 1]));
    list.insert(11, ("layer1.1.conv2", &[32, 8, 3, 3]));
    list.insert(12, ("layer1.1.downsample.0", &[32, 32, 1, 1]));
    let network = proposed(&list).expect("a network");
    let strides: Vec<_> = convolutions(&network).iter().map(|conv| conv.stride[0]).collect();
    assert_eq!(strides, [2, 1, 1, 1, 1, 1, 1, 1, 2, 1, 2, 1]);
}

#[test]
fn what_fits_nothing_is_drafted() {
    let list: Vec<(&str, &[usize])> = BOTTLENECKS.iter().copied().filter(|(name, _)| !name.contains("conv2")).collect();
    let given = arrays(zeros(&list));
    let draft = checkpoint::draft(&given, None).expect("layers");
    let names: Vec<_> =
        draft["layers"].as_array().expect("layers").iter().filter_map(|layer| layer["name"].as_str()).collect();
    let affine: Vec<_> = list.iter().filter(|(_, shape)| shape.len() > 1).map(|(name, _)| *name).collect();
    assert_eq!(names, affine);
    assert_eq!(draft["input"], serde_json::json!([3, 32, 32]));
    // It is no network of theirs yet.
    let network = Network::from_json(&draft.to_string());
    assert!(network.is_err() || network.is_ok_and(|network| graph(&given, Some(&network), None).is_err()));
}

#[test]
fn other_blocks_are_no_residual_networks() {
    let without = |words: &[&str]| {
        let kept = BOTTLENECKS.iter().filter(|(name, _)| !words.iter().any(|word| name.contains(word)));
        proposed(&kept.copied().collect::<Vec<_>>())
    };
    for words in [&["layer2.0.bn2"][..], &["layer1.0.conv2"], &["fc"], &["downsample.0"], &["conv1"]] {
        assert!(without(words).is_none(), "{words:?}");
    }
    // Twice the same width, and nothing that leads around: of PyTorch's names alone they are residual.
    let of = |block: &str| {
        let names = ["conv1", "conv2"].map(|leaf| format!("{block}.0.{leaf}"));
        let list: [(&str, &[usize]); 4] =
            [("conv1", &[4, 3, 3, 3]), (&names[0], &[4, 4, 3, 3]), (&names[1], &[4, 4, 3, 3]), ("fc", &[10, 4])];
        proposed(&list).is_some()
    };
    assert!(of("layer1") && of("res_blocks"));
    assert!(!of("encoder") && !of("layer") && !of("compress") && !of("regressor"));
}
