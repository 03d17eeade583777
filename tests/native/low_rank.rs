//! Estimators on operators that live on few coordinates, or in few directions: what is left of a vector is then rounding, or nothing.

use crate::support::diagonal::Diagonal;
use crate::support::reflected::{Reflected, any_engine};
use crate::support::*;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::linalg::{
    Goal, Lanczos, PowerIteration, StochasticLanczos, TraceAndNorm, dense_matrix, dense_spectrum, diagonal, hutchinson,
    trace_and_norm,
};
use isoflat::measure::{Measure, MeasureOptions, measure};
use isoflat::network::{Layer, Network};
use isoflat::operator::{OperatorKind, Part, SymmetricOperator};
use isoflat::{Control, Loss};
use pollster::block_on;

fn devices() -> [Device; 3] {
    [Device::cpu(Precision::F64), Device::cpu(Precision::F32), gpu()]
}

/// Fails unless both lie within their error bars; where the subspace holds the whole range, those are rounding.
#[track_caller]
fn check(what: &str, device: &Device, n: usize, found: &TraceAndNorm, trace: f64, norm: f64, is_held: bool) {
    let rounding = 32.0 * device.info().precision.epsilon() * norm * (n as f64).sqrt();
    let what = format!("{what} on {:?}: {found:?}, expected {trace} and {norm}", device.info());
    // Two or three probes know next to nothing of their spread: Student's distribution with one or two degrees of freedom.
    let bars = match found.trace.probes {
        1..=2 => 1e5,
        3 => 300.0,
        _ => 4.5,
    };
    let (trace_error, norm_error) = (found.trace.standard_error, found.norm.standard_error);
    assert!((found.trace.value - trace).abs() <= bars * trace_error + rounding, "{what}");
    assert!((found.norm.value - norm).abs() <= bars * norm_error + rounding, "{what}");
    assert_eq!(found.trace.probes, found.norm.probes, "{what}");
    if is_held {
        assert!(trace_error <= rounding && norm_error <= rounding, "{what}");
    }
}

/// A dense network whose second hidden layer is off on all samples: only the last biases act.
fn dead(widths: &[usize], activation: Layer) -> (Engine, Vec<f64>, Vec<f64>) {
    dead_on(&Device::cpu(Precision::F64), widths, activation)
}

fn dead_on(device: &Device, widths: &[usize], activation: Layer) -> (Engine, Vec<f64>, Vec<f64>) {
    let mut layers = Vec::new();
    for &units in &widths[1..] {
        if !layers.is_empty() {
            layers.push(activation.clone());
        }
        layers.push(Layer::Dense { units, bias: true });
    }
    let network = Network::new(vec![widths[0]], layers).expect("a network");
    let mut rng = rng(5);
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    let mut parameters = random_parameters(&mut rng, &network);
    let layers = network.layout().layers();
    parameters[layers[1].bias.clone().expect("biases")].fill(-100.0);
    let bias = parameters[layers[2].bias.clone().expect("biases")].to_vec();
    let engine = Engine::new(device, &problem).expect("an engine");
    block_on(engine.prepare(&parameters)).expect("a point");
    (engine, parameters, bias)
}

/// Trace and norm of diag p − p pᵀ with p = softmax z.
fn softmax_curvature(z: &[f64]) -> (f64, f64) {
    let sum: f64 = z.iter().map(|z| z.exp()).sum();
    let p: Vec<f64> = z.iter().map(|z| z.exp() / sum).collect();
    let entry = |i: usize, j: usize| if i == j { p[i] * (1.0 - p[i]) } else { -p[i] * p[j] };
    let pairs = (0..p.len()).flat_map(|i| (0..p.len()).map(move |j| (i, j)));
    (p.iter().map(|p| p * (1.0 - p)).sum(), pairs.map(|(i, j)| entry(i, j).powi(2)).sum::<f64>().sqrt())
}

#[test]
fn a_dead_network_has_the_trace_and_norm_of_its_last_biases() {
    for device in devices() {
        let (engine, _, bias) = dead_on(&device, &[20, 30, 30, 5], Layer::Relu);
        let (trace, norm) = softmax_curvature(&bias);
        for kind in [OperatorKind::HESSIAN, OperatorKind::GAUSS_NEWTON] {
            let operator = block_on(kind.operator(&engine)).expect("an operator");
            for (seed, products) in [(0, 100), (1, 100), (2, 30), (3, 300)] {
                let found = block_on(trace_and_norm(&operator, products, seed, &Control::default())).expect("both");
                assert_eq!(found.products, products);
                check(&format!("{kind}, {products}"), &device, operator.len(), &found, trace, norm, true);
            }
        }
    }
}

/// Random signs take two values on a pair of coordinates: three of them agree every fourth time, and said that they were exact.
#[test]
fn few_probes_of_few_coordinates_do_not_say_that_they_are_exact() {
    let (engine, _, bias) = dead(&[20, 30, 30, 5], Layer::Relu);
    let (trace, norm) = softmax_curvature(&bias);
    let operator = block_on(OperatorKind::HESSIAN.operator(&engine)).expect("an operator");
    for seed in 0..200 {
        let found = block_on(trace_and_norm(&operator, 9, seed, &Control::default())).expect("both");
        let errors = [found.trace.value - trace, found.norm.value - norm].map(f64::abs);
        let said = [found.trace.standard_error, found.norm.standard_error];
        for (error, said) in errors.into_iter().zip(said) {
            assert!(error <= 1000.0 * said, "seed {seed}: {found:?}, expected {trace} and {norm}");
        }
    }
}

#[test]
fn all_estimators_agree_on_a_dead_network() {
    let control = Control::default();
    for device in devices() {
        let (engine, parameters, _) = dead_on(&device, &[8, 12, 12, 5], Layer::Relu);
        for kind in OperatorKind::ALL {
            let operator = block_on(kind.operator(&engine)).expect("an operator");
            let n = operator.len();
            let exact = block_on(dense_spectrum(&operator, 1e-4, &control)).expect("a spectrum");
            let norm = exact.frobenius_norm();
            let limit = 1e3 * device.info().precision.epsilon() * norm;
            let what = format!("{kind} on {:?}", device.info());
            let found = block_on(trace_and_norm(&operator, 60, 1, &control)).expect("both");
            check(&what, &device, n, &found, exact.trace, norm, true);
            let plain = block_on(hutchinson(&operator, 60, 1, &control)).expect("a trace");
            assert!((plain.value - exact.trace).abs() <= 4.5 * plain.standard_error + limit, "{what}: {plain:?}");
            let lanczos = Lanczos { goal: Goal::Extremes { top: 6, bottom: 2 }, ..Lanczos::default() };
            let spectrum = block_on(lanczos.run(&operator, &control)).expect("a spectrum");
            assert!(spectrum.converged, "{what}: {spectrum:?}");
            for (pair, expected) in spectrum.top.iter().zip(exact.values.iter().rev()) {
                let limit = limit.max(device.info().precision.eigenvalue_tolerance() * exact.values[n - 1]);
                assert!((pair.value - expected).abs() <= limit, "{what}: {pair:?}, expected {expected}");
            }
            let density = StochasticLanczos { probes: 8, steps: 12, ..StochasticLanczos::default() };
            let density = block_on(density.run(&operator, &control)).expect("a density");
            let mean = &density.moments[0];
            let off = (mean.value - exact.trace / n as f64).abs();
            assert!(off <= 6.0 * mean.standard_error + limit, "{what}: {mean:?}");
            let entries = block_on(diagonal(&operator, n, 0, &control)).expect("a diagonal");
            assert!((entries.values.iter().sum::<f64>() - exact.trace).abs() <= limit, "{what}");
        }
        // Layers without curvature of their own.
        for layer in 0..3 {
            let operator =
                block_on(OperatorKind::HESSIAN.over(Part::Layer(layer)).operator(&engine)).expect("an operator");
            let found = block_on(trace_and_norm(&operator, 30, 1, &control)).expect("both");
            let norm = block_on(dense_spectrum(&operator, 1e-4, &control)).expect("a spectrum").frobenius_norm();
            assert!((found.norm.value - norm).abs() <= 1e-6 * norm, "layer {layer}: {found:?}, {norm}");
            let power = block_on(PowerIteration::default().run(&operator, &control)).expect("a pair");
            assert!(power.pair.value.is_finite() && (norm > 0.0 || power.pair.converged), "layer {layer}: {power:?}");
        }
        let keys = ["petzka.kappa_max", "petzka.kappa_sum", "hessian.frobenius_norm", "hessian.spectral_norm"];
        let measures: Vec<&Measure> = keys.into_iter().map(|key| Measure::from_key(key).expect("a measure")).collect();
        let options = MeasureOptions::default();
        for value in block_on(measure(&engine, &parameters, &measures, &options, &control)).expect("values") {
            assert!(value.converged, "{value:?} on {:?}", device.info());
        }
    }
}

#[test]
fn a_saturated_network_has_the_trace_of_its_products() {
    let (engine, parameters, _) = dead(&[20, 30, 30, 5], Layer::Tanh);
    let scaled: Vec<f64> = parameters.iter().map(|w| 4.0 * w).collect();
    let control = Control::default();
    let names = ["hessian.trace", "hessian.frobenius_norm", "gauss_newton.frobenius_norm"];
    let measures: Vec<&Measure> = names.into_iter().map(|key| Measure::from_key(key).expect("a measure")).collect();
    for point in [&parameters, &scaled] {
        for seed in 0..3 {
            let options = MeasureOptions { seed, ..MeasureOptions::default() };
            let found = block_on(measure(&engine, point, &measures, &options, &control)).expect("values");
            let n = parameters.len();
            let whole = |kind: OperatorKind| {
                let operator = block_on(kind.operator(&engine)).expect("an operator");
                let matrix = block_on(dense_matrix(&operator, &control)).expect("a matrix");
                let trace: f64 = (0..n).map(|i| matrix[i * n + i]).sum();
                (trace, dot(&matrix, &matrix).sqrt())
            };
            let ((trace, norm), (_, of_g)) = (whole(OperatorKind::HESSIAN), whole(OperatorKind::GAUSS_NEWTON));
            for (value, expected) in found.iter().zip([trace, norm, of_g]) {
                let error = value.standard_error.expect("an estimate");
                let limit = 5.0 * error + 1e-12 * norm;
                assert!((value.value - expected).abs() <= limit, "{value:?}, expected {expected}");
            }
        }
    }
}

#[test]
fn operators_of_every_rank_are_estimated_within_their_bars() {
    let control = Control::default();
    for device in devices() {
        let engine = any_engine(&device);
        for n in [1, 2, 3, 5, 40] {
            for rank in 0..=n.min(12) {
                let d: Vec<f64> = (0..n).map(|i| if i < rank { 3.0 - 0.2 * i as f64 } else { 0.0 }).collect();
                let (trace, norm) = (d.iter().sum::<f64>(), dot(&d, &d).sqrt());
                let (axes, turned) = (Diagonal::new(&engine, &d), Reflected::new(&engine, &d));
                let operators: [&dyn SymmetricOperator; 2] = [&axes, if n > 1 { &turned } else { &axes }];
                for (operator, name) in operators.into_iter().zip(["axes", "turned"]) {
                    for products in [4, 7, 30, 39] {
                        let what = format!("{name}, n {n}, rank {rank}, {products} products");
                        let found = block_on(trace_and_norm(operator, products, 7, &control)).expect("both");
                        let is_held = products >= n || rank + 2 <= products / 3;
                        check(&what, &device, n, &found, trace, norm, is_held);
                        assert!(found.products <= products, "{what}: {found:?}");
                    }
                    let what = format!("{name}, n {n}, rank {rank} on {:?}", device.info());
                    let limit = 2e-5 * norm;
                    let count = n.min(3);
                    let goal = Goal::Extremes { top: count, bottom: 1 };
                    let lanczos = Lanczos { goal, ..Lanczos::default() };
                    let found = block_on(lanczos.run(operator, &control)).expect("a spectrum");
                    assert!(found.converged && found.verified, "{what}: {found:?}");
                    for (pair, expected) in found.top.iter().zip(&d) {
                        assert!((pair.value - expected).abs() <= limit, "{what}: {pair:?}, expected {expected}");
                    }
                    let exact = block_on(dense_spectrum(operator, 1e-4, &control)).expect("a spectrum");
                    for (value, expected) in exact.values.iter().rev().zip(&d) {
                        assert!((value - expected).abs() <= limit, "{what}: {value}, expected {expected}");
                    }
                    let power = PowerIteration { max_products: 400, ..PowerIteration::default() };
                    let found = block_on(power.run(operator, &control)).expect("a pair");
                    assert!((found.pair.value - d[0]).abs() <= 1e-3 * norm, "{what}: {found:?}");
                    let density = StochasticLanczos { probes: 20, steps: 20, ..StochasticLanczos::default() };
                    let density = block_on(density.run(operator, &control)).expect("a density");
                    for moment in &density.moments[..2] {
                        let expected = d.iter().map(|v| v.powi(moment.order)).sum::<f64>() / n as f64;
                        let limit = 6.0 * moment.standard_error + 1e-4 * norm.powi(moment.order);
                        assert!((moment.value - expected).abs() <= limit, "{what}: {moment:?}, expected {expected}");
                    }
                }
            }
        }
    }
}
