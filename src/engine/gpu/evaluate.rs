//! Losses at points other than the prepared one, and gradients over batches.

use std::rc::Rc;

use super::affine::{Extent, Panels, Target, Ways};
use super::context::DeviceBuffer;
use super::data::ChunkData;
use super::executor::GpuExecutor;
use super::geometry::LANES;
use super::kernel::Kernel;
use super::passes::{Activations, Pass, Report, Samples};
use super::recorder::Grid;
use super::uniforms::GatherRows;
use crate::error::Result;

/// Numbers that the activations of the points of an evaluation may take together.
const EVALUATION_NUMBERS: u64 = 1 << 24;

/// Workspace of evaluations of some points at a time: a step's values are kept until the last step that reads them. (Zeros around
/// images are not needed: forward steps clip their windows.)
pub(super) struct Evaluation {
    pub points: usize,
    pub panels: Panels,
    /// Of every step.
    pub values: Vec<Rc<DeviceBuffer>>,
    probabilities: Rc<DeviceBuffer>,
    delta: Rc<DeviceBuffer>,
    chosen: Rc<DeviceBuffer>,
    pub report: Rc<DeviceBuffer>,
}

impl Evaluation {
    /// How many points of `wanted` go through together.
    pub fn group(executor: &GpuExecutor, wanted: usize) -> usize {
        let geometry = &executor.geometry;
        let widest = geometry.steps.iter().map(|placed| placed.output.features()).max().unwrap_or(1);
        let buffers = executor.plan.buffers().into_iter().max().unwrap_or(0) as u64 + 1;
        let values = (buffers + 1) * widest as u64 + 3 * geometry.output().features() as u64;
        let each = executor.data.lanes as u64 * values + 4 * geometry.forward_len as u64;
        let report = executor.context.max_buffer_bytes() / 8 / executor.data.samples as u64;
        ((EVALUATION_NUMBERS / each).min(report).min(64) as usize).clamp(1, wanted.max(1))
    }

    pub fn new(executor: &GpuExecutor, points: usize) -> Result<Self> {
        let (context, geometry) = (&executor.context, &executor.geometry);
        let make = |features: usize| {
            let numbers = executor.data.lanes as u64 * features as u64 * points as u64;
            context.buffer(&format!("activations of {points} points of width {features}"), numbers)
        };
        let places = executor.plan.buffers();
        let width_of = |buffer: usize| {
            let steps = geometry.steps.iter().zip(&places).filter(|&(_, &place)| place == buffer);
            steps.map(|(placed, _)| placed.output.features()).max().unwrap_or(0)
        };
        let buffers = places.iter().max().map_or(0, |&last| last + 1);
        let buffers = (0..buffers).map(|buffer| make(width_of(buffer))).collect::<Result<Vec<_>>>()?;
        let values: Vec<_> = places.iter().map(|&place| buffers[place].clone()).collect();
        let chosen = geometry.steps.iter().filter_map(GpuExecutor::chosen_features).max().unwrap_or(0);
        let width = geometry.output().features();
        Ok(Self {
            points,
            panels: executor.panels(points, Ways::Forward)?,
            values,
            probabilities: make(width)?,
            delta: make(width)?,
            chosen: make(chosen)?,
            report: context.buffer("losses", 2 * points as u64 * executor.data.samples as u64)?,
        })
    }
}

impl GpuExecutor {
    /// Workspace for this many points.
    pub(super) fn evaluation(&self, points: usize) -> Result<Rc<Evaluation>> {
        let mut kept = self.evaluation.borrow_mut();
        match &*kept {
            Some(workspace) if workspace.points >= points => Ok(workspace.clone()),
            _ => {
                *kept = None;
                Ok(kept.insert(Rc::new(Evaluation::new(self, points)?)).clone())
            }
        }
    }

    /// The steps from `first` on, and the losses, of `batch` points over a chunk.
    pub(super) fn evaluate_from(
        &self,
        workspace: &Evaluation,
        first: usize,
        panels: (&Panels, bool),
        batch: usize,
        (chunk, data): (usize, &ChunkData),
    ) -> Result<()> {
        let values: Vec<&DeviceBuffer> = workspace.values.iter().map(|buffer| &**buffer).collect();
        let chosen: Vec<Option<&DeviceBuffer>> = self
            .geometry
            .steps
            .iter()
            .map(|placed| Self::chosen_features(placed).map(|_| &*workspace.chosen))
            .collect();
        let samples = Samples { data, rows: self.data.rows(chunk), lanes: self.data.lanes };
        let extent = Extent { lanes: samples.lanes, batch };
        self.forward_from(
            first,
            panels,
            extent,
            &data.inputs,
            &Activations { values: &values, chosen: &chosen, curves: &[] },
        )?;
        let report = Report { buffer: &workspace.report, offset: self.data.first(chunk), count: self.data.samples };
        self.loss_pass(samples, batch, values[values.len() - 1], [&workspace.probabilities, &workspace.delta], report)
    }

    /// Loss and accuracy over all samples.
    pub(super) fn evaluate_at(&self, theta: &DeviceBuffer, out: &DeviceBuffer, index: usize) -> Result<()> {
        let workspace = self.evaluation(1)?;
        self.pack(theta, 0, 1, &workspace.panels, 0)?;
        for chunk in 0..self.data.chunks() {
            let data = self.data.chunk(&self.context, &self.geometry, chunk)?;
            self.evaluate_from(&workspace, 0, (&workspace.panels, false), 1, (chunk, &data))?;
        }
        self.mean_report(&workspace.report, self.data.samples, 1, out, index)
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
        let lanes = rows.len().next_multiple_of(LANES);
        let mut kept = self.batch.borrow_mut();
        let batch = match &mut *kept {
            // Exactly as many lanes: with others, the zeros around images would lie elsewhere.
            Some(batch) if batch.pass.lanes == lanes => batch,
            _ => {
                // The old one first: its memory may be needed for the new one.
                *kept = None;
                kept.insert(Batch::new(self, lanes)?)
            }
        };
        if 2 * (batch.next + rows.len()) > batch.rows.elements as usize {
            // Commands that read the old rows must be on their way before these are overwritten.
            self.context.flush()?;
            batch.next = 0;
        }
        self.pack(theta, 0, 1, &batch.panels, 0)?;
        for chunk in 0..self.data.chunks() {
            self.gather_rows(batch, chunk, rows)?;
        }
        let samples = Samples { data: &batch.data, rows: rows.len(), lanes };
        let report = Report { buffer: &batch.report, offset: 0, count: rows.len() };
        let to = Target { buffer: gradient, offset: 0, accumulate: false };
        self.run_pass(&batch.panels, samples, &batch.pass, report, Some(to))?;
        self.mean_report(&batch.report, rows.len(), 1, out, index)
    }

    /// Copies those of the rows that lie in a chunk.
    fn gather_rows(&self, batch: &mut Batch, chunk: usize, rows: &[u32]) -> Result<()> {
        let (start, count) = (self.data.first(chunk), self.data.rows(chunk));
        let table: Vec<[u32; 2]> = (0u32..)
            .zip(rows)
            .filter(|&(_, &row)| (start..start + count).contains(&(row as usize)))
            .map(|(i, &row)| [row - start as u32, i])
            .collect();
        if table.is_empty() {
            return Ok(());
        }
        let first = batch.next;
        self.context.queue.write_buffer(&batch.rows.buffer, 8 * first as u64, bytemuck::cast_slice(&table));
        batch.next += table.len();
        let data = self.data.chunk(&self.context, &self.geometry, chunk)?;
        let lanes = self.data.lanes;
        for (from, to) in [(&data.inputs, &batch.data.inputs), (&data.targets, &batch.data.targets)] {
            let features = from.elements as usize / lanes;
            let parameters = GatherRows {
                features: features as u32,
                count: table.len() as u32,
                rows_offset: first as u32,
                lanes: lanes as u32,
                out_lanes: batch.pass.lanes as u32,
                ..Default::default()
            };
            let grid = Grid::elements(features * table.len(), 1);
            self.context.dispatch(Kernel::GatherRows, &parameters, &[&batch.rows, from, to], grid)?;
        }
        Ok(())
    }
}

/// Workspace of batch passes.
pub(super) struct Batch {
    pass: Pass,
    panels: Panels,
    data: ChunkData,
    report: Rc<DeviceBuffer>,
    /// (sample, lane) of several batches, so that a new one need not wait for the submission of the last.
    rows: Rc<DeviceBuffer>,
    next: usize,
}

impl Batch {
    fn new(executor: &GpuExecutor, lanes: usize) -> Result<Self> {
        let (context, geometry) = (&executor.context, &executor.geometry);
        let make = |what: &str, features: usize| context.buffer(what, lanes as u64 * features as u64);
        Ok(Self {
            pass: Pass::new(context, geometry, executor.loss, lanes, false)?,
            panels: executor.panels(1, Ways::Both)?,
            data: ChunkData {
                inputs: make("inputs of a batch", geometry.input().features())?,
                targets: make("targets of a batch", executor.target_width())?,
            },
            report: make("losses", 2)?,
            rows: context.buffer("sample numbers of a batch", (8 * lanes).max(1 << 14) as u64)?,
            next: 0,
        })
    }
}
