//! Rangamani et al. (2019), Table 4, MNIST's rows as the authors' published program (`mnist_full_sharpness.py` and `mnist_conv_sharpness.py`)
//! trains, which is not as the paper says: Adam at 1e-3 with both sizes of batches, 200 epochs whatever is reached by then, no biases, the
//! first 50,000 training images. So small batches take twenty times as many steps as large ones.
//!
//! How networks begin is in a file that was not published: here as in `rangamani_mnist`. Losses end far below what single precision tells
//! from none; they and the norms are in double precision.

use isoflat::Result;
use isoflat::engine::Precision;
use isoflat::network::{Initialization, Preset};

use super::Arguments;
use super::rangamani_table4::{self, Scale};
use super::rangamani_training::{Batches, Setting, images, keys};

const PRESETS: [Preset; 2] = [Preset::MnistFc, Preset::LeNet];

const BATCHES: [Batches; 2] = [Batches::adam("small", 256, 1e-3), Batches::adam("large", 5000, 1e-3)];

pub fn run(arguments: &Arguments) -> Result<()> {
    let precision = Precision::F64;
    let scale = match arguments.quick {
        true => Scale { training: 500, test: 1000, epochs: 30, seeds: 1, measured: 500, precision },
        false => Scale { training: 50_000, test: 10_000, epochs: 200, seeds: 5, measured: 50_000, precision },
    };
    let scale = Scale { seeds: arguments.seeds.unwrap_or(scale.seeds), ..scale };
    let data = images(arguments, scale.training, scale.test)?;
    let initialization = Initialization::KaimingUniform;
    let setting = Setting { epochs: scale.epochs, target: None, has_biases: false, initialization };
    let keys = keys(&PRESETS, &BATCHES, setting, scale.seeds);
    let keys: Vec<_> = keys.into_iter().map(|key| (key.name(), key)).collect();
    rangamani_table4::run(arguments, &scale, &data, &keys, ["network", "batches"])
}
