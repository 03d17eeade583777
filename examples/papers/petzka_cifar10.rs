//! Petzka et al. (2019), section 3: LeNet5 on CIFAR-10, four initialisations and SGD with batches of 4, 32, 64 and 512 at the rates that the
//! text prints, and whether flatness goes with the generalisation gap: Figure 1, and Figure 2, which is of the same networks after a layer-wise
//! rescaling. The paper trains 9 networks a setting “until convergence” on 50,000 images: here as many as `--seeds` says, one by default, on the first 2000, until their mean
//! loss is at most 0.01 or for 250 epochs. What is above it then has not converged, and is left out.
//!
//! The paper does not say how pixels are normalised: they are in [−1, 1], as PyTorch's own example with this network and these data has them.

use isoflat::Result;
use isoflat::measure::Cost;
use isoflat::network::{BiasInitialization, Initialization, Preset};
use isoflat::train::{Optimizer, Target, TrainOptions};
use pollster::block_on;
use serde_json::{Value, json};

use super::Arguments;
use super::images::{DataSet, Images, Part};
use super::petzka::{self, Scale};
use super::runs;

/// Batches and rates.
const SETTINGS: [(usize, f64); 4] = [(32, 0.008), (64, 0.02), (512, 0.1), (4, 0.001)];

/// The normal one has a variance of 0.1.
const INITIALIZATIONS: [(&str, Initialization); 4] = [
    ("xavier_normal", Initialization::XavierNormal),
    ("kaiming_uniform", Initialization::KaimingUniform),
    ("uniform", Initialization::Uniform { bound: 0.1 }),
    ("normal", Initialization::Normal { sigma: 0.316_227_766_016_837_94 }),
];

struct Key {
    initialization: (&'static str, Initialization),
    batch: usize,
    rate: f64,
    seed: u64,
    /// Of the rescaling: another one for every network.
    bend: u64,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    // What is estimated by probes, and sharpness by ascents, would take longer than all trainings.
    let dearest = Cost::Eigenvalues;
    let scale = match arguments.quick {
        true => Scale { training: 500, test: 1000, epochs: 200, seeds: 1, measured: 100, dearest, largest_loss: 0.05 },
        false => {
            Scale { training: 2000, test: 10_000, epochs: 250, seeds: 1, measured: 500, dearest, largest_loss: 0.01 }
        }
    };
    let scale = Scale { seeds: arguments.seeds.unwrap_or(scale.seeds), ..scale };
    let images = |part, count| {
        Images::read(DataSet::Cifar10, arguments.data.as_deref(), part, count, |pixel| pixel / 127.5 - 1.0)
    };
    let data = [images(Part::Training, scale.training)?, images(Part::Test, scale.test)?];
    let keys: Vec<Key> = (0..scale.seeds)
        .flat_map(|seed| {
            SETTINGS.into_iter().zip(0..).flat_map(move |((batch, rate), setting)| {
                INITIALIZATIONS.into_iter().zip(0..).map(move |(initialization, drawn)| {
                    let bend = bend(seed, setting, drawn);
                    Key { initialization, batch, rate, seed, bend }
                })
            })
        })
        .collect();
    let name = |key: &Key| format!("{}-batch-{}-seed-{}", key.initialization.0, key.batch, key.seed);
    let found = runs::all(&arguments.runs, arguments.jobs, &keys, name, |key| block_on(one(key, &scale, &data)))?;
    let said = json!({
        "paper": "Petzka et al. 2019, Figures 1 and 2",
        "network": Preset::LeNet5.network().summary(),
        "data": "CIFAR-10",
    });
    petzka::finish(arguments, &scale, found, said)
}

/// Batches of 4 came later, and what is kept of the others has their bends: these count on behind any seed of theirs.
fn bend(seed: u64, setting: u64, initialization: u64) -> u64 {
    let initializations = INITIALIZATIONS.len() as u64;
    match setting {
        3 => 1_000_000 + initializations * seed + initialization,
        setting => initializations * (3 * seed + setting) + initialization,
    }
}

async fn one(key: &Key, scale: &Scale, [training, test]: &[Images; 2]) -> Result<Value> {
    let network = Preset::LeNet5.network();
    let (initialization, drawn) = key.initialization;
    let start = network.initialize(drawn, BiasInitialization::Zero, key.seed)?;
    let problems = [training.problem(network.clone())?, test.problem(network)?];
    let options = TrainOptions {
        optimizer: Optimizer::sgd(key.rate),
        batch_size: key.batch,
        epochs: scale.epochs,
        target: Some(Target::Loss(scale.largest_loss)),
        seed: key.seed,
        ..TrainOptions::default()
    };
    let entry = json!({
        "initialization": initialization,
        "batch": key.batch,
        "learning_rate": key.rate,
        "seed": key.seed,
    });
    petzka::one(problems, &start, &options, key.bend, scale, entry).await
}
