//! Affine steps: convolutions, and dense layers as convolutions whose window is the whole input.
//!
//! A block is N samples. What goes between steps is (H, W, C, N) a block, so that a window's row is one contiguous run
//! and a tile is a few rows of W times all lanes. Weights are packed for that once, when a point or direction is fixed.

use std::ops::Range;

use super::point::sized;
use super::real::Real;
use super::tile::{ROWS, by_rows};
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
    pub(super) classes: Vec<Class>,
    /// Zeros above and left of δ, and its padded size, for the backward pass.
    pub(super) delta_padding: [usize; 2],
    pub(super) padded_output: [usize; 2],
}

/// Input pixels (y, x) with (y + padding) mod stride = `residue`: the window rows and columns that reach them.
#[derive(Debug, Clone)]
pub(super) struct Class {
    pub residue: [usize; 2],
    pub taps: [usize; 2],
    /// Where its weights begin among the packed ones, in columns × output channels.
    pub start: usize,
}

/// W packed for forward passes: for each group of up to [`ROWS`] rows, column by column.
#[derive(Debug, Clone, Default)]
pub struct Forward<T>(pub(super) Vec<T>);

impl<T: Real> Forward<T> {
    /// W ⊙ W, packed likewise.
    pub fn squared(mut self) -> Self {
        self.0.iter_mut().for_each(|w| *w = *w * *w);
        self
    }
}

/// W packed for backward passes: class by class, for each group of input channels, tap by tap and output by output.
#[derive(Debug, Clone, Default)]
pub struct Backward<T>(pub(super) Vec<T>);

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
