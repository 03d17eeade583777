//! Two executors over one problem: everything that they compute, compared.

use std::rc::Rc;

use isoflat::engine::gpu::{GpuContext, GpuExecutor, GpuOptions, TileTime, TileTimes, Tiles};
use isoflat::engine::{Cotangent, Curvature, Executor, LayerSums, Precision, Vector, cpu_executor};
use isoflat::{Loss, Network, Problem, Targets};
use pollster::block_on;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A table by which every product is made of tiles in workgroup memory, of the shape that fits it, so that software adapters test them.
pub fn workgroup_tiles() -> Option<Tiles> {
    let time = |each| Some(TileTime { first: 0.0, each });
    let times = TileTimes { registers: [None; 5], workgroup: [time(1.0), time(1.0), time(1.9)] };
    Some(Tiles { gather: times, weights: times, threads: 32768 })
}

/// A device that chooses its tiles by this table, or by what is usual of such.
pub fn context(tiles: Option<Tiles>) -> Rc<GpuContext> {
    let options = GpuOptions { tiles, ..GpuOptions::default() };
    Rc::new(block_on(GpuContext::request(options)).expect("a GPU adapter: twins.rs says how"))
}

fn values(rng: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| f64::from(rng.random_range(-1.0f32..1.0))).collect()
}

/// A problem and a point, all of whose numbers are exact in single precision.
pub struct Case {
    pub name: String,
    pub problem: Problem,
    pub theta: Vec<f64>,
}

impl Case {
    /// Of random data and parameters.
    pub fn new(network: Network, samples: usize, loss: Loss, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
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
        Self { name: format!("case {seed}, {samples} samples"), problem, theta }
    }

    /// The GPU finds what the CPU finds in double precision, the same bits again, and of three columns what it finds of one.
    pub fn agrees_with_the_cpu(&self, context: &Rc<GpuContext>, tolerance: f64, faults: &mut Vec<String>) {
        let cpu = cpu_executor(&self.problem, Precision::F64, None).unwrap();
        let gpu = GpuExecutor::new(context.clone(), &self.problem, None).unwrap();
        let found = results(&gpu, self);
        compare(&self.name, tolerance, &found, &results(&*cpu, self), faults);
        assert_eq!(found, results(&gpu, self), "{}: the same calls give the same bits", self.name);
        for kind in ["Hessian", "GaussNewton"] {
            let of = |name: &str| &found.iter().find(|(what, _)| what == name).expect("it is there").1;
            let (three, one) = (of(kind), of(&format!("{kind}, one column")));
            assert_eq!(&three[one.len()..2 * one.len()], one, "{}: three columns and one", self.name);
        }
    }

    /// In chunks it is the same but for the order of sums, and what is not kept changes no bit.
    pub fn equals_its_chunks(&self, context: &Rc<GpuContext>, tolerance: f64, faults: &mut Vec<String>) {
        let whole = GpuExecutor::new(context.clone(), &self.problem, None).unwrap();
        let whole = results(&whole, self);
        let cut = |budget| {
            let gpu = GpuExecutor::in_chunks(context.clone(), &self.problem, budget, 48).unwrap();
            results(&gpu, self)
        };
        let kept = cut(None);
        compare(&self.name, tolerance, &kept, &whole, faults);
        assert_eq!(kept, cut(Some(0)), "{}: nothing is kept", self.name);
    }
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
    cotangents.push(Cotangent::Signs(super::random_signs(&mut rng, samples * outputs)));
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

fn compare(
    name: &str,
    tolerance: f64,
    found: &[(String, Vec<f64>)],
    expected: &[(String, Vec<f64>)],
    faults: &mut Vec<String>,
) {
    for ((what, found), (_, expected)) in found.iter().zip(expected) {
        let distance = distance(found, expected);
        if distance.is_nan() || distance > tolerance {
            faults.push(format!("{name}: {what}: {distance:.1e}"));
        }
    }
}
