//! Forward and backward passes: the prepared point, evaluations, batches.

use std::rc::Rc;

use super::context::{DeviceBuffer, GpuContext};
use super::executor::GpuExecutor;
use super::kernel::Kernel;
use super::matmul::{Epilogue, Product, Side};
use super::recorder::Grid;
use super::uniforms::{CrossEntropy, GatherRows, MeanReport, SquaredError, TanhBackward};
use crate::engine::{Activation, Plan};
use crate::error::{Result, bail, ensure};
use crate::problem::Loss;

/// Activations that an evaluation may take at a time, in numbers.
const EVALUATION_NUMBERS: usize = 1 << 22;

/// What the passes over up to `rows` samples leave behind.
pub(super) struct Pass {
    pub rows: usize,
    /// a_1 … a_{L−1}, (rows, width) each.
    pub hidden: Vec<Rc<DeviceBuffer>>,
    /// ŷ = z_L.
    pub outputs: Rc<DeviceBuffer>,
    /// softmax ŷ, for cross-entropy.
    pub probabilities: Rc<DeviceBuffer>,
    /// δ_1 … δ_L.
    pub deltas: Vec<Rc<DeviceBuffer>>,
    /// −2 a_l ⊙ W_{l+1}ᵀ δ_{l+1} for l = 1 … L−1 where layer l ends in a tanh, if asked for.
    pub curvature: Vec<Option<Rc<DeviceBuffer>>>,
    /// Losses of the samples, then 1 for each that was hit.
    pub report: Rc<DeviceBuffer>,
}

impl Pass {
    pub fn new(context: &GpuContext, plan: &Plan, loss: Loss, rows: usize, with_curvature: bool) -> Result<Self> {
        let make = |what: &str, width: usize| {
            context.buffer(&format!("{what} of {rows} samples of width {width}"), rows as u64 * width as u64)
        };
        let (hidden, last) = plan.steps.split_at(plan.steps.len() - 1);
        let width = last[0].output.len();
        let outputs = make("outputs", width)?;
        Ok(Self {
            rows,
            hidden: hidden.iter().map(|step| make("activations", step.output.len())).collect::<Result<_>>()?,
            probabilities: if loss == Loss::CrossEntropy { make("probabilities", width)? } else { outputs.clone() },
            outputs,
            deltas: plan.steps.iter().map(|step| make("derivatives", step.output.len())).collect::<Result<_>>()?,
            curvature: hidden
                .iter()
                .map(|step| {
                    let is_curved = with_curvature && step.activation == Activation::Tanh;
                    is_curved.then(|| make("second derivatives", step.output.len())).transpose()
                })
                .collect::<Result<_>>()?,
            report: make("losses", 2)?,
        })
    }
}

/// Rows of inputs and targets: from a row of these buffers on.
#[derive(Clone, Copy)]
pub(super) struct Samples<'a> {
    pub inputs: &'a DeviceBuffer,
    pub targets: &'a DeviceBuffer,
    pub first: usize,
    pub rows: usize,
}

/// Where the loss kernels write.
struct LossBuffers<'a> {
    outputs: &'a DeviceBuffer,
    probabilities: &'a DeviceBuffer,
    delta: &'a DeviceBuffer,
    report: &'a DeviceBuffer,
}

impl GpuExecutor {
    /// a_1 … a_{L−1} into `hidden`, z_L into `outputs`.
    fn forward(
        &self,
        theta: &DeviceBuffer,
        samples: Samples,
        hidden: &[&DeviceBuffer],
        outputs: &DeviceBuffer,
    ) -> Result<()> {
        for (l, step) in self.plan.steps.iter().enumerate() {
            let from = if l == 0 { samples.inputs } else { hidden[l - 1] };
            let offset = if l == 0 { samples.first * step.input.len() } else { 0 };
            self.multiply(&Product {
                m: samples.rows,
                n: step.output.len(),
                k: step.input.len(),
                batch: 1,
                first: [
                    Side::new(from, offset, step.input.len(), 1, 0),
                    Side::new(theta, step.weight().start, step.input.len(), 1, 0),
                ],
                second: None,
                bias: step.bias().map(|bias| (bias.start, 0)),
                epilogue: Epilogue::Activate(step.activation),
                c: hidden.get(l).copied().unwrap_or(outputs),
                c_offset: 0,
                c_batch: 0,
            })?;
        }
        Ok(())
    }

    /// Losses and hits into `report[report_row..]` and `report[hits + report_row..]`, δ_L = ∂(Σ loss / count)/∂ŷ.
    fn loss_pass(&self, samples: Samples, to: LossBuffers, report_row: usize, hits: usize, count: usize) -> Result<()> {
        let width = self.outputs_len();
        let grid = Grid { cost: 20.0 * (samples.rows * width) as f64, ..Grid::elements(samples.rows, 1) };
        let (rows, report_offset, hits) = (samples.rows as u32, report_row as u32, hits as u32);
        match self.loss {
            Loss::CrossEntropy => {
                let parameters = CrossEntropy {
                    rows,
                    classes: width as u32,
                    target_offset: samples.first as u32,
                    report_offset,
                    hits,
                    count: count as f32,
                    ..Default::default()
                };
                let buffers = [to.outputs, samples.targets, to.probabilities, to.delta, to.report];
                self.context.dispatch(Kernel::CrossEntropy, &parameters, &buffers, grid)
            }
            Loss::SquaredError => {
                let parameters = SquaredError {
                    rows,
                    outputs: width as u32,
                    target_offset: (samples.first * width) as u32,
                    report_offset,
                    hits,
                    count: count as f32,
                    ..Default::default()
                };
                let buffers = [to.outputs, samples.targets, to.delta, to.report];
                self.context.dispatch(Kernel::SquaredError, &parameters, &buffers, grid)
            }
        }
    }

    /// Everything of `pass`, and ∇L into `gradient`.
    pub(super) fn run_pass(
        &self,
        theta: &DeviceBuffer,
        samples: Samples,
        pass: &Pass,
        gradient: &DeviceBuffer,
    ) -> Result<()> {
        let rows = samples.rows;
        let hidden: Vec<&DeviceBuffer> = pass.hidden.iter().map(|buffer| &**buffer).collect();
        self.forward(theta, samples, &hidden, &pass.outputs)?;
        let last = self.plan.steps.len() - 1;
        let to = LossBuffers {
            outputs: &pass.outputs,
            probabilities: &pass.probabilities,
            delta: &pass.deltas[last],
            report: &pass.report,
        };
        self.loss_pass(samples, to, 0, rows, rows)?;
        for (l, step) in self.plan.steps.iter().enumerate().rev() {
            let delta = &*pass.deltas[l];
            let (from, offset) =
                if l == 0 { (samples.inputs, samples.first * step.input.len()) } else { (hidden[l - 1], 0) };
            self.multiply(&Product {
                m: step.output.len(),
                n: step.input.len(),
                k: rows,
                batch: 1,
                first: [Side::new(delta, 0, 1, step.output.len(), 0), Side::new(from, offset, 1, step.input.len(), 0)],
                second: None,
                bias: None,
                epilogue: Epilogue::None,
                c: gradient,
                c_offset: step.weight().start,
                c_batch: 0,
            })?;
            if let Some(bias) = &step.bias() {
                self.column_sums(delta, [1, rows, step.output.len()], gradient, bias.start, 0)?;
            }
            if l > 0 {
                self.backward(theta, pass, l, rows)?;
            }
        }
        Ok(())
    }

    /// δ_{l−1} from δ_l (l counts steps from 0), and c_{l−1} where it is kept.
    fn backward(&self, theta: &DeviceBuffer, pass: &Pass, l: usize, rows: usize) -> Result<()> {
        let step = &self.plan.steps[l];
        let activation = self.plan.steps[l - 1].activation;
        let (kept, delta) = (&*pass.hidden[l - 1], &*pass.deltas[l - 1]);
        let curvature = pass.curvature[l - 1].as_deref();
        self.multiply(&Product {
            m: rows,
            n: step.input.len(),
            k: step.output.len(),
            batch: 1,
            first: [
                Side::new(&pass.deltas[l], 0, step.output.len(), 1, 0),
                Side::new(theta, step.weight().start, 1, step.input.len(), 0),
            ],
            second: None,
            bias: None,
            epilogue: if curvature.is_some() { Epilogue::None } else { Epilogue::Derive(activation, kept) },
            c: delta,
            c_offset: 0,
            c_batch: 0,
        })?;
        match curvature {
            Some(c) => {
                let size = rows * step.input.len();
                let parameters = TanhBackward { size: size as u32, ..Default::default() };
                self.context.dispatch(Kernel::TanhBackward, &parameters, &[kept, delta, c], Grid::elements(size, 1))
            }
            None => Ok(()),
        }
    }

    /// `out[2 index]` and `out[2 index + 1]` from the first `rows` losses and hits of `report`.
    pub(super) fn mean_report(
        &self,
        report: &DeviceBuffer,
        rows: usize,
        out: &DeviceBuffer,
        index: usize,
    ) -> Result<()> {
        let parameters = MeanReport { rows: rows as u32, out_offset: 2 * index as u32, ..Default::default() };
        self.context.dispatch(Kernel::MeanReport, &parameters, &[report, out], Grid::workgroups(1, 2))
    }

    /// Loss and accuracy over all samples, a chunk at a time.
    pub(super) fn evaluate_at(&self, theta: &DeviceBuffer, out: &DeviceBuffer, index: usize) -> Result<()> {
        let mut kept = self.evaluation.borrow_mut();
        let work = match &mut *kept {
            Some(work) => work,
            None => kept.insert(Evaluation::new(self)?),
        };
        let hidden: Vec<&DeviceBuffer> = (1..self.plan.steps.len()).map(|l| &*work.hidden[(l - 1) % 2]).collect();
        for first in (0..self.samples).step_by(work.rows) {
            let rows = work.rows.min(self.samples - first);
            let samples = Samples { inputs: &self.inputs, targets: &self.targets, first, rows };
            self.forward(theta, samples, &hidden, &work.outputs)?;
            let to = LossBuffers {
                outputs: &work.outputs,
                probabilities: &work.probabilities,
                delta: &work.delta,
                report: &work.report,
            };
            self.loss_pass(samples, to, first, self.samples, self.samples)?;
        }
        self.mean_report(&work.report, self.samples, out, index)
    }

    /// Gradient, loss and accuracy over these rows.
    pub(super) fn batch_at(
        &self,
        theta: &DeviceBuffer,
        rows: &[u32],
        gradient: &DeviceBuffer,
        out: &DeviceBuffer,
        index: usize,
    ) -> Result<()> {
        ensure!(!rows.is_empty(), InvalidOption, "a batch needs at least one sample");
        if let Some(row) = rows.iter().find(|&&row| row as usize >= self.samples) {
            bail!(InvalidOption, "the batch names sample {row}, but there are {} samples", self.samples);
        }
        let mut kept = self.batch.borrow_mut();
        let batch = match &mut *kept {
            Some(batch) if batch.pass.rows >= rows.len() => batch,
            _ => {
                // The old one first: its memory may be needed for the new one.
                *kept = None;
                kept.insert(Batch::new(self, rows.len())?)
            }
        };
        if batch.next + rows.len() > batch.rows.elements as usize {
            // Commands that read the old rows must be on their way before these are overwritten.
            self.context.flush()?;
            batch.next = 0;
        }
        let first = batch.next;
        self.context.queue.write_buffer(&batch.rows.buffer, 4 * first as u64, bytemuck::cast_slice(rows));
        batch.next += rows.len();
        let target_width = self.target_width();
        for (from, to, width) in [
            (&self.inputs, &batch.inputs, self.plan.steps[0].input.len()),
            (&self.targets, &batch.targets, target_width),
        ] {
            let len = rows.len() * width;
            let parameters =
                GatherRows { len: len as u32, width: width as u32, rows_offset: first as u32, ..Default::default() };
            self.context.dispatch(Kernel::GatherRows, &parameters, &[&batch.rows, from, to], Grid::elements(len, 1))?;
        }
        let samples = Samples { inputs: &batch.inputs, targets: &batch.targets, first: 0, rows: rows.len() };
        self.run_pass(theta, samples, &batch.pass, gradient)?;
        self.mean_report(&batch.pass.report, rows.len(), out, index)
    }
}

/// Workspace of evaluations: nothing is kept of a layer, so two buffers take turns.
pub(super) struct Evaluation {
    rows: usize,
    hidden: [Rc<DeviceBuffer>; 2],
    outputs: Rc<DeviceBuffer>,
    probabilities: Rc<DeviceBuffer>,
    delta: Rc<DeviceBuffer>,
    report: Rc<DeviceBuffer>,
}

impl Evaluation {
    fn new(executor: &GpuExecutor) -> Result<Self> {
        let context = &executor.context;
        let (hidden, last) = executor.plan.steps.split_at(executor.plan.steps.len() - 1);
        let widest = hidden.iter().map(|step| step.output.len()).max().unwrap_or(0);
        let width = last[0].output.len();
        let rows = (EVALUATION_NUMBERS / widest.max(width)).clamp(1, executor.samples);
        let make = |width: usize| context.buffer("activations", rows as u64 * width as u64);
        Ok(Self {
            rows,
            hidden: [make(widest)?, make(if hidden.len() > 1 { widest } else { 0 })?],
            outputs: make(width)?,
            probabilities: make(width)?,
            delta: make(width)?,
            report: context.buffer("losses", 2 * executor.samples as u64)?,
        })
    }
}

/// Workspace of batch passes.
pub(super) struct Batch {
    pass: Pass,
    inputs: Rc<DeviceBuffer>,
    targets: Rc<DeviceBuffer>,
    /// Sample numbers of several batches, so that a new one need not wait for the submission of the last.
    rows: Rc<DeviceBuffer>,
    next: usize,
}

impl Batch {
    fn new(executor: &GpuExecutor, rows: usize) -> Result<Self> {
        let context = &executor.context;
        let make = |what: &str, width: usize| context.buffer(what, rows as u64 * width as u64);
        Ok(Self {
            pass: Pass::new(context, &executor.plan, executor.loss, rows, false)?,
            inputs: make("inputs of a batch", executor.plan.steps[0].input.len())?,
            targets: make("targets of a batch", executor.target_width())?,
            rows: context.buffer("sample numbers of a batch", (4 * rows).max(1 << 14) as u64)?,
            next: 0,
        })
    }
}
