//! One problem on one GPU.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use super::GpuVector;
use super::context::{DeviceBuffer, GpuContext};
use super::passes::{Batch, Evaluation, Pass, Samples};
use super::tangent::Tangent;
use super::vectors::SegmentTables;
use crate::control::LocalFuture;
use crate::engine::cpu::apply_prefix;
use crate::engine::vector::Storage;
use crate::engine::{AdamStep, BackendInfo, Cotangent, Curvature, Executor, LayerSums, Plan, Segments, Vector};
use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::problem::{Loss, Problem, Targets};

/// An [`Executor`] whose vectors and activations live in GPU memory. Workspace is made at the first call that needs it,
/// and reused.
pub struct GpuExecutor {
    pub(super) context: Rc<GpuContext>,
    pub(super) plan: Plan,
    pub(super) loss: Loss,
    pub(super) samples: usize,
    /// a_0, (samples, width).
    pub(super) inputs: Rc<DeviceBuffer>,
    /// Class numbers as floating-point numbers, or vectors.
    pub(super) targets: Rc<DeviceBuffer>,
    pub(super) scratch: RefCell<Option<Rc<DeviceBuffer>>>,
    pub(super) tangent: RefCell<Option<Tangent>>,
    pub(super) evaluation: RefCell<Option<Evaluation>>,
    pub(super) batch: RefCell<Option<Batch>>,
    pub(super) segments: RefCell<Vec<(Segments, Rc<SegmentTables>)>>,
    point: RefCell<Point>,
}

/// The prepared point's buffers, and whether they hold one.
#[derive(Default)]
struct Point {
    prepared: Option<Rc<Prepared>>,
    is_valid: bool,
}

/// What the products at one point share.
pub(super) struct Prepared {
    pub theta: Rc<DeviceBuffer>,
    pub gradient: Rc<DeviceBuffer>,
    pub pass: Pass,
}

impl GpuExecutor {
    /// Loads the problem's data onto the device.
    ///
    /// # Errors
    /// `InvalidNetwork` as [`Plan::new`]; `TooLarge` if the data do not fit the device's limits; `DeviceLost`, `Gpu`.
    pub fn new(context: Rc<GpuContext>, problem: &Problem) -> Result<Self> {
        context.check()?;
        let plan = Plan::new(problem.network())?;
        plan.ensure_dense()?;
        let samples = problem.samples();
        let what = format!("inputs of {samples} samples of width {}", problem.network().input_len());
        // Before the values are converted, which would take as much host memory.
        context.check_size(&what, problem.inputs().len() as u64)?;
        let inputs = apply_prefix(&plan.prefix, problem.inputs().to_f32());
        let targets: Vec<f32> = match problem.targets() {
            // Whole numbers up to 2²⁴ are exact; more classes than that do not fit anywhere.
            Targets::Classes(labels) => labels.iter().map(|&label| label as f32).collect(),
            Targets::Vectors(values) => values.iter().map(|&value| value as f32).collect(),
        };
        Ok(Self {
            inputs: context.buffer_of(&what, &inputs)?,
            targets: context.buffer_of("targets", &targets)?,
            loss: problem.loss(),
            context,
            plan,
            samples,
            scratch: RefCell::default(),
            tangent: RefCell::default(),
            evaluation: RefCell::default(),
            batch: RefCell::default(),
            segments: RefCell::default(),
            point: RefCell::default(),
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
    pub(super) fn data<'a>(&self, vector: &'a Vector) -> Result<&'a DeviceBuffer> {
        match &vector.storage {
            Storage::Gpu(vector) => Ok(&vector.buffer),
            _ => Err(Error::new(ErrorCode::InvalidParameters, "a vector of the CPU was given to the GPU")),
        }
    }

    fn vector(&self, buffer: Rc<DeviceBuffer>, len: usize, columns: usize) -> Vector {
        Vector { len, columns, storage: Storage::Gpu(GpuVector { buffer }) }
    }

    fn prepared(&self) -> Result<Rc<Prepared>> {
        let point = self.point.borrow();
        match &point.prepared {
            Some(prepared) if point.is_valid => Ok(prepared.clone()),
            _ => bail!(InvalidParameters, "no point is prepared"),
        }
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
        let values: Vec<f32> = values[..len * columns].iter().map(|&v| v as f32).collect();
        Ok(self.vector(self.context.buffer_of(&what, &values)?, len, columns))
    }

    fn download<'a>(&'a self, vector: &'a Vector) -> LocalFuture<'a, Result<Vec<f64>>> {
        Box::pin(async move {
            let values = self.context.read(self.data(vector)?, 0, vector.len * vector.columns).await?;
            Ok(values.into_iter().map(f64::from).collect())
        })
    }

    fn copy_columns(&self, from: &Vector, columns: Range<usize>, to: &mut Vector, to_column: usize) -> Result<()> {
        self.copy_columns_of(from, columns, to, to_column)
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
        self.inner(segments, a, x, columns, out, out_offset, false).map(|_| ())
    }

    fn segment_axpy(&self, segments: &Segments, coefficients: &Vector, a: &Vector, y: &mut Vector) -> Result<()> {
        self.segment_add(segments, coefficients, a, y)
    }

    fn combine(
        &self,
        alpha: f64,
        q: &Vector,
        columns: Range<usize>,
        c: &Vector,
        offset: usize,
        y: &mut Vector,
    ) -> Result<()> {
        self.combine_to(alpha, q, columns, c, offset, y)
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

    fn prepare(&self, theta: &Vector) -> Result<()> {
        self.check_parameters("the point", theta, 1)?;
        let source = self.data(theta)?;
        let mut point = self.point.borrow_mut();
        point.is_valid = false;
        let prepared = match &point.prepared {
            Some(prepared) => prepared.clone(),
            None => {
                let count = self.plan.parameter_count as u64;
                let prepared = Rc::new(Prepared {
                    theta: self.context.buffer("parameters", count)?,
                    gradient: self.context.buffer("gradient", count)?,
                    pass: Pass::new(&self.context, &self.plan, self.loss, self.samples, true)?,
                });
                point.prepared = Some(prepared.clone());
                prepared
            }
        };
        self.context.copy(source, 0, &prepared.theta.buffer, 0, self.plan.parameter_count)?;
        let samples = Samples { inputs: &self.inputs, targets: &self.targets, first: 0, rows: self.samples };
        self.run_pass(&prepared.theta, samples, &prepared.pass, &prepared.gradient)?;
        point.is_valid = true;
        Ok(())
    }

    fn loss(&self) -> LocalFuture<'_, Result<f64>> {
        Box::pin(async move {
            let losses = self.context.read(&self.prepared()?.pass.report, 0, self.samples).await?;
            Ok(losses.into_iter().map(f64::from).sum::<f64>() / self.samples as f64)
        })
    }

    fn outputs(&self) -> LocalFuture<'_, Result<Vec<f64>>> {
        Box::pin(async move {
            let count = self.samples * self.outputs_len();
            let outputs = self.context.read(&self.prepared()?.pass.outputs, 0, count).await?;
            Ok(outputs.into_iter().map(f64::from).collect())
        })
    }

    fn gradient(&self, out: &mut Vector) -> Result<()> {
        self.check_parameters("the gradient", out, 1)?;
        let prepared = self.prepared()?;
        self.context.copy(&prepared.gradient, 0, &self.data(out)?.buffer, 0, self.plan.parameter_count)
    }

    fn product(&self, curvature: Curvature, v: &Vector, out: &mut Vector) -> Result<()> {
        self.check_parameters("the direction", v, v.columns)?;
        self.check_parameters("the product", out, v.columns)?;
        let prepared = self.prepared()?;
        self.product_at(&prepared, curvature, self.data(v)?, self.data(out)?, v.columns)
    }

    fn evaluate(&self, theta: &Vector, out: &mut Vector, index: usize) -> Result<()> {
        self.check_parameters("the point", theta, 1)?;
        self.check_report(out, index)?;
        self.evaluate_at(self.data(theta)?, self.data(out)?, index)
    }

    fn prepare_plane(&self, _: &Vector, _: &Vector, _: Option<&Vector>) -> Result<()> {
        bail!(InvalidOption, "planes are not there yet")
    }

    fn evaluate_plane(&self, _: &[[f64; 2]], _: &mut Vector) -> Result<()> {
        bail!(InvalidOption, "planes are not there yet")
    }

    fn sweep<'a>(&'a self, _: &'a [Cotangent]) -> LocalFuture<'a, Result<Vec<Vec<LayerSums>>>> {
        Box::pin(async { bail!(InvalidOption, "sweeps are not there yet") })
    }

    fn batch_gradient(
        &self,
        theta: &Vector,
        rows: &[u32],
        gradient: &mut Vector,
        out: &mut Vector,
        index: usize,
    ) -> Result<()> {
        self.check_parameters("the point", theta, 1)?;
        self.check_parameters("the gradient", gradient, 1)?;
        self.check_report(out, index)?;
        self.batch_at(self.data(theta)?, rows, self.data(gradient)?, self.data(out)?, index)
    }
}
