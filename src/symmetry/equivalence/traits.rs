//! What becomes of a node, in a few numbers that neither a rescaling changes nor another order of what reads it: means of sines of the
//! weights that it is read by, readers divided by their lengths as it is, shifted by the readers' own numbers, last layer first. Nodes
//! whose numbers differ are not one; those that read the same are told apart by them.

use crate::error::Result;
use crate::memory::{filled, zeros};
use crate::network::Network;
use crate::symmetry::nodes::Nodes;

const WHAT: &str = "what becomes of units";

const FREQUENCIES: [f64; 4] = [1.0, 2.3, 0.6, 1.7];
/// The golden angle: shifts by its multiples are all different.
const SHIFT: f64 = 2.399_963_229_728_653;
/// How much readers' own numbers, which lie within ±1, shift a sine.
const REACH: f64 = 3.0;

pub(super) type Traits = [f64; FREQUENCIES.len()];

/// Of every node, with the lengths that are given.
pub(super) fn traits(network: &Network, nodes: &Nodes, parameters: &[f64], lengths: &[f64]) -> Result<Vec<Traits>> {
    let layers = network.layout().layers();
    let divisor = |node: u32| if lengths[node as usize] == 0.0 { 1.0 } else { lengths[node as usize] };
    // A node that nothing comes into is known up to a factor: of what reads it the length is taken.
    let mut read: Vec<f64> = zeros(WHAT, nodes.count())?;
    let mut sums: Vec<(Traits, f64)> = filled(WHAT, (Traits::default(), 0.0), nodes.count())?;
    let each = |visit: &mut dyn FnMut(u32, u32, f64, f64), is_reversed: bool| {
        for at in 0..layers.len() {
            let l = if is_reversed { layers.len() - 1 - at } else { at };
            let (layer, rows, units) = (&layers[l], nodes.rows(l), nodes.units(l));
            for (r, row) in parameters[layer.weight.clone()].chunks_exact(layer.inputs).enumerate() {
                for (column, weight) in row.iter().enumerate() {
                    let node = units[layer.unit(r, column)];
                    // Node 0 is matched, and zeros are nobody's.
                    if node != 0 && (node as usize) < nodes.count() {
                        // Which place of a window it is, and which output: these stay.
                        let output = if rows[r] == 0 { r } else { 0 };
                        let place = (l + column % layer.columns_per_unit + output) as f64;
                        visit(node, rows[r], weight / divisor(rows[r]), SHIFT * place);
                    }
                }
            }
        }
    };
    each(&mut |node, _, weight, _| read[node as usize] = read[node as usize].hypot(weight), false);
    let own = |node: u32| match (lengths[node as usize], read[node as usize]) {
        (0.0, 0.0) => 1.0,
        (0.0, read) => 1.0 / read,
        (length, _) => length,
    };
    each(
        &mut |node, row, weight, shift| {
            let of_row = mean(&sums[row as usize]);
            let (sum, count) = &mut sums[node as usize];
            *count += 1.0;
            for (k, (sum, frequency)) in sum.iter_mut().zip(FREQUENCIES).enumerate() {
                *sum += (frequency * weight * own(node) + shift + REACH * of_row[(k + 1) % of_row.len()]).sin();
            }
        },
        true,
    );
    crate::memory::collected(WHAT, sums.iter().map(mean))
}

fn mean((sum, count): &(Traits, f64)) -> Traits {
    sum.map(|sum| if *count == 0.0 { 0.0 } else { sum / count })
}

/// How far two nodes are apart by them.
pub(super) fn apart(one: &Traits, other: &Traits) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}
