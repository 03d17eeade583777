//! WebAssembly's 128 bits, relaxed where the module is compiled for that.

#![allow(unsafe_code)]

use std::arch::wasm32::*;

use super::{Register, Registers};

/// Numbers of a format in 128 bits.
#[derive(Clone, Copy)]
pub struct Packed<T>(v128, std::marker::PhantomData<T>);

macro_rules! vector {
    ($t:ty, $splat:ident, $add:ident, $sub:ident, $mul:ident, $greater:ident, $fused:ident) => {
        // SAFETY: loads and stores of any alignment, of 16 bytes.
        unsafe impl Register<$t> for Packed<$t> {
            #[inline(always)]
            unsafe fn load(from: *const $t) -> Self {
                // SAFETY: the caller's.
                packed(unsafe { v128_load(from.cast()) })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $t) {
                // SAFETY: the caller's.
                unsafe { v128_store(to.cast(), self.0) }
            }

            #[inline(always)]
            unsafe fn splat(value: $t) -> Self {
                packed($splat(value))
            }

            #[inline(always)]
            unsafe fn plus(self, other: Self) -> Self {
                packed($add(self.0, other.0))
            }

            #[inline(always)]
            unsafe fn minus(self, other: Self) -> Self {
                packed($sub(self.0, other.0))
            }

            /// In one rounding where the instructions are [relaxed] and the machine has that.
            ///
            /// [relaxed]: https://github.com/WebAssembly/relaxed-simd
            #[inline(always)]
            unsafe fn plus_product(self, a: Self, b: Self) -> Self {
                #[cfg(target_feature = "relaxed-simd")]
                return packed($fused(a.0, b.0, self.0));
                #[cfg(not(target_feature = "relaxed-simd"))]
                packed($add(self.0, $mul(a.0, b.0)))
            }

            #[inline(always)]
            unsafe fn times(self, other: Self) -> Self {
                packed($mul(self.0, other.0))
            }

            #[inline(always)]
            unsafe fn choose(self, then: Self, other: Self) -> Self {
                packed(v128_bitselect(then.0, other.0, $greater(self.0, $splat(0.0))))
            }
        }

        impl Registers for $t {
            type Wide = Packed<$t>;
            type Fused = Packed<$t>;
            type Base = Packed<$t>;
        }
    };
}

#[inline(always)]
fn packed<T>(vector: v128) -> Packed<T> {
    Packed(vector, std::marker::PhantomData)
}

vector!(f32, f32x4_splat, f32x4_add, f32x4_sub, f32x4_mul, f32x4_gt, f32x4_relaxed_madd);
vector!(f64, f64x2_splat, f64x2_add, f64x2_sub, f64x2_mul, f64x2_gt, f64x2_relaxed_madd);
