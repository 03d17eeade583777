//! Rangamani's Tables 2 and 3 on every executor: F₁ and C₁, 500 random samples, random labels, and searches that begin at vectors of
//! their own before and after (`examples/tables.rs` prints them, over many seeds).
//!
//! In f32 the numbers hold where no pre-activation lies within rounding of 0: one that does may change its sign when the
//! weights are rescaled by factors that are no powers of two, and moves the norm by some 1e-6. With this seed none does.

use isoflat::engine::{Device, Engine, Precision};
use isoflat::linalg::{Goal, Lanczos};
use isoflat::network::{BiasInitialization, Initialization, Preset};
use isoflat::operator::{Connection, Metric, OperatorKind};
use isoflat::symmetry::Transformation;
use isoflat::{Control, data};

const SEED: u64 = 2019;

/// λ without the last factor, which makes the product 1, and the largest difference allowed.
type Row<'a> = (&'a [f64], f64);

fn check(device: &Device, preset: Preset, rows: [Row; 2]) {
    let network = preset.network();
    // No bias is zero: T_λ moves them all.
    let parameters = network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, SEED);
    let parameters = parameters.expect("parameters");
    let problem = data::synthetic(network.clone(), 500, SEED).expect("a problem");
    let engine = Engine::new(device, &problem).expect("an engine");
    // Each search begins at a random vector of its own.
    let norm = |theta: &[f64], seed| {
        pollster::block_on(engine.prepare(theta)).expect("a point");
        let kind = OperatorKind::riemannian(Metric::Layerwise, Connection::Flat);
        let operator = pollster::block_on(kind.operator(&engine)).expect("an operator");
        let lanczos = Lanczos { goal: Goal::SpectralNorm, seed, ..Lanczos::default() };
        let found = pollster::block_on(lanczos.run(&operator, &Control::default())).expect("a spectrum");
        let pair = found.dominant().expect("an end");
        assert!(pair.converged, "{:?}: {pair:?}", device.info());
        pair.value.abs()
    };
    let before = norm(&parameters, 1);
    for (i, (free, limit)) in rows.into_iter().enumerate() {
        let last = 1.0 / free.iter().product::<f64>();
        let map = Transformation::Layerwise { lambda: free.iter().copied().chain([last]).collect() };
        let after = norm(&map.apply(&network, &parameters).expect("a map"), 2 + i as u64);
        let change = (after - before).abs() / before;
        assert!(change <= limit, "{:?}, λ = {free:?}: {before}, {after}: {change:.2e}", device.info());
    }
}

const LAMBDA_F1: [&[f64]; 2] = [&[5.0, 4.0], &[100.0, 30.0]];
const LAMBDA_C1: [&[f64]; 2] = [&[5.0, 4.0, 3.0, 2.0], &[50.0, 24.0, 30.0, 1.0 / 6.0]];

fn rows<'a>(lambda: [&'a [f64]; 2], limits: [f64; 2]) -> [Row<'a>; 2] {
    [(lambda[0], limits[0]), (lambda[1], limits[1])]
}

#[test]
fn cpu_f64() {
    let device = Device::cpu(Precision::F64);
    check(&device, Preset::F1, rows(LAMBDA_F1, [1e-12; 2]));
    check(&device, Preset::C1, rows(LAMBDA_C1, [1e-12; 2]));
}

#[test]
fn cpu_f32_is_within_the_papers_differences() {
    let device = Device::cpu(Precision::F32);
    check(&device, Preset::F1, rows(LAMBDA_F1, [1.7e-7, 7.17e-7]));
    check(&device, Preset::C1, rows(LAMBDA_C1, [1.28e-7, 5.1e-6]));
}

#[test]
fn gpu_f32_is_within_the_papers_differences() {
    let device = crate::support::gpu();
    check(&device, Preset::F1, rows(LAMBDA_F1, [1.7e-7, 7.17e-7]));
    check(&device, Preset::C1, rows(LAMBDA_C1, [1.28e-7, 5.1e-6]));
}
