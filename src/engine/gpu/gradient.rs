//! Gradients of affine steps in W and b: how the sum over samples and positions is cut, and the parameters.

use std::rc::Rc;

use super::affine::{Extent, Pair, Target};
use super::context::DeviceBuffer;
use super::executor::GpuExecutor;
use super::geometry::PlacedStep;
use super::kernel::Kernel;
use super::recorder::Grid;
use super::tiling::Tile;
use super::uniforms::{Bias, SumSlabs, Weights};
use crate::error::Result;

impl GpuExecutor {
    /// The gradient of an affine step in W and b: Σ over pairs of δ times the inputs under the window, and Σ δ of the first.
    pub(super) fn affine_gradient(
        &self,
        placed: &PlacedStep,
        Extent { lanes, batch }: Extent,
        pairs: &[Pair],
        to: Target,
    ) -> Result<()> {
        let lanes4 = lanes / 4;
        let device_tiles = self.context.tiles();
        let (step, window) = (&placed.step, placed.step.window);
        let (rows, channels, seen) = (step.output.channels, step.input.channels, placed.seen());
        let columns = seen * window.area();
        let (input, output) = (placed.input(), placed.output);
        let (first, second) = (pairs[0], pairs[pairs.len() - 1]);
        let position_blocks = lanes4.div_ceil(16);
        let blocks = step.output.area() * position_blocks;

        let tile = match placed.is_grouped() {
            true => Tile::grouped_weights(rows / step.groups()),
            false => device_tiles.weights(rows, columns, blocks),
        };
        let tiles = step.groups() * tile.count(rows / step.groups(), columns);
        let (slabs, span) = device_tiles.slabs(tiles * tile.threads, blocks);
        let size = rows * columns;
        let sum = self.slabbed(size, slabs, batch, to, step.weight().start)?;
        let (delta_size, source_size) = (output.features() * lanes4, input.features() * lanes4);
        let parameters = Weights {
            rows: rows as u32,
            columns: columns as u32,
            channels: channels as u32,
            window_width: window.size[1] as u32,
            taps: window.area() as u32,
            source_row: input.row() as u32,
            stride_y: window.stride[0] as u32,
            stride_x: window.stride[1] as u32,
            out_width: step.output.width as u32,
            delta_row: output.row() as u32,
            delta_origin: output.origin() as u32,
            lanes4: lanes4 as u32,
            position_blocks: position_blocks as u32,
            blocks: blocks as u32,
            slabs: slabs as u32,
            span: span as u32,
            terms: pairs.len() as u32,
            delta1_batch: first.delta.stride(delta_size),
            source1_batch: first.source.stride(source_size),
            delta2_batch: second.delta.stride(delta_size),
            source2_batch: second.source.stride(source_size),
            out_offset: sum.offset,
            out_batch: sum.stride,
            source_corner: input.corner(window) as u32,
            tap_row: (window.dilation[0] * input.row()) as u32,
            tap_column: window.dilation[1] as u32,
            seen: seen as u32,
            group_rows: (rows / step.groups()) as u32,
        };
        let buffers =
            [first.delta.buffer, first.source.buffer, second.delta.buffer, second.source.buffer, sum.buffer(to)];
        let multiplications = step.multiplications() * (lanes * pairs.len() * batch) as f64;
        let groups = (tiles * slabs).div_ceil(tile.tiles_a_group) as u64;
        self.context.dispatch(
            tile.kernel,
            &parameters,
            &buffers,
            Grid { groups, layers: batch, cost: 2.0 * multiplications },
        )?;
        self.sum_slabs(sum, to)?;

        let Some(bias) = step.bias() else { return Ok(()) };
        let (slabs, span) = device_tiles.slabs(rows, blocks);
        let sum = self.slabbed(rows, slabs, batch, to, bias.start)?;
        let parameters = Bias {
            rows: rows as u32,
            out_width: step.output.width as u32,
            delta_row: output.row() as u32,
            delta_origin: output.origin() as u32,
            lanes4: lanes4 as u32,
            position_blocks: position_blocks as u32,
            blocks: blocks as u32,
            slabs: slabs as u32,
            span: span as u32,
            delta_batch: first.delta.stride(delta_size),
            out_offset: sum.offset,
            out_batch: sum.stride,
        };
        let groups = (rows as u64 * slabs as u64).div_ceil(64);
        let cost = (rows * blocks * 64 * batch) as f64;
        let buffers = [first.delta.buffer, sum.buffer(to)];
        self.context.dispatch(Kernel::Bias, &parameters, &buffers, Grid { groups, layers: batch, cost })?;
        self.sum_slabs(sum, to)
    }

    /// Where a sum in slabs goes first: straight to its target where there is one slab and nothing to add to.
    fn slabbed(&self, size: usize, slabs: usize, batch: usize, to: Target, start: usize) -> Result<Slabbed> {
        let parts = match slabs > 1 || to.accumulate {
            true => Some(self.vectors.scratch(&[slabs, batch, size])?),
            false => None,
        };
        let out_offset = (to.offset + start) as u32;
        let (offset, stride) = match parts {
            Some(_) => (0, size as u32),
            None => (out_offset, self.plan.parameter_count as u32),
        };
        Ok(Slabbed { parts, size, slabs, batch, out_offset, offset, stride })
    }

    fn sum_slabs(&self, sum: Slabbed, to: Target) -> Result<()> {
        let Some(parts) = &sum.parts else { return Ok(()) };
        let parameters = SumSlabs {
            size: sum.size as u32,
            slabs: sum.slabs as u32,
            out_offset: sum.out_offset,
            out_batch: self.plan.parameter_count as u32,
            accumulate: to.accumulate.into(),
            ..SumSlabs::default()
        };
        let cost = (sum.slabs * sum.size * sum.batch) as f64;
        let grid = Grid { cost, ..Grid::elements(sum.size, sum.batch) };
        self.context.dispatch(Kernel::SumSlabs, &parameters, &[parts, to.buffer], grid)
    }
}

/// A sum whose parts may have to be added.
struct Slabbed {
    parts: Option<Rc<DeviceBuffer>>,
    size: usize,
    slabs: usize,
    batch: usize,
    /// In the target.
    out_offset: u32,
    /// Where the parts' kernel writes, and its stride.
    offset: u32,
    stride: u32,
}

impl Slabbed {
    fn buffer<'a>(&'a self, to: Target<'a>) -> &'a DeviceBuffer {
        self.parts.as_deref().unwrap_or(to.buffer)
    }
}
