//! What all searches at a point have in common.

use super::probe::Probe;
use crate::engine::{Engine, held};
use crate::error::Result;

/// The loss at a point, and how well it is known.
#[derive(Debug)]
pub(crate) struct Ground {
    /// L(θ).
    pub loss: f64,
    /// ∇L(θ).
    pub gradient: Vec<f64>,
    /// How much the loss changes when θ is rounded another way.
    pub resolution: f64,
    /// The same of the engine's companion in single precision, if there is one.
    pub coarse: Option<Box<Ground>>,
}

impl Ground {
    /// That of the point θ. Prepares it.
    ///
    /// # Errors
    /// What [`Engine::prepare`] says; `NotFinite` if the loss is not finite; the device's.
    pub async fn at(engine: &Engine, theta: &[f64]) -> Result<Self> {
        engine.prepare(theta).await?;
        let coarse = match engine.coarse().await? {
            Some(coarse) => held(Self::of(&Probe::new(coarse), theta).await)?.map(Box::new),
            None => None,
        };
        Ok(Self { coarse, ..Self::of(&Probe::new(engine), theta).await? })
    }

    /// Of what a probe sees; nothing is prepared.
    ///
    /// # Errors
    /// As [`Ground::at`].
    pub async fn of(probe: &Probe<'_>, theta: &[f64]) -> Result<Self> {
        let (loss, gradient) = probe.gradient(theta).await?;
        let resolution = probe.resolution(theta, loss).await?;
        Ok(Self { loss, gradient, resolution, coarse: None })
    }
}
