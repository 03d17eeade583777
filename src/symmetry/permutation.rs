//! Units of hidden layers, or channels, in another order.

use super::rows_of;
use crate::error::{Result, ensure};
use crate::network::Network;

pub(super) fn check(network: &Network, permutations: &[Vec<usize>]) -> Result<()> {
    let hidden = &network.layout().layers()[..network.layout().layers().len() - 1];
    ensure!(
        permutations.len() == hidden.len(),
        InvalidTransformation,
        "there are permutations for {} layers, but the network has {} hidden layers",
        permutations.len(),
        hidden.len()
    );
    for (l, (layer, permutation)) in hidden.iter().zip(permutations).enumerate() {
        let mut seen = vec![false; layer.outputs];
        let valid = permutation.len() == layer.outputs
            && permutation.iter().all(|&i| i < seen.len() && !std::mem::replace(&mut seen[i], true));
        ensure!(
            valid,
            InvalidTransformation,
            "permutations[{l}] must hold each of 0 to {} once, for the {} {} of hidden layer {l}",
            layer.outputs - 1,
            layer.outputs,
            rows_of(network, layer)
        );
    }
    Ok(())
}

pub(super) fn apply(network: &Network, permutations: &[Vec<usize>], parameters: &mut [f64]) -> Result<()> {
    check(network, permutations)?;
    for (l, layer) in network.layout().layers().iter().enumerate() {
        let columns = l.checked_sub(1).map(|before| &permutations[before]);
        let rows = permutations.get(l);
        let old = parameters[layer.weight.clone()].to_vec();
        for (i, row) in parameters[layer.weight.clone()].chunks_exact_mut(layer.inputs).enumerate() {
            let source = &old[rows.map_or(i, |p| p[i]) * layer.inputs..][..layer.inputs];
            let per_unit = layer.columns_per_unit;
            for (j, w) in row.chunks_exact_mut(per_unit).enumerate() {
                w.copy_from_slice(&source[columns.map_or(j, |p| p[j]) * per_unit..][..per_unit]);
            }
        }
        if let (Some(bias), Some(rows)) = (&layer.bias, rows) {
            let old = parameters[bias.clone()].to_vec();
            for (b, &i) in parameters[bias.clone()].iter_mut().zip(rows) {
                *b = old[i];
            }
        }
    }
    Ok(())
}

/// The permutation that undoes this one.
pub(super) fn inverse(permutation: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; permutation.len()];
    for (new, &old) in permutation.iter().enumerate() {
        inverse[old] = new;
    }
    inverse
}
