//! From an ONNX model to a graph: which of its nodes the output needs, and what each of them is.

use std::collections::{HashMap, HashSet};

use super::Asked;
use super::activation::{Activation, Axis, CHANNELS_FIRST, CHANNELS_LAST};
use super::constant::{Constant, Numbers, Size, View};
use super::ends::{Ends, ensure_over_classes};
use super::node::Node;
use super::proto::{GraphProto, ModelProto, ValueInfoProto};
use super::reader::{Reader, Value};
use super::reshape::CHANNELS_NOTE;
use super::tensor::{Beside, type_name};
use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::io::Graph;
use crate::memory::collected;
use crate::network::{Shape, Source};

/// Versions of the operators: older ones mean other things by the same names, newer ones may.
const OLDEST: i64 = 9;
const NEWEST: i64 = 28;

/// The graph of a model.
///
/// # Errors
/// `Parse` for a broken model, `InvalidNetwork` for what isoflat has no layer for, `InvalidOption`, `TooLarge`.
pub fn graph(model: &ModelProto, bytes: u64, beside: Beside, asked: Asked) -> Result<Graph> {
    let Some(graph) = &model.graph else { bail!(Parse, "the ONNX file has no graph") };
    let opset = opset(model)?;
    let all: Vec<Node> = graph.node.iter().enumerate().map(|(index, proto)| Node { proto, index }).collect();
    let ends = Ends::of(graph, &all, opset, asked.output)?;
    let nodes: Vec<Node> = all.into_iter().filter(|node| ends.needed.contains(&node.index)).collect();
    let mut reader = Reader::new(&nodes, opset, bytes, beside);
    for tensor in &graph.initializer {
        ensure!(!tensor.name.is_empty(), Parse, "the graph has an initializer without a name");
        reader.add_tensor(&tensor.name, tensor)?;
    }
    ensure_dense(graph, &nodes)?;
    ends.notes.iter().for_each(|note| reader.builder.note(note.clone()));
    if opset > NEWEST {
        reader.builder.note(format!("the model is of operator set {opset}; what is known of them ends with {NEWEST}"));
    }
    reader.find_fixed();
    add_input(graph, &ends, asked.input, &mut reader)?;
    for &node in &nodes {
        ensure_standard(node, model)?;
        convert(&mut reader, node)?;
    }
    let found = last(&mut reader, &nodes, ends.output)?;
    ends.takes.iter().try_for_each(|take| ensure_over_classes(take, &found))?;
    let softmax = ends.takes.iter().map(|(node, _)| node.op()).find(|op| op.ends_with("Softmax")).map(str::to_owned);
    Ok(Graph { softmax, ..reader.finish(found.source)? })
}

fn opset(model: &ModelProto) -> Result<i64> {
    let is_standard = |domain: &str| matches!(domain, "" | "ai.onnx");
    let Some(opset) = model.opset_import.iter().find(|opset| is_standard(&opset.domain)) else {
        bail!(Parse, "the ONNX file does not say which version of the operators it means")
    };
    ensure!(
        opset.version >= OLDEST,
        InvalidNetwork,
        "the model is of operator set {}, but {OLDEST} is the oldest that is read: export it again, or convert it with \
         onnx.version_converter",
        opset.version
    );
    Ok(opset.version)
}

fn ensure_standard(node: Node, model: &ModelProto) -> Result<()> {
    let domain = &node.proto.domain;
    if matches!(&domain[..], "" | "ai.onnx") {
        return Ok(());
    }
    let is_own = model.functions.iter().any(|function| function.name == node.op() && function.domain == *domain);
    let instead = match is_own {
        true => "which the file defines itself: inline it first, with onnx.inliner.inline_local_functions",
        false => "which is no operator of ONNX itself: export the model with standard operators",
    };
    bail!(InvalidNetwork, "{} is of the domain {domain}, {instead}", node.title())
}

/// Fails where a node reads a sparse tensor.
fn ensure_dense(graph: &GraphProto, nodes: &[Node]) -> Result<()> {
    let names = graph.sparse_initializer.iter().filter_map(|sparse| sparse.values.as_deref());
    let sparse: HashSet<&str> = names.map(|values| &values.name[..]).collect();
    let reads = |node: &&Node| node.proto.input.iter().any(|name| sparse.contains(&name[..]));
    match nodes.iter().find(reads) {
        Some(node) if !sparse.is_empty() => {
            bail!(InvalidNetwork, "{} reads a sparse tensor, which is not known: save it with its zeros", node.title())
        }
        _ => Ok(()),
    }
}

/// The network's input: the one tensor that is read and has no numbers. Where its shape is open, it is the one that was given.
fn add_input<'a>(
    graph: &'a GraphProto,
    ends: &Ends<'a>,
    given: Option<&[usize]>,
    reader: &mut Reader<'a>,
) -> Result<()> {
    let is_read = |info: &&ValueInfoProto| reader.readers.contains_key(&info.name[..]) || info.name == ends.output;
    let open: Vec<&ValueInfoProto> =
        graph.input.iter().filter(|info| !reader.values.contains_key(&info.name[..])).filter(is_read).collect();
    let [info] = open[..] else {
        let names: Vec<&str> = open.iter().take(8).map(|info| &info.name[..]).collect();
        bail!(
            InvalidNetwork,
            "the model has {} inputs ({}), but isoflat's networks have one",
            open.len(),
            names.join(", ")
        )
    };
    let name = &info.name[..];
    let of_type = info.r#type.as_ref().and_then(|of| of.tensor_type.as_ref());
    let Some((of_type, shape)) = of_type.and_then(|of| Some((of, of.shape.as_ref()?))) else {
        bail!(InvalidNetwork, "the model's input {name} has no shape: export it with one")
    };
    ensure!(
        !matches!(of_type.elem_type, 8 | 14 | 15),
        InvalidNetwork,
        "the model's input {name} is of type {}, not numbers",
        type_name(of_type.elem_type)
    );
    let mut lengths = Vec::new();
    let fitting = given.filter(|given| given.len() + 1 == shape.dim.len());
    let unfitting = match given {
        Some(given) if fitting.is_none() => format!(" ({given:?}, which is given, has another number of axes)"),
        _ => String::new(),
    };
    for (axis, dim) in shape.dim.iter().skip(1).enumerate() {
        let told = dim.dim_value.and_then(|n| usize::try_from(n).ok()).filter(|&n| n > 0);
        let length = told.or_else(|| fitting.map(|fitting| fitting[axis]));
        match length.filter(|&length| length > 0 && lengths.len() < 4) {
            Some(length) => lengths.push(length),
            None => bail!(
                InvalidNetwork,
                "the model's input {name} has a shape that is not fixed, or no image's (axis {} is {}): say the shape of one input by \
                 the option input{unfitting}, or export it with that, of which only the number of samples may be open",
                lengths.len() + 1,
                dim.dim_param.as_deref().unwrap_or("unknown")
            ),
        }
    }
    reader.batch = shape.dim.first().and_then(|dim| dim.dim_value).filter(|&n| n > 0);
    reader.ensure_size("the model's input", &lengths)?;
    let found = input(reader, name, &lengths)?;
    reader.input_axes = found.axes.clone();
    reader.values.insert(name, Value::Activation(found));
    Ok(())
}

fn input(reader: &mut Reader, name: &str, lengths: &[usize]) -> Result<Activation> {
    let image = |channels, height, width| Activation::new(Source::Input, Shape { channels, height, width }, false);
    let found = match *lengths {
        [features] => Activation::new(Source::Input, Shape::flat(features), true),
        [height, width] => image(1, height, width).with_axes(vec![Axis::Batch, Axis::Height, Axis::Width]),
        [a, b, c] if reader.is_channels_last(name) => {
            let found = image(c, a, b).with_axes(CHANNELS_LAST.to_vec());
            if c > 1 {
                reader.builder.note(format!("the input is images{CHANNELS_NOTE}"));
            }
            found
        }
        // Of one channel that is the same row, and images are what people have.
        [height, width, 1] if height > 1 && width > 1 && reader.is_made_a_row(name) => {
            image(1, height, width).with_axes(CHANNELS_LAST.to_vec())
        }
        [channels, height, width] => image(channels, height, width).with_axes(CHANNELS_FIRST.to_vec()),
        _ => bail!(
            InvalidNetwork,
            "the model's input {name} has {} axes, but isoflat's networks take rows, (N, features), or images, (N, channels, rows, \
             columns)",
            lengths.len() + 1
        ),
    };
    let Shape { channels, height, width } = found.shape;
    reader.input = if found.is_row { vec![channels] } else { vec![channels, height, width] };
    Ok(found)
}

/// The output, as the layer that gives it.
fn last<'a>(reader: &mut Reader<'a>, nodes: &[Node<'a>], output: &'a str) -> Result<Activation> {
    let missing = || Error::new(ErrorCode::InvalidNetwork, "the model computes nothing from its input");
    let node = nodes.last().copied().ok_or_else(missing)?;
    reader.settle(node, output)?;
    let Value::Activation(found) = reader.value(node, output)? else {
        bail!(InvalidNetwork, "the model's output {output} does not depend on its input")
    };
    ensure!(
        found.flattened.is_none() && found.padding.is_none(),
        InvalidNetwork,
        "the model's output {output} is a padded image, or one with its channels last: end with a dense layer"
    );
    if let Source::Layer(i) = found.source
        && let Some(layer) = reader.builder.layer(Source::Layer(i)).filter(|layer| layer.is_activation())
    {
        bail!(
            InvalidNetwork,
            "the model's output {output} is behind {}: the loss takes what the layer before it gives, so export the model without it, or \
             say by the option output which tensor is meant",
            layer.name()
        )
    }
    Ok(found.clone())
}

/// What a node is.
fn convert<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> Result<()> {
    match node.op() {
        "Gemm" => reader.gemm(node),
        "MatMul" => reader.matmul(node),
        "Conv" => reader.conv(node),
        "BatchNormalization" => reader.batch_norm(node),
        "Relu" | "LeakyRelu" | "Tanh" | "Sigmoid" | "Softplus" | "Gelu" | "Swish" | "Erf" | "Exp" | "Log" | "Neg"
        | "Abs" | "Reciprocal" | "Sqrt" => reader.unary(node),
        "PRelu" => reader.prelu(node),
        "Clip" => reader.clip(node),
        "Add" | "Sub" | "Mul" | "Div" | "Pow" | "Max" | "Min" | "Sum" => reader.binary(node),
        "MaxPool" | "AveragePool" => reader.pool(node),
        "GlobalAveragePool" | "GlobalMaxPool" => reader.global_pool(node),
        "ReduceMean" => reader.reduce_mean(node),
        "Identity" | "Dropout" => reader.identity(node),
        "Cast" => reader.cast(node),
        "Transpose" => reader.transpose(node),
        "Squeeze" | "Unsqueeze" => reader.squeeze(node),
        "Reshape" => reader.reshape(node),
        "Flatten" => reader.flatten(node),
        "Concat" => reader.concat(node),
        "Pad" => reader.pad(node),
        "Slice" => reader.slice(node),
        "Shape" => reader.shape(node),
        "Gather" => reader.gather(node),
        "ReduceProd" => reader.reduce_prod(node),
        "ConstantOfShape" => reader.constant_of_shape(node),
        "Expand" => reader.expand(node),
        "Constant" => constant(reader, node),
        _ => bail!(
            InvalidNetwork,
            "{} is no operator that isoflat has a layer for: {}",
            node.title(),
            instead(node.op())
        ),
    }
}

/// A tensor of the file that stands in a node.
fn constant<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> Result<()> {
    node.ensure_known(&["value", "value_float", "value_floats", "value_int", "value_ints"])?;
    if let Some(tensor) = node.tensor("value") {
        return reader.add_tensor(node.output()?, tensor);
    }
    let whole = match node.ints("value_ints") {
        Some(values) => Some(Numbers::row(values.iter().map(|&n| Size::known(n)).collect())),
        None if node.has("value_int") => {
            Some(Numbers { shape: Vec::new(), ..Numbers::row(vec![Size::known(node.int("value_int", 0))]) })
        }
        None => None,
    };
    if let Some(numbers) = whole {
        ensure!(numbers.values.len() <= super::reader::MOST_NUMBERS, InvalidNetwork, "{} is no shape", node.title());
        return reader.give(node, Value::Numbers(numbers));
    }
    let values = match node.floats("value_floats") {
        Some(values) => collected("a constant", values.iter().map(|&value| f64::from(value)))?,
        None if node.has("value_float") => vec![node.float("value_float", 0.0)],
        None => bail!(InvalidNetwork, "{} holds no dense numbers", node.title()),
    };
    let lengths = if node.has("value_floats") { vec![values.len()] } else { Vec::new() };
    reader.add_numbers(node, Constant { tensor: node.output()?, is_floating: true, view: View::whole(lengths) }, values)
}

/// What would do in the place of an operator.
fn instead(op: &str) -> &'static str {
    match op {
        "LayerNormalization"
        | "InstanceNormalization"
        | "GroupNormalization"
        | "LpNormalization"
        | "LRN"
        | "MeanVarianceNormalization"
        | "RMSNormalization" => {
            "its statistics are those of each sample; of normalisations, BatchNormalization with frozen statistics is known"
        }
        "Elu" | "Selu" | "Celu" | "HardSigmoid" | "HardSwish" | "Mish" | "ThresholdedRelu" | "Softsign" | "Shrink" => {
            "of activations, Relu, ReLU6, LeakyRelu, Tanh, Sigmoid, Softplus, silu and Gelu are known"
        }
        "Softmax" | "LogSoftmax" | "ArgMax" | "Hardmax" => {
            "at the end of a model it is taken off, but not within; the loss has a softmax of its own"
        }
        "LSTM" | "GRU" | "RNN" | "Scan" | "Loop" | "If" | "Attention" | "MultiHeadAttention" | "Einsum" => {
            "isoflat's networks are feed-forward, of dense layers, convolutions, pools, sums and Concat"
        }
        "QuantizeLinear"
        | "DequantizeLinear"
        | "QLinearConv"
        | "QLinearMatMul"
        | "ConvInteger"
        | "MatMulInteger"
        | "DynamicQuantizeLinear" => "export the model before it is quantised",
        "Resize" | "Upsample" | "ConvTranspose" | "DepthToSpace" | "SpaceToDepth" => {
            "images grow nowhere in isoflat's networks: convolutions, pools and strided slices are known"
        }
        "ReduceSum" | "ReduceMax" | "LpPool" => "of reductions, means over the rows and columns of images are known",
        _ => {
            "dense layers (Gemm, MatMul), Conv, BatchNormalization, pools, activations, sums, Concat, Pad, strided Slice, Flatten and \
             Reshape are known"
        }
    }
}

/// Producers of tensors by name.
pub fn givers<'a>(nodes: &[Node<'a>]) -> HashMap<&'a str, usize> {
    let mut found = HashMap::new();
    for node in nodes {
        for output in node.proto.output.iter().filter(|output| !output.is_empty()) {
            found.entry(&output[..]).or_insert(node.index);
        }
    }
    found
}
