//! W_l → Λ_rows W_l Λ_columns⁻¹, b_l → Λ_rows b_l with a factor for every node but node 0, whose is 1: in a chain
//! W_l → Λ_l W_l Λ_{l−1}⁻¹ with Λ_0 = Λ_L = I.

use super::nodes::{Nodes, factor};
use super::{ensure_homogeneous, ensure_positive, row_of};
use crate::error::{Result, ensure};
use crate::network::Network;

pub(super) fn check(network: &Network, factors: &[Vec<f64>]) -> Result<Nodes> {
    ensure_homogeneous(network)?;
    let nodes = Nodes::of(network)?;
    check_lists(network, &nodes, factors.len(), "node-wise factors")?;
    for (l, (written, factors)) in nodes.written().iter().zip(factors).enumerate() {
        ensure!(
            factors.len() == written.rows.len(),
            InvalidTransformation,
            "{}, but {} factors were given",
            has(network, &nodes, l),
            factors.len()
        );
        ensure_positive(&format!("factors[{l}]"), factors)?;
    }
    Ok(nodes)
}

/// Fails unless there is a list for every layer that is the first to write a node.
pub(super) fn check_lists(network: &Network, nodes: &Nodes, given: usize, what: &str) -> Result<()> {
    let expected = nodes.written().len();
    let they = match network.layout().is_chain() {
        true => format!("but the network has {expected} hidden layers"),
        false => format!("but {expected} layers of the network are the first to write a node that can change"),
    };
    ensure!(given == expected, InvalidTransformation, "there are {what} for {given} layers, {they}");
    Ok(())
}

/// What a list is of, in words.
pub(super) fn has(network: &Network, nodes: &Nodes, list: usize) -> String {
    let written = &nodes.written()[list];
    let (layer, count) = (&network.layout().layers()[written.layer], written.rows.len());
    match network.layout().is_chain() {
        true => format!("hidden layer {} has {count} {}s", list + 1, row_of(network, layer)),
        false => {
            format!("{} is the first to write {count} {}s", network.title(layer.layer), row_of(network, layer))
        }
    }
}

pub(super) fn apply(network: &Network, factors: &[Vec<f64>], parameters: &mut [f64]) -> Result<()> {
    let nodes = check(network, factors)?;
    let factors = nodes.by_node(1.0, factors)?;
    for (l, layer) in network.layout().layers().iter().enumerate() {
        let (rows, units) = (nodes.rows(l), nodes.units(l));
        for (i, row) in parameters[layer.weight.clone()].chunks_exact_mut(layer.inputs).enumerate() {
            let row_factor = factor(&factors, rows[i]);
            let units = &units[layer.first_unit(i)..];
            for (weights, &unit) in row.chunks_exact_mut(layer.columns_per_unit).zip(units) {
                let factor = row_factor / factor(&factors, unit);
                weights.iter_mut().for_each(|w| *w *= factor);
            }
        }
        if let Some(bias) = &layer.bias {
            for (b, &row) in parameters[bias.clone()].iter_mut().zip(rows) {
                *b *= factor(&factors, row);
            }
        }
    }
    Ok(())
}
