//! The kernels of parameter spaces on the GPU against their CPU twins, on random networks and ragged numbers of columns.
//!
//! A value is a handful of products, quotients and sums of up to a few hundred terms in f32, each erring by 2⁻²⁴; sums over terms
//! that cancel are compared relative to the largest entry.
#![cfg(not(target_arch = "wasm32"))]

mod support;

use isoflat::engine::{Device, Engine, Executor, Precision};
use isoflat::space::{Biases, FixedChoice, FixedValues, Grouping, OpenSpace, SpaceKind};
use isoflat::{ErrorCode, Loss, Network};
use pollster::block_on;
use support::*;

const TOLERANCE: f64 = 4e-6;

fn results(e: &dyn Executor, open: &OpenSpace, columns: usize, seed: u64) -> Vec<(&'static str, Vec<f64>)> {
    let mut rng = rng(seed);
    let single = |values: Vec<f64>| values.into_iter().map(|v| f64::from(v as f32)).collect::<Vec<f64>>();
    let chart = open.space.chart();
    let (d, n) = (chart.dimension(), chart.parameter_count());
    let v = single(open.space.to_coordinates(&open.parameters).expect("coordinates"));
    let x: Vec<f64> = (0..columns).flat_map(|_| random_direction(&mut rng, d)).collect();
    let x = single(x.iter().enumerate().map(|(i, x)| x * v[i % d]).collect());
    let z = single(random_direction(&mut rng, n * columns));
    let g = single(random_direction(&mut rng, n));
    let upload = |values: &[f64], columns| e.upload(values, columns).expect("a vector");
    let zeros = |len, columns| e.zeros(len, columns).expect("a vector");
    let (loaded, v, x, z, g) = (e.load_chart(chart).expect("a chart"), upload(&v, 1), upload(&x, columns), upload(&z, columns), upload(&g, 1));
    let (mut theta, mut tangent) = (zeros(n, 1), zeros(n, columns));
    let (mut first, mut second) = (zeros(d, columns), zeros(d, columns));
    e.chart_parameters(&loaded, &v, &mut theta).expect("parameters");
    e.chart_tangent(&loaded, &v, &x, &mut tangent).expect("a tangent");
    e.chart_cotangent(&loaded, &v, &z, None, &mut first).expect("a cotangent");
    e.chart_cotangent(&loaded, &v, &z, Some((&g, &x)), &mut second).expect("a cotangent");
    [("parameters", &theta), ("tangent", &tangent), ("cotangent", &first), ("second order", &second)]
        .map(|(what, vector)| (what, block_on(e.download(vector)).expect("values")))
        .into()
}

#[test]
fn charts_agree_with_the_cpu() {
    let gpu = gpu();
    let mut rng = rng(1);
    let mut networks: Vec<Network> = (0..16).map(|seed| any_network(&mut rng, seed, &HOMOGENEOUS)).collect();
    networks.push(Network::dense(&[70, 130, 65, 67, 10], true).expect("a network"));
    for (seed, network) in networks.into_iter().enumerate() {
        let problem = random_problem(&mut rng, network.clone(), Loss::SquaredError);
        // Weights of sizes that differ little, or path values would leave the range of single precision behind.
        let parameters: Vec<f64> = random_parameters(&mut rng, &network).iter().map(|w| w + 0.3 * w.signum()).collect();
        let cpu = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
        let gpu = Engine::new(&gpu, &problem).expect("an engine");
        let choice = FixedChoice::Diagonal;
        for kind in [
            SpaceKind::Weights,
            SpaceKind::GSpace { choice, values: FixedValues::Keep, biases: Biases::Paths },
            SpaceKind::GSpace { choice: FixedChoice::Hungarian, values: FixedValues::Reparametrize, biases: Biases::Appended },
            SpaceKind::WeightFixing { choice, values: FixedValues::Set(0.5) },
            SpaceKind::WeightNorm { grouping: Grouping::Unit },
            SpaceKind::WeightNorm { grouping: Grouping::Layer },
        ] {
            let open = kind.open(&network, &parameters).expect("a space");
            let columns = 1 + seed % 3;
            let on_cpu = results(cpu.executor(), &open, columns, seed as u64);
            let on_gpu = results(gpu.executor(), &open, columns, seed as u64);
            for ((what, on_cpu), (_, on_gpu)) in on_cpu.into_iter().zip(on_gpu) {
                let error = error(&on_gpu, &on_cpu);
                assert!(error < TOLERANCE, "{what} of {kind:?} of {}: {error:.1e}", network.summary());
            }
            // K columns are K single ones, bit for bit.
            let repeated = results(gpu.executor(), &open, columns, seed as u64);
            assert_eq!(repeated, results(gpu.executor(), &open, columns, seed as u64));
        }
    }
}

#[test]
fn vectors_that_do_not_fit_are_errors() {
    let mut rng = rng(2);
    let network = Network::dense(&[3, 4, 2], true).expect("a network");
    let problem = random_problem(&mut rng, network.clone(), Loss::SquaredError);
    let parameters = random_parameters(&mut rng, &network);
    let kind = SpaceKind::WeightFixing { choice: FixedChoice::Diagonal, values: FixedValues::Keep };
    let open = kind.open(&network, &parameters).expect("a space");
    let (cpu, gpu) = (Device::cpu(Precision::F64), gpu());
    let engines = [Engine::new(&cpu, &problem).expect("an engine"), Engine::new(&gpu, &problem).expect("an engine")];
    let [cpu, gpu] = engines.each_ref().map(|engine| engine.executor());
    for (e, other) in [(cpu, gpu), (gpu, cpu)] {
        let loaded = e.load_chart(open.space.chart()).expect("a chart");
        let (v, short) = (e.zeros(loaded.dimension(), 1).expect("v"), e.zeros(3, 1).expect("a vector"));
        let mut theta = e.zeros(loaded.parameter_count(), 1).expect("theta");
        e.chart_parameters(&loaded, &v, &mut theta).expect("parameters");
        let code = |result: isoflat::Result<()>| result.expect_err("a fault").code;
        assert_eq!(code(e.chart_parameters(&loaded, &short, &mut theta)), ErrorCode::InvalidParameters);
        assert_eq!(code(e.chart_tangent(&loaded, &v, &short, &mut theta)), ErrorCode::InvalidParameters);
        let mut out = e.zeros(loaded.dimension(), 1).expect("a vector");
        assert_eq!(code(e.chart_cotangent(&loaded, &v, &short, None, &mut out)), ErrorCode::InvalidParameters);
        let foreign = other.load_chart(open.space.chart()).expect("a chart");
        assert_eq!(code(e.chart_parameters(&foreign, &v, &mut theta)), ErrorCode::InvalidParameters);
    }
}
