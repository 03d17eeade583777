//! Rangamani's metric g(η, ξ) = Σ over blocks of ⟨η, ξ⟩ / ‖block‖², and the connections that go with it.

use crate::engine::{Engine, Segments};
use crate::error::Result;

/// The blocks that Rangamani's metric g(η, ξ) = Σ ⟨η, ξ⟩ / ‖block‖² is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Every W_l and every b_l.
    Layerwise,
    /// Every single entry.
    Nodewise,
}

/// The connection behind the Riemannian Hessian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Connection {
    /// The paper's: the connection term is zero.
    Flat,
    /// The metric's own: vertical directions lie in its kernel at every point.
    LeviCivita,
}

impl Metric {
    /// The diagonal of D = G^(−1/2): each entry's block's norm. A zero block has D = 0 and drops out.
    pub fn scale(self, engine: &Engine, parameters: &[f64]) -> Vec<f64> {
        match self {
            Self::Nodewise => parameters.iter().map(|w| w.abs()).collect(),
            Self::Layerwise => {
                let mut scale = vec![0.0; parameters.len()];
                for range in Segments::blocks(engine.problem().network().layout()).ranges() {
                    let norm = parameters[range.clone()].iter().map(|w| w * w).sum::<f64>().sqrt();
                    scale[range].fill(norm);
                }
                scale
            }
        }
    }

    /// ‖grad L‖_g = ‖D ∇L‖₂: how near a critical point is, in this metric.
    ///
    /// # Errors
    /// As [`Engine::gradient`].
    pub async fn gradient_norm(self, engine: &Engine) -> Result<f64> {
        let gradient = engine.gradient().await?;
        let scale = self.scale(engine, &engine.parameters()?);
        Ok(gradient.iter().zip(scale).map(|(g, d)| (g * d).powi(2)).sum::<f64>().sqrt())
    }
}
