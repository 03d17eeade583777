//! The GPU executor against the CPU executor in double precision, on ragged random shapes.
//!
//! The tolerance is relative to the norm of the result. A rounding errs by up to 2⁻²⁴ = 6e-8; a sum in blocks of 64 by a few
//! of them, as errors of random sign mostly cancel; a pass chains a handful of sums. llvmpipe measures up to 2.5e-7, and
//! another device may round its divisions and roots less well.

use std::rc::Rc;

use isoflat::engine::gpu::{GpuContext, GpuExecutor, GpuOptions, Tiles};
use isoflat::engine::{AdamStep, Curvature, Engine, Executor, Precision, Segments, Vector, cpu_executor};
use isoflat::network::{GeluApproximation, Layer};
use isoflat::{ErrorCode, Loss, Network, Problem, Targets};
use pollster::block_on;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::support::twins::workgroup_tiles;

const TOLERANCE: f64 = 1e-6;

fn context() -> Rc<GpuContext> {
    context_with(None)
}

fn context_with(tiles: Option<Tiles>) -> Rc<GpuContext> {
    match block_on(GpuContext::request(GpuOptions { tiles, ..GpuOptions::default() })) {
        Ok(context) => Rc::new(context),
        Err(error) => panic!(
            "these tests need a GPU adapter, and there is none ({error}); \
             on Debian the packages mesa-vulkan-drivers and libvulkan1 give one that runs on the CPU"
        ),
    }
}

fn values(rng: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| f64::from(rng.random_range(-1.0f32..1.0))).collect()
}

fn download(executor: &dyn Executor, vector: &Vector) -> Vec<f64> {
    block_on(executor.vectors().download(vector)).unwrap()
}

/// ‖a − b‖ / ‖b‖.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
    let error = norm(&mut a.iter().zip(b).map(|(a, b)| a - b));
    let scale = norm(&mut b.iter().copied());
    if scale == 0.0 { error } else { error / scale }
}

#[track_caller]
fn assert_near(what: &str, gpu: &[f64], cpu: &[f64]) {
    let distance = distance(gpu, cpu);
    assert!(distance <= TOLERANCE, "{what}: GPU and CPU differ by {distance:.2e} relative, more than {TOLERANCE:.0e}");
}

struct Case {
    name: String,
    problem: Problem,
    theta: Vec<f64>,
}

fn case(widths: &[usize], samples: usize, bias: bool, between: Layer, loss: Loss, seed: u64) -> Case {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut layers = Vec::new();
    for (i, &units) in widths[1..].iter().enumerate() {
        if i > 0 {
            layers.push(between.clone());
        }
        layers.push(Layer::Dense { units, bias });
    }
    let network = Network::new(vec![widths[0]], layers).unwrap();
    let outputs = network.output_len();
    // Weights of variance about 1/inputs, so that no layer's signal dies out.
    let mut theta = values(&mut rng, network.parameter_count());
    for layer in network.layout().layers() {
        let scale = (3.0 / layer.inputs as f64).sqrt();
        theta[layer.weight.clone()].iter_mut().for_each(|w| *w = f64::from((*w * scale) as f32));
    }
    let inputs = values(&mut rng, samples * widths[0]);
    let targets = match loss {
        Loss::CrossEntropy => Targets::Classes((0..samples).map(|_| rng.random_range(0..outputs as u32)).collect()),
        Loss::SquaredError => Targets::Vectors(values(&mut rng, samples * outputs)),
    };
    let name = format!("{widths:?}, {samples} samples, bias {bias}, {}, {}", between.name(), loss.name());
    Case { name, problem: Problem::new(network, loss, inputs, targets).unwrap(), theta }
}

/// Those that are quick in workgroup tiles too, whose barriers a software GPU takes ten times as long for.
fn cases_of(tiles: Option<Tiles>) -> Vec<Case> {
    let mut cases = cases();
    if tiles.is_some() {
        cases.retain(|case| case.problem.samples() * case.theta.len() < 10_000_000);
    }
    cases
}

fn cases() -> Vec<Case> {
    let (relu, leaky) = (Layer::Relu, Layer::LeakyRelu { slope: 0.1 });
    let (cross_entropy, squared) = (Loss::CrossEntropy, Loss::SquaredError);
    vec![
        case(&[7, 3], 37, true, relu.clone(), cross_entropy, 1),
        case(&[1, 1], 1, false, relu.clone(), squared, 2),
        case(&[3, 1, 2], 5, true, relu.clone(), cross_entropy, 3),
        case(&[17, 33, 7], 37, false, relu.clone(), squared, 4),
        case(&[33, 17, 65, 3], 37, true, leaky.clone(), cross_entropy, 5),
        case(&[65, 130, 33, 10], 130, true, relu.clone(), cross_entropy, 6),
        case(&[130, 65, 17, 7, 1], 130, true, leaky, squared, 7),
        case(&[7, 17, 17, 3], 37, true, Layer::Identity, squared, 8),
        case(&[17, 7, 33, 3], 37, true, Layer::Tanh, cross_entropy, 9),
        case(&[3, 65, 7, 5], 130, false, Layer::Tanh, squared, 10),
        case(&[9, 12, 5], 20, true, Layer::Sigmoid, cross_entropy, 11),
        case(&[9, 7, 12, 5], 33, true, Layer::Softplus, squared, 12),
        case(&[6, 11, 5, 4], 18, false, Layer::Silu, cross_entropy, 13),
        case(&[8, 10, 9, 3], 40, true, Layer::Gelu { approximate: GeluApproximation::None }, squared, 14),
        case(&[8, 10, 9, 3], 17, true, Layer::Gelu { approximate: GeluApproximation::Tanh }, cross_entropy, 15),
        case(&[40, 30, 20, 3], 50, true, Layer::Relu6, cross_entropy, 16),
        // One class: the loss is constant, and every derivative vanishes.
        case(&[3, 7, 1], 5, true, relu.clone(), cross_entropy, 11),
        // Sums long enough to be cut into slabs.
        case(&[5, 3, 2], 3001, true, relu, cross_entropy, 12),
        // Activations so many that an evaluation takes two chunks, and five directions go in groups of two.
        case(&[3, 1000, 2], 5000, true, Layer::Identity, cross_entropy, 13),
    ]
}

#[test]
fn passes_agree_with_the_cpu() {
    agree_with_the_cpu(None);
}

#[test]
fn passes_agree_with_the_cpu_in_workgroup_tiles() {
    agree_with_the_cpu(workgroup_tiles());
}

fn agree_with_the_cpu(tiles: Option<Tiles>) {
    let context = context_with(tiles);
    for Case { name, problem, theta } in cases_of(tiles) {
        let cpu = cpu_executor(&problem, Precision::F64, None).unwrap();
        let gpu = GpuExecutor::new(context.clone(), &problem, None).unwrap();
        let n = theta.len();
        let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
        let directions = values(&mut rng, 5 * n);
        let rows: Vec<u32> = (0..50).map(|_| rng.random_range(0..problem.samples() as u32)).collect();

        let run = |executor: &dyn Executor| {
            let theta = executor.vectors().upload(&theta, 1).unwrap();
            block_on(executor.prepare(&theta)).unwrap();
            let mut gradient = executor.vectors().zeros(n, 1).unwrap();
            executor.gradient(&mut gradient).unwrap();
            let mut results = vec![
                ("loss".to_string(), vec![block_on(executor.loss()).unwrap()]),
                ("outputs".into(), block_on(executor.outputs()).unwrap()),
                ("gradient".into(), download(executor, &gradient)),
            ];
            for curvature in [Curvature::Hessian, Curvature::GaussNewton] {
                for k in [1, 2, 5] {
                    let v = executor.vectors().upload(&directions[..k * n], k).unwrap();
                    let mut out = executor.vectors().zeros(n, k).unwrap();
                    block_on(executor.product(curvature, &v, &mut out)).unwrap();
                    results.push((format!("{curvature:?} × {k}"), download(executor, &out)));
                }
            }
            let mut report = executor.vectors().zeros(4, 1).unwrap();
            block_on(executor.evaluate(&theta, &mut report, 1)).unwrap();
            block_on(executor.batch_gradient(&theta, &rows, &mut gradient, &mut report, 0)).unwrap();
            block_on(executor.batch_gradient(&theta, &rows[..7], &mut gradient, &mut report, 0)).unwrap();
            results.push(("batch gradient".into(), download(executor, &gradient)));
            results.push(("reports".into(), download(executor, &report)));
            results
        };
        for ((what, on_cpu), (_, on_gpu)) in run(&*cpu).into_iter().zip(run(&gpu)) {
            // Where the true result is 0 (one class) an absolute bound stands in.
            assert_near(&format!("{name}: {what}"), &on_gpu, &on_cpu);
        }
    }
}

#[test]
fn columns_equal_single_products_and_repeat_bit_for_bit() {
    columns_equal_single_products(None);
    columns_equal_single_products(workgroup_tiles());
}

fn columns_equal_single_products(tiles: Option<Tiles>) {
    let context = context_with(tiles);
    for Case { name, problem, theta } in cases_of(tiles) {
        let gpu = GpuExecutor::new(context.clone(), &problem, None).unwrap();
        let n = theta.len();
        let directions = values(&mut ChaCha8Rng::seed_from_u64(3), 5 * n);
        block_on(gpu.prepare(&gpu.vectors().upload(&theta, 1).unwrap())).unwrap();
        let product = |v: &[f64]| {
            let k = v.len() / n;
            let mut out = gpu.vectors().zeros(n, k).unwrap();
            block_on(gpu.product(Curvature::Hessian, &gpu.vectors().upload(v, k).unwrap(), &mut out)).unwrap();
            download(&gpu, &out)
        };
        let together = product(&directions);
        assert_eq!(together, product(&directions), "{name}: the same product twice");
        let singles: Vec<f64> = directions.chunks(n).flat_map(product).collect();
        assert_eq!(together, singles, "{name}: five directions and five single ones");
    }
}

#[test]
fn vector_operations_agree_with_the_cpu() {
    let context = context();
    let problem = case(&[1, 1], 1, false, Layer::Relu, Loss::SquaredError, 1).problem;
    let cpu = cpu_executor(&problem, Precision::F64, None).unwrap();
    let gpu = GpuExecutor::new(context, &problem, None).unwrap();
    let blocks = |widths: &[usize]| {
        let network = Network::dense(widths, true).unwrap();
        (network.parameter_count(), Segments::blocks(network.layout()))
    };
    let whole = [1, 5, 1000, 70_001].map(|len| (len, Segments::whole(len)));
    let ragged = [blocks(&[1, 1]), blocks(&[3, 1, 65, 7]), blocks(&[130, 300, 1, 2, 33, 130])];
    for (len, segments) in whole.into_iter().chain(ragged) {
        let mut rng = ChaCha8Rng::seed_from_u64(len as u64);
        let (one, three, other) = (values(&mut rng, len), values(&mut rng, 3 * len), values(&mut rng, 3 * len));
        let coefficients = values(&mut rng, 64);
        let run = |executor: &dyn Executor| {
            let up = |values: &[f64], columns| executor.vectors().upload(values, columns).unwrap();
            let get = |vector: &Vector| download(executor, vector);
            let (one, three, c) = (up(&one, 1), up(&three, 3), up(&coefficients, 1));
            let mut results = Vec::new();

            let mut y = up(&other, 3);
            executor.vectors().scale(0.3, &mut y).unwrap();
            executor.vectors().axpy(-1.7, &three, &mut y).unwrap();
            executor.vectors().axpy(0.4, &one, &mut y).unwrap();
            results.push(("scale, axpy", get(&y)));
            executor.vectors().multiply_add(0.7, &one, &three, -0.5, &mut y).unwrap();
            results.push(("multiply_add", get(&y)));
            executor.vectors().scale(f64::NAN, &mut y).unwrap();
            executor.vectors().multiply_add(0.7, &one, &three, 0.0, &mut y).unwrap();
            results.push(("multiply_add over NaN", get(&y)));
            executor.vectors().copy_columns(&three, 1..3, &mut y, 0).unwrap();
            results.push(("copy_columns", get(&y)));
            block_on(executor.vectors().combine(1.3, &three, 1..3, &c, 5, &mut y)).unwrap();
            results.push(("combine", get(&y)));

            for segments in [&Segments::whole(len), &segments] {
                let mut inner = executor.vectors().zeros(2 * segments.count() + 3, 1).unwrap();
                executor.vectors().segment_inner(segments, &one, &three, 1..3, &mut inner, 3).unwrap();
                results.push(("segment_inner", get(&inner)));
                executor.vectors().segment_inner(segments, &one, &one, 0..1, &mut inner, 0).unwrap();
                results.push(("segment_inner with itself", get(&inner)));
                let c = up(&vec![0.5; 3 * segments.count()], 1);
                executor.vectors().segment_axpy(segments, &c, &one, &mut y).unwrap();
                results.push(("segment_axpy", get(&y)));
            }
            let mut norms = executor.vectors().zeros(3, 1).unwrap();
            executor.vectors().normalize(&one, &mut y, 2, &mut norms, 1).unwrap();
            executor.vectors().normalize(&executor.vectors().zeros(len, 1).unwrap(), &mut y, 0, &mut norms, 2).unwrap();
            results.push(("normalize", get(&y)));
            results.push(("norms", get(&norms)));

            let zeros = || executor.vectors().zeros(len, 1).unwrap();
            let (mut mean, mut square, mut theta) = (zeros(), zeros(), zeros());
            for step in 1..4 {
                let step = AdamStep { learning_rate: 0.1, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, step };
                executor.vectors().adam(&step, &one, &mut mean, &mut square, &mut theta).unwrap();
            }
            results.extend([("adam's mean", get(&mean)), ("adam's square", get(&square)), ("adam", get(&theta))]);
            results
        };
        for ((what, on_cpu), (_, on_gpu)) in run(&*cpu).into_iter().zip(run(&gpu)) {
            assert_near(&format!("{what} of {len}"), &on_gpu, &on_cpu);
        }
    }
}

/// The code and message of an error.
#[track_caller]
fn error_of<T>(result: isoflat::Result<T>) -> (ErrorCode, String) {
    match result {
        Ok(_) => panic!("an error was expected"),
        Err(error) => (error.code, error.message),
    }
}

#[test]
fn a_lost_device_is_an_error() {
    let context = context();
    let Case { problem, theta, .. } = case(&[7, 17, 3], 37, true, Layer::Relu, Loss::CrossEntropy, 1);
    let gpu = GpuExecutor::new(context.clone(), &problem, None).unwrap();
    let mut point = gpu.vectors().upload(&theta, 1).unwrap();
    block_on(gpu.prepare(&point)).unwrap();
    assert!(block_on(gpu.loss()).is_ok());
    // Commands are waiting, and a readback is under way, when the device goes.
    gpu.vectors().scale(2.0, &mut point).unwrap();
    let readback = gpu.vectors().download(&point);
    context.destroy();
    assert_eq!(error_of(block_on(readback)).0, ErrorCode::DeviceLost);
    assert_eq!(error_of(block_on(gpu.loss())).0, ErrorCode::DeviceLost);
    assert_eq!(error_of(block_on(gpu.outputs())).0, ErrorCode::DeviceLost);
    assert_eq!(error_of(block_on(gpu.prepare(&point))).0, ErrorCode::DeviceLost);
    assert_eq!(error_of(gpu.vectors().zeros(5, 1)).0, ErrorCode::DeviceLost);
    assert_eq!(error_of(gpu.vectors().upload(&theta, 1)).0, ErrorCode::DeviceLost);
    assert_eq!(error_of(GpuExecutor::new(context, &problem, None)).0, ErrorCode::DeviceLost);
}

#[test]
fn what_does_not_fit_is_an_error() {
    let context = context();
    let Case { problem, theta, .. } = case(&[7, 17, 3], 37, true, Layer::Relu, Loss::CrossEntropy, 1);
    let n = theta.len();
    let gpu = GpuExecutor::new(context.clone(), &problem, None).unwrap();
    let (code, message) = error_of(gpu.vectors().zeros(usize::MAX / 8, 3));
    assert_eq!(code, ErrorCode::TooLarge);
    assert!(message.contains("MiB"), "{message}");
    assert_eq!(error_of(gpu.vectors().zeros(context.max_buffer_bytes() as usize / 4 + 1, 1)).0, ErrorCode::TooLarge);

    let (point, mut out) = (gpu.vectors().upload(&theta, 1).unwrap(), gpu.vectors().zeros(n, 1).unwrap());
    assert_eq!(error_of(block_on(gpu.loss())).0, ErrorCode::InvalidParameters);
    assert_eq!(error_of(block_on(gpu.product(Curvature::Hessian, &point, &mut out))).0, ErrorCode::InvalidParameters);
    // What comes from outside is checked by the engine, whatever the device.
    let engine = Engine::with_executor(&problem, Box::new(gpu)).unwrap();
    assert_eq!(error_of(block_on(engine.prepare(&[&theta[..], &[0.0]].concat()))).0, ErrorCode::InvalidParameters);
    let mut report = engine.vectors().zeros(2, 1).unwrap();
    assert_eq!(error_of(block_on(engine.evaluate_into(&point, &mut report, 1))).0, ErrorCode::InvalidParameters);
    let mut batch = |rows: &[u32]| block_on(engine.batch_gradient(&point, rows, &mut out, &mut report, 0));
    assert_eq!(error_of(batch(&[])).0, ErrorCode::InvalidOption);
    assert_eq!(error_of(batch(&[0, 37])).0, ErrorCode::InvalidOption);
    // None of it harms the device.
    assert!(block_on(engine.prepare(&theta)).is_ok() && block_on(engine.loss()).is_ok());
}
