//! Affine steps: convolutions, and dense layers as convolutions whose window is the whole input.
//!
//! A block is N samples. What goes between steps is (H, W, C, N) a block, so that a window's row is one contiguous run
//! and a tile is a few rows of W times all lanes. Weights are packed for that once, when a point or direction is fixed.

use std::ops::Range;

use super::point::sized;
use super::real::Real;
use super::simd::Work;
use super::tile::{ROWS, accumulate, by_rows};
use crate::engine::plan::{Operation, Step};
use crate::error::Result;
use crate::memory::{collected, copied, make_room, room};
use crate::network::{Shape, Window};

/// The geometry of an affine step.
#[derive(Debug, Clone)]
pub struct Affine {
    /// W in the parameter vector, (rows, columns).
    pub weight: Range<usize>,
    /// b in the parameter vector.
    pub bias: Option<Range<usize>>,
    /// Output channels.
    pub rows: usize,
    /// Window × input channels.
    pub columns: usize,
    /// For every column in the order (y, x, c), in which inputs lie, its place in W's row, whose order is (c, y, x).
    pub(super) column_of: Vec<u32>,
    units_in: usize,
    /// A dense layer's input is one pixel here, of as many channels as there are inputs.
    pub(super) input: Shape,
    pub(super) output: Shape,
    pub(super) window: Window,
    /// Residue classes of input pixels modulo the stride, row residue by row residue, as far as there are such pixels: which
    /// part of the window reaches them.
    classes: Vec<Class>,
    /// Zeros above and left of δ, and its padded size, for the backward pass.
    delta_padding: [usize; 2],
    padded_output: [usize; 2],
}

/// Input pixels (y, x) with (y + padding) mod stride = `residue`: the window rows and columns that reach them.
#[derive(Debug, Clone)]
struct Class {
    residue: [usize; 2],
    taps: [usize; 2],
    /// Where its weights begin among the packed ones, in columns × output channels.
    start: usize,
}

/// W packed for forward passes: for each group of up to [`ROWS`] rows, column by column.
#[derive(Debug, Clone, Default)]
pub struct Forward<T>(Vec<T>);

impl<T: Real> Forward<T> {
    /// W ⊙ W, packed likewise.
    pub fn squared(mut self) -> Self {
        self.0.iter_mut().for_each(|w| *w = *w * *w);
        self
    }
}

/// W packed for backward passes: class by class, for each group of input channels, tap by tap and output by output.
#[derive(Debug, Clone, Default)]
pub struct Backward<T>(Vec<T>);

impl Affine {
    /// The geometry of a step, if it is affine.
    ///
    /// # Errors
    /// `TooLarge` where its tables do not fit in memory.
    pub fn new(step: &Step) -> Result<Option<Self>> {
        let Operation::Affine { weight, bias, columns_per_unit } = &step.operation else { return Ok(None) };
        let (shape, window) = (step.input, step.window);
        let [kh, kw] = window.size;
        let mut column_of = room("places of weights", shape.channels * window.area())?;
        for tap in 0..kh * kw {
            column_of.extend((0..shape.channels).map(|c| (c * kh * kw + tap) as u32));
        }
        let (input, window) = if step.is_dense() {
            let flat = Shape::flat(shape.len());
            (flat, Window::whole(flat))
        } else {
            (shape, window)
        };
        let [kh, kw] = window.size;
        let [sy, sx] = window.stride;
        let [rows, columns] = [residues(input.height, window, 0)?, residues(input.width, window, 1)?];
        let mut classes = room("classes of pixels", rows.len() * columns.len())?;
        let mut start = 0;
        for &ry in &rows {
            for &rx in &columns {
                let taps = [kh.saturating_sub(ry).div_ceil(sy), kw.saturating_sub(rx).div_ceil(sx)];
                classes.push(Class { residue: [ry, rx], taps, start });
                start += taps[0] * taps[1];
            }
        }
        let delta_padding = [kh.div_ceil(sy) - 1, kw.div_ceil(sx) - 1];
        let reach = |axis: usize, length: usize, output: usize| {
            let last = (length - 1 + window.padding[axis]) / window.stride[axis];
            delta_padding[axis] + output.max(last + 1)
        };
        Ok(Some(Self {
            weight: weight.clone(),
            bias: bias.clone(),
            rows: step.output.channels,
            columns: column_of.len(),
            units_in: column_of.len() / columns_per_unit,
            column_of,
            padded_output: [reach(0, input.height, step.output.height), reach(1, input.width, step.output.width)],
            input,
            output: step.output,
            window,
            classes,
            delta_padding,
        }))
    }

    /// One pixel in, one out.
    pub(super) fn is_dense(&self) -> bool {
        self.input.area() == 1 && self.window.padding == [0, 0]
    }

    /// The same weights, where every window of this step is a pixel by itself: they are met one after the other.
    pub(super) fn of_windows(&self) -> Result<Self> {
        let input = Shape { channels: self.columns, height: self.output.height, width: self.output.width };
        Ok(Self {
            weight: self.weight.clone(),
            bias: None,
            column_of: copied("places of weights", &self.column_of)?,
            padded_output: [input.height, input.width],
            window: Window { size: [1, 1], stride: [1, 1], padding: [0, 0] },
            classes: vec![Class { residue: [0, 0], taps: [1, 1], start: 0 }],
            delta_padding: [0, 0],
            input,
            ..*self
        })
    }

    /// Where the window of an output position begins among the padded input's numbers.
    pub(super) fn corner(&self, position: usize) -> usize {
        let [y, x] = [position / self.output.width, position % self.output.width];
        (y * self.window.stride[0] * self.padded()[1] + x * self.window.stride[1]) * self.input.channels
    }

    /// Positions that each weight is used at.
    pub fn positions(&self) -> usize {
        self.output.area()
    }

    /// Units (of a dense layer) or channels (of a convolution) that come in.
    pub fn units_in(&self) -> usize {
        self.units_in
    }

    /// Multiplications of one sample.
    pub fn multiplications(&self) -> f64 {
        self.positions() as f64 * self.rows as f64 * self.columns as f64
    }

    /// Height and width with the padding.
    pub(super) fn padded(&self) -> [usize; 2] {
        [self.input.height + 2 * self.window.padding[0], self.input.width + 2 * self.window.padding[1]]
    }

    /// W out of a parameter vector, packed for forward passes.
    pub fn pack_forward<T: Real>(&self, theta: &[T], out: &mut Forward<T>) -> Result<()> {
        let weight = &theta[self.weight.clone()];
        sized(&mut out.0, weight.len())?;
        let groups = weight.chunks(ROWS * self.columns).zip(out.0.chunks_mut(ROWS * self.columns));
        for (group, out) in groups {
            by_rows!(group.len() / self.columns, interleave::<T, R>(group, &self.column_of, out));
        }
        Ok(())
    }

    /// W out of a parameter vector, packed for backward passes.
    pub fn pack_backward<T: Real>(&self, theta: &[T], out: &mut Backward<T>) -> Result<()> {
        let weight = &theta[self.weight.clone()];
        let channels = self.input.channels;
        let [_, kw] = self.window.size;
        let [sy, sx] = self.window.stride;
        out.0.clear();
        make_room("packed weights", &mut out.0, weight.len())?;
        for class in &self.classes {
            for first in (0..channels).step_by(ROWS) {
                let group = first..(first + ROWS).min(channels);
                for y in (0..class.taps[0]).rev().map(|i| class.residue[0] + i * sy) {
                    for x in (0..class.taps[1]).rev().map(|i| class.residue[1] + i * sx) {
                        let columns = &self.column_of[(y * kw + x) * channels..][group.clone()];
                        for row in weight.chunks_exact(self.columns) {
                            out.0.extend(columns.iter().map(|&column| row[column as usize]));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// One block's input with its padding: itself, or a copy in `workspace`.
    pub fn pad<'a, T: Real, const N: usize>(&self, x: &'a [T], workspace: &'a mut Vec<T>) -> Result<&'a [T]> {
        let [top, left] = self.window.padding;
        if [top, left] == [0, 0] {
            return Ok(x);
        }
        copy_padded(
            x,
            self.input.width * self.input.channels * N,
            left * self.input.channels * N,
            top,
            self.padded(),
            self.input.channels * N,
            workspace,
        )?;
        Ok(workspace)
    }

    /// One block's δ as backward passes need it: itself, or a copy in `workspace`.
    pub fn pad_delta<'a, T: Real, const N: usize>(&self, d: &'a [T], workspace: &'a mut Vec<T>) -> Result<&'a [T]> {
        if self.is_dense() {
            return Ok(d);
        }
        let pixel = self.rows * N;
        let [top, left] = self.delta_padding;
        copy_padded(d, self.output.width * pixel, left * pixel, top, self.padded_output, pixel, workspace)?;
        Ok(workspace)
    }

    /// Numbers of a block that its passes lay out at this step beside what comes in and goes out: transposed and padded.
    pub fn layout_numbers<const N: usize>(&self) -> [u64; 2] {
        let [height, width] = self.padded_output.map(|side| side as u64);
        let padded_output = if self.is_dense() { 0 } else { height * width * self.rows as u64 * N as u64 };
        [self.wide_transposed_len::<N>(), padded_output]
    }

    /// Numbers of a block's inputs laid out for [`super::gradient::WeightGradient`].
    pub fn transposed_len<const N: usize>(&self) -> usize {
        self.wide_transposed_len::<N>() as usize
    }

    /// The same where no vector may be so long.
    fn wide_transposed_len<const N: usize>(&self) -> u64 {
        match self.is_dense() {
            true => (self.columns.next_multiple_of(N) as u64) * N as u64,
            // The last tile of a row may look beyond its end.
            false => self.padded()[0] as u64 * N as u64 * self.row_stride() as u64 + N as u64,
        }
    }

    /// From one sample's row of pixels to the next sample's: not a multiple of a page, whose lines would share a cache set.
    pub(super) fn row_stride(&self) -> usize {
        let row = self.padded()[1] * self.input.channels;
        if row.is_multiple_of(128) { row + 16 } else { row }
    }

    /// One block's padded input sample by sample: tiles of N columns (dense), or rows of pixels (y, n, x, c).
    pub fn transpose<T: Real, const N: usize>(&self, x: &[T], out: &mut [T]) {
        let pixels = x.as_chunks::<N>().0;
        if self.is_dense() {
            for (columns, tile) in pixels.chunks(N).zip(out.as_chunks_mut::<N>().0.chunks_exact_mut(N)) {
                for (j, lanes) in columns.iter().enumerate() {
                    for n in 0..N {
                        tile[n][j] = lanes[n];
                    }
                }
            }
            return;
        }
        let (row, stride) = (self.padded()[1] * self.input.channels, self.row_stride());
        for (pixels, out) in pixels.chunks_exact(row).zip(out.chunks_exact_mut(N * stride)) {
            // In squares, whose lines fit the cache both ways.
            for (i, square) in pixels.chunks(N).enumerate() {
                for n in 0..N {
                    let out = &mut out[n * stride + i * N..][..square.len()];
                    for (out, lanes) in out.iter_mut().zip(square) {
                        *out = lanes[n];
                    }
                }
            }
        }
    }
}

/// R rows, these columns of them: column by column.
fn interleave<T: Real, const R: usize>(rows: &[T], columns: &[u32], out: &mut [T]) {
    let rows: [&[T]; R] = std::array::from_fn(|r| &rows[r * columns.len()..][..columns.len()]);
    for (&column, out) in columns.iter().zip(out.as_chunks_mut::<R>().0) {
        *out = rows.map(|row| row[column as usize]);
    }
}

/// Copies rows of pixels into a frame of zeros.
fn copy_padded<T: Real>(
    x: &[T],
    row: usize,
    left: usize,
    top: usize,
    [height, width]: [usize; 2],
    pixel: usize,
    out: &mut Vec<T>,
) -> Result<()> {
    out.clear();
    sized(out, height * width * pixel)?;
    for (from, to) in x.chunks_exact(row).zip(out.chunks_exact_mut(width * pixel).skip(top)) {
        to[left..left + row].copy_from_slice(from);
    }
    Ok(())
}

/// The residues modulo the stride that pixels have along an axis, ascending.
fn residues(pixels: usize, window: Window, axis: usize) -> Result<Vec<usize>> {
    let (stride, padding) = (window.stride[axis], window.padding[axis]);
    let mut found: Vec<usize> =
        collected("residues of pixels", (0..pixels.min(stride)).map(|y| (y + padding) % stride))?;
    found.sort_unstable();
    Ok(found)
}

/// z = Σ over the terms of W x, plus b: one block. `out` is (positions, rows, N).
pub struct ForwardBlock<'a, T, const N: usize> {
    pub affine: &'a Affine,
    pub bias: Option<&'a [T]>,
    /// Packed weights, and the padded input that they meet.
    pub terms: &'a [(&'a Forward<T>, &'a [T])],
    pub out: &'a mut [T],
}

impl<T: Real, const N: usize> Work for ForwardBlock<'_, T, N> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { affine, bias, terms, out } = self;
        if affine.is_dense() {
            for (row, out) in out.as_chunks_mut::<N>().0.iter_mut().enumerate() {
                *out = [bias.map_or(T::ZERO, |b| b[row]); N];
            }
            for (weights, input) in terms {
                dense_rows::<T, N, FMA>(&weights.0, affine.columns, input, out);
            }
            return;
        }
        let row_len = affine.output.width * affine.rows * N;
        for (y, out) in out.chunks_exact_mut(row_len).enumerate() {
            for first in (0..affine.rows).step_by(ROWS) {
                by_rows!(affine.rows - first, forward_rows::<T, R, N, FMA>(affine, bias, terms, y, first, out));
            }
        }
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
    let [kh, kw] = affine.window.size;
    let (line, run) = (affine.padded()[1] * pixel, kw * affine.input.channels);
    let start: [T; R] = std::array::from_fn(|r| bias.map_or(T::ZERO, |b| b[first + r]));
    for (x, out) in out.chunks_exact_mut(affine.rows * N).enumerate() {
        let Some(out) = out[first * N..].as_chunks_mut::<N>().0.first_chunk_mut::<R>() else { return };
        *out = start.map(|b| [b; N]);
        let corner = y * affine.window.stride[0] * line + x * affine.window.stride[1] * pixel;
        for (weights, input) in terms {
            let weights = &weights.0[first * affine.columns..][..R * affine.columns];
            for (ky, weights) in weights.chunks_exact(R * run).enumerate().take(kh) {
                accumulate::<T, R, N, FMA>(out, weights, &input[corner + ky * line..][..run * N]);
            }
        }
    }
}

/// q = Σ over the terms of Wᵀ δ: one block. `out` is (pixels, input channels, N).
pub struct BackwardBlock<'a, T, const N: usize> {
    pub affine: &'a Affine,
    /// Packed weights, and the padded δ that they meet.
    pub terms: &'a [(&'a Backward<T>, &'a [T])],
    pub out: &'a mut [T],
}

impl<T: Real, const N: usize> Work for BackwardBlock<'_, T, N> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { affine, terms, out } = self;
        let channels = affine.input.channels;
        if affine.is_dense() {
            out.fill(T::ZERO);
            for (weights, delta) in terms {
                dense_rows::<T, N, FMA>(&weights.0, affine.rows, delta, out);
            }
            return;
        }
        for (y, out) in out.chunks_exact_mut(affine.input.width * channels * N).enumerate() {
            let residue = (y + affine.window.padding[0]) % affine.window.stride[0];
            let first_of_row = affine.classes.partition_point(|class| class.residue[0] < residue);
            for class in affine.classes[first_of_row..].iter().take_while(|class| class.residue[0] == residue) {
                for first in (0..channels).step_by(ROWS) {
                    by_rows!(channels - first, backward_rows::<T, R, N, FMA>(affine, class, terms, y, first, out));
                }
            }
        }
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
    let [sy, sx] = affine.window.stride;
    let (line, run) = (affine.padded_output[1] * pixel, class.taps[1] * affine.rows);
    // The smallest output row that a tap of this class meets, in padded rows.
    let top = (y + affine.window.padding[0]) / sy + affine.delta_padding[0] + 1 - class.taps[0];
    let columns = class.taps[0] * run;
    let begin = class.start * affine.rows * channels + first * columns;
    let start = (class.residue[1] + sx - affine.window.padding[1] % sx) % sx;
    for x in (start..affine.input.width).step_by(sx) {
        let left = (x + affine.window.padding[1]) / sx + affine.delta_padding[1] + 1 - class.taps[1];
        let Some(out) = out[(x * channels + first) * N..].as_chunks_mut::<N>().0.first_chunk_mut::<R>() else { return };
        *out = [[T::ZERO; N]; R];
        for (weights, delta) in terms {
            let weights = &weights.0[begin..][..R * columns];
            for i in 0..class.taps[0] {
                let delta = &delta[(top + i) * line + left * pixel..][..run * N];
                accumulate::<T, R, N, FMA>(out, &weights[i * run * R..][..run * R], delta);
            }
        }
    }
}
