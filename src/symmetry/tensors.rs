//! Tensors as nodes: what layer-wise factors can be. What a layer reads as a whole has one factor, so `concat` unites what it puts
//! side by side, as `add` does.

use serde::Serialize;

use super::union::Union;
use crate::error::Result;
use crate::network::{Network, Source, numbering};

const WHAT: &str = "the network's tensors";

/// Something between layers that can be rescaled as a whole: its writers' weights and biases by a factor, its readers' weights by the
/// inverse. All layer-wise rescalings are made of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FreeTensor {
    /// The layers with parameters, counted from 0 (in JSON from 1), that write it.
    #[serde(serialize_with = "numbering::list::serialize")]
    pub writers: Vec<usize>,
    /// Those that read it.
    #[serde(serialize_with = "numbering::list::serialize")]
    pub readers: Vec<usize>,
}

/// The tensors that layers with parameters read and write, numbered from 1 in the order in which they are first written; the inputs and
/// outputs, and what is added to them, are tensor 0.
pub(crate) struct Tensors {
    /// What each layer with parameters reads.
    pub read: Vec<u32>,
    /// What it writes.
    pub written: Vec<u32>,
    /// The layer with parameters whose values it reads: the first one, where they are of several.
    pub before: Vec<Option<usize>>,
    /// How many there are, tensor 0 included.
    pub count: usize,
}

impl Tensors {
    /// Of a network.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn of(network: &Network) -> Result<Self> {
        let layout = network.layout();
        let mut union = Union::new(WHAT, layout.layers().len() + 1)?;
        // Of what each layer gives, and of what comes in: its number until they are united, and whose values they are.
        let mut given: Vec<(u32, Option<usize>)> = Vec::new();
        let (mut read, mut written, mut before) = (Vec::new(), Vec::new(), Vec::new());
        for (i, layer) in network.layers().enumerate() {
            let sources = layout.sources(i).iter();
            let mut reads = sources.map(|&source| match source {
                Source::Input => (0, None),
                Source::Layer(j) => given[j],
            });
            let first = reads.next().expect("a layer reads something");
            reads.for_each(|(other, _)| union.unite(first.0, other));
            given.push(if layer.is_parametric() {
                read.push(first.0);
                before.push(first.1);
                written.push(written.len() as u32 + 1);
                (written.len() as u32, Some(written.len() - 1))
            } else {
                first
            });
        }
        if let Some(&(last, _)) = given.last() {
            union.unite(0, last);
        }
        let mut number = vec![0; written.len() + 1];
        let mut count = 1;
        for &tensor in &written {
            let set = union.find(tensor);
            if set != 0 && number[set as usize] == 0 {
                (number[set as usize], count) = (count, count + 1);
            }
        }
        for tensor in read.iter_mut().chain(&mut written) {
            *tensor = number[union.find(*tensor) as usize];
        }
        Ok(Self { read, written, before, count: count as usize })
    }

    /// Those that can be rescaled.
    pub fn free(&self) -> Vec<FreeTensor> {
        let places = |of: &[u32], tensor: usize| {
            of.iter().enumerate().filter(|(_, other)| **other as usize == tensor).map(|(l, _)| l).collect()
        };
        (1..self.count)
            .map(|tensor| FreeTensor { writers: places(&self.written, tensor), readers: places(&self.read, tensor) })
            .collect()
    }

    /// The layers on a way from the inputs over a layer, this one last.
    pub fn way(&self, layer: usize) -> Vec<usize> {
        let mut way: Vec<usize> = std::iter::successors(Some(layer), |&layer| self.before[layer]).collect();
        way.reverse();
        way
    }
}

/// The tensors whose factors are free, in the order in which they are first written: one slider each. In a chain, what each hidden layer
/// gives.
///
/// # Errors
/// `TooLarge`.
pub fn free_tensors(network: &Network) -> Result<Vec<FreeTensor>> {
    Ok(Tensors::of(network)?.free())
}
