//! Pools: forward, along a tangent, and back.

use super::affine::{Batched, Epilogue, Extent};
use super::context::DeviceBuffer;
use super::executor::GpuExecutor;
use super::geometry::PlacedStep;
use super::kernel::Kernel;
use super::passes::Pass;
use super::recorder::Grid;
use super::uniforms::Pool;
use crate::engine::plan::Operation;
use crate::error::Result;

impl GpuExecutor {
    /// φ of a pool's values; which ones a max pool has chosen go into `chosen`.
    pub(super) fn pool_forward(
        &self,
        placed: &PlacedStep,
        extent: Extent,
        source: Batched,
        epilogue: Epilogue,
        chosen: Option<&DeviceBuffer>,
        out: &DeviceBuffer,
    ) -> Result<()> {
        let parameters = self.pool_parameters(placed, extent, source, Batched::each(out), epilogue);
        let grid = pool_grid(placed, extent, placed.step.output.len());
        match chosen {
            Some(chosen) => {
                let parameters = Pool { chosen_batch: parameters.out_batch, ..parameters };
                self.context.dispatch(Kernel::MaxForward, &parameters, &[source.buffer, out, chosen], grid)
            }
            None => {
                let buffers = [source.buffer, source.buffer, out];
                self.context.dispatch(Kernel::AverageForward, &parameters, &buffers, grid)
            }
        }
    }

    /// ȧ behind a pool, from ȧ before it.
    pub(super) fn pool_tangent(
        &self,
        placed: &PlacedStep,
        extent: Extent,
        source: &DeviceBuffer,
        epilogue: Epilogue,
        chosen: Option<&DeviceBuffer>,
        out: &DeviceBuffer,
    ) -> Result<()> {
        let kept = epilogue.parts().2.unwrap_or(source);
        let parameters = self.pool_parameters(placed, extent, Batched::each(source), Batched::each(out), epilogue);
        let grid = pool_grid(placed, extent, placed.step.output.len());
        match chosen {
            Some(chosen) => self.context.dispatch(Kernel::MaxTangent, &parameters, &[source, chosen, kept, out], grid),
            None => self.context.dispatch(Kernel::AverageForward, &parameters, &[source, kept, out], grid),
        }
    }

    /// δ of step `from`, which pool l reads, from δ behind the pool; into a buffer that nothing else writes, if that `is_alone`.
    pub(super) fn pool_backward(
        &self,
        (pass, l, from): (&Pass, usize, usize),
        extent: Extent,
        delta: &DeviceBuffer,
        epilogue: Epilogue,
        (out, is_alone): (&DeviceBuffer, bool),
    ) -> Result<()> {
        let (placed, result) = (&self.geometry.steps[l], &*pass.values[l]);
        let parameters = self.pool_parameters(placed, extent, Batched::each(out), Batched::each(delta), epilogue);
        let grid = pool_grid(placed, extent, placed.step.input.len());
        let window = placed.step.window;
        let overlaps = (0..2).any(|axis| window.stride[axis] < window.size[axis]);
        // φ' off the pool's own result: only its sign will do.
        let is_spread = is_alone
            && !overlaps
            && window.padding.is_none()
            && !placed.step.activation.is_smooth()
            && !matches!(epilogue, Epilogue::Times(_));
        let kept = epilogue.parts().2.unwrap_or(&pass.values[from]);
        match pass.chosen[l].as_deref() {
            Some(chosen) if is_spread => {
                let grid = pool_grid(placed, extent, placed.step.output.len());
                self.context.dispatch(Kernel::MaxSpread, &parameters, &[delta, chosen, result, out], grid)
            }
            Some(chosen) => self.context.dispatch(Kernel::MaxBackward, &parameters, &[delta, chosen, kept, out], grid),
            None => self.context.dispatch(Kernel::AverageBackward, &parameters, &[delta, kept, out], grid),
        }
    }

    /// Numbers that a max pool's choices take; `None` for other steps.
    pub(super) fn chosen_features(placed: &PlacedStep) -> Option<usize> {
        (placed.step.operation == Operation::MaxPool).then(|| placed.output.features())
    }

    fn pool_parameters(
        &self,
        placed: &PlacedStep,
        extent: Extent,
        before: Batched,
        after: Batched,
        epilogue: Epilogue,
    ) -> Pool {
        let (input, output, window) = (placed.input(), placed.output, placed.step.window);
        let lanes4 = extent.lanes / 4;
        let (number, slope, _) = epilogue.parts();
        Pool {
            channels: input.shape.channels as u32,
            height: input.shape.height as u32,
            width: input.shape.width as u32,
            lanes4: lanes4 as u32,
            in_row: input.row() as u32,
            in_origin: input.origin() as u32,
            out_height: output.shape.height as u32,
            out_width: output.shape.width as u32,
            out_row: output.row() as u32,
            out_origin: output.origin() as u32,
            window_height: window.size[0] as u32,
            window_width: window.size[1] as u32,
            stride_y: window.stride[0] as u32,
            stride_x: window.stride[1] as u32,
            in_batch: before.stride(input.features() * lanes4),
            out_batch: after.stride(output.features() * lanes4),
            epilogue: number,
            slope,
            padding_y: window.padding.before[0] as u32,
            padding_x: window.padding.before[1] as u32,
            ..Pool::default()
        }
    }
}

/// A thread for four samples of each of `values`.
fn pool_grid(placed: &PlacedStep, extent: Extent, values: usize) -> Grid {
    let len = values * extent.lanes / 4;
    Grid { cost: (4 * len * placed.step.window.area() * extent.batch) as f64, ..Grid::elements(len, extent.batch) }
}
