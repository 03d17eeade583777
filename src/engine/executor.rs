//! The seam between the mathematics and a device: what an executor can do.
//!
//! An executor holds one problem's data on its device and walks its [`Plan`](super::Plan). Vectors live where it computes, and
//! [`Vectors`] are the arithmetic on them. On a GPU everything but a readback is only enqueued; a CPU that has an event loop lets it
//! run in the middle of a pass. So passes and readbacks are futures. [`Engine`](super::Engine) checks what goes into a pass: an
//! executor need not, and one that is called directly may panic on what does not fit.

use std::fmt;

use super::chart::Charts;
use super::sweep::{Cotangent, LayerSums};
use super::vector::{Vector, Vectors};
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
    /// Bytes of a number.
    pub fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Distance from 1 to the next number.
    pub fn epsilon(self) -> f64 {
        match self {
            Self::F32 => f64::from(f32::EPSILON),
            Self::F64 => f64::EPSILON,
        }
    }

    /// The smallest number that has all its digits.
    pub(crate) fn smallest(self) -> f64 {
        match self {
            Self::F32 => f64::from(f32::MIN_POSITIVE),
            Self::F64 => f64::MIN_POSITIVE,
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

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
    /// How many ranks there are, each with such a device, where the samples are shared out to several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<usize>,
    /// Of a GPU: among how many of the machine its ranks take turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapters: Option<usize>,
}

impl BackendInfo {
    /// The same on each of so many ranks.
    pub(super) fn of_ranks(self, ranks: usize) -> Self {
        Self { ranks: Some(ranks), ..self }
    }
}

/// One problem on one device: passes over its data. See the module's header for the rules, [`Vectors`] for the shapes.
pub trait Executor {
    /// What computes.
    fn info(&self) -> &BackendInfo;

    /// How many threads a batch of this many samples, or a pass over all if there are so many, is shared out to.
    fn threads(&self, _samples: usize) -> usize {
        self.info().threads
    }

    /// Bytes that a point and its products over so many samples take beside the data; `None` where that is not known beforehand.
    fn bytes_for(&self, _samples: usize) -> Option<u64> {
        None
    }

    /// Arithmetic on the vectors that it takes and gives.
    fn vectors(&self) -> &dyn Vectors;

    /// Parameter spaces, on the same vectors.
    fn charts(&self) -> &dyn Charts;

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

    /// The same of directions that are 0 but for the parameters of one layer, in that layer's rows of `out`: its block of C. Layers are
    /// those with parameters, from 0. What other rows of `out` hold, and what comes of directions that are not 0 there, is not said; by
    /// default it is the whole product.
    fn layer_product<'a>(
        &'a self,
        curvature: Curvature,
        _layer: usize,
        v: &'a Vector,
        out: &'a mut Vector,
    ) -> LocalFuture<'a, Result<()>> {
        self.product(curvature, v, out)
    }

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

    // --- what the host found -----------------------------------------------------------------------------------

    /// Numbers that the host counted over the samples that are here become those over all samples, where others have the rest.
    ///
    /// # Errors
    /// Those of the way to the others.
    fn total(&self, _numbers: &mut [f64]) -> Result<()> {
        Ok(())
    }
}
