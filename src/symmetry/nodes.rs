//! Nodes: which rows and columns of which weights belong to one neuron.
//!
//! Every output unit or channel of every layer with parameters is a node, and what activations, pools and a flatten make of it still is;
//! `concat` puts nodes side by side, and `add` makes those that meet one. The network's inputs and outputs, and what is added to
//! them, are node 0, whose factor is 1 for ever. In a chain every hidden layer's rows are nodes of their own.

use super::union::Union;
use crate::error::Result;
use crate::memory::{copied, filled, room, zeros};
use crate::network::{Layer, Network, Source};

/// In place of a node: zeros that a layer has put there. No factor changes them.
pub(crate) const ZEROS: u32 = u32::MAX;

const WHAT: &str = "the network's nodes";

/// The nodes of a network, numbered in the order in which they are first written, from 1; node 0 is fixed.
pub(crate) struct Nodes {
    /// Nodes of what goes between layers, channel by channel; several tensors may share a list.
    lists: Vec<Vec<u32>>,
    /// Of every layer with parameters the lists of its rows, and of the units or channels that come in.
    layers: Vec<(usize, usize)>,
    written: Vec<Written>,
    count: usize,
}

/// The nodes that a layer is the first to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    /// The layer, among those with parameters.
    pub layer: usize,
    /// The first of the nodes; the others follow.
    pub first: u32,
    /// The row that writes each.
    pub rows: Vec<u32>,
}

impl Nodes {
    /// Of a network.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn of(network: &Network) -> Result<Self> {
        let mut walk = Walk::new(network)?;
        for i in 0..network.named_layers().len() {
            walk.pass(i)?;
        }
        walk.finish()
    }

    /// The node of every row of a layer with parameters.
    pub fn rows(&self, layer: usize) -> &[u32] {
        &self.lists[self.layers[layer].0]
    }

    /// The node of every unit or channel that comes in there, or [`ZEROS`].
    pub fn units(&self, layer: usize) -> &[u32] {
        &self.lists[self.layers[layer].1]
    }

    /// The layers that are the first to write a node, with these: what factors and permutations are listed by.
    pub fn written(&self) -> &[Written] {
        &self.written
    }

    /// How many there are, node 0 included.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Values listed as the nodes are, node by node; node 0's before them.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn by_node(&self, zeroth: f64, lists: &[Vec<f64>]) -> Result<Vec<f64>> {
        let mut values = room(WHAT, self.count)?;
        values.push(zeroth);
        lists.iter().for_each(|list| values.extend_from_slice(list));
        debug_assert_eq!(values.len(), self.count);
        Ok(values)
    }

    /// The reverse: the values of nodes from 1, in lists.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn in_lists<T: Clone>(&self, values: &[T]) -> Result<Vec<Vec<T>>> {
        let list = |written: &Written| copied(WHAT, &values[written.first as usize..][..written.rows.len()]);
        self.written.iter().map(list).collect()
    }

    /// Which list a node is in, and where there.
    pub fn place(&self, node: u32) -> (usize, usize) {
        let list = self.written.partition_point(|written| written.first <= node) - 1;
        (list, (node - self.written[list].first) as usize)
    }

    /// What messages call a node other than node 0.
    pub fn title(&self, network: &Network, node: u32) -> String {
        let (list, at) = self.place(node);
        let Written { layer, rows, .. } = &self.written[list];
        let layer = &network.layout().layers()[*layer];
        match network.layout().is_chain() {
            true => format!("unit {at} of hidden layer {}", list + 1),
            false => format!("{} {} of {}", super::row_of(network, layer), rows[at], network.title(layer.layer)),
        }
    }
}

/// The factor of a node; 1 of zeros.
pub(crate) fn factor(by_node: &[f64], node: u32) -> f64 {
    by_node.get(node as usize).copied().unwrap_or(1.0)
}

/// The nodes on the way through a network, as numbers of rows that are not united yet.
struct Walk<'a> {
    network: &'a Network,
    union: Union,
    lists: Vec<Vec<u32>>,
    /// The list of what each layer gives.
    given: Vec<usize>,
    layers: Vec<(usize, usize)>,
    next: u32,
}

impl<'a> Walk<'a> {
    fn new(network: &'a Network) -> Result<Self> {
        let layout = network.layout();
        let rows: usize = layout.layers().iter().map(|layer| layer.outputs).sum();
        let input = zeros(WHAT, layout.tensor(Source::Input).shape.channels)?;
        let (lists, given, layers) = (vec![input], Vec::new(), Vec::new());
        Ok(Self { network, union: Union::new(WHAT, rows + 1)?, lists, given, layers, next: 1 })
    }

    fn list_of(&self, source: Source) -> usize {
        match source {
            Source::Input => 0,
            Source::Layer(i) => self.given[i],
        }
    }

    fn add(&mut self, list: Vec<u32>) -> usize {
        self.lists.push(list);
        self.lists.len() - 1
    }

    /// Layer i.
    fn pass(&mut self, i: usize) -> Result<()> {
        let layout = self.network.layout();
        let sources = layout.sources(i);
        let first = self.list_of(sources[0]);
        let list = match *self.network.layer(i) {
            ref layer if layer.is_parametric() => {
                let units = if matches!(layer, Layer::Scale { .. }) { self.apart(i, sources[0])? } else { first };
                let rows = layout.layers()[self.layers.len()].outputs as u32;
                let list = self.add(crate::memory::collected(WHAT, self.next..self.next + rows)?);
                self.next += rows;
                self.layers.push((list, units));
                list
            }
            Layer::Add => self.sum(i)?,
            Layer::Concat => {
                let mut all = room(WHAT, layout.tensor(Source::Layer(i)).shape.channels)?;
                for &source in sources {
                    let list = self.apart(i, source)?;
                    all.extend_from_slice(&self.lists[list]);
                }
                self.add(all)
            }
            Layer::PadChannels { before, .. } => {
                let mut all = filled(WHAT, ZEROS, layout.tensor(Source::Layer(i)).shape.channels)?;
                let list = self.apart(i, sources[0])?;
                let list = &self.lists[list];
                all[before..before + list.len()].copy_from_slice(list);
                self.add(all)
            }
            _ => first,
        };
        self.given.push(list);
        Ok(())
    }

    /// What layer i reads there as it reads it: of a flattened image, whose features it tells apart, each channel's node for all its
    /// positions.
    fn apart(&mut self, i: usize, source: Source) -> Result<usize> {
        let list = self.list_of(source);
        let repeated = positions(self.network, i, source);
        if repeated == 1 {
            return Ok(list);
        }
        let mut all = room(WHAT, self.lists[list].len() * repeated)?;
        for &node in &self.lists[list] {
            all.resize(all.len() + repeated, node);
        }
        Ok(self.add(all))
    }

    /// Unites what meets.
    fn sum(&mut self, i: usize) -> Result<usize> {
        let layout = self.network.layout();
        let mut sum = filled(WHAT, ZEROS, layout.tensor(Source::Layer(i)).shape.channels)?;
        for &source in layout.sources(i) {
            let list = self.apart(i, source)?;
            for (sum, &node) in sum.iter_mut().zip(&self.lists[list]) {
                match (*sum, node) {
                    (_, ZEROS) => {}
                    (ZEROS, node) => *sum = node,
                    (sum, node) => self.union.unite(sum, node),
                }
            }
        }
        Ok(self.add(sum))
    }

    /// The outputs are fixed, and the nodes are numbered.
    fn finish(mut self) -> Result<Nodes> {
        let last = self.given.last().copied().unwrap_or(0);
        for &node in self.lists[last].iter().filter(|&&node| node != ZEROS) {
            self.union.unite(0, node);
        }
        let mut number: Vec<u32> = filled(WHAT, ZEROS, self.next as usize)?;
        number[0] = 0;
        let mut count = 1;
        let mut written = Vec::new();
        for (layer, &(rows, _)) in self.layers.iter().enumerate() {
            let (mut new, first) = (room(WHAT, self.lists[rows].len())?, count);
            for (row, &node) in self.lists[rows].iter().enumerate() {
                let number = &mut number[self.union.find(node) as usize];
                if *number == ZEROS {
                    (*number, count) = (count, count + 1);
                    new.push(row as u32);
                }
            }
            if !new.is_empty() {
                written.push(Written { layer, first, rows: new });
            }
        }
        for node in self.lists.iter_mut().flatten().filter(|node| **node != ZEROS) {
            *node = number[self.union.find(*node) as usize];
        }
        Ok(Nodes { lists: self.lists, layers: self.layers, written, count: count as usize })
    }
}

/// How many features layer i tells apart in each channel of what it reads there.
pub(super) fn positions(network: &Network, i: usize, source: Source) -> usize {
    let layout = network.layout();
    let (read, given) = (layout.tensor(source), layout.tensor(Source::Layer(i)));
    if read.is_flat { read.shape.area() / given.shape.area() } else { 1 }
}
