//! Planes of parameters: a first step that is affine in what comes in is linear in the plane's coordinates, so its products with the
//! data are taken once.

use std::cell::RefCell;
use std::rc::Rc;

use super::affine::{Batched, Epilogue, Extent, Panels, Term, Ways};
use super::context::DeviceBuffer;
use super::evaluate::Evaluation;
use super::executor::GpuExecutor;
use super::kernel::Kernel;
use super::recorder::Grid;
use super::uniforms::PlaneCombine;
use crate::error::{Result, bail};

/// A plane θ + s u + t v, or a line θ + s u.
pub(super) struct Plane {
    /// Of θ, u and v.
    panels: Panels,
    /// z_1 of θ, u and v for each chunk, or for fewer, the last of which the other chunks share; none where the first step is
    /// another one.
    first: Vec<Rc<DeviceBuffer>>,
    /// Chunks whose z_1 are there.
    known: RefCell<Vec<usize>>,
}

impl GpuExecutor {
    pub(super) fn prepare_plane_of(&self, vectors: &[&DeviceBuffer]) -> Result<()> {
        let mut kept = self.plane.borrow_mut();
        // The old one first: its memory may be needed for the new one.
        *kept = None;
        let panels = self.panels(vectors.len(), Ways::Forward)?;
        for (i, vector) in vectors.iter().enumerate() {
            self.pack(vector, 0, 1, &panels, i)?;
        }
        let numbers = (vectors.len() * self.data.lanes) as u64 * self.geometry.steps[0].output.features() as u64;
        let left = self.memory_budget.saturating_sub(self.data.resident_bytes()) / 2;
        let fit = (left / (4 * numbers)).max(1);
        let wanted = if self.plan.starts_affine() { self.data.chunks() as u64 } else { 0 };
        let first = (0..wanted.min(fit))
            .map(|_| self.context.buffer("the first layer's values on a plane", numbers))
            .collect::<Result<_>>()?;
        *kept = Some(Rc::new(Plane { panels, first, known: RefCell::default() }));
        Ok(())
    }

    pub(super) fn evaluate_points(&self, points: &[[f64; 2]], out: &DeviceBuffer) -> Result<()> {
        let Some(plane) = self.plane.borrow().clone() else { bail!(InvalidParameters, "no plane is prepared") };
        let group = Evaluation::group(self, points.len());
        let workspace = self.evaluation(group)?;
        for (i, some) in points.chunks(group).enumerate() {
            self.evaluate_group(&plane, &workspace, some, out, i * group)?;
        }
        Ok(())
    }

    fn evaluate_group(
        &self,
        plane: &Plane,
        workspace: &Evaluation,
        points: &[[f64; 2]],
        out: &DeviceBuffer,
        index: usize,
    ) -> Result<()> {
        let batch = points.len();
        let coordinates: Vec<[f32; 2]> = points.iter().map(|point| point.map(|x| x as f32)).collect();
        let coordinates = self.context.buffer_of("points of a plane", coordinates.as_flattened())?;
        let steps = &self.geometry.steps;
        // The first step's panels are in its values already.
        let behind = usize::from(self.plan.starts_affine());
        let mut panels = steps[behind..].iter().filter_map(|placed| placed.forward);
        let start = panels.next().map_or(plane.panels.len, |panel| panel.offset);
        let panels = Combination {
            from: &plane.panels.buffer,
            to: &workspace.panels.buffer,
            first: start,
            len: plane.panels.len - start,
            stride: plane.panels.len,
            terms: plane.panels.count,
        };
        self.combine_plane(&panels, &coordinates, batch, Epilogue::None)?;
        for chunk in 0..self.data.chunks() {
            let data = self.data.chunk(&self.context, &self.geometry, chunk)?;
            if behind == 0 {
                self.evaluate_from(workspace, 0, (&workspace.panels, true), batch, (chunk, &data))?;
                continue;
            }
            let values = self.first_values(plane, chunk, &data.inputs)?;
            let size = steps[0].output.features() * self.data.lanes / 4;
            let combination = Combination {
                from: values,
                to: &workspace.values[0],
                first: 0,
                len: size,
                stride: size,
                terms: plane.panels.count,
            };
            self.combine_plane(&combination, &coordinates, batch, Epilogue::of(steps[0].step.activation))?;
            self.smooth(&steps[0], Extent { lanes: self.data.lanes, batch }, &workspace.values[0], None)?;
            self.evaluate_from(workspace, 1, (&workspace.panels, true), batch, (chunk, &data))?;
        }
        self.mean_report(&workspace.report, self.data.samples, batch, out, index)
    }

    /// z_1 of θ, u and v over a chunk.
    fn first_values<'a>(&self, plane: &'a Plane, chunk: usize, inputs: &DeviceBuffer) -> Result<&'a DeviceBuffer> {
        let last = plane.first.len() - 1;
        let values = &plane.first[chunk.min(last)];
        let mut known = plane.known.borrow_mut();
        if !known.contains(&chunk) {
            let term = Term { panels: &plane.panels, are_batched: true, source: Batched::shared(inputs) };
            let extent = Extent { lanes: self.data.lanes, batch: plane.panels.count };
            self.affine_forward(&self.geometry.steps[0], extent, &[term], Epilogue::None, values)?;
            known.retain(|&other| other.min(last) != chunk.min(last));
            known.push(chunk);
        }
        Ok(values)
    }

    fn combine_plane(
        &self,
        combination: &Combination,
        coordinates: &DeviceBuffer,
        batch: usize,
        epilogue: Epilogue,
    ) -> Result<()> {
        let (number, slope, _) = epilogue.parts();
        let parameters = PlaneCombine {
            first: combination.first as u32,
            len: combination.len as u32,
            stride: combination.stride as u32,
            terms: combination.terms as u32,
            epilogue: number,
            slope,
            ..Default::default()
        };
        let cost = 24.0 * (combination.len * batch) as f64;
        let grid = Grid { cost, ..Grid::elements(combination.len, batch) };
        let buffers = [combination.from, coordinates, combination.to];
        self.context.dispatch(Kernel::PlaneCombine, &parameters, &buffers, grid)
    }
}

/// Sums of what belongs to θ, u and v, in vectors of four.
struct Combination<'a> {
    from: &'a DeviceBuffer,
    to: &'a DeviceBuffer,
    first: usize,
    len: usize,
    /// From one to the next, in both.
    stride: usize,
    terms: usize,
}
