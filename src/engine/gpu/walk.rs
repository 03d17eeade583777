//! The way back through the steps of a chunk: what arrives behind a step goes on to what the step reads. All backward passes
//! take it; what they do with what arrives is their own.

use std::rc::Rc;

use super::affine::{Batched, Epilogue, Extent, Panels, Term};
use super::context::DeviceBuffer;
use super::executor::GpuExecutor;
use super::geometry::PlacedStep;
use super::passes::Pass;
use super::place::{Addend, Way};
use super::point::Prepared;
use crate::engine::Cotangent;
use crate::engine::plan::Read;
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

impl Back<'_> {
    /// φ'' of step l's activation, if what is pulled back to it is to join it.
    fn kept_bends(&self, l: usize) -> Option<&DeviceBuffer> {
        let bends = self.pass.curves[l].as_ref()?.bends.as_deref();
        bends.filter(|_| matches!(self.curvature, Curvatures::Keep))
    }
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
            for (k, read) in placed.step.reads.iter().enumerate() {
                let Some(from) = read.from else { continue };
                self.pull(back, (l, k, from), read, pulled)?;
                if read.completes {
                    self.bend(back, from)?;
                }
            }
        }
        Ok(())
    }

    /// What is pulled back to step `from`, which step l's read k finds, joins its cotangent.
    fn pull(
        &self,
        back: &Back,
        (l, k, from): (usize, usize, usize),
        read: &Read,
        pulled: Option<&DeviceBuffer>,
    ) -> Result<()> {
        let (placed, extent, out) = (&self.geometry.steps[l], back.extent, back.deltas[from]);
        let before = &self.geometry.steps[from];
        let epilogue = match read.completes && back.kept_bends(from).is_none() {
            true => back.pass.derivative(before.step.activation, from),
            false => Epilogue::None,
        };
        let image = before.output;
        let addend = if read.starts { Addend::Nothing } else { Addend::Present };
        match (pulled, Way::backward(placed, k)) {
            (Some(pulled), _) => self.place(Way::same(image), extent, Batched::each(pulled), addend, epilogue, out),
            (_, Some(way)) => self.place(way, extent, Batched::each(back.deltas[l]), addend, epilogue, out),
            _ if read.starts => self.transpose(back, (l, from), epilogue, (out, read.completes)),
            _ => {
                let part = self.vectors.scratch(&[image.features(), extent.lanes, extent.batch])?;
                self.transpose(back, (l, from), Epilogue::None, (&part, false))?;
                self.place(Way::same(image), extent, Batched::each(&part), addend, epilogue, out)
            }
        }
    }

    /// Back through step l, which reads step `from`; into a buffer that nothing else writes, if that `is_alone`.
    fn transpose(
        &self,
        back: &Back,
        (l, from): (usize, usize),
        epilogue: Epilogue,
        (out, is_alone): (&DeviceBuffer, bool),
    ) -> Result<()> {
        let (placed, pass) = (&self.geometry.steps[l], back.pass);
        if !placed.step.is_affine() {
            return self.pool_backward((pass, l, from), back.extent, back.deltas[l], epilogue, (out, is_alone));
        }
        let mut terms = vec![Term { panels: back.panels, are_batched: false, source: Batched::each(back.deltas[l]) }];
        if let Some(panels) = back.directions {
            terms.push(Term { panels, are_batched: true, source: Batched::shared(&pass.deltas[l]) });
        }
        self.affine_backward(placed, back.extent, &terms, epilogue, out)
    }

    /// What the second derivative of step l's activation does with its cotangent, once that is complete.
    fn bend(&self, back: &Back, l: usize) -> Result<()> {
        let Some(curve) = back.pass.curves[l].as_ref() else { return Ok(()) };
        let (out, size) = (back.deltas[l], self.geometry.steps[l].output.features() * back.extent.lanes);
        match (back.kept_bends(l), back.curvature) {
            (Some(bends), _) => self.smooth_backward(&curve.slopes, bends, out, size),
            (None, Curvatures::Add(bend_dots)) => match &bend_dots[l] {
                Some(bend_dots) => self.add(bend_dots, out, size, back.extent.batch),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}
