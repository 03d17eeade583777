//! The trace as a sum over pairs of factors: Tr H(T_Λ θ) = Σ share · e^(2 (u_column − u_row)), u = ln Λ.

use super::Factors;
use crate::error::Result;
use crate::measure::balance::{SMALLEST, Terms, unit_of};
use crate::network::Network;
use crate::symmetry::{Nodes, Tensors, ZEROS};

/// From the diagonal of all parameters, in units of a power of two.
pub(super) fn terms(network: &Network, diagonal: &[f64], factors: &Factors, has_biases: bool) -> Result<Terms> {
    let unit = unit_of(diagonal.iter().sum(), diagonal.iter().copied(), SMALLEST);
    Terms::of(factors.count(), unit, |with| {
        let mut scaled = |row: u32, column: u32, share: f64| {
            // What reads or writes zeros has no curvature.
            let known = |factor: u32| if factor == ZEROS { 0 } else { factor };
            with(known(row), known(column), share / unit);
        };
        match factors {
            Factors::Nodes(nodes) => by_node(network, nodes, diagonal, has_biases, &mut scaled),
            Factors::Tensors(tensors) => by_tensor(network, tensors, diagonal, has_biases, &mut scaled),
        }
    })
}

/// A term for each row and what it reads; neighbours that read one node are one term, as in a layer that reads the inputs.
fn by_node(network: &Network, nodes: &Nodes, diagonal: &[f64], has_biases: bool, with: &mut dyn FnMut(u32, u32, f64)) {
    for (l, layer) in network.layout().layers().iter().enumerate() {
        let (rows, units) = (nodes.rows(l), nodes.units(l));
        for (i, weights) in diagonal[layer.weight.clone()].chunks_exact(layer.inputs).enumerate() {
            let columns = &units[layer.first_unit(i)..];
            let (mut column, mut share) = (columns[0], 0.0);
            for (weights, &other) in weights.chunks_exact(layer.columns_per_unit).zip(columns) {
                if other != column {
                    with(rows[i], column, std::mem::take(&mut share));
                    column = other;
                }
                share += weights.iter().sum::<f64>();
            }
            with(rows[i], column, share);
        }
        for (&share, &row) in biases(layer.bias.clone(), diagonal, has_biases).iter().zip(rows) {
            with(row, 0, share);
        }
    }
}

/// A term for the weights of each layer, and one for its biases.
fn by_tensor(
    network: &Network,
    tensors: &Tensors,
    diagonal: &[f64],
    has_biases: bool,
    with: &mut dyn FnMut(u32, u32, f64),
) {
    for (l, layer) in network.layout().layers().iter().enumerate() {
        with(tensors.written[l], tensors.read[l], diagonal[layer.weight.clone()].iter().sum());
        with(tensors.written[l], 0, biases(layer.bias.clone(), diagonal, has_biases).iter().sum());
    }
}

fn biases(place: Option<std::ops::Range<usize>>, diagonal: &[f64], has_biases: bool) -> &[f64] {
    place.filter(|_| has_biases).map_or(&[], |place| &diagonal[place])
}
