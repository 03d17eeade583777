//! The two register tiles that all matrix products are made of. Samples lie `N` to a block, side by side: the lanes.

use super::real::Real;

/// Terms of a sum that are added up before they join the rest: rounding then grows with this number plus the number of
/// such parts, not with their product.
const PART: usize = 256;

/// `acc[r] += Σ_i a[i][r] b[i]`: R rows of weights, packed R to a step, times the lanes of what comes in.
#[inline(always)]
pub fn accumulate<T: Real, const R: usize, const N: usize, const FMA: bool>(acc: &mut [[T; N]; R], a: &[T], b: &[T]) {
    if b.len() <= PART * N {
        add_products::<T, R, N, FMA>(acc, a, b);
        return;
    }
    for (a, b) in a.chunks(PART * R).zip(b.chunks(PART * N)) {
        let mut part = [[T::ZERO; N]; R];
        add_products::<T, R, N, FMA>(&mut part, a, b);
        for (sums, part) in acc.iter_mut().zip(&part) {
            for (sum, &part) in sums.iter_mut().zip(part) {
                *sum += part;
            }
        }
    }
}

#[inline(always)]
fn add_products<T: Real, const R: usize, const N: usize, const FMA: bool>(acc: &mut [[T; N]; R], a: &[T], b: &[T]) {
    let mut sums = *acc;
    for (a, b) in a.as_chunks::<R>().0.iter().zip(b.as_chunks::<N>().0) {
        for r in 0..R {
            for n in 0..N {
                sums[r][n] = sums[r][n].plus::<FMA>(a[r], b[n]);
            }
        }
    }
    *acc = sums;
}

/// `acc[r][j] += Σ_n d[r][n] x[n · stride + j]`: R rows of cotangents, times inputs that lie sample by sample.
#[inline(always)]
#[allow(unsafe_code)]
pub fn outer<T: Real, const R: usize, const N: usize, const J: usize, const FMA: bool>(
    acc: &mut [[T; J]; R],
    d: &[T],
    x: &[T],
    stride: usize,
) {
    let d = &d.as_chunks::<N>().0[..R];
    assert!(x.len() >= (N - 1) * stride + J, "inputs end before the tile does");
    let mut sums = *acc;
    for n in 0..N {
        // SAFETY: the last tile, n = N − 1, ends within x by the assertion.
        let x = unsafe { &*x.as_ptr().add(n * stride).cast::<[T; J]>() };
        for r in 0..R {
            for j in 0..J {
                sums[r][j] = sums[r][j].plus::<FMA>(d[r][n], x[j]);
            }
        }
    }
    *acc = sums;
}
