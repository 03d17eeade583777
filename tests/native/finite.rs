//! What is not finite is an error with a code, or is counted where it is a map; and what a device's precision does not hold is refused.

use crate::support::*;
use isoflat::engine::{Curvature, Device, Engine, Precision};
use isoflat::landscape::{Axis, Direction, Normalization, landscape};
use isoflat::linalg::{Goal, Lanczos, PowerIteration};
use isoflat::measure::{Measure, MeasureOptions, MeasureValue, exact_diagonal, exact_trace, measure, petzka};
use isoflat::network::{Conv2d, Layer, Pool2d};
use isoflat::operator::{OperatorKind, Scaled};
use isoflat::symmetry::Kinds;
use isoflat::{Control, ErrorCode, Loss, Network, Problem, Result, Targets};
use pollster::block_on;

fn single() -> [Device; 2] {
    [Device::cpu(Precision::F32), gpu()]
}

fn problem(bias: bool) -> (Problem, Vec<f64>) {
    let network = Network::dense(&[4, 6, 3], bias).expect("a network");
    let mut rng = rng(21);
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    (problem, random_parameters(&mut rng, &network))
}

#[track_caller]
fn refused<T: std::fmt::Debug>(found: Result<T>, code: ErrorCode, says: &[&str]) {
    let error = found.expect_err("an error");
    assert_eq!(error.code, code, "{error}");
    for says in says {
        assert!(error.message.contains(says), "{says}: {error}");
    }
}

#[test]
fn nothing_that_overflows_is_a_success() {
    let (problem, parameters) = problem(true);
    let control = Control::default();
    for (device, size) in [(Device::cpu(Precision::F64), 1e200), (Device::cpu(Precision::F32), 1e25), (gpu(), 1e25)] {
        let engine = Engine::new(&device, &problem).expect("an engine");
        let huge: Vec<f64> = parameters.iter().map(|w| w * size).collect();
        block_on(engine.prepare(&huge)).expect("a point of finite numbers");
        let name = device.info().precision.name();
        let says = ["overflow", name];
        block_on(async {
            refused(engine.loss().await, ErrorCode::NotFinite, &["the loss", "overflow", name]);
            refused(engine.outputs().await, ErrorCode::NotFinite, &["an output", "overflow", name]);
            refused(engine.gradient().await, ErrorCode::NotFinite, &["the gradient", "overflow"]);
            refused(engine.product(Curvature::Hessian, &parameters).await, ErrorCode::NotFinite, &says);
            refused(engine.evaluate(&huge).await, ErrorCode::NotFinite, &says);
            for kind in OperatorKind::ALL {
                match kind.operator(&engine).await {
                    Err(error) => {
                        assert!(matches!(error.code, ErrorCode::NotFinite | ErrorCode::OutOfRange), "{error}")
                    }
                    Ok(operator) => {
                        refused(Lanczos::default().run(&operator, &control).await, ErrorCode::NotFinite, &says);
                        refused(PowerIteration::default().run(&operator, &control).await, ErrorCode::NotFinite, &says);
                    }
                }
                let found = exact_trace(&engine, kind, &control).await;
                refused(found, ErrorCode::NotFinite, &["overflow"]);
                refused(exact_diagonal(&engine, kind, &control).await, ErrorCode::NotFinite, &["overflow"]);
            }
            let options = MeasureOptions::default();
            refused(petzka::traces(&engine, &control).await, ErrorCode::NotFinite, &["overflow"]);
            refused(petzka::kappa(&engine, &options, &control).await, ErrorCode::NotFinite, &["overflow"]);
            for one in Measure::defined_for(problem.network()) {
                refused(measure(&engine, &huge, &[one], &options, &control).await, ErrorCode::NotFinite, &["overflow"]);
            }
        });
    }
}

static NAN: Measure =
    Measure::custom("nan", "No number.", Kinds { layerwise: true, nodewise: true, permutation: true }, |_, _, _| {
        Box::pin(async { Ok(MeasureValue::exact("nan", f64::NAN, 1.0)) })
    });

#[test]
fn a_measure_of_ones_own_that_is_no_number_is_an_error() {
    let (problem, parameters) = problem(true);
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let found = block_on(measure(&engine, &parameters, &[&NAN], &MeasureOptions::default(), &Control::default()));
    refused(found, ErrorCode::NotFinite, &["nan is not finite"]);
}

#[test]
fn a_path_norm_beyond_all_numbers_is_an_error() {
    let network = Network::dense(&[2, 2, 2], false).expect("a network");
    let inputs = vec![0.0; 2];
    let problem = Problem::new(network, Loss::CrossEntropy, inputs, Targets::Classes(vec![0])).expect("a problem");
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let path = Measure::from_key("path_norm_squared").expect("a measure");
    let found = block_on(measure(&engine, &[1e100; 8], &[path], &MeasureOptions::default(), &Control::default()));
    refused(found, ErrorCode::NotFinite, &["path_norm_squared"]);
}

#[test]
fn landscapes_keep_and_count_what_overflows() {
    let (problem, parameters) = problem(true);
    let control = Control::default();
    for (device, to) in [(Device::cpu(Precision::F64), 1e200), (Device::cpu(Precision::F32), 1e25), (gpu(), 1e25)] {
        let engine = Engine::new(&device, &problem).expect("an engine");
        let directions = [(Direction::Random { seed: 1 }, Axis { from: -to, to, points: 5 })];
        let found = block_on(landscape(&engine, &parameters, &directions, Normalization::None, &control));
        let found = found.expect("a landscape");
        let infinite = found.loss.iter().filter(|loss| !loss.is_finite()).count();
        assert_eq!((found.loss.len(), found.not_finite), (5, infinite), "{found:?}");
        assert!(infinite >= 2 && found.center.is_finite() && found.loss[2].is_finite(), "{found:?}");
        let short = [(Direction::Random { seed: 1 }, Axis { from: -1.0, to: 1.0, points: 5 })];
        let found = block_on(landscape(&engine, &parameters, &short, Normalization::None, &control));
        assert_eq!(found.expect("a landscape").not_finite, 0);
    }
}

#[test]
fn single_precision_refuses_tensors_beyond_its_range() {
    let (problem, parameters) = problem(true);
    let layers = problem.network().layout().layers();
    let precise = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let scaled = |range: std::ops::Range<usize>, factor: f64| {
        let mut moved = parameters.clone();
        moved[range].iter_mut().for_each(|w| *w *= factor);
        moved
    };
    for device in single() {
        let engine = Engine::new(&device, &problem).expect("an engine");
        let weights = layers[1].weight.clone();
        let bias = layers[0].bias.clone().expect("biases");
        for (moved, says) in [
            (scaled(weights.clone(), 1e-60), ["the 18 weights of layer 2", "f64"]),
            (scaled(weights.clone(), 1e40), ["the 18 weights of layer 2", "f64"]),
            (scaled(weights, 1e-33), ["layer 2", "f64"]),
            (scaled(bias.clone(), 1e-45), ["the 6 biases of layer 1", "f64"]),
            (scaled(bias, 1e39), ["the 6 biases of layer 1", "f64"]),
            (scaled(0..parameters.len(), 1e-60), ["the 24 weights of layer 1", "e-6"]),
        ] {
            refused(block_on(engine.prepare(&moved)), ErrorCode::OutOfRange, &says);
            refused(block_on(engine.evaluate(&moved)), ErrorCode::OutOfRange, &says);
            block_on(precise.prepare(&moved)).expect("double precision holds it");
        }
        // Zeros, and single numbers that vanish beside others, are no fault.
        block_on(engine.prepare(&scaled(0..24, 0.0))).expect("a point");
        block_on(engine.prepare(&scaled(0..1, 1e-60))).expect("a point");
        block_on(engine.prepare(&scaled(0..24, 1e-25))).expect("a point");
        block_on(engine.prepare(&parameters)).expect("a point");
        let direction = |factor: f64| scaled(0..parameters.len(), factor);
        for factor in [1e-60, 1e60] {
            let says = ["direction 0", "f64"];
            let found = block_on(engine.product(Curvature::Hessian, &direction(factor)));
            refused(found, ErrorCode::OutOfRange, &says);
            let axis = Axis { from: 0.0, to: 1.0, points: 2 };
            let directions = [(Direction::Vector(direction(factor)), axis)];
            let control = Control::default();
            let found = landscape(&engine, &parameters, &directions, Normalization::None, &control);
            refused(block_on(found), ErrorCode::OutOfRange, &["direction"]);
            let operator = OperatorKind::HESSIAN.operator(&engine);
            let found = Scaled::new(block_on(operator).expect("an operator"), &direction(factor));
            refused(found, ErrorCode::OutOfRange, &["diagonal"]);
        }
        // A start vector is scaled before it is rounded.
        let operator = block_on(OperatorKind::HESSIAN.operator(&engine)).expect("an operator");
        for factor in [1e-200, 1.0, 1e200] {
            let goal = Goal::Extremes { top: 1, bottom: 0 };
            let lanczos = Lanczos { goal, start: Some(direction(factor)), ..Lanczos::default() };
            let found = block_on(lanczos.run(&operator, &Control::default())).expect("a spectrum");
            assert!(found.converged && found.top[0].value > 0.0, "{factor:e}: {found:?}");
        }
    }
}

#[test]
fn single_precision_refuses_data_beyond_its_range() {
    let network = Network::dense(&[2, 2], true).expect("a network");
    let made = |inputs: f64, targets: f64| {
        let (inputs, targets) = (vec![inputs, -inputs, 0.0, inputs], vec![targets; 4]);
        Problem::new(network.clone(), Loss::SquaredError, inputs, Targets::Vectors(targets)).expect("a problem")
    };
    for device in single() {
        for (inputs, targets, says) in [
            (1e40, 1.0, "the 4 inputs"),
            (1e-40, 1.0, "the 4 inputs"),
            (1.0, 1e39, "the 4 targets"),
            (1.0, 1e-60, "the 4 targets"),
        ] {
            let problem = made(inputs, targets);
            refused(Engine::new(&device, &problem), ErrorCode::OutOfRange, &[says, "f64"]);
            Engine::new(&Device::cpu(Precision::F64), &problem).expect("double precision holds them");
        }
        Engine::new(&device, &made(0.0, 0.0)).expect("zeros are no fault");
        Engine::new(&device, &made(1e-20, 1e20)).expect("numbers within the range");
    }
}

/// Each layer's weights are there, but not what two of them give together: every unit would be off.
#[test]
fn single_precision_refuses_layers_whose_values_underflow() {
    let network = Network::dense(&[2, 2, 2, 2], false).expect("a network");
    let targets = Targets::Vectors(vec![1.0, 0.0]);
    let problem = Problem::new(network, Loss::SquaredError, vec![1.0, 0.5], targets).expect("a problem");
    let precise = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    for device in single() {
        let engine = Engine::new(&device, &problem).expect("an engine");
        let says = ["the values of layer 2 are", "at most", "f64"];
        refused(block_on(engine.prepare(&[1e-18; 12])), ErrorCode::OutOfRange, &says);
        refused(block_on(engine.evaluate(&[1e-18; 12])), ErrorCode::OutOfRange, &says);
        block_on(precise.prepare(&[1e-18; 12])).expect("double precision holds it");
        // Behind the last layer no unit is on or off, and zeros are zeros in any precision.
        let last = [[1.0; 8].as_slice(), &[1e-31; 4]].concat();
        block_on(engine.prepare(&last)).expect("a point");
        block_on(engine.prepare(&[0.0; 12])).expect("a point");
    }
}

/// A tanh makes ±1 of what has overflowed, by the sign of the part of the sum that did so first.
#[test]
fn layers_that_may_overflow_before_a_tanh_are_refused() {
    let layers = vec![Layer::Dense { units: 3, bias: true }, Layer::Tanh, Layer::Dense { units: 2, bias: true }];
    let network = Network::new(vec![2], layers).expect("a network");
    for (device, size) in [(Device::cpu(Precision::F64), 1e160), (Device::cpu(Precision::F32), 1e20), (gpu(), 1e20)] {
        let targets = Targets::Classes(vec![0, 1]);
        let problem = Problem::new(network.clone(), Loss::CrossEntropy, vec![size, -size, size, size], targets);
        let engine = Engine::new(&device, &problem.expect("a problem")).expect("an engine");
        let mut theta = vec![0.5; network.parameter_count()];
        block_on(engine.prepare(&theta)).expect("a saturated point");
        theta[..6].fill(size);
        let says = ["the values of layer 1 may be as large as", "a tanh", device.info().precision.name()];
        refused(block_on(engine.prepare(&theta)), ErrorCode::OutOfRange, &says);
        refused(block_on(engine.evaluate(&theta)), ErrorCode::OutOfRange, &says);
    }
}

/// Convolutions read a window of each channel, slopes above 1 and activations in front count, and a layer of zeros ends all bounds.
#[test]
fn no_layer_is_refused_for_values_that_are_there() {
    let layers = vec![
        Layer::LeakyRelu { slope: 1e3 },
        Layer::Conv2d(Conv2d { bias: false, ..Conv2d::new(2, [2, 2]) }),
        Layer::LeakyRelu { slope: 1e3 },
        Layer::AvgPool2d(Pool2d::new([2, 2])),
        Layer::Flatten,
        Layer::Dense { units: 3, bias: false },
        Layer::Tanh,
        Layer::Dense { units: 2, bias: true },
    ];
    let network = Network::new(vec![1, 3, 3], layers).expect("a network");
    let weights = network.layout().layers()[0].weight.clone();
    let targets = Targets::Classes(vec![1]);
    let problem = Problem::new(network.clone(), Loss::CrossEntropy, vec![-1e-12; 9], targets).expect("a problem");
    for device in single() {
        let engine = Engine::new(&device, &problem).expect("an engine");
        let mut theta = vec![1.0; network.parameter_count()];
        // 1e-12 × 1e3, four times 2.5e-23 of it, × 1e3 again: 1e-28.
        theta[weights.clone()].fill(2.5e-23);
        block_on(engine.prepare(&theta)).expect("a point");
        theta[weights.clone()].fill(2.5e-30);
        refused(
            block_on(engine.prepare(&theta)),
            ErrorCode::OutOfRange,
            &["the values of layer 1 are 1.000e-38 at most"],
        );
        theta[weights.clone()].fill(0.0);
        block_on(engine.prepare(&theta)).expect("zeros");
    }
}

/// Activations of 1e-29, whose squares, and the curvature with them, single precision does not hold.
#[test]
fn a_curvature_lost_to_underflow_is_found_in_double_precision_or_not_called_converged() {
    let network = Network::dense(&[2, 2, 2, 2], false).expect("a network");
    let mut rng = rng(2);
    let problem = Problem::new(
        network,
        Loss::SquaredError,
        vec![1.0, 0.5, -1.0, 2.0],
        Targets::Vectors(vec![1.0, 0.0, 0.0, 1.0]),
    );
    let problem = problem.expect("a problem");
    let mut parameters: Vec<f64> = random_direction(&mut rng, 12).iter().map(|w| w.abs() * 1e-24).collect();
    parameters[4..8].iter_mut().for_each(|w| *w *= 1e19);
    let control = Control::default();
    let options = MeasureOptions::default();
    let keys = ["gauss_newton.max_eigenvalue", "gauss_newton.trace", "gauss_newton.frobenius_norm", "petzka.kappa_max"];
    let measures: Vec<&Measure> = keys.into_iter().map(|key| Measure::from_key(key).expect("a measure")).collect();
    let precise = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let expected = block_on(measure(&precise, &parameters, &measures, &options, &control)).expect("values");
    assert!(expected[0].value > 0.0 && expected[0].value < 1e-55);
    for device in single() {
        let engine = Engine::new(&device, &problem).expect("an engine");
        let found = block_on(measure(&engine, &parameters, &measures, &options, &control)).expect("values");
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found.precision, Some(Precision::F64), "{found:?}");
            assert!((found.value - expected.value).abs() <= 1e-9 * expected.value, "{found:?}, {expected:?}");
        }
        let kind = OperatorKind::GAUSS_NEWTON;
        let operator = block_on(kind.operator(&engine)).expect("an operator");
        let lanczos = Lanczos { goal: Goal::SpectralNorm, ..Lanczos::default() };
        let spectrum = block_on(lanczos.run(&operator, &control)).expect("a spectrum");
        let pair = spectrum.dominant().expect("a pair");
        assert!(!spectrum.converged && pair.residual > 0.0, "{spectrum:?}");
        let power = block_on(PowerIteration::default().run(&operator, &control)).expect("a pair");
        assert!(!power.pair.converged, "{power:?}");
    }
    // What is 0 in any precision has converged.
    for device in single() {
        let engine = Engine::new(&device, &problem).expect("an engine");
        block_on(engine.prepare(&[0.0; 12])).expect("a point");
        let operator = block_on(OperatorKind::GAUSS_NEWTON.operator(&engine)).expect("an operator");
        let found = block_on(Lanczos::default().run(&operator, &control)).expect("a spectrum");
        assert!(found.converged && found.top[0].value == 0.0, "{found:?}");
        let found = block_on(PowerIteration::default().run(&operator, &control)).expect("a pair");
        assert!(found.pair.converged && found.pair.value == 0.0, "{found:?}");
    }
}
