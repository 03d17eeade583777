//! How Rangamani et al. (2019, section 4) train: small batches of 256 at a rate of 1e-4 and large ones at 1e-3, until every training
//! image is told right; on MNIST with Adam, and 5000 images in a large batch. The paper does not say how networks begin: here with He's
//! uniform weights, √6 times PyTorch's own (√3 times in the last layer), and PyTorch's biases.

use isoflat::engine::{Device, Engine, Precision};
use isoflat::network::{BiasInitialization, Conv2d, Initialization, Layer, Preset};
use isoflat::train::{Optimizer, Target, TrainOptions, train};
use isoflat::{Control, Network, Problem, Result};
use serde_json::{Value, json};

use super::Arguments;
use super::images::{DataSet, Images, Part};

/// A size of batches with its rate.
pub struct Batches {
    pub name: &'static str,
    pub size: usize,
    pub rate: f64,
}

/// Every training image is told right.
pub const ALL_RIGHT: Option<Target> = Some(Target::Accuracy(1.0));

pub const BATCHES: [Batches; 2] =
    [Batches { name: "small", size: 256, rate: 1e-4 }, Batches { name: "large", size: 5000, rate: 1e-3 }];

/// What one optimiser is called, and it at a rate.
pub type Named = (&'static str, fn(f64) -> Optimizer);

pub const ADAM: Named = ("adam", Optimizer::adam);

/// One training.
pub struct Key {
    pub preset: Preset,
    pub optimizer: Named,
    pub batches: &'static Batches,
    /// At most, or exactly where there is no target.
    pub epochs: usize,
    pub target: Option<Target>,
    pub has_biases: bool,
    pub seed: u64,
}

/// All of these networks on MNIST with both sizes of batches, seed after seed.
pub fn keys(presets: &[Preset], epochs: usize, seeds: u64) -> Vec<Key> {
    let pairs = || presets.iter().flat_map(|preset| BATCHES.iter().map(move |batches| (*preset, batches)));
    let key = |preset, batches, seed| {
        let (optimizer, target, has_biases) = (ADAM, ALL_RIGHT, true);
        Key { preset, optimizer, batches, epochs, target, has_biases, seed }
    };
    (0..seeds).flat_map(|seed| pairs().map(move |(preset, batches)| key(preset, batches, seed))).collect()
}

impl Key {
    pub fn name(&self) -> String {
        format!("{}-{}-seed-{}", self.preset.name(), self.batches.name, self.seed)
    }

    fn network(&self) -> Result<Network> {
        let network = self.preset.network();
        if self.has_biases {
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

/// Trains until the key's target is there, for its epochs at most, and looks at the test images.
pub async fn trained(key: &Key, [training, test]: &[Images; 2]) -> Result<Trained> {
    let (problem, test) = (training.problem(key.network()?)?, test.problem(key.network()?)?);
    let (device, control) = (Device::cpu(Precision::F32), Control::default());
    let engine = Engine::new(&device, &problem)?;
    let network = problem.network();
    let start = network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, key.seed)?;
    let options = TrainOptions {
        optimizer: (key.optimizer.1)(key.batches.rate),
        batch_size: key.batches.size,
        epochs: key.epochs,
        target: key.target,
        seed: key.seed,
        ..TrainOptions::default()
    };
    let found = train(&engine, &start, None, &options, &control).await?;
    let at = engine.evaluate(&found.parameters).await?;
    let tested = Engine::new(&device, &test)?.evaluate(&found.parameters).await?;
    let entry = json!({
        "network": key.preset.name(),
        "optimizer": key.optimizer.0,
        "biases": key.has_biases,
        "batches": key.batches.name,
        "batch": key.batches.size,
        "learning_rate": key.batches.rate,
        "seed": key.seed,
        "epochs": found.epochs,
        "reached": found.reached_target,
        "training_loss": at.loss,
        "training_accuracy": at.accuracy,
        "test_loss": tested.loss,
        "test_accuracy": tested.accuracy,
    });
    drop(engine);
    Ok(Trained { parameters: found.parameters, problem, entry })
}
