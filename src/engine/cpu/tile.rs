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
    let mut sums = Sums::load(acc);
    for (a, b) in a.as_chunks::<R>().0.iter().zip(b.as_chunks::<N>().0) {
        sums.add::<FMA>(*a, b);
    }
    *acc = sums.store();
}

/// `sums[r][j] += Σ_n d[r][n] x[n · stride + j]`: R rows of cotangents (R, N), times inputs that lie sample by sample.
#[inline(always)]
#[allow(unsafe_code)]
pub fn outer<T: Real, const R: usize, const N: usize, const J: usize, const FMA: bool>(
    sums: &mut Sums<T, R, J>,
    d: &[T],
    x: &[T],
    stride: usize,
) {
    assert!(d.len() >= R * N && x.len() >= (N - 1) * stride + J, "cotangents or inputs end before the tile does");
    let (d, x) = (d.as_ptr(), x.as_ptr());
    for n in 0..N {
        // SAFETY: the last elements, r = R − 1 and n = N − 1, are in bounds by the assertion. Checked one by one they would
        // cost as much as the arithmetic.
        let (a, b) = unsafe { (std::array::from_fn(|r| *d.add(r * N + n)), &*x.add(n * stride).cast::<[T; J]>()) };
        sums.add::<FMA>(a, b);
    }
}

#[cfg(not(target_arch = "wasm32"))]
pub use arrays::Sums;
#[cfg(target_arch = "wasm32")]
pub use vectors::Sums;

#[cfg(not(target_arch = "wasm32"))]
mod arrays {
    use super::Real;

    /// A tile's sums as arrays, which the compiler turns into the machine's vectors.
    pub struct Sums<T, const R: usize, const J: usize>([[T; J]; R]);

    impl<T: Real, const R: usize, const J: usize> Sums<T, R, J> {
        #[inline(always)]
        pub fn load(tile: &[[T; J]; R]) -> Self {
            Self(*tile)
        }

        #[inline(always)]
        pub fn store(&self) -> [[T; J]; R] {
            self.0
        }

        /// `sums[r] += a[r] b`
        #[inline(always)]
        pub fn add<const FMA: bool>(&mut self, a: [T; R], b: &[T; J]) {
            for r in 0..R {
                for j in 0..J {
                    self.0[r][j] = self.0[r][j].plus::<FMA>(a[r], b[j]);
                }
            }
        }
    }
}

#[cfg(target_arch = "wasm32")]
mod vectors {
    use std::arch::wasm32::v128;
    use std::marker::PhantomData;

    use super::Real;

    /// Vectors in a row of a tile: 4 rows of 2 stay in registers, 12 sums would not.
    const PAIR: usize = 2;

    /// A tile's sums as WebAssembly's vectors. Left to the compiler, tiles of f64 stay half scalar.
    pub struct Sums<T, const R: usize, const J: usize>([[v128; PAIR]; R], PhantomData<T>);

    impl<T: Real, const R: usize, const J: usize> Sums<T, R, J> {
        #[inline(always)]
        pub fn load(tile: &[[T; J]; R]) -> Self {
            const { assert!(J == PAIR * T::PER_VECTOR, "a row of a tile is two vectors") };
            let sums = std::array::from_fn(|r| std::array::from_fn(|i| T::load(&tile[r][i * T::PER_VECTOR..])));
            Self(sums, PhantomData)
        }

        #[inline(always)]
        pub fn store(&self) -> [[T; J]; R] {
            let mut tile = [[T::ZERO; J]; R];
            for (sums, row) in self.0.iter().zip(&mut tile) {
                for (sum, out) in sums.iter().zip(row.chunks_exact_mut(T::PER_VECTOR)) {
                    T::store_vector(*sum, out);
                }
            }
            tile
        }

        /// `sums[r] += a[r] b`
        #[inline(always)]
        pub fn add<const FMA: bool>(&mut self, a: [T; R], b: &[T; J]) {
            let b: [v128; PAIR] = std::array::from_fn(|i| T::load(&b[i * T::PER_VECTOR..]));
            for (sums, a) in self.0.iter_mut().zip(a) {
                let a = a.splat();
                for (sum, b) in sums.iter_mut().zip(b) {
                    *sum = T::multiply_add(*sum, a, b);
                }
            }
        }
    }
}
