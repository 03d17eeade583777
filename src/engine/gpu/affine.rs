//! Affine steps forward and back: which kernel, and the parameters.

use std::rc::Rc;

use super::context::DeviceBuffer;
use super::executor::GpuExecutor;
use super::geometry::{Panel, PlacedStep};
use super::kernel::Kernel;
use super::recorder::Grid;
use super::slide::Slide;
use super::uniforms::{Gather, Pack};
use crate::engine::Activation;
use crate::error::Result;

/// What happens to a sum before it is stored.
#[derive(Clone, Copy)]
pub(super) enum Epilogue<'a> {
    /// Nothing.
    None,
    /// A leaky ReLU of it.
    Leak { slope: f64 },
    /// Times the derivative of a leaky ReLU, read off its values.
    LeakDerivative { slope: f64, values: &'a DeviceBuffer },
    /// Times this derivative.
    Times(&'a DeviceBuffer),
}

impl<'a> Epilogue<'a> {
    /// An activation, as far as it is one pass with what comes before: a smooth one follows by itself.
    pub fn of(activation: Activation) -> Self {
        match activation {
            Activation::IDENTITY | Activation::Smooth(_) => Self::None,
            Activation::Piecewise { slope } => Self::Leak { slope },
        }
    }

    /// Its number and slope in `shaders/shared/epilogue.wgsl`, and what it reads.
    pub fn parts(self) -> (u32, f32, Option<&'a DeviceBuffer>) {
        match self {
            Self::None => (0, 1.0, None),
            Self::Leak { slope } => (1, slope as f32, None),
            Self::LeakDerivative { slope, values } => (2, slope as f32, Some(values)),
            Self::Times(derivative) => (3, 1.0, Some(derivative)),
        }
    }
}

/// A buffer that has something for each of several directions or points, or one thing for all.
#[derive(Clone, Copy)]
pub(super) struct Batched<'a> {
    pub buffer: &'a DeviceBuffer,
    pub is_batched: bool,
}

impl<'a> Batched<'a> {
    /// One for all.
    pub fn shared(buffer: &'a DeviceBuffer) -> Self {
        Self { buffer, is_batched: false }
    }

    /// One for each.
    pub fn each(buffer: &'a DeviceBuffer) -> Self {
        Self { buffer, is_batched: true }
    }

    /// Distance from one to the next, if one is `size` long.
    pub fn stride(&self, size: usize) -> u32 {
        if self.is_batched { size as u32 } else { 0 }
    }
}

/// How much goes through a kernel at once.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    /// Samples, padded.
    pub lanes: usize,
    /// Directions or points.
    pub batch: usize,
}

/// Through an affine step, or through its transpose.
#[derive(Clone, Copy)]
enum Way {
    Forward { has_bias: bool },
    Backward,
}

/// Which panels are needed.
#[derive(Clone, Copy)]
pub(super) enum Ways {
    /// Forward passes alone.
    Forward,
    /// Gradients too.
    Both,
    /// The transpose of dense steps that read what comes in too.
    Sweep,
}

/// All weights of one or more parameter vectors, laid out for the kernels.
pub(super) struct Panels {
    pub buffer: Rc<DeviceBuffer>,
    /// Vectors of four of one parameter vector.
    pub len: usize,
    pub count: usize,
}

/// Weights and what they are applied to.
#[derive(Clone, Copy)]
pub(super) struct Term<'a> {
    pub panels: &'a Panels,
    /// Are there panels for each of the batch, or one for all?
    pub are_batched: bool,
    pub source: Batched<'a>,
}

/// δ and the inputs whose outer products make up a gradient.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub delta: Batched<'a>,
    pub source: Batched<'a>,
}

/// Part of a parameter vector, or of some columns of them, that gradients go to.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub buffer: &'a DeviceBuffer,
    /// Where the first column begins.
    pub offset: usize,
    /// Are they added to what is there?
    pub accumulate: bool,
}

impl GpuExecutor {
    /// Panels for `count` parameter vectors.
    pub(super) fn panels(&self, count: usize, ways: Ways) -> Result<Panels> {
        let len = match ways {
            Ways::Forward => self.geometry.forward_len,
            Ways::Both => self.geometry.panel_len,
            Ways::Sweep => self.geometry.sweep_len,
        };
        let buffer = self.context.buffer("weights in panels", 4 * len as u64 * count as u64)?;
        Ok(Panels { buffer, len, count })
    }

    /// Packs W and b of every affine step, `count` columns from `first` on, into the panels from `to` on.
    pub(super) fn pack(
        &self,
        parameters: &DeviceBuffer,
        first: usize,
        count: usize,
        panels: &Panels,
        to: usize,
    ) -> Result<()> {
        debug_assert!(to + count <= panels.count);
        for placed in &self.geometry.steps {
            let is_grouped = placed.is_grouped();
            let backward = placed.backward.filter(|_| !is_grouped);
            for (panel, is_backward) in [(placed.forward, false), (backward, true)] {
                let Some(panel) = panel.filter(|panel| panel.offset < panels.len) else { continue };
                let (step, window) = (&placed.step, placed.step.window);
                let start = first * self.plan.parameter_count;
                let bias = step.bias();
                let period = |axis| Slide::of(window, axis).period() as u32;
                let parameters_of_kernel = Pack {
                    rows: panel.rows as u32,
                    rows4: panel.rows4 as u32,
                    depth: panel.depth as u32,
                    lines: panel.lines as u32,
                    inputs: step.input.channels as u32,
                    outputs: step.output.channels as u32,
                    window_height: window.size[0] as u32,
                    window_width: window.size[1] as u32,
                    period_y: period(0),
                    period_x: period(1),
                    is_backward: is_backward.into(),
                    has_bias: bias.is_some().into(),
                    weight_offset: (start + step.weight().start) as u32,
                    bias_offset: bias.clone().map_or(0, |bias| start + bias.start) as u32,
                    source_batch: self.plan.parameter_count as u32,
                    out_offset: (to * panels.len + panel.offset) as u32,
                    out_batch: panels.len as u32,
                    ..Pack::default()
                };
                let parameters_of_kernel = match is_grouped {
                    // One line, of W as it is and the bias behind it.
                    true => Pack {
                        rows: (step.weight().len() + bias.map_or(0, |bias| bias.len())) as u32,
                        depth: 1,
                        inputs: 1,
                        outputs: 1,
                        window_height: 1,
                        window_width: 1,
                        period_y: 1,
                        period_x: 1,
                        is_backward: 1,
                        ..parameters_of_kernel
                    },
                    false => parameters_of_kernel,
                };
                let len = (panel.lines + 1) * panel.rows4;
                let grid = Grid { cost: 8.0 * (len * count) as f64, ..Grid::elements(len, count) };
                self.context.dispatch(Kernel::Pack, &parameters_of_kernel, &[parameters, &panels.buffer], grid)?;
            }
        }
        Ok(())
    }

    /// z of an affine step, from its inputs: into `out`, which has something for each of the batch.
    pub(super) fn affine_forward(
        &self,
        placed: &PlacedStep,
        extent: Extent,
        terms: &[Term],
        epilogue: Epilogue,
        out: &DeviceBuffer,
    ) -> Result<()> {
        let Some(panel) = placed.forward else { return Ok(()) };
        self.gather(placed, panel, Way::Forward { has_bias: true }, extent, terms, epilogue, out)
    }

    /// W x alone, without the bias.
    pub(super) fn affine_linear(
        &self,
        placed: &PlacedStep,
        extent: Extent,
        terms: &[Term],
        out: &DeviceBuffer,
    ) -> Result<()> {
        let Some(panel) = placed.forward else { return Ok(()) };
        self.gather(placed, panel, Way::Forward { has_bias: false }, extent, terms, Epilogue::None, out)
    }

    /// Wᵀδ of an affine step.
    pub(super) fn affine_backward(
        &self,
        placed: &PlacedStep,
        extent: Extent,
        terms: &[Term],
        epilogue: Epilogue,
        out: &DeviceBuffer,
    ) -> Result<()> {
        let Some(panel) = placed.backward else { return Ok(()) };
        self.gather(placed, panel, Way::Backward, extent, terms, epilogue, out)
    }

    #[allow(clippy::too_many_arguments, reason = "one call of one kernel, in the kernel's terms")]
    fn gather(
        &self,
        placed: &PlacedStep,
        panel: Panel,
        way: Way,
        Extent { lanes, batch }: Extent,
        terms: &[Term],
        epilogue: Epilogue,
        out: &DeviceBuffer,
    ) -> Result<()> {
        if placed.is_grouped() {
            let (is_backward, has_bias) = match way {
                Way::Forward { has_bias } => (false, has_bias),
                Way::Backward => (true, false),
            };
            let extent = Extent { lanes, batch };
            return self.gather_grouped(placed, panel, (is_backward, has_bias), extent, terms, epilogue, out);
        }
        let (from, to) = match way {
            Way::Forward { .. } => (placed.input(), placed.output),
            Way::Backward => (placed.output, placed.input()),
        };
        let lanes4 = lanes / 4;
        let (number, slope, kept) = epilogue.parts();
        let (first, second) = (terms[0], terms[terms.len() - 1]);
        let stride = |term: &Term| if term.are_batched { term.panels.len as u32 } else { 0 };
        let parameters = Gather {
            rows: panel.rows as u32,
            rows4: panel.rows4 as u32,
            channels: from.shape.channels as u32,
            source_row: from.row() as u32,
            panel_row: placed.step.window.size[1] as u32,
            lanes4: lanes4 as u32,
            out_width: to.shape.width as u32,
            positions: to.shape.area() as u32,
            out_row: to.row() as u32,
            out_origin: to.origin() as u32,
            y_windows: panel.windows[0] as u32,
            x_windows: panel.windows[1] as u32,
            terms: terms.len() as u32,
            has_bias: matches!(way, Way::Forward { has_bias: true }).into(),
            bias_at: (panel.bias_at / 4) as u32,
            epilogue: number,
            panel1_offset: panel.offset as u32,
            panel2_offset: panel.offset as u32,
            panel1_batch: stride(&first),
            panel2_batch: stride(&second),
            source1_batch: first.source.stride(from.features() * lanes4),
            source2_batch: second.source.stride(from.features() * lanes4),
            out_batch: (to.features() * lanes4) as u32,
            slope,
        };
        let (tiles, positions) = (self.context.tiles(), to.shape.area());
        // Looked-up places are made for one term over the inputs, whose padding is there.
        let (tile, parameters) = match panel.taps {
            Some(taps) => {
                let stride = placed.step.window.stride;
                let parameters = Gather {
                    source_row: (stride[0] * from.row() * from.shape.channels) as u32,
                    panel_row: (stride[1] * from.shape.channels) as u32,
                    y_windows: taps as u32,
                    x_windows: (panel.lines / 4) as u32,
                    ..parameters
                };
                (tiles.window(panel.rows, lanes, positions), parameters)
            }
            None => (tiles.gather(panel.rows, lanes, positions), parameters),
        };
        let tiles = positions * tile.count(panel.rows, lanes);
        let multiplications = placed.step.multiplications() * (lanes * terms.len() * batch) as f64;
        let buffers = [
            first.source.buffer,
            &first.panels.buffer,
            second.source.buffer,
            &second.panels.buffer,
            kept.unwrap_or(first.source.buffer),
            &self.windows,
            out,
        ];
        let groups = tiles.div_ceil(tile.tiles_a_group) as u64;
        let grid = Grid { groups, layers: batch, cost: 2.0 * multiplications };
        self.context.dispatch(tile.kernel, &parameters, &buffers, grid)
    }
}
