//! Products with the Hessian and the Gauss–Newton matrix: tangent passes at the prepared point (Pearlmutter 1994).

use std::rc::Rc;

use super::context::DeviceBuffer;
use super::executor::{GpuExecutor, Prepared};
use super::kernel::Kernel;
use super::matmul::{Epilogue, Product, Side};
use super::recorder::Grid;
use super::uniforms::{CrossEntropyTangent, Scale, TanhCurvature};
use crate::engine::Curvature;
use crate::error::Result;
use crate::problem::Loss;

/// Numbers that the tangents of one group of directions may take in all.
const TANGENT_NUMBERS: u64 = 1 << 25;

/// Most directions in a group: z of a dispatch counts directions × slabs and ends at 65535.
const MAX_GROUP: u64 = 512;

/// Workspace of the tangent passes of up to `directions` directions.
pub(super) struct Tangent {
    directions: usize,
    /// ȧ_1 … ȧ_{L−1}, (directions, samples, width) each.
    hidden: Vec<Rc<DeviceBuffer>>,
    /// ż_L, then δ̇_L in its place.
    outputs: Rc<DeviceBuffer>,
    /// δ̇_l, in turns.
    deltas: [Rc<DeviceBuffer>; 2],
}

impl Tangent {
    /// How many directions go through together.
    fn group(executor: &GpuExecutor, wanted: usize) -> usize {
        let widths = executor.plan.steps.iter().map(|step| step.output.len() as u64);
        let samples = executor.samples as u64;
        let widest = widths.clone().max().unwrap_or(1);
        let total = samples * (widths.sum::<u64>() + 2 * widest);
        let one_buffer = executor.context.max_buffer_bytes() / 4 / (samples * widest);
        let group = (TANGENT_NUMBERS / total).min(one_buffer).min(MAX_GROUP);
        (group as usize).clamp(1, wanted.max(1))
    }

    fn new(executor: &GpuExecutor, directions: usize) -> Result<Self> {
        let samples = executor.samples;
        let make = |width: usize| {
            let what = format!("tangents of {directions} directions and {samples} samples of width {width}");
            executor.context.buffer(&what, directions as u64 * samples as u64 * width as u64)
        };
        let hidden = &executor.plan.steps[..executor.plan.steps.len() - 1];
        let widest = hidden.iter().map(|step| step.output.len()).max().unwrap_or(0);
        Ok(Self {
            directions,
            hidden: hidden.iter().map(|step| make(step.output.len())).collect::<Result<_>>()?,
            outputs: make(executor.outputs_len())?,
            deltas: [make(widest)?, make(if hidden.len() > 1 { widest } else { 0 })?],
        })
    }
}

/// Some columns of the directions and of the results.
struct Columns<'a> {
    v: &'a DeviceBuffer,
    out: &'a DeviceBuffer,
    first: usize,
    count: usize,
}

impl GpuExecutor {
    /// `out[:, k] = C v[:, k]` over all columns, a group at a time.
    pub(super) fn product_at(
        &self,
        prepared: &Prepared,
        curvature: Curvature,
        v: &DeviceBuffer,
        out: &DeviceBuffer,
        columns: usize,
    ) -> Result<()> {
        let group = Tangent::group(self, columns);
        let mut kept = self.tangent.borrow_mut();
        let work = match &mut *kept {
            Some(work) if work.directions >= group => work,
            _ => {
                // The old one first: its memory may be needed for the new one.
                *kept = None;
                kept.insert(Tangent::new(self, group)?)
            }
        };
        for first in (0..columns).step_by(group) {
            let count = group.min(columns - first);
            let columns = Columns { v, out, first, count };
            self.tangent_forward(prepared, work, &columns)?;
            self.tangent_loss(prepared, work, count)?;
            self.tangent_backward(prepared, work, curvature, &columns)?;
        }
        Ok(())
    }

    /// ż_l = V_l a_{l−1} + W_l ȧ_{l−1} + v_l and ȧ_l = φ'(z_l) ⊙ ż_l.
    fn tangent_forward(&self, prepared: &Prepared, work: &Tangent, columns: &Columns) -> Result<()> {
        let (rows, parameters) = (self.samples, self.plan.parameter_count);
        let start = columns.first * parameters;
        for (l, step) in self.plan.steps.iter().enumerate() {
            let a = self.input_of(prepared, l);
            let direction = Side::new(columns.v, start + step.weight().start, step.input.len(), 1, parameters);
            let second = (l > 0).then(|| {
                [
                    Side::new(&work.hidden[l - 1], 0, step.input.len(), 1, rows * step.input.len()),
                    Side::new(&prepared.theta, step.weight().start, step.input.len(), 1, 0),
                ]
            });
            self.multiply(&Product {
                m: rows,
                n: step.output.len(),
                k: step.input.len(),
                batch: columns.count,
                first: [Side::new(a, 0, step.input.len(), 1, 0), direction],
                second,
                bias: step.bias().map(|bias| (start + bias.start, parameters)),
                epilogue: match prepared.pass.hidden.get(l) {
                    Some(kept) => Epilogue::Derive(step.activation, kept),
                    None => Epilogue::None,
                },
                c: work.hidden.get(l).unwrap_or(&work.outputs),
                c_offset: 0,
                c_batch: rows * step.output.len(),
            })?;
        }
        Ok(())
    }

    /// δ̇_L = ∂²(mean loss)/∂ŷ² ż_L, in place.
    fn tangent_loss(&self, prepared: &Prepared, work: &Tangent, directions: usize) -> Result<()> {
        let (rows, width) = (self.samples, self.outputs_len());
        match self.loss {
            Loss::CrossEntropy => {
                let parameters = CrossEntropyTangent {
                    rows: rows as u32,
                    classes: width as u32,
                    count: rows as f32,
                    ..Default::default()
                };
                let buffers: [&DeviceBuffer; 2] = [&prepared.pass.probabilities, &work.outputs];
                let grid = Grid { cost: 6.0 * (rows * width * directions) as f64, ..Grid::elements(rows, directions) };
                self.context.dispatch(Kernel::CrossEntropyTangent, &parameters, &buffers, grid)
            }
            Loss::SquaredError => {
                let len = rows * width;
                let parameters = Scale { len: len as u32, alpha: (2.0 / rows as f64) as f32, ..Default::default() };
                self.context.dispatch(Kernel::Scale, &parameters, &[&work.outputs], Grid::elements(len, directions))
            }
        }
    }

    /// (Cv)_l = δ̇_l a_{l−1}ᵀ + δ_l ȧ_{l−1}ᵀ and δ̇_{l−1} = φ' ⊙ (W_lᵀ δ̇_l + V_lᵀ δ_l) + c ⊙ ȧ; the terms with δ are the Hessian's.
    fn tangent_backward(
        &self,
        prepared: &Prepared,
        work: &Tangent,
        curvature: Curvature,
        columns: &Columns,
    ) -> Result<()> {
        let (rows, parameters, batch) = (self.samples, self.plan.parameter_count, columns.count);
        let start = columns.first * parameters;
        let is_hessian = curvature == Curvature::Hessian;
        for (l, step) in self.plan.steps.iter().enumerate().rev() {
            let is_last = l + 1 == self.plan.steps.len();
            let delta_dot: &DeviceBuffer = if is_last { &work.outputs } else { &work.deltas[l % 2] };
            let delta = &*prepared.pass.deltas[l];
            let a = self.input_of(prepared, l);
            let second = (is_hessian && l > 0).then(|| {
                [
                    Side::new(delta, 0, 1, step.output.len(), 0),
                    Side::new(&work.hidden[l - 1], 0, 1, step.input.len(), rows * step.input.len()),
                ]
            });
            self.multiply(&Product {
                m: step.output.len(),
                n: step.input.len(),
                k: rows,
                batch,
                first: [
                    Side::new(delta_dot, 0, 1, step.output.len(), rows * step.output.len()),
                    Side::new(a, 0, 1, step.input.len(), 0),
                ],
                second,
                bias: None,
                epilogue: Epilogue::None,
                c: columns.out,
                c_offset: start + step.weight().start,
                c_batch: parameters,
            })?;
            if let Some(bias) = &step.bias() {
                let shape = [batch, rows, step.output.len()];
                self.column_sums(delta_dot, shape, columns.out, start + bias.start, parameters)?;
            }
            if l == 0 {
                continue;
            }
            let (next, kept) = (&*work.deltas[(l - 1) % 2], &*prepared.pass.hidden[l - 1]);
            let second = is_hessian.then(|| {
                [
                    Side::new(delta, 0, step.output.len(), 1, 0),
                    Side::new(columns.v, start + step.weight().start, 1, step.input.len(), parameters),
                ]
            });
            self.multiply(&Product {
                m: rows,
                n: step.input.len(),
                k: step.output.len(),
                batch,
                first: [
                    Side::new(delta_dot, 0, step.output.len(), 1, rows * step.output.len()),
                    Side::new(&prepared.theta, step.weight().start, 1, step.input.len(), 0),
                ],
                second,
                bias: None,
                epilogue: Epilogue::Derive(self.plan.steps[l - 1].activation, kept),
                c: next,
                c_offset: 0,
                c_batch: rows * step.input.len(),
            })?;
            if let (true, Some(c)) = (is_hessian, prepared.pass.curvature[l - 1].as_deref()) {
                let size = rows * step.input.len();
                let parameters = TanhCurvature { size: size as u32, ..Default::default() };
                let buffers: [&DeviceBuffer; 3] = [c, &work.hidden[l - 1], next];
                self.context.dispatch(Kernel::TanhCurvature, &parameters, &buffers, Grid::elements(size, batch))?;
            }
        }
        Ok(())
    }

    /// a_{l−1}: what comes into step l, counted from 0.
    fn input_of<'a>(&'a self, prepared: &'a Prepared, l: usize) -> &'a DeviceBuffer {
        if l == 0 { &self.inputs } else { &prepared.pass.hidden[l - 1] }
    }
}
