//! Cotangent sweeps.

use super::executor::GpuExecutor;
use crate::engine::{Cotangent, LayerSums};
use crate::error::{Result, bail};

impl GpuExecutor {
    pub(super) async fn sweep_of(&self, _: &[Cotangent]) -> Result<Vec<Vec<LayerSums>>> {
        bail!(InvalidOption, "sweeps are not there yet")
    }
}
