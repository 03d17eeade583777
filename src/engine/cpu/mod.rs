//! The CPU executor, in f64 or f32: the reference, and the default without a hardware GPU.

#![allow(clippy::needless_range_loop, reason = "lanes of several arrays side by side read best by number")]

mod activation;
mod affine;
pub(in crate::engine) mod chart;
mod data;
mod gradient;
mod layer_sums;
mod loss;
mod parallel;
mod passes;
mod plane;
mod point;
mod pool;
mod prefix;
mod real;
mod simd;
mod squares;
mod sweep;
mod tangent;
mod tile;
mod vector_ops;

use std::cell::RefCell;
use std::future::ready;
use std::ops::Range;
use std::rc::Rc;

use self::data::Data;
use self::passes::{Means, Passes, Point};
use self::plane::Plane;
use self::point::Net;
pub(in crate::engine) use self::prefix::apply as apply_prefix;
use self::real::Real;
use self::simd::Level;
use super::chart::{Chart, ChartStorage, LoadedChart};
use super::executor::{AdamStep, BackendInfo, Curvature, Executor, Precision};
use super::plan::Plan;
use super::sweep::{Cotangent, LayerSums};
use super::vector::{Segments, Vector};
use crate::control::LocalFuture;
use crate::error::{Result, bail, ensure};
use crate::event_loop::worked;
use crate::memory::{self, ask_for, collected, product};
use crate::problem::Problem;

/// Bytes that a point may keep where the caller says nothing.
pub(in crate::engine) const MEMORY_BUDGET: u64 = if cfg!(target_arch = "wasm32") { 1 << 30 } else { 4 << 30 };

/// Bytes that the packed directions of one product may take.
const DIRECTION_BYTES: usize = 256 << 20;

/// What the CPU executors say of themselves.
pub fn cpu_info(precision: Precision) -> BackendInfo {
    cpu_info_of(precision, parallel::threads())
}

/// What CPU executors of so many threads say of themselves.
pub(in crate::engine) fn cpu_info_of(precision: Precision, threads: usize) -> BackendInfo {
    let said = match threads {
        1 => "one thread".into(),
        n => format!("{n} threads"),
    };
    BackendInfo {
        backend: "cpu",
        adapter: format!("{}, {said}", Level::detect().name()),
        api: if cfg!(target_arch = "wasm32") { "wasm" } else { "native" }.into(),
        precision,
        is_software: false,
        threads,
        threads_reason: None,
    }
}

/// An executor of this precision for a problem, which may keep `memory_budget` bytes between passes.
///
/// # Errors
/// `InvalidNetwork` as [`Plan::new`]; `TooLarge` if the data do not fit in memory.
pub fn cpu_executor(problem: &Problem, precision: Precision, memory_budget: Option<u64>) -> Result<Box<dyn Executor>> {
    cpu_executor_of_first(problem, problem.samples(), precision, memory_budget)
}

/// As [`cpu_executor`], for a problem of which all passes over the data take the first `share` samples alone. A batch may
/// name any sample.
pub(in crate::engine) fn cpu_executor_of_first(
    problem: &Problem,
    share: usize,
    precision: Precision,
    memory_budget: Option<u64>,
) -> Result<Box<dyn Executor>> {
    let level = Level::detect();
    // Samples in a block: two vectors of a tile's row, or one of AVX-512's.
    Ok(match (precision, level) {
        #[cfg(target_arch = "wasm32")]
        (Precision::F32, _) => Box::new(CpuExecutor::<f32, 8>::new(problem, share, level, memory_budget)?),
        #[cfg(target_arch = "wasm32")]
        (Precision::F64, _) => Box::new(CpuExecutor::<f64, 4>::new(problem, share, level, memory_budget)?),
        #[cfg(target_arch = "x86_64")]
        (Precision::F32, Level::Avx512) => Box::new(CpuExecutor::<f32, 32>::new(problem, share, level, memory_budget)?),
        #[cfg(target_arch = "x86_64")]
        (Precision::F64, Level::Avx512) => Box::new(CpuExecutor::<f64, 16>::new(problem, share, level, memory_budget)?),
        #[cfg(not(target_arch = "wasm32"))]
        (Precision::F32, _) => Box::new(CpuExecutor::<f32, 16>::new(problem, share, level, memory_budget)?),
        #[cfg(not(target_arch = "wasm32"))]
        (Precision::F64, _) => Box::new(CpuExecutor::<f64, 8>::new(problem, share, level, memory_budget)?),
    })
}

/// One problem in memory, N samples to a block.
struct CpuExecutor<T, const N: usize> {
    info: BackendInfo,
    passes: Passes<T, N>,
    point: RefCell<Option<Rc<Point<T>>>>,
    plane: RefCell<Option<Rc<Plane<T>>>>,
}

impl<T: Real, const N: usize> CpuExecutor<T, N> {
    fn new(problem: &Problem, share: usize, level: Level, memory_budget: Option<u64>) -> Result<Self> {
        let net = Net::new(Plan::new(problem.network())?, level)?;
        let data = Data::new(&net.plan, problem, share)?;
        let passes = Passes::new(net, data, memory_budget.unwrap_or(MEMORY_BUDGET));
        // Told now rather than in the middle of a pass; and what can be addressed all together can be so piece by piece.
        ask_for("what a gradient and a product take of this network", passes.working_bytes())?;
        Ok(Self { info: cpu_info(T::PRECISION), passes, point: RefCell::default(), plane: RefCell::default() })
    }

    /// The prepared point, to be held through a pass: another may be prepared in the meantime.
    fn prepared(&self) -> Result<Rc<Point<T>>> {
        match &*self.point.borrow() {
            Some(point) => Ok(point.clone()),
            None => bail!(InvalidParameters, "no point is prepared"),
        }
    }

    fn check_parameters(&self, what: &str, vector: &Vector) -> Result<()> {
        let expected = self.passes.net.plan.parameter_count;
        ensure!(
            vector.len == expected,
            InvalidParameters,
            "{what} has {} parameters, but the network has {expected}",
            vector.len
        );
        Ok(())
    }
}

fn chart_of(chart: &LoadedChart) -> Result<&Chart> {
    match &chart.storage {
        ChartStorage::Cpu(chart) => Ok(chart),
        ChartStorage::Gpu(_) => bail!(InvalidParameters, "a chart of the GPU was given to the CPU"),
    }
}

/// Fails unless a batch has samples, and only such as there are.
pub(in crate::engine) fn ensure_batch(rows: &[u32], samples: usize) -> Result<()> {
    ensure!(!rows.is_empty(), InvalidOption, "a batch needs at least one sample");
    match rows.iter().find(|&&row| row as usize >= samples) {
        Some(row) => bail!(InvalidOption, "the batch names sample {row}, but there are {samples} samples"),
        None => Ok(()),
    }
}

fn in_double<T: Real>(values: &[T]) -> Result<Vec<f64>> {
    collected("numbers read back", values.iter().map(|&value| value.to_f64()))
}

fn write_means<T: Real>(means: Means, index: usize, out: &mut [T]) {
    out[2 * index] = T::from_f64(means.loss);
    out[2 * index + 1] = T::from_f64(means.accuracy);
}

impl<T: Real, const N: usize> Executor for CpuExecutor<T, N> {
    fn info(&self) -> &BackendInfo {
        &self.info
    }

    fn zeros(&self, len: usize, columns: usize) -> Result<Vector> {
        const WHAT: &str = "vectors of parameters";
        let values = memory::zeros(WHAT, product::<T>(WHAT, &[len, columns])?)?;
        Ok(Vector { len, columns, storage: T::store(values) })
    }

    fn upload(&self, values: &[f64], columns: usize) -> Result<Vector> {
        let stored = collected("vectors of parameters", values.iter().map(|&v| T::from_f64(v)))?;
        Ok(Vector { len: values.len() / columns, columns, storage: T::store(stored) })
    }

    fn download<'a>(&'a self, vector: &'a Vector) -> LocalFuture<'a, Result<Vec<f64>>> {
        Box::pin(ready(T::slice(vector).and_then(in_double)))
    }

    fn copy_columns(&self, from: &Vector, columns: Range<usize>, to: &mut Vector, to_column: usize) -> Result<()> {
        let len = from.len;
        let source = &T::slice(from)?[columns.start * len..columns.end * len];
        T::slice_mut(to)?[to_column * len..][..source.len()].copy_from_slice(source);
        Ok(())
    }

    fn copy_rows(&self, from: &Vector, rows: Range<usize>, to: &mut Vector, to_row: usize) -> Result<()> {
        let len = to.len;
        let source = T::slice(from)?.chunks_exact(from.len);
        for (from, to) in source.zip(T::slice_mut(to)?.chunks_exact_mut(len)) {
            to[to_row..][..rows.len()].copy_from_slice(&from[rows.clone()]);
        }
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

    fn combine<'a>(
        &'a self,
        alpha: f64,
        q: &'a Vector,
        columns: Range<usize>,
        c: &'a Vector,
        offset: usize,
        y: &'a mut Vector,
    ) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let (q, c, len) = (T::slice(q)?, &T::slice(c)?[offset..], q.len);
            if columns.is_empty() {
                return Ok(());
            }
            for (y, c) in T::slice_mut(y)?.chunks_exact_mut(len).zip(c.chunks_exact(columns.len())) {
                vector_ops::combine(alpha, &q[columns.start * len..columns.end * len], c, y);
                worked((len * columns.len()) as f64).await;
            }
            Ok(())
        })
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

    fn load_chart(&self, chart: &Chart) -> Result<LoadedChart> {
        let storage = ChartStorage::Cpu(chart.try_clone()?);
        Ok(LoadedChart { dimension: chart.dimension(), parameter_count: chart.parameter_count(), storage })
    }

    fn chart_parameters(&self, chart: &LoadedChart, v: &Vector, theta: &mut Vector) -> Result<()> {
        chart.check_parameters(v, theta)?;
        chart::parameters(chart_of(chart)?, T::slice(v)?, T::slice_mut(theta)?);
        Ok(())
    }

    fn chart_tangent(&self, chart: &LoadedChart, v: &Vector, x: &Vector, out: &mut Vector) -> Result<()> {
        chart.check_tangent(v, x, out)?;
        chart::tangent(chart_of(chart)?, T::slice(v)?, T::slice(x)?, T::slice_mut(out)?);
        Ok(())
    }

    fn chart_cotangent(
        &self,
        chart: &LoadedChart,
        v: &Vector,
        z: &Vector,
        second: Option<(&Vector, &Vector)>,
        out: &mut Vector,
    ) -> Result<()> {
        chart.check_cotangent(v, z, second, out)?;
        let second = match second {
            Some((g, x)) => Some((T::slice(g)?, T::slice(x)?)),
            None => None,
        };
        chart::cotangent(chart_of(chart)?, T::slice(v)?, T::slice(z)?, second, T::slice_mut(out)?);
        Ok(())
    }

    fn prepare<'a>(&'a self, theta: &'a Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            self.check_parameters("the point", theta)?;
            if let Some(old) = self.point.take().and_then(Rc::into_inner) {
                self.passes.recycle(old);
            }
            let point = self.passes.point(T::slice(theta)?).await?;
            *self.point.borrow_mut() = Some(Rc::new(point));
            Ok(())
        })
    }

    fn loss(&self) -> LocalFuture<'_, Result<f64>> {
        Box::pin(ready(self.prepared().map(|point| passes::mean(&point.losses))))
    }

    fn outputs(&self) -> LocalFuture<'_, Result<Vec<f64>>> {
        Box::pin(ready(self.prepared().and_then(|point| in_double(&point.outputs))))
    }

    fn gradient(&self, out: &mut Vector) -> Result<()> {
        T::slice_mut(out)?.copy_from_slice(&self.prepared()?.gradient);
        Ok(())
    }

    fn product<'a>(&'a self, curvature: Curvature, v: &'a Vector, out: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let n = self.passes.net.plan.parameter_count;
            ensure!(
                v.len == n && out.len == n && v.columns == out.columns,
                InvalidParameters,
                "a product with the curvature takes vectors of {n} parameters, as many out as in"
            );
            let (v, out) = (T::slice(v)?, T::slice_mut(out)?);
            let group = (DIRECTION_BYTES / (2 * n * size_of::<T>()).max(1)).max(1) * n;
            let point = self.prepared()?;
            for (v, out) in v.chunks(group).zip(out.chunks_mut(group)) {
                self.passes.product(&point, curvature == Curvature::Hessian, v, out).await?;
            }
            Ok(())
        })
    }

    fn evaluate<'a>(&'a self, theta: &'a Vector, out: &'a mut Vector, index: usize) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            self.check_parameters("the point", theta)?;
            write_means(self.passes.evaluate(T::slice(theta)?).await?, index, T::slice_mut(out)?);
            Ok(())
        })
    }

    fn prepare_plane<'a>(
        &'a self,
        theta: &'a Vector,
        u: &'a Vector,
        v: Option<&'a Vector>,
    ) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut directions = Vec::new();
            for direction in std::iter::once(u).chain(v) {
                self.check_parameters("a direction", direction)?;
                directions.push(T::slice(direction)?);
            }
            *self.plane.borrow_mut() = None;
            let plane = self.passes.plane(T::slice(theta)?, &directions).await?;
            *self.plane.borrow_mut() = Some(Rc::new(plane));
            Ok(())
        })
    }

    fn evaluate_plane<'a>(&'a self, points: &'a [[f64; 2]], out: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let plane = self.plane.borrow().clone();
            let Some(plane) = plane else { bail!(InvalidParameters, "no plane is prepared") };
            let out = T::slice_mut(out)?;
            for (i, means) in self.passes.evaluate_plane(&plane, points).await?.into_iter().enumerate() {
                write_means(means, i, out);
            }
            Ok(())
        })
    }

    fn sweep<'a>(&'a self, cotangents: &'a [Cotangent]) -> LocalFuture<'a, Result<Vec<Vec<LayerSums>>>> {
        Box::pin(async move { self.passes.sweep(&*self.prepared()?, cotangents).await })
    }

    fn squared_gradients<'a>(&'a self, cotangents: &'a [Cotangent]) -> LocalFuture<'a, Result<Vec<f64>>> {
        Box::pin(async move { self.passes.squared_gradients(&*self.prepared()?, cotangents).await })
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
            ensure_batch(rows, self.passes.data.all_samples())?;
            let means = self.passes.batch(T::slice(theta)?, rows, T::slice_mut(gradient)?).await?;
            write_means(means, index, T::slice_mut(out)?);
            Ok(())
        })
    }
}
