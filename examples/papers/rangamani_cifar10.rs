//! Rangamani et al. (2019), Table 4, CIFAR-10's row of AlexNet's type, for as many epochs as there is time for, as the authors' published
//! program (`alexnet_training_all.py`) trains: SGD in batches of 256 at a rate of 1e-4, which is halved every 30 epochs, and of 2000 at
//! 1e-3, as is printed; with momentum, 0.9 and 0.99, which is not; on pixels from 0 to 255 as they are; from PyTorch's own weights. That
//! program takes 150 epochs with small batches and 500 with large ones. The norm is over the first 1,000 training images, where that has
//! 10,000: a product over these takes two minutes of a core, and a norm some twenty.

use isoflat::Result;
use isoflat::engine::Precision;
use isoflat::network::{Initialization, Preset};
use isoflat::train::{Decay, Optimizer};

use super::Arguments;
use super::images::{DataSet, Images, Part};
use super::rangamani_table4::{self, Scale};
use super::rangamani_training::{Batches, Setting, keys};

const BATCHES: [Batches; 2] = [
    Batches {
        name: "small",
        size: 256,
        optimizer: Optimizer::Sgd { learning_rate: 1e-4, momentum: 0.9 },
        decay: Decay::Step { every: 30, factor: 0.5 },
    },
    Batches {
        name: "large",
        size: 2000,
        optimizer: Optimizer::Sgd { learning_rate: 1e-3, momentum: 0.99 },
        decay: Decay::Constant,
    },
];

pub fn run(arguments: &Arguments) -> Result<()> {
    let precision = Precision::F32;
    let scale = match arguments.quick {
        true => Scale { training: 256, test: 256, epochs: 3, seeds: 1, measured: 64, precision },
        false => Scale { training: 50_000, test: 10_000, epochs: 10, seeds: 1, measured: 1000, precision },
    };
    let (seeds, epochs) = (arguments.seeds.unwrap_or(scale.seeds), arguments.epochs.unwrap_or(scale.epochs));
    let scale = Scale { seeds, epochs, ..scale };
    let images = |part, count| Images::read(DataSet::Cifar10, arguments.data.as_deref(), part, count, |pixel| pixel);
    let data = [images(Part::Training, scale.training)?, images(Part::Test, scale.test)?];
    let setting = Setting { epochs, target: None, has_biases: true, initialization: Initialization::Pytorch };
    let keys = keys(&[Preset::AlexNetCifar10], &BATCHES, setting, seeds);
    // What a shorter training has found is another's.
    let keys: Vec<_> = keys.into_iter().map(|key| (format!("{epochs}-epochs-{}", key.name()), key)).collect();
    rangamani_table4::run(arguments, &scale, &data, &keys, ["network", "batches"])
}
