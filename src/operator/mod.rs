//! Symmetric linear operators over an engine's prepared point: what estimators see.
//!
//! An estimator knows an operator's length and how to apply it, nothing of networks. Operators nest: [`Scaled`] is
//! D A D for any A, [`Restricted`] a principal submatrix of any A, [`Horizontal`] one without rescalings.

mod horizontal;
mod kind;
mod levi_civita;
mod metric;
mod restricted;
mod scaled;
mod scratch;

pub use horizontal::Horizontal;
pub use kind::{OperatorDescription, OperatorKind, Part, Whole};
pub use levi_civita::LeviCivita;
pub(crate) use levi_civita::add_connection;
pub use metric::{Connection, Metric};
pub use restricted::Restricted;
pub use scaled::Scaled;
pub(crate) use scratch::Scratch;

use crate::control::LocalFuture;
use crate::engine::{Curvature, Engine, Vector, Vectors};
use crate::error::Result;

/// A symmetric linear operator whose vectors live on an executor's device.
pub trait SymmetricOperator {
    /// Where its vectors live.
    fn vectors(&self) -> &dyn Vectors;

    /// Length of its vectors.
    fn len(&self) -> usize;

    /// Length 0? Never, for a network's operators.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `y[:, k] = A x[:, k]`; y's old values are overwritten.
    ///
    /// # Errors
    /// The device's.
    fn apply<'a>(&'a self, x: &'a Vector, y: &'a mut Vector) -> LocalFuture<'a, Result<()>>;

    /// A x for each x, one after the other, in double precision on the CPU, for operators that can be had there: tells products that
    /// are 0 from those that single precision lost to underflow. `None` for others, and where the executor's own precision is double.
    fn apply_in_f64<'a>(&'a self, _x: &'a [f64]) -> LocalFuture<'a, Result<Option<Vec<f64>>>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

impl<A: SymmetricOperator + ?Sized> SymmetricOperator for Box<A> {
    fn vectors(&self) -> &dyn Vectors {
        (**self).vectors()
    }

    fn len(&self) -> usize {
        (**self).len()
    }

    fn apply<'a>(&'a self, x: &'a Vector, y: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        (**self).apply(x, y)
    }

    fn apply_in_f64<'a>(&'a self, x: &'a [f64]) -> LocalFuture<'a, Result<Option<Vec<f64>>>> {
        (**self).apply_in_f64(x)
    }
}

/// The Hessian of the mean loss, or its Gauss–Newton matrix, at the engine's prepared point.
pub struct CurvatureOperator<'a> {
    engine: &'a Engine,
    curvature: Curvature,
    layer: Option<usize>,
}

impl<'a> CurvatureOperator<'a> {
    /// H or GGN of this engine.
    pub fn new(engine: &'a Engine, curvature: Curvature) -> Self {
        Self { engine, curvature, layer: None }
    }

    /// The same where it is applied to the weights of one layer alone, by its index among those with parameters, and nothing else
    /// of what comes out is read.
    pub(crate) fn of_layer(engine: &'a Engine, curvature: Curvature, layer: Option<usize>) -> Self {
        Self { engine, curvature, layer }
    }
}

impl SymmetricOperator for CurvatureOperator<'_> {
    fn vectors(&self) -> &dyn Vectors {
        self.engine.vectors()
    }

    fn len(&self) -> usize {
        self.engine.problem().network().parameter_count()
    }

    fn apply<'a>(&'a self, x: &'a Vector, y: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        match self.layer {
            None => Box::pin(self.engine.apply(self.curvature, x, y)),
            Some(layer) => Box::pin(self.engine.apply_layer(self.curvature, layer, x, y)),
        }
    }
}
