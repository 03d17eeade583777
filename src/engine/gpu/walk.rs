//! The way back through the steps of a chunk: what arrives behind a step goes on to what the step reads. All backward passes
//! take it; what they do with what arrives is their own.

use std::rc::Rc;

use super::affine::{Batched, Epilogue, Extent, Panels, Term};
use super::context::DeviceBuffer;
use super::executor::GpuExecutor;
use super::geometry::PlacedStep;
use super::kernel::Kernel;
use super::passes::Pass;
use super::point::Prepared;
use super::recorder::Grid;
use super::uniforms::Elementwise;
use crate::engine::Cotangent;
use crate::error::Result;

/// What a walk back takes along.
pub(super) struct Back<'a> {
    pub pass: &'a Pass,
    /// What comes into the network.
    pub inputs: &'a DeviceBuffer,
    pub extent: Extent,
    /// θ in panels.
    pub panels: &'a Panels,
    /// The cotangent of every step, for each of the batch. The last one is there, the others are written.
    pub deltas: &'a [&'a DeviceBuffer],
    /// On a Hessian product's way the directions, through which the pass's own δ go back too.
    pub directions: Option<&'a Panels>,
    pub curvature: Curvatures<'a>,
}

/// What becomes of the second derivatives of the activations that curve.
#[derive(Clone, Copy)]
pub(super) enum Curvatures<'a> {
    /// They do not enter.
    None,
    /// The pass keeps them.
    Keep,
    /// They add their share, φ'' ⊙ q ⊙ ż of every step.
    Add(&'a [Option<Rc<DeviceBuffer>>]),
}

/// What a walk back finds at an affine step.
#[derive(Clone, Copy)]
pub(super) struct Arrival<'a> {
    pub l: usize,
    pub placed: &'a PlacedStep,
    /// The cotangent behind the step, for each of the batch.
    pub delta: &'a DeviceBuffer,
    /// What the step reads.
    pub source: &'a DeviceBuffer,
}

impl GpuExecutor {
    /// Walks back from cotangents at the outputs of a chunk of a point.
    pub(super) fn walk_cotangents<'a>(
        &'a self,
        (prepared, chunk): (&Prepared, usize),
        cotangents: &[Cotangent],
        (panels, deltas): (&'a Panels, &'a [Rc<DeviceBuffer>]),
        mut arrive: impl FnMut(Arrival, Extent) -> Result<Option<&'a DeviceBuffer>>,
    ) -> Result<()> {
        let pass = self.pass_of(prepared, chunk)?;
        let data = self.data.chunk(&self.context, &self.geometry, chunk)?;
        let extent = Extent { lanes: self.data.lanes, batch: cotangents.len() };
        let deltas: Vec<&DeviceBuffer> = deltas.iter().map(|buffer| &**buffer).collect();
        self.start_cotangents(&pass, chunk, cotangents, deltas[deltas.len() - 1])?;
        let (inputs, directions, curvature) = (&*data.inputs, None, Curvatures::None);
        let back = Back { pass: &pass, inputs, extent, panels, deltas: &deltas, directions, curvature };
        self.walk_back(&back, |arrival| arrive(arrival, extent))
    }

    /// Walks back. Where `arrive` had to pull the cotangent back through the step anyway, it says where that lies.
    pub(super) fn walk_back<'a>(
        &'a self,
        back: &Back<'a>,
        mut arrive: impl FnMut(Arrival) -> Result<Option<&'a DeviceBuffer>>,
    ) -> Result<()> {
        for (l, placed) in self.geometry.steps.iter().enumerate().rev() {
            let delta = back.deltas[l];
            let mut pulled = None;
            if placed.step.is_affine() {
                let source = back.pass.found(back.inputs, &placed.step.reads[0]);
                pulled = arrive(Arrival { l, placed, delta, source })?;
            }
            for from in placed.step.reads.iter().filter_map(|read| read.from) {
                match pulled {
                    Some(pulled) => self.derive(back, from, pulled)?,
                    None => self.pull(back, l, from)?,
                }
            }
        }
        Ok(())
    }

    /// The cotangent of step `from`, which step l reads, from that of step l.
    fn pull(&self, back: &Back, l: usize, from: usize) -> Result<()> {
        let (placed, pass) = (&self.geometry.steps[l], back.pass);
        let out = back.deltas[from];
        let curve = pass.curves[from].as_ref();
        let kept =
            curve.and_then(|curve| curve.bends.as_deref().filter(|_| matches!(back.curvature, Curvatures::Keep)));
        let epilogue = match kept {
            Some(_) => Epilogue::None,
            None => pass.derivative(self.geometry.steps[from].step.activation, from),
        };
        if placed.step.is_affine() {
            let mut terms =
                vec![Term { panels: back.panels, are_batched: false, source: Batched::each(back.deltas[l]) }];
            if let Some(panels) = back.directions {
                terms.push(Term { panels, are_batched: true, source: Batched::shared(&pass.deltas[l]) });
            }
            self.affine_backward(placed, back.extent, &terms, epilogue, out)?;
        } else {
            self.pool_backward((pass, l, from), back.extent, back.deltas[l], epilogue, out)?;
        }
        let size = placed.input.features() * back.extent.lanes;
        match (curve, kept, back.curvature) {
            (Some(curve), Some(bends), _) => self.smooth_backward(&curve.slopes, bends, out, size),
            (Some(_), None, Curvatures::Add(bend_dots)) => match &bend_dots[from] {
                Some(bend_dots) => self.add(bend_dots, out, size, back.extent.batch),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// The cotangent of step `from`, from what was pulled back to its result.
    fn derive(&self, back: &Back, from: usize, pulled: &DeviceBuffer) -> Result<()> {
        let before = &self.geometry.steps[from];
        let (number, slope, kept) = back.pass.derivative(before.step.activation, from).parts();
        let size = before.output.features() * back.extent.lanes / 4;
        let parameters = Elementwise { size: size as u32, is_square: 0, epilogue: number, slope };
        let grid = Grid::elements(size, back.extent.batch);
        self.context.dispatch(
            Kernel::Elementwise,
            &parameters,
            &[pulled, kept.unwrap_or(pulled), back.deltas[from]],
            grid,
        )
    }
}
