//! Sums, concatenations, channels of zeros and flattens: lines of one image in another's places, and back.

use super::affine::{Batched, Epilogue, Extent};
use super::context::DeviceBuffer;
use super::executor::GpuExecutor;
use super::geometry::{Image, PlacedStep};
use super::kernel::Kernel;
use super::recorder::Grid;
use super::uniforms::Place;
use crate::engine::plan::Operation;
use crate::error::Result;

/// Where the lines of an image, or of a part of it, lie: that of channel c at (y, x) is number `first + c channel + y row + x column`.
#[derive(Clone, Copy)]
struct Lines {
    first: usize,
    channel: usize,
    row: usize,
    column: usize,
    /// Lines of the whole.
    features: usize,
}

impl Lines {
    /// Those from a channel on.
    fn from(image: Image, channel: usize) -> Self {
        let channels = image.shape.channels;
        Self {
            first: image.origin() * channels + channel,
            channel: 1,
            row: image.row() * channels,
            column: channels,
            features: image.features(),
        }
    }
}

/// Which lines go where.
#[derive(Clone, Copy)]
pub(super) struct Way {
    /// Channels that are written, height and width.
    shape: [usize; 3],
    /// Of those the first that there is something for, and how many; the others become 0.
    present: [usize; 2],
    from: Lines,
    to: Lines,
}

impl Way {
    /// An image where it is.
    pub fn same(image: Image) -> Self {
        let (shape, lines) = (image.shape, Lines::from(image, 0));
        let present = [0, shape.channels];
        Self { shape: [shape.channels, shape.height, shape.width], present, from: lines, to: lines }
    }

    /// From read k of a step that computes nothing to its result; `None` for steps of other kinds.
    pub fn forward(placed: &PlacedStep, k: usize) -> Option<Self> {
        let (read, output) = (placed.reads[k], placed.output);
        let way = Self { from: Lines::from(read, 0), to: Lines::from(output, 0), ..Self::same(read) };
        Some(match placed.step.operation {
            Operation::Add => way,
            Operation::Concat => {
                let before = placed.reads[..k].iter().map(|image| image.shape.channels).sum();
                Self { to: Lines::from(output, before), ..way }
            }
            Operation::PadChannels { before } => {
                let shape = [output.shape.channels, read.shape.height, read.shape.width];
                Self { shape, present: [before, read.shape.channels], ..way }
            }
            Operation::Flatten => {
                let (first, area, width) = (way.to.first, read.shape.area(), read.shape.width);
                Self { to: Lines { first, channel: area, row: width, column: 1, ..way.to }, ..way }
            }
            _ => return None,
        })
    }

    /// The transpose.
    pub fn backward(placed: &PlacedStep, k: usize) -> Option<Self> {
        let way = Self::forward(placed, k)?;
        let [before, channels] = way.present;
        let from = Lines { first: way.to.first + before * way.to.channel, ..way.to };
        Some(Self { shape: [channels, way.shape[1], way.shape[2]], present: [0, channels], from, to: way.from })
    }

    /// Zeros to the same places.
    pub fn of_nothing(self) -> Self {
        Self { present: [0, 0], ..self }
    }
}

/// What is added to lines on their way.
#[derive(Clone, Copy)]
pub(super) enum Addend<'a> {
    Nothing,
    /// Another image's value at the same place.
    Other(Batched<'a>, Image),
    /// What is there already.
    Present,
}

impl GpuExecutor {
    /// Takes lines their way.
    pub(super) fn place(
        &self,
        way: Way,
        extent: Extent,
        source: Batched,
        addend: Addend,
        epilogue: Epilogue,
        out: &DeviceBuffer,
    ) -> Result<()> {
        let (number, slope, kept) = epilogue.parts();
        let lanes4 = extent.lanes / 4;
        let [channels, height, width] = way.shape;
        let size = channels * height * width * lanes4;
        let parameters = Place {
            channels: channels as u32,
            first: way.present[0] as u32,
            count: way.present[1] as u32,
            width: width as u32,
            size: size as u32,
            lanes4: lanes4 as u32,
            from_first: way.from.first as u32,
            from_channel: way.from.channel as u32,
            from_row: way.from.row as u32,
            from_column: way.from.column as u32,
            to_first: way.to.first as u32,
            to_channel: way.to.channel as u32,
            to_row: way.to.row as u32,
            to_column: way.to.column as u32,
            from_batch: source.stride(way.from.features * lanes4),
            to_batch: (way.to.features * lanes4) as u32,
            addend: u32::from(matches!(addend, Addend::Other(..))) + 2 * u32::from(matches!(addend, Addend::Present)),
            epilogue: number,
            slope,
            ..Place::default()
        };
        let (parameters, other) = match addend {
            Addend::Other(other, image) => {
                let lines = Lines::from(image, 0);
                let (with_first, with_row) = (lines.first as u32, lines.row as u32);
                let with_batch = other.stride(lines.features * lanes4);
                (Place { with_first, with_row, with_batch, ..parameters }, other.buffer)
            }
            _ => (parameters, source.buffer),
        };
        let grid = Grid { cost: 4.0 * (size * extent.batch) as f64, ..Grid::elements(size, extent.batch) };
        let buffers = [source.buffer, other, kept.unwrap_or(source.buffer), out];
        self.context.dispatch(Kernel::Place, &parameters, &buffers, grid)
    }
}
