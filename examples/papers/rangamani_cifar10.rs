//! Rangamani et al. (2019), Table 4, CIFAR-10's row of AlexNet's type, for as many epochs as there is time for: with SGD, in batches of 256 at a
//! rate of 1e-4 and of 2000 at 1e-3, as is printed, and with Adam at the same rates.
//!
//! At these rates SGD hardly leaves its start, and what the norm is there says nothing of minima: a tenth of the epochs shows that. Adam,
//! with which the paper trains on MNIST, in batches of 256 at 1e-4 and of 5000 at 1e-3, learns at them: of what could be changed that is
//! least. The paper trains until all training images are right. The norm is over the first training images, since a product over all
//! takes minutes.
//!
//! The paper does not say how pixels are normalised: they are in [−1, 1].

use isoflat::Result;
use isoflat::engine::Precision;
use isoflat::network::Preset;
use isoflat::train::Optimizer;

use super::Arguments;
use super::images::{DataSet, Images, Part};
use super::rangamani_table4::{self, Scale};
use super::rangamani_training::{ALL_RIGHT, Batches, Key, Named};

const BATCHES: [Batches; 2] =
    [Batches { name: "small", size: 256, rate: 1e-4 }, Batches { name: "large", size: 2000, rate: 1e-3 }];

/// Which begins first is which takes longest.
const OPTIMIZERS: [Named; 2] = [("adam", Optimizer::adam), ("sgd", Optimizer::sgd)];

pub fn run(arguments: &Arguments) -> Result<()> {
    let scale = match arguments.quick {
        true => Scale { training: 256, test: 256, epochs: 3, seeds: 1, measured: 64, precision: Precision::F32 },
        false => {
            Scale { training: 50_000, test: 10_000, epochs: 40, seeds: 1, measured: 10_000, precision: Precision::F32 }
        }
    };
    let (seeds, epochs) = (arguments.seeds.unwrap_or(scale.seeds), arguments.epochs.unwrap_or(scale.epochs));
    let scale = Scale { seeds, epochs, ..scale };
    let images = |part, count| {
        Images::read(DataSet::Cifar10, arguments.data.as_deref(), part, count, |pixel| pixel / 127.5 - 1.0)
    };
    let data = [images(Part::Training, scale.training)?, images(Part::Test, scale.test)?];
    let key = |seed, optimizer: Named, batches| {
        let epochs = if optimizer.0 == "sgd" { epochs.div_ceil(10) } else { epochs };
        let (preset, target) = (Preset::AlexNetCifar10, ALL_RIGHT);
        Key { preset, optimizer, batches, epochs, target, has_biases: true, seed }
    };
    let keys: Vec<(String, Key)> = (0..seeds)
        .flat_map(|seed| OPTIMIZERS.map(|optimizer| BATCHES.iter().map(move |batches| key(seed, optimizer, batches))))
        .flatten()
        // What a shorter training has found is another's.
        .map(|key| (format!("{}-{}-epochs-{}", key.optimizer.0, key.epochs, key.name()), key))
        .collect();
    rangamani_table4::run(arguments, &scale, &data, &keys, ["optimizer", "batches"])
}
