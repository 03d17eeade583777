//! Vectors in memory, in f64 or f32.

use std::future::ready;
use std::marker::PhantomData;
use std::ops::Range;

use super::real::Real;
use super::{chart, vector_ops};
use crate::control::LocalFuture;
use crate::engine::chart::{Chart, Charts, LoadedChart};
use crate::engine::executor::Precision;
use crate::engine::shapes;
use crate::engine::vector::{AdamStep, Segments, Vector, Vectors};
use crate::error::Result;
use crate::event_loop::worked;
use crate::memory::{self, collected, product, room};

/// A [`Vector`]'s storage is a `Vec<T>` here.
pub(in crate::engine) struct CpuVectors<T>(PhantomData<T>);

impl<T> Default for CpuVectors<T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// In double precision.
pub(super) fn in_double<T: Real>(values: &[T]) -> Result<Vec<f64>> {
    collected("numbers read back", values.iter().map(|&value| value.to_f64()))
}

const WHAT: &str = "vectors of parameters";

/// Numbers that are made at once, and how many multiplications take as long as one of them, whose memory comes as it is touched.
const AT_ONCE: usize = 1 << 18;
const TOUCH: f64 = 8.0;

impl<T: Real> Vectors for CpuVectors<T> {
    fn precision(&self) -> Precision {
        T::PRECISION
    }

    fn zeros(&self, len: usize, columns: usize) -> Result<Vector> {
        let values = memory::zeros::<T>(WHAT, product::<T>(WHAT, &[len, columns])?)?;
        Ok(Vector::new(len, columns, values))
    }

    fn many_zeros(&self, len: usize, columns: usize) -> LocalFuture<'_, Result<Vector>> {
        Box::pin(async move {
            let total = product::<T>(WHAT, &[len, columns])?;
            let mut values = room(WHAT, total)?;
            while values.len() < total {
                let next = (values.len() + AT_ONCE).min(total);
                values.resize(next, T::default());
                worked(AT_ONCE as f64 * TOUCH).await?;
            }
            Ok(Vector::new(len, columns, values))
        })
    }

    fn upload(&self, values: &[f64], columns: usize) -> Result<Vector> {
        let len = shapes::upload(values, columns)?;
        let stored: Vec<T> = collected(WHAT, values.iter().map(|&v| T::from_f64(v)))?;
        Ok(Vector::new(len, columns, stored))
    }

    fn download<'a>(&'a self, vector: &'a Vector) -> LocalFuture<'a, Result<Vec<f64>>> {
        Box::pin(ready(T::slice(vector).and_then(in_double)))
    }

    fn copy_columns(&self, from: &Vector, columns: Range<usize>, to: &mut Vector, to_column: usize) -> Result<()> {
        shapes::copy_columns(from, &columns, to, to_column)?;
        let len = from.len();
        let source = &T::slice(from)?[columns.start * len..columns.end * len];
        T::slice_mut(to)?[to_column * len..][..source.len()].copy_from_slice(source);
        Ok(())
    }

    fn copy_rows(&self, from: &Vector, rows: Range<usize>, to: &mut Vector, to_row: usize) -> Result<()> {
        shapes::copy_rows(from, &rows, to, to_row)?;
        let len = to.len();
        let source = T::slice(from)?.chunks_exact(from.len().max(1));
        for (from, to) in source.zip(T::slice_mut(to)?.chunks_exact_mut(len.max(1))) {
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
        shapes::axpy(x, y)?;
        vector_ops::axpy(alpha, T::slice(x)?, T::slice_mut(y)?);
        Ok(())
    }

    fn multiply_add(&self, alpha: f64, d: &Vector, x: &Vector, beta: f64, y: &mut Vector) -> Result<()> {
        shapes::multiply_add(d, x, y)?;
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
        shapes::segment_inner(segments, a, x, &columns, out, out_offset)?;
        let x = &T::slice(x)?[columns.start * x.len()..columns.end * x.len()];
        let out = &mut T::slice_mut(out)?[out_offset..][..segments.count() * columns.len()];
        vector_ops::segment_inner(segments, T::slice(a)?, x, out);
        Ok(())
    }

    fn segment_axpy(&self, segments: &Segments, coefficients: &Vector, a: &Vector, y: &mut Vector) -> Result<()> {
        shapes::segment_axpy(segments, coefficients, a, y)?;
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
            shapes::combine(q, &columns, c, offset, y)?;
            let (q, c, len) = (T::slice(q)?, &T::slice(c)?[offset..], q.len());
            if columns.is_empty() {
                return Ok(());
            }
            for (y, c) in T::slice_mut(y)?.chunks_exact_mut(len.max(1)).zip(c.chunks_exact(columns.len())) {
                vector_ops::combine(alpha, &q[columns.start * len..columns.end * len], c, y);
                worked((len * columns.len()) as f64).await?;
            }
            Ok(())
        })
    }

    fn normalize(&self, x: &Vector, q: &mut Vector, column: usize, norms: &mut Vector, index: usize) -> Result<()> {
        shapes::normalize(x, q, column, norms, index)?;
        let norm = vector_ops::normalize(T::slice(x)?, &mut T::slice_mut(q)?[column * x.len()..][..x.len()]);
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
        shapes::adam(gradient, mean, square, theta)?;
        let (mean, square) = (T::slice_mut(mean)?, T::slice_mut(square)?);
        vector_ops::adam(step, T::slice(gradient)?, mean, square, T::slice_mut(theta)?);
        Ok(())
    }
}

impl<T: Real> Charts for CpuVectors<T> {
    fn load(&self, chart: &Chart) -> Result<LoadedChart> {
        Ok(LoadedChart::new(chart, chart.try_clone()?))
    }

    fn parameters(&self, chart: &LoadedChart, v: &Vector, theta: &mut Vector) -> Result<()> {
        chart.check_parameters(v, theta)?;
        chart::parameters(chart.storage()?, T::slice(v)?, T::slice_mut(theta)?);
        Ok(())
    }

    fn tangent(&self, chart: &LoadedChart, v: &Vector, x: &Vector, out: &mut Vector) -> Result<()> {
        chart.check_tangent(v, x, out)?;
        chart::tangent(chart.storage()?, T::slice(v)?, T::slice(x)?, T::slice_mut(out)?);
        Ok(())
    }

    fn cotangent(
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
        chart::cotangent(chart.storage()?, T::slice(v)?, T::slice(z)?, second, T::slice_mut(out)?);
        Ok(())
    }
}
