//! Gradients of single samples in a convolution's weights: for as many cotangents and samples as there is room for at a time.

use std::rc::Rc;

use super::affine::Extent;
use super::context::DeviceBuffer;
use super::executor::GpuExecutor;
use super::geometry::{Panel, PlacedStep};
use super::kernel::Kernel;
use super::recorder::Grid;
use super::uniforms::SampleGradient;
use crate::error::Result;

/// Numbers that single samples' gradients may take.
const GRADIENT_NUMBERS: u64 = 1 << 24;

/// Cotangents and samples whose gradients are there together.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// The first cotangent.
    pub first_z: usize,
    /// How many cotangents.
    pub batch: usize,
    /// The first sample, by four.
    pub first4: usize,
    /// How many samples, by four.
    pub count4: usize,
    /// All samples, by four.
    pub lanes4: usize,
}

/// The parts that there is room for in this buffer, in order.
pub(super) fn parts(gradients: &DeviceBuffer, panel: Panel, extent: Extent) -> impl Iterator<Item = Part> + use<> {
    let lanes4 = extent.lanes / 4;
    let room = (gradients.elements / (4 * panel.rows as u64 * panel.depth as u64)).max(1) as usize;
    let most4 = lanes4.min(room);
    let group = (room / most4).clamp(1, extent.batch);
    (0..extent.batch).step_by(group).flat_map(move |first_z| {
        (0..lanes4).step_by(most4).map(move |first4| Part {
            first_z,
            batch: group.min(extent.batch - first_z),
            first4,
            count4: most4.min(lanes4 - first4),
            lanes4,
        })
    })
}

impl GpuExecutor {
    /// A buffer for the gradients of `group` cotangents and a chunk's samples, or some of them, at any convolution.
    pub(super) fn sample_gradients(&self, group: usize) -> Result<Rc<DeviceBuffer>> {
        let mut numbers = 0;
        let columns = (self.data.lanes * group) as u64;
        for placed in self.geometry.steps.iter().filter(|placed| !placed.step.is_dense()) {
            let Some(panel) = placed.forward else { continue };
            let each = panel.rows as u64 * panel.depth as u64;
            numbers = numbers.max((each * columns).min(GRADIENT_NUMBERS.max(4 * each)));
        }
        self.context.buffer("gradients of single samples", numbers)
    }

    /// The gradients of one part, from δ and what comes into the step.
    pub(super) fn sample_gradient(
        &self,
        placed: &PlacedStep,
        panel: Panel,
        [delta, source, gradients]: [&DeviceBuffer; 3],
        part: Part,
    ) -> Result<()> {
        let (input, output, window) = (placed.input(), placed.output, placed.step.window);
        let group_rows = panel.rows / placed.step.groups();
        let parameters = SampleGradient {
            rows: panel.rows as u32,
            columns: panel.depth as u32,
            channels: input.shape.channels as u32,
            window_width: window.size[1] as u32,
            source_row: input.row() as u32,
            stride_y: window.stride[0] as u32,
            stride_x: window.stride[1] as u32,
            out_height: output.shape.height as u32,
            out_width: output.shape.width as u32,
            delta_row: output.row() as u32,
            delta_origin: output.origin() as u32,
            lanes4: part.lanes4 as u32,
            first4: part.first4 as u32,
            count4: part.count4 as u32,
            delta_batch: (output.features() * part.lanes4) as u32,
            first_z: part.first_z as u32,
            source_corner: input.corner(window) as u32,
            tap_row: (window.dilation[0] * input.row()) as u32,
            tap_column: window.dilation[1] as u32,
            seen: placed.seen() as u32,
            group_rows: group_rows as u32,
            ..SampleGradient::default()
        };
        let threads = placed.step.groups() * group_rows.div_ceil(4) * panel.depth.div_ceil(4) * part.count4;
        let cost = 8.0 * (panel.rows * panel.depth * output.shape.area() * part.count4 * part.batch) as f64;
        let grid = Grid { cost, ..Grid::elements(threads, part.batch) };
        self.context.dispatch(Kernel::SampleGradient, &parameters, &[delta, source, gradients], grid)
    }
}
