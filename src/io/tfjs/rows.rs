//! Layers over rows, and those that take rows and images alike: dense layers, normalisations, reshapes, sums, concatenations.

use super::super::{BatchNormNode, Operation, Slot};
use super::activation::Activation;
use super::builder::{Builder, slot};
use super::config::{Config, MOST_AXES};
use super::tensor::{self, DataFormat, Held, Segment, Tensor};
use super::topology::{Call, Topology};
use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::memory::room;
use crate::network::{Layer, Shape};

/// Layers that give what they read, perhaps in another shape: what is taken off at the end may stand before them.
pub(super) fn is_reshaping(class: &str) -> bool {
    matches!(class, "Dropout" | "Flatten" | "Reshape" | "ActivityRegularization" | "InputLayer")
}

/// The image that the inputs become before anything else is done with them, if there is one: its shape in the file.
///
/// # Errors
/// `Parse` for a reshape that is none.
pub(super) fn reshaped_input(topology: &Topology, len: usize) -> Result<Option<Vec<usize>>> {
    let mut is_input = vec![true];
    for call in &topology.calls {
        let reads = call.reads.iter().all(|&i| is_input.get(i) == Some(&true));
        let is_same = reads && (is_reshaping(call.class) || call.class == "GaussianNoise");
        if is_same && call.class == "Reshape" {
            let dims = target_shape(Config::new(call.config, &call.what), len)?;
            if dims.len() == 3 {
                return Ok(Some(dims));
            }
        }
        is_input.push(is_same);
    }
    Ok(None)
}

/// A reshape's shape, in which −1 is what is left.
fn target_shape(config: Config, len: usize) -> Result<Vec<usize>> {
    let what = config.what;
    let target = config.list("target_shape")?;
    ensure!(
        target.len() <= MOST_AXES,
        TooLarge,
        "{what} makes {} axes, but {MOST_AXES} at most are read",
        target.len()
    );
    let fault = || {
        let said = config.get("target_shape").map(ToString::to_string).unwrap_or_default();
        Error::new(ErrorCode::Parse, format!("{what} makes {said} of {len} values"))
    };
    let sizes: Option<Vec<i64>> = target.iter().map(|value| value.as_i64()).collect();
    let sizes = sizes.ok_or_else(fault)?;
    let known = sizes
        .iter()
        .filter(|&&n| n != -1)
        .try_fold(1usize, |product, &n| product.checked_mul(usize::try_from(n).ok()?));
    let known = known.filter(|&known| known > 0).ok_or_else(fault)?;
    let open = sizes.iter().filter(|&&n| n == -1).count();
    let is_right = if open == 0 { known == len } else { open == 1 && len.is_multiple_of(known) };
    ensure!(is_right, Parse, "{}", fault().message);
    Ok(sizes.iter().map(|&n| if n == -1 { len / known } else { n as usize }).collect())
}

impl Builder<'_, '_> {
    /// Dense. Over images it is a convolution of single pixels.
    pub(super) fn dense(&mut self, call: &Call, config: Config, read: &Tensor) -> Result<Tensor> {
        if read.dims.len() == 3 && matches!(read.held, Held::Image { .. }) {
            return self.pixelwise(call, config, read);
        }
        let row = self.as_row(call, read)?;
        let Held::Row(segments) = &row.held else { bail!(InvalidNetwork, "{} takes a row", call.what) };
        let units = config.needed("units")?;
        let inputs = tensor::count(&call.what, &row.dims)?;
        tensor::count(&call.what, &[inputs, units])?;
        let taken = self.weights.take(&call.what, call.name, &["kernel"], &[inputs, units])?;
        let weight = slot(taken, Some(columns(segments, units, inputs)?))?;
        let use_bias = config.flag("use_bias", true)?;
        let bias = self.bias(call, use_bias, units)?;
        let layer = Layer::Dense { units, bias: use_bias };
        let node = self.push(call.name, Operation::Layer { layer, weight: Some(weight), bias }, &[row.node]);
        self.activated(call, Tensor::row(units, node), Activation::inside(config)?)
    }

    /// BatchNormalization, with the statistics that it moved to.
    pub(super) fn batch_norm(&mut self, call: &Call, config: Config, read: &Tensor) -> Result<Tensor> {
        let what = &call.what;
        let rank = read.dims.len() as i64;
        let axis = config.axis("axis")?.unwrap_or(-1);
        let axis = if axis < 0 { axis.saturating_add(rank) } else { axis.saturating_sub(1) };
        let channels_at = if rank == 3 && self.format == DataFormat::ChannelsFirst { 0 } else { rank - 1 };
        ensure!(
            axis == channels_at && (rank == 1 || rank == 3),
            InvalidNetwork,
            "{what} normalises along axis {} of {:?}, but isoflat's go along the channels of images, or the features of rows",
            axis.saturating_add(1),
            read.dims
        );
        self.ensure_unpadded(what, read)?;
        let (read, order, channels) = match read.as_image(self.format) {
            Some(shape) => (read.clone(), None, shape.channels),
            None => {
                let row = self.as_row(call, read)?;
                let Held::Row(segments) = &row.held else { bail!(InvalidNetwork, "{what} takes a row or images") };
                let features = tensor::count(what, &row.dims)?;
                let own = self.weights.shape(call.name, "moving_mean").is_some_and(|shape| *shape == [features]);
                // A long order only where there are as many numbers.
                let order = if own { tensor::order(segments)? } else { None };
                (row, order, features)
            }
        };
        let mut take = |leaf: &str| -> Result<Slot> {
            let taken = self.weights.take(what, call.name, &[leaf], &[channels])?;
            slot(taken, order.as_deref().map(|order| crate::memory::copied("an order", order)).transpose()?)
        };
        let scale = config.flag("scale", true)?.then(|| take("gamma")).transpose()?;
        let shift = config.flag("center", true)?.then(|| take("beta")).transpose()?;
        let (mean, variance) = (take("moving_mean")?, take("moving_variance")?);
        let epsilon = config.number("epsilon", 1e-3)?;
        let norm = BatchNormNode { scale, shift, mean, variance, epsilon, is_scale: false };
        let node = self.norm(call.name, norm, read.node);
        Ok(Tensor { node: Some(node), is_positive: false, ..read })
    }

    /// Flatten.
    pub(super) fn flatten(&mut self, call: &Call, config: Config, read: &Tensor) -> Result<Tensor> {
        let what = &call.what;
        let mut read = read.clone();
        // Keras flattens pixel after pixel where channels come first: it moves the first axis to the end before.
        if config.text("data_format", "channels_last")? == "channels_first" && read.dims.len() > 1 {
            let held = read.as_image(self.format).map(|shape| Held::Image { shape, pixels_first: true });
            let is_moved = self.format == DataFormat::ChannelsFirst;
            let Some(held) = held.filter(|_| is_moved) else {
                bail!(
                    InvalidNetwork,
                    "{what} moves the first axis of {:?} to the end (data_format channels_first), but the layers before it have the \
                     channels last: build it with channels_last",
                    read.dims
                )
            };
            read = Tensor { held, ..read };
        }
        let len = tensor::count(what, &read.dims)?;
        let end = read.end;
        let row = self.row(what, call.name, &read)?;
        Ok(Tensor { dims: vec![len], end, ..row })
    }

    /// Reshape: the values stay in the file's order.
    pub(super) fn reshape(&mut self, call: &Call, config: Config, read: &Tensor) -> Result<Tensor> {
        self.ensure_unpadded(&call.what, read)?;
        let dims = target_shape(config, tensor::count(&call.what, &read.dims)?)?;
        if dims.len() == 1 && read.dims.len() > 1 {
            let row = self.row(&call.what, call.name, read)?;
            return Ok(Tensor { dims, end: read.end, ..row });
        }
        Ok(Tensor { dims, ..read.clone() })
    }

    /// Add.
    pub(super) fn sum(&mut self, call: &Call, reads: &[Tensor]) -> Result<Tensor> {
        let what = &call.what;
        let Some(first) = reads.first() else { bail!(Parse, "{what} reads nothing") };
        for read in reads {
            self.ensure_unpadded(what, read)?;
            ensure!(
                read.dims == first.dims,
                InvalidNetwork,
                "{what} adds {:?} and {:?}, but isoflat's sums are of equal shapes",
                first.dims,
                read.dims
            );
        }
        let is_positive = reads.iter().all(|read| read.is_positive);
        let is_image = matches!(first.held, Held::Image { .. });
        if is_image && reads.iter().all(|read| read.held == first.held) {
            let node = self.joined(call, Layer::Add, reads);
            return Ok(Tensor { node: Some(node), is_positive, ..first.clone() });
        }
        let rows = self.rows(call, reads)?;
        let Some(first) = rows.first() else { bail!(Parse, "{what} reads nothing") };
        ensure!(
            rows.iter().all(|row| row.held == first.held),
            InvalidNetwork,
            "{what} adds a flattened image and another row, whose orders differ in isoflat, where images are channel after channel: \
             add before the image is flattened"
        );
        let node = self.joined(call, Layer::Add, &rows);
        Ok(Tensor { node: Some(node), is_positive, ..first.clone() })
    }

    /// Concatenate, along the channels or the features.
    pub(super) fn concatenation(&mut self, call: &Call, reads: &[Tensor]) -> Result<Tensor> {
        let what = &call.what;
        let axis = Config::new(call.config, what).axis("axis")?.unwrap_or(-1);
        let Some(first) = reads.first() else { bail!(Parse, "{what} reads nothing") };
        let rank = first.dims.len();
        ensure!(
            reads.iter().all(|read| read.dims.len() == rank),
            InvalidNetwork,
            "{what} puts rows and images together: flatten the images before"
        );
        let axis = if axis < 0 { axis.saturating_add(rank as i64) } else { axis.saturating_sub(1) };
        let channels_at = if rank == 3 && self.format == DataFormat::ChannelsFirst { 0 } else { rank as i64 - 1 };
        ensure!(
            axis == channels_at && (rank == 1 || rank == 3),
            InvalidNetwork,
            "{what} goes along axis {} of {:?}, but isoflat's concatenations go along channels or features",
            axis.saturating_add(1),
            first.dims
        );
        reads.iter().try_for_each(|read| self.ensure_unpadded(what, read))?;
        let is_positive = reads.iter().all(|read| read.is_positive);
        if rank == 3 {
            let shapes: Option<Vec<Shape>> = reads.iter().map(|read| read.as_image(self.format)).collect();
            let Some(shapes) = shapes else {
                bail!(InvalidNetwork, "{what} takes images or rows, not {:?}", first.dims)
            };
            let [Shape { height, width, .. }, ..] = shapes[..] else { bail!(Parse, "{what} reads nothing") };
            ensure!(
                shapes.iter().all(|shape| [shape.height, shape.width] == [height, width]),
                InvalidNetwork,
                "{what} puts images of different sizes together"
            );
            let channels = shapes.iter().fold(0usize, |sum, shape| sum.saturating_add(shape.channels));
            tensor::count(what, &[channels, height, width])?;
            let node = self.joined(call, Layer::Concat, reads);
            return Ok(Tensor {
                is_positive,
                ..Tensor::image(Shape { channels, height, width }, self.format, Some(node))
            });
        }
        let rows = self.rows(call, reads)?;
        let lengths = rows.iter().map(|row| row.dims.first().copied().unwrap_or_default());
        let len = lengths.fold(0usize, usize::saturating_add);
        tensor::count(what, &[len])?;
        let parts = rows.iter().filter_map(|row| match &row.held {
            Held::Row(segments) => Some(&segments[..]),
            Held::Image { .. } => None,
        });
        let parts: Vec<&[Segment]> = parts.collect();
        self.count_parts(what, parts.iter().map(|part| part.len()).sum())?;
        let segments = tensor::joined(parts.iter().copied().flatten()).into();
        let node = self.joined(call, Layer::Concat, &rows);
        Ok(Tensor { is_positive, ..Tensor::new(vec![len], Held::Row(segments), Some(node)) })
    }

    fn joined(&mut self, call: &Call, layer: Layer, reads: &[Tensor]) -> usize {
        let nodes: Vec<Option<usize>> = reads.iter().map(|read| read.node).collect();
        self.plain(call.name, layer, &nodes)
    }

    fn rows(&mut self, call: &Call, reads: &[Tensor]) -> Result<Vec<Tensor>> {
        reads.iter().map(|read| self.as_row(call, read)).collect()
    }

    /// What a layer reads as a row.
    fn as_row(&mut self, call: &Call, read: &Tensor) -> Result<Tensor> {
        ensure!(
            read.dims.len() == 1,
            InvalidNetwork,
            "{} takes rows, or images whose layers before it isoflat has as images, but {:?} comes in: put a Flatten before it",
            call.what,
            read.dims
        );
        self.row(&call.what, &format!("{}/flatten", call.name), read)
    }
}

/// The order of a dense layer's weights: (units, inputs) of (inputs, units), inputs of a flattened image channel after channel.
fn columns(segments: &[Segment], units: usize, inputs: usize) -> Result<Vec<u32>> {
    let order = tensor::order(segments)?;
    let mut found = room("the order of a weight", inputs.saturating_mul(units))?;
    for unit in 0..units {
        let of = |input: usize| (input * units + unit) as u32;
        match &order {
            None => found.extend((0..inputs).map(of)),
            Some(order) => found.extend(order.iter().map(|&input| of(input as usize))),
        }
    }
    Ok(found)
}
