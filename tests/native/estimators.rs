//! Estimators against dense spectra, within a stated product budget, and in the cases that break careless ones.

use crate::support::diagonal::Diagonal;
use crate::support::*;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::linalg::{Goal, Lanczos, PowerIteration, dense_spectrum, hutchinson};
use isoflat::operator::{OperatorKind, Scaled};
use isoflat::{Control, ErrorCode, Loss, Network};

fn any_engine(device: &Device) -> Engine {
    let network = Network::dense(&[2, 2], false).expect("a network");
    let problem = random_problem(&mut rng(0), network, Loss::CrossEntropy);
    Engine::new(device, &problem).expect("an engine")
}

fn lanczos(top: usize, bottom: usize) -> Lanczos {
    Lanczos { goal: Goal::Extremes { top, bottom }, ..Lanczos::default() }
}

fn values(pairs: &[isoflat::linalg::Eigenpair]) -> Vec<f64> {
    pairs.iter().map(|pair| pair.value).collect()
}

#[test]
fn lanczos_finds_both_ends_of_a_large_spectrum_through_restarts() {
    let engine = any_engine(&Device::cpu(Precision::F64));
    // Crowded near 0, as networks' spectra are, with outliers at both ends.
    let mut d: Vec<f64> = (0..3000).map(|i| (f64::from(i) * 0.7).sin() * 0.1).collect();
    (d[17], d[99], d[500], d[2500], d[2999]) = (7.0, 5.0, 4.9, -2.0, -1.9);
    let operator = Diagonal::new(&engine, &d);
    let run = Lanczos { basis: Some(14), max_products: 300, ..lanczos(3, 2) };
    let found = pollster::block_on(run.run(&operator, &Control::default())).expect("a spectrum");
    assert!(found.converged, "{found:?}");
    assert!(error(&values(&found.top), &[7.0, 5.0, 4.9]) < 1e-12, "{found:?}");
    assert!(error(&values(&found.bottom), &[-2.0, -1.9]) < 1e-12, "{found:?}");
    assert!(found.top.iter().all(|pair| pair.residual <= 1e-9 * 7.0));
}

#[test]
fn lanczos_finds_multiple_eigenvalues_of_operators_with_few_distinct_ones() {
    let engine = any_engine(&Device::cpu(Precision::F64));
    for (d, top) in [
        (vec![3.0; 20], vec![3.0, 3.0, 3.0]),
        ([vec![5.0, 5.0], vec![1.0; 200]].concat(), vec![5.0, 5.0, 1.0]),
        ([vec![2.0], vec![0.0; 300]].concat(), vec![2.0, 0.0, 0.0]),
        (vec![0.0; 50], vec![0.0, 0.0, 0.0]),
    ] {
        let operator = Diagonal::new(&engine, &d);
        let found = pollster::block_on(lanczos(3, 1).run(&operator, &Control::default())).expect("a spectrum");
        assert!(found.converged, "{found:?}");
        let off = values(&found.top).iter().zip(&top).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
        assert!(off < 1e-12, "found {:?}, expected {top:?}", values(&found.top));
    }
}

#[test]
fn what_did_not_converge_says_so() {
    let engine = any_engine(&Device::cpu(Precision::F64));
    let d: Vec<f64> = (0..2000).map(|i| 1.0 + f64::from(i) * 1e-6).collect();
    let operator = Diagonal::new(&engine, &d);
    let short = Lanczos { max_products: 12, ..lanczos(2, 1) };
    let found = pollster::block_on(short.run(&operator, &Control::default())).expect("a spectrum");
    assert!(!found.converged && found.top.iter().any(|pair| !pair.converged), "{found:?}");
    let short = PowerIteration { max_products: 5, ..PowerIteration::default() };
    let found = pollster::block_on(short.run(&operator, &Control::default())).expect("a pair");
    assert!(!found.pair.converged && found.norms.len() == 5, "{found:?}");
}

/// Rangamani's Figure 1: what Algorithm 1 has for the norm after every step is ‖A u‖ of its vector, and never falls.
#[test]
fn power_iteration_tells_its_estimates_step_by_step() {
    let network = Network::dense(&[4, 6, 3], true).expect("a network");
    let mut rng = rng(6);
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    let parameters = random_parameters(&mut rng, &network);
    for (device, limit) in [(Device::cpu(Precision::F64), 1e-10), (Device::cpu(Precision::F32), 1e-4)] {
        let engine = Engine::new(&device, &problem).expect("an engine");
        pollster::block_on(engine.prepare(&parameters)).expect("a point");
        for kind in OperatorKind::ALL {
            let (control, power) = (Control::default(), PowerIteration { seed: 3, ..PowerIteration::default() });
            let operator = pollster::block_on(kind.operator(&engine)).expect("an operator");
            let found = pollster::block_on(power.run(&operator, &control)).expect("a pair");
            assert_eq!(found.norms.len() + 1, found.products, "{kind}: one a step, and the pair's residual at the end");
            assert!(found.norms.windows(2).all(|two| two[1] >= two[0] * (1.0 - limit)), "{kind}: {:?}", found.norms);
            let (last, value) = (found.norms[found.norms.len() - 1], found.pair.value.abs());
            assert!(!found.pair.converged || (last - value).abs() <= 1e-4 * value, "{kind}: {last}, {value}");
            // Fewer products end earlier on the same way, and none of the estimates is above ‖A‖.
            let short = PowerIteration { max_products: 7, ..power };
            let short = pollster::block_on(short.run(&operator, &control)).expect("a pair");
            assert_eq!(short.norms[..], found.norms[..7], "{kind}");
            let norm = dense_spectrum(&operator, 1e-4, &control);
            let norm =
                pollster::block_on(norm).expect("a spectrum").values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            assert!(found.norms.iter().all(|estimate| *estimate <= norm * (1.0 + limit)), "{kind}: above {norm}");
        }
    }
}

#[test]
fn power_iteration_takes_the_largest_magnitude_also_when_it_is_negative_or_zero() {
    let engine = any_engine(&Device::cpu(Precision::F64));
    for (d, expected) in [(vec![1.0, -3.0, 2.0], -3.0), (vec![0.0; 4], 0.0)] {
        let operator = Diagonal::new(&engine, &d);
        let found = pollster::block_on(PowerIteration::default().run(&operator, &Control::default())).expect("a pair");
        assert!(found.pair.converged && (found.pair.value - expected).abs() < 1e-12, "{found:?}");
    }
}

#[test]
fn on_a_random_network_all_agree_with_the_dense_spectrum_within_a_budget() {
    let network = Network::dense(&[6, 9, 7, 4], true).expect("a network");
    let mut rng = rng(3);
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    let parameters = random_parameters(&mut rng, &network);
    for device in [Device::cpu(Precision::F64), Device::cpu(Precision::F32), gpu()] {
        let engine = Engine::new(&device, &problem).expect("an engine");
        pollster::block_on(engine.prepare(&parameters)).expect("a point");
        let precise = device.info().precision == Precision::F64;
        for kind in OperatorKind::ALL {
            pollster::block_on(async {
                let control = Control::default();
                let operator = kind.operator(&engine).await.expect("an operator");
                let dense = dense_spectrum(&operator, 1e-4, &control).await.expect("a spectrum");
                let run = Lanczos { max_products: 120, ..lanczos(4, 2) };
                let found = run.run(&operator, &control).await.expect("a spectrum");
                assert!(found.converged, "{kind} {:?}: {found:?}", device.info());
                let expected: Vec<f64> = dense.values.iter().rev().take(4).copied().collect();
                let limit = if precise { 1e-10 } else { 1e-5 };
                assert!(error(&values(&found.top), &expected) < limit, "{kind}: {found:?}, expected {expected:?}");
                let scale = expected[0];
                for (pair, value) in found.bottom.iter().zip(&dense.values) {
                    assert!((pair.value - value).abs() < limit * scale, "{kind}: {pair:?}, expected {value}");
                }
                let trace = hutchinson(&operator, 200, 1, &control).await.expect("a trace");
                assert!(
                    (trace.value - dense.trace).abs() < 4.5 * trace.standard_error,
                    "{kind}: {trace:?}, {}",
                    dense.trace
                );
            });
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let network = Network::dense(&[6, 9, 4], true).expect("a network");
    let mut rng = rng(4);
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    let parameters = random_parameters(&mut rng, &network);
    for device in [Device::cpu(Precision::F64), gpu()] {
        let run = || {
            let engine = Engine::new(&device, &problem).expect("an engine");
            pollster::block_on(engine.prepare(&parameters)).expect("a point");
            let operator = pollster::block_on(OperatorKind::ALL[2].operator(&engine)).expect("an operator");
            pollster::block_on(lanczos(3, 3).run(&operator, &Control::default())).expect("a spectrum")
        };
        assert_eq!(run(), run());
    }
}

#[test]
fn work_stops_within_a_step_and_reports_before() {
    let engine = any_engine(&Device::cpu(Precision::F64));
    let d: Vec<f64> = (0..500).map(f64::from).collect();
    let operator = Diagonal::new(&engine, &d);
    let reports = std::cell::Cell::new(0);
    let control = Control::default().on_progress(|_| reports.set(reports.get() + 1)).stop_when(|| reports.get() >= 2);
    let stopped = pollster::block_on(lanczos(5, 0).run(&operator, &control)).expect_err("a stop");
    assert_eq!((stopped.code, reports.get()), (ErrorCode::Aborted, 2));
}

#[test]
fn a_zero_block_drops_out_without_nan() {
    let network = Network::dense(&[3, 4, 2], true).expect("a network");
    let mut rng = rng(6);
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    let mut parameters = random_parameters(&mut rng, &network);
    let bias = network.layout().layers()[0].bias.clone().expect("a bias");
    parameters[bias.clone()].fill(0.0);
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    pollster::block_on(engine.prepare(&parameters)).expect("a point");
    for kind in &OperatorKind::ALL[2..] {
        let operator = pollster::block_on(kind.operator(&engine)).expect("an operator");
        let spectrum = pollster::block_on(dense_spectrum(&operator, 1e-9, &Control::default())).expect("a spectrum");
        assert!(spectrum.values.iter().all(|v| v.is_finite()));
        let zeros = spectrum.values.iter().filter(|v| v.abs() < 1e-14).count();
        assert!(zeros >= bias.len(), "{kind}: {zeros} zeros");
    }
}

#[test]
fn scaling_an_operator_scales_both_sides() {
    let engine = any_engine(&Device::cpu(Precision::F64));
    let scaled = Scaled::new(Diagonal::new(&engine, &[1.0, 2.0, 3.0]), &[2.0, 0.0, -1.0]).expect("an operator");
    let spectrum = pollster::block_on(dense_spectrum(&scaled, 1e-9, &Control::default())).expect("a spectrum");
    assert_eq!(spectrum.values, [0.0, 3.0, 4.0]);
}
