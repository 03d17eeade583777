//! Batch normalisation with frozen statistics: refused as it is, and folded without a change of the function, by a forward
//! pass of the tests' own.

use crate::support::graphs::random_graph;
use crate::support::naive::{self, Image};
use crate::support::*;
use isoflat::network::{Layer, fold_batch_norm};
use isoflat::{ErrorCode, Network, ProblemFile};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

/// A batch normalisation over this many channels; now and then without what may be absent.
fn random_norm(rng: &mut ChaCha8Rng, channels: usize) -> Value {
    let mut draw = |low: f64, high: f64| (0..channels).map(|_| rng.random_range(low..high)).collect::<Vec<f64>>();
    let (mean, variance, scale, shift) = (draw(-1.0, 1.0), draw(0.1, 2.0), draw(-2.0, 2.0), draw(-1.0, 1.0));
    let mut norm = json!({"type": "batch_norm", "mean": mean, "variance": variance});
    if rng.random_ratio(3, 4) {
        norm["scale"] = json!(scale);
    }
    if rng.random_ratio(3, 4) {
        norm["shift"] = json!(shift);
    }
    if rng.random() {
        norm["epsilon"] = json!(1e-3);
    }
    norm
}

/// scale · (x − mean) / √(variance + ε) + shift, value by value.
fn normalise(norm: &Value, x: &mut Image) {
    let [channels, height, width] = x.shape;
    let epsilon = norm.get("epsilon").map_or(1e-5, |e| e.as_f64().expect("a number"));
    let number = |key: &str, channel: usize, default: f64| {
        norm.get(key).map_or(default, |list| list[channel].as_f64().expect("a number"))
    };
    for channel in 0..channels {
        for place in 0..height * width {
            let value = &mut x.values[channel * height * width + place];
            let standard =
                (*value - number("mean", channel, 0.0)) / (number("variance", channel, 0.0) + epsilon).sqrt();
            *value = number("scale", channel, 1.0) * standard + number("shift", channel, 0.0);
        }
    }
}

/// The outputs of a network that may have batch normalisations.
fn outputs(network: &Value, plain: &Network, parameters: &[f64], inputs: &[f64]) -> Vec<f64> {
    let mut found = Vec::new();
    for sample in inputs.chunks_exact(plain.input_len()) {
        let mut rest = parameters;
        let mut x = Image::of_input(plain, sample);
        for layer in network["layers"].as_array().expect("layers") {
            if layer["type"] == "batch_norm" {
                normalise(layer, &mut x);
            } else {
                let layer: Layer = serde_json::from_value(layer.clone()).expect("a layer");
                x = naive::apply(&layer, &x, &mut rest);
            }
        }
        assert!(rest.is_empty());
        found.extend(x.values);
    }
    found
}

/// A random network with batch normalisations wherever they can be folded: behind layers with parameters, and before those
/// without padding. Returns how many stand behind and before.
fn with_norms(rng: &mut ChaCha8Rng, plain: &Network) -> (Value, usize, usize) {
    let (mut layers, mut behind, mut before) = (Vec::new(), 0, 0);
    let mut x = Image::of_input(plain, &vec![0.0; plain.input_len()]);
    let parameters = vec![0.0; plain.parameter_count()];
    let mut rest = &parameters[..];
    for layer in plain.layers() {
        let pads = matches!(layer, Layer::Conv2d(conv) if !conv.padding.is_none());
        if layer.is_parametric() && !pads && rng.random() {
            layers.push(random_norm(rng, x.shape[0]));
            before += 1;
        }
        layers.push(serde_json::to_value(layer).expect("a JSON"));
        x = naive::apply(layer, &x, &mut rest);
        for _ in 0..2 {
            if layer.is_parametric() && rng.random() {
                layers.push(random_norm(rng, x.shape[0]));
                behind += 1;
            }
        }
    }
    (json!({"input": plain.input(), "layers": layers}), behind, before)
}

#[test]
fn folding_leaves_the_function_as_it_is() {
    let (mut behind, mut before) = (0, 0);
    for seed in 0..120 {
        let mut rng = rng(7000 + seed);
        let plain = if seed % 3 == 0 { random_network(&mut rng, &ALL) } else { random_image_network(&mut rng, &ALL) };
        let parameters = random_parameters(&mut rng, &plain);
        let inputs: Vec<f64> = (0..3 * plain.input_len()).map(|_| rng.random_range(-2.0..2.0)).collect();
        let (network, norms_behind, norms_before) = with_norms(&mut rng, &plain);
        let (folded, moved) = fold_batch_norm(&network.to_string(), &parameters).expect("a network");
        assert_eq!(folded.layers().len(), plain.layers().len(), "seed {seed}: no layer more, none less");
        let expected = outputs(&network, &plain, &parameters, &inputs);
        let found = naive::outputs(&folded, &moved, &inputs);
        assert!(error(&found, &expected) < 1e-12, "seed {seed}: {}", error(&found, &expected));
        if norms_behind + norms_before == 0 {
            assert_eq!((&folded, &moved), (&plain, &parameters), "seed {seed}: nothing to fold");
        }
        behind += norms_behind;
        before += norms_before;
    }
    assert!(behind > 100 && before > 50, "{behind} behind and {before} before layers");
}

/// Places that the random networks have not: mean pools and a flatten between, statistics of images before a dense layer.
#[test]
fn what_lies_between_does_not_matter() {
    let norm = r#"{"type": "batch_norm", "mean": [0.5, -1, 0.25], "variance": [0.5, 2, 1], "scale": [2, -1, 0.5],
        "shift": [0.1, 0.2, -0.3]}"#;
    let conv = r#"{"type": "conv2d", "channels": 3, "kernel": 2, "padding": 1, "bias": false}"#;
    let (relu, mean, flatten) =
        (r#"{"type": "relu"}"#, r#"{"type": "avg_pool2d", "size": 2, "stride": 1}"#, r#"{"type": "flatten"}"#);
    let (identity, dense) = (r#"{"type": "identity"}"#, r#"{"type": "dense", "units": 2, "bias": false}"#);
    let max = r#"{"type": "max_pool2d", "size": 2}"#;
    for layers in [
        vec![conv, mean, norm, relu, flatten, dense],
        vec![conv, identity, mean, norm, relu, flatten, dense],
        vec![conv, relu, max, norm, flatten, dense],
        vec![conv, relu, norm, mean, identity, flatten, dense],
        vec![conv, relu, norm, norm, flatten, dense],
        vec![conv, norm, norm, max, relu, norm, flatten, dense],
    ] {
        let network = format!(r#"{{"input": [2, 4, 5], "layers": [{}]}}"#, layers.join(", "));
        let plain: Vec<_> = layers.iter().copied().filter(|layer| *layer != norm).collect();
        let plain = format!(r#"{{"input": [2, 4, 5], "layers": [{}]}}"#, plain.join(", "));
        let plain = Network::from_json(&plain).expect("a network");
        let mut rng = rng(1);
        let parameters = random_parameters(&mut rng, &plain);
        let inputs: Vec<f64> = (0..3 * plain.input_len()).map(|_| rng.random_range(-2.0..2.0)).collect();
        let (folded, moved) = fold_batch_norm(&network, &parameters).expect("a network");
        let json: Value = serde_json::from_str(&network).expect("a JSON");
        let expected = outputs(&json, &plain, &parameters, &inputs);
        let found = naive::outputs(&folded, &moved, &inputs);
        assert!(error(&found, &expected) < 1e-13, "{network}: {}", error(&found, &expected));
    }
}

/// The smallest case, by hand: 3 · (2 x − 4) / √(4 + 0) + 7 = 3 x + 1, with a bias that was not there before.
#[test]
fn one_number_by_hand() {
    let norm = r#"{"type": "batch_norm", "mean": [4], "variance": [4], "scale": [3], "shift": [7], "epsilon": 0}"#;
    let network = format!(r#"{{"input": [1], "layers": [{{"type": "dense", "units": 1, "bias": false}}, {norm}]}}"#);
    let (folded, parameters) = fold_batch_norm(&network, &[2.0]).expect("a network");
    assert_eq!(parameters, [3.0, 1.0]);
    assert_eq!(folded, Network::dense(&[1, 1], true).expect("a network"));
}

#[test]
fn it_is_refused_unfolded_with_an_offer() {
    let network = r#"{"input": [2], "layers": [{"type": "dense", "units": 2},
        {"type": "batch_norm", "mean": [0, 0], "variance": [1, 1]}, {"type": "relu"}, {"type": "dense", "units": 2}]}"#;
    let file = format!(
        r#"{{"network": {network}, "loss": "cross_entropy", "parameters": [0], "inputs": [[1, 2]], "targets": [0]}}"#
    );
    for found in [Network::from_json(network).err(), ProblemFile::from_json(&file).err()] {
        let found = found.expect("a fault");
        assert_eq!(found.code, ErrorCode::InvalidNetwork, "{found}");
        for says in ["layers[1] (batch_norm)", "rescaling", "fold_batch_norm", "foldBatchNorm"] {
            assert!(found.message.contains(says), "{found}");
        }
    }
}

#[test]
fn what_is_no_normalisation_says_so() {
    let norm = r#"{"type": "batch_norm", "mean": [0.5, 1], "variance": [1, 2]}"#;
    let network = |layers: &str| format!(r#"{{"input": [2, 4, 4], "layers": [{layers}]}}"#);
    let tail = r#"{"type": "flatten"}, {"type": "dense", "units": 2}"#;
    let padded = r#"{"type": "conv2d", "channels": 2, "kernel": 1, "padding": 1}"#;
    let relu = r#"{"type": "relu"}"#;
    let count = |layers: &str| Network::from_json(&network(layers)).expect("a network").parameter_count();
    let parameters = vec![0.5; count(&format!("{padded}, {tail}"))];

    // What no layer takes is a scale: before padding, and between two activations.
    let before_padding = network(&format!("{norm}, {padded}, {tail}"));
    let kinds = |json: &str| -> Vec<&'static str> {
        let (network, _) = fold_batch_norm(json, &parameters).expect("a network");
        network.layers().map(Layer::name).collect()
    };
    assert_eq!(kinds(&before_padding), ["scale", "conv2d", "flatten", "dense"]);
    // Without a shift there is nothing to be added around the image.
    assert_eq!(kinds(&before_padding.replace("[0.5, 1]", "[0, 0]")), ["conv2d", "flatten", "dense"]);
    let far_from_layers = network(&format!("{padded}, {relu}, {norm}, {relu}, {tail}"));
    assert_eq!(kinds(&far_from_layers), ["conv2d", "relu", "scale", "relu", "flatten", "dense"]);

    let good = network(&format!("{padded}, {norm}, {tail}"));
    fold_batch_norm(&good, &parameters).expect("a network");
    let found = fold_batch_norm(&good, &[1.0]).expect_err("a fault");
    assert_eq!(found.code, ErrorCode::InvalidParameters);
    assert!(found.message.contains("without its batch normalisations' own"), "{found}");
    let mut infinite = parameters.clone();
    infinite[3] = f64::INFINITY;
    assert_eq!(fold_batch_norm(&good, &infinite).expect_err("a fault").code, ErrorCode::NotFinite);
    let faults = [
        ("[1, 2]", "[1, 2, 3]", ErrorCode::InvalidNetwork, "3 values in its variance, but 2 channels"),
        ("[1, 2]", "[1, -2]", ErrorCode::InvalidNetwork, "variance[1] -2"),
        ("[1, 2]", "[1, 0], \"epsilon\": 0", ErrorCode::InvalidNetwork, "variance[1] 0"),
        ("[1, 2]", "[1, 2], \"epsilon\": -1", ErrorCode::InvalidNetwork, "epsilon -1"),
        ("[1, 2]", "[1, 2], \"scale\": [1]", ErrorCode::InvalidNetwork, "1 values in its scale"),
        ("[1, 2]", "[1, 2], \"shift\": []", ErrorCode::InvalidNetwork, "0 values in its shift"),
        ("[1, 2]", "[1, 2], \"scale\": [1e308, 1], \"shift\": [0, 0]", ErrorCode::NotFinite, ""),
        ("[1, 2]", "[1, 2], \"momentum\": 0.1", ErrorCode::Parse, "momentum"),
        (", \"variance\": [1, 2]", "", ErrorCode::Parse, "variance"),
        ("[0.5, 1]", "[0.5, null]", ErrorCode::Parse, "null"),
        ("[0.5, 1]", "0.5", ErrorCode::Parse, "mean must be an array"),
    ];
    for (old, new, code, says) in faults {
        let text = good.replacen(old, new, 1);
        assert_ne!(text, good, "{old} is not there");
        // Large enough for 1e308 to overflow.
        let found = fold_batch_norm(&text, &vec![4.0; parameters.len()]).expect_err(new);
        assert_eq!(found.code, code, "{new}: {found}");
        assert!(found.message.contains(says), "{new}: {found}");
    }
    for cut in 0..good.len() {
        assert!(fold_batch_norm(&good[..cut], &parameters).is_err());
    }
}

/// Behind any layer of a graph, read by all or by some of those that read the layer.
#[test]
fn normalisations_of_graphs_fold_or_become_scales() {
    let (mut folded_ones, mut scales) = (0, 0);
    for seed in 0..150 {
        let mut rng = rng(7500 + seed);
        let plain = random_graph(&mut rng, &ALL);
        let parameters = random_parameters(&mut rng, &plain);
        let inputs: Vec<f64> = (0..2 * plain.input_len()).map(|_| rng.random_range(-2.0..2.0)).collect();
        let at = rng.random_range(0..plain.layers().len() - 1);
        let channels = naive::values(&plain, &parameters, &inputs[..plain.input_len()])[at].shape[0];
        let norm = random_norm(&mut rng, channels);
        // The layers with the normalisation, and with a scale in its place.
        let mut layers =
            serde_json::to_value(plain.named_layers()).expect("a JSON").as_array().expect("layers").clone();
        let name = plain.named_layers()[at].name.clone().expect("a name");
        let moves_all = rng.random::<bool>();
        for layer in &mut layers[at + 1..] {
            let moves = moves_all || rng.random();
            match &mut layer["from"] {
                Value::String(from) if *from == name && moves => *from = "norm".into(),
                Value::Array(list) if moves => {
                    list.iter_mut().filter(|from| **from == name).for_each(|from| *from = "norm".into());
                }
                _ => {}
            }
        }
        if !layers[at + 1..].iter().any(|layer| layer["from"].to_string().contains("\"norm\"")) {
            continue;
        }
        let with = |mut layer: Value| {
            (layer["name"], layer["from"]) = (json!("norm"), json!(name));
            let mut layers = layers.clone();
            layers.insert(at + 1, layer);
            json!({"input": plain.input(), "layers": layers}).to_string()
        };
        let number = |key: &str, i: usize| norm[key][i].as_f64();
        let factor = |i: usize| {
            let epsilon = norm["epsilon"].as_f64().unwrap_or(1e-5);
            number("scale", i).unwrap_or(1.0) / (number("variance", i).expect("a variance") + epsilon).sqrt()
        };
        let offset = |i: usize| number("shift", i).unwrap_or(0.0) - number("mean", i).expect("a mean") * factor(i);
        let own: Vec<f64> = (0..channels).map(factor).chain((0..channels).map(offset)).collect();
        let before: usize =
            plain.layout().layers().iter().filter(|layer| layer.layer <= at).map(|l| l.range().len()).sum();
        let scaled = [&parameters[..before], &own, &parameters[before..]].concat();
        let expected = Network::from_json(&with(json!({"type": "scale"}))).expect("a network");
        let expected = naive::outputs(&expected, &scaled, &inputs);
        let json = with(norm);
        let (folded, moved) = fold_batch_norm(&json, &parameters).expect("a network");
        let found = naive::outputs(&folded, &moved, &inputs);
        assert!(error(&found, &expected) < 1e-10, "seed {seed}: {json}");
        let has_gone = folded.layers().len() == plain.layers().len();
        folded_ones += u32::from(has_gone);
        scales += u32::from(!has_gone);
    }
    assert!(folded_ones > 20 && scales > 20, "{folded_ones} folded, {scales} scales");
}
