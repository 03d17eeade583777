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
        self.trace += other.trace;
        self.bias_trace += other.bias_trace;
        self.relative_flatness += other.relative_flatness;
        self.nodewise_trace += other.nodewise_trace;
        self.nodewise_bias_trace += other.nodewise_bias_trace;
        for (rho, other) in self.rho.iter_mut().zip(&other.rho) {
            *rho += other;
        }
    }

    /// Multiplies everything.
    pub fn scale(&mut self, factor: f64) {
        self.trace *= factor;
        self.bias_trace *= factor;
        self.relative_flatness *= factor;
        self.nodewise_trace *= factor;
        self.nodewise_bias_trace *= factor;
        self.rho.iter_mut().for_each(|rho| *rho *= factor);
    }
}
