//! Convolutions whose channels see one channel each, and scales: there is no matrix product in them, and what they cost is memory.
//!
//! Every number of a channel is met by a few weights of that channel alone. So the lanes of a number stay in registers over the taps of
//! the window, and rows of channels are walked in the order in which they lie.

use std::ops::Range;

use super::affine::{Affine, Backward, Class, Forward};
use super::gradient::Term;
use super::real::Real;
use super::simd::{self, Level, Work};
use super::tile::{PART, Sums, add_products};

/// Rows whose sums are in the cache together.
const ROWS: usize = 16;

/// Work on an affine step, which has loops of its own where channels see one channel each.
pub trait AffineWork: Work {
    /// The step.
    fn affine(&self) -> &Affine;

    /// Does it where channels see one channel each, as [`Work::run`] does it elsewhere.
    fn run_channelwise<const FMA: bool>(self);
}

/// Such work by those loops. They are compiled by themselves: beside the tiles' they would take registers from them.
struct Channelwise<W>(W);

impl<W: AffineWork> Work for Channelwise<W> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        self.0.run_channelwise::<FMA>();
    }
}

/// Does the work with the instructions of `level`, by the loops that suit its step.
pub fn run<W: AffineWork>(level: Level, work: W) {
    if work.affine().is_channelwise() { simd::run(level, Channelwise(work)) } else { simd::run(level, work) }
}

/// z = Σ over the terms of W x, plus b: one block. `out` is (positions, rows, N).
#[inline(always)]
pub fn forward<T: Real, const N: usize, const FMA: bool>(
    affine: &Affine,
    bias: Option<&[T]>,
    terms: &[(&Forward<T>, &[T])],
    out: &mut [T],
) {
    let (rows, channels) = (affine.rows, affine.input.channels);
    let (of_channel, columns) = (affine.rows_of_group(), affine.columns);
    for (position, out) in out.as_chunks_mut::<N>().0.chunks_exact_mut(rows).enumerate() {
        let corner = affine.corner(position);
        for (row, out) in out.iter_mut().enumerate() {
            let mut sums = Sums::<T, 1, N>::zero();
            for (weights, input) in terms {
                let x = &input.as_chunks::<N>().0[corner + row / of_channel..];
                let weights = &weights.0[row * columns..][..columns];
                for (&w, &run) in weights.iter().zip(&affine.runs) {
                    sums.add::<FMA>([w], &x[affine.run_offset(run) * channels]);
                }
            }
            let mut total = [[bias.map_or(T::ZERO, |b| b[row]); N]];
            sums.add_to(&mut total);
            [*out] = total;
        }
    }
}

/// q = Σ over the terms of Wᵀ δ, at the pixels of one row that are in one class; `out` is that row's.
#[inline(always)]
pub fn backward<T: Real, const N: usize, const FMA: bool>(
    affine: &Affine,
    class: &Class,
    terms: &[(&Backward<T>, &[T])],
    y: usize,
    out: &mut [T],
) {
    let (rows, channels) = (affine.rows, affine.input.channels);
    let (of_channel, columns) = (affine.rows_of_group(), affine.columns);
    let line = affine.padded_output[1];
    let out = out.as_chunks_mut::<N>().0;
    for x in affine.columns_of(class) {
        let [last_row, last] = affine.last_output([y, x]);
        for (channel, out) in out[x * channels..][..channels].iter_mut().enumerate() {
            let mut sums = Sums::<T, 1, N>::zero();
            for (weights, delta) in terms {
                let delta = delta.as_chunks::<N>().0;
                for (&tap, [y, x]) in class.taps.iter().zip(&class.runs) {
                    let first = ((last_row - y) * line + last - x) * rows + channel * of_channel;
                    for (j, delta) in delta[first..][..of_channel].iter().enumerate() {
                        let w = weights.0[(channel * of_channel + j) * columns + tap as usize];
                        sums.add::<FMA>([w], delta);
                    }
                }
            }
            let mut total = [[T::ZERO; N]];
            sums.add_to(&mut total);
            [*out] = total;
        }
    }
}

/// `out` += Σ over the terms, positions and lanes of δ x, for some rows of W; the inputs are padded, but as they lie.
#[inline(always)]
pub fn add_gradient<T: Real, const N: usize, const FMA: bool>(
    affine: &Affine,
    rows: Range<usize>,
    terms: &[Term<'_, T>],
    sums: &mut Vec<T>,
    out: &mut [T],
) {
    let columns = affine.columns;
    for (first, out) in rows.step_by(ROWS).zip(out.chunks_mut(ROWS * columns)) {
        let count = out.len() / columns;
        // There is room: whoever asked for the rest has asked for this.
        sums.clear();
        sums.resize(count * columns * N, T::ZERO);
        for (delta, input) in terms {
            let (delta, input) = (delta.as_chunks::<N>().0, input.as_chunks::<N>().0);
            for start in (0..affine.positions()).step_by(PART / N) {
                for position in start..affine.positions().min(start + PART / N) {
                    let delta = &delta[position * affine.rows + first..][..count];
                    add_position::<T, N, FMA>(affine, first, delta, &input[affine.corner(position)..], sums);
                }
                for (out, lanes) in out.iter_mut().zip(sums.as_chunks_mut::<N>().0) {
                    *out += std::mem::replace(lanes, [T::ZERO; N]).into_iter().sum();
                }
            }
        }
    }
}

/// Of one position: δ of some rows times what their windows see there.
#[inline(always)]
fn add_position<T: Real, const N: usize, const FMA: bool>(
    affine: &Affine,
    first: usize,
    delta: &[[T; N]],
    x: &[[T; N]],
    sums: &mut [T],
) {
    let (channels, of_channel) = (affine.input.channels, affine.rows_of_group());
    let rows = sums.as_chunks_mut::<N>().0.chunks_exact_mut(affine.columns);
    for ((row, delta), sums) in (first..).zip(delta).zip(rows) {
        let channel = row / of_channel;
        for (sums, &run) in sums.iter_mut().zip(&affine.runs) {
            add_products::<T, N, FMA>(sums, delta, &x[affine.run_offset(run) * channels + channel]);
        }
    }
}
