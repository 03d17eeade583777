//! Gradients in W of convolutions in Winograd's form: the adjoint of [`super::winograd`] in the weights,
//! Gᵀ [Σ (A δ Aᵀ) ⊙ (Bᵀ d B)] G, of which the sums over squares of outputs and lanes are products of matrices place by place.

use std::ops::Range;

use super::affine::Affine;
use super::gradient::{GradientWorkspace, Term, WeightGradient};
use super::lanes;
use super::real::Real;
use super::simd::Work;
use super::tile::{ROWS, accumulate};
use super::winograd::{PLACES, SEEN, SIDE, to_window};

/// Squares times lanes that are laid out together, and are one sum before they join the rest.
const STEPS: usize = 64;

/// Channels that come in, from which this is faster than sums over the windows: fewer do not pay for laying out four numbers for each one.
const LEAST_CHANNELS: usize = 32;

/// Is a step's gradient taken in this form?
pub fn is_faster(affine: &Affine) -> bool {
    affine.is_winograd && affine.input.channels >= LEAST_CHANNELS
}

/// Squares of outputs that are laid out together.
pub const fn together(lanes: usize) -> usize {
    if lanes < STEPS { STEPS / lanes } else { 1 }
}

/// The same gradient in this form.
pub struct WinogradGradient<'a, T, const N: usize>(pub WeightGradient<'a, T, N>);

impl<T: Real, const N: usize> Work for WinogradGradient<'_, T, N> {
    const ROW: usize = size_of::<[T; N]>();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let WeightGradient { affine, rows, terms, workspace, out } = self.0;
        // Natively a tile of all lanes may be wider than there are channels; WebAssembly's are narrow already.
        #[cfg(not(target_arch = "wasm32"))]
        if !affine.input.channels.is_multiple_of(N) {
            return add_gradient::<T, N, 8, FMA>(affine, rows, terms, workspace, out);
        }
        add_gradient::<T, N, N, FMA>(affine, rows, terms, workspace, out);
    }
}

/// `out` += Σ over the terms, positions and lanes of δ xᵀ, for some rows of W: (rows, columns). A tile has J channels.
#[inline(always)]
fn add_gradient<T: Real, const N: usize, const J: usize, const FMA: bool>(
    affine: &Affine,
    rows: Range<usize>,
    terms: &[Term<'_, T>],
    workspace: &mut GradientWorkspace<T>,
    out: &mut [T],
) {
    let (channels, count) = (affine.input.channels, rows.len());
    let across = affine.output.width.div_ceil(SIDE);
    let squares = affine.output.height.div_ceil(SIDE) * across;
    let in_run = channels / J;
    let GradientWorkspace { tiles: sums, delta, input, .. } = workspace;
    let sums = &mut sums[..PLACES * channels * count];
    sums.fill(T::ZERO);
    let all = terms.len() * squares;
    for first in (0..all).step_by(together(N)) {
        let some = together(N).min(all - first);
        let steps = some * N;
        let delta = &mut delta[..PLACES * count * steps];
        let input = &mut input[..PLACES * channels * steps];
        for i in 0..some {
            let (term, square) = ((first + i) / squares, (first + i) % squares);
            let corner = [square / across * SIDE, square % across * SIDE];
            widen::<T, N>(affine, rows.clone(), terms[term].0, corner, (i, some), delta.as_chunks_mut().0);
            spread::<T, N, J, FMA>(affine, terms[term].1, corner, (i, some), input.as_chunks_mut().0);
        }
        let of_places = delta.chunks_exact(count * steps).zip(input.chunks_exact(channels * steps));
        for ((delta, input), sums) in of_places.zip(sums.chunks_exact_mut(channels * count)) {
            let sums = sums.as_chunks_mut::<J>().0.chunks_exact_mut(count);
            for (input, sums) in input.chunks_exact(J * steps).zip(sums) {
                for (delta, sums) in delta.chunks_exact(ROWS * steps).zip(sums.as_chunks_mut().0) {
                    accumulate::<T, ROWS, J, FMA>(sums, delta, input);
                }
            }
        }
    }
    for (row, out) in out.chunks_exact_mut(affine.columns).enumerate() {
        for (channel, out) in out.as_chunks_mut::<9>().0.iter_mut().enumerate() {
            let mut u = [T::ZERO; PLACES];
            for (place, u) in u.iter_mut().enumerate() {
                *u = sums[((place * in_run + channel / J) * count + row) * J + channel % J];
            }
            let window = to_window(&u);
            for (out, g) in out.iter_mut().zip(window) {
                *out += g;
            }
        }
    }
}

/// A δ Aᵀ of the square whose first output is at `corner`, the i-th of some, sample by sample: (places, tiles of rows, squares, N, [`ROWS`]).
#[inline(always)]
fn widen<T: Real, const N: usize>(
    affine: &Affine,
    rows: Range<usize>,
    delta: &[T],
    [y, x]: [usize; 2],
    (i, some): (usize, usize),
    out: &mut [[T; ROWS]],
) {
    let (height, width, count) = (affine.output.height, affine.output.width, rows.len());
    let (delta, stride) = (delta.as_chunks::<N>().0, count / ROWS * some * N);
    for (tile, row) in rows.step_by(ROWS).enumerate() {
        let mut seen = [[[T::ZERO; ROWS]; N]; SIDE * SIDE];
        for (k, seen) in seen.iter_mut().enumerate() {
            let (y, x) = (y + k / SIDE, x + k % SIDE);
            if y < height && x < width {
                let rows = &delta[(y * width + x) * affine.rows + row..][..ROWS];
                for n in 0..N {
                    for r in 0..ROWS {
                        seen[n][r] = rows[r][n];
                    }
                }
            }
        }
        let out = &mut out[(tile * some + i) * N..];
        for n in 0..N {
            let columns = [along(&seen[0][n], &seen[2][n]), along(&seen[1][n], &seen[3][n])];
            for y in 0..SEEN {
                let row = along(&columns[0][y], &columns[1][y]);
                for x in 0..SEEN {
                    out[(y * SEEN + x) * stride + n] = row[x];
                }
            }
        }
    }
}

/// A δ along one side: δ₀, δ₀ + δ₁, δ₀ − δ₁ and −δ₁.
#[inline(always)]
fn along<T: Real>(a: &[T; ROWS], b: &[T; ROWS]) -> [[T; ROWS]; SEEN] {
    let mut found = [[T::ZERO; ROWS]; SEEN];
    for r in 0..ROWS {
        found[0][r] = a[r];
        found[1][r] = a[r] + b[r];
        found[2][r] = a[r] - b[r];
        found[3][r] = -b[r];
    }
    found
}

/// Bᵀ d B of what that square sees, sample by sample: (places, tiles of channels, squares, N, J).
#[inline(always)]
fn spread<T: Real, const N: usize, const J: usize, const FMA: bool>(
    affine: &Affine,
    input: &[T],
    [y, x]: [usize; 2],
    (i, some): (usize, usize),
    out: &mut [[T; J]],
) {
    let (channels, [height, width]) = (affine.input.channels, affine.padded());
    let zero = [T::ZERO; J];
    let in_run = channels / J;
    for n in 0..N {
        for tile in 0..in_run {
            let mut seen = [&zero; PLACES];
            for (k, seen) in seen.iter_mut().enumerate() {
                let (y, x) = (y + k / SEEN, x + k % SEEN);
                if y < height && x < width {
                    let at = (y * N + n) * affine.row_stride() + x * channels + tile * J;
                    if let Some(pixel) = input[at..].first_chunk() {
                        *seen = pixel;
                    }
                }
            }
            lanes::spread::<T, J, FMA>(&seen, &mut out[(tile * some + i) * N + n..], in_run * some * N);
        }
    }
}
