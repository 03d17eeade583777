//! A diagonal operator over any engine's executor: its spectrum is what a test says.
#![allow(dead_code)] // Each test file uses its own part.

use isoflat::Result;
use isoflat::control::LocalFuture;
use isoflat::engine::{Engine, Vector, Vectors};
use isoflat::operator::SymmetricOperator;

/// diag(d).
pub struct Diagonal<'a> {
    engine: &'a Engine,
    d: Vector,
}

impl<'a> Diagonal<'a> {
    /// With these entries.
    pub fn new(engine: &'a Engine, values: &[f64]) -> Self {
        Self { engine, d: engine.vectors().upload(values, 1).expect("a vector") }
    }
}

impl SymmetricOperator for Diagonal<'_> {
    fn vectors(&self) -> &dyn Vectors {
        self.engine.vectors()
    }

    fn len(&self) -> usize {
        self.d.len()
    }

    fn apply<'a>(&'a self, x: &'a Vector, y: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move { self.engine.vectors().multiply_add(1.0, &self.d, x, 0.0, y) })
    }
}
