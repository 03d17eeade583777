//! The two number formats of the CPU executor.

#[cfg(target_arch = "wasm32")]
use std::arch::wasm32::*;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub};

use super::super::executor::Precision;
use super::super::vector::Vector;
use crate::error::Result;
use crate::memory::collected;
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
    /// a · b + self in one rounding where FMA is the machine's own, in two otherwise. `FMA` without the instruction would
    /// be a slow call.
    #[cfg(not(target_arch = "wasm32"))]
    fn plus<const FMA: bool>(self, a: Self, b: Self) -> Self;

    /// Numbers in a vector.
    #[cfg(target_arch = "wasm32")]
    const PER_VECTOR: usize;
    /// The first [`Real::PER_VECTOR`] of these.
    #[cfg(target_arch = "wasm32")]
    fn load(values: &[Self]) -> v128;
    /// Writes a vector to the first [`Real::PER_VECTOR`] of these.
    #[cfg(target_arch = "wasm32")]
    fn store_vector(vector: v128, values: &mut [Self]);
    /// A vector of this number.
    #[cfg(target_arch = "wasm32")]
    fn splat(self) -> v128;
    /// a + b.
    #[cfg(target_arch = "wasm32")]
    fn add_vectors(a: v128, b: v128) -> v128;
    /// sum + a b, in one rounding where the instructions are [relaxed] and the machine has that.
    ///
    /// [relaxed]: https://github.com/WebAssembly/relaxed-simd
    #[cfg(target_arch = "wasm32")]
    fn multiply_add(sum: v128, a: v128, b: v128) -> v128;
}

macro_rules! real {
    ($t:ty, $precision:ident, $lanes:literal, $splat:ident, $add:ident, $mul:ident, $fused:ident) => {
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

            #[cfg(not(target_arch = "wasm32"))]
            #[inline(always)]
            fn plus<const FMA: bool>(self, a: Self, b: Self) -> Self {
                if FMA { a.mul_add(b, self) } else { self + a * b }
            }

            #[cfg(target_arch = "wasm32")]
            const PER_VECTOR: usize = $lanes;

            #[cfg(target_arch = "wasm32")]
            #[inline(always)]
            #[allow(unsafe_code)]
            fn load(values: &[Self]) -> v128 {
                let values: &[Self] = &values[..$lanes];
                // SAFETY: the slice above has a vector's length; any alignment will do.
                unsafe { v128_load(values.as_ptr().cast()) }
            }

            #[cfg(target_arch = "wasm32")]
            #[inline(always)]
            #[allow(unsafe_code)]
            fn store_vector(vector: v128, values: &mut [Self]) {
                let values: &mut [Self] = &mut values[..$lanes];
                // SAFETY: as above.
                unsafe { v128_store(values.as_mut_ptr().cast(), vector) }
            }

            #[cfg(target_arch = "wasm32")]
            #[inline(always)]
            fn splat(self) -> v128 {
                $splat(self)
            }

            #[cfg(target_arch = "wasm32")]
            #[inline(always)]
            fn add_vectors(a: v128, b: v128) -> v128 {
                $add(a, b)
            }

            #[cfg(target_arch = "wasm32")]
            #[inline(always)]
            fn multiply_add(sum: v128, a: v128, b: v128) -> v128 {
                #[cfg(target_feature = "relaxed-simd")]
                return $fused(a, b, sum);
                #[cfg(not(target_feature = "relaxed-simd"))]
                $add(sum, $mul(a, b))
            }
        }
    };
}

real!(f32, F32, 4, f32x4_splat, f32x4_add, f32x4_mul, f32x4_relaxed_madd);
real!(f64, F64, 2, f64x2_splat, f64x2_add, f64x2_mul, f64x2_relaxed_madd);
