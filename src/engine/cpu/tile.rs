//! The register tile that all matrix products are made of.

use super::lanes;
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

#[inline(always)]
fn add_part<T: Real, const R: usize, const J: usize, const FMA: bool>(out: &mut [[T; J]; R], a: &[T], b: &[T]) {
    let mut sums = Sums::zero();
    for (a, b) in a.as_chunks::<R>().0.iter().zip(b.as_chunks::<J>().0) {
        sums.add::<FMA>(a, b);
    }
    sums.add_to::<FMA>(out);
}

/// A tile's sums, R rows of J.
pub struct Sums<T, const R: usize, const J: usize>([[T; J]; R]);

impl<T: Real, const R: usize, const J: usize> Sums<T, R, J> {
    #[inline(always)]
    pub fn zero() -> Self {
        Self([[T::ZERO; J]; R])
    }

    /// `tile[r] += sums[r]`
    #[inline(always)]
    pub fn add_to<const FMA: bool>(&self, tile: &mut [[T; J]; R]) {
        for (r, row) in tile.iter_mut().enumerate() {
            self.add_row_to::<FMA>(r, row);
        }
    }

    /// `row += sums[r]`
    #[inline(always)]
    pub fn add_row_to<const FMA: bool>(&self, r: usize, row: &mut [T; J]) {
        lanes::add::<T, J, FMA>(row, &self.0[r]);
    }

    /// `row = start + sums[r]`
    #[inline(always)]
    pub fn write_row<const FMA: bool>(&self, r: usize, start: T, row: &mut [T; J]) {
        lanes::write::<T, J, FMA>(row, start, &self.0[r]);
    }

    /// `sums[r] += a[r] b`
    #[inline(always)]
    pub fn add<const FMA: bool>(&mut self, a: &[T; R], b: &[T; J]) {
        for r in 0..R {
            lanes::add_scaled::<T, J, FMA>(&mut self.0[r], a[r], b);
        }
    }

    /// `sums[r] += a b[r]`
    #[inline(always)]
    pub fn add_each<const FMA: bool>(&mut self, a: T, b: [&[T; J]; R]) {
        for r in 0..R {
            lanes::add_scaled::<T, J, FMA>(&mut self.0[r], a, b[r]);
        }
    }

    /// `sums[r] += a ⊙ b[r]`
    #[inline(always)]
    pub fn add_products<const FMA: bool>(&mut self, a: &[T; J], b: [&[T; J]; R]) {
        for r in 0..R {
            lanes::add_product::<T, J, FMA>(&mut self.0[r], a, b[r]);
        }
    }
}
