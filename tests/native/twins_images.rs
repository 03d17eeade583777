//! Networks over images on the GPU executor against the CPU executor in double precision: ragged sizes, strides, paddings,
//! overlapping pools; whole, and cut into chunks. twins.rs says what the tolerance is made of.

use std::rc::Rc;

use isoflat::engine::gpu::{GpuContext, GpuExecutor, GpuOptions, Tiling};
use isoflat::engine::{Cotangent, Curvature, Executor, LayerSums, Precision, Vector, cpu_executor};
use isoflat::network::{Conv2d, Layer, Pool2d};
use isoflat::{Loss, Network, Problem, Targets};
use pollster::block_on;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const TOLERANCE: f64 = 2e-6;

fn context(tiling: Tiling) -> Rc<GpuContext> {
    let options = GpuOptions { tiling, ..GpuOptions::default() };
    Rc::new(block_on(GpuContext::request(options)).expect("a GPU adapter: twins.rs says how"))
}

fn values(rng: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| f64::from(rng.random_range(-1.0f32..1.0))).collect()
}

fn conv(channels: usize, kernel: [usize; 2], stride: [usize; 2], padding: [usize; 2], bias: bool) -> Layer {
    Layer::Conv2d(Conv2d { stride, padding: padding.into(), bias, ..Conv2d::new(channels, kernel) })
}

fn dense(units: usize) -> Layer {
    Layer::Dense { units, bias: true }
}

fn max(size: [usize; 2], stride: [usize; 2]) -> Layer {
    Layer::MaxPool2d(Pool2d { stride: Some(stride), ..Pool2d::new(size) })
}

fn average(size: [usize; 2], stride: [usize; 2]) -> Layer {
    Layer::AvgPool2d(Pool2d { stride: Some(stride), ..Pool2d::new(size) })
}

struct Case {
    name: String,
    problem: Problem,
    theta: Vec<f64>,
}

fn case(input: [usize; 3], layers: Vec<Layer>, samples: usize, loss: Loss, seed: u64) -> Case {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let network = Network::new(input.to_vec(), layers).expect("a network");
    let outputs = network.output_len();
    let mut theta = values(&mut rng, network.parameter_count());
    for layer in network.layout().layers() {
        let scale =
            (3.0 * layer.weight.len() as f64).sqrt() / layer.weight.len() as f64 * (layer.outputs as f64).sqrt();
        theta[layer.weight.clone()].iter_mut().for_each(|w| *w = f64::from((*w * scale) as f32));
    }
    let inputs = values(&mut rng, samples * network.input_len());
    let targets = match loss {
        Loss::CrossEntropy => Targets::Classes((0..samples).map(|_| rng.random_range(0..outputs as u32)).collect()),
        Loss::SquaredError => Targets::Vectors(values(&mut rng, samples * outputs)),
    };
    let problem = Problem::new(network, loss, inputs, targets).expect("a problem");
    Case { name: format!("case {seed}, {samples} samples"), problem, theta }
}

fn cases() -> Vec<Case> {
    use Layer::{Flatten, Relu, Tanh};
    let leaky = Layer::LeakyRelu { slope: 0.1 };
    let (cross_entropy, squared) = (Loss::CrossEntropy, Loss::SquaredError);
    vec![
        // A small LeNet.
        case(
            [1, 12, 12],
            vec![
                conv(5, [3, 3], [1, 1], [0, 0], true),
                Relu,
                max([2, 2], [2, 2]),
                conv(9, [3, 3], [1, 1], [0, 0], true),
                Relu,
                Flatten,
                dense(11),
                Relu,
                dense(4),
            ],
            13,
            cross_entropy,
            1,
        ),
        // Strides, paddings, rectangles, no bias, tanh, an average pool.
        case(
            [3, 11, 8],
            vec![
                conv(7, [3, 2], [2, 1], [1, 2], false),
                Tanh,
                average([2, 3], [1, 2]),
                conv(10, [2, 3], [1, 2], [2, 1], true),
                leaky.clone(),
                Flatten,
                dense(3),
            ],
            8,
            squared,
            2,
        ),
        // Overlapping pools, a stride beyond the window, activations behind pools, one sample.
        case(
            [2, 13, 13],
            vec![
                conv(4, [5, 5], [1, 1], [2, 2], true),
                max([3, 3], [2, 2]),
                leaky,
                conv(17, [2, 2], [3, 3], [1, 1], true),
                max([2, 2], [1, 1]),
                Relu,
                Flatten,
                dense(5),
            ],
            1,
            cross_entropy,
            3,
        ),
        // A pool before the first layer, padding as wide as the window, an image of outputs.
        case(
            [2, 10, 10],
            vec![
                average([2, 2], [2, 2]),
                conv(6, [3, 3], [2, 2], [3, 3], true),
                Tanh,
                conv(3, [3, 3], [1, 1], [0, 0], true),
                Flatten,
            ],
            3,
            squared,
            4,
        ),
        // Smooth activations that do not vanish at 0, before windows that reach beyond the image, whose zeros must stay.
        case(
            [2, 7, 6],
            vec![
                conv(4, [3, 3], [1, 1], [1, 1], true),
                Layer::Sigmoid,
                conv(3, [3, 2], [2, 1], [2, 1], true),
                Layer::Softplus,
                conv(3, [2, 2], [1, 1], [1, 1], false),
                Layer::Sigmoid,
                max([2, 2], [1, 1]),
                Flatten,
                dense(3),
            ],
            19,
            squared,
            7,
        ),
        // One activation upon another, behind a pool too: what does not fold into one is a step of its own.
        case(
            [2, 8, 9],
            vec![
                conv(5, [3, 3], [1, 1], [1, 1], true),
                Tanh,
                Layer::LeakyRelu { slope: 0.3 },
                average([2, 2], [2, 2]),
                Relu,
                Tanh,
                conv(3, [2, 2], [1, 1], [1, 0], false),
                Tanh,
                Tanh,
                max([2, 2], [1, 1]),
                Tanh,
                Flatten,
                dense(3),
            ],
            21,
            cross_entropy,
            6,
        ),
        // Pool upon pool, many samples.
        case(
            [1, 9, 9],
            vec![
                conv(3, [2, 2], [1, 1], [0, 0], true),
                Relu,
                max([2, 2], [1, 1]),
                average([3, 3], [2, 2]),
                conv(4, [1, 1], [1, 1], [0, 0], true),
                Relu,
                Flatten,
                dense(3),
            ],
            150,
            cross_entropy,
            5,
        ),
        // More channels than positions: the CPU's sweep pairs positions there, the GPU's pairs rows.
        case(
            [3, 5, 4],
            vec![
                conv(18, [3, 2], [2, 2], [1, 0], true),
                Relu,
                conv(24, [2, 2], [1, 1], [0, 0], false),
                Relu,
                Flatten,
                dense(4),
            ],
            21,
            cross_entropy,
            6,
        ),
    ]
}

fn download(executor: &dyn Executor, vector: &Vector) -> Vec<f64> {
    block_on(executor.vectors().download(vector)).expect("values")
}

/// Everything an executor computes, with names.
fn results(executor: &dyn Executor, Case { problem, theta, .. }: &Case) -> Vec<(String, Vec<f64>)> {
    let n = theta.len();
    let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
    let directions = values(&mut rng, 3 * n);
    let samples = problem.samples();
    let rows: Vec<u32> = (0..19).map(|_| rng.random_range(0..samples as u32)).collect();
    let point = executor.vectors().upload(theta, 1).unwrap();
    block_on(executor.prepare(&point)).unwrap();
    let mut gradient = executor.vectors().zeros(n, 1).unwrap();
    executor.gradient(&mut gradient).unwrap();
    let mut found = vec![
        ("loss".to_string(), vec![block_on(executor.loss()).unwrap()]),
        ("outputs".into(), block_on(executor.outputs()).unwrap()),
        ("gradient".into(), download(executor, &gradient)),
    ];
    for curvature in [Curvature::Hessian, Curvature::GaussNewton] {
        let v = executor.vectors().upload(&directions, 3).unwrap();
        let mut out = executor.vectors().zeros(n, 3).unwrap();
        block_on(executor.product(curvature, &v, &mut out)).unwrap();
        found.push((format!("{curvature:?}"), download(executor, &out)));
        let mut one = executor.vectors().zeros(n, 1).unwrap();
        block_on(executor.product(curvature, &executor.vectors().upload(&directions[n..2 * n], 1).unwrap(), &mut one))
            .unwrap();
        found.push((format!("{curvature:?}, one column"), download(executor, &one)));
    }
    let mut report = executor.vectors().zeros(4, 1).unwrap();
    block_on(executor.evaluate(&point, &mut report, 1)).unwrap();
    block_on(executor.batch_gradient(&point, &rows, &mut gradient, &mut report, 0)).unwrap();
    found.push(("batch gradient".into(), download(executor, &gradient)));
    block_on(executor.batch_gradient(&point, &rows[..3], &mut gradient, &mut report, 0)).unwrap();
    found.push(("small batch gradient".into(), download(executor, &gradient)));
    found.push(("reports".into(), download(executor, &report)));

    let (u, v) = (
        executor.vectors().upload(&directions[..n], 1).unwrap(),
        executor.vectors().upload(&directions[n..2 * n], 1).unwrap(),
    );
    let points = [[0.0, 0.0], [0.1, -0.2], [-0.3, 0.05], [0.2, 0.2]];
    for v in [Some(&v), None] {
        block_on(executor.prepare_plane(&point, &u, v)).unwrap();
        let mut report = executor.vectors().zeros(8, 1).unwrap();
        block_on(executor.evaluate_plane(&points, &mut report)).unwrap();
        found.push((format!("plane with {} directions", 1 + usize::from(v.is_some())), download(executor, &report)));
    }

    let outputs = problem.network().output_len();
    let mut cotangents = vec![Cotangent::Class(0), Cotangent::Class(outputs - 1)];
    cotangents.push(match problem.loss() {
        Loss::CrossEntropy => Cotangent::Drawn((0..samples).map(|_| rng.random_range(0..outputs as u32)).collect()),
        Loss::SquaredError => {
            Cotangent::Signs((0..samples * outputs).map(|_| if rng.random() { 1.0 } else { -1.0 }).collect())
        }
    });
    found.push(("squared gradients".into(), block_on(executor.squared_gradients(&cotangents)).unwrap()));
    let sums = block_on(executor.sweep(&cotangents)).unwrap();
    for (c, layers) in sums.iter().enumerate() {
        for (l, sums) in layers.iter().enumerate() {
            found.extend(named(&format!("cotangent {c}, layer {l}"), sums));
        }
    }
    found
}

fn named(prefix: &str, sums: &LayerSums) -> Vec<(String, Vec<f64>)> {
    let one = |name: &str, value: f64| (format!("{prefix}: {name}"), vec![value]);
    vec![
        one("trace", sums.weight_trace),
        one("bias trace", sums.bias_trace),
        (format!("{prefix}: rho"), sums.column_forms.clone()),
        one("relative flatness", sums.gram_trace),
        one("nodewise trace", sums.scaled_trace),
        one("nodewise bias trace", sums.scaled_bias_trace),
    ]
}

/// ‖a − b‖ / ‖b‖, absolute where b is 0.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let error: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    let scale: f64 = b.iter().map(|b| b * b).sum();
    if scale == 0.0 { error.sqrt() } else { (error / scale).sqrt() }
}

fn compare(name: &str, found: &[(String, Vec<f64>)], expected: &[(String, Vec<f64>)], faults: &mut Vec<String>) {
    for ((what, found), (_, expected)) in found.iter().zip(expected) {
        let distance = distance(found, expected);
        if distance.is_nan() || distance > TOLERANCE {
            faults.push(format!("{name}: {what}: {distance:.1e}"));
        }
    }
}

#[test]
fn image_networks_agree_with_the_cpu() {
    agree_with_the_cpu(Tiling::Auto);
}

#[test]
fn image_networks_agree_with_the_cpu_in_workgroup_tiles() {
    agree_with_the_cpu(Tiling::Workgroup);
}

fn agree_with_the_cpu(tiling: Tiling) {
    let context = context(tiling);
    let mut faults = Vec::new();
    for case in cases() {
        let cpu = cpu_executor(&case.problem, Precision::F64, None).unwrap();
        let gpu = GpuExecutor::new(context.clone(), &case.problem, None).unwrap();
        let found = results(&gpu, &case);
        compare(&case.name, &found, &results(&*cpu, &case), &mut faults);
        assert_eq!(found, results(&gpu, &case), "{}: the same calls give the same bits", case.name);
        for kind in ["Hessian", "GaussNewton"] {
            let of = |name: &str| &found.iter().find(|(what, _)| what == name).expect("it is there").1;
            let (three, one) = (of(kind), of(&format!("{kind}, one column")));
            assert_eq!(&three[one.len()..2 * one.len()], one, "{}: three columns and one", case.name);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn chunks_equal_the_whole_and_the_budget_changes_no_bit() {
    let context = context(Tiling::Auto);
    let mut faults = Vec::new();
    for case in cases().into_iter().skip(1) {
        let whole = GpuExecutor::new(context.clone(), &case.problem, None).unwrap();
        let whole = results(&whole, &case);
        let cut = |budget| {
            let gpu = GpuExecutor::in_chunks(context.clone(), &case.problem, budget, 48).unwrap();
            results(&gpu, &case)
        };
        let kept = cut(None);
        compare(&case.name, &kept, &whole, &mut faults);
        assert_eq!(kept, cut(Some(0)), "{}: nothing is kept", case.name);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
