//! Affine steps of one block: W x and Wᵀ δ in register tiles.

use super::activation::Finish;
use super::affine::{Affine, Backward, Class, Forward};
use super::affine_work::AffineWork;
use super::channelwise;
use super::real::Real;
use super::simd::{self, Level, Work};
use super::tile::{ROWS, accumulate, by_rows};
use super::winograd::{Convolution, Image};
use crate::network::Shape;

/// z = Σ over the terms of W x, plus b: one block. `out` is (positions, rows, N).
pub struct ForwardBlock<'a, T, const N: usize> {
    pub affine: &'a Affine,
    pub bias: Option<&'a [T]>,
    /// Packed weights, and the input that they meet, framed as [`Affine::frame`] does.
    pub terms: &'a [(&'a Forward<T>, &'a [T])],
    pub finish: Finish<'a, T>,
    pub out: &'a mut [T],
}

impl<T: Real, const N: usize> Work for ForwardBlock<'_, T, N> {
    const ROW: usize = size_of::<[T; N]>();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { affine, bias, terms, finish, out } = self;
        if affine.is_dense() {
            for (row, out) in out.as_chunks_mut::<N>().0.iter_mut().enumerate() {
                *out = [bias.map_or(T::ZERO, |b| b[row]); N];
            }
            for (weights, input) in terms {
                dense_rows::<T, N, FMA>(&weights.0, affine.columns, input, out);
            }
            finish.apply(0, out);
            return;
        }
        let row_len = affine.output.width * affine.rows * N;
        for (y, out) in out.chunks_exact_mut(row_len).enumerate() {
            for (first, rows) in affine.row_tiles(0..affine.rows) {
                by_rows!(rows, forward_rows::<T, R, N, FMA>(affine, bias, terms, y, first, out));
            }
            finish.apply(y * row_len, out);
        }
    }
}

impl<T: Real, const N: usize> AffineWork for ForwardBlock<'_, T, N> {
    fn affine(&self) -> &Affine {
        self.affine
    }

    #[inline(always)]
    fn run_channelwise<const FMA: bool>(self) {
        let Self { affine, bias, terms, finish, out } = self;
        channelwise::forward::<T, N, FMA>(affine, bias, terms, finish, out);
    }

    fn run_winograd(self, level: Level) {
        let Self { affine, bias, terms, finish, out } = self;
        let ([height, width], channels) = (affine.padded(), affine.input.channels);
        let image = |data| Image { data, height, width, channels, before: [0; 2] };
        let terms: Vec<_> = terms.iter().map(|(weights, data)| (&weights.0[..], image(data))).collect();
        simd::run(level, Convolution::<T, N> { terms: &terms, bias, shape: affine.output, finish, out });
    }
}

/// `out` += W x, with W packed in groups of rows.
#[inline(always)]
fn dense_rows<T: Real, const N: usize, const FMA: bool>(weights: &[T], columns: usize, x: &[T], out: &mut [T]) {
    let x = &x[..columns * N];
    for (weights, out) in weights.chunks(ROWS * columns).zip(out.chunks_mut(ROWS * N)) {
        by_rows!(out.len() / N, add_rows::<T, R, N, FMA>(weights, x, out));
    }
}

#[inline(always)]
fn add_rows<T: Real, const R: usize, const N: usize, const FMA: bool>(weights: &[T], x: &[T], out: &mut [T]) {
    if let Some(out) = out.as_chunks_mut::<N>().0.first_chunk_mut::<R>() {
        accumulate::<T, R, N, FMA>(out, weights, x);
    }
}

/// R rows of W at all positions of one row.
#[inline(always)]
fn forward_rows<T: Real, const R: usize, const N: usize, const FMA: bool>(
    affine: &Affine,
    bias: Option<&[T]>,
    terms: &[(&Forward<T>, &[T])],
    y: usize,
    first: usize,
    out: &mut [T],
) {
    let pixel = affine.input.channels * N;
    let (line, run) = (affine.padded()[1] * pixel, affine.run);
    let channel = affine.first_channel(first) * N;
    let start: [T; R] = std::array::from_fn(|r| bias.map_or(T::ZERO, |b| b[first + r]));
    for (x, out) in out.chunks_exact_mut(affine.rows * N).enumerate() {
        let Some(out) = out[first * N..].as_chunks_mut::<N>().0.first_chunk_mut::<R>() else { return };
        *out = start.map(|b| [b; N]);
        let corner = y * affine.window.stride[0] * line + x * affine.window.stride[1] * pixel + channel;
        for (weights, input) in terms {
            let weights = &weights.0[first * affine.columns..][..R * affine.columns];
            for (weights, [y, x]) in weights.chunks_exact(R * run).zip(&affine.runs) {
                accumulate::<T, R, N, FMA>(out, weights, &input[corner + y * line + x * pixel..][..run * N]);
            }
        }
    }
}

/// q = Σ over the terms of Wᵀ δ: one block. `out` is (pixels, input channels, N).
pub struct BackwardBlock<'a, T, const N: usize> {
    pub affine: &'a Affine,
    /// Packed weights, and the δ that they meet.
    pub terms: &'a [(&'a Backward<T>, &'a [T])],
    pub finish: Finish<'a, T>,
    pub out: &'a mut [T],
}

impl<T: Real, const N: usize> Work for BackwardBlock<'_, T, N> {
    const ROW: usize = size_of::<[T; N]>();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { affine, terms, finish, out } = self;
        let channels = affine.input.channels;
        if affine.is_dense() {
            out.fill(T::ZERO);
            for (weights, delta) in terms {
                dense_rows::<T, N, FMA>(&weights.0, affine.rows, delta, out);
            }
            finish.apply(0, out);
            return;
        }
        let row_len = affine.input.width * channels * N;
        for (y, out) in out.chunks_exact_mut(row_len).enumerate() {
            for class in affine.classes_of_row(y) {
                for (first, count) in affine.channel_tiles() {
                    by_rows!(count, backward_rows::<T, R, N, FMA>(affine, class, terms, y, first, out));
                }
            }
            finish.apply(y * row_len, out);
        }
    }
}

impl<T: Real, const N: usize> AffineWork for BackwardBlock<'_, T, N> {
    fn affine(&self) -> &Affine {
        self.affine
    }

    #[inline(always)]
    fn run_channelwise<const FMA: bool>(self) {
        let Self { affine, terms, finish, out } = self;
        channelwise::backward::<T, N, FMA>(affine, terms, finish, out);
    }

    fn run_winograd(self, level: Level) {
        let Self { affine, terms, finish, out } = self;
        let (Shape { height, width, channels }, before) = (affine.output, affine.window.padding.before);
        let image = |data| Image { data, height, width, channels, before: before.map(|padding| 2 - padding) };
        let terms: Vec<_> = terms.iter().map(|(weights, data)| (&weights.0[..], image(data))).collect();
        simd::run(level, Convolution::<T, N> { terms: &terms, bias: None, shape: affine.input, finish, out });
    }
}

/// R input channels at the pixels of one row that are in one class.
#[inline(always)]
fn backward_rows<T: Real, const R: usize, const N: usize, const FMA: bool>(
    affine: &Affine,
    class: &Class,
    terms: &[(&Backward<T>, &[T])],
    y: usize,
    first: usize,
    out: &mut [T],
) {
    let (channels, pixel) = (affine.input.channels, affine.rows * N);
    let rows = affine.rows_of_group();
    let (height, width) = (affine.output.height, affine.output.width);
    let (line, run) = (width * pixel, class.run * rows);
    let row = first / affine.seen() * rows * N;
    let columns = class.taps.len() * rows;
    let begin = class.start * rows * channels + first * columns;
    for x in affine.columns_of(class) {
        let [last_row, last] = affine.last_output([y, x]);
        let Some(out) = out[(x * channels + first) * N..].as_chunks_mut::<N>().0.first_chunk_mut::<R>() else { return };
        *out = [[T::ZERO; N]; R];
        for (weights, delta) in terms {
            let weights = &weights.0[begin..][..R * columns];
            for (i, &[rows_back, back]) in class.runs.iter().enumerate() {
                // Only where there are outputs: of a small image without padding, half of all taps lie beyond its borders.
                let Some(y) = last_row.checked_sub(rows_back).filter(|&y| y < height) else { continue };
                let start = back.saturating_sub(last);
                let end = class.run.min((width + back).saturating_sub(last));
                if start >= end {
                    continue;
                }
                let (begin, count) = (i * run + start * rows, (end - start) * rows);
                let delta = &delta[y * line + (last + start - back) * pixel + row..][..count * N];
                accumulate::<T, R, N, FMA>(out, &weights[begin * R..][..count * R], delta);
            }
        }
    }
}
