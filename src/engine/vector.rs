//! Vectors where an executor computes, and the arithmetic on them.

use std::any::Any;
use std::future::ready;
use std::ops::Range;

use super::executor::Precision;
use crate::control::LocalFuture;
use crate::error::{Error, ErrorCode, Result};
use crate::network::Layout;

/// A dense vector with `columns` columns of length `len`, on the device of the [`Vectors`] that made it, and opaque to everything else.
pub struct Vector {
    len: usize,
    columns: usize,
    storage: Box<dyn Any>,
}

impl Vector {
    /// A vector in a device's own storage.
    pub fn new(len: usize, columns: usize, storage: impl Any) -> Self {
        Self { len, columns, storage: Box::new(storage) }
    }

    /// Length of a column.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Length 0?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Its storage, for the device that made it.
    ///
    /// # Errors
    /// `InvalidParameters` for a vector of another device.
    pub fn storage<S: Any>(&self) -> Result<&S> {
        self.storage.downcast_ref().ok_or_else(elsewhere)
    }

    /// The same to write.
    ///
    /// # Errors
    /// As [`Vector::storage`].
    pub fn storage_mut<S: Any>(&mut self) -> Result<&mut S> {
        self.storage.downcast_mut().ok_or_else(elsewhere)
    }
}

fn elsewhere() -> Error {
    Error::new(ErrorCode::InvalidParameters, "this vector lives on another device than the engine it was given to")
}

/// Decay rates and step size of one Adam step; see [`Vectors::adam`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamStep {
    /// Learning rate.
    pub learning_rate: f64,
    /// Decay of the mean gradient.
    pub beta1: f64,
    /// Decay of the mean squared gradient.
    pub beta2: f64,
    /// Added to the root.
    pub epsilon: f64,
    /// Number of this step, from 1.
    pub step: i32,
}

/// Arithmetic on vectors where they live: all that estimators, operators and optimisers see of a device. On a GPU all of it but
/// [`Vectors::download`] is only enqueued. All sums go in a fixed order: the same calls give the same bits.
///
/// Vectors: column-major, `columns` columns of length `len` each. "one column" in a contract means `columns == 1`. Shapes that do not
/// fit each other are `InvalidParameters`.
pub trait Vectors {
    /// Number format.
    fn precision(&self) -> Precision;

    /// A vector of zeros.
    fn zeros(&self, len: usize, columns: usize) -> Result<Vector>;

    /// The same of so many columns that it takes a while: the event loop may run in the middle of it.
    fn many_zeros(&self, len: usize, columns: usize) -> LocalFuture<'_, Result<Vector>> {
        Box::pin(ready(self.zeros(len, columns)))
    }

    /// A vector of these values, `values.len() / columns` long, rounded to the executor's precision.
    fn upload(&self, values: &[f64], columns: usize) -> Result<Vector>;

    /// The values, column after column.
    fn download<'a>(&'a self, vector: &'a Vector) -> LocalFuture<'a, Result<Vec<f64>>>;

    /// `to[:, to_column + i] = from[:, columns.start + i]`.
    fn copy_columns(&self, from: &Vector, columns: Range<usize>, to: &mut Vector, to_column: usize) -> Result<()>;

    /// `to[to_row + i, k] = from[rows.start + i, k]` for every column k; both have the same number of them.
    fn copy_rows(&self, from: &Vector, rows: Range<usize>, to: &mut Vector, to_row: usize) -> Result<()>;

    /// `y *= alpha`, all columns.
    fn scale(&self, alpha: f64, y: &mut Vector) -> Result<()>;

    /// `y += alpha x`; same shape, or x one column that is added to every column of y.
    fn axpy(&self, alpha: f64, x: &Vector, y: &mut Vector) -> Result<()>;

    /// `y[:, k] = beta y[:, k] + alpha d ⊙ x[:, k]`, d one column. With `beta == 0` y's old values are not read.
    fn multiply_add(&self, alpha: f64, d: &Vector, x: &Vector, beta: f64, y: &mut Vector) -> Result<()>;

    /// `out[s + k S] = Σ_{i in segment s} a[i] x[i, columns.start + k]`, a one column, S segments; `out` is one column.
    fn segment_inner(
        &self,
        segments: &Segments,
        a: &Vector,
        x: &Vector,
        columns: Range<usize>,
        out: &mut Vector,
        out_offset: usize,
    ) -> Result<()>;

    /// `y[i, k] += coefficients[s(i) + k S] a[i]` for i in a segment s, a one column.
    fn segment_axpy(&self, segments: &Segments, coefficients: &Vector, a: &Vector, y: &mut Vector) -> Result<()>;

    /// `y[:, k] += alpha Σ_j c[offset + j + k J] q[:, columns.start + j]` over the J columns of the range.
    fn combine<'a>(
        &'a self,
        alpha: f64,
        q: &'a Vector,
        columns: Range<usize>,
        c: &'a Vector,
        offset: usize,
        y: &'a mut Vector,
    ) -> LocalFuture<'a, Result<()>>;

    /// `norms[index] = ‖x‖₂` and `q[:, column] = x / ‖x‖₂` (zeros if the norm is 0), x one column. Right for numbers of any size, as
    /// long as the norm itself is one; not finite where x is not.
    fn normalize(&self, x: &Vector, q: &mut Vector, column: usize, norms: &mut Vector, index: usize) -> Result<()>;

    /// One step of Adam (Kingma and Ba 2015) with bias correction; all vectors one column.
    fn adam(
        &self,
        step: &AdamStep,
        gradient: &Vector,
        mean: &mut Vector,
        square: &mut Vector,
        theta: &mut Vector,
    ) -> Result<()>;
}

/// Disjoint, ascending ranges that cover a vector without gaps: its blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segments {
    ends: Vec<usize>,
}

impl Segments {
    /// One segment over the whole length.
    pub fn whole(len: usize) -> Self {
        Self { ends: vec![len] }
    }

    /// A segment for every W_l and every b_l.
    pub fn blocks(layout: &Layout) -> Self {
        Self { ends: layout.blocks().iter().map(|block| block.range.end).collect() }
    }

    /// Where the last one ends.
    pub fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// None, or none with an entry?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many segments.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Segment `s`.
    ///
    /// # Panics
    /// Where there is none.
    pub fn range(&self, s: usize) -> Range<usize> {
        let start = if s == 0 { 0 } else { self.ends[s - 1] };
        start..self.ends[s]
    }

    /// All of them in order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        (0..self.count()).map(|s| self.range(s))
    }
}
