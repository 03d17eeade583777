//! Curvature in parameter spaces: against differences of gradients, theory's identities, and on every device.

use crate::support::*;
use isoflat::engine::{Curvature, Device, Engine, Precision};
use isoflat::linalg::{Goal, Lanczos, dense_matrix, dense_spectrum, hutchinson};
use isoflat::operator::{CurvatureOperator, SymmetricOperator};
use isoflat::space::{
    Biases, FixedChoice, FixedValues, Grouping, OpenSpace, ParameterSpace, SecondOrder, SpaceCurvature, SpaceKind,
    TreeValues,
};
use isoflat::symmetry::Transformation;
use isoflat::{Control, ErrorCode, Loss, Network, Problem, Targets};
use pollster::block_on;

const DIAGONAL: FixedChoice = FixedChoice::Diagonal;
const G: SpaceKind =
    SpaceKind::GSpace { choice: DIAGONAL, values: FixedValues::Keep, tree: TreeValues::Keep, biases: Biases::Paths };
const FIXED_AT_ONE: SpaceKind = SpaceKind::WeightFixing { choice: DIAGONAL, values: FixedValues::Reparametrize };

fn engine(device: &Device, problem: &Problem, parameters: &[f64]) -> Engine {
    let engine = Engine::new(device, problem).expect("an engine");
    block_on(engine.prepare(parameters)).expect("a point");
    engine
}

fn matrix(operator: &dyn SymmetricOperator) -> Vec<f64> {
    block_on(dense_matrix(operator, &Control::default())).expect("a matrix")
}

fn spectrum(operator: &dyn SymmetricOperator) -> Vec<f64> {
    block_on(dense_spectrum(operator, 1e-9, &Control::default())).expect("a spectrum").values
}

fn hessian<'a>(engine: &'a Engine, space: &dyn ParameterSpace) -> SpaceCurvature<'a> {
    SpaceCurvature::new(engine, space, Curvature::Hessian, SecondOrder::Included).expect("an operator")
}

/// A network whose paths are of sizes that differ little, so that differences in the G-space have digits left.
fn tame(seed: u64) -> (Problem, Vec<f64>) {
    let mut rng = rng(seed);
    let network = any_network(&mut rng, seed, &HOMOGENEOUS);
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    let parameters = random_parameters(&mut rng, &network).iter().map(|w| w + 0.3 * w.signum()).collect();
    (problem, parameters)
}

/// H_v x against differences of ∇_v L along x.
#[test]
fn products_agree_with_finite_differences() {
    for seed in 0..16 {
        let (problem, start) = tame(seed);
        let kinds = [
            G,
            FIXED_AT_ONE,
            SpaceKind::GSpace {
                choice: FixedChoice::Hungarian,
                values: FixedValues::Keep,
                tree: TreeValues::Keep,
                biases: Biases::Appended,
            },
            SpaceKind::WeightNorm { grouping: Grouping::Unit },
            SpaceKind::WeightNorm { grouping: Grouping::Layer },
        ];
        for kind in kinds {
            let OpenSpace { space, parameters, .. } = kind.open(problem.network(), &start).expect("a space");
            let engine = engine(&Device::cpu(Precision::F64), &problem, &parameters);
            let v = space.to_coordinates(&parameters).expect("coordinates");
            let x: Vec<f64> = v.iter().zip(random_direction(&mut rng(seed), v.len())).map(|(v, x)| v * x).collect();
            let operator = hessian(&engine, &*space);
            let mut y = engine.vectors().zeros(v.len(), 1).expect("a vector");
            block_on(operator.apply(&engine.vectors().upload(&x, 1).expect("x"), &mut y)).expect("a product");
            let found = block_on(engine.vectors().download(&y)).expect("a product");
            let step = 1e-6;
            let gradient = |sign: f64| {
                let moved: Vec<f64> = v.iter().zip(&x).map(|(v, x)| v + sign * step * x).collect();
                block_on(engine.prepare(&space.to_parameters(&moved).expect("parameters"))).expect("a point");
                space.pull_back(&moved, &block_on(engine.gradient()).expect("a gradient")).expect("a gradient")
            };
            let (plus, minus) = (gradient(1.0), gradient(-1.0));
            let size = plus.iter().fold(0.0_f64, |m, g| m.max(g.abs()));
            let largest = found.iter().fold(size, |m, g| m.max(g.abs()));
            for (i, found) in found.iter().enumerate() {
                let expected = (plus[i] - minus[i]) / (2.0 * step);
                // Rounding of the gradients over the step, and the step's square.
                assert!(
                    (found - expected).abs() < 1e-6 * largest,
                    "{kind:?} of {}: [{i}] is {found}, but differences give {expected}",
                    problem.network().summary()
                );
            }
        }
    }
}

/// The function of the path values is one function, so its Hessian is the same wherever on a rescaling's orbit one begins: at any
/// point, whole spectrum. So is that of the fixed weights at ±1; the weights' own is not.
#[test]
fn spectra_in_the_spaces_are_invariant_at_every_point() {
    for seed in 0..10 {
        let (problem, start) = tame(seed);
        let moved = Transformation::RandomNodewise { seed, low: 0.2, high: 5.0 }
            .apply(problem.network(), &start)
            .expect("parameters");
        for kind in [G, FIXED_AT_ONE] {
            let [here, there] = [&start, &moved].map(|start| {
                let OpenSpace { space, parameters, .. } = kind.open(problem.network(), start).expect("a space");
                spectrum(&hessian(&engine(&Device::cpu(Precision::F64), &problem, &parameters), &*space))
            });
            assert!(error(&there, &here) < 1e-9, "{kind:?}: {:.1e}", error(&there, &here));
        }
        if problem.network().layout().layers().len() > 1 {
            let [here, there] = [&start, &moved].map(|parameters| {
                let engine = engine(&Device::cpu(Precision::F64), &problem, parameters);
                spectrum(&CurvatureOperator::new(&engine, Curvature::Hessian))
            });
            assert!(error(&there, &here) > 1e-3, "the bare Hessian should change");
        }
    }
}

/// In the fixed-weight space the Hessian is H without the rows and columns of the fixed weights, and has no second-order term.
#[test]
fn the_fixed_weights_hessian_is_a_submatrix() {
    let (problem, start) = tame(5);
    let kind = SpaceKind::WeightFixing { choice: DIAGONAL, values: FixedValues::Keep };
    let space = kind.open(problem.network(), &start).expect("a space").space;
    let engine = engine(&Device::cpu(Precision::F64), &problem, &start);
    let free = isoflat::space::Skeleton::new(problem.network(), &start, DIAGONAL).expect("a skeleton");
    let free: Vec<usize> =
        free.free(problem.network()).iter().enumerate().filter(|(_, free)| **free).map(|(i, _)| i).collect();
    for curvature in [Curvature::Hessian, Curvature::GaussNewton] {
        let whole = matrix(&CurvatureOperator::new(&engine, curvature));
        let n = start.len();
        let expected: Vec<f64> =
            free.iter().flat_map(|&j| free.iter().map(move |&i| (i, j))).map(|(i, j)| whole[j * n + i]).collect();
        let operator = SpaceCurvature::new(&engine, &*space, curvature, SecondOrder::LeftOut).expect("an operator");
        assert!(error(&matrix(&operator), &expected) < 1e-13);
    }
    let operator = SpaceCurvature::new(&engine, &*space, Curvature::Hessian, SecondOrder::LeftOut);
    let without = matrix(&operator.expect("an operator"));
    assert_eq!(matrix(&hessian(&engine, &*space)), without);
}

/// Dinh 5.1: at a critical point Jᵀ H J is the Hessian in v, elsewhere ∇L · ∇²θ joins. A linear network that fits its data exactly is
/// at a critical point of the squared error; moved away from it, it is not.
#[test]
fn the_second_order_term_vanishes_at_critical_points_alone() {
    let mut rng = rng(11);
    let network = Network::dense(&[4, 3, 5, 2], true).expect("a network");
    let minimum: Vec<f64> = random_parameters(&mut rng, &network).iter().map(|w| w + 0.3 * w.signum()).collect();
    let inputs = random_direction(&mut rng, 20 * 4);
    let targets = isoflat::Targets::Vectors(naive::outputs(&network, &minimum, &inputs));
    let problem = Problem::new(network, Loss::SquaredError, inputs, targets).expect("a problem");
    let elsewhere: Vec<f64> = minimum.iter().map(|w| 1.1 * w).collect();
    for kind in [G, SpaceKind::WeightNorm { grouping: Grouping::Unit }] {
        for (point, is_critical) in [(&minimum, true), (&elsewhere, false)] {
            let space = kind.open(problem.network(), point).expect("a space").space;
            let engine = engine(&Device::cpu(Precision::F64), &problem, point);
            let with = matrix(&hessian(&engine, &*space));
            let without = SpaceCurvature::new(&engine, &*space, Curvature::Hessian, SecondOrder::LeftOut);
            let without = matrix(&without.expect("an operator"));
            let difference = error(&with, &without);
            assert_eq!(difference < 1e-10, is_critical, "{kind:?}: {difference:.1e}");
        }
    }
}

/// Weight normalisation does not see the length of v: H v = −∇L, and with v → αv the block of v is divided by α²
/// (Dinh 5.1: as sharp or as flat as one likes).
#[test]
fn weight_norm_is_as_sharp_as_one_likes() {
    let (problem, start) = tame(8);
    let kind = SpaceKind::WeightNorm { grouping: Grouping::Layer };
    let space = kind.open(problem.network(), &start).expect("a space").space;
    let v = space.to_coordinates(&start).expect("coordinates");
    let (groups, alpha) = (v.len() - start.len(), 0.01);
    let mut scaled = v.clone();
    for layer in problem.network().layout().layers() {
        let range = groups + layer.weight.start..groups + layer.weight.end;
        scaled[range].iter_mut().for_each(|v| *v *= alpha);
    }
    let back = space.to_parameters(&scaled).expect("parameters");
    assert!(error(&back, &start) < 1e-14);
    // The block of one layer's v, by the chart at both points: JᵀHJ + ∇L·∇²θ.
    let engine = engine(&Device::cpu(Precision::F64), &problem, &start);
    let gradient = block_on(engine.gradient()).expect("a gradient");
    let first = problem.network().layout().layers()[0].weight.clone();
    let block = |v: &[f64]| -> Vec<f64> {
        let mut block = Vec::new();
        for j in first.clone() {
            let mut x = vec![0.0; v.len()];
            x[groups + j] = 1.0;
            let tangent = space.chart().tangent(v, &x);
            let product = block_on(engine.product(Curvature::Hessian, &tangent)).expect("a product");
            let column = space.chart().cotangent(v, &product, Some((&gradient, &x)));
            block.extend(first.clone().map(|i| column[groups + i]));
        }
        block
    };
    let (here, there) = (block(&v), block(&scaled));
    let expected: Vec<f64> = here.iter().map(|h| h / (alpha * alpha)).collect();
    assert!(error(&there, &expected) < 1e-10);
    // Of degree 0 in v: v · ∇L = 0, and the derivative of that is H v = −∇L.
    let pulled = space.pull_back(&v, &gradient).expect("a gradient");
    let n = first.len();
    let size = here.iter().fold(0.0_f64, |m, h| m.max(h.abs()));
    for i in 0..n {
        let along: f64 = (0..n).map(|j| here[j * n + i] * v[groups + first.start + j]).sum();
        assert!((along + pulled[groups + first.start + i]).abs() < 1e-12 * size * n as f64, "{along}");
    }
}

/// Every estimator runs on it, and every device agrees.
#[test]
fn estimators_and_devices_agree() {
    let (problem, start) = tame(7);
    // Each one once: a new GPU compiles its kernels again.
    let devices = [Device::cpu(Precision::F64), Device::cpu(Precision::F32), gpu()];
    for kind in [G, FIXED_AT_ONE, SpaceKind::WeightNorm { grouping: Grouping::Unit }] {
        let OpenSpace { space, parameters, .. } = kind.open(problem.network(), &start).expect("a space");
        let exact = engine(&Device::cpu(Precision::F64), &problem, &parameters);
        let exact = spectrum(&hessian(&exact, &*space));
        let norm = exact.iter().fold(0.0_f64, |m, value| m.max(value.abs()));
        let trace: f64 = exact.iter().sum();
        for device in &devices {
            let tolerance = if device.info().precision == Precision::F64 { 1e-9 } else { 1e-4 };
            let engine = engine(device, &problem, &parameters);
            let operator = hessian(&engine, &*space);
            assert_eq!(operator.len(), space.dimension());
            let control = Control::default();
            let top = 2.min(operator.len() - 1);
            let lanczos = Lanczos { goal: Goal::Extremes { top, bottom: 1 }, ..Lanczos::default() };
            let found = block_on(lanczos.run(&operator, &control)).expect("a spectrum");
            assert!(found.converged, "{kind:?} on {:?}: {found:?}", device.info());
            for (found, expected) in found.top.iter().zip(exact.iter().rev()) {
                assert!((found.value - expected).abs() < tolerance * norm, "{kind:?}: {found:?}, expected {expected}");
            }
            assert!((found.bottom[0].value - exact[0]).abs() < tolerance * norm);
            let estimate = block_on(hutchinson(&operator, 400, 3, &control)).expect("a trace");
            let distance = (estimate.value - trace).abs();
            assert!(distance < 4.5 * estimate.standard_error + tolerance * norm, "{kind:?}: {estimate:?} for {trace}");
        }
    }
}

#[test]
fn a_point_outside_the_space_is_refused() {
    let (problem, start) = tame(5);
    let space = G.open(problem.network(), &start).expect("a space").space;
    let moved = Transformation::RandomNodewise { seed: 1, low: 0.2, high: 5.0 }
        .apply(problem.network(), &start)
        .expect("parameters");
    let engine = engine(&Device::cpu(Precision::F64), &problem, &moved);
    let fault = |curvature, second| match SpaceCurvature::new(&engine, &*space, curvature, second) {
        Err(error) => error,
        Ok(_) => panic!("a fault is expected"),
    };
    let error = fault(Curvature::Hessian, SecondOrder::Included);
    assert!(error.code == ErrorCode::InvalidParameters && error.message.contains("prepare the point"), "{error}");
    let error = fault(Curvature::GaussNewton, SecondOrder::Included);
    assert_eq!(error.code, ErrorCode::InvalidOption);
}

/// Path values stand still, so that it is the weights which say that it is another point: also beside a layer that is many times as large.
#[test]
fn a_point_outside_the_space_is_refused_beside_large_weights() {
    let network = Network::dense(&[2, 2, 2, 2], false).expect("a network");
    let start = [1e12, 0.0, 0.0, 1e12, 1.0, 0.5, 0.5, 1.0, 1e-12, 2e-12, 3e-12, 1e-12];
    let problem = Problem::new(network.clone(), Loss::SquaredError, vec![1.0, 2.0], Targets::Vectors(vec![0.0; 2]));
    let problem = problem.expect("a problem");
    let space = G.open(&network, &start).expect("a space").space;
    let bend = Transformation::Nodewise { factors: vec![vec![1.0; 2], vec![2.0, 1.0]] };
    let moved = bend.apply(&network, &start).expect("parameters");
    for (point, is_in) in [(&start[..], true), (&moved, false)] {
        let engine = engine(&Device::cpu(Precision::F64), &problem, point);
        let found = SpaceCurvature::new(&engine, &*space, Curvature::Hessian, SecondOrder::LeftOut);
        assert_eq!(found.is_ok(), is_in, "{:?}", found.err());
    }
}
