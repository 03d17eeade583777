//! SSE2, AVX2 with FMA, AVX-512.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{Register, Registers};

macro_rules! vector {
    ($vector:ty, $t:ty, $load:ident, $store:ident, $splat:ident, $add:ident, |$sum:ident, $a:ident, $b:ident| $fused:expr) => {
        // SAFETY: loads and stores of any alignment, of as many numbers as the vector holds.
        unsafe impl Register<$t> for $vector {
            #[inline(always)]
            unsafe fn load(from: *const $t) -> Self {
                // SAFETY: the caller's.
                unsafe { $load(from) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $t) {
                // SAFETY: the caller's.
                unsafe { $store(to, self) }
            }

            #[inline(always)]
            unsafe fn splat(value: $t) -> Self {
                // SAFETY: the caller's.
                unsafe { $splat(value) }
            }

            #[inline(always)]
            unsafe fn plus(self, other: Self) -> Self {
                // SAFETY: the caller's.
                unsafe { $add(self, other) }
            }

            #[inline(always)]
            unsafe fn plus_product(self, $a: Self, $b: Self) -> Self {
                let $sum = self;
                // SAFETY: the caller's.
                unsafe { $fused }
            }
        }
    };
}

vector!(__m512, f32, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps, _mm512_add_ps, |sum, a, b| {
    _mm512_fmadd_ps(a, b, sum)
});
vector!(__m512d, f64, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_set1_pd, _mm512_add_pd, |sum, a, b| {
    _mm512_fmadd_pd(a, b, sum)
});
vector!(__m256, f32, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps, _mm256_add_ps, |sum, a, b| {
    _mm256_fmadd_ps(a, b, sum)
});
vector!(__m256d, f64, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_set1_pd, _mm256_add_pd, |sum, a, b| {
    _mm256_fmadd_pd(a, b, sum)
});
vector!(__m128, f32, _mm_loadu_ps, _mm_storeu_ps, _mm_set1_ps, _mm_add_ps, |sum, a, b| {
    _mm_add_ps(sum, _mm_mul_ps(a, b))
});
vector!(__m128d, f64, _mm_loadu_pd, _mm_storeu_pd, _mm_set1_pd, _mm_add_pd, |sum, a, b| {
    _mm_add_pd(sum, _mm_mul_pd(a, b))
});

impl Registers for f32 {
    type Wide = __m512;
    type Fused = __m256;
    type Base = __m128;
}

impl Registers for f64 {
    type Wide = __m512d;
    type Fused = __m256d;
    type Base = __m128d;
}
