//! Dense layers, convolutions, and batch normalisations.

use super::activation::Activation;
use super::constant::{Constant, View};
use super::node::Node;
use super::pointwise::features;
use super::reader::{Reader, Value};
use super::windows;
use crate::error::{Result, bail, ensure};
use crate::io::{BatchNormNode, Operation, Slot};
use crate::memory::collected;
use crate::network::{Conv2d, Layer, Shape};

impl<'a> Reader<'a> {
    /// α A B + β C.
    pub(super) fn gemm(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&["alpha", "beta", "transA", "transB", "broadcast"])?;
        ensure!(
            node.int("transA", 0) == 0,
            InvalidNetwork,
            "{} transposes what it reads, samples and features: a dense layer does not",
            node.title()
        );
        let (alpha, beta) = (node.float("alpha", 1.0), node.float("beta", 1.0));
        ensure!(
            alpha != 0.0 && alpha.is_finite(),
            InvalidNetwork,
            "{} multiplies its weights by {alpha}",
            node.title()
        );
        let found = self.unpadded(node, 0)?;
        let weight = self.constant(node, 1)?;
        let turned =
            if node.int("transB", 0) == 0 { weight.view.transposed(&[1, 0]) } else { Some(weight.view.clone()) };
        let view = matrix(node, turned.filter(|_| weight.view.lengths.len() == 2), &weight)?;
        let units = view.lengths[0];
        let is_layer = |value: &Value| matches!(value, Value::Activation(_) | Value::Function(_));
        // As programs that put nodes together write a product and a sum with another layer.
        let added = match node.optional(2) {
            Some(name) if beta == 1.0 && is_layer(self.value(node, name)?) => Some(self.unpadded(node, 2)?),
            _ => None,
        };
        let bias = match node.optional(2) {
            Some(_) if beta != 0.0 && added.is_none() => {
                let constant = self.constant(node, 2)?;
                Some(match constant.view.vector() {
                    Some((at, row)) if at + 1 == constant.view.lengths.len() && row.lengths == [units] => {
                        self.slot(node, &constant, &row, beta)?
                    }
                    None if units == 1 && constant.view.len() == 1 => {
                        self.slot(node, &constant, &View::whole(vec![1]), beta)?
                    }
                    _ => match self.scalar(&constant)? {
                        // Units that share a number in the file have one each here, which have no place there.
                        Some(number) => {
                            let values = collected("the biases", std::iter::repeat_n(beta * number, units))?;
                            Slot { values, place: None }
                        }
                        None => bail!(
                            InvalidNetwork,
                            "{} has {units} units, but adds a constant of shape {:?}: one number for each unit is a bias",
                            node.title(),
                            constant.view.lengths
                        ),
                    },
                })
            }
            _ => None,
        };
        let dense = self.dense(node, found, &weight, view, alpha, bias)?;
        match added {
            Some(added) => self.sum(node, vec![dense, added]),
            None => self.give(node, Value::Activation(dense)),
        }
    }

    /// A B.
    pub(super) fn matmul(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&[])?;
        let is_constant = |value: &Value| matches!(value, Value::Constant(_));
        ensure!(
            !is_constant(self.value(node, node.input(0)?)?),
            InvalidNetwork,
            "{} has its weights at the left: a dense layer has the samples there",
            node.title()
        );
        ensure!(
            is_constant(self.value(node, node.input(1)?)?),
            InvalidNetwork,
            "{} multiplies what two layers give, as attention does, which isoflat does not compute: dense layers have weights of \
             their own",
            node.title()
        );
        let found = self.unpadded(node, 0)?;
        let weight = self.constant(node, 1)?;
        let view = matrix(node, weight.view.transposed(&[1, 0]).filter(|_| weight.view.lengths.len() == 2), &weight)?;
        let dense = self.dense(node, found, &weight, view, 1.0, None)?;
        self.give(node, Value::Activation(dense))
    }

    /// A dense layer whose W is a constant's (units, inputs) in a view.
    fn dense(
        &mut self,
        node: Node<'a>,
        found: Activation,
        constant: &Constant<'a>,
        view: View,
        factor: f64,
        bias: Option<Slot>,
    ) -> Result<Activation> {
        let (units, inputs) = (view.lengths[0], view.lengths[1]);
        let found = self.as_row(node, found)?;
        ensure!(
            inputs == found.len(),
            InvalidNetwork,
            "{} has weights for {inputs} features, but reads {}",
            node.title(),
            found.described()
        );
        // The columns of a row that was an image with its channels last are put into the order of channels first.
        let column = View { lengths: vec![inputs], strides: vec![view.strides[1]] };
        let columns = features(&column, &found).unwrap_or(column);
        let ordered = View {
            lengths: [&[units], &columns.lengths[..]].concat(),
            strides: [&[view.strides[0]], &columns.strides[..]].concat(),
        };
        let weight = self.weight(node, constant, &ordered, factor)?;
        let layer = Layer::Dense { units, bias: bias.is_some() };
        let operation = Operation::Layer { layer, weight: Some(weight), bias };
        let source = self.builder.push(operation, vec![found.source], node.output()?);
        Ok(Activation::new(source, Shape::flat(units), true))
    }

    /// A convolution over images.
    pub(super) fn conv(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"])?;
        let found = self.activation(node, 0)?;
        let weight = self.constant(node, 1)?;
        let &[channels, seen, height, width] = &weight.view.lengths[..] else {
            bail!(
                InvalidNetwork,
                "{} has a kernel of shape {:?}: of convolutions, two-dimensional ones alone are known, whose kernels have four axes",
                node.title(),
                weight.view.lengths
            )
        };
        ensure_image(node, &found)?;
        let kernel = node.pair("kernel_shape", Some([height, width]))?;
        let groups = usize::try_from(node.int("group", 1)).ok().filter(|&groups| groups > 0);
        let fits = groups.and_then(|groups| groups.checked_mul(seen)) == Some(found.shape.channels);
        ensure!(
            fits && kernel == [height, width],
            InvalidNetwork,
            "{} has a kernel of shape {:?} in {} groups, which does not fit {}",
            node.title(),
            weight.view.lengths,
            node.int("group", 1),
            found.described()
        );
        let stride = node.pair("strides", Some([1, 1]))?;
        let dilation = node.pair("dilations", Some([1, 1]))?;
        let padding = windows::joined(found.padding, windows::padding(node, &found, kernel, stride, dilation)?);
        let bias = match node.optional(2) {
            None => None,
            Some(_) => {
                let constant = self.constant(node, 2)?;
                ensure!(
                    constant.view.lengths == [channels],
                    InvalidNetwork,
                    "{} has {channels} channels, but a bias of shape {:?}",
                    node.title(),
                    constant.view.lengths
                );
                Some(self.slot(node, &constant, &constant.view, 1.0)?)
            }
        };
        let groups = groups.unwrap_or(1);
        let conv = Conv2d { channels, kernel, stride, padding, dilation, groups, bias: bias.is_some() };
        let shape = conv.window().output(&node.title(), found.shape, channels)?;
        let weight = self.weight(node, &weight, &weight.view, 1.0)?;
        let operation = Operation::Layer { layer: Layer::Conv2d(conv), weight: Some(weight), bias };
        let source = self.builder.push(operation, vec![found.source], node.output()?);
        self.give(node, Value::Activation(Activation::new(source, shape, false)))
    }

    /// A batch normalisation with the statistics that it has.
    pub(super) fn batch_norm(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&["epsilon", "momentum", "training_mode", "spatial"])?;
        // Before version 14 a second output says that it is training; since then there is a word for it, and what nobody reads is nothing.
        let is_alone = self.opset >= 14 || node.proto.output.iter().skip(1).all(String::is_empty);
        ensure!(
            node.int("training_mode", 0) == 0 && is_alone,
            InvalidNetwork,
            "{} takes statistics from the samples, as in training: export the model for inference (in PyTorch, model.eval())",
            node.title()
        );
        ensure!(
            node.int("spatial", 1) == 1,
            InvalidNetwork,
            "{} normalises each value, not each channel",
            node.title()
        );
        let found = self.unpadded(node, 0)?;
        ensure!(
            found.channel_axis() == Some(1),
            InvalidNetwork,
            "{} normalises the second axis of {}, which is not that of the channels",
            node.title(),
            found.described()
        );
        let mut rows = Vec::new();
        for at in 1..5 {
            let constant = self.constant(node, at)?;
            let row = match &constant.view.lengths[..] {
                [_] => features(&constant.view, &found),
                _ => None,
            };
            let Some(row) = row else {
                bail!(
                    InvalidNetwork,
                    "{} has numbers of shape {:?} for {} channels",
                    node.title(),
                    constant.view.lengths,
                    found.shape.channels
                )
            };
            rows.push((constant, row));
        }
        let [scale, shift, mean, variance] = &rows[..] else { return Ok(()) };
        let norm = BatchNormNode {
            scale: Some(self.slot(node, &scale.0, &scale.1, 1.0)?),
            shift: Some(self.slot(node, &shift.0, &shift.1, 1.0)?),
            mean: self.slot(node, &mean.0, &mean.1, 1.0)?,
            variance: self.slot(node, &variance.0, &variance.1, 1.0)?,
            epsilon: node.float("epsilon", 1e-5),
            is_scale: false,
        };
        let source = self.builder.push(Operation::BatchNorm(norm), vec![found.source], node.output()?);
        self.give(node, Value::Activation(Activation { source, is_shared: false, ..found }))
    }
}

/// Weights of a dense layer as (units, inputs).
fn matrix(node: Node, view: Option<View>, weight: &Constant) -> Result<View> {
    match view {
        Some(view) if view.len() > 0 => Ok(view),
        _ => bail!(
            InvalidNetwork,
            "{} has weights of shape {:?}, but a dense layer's have two axes",
            node.title(),
            weight.view.lengths
        ),
    }
}

/// Fails unless what a node reads is images with their channels first.
pub fn ensure_image(node: Node, found: &Activation) -> Result<()> {
    ensure!(
        found.is_image(),
        InvalidNetwork,
        "{} reads {}, which is not images of (N, channels, rows, columns) as isoflat's layers before it give them{}",
        node.title(),
        found.described(),
        if found.is_row && found.axes.len() == 4 { ": a row of features cannot become an image again" } else { "" }
    );
    Ok(())
}
