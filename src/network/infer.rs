//! What a layer makes of what it reads: shapes, and the size of its weights.

use std::fmt;

use super::layout::Tensor;
use super::{Layer, MAX_PARAMETERS, Shape};
use crate::error::{Result, bail, ensure};

/// What a layer gives, and its weights.
pub(super) struct Inferred {
    pub output: Tensor,
    pub weights: Option<Weights>,
}

/// The size of a layer's W, and whether it has a b.
pub(super) struct Weights {
    pub rows: usize,
    pub columns: u64,
    pub columns_per_unit: usize,
    pub groups: usize,
    pub fan_out: usize,
    pub bias: bool,
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_flat { write!(f, "a row of {}", self.shape.len()) } else { write!(f, "images of {}", self.shape) }
    }
}

impl Tensor {
    pub(super) fn of_input(input: &[usize]) -> Result<Self> {
        let (shape, is_flat) = match *input {
            [features] => (Shape::flat(features), true),
            [channels, height, width] => (Shape { channels, height, width }, false),
            _ => bail!(
                InvalidNetwork,
                "the network's input shape is {input:?}, but must be [features] or [channels, height, width]"
            ),
        };
        ensure!(input.iter().all(|&n| n > 0), InvalidNetwork, "the network's input shape {input:?} has a zero");
        let count = input.iter().try_fold(1u64, |n, &m| n.checked_mul(m as u64));
        ensure!(
            count.is_some_and(|n| n <= MAX_PARAMETERS),
            TooLarge,
            "the network's input shape {input:?} has over {MAX_PARAMETERS} values, the most isoflat takes"
        );
        Ok(Self { shape, is_flat })
    }

    fn row(features: usize) -> Self {
        Self { shape: Shape::flat(features), is_flat: true }
    }

    /// The same with its features one by one, not as the image they were.
    fn apart(self) -> Self {
        if self.is_flat { Self::row(self.shape.len()) } else { self }
    }

    fn ensure_image(&self, what: &str) -> Result<()> {
        ensure!(
            !self.is_flat,
            InvalidNetwork,
            "{what} takes images of shape (channels, height, width), but a flat row of {} values comes in",
            self.shape.len()
        );
        Ok(())
    }
}

impl Inferred {
    /// Of a layer that reads these; `what` names it in messages.
    pub fn new(layer: &Layer, what: &str, reads: &[Tensor]) -> Result<Self> {
        let read = reads[0];
        let weights = weights(layer, what, read)?;
        let image = |shape| Tensor { shape, is_flat: false };
        let output = match layer {
            Layer::Dense { units, .. } => Tensor::row(*units),
            Layer::Conv2d(conv) => image(conv.window().output(what, read.shape, conv.channels)?),
            Layer::Scale { .. } => read.apart(),
            Layer::MaxPool2d(pool) | Layer::AvgPool2d(pool) => {
                read.ensure_image(what)?;
                if matches!(layer, Layer::MaxPool2d(_)) {
                    ensure_met(what, pool)?;
                }
                image(pool.window().output(what, read.shape, read.shape.channels)?)
            }
            Layer::GlobalAvgPool2d => {
                read.ensure_image(what)?;
                image(Shape { height: 1, width: 1, ..read.shape })
            }
            Layer::Add => sum(what, reads)?,
            Layer::Concat => concatenation(what, reads)?,
            Layer::PadChannels { before, after } => {
                let Tensor { shape, is_flat } = read.apart();
                let channels = padded(what, shape, *before, *after)?;
                Tensor { shape: Shape { channels, ..shape }, is_flat }
            }
            Layer::Flatten => Tensor { is_flat: true, ..read },
            Layer::LeakyRelu { slope } => {
                ensure!(
                    slope.is_finite() && *slope > 0.0,
                    InvalidNetwork,
                    "{what} has slope {slope}, but it must be positive"
                );
                read
            }
            Layer::Relu | Layer::Identity | Layer::Relu6 => read,
            Layer::Tanh | Layer::Sigmoid | Layer::Softplus | Layer::Silu | Layer::Gelu { .. } => read,
        };
        Ok(Self { output, weights })
    }
}

/// The weights of a layer that reads this, if it has any.
fn weights(layer: &Layer, what: &str, read: Tensor) -> Result<Option<Weights>> {
    Ok(Some(match layer {
        Layer::Dense { units, bias } => {
            ensure!(
                read.is_flat,
                InvalidNetwork,
                "{what} takes a flat row, but images of {} come in: put a flatten before it",
                read.shape
            );
            ensure!(*units > 0, InvalidNetwork, "{what} has 0 units");
            let (rows, columns_per_unit) = (*units, read.shape.area());
            Weights { rows, columns: read.shape.len() as u64, columns_per_unit, groups: 1, fan_out: rows, bias: *bias }
        }
        Layer::Conv2d(conv) => {
            read.ensure_image(what)?;
            let (groups, channels) = (conv.groups, read.shape.channels);
            ensure!(groups > 0, InvalidNetwork, "{what} has 0 groups");
            for (which, channels) in [("input", channels), ("output", conv.channels)] {
                ensure!(
                    channels % groups == 0,
                    InvalidNetwork,
                    "{what} has {groups} groups, which do not divide its {channels} {which} channels"
                );
            }
            // Its output is checked too, but first what would overflow here.
            conv.window().output(what, read.shape, conv.channels)?;
            Weights {
                rows: conv.channels,
                columns: (channels as u64 / groups as u64).saturating_mul(conv.window().wide_area()),
                columns_per_unit: conv.window().area(),
                groups,
                fan_out: (conv.channels / groups).saturating_mul(conv.window().area()),
                bias: conv.bias,
            }
        }
        Layer::Scale { bias } => {
            let channels = read.apart().shape.channels;
            Weights { rows: channels, columns: 1, columns_per_unit: 1, groups: channels, fan_out: 1, bias: *bias }
        }
        _ => return Ok(None),
    }))
}

/// Fails for a max pool with a window that may lie in the padding alone, where it would find nothing.
fn ensure_met(what: &str, pool: &super::Pool2d) -> Result<()> {
    let sides = [pool.padding.before, pool.padding.after];
    let is_met = sides.iter().all(|side| side[0] < pool.size[0] && side[1] < pool.size[1]);
    ensure!(
        is_met || pool.size.contains(&0),
        InvalidNetwork,
        "{what} has padding {}, but it must be less than the window, {:?}: a maximum over padding alone is −∞",
        pool.padding,
        pool.size
    );
    Ok(())
}

fn sum(what: &str, reads: &[Tensor]) -> Result<Tensor> {
    let first = reads[0];
    if reads.iter().all(|read| *read == first) {
        return Ok(first);
    }
    for read in reads {
        let (a, b) = (first.apart(), read.apart());
        ensure!(a == b, InvalidNetwork, "{what} adds {first} and {read}, but they must have one shape");
    }
    Ok(first.apart())
}

fn concatenation(what: &str, reads: &[Tensor]) -> Result<Tensor> {
    let first = reads[0].apart();
    let mut channels = 0;
    for read in reads {
        let Tensor { shape, is_flat } = read.apart();
        let fits = is_flat == first.is_flat && [shape.height, shape.width] == [first.shape.height, first.shape.width];
        ensure!(
            fits,
            InvalidNetwork,
            "{what} puts {} and {read} together, but they differ in more than channels",
            reads[0]
        );
        channels = padded(what, shape, channels, 0)?;
    }
    Ok(Tensor { shape: Shape { channels, ..first.shape }, ..first })
}

/// Channels of a shape with so many more.
fn padded(what: &str, shape: Shape, before: usize, after: usize) -> Result<usize> {
    let channels = [before, shape.channels, after].iter().fold(0u64, |sum, &n| sum.saturating_add(n as u64));
    let values = channels.saturating_mul(shape.area() as u64);
    ensure!(
        values <= MAX_PARAMETERS,
        TooLarge,
        "{what} puts out {channels} channels or features of {} values, but isoflat takes {MAX_PARAMETERS} values at most",
        shape.area()
    );
    Ok(channels as usize)
}
