//! γ and β as coordinates: against the loss as a function of them, written by the batch normalisations' own formula.

use crate::support::*;
use isoflat::engine::{Curvature, Device, Engine, Precision};
use isoflat::linalg::dense_matrix;
use isoflat::network::{BatchStatistics, fold_batch_norm};
use isoflat::operator::{CurvatureOperator, OperatorKind};
use isoflat::space::{BatchNormSpace, ParameterSpace, SpaceCurvature, SpaceKind};
use isoflat::train::{Optimizer, TrainOptions, train_in};
use isoflat::{Control, ErrorCode, Loss, Network, Problem};
use pollster::block_on;
use rand::Rng;
use serde_json::{Value, json};

const MEAN: [[f64; 3]; 2] = [[0.4, -1.2, 0.1], [0.7, 0.2, -0.3]];
const VARIANCE: [[f64; 3]; 2] = [[1.5, 0.3, 0.8], [0.05, 2.0, 0.6]];
/// Which of the layers with parameters they become, behind an activation each, so that no neighbour takes them.
const LAYERS: [usize; 2] = [1, 3];

/// With smooth activations, so that differences are exact to their step's square.
fn json_with(middle: impl Fn(usize) -> Value) -> String {
    let (conv, smooth) =
        (|c: usize| json!({"type": "conv2d", "channels": c, "kernel": 3, "padding": 1}), json!({"type": "tanh"}));
    json!({"input": [2, 4, 4], "layers": [
        conv(3), smooth, middle(0), conv(3), smooth, middle(1), smooth,
        {"type": "global_avg_pool2d"}, {"type": "flatten"}, {"type": "dense", "units": 3}]})
    .to_string()
}

fn network() -> Network {
    Network::from_json(&json_with(|_| json!({"type": "scale"}))).expect("a network")
}

fn statistics() -> Vec<BatchStatistics> {
    let of = |i: usize| BatchStatistics {
        layer: LAYERS[i],
        mean: MEAN[i].to_vec(),
        deviation: VARIANCE[i].map(|variance| (variance + 1e-5_f64).sqrt()).to_vec(),
    };
    vec![of(0), of(1)]
}

/// The parameters of the network at these coordinates, by the batch normalisations themselves.
fn parameters_at(network: &Network, v: &[f64]) -> Vec<f64> {
    let place = |i: usize| &network.layout().layers()[LAYERS[i]];
    let (mut own, mut rows) = (v.to_vec(), Vec::new());
    for i in [1, 0] {
        let (weight, bias) = (place(i).weight.clone(), place(i).bias.clone().expect("a bias"));
        rows.push((v[weight.clone()].to_vec(), v[bias.clone()].to_vec()));
        own.drain(weight.start..bias.end);
    }
    rows.reverse();
    let with_norms = json_with(
        |i| json!({"type": "batch_norm", "mean": MEAN[i], "variance": VARIANCE[i], "scale": rows[i].0, "shift": rows[i].1}),
    );
    let (found, parameters) = fold_batch_norm(&with_norms, &own).expect("scales");
    assert_eq!(&found, network);
    parameters
}

fn problem() -> (Problem, Vec<f64>) {
    let mut rng = rng(3);
    let problem = random_problem(&mut rng, network(), Loss::CrossEntropy);
    let parameters = random_parameters(&mut rng, problem.network());
    let parameters = parameters.iter().map(|w| w + 0.2 * rng.random_range(-1.0..1.0)).collect();
    (problem, parameters)
}

#[test]
fn the_way_there_and_back_is_that_of_the_normalisations() {
    let (problem, parameters) = problem();
    let space = BatchNormSpace::new(problem.network(), &statistics()).expect("a space");
    let v = space.to_coordinates(&parameters).expect("coordinates");
    assert!(error(&space.to_parameters(&v).expect("parameters"), &parameters) < 1e-14);
    assert!(error(&parameters_at(problem.network(), &v), &parameters) < 1e-14);
}

#[test]
fn gradient_and_hessian_are_those_of_the_loss_in_gamma_and_beta() {
    let (problem, parameters) = problem();
    let space = BatchNormSpace::new(problem.network(), &statistics()).expect("a space");
    let v = space.to_coordinates(&parameters).expect("coordinates");
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let loss = |v: &[f64]| block_on(engine.evaluate(&parameters_at(problem.network(), v))).expect("a loss").loss;
    block_on(engine.prepare(&parameters)).expect("a point");
    let gradient = space.pull_back(&v, &block_on(engine.gradient()).expect("a gradient")).expect("a gradient");
    let operator = SpaceCurvature::of_kind(&engine, &space, OperatorKind::HESSIAN).expect("an operator");
    let matrix = block_on(dense_matrix(&operator, &Control::default())).expect("a matrix");
    let plain = CurvatureOperator::new(&engine, Curvature::Hessian);
    let plain = block_on(dense_matrix(&plain, &Control::default())).expect("a matrix");
    assert!(error(&matrix, &plain) > 0.1, "the coordinates make a difference");
    let n = v.len();
    // All γ and β, and some weights around them.
    let places = problem.network().layout().layers().iter();
    let chosen: Vec<usize> = places
        .enumerate()
        .filter(|(layer, _)| LAYERS.contains(layer))
        .flat_map(|(_, place)| [place.weight.clone(), place.bias.clone().expect("a bias")])
        .flatten()
        .chain([0, 30, n - 1])
        .collect();
    let moved = |steps: &[(usize, f64)]| {
        let mut v = v.clone();
        steps.iter().for_each(|&(i, step)| v[i] += step);
        loss(&v)
    };
    let (h, largest) = (2e-4, matrix.iter().fold(0.0_f64, |m, x| m.max(x.abs())));
    for &i in &chosen {
        let slope = (moved(&[(i, h)]) - moved(&[(i, -h)])) / (2.0 * h);
        assert!((slope - gradient[i]).abs() < 1e-6, "[{i}]: {} is not {slope}", gradient[i]);
        for &j in &chosen {
            let at = |a: f64, b: f64| moved(&[(i, a * h), (j, b * h)]);
            let bend = (at(1.0, 1.0) - at(1.0, -1.0) - at(-1.0, 1.0) + at(-1.0, -1.0)) / (4.0 * h * h);
            let found = matrix[j * n + i];
            assert!((bend - found).abs() < 3e-6 * largest.max(1.0), "[{i}, {j}]: {found} is not {bend}");
        }
    }
}

#[test]
fn what_is_no_normalisation_is_refused() {
    let network = network();
    let of = |change: fn(&mut Vec<BatchStatistics>)| {
        let mut statistics = statistics();
        change(&mut statistics);
        BatchNormSpace::new(&network, &statistics).map(|_| ()).expect_err("a refusal")
    };
    for (error, says) in [
        (of(|all| all[0].layer = 0), "layer 1 is no scale"),
        (of(|all| all[0].layer = 1000), "layer 1001 is no scale"),
        (of(|all| all[1].layer = 1), "twice"),
        (of(|all| all[1].mean.truncate(2)), "3 channels"),
        (of(|all| all[1].deviation[2] = 0.0), "above 0"),
        (of(|all| all[1].mean[0] = f64::NAN), "finite"),
    ] {
        assert_eq!(error.code, ErrorCode::InvalidOption);
        assert!(error.message.contains(says), "{error}");
    }
    let text = serde_json::to_string(&SpaceKind::BatchNorm { statistics: statistics() }).expect("JSON");
    assert!(
        serde_json::from_str::<SpaceKind>(&text)
            .is_ok_and(|kind| kind == SpaceKind::BatchNorm { statistics: statistics() })
    );
}

#[test]
fn training_goes_down_the_gradient_in_gamma_and_beta() {
    let (problem, start) = problem();
    let kind = SpaceKind::BatchNorm { statistics: statistics() };
    let open = kind.open(problem.network(), &start).expect("a space");
    assert!(open.keeps_function);
    let (rate, samples) = (0.05, problem.samples());
    let options =
        TrainOptions { optimizer: Optimizer::sgd(rate), batch_size: samples, epochs: 1, ..TrainOptions::default() };
    for device in [Device::cpu(Precision::F64), gpu()] {
        let engine = Engine::new(&device, &problem).expect("an engine");
        let found = block_on(train_in(&engine, &*open.space, &start, None, &options, &Control::default()));
        let found = found.expect("a step").coordinates;
        block_on(engine.prepare(&start)).expect("a point");
        let v = open.space.to_coordinates(&start).expect("coordinates");
        let slope = open.space.pull_back(&v, &block_on(engine.gradient()).expect("a gradient")).expect("a gradient");
        let expected: Vec<f64> = v.iter().zip(&slope).map(|(v, g)| v - rate * g).collect();
        assert!(error(&found, &expected) < if device.info().precision == Precision::F64 { 1e-13 } else { 1e-6 });
    }
}
