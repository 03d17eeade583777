//! Cotangent sweeps: backward passes at the prepared point, and what they leave at each layer, sample by sample; the device
//! sums over samples, the host what is left.

use std::rc::Rc;

use super::affine::{Batched, Epilogue, Extent, Panels, Term, Ways};
use super::context::DeviceBuffer;
use super::executor::GpuExecutor;
use super::geometry::{Panel, PlacedStep};
use super::kernel::Kernel;
use super::passes::Pass;
use super::point::Prepared;
use super::recorder::Grid;
use super::sample_gradient::parts;
use super::uniforms::{Bias, Cotangent as CotangentParameters, RowProducts, Square, SweepDense, SweepWindow};
use super::walk::Arrival;
use crate::engine::{Cotangent, LayerSums, Operation};
use crate::error::Result;
use crate::problem::Loss;

/// Numbers that the cotangents of one group may take in all.
const SWEEP_NUMBERS: u64 = 1 << 25;

/// A layer's rows of sums over samples; `shaders/sweep/dense.wgsl` and `window.wgsl` say what they are.
struct Rows {
    /// Among all layers' rows.
    first: usize,
    /// Units (of a dense layer) or channels (of a convolution) that come in: what ρ is of.
    units: usize,
    /// Pixels of a flattened image, whose units lie pixel by pixel here and channel by channel in W; otherwise 1.
    pixels: usize,
    /// Rows of each of trace, relative flatness and node-wise trace.
    each: usize,
    /// Rows of W.
    outputs: usize,
}

impl Rows {
    fn count(&self) -> usize {
        self.units + 3 * self.each + self.outputs
    }
}

/// Workspace of a sweep over `group` cotangents at a time.
struct Workspace {
    panels: Panels,
    /// W ⊙ W.
    squares: Panels,
    /// g_l of every step.
    deltas: Vec<Rc<DeviceBuffer>>,
    /// Wᵀ g.
    pulled: Rc<DeviceBuffer>,
    /// a ⊙ a and (W ⊙ W)(a ⊙ a), the same for all cotangents.
    spread: [Rc<DeviceBuffer>; 2],
    gradients: Rc<DeviceBuffer>,
    /// W Wᵀ of the convolutions.
    products: Vec<Option<Rc<DeviceBuffer>>>,
    /// Rows of one layer, sample by sample.
    values: Rc<DeviceBuffer>,
    /// All rows, summed over samples.
    sums: Rc<DeviceBuffer>,
    /// Rows of every affine step.
    rows: Vec<Option<Rows>>,
    total: usize,
}

impl GpuExecutor {
    pub(super) async fn sweep_of(&self, cotangents: &[Cotangent]) -> Result<Vec<Vec<LayerSums>>> {
        let prepared = self.prepared()?;
        let group = self.sweep_group(cotangents.len());
        let workspace = self.sweep_workspace(&prepared, group)?;
        let mut totals = vec![0.0; cotangents.len() * workspace.total];
        for chunk in 0..self.data.chunks() {
            for (i, some) in cotangents.chunks(group).enumerate() {
                self.sweep_chunk(&prepared, &workspace, chunk, some)?;
                let sums = self.context.read(&workspace.sums, 0, some.len() * workspace.total).await?;
                let totals = &mut totals[i * group * workspace.total..];
                totals.iter_mut().zip(sums).for_each(|(total, sum)| *total += f64::from(sum));
            }
        }
        let biases = self.biases(&workspace).await?;
        let share = 1.0 / self.data.samples as f64;
        let layers = |totals: &[f64]| {
            let rows = workspace.rows.iter().flatten();
            rows.zip(&biases).map(|(rows, bias)| layer_sums(&totals[rows.first..], rows, bias, share)).collect()
        };
        Ok(totals.chunks(workspace.total.max(1)).map(layers).collect())
    }

    fn rows_of(&self) -> (Vec<Option<Rows>>, usize) {
        let mut total = 0;
        let rows = self.geometry.steps.iter().map(|placed| {
            let step = &placed.step;
            step.is_affine().then(|| {
                let each = if step.is_dense() { 1 } else { placed.seen() * step.window.area() };
                let (units, pixels) = match step.operation {
                    Operation::Affine { columns_per_unit: 1, .. } if step.is_dense() => {
                        (step.input.len(), step.input.area())
                    }
                    _ => (step.input.channels, 1),
                };
                let rows = Rows { first: total, units, pixels, each, outputs: step.output.channels };
                total += rows.count();
                rows
            })
        });
        (rows.collect(), total)
    }

    /// How many cotangents go through together.
    pub(super) fn sweep_group(&self, wanted: usize) -> usize {
        let widest = self.geometry.widest();
        let rows = self.rows_of().0.iter().flatten().map(Rows::count).max().unwrap_or(1);
        let lanes = self.data.lanes as u64;
        let each = lanes * (self.geometry.features() + (widest + self.geometry.meeting() + rows) as u64);
        let one_buffer = self.context.max_buffer_bytes() / 4 / (lanes * widest.max(rows) as u64);
        ((SWEEP_NUMBERS / each).min(one_buffer) as usize).clamp(1, wanted.max(1))
    }

    fn sweep_workspace(&self, prepared: &Prepared, group: usize) -> Result<Workspace> {
        let (lanes, widest) = (self.data.lanes, self.geometry.widest());
        let (rows, total) = self.rows_of();
        let make = |features: usize| self.context.buffer("cotangents", lanes as u64 * features as u64 * group as u64);
        let of_inputs = || self.context.buffer("squares of inputs", lanes as u64 * widest as u64);
        let panels = self.panels(1, Ways::Sweep)?;
        self.pack(&prepared.theta, 0, 1, &panels, 0)?;
        let squares = self.panels(1, Ways::Sweep)?;
        self.square(&panels.buffer, &squares.buffer, panels.len, 1)?;
        let mut products = Vec::new();
        for placed in &self.geometry.steps {
            products.push(None);
            let (true, false, Some(panel)) = (placed.step.is_affine(), placed.step.is_dense(), placed.forward) else {
                continue;
            };
            let group_rows = panel.rows / placed.step.groups();
            let len = panel.rows * group_rows;
            let buffer = self.context.buffer("products of rows", len as u64)?;
            let [row_stride, tap_stride, channel_stride] = placed.weight_strides(panel).map(|stride| stride as u32);
            let parameters = RowProducts {
                rows: panel.rows as u32,
                group_rows: group_rows as u32,
                columns: panel.depth as u32,
                seen: placed.seen() as u32,
                panel_offset: 4 * panel.offset as u32,
                row_stride,
                tap_stride,
                channel_stride,
            };
            let grid = Grid { cost: 2.0 * (len * panel.depth) as f64, ..Grid::elements(len, 1) };
            self.context.dispatch(Kernel::RowProducts, &parameters, &[&panels.buffer, &buffer], grid)?;
            products.pop();
            products.push(Some(buffer));
        }
        let deltas = self.geometry.steps.iter().map(|placed| make(placed.output.features()));
        Ok(Workspace {
            deltas: deltas.collect::<Result<_>>()?,
            pulled: make(widest)?,
            spread: [of_inputs()?, of_inputs()?],
            gradients: self.sample_gradients(group)?,
            products,
            values: make(rows.iter().flatten().map(Rows::count).max().unwrap_or(1))?,
            sums: self.context.buffer("sums of cotangents", total as u64 * group as u64)?,
            panels,
            squares,
            rows,
            total,
        })
    }

    fn sweep_chunk(
        &self,
        prepared: &Prepared,
        workspace: &Workspace,
        chunk: usize,
        cotangents: &[Cotangent],
    ) -> Result<()> {
        let to = (&workspace.panels, &workspace.deltas[..]);
        self.walk_cotangents((prepared, chunk), cotangents, to, |Arrival { l, placed, delta, source }, extent| {
            let Some(rows) = &workspace.rows[l] else { return Ok(None) };
            if !placed.step.is_dense() {
                if let Some(panel) = placed.forward {
                    self.sweep_window(workspace, l, panel, extent, source)?;
                }
                self.sum_lanes(workspace, rows, extent)?;
                return Ok(None);
            }
            let term = Term { panels: &workspace.panels, are_batched: false, source: Batched::each(delta) };
            self.affine_backward(placed, extent, &[term], Epilogue::None, &workspace.pulled)?;
            let [a2, spread] = &workspace.spread;
            self.square(source, a2, placed.input().features() * extent.lanes / 4, 1)?;
            let term = Term { panels: &workspace.squares, are_batched: false, source: Batched::shared(a2) };
            self.affine_linear(placed, Extent { batch: 1, ..extent }, &[term], spread)?;
            self.sweep_dense(workspace, placed, rows, extent, delta, source)?;
            self.sum_lanes(workspace, rows, extent)?;
            Ok(Some(&*workspace.pulled))
        })
    }

    /// The cotangents at the outputs of a chunk.
    pub(super) fn start_cotangents(
        &self,
        pass: &Pass,
        chunk: usize,
        cotangents: &[Cotangent],
        out: &DeviceBuffer,
    ) -> Result<()> {
        let (first, rows, lanes) = (self.data.first(chunk), self.data.rows(chunk), self.data.lanes);
        let (output, width) = (self.geometry.output(), self.outputs_len());
        let mut values: Vec<f32> = Vec::new();
        let mut kinds: Vec<[u32; 4]> = Vec::new();
        for cotangent in cotangents {
            let start = values.len();
            let (is_of_signs, class) = match cotangent {
                Cotangent::Class(class) => (0, output.place(*class)),
                Cotangent::Signs(signs) => {
                    values.resize(start + width * lanes, 0.0);
                    for (n, row) in signs[first * width..].chunks_exact(width).take(rows).enumerate() {
                        for (i, &sign) in row.iter().enumerate() {
                            values[start + output.place(i) * lanes + n] = sign;
                        }
                    }
                    (1, 0)
                }
            };
            kinds.push([is_of_signs, class as u32, start as u32, u32::from(self.loss == Loss::CrossEntropy)]);
        }
        let kinds = self.context.buffer_of("kinds of cotangents", kinds.as_flattened())?;
        let values = self.context.buffer_of("signs of cotangents", &values)?;
        let parameters = CotangentParameters {
            samples: rows as u32,
            classes: width as u32,
            lanes: lanes as u32,
            ..Default::default()
        };
        let grid = Grid::elements(width * lanes, cotangents.len());
        let buffers = [&*kinds, &*values, &*pass.probabilities, out];
        self.context.dispatch(Kernel::Cotangent, &parameters, &buffers, grid)
    }

    /// out = x ⊙ x, `size` vectors of four for each of the batch.
    pub(super) fn square(&self, x: &DeviceBuffer, out: &DeviceBuffer, size: usize, batch: usize) -> Result<()> {
        let parameters = Square { size: size as u32, ..Default::default() };
        self.context.dispatch(Kernel::Square, &parameters, &[x, out], Grid::elements(size, batch))
    }

    fn sweep_dense(
        &self,
        workspace: &Workspace,
        placed: &PlacedStep,
        rows: &Rows,
        extent: Extent,
        delta: &DeviceBuffer,
        source: &DeviceBuffer,
    ) -> Result<()> {
        let (lanes4, input) = (extent.lanes / 4, placed.input());
        let parameters = SweepDense {
            units: rows.units as u32,
            channels: input.shape.channels as u32,
            positions: input.shape.area() as u32,
            rows: rows.outputs as u32,
            lanes4: lanes4 as u32,
            width: input.shape.width as u32,
            row: input.row() as u32,
            origin: input.origin() as u32,
            in_batch: (input.features() * lanes4) as u32,
            out_batch: (rows.count() * lanes4) as u32,
            ..Default::default()
        };
        let (h, spread) = (&workspace.pulled, &workspace.spread[1]);
        let cost = 32.0 * (placed.step.input.len() * extent.lanes * extent.batch) as f64;
        let grid = Grid { cost, ..Grid::elements(rows.count() * lanes4, extent.batch) };
        self.context.dispatch(Kernel::SweepDense, &parameters, &[delta, source, h, spread, &workspace.values], grid)
    }

    /// A convolution: the gradients of as many cotangents and samples as there is room for at a time.
    fn sweep_window(
        &self,
        workspace: &Workspace,
        l: usize,
        panel: Panel,
        extent: Extent,
        source: &DeviceBuffer,
    ) -> Result<()> {
        let placed = &self.geometry.steps[l];
        let (Some(rows), Some(products)) = (&workspace.rows[l], &workspace.products[l]) else { return Ok(()) };
        let output = placed.output;
        let (lanes4, delta) = (extent.lanes / 4, &*workspace.deltas[l]);
        let group_rows = panel.rows / placed.step.groups();
        let [row_stride, tap_stride, channel_stride] = placed.weight_strides(panel).map(|stride| stride as u32);
        for part in parts(&workspace.gradients, panel, extent) {
            self.sample_gradient(placed, panel, [delta, source, &workspace.gradients], part)?;
            let parameters = SweepWindow {
                channels: rows.units as u32,
                columns: panel.depth as u32,
                rows: panel.rows as u32,
                seen: placed.seen() as u32,
                group_rows: group_rows as u32,
                panel_offset: 4 * panel.offset as u32,
                lanes4: lanes4 as u32,
                first4: part.first4 as u32,
                count4: part.count4 as u32,
                out_height: output.shape.height as u32,
                out_width: output.shape.width as u32,
                delta_row: output.row() as u32,
                delta_origin: output.origin() as u32,
                delta_batch: (output.features() * lanes4) as u32,
                out_batch: (rows.count() * lanes4) as u32,
                first_z: part.first_z as u32,
                row_stride,
                tap_stride,
                channel_stride,
                ..Default::default()
            };
            let cost = 8.0 * (panel.depth * panel.rows * (group_rows + 4) * part.count4 * part.batch) as f64;
            let grid = Grid { cost, ..Grid::elements(rows.count() * part.count4, part.batch) };
            let buffers = [&*workspace.gradients, delta, &*workspace.panels.buffer, &**products, &*workspace.values];
            self.context.dispatch(Kernel::SweepWindow, &parameters, &buffers, grid)?;
        }
        Ok(())
    }

    /// The rows of one layer, summed over samples: what `affine/bias` does with one position.
    fn sum_lanes(&self, workspace: &Workspace, rows: &Rows, extent: Extent) -> Result<()> {
        let lanes4 = extent.lanes / 4;
        let blocks = lanes4.div_ceil(16) as u32;
        let parameters = Bias {
            rows: rows.count() as u32,
            out_width: 1,
            delta_row: 1,
            delta_origin: 0,
            lanes4: lanes4 as u32,
            position_blocks: blocks,
            blocks,
            slabs: 1,
            span: blocks,
            delta_batch: (rows.count() * lanes4) as u32,
            out_offset: rows.first as u32,
            out_batch: workspace.total as u32,
        };
        let cost = (rows.count() * extent.lanes * extent.batch) as f64;
        let grid = Grid { cost, ..Grid::elements(rows.count(), extent.batch) };
        self.context.dispatch(Kernel::Bias, &parameters, &[&workspace.values, &workspace.sums], grid)
    }

    /// b of every affine step, empty where there is none.
    async fn biases(&self, workspace: &Workspace) -> Result<Vec<Vec<f64>>> {
        let mut biases = Vec::new();
        for placed in self.geometry.steps.iter().filter(|placed| placed.step.is_affine()) {
            let values = match (placed.step.bias(), placed.forward) {
                (Some(_), Some(panel)) => {
                    let first = 4 * panel.offset + panel.bias_at;
                    self.context.read(&workspace.panels.buffer, first, panel.rows).await?
                }
                _ => Vec::new(),
            };
            biases.push(values.into_iter().map(f64::from).collect());
        }
        Ok(biases)
    }
}

/// A layer's sums, from its rows.
fn layer_sums(totals: &[f64], rows: &Rows, bias: &[f64], share: f64) -> LayerSums {
    let (forms, rest) = totals.split_at(rows.units);
    let channels = rows.units / rows.pixels;
    let sum = |i: usize| rest[i * rows.each..][..rows.each].iter().sum();
    let squares = &rest[3 * rows.each..];
    let mut sums = LayerSums {
        weight_trace: sum(0),
        gram_trace: sum(1),
        scaled_trace: sum(2),
        column_forms: (0..rows.units).map(|j| forms[j % rows.pixels * channels + j / rows.pixels]).collect(),
        bias_trace: bias.iter().zip(squares).map(|(_, square)| square).sum(),
        scaled_bias_trace: bias.iter().zip(squares).map(|(b, square)| b * b * square).sum(),
    };
    sums.scale(share);
    sums
}
