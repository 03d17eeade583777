//! Gradients in W and b of affine steps: sums over blocks, positions and lanes.

use std::ops::Range;

use super::affine::{Affine, ROWS};
use super::real::Real;
use super::simd::Work;
use super::tile::{Sums, outer};

/// Of one block: δ (positions, rows, N), and the transposed input that it meets.
pub type Term<'a, T> = (&'a [T], &'a [T]);

/// δ is read again and again, for tile after tile of columns: it should stay in the first-level cache.
const STRIP_BYTES: usize = 40 << 10;

/// `out` += Σ over the terms, positions and lanes of δ xᵀ, for some rows of W: (rows, columns).
pub struct WeightGradient<'a, T, const N: usize> {
    pub affine: &'a Affine,
    pub rows: Range<usize>,
    pub terms: &'a [Term<'a, T>],
    pub out: &'a mut [T],
}

impl<T: Real, const N: usize> Work for WeightGradient<'_, T, N> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        // A narrow tile where a wide one would be mostly beyond the run's end; WebAssembly's are narrow already.
        #[cfg(not(target_arch = "wasm32"))]
        {
            let run = self.affine.window.size[1] * self.affine.input.channels;
            if !self.affine.is_dense() && run.next_multiple_of(8) * 5 < run.next_multiple_of(N) * 4 {
                return self.in_tiles::<8, FMA>();
            }
        }
        self.in_tiles::<N, FMA>();
    }
}

impl<T: Real, const N: usize> WeightGradient<'_, T, N> {
    #[inline(always)]
    fn in_tiles<const J: usize, const FMA: bool>(self) {
        let Self { affine, rows, terms, out } = self;
        let strip = (STRIP_BYTES / (affine.positions() * rows.len() * N * size_of::<T>()).max(1)).max(1);
        let run = affine.window.size[1] * affine.input.channels;
        for terms in terms.chunks(strip) {
            for tile in 0..affine.window.size[0] * run.div_ceil(J) {
                let (ky, tile) = (tile / run.div_ceil(J), tile % run.div_ceil(J));
                let places = &affine.column_of[ky * run + tile * J..][..J.min(run - tile * J)];
                let places = Places::new(places, J);
                for first in rows.clone().step_by(ROWS) {
                    let out = &mut out[(first - rows.start) * affine.columns..];
                    match rows.end - first {
                        1 => add_tile::<T, 1, N, J, FMA>(affine, terms, first, ky, tile, places, out),
                        2 => add_tile::<T, 2, N, J, FMA>(affine, terms, first, ky, tile, places, out),
                        3 => add_tile::<T, 3, N, J, FMA>(affine, terms, first, ky, tile, places, out),
                        _ => add_tile::<T, 4, N, J, FMA>(affine, terms, first, ky, tile, places, out),
                    }
                }
            }
        }
    }
}

/// R rows of W and up to J of its columns, of the window's line `ky`.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "a tile's place in W")]
fn add_tile<T: Real, const R: usize, const N: usize, const J: usize, const FMA: bool>(
    affine: &Affine,
    terms: &[Term<'_, T>],
    first: usize,
    ky: usize,
    tile: usize,
    places: Places<'_>,
    out: &mut [T],
) {
    let mut sums = Sums::load(&[[T::ZERO; J]; R]);
    if affine.is_dense() {
        for (delta, input) in terms {
            outer::<T, R, N, J, FMA>(&mut sums, &delta[first * N..], &input[tile * N * N..], N);
        }
    } else {
        let stride = affine.row_stride();
        let line = N * stride;
        let ([sy, sx], channels) = (affine.window.stride, affine.input.channels);
        for (delta, input) in terms {
            let input = &input[ky * line + tile * J..];
            for (y, delta) in delta.chunks_exact(affine.output.width * affine.rows * N).enumerate() {
                for (x, delta) in delta.chunks_exact(affine.rows * N).enumerate() {
                    let corner = y * sy * line + x * sx * channels;
                    outer::<T, R, N, J, FMA>(&mut sums, &delta[first * N..], &input[corner..], stride);
                }
            }
        }
    }
    for (sums, out) in sums.store().iter().zip(out.chunks_exact_mut(affine.columns)) {
        match places {
            Places::Run(first) => {
                for (out, &sum) in out[first..first + J].iter_mut().zip(sums) {
                    *out += sum;
                }
            }
            Places::Listed(places) => {
                for (&sum, &place) in sums.iter().zip(places) {
                    out[place as usize] += sum;
                }
            }
        }
    }
}

/// Where a tile's columns lie in a row of W.
#[derive(Clone, Copy)]
enum Places<'a> {
    /// A whole tile, one after the other from here on.
    Run(usize),
    Listed(&'a [u32]),
}

impl<'a> Places<'a> {
    fn new(places: &'a [u32], tile: usize) -> Self {
        let is_run = places.len() == tile && places.windows(2).all(|pair| pair[1] == pair[0] + 1);
        if is_run { Self::Run(places[0] as usize) } else { Self::Listed(places) }
    }
}

/// `out` += Σ over positions and lanes of δ (positions, all rows, N), for some rows: the gradient of b from one block.
pub fn bias_gradient<T: Real, const N: usize>(all_rows: usize, rows: Range<usize>, delta: &[T], out: &mut [T]) {
    for position in delta.chunks_exact(all_rows * N) {
        for (out, lanes) in out.iter_mut().zip(position[rows.start * N..].as_chunks::<N>().0) {
            *out += lanes.iter().copied().sum();
        }
    }
}
