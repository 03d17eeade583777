//! SSE2, AVX2 with FMA, AVX-512.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{Register, Registers};

macro_rules! vector {
    (
        $vector:ty, $t:ty, $load:ident, $store:ident, $splat:ident, $add:ident, $sub:ident, $mul:ident,
        |$sum:ident, $a:ident, $b:ident| $fused:expr,
        |$of:ident, $then:ident, $other:ident| $chosen:expr
    ) => {
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
            unsafe fn minus(self, other: Self) -> Self {
                // SAFETY: the caller's.
                unsafe { $sub(self, other) }
            }

            #[inline(always)]
            unsafe fn plus_product(self, $a: Self, $b: Self) -> Self {
                let $sum = self;
                // SAFETY: the caller's.
                unsafe { $fused }
            }

            #[inline(always)]
            unsafe fn times(self, other: Self) -> Self {
                // SAFETY: the caller's.
                unsafe { $mul(self, other) }
            }

            #[inline(always)]
            unsafe fn choose(self, $then: Self, $other: Self) -> Self {
                let $of = self;
                // SAFETY: the caller's.
                unsafe { $chosen }
            }
        }
    };
}

vector!(
    __m512,
    f32,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_set1_ps,
    _mm512_add_ps,
    _mm512_sub_ps,
    _mm512_mul_ps,
    |sum, a, b| _mm512_fmadd_ps(a, b, sum),
    |of, then, other| _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(of, _mm512_setzero_ps()), other, then)
);
vector!(
    __m256,
    f32,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_set1_ps,
    _mm256_add_ps,
    _mm256_sub_ps,
    _mm256_mul_ps,
    |sum, a, b| _mm256_fmadd_ps(a, b, sum),
    |of, then, other| _mm256_blendv_ps(other, then, _mm256_cmp_ps::<_CMP_GT_OQ>(of, _mm256_setzero_ps()))
);
vector!(
    __m128,
    f32,
    _mm_loadu_ps,
    _mm_storeu_ps,
    _mm_set1_ps,
    _mm_add_ps,
    _mm_sub_ps,
    _mm_mul_ps,
    |sum, a, b| _mm_add_ps(sum, _mm_mul_ps(a, b)),
    |of, then, other| {
        let is_positive = _mm_cmpgt_ps(of, _mm_setzero_ps());
        _mm_or_ps(_mm_and_ps(is_positive, then), _mm_andnot_ps(is_positive, other))
    }
);
vector!(
    __m512d,
    f64,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_set1_pd,
    _mm512_add_pd,
    _mm512_sub_pd,
    _mm512_mul_pd,
    |sum, a, b| _mm512_fmadd_pd(a, b, sum),
    |of, then, other| _mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_GT_OQ>(of, _mm512_setzero_pd()), other, then)
);
vector!(
    __m256d,
    f64,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_set1_pd,
    _mm256_add_pd,
    _mm256_sub_pd,
    _mm256_mul_pd,
    |sum, a, b| _mm256_fmadd_pd(a, b, sum),
    |of, then, other| _mm256_blendv_pd(other, then, _mm256_cmp_pd::<_CMP_GT_OQ>(of, _mm256_setzero_pd()))
);
vector!(
    __m128d,
    f64,
    _mm_loadu_pd,
    _mm_storeu_pd,
    _mm_set1_pd,
    _mm_add_pd,
    _mm_sub_pd,
    _mm_mul_pd,
    |sum, a, b| _mm_add_pd(sum, _mm_mul_pd(a, b)),
    |of, then, other| {
        let is_positive = _mm_cmpgt_pd(of, _mm_setzero_pd());
        _mm_or_pd(_mm_and_pd(is_positive, then), _mm_andnot_pd(is_positive, other))
    }
);

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
