//! The CPU executor, in f64 or f32: the reference, and the default without a hardware GPU.

#![allow(clippy::needless_range_loop, reason = "lanes of several arrays side by side read best by number")]

mod activation;
mod affine;
mod affine_block;
mod affine_work;
mod aligned;
mod channelwise;
pub(in crate::engine) mod chart;
mod data;
mod gradient;
mod lanes;
mod layer_sums;
#[cfg(test)]
mod levels;
mod loss;
mod net;
mod parallel;
mod passes;
mod plain;
mod plane;
mod point;
mod pool;
mod prefix;
pub(in crate::engine) mod real;
mod simd;
mod squares;
mod stencil;
mod sweep;
mod tally;
mod tangent;
mod tile;
mod vector_ops;
mod vectors;
mod walk;
mod weight_gradients;
mod winograd;
mod winograd_gradient;

use std::cell::RefCell;
use std::future::ready;
use std::rc::Rc;

use self::data::Data;
use self::net::Net;
use self::passes::{Passes, Point};
use self::plane::Plane;
pub(in crate::engine) use self::prefix::apply as apply_prefix;
use self::real::Real;
use self::simd::Level;
#[cfg(target_arch = "x86_64")]
use self::simd::WIDE;
use self::tally::{Means, mean};
use self::tangent::Differential;
use self::vectors::{CpuVectors, in_double};
use super::chart::Charts;
use super::executor::{BackendInfo, Curvature, Executor, Precision};
use super::plan::Plan;
use super::sweep::{Cotangent, LayerSums};
use super::vector::{Vector, Vectors};
use crate::control::LocalFuture;
use crate::error::{Result, bail};
use crate::memory::ask_for;
use crate::network::numbering::number_of;
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
        ranks: None,
        adapters: None,
    }
}

/// An executor of this precision for a problem, which may keep `memory_budget` bytes between passes.
///
/// # Errors
/// `TooLarge` if the data do not fit in memory.
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
    at_level(problem, share, precision, Level::detect(), memory_budget)
}

/// The same with the instructions of a level that the machine has.
fn at_level(
    problem: &Problem,
    share: usize,
    precision: Precision,
    level: Level,
    memory_budget: Option<u64>,
) -> Result<Box<dyn Executor>> {
    // Samples in a block: two vectors of the machine's.
    Ok(match (precision, level) {
        #[cfg(target_arch = "wasm32")]
        (Precision::F32, _) => Box::new(CpuExecutor::<f32, 8>::new(problem, share, level, memory_budget)?),
        #[cfg(target_arch = "wasm32")]
        (Precision::F64, _) => Box::new(CpuExecutor::<f64, 4>::new(problem, share, level, memory_budget)?),
        #[cfg(target_arch = "x86_64")]
        (Precision::F32, Level::Avx512) => {
            Box::new(CpuExecutor::<f32, { WIDE / 4 }>::new(problem, share, level, memory_budget)?)
        }
        #[cfg(target_arch = "x86_64")]
        (Precision::F64, Level::Avx512) => {
            Box::new(CpuExecutor::<f64, { WIDE / 8 }>::new(problem, share, level, memory_budget)?)
        }
        #[cfg(not(target_arch = "wasm32"))]
        (Precision::F32, _) => Box::new(CpuExecutor::<f32, 16>::new(problem, share, level, memory_budget)?),
        #[cfg(not(target_arch = "wasm32"))]
        (Precision::F64, _) => Box::new(CpuExecutor::<f64, 8>::new(problem, share, level, memory_budget)?),
    })
}

/// One problem in memory, N samples to a block.
struct CpuExecutor<T, const N: usize> {
    info: BackendInfo,
    vectors: CpuVectors<T>,
    passes: Passes<T, N>,
    point: RefCell<Option<Rc<Point<T>>>>,
    plane: RefCell<Option<Rc<Plane<T>>>>,
}

impl<T: Real, const N: usize> CpuExecutor<T, N> {
    fn new(problem: &Problem, share: usize, level: Level, memory_budget: Option<u64>) -> Result<Self> {
        let net = Net::new(Plan::new(problem.network()), level)?;
        let data = Data::new(&net.plan, problem, share)?;
        let passes = Passes::new(net, data, memory_budget.unwrap_or(MEMORY_BUDGET));
        // Told now rather than in the middle of a pass; and what can be addressed all together can be so piece by piece.
        ask_for("what a gradient and a product take of this network", passes.working_bytes())?;
        Ok(Self {
            info: cpu_info(T::PRECISION),
            vectors: CpuVectors::default(),
            passes,
            point: RefCell::default(),
            plane: RefCell::default(),
        })
    }

    /// The prepared point, to be held through a pass: another may be prepared in the meantime.
    fn prepared(&self) -> Result<Rc<Point<T>>> {
        match &*self.point.borrow() {
            Some(point) => Ok(point.clone()),
            None => bail!(InvalidParameters, "no point is prepared: call Engine::prepare first"),
        }
    }
}

fn write_means<T: Real>(means: Means, index: usize, out: &mut [T]) {
    out[2 * index] = T::from_f64(means.loss);
    out[2 * index + 1] = T::from_f64(means.accuracy);
}

impl<T: Real, const N: usize> CpuExecutor<T, N> {
    /// Products for as many directions at a time as memory is meant for.
    async fn multiply(&self, differential: Differential, v: &Vector, out: &mut Vector) -> Result<()> {
        let n = self.passes.net.plan.parameter_count;
        let (v, out) = (T::slice(v)?, T::slice_mut(out)?);
        let group = (DIRECTION_BYTES / (2 * n * size_of::<T>()).max(1)).max(1) * n;
        let point = self.prepared()?;
        for (v, out) in v.chunks(group).zip(out.chunks_mut(group)) {
            self.passes.product(&point, &differential, v, out).await?;
        }
        Ok(())
    }
}

impl<T: Real, const N: usize> Executor for CpuExecutor<T, N> {
    fn info(&self) -> &BackendInfo {
        &self.info
    }

    fn bytes_for(&self, samples: usize) -> Option<u64> {
        Some(self.passes.bytes_for(samples))
    }

    fn vectors(&self) -> &dyn Vectors {
        &self.vectors
    }

    fn charts(&self) -> &dyn Charts {
        &self.vectors
    }

    fn prepare<'a>(&'a self, theta: &'a Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            if let Some(old) = self.point.take().and_then(Rc::into_inner) {
                self.passes.recycle(old);
            }
            let point = self.passes.point(T::slice(theta)?).await?;
            *self.point.borrow_mut() = Some(Rc::new(point));
            Ok(())
        })
    }

    fn loss(&self) -> LocalFuture<'_, Result<f64>> {
        Box::pin(ready(self.prepared().map(|point| mean(&point.losses))))
    }

    fn outputs(&self) -> LocalFuture<'_, Result<Vec<f64>>> {
        Box::pin(ready(self.prepared().and_then(|point| in_double(&point.outputs))))
    }

    fn gradient(&self, out: &mut Vector) -> Result<()> {
        T::slice_mut(out)?.copy_from_slice(&self.prepared()?.gradient);
        Ok(())
    }

    fn product<'a>(&'a self, curvature: Curvature, v: &'a Vector, out: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(self.multiply(Differential::whole(&self.passes.net.plan, curvature), v, out))
    }

    fn layer_product<'a>(
        &'a self,
        curvature: Curvature,
        layer: usize,
        v: &'a Vector,
        out: &'a mut Vector,
    ) -> LocalFuture<'a, Result<()>> {
        let net = &self.passes.net;
        Box::pin(async move {
            let Some((step, _)) = net.affine_steps().nth(layer) else {
                bail!(InvalidOption, "there is no layer {} with parameters", number_of(layer));
            };
            self.multiply(Differential::new(&net.plan, curvature, Some(step)), v, out).await
        })
    }

    fn evaluate<'a>(&'a self, theta: &'a Vector, out: &'a mut Vector, index: usize) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
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
            let means = self.passes.batch(T::slice(theta)?, rows, T::slice_mut(gradient)?).await?;
            write_means(means, index, T::slice_mut(out)?);
            Ok(())
        })
    }
}
