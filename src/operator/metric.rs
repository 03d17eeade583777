//! Rangamani's metric g(η, ξ) = Σ over blocks of ⟨η, ξ⟩ / ‖block‖², and the connections that go with it.

use serde::Serialize;

use crate::engine::{Engine, Segments};
use crate::error::Result;
use crate::memory::{collected, zeros};
use crate::numbers::norm;

/// The blocks that Rangamani's metric g(η, ξ) = Σ ⟨η, ξ⟩ / ‖block‖² is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Every W_l and every b_l.
    Layerwise,
    /// Every single entry.
    Nodewise,
}

/// The connection behind the Riemannian Hessian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Connection {
    /// The paper's: the connection term is zero. Away from critical points vertical directions are not in its kernel, and Definition 3
    /// is about [`Horizontal`](super::Horizontal) vectors alone.
    Flat,
    /// The metric's own: vertical directions lie in its kernel at every point.
    LeviCivita,
}

impl Metric {
    /// The diagonal of D = G^(−1/2): each entry's block's norm. A zero block has D = 0 and drops out.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn scale(self, engine: &Engine, parameters: &[f64]) -> Result<Vec<f64>> {
        const WHAT: &str = "a metric's diagonal";
        match self {
            Self::Nodewise => collected(WHAT, parameters.iter().map(|w| w.abs())),
            Self::Layerwise => {
                let mut scale = zeros(WHAT, parameters.len())?;
                for range in Segments::blocks(engine.problem().network().layout()).ranges() {
                    let length = norm(parameters[range.clone()].iter().copied());
                    scale[range].fill(length);
                }
                Ok(scale)
            }
        }
    }

    /// ‖grad L‖_g = ‖D ∇L‖₂: how near a critical point is, in this metric.
    ///
    /// # Errors
    /// As [`Engine::gradient`]; `NotFinite` where the length overflows.
    pub async fn gradient_norm(self, engine: &Engine) -> Result<f64> {
        let gradient = engine.gradient().await?;
        let scale = self.scale(engine, &engine.parameters()?)?;
        let length = norm(gradient.iter().zip(&scale).map(|(g, d)| g * d));
        crate::engine::ensure_number("the Riemannian gradient's length", engine.info().precision, &[length])?;
        Ok(length)
    }
}
