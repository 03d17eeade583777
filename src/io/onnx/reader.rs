//! What is known while a graph is read: tensors by name, and how much has been copied.

use std::collections::{HashMap, HashSet};

use super::activation::{Activation, Axis};
use super::builder::Builder;
use super::constant::{Constant, Numbers, Size, View};
use super::function::Function;
use super::node::Node;
use super::proto::TensorProto;
use super::tensor::{self, Beside};
use crate::error::{Result, bail, ensure};
use crate::io::array::count;
use crate::io::{Graph, Operation};
use crate::network::{Layer, MAX_PARAMETERS, Padding, Shape, Source};

/// Whole numbers that shapes are computed from: no more of them at once.
pub const MOST_NUMBERS: usize = 256;

/// Bytes that may be copied out of tensors, for each byte of the files, and besides: one that is read for ever is no model.
const TIMES: u64 = 64;
const SPARE: u64 = 1 << 22;

/// What a tensor's name stands for.
#[derive(Debug, Clone)]
pub enum Value<'a> {
    /// Weights, or other numbers of the file.
    Constant(Constant<'a>),
    /// Whole numbers that were computed, for shapes.
    Numbers(Numbers),
    /// Zeros of a shape.
    Zeros(Vec<Size>),
    /// What a layer gives.
    Activation(Activation),
    /// A function of that, number by number, which may yet become a layer.
    Function(Box<Function>),
}

/// A graph on its way.
pub struct Reader<'a> {
    /// Layers so far.
    pub builder: Builder,
    /// Shape of the network's input.
    pub input: Vec<usize>,
    /// Axes of the model's input, in the file's order.
    pub input_axes: Vec<Axis>,
    /// Version of the operators.
    pub opset: i64,
    /// Tensors that do not hang on the input, those too that are yet to be computed.
    pub fixed: HashSet<&'a str>,
    /// Samples at once, where the file fixes that.
    pub batch: Option<i64>,
    /// All nodes that the output needs, in the file's order.
    pub nodes: &'a [Node<'a>],
    /// Which of them read a tensor.
    pub readers: HashMap<&'a str, Vec<usize>>,
    /// Tensors by name.
    pub values: HashMap<&'a str, Value<'a>>,
    /// Those with numbers.
    pub(super) tensors: HashMap<&'a str, &'a TensorProto>,
    /// Those whose numbers are a node's attributes, or computed of others, not a tensor: they cannot be written back.
    pub(super) inline: HashMap<&'a str, Vec<f64>>,
    /// How often each was looked at.
    pub(super) uses: HashMap<&'a str, usize>,
    pub(super) beside: Beside<'a>,
    pub(super) budget: u64,
}

impl<'a> Reader<'a> {
    /// One that has read nothing yet.
    pub fn new(nodes: &'a [Node<'a>], opset: i64, bytes: u64, beside: Beside<'a>) -> Self {
        let mut readers: HashMap<&str, Vec<usize>> = HashMap::new();
        for (i, node) in nodes.iter().enumerate() {
            for name in node.proto.input.iter().filter(|name| !name.is_empty()) {
                readers.entry(name).or_default().push(i);
            }
        }
        Self {
            builder: Builder::default(),
            input: Vec::new(),
            input_axes: Vec::new(),
            opset,
            fixed: HashSet::new(),
            batch: None,
            nodes,
            readers,
            values: HashMap::new(),
            tensors: HashMap::new(),
            inline: HashMap::new(),
            uses: HashMap::new(),
            beside,
            budget: bytes.saturating_add(beside.bytes()).saturating_mul(TIMES).saturating_add(SPARE),
        }
    }

    /// Makes a tensor with numbers known.
    ///
    /// # Errors
    /// `Parse` for a shape that cannot be, or a name that is taken.
    pub fn add_tensor(&mut self, name: &'a str, tensor: &'a TensorProto) -> Result<()> {
        let view = View::whole(tensor::shape(tensor)?);
        let is_floating = tensor::is_floating(tensor.data_type);
        let taken = self.values.insert(name, Value::Constant(Constant { tensor: name, is_floating, view }));
        ensure!(taken.is_none(), Parse, "the graph has two tensors of the name {name}");
        self.tensors.insert(name, tensor);
        Ok(())
    }

    /// Goes through the nodes for what does not hang on the input, once all tensors are known.
    pub fn find_fixed(&mut self) {
        self.fixed = self.values.keys().copied().collect();
        for node in self.nodes {
            let mut inputs = node.proto.input.iter().filter(|name| !name.is_empty());
            if inputs.all(|name| self.fixed.contains(&name[..])) {
                self.fixed.extend(node.proto.output.iter().map(String::as_str));
            }
        }
    }

    /// Likewise, of numbers that a node has as they are.
    ///
    /// # Errors
    /// `Parse` for a name that is taken.
    pub fn add_numbers(&mut self, node: Node<'a>, constant: Constant<'a>, values: Vec<f64>) -> Result<()> {
        self.inline.insert(constant.tensor, values);
        self.give(node, Value::Constant(constant))
    }

    /// Says what a node gives.
    ///
    /// # Errors
    /// `Parse` for a name that is taken.
    pub fn give(&mut self, node: Node<'a>, value: Value<'a>) -> Result<()> {
        let name = node.output()?;
        match &value {
            Value::Numbers(numbers) => self.spend(numbers.values.len().saturating_mul(size_of::<Size>()))?,
            Value::Zeros(sizes) => self.spend(sizes.len().saturating_mul(size_of::<Size>()))?,
            _ => {}
        }
        let taken = self.values.insert(name, value);
        ensure!(taken.is_none(), Parse, "{} gives {name}, which is there already", node.title());
        Ok(())
    }

    /// What a name stands for.
    ///
    /// # Errors
    /// `Parse` for one that stands for nothing, or for a tensor that comes later.
    pub fn value(&self, node: Node, name: &str) -> Result<&Value<'a>> {
        if let Some(value) = self.values.get(name) {
            return Ok(value);
        }
        let later = self.nodes.iter().find(|other| other.proto.output.iter().any(|output| output == name));
        match later {
            Some(later) if later.index < node.index => bail!(
                InvalidNetwork,
                "{} reads {name}, which {} gives beside its first output: only that is known",
                node.title(),
                later.title()
            ),
            Some(later) => bail!(
                Parse,
                "{} comes before {}, of which it reads {name}: nodes must be in the order in which they are computed",
                node.title(),
                later.title()
            ),
            None => bail!(Parse, "{} reads {name}, but nothing in the graph gives that", node.title()),
        }
    }

    /// What a node reads at a place, as the output of a layer; a function before it becomes one.
    ///
    /// # Errors
    /// `InvalidNetwork` for anything else.
    pub fn activation(&mut self, node: Node<'a>, at: usize) -> Result<Activation> {
        let name = node.input(at)?;
        self.settle(node, name)?;
        match self.value(node, name)? {
            Value::Activation(activation) => {
                let is_shared = activation.is_shared || self.is_read_elsewhere(name);
                Ok(Activation { is_shared, ..activation.clone() })
            }
            _ => bail!(
                InvalidNetwork,
                "{} reads {name}, which does not depend on the network's input: isoflat's layers read what other layers give",
                node.title()
            ),
        }
    }

    /// The same where nothing is to be put around the image any more.
    ///
    /// # Errors
    /// Likewise.
    pub fn unpadded(&mut self, node: Node<'a>, at: usize) -> Result<Activation> {
        let found = self.activation(node, at)?;
        ensure!(
            found.padding.is_none(),
            InvalidNetwork,
            "{} reads a padded image, but only a Conv or an AveragePool after the Pad takes its zeros into its own padding",
            node.title()
        );
        Ok(found)
    }

    /// The nodes that read a tensor, of very many the first ones.
    pub fn readers_of(&self, name: &str) -> impl Iterator<Item = &Node<'a>> {
        self.readers.get(name).into_iter().flatten().filter_map(|&i| self.nodes.get(i)).take(8)
    }

    fn is_read_elsewhere(&self, name: &str) -> bool {
        self.readers.get(name).is_some_and(|readers| readers.len() > 1)
    }

    /// A tensor of the file that a node reads at a place.
    ///
    /// # Errors
    /// `InvalidNetwork` where it is computed.
    pub fn constant(&self, node: Node<'a>, at: usize) -> Result<Constant<'a>> {
        let name = node.input(at)?;
        match self.value(node, name)? {
            Value::Constant(constant) => Ok(constant.clone()),
            _ => bail!(
                InvalidNetwork,
                "{} reads {name} as its weights, but that is computed, not a tensor of the file: isoflat's weights are parameters",
                node.title()
            ),
        }
    }

    /// Adds a layer without parameters that reads one thing.
    ///
    /// # Errors
    /// What [`crate::network::Window::output`] says.
    pub fn plain(&mut self, node: Node<'a>, layer: Layer, from: &Activation) -> Result<Activation> {
        let window = match &layer {
            Layer::MaxPool2d(pool) | Layer::AvgPool2d(pool) => Some(pool.window()),
            _ => None,
        };
        let shape = match (&layer, window) {
            (_, Some(window)) => window.output(&node.title(), from.shape, from.shape.channels)?,
            (Layer::GlobalAvgPool2d, _) => Shape { height: 1, width: 1, ..from.shape },
            (Layer::Flatten, _) => Shape::flat(from.len()),
            _ => from.shape,
        };
        let is_row = from.is_row || layer == Layer::Flatten;
        let operation = Operation::Layer { layer, weight: None, bias: None };
        let source = self.builder.push(operation, vec![from.source], node.output()?);
        Ok(Activation { source, shape, is_row, padding: Padding::NONE, is_shared: false, ..from.clone() })
    }

    /// The graph whose outputs a source gives.
    ///
    /// # Errors
    /// What [`Builder::finish`] says.
    pub fn finish(self, output: Source) -> Result<Graph> {
        self.builder.finish(self.input, output, &self.uses)
    }

    /// Fails for a shape of more values than isoflat takes: what is computed with shapes before the network is checked stays in
    /// bounds.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn ensure_size(&self, what: &str, lengths: &[usize]) -> Result<()> {
        let values = count(lengths).filter(|&values| values as u64 <= MAX_PARAMETERS);
        ensure!(
            values.is_some(),
            TooLarge,
            "{what} has the shape {lengths:?}, over {MAX_PARAMETERS} values, the most isoflat takes"
        );
        Ok(())
    }

    /// Does a source stand for the network's input?
    pub fn is_input(&self, activation: &Activation) -> bool {
        activation.source == Source::Input
    }
}
