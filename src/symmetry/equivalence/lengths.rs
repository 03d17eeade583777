//! Lengths of what goes into each unit, or tensor, when all before it are divided by theirs: with them a rescaling's factors are ratios.

use crate::error::{Result, ensure};
use crate::memory::{collected, filled, room, zeros};
use crate::network::{Network, ParametricLayer};
use crate::numbers::norm;
use crate::sorting::sort_by;
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
        self.by_single_weights(network, a, b, &mut factors)?;
        Ok(Ok(factors))
    }

    /// Factors of classes that nothing comes into, which are 0 here still: a weight w that is b's too says what a row's factor is by its
    /// column's. Of all weights the largest that connect classes are gone by; of those that are connected to no factor that is known one is 1.
    fn by_single_weights(&self, network: &Network, a: &[f64], b: &[f64], factors: &mut [f64]) -> Result<()> {
        if !factors.contains(&0.0) {
            return Ok(());
        }
        let mut ways = room(WHAT, self.open_ways(network, a, b, factors).count())?;
        ways.extend(self.open_ways(network, a, b, factors));
        sort_by(&mut ways, |one, other| other.size.total_cmp(&one.size));
        let mut known = Potentials::new(factors)?;
        ways.iter().for_each(|way| known.connect(way));
        for (class, factor) in factors.iter_mut().enumerate().filter(|(_, factor)| **factor == 0.0) {
            *factor = known.root(class).1.exp();
        }
        Ok(())
    }

    /// The weights that connect classes one of which has no factor yet.
    fn open_ways<'a>(
        &'a self,
        network: &'a Network,
        a: &'a [f64],
        b: &'a [f64],
        factors: &'a [f64],
    ) -> impl Iterator<Item = Way> + 'a {
        let is_open = |class: u32| factors.get(class as usize).is_some_and(|&factor| factor == 0.0);
        network.layout().layers().iter().zip(&self.layers).flat_map(move |(layer, (rows, units))| {
            (0..layer.outputs * layer.inputs).filter_map(move |at| {
                let (row, column) = (at / layer.inputs, at % layer.inputs);
                let (into, from) = (rows[row], units[layer.unit(row, column)]);
                let [of_a, of_b] = [a, b].map(|of| of[layer.weight.start + at]);
                if of_a == 0.0 || of_b == 0.0 || !(is_open(into) || is_open(from)) {
                    return None;
                }
                // What is padded with has the factor 1, as class 0.
                let from = if (from as usize) < self.count { from } else { 0 };
                let (size, ratio) = (of_a.abs().ln() + of_b.abs().ln(), of_b.abs().ln() - of_a.abs().ln());
                (of_a.signum() == of_b.signum()).then_some(Way { size, into, from, ratio })
            })
        })
    }
}

/// A weight that neither vector has as 0: between the logarithms of two classes' factors lies that of its ratio.
struct Way {
    size: f64,
    into: u32,
    from: u32,
    ratio: f64,
}

/// Logarithms of factors, relative to each other where they are connected (union-find).
struct Potentials {
    /// What each class is relative to, and by how much; a root is so to itself.
    parents: Vec<(usize, f64)>,
}

impl Potentials {
    /// Factors that are not 0 are known, and so relative to class 0.
    fn new(factors: &[f64]) -> Result<Self> {
        let known = |(class, &factor): (usize, &f64)| if factor == 0.0 { (class, 0.0) } else { (0, factor.ln()) };
        Ok(Self { parents: collected(WHAT, factors.iter().enumerate().map(known))? })
    }

    /// The root of a class, and its logarithm relative to that.
    fn root(&mut self, class: usize) -> (usize, f64) {
        let (mut at, mut whole) = (class, 0.0);
        while self.parents[at].0 != at {
            let (parent, potential) = self.parents[at];
            // On the way each is put nearer to the root.
            let (above, more) = self.parents[parent];
            if above != parent {
                self.parents[at] = (above, potential + more);
            }
            (at, whole) = (self.parents[at].0, whole + self.parents[at].1);
        }
        (at, whole)
    }

    fn connect(&mut self, way: &Way) {
        let [(into, of_into), (from, of_from)] = [way.into, way.from].map(|class| self.root(class as usize));
        // ln f_into − ln f_from is to be the ratio's; class 0 stays a root.
        let gap = way.ratio + of_from - of_into;
        match (into == from, into == 0) {
            (true, _) => {}
            (false, false) => self.parents[into] = (from, gap),
            (false, true) => self.parents[from] = (into, -gap),
        }
    }
}
