//! Large problems in f64, whose searches begin in single precision: what comes out is f64's, and says so where it is not.

use crate::support::*;
use isoflat::Control;
use isoflat::engine::{Curvature, Device, Engine, Precision};
use isoflat::measure::sharpness::{Region, epsilon_sharpness};
use isoflat::measure::{Measure, MeasureOptions, MeasureValue, SharpnessOptions, measure};
use isoflat::network::{BiasInitialization, Initialization};
use isoflat::{Loss, Network, Problem, Targets};
use rand::Rng;
use std::collections::HashMap;

/// Large enough for a companion: some 10⁵ multiplications a sample, at a point of no special kind.
fn large() -> (Problem, Vec<f64>) {
    let network = Network::dense(&[96, 160, 80, 10], true).expect("a network");
    let (scheme, biases) = (Initialization::KaimingUniform, BiasInitialization::Uniform);
    let theta = network.initialize(scheme, biases, 3).expect("weights");
    (isoflat::data::synthetic(network, 1792, 5).expect("a problem"), theta)
}

/// Whoever says how much memory there is has one engine and no other.
fn alone() -> Device {
    Device::cpu(Precision::F64).with_memory_budget(u64::MAX)
}

fn measured(device: &Device, keys: &[&str], tolerance: f64) -> HashMap<&'static str, MeasureValue> {
    let (problem, theta) = large();
    let engine = Engine::new(device, &problem).expect("an engine");
    let measures: Vec<&Measure> = Measure::all().filter(|measure| keys.contains(&measure.key)).collect();
    let options = MeasureOptions { tolerance: Some(tolerance), ..MeasureOptions::default() };
    let found = pollster::block_on(measure(&engine, &theta, &measures, &options, &Control::default()));
    found.expect("values").into_iter().map(|value| (value.key, value)).collect()
}

/// Every value is what it would have been, within what both say of themselves; what is single precision's still says so.
#[test]
fn values_are_those_of_double_precision() {
    let keys = [
        "hessian.max_eigenvalue",
        "hessian.min_eigenvalue",
        "hessian.trace",
        "hessian.frobenius_norm",
        "epsilon_sharpness_quadratic",
        "average_sharpness",
        "average_sharpness_scaled",
        "riemannian.layerwise_flat.spectral_norm",
        "riemannian.nodewise_levi_civita.spectral_norm",
    ];
    let [with, without] = [Device::cpu(Precision::F64), alone()].map(|device| measured(&device, &keys, 1e-6));
    assert!(without.values().all(|value| value.precision.is_none_or(|precision| precision == Precision::F64)));
    let mut in_single = Vec::new();
    for (key, value) in &with {
        let other = &without[key];
        assert_eq!(value.converged, other.converged, "{key}");
        let errors = [value, other].map(|value| 4.0 * value.standard_error.unwrap_or(0.0));
        let residuals = [value, other].map(|value| value.residual.unwrap_or(0.0));
        let rounding = match value.precision {
            Some(Precision::F32) => {
                in_single.push(*key);
                1e-4
            }
            _ => 1e-11,
        };
        let allowed = errors.iter().chain(&residuals).sum::<f64>() + rounding * value.scale.max(value.value.abs());
        assert!((value.value - other.value).abs() <= allowed, "{key}: {value:?}, {other:?}");
    }
    in_single.sort_unstable();
    // Estimates alone, whose chance is far larger.
    assert_eq!(in_single, ["average_sharpness", "average_sharpness_scaled", "hessian.frobenius_norm"]);
}

/// The promise of the tolerance is about values, and holds against those that double precision finds alone. Where its bound says that no
/// more is needed, a residual may stay where single precision left it, and says so.
#[test]
fn eigenvalues_hold_their_tolerance_in_double_precision() {
    let keys = ["hessian.max_eigenvalue", "gauss_newton.max_eigenvalue", "hessian.min_eigenvalue"];
    // Off by the square of that. At the edge of a crowd, as the smallest is, more takes hundreds of products.
    let exact = measured(&alone(), &keys, 1e-7);
    let norm = exact["hessian.max_eigenvalue"].value;
    for tolerance in [1e-6, 1e-9, 1e-10] {
        let found = measured(&Device::cpu(Precision::F64), &keys, tolerance);
        for key in keys {
            let value = &found[key];
            assert!(value.converged && value.precision.is_none(), "{key}: {value:?}");
            let error = value.error_bound.or(value.residual).expect("how far it may be off");
            assert!(error <= tolerance * norm, "{key}: {value:?}");
            assert!(
                (value.value - exact[key].value).abs() <= error + 1e-10 * norm,
                "{key}: {value:?}, {:?}",
                exact[key]
            );
            assert!(value.residual.expect("a residual") <= 1e-5 * norm, "{key}: {value:?}");
        }
    }
}

/// An ascent in single precision ends in double precision, and what it says of its highest point is true there.
#[test]
fn ascents_end_in_double_precision() {
    let (problem, theta) = large();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let lone = Engine::new(&alone(), &problem).expect("an engine");
    let (options, control) =
        (SharpnessOptions { restarts: Some(0), ..SharpnessOptions::default() }, Control::default());
    for region in [Region::Box, Region::RiemannianLayerwise, Region::RiemannianNodewise] {
        let [found, other] = [&engine, &lone].map(|engine| {
            pollster::block_on(epsilon_sharpness(engine, &theta, region, 0.02, &options, &control))
                .expect("a sharpness")
        });
        assert!(found.precision == Precision::F64 && !found.fell_back && found.converged, "{found:?}");
        assert_eq!(found.starts.len(), other.starts.len(), "{region:?}");
        assert!(found.value >= other.value * (1.0 - 3e-3), "{region:?}: {} after {}", found.value, other.value);
        let highest = found.starts.iter().map(|start| start.value).fold(0.0, f64::max);
        assert_eq!(highest, found.value, "{region:?}");
        let moved: Vec<f64> = theta.iter().zip(&found.delta).map(|(w, d)| w + d).collect();
        let risen = pollster::block_on(lone.evaluate(&moved)).expect("a loss").loss - found.loss;
        assert!((risen - found.rise).abs() <= 1e-12 * (1.0 + found.loss), "{region:?}: {risen}, {}", found.rise);
        match (found.quadratic, other.quadratic) {
            (Some(a), Some(b)) => assert!((a / b - 1.0).abs() < 1e-9, "{region:?}: {a}, {b}"),
            (a, b) => assert_eq!(a, b),
        }
    }
}

/// A stop while single precision works is a stop, and the engine's point stays what it was.
#[test]
fn searches_in_single_precision_stop_and_leave_the_point() {
    let (problem, theta) = large();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let steps = std::cell::Cell::new(0);
    let control = Control::default().stop_when(|| {
        steps.set(steps.get() + 1);
        steps.get() > 3
    });
    let measures: Vec<&Measure> = Measure::all().collect();
    let stopped = pollster::block_on(measure(&engine, &theta, &measures, &MeasureOptions::default(), &control));
    assert_eq!(stopped.expect_err("a stop").code, isoflat::ErrorCode::Aborted);
    assert_eq!(engine.parameters().expect("a point"), theta);
    let product = pollster::block_on(engine.product(Curvature::Hessian, &theta)).expect("a product");
    assert!(product.iter().all(|x| x.is_finite()));
}

/// Two eigenvalues that single precision does not tell apart: one start sees one mixture of their vectors, and a bound that knows of no
/// other would say that it is one of them.
#[test]
fn the_larger_of_two_values_that_are_nearly_one_is_found() {
    let (width, copies) = (256, 12);
    let network = Network::dense(&[width, 64], false).expect("a network");
    for (seed, gap) in [(0, 5e-7), (2, 1e-7), (3, 1e-6), (4, 3e-8)] {
        // Squared error makes XᵀX of it; X has one number a row.
        let mut rng = rng(seed);
        let mut values: Vec<f64> = (0..width).map(|_| rng.random_range(0.1..0.85)).collect();
        (values[0], values[1]) = (1.0, 1.0 - gap);
        let mut inputs = vec![0.0; width * width * copies];
        (0..width * copies).for_each(|n| inputs[n * width + n % width] = values[n % width].sqrt());
        let targets = Targets::Vectors(vec![0.0; width * copies * 64]);
        let problem = Problem::new(network.clone(), Loss::SquaredError, inputs, targets).expect("a problem");
        let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
        let theta = random_direction(&mut rng, network.parameter_count());
        let found = pollster::block_on(measure(
            &engine,
            &theta,
            &[Measure::from_key("gauss_newton.max_eigenvalue").expect("a measure")],
            &MeasureOptions { seed, ..MeasureOptions::default() },
            &Control::default(),
        ))
        .expect("a value");
        // A sample's loss is ‖f − y‖², and each number is in so many rows.
        let (largest, value) = (2.0 / width as f64, &found[0]);
        assert!(value.converged && (value.value / largest - 1.0).abs() < 2e-9, "{gap:e}: {value:?} is not {largest}");
    }
}
