//! Forward and backward passes over a chunk of samples.

use std::rc::Rc;

use super::affine::{Batched, Epilogue, Extent, Pair, Panels, Target, Term};
use super::context::{DeviceBuffer, GpuContext};
use super::data::ChunkData;
use super::executor::GpuExecutor;
use super::geometry::{Geometry, PlacedStep};
use super::kernel::Kernel;
use super::recorder::Grid;
use super::smooth::Curve;
use super::uniforms::{CrossEntropy, MeanReport, SquaredError};
use super::walk::{Back, Curvatures};
use crate::engine::plan::Read;
use crate::error::Result;
use crate::problem::Loss;

/// What the passes over a chunk leave behind.
pub(super) struct Pass {
    pub lanes: usize,
    /// a_1 … a_L, the last of which is ŷ = z_L.
    pub values: Vec<Rc<DeviceBuffer>>,
    /// softmax ŷ, for cross-entropy.
    pub probabilities: Rc<DeviceBuffer>,
    /// δ_1 … δ_L.
    pub deltas: Vec<Rc<DeviceBuffer>>,
    /// Of the steps that end in a smooth activation.
    pub curves: Vec<Option<Curve>>,
    /// What the max pools chose.
    pub chosen: Vec<Option<Rc<DeviceBuffer>>>,
}

/// Steps that end in a smooth activation.
pub(super) fn smooth_steps(geometry: &Geometry) -> impl Iterator<Item = &PlacedStep> {
    geometry.steps.iter().filter(|placed| placed.step.activation.is_smooth())
}

impl Pass {
    pub fn new(
        context: &GpuContext,
        geometry: &Geometry,
        loss: Loss,
        lanes: usize,
        with_curvature: bool,
    ) -> Result<Self> {
        let make = |what: &str, features: usize| {
            context.buffer(&format!("{what} of {lanes} samples of width {features}"), lanes as u64 * features as u64)
        };
        let each = |what: &str| -> Result<Vec<_>> {
            geometry.steps.iter().map(|placed| make(what, placed.output.features())).collect()
        };
        let values = each("activations")?;
        let outputs = &values[values.len() - 1];
        Ok(Self {
            lanes,
            probabilities: match loss {
                Loss::CrossEntropy => make("probabilities", geometry.output().features())?,
                Loss::SquaredError => outputs.clone(),
            },
            deltas: each("derivatives")?,
            curves: geometry
                .steps
                .iter()
                .map(|placed| {
                    let make = |what: &str| make(what, placed.output.features());
                    let curve = || {
                        let bends = with_curvature.then(|| make("second derivatives of activations")).transpose()?;
                        Ok(Curve { slopes: make("derivatives of activations")?, bends })
                    };
                    placed.step.activation.is_smooth().then(curve).transpose()
                })
                .collect::<Result<_>>()?,
            chosen: geometry
                .steps
                .iter()
                .map(|placed| GpuExecutor::chosen_features(placed).map(|n| make("choices", n)).transpose())
                .collect::<Result<_>>()?,
            values,
        })
    }

    /// Bytes that one takes.
    pub fn bytes(geometry: &Geometry, lanes: usize) -> u64 {
        let chosen: u64 = geometry.steps.iter().filter_map(GpuExecutor::chosen_features).map(|n| n as u64).sum();
        let smooth: u64 = smooth_steps(geometry).map(|placed| 2 * placed.output.features() as u64).sum();
        4 * lanes as u64 * (2 * geometry.features() + geometry.output().features() as u64 + chosen + smooth)
    }

    /// What a step's read finds.
    pub fn found<'a>(&'a self, inputs: &'a DeviceBuffer, read: &Read) -> &'a DeviceBuffer {
        read.from.map_or(inputs, |from| &self.values[from])
    }

    /// δ_L.
    pub fn last_delta(&self) -> &DeviceBuffer {
        &self.deltas[self.deltas.len() - 1]
    }

    /// ŷ.
    pub fn outputs(&self) -> &DeviceBuffer {
        &self.values[self.values.len() - 1]
    }
}

/// Where activations go: of every step, one for each of the batch.
pub(super) struct Activations<'a> {
    pub values: &'a [&'a DeviceBuffer],
    pub chosen: &'a [Option<&'a DeviceBuffer>],
    /// Empty where no derivatives are kept.
    pub curves: &'a [Option<Curve>],
}

/// Where the losses of a chunk's samples go.
#[derive(Clone, Copy)]
pub(super) struct Report<'a> {
    pub buffer: &'a DeviceBuffer,
    /// Place of the chunk's first sample.
    pub offset: usize,
    /// Samples in all: losses of all of them come first, then 1 for each that was hit.
    pub count: usize,
}

/// A pass's samples.
#[derive(Clone, Copy)]
pub(super) struct Samples<'a> {
    pub data: &'a ChunkData,
    /// How many there are; the other lanes count for nothing.
    pub rows: usize,
    pub lanes: usize,
}

impl GpuExecutor {
    /// Activations of the steps from `first` on; those before are there. `inputs` come into the network.
    pub(super) fn forward_from(
        &self,
        first: usize,
        panels: (&Panels, bool),
        extent: Extent,
        inputs: &DeviceBuffer,
        to: &Activations,
    ) -> Result<()> {
        for (l, placed) in self.geometry.steps.iter().enumerate().skip(first) {
            let found = |read: &Read| read.from.map_or(Batched::shared(inputs), |from| Batched::each(to.values[from]));
            let read = |k: usize| found(&placed.step.reads[k]);
            let epilogue = Epilogue::of(placed.step.activation);
            if placed.step.is_affine() {
                let term = Term { panels: panels.0, are_batched: panels.1, source: read(0) };
                self.affine_forward(placed, extent, &[term], epilogue, to.values[l])?;
            } else {
                self.plain_forward(placed, extent, read, epilogue, to.chosen[l], to.values[l])?;
            }
            self.smooth(placed, extent, to.values[l], to.curves.get(l).and_then(Option::as_ref))?;
        }
        Ok(())
    }

    /// Losses and hits, and δ_L = ∂(mean loss)/∂ŷ, of each of the batch.
    pub(super) fn loss_pass(
        &self,
        samples: Samples,
        batch: usize,
        outputs: &DeviceBuffer,
        [probabilities, delta]: [&DeviceBuffer; 2],
        report: Report,
    ) -> Result<()> {
        let width = self.outputs_len();
        let lanes = samples.lanes;
        let grid = Grid { cost: 20.0 * (lanes * width * batch) as f64, ..Grid::elements(lanes, batch) };
        match self.loss {
            Loss::CrossEntropy => {
                let parameters = CrossEntropy {
                    samples: samples.rows as u32,
                    classes: width as u32,
                    lanes: lanes as u32,
                    report_offset: report.offset as u32,
                    hits: report.count as u32,
                    report_batch: 2 * report.count as u32,
                    count: report.count as f32,
                    ..Default::default()
                };
                let buffers = [outputs, &samples.data.targets, probabilities, delta, report.buffer];
                self.context.dispatch(Kernel::CrossEntropy, &parameters, &buffers, grid)
            }
            Loss::SquaredError => {
                let parameters = SquaredError {
                    samples: samples.rows as u32,
                    outputs: width as u32,
                    lanes: lanes as u32,
                    report_offset: report.offset as u32,
                    hits: report.count as u32,
                    report_batch: 2 * report.count as u32,
                    count: report.count as f32,
                    ..Default::default()
                };
                let buffers = [outputs, &samples.data.targets, delta, report.buffer];
                self.context.dispatch(Kernel::SquaredError, &parameters, &buffers, grid)
            }
        }
    }

    /// Everything of `pass`, and the chunk's share of ∇L if there is a place for it.
    pub(super) fn run_pass(
        &self,
        panels: &Panels,
        samples: Samples,
        pass: &Pass,
        report: Report,
        gradient: Option<Target>,
    ) -> Result<()> {
        let extent = Extent { lanes: samples.lanes, batch: 1 };
        let values: Vec<&DeviceBuffer> = pass.values.iter().map(|buffer| &**buffer).collect();
        let chosen: Vec<Option<&DeviceBuffer>> = pass.chosen.iter().map(Option::as_deref).collect();
        let to = Activations { values: &values, chosen: &chosen, curves: &pass.curves };
        self.forward_from(0, (panels, false), extent, &samples.data.inputs, &to)?;
        self.loss_pass(samples, 1, pass.outputs(), [&pass.probabilities, pass.last_delta()], report)?;
        let deltas: Vec<&DeviceBuffer> = pass.deltas.iter().map(|buffer| &**buffer).collect();
        let inputs = &*samples.data.inputs;
        let curvature = Curvatures::Keep;
        let back = Back { pass, inputs, extent, panels, deltas: &deltas, directions: None, curvature };
        self.walk_back(&back, |arrival| {
            if let Some(to) = gradient {
                let pair = Pair { delta: Batched::shared(arrival.delta), source: Batched::shared(arrival.source) };
                self.affine_gradient(arrival.placed, extent, &[pair], to)?;
            }
            Ok(None)
        })
    }

    /// Mean losses and shares of hits of `points` points, into `out[2 index]` and on.
    pub(super) fn mean_report(
        &self,
        report: &DeviceBuffer,
        rows: usize,
        points: usize,
        out: &DeviceBuffer,
        index: usize,
    ) -> Result<()> {
        let parameters = MeanReport { rows: rows as u32, out_offset: 2 * index as u32, ..Default::default() };
        self.context.dispatch(Kernel::MeanReport, &parameters, &[report, out], Grid::workgroups(1, 2 * points))
    }
}
