//! Powers of β for Theorem 5: as many layers as can be shrink by 1/β or more, those with the fewest weights are held back.
//!
//! A layer's power is that of what it writes less that of what it reads, so those of a whole way, or of a circle, sum to 0: on every way some
//! layer is held back. In a chain it is one, and the others shrink by 1/β exactly. In a graph the tensors are cut in two, those that are
//! written early and those that are written late: powers fall from the inputs to the cut and again from there to the outputs, and the layers that
//! cross it, or that close a circle, are held back. The cut with the fewest weights is taken.

use crate::error::Result;
use crate::network::Network;
use crate::symmetry::Tensors;

/// Powers of β, and which layers do not shrink.
pub(super) struct Exponents {
    /// One a layer.
    pub powers: Vec<i32>,
    /// The layers that do not shrink.
    pub held: Vec<usize>,
    /// Their weights.
    pub held_weights: usize,
}

impl Exponents {
    /// Those of the best cut.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn of(network: &Network) -> Result<Self> {
        let tensors = Tensors::of(network)?;
        let layers = network.layout().layers();
        let cut = |early: usize| {
            let powers = powers(&tensors, early);
            let held: Vec<usize> = (0..layers.len()).filter(|&l| powers[l] > -1).collect();
            let held_weights = held.iter().map(|&l| layers[l].weight.len()).sum();
            Self { powers, held, held_weights }
        };
        Ok((1..=tensors.count).map(cut).min_by_key(|found| found.held_weights).expect("there is a cut"))
    }
}

/// The powers of layers where the tensors up to `early` (tensor 0 and those behind it) are on the inputs' side.
fn powers(tensors: &Tensors, early: usize) -> Vec<i32> {
    let layers =
        || tensors.read.iter().zip(&tensors.written).map(|(&read, &written)| (read as usize, written as usize));
    let mut power = vec![0_i32; tensors.count];
    for tensor in 1..early {
        let before = layers().filter(|&(read, written)| written == tensor && read < tensor);
        power[tensor] = before.map(|(read, _)| power[read]).min().unwrap_or(0) - 1;
    }
    for tensor in (early..tensors.count).rev() {
        let after = layers().filter(|&(read, written)| read == tensor && (written == 0 || written > tensor));
        power[tensor] = after.map(|(_, written)| power[written]).max().unwrap_or(0).max(0) + 1;
    }
    layers().map(|(read, written)| power[written] - power[read]).collect()
}
