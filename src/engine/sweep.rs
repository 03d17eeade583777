//! Cotangent sweeps: what a backward pass from chosen cotangents at the outputs leaves at every layer.

/// A cotangent at the outputs of every sample, whose outer products make up ∂²ℓ/∂ŷ².
#[derive(Debug, Clone, PartialEq)]
pub enum Cotangent {
    /// √p_c (e_c − p) for cross-entropy, √2 e_c for squared error: over all classes c they sum to ∂²ℓ/∂ŷ² exactly.
    Class(usize),
    /// e_c − p with a class c for every sample (cross-entropy): drawn from p, its outer product is ∂²ℓ/∂ŷ² on average.
    Drawn(Vec<u32>),
    /// √2 s with signs s for every sample and output (samples × output_len; squared error), likewise.
    Signs(Vec<f32>),
}

/// What one cotangent leaves at one layer with parameters: means over the samples, with g the cotangent that arrives at
/// z_l and G = Σ over positions of g times the inputs under the window, the gradient of one sample in W_l (for a dense
/// layer g aᵀ).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LayerSums {
    /// ‖G‖²: the share of Tr H_l.
    pub trace: f64,
    /// ‖Σ over positions of g‖²: the share of the trace over b_l; 0 without a bias.
    pub bias_trace: f64,
    /// (Σ over the weights that leave unit j of W ⊙ G)² for every unit or channel j that comes in: the share of ρ_l(j).
    pub rho: Vec<f64>,
    /// ‖W_lᵀ G‖²: the share of the relative flatness.
    pub relative_flatness: f64,
    /// ‖W ⊙ G‖²: the share of the trace of the node-wise D H D over W_l.
    pub nodewise_trace: f64,
    /// The same over b_l.
    pub nodewise_bias_trace: f64,
}

impl LayerSums {
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
        let Self { trace, bias_trace, rho, relative_flatness, nodewise_trace, nodewise_bias_trace } = self;
        let others = [trace, bias_trace, relative_flatness, nodewise_trace, nodewise_bias_trace];
        others.into_iter().chain(rho).copied()
    }

    /// The same to write, in the same order.
    pub(crate) fn numbers_mut(&mut self) -> impl Iterator<Item = &mut f64> {
        let Self { trace, bias_trace, rho, relative_flatness, nodewise_trace, nodewise_bias_trace } = self;
        let others = [trace, bias_trace, relative_flatness, nodewise_trace, nodewise_bias_trace];
        others.into_iter().chain(rho)
    }
}
