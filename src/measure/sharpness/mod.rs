//! ε-sharpness by ascent (Keskar et al. 2017; Dinh et al. 2017, Definition 2; Rangamani et al. 2019, section 3) and average
//! sharpness: how far the loss rises in a neighbourhood of θ, at its worst and on average.
//!
//! Every number says how it was come by: starts and their spread, the optimality gap, and the precision that could resolve
//! the difference of two losses.

mod ascent;
mod average;
mod probe;
mod region;

pub(crate) use ascent::ascend;
pub use ascent::{Sharpness, Start, StartKind, Stop, SubspaceSharpness, epsilon_sharpness, subspace_sharpness};
pub use average::{AverageSharpness, Noise, average_sharpness};
pub(crate) use probe::Probe;
pub use region::Region;
pub(crate) use region::orthonormal_columns;

use super::{ALWAYS, LAYERWISE, Measure, NEVER_BUT_PERMUTED, Quantity};
use crate::error::{Result, ensure};

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        key: "epsilon_sharpness_quadratic",
        paper: "Dinh et al. 2017; Rangamani et al. 2019",
        description: "How far the loss rises within a ball of radius ε, to second order: ‖H‖ ε² / (2 (1 + L)).",
        invariant: NEVER_BUT_PERMUTED,
        quantity: Quantity::EpsilonSharpnessQuadratic,
    },
    Measure {
        key: "epsilon_sharpness",
        paper: "Keskar et al. 2017; Dinh et al. 2017, Definition 2",
        description: "How far the loss rises within a ball of radius ε, over 1 + L: the highest point that ascents find.",
        invariant: NEVER_BUT_PERMUTED,
        quantity: Quantity::EpsilonSharpness(Region::Ball),
    },
    Measure {
        key: "epsilon_sharpness_subspace",
        paper: "Keskar et al. 2017, with random subspaces",
        description: "The same within the ball's cuts through random subspaces, on average over the subspaces.",
        invariant: NEVER_BUT_PERMUTED,
        quantity: Quantity::SubspaceSharpness,
    },
    Measure {
        key: "epsilon_sharpness_box",
        paper: "Keskar et al. 2017, in the full space",
        description: "How far the loss rises where every weight moves by up to ε (|θ_i| + 1), over 1 + L.",
        invariant: NEVER_BUT_PERMUTED,
        quantity: Quantity::EpsilonSharpness(Region::Box),
    },
    Measure {
        key: "riemannian_sharpness.layerwise",
        paper: "Rangamani et al. 2019, section 3",
        description: "How far the loss rises within ε, lengths taken relative to the size of each layer, over 1 + L.",
        invariant: LAYERWISE,
        quantity: Quantity::EpsilonSharpness(Region::RiemannianLayerwise),
    },
    Measure {
        key: "riemannian_sharpness.nodewise",
        paper: "Rangamani et al. 2019, section 3, with one block a weight",
        description: "How far the loss rises within ε, lengths taken relative to each weight, over 1 + L.",
        invariant: ALWAYS,
        quantity: Quantity::EpsilonSharpness(Region::RiemannianNodewise),
    },
    Measure {
        key: "average_sharpness",
        paper: "Neyshabur et al. 2017",
        description: "How far the loss rises on average when Gaussian noise is added to all weights.",
        invariant: NEVER_BUT_PERMUTED,
        quantity: Quantity::AverageSharpness(Noise::Plain),
    },
    Measure {
        key: "average_sharpness_scaled",
        paper: "Neyshabur et al. 2017, with noise in proportion",
        description: "How far the loss rises on average when each weight gets Gaussian noise in proportion to itself.",
        invariant: ALWAYS,
        quantity: Quantity::AverageSharpness(Noise::Scaled),
    },
];

/// How sharpness is searched for and averaged.
#[derive(Debug, Clone, PartialEq)]
pub struct SharpnessOptions {
    /// Ascents from gradients of random halves of the samples, beside those from ± the top eigenvector and the gradient.
    pub restarts: usize,
    /// Most steps of one ascent.
    pub max_iterations: usize,
    /// An ascent has converged when no step within the region gains more than this share of the rise, to first order;
    /// `None` takes 1e-6 in f64 and 1e-3 in f32.
    pub tolerance: Option<f64>,
    /// Dimension of a random subspace, at most the number of parameters. Keskar et al. take 100.
    pub subspace_dimension: usize,
    /// Subspaces that the subspace sharpness is the mean of (at least 2, for its standard error).
    pub subspaces: usize,
    /// σ of plain noise.
    pub sigma: f64,
    /// σ of noise in proportion to the weights.
    pub relative_sigma: f64,
    /// Pairs ±z of noise (at least 2, for the standard error).
    pub pairs: usize,
    /// Of restarts, subspaces and noise.
    pub seed: u64,
}

impl Default for SharpnessOptions {
    fn default() -> Self {
        Self {
            restarts: 2,
            max_iterations: 200,
            tolerance: None,
            subspace_dimension: 20,
            subspaces: 5,
            sigma: 0.01,
            relative_sigma: 0.05,
            pairs: 50,
            seed: 0,
        }
    }
}

impl SharpnessOptions {
    /// # Errors
    /// `InvalidOption` for a number out of its range.
    pub(crate) fn check(&self) -> Result<()> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        ensure!(self.max_iterations > 0, InvalidOption, "an ascent needs at least one step");
        ensure!(self.tolerance.is_none_or(positive), InvalidOption, "the ascents' tolerance must be positive");
        ensure!(self.subspace_dimension > 0, InvalidOption, "a subspace needs at least one dimension");
        ensure!(self.subspaces >= 2, InvalidOption, "subspace sharpness needs at least 2 subspaces");
        ensure!(self.pairs >= 2, InvalidOption, "average sharpness needs at least 2 pairs of noise");
        ensure!(positive(self.sigma), InvalidOption, "σ is {}, but must be positive", self.sigma);
        ensure!(
            positive(self.relative_sigma),
            InvalidOption,
            "the relative σ is {}, but must be positive",
            self.relative_sigma
        );
        Ok(())
    }
}
