//! Shapes of what goes between layers, and windows that slide over images.

use std::fmt;

use super::Padding;
use crate::error::{Result, ensure};

/// The most values one sample may have between two layers: what 32-bit indices address with room to spare.
const MAX_LEN: u64 = 1 << 30;

/// A padded image of so many values is no burden, however little is in it.
const PADDED_FREELY: u64 = 1 << 16;

/// Otherwise it has at most so many times the values of the layer's input, weights and output together: what a problem takes
/// is in proportion to what it states.
const PADDED_MOST: u64 = 64;

/// How many values that makes, if the number can be written.
fn count(sizes: [u64; 3]) -> Option<u64> {
    sizes.iter().try_fold(1u64, |n, &m| n.checked_mul(m))
}

/// Channels of an image and its size, in the order (C, H, W). A flat row of features is an image of 1 × 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// C: channels, or features of a flat row.
    pub channels: usize,
    /// H.
    pub height: usize,
    /// W.
    pub width: usize,
}

impl Shape {
    /// A flat row.
    pub const fn flat(features: usize) -> Self {
        Self { channels: features, height: 1, width: 1 }
    }

    /// Number of values.
    pub const fn len(&self) -> usize {
        self.channels.saturating_mul(self.area())
    }

    /// No values? Never so in a network.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Values in one channel.
    pub const fn area(&self) -> usize {
        self.height.saturating_mul(self.width)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}×{}×{}", self.channels, self.height, self.width)
    }
}

/// A window that slides over an image; all sizes are [height, width].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its size.
    pub size: [usize; 2],
    /// Its steps.
    pub stride: [usize; 2],
    /// Values around the image.
    pub padding: Padding,
    /// Steps within it.
    pub dilation: [usize; 2],
}

impl Window {
    /// A window without padding over the whole of an image: what a dense layer is to it.
    pub const fn whole(shape: Shape) -> Self {
        Self { size: [shape.height, shape.width], ..Self::pixel() }
    }

    /// One pixel, everywhere: what an activation is to an image.
    pub const fn pixel() -> Self {
        Self { size: [1, 1], stride: [1, 1], padding: Padding::NONE, dilation: [1, 1] }
    }

    /// Number of values in it, of one channel; the largest number there is where it has more, as it may before
    /// [`Window::output`] has been asked and the weights counted.
    pub const fn area(&self) -> usize {
        self.size[0].saturating_mul(self.size[1])
    }

    /// [`Window::area`] where memory is addressed by fewer bits than it has.
    pub(super) fn wide_area(&self) -> u64 {
        (self.size[0] as u64).saturating_mul(self.size[1] as u64)
    }

    /// From its first to its last value along an axis, both counted.
    fn extent(&self, axis: usize) -> u64 {
        let steps = (self.size[axis] as u64).saturating_sub(1);
        steps.saturating_mul(self.dilation[axis] as u64).saturating_add(1)
    }

    /// The shape that comes out over `input`, with this many channels.
    ///
    /// # Errors
    /// `InvalidNetwork` for a zero size, stride or dilation, or a window larger than the padded image; `TooLarge` where the padded
    /// image or the result has over 2³⁰ values. `what` names the layer in the message.
    pub fn output(&self, what: &str, input: Shape, channels: usize) -> Result<Shape> {
        ensure!(channels > 0, InvalidNetwork, "{what} has 0 channels");
        ensure!(self.size.iter().all(|&n| n > 0), InvalidNetwork, "{what} has a window of size {:?}", self.size);
        ensure!(self.stride.iter().all(|&n| n > 0), InvalidNetwork, "{what} has stride {:?}", self.stride);
        ensure!(self.dilation.iter().all(|&n| n > 0), InvalidNetwork, "{what} has dilation {:?}", self.dilation);
        let sides = [input.height, input.width];
        let padded = std::array::from_fn(|i| self.padding.along(i).saturating_add(sides[i] as u64));
        // An executor may want to write the padded image out: its size counts even where few windows read it.
        ensure!(
            count([input.channels as u64, padded[0], padded[1]]).is_some_and(|n| n <= MAX_LEN),
            TooLarge,
            "{what} pads its input of {input} to {}×{} a channel, but isoflat takes {MAX_LEN} values at most",
            padded[0],
            padded[1]
        );
        let extent = |axis: usize| -> Result<usize> {
            ensure!(
                padded[axis] >= self.extent(axis),
                InvalidNetwork,
                "{what} has a window of {}×{}, which does not fit its input of {input} with padding {}",
                self.extent(0),
                self.extent(1),
                self.padding
            );
            Ok(((padded[axis] - self.extent(axis)) / self.stride[axis] as u64 + 1) as usize)
        };
        let (height, width) = (extent(0)?, extent(1)?);
        ensure!(
            count([channels, height, width].map(|n| n as u64)).is_some_and(|n| n <= MAX_LEN),
            TooLarge,
            "{what} puts out {channels}×{height}×{width} values a sample, but isoflat takes {MAX_LEN} at most"
        );
        let output = Shape { channels, height, width };
        self.ensure_in_proportion(what, input, padded, output)?;
        Ok(output)
    }

    /// Fails where the padded image is mostly zeros that no window needs.
    fn ensure_in_proportion(&self, what: &str, input: Shape, padded: [u64; 2], output: Shape) -> Result<()> {
        let values = count([input.channels as u64, padded[0], padded[1]]).unwrap_or(u64::MAX);
        let channels = input.channels as u64 * output.channels as u64;
        let weights = channels.saturating_mul(self.wide_area());
        let stated = [input, output].map(|shape| shape.len() as u64).iter().fold(weights, |n, &m| n.saturating_add(m));
        ensure!(
            values <= PADDED_FREELY || values / PADDED_MOST <= stated,
            TooLarge,
            "{what} pads its input of {input} to {}×{} a channel, mostly zeros: {values} values, where input, weights and output \
             have {stated}; a padding of {}×{}, one less than the window, lets it begin and end at any value",
            padded[0],
            padded[1],
            self.extent(0) - 1,
            self.extent(1) - 1
        );
        Ok(())
    }

    /// The same window with steps no longer than the padded image: longer ones take no other place, but need larger numbers.
    pub(crate) fn within(self, input: Shape) -> Self {
        let sides = [input.height, input.width];
        let most = |axis: usize| (sides[axis] as u64).saturating_add(self.padding.along(axis)) as usize;
        let stride = std::array::from_fn(|i| self.stride[i].min(most(i)).max(1));
        let dilation = std::array::from_fn(|i| if self.size[i] == 1 { 1 } else { self.dilation[i] });
        Self { stride, dilation, ..self }
    }
}
