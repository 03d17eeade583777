//! A vector that an operator computes with, kept from one product to the next.

use std::cell::RefCell;

use crate::engine::{Vector, Vectors};
use crate::error::Result;

/// A place for one such vector, always of the same length.
#[derive(Default)]
pub(crate) struct Scratch(RefCell<Option<Vector>>);

impl Scratch {
    /// The one that was left here, as it was left, if it has as many columns; else a new one, of zeros.
    ///
    /// # Errors
    /// The device's.
    pub fn take(&self, vectors: &dyn Vectors, len: usize, columns: usize) -> Result<Vector> {
        match self.0.take() {
            Some(vector) if vector.columns() == columns => Ok(vector),
            _ => vectors.zeros(len, columns),
        }
    }

    /// For the next product.
    pub fn leave(&self, vector: Vector) {
        *self.0.borrow_mut() = Some(vector);
    }
}
