//! Memory: what is taken is in proportion to what a problem states, and what cannot be had is an error, wherever it was asked for.
#![cfg(not(target_arch = "wasm32"))]
#![allow(unsafe_code)] // An allocator that counts, and fails when it is told to.

#[path = "native/support/broken.rs"]
mod broken;

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use isoflat::engine::{Cotangent, Curvature, Device, Engine, Precision};
use isoflat::io::{DataOptions, File, ModelOptions, open_dataset, open_model, sort_files};
use isoflat::landscape::{Axis, Direction, Normalization, landscape};
use isoflat::linalg::{Goal, Lanczos, dense_spectrum, diagonal};
use isoflat::measure::sharpness::{Noise, Region, SharpnessOptions, average_sharpness, epsilon_sharpness};
use isoflat::measure::{exact_diagonal, petzka};
use isoflat::network::{BiasInitialization, Conv2d, Initialization, Layer, Pool2d, fold_batch_norm};
use isoflat::operator::{CurvatureOperator, OperatorKind};
use isoflat::space::{
    Balance, BalanceOptions, Biases, FixedChoice, FixedValues, Grouping, SpaceKind, TreeValues, balance,
};
use isoflat::symmetry::Transformation;
use isoflat::train::{TrainOptions, train};
use isoflat::{Control, ErrorCode, Loss, Network, Problem, ProblemFile, Result, Targets};
use pollster::block_on;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Allocations above this are counted, and may fail: what is smaller does not grow with a problem.
const LARGE: usize = 16 << 10;

struct Counting;

/// Bytes taken now, and the most so far.
static TAKEN: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// Large allocations so far, and the one that is to fail.
static LARGE_ONES: AtomicUsize = AtomicUsize::new(0);
static FAILING: AtomicUsize = AtomicUsize::new(0);

fn is_refused(size: usize) -> bool {
    if size <= LARGE || LARGE_ONES.fetch_add(1, Relaxed) + 1 != FAILING.load(Relaxed) {
        return false;
    }
    if std::env::var_os("ISOFLAT_TRACE").is_some() {
        eprintln!("refused {size} bytes: {}", std::backtrace::Backtrace::force_capture());
    }
    true
}

fn took(size: usize) {
    PEAK.fetch_max(TAKEN.fetch_add(size, Relaxed) + size, Relaxed);
}

// SAFETY: the system's allocator, or null, which an allocator may give for any request.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_refused(layout.size()) {
            return std::ptr::null_mut();
        }
        took(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        TAKEN.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_refused(layout.size()) {
            return std::ptr::null_mut();
        }
        took(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() && is_refused(size) {
            return std::ptr::null_mut();
        }
        took(size);
        TAKEN.fetch_sub(layout.size(), Relaxed);
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test at a time: there is one allocator.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The most bytes that `f` takes at once, beyond what was taken before.
fn peak_of<R>(f: impl FnOnce() -> R) -> (R, usize) {
    let before = TAKEN.load(Relaxed);
    PEAK.store(before, Relaxed);
    let found = f();
    (found, PEAK.load(Relaxed) - before)
}

fn conv(channels: usize, kernel: usize, stride: usize, padding: usize) -> Layer {
    Layer::Conv2d(Conv2d { stride: [stride; 2], padding: [padding; 2].into(), ..Conv2d::new(channels, [kernel; 2]) })
}

/// A convolution over images of so many pixels a side, and a dense layer of two units.
fn images(side: usize, layer: Layer) -> Result<Network> {
    Network::new(vec![1, side, side], vec![layer, Layer::Relu, Layer::Flatten, Layer::Dense { units: 2, bias: true }])
}

/// Everything that a problem of 20 samples goes through on an engine.
fn whole_way(network: &Network) -> Result<f64> {
    let problem = isoflat::data::synthetic(network.clone(), 20, 1)?;
    let theta = network.initialize(Initialization::XavierNormal, BiasInitialization::Uniform, 1)?;
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem)?;
    block_on(engine.prepare(&theta))?;
    let product = block_on(engine.product(Curvature::Hessian, &theta))?;
    let traces = block_on(petzka::traces(&engine, &Control::default()))?;
    Ok(product.iter().sum::<f64>() + traces.kappa_trace.iter().sum::<f64>())
}

#[test]
fn memory_is_in_proportion_to_what_a_problem_states() {
    let _alone = alone();
    // Of windows and steps far larger than the image nothing is left but the values that they meet.
    let cases = [
        images(2, conv(1, 1, 10_000, 0)),
        images(2, conv(1, 2, 100_000, 0)),
        images(2, conv(3, 1, usize::MAX, 0)),
        images(2, conv(1, 1, 4_294_967_297, 0)),
        images(4, conv(2, 3, 1000, 60)),
        images(3, conv(2, 100, 7, 60)),
        images(30, conv(2, 5, 29, 2)),
        // Every column of a strip is a residue of its own.
        Network::from_json(
            r#"{"input": [2, 1, 20000], "layers": [
                {"type": "conv2d", "channels": 2, "kernel": [1, 20000], "stride": [1, 20000], "groups": 2}, {"type": "flatten"}
            ]}"#,
        ),
    ];
    for network in cases {
        let network = network.expect("a network");
        let image = network.layout().tensor(isoflat::network::Source::Layer(0)).shape;
        let stated = network.parameter_count() + 20 * (network.input_len() + 2 * image.len() + 4);
        let (found, peak) = peak_of(|| whole_way(&network));
        assert!(found.expect("numbers").is_finite(), "{}", network.summary());
        // Blocks of up to 32 samples, padded images, and a dozen vectors of parameters.
        let bound = 8 * (64 * stated + 8 * (1 << 16) * 32);
        assert!(peak <= bound, "{} takes {peak} bytes for {stated} numbers", network.summary());
    }
}

#[test]
fn what_is_out_of_proportion_is_refused_before_anything_is_taken() {
    let _alone = alone();
    let cases = [
        (images(2, conv(1, 100_000, 1, 100_000)), "layers[0] (conv2d)"),
        (images(2, conv(1, 1, 1, 8_000_000)), "pads"),
        (images(2, conv(1, 1, 8000, 8000)), "mostly zeros"),
        (images(2, conv(1, 3, 100_000, usize::MAX)), "pads"),
        (images(2, conv(usize::MAX, 1, 1, 0)), "values"),
        (Network::dense(&[100_000, 100_000], true), "parameters"),
    ];
    for (i, (found, says)) in cases.into_iter().enumerate() {
        let error = found.expect_err("a refusal");
        assert_eq!(error.code, ErrorCode::TooLarge, "case {i}: {error}");
        assert!(error.message.contains(says), "case {i}: {error}");
    }
    let (found, peak) = peak_of(|| images(2, conv(1, 50_000, 1, 50_000)));
    assert!(found.is_err() && peak < LARGE, "{peak} bytes were taken for a refusal");
}

#[test]
fn the_first_samples_share_the_data() {
    let _alone = alone();
    let network = Network::dense(&[100, 3], true).expect("a network");
    let problem = isoflat::data::synthetic(network, 10_000, 1).expect("a problem");
    let (parts, peak) = peak_of(|| (1..=1000).map(|n| problem.first(n)).collect::<Vec<_>>());
    assert!(peak < 300 * parts.len(), "{peak} bytes for {} problems", parts.len());
    let (_, peak) = peak_of(|| Engine::new(&Device::cpu(Precision::F64), &parts[99]).expect("an engine"));
    assert!(peak < 8 << 20, "{peak} bytes for an engine over 100 of 10,000 samples");
    assert_eq!(parts[41].inputs().to_f64(), problem.inputs().to_f64()[..4200]);
    let (Targets::Classes(some), Targets::Classes(all)) = (parts[41].targets(), problem.targets()) else {
        unreachable!()
    };
    assert_eq!(some[..], all[..42]);
}

#[test]
fn draws_are_not_collected() {
    let _alone = alone();
    let (engine, theta) = engine(Precision::F64);
    let asked = std::cell::Cell::new(0);
    let soon = || {
        Control::default().stop_when(|| {
            asked.set(asked.get() + 1);
            asked.get() % 40 == 0
        })
    };
    block_on(engine.prepare(&theta)).expect("a point");
    let options = SharpnessOptions { pairs: Some(1 << 40), restarts: Some(1 << 40), ..SharpnessOptions::default() };
    let hessian = CurvatureOperator::new(&engine, Curvature::Hessian);
    let (found, peak) = peak_of(|| {
        [
            block_on(petzka::sampled_traces(&engine, 1 << 40, 0, &soon())).map(|_| ()),
            block_on(petzka::noise_injection(&engine, &theta, 1, 0.1, 1 << 40, &Default::default(), &soon()))
                .map(|_| ()),
            block_on(average_sharpness(&engine, &theta, Noise::Plain, &options, &soon())).map(|_| ()),
            block_on(epsilon_sharpness(&engine, &theta, Region::Ball, 0.1, &options, &soon())).map(|_| ()),
            block_on(diagonal(&hessian, 1 << 40, 0, &soon())).map(|_| ()),
        ]
    });
    for (i, found) in found.into_iter().enumerate() {
        assert_eq!(found.expect_err("a stop").code, ErrorCode::Aborted, "case {i}");
    }
    assert!(peak < 64 << 20, "{peak} bytes");
}

fn network() -> Network {
    let layers = vec![
        conv(4, 3, 1, 1),
        Layer::Relu,
        Layer::MaxPool2d(Pool2d::new([2, 2])),
        Layer::Flatten,
        Layer::Dense { units: 20, bias: true },
        Layer::Relu,
        Layer::Dense { units: 5, bias: true },
    ];
    Network::new(vec![1, 12, 12], layers).expect("a network")
}

fn problem() -> Problem {
    isoflat::data::synthetic(network(), 40, 3).expect("a problem")
}

fn parameters() -> Vec<f64> {
    network().initialize(Initialization::XavierNormal, BiasInitialization::Uniform, 2).expect("parameters")
}

fn engine(precision: Precision) -> (Engine, Vec<f64>) {
    (Engine::new(&Device::cpu(precision), &problem()).expect("an engine"), parameters())
}

/// Several chunks of samples, some of which are kept, and convolutions of each kind: few rows and many positions, many rows and few.
#[test]
fn failed_allocations_over_many_samples() {
    let _alone = alone();
    let layers = vec![
        conv(3, 3, 2, 2),
        Layer::Tanh,
        Layer::AvgPool2d(Pool2d::new([2, 2])),
        conv(64, 2, 1, 0),
        Layer::Flatten,
        Layer::Dense { units: 3, bias: true },
    ];
    let network = Network::new(vec![1, 9, 9], layers).expect("a network");
    let problem = isoflat::data::synthetic(network.clone(), 1100, 3).expect("a problem");
    let theta = network.initialize(Initialization::XavierNormal, BiasInitialization::Uniform, 2).expect("parameters");
    for budget in [0, 1 << 22] {
        let device = Device::cpu(Precision::F32).with_memory_budget(budget);
        with_every_failure("everything", || {
            let engine = Engine::new(&device, &problem)?;
            block_on(engine.prepare(&theta))?;
            let mut found = with_room_for_more(block_on(engine.product(Curvature::Hessian, &theta))?)?;
            found.push(block_on(engine.evaluate(&theta))?.loss);
            let sums = block_on(engine.sweep(&[Cotangent::Class(0), Cotangent::Class(2)]))?;
            found.extend(sums.iter().flatten().map(|layer| layer.gram_trace));
            found.push(block_on(engine.squared_gradients(&[Cotangent::Class(1)]))?[7]);
            Ok(found)
        });
    }
}

/// The test's own list may be the one that there is no memory for.
fn with_room_for_more(mut values: Vec<f64>) -> Result<Vec<f64>> {
    match values.try_reserve(64) {
        Ok(()) => Ok(values),
        Err(_) => Err(isoflat::Error::new(ErrorCode::TooLarge, "a test's numbers")),
    }
}

/// Runs `work` with its first large allocation failing, its second, and so on until it has no more: each time it fails with a code
/// or gives the right numbers, and so it does afterwards when none fails.
fn with_every_failure(what: &str, work: impl Fn() -> Result<Vec<f64>>) {
    let expected = work().unwrap_or_else(|error| panic!("{what}: {error}"));
    let is_right = |found: &[f64]| {
        let near = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-6 * (1.0 + b.abs());
        found.len() == expected.len() && found.iter().zip(&expected).all(|(a, b)| near(*a, *b))
    };
    let mut n = 1;
    let mut failures = 0;
    loop {
        LARGE_ONES.store(0, Relaxed);
        FAILING.store(n, Relaxed);
        let found = work();
        FAILING.store(0, Relaxed);
        let has_failed = LARGE_ONES.load(Relaxed) >= n;
        match found {
            Ok(found) => assert!(is_right(&found), "{what}: other numbers, with allocation {n} failing"),
            Err(error) => {
                assert!(has_failed, "{what}: {error}, though no allocation failed");
                assert_eq!(error.code, ErrorCode::TooLarge, "{what}: {error}");
                failures += 1;
            }
        }
        if !has_failed {
            break;
        }
        if failures % 20 == 1 {
            assert!(is_right(&work().expect("work")), "{what}: other numbers after allocation {n} failed");
        }
        // All of the first ones, and some of many.
        n += 1 + n / 12;
    }
    assert!(failures > 0, "{what}: nothing was refused");
}

#[test]
fn failed_allocations_of_files_and_problems() {
    let _alone = alone();
    let file = ProblemFile {
        name: None,
        problem: problem(),
        parameters: parameters(),
        direction: None,
        transformations: Vec::new(),
    };
    let text = file.to_json();
    with_every_failure("reading a file", || ProblemFile::from_json(&text).map(|file| file.parameters));
    with_every_failure("writing a file", || file.try_to_json().map(|text| vec![text.len() as f64]));
    with_every_failure("initialize", || {
        network().initialize(Initialization::XavierNormal, BiasInitialization::Uniform, 2)
    });
    with_every_failure("synthetic", || {
        let problem = isoflat::data::synthetic(network(), 40, 3)?;
        Ok((0..9).map(|i| problem.inputs().get(i)).collect())
    });
    let json = serde_json::to_string(&network()).expect("JSON");
    let theta = parameters();
    with_every_failure("batch norms", || fold_batch_norm(&json, &theta).map(|(_, parameters)| parameters));
}

#[test]
fn failed_allocations_of_engines() {
    let _alone = alone();
    for precision in [Precision::F64, Precision::F32] {
        let (problem, theta) = (problem(), parameters());
        with_every_failure("an engine and a gradient", || {
            let engine = Engine::new(&Device::cpu(precision), &problem)?;
            block_on(engine.prepare(&theta))?;
            block_on(engine.gradient())
        });
        let (engine, _) = engine(precision);
        let other: Vec<f64> = theta.iter().map(|w| 1.5 * w).collect();
        with_every_failure("points", || {
            block_on(engine.prepare(&other))?;
            block_on(engine.prepare(&theta))?;
            block_on(engine.gradient())
        });
        block_on(engine.prepare(&theta)).expect("a point");
        with_every_failure("products", || {
            block_on(engine.prepare(&theta))?;
            block_on(engine.product(Curvature::GaussNewton, &other))?;
            block_on(engine.product(Curvature::Hessian, &other))
        });
        // Of an engine of its own: what others have worked in is there already, of as many threads as took part.
        with_every_failure("evaluations", || {
            block_on(Engine::new(&Device::cpu(precision), &problem)?.evaluate(&other)).map(|found| vec![found.loss])
        });
        with_every_failure("a sweep", || {
            block_on(engine.prepare(&theta))?;
            Ok(block_on(petzka::traces(&engine, &Control::default()))?.kappa_trace)
        });
    }
}

#[test]
fn failed_allocations_of_experiments() {
    let _alone = alone();
    let (engine, theta) = engine(Precision::F64);
    let control = &Control::default();
    with_every_failure("a landscape", || {
        let axis = Axis { from: -1.0, to: 1.0, points: 3 };
        let directions = [(Direction::Random { seed: 1 }, axis), (Direction::Random { seed: 2 }, axis)];
        Ok(block_on(landscape(&engine, &theta, &directions, Normalization::None, control))?.loss)
    });
    with_every_failure("training", || {
        let options = TrainOptions { batch_size: 20, epochs: 1, ..TrainOptions::default() };
        Ok(block_on(train(&engine, &theta, None, &options, control))?.parameters)
    });
    with_every_failure("balance", || {
        let found = block_on(balance(&network(), &theta, Balance::Nodewise, &BalanceOptions::default(), control))?;
        Ok(vec![found.squared_norm])
    });
    with_every_failure("a rescaling", || {
        Transformation::RandomNodewise { seed: 1, low: 0.5, high: 2.0 }.apply(&network(), &theta)
    });
    with_every_failure("spaces", || {
        let g = SpaceKind::GSpace {
            choice: FixedChoice::Diagonal,
            values: FixedValues::Keep,
            tree: TreeValues::Keep,
            biases: Biases::Paths,
        };
        let mut found = Vec::new();
        for kind in [SpaceKind::Weights, g, SpaceKind::WeightNorm { grouping: Grouping::Unit }] {
            let open = kind.open(&network(), &theta)?;
            let coordinates = open.space.to_coordinates(&open.parameters)?;
            found.push(open.space.to_parameters(&coordinates)?.iter().sum());
        }
        Ok(found)
    });
    with_every_failure("a gradient's parts", || {
        block_on(engine.prepare(&theta))?;
        let kind = OperatorKind::GAUSS_NEWTON;
        let found = block_on(exact_diagonal(&engine, kind, control))?.expect("an exact diagonal");
        Ok(found.values)
    });
    with_every_failure("average sharpness", || {
        let options = SharpnessOptions { pairs: Some(2), ..SharpnessOptions::default() };
        Ok(vec![block_on(average_sharpness(&engine, &theta, Noise::Scaled, &options, control))?.value])
    });
    with_every_failure("sampled traces", || {
        block_on(engine.prepare(&theta))?;
        Ok(block_on(petzka::sampled_traces(&engine, 3, 0, control))?.traces.kappa_trace)
    });
}

#[test]
fn failed_allocations_of_spectra() {
    let _alone = alone();
    let (engine, theta) = engine(Precision::F64);
    let control = &Control::default();
    with_every_failure("a diagonal", || {
        block_on(engine.prepare(&theta))?;
        let hessian = CurvatureOperator::new(&engine, Curvature::Hessian);
        Ok(block_on(diagonal(&hessian, 8, 0, control))?.values)
    });
    with_every_failure("eigenvalues", || {
        block_on(engine.prepare(&theta))?;
        let hessian = CurvatureOperator::new(&engine, Curvature::Hessian);
        let lanczos =
            Lanczos { goal: Goal::Extremes { top: 1, bottom: 1 }, tolerance: Some(1e-3), ..Lanczos::default() };
        let found = block_on(lanczos.run(&hessian, control))?;
        Ok(vec![found.top[0].value])
    });
    let goal = Goal::Extremes { top: 3, bottom: 6 };
    with_every_failure("eigenvalues in a basis that grows", || {
        block_on(engine.prepare(&theta))?;
        let hessian = CurvatureOperator::new(&engine, Curvature::Hessian);
        let found = block_on(Lanczos { goal, ..Lanczos::default() }.run(&hessian, control))?;
        // The first basis has 58 columns.
        assert!(found.products > 58, "{} products fill no basis", found.products);
        Ok(found.top.iter().map(|pair| pair.value).collect())
    });
    with_every_failure("sharpness", || {
        let options = SharpnessOptions { restarts: Some(1), max_iterations: 5, ..SharpnessOptions::default() };
        Ok(vec![
            block_on(epsilon_sharpness(&engine, &theta, Region::Subspace { dimension: 3 }, 0.1, &options, control))?
                .value,
        ])
    });
    let small = Network::dense(&[4, 8, 3], true).expect("a network");
    let problem = isoflat::data::synthetic(small.clone(), 20, 3).expect("a problem");
    let theta = small.initialize(Initialization::XavierNormal, BiasInitialization::Zero, 2).expect("parameters");
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    block_on(engine.prepare(&theta)).expect("a point");
    with_every_failure("a dense spectrum", || {
        let hessian = CurvatureOperator::new(&engine, Curvature::Hessian);
        Ok(block_on(dense_spectrum(&hessian, 1e-9, control))?.values)
    });
}

#[test]
fn a_loss_over_many_tiny_samples_is_no_slower_the_first_time() {
    let _alone = alone();
    let network = Network::dense(&[2, 2], true).expect("a network");
    let samples = 200_000;
    let labels = (0..samples as u32).map(|i| i % 2).collect();
    let inputs: Vec<f64> = (0..2 * samples).map(|i| (i % 17) as f64).collect();
    let problem = Problem::new(network, Loss::CrossEntropy, inputs, Targets::Classes(labels)).expect("a problem");
    let engine = Engine::new(&Device::cpu(Precision::F32), &problem).expect("an engine");
    let mut seconds = Vec::new();
    for i in 0..4 {
        let start = std::time::Instant::now();
        block_on(engine.prepare(&[0.1 * f64::from(i), 0.2, -0.3, 0.4, 0.0, 0.1])).expect("a point");
        seconds.push(start.elapsed().as_secs_f64());
    }
    // Blocks that are taken and given back one by one from the front of a list would make later ones slow, and more so with more.
    let least = seconds[1..].iter().copied().fold(f64::INFINITY, f64::min);
    assert!(least < 20.0 * seconds[0] && seconds[0] < 40.0 * least.max(0.005), "{seconds:?}");
}

/// Files of a folder and of those in it.
fn files_in(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() { files_in(&entry, found) } else { found.push(entry) }
    }
}

#[test]
fn broken_files_of_every_format_are_read_or_refused_in_little_room() {
    /// Larger ones take long to break; there are smaller ones of their formats.
    const MOST: u64 = 100_000;
    const VERSIONS: usize = 50;
    /// The most that a format states of itself, and what pictures do, which unfold to 2048 values for a byte.
    const TIMES: usize = 200;
    const TIMES_OF_PICTURES: usize = 8 * 2048;
    const SPARE: usize = 1 << 20;
    let _alone = alone();
    let mut paths = Vec::new();
    files_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"), &mut paths);
    paths.retain(|path| path.metadata().is_ok_and(|data| data.len() <= MOST));
    assert!(paths.len() > 100, "{} files", paths.len());
    let mut whole = 0;
    for path in &paths {
        let bytes = std::fs::read(path).expect("a file");
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let is_picture = |name: &str| ["png", "jpg", "zip"].iter().any(|end| name.ends_with(end));
        let read = |bytes: &[u8]| {
            let files = [File::new(name, bytes)];
            let (is_model, of_model) = peak_of(|| open_model(&files, &ModelOptions::default()).is_ok());
            let (is_data, of_data) = peak_of(|| open_dataset(&files, &DataOptions::default()).is_ok());
            let (is_sorted, of_sorted) = peak_of(|| sort_files(&files).is_ok());
            let most = of_model.max(of_data).max(of_sorted);
            let times = if is_picture(name) { TIMES_OF_PICTURES } else { TIMES };
            assert!(most <= times * bytes.len() + SPARE, "{name}: {most} bytes for a file of {}", bytes.len());
            is_sorted && (is_model || is_data)
        };
        whole += usize::from(read(&bytes));
        let mut random = ChaCha8Rng::seed_from_u64(bytes.len() as u64);
        for version in 0..VERSIONS * broken::times() {
            let broken = broken::broken(&bytes, &mut random);
            // A busy computer may hold one reading up, but not all of them.
            let seconds = || {
                let since = Instant::now();
                read(&broken);
                since.elapsed()
            };
            let is_soon = (0..3).any(|_| seconds() < Duration::from_secs(1));
            assert!(is_soon, "version {version} of {name} takes over a second");
        }
    }
    assert!(whole > 40, "{whole} of {} files could be read as they are", paths.len());
}
