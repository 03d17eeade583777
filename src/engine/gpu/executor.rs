//! One problem on one GPU.

use std::cell::RefCell;
use std::future::ready;
use std::ops::Range;
use std::rc::Rc;

use super::GpuVector;
use super::context::{DeviceBuffer, GpuContext};
use super::data::Data;
use super::evaluate::{Batch, Evaluation};
use super::geometry::{Geometry, LANES};
use super::plane::Plane;
use super::point::Point;
use super::tangent::Tangent;
use super::vectors::SegmentTables;
use crate::control::LocalFuture;
use crate::engine::chart::{Chart, LoadedChart};
use crate::engine::vector::Storage;
use crate::engine::{AdamStep, BackendInfo, Cotangent, Curvature, Executor, LayerSums, Plan, Segments, Vector};
use crate::error::{Error, ErrorCode, Result, ensure};
use crate::memory::collected;
use crate::problem::{Loss, Problem};

/// What data and kept activations may take where the caller sets no budget, in bytes.
const BUDGET: u64 = 1 << 30;
const SOFTWARE_BUDGET: u64 = 512 << 20;

/// An [`Executor`] whose vectors and activations live in GPU memory. Workspace is made at the first call that needs it,
/// and reused.
pub struct GpuExecutor {
    pub(super) context: Rc<GpuContext>,
    pub(super) plan: Plan,
    pub(super) geometry: Geometry,
    /// [`Geometry::windows`] on the device.
    pub(super) windows: Rc<DeviceBuffer>,
    pub(super) loss: Loss,
    pub(super) data: Data,
    pub(super) memory_budget: u64,
    pub(super) scratch: RefCell<Option<Rc<DeviceBuffer>>>,
    pub(super) tangent: RefCell<Option<Tangent>>,
    pub(super) evaluation: RefCell<Option<Rc<Evaluation>>>,
    pub(super) batch: RefCell<Option<Batch>>,
    pub(super) segments: RefCell<Vec<(Segments, Rc<SegmentTables>)>>,
    pub(super) point: Point,
    pub(super) plane: RefCell<Option<Rc<Plane>>>,
}

impl GpuExecutor {
    /// Loads the problem's data onto the device. Data and activations beyond `memory_budget` bytes are loaded and computed
    /// when they are needed, again and again; results do not depend on it.
    ///
    /// # Errors
    /// `InvalidNetwork` as [`Plan::new`]; `TooLarge` if the data do not fit the device's limits; `DeviceLost`, `Gpu`.
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
        let plan = Plan::new(problem.network())?;
        let geometry = Geometry::new(&plan)?;
        let widest = geometry.stages.iter().flat_map(|stage| [stage.input.features(), stage.output.features()]).max();
        let what = format!("a layer's values of {LANES} samples");
        context.check_size(&what, widest.unwrap_or(0) as u64 * LANES as u64)?;
        let usual = if context.info().is_software { SOFTWARE_BUDGET } else { BUDGET };
        let memory_budget = memory_budget.unwrap_or(usual);
        Ok(Self {
            data: Data::new(&context, &plan, &geometry, problem, memory_budget / 2, most)?,
            windows: context.buffer_of("windows", geometry.windows.as_flattened())?,
            loss: problem.loss(),
            context,
            plan,
            geometry,
            memory_budget,
            scratch: RefCell::default(),
            tangent: RefCell::default(),
            evaluation: RefCell::default(),
            batch: RefCell::default(),
            segments: RefCell::default(),
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

    /// The vector's values on the device.
    pub(super) fn data_of<'a>(&self, vector: &'a Vector) -> Result<&'a DeviceBuffer> {
        match &vector.storage {
            Storage::Gpu(vector) => Ok(&vector.buffer),
            _ => Err(Error::new(ErrorCode::InvalidParameters, "a vector of the CPU was given to the GPU")),
        }
    }

    fn vector(&self, buffer: Rc<DeviceBuffer>, len: usize, columns: usize) -> Vector {
        Vector { len, columns, storage: Storage::Gpu(GpuVector { buffer }) }
    }

    /// Fails unless the vector holds `columns` parameter vectors.
    fn check_parameters(&self, what: &str, vector: &Vector, columns: usize) -> Result<()> {
        let expected = self.plan.parameter_count;
        ensure!(
            vector.len == expected && vector.columns == columns,
            InvalidParameters,
            "{what} has {} columns of {}, but {columns} of {expected} are needed",
            vector.columns,
            vector.len
        );
        Ok(())
    }

    fn check_report(&self, out: &Vector, index: usize) -> Result<()> {
        let len = out.len * out.columns;
        ensure!(2 * index + 2 <= len, InvalidParameters, "loss and accuracy {index} do not fit in {len} numbers");
        Ok(())
    }
}

impl Executor for GpuExecutor {
    fn info(&self) -> &BackendInfo {
        self.context.info()
    }

    fn zeros(&self, len: usize, columns: usize) -> Result<Vector> {
        let what = format!("a vector of {columns} × {len}");
        let buffer = self.context.buffer(&what, (len as u64).saturating_mul(columns as u64))?;
        Ok(self.vector(buffer, len, columns))
    }

    fn upload(&self, values: &[f64], columns: usize) -> Result<Vector> {
        let len = values.len().checked_div(columns).unwrap_or(0);
        let what = format!("a vector of {columns} × {len}");
        let values: Vec<f32> = collected(&what, values[..len * columns].iter().map(|&v| v as f32))?;
        Ok(self.vector(self.context.buffer_of(&what, &values)?, len, columns))
    }

    fn download<'a>(&'a self, vector: &'a Vector) -> LocalFuture<'a, Result<Vec<f64>>> {
        Box::pin(async move {
            let values = self.context.read(self.data_of(vector)?, 0, vector.len * vector.columns).await?;
            collected("numbers read back", values.into_iter().map(f64::from))
        })
    }

    fn copy_columns(&self, from: &Vector, columns: Range<usize>, to: &mut Vector, to_column: usize) -> Result<()> {
        self.copy_columns_of(from, columns, to, to_column)
    }

    fn copy_rows(&self, from: &Vector, rows: Range<usize>, to: &mut Vector, to_row: usize) -> Result<()> {
        self.copy_rows_of(from, rows, to, to_row)
    }

    fn scale(&self, alpha: f64, y: &mut Vector) -> Result<()> {
        self.scale_by(alpha, y)
    }

    fn axpy(&self, alpha: f64, x: &Vector, y: &mut Vector) -> Result<()> {
        self.add(alpha, x, y)
    }

    fn multiply_add(&self, alpha: f64, d: &Vector, x: &Vector, beta: f64, y: &mut Vector) -> Result<()> {
        self.multiply_add_to(alpha, d, x, beta, y)
    }

    fn segment_inner(
        &self,
        segments: &Segments,
        a: &Vector,
        x: &Vector,
        columns: Range<usize>,
        out: &mut Vector,
        out_offset: usize,
    ) -> Result<()> {
        self.inner(segments, a, x, columns, out, out_offset)
    }

    fn segment_axpy(&self, segments: &Segments, coefficients: &Vector, a: &Vector, y: &mut Vector) -> Result<()> {
        self.segment_add(segments, coefficients, a, y)
    }

    fn combine<'a>(
        &'a self,
        alpha: f64,
        q: &'a Vector,
        columns: Range<usize>,
        c: &'a Vector,
        offset: usize,
        y: &'a mut Vector,
    ) -> LocalFuture<'a, Result<()>> {
        Box::pin(ready(self.combine_to(alpha, q, columns, c, offset, y)))
    }

    fn normalize(&self, x: &Vector, q: &mut Vector, column: usize, norms: &mut Vector, index: usize) -> Result<()> {
        self.normalize_to(x, q, column, norms, index)
    }

    fn adam(
        &self,
        step: &AdamStep,
        gradient: &Vector,
        mean: &mut Vector,
        square: &mut Vector,
        theta: &mut Vector,
    ) -> Result<()> {
        self.adam_step(step, gradient, mean, square, theta)
    }

    fn load_chart(&self, chart: &Chart) -> Result<LoadedChart> {
        self.load(chart)
    }

    fn chart_parameters(&self, chart: &LoadedChart, v: &Vector, theta: &mut Vector) -> Result<()> {
        self.parameters_of(chart, v, theta)
    }

    fn chart_tangent(&self, chart: &LoadedChart, v: &Vector, x: &Vector, out: &mut Vector) -> Result<()> {
        self.tangent_of(chart, v, x, out)
    }

    fn chart_cotangent(
        &self,
        chart: &LoadedChart,
        v: &Vector,
        z: &Vector,
        second: Option<(&Vector, &Vector)>,
        out: &mut Vector,
    ) -> Result<()> {
        self.cotangent_of(chart, v, z, second, out)
    }

    fn prepare<'a>(&'a self, theta: &'a Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            self.check_parameters("the point", theta, 1)?;
            self.prepare_at(self.data_of(theta)?)
        })
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
        self.check_parameters("the gradient", out, 1)?;
        let prepared = self.prepared()?;
        self.context.copy(&prepared.gradient, 0, &self.data_of(out)?.buffer, 0, self.plan.parameter_count)
    }

    fn product<'a>(&'a self, curvature: Curvature, v: &'a Vector, out: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            self.check_parameters("the direction", v, v.columns)?;
            self.check_parameters("the product", out, v.columns)?;
            let prepared = self.prepared()?;
            self.product_at(&prepared, curvature, self.data_of(v)?, self.data_of(out)?, v.columns)
        })
    }

    fn evaluate<'a>(&'a self, theta: &'a Vector, out: &'a mut Vector, index: usize) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            self.check_parameters("the point", theta, 1)?;
            self.check_report(out, index)?;
            self.evaluate_at(self.data_of(theta)?, self.data_of(out)?, index)
        })
    }

    fn prepare_plane<'a>(
        &'a self,
        theta: &'a Vector,
        u: &'a Vector,
        v: Option<&'a Vector>,
    ) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let vectors: Vec<&Vector> = [theta, u].into_iter().chain(v).collect();
            for vector in &vectors {
                self.check_parameters("a plane's vector", vector, 1)?;
            }
            let vectors = vectors.into_iter().map(|vector| self.data_of(vector)).collect::<Result<Vec<_>>>()?;
            self.prepare_plane_of(&vectors)
        })
    }

    fn evaluate_plane<'a>(&'a self, points: &'a [[f64; 2]], out: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            if let Some(last) = points.len().checked_sub(1) {
                self.check_report(out, last)?;
            }
            self.evaluate_points(points, self.data_of(out)?)
        })
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
        Box::pin(async move {
            self.check_parameters("the point", theta, 1)?;
            self.check_parameters("the gradient", gradient, 1)?;
            self.check_report(out, index)?;
            self.batch_at(self.data_of(theta)?, rows, self.data_of(gradient)?, self.data_of(out)?, index)
        })
    }
}
