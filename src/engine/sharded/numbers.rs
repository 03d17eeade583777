//! A CPU executor's vectors as they lie in memory: what goes from thread to thread.

use crate::engine::cpu::real::Real;
use crate::engine::executor::Precision;
use crate::engine::vector::Vector;
use crate::error::Result;
use crate::memory::collected;

/// The bytes of a vector of either precision.
pub fn bytes(vector: &Vector) -> Result<&[u8]> {
    f64::slice(vector).map(bytemuck::cast_slice).or_else(|_| f32::slice(vector).map(bytemuck::cast_slice))
}

/// A vector from [`bytes`].
///
/// # Errors
/// `TooLarge`.
pub fn from_bytes(precision: Precision, bytes: &[u8], columns: usize) -> Result<Vector> {
    const WHAT: &str = "a vector from another thread";
    let len = |size: usize| bytes.len() / size / columns.max(1);
    Ok(match precision {
        Precision::F64 => {
            let values: Vec<f64> = collected(WHAT, bytes.as_chunks::<8>().0.iter().map(|&b| f64::from_ne_bytes(b)))?;
            Vector::new(len(8), columns, values)
        }
        Precision::F32 => {
            let values: Vec<f32> = collected(WHAT, bytes.as_chunks::<4>().0.iter().map(|&b| f32::from_ne_bytes(b)))?;
            Vector::new(len(4), columns, values)
        }
    })
}
