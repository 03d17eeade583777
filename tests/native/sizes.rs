//! Numbers of any size: an operator that is scaled by a power of ten has scaled eigenvalues, traces, norms and densities, and a device
//! finds the length of any vector whose length it can write down.

use crate::support::diagonal::Diagonal;
use crate::support::reflected::any_engine;
use crate::support::*;
use isoflat::engine::{Curvature, Device, Engine, Precision};
use isoflat::landscape::{Axis, Direction, Normalization, landscape};
use isoflat::linalg::{
    Goal, Lanczos, PowerIteration, StochasticLanczos, dense_spectrum, diagonal, hutchinson, trace_and_norm,
};
use isoflat::measure::{Measure, MeasureOptions, measure};
use isoflat::operator::{Metric, OperatorKind, SymmetricOperator};
use isoflat::space::{Balance, BalanceOptions, Grouping, ParameterSpace, WeightNorm, balance};
use isoflat::{Control, ErrorCode, Loss, Network, Problem, Result, Targets};
use pollster::block_on;

/// Devices with sizes, as powers of ten, that their precision holds, and what rounding of an estimate of unit size may come to.
fn devices() -> [(Device, Vec<i32>, f64); 3] {
    [
        (Device::cpu(Precision::F64), vec![-290, -200, -160, -100, 100, 154, 160, 200, 290], 1e-11),
        (Device::cpu(Precision::F32), vec![-30, -22, 18, 22, 30], 2e-5),
        (gpu(), vec![-30, -22, 18, 22, 30], 2e-5),
    ]
}

/// diag(factor · d).
fn scaled_diagonal<'a>(engine: &'a Engine, d: &[f64], factor: f64) -> Diagonal<'a> {
    Diagonal::new(engine, &d.iter().map(|x| x * factor).collect::<Vec<f64>>())
}

/// Numbers that scale with the operator, each with the power of its scale; and whether all converged.
async fn everything(operator: &dyn SymmetricOperator) -> Result<(Vec<(&'static str, i32, f64)>, bool)> {
    let control = Control::default();
    let mut all = Vec::new();
    let dense = dense_spectrum(operator, 1e-4, &control).await?;
    all.extend([("dense max", 1, dense.max.value), ("dense min", 1, dense.min.value), ("dense trace", 1, dense.trace)]);
    all.push(("dense norm", 1, dense.frobenius_norm()));
    let lanczos = Lanczos { goal: Goal::Extremes { top: 3, bottom: 2 }, ..Lanczos::default() };
    let spectrum = lanczos.run(operator, &control).await?;
    all.extend(spectrum.top.iter().chain(&spectrum.bottom).map(|pair| ("lanczos", 1, pair.value)));
    let power = PowerIteration::default().run(operator, &control).await?;
    all.push(("power", 1, power.pair.value));
    all.push(("power's norm", 1, power.norms[0]));
    let trace = hutchinson(operator, 20, 1, &control).await?;
    all.extend([("hutchinson", 1, trace.value), ("its error", 1, trace.standard_error)]);
    let both = trace_and_norm(operator, 30, 1, &control).await?;
    all.extend([("hutch++", 1, both.trace.value), ("its error", 1, both.trace.standard_error)]);
    all.extend([("frobenius", 1, both.norm.value), ("its error", 1, both.norm.standard_error)]);
    let entries = diagonal(operator, 20, 1, &control).await?;
    all.extend([("diagonal", 1, entries.values[0]), ("diagonal", 1, entries.values[7])]);
    let density = StochasticLanczos { probes: 4, steps: 15, ..StochasticLanczos::default() };
    let density = density.run(operator, &control).await?;
    all.extend([("width", 1, density.width), ("grid", 1, density.grid[0]), ("density", -1, density.density[256])]);
    all.extend([("its error", -1, density.density_error[256]), ("cumulative", 0, density.cumulative[256])]);
    for moment in &density.moments {
        all.extend([("moment", moment.order, moment.value), ("its error", moment.order, moment.standard_error)]);
    }
    Ok((all, spectrum.converged && spectrum.verified && power.pair.converged && dense.max.converged))
}

#[test]
fn estimators_scale_with_their_operator() {
    let mut d: Vec<f64> = (0..60).map(|i| (f64::from(i) * 1.7).sin() * 0.5).collect();
    (d[3], d[20], d[40]) = (7.0, 4.0, -3.0);
    for (device, sizes, limit) in devices() {
        let engine = any_engine(&device);
        let (plain, converged) = block_on(everything(&scaled_diagonal(&engine, &d, 1.0))).expect("numbers");
        assert!(converged);
        for size in sizes {
            let factor = 10f64.powi(size);
            let what = format!("1e{size} on {:?}", device.info());
            let (scaled, converged) = block_on(everything(&scaled_diagonal(&engine, &d, factor))).expect(&what);
            assert!(converged, "{what}");
            // Moments that no number holds are left out at the end; none else may be.
            let held = plain.iter().filter(|(_, power, _)| (power * size).abs() < 305).count();
            assert!(scaled.len() >= held, "{what}: {} of {held} numbers", scaled.len());
            for ((name, power, expected), (_, _, found)) in plain.iter().zip(&scaled) {
                let expected = expected * factor.powi(*power);
                let magnitude = 7f64.powi(power.abs()) * 60.0 * factor.powi(*power);
                let off = (found - expected).abs();
                assert!(off <= limit * magnitude, "{what}, {name}: {found:e}, expected {expected:e}");
            }
        }
    }
}

#[test]
fn vectors_of_any_size_are_normalised() {
    for (device, sizes) in [
        (Device::cpu(Precision::F64), vec![-300, -200, -162, -140, 0, 100, 153, 160, 200, 300]),
        (Device::cpu(Precision::F32), vec![-37, -30, -20, 0, 18, 20, 30, 37]),
        (gpu(), vec![-34, -30, -20, 0, 18, 20, 30, 37]),
    ] {
        let engine = any_engine(&device);
        let e = engine.vectors();
        // The GPU's norms are good to a few units in the last place.
        let limit = 4.0 * device.info().precision.epsilon();
        let is_gpu = device.info().backend == "gpu";
        for len in [1, 5, 64, 4097, 9000] {
            for size in &sizes {
                let mut x = random_direction(&mut rng(len as u64), len);
                x[len / 2] = 1.0;
                // All but the last 100 are a millionth, so that tiles differ in size.
                let quiet = if *size > -25 { len.saturating_sub(100) } else { 0 };
                x[..quiet].iter_mut().for_each(|x| *x *= 1e-6);
                let length = dot(&x, &x).sqrt();
                x.iter_mut().for_each(|x| *x /= length);
                let rounded = block_on(async {
                    e.download(&e.upload(&x.iter().map(|x| x * 10f64.powi(*size)).collect::<Vec<_>>(), 1)?).await
                });
                let rounded = rounded.expect("numbers");
                let unit: Vec<f64> = rounded.iter().map(|x| x / 10f64.powi(*size)).collect();
                // In parts, so that the sum's own rounding stays below what is looked for.
                let length = unit.chunks(64).map(|part| dot(part, part)).sum::<f64>().sqrt();
                let uploaded = e.upload(&rounded, 1).expect("a vector");
                let (mut q, mut norms) = (e.zeros(len, 2).expect("columns"), e.zeros(3, 1).expect("norms"));
                e.normalize(&uploaded, &mut q, 1, &mut norms, 2).expect("a norm");
                let (q, norms) = block_on(async { (e.download(&q).await, e.download(&norms).await) });
                let (q, norms) = (q.expect("columns"), norms.expect("norms"));
                let what = format!("{len} numbers of 1e{size} on {:?}", device.info());
                let norm = norms[2] / 10f64.powi(*size);
                assert!((norm - length).abs() <= limit * length, "{what}: {norm}, expected {length}");
                for ((found, expected), number) in q[len..].iter().zip(&unit).zip(&rounded) {
                    // Single numbers below the smallest normal one count as 0 on some GPUs.
                    let is_lost = *found == 0.0 && is_gpu && number.abs() < f64::from(f32::MIN_POSITIVE);
                    let off = (found - expected / length).abs();
                    assert!(off <= limit * expected.abs() + 1e-37 || is_lost, "{what}: {found}, expected {expected}");
                }
                assert!(q[..len].iter().all(|&x| x == 0.0) && norms[..2] == [0.0, 0.0], "{what}");
            }
        }
        for x in [f64::INFINITY, f64::NAN] {
            let x = e.upload(&[1.0, x, 2.0], 1).expect("a vector");
            let (mut q, mut norms) = (e.zeros(3, 1).expect("a column"), e.zeros(1, 1).expect("a norm"));
            e.normalize(&x, &mut q, 0, &mut norms, 0).expect("a norm");
            let (q, norms) = block_on(async { (e.download(&q).await, e.download(&norms).await) });
            let (q, norms) = (q.expect("a column"), norms.expect("a norm"));
            let is_number = norms[0].is_finite() || q.iter().all(|x| x.is_finite());
            assert!(!is_number, "{norms:?}, {q:?} on {:?}", device.info());
        }
    }
}

/// A linear layer without biases: the Hessian is that of the inputs, 2/N Σ x xᵀ for each output.
fn linear(size: f64) -> (Problem, Vec<f64>) {
    let network = Network::dense(&[4, 3], false).expect("a network");
    let mut rng = rng(9);
    let inputs: Vec<f64> = random_direction(&mut rng, 28).iter().map(|x| x * size).collect();
    let targets: Vec<f64> = random_direction(&mut rng, 21).iter().map(|x| x * size).collect();
    let parameters = random_direction(&mut rng, 12);
    (Problem::new(network, Loss::SquaredError, inputs, Targets::Vectors(targets)).expect("a problem"), parameters)
}

#[test]
fn measures_of_a_linear_layer_scale_with_its_data() {
    let keys = [
        ("loss", 2),
        ("gradient_norm", 2),
        ("hessian.max_eigenvalue", 2),
        ("hessian.trace", 2),
        ("hessian.frobenius_norm", 2),
        ("riemannian.layerwise_flat.spectral_norm", 2),
        ("riemannian.layerwise_flat.trace", 2),
        ("riemannian.nodewise_gradient_norm", 2),
        ("petzka.kappa_max", 2),
        ("petzka.rho_sum", 2),
        ("least_trace.nodewise", 2),
        ("normalized_sharpness", 1),
        ("fisher_rao_norm", 2),
    ];
    let measures: Vec<&Measure> = keys.iter().map(|(key, _)| Measure::from_key(key).expect("a measure")).collect();
    let (control, options) = (Control::default(), MeasureOptions::default());
    for (device, sizes, limit) in [
        (Device::cpu(Precision::F64), vec![-140, -90, 90, 140], 1e-12),
        (Device::cpu(Precision::F32), vec![-12, 12, 15], 1e-5),
        (gpu(), vec![-12, 12, 15], 1e-5),
    ] {
        let values = |size: i32| {
            let (problem, parameters) = linear(10f64.powi(size));
            let engine = Engine::new(&device, &problem).expect("an engine");
            block_on(measure(&engine, &parameters, &measures, &options, &control)).expect("values")
        };
        let plain = values(0);
        for size in sizes {
            for ((plain, found), (_, power)) in plain.iter().zip(values(size)).zip(keys) {
                let expected = plain.value * 10f64.powi(power * size);
                let off = (found.value - expected).abs();
                assert!(off <= limit * expected && found.converged, "1e{size}: {found:?}, expected {expected:e}");
            }
        }
    }
}

#[test]
fn lengths_of_parameters_of_any_size_are_right() {
    let control = Control::default();
    let network = Network::dense(&[4, 6, 3], true).expect("a network");
    let mut rng = rng(11);
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    let parameters = random_parameters(&mut rng, &network);
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let options = BalanceOptions::default();
    let plain = block_on(balance(&network, &parameters, Balance::Nodewise, &options, &control)).expect("a balance");
    let space = WeightNorm::new(&network, Grouping::Unit);
    let metric = Metric::Layerwise.scale(&engine, &parameters).expect("a diagonal");
    for size in [-250, -200, -160, -100, 100, 150, 160, 200, 250] {
        let factor = 10f64.powi(size);
        let scaled: Vec<f64> = parameters.iter().map(|w| w * factor).collect();
        let near = |found: &[f64], plain: &[f64]| {
            let expected: Vec<f64> = plain.iter().map(|x| x * factor).collect();
            error(&found.iter().map(|x| x / factor).collect::<Vec<_>>(), plain) < 1e-12 && expected.len() == found.len()
        };
        assert!(near(&Metric::Layerwise.scale(&engine, &scaled).expect("a diagonal"), &metric), "1e{size}");
        let coordinates = space.to_coordinates(&scaled).expect("coordinates");
        assert!(near(&space.to_parameters(&coordinates).expect("parameters"), &parameters), "1e{size}");
        let found = block_on(balance(&network, &scaled, Balance::Nodewise, &options, &control));
        if size > 153 {
            assert_eq!(found.expect_err("an overflow").code, ErrorCode::NotFinite, "1e{size}");
        } else {
            let found = found.expect("a balance");
            assert!(found.converged && near(&found.parameters, &plain.parameters), "1e{size}: {found:?}");
        }
    }
    // Directions as long as the parameters' layers, from vectors of any length.
    let axis = Axis { from: -0.5, to: 0.5, points: 3 };
    let line = |direction| {
        let directions = [(direction, axis)];
        block_on(landscape(&engine, &parameters, &directions, Normalization::Layer, &control)).expect("a line")
    };
    assert_eq!(line(Direction::Random { seed: 1 }).not_finite, 0);
}

#[test]
fn a_direction_of_any_size_has_its_product() {
    let (problem, parameters) = linear(1.0);
    for (device, sizes, limit) in devices() {
        let engine = Engine::new(&device, &problem).expect("an engine");
        block_on(engine.prepare(&parameters)).expect("a point");
        let v = random_direction(&mut rng(3), parameters.len());
        let product = |factor: f64| {
            let v: Vec<f64> = v.iter().map(|x| x * factor).collect();
            block_on(engine.product(Curvature::Hessian, &v)).expect("a product")
        };
        let plain = product(1.0);
        for size in sizes {
            let factor = 10f64.powi(size);
            let found: Vec<f64> = product(factor).iter().map(|x| x / factor).collect();
            assert!(error(&found, &plain) < limit, "1e{size} on {:?}", device.info());
        }
    }
    let kind: OperatorKind = "hessian".parse().expect("a name");
    assert_eq!(kind, OperatorKind::HESSIAN);
}
