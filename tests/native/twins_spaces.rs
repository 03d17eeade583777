//! The kernels of parameter spaces on the GPU against their CPU twins, on random networks and ragged numbers of columns.
//!
//! A value is a handful of products, quotients and sums of up to a few hundred terms in f32, each erring by 2⁻²⁴; sums over terms
//! that cancel are compared relative to the largest entry.

use std::ops::Range;

use crate::support::*;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::network::{BatchStatistics, Layer, ParametricLayer};
use isoflat::space::{Biases, FixedChoice, FixedValues, Grouping, OpenSpace, SpaceKind, TreeValues};
use isoflat::{ErrorCode, Loss, Network};
use pollster::block_on;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

const TOLERANCE: f64 = 4e-6;

/// A point v, a cotangent g, and columns x and z, all exact in f32.
struct Inputs {
    v: Vec<f64>,
    g: Vec<f64>,
    x: Vec<Vec<f64>>,
    z: Vec<Vec<f64>>,
}

impl Inputs {
    fn new(open: &OpenSpace, columns: usize, seed: u64) -> Self {
        let mut rng = rng(seed);
        let single = |values: Vec<f64>| values.into_iter().map(|v| f64::from(v as f32)).collect::<Vec<f64>>();
        let n = open.parameters.len();
        let v = single(open.space.to_coordinates(&open.parameters).expect("coordinates"));
        let x = (0..columns)
            .map(|_| single(random_direction(&mut rng, v.len()).iter().zip(&v).map(|(x, v)| x * v).collect()))
            .collect();
        let z = (0..columns).map(|_| single(random_direction(&mut rng, n))).collect();
        Self { g: single(random_direction(&mut rng, n)), v, x, z }
    }
}

/// θ(v); then for these columns J x, Jᵀ z, and Jᵀ z + (g · ∇²θ) x.
fn results(e: &Engine, open: &OpenSpace, inputs: &Inputs, columns: Range<usize>) -> [Vec<f64>; 4] {
    let chart = open.space.chart();
    let (d, n, k) = (chart.dimension(), chart.parameter_count(), columns.len());
    let upload = |values: &[f64], columns| e.vectors().upload(values, columns).expect("a vector");
    let zeros = |len, columns| e.vectors().zeros(len, columns).expect("a vector");
    let loaded = e.charts().load(chart).expect("a chart");
    let (v, g) = (upload(&inputs.v, 1), upload(&inputs.g, 1));
    let (x, z) = (upload(&inputs.x[columns.clone()].concat(), k), upload(&inputs.z[columns].concat(), k));
    let (mut theta, mut tangent) = (zeros(n, 1), zeros(n, k));
    let (mut first, mut second) = (zeros(d, k), zeros(d, k));
    e.charts().parameters(&loaded, &v, &mut theta).expect("parameters");
    e.charts().tangent(&loaded, &v, &x, &mut tangent).expect("a tangent");
    e.charts().cotangent(&loaded, &v, &z, None, &mut first).expect("a cotangent");
    e.charts().cotangent(&loaded, &v, &z, Some((&g, &x)), &mut second).expect("a cotangent");
    [theta, tangent, first, second].map(|vector| block_on(e.vectors().download(&vector)).expect("values"))
}

/// Of every scale that has a bias.
fn statistics(rng: &mut ChaCha8Rng, network: &Network) -> Vec<BatchStatistics> {
    let places = network.layout().layers().iter().enumerate();
    let scales = places.filter(|(_, place)| *network.layer(place.layer) == Layer::Scale { bias: true });
    let of = |(layer, place): (usize, &ParametricLayer)| BatchStatistics {
        layer,
        mean: (0..place.outputs).map(|_| rng.random_range(-1.0..1.0)).collect(),
        deviation: (0..place.outputs).map(|_| rng.random_range(0.2..3.0)).collect(),
    };
    scales.map(of).collect()
}

#[test]
fn charts_agree_with_the_cpu() {
    let gpu = gpu();
    let mut rng = rng(1);
    let mut networks: Vec<Network> = (0..16).map(|seed| any_network(&mut rng, seed, &HOMOGENEOUS)).collect();
    networks.push(Network::dense(&[70, 130, 65, 67, 10], true).expect("a network"));
    let normed = r#"{"input": [2, 4, 4], "layers": [{"type": "conv2d", "channels": 70, "kernel": 3}, {"type": "scale"},
        {"type": "relu"}, {"type": "scale", "bias": true}, {"type": "flatten"}, {"type": "dense", "units": 3}]}"#;
    networks.push(Network::from_json(normed).expect("a network"));
    for (seed, network) in networks.into_iter().enumerate() {
        let problem = random_problem(&mut rng, network.clone(), Loss::SquaredError);
        // Weights of sizes that differ little, or path values would leave the range of single precision behind.
        let parameters: Vec<f64> = random_parameters(&mut rng, &network).iter().map(|w| w + 0.3 * w.signum()).collect();
        let cpu = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
        let gpu = Engine::new(&gpu, &problem).expect("an engine");
        let choice = FixedChoice::Diagonal;
        let statistics = statistics(&mut rng, &network);
        for kind in [
            SpaceKind::BatchNorm { statistics },
            SpaceKind::Weights,
            SpaceKind::GSpace { choice, values: FixedValues::Keep, tree: TreeValues::Keep, biases: Biases::Paths },
            SpaceKind::GSpace {
                choice: FixedChoice::Hungarian,
                values: FixedValues::Reparametrize,
                tree: TreeValues::Keep,
                biases: Biases::Appended,
            },
            SpaceKind::WeightFixing { choice, values: FixedValues::Set(0.5) },
            SpaceKind::WeightNorm { grouping: Grouping::Unit },
            SpaceKind::WeightNorm { grouping: Grouping::Layer },
        ] {
            let open = kind.open(&network, &parameters).expect("a space");
            let columns = 1 + seed % 3;
            let inputs = Inputs::new(&open, columns, seed as u64);
            let on_cpu = results(&cpu, &open, &inputs, 0..columns);
            let on_gpu = results(&gpu, &open, &inputs, 0..columns);
            for (what, (on_cpu, on_gpu)) in
                ["parameters", "tangent", "cotangent", "second order"].iter().zip(on_cpu.iter().zip(&on_gpu))
            {
                let error = error(on_gpu, on_cpu);
                assert!(error < TOLERANCE, "{what} of {kind:?} of {}: {error:.1e}", network.summary());
            }
            // K columns are K single ones, bit for bit.
            let mut singles: [Vec<f64>; 4] = Default::default();
            for k in 0..columns {
                let [_, found @ ..] = results(&gpu, &open, &inputs, k..k + 1);
                singles[1..].iter_mut().zip(found).for_each(|(single, found)| single.extend(found));
            }
            assert_eq!(singles[1..], on_gpu[1..]);
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
    let [cpu, gpu] = engines.each_ref().map(|engine| engine);
    for (e, other) in [(cpu, gpu), (gpu, cpu)] {
        let loaded = e.charts().load(open.space.chart()).expect("a chart");
        let (v, short) =
            (e.vectors().zeros(loaded.dimension(), 1).expect("v"), e.vectors().zeros(3, 1).expect("a vector"));
        let mut theta = e.vectors().zeros(loaded.parameter_count(), 1).expect("theta");
        e.charts().parameters(&loaded, &v, &mut theta).expect("parameters");
        let code = |result: isoflat::Result<()>| result.expect_err("a fault").code;
        assert_eq!(code(e.charts().parameters(&loaded, &short, &mut theta)), ErrorCode::InvalidParameters);
        assert_eq!(code(e.charts().tangent(&loaded, &v, &short, &mut theta)), ErrorCode::InvalidParameters);
        let mut out = e.vectors().zeros(loaded.dimension(), 1).expect("a vector");
        assert_eq!(code(e.charts().cotangent(&loaded, &v, &short, None, &mut out)), ErrorCode::InvalidParameters);
        let foreign = other.charts().load(open.space.chart()).expect("a chart");
        assert_eq!(code(e.charts().parameters(&foreign, &v, &mut theta)), ErrorCode::InvalidParameters);
    }
}
