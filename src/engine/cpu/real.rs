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
    /// C ← A B + beta C; pointers and strides as in BLAS, in elements.
    ///
    /// # Safety
    /// Every element addressed by the sizes and strides must be in bounds, and C must not overlap A or B.
    #[allow(unsafe_code, clippy::too_many_arguments)]
    unsafe fn gemm(
        m: usize,
        k: usize,
        n: usize,
        a: *const Self,
        a_strides: (usize, usize),
        b: *const Self,
        b_strides: (usize, usize),
        beta: Self,
        c: *mut Self,
        c_row_stride: usize,
    );
}

macro_rules! real {
    ($t:ty, $variant:ident, $precision:ident, $gemm:path, $values:ident) => {
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

            #[allow(unsafe_code)]
            unsafe fn gemm(
                m: usize,
                k: usize,
                n: usize,
                a: *const Self,
                (rsa, csa): (usize, usize),
                b: *const Self,
                (rsb, csb): (usize, usize),
                beta: Self,
                c: *mut Self,
                rsc: usize,
            ) {
                // SAFETY: the caller's promise is the callee's.
                unsafe {
                    $gemm(
                        m,
                        k,
                        n,
                        1.0,
                        a,
                        rsa as isize,
                        csa as isize,
                        b,
                        rsb as isize,
                        csb as isize,
                        beta,
                        c,
                        rsc as isize,
                        1,
                    );
                }
            }
        }
    };
}

real!(f32, F32, F32, matrixmultiply::sgemm, to_f32);
real!(f64, F64, F64, matrixmultiply::dgemm, to_f64);
