//! Exact diagonals of the curvature operators by backward passes, against products with unit vectors, traces and each other.

use std::cell::Cell;

use crate::support::*;
use isoflat::engine::{Cotangent, Curvature, Device, Engine, Precision};
use isoflat::linalg::dense_matrix;
use isoflat::measure::{exact_diagonal, exact_trace};
use isoflat::network::{Conv2d, Layer, Pool2d};
use isoflat::operator::{Connection, Metric, OperatorKind, Part, Whole};
use isoflat::{Control, Error, ErrorCode, Loss, Network, Problem, Targets};
use pollster::block_on;
use rand::Rng;

const LOSSES: [Loss; 2] = [Loss::CrossEntropy, Loss::SquaredError];

fn whole_kinds() -> Vec<OperatorKind> {
    let gauss_newton = [Metric::Layerwise, Metric::Nodewise].map(OperatorKind::riemannian_gauss_newton);
    OperatorKind::ALL.into_iter().chain(gauss_newton).collect()
}

fn is_gauss_newton(kind: OperatorKind) -> bool {
    matches!(kind.whole, Whole::Curvature(Curvature::GaussNewton) | Whole::RiemannianGaussNewton(_))
}

fn prepared(device: &Device, problem: &Problem, parameters: &[f64]) -> Engine {
    let engine = Engine::new(device, problem).expect("an engine");
    block_on(engine.prepare(parameters)).expect("a point");
    engine
}

/// Networks of these activations, dense and of images, with both losses, at random points.
fn for_random_networks(count: u64, activations: &[Layer], work: impl Fn(u64, &Problem, &[f64])) {
    for seed in 0..count {
        let mut rng = rng(2600 + seed);
        let network = any_network(&mut rng, seed, activations);
        let problem = random_problem(&mut rng, network.clone(), LOSSES[seed as usize / 2 % 2]);
        let parameters = random_parameters(&mut rng, &network);
        work(seed, &problem, &parameters);
    }
}

/// Entries (i, i) of the products with all unit vectors.
fn by_products(engine: &Engine, kind: OperatorKind) -> Vec<f64> {
    block_on(async {
        let operator = kind.operator(engine).await.expect("an operator");
        let matrix = dense_matrix(&operator, &Control::default()).await.expect("a matrix");
        matrix.iter().step_by(operator.len() + 1).copied().collect()
    })
}

fn found(engine: &Engine, kind: OperatorKind) -> Option<Vec<f64>> {
    let found = block_on(exact_diagonal(engine, kind, &Control::default())).expect("no fault")?;
    assert_eq!((found.probes, found.products), (0, 0), "{kind}");
    assert_eq!(found.standard_errors, vec![0.0; found.values.len()], "{kind}");
    Some(found.values)
}

/// What the terms of the Levi-Civita connection's diagonal are made of, of which most may cancel: Σ |w_i g_i|.
fn connection_scale(engine: &Engine, kind: OperatorKind, parameters: &[f64]) -> f64 {
    let Whole::Riemannian(_, Connection::LeviCivita) = kind.whole else { return 0.0 };
    let gradient = block_on(engine.gradient()).expect("a gradient");
    gradient.iter().zip(parameters).map(|(g, w)| (g * w).abs()).sum()
}

#[test]
fn diagonals_are_those_of_products_with_unit_vectors() {
    let device = Device::cpu(Precision::F64);
    for_random_networks(40, &HOMOGENEOUS, |seed, problem, parameters| {
        let engine = prepared(&device, problem, parameters);
        let layers = problem.network().layout().layers().len();
        for kind in whole_kinds() {
            for kind in [kind, kind.over(Part::Weights), kind.over(Part::Layer(layers - 1))] {
                let (found, expected) = (found(&engine, kind).expect("an exact one"), by_products(&engine, kind));
                assert_eq!(found.len(), expected.len(), "{seed}: {kind}");
                let largest = expected.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
                // Entry by entry; what a softmax near 1 and the connection cancel is relative to what they are made of.
                let floor = 1e-14 * largest + 1e-13 * connection_scale(&engine, kind, parameters);
                for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    assert!(
                        (found - expected).abs() <= 1e-10 * expected.abs() + floor,
                        "{seed}, {}: {kind}: entry {i} is {found}, expected {expected}",
                        problem.network().summary()
                    );
                }
            }
        }
    });
}

#[test]
fn in_single_precision_diagonals_are_those_of_double_precision() {
    for device in [Device::cpu(Precision::F32), gpu()] {
        for_random_networks(16, &HOMOGENEOUS, |seed, problem, parameters| {
            let parameters: Vec<f64> = parameters.iter().map(|&w| f64::from(w as f32)).collect();
            let exact = prepared(&Device::cpu(Precision::F64), problem, &parameters);
            let engine = prepared(&device, problem, &parameters);
            for kind in whole_kinds() {
                let (found, expected) = (found(&engine, kind).expect("one"), found(&exact, kind).expect("one"));
                let off = found.iter().zip(&expected).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                let size = expected.iter().map(|v| v * v).sum::<f64>().sqrt();
                let size = size + (found.len() as f64).sqrt() * connection_scale(&exact, kind, &parameters);
                // As in twins_images.rs, and again what squares double.
                assert!(off <= 4e-6 * size, "{seed}: {kind} on {:?}: {off:.1e} of {size:.1e}", device.info());
            }
        });
    }
}

#[test]
fn a_diagonal_adds_up_to_the_exact_trace() {
    for device in [Device::cpu(Precision::F64), gpu()] {
        for_random_networks(10, &HOMOGENEOUS, |seed, problem, parameters| {
            let engine = prepared(&device, problem, parameters);
            for kind in whole_kinds() {
                for kind in [kind, kind.over(Part::Weights), kind.over(Part::Layer(0))] {
                    let diagonal = found(&engine, kind).expect("an exact one");
                    let trace = block_on(exact_trace(&engine, kind, &Control::default())).expect("no fault");
                    let (sum, trace) = (diagonal.iter().sum::<f64>(), trace.expect("an exact one"));
                    let scale = diagonal.iter().map(|v| v.abs()).sum::<f64>()
                        + diagonal.len() as f64 * connection_scale(&engine, kind, parameters);
                    let tolerance = 32.0 * device.info().precision.epsilon();
                    assert!((sum - trace).abs() <= tolerance * scale, "{seed}: {kind}: {sum}, trace {trace}");
                }
            }
        });
    }
}

#[test]
fn of_a_smooth_network_the_gauss_newton_diagonals_alone_are_exact() {
    let count = Cell::new(0);
    for_random_networks(12, SMOOTH, |seed, problem, parameters| {
        if problem.network().is_piecewise_linear() {
            return;
        }
        let engine = prepared(&Device::cpu(Precision::F64), problem, parameters);
        let hessian = by_products(&engine, OperatorKind::HESSIAN);
        let gauss_newton = by_products(&engine, OperatorKind::GAUSS_NEWTON);
        count.set(count.get() + usize::from(error(&gauss_newton, &hessian) > 1e-6));
        for kind in whole_kinds() {
            for kind in [kind, kind.over(Part::Layer(0))] {
                let found = found(&engine, kind);
                assert_eq!(found.is_some(), is_gauss_newton(kind), "{seed}: {kind}");
                if let Some(found) = found {
                    assert!(error(&found, &by_products(&engine, kind)) < 1e-10, "{seed}: {kind}");
                }
            }
        }
    });
    assert!(count.get() > 3, "the Hessian's diagonal was another one in {} cases alone", count.get());
}

/// A small LeNet with so many samples that there are several chunks, and enough work for threads.
fn many_samples() -> (Problem, Vec<f64>) {
    let mut rng = rng(41);
    let conv = |channels, stride, padding: [usize; 2], bias| {
        Layer::Conv2d(Conv2d { stride, padding: padding.into(), bias, ..Conv2d::new(channels, [3, 2]) })
    };
    let layers = vec![
        conv(6, [1, 1], [1, 1], true),
        Layer::Relu,
        Layer::MaxPool2d(Pool2d::new([2, 2])),
        conv(5, [2, 1], [0, 2], false),
        Layer::Relu,
        Layer::Flatten,
        Layer::Dense { units: 9, bias: true },
        Layer::Relu,
        Layer::Dense { units: 3, bias: false },
    ];
    let network = Network::new(vec![2, 8, 7], layers).expect("a network");
    let samples = 1500;
    let inputs: Vec<f64> = random_direction(&mut rng, samples * network.input_len());
    let targets = Targets::Classes((0..samples).map(|_| rng.random_range(0..3)).collect());
    let parameters = random_parameters(&mut rng, &network);
    (Problem::new(network, Loss::CrossEntropy, inputs, targets).expect("a problem"), parameters)
}

#[test]
fn chunks_threads_and_memory_change_nothing() {
    let (problem, parameters) = many_samples();
    let expected =
        by_products(&prepared(&Device::cpu(Precision::F64), &problem, &parameters), OperatorKind::GAUSS_NEWTON);
    for precision in [Precision::F64, Precision::F32] {
        let found_by = |threads: usize, budget: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| {
                let (problem, parameters) = many_samples();
                let device = Device::cpu(precision).with_memory_budget(budget);
                found(&prepared(&device, &problem, &parameters), OperatorKind::GAUSS_NEWTON).expect("an exact one")
            })
        };
        let whole = found_by(1, 1 << 30);
        for (threads, budget) in [(1, 0), (2, 1 << 30), (3, 0)] {
            assert_eq!(found_by(threads, budget), whole, "{precision:?}: {threads} threads, {budget} bytes");
        }
        let off = error(&whole, &expected);
        let tolerance = if precision == Precision::F64 { 1e-10 } else { 4e-6 };
        assert!(off < tolerance, "{precision:?}: {off:.1e}");
    }
}

/// Cotangents are what they are in a sweep, one by one and together: their squares over a layer add up to its traces.
#[test]
fn squares_of_cotangents_of_signs_add_up_to_the_sweeps_traces() {
    for device in [Device::cpu(Precision::F64), gpu()] {
        for_random_networks(12, &ALL, |seed, problem, parameters| {
            let mut rng = rng(seed);
            let (samples, outputs) = (problem.samples(), problem.network().output_len());
            let mut signs = || Cotangent::Signs(random_signs(&mut rng, samples * outputs));
            let cotangents = [signs(), Cotangent::Class(outputs - 1), signs()];
            let engine = prepared(&device, problem, parameters);
            let squares = block_on(engine.squared_gradients(&cotangents)).expect("squares");
            let sums = block_on(engine.sweep(&cotangents)).expect("sums");
            for (l, layer) in problem.network().layout().layers().iter().enumerate() {
                let traces = [sums.iter().map(|s| s[l].weight_trace).sum(), sums.iter().map(|s| s[l].bias_trace).sum()];
                for (range, trace) in std::iter::once(&layer.weight).chain(&layer.bias).zip(traces) {
                    let (sum, trace): (f64, f64) = (squares[range.clone()].iter().sum(), trace);
                    let tolerance = 64.0 * device.info().precision.epsilon();
                    assert!((sum - trace).abs() <= tolerance * trace, "{seed}: layer {l}: {sum}, trace {trace}");
                }
            }
        });
    }
}

#[test]
fn faults_are_named_and_a_stop_stops() {
    let (network, mut rng) = (Network::dense(&[3, 4, 40], true).expect("a network"), rng(5));
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    let device = Device::cpu(Precision::F64);
    let fault = |engine: &Engine, kind, control: &Control| -> Error {
        block_on(exact_diagonal(engine, kind, control)).expect_err("a fault")
    };
    let engine = Engine::new(&device, &problem).expect("an engine");
    assert_eq!(fault(&engine, OperatorKind::HESSIAN, &Control::default()).code, ErrorCode::InvalidParameters);
    let engine = prepared(&device, &problem, &random_parameters(&mut rng, &network));
    let nowhere = OperatorKind::HESSIAN.over(Part::Layer(2));
    assert_eq!(fault(&engine, nowhere, &Control::default()).code, ErrorCode::InvalidOption);
    let reports = Cell::new(0);
    let control = Control::default().on_progress(|_| reports.set(reports.get() + 1)).stop_when(|| reports.get() == 2);
    assert_eq!(fault(&engine, OperatorKind::HESSIAN, &control).code, ErrorCode::Aborted);
    // 40 cotangents go in groups.
    assert_eq!(reports.get(), 2);
    let huge: Vec<f64> = vec![1e200; network.parameter_count()];
    let squared = Problem::new(network, Loss::SquaredError, vec![1e200; 3], Targets::Vectors(vec![0.0; 40]));
    let engine = prepared(&device, &squared.expect("a problem"), &huge);
    assert_eq!(fault(&engine, OperatorKind::GAUSS_NEWTON, &Control::default()).code, ErrorCode::NotFinite);
}
