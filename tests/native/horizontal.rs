//! Rangamani's Definition 3: the Riemannian Hessian over horizontal vectors alone, against projections by a dense basis of the tangents of
//! rescalings.

use crate::support::graphs::random_graph;
use crate::support::*;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::linalg::{Goal, Lanczos, PowerIteration, dense_matrix};
use isoflat::operator::{Connection, Horizontal, Metric, OperatorKind, Part, SymmetricOperator};
use isoflat::symmetry::{Transformation, free_tensors};
use isoflat::{Control, ErrorCode, Loss, Network, Problem};
use nalgebra::DMatrix;
use pollster::block_on;

const FLAT: OperatorKind = OperatorKind::riemannian(Metric::Layerwise, Connection::Flat);
const OWN: OperatorKind = OperatorKind::riemannian(Metric::Layerwise, Connection::LeviCivita);

fn prepared(device: &Device, problem: &Problem, parameters: &[f64]) -> Engine {
    let engine = Engine::new(device, problem).expect("an engine");
    block_on(engine.prepare(parameters)).expect("a point");
    engine
}

fn matrix(operator: &dyn SymmetricOperator) -> DMatrix<f64> {
    let entries = block_on(dense_matrix(operator, &Control::default())).expect("a matrix");
    DMatrix::from_vec(operator.len(), operator.len(), entries)
}

fn horizontal<'a>(engine: &'a Engine, kind: OperatorKind) -> Horizontal<Box<dyn SymmetricOperator + 'a>> {
    Horizontal::new(block_on(kind.operator(engine)).expect("an operator"), kind, engine).expect("a projection")
}

/// The projection on what is orthogonal to the tangents of random rescalings, as many as there are factors and some more.
fn projection(engine: &Engine, parameters: &[f64]) -> (DMatrix<f64>, usize) {
    let (network, n) = (engine.problem().network(), parameters.len());
    let scale = Metric::Layerwise.scale(engine, parameters).expect("a diagonal");
    let count = free_tensors(network).expect("tensors").len();
    let mut tangents = DMatrix::zeros(n, count + 2);
    for (seed, mut column) in tangents.column_iter_mut().enumerate() {
        let map = Transformation::RandomLayerwise { seed: seed as u64, low: 0.2, high: 5.0 };
        let ones = map.apply(network, &vec![1.0; n]).expect("a map");
        for i in 0..n {
            column[i] = if scale[i] > 0.0 { ones[i].ln() * parameters[i] / scale[i] } else { 0.0 };
        }
    }
    // By the eigenvectors of TᵀT: T may have fewer dimensions than columns.
    let eigen = tangents.tr_mul(&tangents).symmetric_eigen();
    let kept: Vec<usize> = (0..count + 2).filter(|&i| eigen.eigenvalues[i] > 1e-9).collect();
    let rank = kept.len();
    let basis = DMatrix::from_fn(n, rank, |i, j| {
        tangents.row(i).dot(&eigen.eigenvectors.column(kept[j]).transpose()) / eigen.eigenvalues[kept[j]].sqrt()
    });
    (DMatrix::identity(n, n) - &basis * basis.transpose(), rank)
}

fn cases() -> impl Iterator<Item = (u64, Problem, Vec<f64>)> {
    (0..36).filter_map(|seed| {
        let mut rng = rng(70_000 + seed);
        let network = match seed % 3 {
            0 => random_graph(&mut rng, &HOMOGENEOUS),
            _ => any_network(&mut rng, seed, &HOMOGENEOUS),
        };
        let loss = if seed % 2 == 0 { Loss::CrossEntropy } else { Loss::SquaredError };
        let problem = random_problem(&mut rng, network.clone(), loss);
        let mut parameters = random_parameters(&mut rng, &network);
        // A bias that is zero is in no rescaling.
        if let Some(block) = network.layout().blocks().into_iter().find(|block| block.is_bias && seed % 4 == 0) {
            parameters[block.range].fill(0.0);
        }
        (parameters.len() <= 400).then_some((seed, problem, parameters))
    })
}

#[test]
fn horizontal_vectors_are_those_orthogonal_to_the_tangents_of_rescalings() {
    let (mut moved, mut vertical) = (0, 0);
    for (seed, problem, parameters) in cases() {
        let engine = prepared(&Device::cpu(Precision::F64), &problem, &parameters);
        let (p, rank) = projection(&engine, &parameters);
        for kind in [FLAT, OWN, OperatorKind::riemannian_gauss_newton(Metric::Layerwise)] {
            let whole = matrix(&block_on(kind.operator(&engine)).expect("an operator"));
            let found = matrix(&horizontal(&engine, kind));
            let size = whole.norm();
            let off = (&p * &whole * &p - &found).norm();
            assert!(off <= 1e-9 * size, "seed {seed} {kind}: {off:.1e} of {size:.1e}, rank {rank}");
            let change = (&whole - &found).norm();
            if kind == FLAT {
                // The paper's connection sees vertical vectors, but for a critical point or a network without them.
                moved += usize::from(change > 1e-6 * size);
                vertical += usize::from(rank > 0);
            } else {
                // The metric's own does not, nor does what sees the outputs' first derivatives alone.
                assert!(change <= 1e-9 * size, "seed {seed} {kind}: {change:.1e} of {size:.1e}");
            }
        }
    }
    assert!(moved > 10 && moved <= vertical, "{moved} of {vertical}");
}

/// The signed maximum of Definition 3, the other end, and the largest magnitude, on every device.
#[test]
fn both_ends_and_the_largest_magnitude_are_those_of_the_projected_matrix() {
    let control = Control::default();
    let devices = [(Device::cpu(Precision::F64), 1e-8), (Device::cpu(Precision::F32), 1e-4), (gpu(), 1e-4)];
    let mut other = 0;
    for (seed, problem, parameters) in cases().take(8) {
        for (device, tolerance) in &devices {
            let engine = prepared(device, &problem, &parameters);
            let values = matrix(&horizontal(&engine, FLAT)).symmetric_eigenvalues();
            let (top, bottom, norm) = (values.max(), values.min(), values.amax());
            let goal = Goal::Extremes { top: 1, bottom: 1 };
            let lanczos = Lanczos { goal, ..Lanczos::default() };
            let found = block_on(lanczos.run(&horizontal(&engine, FLAT), &control)).expect("a spectrum");
            for (found, expected) in [(found.top[0].value, top), (found.bottom[0].value, bottom)] {
                assert!((found - expected).abs() <= tolerance * norm, "seed {seed}: {found}, expected {expected}");
            }
            let power = PowerIteration { max_products: 20_000, ..PowerIteration::default() };
            let power = block_on(power.run(&horizontal(&engine, FLAT), &control)).expect("a pair");
            if power.pair.converged {
                let magnitude = power.pair.value.abs();
                assert!((magnitude - norm).abs() <= 1e-3 * norm, "seed {seed}: {magnitude}, expected {norm}");
            }
            let whole = matrix(&block_on(FLAT.operator(&engine)).expect("an operator")).symmetric_eigenvalues();
            assert!(top <= whole.max() + tolerance * norm && bottom >= whole.min() - tolerance * norm, "interlaced");
            other += usize::from(whole.max() - top + bottom - whole.min() > 1e-3 * norm);
        }
    }
    assert!(other >= 3, "horizontal vectors alone have other ends: {other}");
}

#[test]
fn what_has_no_horizontal_vectors_is_refused() {
    let mut rng = rng(5);
    let refused = |engine: &Engine, kind: OperatorKind| {
        let inner = block_on(kind.operator(engine)).expect("an operator");
        Horizontal::new(inner, kind, engine).expect_err("a fault").code
    };
    let network = Network::dense(&[3, 4, 2], true).expect("a network");
    let parameters = random_parameters(&mut rng, &network);
    let problem = random_problem(&mut rng, network, Loss::CrossEntropy);
    let engine = prepared(&Device::cpu(Precision::F64), &problem, &parameters);
    for kind in [
        OperatorKind::HESSIAN,
        OperatorKind::riemannian(Metric::Nodewise, Connection::Flat),
        FLAT.over(Part::Weights),
        FLAT.over(Part::Layer(0)),
    ] {
        assert_eq!(refused(&engine, kind), ErrorCode::InvalidOption, "{kind}");
    }
    let layers = [r#"{"type":"dense","units":3}"#, r#"{"type":"tanh"}"#, r#"{"type":"dense","units":2}"#].join(",");
    let smooth = Network::from_json(&format!(r#"{{"input":[3],"layers":[{layers}]}}"#)).expect("a network");
    let parameters = random_parameters(&mut rng, &smooth);
    let problem = random_problem(&mut rng, smooth, Loss::CrossEntropy);
    let engine = prepared(&Device::cpu(Precision::F64), &problem, &parameters);
    assert_eq!(refused(&engine, FLAT), ErrorCode::NotHomogeneous);
}
