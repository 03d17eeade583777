//! Number by number, which the compiler turns into the machine's vectors where it can.

#![allow(unsafe_code)]

use super::{Register, Registers};

/// One number, with a fused multiply-add where `FMA` is an instruction.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Single<T, const FMA: bool>(T);

macro_rules! single {
    ($t:ty) => {
        // SAFETY: one number is loaded and stored.
        unsafe impl<const FMA: bool> Register<$t> for Single<$t, FMA> {
            #[inline(always)]
            unsafe fn load(from: *const $t) -> Self {
                // SAFETY: the caller's.
                Self(unsafe { from.read_unaligned() })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $t) {
                // SAFETY: the caller's.
                unsafe { to.write_unaligned(self.0) }
            }

            #[inline(always)]
            unsafe fn splat(value: $t) -> Self {
                Self(value)
            }

            #[inline(always)]
            unsafe fn plus(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }

            #[inline(always)]
            unsafe fn minus(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }

            #[inline(always)]
            unsafe fn plus_product(self, a: Self, b: Self) -> Self {
                Self(if FMA { a.0.mul_add(b.0, self.0) } else { self.0 + a.0 * b.0 })
            }

            #[inline(always)]
            unsafe fn times(self, other: Self) -> Self {
                Self(self.0 * other.0)
            }

            #[inline(always)]
            unsafe fn choose(self, then: Self, other: Self) -> Self {
                if self.0 > 0.0 { then } else { other }
            }
        }

        impl Registers for $t {
            type Wide = Single<$t, true>;
            type Fused = Single<$t, true>;
            type Base = Single<$t, false>;
        }
    };
}

single!(f32);
single!(f64);
