//! The two number formats of the CPU executor.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub};

use bytemuck::Pod;

use super::super::executor::Precision;
use super::super::vector::Vector;
use super::lanes::Registers;
use crate::error::Result;
use crate::memory::collected;
use crate::problem::Values;

/// f32 or f64.
pub(in crate::engine) trait Real:
    Pod
    + Registers
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + MulAssign
    + Sum
    + Send
    + Sync
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Which of the two.
    const PRECISION: Precision;

    /// Rounded from double precision.
    fn from_f64(value: f64) -> Self;
    /// Widened to double precision.
    fn to_f64(self) -> f64;
    /// The values of a vector in this format.
    fn slice(vector: &Vector) -> Result<&[Self]> {
        vector.storage::<Vec<Self>>().map(Vec::as_slice)
    }
    /// The same to write.
    fn slice_mut(vector: &mut Vector) -> Result<&mut [Self]> {
        vector.storage_mut::<Vec<Self>>().map(Vec::as_mut_slice)
    }
    /// The first `count` values of a data set.
    fn values(values: &Values, count: usize) -> Result<Vec<Self>>;
}

macro_rules! real {
    ($t:ty, $precision:ident) => {
        impl Real for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const PRECISION: Precision = Precision::$precision;

            fn from_f64(value: f64) -> Self {
                value as $t
            }

            fn to_f64(self) -> f64 {
                f64::from(self)
            }

            fn values(values: &Values, count: usize) -> Result<Vec<Self>> {
                const WHAT: &str = "a copy of the inputs";
                match values {
                    Values::F32(values) => collected(WHAT, values[..count].iter().map(|&v| v as Self)),
                    Values::F64(values) => collected(WHAT, values[..count].iter().map(|&v| v as Self)),
                }
            }
        }
    };
}

real!(f32, F32);
real!(f64, F64);

/// Numbers with both signs for tests, others for every seed.
#[cfg(test)]
pub fn numbers<T: Real>(seed: usize, len: usize) -> Vec<T> {
    (0..len).map(|i| T::from_f64(((i * 37 + seed * 101) % 211) as f64 / 105.0 - 1.0)).collect()
}
