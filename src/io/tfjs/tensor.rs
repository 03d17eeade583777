//! What goes between two layers: its shape in the file, and how isoflat has its values.

use std::rc::Rc;

use crate::error::{Result, bail, ensure};
use crate::memory::room;
use crate::network::{MAX_PARAMETERS, Padding, Shape};

/// Which axis of images has the channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DataFormat {
    /// (height, width, channels): what Keras does.
    ChannelsLast,
    /// (channels, height, width).
    ChannelsFirst,
}

impl DataFormat {
    /// The image that a shape of the file is.
    pub fn image(self, dims: &[usize]) -> Option<Shape> {
        match (self, dims) {
            (Self::ChannelsLast, &[height, width, channels]) | (Self::ChannelsFirst, &[channels, height, width]) => {
                Some(Shape { channels, height, width })
            }
            _ => None,
        }
    }

    /// The shape in the file of an image.
    pub fn dims(self, Shape { channels, height, width }: Shape) -> Vec<usize> {
        match self {
            Self::ChannelsLast => vec![height, width, channels],
            Self::ChannelsFirst => vec![channels, height, width],
        }
    }
}

/// Features of a row that came from an image: the file has them pixel after pixel, isoflat channel after channel. Where the area is 1
/// both are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    pub channels: usize,
    pub area: usize,
}

/// How isoflat has the values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Held {
    /// A flat row, in parts.
    Row(Rc<[Segment]>),
    /// An image, without the padding that is still to come.
    Image {
        shape: Shape,
        /// Does the file count its values pixel after pixel?
        pixels_first: bool,
    },
}

/// What a layer gives.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tensor {
    /// The shape in the file, without the axis of samples.
    pub dims: Vec<usize>,
    /// How isoflat has it.
    pub held: Held,
    /// The node of the graph that gives it; none for what comes into the network.
    pub node: Option<usize>,
    /// Zeros around the image, which the window that reads it puts there.
    pub padding: Padding,
    /// Is no value below 0, so that zeros around it are no less than −∞ to a maximum?
    pub is_positive: bool,
    /// An activation that may only end the network, and was taken off.
    pub end: Option<&'static str>,
}

impl Tensor {
    /// A row of what a node gives.
    pub fn row(features: usize, node: usize) -> Self {
        Self::new(vec![features], Held::Row(Rc::new([Segment { channels: features, area: 1 }])), Some(node))
    }

    /// Something without padding.
    pub fn new(dims: Vec<usize>, held: Held, node: Option<usize>) -> Self {
        Self { dims, held, node, padding: Padding::NONE, is_positive: false, end: None }
    }

    /// An image that a node gives, in the file's order of axes.
    pub fn image(shape: Shape, format: DataFormat, node: Option<usize>) -> Self {
        let held = Held::Image { shape, pixels_first: format == DataFormat::ChannelsLast };
        Self::new(format.dims(shape), held, node)
    }

    /// The image that it is to a layer that takes images; what is still to be padded is not in it.
    pub fn as_image(&self, format: DataFormat) -> Option<Shape> {
        let Held::Image { shape, pixels_first } = self.held else { return None };
        let found = format.image(&self.dims)?;
        let padded = |axis: usize, n: usize| (n as u64).checked_add(self.padding.along(axis));
        let is_same = found.channels == shape.channels
            && padded(0, shape.height) == Some(found.height as u64)
            && padded(1, shape.width) == Some(found.width as u64)
            && (pixels_first == (format == DataFormat::ChannelsLast) || shape.area() == 1 || shape.channels == 1);
        is_same.then_some(shape)
    }
}

/// How many values a shape has.
///
/// # Errors
/// `InvalidNetwork` for none, `TooLarge` for more than a network may have; `what` names whose shape it is.
pub(super) fn count(what: &str, dims: &[usize]) -> Result<usize> {
    let found = dims.iter().try_fold(1u64, |product, &n| product.checked_mul(n as u64));
    match found {
        Some(0) => bail!(InvalidNetwork, "{what} has shape {dims:?}, without any value"),
        Some(n) if n <= MAX_PARAMETERS => Ok(n as usize),
        _ => bail!(TooLarge, "{what} has shape {dims:?}, but isoflat takes {MAX_PARAMETERS} values at most"),
    }
}

/// The segments of an image that is flattened.
pub(super) fn segments(shape: Shape, pixels_first: bool) -> Rc<[Segment]> {
    let is_same = !pixels_first || shape.area() == 1 || shape.channels == 1;
    match is_same {
        true => Rc::new([Segment { channels: shape.len(), area: 1 }]),
        false => Rc::new([Segment { channels: shape.channels, area: shape.area() }]),
    }
}

/// Segments one after the other; those in the file's order become one.
pub(super) fn joined<'a>(all: impl Iterator<Item = &'a Segment>) -> Vec<Segment> {
    let mut found: Vec<Segment> = Vec::new();
    for &segment in all {
        match found.last_mut() {
            Some(last) if last.area == 1 && segment.area == 1 => {
                last.channels = last.channels.saturating_add(segment.channels);
            }
            _ => found.push(segment),
        }
    }
    found
}

/// Where the file has each feature of isoflat's row; none where both orders are the same.
///
/// # Errors
/// `TooLarge`.
pub(super) fn order(segments: &[Segment]) -> Result<Option<Vec<u32>>> {
    if segments.iter().all(|segment| segment.area == 1) {
        return Ok(None);
    }
    let lengths = segments.iter().map(|segment| (segment.channels as u64).saturating_mul(segment.area as u64));
    let total = lengths.fold(0u64, u64::saturating_add);
    ensure!(total <= MAX_PARAMETERS, TooLarge, "a row of {total} features: isoflat takes {MAX_PARAMETERS} at most");
    let mut found = room("the order of features", total as usize)?;
    let mut start = 0;
    for &Segment { channels, area } in segments {
        for channel in 0..channels {
            found.extend((0..area).map(|pixel| (start + pixel * channels + channel) as u32));
        }
        start += channels * area;
    }
    Ok(Some(found))
}
