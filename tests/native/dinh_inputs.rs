//! Gradients of the prediction function by its inputs, and gaussianisation.

use crate::dinh::{cpu, solved};
use crate::support::*;
use isoflat::dinh::*;
use isoflat::engine::{Device, Precision};
use isoflat::{Control, ErrorCode, Loss, Network, Problem, Targets};
use pollster::block_on;
use rand::Rng;

fn outputs(problem: &Problem, parameters: &[f64]) -> Vec<f64> {
    let engine = cpu(problem);
    block_on(engine.prepare(parameters)).expect("a point");
    block_on(engine.outputs()).expect("outputs")
}

#[test]
fn prediction_gradients_agree_with_finite_differences() {
    let mut checked = 0;
    for seed in 0..24 {
        let mut rng = rng(800 + seed);
        let network = any_network(&mut rng, seed, &ALL);
        let loss = if seed % 4 < 2 { Loss::CrossEntropy } else { Loss::SquaredError };
        let problem = random_problem(&mut rng, network.clone(), loss);
        let parameters = random_parameters(&mut rng, &network);
        let (width, classes) = (network.input_len(), network.output_len());
        let x = problem.inputs().to_f64();
        let direction = random_direction(&mut rng, x.len());
        // Every output of every sample along one direction of all inputs.
        let slopes = |step: f64| -> Vec<f64> {
            let at = |step: f64| {
                let moved: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + step * d).collect();
                let moved = Problem::new(network.clone(), loss, moved, problem.targets().clone()).expect("a problem");
                outputs(&moved, &parameters)
            };
            at(step).iter().zip(at(-step)).map(|(a, b)| (a - b) / (2.0 * step)).collect()
        };
        let (expected, finer) = (slopes(1e-5), slopes(1e-5 / 4.0));
        if error(&expected, &finer) > 1e-6 {
            continue; // A kink.
        }
        let device = Device::cpu(Precision::F64);
        for output in 0..classes {
            let control = Control::default();
            let found = block_on(prediction_gradients(&device, &problem, &parameters, output, &control));
            let found = found.expect("gradients");
            assert_eq!(found.len(), x.len());
            for (n, gradient) in found.chunks(width).enumerate() {
                let (exact, expected) =
                    (dot(gradient, &direction[n * width..][..width]), expected[n * classes + output]);
                assert!((exact - expected).abs() < 1e-5 * (1.0 + expected.abs()), "seed {seed}: {exact} {expected}");
            }
        }
        let beyond = block_on(prediction_gradients(&device, &problem, &parameters, classes, &Control::default()));
        assert_eq!(beyond.expect_err("no such output").code, ErrorCode::InvalidOption);
        checked += 1;
    }
    assert!(checked >= 12, "only {checked}");
}

/// Section 5.2 speaks of ∂f/∂x: at interpolation ∂ℓ/∂x says nothing.
#[test]
fn at_interpolation_the_loss_has_no_input_gradient_and_the_function_has() {
    let network = Network::dense(&[5, 7, 3], true).expect("a network");
    let (problem, parameters) = solved(&network, 9);
    let device = Device::cpu(Precision::F64);
    let map = InputMap::diagonal(vec![0.5; 5], vec![1.0; 5]).expect("a map");
    let found = block_on(input_representation(&device, &problem, &parameters, &map, &Control::default()));
    let found = found.expect("a representation");
    assert!(found.loss_gradients.mean_before < 1e-12 && found.prediction_gradients.mean_before > 0.1, "{found:?}");
    // x = u/2 + 1 halves every gradient.
    let [low, high] = found.prediction_gradients.ratios.expect("norms");
    assert!((low - 0.5).abs() < 1e-9 && (high - 0.5).abs() < 1e-9, "{low} {high}");
    // ‖∂f/∂x‖_F of every sample from its rows.
    let mut squares = vec![0.0; problem.samples()];
    for output in 0..3 {
        let rows = block_on(prediction_gradients(&device, &problem, &parameters, output, &Control::default()));
        let rows = rows.expect("gradients");
        squares.iter_mut().zip(rows.chunks(5)).for_each(|(s, row)| *s += dot(row, row));
    }
    let norms: Vec<f64> = squares.iter().map(|s| s.sqrt()).collect();
    assert!(error(&found.prediction_gradients.before, &norms) < 1e-12);
}

#[test]
fn gaussianisation_makes_features_normal_and_is_undone() {
    let network = Network::dense(&[4, 6, 3], true).expect("a network");
    let mut rng = rng(12);
    let count = 300;
    // Skewed, two-peaked, uniform, and constant features.
    let inputs: Vec<f64> = (0..count)
        .flat_map(|_| {
            let (a, b, c): (f64, f64, f64) = (rng.random(), rng.random(), rng.random());
            [-(1.0 - a).ln() * 3.0, if b < 0.5 { -4.0 - b } else { 4.0 + b }, 10.0 * c - 2.0, 0.7]
        })
        .collect();
    let targets = Targets::Classes((0..count as u32).map(|i| i % 3).collect());
    let problem = Problem::new(network.clone(), Loss::CrossEntropy, inputs.clone(), targets).expect("a problem");
    let parameters = random_parameters(&mut rng, &network);
    let map = InputMap::gaussianize(&problem).expect("a map");
    let device = Device::cpu(Precision::F64);
    let found = block_on(input_representation(&device, &problem, &parameters, &map, &Control::default()));
    let found = found.expect("a representation");
    assert!(found.network.is_none() && found.parameters == parameters);
    assert!(found.outputs.relative < 1e-9 && found.chain_rule_error < 1e-7, "{:?}", found.outputs);
    let moments = |values: &[f64], feature: usize| {
        let column: Vec<f64> = values.iter().skip(feature).step_by(4).copied().collect();
        let mean = column.iter().sum::<f64>() / count as f64;
        let central = |power: i32| column.iter().map(|x| (x - mean).powi(power)).sum::<f64>() / count as f64;
        [mean, central(2), central(3) / central(2).powf(1.5)]
    };
    assert!(moments(&inputs, 0)[2] > 1.0, "the first feature is skewed");
    for feature in 0..3 {
        let [mean, variance, skewness] = moments(&found.inputs, feature);
        let case = format!("{feature}: {mean} {variance} {skewness}");
        // The kernels widen F, most across the gap between two peaks, so that u is narrower than normal.
        assert!(mean.abs() < 0.2 && variance > 0.5 && variance < 1.2 && skewness.abs() < 0.5, "{case}");
    }
    assert!(found.inputs.iter().skip(3).step_by(4).all(|u| u.abs() < 1e-12), "what is constant keeps its size");
    for n in 0..20 {
        let (x, u) = (&inputs[4 * n..][..4], &found.inputs[4 * n..][..4]);
        let back = map.inputs(u).expect("inputs");
        assert!(error(&back, x) < 1e-10, "ξ undoes ξ⁻¹: {back:?} {x:?}");
        // (∂ξ/∂u)ᵀ g against differences of ξ.
        let (g, step) = (random_direction(&mut rng, 4), 1e-5);
        let pulled = map.pull(x, &g).expect("a gradient");
        for i in 0..4 {
            let at = |step: f64| {
                let mut u = u.to_vec();
                u[i] += step;
                dot(&map.inputs(&u).expect("inputs"), &g)
            };
            let expected = (at(step) - at(-step)) / (2.0 * step);
            assert!((pulled[i] - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{i}: {} {expected}", pulled[i]);
        }
    }
    // Beyond all samples too.
    let far = [25.0, -6.0, 9.5, 5.0];
    for wrong in [map.inputs(&far[1..]), map.representation(&far[1..]), map.pull(&far, &far[1..])] {
        assert_eq!(wrong.expect_err("another length").code, ErrorCode::InvalidOption);
    }
    let round = |x: &[f64]| map.inputs(&map.representation(x).expect("u")).expect("inputs");
    assert!(error(&round(&far), &far) < 1e-9);
    // And where 1 − F has long underflowed.
    let mut last = f64::NEG_INFINITY;
    for x in [-1e5, -1e3, -40.0, 0.0, 40.0, 1e3, 1e5] {
        let there = [x; 4];
        let u = map.representation(&there).expect("u");
        assert!(u.iter().all(|u| u.is_finite()) && u[2] > last, "{x}: {u:?}");
        let back = map.inputs(&u).expect("inputs");
        assert!(back.iter().all(|found| (found - x).abs() < 1e-9 * (1.0 + x.abs())), "{x}: {back:?}");
        last = u[2];
    }
    assert_eq!(map.fold(&network, &parameters).expect_err("no affine map").code, ErrorCode::InvalidOption);
}

/// A feature is as constant as its own numbers say, whatever those of the others are.
#[test]
fn small_features_are_standardised_beside_large_ones() {
    let network = Network::dense(&[3, 2], false).expect("a network");
    let inputs: Vec<f64> = (0..8).flat_map(|n| [f64::from(n), 1e9 * f64::from(n * n), 0.3]).collect();
    let problem = Problem::new(network, Loss::SquaredError, inputs.clone(), Targets::Vectors(vec![0.0; 16]));
    let map = InputMap::standardize(&problem.expect("a problem")).expect("a map");
    let u: Vec<f64> = inputs.chunks(3).flat_map(|x| map.representation(x).expect("its place")).collect();
    for (feature, expected) in [(0, 1.0), (1, 1.0), (2, 0.0)] {
        let variance = u.chunks(3).map(|u| u[feature] * u[feature]).sum::<f64>() / 8.0;
        assert!((variance - expected).abs() < 1e-9, "feature {feature}: {variance}");
    }
}
