//! The two number formats of the CPU executor.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub};

use super::super::executor::Precision;
use super::super::vector::{Storage, Vector};
use crate::error::{Result, bail};
use crate::problem::Values;

/// f32 or f64.
pub(in crate::engine) trait Real:
    Copy
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
    /// tanh.
    fn tanh(self) -> Self;
    /// The values of a data set.
    fn values(values: &Values) -> Vec<Self>;
    /// Wraps the values of a vector.
    fn store(values: Vec<Self>) -> Storage;
    /// The values of a vector that this executor made.
    fn slice(vector: &Vector) -> Result<&[Self]>;
    /// As [`Real::slice`], to write.
    fn slice_mut(vector: &mut Vector) -> Result<&mut [Self]>;
    /// a · b + self in one rounding where FMA is the machine's own, in two otherwise. `FMA` without the instruction would
    /// be a slow call.
    fn plus<const FMA: bool>(self, a: Self, b: Self) -> Self;
}

macro_rules! real {
    ($t:ty, $variant:ident, $precision:ident, $values:ident) => {
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

            fn tanh(self) -> Self {
                <$t>::tanh(self)
            }

            fn values(values: &Values) -> Vec<Self> {
                values.$values()
            }

            fn store(values: Vec<Self>) -> Storage {
                Storage::$variant(values)
            }

            fn slice(vector: &Vector) -> Result<&[Self]> {
                match &vector.storage {
                    Storage::$variant(values) => Ok(values),
                    _ => {
                        bail!(InvalidParameters, "this vector lives on another device than the engine it was given to")
                    }
                }
            }

            fn slice_mut(vector: &mut Vector) -> Result<&mut [Self]> {
                match &mut vector.storage {
                    Storage::$variant(values) => Ok(values),
                    _ => {
                        bail!(InvalidParameters, "this vector lives on another device than the engine it was given to")
                    }
                }
            }

            #[inline(always)]
            fn plus<const FMA: bool>(self, a: Self, b: Self) -> Self {
                if FMA { a.mul_add(b, self) } else { self + a * b }
            }
        }
    };
}

real!(f32, F32, F32, to_f32);
real!(f64, F64, F64, to_f64);
