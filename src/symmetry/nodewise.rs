//! W_l → Λ_l W_l Λ_{l−1}⁻¹, b_l → Λ_l b_l with Λ_0 = Λ_L = I. In a convolution the units are channels; pools and a
//! flatten hand a channel's factor on to all columns that read it.

use super::{ensure_homogeneous, ensure_positive, rows_of};
use crate::error::{Result, ensure};
use crate::network::Network;

pub(super) fn check(network: &Network, factors: &[Vec<f64>]) -> Result<()> {
    ensure_homogeneous(network)?;
    let hidden = &network.layout().layers()[..network.layout().layers().len() - 1];
    ensure!(
        factors.len() == hidden.len(),
        InvalidTransformation,
        "there are node-wise factors for {} layers, but the network has {} hidden layers",
        factors.len(),
        hidden.len()
    );
    for (l, (layer, factors)) in hidden.iter().zip(factors).enumerate() {
        ensure!(
            factors.len() == layer.outputs,
            InvalidTransformation,
            "hidden layer {l} has {} {}, but {} factors were given",
            layer.outputs,
            rows_of(network, layer),
            factors.len()
        );
        ensure_positive(&format!("factors[{l}]"), factors)?;
    }
    Ok(())
}

pub(super) fn apply(network: &Network, factors: &[Vec<f64>], parameters: &mut [f64]) -> Result<()> {
    check(network, factors)?;
    for (l, layer) in network.layout().layers().iter().enumerate() {
        let incoming = l.checked_sub(1).map(|before| &factors[before]);
        let outgoing = factors.get(l);
        for (i, row) in parameters[layer.weight.clone()].chunks_exact_mut(layer.inputs).enumerate() {
            let row_factor = outgoing.map_or(1.0, |f| f[i]);
            for (j, w) in row.iter_mut().enumerate() {
                *w *= row_factor / incoming.map_or(1.0, |f| f[j / layer.columns_per_unit]);
            }
        }
        if let (Some(bias), Some(factors)) = (&layer.bias, outgoing) {
            for (b, factor) in parameters[bias.clone()].iter_mut().zip(factors) {
                *b *= factor;
            }
        }
    }
    Ok(())
}
