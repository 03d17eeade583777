//! How Rangamani et al. (2019, section 4) train: small batches of 256 at a rate of 1e-4 and large ones at 1e-3, until every training
//! image is told right; on MNIST with Adam, and 5000 images in a large batch. The paper does not say how networks begin: here with He's
//! uniform weights, √6 times PyTorch's own (√3 times in the last layer), and PyTorch's biases.

use std::path::{Path, PathBuf};
use std::time::Instant;

use isoflat::engine::{Device, Engine, Precision};
use isoflat::network::{BiasInitialization, Conv2d, Initialization, Layer, Preset};
use isoflat::space::Weights;
use isoflat::train::{Checkpoint, Decay, Optimizer, Schedule, Target, TrainOptions, Training, resume, train};
use isoflat::{Control, Error, ErrorCode, Network, Problem, Result};
use serde_json::{Value, json};

use super::Arguments;
use super::images::{DataSet, Images, Part};
use super::runs;

/// A size of batches, and how networks are trained with it.
pub struct Batches {
    pub name: &'static str,
    pub size: usize,
    pub optimizer: Optimizer,
    pub decay: Decay,
}

impl Batches {
    /// With Adam at one rate.
    pub const fn adam(name: &'static str, size: usize, rate: f64) -> Self {
        Self { name, size, optimizer: Optimizer::adam(rate), decay: Decay::Constant }
    }
}

pub const BATCHES: [Batches; 2] = [Batches::adam("small", 256, 1e-4), Batches::adam("large", 5000, 1e-3)];

/// One training.
pub struct Key {
    pub preset: Preset,
    pub batches: &'static Batches,
    pub setting: Setting,
    pub seed: u64,
}

/// What all trainings of an experiment have in common.
#[derive(Clone, Copy)]
pub struct Setting {
    /// At most, or exactly where there is no target.
    pub epochs: usize,
    pub target: Option<Target>,
    pub has_biases: bool,
    pub initialization: Initialization,
}

impl Setting {
    /// As the paper says: until every training image is told right.
    pub fn printed(epochs: usize) -> Self {
        let (target, initialization) = (Some(Target::Accuracy(1.0)), Initialization::KaimingUniform);
        Self { epochs, target, has_biases: true, initialization }
    }
}

/// All of these networks with all of these sizes of batches, seed after seed.
pub fn keys(presets: &[Preset], batches: &'static [Batches], setting: Setting, seeds: u64) -> Vec<Key> {
    let pairs = || presets.iter().flat_map(|preset| batches.iter().map(move |batches| (*preset, batches)));
    (0..seeds).flat_map(|seed| pairs().map(move |(preset, batches)| Key { preset, batches, setting, seed })).collect()
}

impl Key {
    pub fn name(&self) -> String {
        format!("{}-{}-seed-{}", self.preset.name(), self.batches.name, self.seed)
    }

    fn state(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.state", self.name()))
    }

    fn network(&self) -> Result<Network> {
        let network = self.preset.network();
        if self.setting.has_biases {
            return Ok(network);
        }
        let without = network.layers().map(|layer| match layer.clone() {
            Layer::Dense { units, .. } => Layer::Dense { units, bias: false },
            Layer::Conv2d(convolution) => Layer::Conv2d(Conv2d { bias: false, ..convolution }),
            other => other,
        });
        Network::new(network.input().to_vec(), without.collect())
    }
}

/// The first so many of MNIST's training and test images.
pub fn images(arguments: &Arguments, training: usize, test: usize) -> Result<[Images; 2]> {
    let part =
        |part, count| Images::read(DataSet::Mnist, arguments.data.as_deref(), part, count, |pixel| pixel / 255.0);
    Ok([part(Part::Training, training)?, part(Part::Test, test)?])
}

/// A trained network.
pub struct Trained {
    pub problem: Problem,
    pub parameters: Vec<f64>,
    /// What is to be said of it.
    pub entry: Value,
}

/// Epochs after which a training's state is kept.
const KEPT_EVERY: usize = 2;

/// Trains, and keeps in `path` where it comes to: one that was killed goes on there, and one that has ended goes on to more epochs. Seconds
/// of before, too.
async fn train_and_keep(
    engine: &Engine,
    start: &[f64],
    options: &TrainOptions,
    path: &Path,
) -> Result<(Training, f64)> {
    let space = Weights::new(engine.problem().network());
    let control = Control::default();
    let (mut kept, mut before): (Option<Checkpoint>, f64) = (None, 0.0);
    if let Some(mut found) = runs::read(path)? {
        let state: Checkpoint = serde_json::from_value(found["state"].take())
            .map_err(|error| Error::new(ErrorCode::InvalidOption, format!("{}: {error}", path.display())))?;
        // One that is further is of a longer training.
        if state.history.len() <= options.epochs {
            (kept, before) = (Some(state), found["seconds"].as_f64().unwrap_or(0.0));
        }
    }
    let began = Instant::now();
    loop {
        let done = kept.as_ref().map_or(0, |kept| kept.history.len());
        let some = TrainOptions { epochs: options.epochs.min(done + KEPT_EVERY), ..*options };
        let found = match &kept {
            None => train(engine, start, None, &some, &control).await?,
            Some(kept) => resume(engine, &space, kept, None, &some, &control).await?,
        };
        if found.reached_target {
            return Ok((found, before));
        }
        let seconds = before + began.elapsed().as_secs_f64();
        runs::keep(path, &json!({ "seconds": seconds, "state": found.checkpoint }))?;
        if some.epochs == options.epochs {
            return Ok((found, before));
        }
        kept = Some(found.checkpoint);
    }
}

/// Whether [`trained`] comes to the end of this training, which took so many epochs, with hardly any of them: its last state is still in
/// `folder`.
pub fn is_kept(key: &Key, folder: &Path, epochs: usize) -> Result<bool> {
    let Some(found) = runs::read(&key.state(folder))? else { return Ok(false) };
    let done = found["state"]["history"].as_array().map_or(0, Vec::len);
    Ok((epochs.saturating_sub(KEPT_EVERY)..=epochs).contains(&done))
}

/// Trains until the key's target is there, for its epochs at most, and looks at the test images. The training's state is kept in
/// `folder`.
pub async fn trained(key: &Key, [training, test]: &[Images; 2], folder: &Path) -> Result<Trained> {
    let (problem, test) = (training.problem(key.network()?)?, test.problem(key.network()?)?);
    let device = Device::cpu(Precision::F32);
    let engine = Engine::new(&device, &problem)?;
    let network = problem.network();
    let start = network.initialize(key.setting.initialization, BiasInitialization::Uniform, key.seed)?;
    let options = TrainOptions {
        optimizer: key.batches.optimizer,
        schedule: Schedule { decay: key.batches.decay, ..Schedule::default() },
        batch_size: key.batches.size,
        epochs: key.setting.epochs,
        target: key.setting.target,
        seed: key.seed,
        ..TrainOptions::default()
    };
    let (found, before) = train_and_keep(&engine, &start, &options, &key.state(folder)).await?;
    let at = engine.evaluate(&found.parameters).await?;
    let tested = Engine::new(&device, &test)?.evaluate(&found.parameters).await?;
    let entry = json!({
        "network": key.preset.name(),
        "optimizer": match key.batches.optimizer {
            Optimizer::Sgd { .. } => "momentum",
            _ => "adam",
        },
        "biases": key.setting.has_biases,
        "batches": key.batches.name,
        "batch": key.batches.size,
        "learning_rate": key.batches.optimizer.learning_rate(),
        "seed": key.seed,
        "epochs": found.epochs,
        "reached": found.reached_target,
        "training_loss": at.loss,
        "training_accuracy": at.accuracy,
        "test_loss": tested.loss,
        "test_accuracy": tested.accuracy,
        // Of what was killed; those of now come to it.
        "seconds": before,
    });
    drop(engine);
    Ok(Trained { parameters: found.parameters, problem, entry })
}
