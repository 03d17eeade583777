//! The passes of an executor against plain loops, against each other, and with little memory.

use crate::support::*;
use isoflat::engine::{Cotangent, Curvature, Device, Engine, Precision};
use isoflat::network::{Conv2d, Layer};
use isoflat::{Loss, Network, Problem, Targets};
use pollster::block_on;

const LOSSES: [Loss; 2] = [Loss::CrossEntropy, Loss::SquaredError];

#[test]
fn outputs_and_loss_are_those_of_plain_loops() {
    for (precision, tolerance) in [(Precision::F64, 1e-12), (Precision::F32, 2e-5)] {
        for seed in 0..80 {
            let mut rng = rng(seed);
            let network = any_network(&mut rng, seed, &ALL);
            let problem = random_problem(&mut rng, network.clone(), LOSSES[seed as usize / 2 % 2]);
            let parameters = random_parameters(&mut rng, &network);
            let engine = Engine::new(&Device::cpu(precision), &problem).expect("an engine");
            block_on(engine.prepare(&parameters)).expect("a point");
            let outputs = block_on(engine.outputs()).expect("outputs");
            let expected = naive::outputs(&network, &parameters, &problem.inputs().to_f64());
            let found = error(&outputs, &expected);
            assert!(found < tolerance, "seed {seed} {}: outputs differ by {found:.1e}", network.summary());
            let (loss, expected) = (block_on(engine.loss()).expect("a loss"), naive::loss(&problem, &parameters));
            let found = (loss - expected).abs() / (1.0 + expected.abs());
            assert!(found < tolerance, "seed {seed} {}: loss {loss}, expected {expected}", network.summary());
        }
    }
}

/// Everything that an engine computes, in one list of numbers.
fn everything(engine: &Engine, parameters: &[f64], direction: &[f64]) -> Vec<f64> {
    let mut all = Vec::new();
    block_on(engine.prepare(parameters)).expect("a point");
    block_on(async {
        all.push(engine.loss().await.expect("a loss"));
        all.extend(engine.outputs().await.expect("outputs"));
        all.extend(engine.gradient().await.expect("a gradient"));
        for curvature in [Curvature::Hessian, Curvature::GaussNewton] {
            all.extend(engine.product(curvature, direction).await.expect("a product"));
        }
        all.push(engine.evaluate(parameters).await.expect("an evaluation").loss);
        let e = engine.vectors();
        let vector = |values: &[f64]| e.upload(values, 1).expect("a vector");
        let (theta, u) = (vector(parameters), vector(direction));
        block_on(engine.prepare_plane(&theta, &u, Some(&theta))).expect("a plane");
        let mut out = e.zeros(6, 1).expect("a vector");
        block_on(engine.evaluate_plane(&[[0.0, 0.0], [0.1, 0.0], [-0.2, 0.05]], &mut out)).expect("losses");
        all.extend(e.download(&out).await.expect("losses"));
        if engine.problem().loss() == Loss::CrossEntropy {
            for sums in engine.sweep(&[Cotangent::Class(0)]).await.expect("a sweep").concat() {
                all.extend([sums.weight_trace, sums.bias_trace, sums.gram_trace, sums.scaled_trace]);
                all.extend(sums.column_forms);
            }
        }
        all.extend(engine.squared_gradients(&[Cotangent::Class(1)]).await.expect("squares"));
    });
    all
}

/// More samples than a chunk holds, so that what the budget keeps matters: the numbers must not.
#[test]
fn without_memory_to_keep_anything_the_numbers_are_the_same() {
    let image = Layer::Conv2d(Conv2d { padding: [1, 1].into(), ..Conv2d::new(3, [3, 3]) });
    let layers = vec![image, Layer::Relu, Layer::Flatten, Layer::Dense { units: 4, bias: true }];
    let networks =
        [Network::dense(&[5, 9, 3], true).expect("a network"), Network::new(vec![2, 4, 4], layers).expect("a network")];
    for (network, loss) in networks.into_iter().zip(LOSSES) {
        let mut rng = rng(7);
        let samples = 2500;
        let inputs: Vec<f64> = random_direction(&mut rng, samples * network.input_len());
        let outputs = network.output_len();
        let targets = match loss {
            Loss::CrossEntropy => Targets::Classes((0..samples as u32).map(|i| i % outputs as u32).collect()),
            Loss::SquaredError => Targets::Vectors(random_direction(&mut rng, samples * outputs)),
        };
        let parameters = random_parameters(&mut rng, &network);
        let direction = random_direction(&mut rng, parameters.len());
        let problem = Problem::new(network, loss, inputs, targets).expect("a problem");
        for precision in [Precision::F64, Precision::F32] {
            let device = Device::cpu(precision);
            let whole = Engine::new(&device, &problem).expect("an engine");
            let pieces = Engine::new(&device.with_memory_budget(0), &problem).expect("an engine");
            let whole = everything(&whole, &parameters, &direction);
            let pieces = everything(&pieces, &parameters, &direction);
            assert_eq!(whole, pieces, "{loss:?} {precision:?}");
            assert!(whole.iter().all(|v| v.is_finite()));
        }
    }
}

/// Weights that do not stay in the cache are shared by several blocks at a time, as many as leave all threads something to
/// do: with many threads by none. The numbers are the same.
#[test]
fn blocks_in_groups_compute_what_they_compute_alone() {
    let compute = |precision| {
        let network = Network::dense(&[40, 1000, 600, 3], true).expect("a network");
        assert!(network.parameter_count() * size_of::<f32>() > 2 << 20, "more than stays in the cache");
        let mut rng = rng(8);
        let samples = 300;
        let inputs: Vec<f64> = random_direction(&mut rng, samples * network.input_len());
        let parameters = random_parameters(&mut rng, &network);
        let direction = random_direction(&mut rng, parameters.len());
        let targets = Targets::Classes((0..samples as u32).map(|i| i % 3).collect());
        let problem = Problem::new(network, Loss::CrossEntropy, inputs, targets).expect("a problem");
        let engine = Engine::new(&Device::cpu(precision), &problem).expect("an engine");
        everything(&engine, &parameters, &direction)
    };
    for precision in [Precision::F64, Precision::F32] {
        let with_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| compute(precision))
        };
        let alone = with_threads(16);
        assert!(with_threads(1) == alone, "{precision:?}");
        assert!(alone.iter().all(|v| v.is_finite()));
    }
}

/// Inputs of a point stay laid out for the next one, in memory that batches use too.
#[test]
fn a_point_has_its_own_inputs_after_batches() {
    for seed in 0..20 {
        let mut rng = rng(500 + seed);
        let network = any_network(&mut rng, seed, &ALL);
        let problem = random_problem(&mut rng, network.clone(), Loss::SquaredError);
        let parameters = random_parameters(&mut rng, &network);
        let direction = random_direction(&mut rng, parameters.len());
        for precision in [Precision::F64, Precision::F32] {
            let engine = Engine::new(&Device::cpu(precision), &problem).expect("an engine");
            let before = everything(&engine, &parameters, &direction);
            let e = engine.vectors();
            let theta = e.upload(&parameters, 1).expect("a vector");
            let (mut gradient, mut means) =
                (e.zeros(parameters.len(), 1).expect("a vector"), e.zeros(2, 1).expect("two"));
            let rows: Vec<u32> = (0..problem.samples() as u32).rev().collect();
            block_on(engine.batch_gradient(&theta, &rows, &mut gradient, &mut means, 0)).expect("a gradient");
            assert_eq!(before, everything(&engine, &parameters, &direction), "seed {seed} {}", network.summary());
        }
    }
}

/// The loss on a plane is the loss at the point that the plane's coordinates stand for.
#[test]
fn a_plane_is_made_of_the_points_that_it_says() {
    for seed in 0..40 {
        let mut rng = rng(300 + seed);
        let network = any_network(&mut rng, seed, &ALL);
        let problem = random_problem(&mut rng, network.clone(), LOSSES[seed as usize / 2 % 2]);
        let parameters = random_parameters(&mut rng, &network);
        let (u, v) = (random_direction(&mut rng, parameters.len()), random_direction(&mut rng, parameters.len()));
        let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
        let e = engine.vectors();
        let vector = |values: &[f64]| e.upload(values, 1).expect("a vector");
        let points = [[0.3, -0.7], [0.0, 0.0], [-1.5, 0.25]];
        for v in [Some(&v), None] {
            block_on(engine.prepare_plane(&vector(&parameters), &vector(&u), v.map(|v| vector(v)).as_ref()))
                .expect("a plane");
            let mut out = e.zeros(6, 1).expect("a vector");
            block_on(engine.evaluate_plane(&points, &mut out)).expect("losses");
            let out = block_on(e.download(&out)).expect("losses");
            for ([s, t], found) in points.into_iter().zip(out.chunks(2)) {
                let there: Vec<f64> =
                    (0..parameters.len()).map(|i| parameters[i] + s * u[i] + v.map_or(0.0, |v| t * v[i])).collect();
                let expected = block_on(engine.evaluate(&there)).expect("a loss");
                assert!((found[0] - expected.loss).abs() <= 1e-11 * (1.0 + expected.loss.abs()), "seed {seed}");
                assert_eq!(found[1], expected.accuracy, "seed {seed}");
            }
        }
    }
}

/// Σ over the classes of a sweep's traces is the trace of the Gauss–Newton block, found from products with unit vectors.
#[test]
fn sweeps_find_the_traces_of_the_layers_blocks() {
    for seed in 0..40 {
        let mut rng = rng(500 + seed);
        let network = any_network(&mut rng, seed, &ALL);
        let problem = random_problem(&mut rng, network.clone(), LOSSES[seed as usize / 2 % 2]);
        let parameters = random_parameters(&mut rng, &network);
        let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
        block_on(engine.prepare(&parameters)).expect("a point");
        let cotangents: Vec<_> = (0..network.output_len()).map(Cotangent::Class).collect();
        let sums = block_on(engine.sweep(&cotangents)).expect("a sweep");
        let n = parameters.len();
        let diagonal: Vec<f64> = (0..n)
            .map(|i| {
                let mut unit = vec![0.0; n];
                unit[i] = 1.0;
                block_on(engine.product(Curvature::GaussNewton, &unit)).expect("a product")[i]
            })
            .collect();
        for (l, layer) in network.layout().layers().iter().enumerate() {
            let near = |what: &str, found: f64, expected: f64| {
                let error = (found - expected).abs() / (1e-12 + expected.abs());
                assert!(
                    error < 1e-9,
                    "seed {seed} {}, layer {l} {what}: {found}, expected {expected}",
                    network.summary()
                );
            };
            let total = |f: &dyn Fn(&isoflat::engine::LayerSums) -> f64| sums.iter().map(|s| f(&s[l])).sum::<f64>();
            let weights = layer.weight.clone();
            near("trace", total(&|s| s.weight_trace), diagonal[weights.clone()].iter().sum());
            let scaled = weights.map(|i| parameters[i] * parameters[i] * diagonal[i]).sum();
            near("node-wise trace", total(&|s| s.scaled_trace), scaled);
            if let Some(bias) = layer.bias.clone() {
                near("bias trace", total(&|s| s.bias_trace), diagonal[bias.clone()].iter().sum());
                let scaled = bias.map(|i| parameters[i] * parameters[i] * diagonal[i]).sum();
                near("node-wise bias trace", total(&|s| s.scaled_bias_trace), scaled);
            }
            // ρ(j): the product with the column that leaves unit j, in its own direction.
            let is_dense = matches!(network.layer(layer.layer), Layer::Dense { .. });
            let per_unit = if is_dense { 1 } else { layer.columns_per_unit };
            for j in 0..layer.inputs / per_unit {
                let mut column = vec![0.0; n];
                for (k, i) in layer.weight.clone().enumerate() {
                    if k % layer.inputs / per_unit == j {
                        column[i] = parameters[i];
                    }
                }
                let product = block_on(engine.product(Curvature::GaussNewton, &column)).expect("a product");
                near("rho", total(&|s| s.column_forms[j]), dot(&column, &product));
            }
        }
    }
}
