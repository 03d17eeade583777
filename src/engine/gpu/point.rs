//! The prepared point: what is kept of it, chunk by chunk, and what is computed again.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::affine::{Panels, Target, Ways};
use super::context::DeviceBuffer;
use super::executor::GpuExecutor;
use super::passes::{Pass, Report, Samples};
use crate::error::{Result, bail};
use crate::memory::{product, zeros};

/// What the products at one point share.
pub(super) struct Prepared {
    pub theta: Rc<DeviceBuffer>,
    pub gradient: Rc<DeviceBuffer>,
    /// θ in panels.
    pub panels: Panels,
    /// Losses of all samples, then 1 for each that was hit.
    pub report: Rc<DeviceBuffer>,
    /// One for each chunk, or fewer, the last of which the other chunks share.
    passes: Vec<Rc<Pass>>,
    /// The chunk that the last of `passes` holds.
    visitor: Cell<usize>,
}

/// The prepared point's buffers, and whether they hold one.
#[derive(Default)]
pub(super) struct Point {
    prepared: RefCell<Option<Rc<Prepared>>>,
    is_valid: Cell<bool>,
}

impl GpuExecutor {
    /// The prepared point.
    pub(super) fn prepared(&self) -> Result<Rc<Prepared>> {
        match &*self.point.prepared.borrow() {
            Some(prepared) if self.point.is_valid.get() => Ok(prepared.clone()),
            _ => bail!(InvalidParameters, "no point is prepared: call Engine::prepare first"),
        }
    }

    /// Fixes the point.
    pub(super) fn prepare_at(&self, theta: &DeviceBuffer) -> Result<()> {
        self.point.is_valid.set(false);
        let mut kept = self.point.prepared.borrow_mut();
        let prepared = match &*kept {
            Some(prepared) => prepared.clone(),
            None => kept.insert(Rc::new(self.new_point()?)).clone(),
        };
        self.context.copy(theta, 0, &prepared.theta.buffer, 0, self.plan.parameter_count)?;
        self.pack(theta, 0, 1, &prepared.panels, 0)?;
        for chunk in 0..self.data.chunks() {
            let to = Target { buffer: &prepared.gradient, offset: 0, accumulate: chunk > 0 };
            self.run_chunk(&prepared, chunk, Some(to))?;
        }
        self.point.is_valid.set(true);
        Ok(())
    }

    fn new_point(&self) -> Result<Prepared> {
        let (chunks, lanes) = (self.data.chunks(), self.data.lanes);
        let left = self.memory_budget.saturating_sub(self.data.resident_bytes());
        let fit = left / Pass::bytes(&self.geometry, lanes).max(1);
        let passes = (0..chunks.min(fit.max(1) as usize))
            .map(|_| Ok(Rc::new(Pass::new(&self.context, &self.geometry, self.loss, lanes, true)?)))
            .collect::<Result<_>>()?;
        Ok(Prepared {
            theta: self.context.buffer("parameters", self.plan.parameter_count as u64)?,
            gradient: self.context.buffer("gradient", self.plan.parameter_count as u64)?,
            panels: self.panels(1, Ways::Both)?,
            report: self.context.buffer("losses", 2 * self.data.samples as u64)?,
            passes,
            visitor: Cell::new(0),
        })
    }

    /// The pass over a chunk at the prepared point, computed again where it was not kept.
    pub(super) fn pass_of(&self, prepared: &Prepared, chunk: usize) -> Result<Rc<Pass>> {
        let last = prepared.passes.len() - 1;
        if chunk >= last && prepared.visitor.get() != chunk {
            self.run_chunk(prepared, chunk, None)?;
        }
        Ok(prepared.passes[chunk.min(last)].clone())
    }

    fn run_chunk(&self, prepared: &Prepared, chunk: usize, gradient: Option<Target>) -> Result<()> {
        let last = prepared.passes.len() - 1;
        let data = self.data.chunk(&self.context, &self.geometry, chunk)?;
        let samples = Samples { data: &data, rows: self.data.rows(chunk), lanes: self.data.lanes };
        let report = Report { buffer: &prepared.report, offset: self.data.first(chunk), count: self.data.samples };
        self.run_pass(&prepared.panels, samples, &prepared.passes[chunk.min(last)], report, gradient)?;
        if chunk >= last {
            prepared.visitor.set(chunk);
        }
        Ok(())
    }

    /// Outputs of all samples, (samples, output_len).
    pub(super) async fn outputs_at(&self, prepared: &Prepared) -> Result<Vec<f64>> {
        let output = self.geometry.output();
        let (width, lanes) = (output.shape.len(), self.data.lanes);
        let mut outputs = zeros("outputs", product::<f64>("outputs", &[self.data.samples, width])?)?;
        for chunk in 0..self.data.chunks() {
            let values = {
                let pass = self.pass_of(prepared, chunk)?;
                self.context.read(pass.outputs(), 0, width * lanes).await?
            };
            let (first, rows) = (self.data.first(chunk), self.data.rows(chunk));
            for (n, row) in outputs.chunks_exact_mut(width).skip(first).take(rows).enumerate() {
                for (i, value) in row.iter_mut().enumerate() {
                    *value = f64::from(values[output.place(i) * lanes + n]);
                }
            }
        }
        Ok(outputs)
    }
}
