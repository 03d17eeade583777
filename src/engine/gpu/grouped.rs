//! Affine steps whose channels are in groups.

use super::affine::{Epilogue, Extent, Term};
use super::context::DeviceBuffer;
use super::executor::GpuExecutor;
use super::geometry::{Panel, PlacedStep};
use super::recorder::Grid;
use super::slide::Slide;
use super::tiling::Tile;
use super::uniforms::Grouped;
use crate::error::Result;

impl GpuExecutor {
    /// Through such a step, or with `is_backward` through its transpose.
    #[allow(clippy::too_many_arguments, reason = "one call of one kernel, in the kernel's terms")]
    pub(super) fn gather_grouped(
        &self,
        placed: &PlacedStep,
        panel: Panel,
        (is_backward, has_bias): (bool, bool),
        Extent { lanes, batch }: Extent,
        terms: &[Term],
        epilogue: Epilogue,
        out: &DeviceBuffer,
    ) -> Result<()> {
        let (step, window, lanes4) = (&placed.step, placed.step.window, lanes / 4);
        let (seen, rows) = (placed.seen(), step.output.channels / step.groups());
        let [row_stride, _, channel_stride] = placed.weight_strides(panel);
        let slides = [0, 1].map(|axis| Slide::of(window, axis));
        let (from, to) = (placed.input(), placed.output);
        let forward = Grouped {
            group_rows: rows as u32,
            seen: seen as u32,
            row_stride: row_stride as u32,
            channel_stride: channel_stride as u32,
            tap_y: 1,
            tap_x: 1,
            ..Grouped::default()
        };
        let (from, to, parameters) = match is_backward {
            false => (from, to, forward),
            true => {
                // From one tap that meets an input to the next it is so many back.
                let [tap_y, tap_x] = slides.map(|slide| (slide.period() as u32).wrapping_neg());
                let (group_rows, seen) = (forward.seen, forward.group_rows);
                let (row_stride, channel_stride) = (forward.channel_stride, forward.row_stride);
                (to, from, Grouped { group_rows, seen, row_stride, channel_stride, tap_y, tap_x, ..forward })
            }
        };
        let (number, slope, kept) = epilogue.parts();
        let (first, second) = (terms[0], terms[terms.len() - 1]);
        let stride = |term: &Term| if term.are_batched { 4 * term.panels.len as u32 } else { 0 };
        let parameters = Grouped {
            rows: to.shape.channels as u32,
            channels: from.shape.channels as u32,
            group_stride: (rows * panel.depth) as u32,
            source_row: from.row() as u32,
            lanes4: lanes4 as u32,
            out_width: to.shape.width as u32,
            positions: to.shape.area() as u32,
            out_row: to.row() as u32,
            out_origin: to.origin() as u32,
            y_windows: panel.windows[0] as u32,
            x_windows: panel.windows[1] as u32,
            window_width: window.size[1] as u32,
            terms: terms.len() as u32,
            has_bias: (has_bias && step.bias().is_some()).into(),
            bias_at: panel.bias_at as u32,
            epilogue: number,
            panel_offset: 4 * panel.offset as u32,
            panel1_batch: stride(&first),
            panel2_batch: stride(&second),
            source1_batch: first.source.stride(from.features() * lanes4),
            source2_batch: second.source.stride(from.features() * lanes4),
            out_batch: (to.features() * lanes4) as u32,
            slope,
            ..parameters
        };
        let buffers = [
            first.source.buffer,
            &first.panels.buffer,
            second.source.buffer,
            &second.panels.buffer,
            kept.unwrap_or(first.source.buffer),
            &self.windows,
            out,
        ];
        let cost = 2.0 * step.multiplications() * (lanes * terms.len() * batch) as f64;
        let tile = Tile::grouped(parameters.group_rows as usize);
        let tiles = step.groups() * tile.count(parameters.group_rows as usize, lanes) * to.shape.area();
        let grid = Grid { groups: tiles.div_ceil(tile.tiles_a_group) as u64, layers: batch, cost };
        self.context.dispatch(tile.kernel, &parameters, &buffers, grid)
    }
}
