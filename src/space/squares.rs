//! The squared norm of a network's parameters as a function of the factors of its nodes, or of its tensors: what balancing makes least.

use crate::components::strongly_connected;
use crate::error::Result;
use crate::memory::{collected, copied, room, zeros};
use crate::network::ParametricLayer;
use crate::symmetry::{Nodes, ZEROS, factor};

const WHAT: &str = "the squares of the weights";

/// Squares of a layer's weights, taken together by rows and units that come in, and of its biases.
pub(super) struct Squares {
    weights: Vec<f64>,
    biases: Vec<f64>,
    /// Units that a row reads.
    each: usize,
    /// What factor each row has, and each unit that it reads.
    rows: Vec<u32>,
    units: Vec<u32>,
    /// The first unit of each row.
    first: Vec<usize>,
}

impl Squares {
    /// The factors of each term that is not 0 and that they change: the one that it falls with, and the one that it grows with. What nothing
    /// changes has the factor 0.
    fn ways(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        let fixed = |factor: u32| if factor == ZEROS { 0 } else { factor };
        let of_row = move |row: usize| {
            let units = &self.units[self.first[row]..];
            let weights = self.weights[row * self.each..][..self.each].iter().zip(units).map(|(w, &unit)| (*w, unit));
            let all = weights.chain([(self.biases[row], 0)]).filter(|(square, _)| *square > 0.0);
            all.map(move |(_, unit)| [fixed(unit), fixed(self.rows[row])])
        };
        (0..self.rows.len()).flat_map(of_row).filter(|[from, to]| from != to)
    }

    /// In units of `unit`², a power of two of the size of the largest parameter; a factor a node.
    pub fn by_node(layer: &ParametricLayer, l: usize, nodes: &Nodes, parameters: &[f64], unit: f64) -> Result<Self> {
        let square = |values: &[f64]| values.iter().map(|w| (w / unit) * (w / unit)).sum::<f64>();
        let weights = parameters[layer.weight.clone()].chunks_exact(layer.columns_per_unit).map(square);
        let biases = match &layer.bias {
            Some(bias) => collected(WHAT, parameters[bias.clone()].iter().map(|b| (b / unit) * (b / unit)))?,
            None => zeros(WHAT, layer.outputs)?,
        };
        Ok(Self {
            weights: collected(WHAT, weights)?,
            biases,
            each: layer.inputs / layer.columns_per_unit,
            rows: copied(WHAT, nodes.rows(l))?,
            units: copied(WHAT, nodes.units(l))?,
            first: collected(WHAT, (0..layer.outputs).map(|row| layer.first_unit(row)))?,
        })
    }

    /// All of a layer's together, with one factor for what it writes and one for what it reads.
    pub fn whole(self, read: u32, written: u32) -> Self {
        Self {
            weights: vec![self.weights.iter().sum()],
            biases: vec![self.biases.iter().sum()],
            each: 1,
            rows: vec![written],
            units: vec![read],
            first: vec![0],
        }
    }
}

/// Where a factor occurs, list after list: rows that it multiplies, and units whose readers it divides.
struct Places {
    /// Layer and row, or unit, of every occurrence; factor by factor.
    places: Vec<(u32, u32)>,
    starts: Vec<usize>,
}

impl Places {
    fn of<'a>(count: usize, layers: impl Iterator<Item = &'a Vec<u32>> + Clone) -> Result<Self> {
        let mut starts: Vec<usize> = zeros(WHAT, count + 1)?;
        let all = || layers.clone().enumerate().flat_map(|(l, list)| list.iter().enumerate().map(move |at| (l, at)));
        let free = || all().filter(|(_, (_, factor))| **factor != 0 && **factor != ZEROS);
        free().for_each(|(_, (_, &factor))| starts[factor as usize + 1] += 1);
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        let mut places = zeros(WHAT, starts[count])?;
        let mut next = copied(WHAT, &starts)?;
        for (l, (i, &factor)) in free() {
            places[next[factor as usize]] = (l as u32, i as u32);
            next[factor as usize] += 1;
        }
        Ok(Self { places, starts })
    }

    fn at(&self, factor: u32) -> impl Iterator<Item = (usize, usize)> + '_ {
        let places = &self.places[self.starts[factor as usize]..self.starts[factor as usize + 1]];
        places.iter().map(|&(l, i)| (l as usize, i as usize))
    }
}

/// The sum as a function of μ.
pub(super) struct Sums {
    layers: Vec<Squares>,
    rows: Places,
    units: Places,
}

impl Sums {
    pub fn new(count: usize, layers: Vec<Squares>) -> Result<Self> {
        let rows = Places::of(count, layers.iter().map(|layer| &layer.rows))?;
        let units = Places::of(count, layers.iter().map(|layer| &layer.units))?;
        Ok(Self { layers, rows, units })
    }

    /// Has the sum a minimum? A term that lies on no circle of terms can be made as small as one likes at the cost of nothing.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn has_minimum(&self, count: usize) -> Result<bool> {
        let mut ways = room(WHAT, self.layers.iter().map(|layer| layer.ways().count()).sum())?;
        ways.extend(self.layers.iter().flat_map(Squares::ways));
        let (component, _) = strongly_connected(count, &ways)?;
        Ok(ways.iter().all(|[from, to]| component[*from as usize] == component[*to as usize]))
    }

    /// Of the terms with one μ, the sum of those that grow with it, over μ. A weight that it multiplies and divides does neither.
    pub fn incoming(&self, node: u32, mu: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (l, row) in self.rows.at(node) {
            let layer = &self.layers[l];
            let units = &layer.units[layer.first[row]..];
            let weights = layer.weights[row * layer.each..][..layer.each].iter().zip(units);
            let others = weights.filter(|(_, unit)| **unit != node);
            sum += layer.biases[row] + others.map(|(square, &unit)| square / factor(mu, unit)).sum::<f64>();
        }
        sum
    }

    /// Of those that fall with it, times μ.
    pub fn outgoing(&self, node: u32, mu: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (l, unit) in self.units.at(node) {
            let layer = &self.layers[l];
            // The rows of a group are side by side, and begin at the same unit.
            let start = layer.first.partition_point(|first| first + layer.each <= unit);
            let rows = (start..layer.rows.len()).take_while(|&row| layer.first[row] <= unit);
            for row in rows.filter(|&row| layer.rows[row] != node) {
                sum += layer.weights[row * layer.each + unit - layer.first[row]] * factor(mu, layer.rows[row]);
            }
        }
        sum
    }
}
