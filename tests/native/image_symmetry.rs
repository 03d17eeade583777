//! The symmetries of networks over images, by a forward pass of the tests' own: outputs stay, inverses undo, and what is
//! no symmetry is noticed.

use crate::support::*;
use isoflat::network::{BiasInitialization, Conv2d, Initialization, Layer, Pool2d};
use isoflat::symmetry::Transformation;
use isoflat::{ErrorCode, Network};
use rand::Rng;
use serde_json::Value;

const SEEDS: u64 = 120;

fn random_maps(seed: u64) -> Vec<Transformation> {
    let layerwise = Transformation::RandomLayerwise { seed, low: 0.2, high: 5.0 };
    let nodewise = Transformation::RandomNodewise { seed, low: 0.2, high: 5.0 };
    let permutation = Transformation::RandomPermutation { seed };
    let of = vec![permutation.clone(), nodewise.clone(), layerwise.clone(), permutation.clone()];
    vec![layerwise, nodewise, permutation, Transformation::Composition { of }]
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().expect("a list").iter().map(|value| value.as_f64().expect("a number")).collect()
}

/// Three random samples.
fn random_inputs(seed: u64, network: &Network) -> Vec<f64> {
    let mut rng = rng(seed);
    (0..3 * network.input_len()).map(|_| rng.random_range(-2.0..2.0)).collect()
}

/// The pass that everything here rests on, against an independent program's numbers: before and after transformations.
#[test]
fn the_naive_pass_agrees_with_the_golden_cases() {
    for case in golden::Case::all() {
        let file = case.file();
        let expected = case.json["expected"]["loss"].as_f64().expect("a loss");
        let loss = |parameters: &[f64]| naive::loss(&file.problem, parameters);
        let near = |found: f64| (found - expected).abs() < 1e-13 * expected;
        assert!(near(loss(&file.parameters)), "{}: {}, expected {expected}", case.name, loss(&file.parameters));
        let first = numbers(&case.json["expected"]["outputs_first"]);
        let inputs = file.problem.first(1).inputs().to_f64();
        let outputs = naive::outputs(file.problem.network(), &file.parameters, &inputs);
        assert!(error(&outputs, &first) < 1e-13, "{}: {outputs:?}, expected {first:?}", case.name);
        let transformed = case.json["expected"]["transformed"].as_array().expect("transformed cases");
        assert_eq!(file.transformations.len(), transformed.len());
        for (map, expected) in file.transformations.iter().zip(transformed) {
            let moved = map.apply(file.problem.network(), &file.parameters).expect("a valid map");
            let expected = numbers(&expected["parameters"]);
            assert!(error(&moved, &expected) < 1e-14, "{} {map:?}", case.name);
            assert!(near(loss(&moved)), "{} {map:?}: {}", case.name, loss(&moved));
        }
    }
}

#[test]
fn outputs_stay_and_inverses_undo() {
    let mut moved_networks = 0;
    for seed in 0..SEEDS {
        let mut rng = rng(5000 + seed);
        let network = random_image_network(&mut rng, &HOMOGENEOUS);
        let parameters = random_parameters(&mut rng, &network);
        let inputs = random_inputs(seed, &network);
        let outputs = naive::outputs(&network, &parameters, &inputs);
        assert_eq!(outputs.len(), 3 * network.output_len(), "seed {seed}: {}", network.summary());
        for map in random_maps(seed) {
            let moved = map.apply(&network, &parameters).expect("a valid map");
            moved_networks += usize::from(moved != parameters);
            let after = naive::outputs(&network, &moved, &inputs);
            assert!(error(&after, &outputs) < 1e-12, "seed {seed} {map:?}: outputs of {network:?} change");
            let inverse = map.inverse(&network).expect("an inverse");
            let back = inverse.apply(&network, &moved).expect("a valid map");
            assert!(error(&back, &parameters) < 1e-14, "seed {seed} {map:?}: the inverse does not undo it");
            let both = Transformation::Composition { of: vec![map.clone(), inverse] };
            let back = both.apply(&network, &parameters).expect("a valid map");
            assert!(error(&back, &parameters) < 1e-14, "seed {seed} {map:?}: not undone in a composition");
        }
    }
    // Networks of one layer, and layers of one channel, have fewer symmetries; most have them all.
    assert!(moved_networks as u64 > 3 * SEEDS, "only {moved_networks} were moved");
}

/// The networks above have every layer, and every kind of window, in places that matter.
#[test]
fn the_random_networks_are_ragged() {
    let mut found = std::collections::BTreeSet::new();
    for seed in 0..SEEDS {
        let network = random_image_network(&mut rng(5000 + seed), &HOMOGENEOUS);
        let mut note = |what: &'static str, is: bool| {
            if is {
                found.insert(what);
            }
        };
        for layer in network.layers() {
            note(layer.name(), true);
            match layer {
                Layer::Conv2d(Conv2d { kernel, stride, padding, bias, .. }) => {
                    note("an oblong kernel", kernel[0] != kernel[1]);
                    note("an oblong stride", stride[0] != stride[1]);
                    note("padding", !padding.is_none());
                    note("a convolution without bias", !bias);
                }
                Layer::MaxPool2d(Pool2d { size, stride, .. }) | Layer::AvgPool2d(Pool2d { size, stride, .. }) => {
                    let stride = stride.unwrap_or(*size);
                    note("an overlapping pool", stride[0] < size[0]);
                    note("a pool with gaps", stride[0] > size[0]);
                }
                _ => {}
            }
        }
        let layers = network.layout().layers();
        let dense = |i: usize| matches!(network.layer(layers[i].layer), Layer::Dense { .. });
        note(
            "an image flattened into a dense layer",
            (1..layers.len()).any(|i| layers[i].columns_per_unit > 1 && dense(i)),
        );
        note("a convolution at the end", !dense(layers.len() - 1));
        note("no convolution", dense(0));
    }
    let wanted = [
        "dense",
        "conv2d",
        "max_pool2d",
        "avg_pool2d",
        "flatten",
        "relu",
        "leaky_relu",
        "identity",
        "an oblong kernel",
        "an oblong stride",
        "padding",
        "a convolution without bias",
        "an overlapping pool",
        "a pool with gaps",
        "an image flattened into a dense layer",
        "a convolution at the end",
        "no convolution",
    ];
    assert_eq!(found, wanted.into_iter().collect());
}

/// Parameters drawn differently, so that no check above holds because outputs are constant.
#[test]
fn a_single_channel_scaled_alone_changes_the_outputs() {
    let layers = r#"[{"type": "conv2d", "channels": 3, "kernel": 3, "padding": 1}, {"type": "leaky_relu", "slope": 0.1},
        {"type": "max_pool2d", "size": 2, "stride": 1}, {"type": "flatten"}, {"type": "dense", "units": 4}]"#;
    let network = Network::from_json(&format!(r#"{{"input": [2, 5, 4], "layers": {layers}}}"#)).expect("a network");
    let parameters =
        network.initialize(Initialization::KaimingNormal, BiasInitialization::Uniform, 1).expect("options");
    let inputs = random_inputs(1, &network);
    let outputs = naive::outputs(&network, &parameters, &inputs);
    // The factors of one channel in the rows alone, without the columns that make up for them.
    let mut broken = parameters.clone();
    broken[18..36].iter_mut().for_each(|w| *w *= 2.0);
    broken[55] *= 2.0;
    assert!(error(&naive::outputs(&network, &broken, &inputs), &outputs) > 1e-3);
    // With the columns, which are the twelve places of that channel behind the flatten, they stay.
    for row in 0..4 {
        broken[57 + row * 36 + 12..][..12].iter_mut().for_each(|w| *w /= 2.0);
    }
    assert!(error(&naive::outputs(&network, &broken, &inputs), &outputs) < 1e-14);
    let map = Transformation::Nodewise { factors: vec![vec![1.0, 2.0, 1.0]] };
    assert_eq!(map.apply(&network, &parameters).expect("a valid map"), broken);
}

#[test]
fn what_does_not_fit_the_channels_is_refused() {
    let layers = r#"[{"type": "conv2d", "channels": 3, "kernel": 2}, {"type": "relu"}, {"type": "flatten"},
        {"type": "dense", "units": 2}]"#;
    let network = Network::from_json(&format!(r#"{{"input": [1, 4, 4], "layers": {layers}}}"#)).expect("a network");
    let parameters = vec![0.5; network.parameter_count()];
    let refused = |map: Transformation, code: ErrorCode, says: &str| {
        for found in [map.apply(&network, &parameters).err(), map.inverse(&network).err()] {
            let found = found.unwrap_or_else(|| panic!("{map:?} was not refused"));
            assert_eq!(found.code, code, "{found}");
            assert!(found.message.contains(says), "{found}");
        }
    };
    use ErrorCode::InvalidTransformation as Invalid;
    // A factor a channel, not one a place of the image.
    refused(Transformation::Nodewise { factors: vec![vec![1.0; 27]] }, Invalid, "3 channels");
    refused(Transformation::Permutation { permutations: vec![vec![0, 1, 3]] }, Invalid, "each of 0 to 2 once");
    refused(Transformation::Permutation { permutations: vec![(0..27).collect()] }, Invalid, "3 channels");
    refused(Transformation::Layerwise { lambda: vec![1.0; 3] }, Invalid, "2 parametric layers");
}
