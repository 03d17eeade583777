//! Lengths of what goes into each unit, or tensor, when all before it are divided by theirs: with them a rescaling's factors are ratios.

use crate::error::{Result, ensure};
use crate::memory::{collected, filled, zeros};
use crate::network::{Network, ParametricLayer};
use crate::numbers::norm;
use crate::symmetry::nodes::{Nodes, factor};
use crate::symmetry::tensors::Tensors;

const WHAT: &str = "lengths of what units read";

/// What has one factor: nodes, or whole tensors; class 0 has the factor 1.
pub(super) struct Classes {
    /// Of every layer with parameters those of its rows, and of the units that come in.
    layers: Vec<(Vec<u32>, Vec<u32>)>,
    count: usize,
}

impl Classes {
    pub fn of_nodes(network: &Network, nodes: &Nodes) -> Result<Self> {
        let layers = (0..network.layout().layers().len()).map(|l| {
            let list = |nodes: &[u32]| collected(WHAT, nodes.iter().copied());
            Ok((list(nodes.rows(l))?, list(nodes.units(l))?))
        });
        Ok(Self { layers: layers.collect::<Result<_>>()?, count: nodes.count() })
    }

    pub fn of_tensors(network: &Network, tensors: &Tensors) -> Result<Self> {
        let layers = network.layout().layers().iter().enumerate().map(|(l, layer)| {
            Ok((filled(WHAT, tensors.written[l], layer.outputs)?, filled(WHAT, tensors.read[l], layer.units_in())?))
        });
        Ok(Self { layers: layers.collect::<Result<_>>()?, count: tensors.count })
    }

    /// Of each class the length of what the first layer that writes it reads it by, weights and biases, where what comes in is divided by
    /// its own length; 1 of class 0, and 0 where nothing comes in. A rescaling multiplies it by the class's factor.
    ///
    /// # Errors
    /// `NotFinite` where one overflows, with its layer; `TooLarge`.
    pub fn lengths(&self, network: &Network, parameters: &[f64]) -> Result<Vec<f64>> {
        let mut lengths = filled(WHAT, 0.0, self.count)?;
        let mut is_known = filled(WHAT, false, self.count)?;
        (lengths[0], is_known[0]) = (1.0, true);
        for (l, (layer, (rows, units))) in network.layout().layers().iter().zip(&self.layers).enumerate() {
            let mut found: Vec<f64> = zeros(WHAT, layer.outputs)?;
            for (row, found) in found.iter_mut().enumerate().filter(|(row, _)| !is_known[rows[*row] as usize]) {
                let weights = &parameters[layer.weight.start + row * layer.inputs..][..layer.inputs];
                let units = &units[layer.first_unit(row)..];
                let bias = layer.bias.as_ref().map_or(0.0, |bias| parameters[bias.start + row]);
                let entries =
                    (0..layer.inputs).map(|e| weights[e] * factor(&lengths, units[e / layer.columns_per_unit]));
                *found = norm(entries.chain([bias]));
            }
            // Only now: a layer may read what it writes again.
            for (row, found) in found.into_iter().enumerate() {
                let class = rows[row] as usize;
                if !is_known[class] {
                    lengths[class] = f64::hypot(lengths[class], found);
                }
            }
            rows.iter().for_each(|&class| is_known[class as usize] = true);
            ensure!(
                rows.iter().all(|&class| lengths[class as usize].is_finite()),
                NotFinite,
                "the vectors cannot be compared: what the weights of layers 1 to {} multiply up to is beyond what numbers hold",
                l + 1
            );
        }
        Ok(lengths)
    }

    /// The length of the class that comes in at a place of a row; 0 of those that nothing comes into.
    pub fn length(&self, lengths: &[f64], l: usize, layer: &ParametricLayer, row: usize, column: usize) -> f64 {
        factor(lengths, self.layers[l].1[layer.unit(row, column)])
    }

    /// The factor of every class that leads from `a` to `b`, if any does; or a class that is 0 in one of them alone.
    ///
    /// # Errors
    /// As [`Classes::lengths`].
    pub fn factors(&self, network: &Network, a: &[f64], b: &[f64]) -> Result<std::result::Result<Vec<f64>, usize>> {
        let [of_a, of_b] = [self.lengths(network, a)?, self.lengths(network, b)?];
        let mut factors = filled(WHAT, 0.0, self.count)?;
        for (class, factor) in factors.iter_mut().enumerate() {
            match (of_a[class] == 0.0, of_b[class] == 0.0) {
                (false, false) => *factor = of_b[class] / of_a[class],
                (true, true) => {}
                _ => return Ok(Err(class)),
            }
        }
        self.read_only(network, a, b, &mut factors)?;
        Ok(Ok(factors))
    }

    /// Factors of classes that nothing comes into: by what reads them, last layer first; 1 where nothing does.
    fn read_only(&self, network: &Network, a: &[f64], b: &[f64], factors: &mut [f64]) -> Result<()> {
        for (layer, (rows, units)) in network.layout().layers().iter().zip(&self.layers).rev() {
            if units.iter().all(|&class| factors.get(class as usize).is_none_or(|&factor| factor != 0.0)) {
                continue;
            }
            let mut squares = filled(WHAT, (0.0_f64, 0.0_f64), self.count)?;
            for (row, &class) in rows.iter().enumerate() {
                let factor = if factors[class as usize] == 0.0 { 1.0 } else { factors[class as usize] };
                for column in 0..layer.inputs {
                    let e = layer.weight.start + row * layer.inputs + column;
                    if let Some((of_a, of_b)) = squares.get_mut(units[layer.unit(row, column)] as usize) {
                        (*of_a, *of_b) = (of_a.hypot(a[e] * factor), of_b.hypot(b[e]));
                    }
                }
            }
            for (factor, (of_a, of_b)) in factors.iter_mut().zip(squares) {
                let found = of_a / of_b;
                if *factor == 0.0 && found > 0.0 && found.is_finite() {
                    *factor = found;
                }
            }
        }
        factors.iter_mut().filter(|factor| **factor == 0.0).for_each(|factor| *factor = 1.0);
        Ok(())
    }
}
