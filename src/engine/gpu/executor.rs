//! One problem on one GPU.

use std::cell::RefCell;
use std::rc::Rc;

use super::context::{DeviceBuffer, GpuContext};
use super::data::Data;
use super::evaluate::{Batch, Evaluation};
use super::geometry::{Geometry, LANES};
use super::plane::Plane;
use super::point::Point;
use super::tangent::Tangent;
use super::vectors::{GpuVectors, values};
use crate::control::LocalFuture;
use crate::engine::chart::Charts;
use crate::engine::{BackendInfo, Cotangent, Curvature, Executor, LayerSums, Plan, Vector, Vectors};
use crate::error::Result;
use crate::problem::{Loss, Problem};

/// What data and kept activations may take where the caller sets no budget, in bytes.
const BUDGET: u64 = 1 << 30;
const SOFTWARE_BUDGET: u64 = 512 << 20;

/// That of such a GPU.
pub(in crate::engine) fn usual_budget(of: &BackendInfo) -> u64 {
    if of.is_software { SOFTWARE_BUDGET } else { BUDGET }
}

/// An [`Executor`] whose vectors and activations live in GPU memory. Workspace is made at the first call that needs it,
/// and reused.
pub struct GpuExecutor {
    pub(super) context: Rc<GpuContext>,
    pub(super) vectors: GpuVectors,
    pub(super) plan: Plan,
    pub(super) geometry: Geometry,
    /// [`Geometry::windows`] on the device.
    pub(super) windows: Rc<DeviceBuffer>,
    /// Bound where a kernel has nothing to write.
    pub(super) nothing: [Rc<DeviceBuffer>; 2],
    pub(super) loss: Loss,
    pub(super) data: Data,
    pub(super) memory_budget: u64,
    pub(super) tangent: RefCell<Option<Tangent>>,
    pub(super) evaluation: RefCell<Option<Rc<Evaluation>>>,
    pub(super) batch: RefCell<Option<Batch>>,
    pub(super) point: Point,
    pub(super) plane: RefCell<Option<Rc<Plane>>>,
}

impl GpuExecutor {
    /// Loads the problem's data onto the device. Data and activations beyond `memory_budget` bytes are loaded and computed
    /// when they are needed, again and again; results do not depend on it.
    ///
    /// # Errors
    /// `TooLarge` if the data do not fit the device's limits; `DeviceLost`, `Gpu`.
    pub fn new(context: Rc<GpuContext>, problem: &Problem, memory_budget: Option<u64>) -> Result<Self> {
        Self::in_chunks(context, problem, memory_budget, usize::MAX)
    }

    /// As [`GpuExecutor::new`], with at most so many samples a chunk: for tests, which would need much memory otherwise.
    ///
    /// # Errors
    /// As [`GpuExecutor::new`].
    #[doc(hidden)]
    pub fn in_chunks(
        context: Rc<GpuContext>,
        problem: &Problem,
        memory_budget: Option<u64>,
        most: usize,
    ) -> Result<Self> {
        context.check()?;
        let plan = Plan::new(problem.network());
        let geometry = Geometry::new(&plan)?;
        let what = format!("a layer's values of {LANES} samples");
        context.check_size(&what, geometry.widest() as u64 * LANES as u64)?;
        let memory_budget = memory_budget.unwrap_or_else(|| usual_budget(context.info()));
        Ok(Self {
            data: Data::new(&context, &plan, &geometry, problem, memory_budget / 2, most)?,
            windows: context.buffer_of("windows", geometry.windows.as_flattened())?,
            nothing: [context.buffer("nothing", 0)?, context.buffer("nothing", 0)?],
            loss: problem.loss(),
            vectors: GpuVectors::new(context.clone()),
            context,
            plan,
            geometry,
            memory_budget,
            tangent: RefCell::default(),
            evaluation: RefCell::default(),
            batch: RefCell::default(),
            point: Point::default(),
            plane: RefCell::default(),
        })
    }

    /// The device it computes on.
    pub fn context(&self) -> &Rc<GpuContext> {
        &self.context
    }

    /// Length of an output.
    pub(super) fn outputs_len(&self) -> usize {
        self.plan.steps.last().map_or(0, |step| step.output.len())
    }

    /// Numbers in a sample's target.
    pub(super) fn target_width(&self) -> usize {
        match self.loss {
            Loss::CrossEntropy => 1,
            Loss::SquaredError => self.outputs_len(),
        }
    }
}

impl Executor for GpuExecutor {
    fn info(&self) -> &BackendInfo {
        self.context.info()
    }

    fn vectors(&self) -> &dyn Vectors {
        &self.vectors
    }

    fn charts(&self) -> &dyn Charts {
        &self.vectors
    }

    fn prepare<'a>(&'a self, theta: &'a Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move { self.prepare_at(values(theta)?) })
    }

    fn loss(&self) -> LocalFuture<'_, Result<f64>> {
        Box::pin(async move {
            let losses = self.context.read(&self.prepared()?.report, 0, self.data.samples).await?;
            Ok(losses.into_iter().map(f64::from).sum::<f64>() / self.data.samples as f64)
        })
    }

    fn outputs(&self) -> LocalFuture<'_, Result<Vec<f64>>> {
        Box::pin(async move { self.outputs_at(&*self.prepared()?).await })
    }

    fn gradient(&self, out: &mut Vector) -> Result<()> {
        let prepared = self.prepared()?;
        self.context.copy(&prepared.gradient, 0, &values(out)?.buffer, 0, self.plan.parameter_count)
    }

    fn product<'a>(&'a self, curvature: Curvature, v: &'a Vector, out: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let prepared = self.prepared()?;
            self.product_at(&prepared, curvature, values(v)?, values(out)?, v.columns())
        })
    }

    fn evaluate<'a>(&'a self, theta: &'a Vector, out: &'a mut Vector, index: usize) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move { self.evaluate_at(values(theta)?, values(out)?, index) })
    }

    fn prepare_plane<'a>(
        &'a self,
        theta: &'a Vector,
        u: &'a Vector,
        v: Option<&'a Vector>,
    ) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let vectors = [theta, u].into_iter().chain(v).map(values).collect::<Result<Vec<_>>>()?;
            self.prepare_plane_of(&vectors)
        })
    }

    fn evaluate_plane<'a>(&'a self, points: &'a [[f64; 2]], out: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move { self.evaluate_points(points, values(out)?) })
    }

    fn sweep<'a>(&'a self, cotangents: &'a [Cotangent]) -> LocalFuture<'a, Result<Vec<Vec<LayerSums>>>> {
        Box::pin(self.sweep_of(cotangents))
    }

    fn squared_gradients<'a>(&'a self, cotangents: &'a [Cotangent]) -> LocalFuture<'a, Result<Vec<f64>>> {
        Box::pin(self.squares_of(cotangents))
    }

    fn batch_gradient<'a>(
        &'a self,
        theta: &'a Vector,
        rows: &'a [u32],
        gradient: &'a mut Vector,
        out: &'a mut Vector,
        index: usize,
    ) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move { self.batch_at(values(theta)?, rows, values(gradient)?, values(out)?, index) })
    }
}
