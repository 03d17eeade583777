//! Nodes that put images together, put zeros around them, or take every other pixel.

use super::activation::{Activation, Axis};
use super::constant::{Numbers, Size};
use super::node::Node;
use super::reader::{Reader, Value};
use super::shapes::places;
use super::windows::joined;
use crate::error::{Result, bail, ensure};
use crate::io::{Elements, Operation};
use crate::network::{Layer, Padding, Shape};

/// One of the things that a Concat puts together.
enum Part {
    Layer(Activation),
    /// So many channels of zeros.
    Zeros(usize),
}

impl<'a> Reader<'a> {
    /// Channels, or features, of several layers; zeros among them are padding.
    pub(super) fn concat(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&["axis"])?;
        let count = node.proto.input.len();
        let mut first = None;
        for at in 0..count {
            if matches!(self.value(node, node.input(at)?)?, Value::Activation(_) | Value::Function(_)) {
                first = Some(self.unpadded(node, at)?);
                break;
            }
        }
        let Some(first) = first else { return self.concat_numbers(node) };
        let at = places(node, &[node.int("axis", 1)], first.axes.len())?.first().copied();
        let Some(axis) = at.filter(|&at| first.has_at(at, Axis::Channel)) else {
            bail!(
                InvalidNetwork,
                "{} puts tensors like {} together along axis {}, which is not that of the channels or features",
                node.title(),
                first.described(),
                node.int("axis", 1)
            )
        };
        let first = Activation { axes: channels_at(&first, axis), ..first };
        let mut parts = Vec::new();
        for at in 0..count {
            parts.push(self.part(node, at, axis, &first)?);
        }
        self.put_together(node, axis, parts)
    }

    fn part(&mut self, node: Node<'a>, at: usize, axis: usize, like: &Activation) -> Result<Part> {
        let name = node.input(at)?;
        let sizes: Vec<Size> = match self.value(node, name)? {
            Value::Activation(_) | Value::Function(_) => {
                let found = self.unpadded(node, at)?;
                let fits = found.axes.len() == like.axes.len()
                    && found.has_at(axis, Axis::Channel)
                    && like.axes.iter().enumerate().all(|(at, &one)| at == axis || found.has_at(at, one))
                    && [found.shape.height, found.shape.width] == [like.shape.height, like.shape.width]
                    && found.flattened.is_none()
                    && like.flattened.is_none();
                ensure!(
                    fits,
                    InvalidNetwork,
                    "{} puts {} and {} together, which differ in more than channels, or in the order of their axes or features",
                    node.title(),
                    like.described(),
                    found.described()
                );
                return Ok(Part::Layer(found));
            }
            Value::Zeros(sizes) => sizes.clone(),
            Value::Constant(constant) => {
                let constant = constant.clone();
                let is_zero = match self.array(&constant)?.elements() {
                    Elements::F32(values) => values.iter().all(|&value| value == 0.0),
                    Elements::F64(values) => values.iter().all(|&value| value == 0.0),
                    _ => false,
                };
                ensure!(
                    is_zero,
                    InvalidNetwork,
                    "{} puts constants beside activations: only zeros are known",
                    node.title()
                );
                constant.view.lengths.iter().map(|&n| Size::known(n as i64)).collect()
            }
            Value::Numbers(_) => bail!(InvalidNetwork, "{} puts shapes beside activations", node.title()),
        };
        let channels = sizes.get(axis).and_then(|size| size.number()).and_then(|n| usize::try_from(n).ok());
        let wanted = super::shapes::sizes(like);
        let fits = sizes.len() == wanted.len()
            && sizes.iter().zip(&wanted).enumerate().all(|(at, (size, wanted))| {
                at == axis
                    || size == wanted
                    || (*wanted == Size::BATCH && size.number().is_some_and(|n| n == self.batch.unwrap_or(1)))
            });
        match channels {
            Some(channels) if fits => Ok(Part::Zeros(channels)),
            _ => bail!(
                InvalidNetwork,
                "{} puts zeros beside {} that do not have its shape",
                node.title(),
                like.described()
            ),
        }
    }

    /// Zeros go to the layer beside them, and then the layers together.
    fn put_together(&mut self, node: Node<'a>, axis: usize, parts: Vec<Part>) -> Result<()> {
        let mut layers: Vec<(usize, Activation, usize)> = Vec::new();
        let mut before = 0usize;
        for part in parts {
            match (part, layers.last_mut()) {
                (Part::Zeros(more), Some((_, _, after))) => *after = after.saturating_add(more),
                (Part::Zeros(more), None) => before = before.saturating_add(more),
                (Part::Layer(found), _) => layers.push((std::mem::take(&mut before), found, 0)),
            }
        }
        if layers.iter().any(|(_, one, _)| one.is_row != layers[0].1.is_row) {
            for (_, one, _) in &mut layers {
                *one = self.as_row(node, one.clone())?;
            }
        }
        let mut padded = Vec::new();
        for (before, found, after) in layers {
            padded.push(self.pad_channels(node, found, before, after)?);
        }
        let channels = padded.iter().fold(0usize, |sum, one| sum.saturating_add(one.shape.channels));
        let sources: Vec<_> = padded.iter().map(|one| one.source).collect();
        let Some(first) = padded.into_iter().next() else { return Ok(()) };
        if sources.len() == 1 {
            return self.give(node, Value::Activation(first));
        }
        self.ensure_size(&node.title(), &[channels, first.shape.height, first.shape.width])?;
        let operation = Operation::Layer { layer: Layer::Concat, weight: None, bias: None };
        let source = self.builder.push(operation, sources, node.output()?);
        let found = with_channels(&first, axis, channels);
        self.give(node, Value::Activation(Activation { source, is_shared: false, ..found }))
    }

    fn pad_channels(&mut self, node: Node<'a>, found: Activation, before: usize, after: usize) -> Result<Activation> {
        if before == 0 && after == 0 {
            return Ok(found);
        }
        ensure!(
            found.flattened.is_none(),
            InvalidNetwork,
            "{} puts zeros beside a row that was an image with its channels last",
            node.title()
        );
        let Some(axis) = found.channel_axis() else {
            bail!(InvalidNetwork, "{} puts channels beside {}, which has none", node.title(), found.described())
        };
        let channels = found.shape.channels.saturating_add(before).saturating_add(after);
        self.ensure_size(&node.title(), &[channels, found.shape.height, found.shape.width])?;
        let layer = Layer::PadChannels { before, after };
        let operation = Operation::Layer { layer, weight: None, bias: None };
        let source = self.builder.push(operation, vec![found.source], node.output()?);
        Ok(Activation { source, is_shared: false, ..with_channels(&found, axis, channels) })
    }

    /// Zeros around: rows and columns go into the window that follows, channels are a layer. Attributes before version 11, then inputs.
    pub(super) fn pad(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&["mode", "pads", "value"])?;
        let found = self.activation(node, 0)?;
        let rank = found.axes.len();
        let pads = match node.ints("pads") {
            Some(pads) => Some(pads.to_vec()),
            None => self.known(node, 1)?,
        };
        let value = match node.optional(2) {
            None => Some(node.float("value", 0.0)),
            Some(_) => {
                let constant = self.constant(node, 2)?;
                self.scalar(&constant)?
            }
        };
        let axes = match self.known(node, 3)? {
            Some(axes) => places(node, &axes, rank)?,
            None => (0..rank).collect(),
        };
        let pads = pads.unwrap_or_default();
        let sizes = pads.iter().map(|&n| usize::try_from(n).ok()).collect::<Option<Vec<usize>>>();
        let sizes = sizes.filter(|sizes| sizes.len() == 2 * axes.len());
        let Some(sizes) = sizes else {
            bail!(
                InvalidNetwork,
                "{} pads {} with {pads:?}: a number before and one after each axis, none negative, are known",
                node.title(),
                found.described()
            )
        };
        let is_none = sizes.iter().all(|&n| n == 0);
        ensure!(
            is_none || node.text("mode", "constant") == "constant" && value == Some(0.0),
            InvalidNetwork,
            "{} pads with other than zeros (mode {}): isoflat's padding is zeros",
            node.title(),
            node.text("mode", "constant")
        );
        let (mut channels, mut padding) = ([0, 0], Padding::NONE);
        for (i, &at) in axes.iter().enumerate() {
            let (before, after) = (sizes[i], sizes[axes.len() + i]);
            if before == 0 && after == 0 {
                continue;
            }
            let is_of_image = !found.is_row && found.axes.len() == 4;
            if found.channel_axis() == Some(at) {
                channels = [before, after];
            } else if is_of_image && found.has_at(at, Axis::Height) && found.axes.get(at) != Some(&Axis::Width) {
                (padding.before[0], padding.after[0]) = (before, after);
            } else if is_of_image && found.has_at(at, Axis::Width) {
                (padding.before[1], padding.after[1]) = (before, after);
            } else {
                bail!(
                    InvalidNetwork,
                    "{} pads axis {at} of {}, which is neither rows, columns nor channels of images",
                    node.title(),
                    found.described()
                );
            }
        }
        let padding = joined(found.padding, padding);
        let found = self.pad_channels(node, found, channels[0], channels[1])?;
        self.give(node, Value::Activation(Activation { padding, ..found }))
    }

    /// Whole numbers one after the other, for shapes.
    fn concat_numbers(&mut self, node: Node<'a>) -> Result<()> {
        let (mut values, mut is_floating) = (Vec::new(), false);
        for at in 0..node.proto.input.len() {
            match self.whole_numbers(node, node.input(at)?)? {
                Some(numbers) if numbers.shape.len() == 1 => {
                    is_floating |= numbers.is_floating;
                    values.extend(numbers.values);
                }
                _ => bail!(
                    InvalidNetwork,
                    "{} puts constants together, which are then no parameters that could be written back: export the model with its \
                     constants folded",
                    node.title()
                ),
            }
            ensure!(values.len() <= super::reader::MOST_NUMBERS, InvalidNetwork, "{} makes no shape", node.title());
        }
        self.give(node, Value::Numbers(Numbers { is_floating, ..Numbers::row(values) }))
    }
}

/// The axes with the channels at this place. Of axes of length 1 any may be them, and has changed its place then.
fn channels_at(found: &Activation, axis: usize) -> Vec<Axis> {
    let mut axes = found.axes.clone();
    match axes.iter().position(|&other| other == Axis::Channel) {
        Some(at) if axis < axes.len() => axes.swap(at, axis),
        _ => axes.iter_mut().skip(axis).take(1).for_each(|at| *at = Axis::Channel),
    }
    axes
}

/// The same with another number of channels, at their axis.
fn with_channels(found: &Activation, axis: usize, channels: usize) -> Activation {
    let axes = channels_at(found, axis);
    let changed = Activation { shape: Shape { channels, ..found.shape }, ..found.clone() };
    changed.with_axes(axes)
}
