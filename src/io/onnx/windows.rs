//! Pools, means over images, and the padding of windows.

use super::activation::{Activation, Axis};
use super::linear::ensure_image;
use super::node::Node;
use super::reader::{Reader, Value};
use crate::error::{Result, bail, ensure};
use crate::network::{Layer, Padding, Pool2d};

/// Both paddings, one around the other.
pub fn joined(a: Padding, b: Padding) -> Padding {
    let sum = |a: [usize; 2], b: [usize; 2]| [a[0].saturating_add(b[0]), a[1].saturating_add(b[1])];
    Padding { before: sum(a.before, b.before), after: sum(a.after, b.after) }
}

/// How far a window of dilated steps reaches.
fn reach(size: usize, dilation: usize) -> usize {
    size.saturating_sub(1).saturating_mul(dilation).saturating_add(1)
}

/// What a node's window puts around the image: as `pads` says, or so much that the image keeps its size, divided by the steps.
pub fn padding(
    node: Node,
    found: &Activation,
    size: [usize; 2],
    stride: [usize; 2],
    dilation: [usize; 2],
) -> Result<Padding> {
    let kind = node.text("auto_pad", "NOTSET");
    let lengths = [found.length(Axis::Height), found.length(Axis::Width)];
    match kind {
        "NOTSET" | "" => {
            let Some(pads) = node.ints("pads") else { return Ok(Padding::NONE) };
            let sizes = pads.iter().map(|&n| usize::try_from(n).ok()).collect::<Option<Vec<usize>>>();
            match sizes.as_deref() {
                Some(&[top, left, bottom, right]) => Ok([top, left, bottom, right].into()),
                _ => bail!(
                    InvalidNetwork,
                    "{} has pads {pads:?}, but they must be four, [top, left, bottom, right], and none negative",
                    node.title()
                ),
            }
        }
        "VALID" => Ok(Padding::NONE),
        "SAME_UPPER" | "SAME_LOWER" => {
            let mut padding = Padding::NONE;
            for i in 0..2 {
                let steps = lengths[i].div_ceil(stride[i]).saturating_sub(1);
                let needed = steps.saturating_mul(stride[i]).saturating_add(reach(size[i], dilation[i]));
                let total = needed.saturating_sub(lengths[i]);
                let (less, more) = (total / 2, total - total / 2);
                (padding.before[i], padding.after[i]) = if kind == "SAME_UPPER" { (less, more) } else { (more, less) };
            }
            Ok(padding)
        }
        other => bail!(Parse, "{} has auto_pad {other}, which is not known", node.title()),
    }
}

impl<'a> Reader<'a> {
    /// The largest, or the mean, of each window.
    pub(super) fn pool(&mut self, node: Node<'a>) -> Result<()> {
        const KNOWN: [&str; 8] = [
            "auto_pad",
            "ceil_mode",
            "count_include_pad",
            "dilations",
            "kernel_shape",
            "pads",
            "storage_order",
            "strides",
        ];
        node.ensure_known(&KNOWN)?;
        let is_max = node.op() == "MaxPool";
        let found = self.activation(node, 0)?;
        ensure_image(node, &found)?;
        let size = node.pair("kernel_shape", None)?;
        let stride = node.pair("strides", Some([1, 1]))?;
        ensure!(
            node.pair("dilations", Some([1, 1]))? == [1, 1],
            InvalidNetwork,
            "{} has dilations {:?}, which isoflat's pools have not",
            node.title(),
            node.ints("dilations").unwrap_or_default()
        );
        let mut own = padding(node, &found, size, stride, [1, 1])?;
        if node.int("ceil_mode", 0) != 0 {
            ensure_ceiling(node, &found, size, stride, is_max, &mut own)?;
        }
        leave_out_the_unseen(&found, size, stride, &mut own);
        if is_max {
            self.ensure_zeros_lose(node, &found)?;
        } else if !own.is_none() && node.int("count_include_pad", 0) == 0 {
            ensure!(
                own.before != [0, 0],
                InvalidNetwork,
                "{} has last windows that the image's edge cuts off, as ceil_mode=True has, and takes the means over what is left of them: \
                 isoflat's average pools leave such windows out; train with ceil_mode=False, or on images that whole windows fill",
                node.title()
            );
            bail!(
                InvalidNetwork,
                "{} leaves its padding {own} out of the means, but isoflat's average pool counts zeros: train with \
                 count_include_pad=True, or without padding",
                node.title()
            );
        }
        let pool =
            Pool2d { size, stride: Some(stride).filter(|&stride| stride != size), padding: joined(found.padding, own) };
        let layer = if is_max { Layer::MaxPool2d(pool) } else { Layer::AvgPool2d(pool) };
        let found = self.plain(node, layer, &found)?;
        self.give(node, Value::Activation(found))
    }

    /// Zeros around an image are as good as nothing to a maximum over what is never negative.
    fn ensure_zeros_lose(&self, node: Node, found: &Activation) -> Result<()> {
        ensure!(
            found.padding.is_none() || self.builder.layer(found.source) == Some(&Layer::Relu),
            InvalidNetwork,
            "{} takes the largest of an image with zeros around it, but isoflat's max pool has −∞ there: put the padding into the pool, \
             or the pool behind a Relu",
            node.title()
        );
        Ok(())
    }

    /// The mean, or the largest, of each channel.
    pub(super) fn global_pool(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&[])?;
        let found = self.unpadded(node, 0)?;
        ensure_image(node, &found)?;
        let layer = match node.op() {
            "GlobalAveragePool" => Layer::GlobalAvgPool2d,
            _ => Layer::MaxPool2d(Pool2d::new([found.shape.height, found.shape.width])),
        };
        let found = self.plain(node, layer, &found)?;
        self.give(node, Value::Activation(found))
    }

    /// Means over axes: an attribute before version 18, then an input.
    pub(super) fn reduce_mean(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&["axes", "keepdims", "noop_with_empty_axes"])?;
        let found = self.unpadded(node, 0)?;
        let axes = match node.ints("axes") {
            Some(axes) => Some(axes.to_vec()),
            None => self.known(node, 1)?,
        };
        let Some(axes) = axes.filter(|axes| !axes.is_empty()) else {
            bail!(InvalidNetwork, "{} takes the mean over everything, the samples among it", node.title())
        };
        let places = super::shapes::places(node, &axes, found.axes.len())?;
        let is_over = |axis: Axis| places.iter().any(|&at| found.axes.get(at) == Some(&axis));
        let sizes = [Axis::Height, Axis::Width].map(|axis| if is_over(axis) { found.length(axis) } else { 1 });
        let is_of_image = !found.is_row
            && places.iter().all(|&at| {
                found
                    .axes
                    .get(at)
                    .is_some_and(|&axis| axis != Axis::Batch && (axis != Axis::Channel || found.shape.channels == 1))
            });
        ensure!(
            is_of_image,
            InvalidNetwork,
            "{} takes the mean over axes {axes:?} of {}: means over the rows and columns of images are known",
            node.title(),
            found.described()
        );
        let layer = if sizes == [found.shape.height, found.shape.width] {
            Layer::GlobalAvgPool2d
        } else {
            Layer::AvgPool2d(Pool2d::new(sizes))
        };
        let mut kept = found.axes.clone();
        if node.int("keepdims", 1) == 0 {
            let mut at = 0..kept.len();
            kept.retain(|_| at.next().is_none_or(|at| !places.contains(&at)));
        }
        let found = self.plain(node, layer, &found)?.with_axes(kept);
        self.give(node, Value::Activation(found))
    }
}

/// Padding behind an image that no window reaches is none: PyTorch writes what rounding up may take, whether or not it does.
fn leave_out_the_unseen(found: &Activation, size: [usize; 2], stride: [usize; 2], own: &mut Padding) {
    for (i, rest) in rests(lengths(found), size, own).into_iter().enumerate() {
        let unseen = rest.map_or(0, |rest| rest % stride[i].max(1));
        own.after[i] = own.after[i].saturating_sub(unseen);
    }
}

fn lengths(found: &Activation) -> [usize; 2] {
    [found.length(Axis::Height), found.length(Axis::Width)]
}

/// What is left beside a first window, where there is room for one.
fn rests(lengths: [usize; 2], size: [usize; 2], own: &Padding) -> [Option<usize>; 2] {
    [0, 1].map(|i| lengths[i].saturating_add(own.before[i]).saturating_add(own.after[i]).checked_sub(size[i]))
}

/// Sizes that are rounded up: to a maximum a last window that is cut off is one over padding. To a mean it is not, so that there
/// must be none.
fn ensure_ceiling(
    node: Node,
    found: &Activation,
    size: [usize; 2],
    stride: [usize; 2],
    is_max: bool,
    own: &mut Padding,
) -> Result<()> {
    let lengths = lengths(found);
    for (i, rest) in rests(lengths, size, own).into_iter().enumerate() {
        let Some(rest) = rest else { continue };
        let steps = rest.div_ceil(stride[i]);
        // A window that would begin in the padding at the end is left out.
        let begins = steps.saturating_mul(stride[i]);
        let missing = if begins >= lengths[i].saturating_add(own.before[i]) { 0 } else { begins.saturating_sub(rest) };
        ensure!(
            missing == 0 || is_max,
            InvalidNetwork,
            "{} has ceil_mode, and its last window is cut off: isoflat's average pools leave such windows out; pad the image",
            node.title()
        );
        own.after[i] = own.after[i].saturating_add(missing);
    }
    Ok(())
}
