//! Products with the Hessian and the Gauss–Newton matrix: tangent passes at the prepared point (Pearlmutter 1994).

use std::rc::Rc;

use super::affine::{Batched, Epilogue, Extent, Pair, Panels, Target, Term, Ways};
use super::context::DeviceBuffer;
use super::executor::GpuExecutor;
use super::kernel::Kernel;
use super::passes::{Pass, Samples, smooth_steps};
use super::point::Prepared;
use super::recorder::Grid;
use super::uniforms::{CrossEntropyTangent, SquaredErrorTangent};
use super::walk::{Back, Curvatures};
use crate::engine::Curvature;
use crate::error::Result;
use crate::problem::Loss;

/// Numbers that the tangents of one group of directions may take in all.
const TANGENT_NUMBERS: u64 = 1 << 25;

/// Most directions in a group: z of a dispatch counts them.
const MAX_GROUP: u64 = 512;

/// Workspace of the tangent passes of up to `directions` directions.
pub(super) struct Tangent {
    directions: usize,
    /// Their V and v.
    panels: Panels,
    /// ȧ_1 … ȧ_L, for each direction; ż_L becomes δ̇_L in its place.
    values: Vec<Rc<DeviceBuffer>>,
    /// φ'' ⊙ q ⊙ ż where a step ends in a smooth activation.
    bends: Vec<Option<Rc<DeviceBuffer>>>,
    /// δ̇_1 … δ̇_{L−1}. Every step has its own, as the zeros around an image must stay.
    deltas: Vec<Rc<DeviceBuffer>>,
}

impl Tangent {
    /// How many directions go through together.
    fn group(executor: &GpuExecutor, wanted: usize) -> usize {
        let geometry = &executor.geometry;
        let lanes = executor.data.lanes as u64;
        let panels = 4 * geometry.panel_len as u64;
        let widest = geometry.steps.iter().map(|placed| lanes * placed.output.features() as u64).max().unwrap_or(1);
        let smooth: u64 = smooth_steps(geometry).map(|placed| placed.output.features() as u64).sum();
        let total = lanes * (2 * geometry.features() + smooth + geometry.meeting() as u64) + panels;
        let one_buffer = executor.context.max_buffer_bytes() / 4 / widest.max(panels);
        let group = (TANGENT_NUMBERS / total).min(one_buffer).min(MAX_GROUP);
        (group as usize).clamp(1, wanted.max(1))
    }

    fn new(executor: &GpuExecutor, directions: usize) -> Result<Self> {
        let lanes = executor.data.lanes;
        let make = |width: usize| {
            let what = format!("tangents of {directions} directions and {lanes} samples of width {width}");
            executor.context.buffer(&what, directions as u64 * lanes as u64 * width as u64)
        };
        let steps = &executor.geometry.steps;
        let each = |count: usize| -> Result<Vec<_>> {
            steps[..count].iter().map(|placed| make(placed.output.features())).collect()
        };
        Ok(Self {
            directions,
            panels: executor.panels(directions, Ways::Both)?,
            bends: steps
                .iter()
                .map(|placed| placed.step.activation.is_smooth().then(|| make(placed.output.features())).transpose())
                .collect::<Result<_>>()?,
            values: each(steps.len())?,
            deltas: each(steps.len() - 1)?,
        })
    }
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
        let workspace = match &mut *kept {
            Some(workspace) if workspace.directions >= group => workspace,
            _ => {
                // The old one first: its memory may be needed for the new one.
                *kept = None;
                kept.insert(Tangent::new(self, group)?)
            }
        };
        for chunk in 0..self.data.chunks() {
            let pass = self.pass_of(prepared, chunk)?;
            let data = self.data.chunk(&self.context, &self.geometry, chunk)?;
            let samples = Samples { data: &data, rows: self.data.rows(chunk), lanes: self.data.lanes };
            for first in (0..columns).step_by(group) {
                let count = group.min(columns - first);
                if chunk == 0 || columns > group {
                    self.pack(v, first, count, &workspace.panels, 0)?;
                }
                let offset = first * self.plan.parameter_count;
                let to = Target { buffer: out, offset, accumulate: chunk > 0 };
                self.tangent_forward(prepared, &pass, workspace, samples, (curvature, count))?;
                self.tangent_loss(&pass, workspace, samples, count)?;
                self.tangent_backward(prepared, &pass, workspace, samples, (curvature, count), to)?;
            }
        }
        Ok(())
    }

    /// ż_l = V_l a_{l−1} + W_l ȧ_{l−1} + v_l and ȧ_l = φ'(z_l) ⊙ ż_l.
    fn tangent_forward(
        &self,
        prepared: &Prepared,
        pass: &Pass,
        workspace: &Tangent,
        samples: Samples,
        (curvature, batch): (Curvature, usize),
    ) -> Result<()> {
        let extent = Extent { lanes: samples.lanes, batch };
        for (l, placed) in self.geometry.steps.iter().enumerate() {
            let out = &*workspace.values[l];
            // Of the Gauss–Newton matrix φ'' is no part.
            let bends = workspace.bends[l].as_deref().filter(|_| curvature == Curvature::Hessian);
            let epilogue = match bends {
                Some(_) => Epilogue::None,
                None => pass.derivative(placed.step.activation, l),
            };
            let tangent = |k: usize| placed.step.reads[k].from.map(|from| &*workspace.values[from]);
            if !placed.step.is_affine() {
                self.plain_tangent(placed, extent, tangent, epilogue, pass.chosen[l].as_deref(), out)?;
            } else {
                let source = Batched::shared(pass.found(&samples.data.inputs, &placed.step.reads[0]));
                let mut terms = vec![Term { panels: &workspace.panels, are_batched: true, source }];
                if let Some(tangent) = tangent(0) {
                    terms.push(Term { panels: &prepared.panels, are_batched: false, source: Batched::each(tangent) });
                }
                self.affine_forward(placed, extent, &terms, epilogue, out)?;
            }
            if let (Some(curve), Some(bends)) = (&pass.curves[l], bends) {
                self.smooth_tangent(placed, extent, curve, out, bends)?;
            }
        }
        Ok(())
    }

    /// δ̇_L = ∂²(mean loss)/∂ŷ² ż_L, in place.
    fn tangent_loss(&self, pass: &Pass, workspace: &Tangent, samples: Samples, batch: usize) -> Result<()> {
        let (lanes, width) = (samples.lanes, self.outputs_len());
        let outputs = &*workspace.values[workspace.values.len() - 1];
        match self.loss {
            Loss::CrossEntropy => {
                let parameters = CrossEntropyTangent {
                    lanes: lanes as u32,
                    classes: width as u32,
                    count: self.data.samples as f32,
                    ..Default::default()
                };
                let buffers: [&DeviceBuffer; 2] = [&pass.probabilities, outputs];
                let grid = Grid { cost: 6.0 * (lanes * width * batch) as f64, ..Grid::elements(lanes, batch) };
                self.context.dispatch(Kernel::CrossEntropyTangent, &parameters, &buffers, grid)
            }
            Loss::SquaredError => {
                let parameters = SquaredErrorTangent {
                    samples: samples.rows as u32,
                    outputs: width as u32,
                    lanes: lanes as u32,
                    count: self.data.samples as f32,
                };
                let grid = Grid::elements(lanes * width, batch);
                self.context.dispatch(Kernel::SquaredErrorTangent, &parameters, &[outputs], grid)
            }
        }
    }

    /// (Cv)_l = δ̇_l a_{l−1}ᵀ + δ_l ȧ_{l−1}ᵀ and δ̇_{l−1} = φ' ⊙ (W_lᵀ δ̇_l + V_lᵀ δ_l) + c ⊙ ȧ; the terms with δ are the Hessian's.
    fn tangent_backward(
        &self,
        prepared: &Prepared,
        pass: &Pass,
        workspace: &Tangent,
        samples: Samples,
        (curvature, batch): (Curvature, usize),
        to: Target,
    ) -> Result<()> {
        let extent = Extent { lanes: samples.lanes, batch };
        let is_hessian = curvature == Curvature::Hessian;
        let own = |l: usize| &**workspace.deltas.get(l).unwrap_or(&workspace.values[l]);
        let deltas: Vec<&DeviceBuffer> = (0..workspace.values.len()).map(own).collect();
        let back = Back {
            pass,
            inputs: &samples.data.inputs,
            extent,
            panels: &prepared.panels,
            deltas: &deltas,
            directions: is_hessian.then_some(&workspace.panels),
            curvature: if is_hessian { Curvatures::Add(&workspace.bends) } else { Curvatures::None },
        };
        self.walk_back(&back, |arrival| {
            let mut pairs = vec![Pair { delta: Batched::each(arrival.delta), source: Batched::shared(arrival.source) }];
            if let (true, Some(from)) = (is_hessian, arrival.placed.step.reads[0].from) {
                let delta = Batched::shared(&pass.deltas[arrival.l]);
                pairs.push(Pair { delta, source: Batched::each(&workspace.values[from]) });
            }
            self.affine_gradient(arrival.placed, extent, &pairs, to)?;
            Ok(None)
        })
    }
}
