//! What goes between nodes: which of a tensor's axes are the channels, rows and columns of isoflat's images.
//!
//! isoflat has images of (channels, height, width), and rows of features. An ONNX tensor of the same numbers may have its axes in
//! another order, and axes of length 1 between them; transposes and squeezes only change what is said here.

use crate::network::{Padding, Shape, Source};

/// What an axis of a tensor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// The samples.
    Batch,
    /// Channels of images, or features of a row.
    Channel,
    /// Rows of images.
    Height,
    /// Columns of images.
    Width,
    /// One of length 1 that is none of these.
    One,
}

use Axis::{Batch, Channel, Height, One, Width};

/// Channels first, as isoflat has images.
pub const CHANNELS_FIRST: [Axis; 4] = [Batch, Channel, Height, Width];
/// Channels last, as TensorFlow has them.
pub const CHANNELS_LAST: [Axis; 4] = [Batch, Height, Width, Channel];
/// A row of features.
pub const ROW: [Axis; 2] = [Batch, Channel];

/// A row that was an image with its axes in another order than isoflat's, which flattens channel after channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flattened {
    /// The image.
    pub shape: Shape,
    /// The order in which the file's row has its axes, the slowest first.
    pub order: [Axis; 3],
}

impl Flattened {
    /// Lengths of the axes in isoflat's order, and how far apart in the file's row their values lie.
    pub fn strides(&self) -> ([usize; 3], [usize; 3]) {
        let length = |axis: Axis| match axis {
            Channel => self.shape.channels,
            Height => self.shape.height,
            _ => self.shape.width,
        };
        let stride = |axis: Axis| {
            let behind = self.order.iter().skip_while(|&&other| other != axis).skip(1);
            behind.map(|&other| length(other)).fold(1usize, usize::saturating_mul)
        };
        let axes = [Channel, Height, Width];
        (axes.map(length), axes.map(stride))
    }
}

/// A tensor that depends on the network's input.
#[derive(Debug, Clone, PartialEq)]
pub struct Activation {
    /// Which layer gives it.
    pub source: Source,
    /// What that gives.
    pub shape: Shape,
    /// Is it a row there, not an image?
    pub is_row: bool,
    /// The axes of the file's tensor.
    pub axes: Vec<Axis>,
    /// Where the file's row is not in isoflat's order.
    pub flattened: Option<Flattened>,
    /// Zeros that the file puts around the image, and isoflat's next layer has to.
    pub padding: Padding,
    /// Is what the layer gives read by others too, so that it cannot be changed?
    pub is_shared: bool,
}

impl Activation {
    /// What a layer gives, an image with its channels first or a row.
    pub fn new(source: Source, shape: Shape, is_row: bool) -> Self {
        let axes = if is_row { ROW.to_vec() } else { CHANNELS_FIRST.to_vec() };
        Self { source, shape, is_row, axes, flattened: None, padding: Padding::NONE, is_shared: false }
    }

    /// The same layer's tensor with other axes.
    pub fn with_axes(&self, axes: Vec<Axis>) -> Self {
        let mut other = Self { axes, ..self.clone() };
        // Which of several axes of length 1 is which is the same to all, so the usual order is taken where it fits.
        for usual in [&CHANNELS_FIRST[..], &CHANNELS_LAST, &ROW] {
            if other.is(usual) {
                other.axes = usual.to_vec();
                break;
            }
        }
        other
    }

    /// The length of an axis, with what is put around it; of the samples, which are not counted, 0.
    pub fn length(&self, axis: Axis) -> usize {
        let padded = |length: usize, i: usize| {
            length.saturating_add(self.padding.before[i]).saturating_add(self.padding.after[i])
        };
        match axis {
            Batch => 0,
            Channel => self.shape.channels,
            Height => padded(self.shape.height, 0),
            Width => padded(self.shape.width, 1),
            One => 1,
        }
    }

    /// Is the tensor's axis at a place this one? One of length 1 is any of length 1.
    pub fn has_at(&self, at: usize, axis: Axis) -> bool {
        self.axes.get(at).is_some_and(|&found| found == axis || self.length(found) == 1 && self.length(axis) == 1)
    }

    /// Are the axes these?
    pub fn is(&self, axes: &[Axis]) -> bool {
        let covers = |axis: Axis| axes.contains(&axis) || self.length(axis) == 1;
        self.axes.len() == axes.len()
            && [Channel, Height, Width].into_iter().all(covers)
            && axes.iter().enumerate().all(|(at, &axis)| self.has_at(at, axis))
    }

    /// Is it images, channels first?
    pub fn is_image(&self) -> bool {
        !self.is_row && self.is(&CHANNELS_FIRST)
    }

    /// Has it the axes of another, so that the two can be added?
    pub fn is_like(&self, other: &Self) -> bool {
        self.shape == other.shape && self.flattened == other.flattened && self.is(&other.axes)
    }

    /// Where the channels or features are.
    pub fn channel_axis(&self) -> Option<usize> {
        self.axes.iter().position(|&axis| axis == Channel).or_else(|| {
            // There is one channel: where it would be.
            let last = self.axes.len().checked_sub(1)?;
            let usual = if self.is(&CHANNELS_LAST) && !self.is(&CHANNELS_FIRST) { last } else { 1 };
            self.has_at(usual, Channel).then_some(usual)
        })
    }

    /// The axes that are longer than 1, but for the samples.
    pub fn long_axes(&self) -> impl Iterator<Item = Axis> + '_ {
        self.axes.iter().copied().filter(|&axis| axis != Batch && self.length(axis) != 1)
    }

    /// Values of one sample.
    pub fn len(&self) -> usize {
        self.shape.len()
    }

    /// What it is, for messages: `[N, 3, 32, 32]`.
    pub fn described(&self) -> String {
        let lengths = self.axes.iter().map(|&axis| match axis {
            Batch => "N".to_string(),
            axis => self.length(axis).to_string(),
        });
        format!("[{}]", lengths.collect::<Vec<_>>().join(", "))
    }
}
