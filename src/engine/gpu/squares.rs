//! Squared gradients: of every sample and cotangent by itself, added up parameter by parameter on the device. The head of
//! `engine/cpu/squares.rs` says how.

use std::rc::Rc;

use super::affine::{Batched, Extent, Pair, Panels, Target, Ways};
use super::context::DeviceBuffer;
use super::executor::GpuExecutor;
use super::geometry::{Panel, PlacedStep};
use super::kernel::Kernel;
use super::point::Prepared;
use super::recorder::Grid;
use super::sample_gradient::{Part, parts};
use super::uniforms::{SampleSquares, SumSlabs};
use super::walk::Arrival;
use crate::engine::Cotangent;
use crate::error::Result;
use crate::memory::collected;

/// Workspace for a group of cotangents at a time.
struct Workspace {
    panels: Panels,
    /// g_l of every step.
    deltas: Vec<Rc<DeviceBuffer>>,
    /// g ⊙ g of a dense step, and its sum over the cotangents.
    squares: [Rc<DeviceBuffer>; 2],
    /// a ⊙ a.
    inputs: Rc<DeviceBuffer>,
    gradients: Rc<DeviceBuffer>,
    /// A number for every parameter.
    sums: Rc<DeviceBuffer>,
}

impl GpuExecutor {
    pub(super) async fn squares_of(&self, cotangents: &[Cotangent]) -> Result<Vec<f64>> {
        let prepared = self.prepared()?;
        let group = self.sweep_group(cotangents.len());
        let workspace = self.squares_workspace(&prepared, group)?;
        for chunk in 0..self.data.chunks() {
            for some in cotangents.chunks(group) {
                self.square_chunk(&prepared, &workspace, chunk, some)?;
            }
        }
        let sums = self.context.read(&workspace.sums, 0, self.plan.parameter_count).await?;
        collected("squared gradients", sums.into_iter().map(|sum| f64::from(sum) / self.data.samples as f64))
    }

    fn squares_workspace(&self, prepared: &Prepared, group: usize) -> Result<Workspace> {
        let (lanes, widest) = (self.data.lanes, self.geometry.widest());
        let make = |features: usize, count: usize| {
            self.context.buffer("cotangents", lanes as u64 * features as u64 * count as u64)
        };
        let panels = self.panels(1, Ways::Both)?;
        self.pack(&prepared.theta, 0, 1, &panels, 0)?;
        let deltas = self.geometry.steps.iter().map(|placed| make(placed.output.features(), group));
        Ok(Workspace {
            deltas: deltas.collect::<Result<_>>()?,
            squares: [make(widest, group)?, make(widest, 1)?],
            inputs: make(widest, 1)?,
            gradients: self.sample_gradients(group)?,
            // Zeros, as every buffer that is made.
            sums: self.context.buffer("squared gradients", self.plan.parameter_count as u64)?,
            panels,
        })
    }

    /// Adds what these cotangents leave in a chunk.
    fn square_chunk(
        &self,
        prepared: &Prepared,
        workspace: &Workspace,
        chunk: usize,
        cotangents: &[Cotangent],
    ) -> Result<()> {
        let to = (&workspace.panels, &workspace.deltas[..]);
        self.walk_cotangents((prepared, chunk), cotangents, to, |Arrival { placed, delta, source, .. }, extent| {
            match placed.forward {
                Some(_) if placed.step.is_dense() => self.square_dense(workspace, placed, extent, delta, source)?,
                Some(panel) => {
                    for part in parts(&workspace.gradients, panel, extent) {
                        self.sample_gradient(placed, panel, [delta, source, &workspace.gradients], part)?;
                        self.square_window(workspace, placed, panel, delta, part)?;
                    }
                }
                None => {}
            }
            Ok(None)
        })
    }

    /// A dense step: its gradient from g² and a² in the places of δ and a.
    fn square_dense(
        &self,
        workspace: &Workspace,
        placed: &PlacedStep,
        extent: Extent,
        delta: &DeviceBuffer,
        source: &DeviceBuffer,
    ) -> Result<()> {
        let [squares, sum] = &workspace.squares;
        let size = placed.output.features() * extent.lanes;
        self.square(delta, squares, size / 4, extent.batch)?;
        let parameters = SumSlabs { size: size as u32, slabs: extent.batch as u32, ..SumSlabs::default() };
        let grid = Grid { cost: (size * extent.batch) as f64, ..Grid::elements(size, 1) };
        self.context.dispatch(Kernel::SumSlabs, &parameters, &[squares, sum], grid)?;
        self.square(source, &workspace.inputs, placed.input().features() * extent.lanes / 4, 1)?;
        let pair = Pair { delta: Batched::shared(sum), source: Batched::shared(&workspace.inputs) };
        let to = Target { buffer: &workspace.sums, offset: 0, accumulate: true };
        self.affine_gradient(placed, Extent { batch: 1, ..extent }, &[pair], to)
    }

    /// A convolution: squares of single samples' gradients, summed over the samples by themselves and then over the cotangents.
    fn square_window(
        &self,
        workspace: &Workspace,
        placed: &PlacedStep,
        panel: Panel,
        delta: &DeviceBuffer,
        part: Part,
    ) -> Result<()> {
        let output = placed.output;
        let (weight, bias) = (placed.step.weight(), placed.step.bias());
        // A bias follows its weight.
        let size = bias.map_or(weight.end, |bias| bias.end) - weight.start;
        let parameters = SampleSquares {
            rows: panel.rows as u32,
            columns: panel.depth as u32,
            seen: placed.seen() as u32,
            size: size as u32,
            lanes4: part.lanes4 as u32,
            first4: part.first4 as u32,
            count4: part.count4 as u32,
            first_z: part.first_z as u32,
            out_height: output.shape.height as u32,
            out_width: output.shape.width as u32,
            delta_row: output.row() as u32,
            delta_origin: output.origin() as u32,
            delta_batch: (output.features() * part.lanes4) as u32,
            ..SampleSquares::default()
        };
        let sums = self.vectors.scratch(&[size, part.batch])?;
        let cost = 8.0 * ((size + panel.rows * output.shape.area()) * part.count4 * part.batch) as f64;
        let grid = Grid { cost, ..Grid::elements(size, part.batch) };
        self.context.dispatch(Kernel::SampleSquares, &parameters, &[&workspace.gradients, delta, &sums], grid)?;
        let parameters = SumSlabs {
            size: size as u32,
            slabs: part.batch as u32,
            out_offset: weight.start as u32,
            accumulate: 1,
            ..SumSlabs::default()
        };
        let grid = Grid { cost: (size * part.batch) as f64, ..Grid::elements(size, 1) };
        self.context.dispatch(Kernel::SumSlabs, &parameters, &[&sums, &workspace.sums], grid)
    }
}
