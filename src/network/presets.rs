//! The papers' networks.

use super::Network;
use crate::error::{Result, bail};

/// A network of one of the papers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preset {
    /// 784-300-100-10 (Rangamani, Table 1: F₁).
    F1,
    /// 784-512×5-10 (Rangamani section 4, after Keskar et al.: MNIST-FC).
    MnistFc,
    /// 784-64×4-10 without biases (Jestädt, MNIST).
    StraightMnist,
    /// 3072-64×5-10 without biases (Jestädt, CIFAR-10).
    StraightCifar10,
    /// 784-50-50-50-30-10 (Petzka, Figures 3 to 6).
    PetzkaMnist,
    /// 784-64-32-10: small enough to learn MNIST in seconds on any machine. Not of a paper.
    Small,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Small, Self::F1, Self::MnistFc, Self::StraightMnist, Self::StraightCifar10, Self::PetzkaMnist];

    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::F1 => "f1",
            Self::MnistFc => "mnist_fc",
            Self::StraightMnist => "straight_mnist",
            Self::StraightCifar10 => "straight_cifar10",
            Self::PetzkaMnist => "petzka_mnist",
            Self::Small => "small",
        }
    }

    /// The preset of this name.
    ///
    /// # Errors
    /// `InvalidOption`, with the names there are.
    pub fn from_name(name: &str) -> Result<Self> {
        match Self::ALL.into_iter().find(|preset| preset.name() == name) {
            Some(preset) => Ok(preset),
            None => {
                let names: Vec<_> = Self::ALL.iter().map(|preset| preset.name()).collect();
                bail!(InvalidOption, "no preset is named \"{name}\"; there are {}", names.join(", "))
            }
        }
    }

    /// The network.
    pub fn network(self) -> Network {
        let (widths, bias): (&[usize], bool) = match self {
            Self::F1 => (&[784, 300, 100, 10], true),
            Self::MnistFc => (&[784, 512, 512, 512, 512, 512, 10], true),
            Self::StraightMnist => (&[784, 64, 64, 64, 64, 10], false),
            Self::StraightCifar10 => (&[3072, 64, 64, 64, 64, 64, 10], false),
            Self::PetzkaMnist => (&[784, 50, 50, 50, 30, 10], true),
            Self::Small => (&[784, 64, 32, 10], true),
        };
        Network::dense(widths, bias).expect("the presets are valid networks")
    }
}
