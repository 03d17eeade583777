//! The layers that have been found so far, and the graph that they become.

use std::collections::{HashMap, HashSet};

use crate::error::{Result, bail};
use crate::io::{Graph, GraphNode, Operation, Slot};
use crate::network::{Layer, Names, Source};

/// Names longer than this are not taken over.
const LONGEST_NAME: usize = 120;

/// One layer.
struct Built {
    operation: Operation,
    sources: Vec<Source>,
    /// The tensor that it gives.
    tensor: String,
}

/// Layers in order.
#[derive(Default)]
pub struct Builder {
    built: Vec<Built>,
    /// Sentences for the reader, each once.
    notes: Vec<String>,
}

impl Builder {
    /// Adds a layer that gives this tensor.
    pub fn push(&mut self, operation: Operation, sources: Vec<Source>, tensor: &str) -> Source {
        let tensor = if tensor.len() <= LONGEST_NAME { tensor.into() } else { String::new() };
        self.built.push(Built { operation, sources, tensor });
        Source::Layer(self.built.len() - 1)
    }

    /// Adds a sentence for the reader.
    pub fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The layer of a source, to be changed.
    pub fn operation_mut(&mut self, source: Source) -> Option<&mut Operation> {
        match source {
            Source::Input => None,
            Source::Layer(i) => self.built.get_mut(i).map(|built| &mut built.operation),
        }
    }

    /// What a source's layer is.
    pub fn layer(&self, source: Source) -> Option<&Layer> {
        let Source::Layer(i) = source else { return None };
        match self.built.get(i).map(|built| &built.operation) {
            Some(Operation::Layer { layer, .. }) => Some(layer),
            _ => None,
        }
    }

    /// Does a layer read the network's input already?
    pub fn is_input_read(&self) -> bool {
        self.built.iter().any(|built| built.sources.contains(&Source::Input))
    }

    /// The graph whose outputs a source gives. Tensors that were looked at more than once cannot be written back.
    ///
    /// # Errors
    /// `InvalidNetwork` where there is no layer.
    pub fn finish(mut self, input: Vec<usize>, output: Source, uses: &HashMap<&str, usize>) -> Result<Graph> {
        let Source::Layer(last) = output else {
            bail!(InvalidNetwork, "the model gives its input as its output: there is no layer between them")
        };
        let mut is_needed = vec![false; self.built.len()];
        is_needed[last] = true;
        for i in (0..=last).rev() {
            self.mark(i, &mut is_needed);
        }
        self.displace_shared(&is_needed, uses);
        let names = self.names(&is_needed);
        let mut nodes = Vec::new();
        let mut before = Source::Input;
        for (i, built) in self.built.into_iter().enumerate().filter(|(i, _)| is_needed[*i]) {
            let name_of = |source: &Source| match source {
                Source::Input => Names::INPUT.to_string(),
                Source::Layer(j) => names.get(j).cloned().unwrap_or_default(),
            };
            let from = match &built.sources[..] {
                sources if is_joining(&built.operation) => Some(Names::Several(sources.iter().map(name_of).collect())),
                [source] if *source == before => None,
                sources => sources.first().map(|source| Names::One(name_of(source))),
            };
            nodes.push(GraphNode { operation: built.operation, name: names.get(&i).cloned(), from });
            before = Source::Layer(i);
        }
        Ok(Graph { input, nodes, notes: self.notes, softmax: None })
    }

    fn mark(&self, i: usize, is_needed: &mut [bool]) {
        if is_needed[i] {
            for source in &self.built[i].sources {
                if let Source::Layer(j) = *source {
                    is_needed[j] = true;
                }
            }
        }
    }

    /// Takes the places of parameters away that are in the file once, but here several times.
    fn displace_shared(&mut self, is_needed: &[bool], uses: &HashMap<&str, usize>) {
        let mut shared: Vec<String> = Vec::new();
        for (_, built) in self.built.iter_mut().enumerate().filter(|(i, _)| is_needed[*i]) {
            for slot in slots(&mut built.operation) {
                if let Some(place) = slot.place.take_if(|place| uses.get(place.tensor.as_str()).is_some_and(|&n| n > 1))
                {
                    shared.push(place.tensor);
                }
            }
        }
        shared.sort();
        shared.dedup();
        if let Some(first) = shared.first() {
            let more = if shared.len() > 1 { format!(" and {} more tensors", shared.len() - 1) } else { String::new() };
            self.note(format!(
                "{first}{more} in the file are the numbers of several layers at once; here each layer has its own, so they cannot \
                 be written back into that file"
            ));
        }
    }

    /// Names of the layers that are read by others than the next one.
    fn names(&self, is_needed: &[bool]) -> HashMap<usize, String> {
        let mut found: HashMap<usize, String> = HashMap::new();
        let mut taken: HashSet<String> = HashSet::from([Names::INPUT.to_string()]);
        let mut before = Source::Input;
        for (i, built) in self.built.iter().enumerate().filter(|(i, _)| is_needed[*i]) {
            let is_chained = built.sources[..] == [before] && !is_joining(&built.operation);
            for source in &built.sources {
                let Source::Layer(j) = *source else { continue };
                if is_chained || found.contains_key(&j) {
                    continue;
                }
                let tensor = &self.built[j].tensor;
                let usable = !tensor.is_empty() && !taken.contains(tensor);
                let name = if usable {
                    tensor.clone()
                } else {
                    let mut names =
                        std::iter::once(format!("layer {j}")).chain((1..).map(|n| format!("layer {j} ({n})")));
                    names.find(|name| !taken.contains(name)).unwrap_or_default()
                };
                taken.insert(name.clone());
                found.insert(j, name);
            }
            before = Source::Layer(i);
        }
        found
    }
}

fn is_joining(operation: &Operation) -> bool {
    matches!(operation, Operation::Layer { layer, .. } if layer.is_joining())
}

fn slots(operation: &mut Operation) -> impl Iterator<Item = &mut Slot> {
    let pair = match operation {
        Operation::Layer { weight, bias, .. } => [weight, bias],
        Operation::BatchNorm(norm) => [&mut norm.scale, &mut norm.shift],
    };
    pair.into_iter().flatten()
}
