//! Parameter spaces on the host, in double precision: against golden values, the definition spelt out, the thesis' own rules, finite
//! differences, and what rescaling must and must not change.

use std::collections::BTreeSet;

use crate::support::golden::Case;
use crate::support::*;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::space::{
    Biases, FixedChoice, FixedValues, Fixing, GSpace, Grouping, ParameterSpace, Skeleton, SpaceKind, TreeValues,
    WeightFixing, WeightNorm,
};
use isoflat::symmetry::Transformation;
use isoflat::train::{Optimizer, TrainOptions, train_in};
use isoflat::{Control, ErrorCode, Loss, Network};
use nalgebra::DMatrix;
use pollster::block_on;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

const DIAGONAL: FixedChoice = FixedChoice::Diagonal;

fn g_space(network: &Network, parameters: &[f64], biases: Biases) -> GSpace {
    let skeleton = Skeleton::new(network, parameters, DIAGONAL).expect("a skeleton");
    GSpace::new(network, &skeleton, parameters, biases).expect("a G-space")
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|v| v.as_f64().expect("a number")).collect()
}

/// Each number relative to the largest beside it.
#[track_caller]
fn assert_near(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let error = error(found, expected);
    assert!(error <= tolerance, "{what}: off by {error:.1e}, more than {tolerance:.0e}");
}

#[test]
fn golden_values() {
    let mut cases = 0;
    for case in Case::all() {
        let expected = &case.json["expected"]["spaces"];
        if expected.is_null() {
            continue;
        }
        cases += 1;
        let (name, file) = (case.name, case.file());
        let (network, parameters) = (file.problem.network(), &file.parameters);
        let engine = Engine::new(&Device::cpu(Precision::F64), &file.problem).expect("an engine");
        block_on(engine.prepare(parameters)).expect("a point");
        let gradient = block_on(engine.gradient()).expect("a gradient");

        let skeleton = Skeleton::new(network, parameters, DIAGONAL).expect("a skeleton");
        let free: Vec<f64> = skeleton.free(network).into_iter().map(|free| f64::from(u8::from(free))).collect();
        assert_eq!(free, numbers(&expected["free"]), "{name}");

        let space = g_space(network, parameters, Biases::Appended);
        let values = space.to_coordinates(parameters).expect("values");
        let golden = &expected["g_space"];
        assert_near(name, &values, &numbers(&golden["values"]), 1e-10);
        let pulled = space.pull_back(&values, &gradient).expect("a gradient");
        assert_near(name, &pulled, &numbers(&golden["gradient"]), 1e-10);
        let options = TrainOptions {
            optimizer: Optimizer::sgd(golden["learning_rate"].as_f64().expect("a rate")),
            batch_size: file.problem.samples(),
            epochs: 1,
            ..TrainOptions::default()
        };
        let training = block_on(train_in(&engine, &space, parameters, None, &options, &Control::default()));
        let training = training.expect("a step");
        assert_near(name, &training.parameters, &numbers(&golden["parameters_after_one_sgd_step"]), 1e-10);
        let loss = block_on(engine.evaluate(&training.parameters)).expect("a loss").loss;
        assert_near(name, &[loss], &[golden["loss_after_one_sgd_step"].as_f64().expect("a loss")], 1e-10);

        let fixing = Fixing::new(network, parameters, DIAGONAL, FixedValues::Reparametrize).expect("a rescaling");
        let golden = &expected["weight_fixing"];
        assert_near(name, &fixing.parameters, &numbers(&golden["parameters_reparametrized"]), 1e-10);
        let masked: Vec<f64> = gradient.iter().zip(&free).map(|(g, free)| g * free).collect();
        assert_near(name, &masked, &numbers(&golden["gradient"]), 1e-10);
    }
    assert!(cases >= 6, "only {cases} golden cases have spaces");
}

/// Path values from the definition alone: for every weight walk to the input and to the output and multiply. `weight(l, r, c, tap)`
/// reads W_l; the fixed weight of unit j is its first one to unit j mod n, the tree's of unit r its first one from unit r mod n.
fn paths_by_walking(network: &Network, parameters: &[f64], biases: Biases) -> Vec<f64> {
    let layers = network.layout().layers();
    let units: Vec<usize> = layers.iter().map(|layer| layer.outputs).collect();
    let before = |l: usize| layers[l].inputs / layers[l].columns_per_unit;
    let weight = |l: usize, r: usize, c: usize, tap: usize| {
        parameters[layers[l].weight.start + r * layers[l].inputs + c * layers[l].columns_per_unit + tap]
    };
    let out = |mut l: usize, mut unit: usize| {
        let mut product = 1.0;
        while l + 1 < layers.len() {
            let next = unit % units[l + 1];
            product *= weight(l + 1, next, unit, 0);
            (l, unit) = (l + 1, next);
        }
        product
    };
    let incoming = |mut l: usize, mut unit: usize| {
        let mut product = 1.0;
        while l > 0 {
            let next = unit % before(l - 1);
            product *= weight(l - 1, unit, next, 0);
            (l, unit) = (l - 1, next);
        }
        product
    };
    let mut values = Vec::new();
    for (l, layer) in layers.iter().enumerate() {
        for r in 0..layer.outputs {
            for c in 0..before(l) {
                for tap in 0..layer.columns_per_unit {
                    let is_fixed = l > 0 && tap == 0 && r == c % layer.outputs;
                    if !is_fixed {
                        values.push(incoming(l, c) * weight(l, r, c, tap) * out(l, r));
                    }
                }
            }
        }
        if let Some(bias) = &layer.bias {
            for (r, b) in parameters[bias.clone()].iter().enumerate() {
                values.push(if biases == Biases::Paths { b * out(l, r) } else { *b });
            }
        }
    }
    values
}

fn cases(rng: &mut ChaCha8Rng) -> Vec<(Network, Vec<f64>)> {
    let mut cases: Vec<_> = (0..40)
        .map(|seed| {
            let network = any_network(rng, seed, &HOMOGENEOUS);
            let parameters = random_parameters(rng, &network);
            (network, parameters)
        })
        .collect();
    // Straight, narrowing and widening ones, whose trees pass fixed and free weights.
    for widths in [&[5, 4, 4, 4, 3][..], &[6, 9, 3, 7, 2, 4], &[2, 3, 8, 8, 5, 2]] {
        let network = Network::dense(widths, true).expect("a network");
        let parameters = random_parameters(rng, &network);
        cases.push((network, parameters));
    }
    cases
}

/// A way of v there and back multiplies and divides by as many factors as a path has, twice.
fn rounding(network: &Network) -> f64 {
    8.0 * network.layout().layers().len() as f64 * f64::EPSILON
}

#[track_caller]
fn assert_same(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * b.abs(), "{what}: [{i}] is {a}, expected {b}");
    }
}

#[test]
fn path_values_are_the_definitions_and_come_back() {
    let mut rng = rng(1);
    for (network, parameters) in cases(&mut rng) {
        let name = network.summary();
        let hidden: usize = network.layout().layers().iter().rev().skip(1).map(|layer| layer.outputs).sum();
        for biases in [Biases::Appended, Biases::Paths] {
            let space = g_space(&network, &parameters, biases);
            assert_eq!(space.dimension(), parameters.len() - hidden, "{name}");
            let values = space.to_coordinates(&parameters).expect("values");
            assert_same(&name, &values, &paths_by_walking(&network, &parameters, biases), rounding(&network));
            let back = space.to_parameters(&values).expect("parameters");
            assert_same(&name, &back, &parameters, rounding(&network));
            for index in space.skeleton().fixed_indices() {
                assert_eq!(back[index].to_bits(), parameters[index].to_bits(), "{name}: a fixed weight moved");
            }
            // Other coordinates, and there again.
            let moved: Vec<f64> = values.iter().map(|v| v * rng.random_range(0.5..2.0)).collect();
            let again = space.to_coordinates(&space.to_parameters(&moved).expect("parameters")).expect("values");
            assert_same(&name, &again, &moved, 2.0 * rounding(&network));
        }
    }
}

#[test]
fn rescaling_leaves_path_values_alone() {
    let mut rng = rng(2);
    for (seed, (network, parameters)) in cases(&mut rng).into_iter().enumerate() {
        let map = Transformation::RandomNodewise { seed: seed as u64, low: 0.01, high: 100.0 };
        let moved = map.apply(&network, &parameters).expect("parameters");
        let space = g_space(&network, &parameters, Biases::Paths);
        let (values, other) = (space.to_coordinates(&parameters), space.to_coordinates(&moved));
        assert_same(&network.summary(), &other.expect("values"), &values.expect("values"), 2.0 * rounding(&network));
        // All of the orbit comes back to one point: the one with the space's fixed weights.
        let back = space.to_parameters(&space.to_coordinates(&moved).expect("values")).expect("parameters");
        assert_same(&network.summary(), &back, &parameters, 4.0 * rounding(&network));
    }
}

/// Table 2.3 of the thesis on a straight network without biases, in its own groups: w_j on the diagonal of W_1, w_i the free weights of
/// later layers, w_h the rest of W_1; s is the product of a path's fixed weights.
#[test]
fn straight_networks_follow_the_thesis() {
    let mut rng = rng(3);
    let (inputs, n, outputs, depth) = (6, 4, 3, 4);
    let network = Network::dense(&[inputs, n, n, n, outputs], false).expect("a network");
    let w = random_parameters(&mut rng, &network);
    let gradient = random_direction(&mut rng, w.len());
    let layers = network.layout().layers().to_vec();
    let at = |l: usize, r: usize, c: usize| layers[l].weight.start + r * layers[l].inputs + c;
    let rows = |l: usize| if l + 1 == depth { outputs } else { n };
    // The fixed weights after unit r of layer l, and those before unit c of layer l (from layer 2 on).
    let after = |l: usize, r: usize| (l + 1..depth).map(|k| w[at(k, r % rows(k), r)]).product::<f64>();
    let before = |l: usize, c: usize| (1..l).map(|k| w[at(k, c, c)]).product::<f64>();
    let (mut values, mut expected) = (Vec::new(), Vec::new());
    let mut psi = vec![0.0; n];
    for l in 1..depth {
        for r in 0..rows(l) {
            for c in (0..n).filter(|c| r != c % rows(l)) {
                let (e, w_j, s) = (at(l, r, c), w[at(0, c, c)], before(l, c) * after(l, r));
                values.push(w[e] * w_j * s);
                expected.push(gradient[e] / (w_j * s));
                psi[c] += gradient[e] / (w_j * s) * w[e] * s;
            }
        }
    }
    let (mut first_values, mut first) = (Vec::new(), Vec::new());
    for (r, psi) in psi.iter().enumerate() {
        for c in 0..inputs {
            let (e, s) = (at(0, r, c), after(0, r));
            first_values.push(w[e] * s);
            first.push(if r == c { (gradient[e] - psi) / s } else { gradient[e] / s });
        }
    }
    first_values.extend(values);
    first.extend(expected);
    let space = g_space(&network, &w, Biases::Appended);
    let found = space.to_coordinates(&w).expect("values");
    assert_near("values", &found, &first_values, 1e-13);
    assert_near("gradient", &space.pull_back(&found, &gradient).expect("a gradient"), &first, 1e-12);
}

/// All paths from an input to an output through dense layers without biases, each as the indices of its weights.
fn paths(network: &Network) -> Vec<Vec<usize>> {
    let layers = network.layout().layers();
    let mut ways: Vec<(usize, Vec<usize>)> = (0..layers[0].inputs).map(|c| (c, Vec::new())).collect();
    for layer in layers {
        let on =
            |(c, way): &(usize, Vec<usize>), r| (r, [&way[..], &[layer.weight.start + r * layer.inputs + c]].concat());
        ways = ways.iter().flat_map(|way| (0..layer.outputs).map(move |r| on(way, r))).collect();
    }
    ways.into_iter().map(|(_, way)| way).collect()
}

/// Section 2.1.3 and Theorem 2.1.2 of the thesis: the structure matrix has a column for every path and the rank m − H, as many as the
/// space has coordinates; of the four weights of Figure 2.1 three path values are those, and the fourth is v₂ v₃ / v₁.
#[test]
fn of_all_paths_as_many_are_independent_as_there_are_coordinates() {
    let mut rng = rng(4);
    for widths in [&[2, 1, 2][..], &[3, 2, 2], &[2, 3, 2, 2], &[2, 2, 3, 1, 2]] {
        let network = Network::dense(widths, false).expect("a network");
        let w = random_parameters(&mut rng, &network);
        let ways = paths(&network);
        let structure = DMatrix::from_fn(w.len(), ways.len(), |e, p| f64::from(u8::from(ways[p].contains(&e))));
        let space = g_space(&network, &w, Biases::Appended);
        let hidden: usize = widths[1..widths.len() - 1].iter().sum();
        assert_eq!(structure.rank(1e-9), w.len() - hidden, "{widths:?}");
        assert_eq!(space.dimension(), w.len() - hidden, "{widths:?}");
        if w.len() == 4 {
            let value = |p: usize| ways[p].iter().map(|&e| w[e]).product::<f64>();
            let v = [value(0), value(1), value(2), value(3)];
            assert_near("v₄", &[v[1] * v[2] / v[0]], &v[3..], 1e-15);
            assert_near("v", &space.to_coordinates(&w).expect("values"), &[v[0], v[2], v[1]], 1e-15);
        }
    }
}

/// Figure 3.1 of the thesis: no weight of the first layer is fixed, and one behind each hidden unit, however wide the layers are.
#[test]
fn one_weight_behind_each_hidden_unit_is_fixed() {
    let mut rng = rng(5);
    for widths in [&[3, 4, 4, 2][..], &[5, 2, 6, 3], &[2, 7, 3, 5, 1]] {
        let network = Network::dense(widths, true).expect("a network");
        let w = random_parameters(&mut rng, &network);
        let fixed = Skeleton::new(&network, &w, DIAGONAL).expect("a skeleton").fixed_indices();
        let layers = &network.layout().layers()[1..];
        let behind = layers.iter().flat_map(|layer| {
            (0..layer.inputs).map(move |k| layer.weight.start + (k % layer.outputs) * layer.inputs + k)
        });
        assert_eq!(BTreeSet::from_iter(fixed), BTreeSet::from_iter(behind), "{widths:?}");
    }
}

/// Every kind of space at a network's parameters.
fn spaces(network: &Network, parameters: &[f64]) -> Vec<(Box<dyn ParameterSpace>, Vec<f64>)> {
    let mut kinds = vec![SpaceKind::Weights];
    for choice in [DIAGONAL, FixedChoice::Hungarian] {
        for values in [FixedValues::Keep, FixedValues::Set(0.7), FixedValues::Reparametrize] {
            for tree in [TreeValues::Keep, TreeValues::Set(1.0), TreeValues::Set(-0.6)] {
                kinds.push(SpaceKind::GSpace { choice, values, tree, biases: Biases::Appended });
                kinds.push(SpaceKind::GSpace { choice, values, tree, biases: Biases::Paths });
            }
            kinds.push(SpaceKind::WeightFixing { choice, values });
        }
    }
    kinds.extend([Grouping::Unit, Grouping::Layer].map(|grouping| SpaceKind::WeightNorm { grouping }));
    let open = |kind: SpaceKind| {
        let open = kind.open(network, parameters).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        (open.space, open.parameters)
    };
    kinds.into_iter().map(open).collect()
}

/// ∇_v L along a random direction against central differences of the plain-loop loss. The step of 1e-6 leaves an error of 1e-12 times the
/// third derivative and of 1e-16/1e-6 from rounding; a kink between the two points would show as an error of order 1.
#[test]
fn gradients_agree_with_finite_differences_in_every_space() {
    let mut rng = rng(4);
    for seed in 0..12 {
        let network = any_network(&mut rng, seed, &HOMOGENEOUS);
        let loss = if seed % 3 == 0 { Loss::SquaredError } else { Loss::CrossEntropy };
        let problem = random_problem(&mut rng, network.clone(), loss);
        let start = random_parameters(&mut rng, &network);
        let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
        for (space, parameters) in spaces(&network, &start) {
            let v = space.to_coordinates(&parameters).expect("coordinates");
            assert_same(
                space.name(),
                &space.to_parameters(&v).expect("parameters"),
                &parameters,
                2.0 * rounding(&network),
            );
            block_on(engine.prepare(&parameters)).expect("a point");
            let gradient = space.pull_back(&v, &block_on(engine.gradient()).expect("a gradient")).expect("a gradient");
            // Relative to the coordinates: those of the G-space span many orders of magnitude.
            let x: Vec<f64> = v.iter().map(|v| v * rng.random_range(-1.0..1.0)).collect();
            let at = |step: f64| {
                let moved: Vec<f64> = v.iter().zip(&x).map(|(v, x)| v + step * x).collect();
                naive::loss(&problem, &space.to_parameters(&moved).expect("parameters"))
            };
            let step = 1e-6;
            let expected = (at(step) - at(-step)) / (2.0 * step);
            let found = dot(&gradient, &x);
            let size: f64 = gradient.iter().zip(&x).map(|(g, x)| (g * x).abs()).sum::<f64>() + at(0.0);
            assert!(
                (found - expected).abs() <= 1e-7 * size,
                "{} of {}: {found}, but differences give {expected}",
                space.name(),
                network.summary()
            );
        }
    }
}

/// J and ∇²θ against differences of θ(v), in f64: J x, Jᵀ z by ⟨z, J x⟩, and (g · ∇²θ) x as the change of Jᵀ g.
#[test]
fn charts_agree_with_finite_differences() {
    let mut rng = rng(5);
    for seed in 0..12 {
        let network = any_network(&mut rng, seed, &HOMOGENEOUS);
        let start = random_parameters(&mut rng, &network);
        for (space, parameters) in spaces(&network, &start) {
            let chart = space.chart();
            let v = space.to_coordinates(&parameters).expect("coordinates");
            let x: Vec<f64> = v.iter().map(|v| v * rng.random_range(-1.0..1.0)).collect();
            let z = random_direction(&mut rng, parameters.len());
            let step = 1e-5;
            let at = |sign: f64| v.iter().zip(&x).map(|(v, x)| v + sign * step * x).collect::<Vec<_>>();
            let (plus, minus) = (at(1.0), at(-1.0));
            let difference = |a: Vec<f64>, b: Vec<f64>| -> Vec<f64> {
                a.iter().zip(&b).map(|(a, b)| (a - b) / (2.0 * step)).collect()
            };
            let tangent = chart.tangent(&v, &x);
            let expected = difference(chart.parameters(&plus), chart.parameters(&minus));
            assert_near(space.name(), &tangent, &expected, 1e-8);
            let pulled = chart.cotangent(&v, &z, None);
            let (left, right) = (dot(&pulled, &x), dot(&z, &tangent));
            let size: f64 = z.iter().zip(&tangent).map(|(a, b)| (a * b).abs()).sum();
            assert!((left - right).abs() <= 1e-12 * size, "{}: {left} and {right}", space.name());
            let zeros = vec![0.0; z.len()];
            let second = chart.cotangent(&v, &zeros, Some((&z, &x)));
            let expected = difference(chart.cotangent(&plus, &z, None), chart.cotangent(&minus, &z, None));
            if expected.iter().any(|value| value.abs() > 0.0) && space.name() != "weight_fixing" {
                // Relative to the entries they are differences of.
                let scale = pulled.iter().fold(0.0_f64, |m, p| m.max(p.abs()));
                for (a, b) in second.iter().zip(&expected) {
                    assert!((a - b).abs() <= 1e-8 * scale, "{}: {a}, but differences give {b}", space.name());
                }
            } else {
                assert!(second.iter().all(|value| *value == 0.0));
            }
        }
    }
}

#[test]
fn kinds_read_back_from_json() {
    let kind = SpaceKind::GSpace {
        choice: FixedChoice::Hungarian,
        values: FixedValues::Set(1.0),
        tree: TreeValues::Set(0.5),
        biases: Biases::Paths,
    };
    let text = serde_json::to_string(&kind).expect("a JSON");
    assert_eq!(
        text,
        r#"{"type":"g_space","choice":"hungarian","values":{"set":1.0},"tree":{"set":0.5},"biases":"paths"}"#
    );
    assert_eq!(serde_json::from_str::<SpaceKind>(&text).expect("a kind"), kind);
    let kept: SpaceKind = serde_json::from_str(r#"{"type": "g_space"}"#).expect("a kind");
    let expected = SpaceKind::GSpace {
        choice: DIAGONAL,
        values: FixedValues::Keep,
        tree: TreeValues::Keep,
        biases: Biases::Appended,
    };
    assert_eq!(kept, expected);
    assert!(serde_json::from_str::<SpaceKind>(r#"{"type": "g_space", "tree": "reparametrize"}"#).is_err());
    assert!(serde_json::from_str::<SpaceKind>(r#"{"type": "weight_fixing", "tree": {"set": 1}}"#).is_err());
    let short: SpaceKind = serde_json::from_str(r#"{"type": "weight_fixing"}"#).expect("a kind");
    assert_eq!(short, SpaceKind::WeightFixing { choice: DIAGONAL, values: FixedValues::Keep });
    assert!(serde_json::from_str::<SpaceKind>(r#"{"type": "weight_fixing", "bias": 1}"#).is_err());
}

#[test]
fn faults_are_named() {
    let mut rng = rng(9);
    let network = Network::dense(&[3, 4, 2], true).expect("a network");
    let parameters = random_parameters(&mut rng, &network);
    let skeleton = Skeleton::new(&network, &parameters, DIAGONAL).expect("a skeleton");
    let mut zero = parameters.clone();
    let index = skeleton.fixed_indices()[1];
    zero[index] = 0.0;
    let fault = |result: isoflat::Result<()>, code: ErrorCode, says: &str| {
        let error = result.expect_err("a fault");
        assert!(error.code == code && error.message.contains(says), "{error:?}");
    };
    let place = format!("parameter {index}");
    fault(GSpace::new(&network, &skeleton, &zero, Biases::Paths).map(|_| ()), ErrorCode::InvalidParameters, &place);
    let rescaled = Fixing::new(&network, &zero, DIAGONAL, FixedValues::Reparametrize);
    fault(rescaled.map(|_| ()), ErrorCode::InvalidParameters, &place);
    for value in [0.0, f64::NAN] {
        let set = Fixing::new(&network, &parameters, DIAGONAL, FixedValues::Set(value));
        fault(set.map(|_| ()), ErrorCode::InvalidOption, "not 0");
    }
    for value in [0.0, -0.0, f64::NAN, f64::INFINITY] {
        let fixing = Fixing::new(&network, &parameters, DIAGONAL, FixedValues::Keep).expect("fixed weights");
        let set = fixing.with_tree(&network, TreeValues::Set(value));
        fault(set.map(|_| ()), ErrorCode::InvalidOption, "the tree's weights are to be set to");
    }
    let space = WeightFixing::new(&network, &skeleton, &parameters).expect("a space");
    fault(space.to_coordinates(&zero).map(|_| ()), ErrorCode::InvalidParameters, "fixed at");
    fault(space.to_coordinates(&zero[1..]).map(|_| ()), ErrorCode::InvalidParameters, "parameters");
    fault(space.to_parameters(&zero).map(|_| ()), ErrorCode::InvalidParameters, "coordinates");
    fault(space.pull_back(&[0.0; 3], &zero).map(|_| ()), ErrorCode::InvalidParameters, "coordinates");
    let other = Network::dense(&[3, 4, 4, 2], true).expect("a network");
    let elsewhere = vec![1.0; other.parameter_count()];
    let fixing = Fixing::new(&network, &parameters, DIAGONAL, FixedValues::Keep).expect("fixed weights");
    let set = fixing.with_tree(&other, TreeValues::Set(1.0));
    fault(set.map(|_| ()), ErrorCode::InvalidParameters, "another network");
    fault(
        WeightFixing::new(&other, &skeleton, &elsewhere).map(|_| ()),
        ErrorCode::InvalidParameters,
        "another network",
    );
    // A path value of 0 that divides.
    let space = g_space(&network, &parameters, Biases::Paths);
    let nothing = vec![0.0; space.dimension()];
    fault(space.to_parameters(&nothing).map(|_| ()), ErrorCode::NotFinite, "parameters of the coordinates");
    let mut empty_row = parameters.clone();
    empty_row[..3].fill(0.0);
    let normalised = WeightNorm::new(&network, Grouping::Unit);
    fault(normalised.to_coordinates(&empty_row).map(|_| ()), ErrorCode::InvalidParameters, "direction");
    let tanh = Network::from_json(
        r#"{"input": [2], "layers": [{"type": "dense", "units": 2}, {"type": "tanh"}, {"type": "dense", "units": 2}]}"#,
    );
    let tanh = tanh.expect("a network");
    let skeleton = Skeleton::new(&tanh, &vec![1.0; tanh.parameter_count()], DIAGONAL);
    fault(skeleton.map(|_| ()), ErrorCode::NotHomogeneous, "tanh");
}
