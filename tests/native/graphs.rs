//! Networks that are graphs: every pass against plain loops, and derivatives against differences.

use isoflat::engine::{Curvature, Device, Engine, Precision};
use isoflat::{ErrorCode, Loss, Network, Problem, Targets};
use pollster::block_on;

use super::support::graphs::random_graph;
use super::support::{
    ALL, HOMOGENEOUS, SMOOTH, dot, error, gpu, naive, random_direction, random_parameters, random_problem, rng,
};

const SEEDS: u64 = 150;

fn engine(seed: u64, smooth: bool) -> (Engine, Vec<f64>) {
    let mut rng = rng(31_000 + seed);
    let network = random_graph(&mut rng, if smooth { &ALL } else { &HOMOGENEOUS });
    let loss = if seed.is_multiple_of(2) { Loss::CrossEntropy } else { Loss::SquaredError };
    let problem = random_problem(&mut rng, network, loss);
    let theta = random_parameters(&mut rng, problem.network());
    (Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine"), theta)
}

#[test]
fn outputs_are_those_of_plain_loops() {
    for seed in 0..SEEDS {
        let (engine, theta) = engine(seed, true);
        let problem = engine.problem();
        block_on(engine.prepare(&theta)).expect("a point");
        let expected = naive::outputs(problem.network(), &theta, &problem.inputs().to_f64());
        let found = block_on(engine.outputs()).expect("outputs");
        assert!(error(&found, &expected) < 1e-12, "seed {seed}: {:?}", problem.network());
        let loss = naive::loss(problem, &theta);
        assert!((block_on(engine.loss()).expect("a loss") - loss).abs() < 1e-12 * (1.0 + loss.abs()), "seed {seed}");
    }
}

/// A row of an image's features is channel after channel, whatever that adds nothing stands between the image and who reads the row.
#[test]
fn what_adds_nothing_leaves_the_order_of_features() {
    let middles = [
        "",
        r#"{"type": "pad_channels"},"#,
        r#"{"type": "concat", "from": ["f"]},"#,
        r#"{"type": "add", "from": ["f"]},"#,
        r#"{"type": "relu"}, {"type": "pad_channels"},"#,
        r#"{"type": "pad_channels"}, {"type": "relu"}, {"type": "pad_channels"},"#,
        r#"{"type": "scale", "bias": false}, {"type": "pad_channels"},"#,
    ];
    for middle in middles {
        let layers =
            format!(r#"[{{"type": "flatten", "name": "f"}}, {middle} {{"type": "dense", "units": 1, "bias": false}}]"#);
        let network = Network::from_json(&format!(r#"{{"input": [2, 1, 2], "layers": {layers}}}"#)).expect("a network");
        let targets = Targets::Vectors(vec![0.0]);
        let inputs = vec![1.0, 2.0, 3.0, 4.0];
        let problem = Problem::new(network, Loss::SquaredError, inputs, targets).expect("a problem");
        let mut theta = vec![1.0; problem.network().parameter_count()];
        let first = theta.len() - 4;
        theta[first..].copy_from_slice(&[1.0, 10.0, 100.0, 1000.0]);
        for device in [Device::cpu(Precision::F64), Device::cpu(Precision::F32), gpu()] {
            let engine = Engine::new(&device, &problem).expect("an engine");
            block_on(engine.prepare(&theta)).expect("a point");
            assert_eq!(block_on(engine.outputs()).expect("outputs"), [4321.0], "{middle}");
            let expected: Vec<f64> = [1.0, 2.0, 3.0, 4.0].iter().map(|x| 2.0 * 4321.0 * x).collect();
            assert_eq!(block_on(engine.gradient()).expect("∇L")[first..], expected[..], "{middle}");
        }
    }
}

/// Smooth networks have derivatives everywhere.
#[test]
fn gradients_and_products_are_differences() {
    for seed in 0..SEEDS {
        let mut rng = rng(32_000 + seed);
        let network = random_graph(&mut rng, SMOOTH);
        if network.layers().any(|layer| layer.name() == "max_pool2d") {
            continue;
        }
        let problem = random_problem(&mut rng, network, Loss::SquaredError);
        let theta = random_parameters(&mut rng, problem.network());
        let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
        let v = random_direction(&mut rng, theta.len());
        let h = 1e-5;
        let at = |t: f64| -> Vec<f64> { theta.iter().zip(&v).map(|(w, v)| w + t * h * v).collect() };
        let slope = (naive::loss(&problem, &at(1.0)) - naive::loss(&problem, &at(-1.0))) / (2.0 * h);
        let gradient = |theta: &[f64]| {
            block_on(engine.prepare(theta)).expect("a point");
            block_on(engine.gradient()).expect("a gradient")
        };
        let (after, before) = (gradient(&at(1.0)), gradient(&at(-1.0)));
        let expected: Vec<f64> = after.iter().zip(&before).map(|(a, b)| (a - b) / (2.0 * h)).collect();
        let g = gradient(&theta);
        let scale = dot(&g, &g).sqrt() * dot(&v, &v).sqrt();
        assert!((dot(&g, &v) - slope).abs() < 1e-6 * scale, "seed {seed}: {:?}", problem.network());
        let product = block_on(engine.product(Curvature::Hessian, &v)).expect("a product");
        assert!(error(&product, &expected) < 1e-5, "seed {seed}: {:?}", problem.network());
    }
}

#[test]
fn a_network_is_what_its_json_says() {
    for seed in 0..SEEDS {
        let network = random_graph(&mut rng(33_000 + seed), &ALL);
        let json = serde_json::to_string(&network).expect("a JSON");
        assert_eq!(Network::from_json(&json).expect("a network"), network, "seed {seed}: {json}");
    }
}

/// Products with a layer's block go through what changes with its weights alone.
#[test]
fn blocks_of_layers_are_parts_of_the_whole() {
    for seed in 0..SEEDS {
        let (engine, theta) = engine(seed, true);
        block_on(engine.prepare(&theta)).expect("a point");
        let (vectors, n) = (engine.vectors(), theta.len());
        for (l, layer) in engine.problem().network().layout().layers().iter().enumerate() {
            let rows = layer.weight.start..layer.bias.as_ref().unwrap_or(&layer.weight).end;
            let mut directions = vec![0.0; 2 * n];
            for (k, v) in directions.chunks_exact_mut(n).enumerate() {
                v[rows.clone()].copy_from_slice(&random_direction(&mut rng(33_000 + seed + k as u64), rows.len()));
            }
            let v = vectors.upload(&directions, 2).expect("memory");
            for curvature in [Curvature::Hessian, Curvature::GaussNewton] {
                let (mut whole, mut part) =
                    (vectors.zeros(n, 2).expect("memory"), vectors.zeros(n, 2).expect("memory"));
                block_on(engine.apply(curvature, &v, &mut whole)).expect("a product");
                block_on(engine.apply_layer(curvature, l, &v, &mut part)).expect("a product");
                let [whole, part] = [whole, part].map(|vector| block_on(vectors.download(&vector)).expect("numbers"));
                let rows_of = |values: &[f64]| -> Vec<f64> {
                    values.chunks_exact(n).flat_map(|column| column[rows.clone()].to_vec()).collect()
                };
                let differ = error(&rows_of(&part), &rows_of(&whole));
                assert!(
                    differ < 1e-13,
                    "seed {seed}, layer {l}, {curvature:?}: {differ:e} of {:?}",
                    engine.problem().network()
                );
            }
        }
        let mut out = vectors.zeros(n, 1).expect("memory");
        let layers = engine.problem().network().layout().layers().len();
        let v = vectors.zeros(n, 1).expect("memory");
        let refused = block_on(engine.apply_layer(Curvature::Hessian, layers, &v, &mut out)).expect_err("one too many");
        assert_eq!(refused.code, ErrorCode::InvalidOption);
    }
}
