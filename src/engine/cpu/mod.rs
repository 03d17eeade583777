//! The CPU executor, in f64 or f32: the reference, and the default without a hardware GPU.

mod activation;
mod loss;
mod matrix;
mod pass;
mod prefix;
mod real;
mod vector_ops;

use std::cell::RefCell;
use std::future::ready;
use std::ops::Range;

use self::loss::TargetRows;
use self::pass::Point;
pub(in crate::engine) use self::prefix::apply as apply_prefix;
use self::real::Real;
use super::executor::{AdamStep, BackendInfo, Curvature, Executor, Precision};
use super::plan::Plan;
use super::sweep::{Cotangent, LayerSums};
use super::vector::{Segments, Vector};
use crate::control::LocalFuture;
use crate::error::{Result, bail, ensure};
use crate::memory::reserve;
use crate::problem::Problem;

/// Samples that a forward pass without memory takes at a time: a block's activations stay in the cache.
const EVALUATION_CHUNK: usize = 512;

/// Tangent values that one group of directions may take, over all layers.
const TANGENT_VALUES: usize = 1 << 24;

/// What the CPU executors say of themselves.
pub fn cpu_info(precision: Precision) -> BackendInfo {
    let wasm = cfg!(target_arch = "wasm32");
    BackendInfo {
        backend: "cpu",
        adapter: if wasm { "WebAssembly SIMD, one thread".into() } else { "one thread".into() },
        api: if wasm { "wasm".into() } else { "native".into() },
        precision,
        is_software: false,
    }
}

/// An executor of this precision for a problem.
///
/// # Errors
/// `InvalidNetwork` as [`Plan::new`]; `TooLarge` if the data do not fit in memory.
pub fn cpu_executor(problem: &Problem, precision: Precision) -> Result<Box<dyn Executor>> {
    Ok(match precision {
        Precision::F32 => Box::new(CpuExecutor::<f32>::new(problem)?),
        Precision::F64 => Box::new(CpuExecutor::<f64>::new(problem)?),
    })
}

/// One problem in memory.
pub struct CpuExecutor<T> {
    info: BackendInfo,
    plan: Plan,
    inputs: Vec<T>,
    targets: TargetRows<T>,
    point: RefCell<Option<Point<T>>>,
}

impl<T: Real> CpuExecutor<T> {
    /// Copies the problem's data into this precision.
    ///
    /// # Errors
    /// As [`cpu_executor`].
    pub fn new(problem: &Problem) -> Result<Self> {
        let plan = Plan::new(problem.network())?;
        plan.ensure_dense()?;
        // A failed allocation in the middle of a pass would end the program; asked for first, it is an error. A point and
        // a product hold θ, gradient, direction and result, and activations, δ and tangents of every layer.
        let widths = plan.steps.iter().map(|step| step.output.len()).sum::<usize>();
        let activations = problem.samples().saturating_mul(widths).saturating_mul(4);
        reserve::<T>(
            plan.parameter_count.saturating_mul(6).saturating_add(problem.inputs().len()).saturating_add(activations),
        )?;
        Ok(Self {
            info: cpu_info(T::PRECISION),
            inputs: apply_prefix(&plan.prefix, T::values(problem.inputs())),
            targets: TargetRows::new(problem.targets()),
            plan,
            point: RefCell::new(None),
        })
    }

    fn with_point<R>(&self, f: impl FnOnce(&Point<T>) -> R) -> Result<R> {
        match &*self.point.borrow() {
            Some(point) => Ok(f(point)),
            None => bail!(InvalidParameters, "no point is prepared"),
        }
    }

    fn outputs_width(&self) -> usize {
        self.plan.steps[self.plan.steps.len() - 1].output.len()
    }
}

impl<T: Real> Executor for CpuExecutor<T> {
    fn info(&self) -> &BackendInfo {
        &self.info
    }

    fn zeros(&self, len: usize, columns: usize) -> Result<Vector> {
        let mut values = reserve(len.saturating_mul(columns))?;
        values.resize(len * columns, T::ZERO);
        Ok(Vector { len, columns, storage: T::store(values) })
    }

    fn upload(&self, values: &[f64], columns: usize) -> Result<Vector> {
        let mut stored = reserve(values.len())?;
        stored.extend(values.iter().map(|&v| T::from_f64(v)));
        Ok(Vector { len: values.len() / columns, columns, storage: T::store(stored) })
    }

    fn download<'a>(&'a self, vector: &'a Vector) -> LocalFuture<'a, Result<Vec<f64>>> {
        Box::pin(ready(T::slice(vector).map(|values| values.iter().map(|&v| v.to_f64()).collect())))
    }

    fn copy_columns(&self, from: &Vector, columns: Range<usize>, to: &mut Vector, to_column: usize) -> Result<()> {
        let len = from.len;
        let source = &T::slice(from)?[columns.start * len..columns.end * len];
        T::slice_mut(to)?[to_column * len..][..source.len()].copy_from_slice(source);
        Ok(())
    }

    fn scale(&self, alpha: f64, y: &mut Vector) -> Result<()> {
        let alpha = T::from_f64(alpha);
        T::slice_mut(y)?.iter_mut().for_each(|y| *y *= alpha);
        Ok(())
    }

    fn axpy(&self, alpha: f64, x: &Vector, y: &mut Vector) -> Result<()> {
        vector_ops::axpy(alpha, T::slice(x)?, T::slice_mut(y)?);
        Ok(())
    }

    fn multiply_add(&self, alpha: f64, d: &Vector, x: &Vector, beta: f64, y: &mut Vector) -> Result<()> {
        vector_ops::multiply_add(alpha, T::slice(d)?, T::slice(x)?, beta, T::slice_mut(y)?);
        Ok(())
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
        let x = &T::slice(x)?[columns.start * x.len..columns.end * x.len];
        let out = &mut T::slice_mut(out)?[out_offset..][..segments.count() * columns.len()];
        vector_ops::segment_inner(segments, T::slice(a)?, x, out);
        Ok(())
    }

    fn segment_axpy(&self, segments: &Segments, coefficients: &Vector, a: &Vector, y: &mut Vector) -> Result<()> {
        vector_ops::segment_axpy(segments, T::slice(coefficients)?, T::slice(a)?, T::slice_mut(y)?);
        Ok(())
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
        vector_ops::combine(alpha, T::slice(q)?, q.len, columns, &T::slice(c)?[offset..], T::slice_mut(y)?);
        Ok(())
    }

    fn normalize(&self, x: &Vector, q: &mut Vector, column: usize, norms: &mut Vector, index: usize) -> Result<()> {
        let norm = vector_ops::normalize(T::slice(x)?, &mut T::slice_mut(q)?[column * x.len..][..x.len]);
        T::slice_mut(norms)?[index] = norm;
        Ok(())
    }

    fn adam(
        &self,
        step: &AdamStep,
        gradient: &Vector,
        mean: &mut Vector,
        square: &mut Vector,
        theta: &mut Vector,
    ) -> Result<()> {
        let (mean, square) = (T::slice_mut(mean)?, T::slice_mut(square)?);
        vector_ops::adam(step, T::slice(gradient)?, mean, square, T::slice_mut(theta)?);
        Ok(())
    }

    fn prepare(&self, theta: &Vector) -> Result<()> {
        let point = pass::point(&self.plan, T::slice(theta)?, &self.inputs, &self.targets, true);
        *self.point.borrow_mut() = Some(point);
        Ok(())
    }

    fn loss(&self) -> LocalFuture<'_, Result<f64>> {
        Box::pin(ready(self.with_point(|point| pass::mean(&point.sample_losses))))
    }

    fn outputs(&self) -> LocalFuture<'_, Result<Vec<f64>>> {
        let last = self.plan.steps.len() - 1;
        Box::pin(ready(self.with_point(|point| point.activations[last].iter().map(|&v| v.to_f64()).collect())))
    }

    fn gradient(&self, out: &mut Vector) -> Result<()> {
        let out = T::slice_mut(out)?;
        self.with_point(|point| out.copy_from_slice(&point.gradient))
    }

    fn product(&self, curvature: Curvature, v: &Vector, out: &mut Vector) -> Result<()> {
        let n = self.plan.parameter_count;
        ensure!(
            v.len == n && out.len == n && v.columns == out.columns,
            InvalidParameters,
            "a product with the curvature takes vectors of {n} parameters, as many out as in"
        );
        let (v, out) = (T::slice(v)?, T::slice_mut(out)?);
        let samples = self.inputs.len() / self.plan.steps[0].input.len();
        let tangent: usize = samples * self.plan.steps.iter().map(|step| step.output.len()).sum::<usize>();
        let group = (TANGENT_VALUES / tangent.max(1)).max(1) * n;
        self.with_point(|point| {
            for (v, out) in v.chunks(group).zip(out.chunks_mut(group)) {
                pass::product(&self.plan, point, &self.inputs, curvature, v, out);
            }
        })
    }

    fn evaluate(&self, theta: &Vector, out: &mut Vector, index: usize) -> Result<()> {
        let theta = T::slice(theta)?;
        let (width, outputs) = (self.plan.steps[0].input.len(), self.outputs_width());
        let samples = self.inputs.len() / width;
        let mut losses = Vec::with_capacity(samples);
        let mut correct = 0.0;
        for (i, inputs) in self.inputs.chunks(EVALUATION_CHUNK * width).enumerate() {
            let rows = inputs.len() / width;
            let start = i * EVALUATION_CHUNK;
            let activations = pass::forward(&self.plan, theta, inputs, rows);
            let targets = self.targets.gather(start..start + rows, outputs);
            let point = loss::evaluate(&activations[self.plan.steps.len() - 1], &targets, outputs);
            losses.extend(point.sample_losses);
            correct += point.accuracy * rows as f64;
        }
        let out = T::slice_mut(out)?;
        out[2 * index] = T::from_f64(pass::mean(&losses));
        out[2 * index + 1] = T::from_f64(correct / samples as f64);
        Ok(())
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
        let width = self.plan.steps[0].input.len();
        let rows = rows.iter().map(|&row| row as usize);
        let inputs: Vec<T> = rows.clone().flat_map(|i| &self.inputs[i * width..(i + 1) * width]).copied().collect();
        let targets = self.targets.gather(rows, self.outputs_width());
        let point = pass::point(&self.plan, T::slice(theta)?, &inputs, &targets, false);
        T::slice_mut(gradient)?.copy_from_slice(&point.gradient);
        let out = T::slice_mut(out)?;
        out[2 * index] = T::from_f64(pass::mean(&point.sample_losses));
        out[2 * index + 1] = T::from_f64(point.accuracy);
        Ok(())
    }
}
