//! Smooth activations, whose derivatives are kept beside their values.

use std::rc::Rc;

use super::affine::{Epilogue, Extent};
use super::context::DeviceBuffer;
use super::executor::GpuExecutor;
use super::geometry::PlacedStep;
use super::kernel::Kernel;
use super::passes::Pass;
use super::recorder::Grid;
use super::uniforms::{Axpy, Smooth, SmoothBackward, SmoothTangent};
use crate::engine::Activation;
use crate::error::Result;

/// What is kept of a smooth activation.
pub(super) struct Curve {
    /// φ'.
    pub slopes: Rc<DeviceBuffer>,
    /// φ'', and after the way back φ'' ⊙ q with what was pulled back to the activation: for products alone.
    pub bends: Option<Rc<DeviceBuffer>>,
}

impl Pass {
    /// φ' of step l's activation times something.
    pub fn derivative(&self, activation: Activation, l: usize) -> Epilogue<'_> {
        match (activation, &self.curves[l]) {
            (Activation::IDENTITY, _) => Epilogue::None,
            (Activation::Piecewise { slope }, _) => Epilogue::LeakDerivative { slope, values: &self.values[l] },
            (Activation::Smooth(_), Some(curve)) => Epilogue::Times(&curve.slopes),
            // The last step has no activation, and every other pass keeps its derivatives.
            (Activation::Smooth(_), None) => Epilogue::None,
        }
    }
}

impl GpuExecutor {
    /// a = φ(z) in the place of z, for each of the batch, where a step ends in a smooth activation; `kept` is for a batch of one.
    pub(super) fn smooth(
        &self,
        placed: &PlacedStep,
        extent: Extent,
        values: &DeviceBuffer,
        kept: Option<&Curve>,
    ) -> Result<()> {
        let Activation::Smooth(function) = placed.step.activation else { return Ok(()) };
        let (image, lanes4) = (placed.output, extent.lanes / 4);
        let bends = kept.and_then(|curve| curve.bends.as_deref());
        let size = image.shape.len() * lanes4;
        let parameters = Smooth {
            function: function.number(),
            keeps: u32::from(kept.is_some()) + u32::from(bends.is_some()),
            size: size as u32,
            channels: image.shape.channels as u32,
            width: image.shape.width as u32,
            row: image.row() as u32,
            origin: image.origin() as u32,
            lanes4: lanes4 as u32,
            batch_stride: (image.features() * lanes4) as u32,
            ..Smooth::default()
        };
        let [one, other] = &self.nothing;
        let buffers = [values, kept.map_or(one, |curve| &curve.slopes), bends.unwrap_or(other)];
        let grid = Grid { cost: 100.0 * (size * extent.batch) as f64, ..Grid::elements(size, extent.batch) };
        self.context.dispatch(Kernel::Smooth, &parameters, &buffers, grid)
    }

    /// ȧ = φ' ⊙ ż in the place of ż, and φ'' ⊙ q ⊙ ż.
    pub(super) fn smooth_tangent(
        &self,
        placed: &PlacedStep,
        extent: Extent,
        curve: &Curve,
        values: &DeviceBuffer,
        bend_dots: &DeviceBuffer,
    ) -> Result<()> {
        let Some(bends) = &curve.bends else { return Ok(()) };
        let size = placed.output.features() * extent.lanes;
        let parameters = SmoothTangent { size: size as u32, ..SmoothTangent::default() };
        let grid = Grid::elements(size, extent.batch);
        let buffers = [&*curve.slopes, bends, values, bend_dots];
        self.context.dispatch(Kernel::SmoothTangent, &parameters, &buffers, grid)
    }

    /// δ = φ' ⊙ q in the place of q, which joins φ''.
    pub(super) fn smooth_backward(
        &self,
        slopes: &DeviceBuffer,
        bends: &DeviceBuffer,
        delta: &DeviceBuffer,
        size: usize,
    ) -> Result<()> {
        let parameters = SmoothBackward { size: size as u32, ..SmoothBackward::default() };
        self.context.dispatch(Kernel::SmoothBackward, &parameters, &[slopes, bends, delta], Grid::elements(size, 1))
    }

    /// `to` += `from`, `size` values for each of the batch.
    pub(super) fn add(&self, from: &DeviceBuffer, to: &DeviceBuffer, size: usize, batch: usize) -> Result<()> {
        let parameters = Axpy { len: size as u32, x_column: size as u32, alpha: 1.0, ..Axpy::default() };
        self.context.dispatch(Kernel::Axpy, &parameters, &[from, to], Grid::elements(size, batch))
    }
}
