//! Parameter spaces of networks that are graphs: there and back, what rescaling leaves alone, and how many coordinates there are.

use crate::support::graphs::random_graph;
use crate::support::*;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::network::Layer;
use isoflat::space::{
    Biases, FixedChoice, FixedValues, Fixing, GSpace, OpenSpace, ParameterSpace, Skeleton, SpaceKind, TreeValues,
};
use isoflat::symmetry::Transformation;
use isoflat::{Loss, Network};
use pollster::block_on;
use rand::Rng;

const SEEDS: u64 = 120;
const CHOICES: [FixedChoice; 2] = [FixedChoice::Diagonal, FixedChoice::Hungarian];
const BIASES: [Biases; 2] = [Biases::Appended, Biases::Paths];
const TREES: [TreeValues; 2] = [TreeValues::Keep, TreeValues::Set(0.8)];

fn case(seed: u64) -> (Network, Vec<f64>) {
    let mut rng = rng(43_000 + seed);
    let network = random_graph(&mut rng, &HOMOGENEOUS);
    let parameters = random_parameters(&mut rng, &network);
    (network, parameters)
}

/// H: the free nodes.
fn free_nodes(network: &Network) -> usize {
    let map = Transformation::RandomNodewise { seed: 0, low: 0.5, high: 2.0 }.resolve(network).expect("a map");
    let Transformation::Nodewise { factors } = map else { panic!("{map:?}") };
    factors.iter().map(Vec::len).sum()
}

/// Each relative to itself. A path has a weight a layer at most, and its value goes there and back.
#[track_caller]
fn assert_same(what: &str, found: &[f64], expected: &[f64], network: &Network) {
    let tolerance = 32.0 * network.layout().layers().len() as f64 * f64::EPSILON;
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * b.abs(), "{what}: [{i}] is {a}, expected {b}");
    }
}

#[test]
fn path_values_come_back_and_are_as_many_as_there_are() {
    for seed in 0..SEEDS {
        let (network, parameters) = case(seed);
        let mut rng = rng(seed);
        for choice in CHOICES {
            let skeleton = Skeleton::new(&network, &parameters, choice).expect("a skeleton");
            assert_eq!(skeleton.len(), free_nodes(&network), "seed {seed}");
            for (biases, tree) in BIASES.into_iter().flat_map(|biases| TREES.map(|tree| (biases, tree))) {
                let what = format!("seed {seed} {choice:?} {biases:?} {tree:?}");
                let fixing = Fixing::new(&network, &parameters, choice, FixedValues::Keep).expect("fixed weights");
                let parameters = fixing.with_tree(&network, tree).expect("a tree").parameters;
                let space = GSpace::new(&network, &skeleton, &parameters, biases).expect("a G-space");
                assert_eq!(space.dimension(), parameters.len() - skeleton.len(), "{what}");
                let values = space.to_coordinates(&parameters).expect("values");
                let back = space.to_parameters(&values).expect("parameters");
                assert_same(&what, &back, &parameters, &network);
                for index in skeleton.fixed_indices() {
                    assert_eq!(back[index].to_bits(), parameters[index].to_bits(), "{what}: a fixed weight moved");
                }
                let moved: Vec<f64> = values.iter().map(|v| v * rng.random_range(0.5..2.0)).collect();
                let there = space.to_parameters(&moved).expect("parameters");
                assert_same(&what, &space.to_coordinates(&there).expect("values"), &moved, &network);
            }
        }
    }
}

#[test]
fn rescaling_leaves_path_values_alone() {
    for seed in 0..SEEDS {
        let (network, parameters) = case(seed);
        for choice in CHOICES {
            let skeleton = Skeleton::new(&network, &parameters, choice).expect("a skeleton");
            let space = GSpace::new(&network, &skeleton, &parameters, Biases::Paths).expect("a G-space");
            let values = space.to_coordinates(&parameters).expect("values");
            // A layer-wise map rescales weights that read zeros too, which are no part of any path from an input.
            let has_zeros = network
                .layers()
                .any(|layer| matches!(layer, Layer::PadChannels { before, after } if before + after > 0));
            let nodewise = Transformation::RandomNodewise { seed, low: 0.1, high: 10.0 };
            let layerwise = Transformation::RandomLayerwise { seed, low: 0.1, high: 10.0 };
            for map in [nodewise, layerwise].into_iter().take(if has_zeros { 1 } else { 2 }) {
                let what = format!("seed {seed} {choice:?} {map:?}");
                let moved = map.apply(&network, &parameters).expect("parameters");
                let other = space.to_coordinates(&moved).expect("values");
                assert_same(&what, &other, &values, &network);
                // All of the orbit comes back to one point.
                assert_same(&what, &space.to_parameters(&other).expect("parameters"), &parameters, &network);
            }
        }
    }
}

#[test]
fn fixed_weights_are_rescaled_to_one_without_a_change_of_outputs() {
    for seed in 0..SEEDS {
        let (network, parameters) = case(seed);
        let inputs = random_direction(&mut rng(seed), 3 * network.input_len());
        let outputs = naive::outputs(&network, &parameters, &inputs);
        for choice in CHOICES {
            let fixing = Fixing::new(&network, &parameters, choice, FixedValues::Reparametrize).expect("a rescaling");
            assert!(fixing.skeleton.fixed_indices().iter().all(|&index| fixing.parameters[index].abs() == 1.0));
            let found = naive::outputs(&network, &fixing.parameters, &inputs);
            assert!(error(&found, &outputs) < 1e-11, "seed {seed} {choice:?}: {network:?}");
            let kind = SpaceKind::WeightFixing { choice, values: FixedValues::Keep };
            let open = kind.open(&network, &parameters).expect("a space");
            assert_eq!(open.space.dimension(), parameters.len() - fixing.skeleton.len());
            let values = open.space.to_coordinates(&parameters).expect("coordinates");
            assert_eq!(open.space.to_parameters(&values).expect("parameters"), parameters);
        }
    }
}

/// A gradient in the coordinates against central differences of the plain-loop loss, on smooth ground: an identity has no kinks.
#[test]
fn gradients_are_differences() {
    for seed in 0..40 {
        let mut rng = rng(44_000 + seed);
        let network = random_graph(&mut rng, &[Layer::Identity]);
        if network.layers().any(|layer| layer.name() == "max_pool2d") {
            continue;
        }
        let parameters = random_parameters(&mut rng, &network);
        let problem = random_problem(&mut rng, network, Loss::SquaredError);
        let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
        for (choice, tree) in CHOICES.into_iter().flat_map(|choice| TREES.map(|tree| (choice, tree))) {
            let kind = SpaceKind::GSpace { choice, values: FixedValues::Keep, tree, biases: Biases::Paths };
            let OpenSpace { space, parameters, .. } = kind.open(problem.network(), &parameters).expect("a space");
            block_on(engine.prepare(&parameters)).expect("a point");
            let gradient = block_on(engine.gradient()).expect("a gradient");
            let v = space.to_coordinates(&parameters).expect("coordinates");
            let pulled = space.pull_back(&v, &gradient).expect("a gradient");
            let x: Vec<f64> = v.iter().map(|v| v * rng.random_range(-1.0..1.0)).collect();
            let at = |step: f64| {
                let moved: Vec<f64> = v.iter().zip(&x).map(|(v, x)| v + step * x).collect();
                naive::loss(&problem, &space.to_parameters(&moved).expect("parameters"))
            };
            let expected = (at(1e-6) - at(-1e-6)) / 2e-6;
            let size: f64 = pulled.iter().zip(&x).map(|(g, x)| (g * x).abs()).sum::<f64>() + at(0.0);
            assert!((dot(&pulled, &x) - expected).abs() <= 1e-7 * size, "seed {seed} {choice:?} {tree:?}");
        }
    }
}

/// The tree goes over zeros only where nothing else leads to a node, and the forest past what has one reader.
#[test]
fn nodes_behind_zeros_have_a_tree_too() {
    let json = r#"{"input": [2], "layers": [{"type": "dense", "units": 2}, {"type": "pad_channels", "before": 1, "after": 1},
        {"type": "scale"}, {"type": "relu"}, {"type": "dense", "units": 3}]}"#;
    let network = Network::from_json(json).expect("a network");
    let parameters = random_parameters(&mut rng(1), &network);
    let skeleton = Skeleton::new(&network, &parameters, FixedChoice::Diagonal).expect("a skeleton");
    assert_eq!(skeleton.len(), 6);
    let space = GSpace::new(&network, &skeleton, &parameters, Biases::Paths).expect("a G-space");
    let values = space.to_coordinates(&parameters).expect("values");
    assert_same("zeros", &space.to_parameters(&values).expect("parameters"), &parameters, &network);
    let moved = Transformation::RandomNodewise { seed: 3, low: 0.1, high: 10.0 }.apply(&network, &parameters);
    assert_same("zeros", &space.to_coordinates(&moved.expect("parameters")).expect("values"), &values, &network);
}
