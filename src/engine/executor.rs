//! The seam between the mathematics and a device: what an executor can do.
//!
//! An executor holds one problem's data on its device and walks its [`Plan`](super::Plan). On a GPU everything
//! but a readback is only enqueued; a CPU that has an event loop lets it run in the middle of a pass. So passes,
//! readbacks and sums of many columns are futures, and what is done entry by entry is a plain function. Vectors are the executor's
//! own, live where it computes, and are handed to no other device's executor. All sums go in a fixed order: the same calls
//! give the same bits.

use std::ops::Range;

use super::chart::{Chart, LoadedChart};
use super::sweep::{Cotangent, LayerSums};
use super::vector::{Segments, Vector};
use crate::control::LocalFuture;
use crate::error::Result;

/// Number format of an executor's arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
}

impl Precision {
    /// Distance from 1 to the next number.
    pub fn epsilon(self) -> f64 {
        match self {
            Self::F32 => f64::from(f32::EPSILON),
            Self::F64 => f64::EPSILON,
        }
    }

    /// Residual, relative to the spectral norm, at which an eigenvalue counts as converged where none is asked for. In
    /// f32, rounding of a product leaves a few 1e-6; an eigenvalue's error is the residual's square over the gap.
    pub fn eigenvalue_tolerance(self) -> f64 {
        match self {
            Self::F32 => 2e-5,
            Self::F64 => 1e-9,
        }
    }

    /// `"f32"` or `"f64"`.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }
}

/// Which second derivative a product is taken with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Curvature {
    /// The Hessian of the mean loss.
    Hessian,
    /// The Gauss–Newton matrix: the Hessian without the terms that contain δ.
    GaussNewton,
}

/// What computes, for the reader of a number.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BackendInfo {
    /// `"cpu"` or `"gpu"`.
    pub backend: &'static str,
    /// The adapter's name, or what the CPU executor is made of.
    pub adapter: String,
    /// The API under it: `"wasm"`, `"native"`, `"webgpu"`, `"vulkan"`, `"metal"`, `"dx12"`.
    pub api: String,
    /// Number format.
    pub precision: Precision,
    /// Does the GPU API run on a CPU (SwiftShader, llvmpipe, WARP)?
    pub is_software: bool,
    /// Threads of the CPU that compute; 1 on a GPU.
    pub threads: usize,
    /// Why there are fewer threads than were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads_reason: Option<String>,
}

/// Decay rates and step size of one Adam step; see [`Executor::adam`].
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

/// One problem on one device. See the module's header for the rules.
///
/// Vectors: column-major, `columns` columns of length `len` each. "one column" in a contract means `columns == 1`.
/// Lengths are checked by the callers in this crate; an executor may assert them.
pub trait Executor {
    /// What computes.
    fn info(&self) -> &BackendInfo;

    /// How many threads a batch of this many samples, or a pass over all if there are so many, is shared out to.
    fn threads(&self, _samples: usize) -> usize {
        self.info().threads
    }

    // --- vectors -----------------------------------------------------------------------------------------------

    /// A vector of zeros.
    fn zeros(&self, len: usize, columns: usize) -> Result<Vector>;

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

    // --- parameter spaces --------------------------------------------------------------------------------------

    /// A chart's constants on the device.
    fn load_chart(&self, chart: &Chart) -> Result<LoadedChart>;

    /// `theta = θ(v)`, both one column. A constant parameter is the chart's constant, bit for bit, rounded to the precision.
    fn chart_parameters(&self, chart: &LoadedChart, v: &Vector, theta: &mut Vector) -> Result<()>;

    /// `out[:, k] = J(v) x[:, k]`, J = ∂θ/∂v, v one column.
    fn chart_tangent(&self, chart: &LoadedChart, v: &Vector, x: &Vector, out: &mut Vector) -> Result<()>;

    /// `out[:, k] = J(v)ᵀ z[:, k]`, and where `second` is (g, x), `+ (g · ∇²θ(v)) x[:, k]`; v and g one column.
    fn chart_cotangent(
        &self,
        chart: &LoadedChart,
        v: &Vector,
        z: &Vector,
        second: Option<(&Vector, &Vector)>,
        out: &mut Vector,
    ) -> Result<()>;

    // --- passes over the whole data ----------------------------------------------------------------------------

    /// Fixes the point θ (one column): activations, δ and the gradient are computed and kept.
    fn prepare<'a>(&'a self, theta: &'a Vector) -> LocalFuture<'a, Result<()>>;

    /// Mean loss at the prepared point.
    fn loss(&self) -> LocalFuture<'_, Result<f64>>;

    /// Outputs ŷ (samples × output_len, row-major) at the prepared point.
    fn outputs(&self) -> LocalFuture<'_, Result<Vec<f64>>>;

    /// ∇L at the prepared point, into one column.
    fn gradient(&self, out: &mut Vector) -> Result<()>;

    /// `out[:, k] = C v[:, k]` at the prepared point, C the Hessian or the Gauss–Newton matrix.
    fn product<'a>(&'a self, curvature: Curvature, v: &'a Vector, out: &'a mut Vector) -> LocalFuture<'a, Result<()>>;

    /// Forward pass at θ, which need not be the prepared point and leaves it as it is:
    /// `out[2 index]` = mean loss, `out[2 index + 1]` = share of samples whose largest output is the target's (cross-entropy;
    /// 0 for squared error; the first one wins a tie).
    fn evaluate<'a>(&'a self, theta: &'a Vector, out: &'a mut Vector, index: usize) -> LocalFuture<'a, Result<()>>;

    /// Fixes a plane θ + s u + t v (all one column; without `v`, a line) for [`Executor::evaluate_plane`]. Layer 1 is linear
    /// in (s, t), so its products with the data are taken once, here or at the first evaluation. Leaves the prepared point
    /// as it is.
    fn prepare_plane<'a>(
        &'a self,
        theta: &'a Vector,
        u: &'a Vector,
        v: Option<&'a Vector>,
    ) -> LocalFuture<'a, Result<()>>;

    /// Losses and accuracies at points [s, t] of the plane, as in [`Executor::evaluate`], from `out[0]` on.
    fn evaluate_plane<'a>(&'a self, points: &'a [[f64; 2]], out: &'a mut Vector) -> LocalFuture<'a, Result<()>>;

    /// One backward pass at the prepared point for each cotangent; for each, what it leaves at every affine step in order.
    fn sweep<'a>(&'a self, cotangents: &'a [Cotangent]) -> LocalFuture<'a, Result<Vec<Vec<LayerSums>>>>;

    /// The same passes; for every parameter, Σ over the cotangents of the mean over samples of the square of its gradient.
    fn squared_gradients<'a>(&'a self, cotangents: &'a [Cotangent]) -> LocalFuture<'a, Result<Vec<f64>>>;

    // --- passes over a batch -----------------------------------------------------------------------------------

    /// Gradient at θ of the mean loss over these samples (indices may repeat), and their loss and accuracy as in
    /// [`Executor::evaluate`]. Leaves the prepared point as it is.
    fn batch_gradient<'a>(
        &'a self,
        theta: &'a Vector,
        rows: &'a [u32],
        gradient: &'a mut Vector,
        out: &'a mut Vector,
        index: usize,
    ) -> LocalFuture<'a, Result<()>>;
}
