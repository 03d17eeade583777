//! What was measured of an adapter, to be kept: [`Tuning`].

use serde::{Deserialize, Serialize};

use super::tiling::Tiles;
use crate::engine::BackendInfo;
use crate::error::{Error, ErrorCode, Result, ensure};

/// When an adapter's tiles are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tune {
    /// Once, and on hardware alone: what is usual on software adapters was measured on them.
    #[default]
    Auto,
    /// Not even what was measured before is taken.
    Never,
    /// Whatever is known.
    Anew,
}

/// What [`tune`](super::tune()) has measured, and of which adapter. As JSON it can be kept, in a file or a browser's storage: it
/// holds as long as adapter, API and version of isoflat are the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    version: String,
    adapter: String,
    api: String,
    tiles: Tiles,
}

impl Tuning {
    pub(super) fn new(of: &BackendInfo, tiles: Tiles) -> Self {
        let version = env!("CARGO_PKG_VERSION").into();
        Self { version, adapter: of.adapter.clone(), api: of.api.clone(), tiles }
    }

    /// What was written by [`Tuning::to_json`].
    ///
    /// # Errors
    /// `Parse` for anything else; `InvalidOption` for times that are none.
    pub fn from_json(text: &str) -> Result<Self> {
        let tuning: Self = serde_json::from_str(text)
            .map_err(|error| Error::new(ErrorCode::Parse, format!("this is no tuning of a GPU: {error}")))?;
        ensure!(tuning.tiles.are_valid(), InvalidOption, "this tuning of {} holds no usable times", tuning.adapter);
        Ok(tuning)
    }

    /// To be kept.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and names")
    }

    /// Does it hold for this device?
    pub fn is_of(&self, device: &BackendInfo) -> bool {
        let version = env!("CARGO_PKG_VERSION");
        self.version == version && self.adapter == device.adapter && self.api == device.api
    }

    /// A name for the place where it is kept: one an adapter, of letters, digits and dashes.
    pub fn name(&self) -> String {
        let of = format!("{}-{}", self.api, self.adapter).to_lowercase();
        let words = of.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join("-")
    }

    /// What its tiles take.
    pub fn tiles(&self) -> &Tiles {
        &self.tiles
    }
}
