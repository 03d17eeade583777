//! Petzka et al. (2019), appendix C: 784-50-50-50-30-10 on MNIST, Xavier normal, SGD with batches of 1000, 2000, 4000 and 8000, and whether
//! flatness goes with the generalisation gap: Figures 3 (κ_τ of each hidden layer), 4 (ρ_σ), 5 (ρ) and 6 (of the whole network), and
//! beside them every measure that isoflat has. All are taken again after a layer-wise rescaling with random factors from 5 to 25, as in
//! Figure 2, which changes no function: what depends on the scale of weights loses what it said, what is invariant keeps it.
//!
//! The text's rates go from 0.02 (batches of 1000) to 1.6 (8000) “to keep the ratio constant”, which these two do not. At 1.6 nothing is
//! learned, which `petzka-printed` shows. So the ratio is kept that the lower end has, up to 0.16. How long networks are trained the text does
//! not say: here for 200 epochs. Runs whose training loss is above 0.07 are left out, as there.

use isoflat::Result;
use isoflat::measure::Cost;
use isoflat::network::{BiasInitialization, Initialization, Preset};
use isoflat::train::{Optimizer, TrainOptions};
use pollster::block_on;
use serde_json::{Value, json};

use super::Arguments;
use super::images::{DataSet, Images, Part};
use super::petzka::{self, Scale};
use super::runs;

/// A batch size and its rate.
type Setting = (usize, f64);

/// At one ratio.
const SETTINGS: [Setting; 4] = [(1000, 0.02), (2000, 0.04), (4000, 0.08), (8000, 0.16)];
/// As printed, where that is at another ratio.
const PRINTED: [Setting; 1] = [(8000, 1.6)];

struct Key {
    batch: usize,
    rate: f64,
    seed: u64,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    with(arguments, &SETTINGS, "Petzka et al. 2019, Figures 3 to 6")
}

pub fn run_printed(arguments: &Arguments) -> Result<()> {
    with(arguments, &PRINTED, "Petzka et al. 2019, Figures 3 to 6, at the largest rate as it is printed")
}

fn with(arguments: &Arguments, settings: &[Setting], paper: &str) -> Result<()> {
    let dearest = Cost::Search;
    let scale = match arguments.quick {
        true => Scale { training: 8000, test: 2000, epochs: 40, seeds: 2, measured: 500, dearest, largest_loss: 1.5 },
        false => Scale {
            training: 60_000,
            test: 10_000,
            epochs: 200,
            seeds: 10,
            measured: 6000,
            dearest,
            largest_loss: 0.07,
        },
    };
    let scale = Scale { seeds: arguments.seeds.unwrap_or(scale.seeds), ..scale };
    let images =
        |part, count| Images::read(DataSet::Mnist, arguments.data.as_deref(), part, count, |pixel| pixel / 255.0);
    let data = [images(Part::Training, scale.training)?, images(Part::Test, scale.test)?];
    let keys: Vec<Key> = (0..scale.seeds)
        .flat_map(|seed| settings.iter().map(move |&(batch, rate)| Key { batch, rate, seed }))
        .collect();
    let name = |key: &Key| format!("batch-{}-seed-{}", key.batch, key.seed);
    let found = runs::all(&arguments.runs, arguments.jobs, &keys, name, |key| block_on(one(key, &scale, &data)))?;
    let said = json!({
        "paper": paper,
        "network": Preset::PetzkaMnist.network().summary(),
    });
    petzka::finish(arguments, &scale, found, said)
}

async fn one(key: &Key, scale: &Scale, [training, test]: &[Images; 2]) -> Result<Value> {
    let network = Preset::PetzkaMnist.network();
    let start = network.initialize(Initialization::XavierNormal, BiasInitialization::Zero, key.seed)?;
    let problems = [training.problem(network.clone())?, test.problem(network)?];
    let options = TrainOptions {
        optimizer: Optimizer::sgd(key.rate),
        batch_size: key.batch,
        epochs: scale.epochs,
        seed: key.seed,
        ..TrainOptions::default()
    };
    let entry = json!({ "batch": key.batch, "learning_rate": key.rate, "seed": key.seed });
    petzka::one(problems, &start, &options, key.seed, scale, entry).await
}
