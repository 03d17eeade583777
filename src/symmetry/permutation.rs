//! Units of hidden layers, or channels, in another order.

use super::moves::Moves;
use super::nodes::Nodes;
use super::nodewise::{check_lists, has};
use crate::error::{Result, ensure};
use crate::memory::{copied, room, zeros};
use crate::network::Network;

const WHAT: &str = "a permutation";

pub(super) fn check(network: &Network, permutations: &[Vec<usize>]) -> Result<Moves> {
    let nodes = Nodes::of(network)?;
    check_lists(network, &nodes, permutations.len(), "permutations")?;
    let mut moved = room(WHAT, nodes.count())?;
    moved.push(0);
    for (l, (written, permutation)) in nodes.written().iter().zip(permutations).enumerate() {
        let count = written.rows.len();
        let mut seen: Vec<bool> = zeros(WHAT, count)?;
        let valid = permutation.len() == count
            && permutation.iter().all(|&i| i < count && !std::mem::replace(&mut seen[i], true));
        ensure!(
            valid,
            InvalidTransformation,
            "permutations[{l}] must hold each of 0 to {} once: {}",
            count - 1,
            has(network, &nodes, l)
        );
        moved.extend(permutation.iter().map(|&i| written.first + i as u32));
    }
    Moves::of(network, &nodes, &moved)
}

pub(super) fn apply(network: &Network, permutations: &[Vec<usize>], parameters: &mut [f64]) -> Result<()> {
    let moves = check(network, permutations)?;
    for (l, layer) in network.layout().layers().iter().enumerate() {
        let (rows, units, per_unit) = (moves.rows(l), moves.units(l), layer.columns_per_unit);
        let old = copied(WHAT, &parameters[layer.weight.clone()])?;
        for (i, row) in parameters[layer.weight.clone()].chunks_exact_mut(layer.inputs).enumerate() {
            let from = rows[i] as usize;
            let source = &old[from * layer.inputs..][..layer.inputs];
            let units = &units[layer.first_unit(i)..];
            for (weights, &unit) in row.chunks_exact_mut(per_unit).zip(units) {
                let column = (unit as usize - layer.first_unit(from)) * per_unit;
                weights.copy_from_slice(&source[column..][..per_unit]);
            }
        }
        if let Some(bias) = &layer.bias {
            let old = copied(WHAT, &parameters[bias.clone()])?;
            for (b, &i) in parameters[bias.clone()].iter_mut().zip(rows) {
                *b = old[i as usize];
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
