//! A pass over the data with what goes into it, as those who make it together see it.

use super::message::Command;
use crate::control::LocalFuture;
use crate::engine::executor::{Curvature, Executor};
use crate::engine::sweep::Cotangent;
use crate::engine::vector::Vector;
use crate::error::Result;

/// The passes of [`Executor`].
#[derive(Clone, Copy)]
pub enum Pass<'a> {
    /// [`Executor::prepare`].
    Prepare(&'a Vector),
    /// [`Executor::loss`].
    Loss,
    /// [`Executor::outputs`].
    Outputs,
    /// [`Executor::gradient`].
    Gradient,
    /// [`Executor::product`], or with a layer [`Executor::layer_product`].
    Product { curvature: Curvature, layer: Option<usize>, v: &'a Vector },
    /// [`Executor::evaluate`].
    Evaluate(&'a Vector),
    /// [`Executor::prepare_plane`].
    PreparePlane { theta: &'a Vector, u: &'a Vector, v: Option<&'a Vector> },
    /// [`Executor::evaluate_plane`].
    EvaluatePlane(&'a [[f64; 2]]),
    /// [`Executor::sweep`].
    Sweep(&'a [Cotangent]),
    /// [`Executor::squared_gradients`].
    SquaredGradients(&'a [Cotangent]),
    /// [`Executor::batch_gradient`].
    BatchGradient { theta: &'a Vector, rows: &'a [u32] },
}

impl<'a> Pass<'a> {
    /// The pass as a command with parts, which says all that goes into it; `bytes` are those of a vector.
    ///
    /// # Errors
    /// Those of `bytes`.
    pub fn message(self, bytes: impl Fn(&'a Vector) -> Result<&'a [u8]>) -> Result<(Command, Vec<&'a [u8]>)> {
        let kinds = |cotangents: &[Cotangent]| cotangents.iter().map(Into::into).collect();
        Ok(match self {
            Self::Prepare(theta) => (Command::Prepare, vec![bytes(theta)?]),
            Self::Loss => (Command::Loss, Vec::new()),
            Self::Outputs => (Command::Outputs, Vec::new()),
            Self::Gradient => (Command::Gradient, Vec::new()),
            Self::Product { curvature, layer, v } => {
                (Command::Product { curvature, layer, columns: v.columns() }, vec![bytes(v)?])
            }
            Self::Evaluate(theta) => (Command::Evaluate, vec![bytes(theta)?]),
            Self::PreparePlane { theta, u, v } => {
                let vectors = [Some(theta), Some(u), v].into_iter().flatten().map(bytes);
                (Command::PreparePlane, vectors.collect::<Result<_>>()?)
            }
            Self::EvaluatePlane(points) => (Command::EvaluatePlane, vec![bytemuck::cast_slice(points)]),
            Self::Sweep(cotangents) => (Command::Sweep(kinds(cotangents)), lists(cotangents)),
            Self::SquaredGradients(cotangents) => (Command::SquaredGradients(kinds(cotangents)), lists(cotangents)),
            Self::BatchGradient { theta, rows } => {
                (Command::BatchGradient, vec![bytes(theta)?, bytemuck::cast_slice(rows)])
            }
        })
    }
}

/// The signs of those cotangents that have some, for all samples.
fn lists(cotangents: &[Cotangent]) -> Vec<&[u8]> {
    let list = |cotangent| match cotangent {
        &Cotangent::Class(_) => None,
        Cotangent::Signs(signs) => Some(bytemuck::cast_slice(signs)),
    };
    cotangents.iter().filter_map(list).collect()
}

/// A product of an executor, whole or a layer's block.
pub fn product<'a>(
    executor: &'a dyn Executor,
    curvature: Curvature,
    layer: Option<usize>,
    v: &'a Vector,
    out: &'a mut Vector,
) -> LocalFuture<'a, Result<()>> {
    match layer {
        None => executor.product(curvature, v, out),
        Some(layer) => executor.layer_product(curvature, layer, v, out),
    }
}
