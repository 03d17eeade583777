//! Symmetries of networks that are graphs, by the forward pass of the tests' own: outputs stay, inverses undo, what is no symmetry is
//! refused with the layers named, and what follows from symmetries (vertical directions, balancing, Dinh's constructions) does.

use crate::support::graphs::random_graph;
use crate::support::*;
use isoflat::dinh::*;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::measure::sharpness::Region;
use isoflat::measure::{MeasureOptions, SharpnessOptions};
use isoflat::operator::{Connection, Metric, OperatorKind, SymmetricOperator};
use isoflat::space::{Balance, BalanceOptions, balance};
use isoflat::symmetry::{Transformation, free_tensors};
use isoflat::{Control, ErrorCode, Loss, Network, Problem};
use pollster::block_on;

const SEEDS: u64 = 150;

fn network(json: &str) -> Network {
    Network::from_json(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

fn case(seed: u64) -> (Network, Vec<f64>, Vec<f64>) {
    let mut rng = rng(41_000 + seed);
    let network = random_graph(&mut rng, &HOMOGENEOUS);
    let parameters = random_parameters(&mut rng, &network);
    let inputs = random_direction(&mut rng, 3 * network.input_len());
    (network, parameters, inputs)
}

fn problem(seed: u64, loss: Loss) -> (Problem, Vec<f64>) {
    let mut rng = rng(42_000 + seed);
    let network = random_graph(&mut rng, &HOMOGENEOUS);
    let parameters = random_parameters(&mut rng, &network);
    (random_problem(&mut rng, network, loss), parameters)
}

fn random_maps(seed: u64) -> Vec<Transformation> {
    let layerwise = Transformation::RandomLayerwise { seed, low: 0.2, high: 5.0 };
    let nodewise = Transformation::RandomNodewise { seed, low: 0.2, high: 5.0 };
    let permutation = Transformation::RandomPermutation { seed };
    let of = vec![permutation.clone(), nodewise.clone(), layerwise.clone(), permutation.clone()];
    vec![layerwise, nodewise, permutation, Transformation::Composition { of }]
}

#[test]
fn outputs_stay_and_inverses_undo() {
    let mut moved_by = [0; 4];
    for seed in 0..SEEDS {
        let (network, parameters, inputs) = case(seed);
        let outputs = naive::outputs(&network, &parameters, &inputs);
        for (map, count) in random_maps(seed).into_iter().zip(&mut moved_by) {
            let moved = map.apply(&network, &parameters).expect("a valid map");
            *count += usize::from(moved != parameters);
            let after = naive::outputs(&network, &moved, &inputs);
            assert!(error(&after, &outputs) < 1e-12, "seed {seed} {map:?}: outputs of {network:?} change");
            let inverse = map.inverse(&network).expect("an inverse");
            let back = inverse.apply(&network, &moved).expect("a valid map");
            assert!(error(&back, &parameters) < 1e-13, "seed {seed} {map:?}: the inverse does not undo it");
            // Resolved, it is in the form in which files have it.
            let json = serde_json::to_string(&map.resolve(&network).expect("a map")).expect("a JSON");
            let read = Transformation::from_json(&json).expect("a map");
            assert_eq!(read.apply(&network, &parameters).expect("a valid map"), moved, "seed {seed}: {json}");
        }
    }
    // Layer-wise all that the outputs and inputs do not hold; of permutations most, since few graphs are without alike channels.
    assert!(moved_by.iter().all(|&count| count as u64 > 3 * SEEDS / 5), "{moved_by:?}");
}

/// Twice a factor on one layer: all ways over it have twice their product, and no others.
#[test]
fn factors_of_unequal_ways_are_refused() {
    for seed in 0..SEEDS {
        let (network, parameters, _) = case(seed);
        let map = Transformation::RandomLayerwise { seed, low: 0.2, high: 5.0 };
        let Transformation::Layerwise { lambda } = map.resolve(&network).expect("a map") else { panic!("{map:?}") };
        for layer in 0..lambda.len() {
            let mut lambda = lambda.clone();
            lambda[layer] *= 2.0;
            let map = Transformation::Layerwise { lambda };
            let refused = map.apply(&network, &parameters).expect_err("unequal ways");
            assert_eq!(refused.code, ErrorCode::InvalidTransformation);
            let says = ["the outputs would change", "multipl"].iter().all(|words| refused.message.contains(words));
            assert!(says, "seed {seed}: {refused}");
        }
    }
}

fn ones(network: &Network) -> Vec<f64> {
    vec![1.0; network.parameter_count()]
}

#[track_caller]
fn refused(network: &Network, map: &Transformation, says: &[&str]) {
    let parameters = vec![0.5; network.parameter_count()];
    for found in [map.apply(network, &parameters).err(), map.inverse(network).err()] {
        let found = found.unwrap_or_else(|| panic!("{map:?} was not refused"));
        assert_eq!(found.code, ErrorCode::InvalidTransformation, "{found}");
        assert!(says.iter().all(|words| found.message.contains(words)), "{found}");
    }
}

/// Three dense layers of two units and one of three outputs; the third is added to the first one's.
const SKIP: &str = r#"{"input": [2], "layers": [
    {"type": "dense", "units": 2}, {"type": "relu", "name": "a"},
    {"type": "dense", "units": 2}, {"type": "relu"}, {"type": "dense", "units": 2, "name": "b"},
    {"type": "add", "from": ["b", "a"]}, {"type": "relu"}, {"type": "dense", "units": 3}]}"#;

/// A block behind the inputs, which are added to it, and another way to the outputs.
const HELD: &str = r#"{"input": [2], "layers": [
    {"type": "dense", "units": 3, "bias": false}, {"type": "relu"}, {"type": "dense", "units": 2, "name": "b"},
    {"type": "add", "from": ["b", "input"], "name": "sum"}, {"type": "relu"}, {"type": "dense", "units": 2}]}"#;

/// A convolution, a scale, a depthwise convolution with two rows a channel, and one of two groups.
const TIED: &str = r#"{"input": [1, 3, 3], "layers": [
    {"type": "conv2d", "channels": 2, "kernel": 2}, {"type": "scale", "name": "s"}, {"type": "relu"},
    {"type": "conv2d", "channels": 4, "kernel": 1, "groups": 2, "name": "d"}, {"type": "leaky_relu", "slope": 0.5},
    {"type": "conv2d", "channels": 2, "kernel": 2, "groups": 2}, {"type": "relu"}, {"type": "flatten"},
    {"type": "dense", "units": 2}]}"#;

/// Two branches side by side, and zeros between what is added up.
const BESIDE: &str = r#"{"input": [1, 2, 2], "layers": [
    {"type": "conv2d", "channels": 2, "kernel": 1, "name": "a"}, {"type": "relu", "name": "ra"},
    {"type": "conv2d", "channels": 2, "kernel": 1, "name": "b", "from": "ra"}, {"type": "leaky_relu", "slope": 0.3, "name": "rb"},
    {"type": "concat", "from": ["ra", "rb"], "name": "all"},
    {"type": "pad_channels", "before": 1, "from": "ra", "name": "wide"},
    {"type": "conv2d", "channels": 3, "kernel": 1, "from": "all", "name": "c"},
    {"type": "add", "from": ["c", "wide"]}, {"type": "relu"}, {"type": "flatten"}, {"type": "dense", "units": 2}]}"#;

#[test]
fn ways_are_named() {
    let layerwise = |lambda: &[f64]| Transformation::Layerwise { lambda: lambda.to_vec() };
    let skip = network(SKIP);
    let says = &["the way over layers 2, 3 (\"b\") multiplies to 6", "the way over the shortcut to 1"];
    refused(&skip, &layerwise(&[4.0, 2.0, 3.0, 0.25]), says);
    refused(&skip, &layerwise(&[4.0, 2.0, 0.5, 0.5]), &["the way over layers 1, 2, 3 (\"b\"), 4", "to 2, but", "to 1"]);
    layerwise(&[4.0, 2.0, 0.5, 0.25]).apply(&skip, &ones(&skip)).expect("equal ways");
    refused(&skip, &layerwise(&[1.0; 3]), &["4 parametric layers"]);
    let held = network(HELD);
    refused(&held, &layerwise(&[2.0, 1.0, 0.5]), &["the way over layers 1, 2 (\"b\") multiplies to 2", "to 1"]);
    refused(&held, &layerwise(&[2.0, 0.5, 2.0]), &["multiplies to 2"]);
    let beside = network(BESIDE);
    let says = &["the way over layer 2 (\"b\") multiplies to 3", "the shortcut to 1"];
    // What is put side by side is read as a whole: a and b have one factor.
    refused(&beside, &layerwise(&[2.0, 3.0, 1.0, 0.5]), says);
    layerwise(&[2.0, 1.0, 1.0, 0.5]).apply(&beside, &ones(&beside)).expect("equal ways");
}

#[test]
fn lists_are_of_new_nodes() {
    let nodewise =
        |factors: &[&[f64]]| Transformation::Nodewise { factors: factors.iter().map(|f| f.to_vec()).collect() };
    let skip = network(SKIP);
    nodewise(&[&[2.0, 3.0], &[0.5, 4.0]]).apply(&skip, &ones(&skip)).expect("a valid map");
    refused(&skip, &nodewise(&[&[2.0, 3.0], &[0.5, 4.0], &[1.0, 1.0]]), &["3 layers", "2 layers of the network"]);
    refused(&skip, &nodewise(&[&[2.0, 3.0], &[0.5]]), &["layers[2] (dense) is the first to write 2 units"]);
    refused(&skip, &nodewise(&[&[2.0, 3.0], &[0.5, 0.0]]), &["factors[1][1]"]);
    // Only the hidden units before the sum with the inputs are free.
    nodewise(&[&[2.0, 3.0, 5.0]]).apply(&network(HELD), &ones(&network(HELD))).expect("a valid map");
    // c writes a's nodes and, where a's have zeros before them, one of its own.
    nodewise(&[&[2.0, 3.0], &[5.0, 0.5], &[4.0]])
        .apply(&network(BESIDE), &ones(&network(BESIDE)))
        .expect("a valid map");
}

/// Every permutation of every list: those are taken that leave the outputs as they are, and no others.
#[test]
fn permutations_are_taken_where_the_outputs_stay() {
    let orders = |n: usize| -> Vec<Vec<usize>> {
        let mut all = vec![vec![]];
        for i in 0..n {
            all = all
                .iter()
                .flat_map(|p: &Vec<usize>| (0..=i).map(move |at| [&p[..at], &[i], &p[at..]].concat()))
                .collect();
        }
        all
    };
    for (json, lists, symmetries) in
        [(SKIP, vec![2, 2], 4), (HELD, vec![3], 6), (TIED, vec![2, 2, 4, 2], 8), (BESIDE, vec![2, 2, 1], 4)]
    {
        let network = network(json);
        let mut rng = rng(3);
        let parameters = random_direction(&mut rng, network.parameter_count());
        let inputs = random_direction(&mut rng, 16 * network.input_len());
        let outputs = naive::outputs(&network, &parameters, &inputs);
        let mut all: Vec<Vec<Vec<usize>>> = vec![vec![]];
        for &n in &lists {
            let orders = orders(n);
            all = all.iter().flat_map(|p| orders.iter().map(|o| [&p[..], std::slice::from_ref(o)].concat())).collect();
        }
        let mut taken = 0;
        for permutations in all {
            let map = Transformation::Permutation { permutations };
            match map.apply(&network, &parameters) {
                Ok(moved) => {
                    taken += 1;
                    let off = error(&naive::outputs(&network, &moved, &inputs), &outputs);
                    assert!(off < 1e-13, "{map:?} of {json}: {off:.1e}");
                }
                Err(refused) => {
                    assert_eq!(refused.code, ErrorCode::InvalidTransformation);
                    assert!(refused.message.contains("the outputs would change"), "{refused}");
                }
            }
        }
        assert_eq!(taken, symmetries, "{json}");
    }
    let permutation =
        |lists: &[&[usize]]| Transformation::Permutation { permutations: lists.iter().map(|l| l.to_vec()).collect() };
    refused(&network(TIED), &permutation(&[&[1, 0], &[0, 1], &[0, 1, 2, 3], &[0, 1]]), &["layers[1] (scale \"s\")"]);
    refused(&network(TIED), &permutation(&[&[0, 1], &[0, 1], &[2, 1, 0, 3], &[0, 1]]), &["layers[3] (conv2d \"d\")"]);
}

/// A random permutation moves what a scale and a depthwise convolution tie together.
#[test]
fn bundles_move_together() {
    let network = network(TIED);
    let mut found = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let map = Transformation::RandomPermutation { seed }.resolve(&network).expect("a map");
        let Transformation::Permutation { permutations } = map else { panic!("{map:?}") };
        found.insert(permutations);
    }
    assert!(found.contains(&vec![vec![1, 0], vec![1, 0], vec![2, 3, 0, 1], vec![1, 0]]), "{found:?}");
    // All symmetries: both bundles, and the two rows of each channel, in every order.
    assert_eq!(found.len(), 8, "{found:?}");
}

#[test]
fn free_tensors_are_what_sliders_move() {
    let of = |json: &str| -> Vec<(Vec<usize>, Vec<usize>)> {
        let tensors = free_tensors(&network(json)).expect("tensors");
        tensors.into_iter().map(|tensor| (tensor.writers, tensor.readers)).collect()
    };
    assert_eq!(of(SKIP), [(vec![0, 2], vec![1, 3]), (vec![1], vec![2])]);
    assert_eq!(of(HELD), [(vec![0], vec![1])]);
    assert_eq!(of(BESIDE), [(vec![0, 1, 2], vec![1, 2, 3])]);
    for seed in 0..SEEDS {
        let (network, parameters, inputs) = case(seed);
        let outputs = naive::outputs(&network, &parameters, &inputs);
        for tensor in free_tensors(&network).expect("tensors") {
            let mut lambda = vec![1.0; network.layout().layers().len()];
            tensor.writers.iter().for_each(|&l| lambda[l] *= 3.0);
            tensor.readers.iter().for_each(|&l| lambda[l] /= 3.0);
            let moved = Transformation::Layerwise { lambda }.apply(&network, &parameters).expect("a slider's map");
            assert!(error(&naive::outputs(&network, &moved, &inputs), &outputs) < 1e-12, "seed {seed}: {tensor:?}");
        }
    }
}

/// Directions along the orbit: the loss does not change along them, and the Levi-Civita Hessian has them in its kernel.
#[test]
fn vertical_directions_are_flat() {
    let mut checked = 0;
    for seed in 0..100 {
        let (problem, parameters) = problem(seed, Loss::CrossEntropy);
        let network = problem.network();
        let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
        block_on(engine.prepare(&parameters)).expect("a point");
        let gradient = block_on(engine.gradient()).expect("a gradient");
        let maps = [
            (Transformation::RandomLayerwise { seed, low: 0.2, high: 5.0 }, &[Metric::Layerwise, Metric::Nodewise][..]),
            (Transformation::RandomNodewise { seed, low: 0.2, high: 5.0 }, &[Metric::Nodewise][..]),
        ];
        for (map, metrics) in maps {
            // θ_i is multiplied by e^{t c_i} along the way, with c_i the logarithm of what a one becomes.
            let ones = map.apply(network, &vec![1.0; parameters.len()]).expect("a map");
            let vertical: Vec<f64> = ones.iter().zip(&parameters).map(|(t, w)| t.ln() * w).collect();
            let size: f64 = gradient.iter().zip(&vertical).map(|(g, v)| (g * v).abs()).sum();
            assert!(dot(&gradient, &vertical).abs() <= 1e-12 * size, "seed {seed} {map:?}");
            for &metric in metrics {
                let scale = metric.scale(&engine, &parameters).expect("a diagonal");
                let u: Vec<f64> =
                    vertical.iter().zip(&scale).map(|(v, d)| if *d > 0.0 { v / d } else { 0.0 }).collect();
                let size = dot(&u, &u).sqrt();
                if size < 1e-6 {
                    continue;
                }
                checked += 1;
                let kind = OperatorKind::riemannian(metric, Connection::LeviCivita);
                let operator = block_on(kind.operator(&engine)).expect("an operator");
                let vectors = engine.vectors();
                let x = vectors.upload(&u, 1).expect("a vector");
                let mut y = vectors.zeros(u.len(), 1).expect("a vector");
                block_on(operator.apply(&x, &mut y)).expect("a product");
                let found = block_on(vectors.download(&y)).expect("a vector");
                let norm = dot(&found, &found).sqrt() / size;
                let largest = 1.0 + block_on(engine.loss()).expect("a loss");
                assert!(norm < 1e-9 * largest, "seed {seed} {metric:?}: ‖A u‖ / ‖u‖ = {norm:.1e}");
            }
        }
    }
    assert!(checked > 200, "{checked}");
}

#[test]
fn balanced_graphs_are_the_least() {
    for seed in 0..60 {
        let (network, parameters, inputs) = case(seed);
        let outputs = naive::outputs(&network, &parameters, &inputs);
        for kind in [Balance::Layerwise, Balance::Nodewise] {
            let (options, control) = (BalanceOptions::default(), Control::default());
            let found = block_on(balance(&network, &parameters, kind, &options, &control)).expect("a balanced network");
            assert!(found.converged, "seed {seed}: {} sweeps, {}", found.sweeps, found.change);
            assert!(error(&naive::outputs(&network, &found.parameters, &inputs), &outputs) < 1e-11, "seed {seed}");
            for seed in 0..6 {
                for (low, high) in [(0.999, 1.001), (0.5, 2.0)] {
                    let map = match kind {
                        Balance::Layerwise => Transformation::RandomLayerwise { seed, low, high },
                        Balance::Nodewise => Transformation::RandomNodewise { seed, low, high },
                    };
                    let other = map.apply(&network, &found.parameters).expect("parameters");
                    assert!(dot(&other, &other) >= found.squared_norm * (1.0 - 1e-12), "seed {seed}");
                }
            }
        }
    }
}

/// What a construction promises holds on graphs, and where nothing can be rescaled it says so.
#[test]
fn dinhs_constructions_hold_on_graphs() {
    let (mut checked, control) = ([0; 4], Control::default());
    for seed in 0..60 {
        let (problem, parameters) = problem(1000 + seed, Loss::SquaredError);
        if parameters.len() > 260 {
            continue;
        }
        let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
        let mut note = |which: usize, found: Result<bool, isoflat::Error>| match found {
            Ok(holds) => {
                assert!(holds, "seed {seed}: construction {which}");
                checked[which] += 1;
            }
            Err(error) => assert_eq!(error.code, ErrorCode::InvalidOption, "seed {seed}: {error}"),
        };
        let wanted = SharpenOptions { target: 1e6, layer: None, powers_of_two: true };
        let options = MeasureOptions { max_products: 2000, ..MeasureOptions::default() };
        let found = block_on(sharpen(&engine, &parameters, &wanted, &options, &control));
        note(0, found.map(|found| found.reached && found.outputs.bitwise && found.relative_difference < 1e-8));
        let options = BoxOptions { epsilon: 0.05, boxes: 4, samples: 6, ..BoxOptions::default() };
        let found = block_on(volume_flatness(&engine, &parameters, &options, &control));
        note(
            1,
            found.map(|found| {
                let same = found.boxes.iter().all(|flat| flat.largest_difference < 1e-10 * (1.0 + found.loss));
                found.disjoint && found.inside && found.log_determinant >= 0.0 && same
            }),
        );
        let found = block_on(many_large_eigenvalues(&engine, &parameters, 10.0, None, true, &control));
        note(2, found.map(|found| found.holds && found.outputs.bitwise));
        let options = SharpnessOptions { restarts: Some(0), max_iterations: 10, ..SharpnessOptions::default() };
        let found = block_on(constant_in_ball(&engine, &parameters, Region::Ball, 0.01, &options, &control));
        note(
            3,
            found.map(|found| {
                let first: Vec<usize> =
                    (0..parameters.len()).filter(|&i| found.parameters[i] != parameters[i]).collect();
                let is_small = (found.distance - 0.01).abs() < 1e-12 && !first.is_empty();
                found.holds && is_small && found.outputs.relative < 1e-11
            }),
        );
    }
    assert!(checked.iter().all(|&count| count >= 15), "{checked:?}");
}

/// Layers that are held back are those with the fewest weights, and the others shrink.
#[test]
fn a_graph_is_cut_where_it_is_thin() {
    let network = network(SKIP);
    let mut rng = rng(9);
    let parameters = random_parameters(&mut rng, &network);
    let problem = random_problem(&mut rng, network.clone(), Loss::SquaredError);
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let found = block_on(many_large_eigenvalues(&engine, &parameters, 10.0, None, false, &Control::default()));
    let found = found.expect("a spectrum");
    // The circle over layers 1 and 2 needs one of them, and the way past it layer 0 or 3: of 4 weights each, and 6.
    assert_eq!(found.smallest_size, 8, "{found:?}");
    assert!(found.holds);
}

/// A constant function: all outputs are the same where the weights that shrink are 0; where inputs go past them it is refused.
#[test]
fn inputs_that_go_past_are_noticed() {
    let past = network(
        r#"{"input": [2], "layers": [{"type": "dense", "units": 3}, {"type": "relu"}, {"type": "dense", "units": 2, "name": "b"},
        {"type": "add", "from": ["b", "input"]}]}"#,
    );
    let mut rng = rng(8);
    let parameters = random_parameters(&mut rng, &past);
    let problem = random_problem(&mut rng, past, Loss::SquaredError);
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let options = SharpnessOptions::default();
    let refused = block_on(constant_in_ball(&engine, &parameters, Region::Ball, 0.1, &options, &Control::default()));
    let refused = refused.expect_err("no constant function");
    assert!(refused.code == ErrorCode::InvalidOption && refused.message.contains("past"), "{refused}");
    // Of layers, the one whose factor is free.
    let wanted = SharpenOptions { target: 1e4, layer: Some(1), powers_of_two: false };
    let options = MeasureOptions::default();
    let found = block_on(sharpen(&engine, &parameters, &wanted, &options, &Control::default())).expect("α");
    assert!(found.reached && found.compensating_layer == 0);
    let mut rng = crate::support::rng(7);
    let held = network(HELD);
    let parameters = random_parameters(&mut rng, &held);
    let problem = random_problem(&mut rng, held, Loss::SquaredError);
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let wanted = SharpenOptions { layer: Some(2), ..wanted };
    let refused = block_on(sharpen(&engine, &parameters, &wanted, &options, &Control::default()));
    assert!(refused.expect_err("fixed").message.contains("layer 3 cannot shrink"));
}
