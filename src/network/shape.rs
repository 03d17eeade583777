//! Shapes of what goes between layers, and windows that slide over images.

use std::fmt;

use crate::error::{Result, bail, ensure};

/// The most values one sample may have between two layers: what 32-bit indices address with room to spare.
const MAX_LEN: u64 = 1 << 30;

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
        self.channels * self.area()
    }

    /// No values? Never so in a network.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Values in one channel.
    pub const fn area(&self) -> usize {
        self.height * self.width
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
    /// Zeros around the image.
    pub padding: [usize; 2],
}

impl Window {
    /// A window without padding over the whole of an image: what a dense layer is to it.
    pub const fn whole(shape: Shape) -> Self {
        Self { size: [shape.height, shape.width], stride: [1, 1], padding: [0, 0] }
    }

    /// Number of values in it, of one channel.
    pub const fn area(&self) -> usize {
        self.size[0] * self.size[1]
    }

    /// The shape that comes out over `input`, with this many channels.
    ///
    /// # Errors
    /// `InvalidNetwork` for a zero size or stride, a window larger than the padded image, or a pool's whole window in the
    /// padding; `TooLarge` where the result has over 2³⁰ values. `what` names the layer in the message.
    pub fn output(&self, what: &str, input: Shape, channels: usize) -> Result<Shape> {
        ensure!(channels > 0, InvalidNetwork, "{what} has 0 channels");
        ensure!(self.size.iter().all(|&n| n > 0), InvalidNetwork, "{what} has a window of size {:?}", self.size);
        ensure!(self.stride.iter().all(|&n| n > 0), InvalidNetwork, "{what} has stride {:?}", self.stride);
        let extent = |axis: usize, length: usize| -> Result<usize> {
            let padded = self.padding[axis].checked_mul(2).and_then(|p| p.checked_add(length));
            match padded {
                Some(padded) if padded >= self.size[axis] => Ok((padded - self.size[axis]) / self.stride[axis] + 1),
                _ => bail!(
                    InvalidNetwork,
                    "{what} has a window of {}×{}, which does not fit its input of {input} with padding {:?}",
                    self.size[0],
                    self.size[1],
                    self.padding
                ),
            }
        };
        let (height, width) = (extent(0, input.height)?, extent(1, input.width)?);
        let count = [height, width].iter().try_fold(channels as u64, |n, &m| n.checked_mul(m as u64));
        ensure!(
            count.is_some_and(|n| n <= MAX_LEN),
            TooLarge,
            "{what} puts out {channels}×{height}×{width} values a sample, but isoflat takes {MAX_LEN} at most"
        );
        Ok(Shape { channels, height, width })
    }
}
