//! Rangamani et al. (2019), Table 4, MNIST's rows: 784-512×5-10 and a network of LeNet's type, trained with small and with large batches until
//! every training image is told right; the accuracy on test images, and the spectral norm of the Riemannian Hessian over all training
//! images, by Lanczos. The paper's losses are then in the order of 1e-4; what they are here is in the results.
//!
//! Each training is a run, of which one of LeNet's type with small batches is the longest.

use isoflat::Result;
use isoflat::engine::Precision;
use isoflat::network::Preset;

use super::Arguments;
use super::rangamani_table4::{self, Scale};
use super::rangamani_training::{BATCHES, Setting, images, keys};

const PRESETS: [Preset; 2] = [Preset::MnistFc, Preset::LeNet];

pub fn run(arguments: &Arguments) -> Result<()> {
    let scale = match arguments.quick {
        true => Scale { training: 500, test: 1000, epochs: 400, seeds: 1, measured: 500, precision: Precision::F32 },
        false => {
            Scale { training: 60_000, test: 10_000, epochs: 200, seeds: 5, measured: 60_000, precision: Precision::F32 }
        }
    };
    let scale = Scale { seeds: arguments.seeds.unwrap_or(scale.seeds), ..scale };
    let data = images(arguments, scale.training, scale.test)?;
    let keys = keys(&PRESETS, &BATCHES, Setting::printed(scale.epochs), scale.seeds);
    let keys: Vec<_> = keys.into_iter().map(|key| (key.name(), key)).collect();
    rangamani_table4::run(arguments, &scale, &data, &keys, ["network", "batches"])
}
