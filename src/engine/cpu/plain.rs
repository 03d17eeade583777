//! Steps without weights on one block of N samples: what they give, their tangents and their transposes.

use super::point::sized;
use super::pool::{self, Windows};
use super::real::Real;
use crate::engine::plan::{Operation, Step};
use crate::error::Result;

/// A step without weights, with its geometry.
pub enum Plain {
    MaxPool(Windows),
    AveragePool(Windows),
    Copy,
}

impl Plain {
    /// # Errors
    /// `TooLarge` where its tables do not fit in memory.
    pub fn new(step: &Step) -> Result<Self> {
        Ok(match step.operation {
            Operation::MaxPool => Self::MaxPool(Windows::new(step)?),
            Operation::AveragePool => Self::AveragePool(Windows::new(step)?),
            Operation::Copy | Operation::Affine { .. } => Self::Copy,
        })
    }

    /// What it gives for what it reads, and what it chose where it chooses.
    pub fn forward<T: Real, const N: usize>(&self, x: &[T], chosen: &mut Vec<u32>, out: &mut [T]) -> Result<()> {
        match self {
            Self::MaxPool(windows) => pool::max::<T, N>(windows, x, out, sized(chosen, out.len())?),
            Self::AveragePool(windows) => pool::average::<T, N>(windows, x, out),
            Self::Copy => out.copy_from_slice(x),
        }
        Ok(())
    }

    /// The tangent of what it gives, from that of what it reads.
    pub fn tangent<T: Real, const N: usize>(&self, x: &[T], chosen: &[u32], out: &mut [T]) {
        match self {
            Self::MaxPool(_) => pool::max_tangent(x, chosen, out),
            Self::AveragePool(windows) => pool::average::<T, N>(windows, x, out),
            Self::Copy => out.copy_from_slice(x),
        }
    }

    /// The cotangent of what it reads, from that of what it gives: the transpose of [`Self::tangent`].
    pub fn transpose<T: Real, const N: usize>(&self, d: &[T], chosen: &[u32], out: &mut [T]) {
        match self {
            Self::MaxPool(_) => pool::max_backward(d, chosen, out),
            Self::AveragePool(windows) => pool::average_backward::<T, N>(windows, d, out),
            Self::Copy => out.copy_from_slice(d),
        }
    }
}
