//! What the lengths of a landscape's directions are matched to.

use crate::error::Result;
use crate::network::Network;
use crate::numbers::norm;

/// What the lengths of random directions and eigenvectors are matched to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Normalization {
    /// Length 1 over all parameters.
    #[default]
    None,
    /// Each W_l and b_l of the direction gets the length of the parameters' (Rangamani, Figure 2).
    Layer,
    /// Each row of W_l (a filter) gets the length of the parameters' row; biases are not moved (Li et al. 2018).
    Filter,
}

impl Normalization {
    /// The direction with each of its parts scaled to the length that it is matched to. A part that is zero stays so, and one whose
    /// parameters are all zero becomes zero.
    ///
    /// # Errors
    /// `InvalidParameters` for parameters or a direction of another length, `NotFinite` for numbers that are not finite.
    pub fn apply(self, network: &Network, parameters: &[f64], direction: Vec<f64>) -> Result<Vec<f64>> {
        self.apply_within(network, parameters, direction, 0.0)
    }

    /// The same of a direction that is known up to an error of length `error`: a part that is no longer than that is none.
    pub(super) fn apply_within(
        self,
        network: &Network,
        parameters: &[f64],
        mut direction: Vec<f64>,
        error: f64,
    ) -> Result<Vec<f64>> {
        network.check_parameters(parameters)?;
        network.check_parameters(&direction)?;
        let v = &mut direction;
        match self {
            Self::None => match_length(v, 1.0, 0.0),
            Self::Layer => {
                for block in network.layout().blocks() {
                    match_length(&mut v[block.range.clone()], norm(parameters[block.range].iter().copied()), error);
                }
            }
            Self::Filter => {
                for layer in network.layout().layers() {
                    let rows = v[layer.weight.clone()].chunks_exact_mut(layer.inputs);
                    for (v, w) in rows.zip(parameters[layer.weight.clone()].chunks_exact(layer.inputs)) {
                        match_length(v, norm(w.iter().copied()), error);
                    }
                    if let Some(bias) = &layer.bias {
                        v[bias.clone()].fill(0.0);
                    }
                }
            }
        }
        Ok(direction)
    }
}

fn match_length(v: &mut [f64], length: f64, error: f64) {
    let own = norm(v.iter().copied());
    v.iter_mut().for_each(|v| *v = if own > error { *v / own * length } else { 0.0 });
}
