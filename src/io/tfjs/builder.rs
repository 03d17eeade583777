//! Building a graph: nodes with names, weights in isoflat's order, and what is said of it.

use std::collections::{HashMap, HashSet};

use super::super::{BatchNormNode, Graph, GraphNode, Operation, Place, Slot};
use super::activation::Activation;
use super::manifest::{Taken, Weights};
use super::tensor::{self, DataFormat, Held, Tensor};
use super::topology::{Call, Topology};
use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::memory::collected;
use crate::network::{Layer, MAX_PARAMETERS, Names, Shape};

/// A graph on the way.
pub(super) struct Builder<'w, 'a> {
    pub graph: Graph,
    pub weights: &'w mut Weights<'a>,
    /// How images lie in the file.
    pub format: DataFormat,
    names: HashSet<String>,
    /// Images that have been flattened, by the node that gives them.
    flattened: HashMap<Option<usize>, Tensor>,
    /// Parts of all rows that were put together.
    parts: usize,
}

/// The most parts of rows, some times what any real model has.
const MOST_PARTS: usize = 1 << 20;

impl<'w, 'a> Builder<'w, 'a> {
    /// Nothing yet.
    ///
    /// # Errors
    /// `InvalidNetwork` where layers differ in the order of their axes.
    pub fn new(topology: &Topology, weights: &'w mut Weights<'a>) -> Result<Self> {
        let format = data_format(topology)?;
        let (names, flattened) = (HashSet::from([Names::INPUT.to_string()]), HashMap::new());
        Ok(Self { graph: Graph::default(), weights, format, names, flattened, parts: 0 })
    }

    /// The graph of all layers.
    ///
    /// # Errors
    /// What its layers say.
    pub fn build(mut self, topology: &Topology) -> Result<Graph> {
        let mut tensors = vec![self.input(topology)?];
        for call in &topology.calls {
            let found = call.reads.iter().map(|&i| tensors.get(i).cloned()).collect::<Option<Vec<Tensor>>>();
            let reads = found.ok_or_else(|| Error::new(ErrorCode::Parse, format!("{} reads nothing", call.what)))?;
            if let Some(end) = reads.iter().find_map(|read| read.end) {
                ensure!(
                    super::rows::is_reshaping(call.class),
                    InvalidNetwork,
                    "{} reads a {end}: isoflat takes one off at the end of a network, but has none within",
                    call.what
                );
            }
            tensors.push(self.layer(call, &reads)?);
        }
        let output = tensors.get(topology.output).cloned();
        self.finish(output.ok_or_else(|| Error::new(ErrorCode::Parse, "the model gives nothing"))?)
    }

    /// What comes in. Rows that are made images before anything else are images here.
    fn input(&mut self, topology: &Topology) -> Result<Tensor> {
        let dims = topology.input.clone();
        let len = tensor::count("the input", &dims)?;
        let image = match dims.len() {
            3 => Some(dims.clone()),
            _ => super::rows::reshaped_input(topology, len)?,
        };
        let Some(shape) = image.as_deref().and_then(|dims| self.format.image(dims)) else {
            self.graph.input = vec![len];
            if dims.len() > 1 {
                self.graph.notes.push(format!("inputs of shape {dims:?} in the file are rows of {len} here"));
            }
            return Ok(Tensor {
                dims,
                ..Tensor::new(vec![len], Held::Row(tensor::segments(Shape::flat(len), false)), None)
            });
        };
        let Shape { channels, height, width } = shape;
        self.graph.input = vec![channels, height, width];
        if dims != self.graph.input {
            let order = match self.format {
                DataFormat::ChannelsLast if channels > 1 => {
                    ": every channel by itself, where the file has pixel after pixel"
                }
                _ => ": channels, height, width",
            };
            self.graph
                .notes
                .push(format!("inputs of shape {dims:?} in the file are {:?} here{order}", self.graph.input));
        }
        Ok(Tensor { dims, ..Tensor::image(shape, self.format, None) })
    }

    /// Adds a node; what it reads are nodes by their numbers, or the input.
    pub fn push(&mut self, name: &str, operation: Operation, reads: &[Option<usize>]) -> usize {
        let i = self.graph.nodes.len();
        let before = i.checked_sub(1);
        let is_joining = matches!(&operation, Operation::Layer { layer, .. } if layer.is_joining());
        let source = |read: &Option<usize>| {
            let node = read.and_then(|node| self.graph.nodes.get(node));
            node.and_then(|node| node.name.clone()).unwrap_or_else(|| Names::INPUT.into())
        };
        let from = match reads {
            reads if is_joining => Some(Names::Several(reads.iter().map(source).collect())),
            [read] if *read != before => Some(Names::One(source(read))),
            _ => None,
        };
        let name = self.unique(name);
        self.graph.nodes.push(GraphNode { operation, name: Some(name), from });
        i
    }

    /// A name that no other node has.
    fn unique(&mut self, name: &str) -> String {
        let name = if name.is_empty() { "layer" } else { name };
        let mut found = name.to_string();
        let mut n = self.graph.nodes.len();
        while !self.names.insert(found.clone()) {
            found = format!("{name} ({n})");
            n += 1;
        }
        found
    }

    /// Adds a layer without parameters.
    pub fn plain(&mut self, name: &str, layer: Layer, reads: &[Option<usize>]) -> usize {
        self.push(name, Operation::Layer { layer, weight: None, bias: None }, reads)
    }

    /// Adds a batch normalisation.
    pub fn norm(&mut self, name: &str, norm: BatchNormNode, read: Option<usize>) -> usize {
        self.push(name, Operation::BatchNorm(norm), &[read])
    }

    /// What an activation inside a layer makes of what that gives.
    ///
    /// # Errors
    /// `InvalidNetwork` for a softmax of images.
    pub fn activated(&mut self, call: &Call, given: Tensor, activation: Activation) -> Result<Tensor> {
        let name = |layer: &Layer| format!("{}/{}", call.name, layer.name());
        self.activation(&call.what, given, activation, name)
    }

    /// The same for a layer that is an activation; `name` names the node.
    pub fn activation(
        &mut self,
        what: &str,
        given: Tensor,
        activation: Activation,
        name: impl Fn(&Layer) -> String,
    ) -> Result<Tensor> {
        match activation {
            Activation::None => Ok(given),
            Activation::End(end) => {
                ensure!(
                    given.dims.len() == 1,
                    InvalidNetwork,
                    "{what}: a {end} of {:?} values: isoflat takes one of a row of classes alone, at the end",
                    given.dims
                );
                Ok(Tensor { end: Some(end), ..given })
            }
            Activation::Layer(layer) => {
                // What is still to be padded stays zero only under a function that takes zero to zero.
                ensure!(
                    given.padding.is_none() || !matches!(layer, Layer::Sigmoid | Layer::Softplus),
                    InvalidNetwork,
                    "{what} does not leave the zeros of the padding before it: put it before the padding"
                );
                let is_positive = matches!(layer, Layer::Relu | Layer::Sigmoid | Layer::Softplus);
                let node = self.plain(&name(&layer), layer, &[given.node]);
                Ok(Tensor { node: Some(node), is_positive, ..given })
            }
        }
    }

    /// A tensor as a flat row: an image is flattened, once.
    ///
    /// # Errors
    /// `InvalidNetwork` where it is no row, or padding is still to come.
    pub fn row(&mut self, what: &str, name: &str, given: &Tensor) -> Result<Tensor> {
        self.ensure_unpadded(what, given)?;
        let Held::Image { shape, pixels_first } = given.held else { return Ok(given.clone()) };
        let segments = tensor::segments(shape, pixels_first);
        if let Some(known) = self.flattened.get(&given.node)
            && known.held == Held::Row(segments.clone())
        {
            return Ok(Tensor { dims: vec![shape.len()], is_positive: given.is_positive, ..known.clone() });
        }
        let node = self.plain(name, Layer::Flatten, &[given.node]);
        let found = Tensor {
            is_positive: given.is_positive,
            ..Tensor::new(vec![shape.len()], Held::Row(segments), Some(node))
        };
        self.flattened.insert(given.node, found.clone());
        Ok(found)
    }

    /// Counts the parts of a row that others are put together to.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn count_parts(&mut self, what: &str, parts: usize) -> Result<()> {
        self.parts = self.parts.saturating_add(parts);
        ensure!(self.parts <= MOST_PARTS, TooLarge, "{what} puts together what has over {MOST_PARTS} parts");
        Ok(())
    }

    /// Fails where zeros around an image are still to come.
    ///
    /// # Errors
    /// `InvalidNetwork`.
    pub fn ensure_unpadded(&self, what: &str, given: &Tensor) -> Result<()> {
        ensure!(
            given.padding.is_none(),
            InvalidNetwork,
            "{what} reads what a ZeroPadding2D gives: isoflat pads within convolutions and pools, so that one of these must read it"
        );
        Ok(())
    }

    /// A layer's bias, if it has one.
    ///
    /// # Errors
    /// What [`Weights::take`] says.
    pub fn bias(&mut self, call: &Call, use_bias: bool, len: usize) -> Result<Option<Slot>> {
        let take = |taken| slot(taken, None);
        use_bias.then(|| self.weights.take(&call.what, call.name, &["bias"], &[len]).and_then(take)).transpose()
    }

    /// The end: nothing padded, activated or open.
    fn finish(mut self, output: Tensor) -> Result<Graph> {
        self.ensure_unpadded("the output", &output)?;
        let last = self.graph.nodes.last();
        if let Some(GraphNode { operation: Operation::Layer { layer, .. }, name, .. }) = last
            && layer.is_activation()
        {
            refuse_end(layer, name.as_deref().unwrap_or_default(), &output)?;
        }
        let mut output = output;
        if let Held::Image { shape, .. } = output.held
            && shape.area() > 1
        {
            output = Tensor { end: output.end, ..self.row("the output", "outputs", &output)? };
        }
        if let Held::Row(segments) = &output.held
            && segments.iter().any(|segment| segment.area > 1)
        {
            let note = "outputs are channel after channel here, where the file has pixel after pixel";
            self.graph.notes.push(note.into());
        }
        if let Some(end) = output.end {
            self.graph.softmax = Some(end.to_string());
            self.graph.notes.push(format!(
                "the {end} at the end is taken off: outputs are what comes into it, as the cross-entropy loss takes them"
            ));
        }
        self.graph.notes.extend(self.weights.notes());
        Ok(self.graph)
    }
}

/// An activation at the end, which no loss of isoflat's takes.
fn refuse_end(layer: &Layer, name: &str, output: &Tensor) -> Result<()> {
    let instead = match (layer, &output.dims[..]) {
        (Layer::Sigmoid, [1]) => {
            "a sigmoid of one output is a softmax of two, 0 and that: give the last layer two units, the first with weights and \
             bias 0, without an activation"
        }
        (Layer::Sigmoid, _) => {
            "isoflat's losses are the cross-entropy of one class of several, and the squared error; several sigmoids, each with a \
             cross-entropy of its own, are neither"
        }
        _ => {
            "isoflat's losses take what a layer with weights gives: build the model without it, or with a dense layer behind it"
        }
    };
    bail!(InvalidNetwork, "the network ends with an activation, {} (\"{name}\"): {instead}", layer.name())
}

/// The order of axes that all layers over images have.
fn data_format(topology: &Topology) -> Result<DataFormat> {
    let mut found: Option<(DataFormat, &str)> = None;
    // A flatten's says only how it counts.
    for call in topology.calls.iter().filter(|call| call.class != "Flatten") {
        let config = super::config::Config::new(call.config, &call.what);
        let format = match config.text("data_format", "")? {
            "" => continue,
            "channels_last" => DataFormat::ChannelsLast,
            "channels_first" => DataFormat::ChannelsFirst,
            other => bail!(
                Parse,
                "{} has data_format \"{other}\", but there are channels_last and channels_first",
                call.what
            ),
        };
        match found {
            Some((known, first)) if known != format => {
                bail!(InvalidNetwork, "{first} and {} differ in data_format: build the model with one", call.what)
            }
            _ => found = Some((format, &call.what)),
        }
    }
    Ok(found.map_or(DataFormat::ChannelsLast, |(format, _)| format))
}

/// Numbers in isoflat's order: value i is number order[i] of the weight.
///
/// # Errors
/// `TooLarge`.
pub(super) fn slot(taken: Taken, order: Option<Vec<u32>>) -> Result<Slot> {
    let Taken { name, values, is_exact } = taken;
    let values = match &order {
        None => values,
        Some(order) => permuted(&values, order)?,
    };
    Ok(Slot { values, place: is_exact.then_some(Place { tensor: name, order, factor: 1.0 }) })
}

/// Numbers in another order.
///
/// # Errors
/// `TooLarge`.
fn permuted(values: &[f64], order: &[u32]) -> Result<Vec<f64>> {
    collected("a weight", order.iter().map(|&at| values.get(at as usize).copied().unwrap_or(f64::NAN)))
}

/// The order of a tensor with its axes in another order: of each value of the result, row-major, the index in the tensor.
///
/// # Errors
/// `TooLarge`.
pub(super) fn transposed(shape: [usize; 4], axes: [usize; 4]) -> Result<Option<Vec<u32>>> {
    let len = shape.iter().try_fold(1u64, |product, &n| product.checked_mul(n as u64));
    let Some(len) = len.filter(|&len| len <= MAX_PARAMETERS) else {
        bail!(TooLarge, "a weight of shape {shape:?}: isoflat takes {MAX_PARAMETERS} parameters at most")
    };
    if len == 0 {
        return Ok(Some(Vec::new()));
    }
    let strides = [shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3], 1];
    let mut found = crate::memory::room("the order of a weight", len as usize)?;
    let [a, b, c, d] = axes;
    for i in 0..shape[a] {
        for j in 0..shape[b] {
            for k in 0..shape[c] {
                let start = i * strides[a] + j * strides[b] + k * strides[c];
                found.extend((0..shape[d]).map(|l| (start + l * strides[d]) as u32));
            }
        }
    }
    Ok(Some(found))
}
