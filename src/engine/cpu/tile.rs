//! The register tile that all matrix products are made of.

use super::real::Real;

/// Terms of a sum that are added up before they join the rest: rounding then grows with this number plus the number of
/// such parts, not with their product.
pub const PART: usize = 256;

/// Rows in a tile.
pub const ROWS: usize = 4;

/// An expression in which `R` is so many rows, from 1 to [`ROWS`]: a tile's height is known when it is compiled.
macro_rules! by_rows {
    ($rows:expr, $call:expr) => {
        match $rows {
            1 => {
                const R: usize = 1;
                $call
            }
            2 => {
                const R: usize = 2;
                $call
            }
            3 => {
                const R: usize = 3;
                $call
            }
            _ => {
                const R: usize = $crate::engine::cpu::tile::ROWS;
                $call
            }
        }
    };
}
pub(super) use by_rows;

/// `out[r] += Σ_i a[i][r] b[i]`: R rows, packed R to a step, times J columns to a step.
#[inline(always)]
pub fn accumulate<T: Real, const R: usize, const J: usize, const FMA: bool>(out: &mut [[T; J]; R], a: &[T], b: &[T]) {
    let (mut a, mut b) = (a, b);
    while b.len() > PART * J {
        let (first, second) = (a.split_at(PART * R), b.split_at(PART * J));
        add_part::<T, R, J, FMA>(out, first.0, second.0);
        (a, b) = (first.1, second.1);
    }
    add_part::<T, R, J, FMA>(out, a, b);
}

/// The first J numbers, by vectors: of WebAssembly a call of memory.copy would be made.
#[inline(always)]
pub fn copy<T: Real, const J: usize>(from: &[T], to: &mut [T; J]) {
    #[cfg(target_arch = "wasm32")]
    for (from, to) in from[..J].chunks_exact(T::PER_VECTOR).zip(to.chunks_exact_mut(T::PER_VECTOR)) {
        T::store_vector(T::load(from), to);
    }
    #[cfg(not(target_arch = "wasm32"))]
    to.copy_from_slice(&from[..J]);
}

#[inline(always)]
fn add_part<T: Real, const R: usize, const J: usize, const FMA: bool>(out: &mut [[T; J]; R], a: &[T], b: &[T]) {
    let mut sums = Sums::zero();
    for (a, b) in a.as_chunks::<R>().0.iter().zip(b.as_chunks::<J>().0) {
        sums.add::<FMA>(*a, b);
    }
    sums.add_to(out);
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
        pub fn zero() -> Self {
            Self([[T::ZERO; J]; R])
        }

        #[inline(always)]
        pub fn add_to(&self, tile: &mut [[T; J]; R]) {
            for (row, sums) in tile.iter_mut().zip(&self.0) {
                for (out, &sum) in row.iter_mut().zip(sums) {
                    *out += sum;
                }
            }
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

        /// `sums[r] += a b[r]`
        #[inline(always)]
        pub fn add_each<const FMA: bool>(&mut self, a: T, b: [&[T; J]; R]) {
            for r in 0..R {
                for j in 0..J {
                    self.0[r][j] = self.0[r][j].plus::<FMA>(a, b[r][j]);
                }
            }
        }

        /// `sums[r] += a ⊙ b[r]`
        #[inline(always)]
        pub fn add_products<const FMA: bool>(&mut self, a: &[T; J], b: [&[T; J]; R]) {
            for r in 0..R {
                for j in 0..J {
                    self.0[r][j] = self.0[r][j].plus::<FMA>(a[j], b[r][j]);
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
        pub fn zero() -> Self {
            const { assert!(J == PAIR * T::PER_VECTOR, "a row of a tile is two vectors") };
            Self([[T::ZERO.splat(); PAIR]; R], PhantomData)
        }

        #[inline(always)]
        pub fn add_to(&self, tile: &mut [[T; J]; R]) {
            for (row, sums) in tile.iter_mut().zip(&self.0) {
                for (out, &sum) in row.chunks_exact_mut(T::PER_VECTOR).zip(sums) {
                    T::store_vector(T::add_vectors(T::load(out), sum), out);
                }
            }
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

        /// `sums[r] += a b[r]`
        #[inline(always)]
        pub fn add_each<const FMA: bool>(&mut self, a: T, b: [&[T; J]; R]) {
            let a = a.splat();
            for (sums, b) in self.0.iter_mut().zip(b) {
                for (i, sum) in sums.iter_mut().enumerate() {
                    *sum = T::multiply_add(*sum, a, T::load(&b[i * T::PER_VECTOR..]));
                }
            }
        }

        /// `sums[r] += a ⊙ b[r]`
        #[inline(always)]
        pub fn add_products<const FMA: bool>(&mut self, a: &[T; J], b: [&[T; J]; R]) {
            let a: [v128; PAIR] = std::array::from_fn(|i| T::load(&a[i * T::PER_VECTOR..]));
            for (sums, b) in self.0.iter_mut().zip(b) {
                for (i, (sum, a)) in sums.iter_mut().zip(a).enumerate() {
                    *sum = T::multiply_add(*sum, a, T::load(&b[i * T::PER_VECTOR..]));
                }
            }
        }
    }
}
