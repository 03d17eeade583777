//! Petzka's traces from random cotangents, feature robustness and noise injection, and linear regression as ridge.

use crate::support::golden::Case;
use crate::support::*;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::measure::petzka::{FeatureMatrix, feature_robustness, kappa, noise_injection, sampled_traces, traces};
use isoflat::measure::{MeasureOptions, exact_diagonal};
use isoflat::operator::OperatorKind;
use isoflat::symmetry::Transformation;
use isoflat::{Control, ErrorCode, Loss, Network, Problem, Targets};
use pollster::block_on;
use rand::Rng;

fn engine(device: &Device, problem: &Problem, parameters: &[f64]) -> Engine {
    let engine = Engine::new(device, problem).expect("an engine");
    block_on(engine.prepare(parameters)).expect("a point");
    engine
}

#[test]
fn sampled_traces_are_unbiased_and_their_errors_shrink() {
    let control = Control::default();
    let (mut within, mut all) = (0, 0);
    // Each one once: a new GPU compiles its kernels again.
    let devices = [Device::cpu(Precision::F64), gpu()];
    for seed in 0..10 {
        let mut rng = rng(40 + seed);
        let network = any_network(&mut rng, seed, &HOMOGENEOUS);
        let loss = if seed % 4 < 2 { Loss::CrossEntropy } else { Loss::SquaredError };
        let problem = random_problem(&mut rng, network.clone(), loss);
        let parameters = random_parameters(&mut rng, &network);
        for device in &devices {
            let engine = engine(device, &problem, &parameters);
            let exact = block_on(traces(&engine, &control)).expect("traces");
            let found = block_on(sampled_traces(&engine, 200, seed, &control)).expect("traces");
            let few = block_on(sampled_traces(&engine, 20, seed, &control)).expect("traces");
            let mut compare = |value: f64, error: f64, expected: f64| {
                // f32 rounds the sums: a millionth of the value.
                assert!((value - expected).abs() <= 6.0 * error + 1e-5 * expected, "{value} ± {error}, {expected}");
                all += 1;
                within += usize::from((value - expected).abs() <= 2.0 * error + 1e-5 * expected);
            };
            for l in 0..exact.layers.len() {
                compare(found.traces.kappa_trace[l], found.kappa_trace_error[l], exact.kappa_trace[l]);
                let flatness = found.traces.layers[l].gram_trace;
                compare(flatness, found.relative_flatness_error[l], exact.layers[l].gram_trace);
                let rho = found.traces.layers[l]
                    .column_forms
                    .iter()
                    .zip(&found.rho_error[l])
                    .zip(&exact.layers[l].column_forms);
                rho.for_each(|((value, error), expected)| compare(*value, *error, *expected));
            }
            let (value, error) = found.kappa_trace_sum();
            compare(value, error, exact.kappa_trace.iter().sum());
            let (value, error) = found.rho_sum();
            compare(value, error, exact.rho().flatten().sum());
            // √10 times as many draws again, within the spread of an estimated deviation.
            assert!(found.kappa_trace_sum().1 <= 0.7 * few.kappa_trace_sum().1 + 1e-12);
        }
    }
    // Two standard errors cover 95 %; neurons of one layer share their draws, so that the share varies.
    assert!(within * 100 >= all * 85, "{within} of {all} within two standard errors");
    let network = Network::dense(&[2, 2], true).expect("a network");
    let problem = random_problem(&mut rng(1), network, Loss::CrossEntropy);
    let engine = engine(&Device::cpu(Precision::F64), &problem, &[0.0; 6]);
    assert_eq!(block_on(sampled_traces(&engine, 1, 0, &control)).expect_err("a fault").code, ErrorCode::InvalidOption);
}

/// Few draws of a class are of another than the sure one: what is left then is all the curvature that there is.
#[test]
fn sampled_traces_know_their_errors_where_one_class_is_sure() {
    let network = Network::dense(&[1, 2], false).expect("a network");
    let problem = Problem::new(network, Loss::CrossEntropy, vec![1.0], Targets::Classes(vec![0])).expect("a problem");
    for device in [Device::cpu(Precision::F64), gpu()] {
        for (logit, draws) in [(5.0, 10), (10.0, 10), (20.0, 100), (40.0, 100)] {
            let engine = engine(&device, &problem, &[logit, 0.0]);
            let exact = block_on(traces(&engine, &Control::default())).expect("traces").kappa_trace[0];
            let found = block_on(sampled_traces(&engine, draws, 1, &Control::default())).expect("traces");
            let (value, error) = (found.traces.kappa_trace[0], found.kappa_trace_error[0]);
            assert!((value - exact).abs() <= 4.0 * error + 1e-5 * exact, "{logit}: {value} ± {error}, {exact}");
            assert!(error <= 0.1 * exact, "{logit}: {value} ± {error}, {exact}");
        }
    }
}

/// A problem that these parameters solve exactly.
fn solved(network: &Network, seed: u64) -> (Problem, Vec<f64>) {
    let mut rng = rng(seed);
    let problem = random_problem(&mut rng, network.clone(), Loss::SquaredError);
    let parameters = random_parameters(&mut rng, network);
    let engine = engine(&Device::cpu(Precision::F64), &problem, &parameters);
    let targets = Targets::Vectors(block_on(engine.outputs()).expect("outputs"));
    (
        Problem::new(network.clone(), Loss::SquaredError, problem.inputs().to_f64(), targets).expect("a problem"),
        parameters,
    )
}

#[test]
fn feature_robustness_stays_below_its_bound_at_a_minimum() {
    let (options, control) = (MeasureOptions::default(), Control::default());
    let mut tight: f64 = 0.0;
    for seed in 0..16 {
        let mut rng = rng(600 + seed);
        let network = any_network(&mut rng, seed, &HOMOGENEOUS);
        let (problem, parameters) = solved(&network, 600 + seed);
        let engine = engine(&Device::cpu(Precision::F64), &problem, &parameters);
        for (l, layer) in network.layout().layers().iter().enumerate() {
            let m = layer.inputs / layer.columns_per_unit;
            let identity = (0..m * m).map(|i| f64::from(u8::from(i % (m + 1) == 0))).collect();
            for matrix in [FeatureMatrix::Orthogonal { seed }, FeatureMatrix::Given(identity)] {
                // Small enough that the rise is its second order, up to O(δ) of it.
                let found = feature_robustness(&engine, &parameters, l, 1e-4, &matrix, &options, &control);
                let found = block_on(found).expect("a robustness");
                assert_eq!(found.first_order, 0.0);
                assert!((found.matrix_norm - 1.0).abs() < 1e-12);
                assert!(found.value <= found.bound * 1.01 && found.value >= 0.0, "seed {seed} layer {l}: {found:?}");
                if found.bound > 0.0 {
                    tight = tight.max(found.value / found.bound);
                }
            }
        }
    }
    assert!(tight > 0.5, "the bound is never near: {tight}");
}

/// φ + δ A φ through the weights is φ + δ A φ: on a single linear layer the inputs themselves can be changed.
#[test]
fn features_are_changed_as_they_should_be() {
    let network = Network::dense(&[4, 3], true).expect("a network");
    let mut rng = rng(9);
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    let parameters = random_parameters(&mut rng, &network);
    let a = random_direction(&mut rng, 16);
    let delta = 0.3;
    let inputs: Vec<f64> = problem
        .inputs()
        .to_f64()
        .chunks(4)
        .flat_map(|x| (0..4).map(|i| x[i] + delta * dot(&a[4 * i..4 * i + 4], x)).collect::<Vec<_>>())
        .collect();
    let changed = Problem::new(network, Loss::CrossEntropy, inputs, problem.targets().clone()).expect("a problem");
    let device = Device::cpu(Precision::F64);
    let loss = |problem: &Problem| block_on(engine(&device, problem, &parameters).loss()).expect("a loss");
    let (options, control) = (MeasureOptions::default(), Control::default());
    let engine = engine(&device, &problem, &parameters);
    let matrix = FeatureMatrix::Given(a);
    let found = feature_robustness(&engine, &parameters, 0, delta, &matrix, &options, &control);
    let found = block_on(found).expect("a robustness");
    assert!((found.value - (loss(&changed) - loss(&problem))).abs() < 1e-13, "{found:?}");
    let small = FeatureMatrix::Given(vec![1.0; 9]);
    let refused = block_on(feature_robustness(&engine, &parameters, 0, 0.1, &small, &options, &control));
    assert!(refused.expect_err("a fault").message.contains("16"));
    let none = block_on(feature_robustness(&engine, &parameters, 1, 0.1, &small, &options, &control));
    assert!(none.expect_err("a fault").message.contains("no layer 2: they are 1 to 1"));
}

#[test]
fn noise_injection_is_relative_flatness_to_second_order() {
    let (options, control) = (MeasureOptions::default(), Control::default());
    let network = Network::dense(&[5, 8, 6, 3], true).expect("a network");
    let (problem, parameters) = solved(&network, 4);
    let engine = engine(&Device::cpu(Precision::F64), &problem, &parameters);
    for layer in 0..3 {
        let found =
            block_on(noise_injection(&engine, &parameters, layer, 1e-4, 100, &options, &control)).expect("noise");
        let expected = found.second_order.expect("a dense layer");
        assert!((found.value - expected).abs() <= 4.0 * found.standard_error + 1e-2 * expected, "{found:?}");
        assert!(found.value <= found.bound && found.standard_error < 0.3 * expected);
    }
}

/// Petzka et al., section 2: in linear regression with squared loss the Hessian does not depend on w, so that κ is a constant
/// times ‖w‖²: ridge regression's penalty. With the mean loss, H = (2/N) XᵀX.
#[test]
fn in_linear_regression_kappa_is_the_ridge_penalty() {
    let case = Case::all().find(|case| case.name == "linear_regression").expect("a golden case");
    let file = case.file();
    let (options, control) = (MeasureOptions::default(), Control::default());
    let x = file.problem.inputs().to_f64();
    let samples = file.problem.samples();
    let x = nalgebra::DMatrix::from_row_slice(samples, x.len() / samples, &x);
    let h = x.tr_mul(&x) * (2.0 / samples as f64);
    let top = h.symmetric_eigenvalues().max();
    let mut rng = rng(3);
    for _ in 0..5 {
        let w: Vec<f64> = file.parameters.iter().map(|_| rng.random_range(-3.0..3.0)).collect();
        let engine = engine(&Device::cpu(Precision::F64), &file.problem, &w);
        let penalty = dot(&w, &w);
        let found = block_on(kappa(&engine, &options, &control)).expect("κ")[0].value;
        assert!((found - top * penalty).abs() < 1e-9 * found, "{found}, {}", top * penalty);
        let found = block_on(traces(&engine, &control)).expect("traces");
        assert!((found.kappa_trace[0] - h.trace() * penalty).abs() < 1e-12 * found.kappa_trace[0]);
        // ρ_j = w_j² H_jj: a ridge penalty with one weight a feature.
        for (j, rho) in found.layers[0].column_forms.iter().enumerate() {
            assert!((rho - w[j] * w[j] * h[(j, j)]).abs() < 1e-12 * found.kappa_trace[0]);
        }
    }
}

/// Petzka et al., D.2: to move x = (1, 0, …) along itself and its neighbour (1, ε, 0, …) across, A must have a norm of at least √2/ε. The
/// mean stays as it is for every ε, and the bound with ‖A‖² says less and less.
#[test]
fn moving_neighbours_apart_takes_a_matrix_whose_bound_says_nothing() {
    let (options, control, m) = (MeasureOptions::default(), Control::default(), 4);
    let network = Network::dense(&[m, 1], false).expect("a network");
    let parameters = vec![0.7, -0.4, 0.2, 0.1];
    let delta = 1e-2;
    let mut last = 0.0;
    for epsilon in [0.5, 1e-1, 1e-2, 1e-3] {
        let inputs = vec![1.0, 0.0, 0.0, 0.0, 1.0, epsilon, 0.0, 0.0];
        // A minimum: the targets are what it gives.
        let targets = inputs.chunks(m).map(|x| dot(x, &parameters)).collect();
        let problem = Problem::new(network.clone(), Loss::SquaredError, inputs, Targets::Vectors(targets));
        let problem = problem.expect("a problem");
        let engine = engine(&Device::cpu(Precision::F64), &problem, &parameters);
        let mut a = vec![0.0; m * m];
        (a[0], a[1], a[m + 1]) = (1.0, -1.0 / epsilon, 1.0 / epsilon);
        let matrix = FeatureMatrix::Given(a);
        let found = feature_robustness(&engine, &parameters, 0, delta, &matrix, &options, &control);
        let found = block_on(found).expect("a robustness");
        // A x is e₁ and A x′ is e₂: the loss rises by δ² times the mean of w₁² and w₂².
        let rise = delta * delta * (parameters[0].powi(2) + parameters[1].powi(2)) / 2.0;
        assert!((found.value - rise).abs() <= 1e-10 * rise, "ε = {epsilon}: {found:?}, expected {rise}");
        assert_eq!(found.first_order, 0.0);
        // AᵀA has the trace 1 + 2/ε² and the determinant 1/ε².
        let trace = 1.0 + 2.0 / epsilon.powi(2);
        let norm = (0.5 * (trace + (trace * trace - 4.0 / epsilon.powi(2)).sqrt())).sqrt();
        assert!((found.matrix_norm - norm).abs() <= 1e-10 * norm, "{} is not {norm}", found.matrix_norm);
        assert!(found.matrix_norm >= 2.0_f64.sqrt() / epsilon);
        // κ = ‖w‖² λ_max(XᵀX), the two rows of X nearly the same.
        let gram = nalgebra::Matrix2::new(1.0, 1.0, 1.0, 1.0 + epsilon * epsilon);
        let kappa = dot(&parameters, &parameters) * gram.symmetric_eigenvalues().max();
        assert!((found.bound - 0.5 * (delta * norm).powi(2) * kappa).abs() <= 1e-8 * found.bound, "{found:?}");
        assert!(found.bound >= 2.0 * rise / epsilon.powi(2) && found.bound > last, "ε = {epsilon}: {found:?}");
        last = found.bound;
    }
}

/// A rescaling takes a layer's curvature beyond what single precision squares, and κ_τ and the diagonal's shares stand still all the same.
#[test]
fn traces_stand_still_where_squares_underflow() {
    let network = Network::dense(&[6, 8, 3], false).expect("a network");
    let mut rng = rng(3);
    let mut theta = random_parameters(&mut rng, &network);
    let inputs = random_direction(&mut rng, 6 * 5);
    let of = |targets| Problem::new(network.clone(), Loss::CrossEntropy, inputs.clone(), targets).expect("a problem");
    let any = engine(&Device::cpu(Precision::F64), &of(Targets::Classes(vec![0; 5])), &theta);
    let outputs = block_on(any.outputs()).expect("outputs");
    // Every sample is right, and the least certain one by 16: there is a loss of 1e-7, and not much more curvature.
    let best = |row: &[f64]| (0..3).max_by(|&a, &b| row[a].total_cmp(&row[b])).expect("an output");
    let labels = outputs.chunks(3).map(|row| best(row) as u32).collect();
    let lead =
        |row: &[f64]| (0..3).filter(|&i| i != best(row)).map(|i| row[best(row)] - row[i]).fold(f64::MAX, f64::min);
    let factor = 16.0 / outputs.chunks(3).map(lead).fold(f64::MAX, f64::min);
    theta[network.layout().layers()[1].weight.clone()].iter_mut().for_each(|w| *w *= factor);
    let problem = of(Targets::Classes(labels));
    let found = |device: &Device, theta: &[f64]| {
        let engine = engine(device, &problem, theta);
        let control = Control::default();
        let traces = block_on(traces(&engine, &control)).expect("traces");
        let of = block_on(exact_diagonal(&engine, OperatorKind::HESSIAN, &control)).expect("a diagonal").expect("one");
        let shares = network.layout().layers().iter().map(|layer| {
            let weights = layer.weight.clone();
            weights.map(|i| of.values[i] * theta[i] * theta[i]).sum::<f64>()
        });
        (traces.kappa_trace.clone(), shares.collect::<Vec<_>>())
    };
    let bend = Transformation::Layerwise { lambda: vec![1e18, 1e-18] };
    let bent = bend.apply(&network, &theta).expect("a symmetry");
    let expected = found(&Device::cpu(Precision::F64), &theta);
    for device in [Device::cpu(Precision::F32), gpu()] {
        let found = found(&device, &bent);
        for (found, expected) in [(&found.0, &expected.0), (&found.1, &expected.1)] {
            let worst = found.iter().zip(expected).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-6, "{}: {found:?} instead of {expected:?}", device.info().backend);
        }
    }
}
