//! Cotangent sweeps: what a backward pass from chosen cotangents at the outputs leaves at every layer.
//!
//! The Gauss–Newton matrix is S Sᵀ with a column of S for every sample and every column of the square root of ∂²ℓ/∂ŷ². Cotangents are
//! such columns at the outputs: all of them ([`Cotangent::Class`]) give its blocks exactly, sums of all with random signs on average.
//! Sums of squares of what arrives at a layer are reductions of S Sᵀ over its block.

use crate::error::Result;
use crate::memory::zeros;

/// A cotangent at the outputs of every sample, whose outer products make up ∂²ℓ/∂ŷ².
#[derive(Debug, Clone, PartialEq)]
pub enum Cotangent {
    /// √p_c (e_c − p) for cross-entropy, √2 e_c for squared error: over all classes c they sum to ∂²ℓ/∂ŷ² exactly.
    Class(usize),
    /// The sum over all classes c of s_c times their columns, with signs s for every sample and output (samples × output_len): of random
    /// ones the outer product is ∂²ℓ/∂ŷ² on average. Of a class drawn from p, e_c − p, it would be so too, but where a class is sure
    /// nearly all draws would be of that one, and leave nothing.
    Signs(Vec<f32>),
}

/// What one cotangent leaves at one layer with parameters: reductions of the layer's block S Sᵀ of the Gauss–Newton matrix, as means over
/// the samples. g is the cotangent that arrives at z_l, G = Σ over positions of g times the inputs under the window is the gradient of
/// one sample in W_l (for a dense layer g aᵀ), a column of S.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LayerSums {
    /// ‖G‖²: of the trace over W_l.
    pub weight_trace: f64,
    /// ‖Σ over positions of g‖²: of the trace over b_l; 0 without a bias.
    pub bias_trace: f64,
    /// (Σ over the weights that leave unit j of W ⊙ G)², for every unit or channel j that comes in: of the quadratic form of the weights
    /// that read it, w_jᵀ S Sᵀ w_j.
    pub column_forms: Vec<f64>,
    /// ‖W_lᵀ G‖²: of Tr (W Wᵀ ⊗ I) S Sᵀ, the traces between pairs of rows weighted by the rows' inner products.
    pub gram_trace: f64,
    /// ‖W ⊙ G‖²: of Tr D S Sᵀ D over W_l, D the diagonal matrix of the parameters.
    pub scaled_trace: f64,
    /// The same over b_l.
    pub scaled_bias_trace: f64,
}

impl LayerSums {
    /// Nothing yet, of a layer that so many units or channels come into.
    ///
    /// # Errors
    /// `TooLarge`.
    pub(crate) fn zeros(units: usize) -> Result<Self> {
        Ok(Self { column_forms: zeros("sums of units", units)?, ..Self::default() })
    }

    /// Adds another sum of the same layer.
    pub fn add(&mut self, other: &Self) {
        self.numbers_mut().zip(other.numbers()).for_each(|(number, other)| *number += other);
    }

    /// Multiplies everything.
    pub fn scale(&mut self, factor: f64) {
        self.numbers_mut().for_each(|number| *number *= factor);
    }

    /// All numbers, in an order of their own.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = f64> {
        let Self { weight_trace, bias_trace, column_forms, gram_trace, scaled_trace, scaled_bias_trace } = self;
        let others = [weight_trace, bias_trace, gram_trace, scaled_trace, scaled_bias_trace];
        others.into_iter().chain(column_forms).copied()
    }

    /// The same to write, in the same order.
    pub(crate) fn numbers_mut(&mut self) -> impl Iterator<Item = &mut f64> {
        let Self { weight_trace, bias_trace, column_forms, gram_trace, scaled_trace, scaled_bias_trace } = self;
        let others = [weight_trace, bias_trace, gram_trace, scaled_trace, scaled_bias_trace];
        others.into_iter().chain(column_forms)
    }
}
