//! Inputs that are the same in every sample, taken together: pixels at the edge of all images, features that nobody has.
//!
//! The columns of a first dense layer that meet the same input in every sample act by their sum alone, so that L(θ) = L'(P θ) with the loss
//! L' of a narrower network and a P that adds such columns up and leaves out those that meet zeros. Hence ∇L = Pᵀ ∇L' and
//! C v = Pᵀ C' P v: every pass but the sweeps, which see the columns one by one, is the narrower network's. Of MNIST's 784 pixels 580
//! differ in the first 500 images, 665 in the first 6,000.

mod columns;

use std::cell::{Cell, RefCell};

use self::columns::{Columns, narrowed};
use super::Device;
use super::chart::Charts;
use super::cpu::real::Real;
use super::executor::{BackendInfo, Curvature, Executor, Precision};
use super::sweep::{Cotangent, LayerSums};
use super::vector::{Vector, Vectors};
use crate::control::LocalFuture;
use crate::error::{Result, bail};
use crate::memory::{copied, zeros};
use crate::problem::Problem;

/// An executor on the narrower problem, if it is one that makes the passes faster.
///
/// # Errors
/// As [`Device::cpu_executor`].
pub(super) fn executor(device: &Device, problem: &Problem) -> Result<Option<Box<dyn Executor>>> {
    let Some((columns, narrow)) = narrowed(problem)? else { return Ok(None) };
    Ok(Some(match device.info.precision {
        Precision::F32 => Box::new(Merged::<f32>::new(device, problem, columns, &narrow)?),
        Precision::F64 => Box::new(Merged::<f64>::new(device, problem, columns, &narrow)?),
    }))
}

/// A problem by way of the narrower one.
struct Merged<T> {
    narrow: Box<dyn Executor>,
    columns: Columns,
    /// Of the narrower network and of the whole one.
    parameters: [usize; 2],
    device: Device,
    problem: Problem,
    /// The prepared point, for sweeps.
    theta: RefCell<Vec<T>>,
    /// What sweeps, once it has been needed at this point.
    whole: Cell<Option<Box<dyn Executor>>>,
}

impl<T: Real> Merged<T> {
    fn new(device: &Device, problem: &Problem, columns: Columns, narrow: &Problem) -> Result<Self> {
        Ok(Self {
            narrow: device.cpu_executor(narrow)?,
            columns,
            parameters: [narrow, problem].map(|problem| problem.network().parameter_count()),
            device: device.clone(),
            problem: problem.clone(),
            theta: RefCell::default(),
            whole: Cell::default(),
        })
    }

    /// Room for so many columns of the narrower network's parameters.
    fn room(&self, columns: usize) -> Result<Vector> {
        self.vectors().zeros(self.parameters[0], columns)
    }

    /// P v.
    fn sum(&self, v: &Vector) -> Result<Vector> {
        let mut out = self.room(v.columns())?;
        self.columns.sum(T::slice(v)?, self.parameters[1], T::slice_mut(&mut out)?);
        Ok(out)
    }

    /// Pᵀ g.
    fn spread(&self, g: &Vector, out: &mut Vector) -> Result<()> {
        self.columns.spread(T::slice(g)?, self.parameters[1], T::slice_mut(out)?);
        Ok(())
    }

    /// An executor over all inputs, at the prepared point.
    async fn whole(&self) -> Result<Box<dyn Executor>> {
        if let Some(whole) = self.whole.take() {
            return Ok(whole);
        }
        let mut theta = self.vectors().zeros(self.parameters[1], 1)?;
        {
            let prepared = self.theta.borrow();
            if prepared.is_empty() {
                bail!(InvalidParameters, "no point is prepared: call Engine::prepare first");
            }
            T::slice_mut(&mut theta)?.copy_from_slice(&prepared);
        }
        let whole = self.device.cpu_executor(&self.problem)?;
        whole.prepare(&theta).await?;
        Ok(whole)
    }
}

impl<T: Real> Executor for Merged<T> {
    fn info(&self) -> &BackendInfo {
        self.narrow.info()
    }

    fn threads(&self, samples: usize) -> usize {
        self.narrow.threads(samples)
    }

    fn bytes_for(&self, samples: usize) -> Option<u64> {
        self.narrow.bytes_for(samples)
    }

    fn vectors(&self) -> &dyn Vectors {
        self.narrow.vectors()
    }

    fn charts(&self) -> &dyn Charts {
        self.narrow.charts()
    }

    fn prepare<'a>(&'a self, theta: &'a Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            self.whole.take();
            self.theta.take();
            self.narrow.prepare(&self.sum(theta)?).await?;
            *self.theta.borrow_mut() = copied("a point's parameters", T::slice(theta)?)?;
            Ok(())
        })
    }

    fn loss(&self) -> LocalFuture<'_, Result<f64>> {
        self.narrow.loss()
    }

    fn outputs(&self) -> LocalFuture<'_, Result<Vec<f64>>> {
        self.narrow.outputs()
    }

    fn gradient(&self, out: &mut Vector) -> Result<()> {
        let mut gradient = self.room(1)?;
        self.narrow.gradient(&mut gradient)?;
        self.spread(&gradient, out)
    }

    fn product<'a>(&'a self, curvature: Curvature, v: &'a Vector, out: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut product = self.room(v.columns())?;
            self.narrow.product(curvature, &self.sum(v)?, &mut product).await?;
            self.spread(&product, out)
        })
    }

    fn layer_product<'a>(
        &'a self,
        curvature: Curvature,
        layer: usize,
        v: &'a Vector,
        out: &'a mut Vector,
    ) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut product = self.room(v.columns())?;
            self.narrow.layer_product(curvature, layer, &self.sum(v)?, &mut product).await?;
            self.spread(&product, out)
        })
    }

    fn evaluate<'a>(&'a self, theta: &'a Vector, out: &'a mut Vector, index: usize) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move { self.narrow.evaluate(&self.sum(theta)?, out, index).await })
    }

    fn prepare_plane<'a>(
        &'a self,
        theta: &'a Vector,
        u: &'a Vector,
        v: Option<&'a Vector>,
    ) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let v = v.map(|v| self.sum(v)).transpose()?;
            self.narrow.prepare_plane(&self.sum(theta)?, &self.sum(u)?, v.as_ref()).await
        })
    }

    fn evaluate_plane<'a>(&'a self, points: &'a [[f64; 2]], out: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        self.narrow.evaluate_plane(points, out)
    }

    fn sweep<'a>(&'a self, cotangents: &'a [Cotangent]) -> LocalFuture<'a, Result<Vec<Vec<LayerSums>>>> {
        Box::pin(async move {
            let whole = self.whole().await?;
            let found = whole.sweep(cotangents).await;
            self.whole.set(Some(whole));
            found
        })
    }

    fn squared_gradients<'a>(&'a self, cotangents: &'a [Cotangent]) -> LocalFuture<'a, Result<Vec<f64>>> {
        Box::pin(async move {
            let narrow = self.narrow.squared_gradients(cotangents).await?;
            let mut found = zeros("squares of gradients", self.parameters[1])?;
            self.columns.spread(&narrow, self.parameters[1], &mut found);
            Ok(found)
        })
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
            let mut narrow = self.room(1)?;
            self.narrow.batch_gradient(&self.sum(theta)?, rows, &mut narrow, out, index).await?;
            self.spread(&narrow, gradient)
        })
    }
}
