//! Affine steps: convolutions, and dense layers as convolutions whose window is the whole input.
//!
//! A block is N samples. What goes between steps is (H, W, C, N) a block, so that a window's row is one contiguous run
//! and a tile is a few rows of W times all lanes. Weights are packed for that once, when a point or direction is fixed.

use std::mem::take;
use std::ops::Range;

use super::aligned::Aligned;
use super::point::sized;
use super::real::Real;
use super::stencil::Stencil;
use super::tile::{ROWS, by_rows};
use super::winograd;
use crate::engine::plan::{Operation, Step};
use crate::error::Result;
use crate::memory::{collected, copied, room};
use crate::network::{Shape, Window};
use crate::sorting::sort_by_key;

/// The geometry of an affine step.
#[derive(Debug, Clone)]
pub struct Affine {
    /// W in the parameter vector, (rows, columns).
    pub weight: Range<usize>,
    /// b in the parameter vector.
    pub bias: Option<Range<usize>>,
    /// Output channels.
    pub rows: usize,
    /// Window × input channels that one output sees.
    pub columns: usize,
    /// Parts that the channels are in.
    groups: usize,
    /// For every column in the order (y, x, c), in which inputs lie, its place in W's row, whose order is (c, y, x).
    pub(super) column_of: Vec<u32>,
    columns_per_unit: usize,
    /// Columns that lie one after the other in the input, and the [row, column] of the window where each such run begins.
    pub(super) run: usize,
    pub(super) runs: Vec<[usize; 2]>,
    /// A dense layer's input is one pixel here, of as many channels as there are inputs.
    pub(super) input: Shape,
    pub(super) output: Shape,
    pub(super) window: Window,
    /// Residue classes of input pixels modulo the stride, row residue by row residue, as far as there are such pixels: which
    /// part of the window reaches them. None where there is a stencil.
    pub(super) classes: Vec<Class>,
    /// How windows meet the image where channels see one channel each.
    pub(super) stencil: Option<Stencil>,
    /// Is it met in Winograd's form?
    pub(super) is_winograd: bool,
}

/// Input pixels (y, x) with (y + padding) mod stride = `residue`: the part of the window that reaches them.
#[derive(Debug, Clone)]
pub(super) struct Class {
    pub residue: [usize; 2],
    /// Places in the window, in the order in which the outputs that see the pixel through them lie.
    pub taps: Vec<u32>,
    /// Taps whose outputs lie one after the other, and how far back from the last output that may see the pixel, in rows and
    /// columns, each such run begins.
    pub run: usize,
    pub runs: Vec<[usize; 2]>,
    /// Where its weights begin among the packed ones, in taps.
    pub start: usize,
}

/// W packed for forward passes: for each group of up to [`ROWS`] rows, column by column; or, where it is met in Winograd's form, as
/// [`winograd::pack`] has it.
#[derive(Default)]
pub struct Forward<T>(pub(super) Aligned<T>);

impl<T: Real> AsRef<[T]> for Forward<T> {
    fn as_ref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Real> Forward<T> {
    /// W ⊙ W, packed likewise.
    pub fn squared(mut self) -> Self {
        self.0.iter_mut().for_each(|w| *w = *w * *w);
        self
    }
}

/// W packed for backward passes: class by class, for each group of input channels, tap by tap and output by output; or, where it is met
/// in Winograd's form, as [`winograd::pack`] has it.
#[derive(Default)]
pub struct Backward<T>(pub(super) Aligned<T>);

impl<T: Real> AsRef<[T]> for Backward<T> {
    fn as_ref(&self) -> &[T] {
        &self.0
    }
}

impl Affine {
    /// The geometry of a step, if it is affine.
    ///
    /// # Errors
    /// `TooLarge` where its tables do not fit in memory.
    pub fn new(step: &Step) -> Result<Option<Self>> {
        let Operation::Affine { weight, bias, columns_per_unit, groups } = &step.operation else { return Ok(None) };
        let (shape, window) = (step.input, step.window);
        let seen = shape.channels / groups;
        let area = window.area();
        let mut column_of = room("places of weights", seen * area)?;
        for tap in 0..area {
            column_of.extend((0..seen).map(|c| (c * area + tap) as u32));
        }
        let (input, window) = if step.is_dense() {
            let flat = Shape::flat(shape.len());
            (flat, Window::whole(flat))
        } else {
            (shape, window)
        };
        let seen = input.channels / groups;
        let stencil = (*groups > 1 && seen == 1).then(|| Stencil::new(input, window, step.output)).transpose()?;
        // A row of the window is one run where all channels are seen, and nothing is left out between two pixels.
        let in_run = if *groups == 1 && window.dilation[1] == 1 { window.size[1] } else { 1 };
        let mut runs = room("rows of a window", window.area() / in_run)?;
        for y in 0..window.size[0] {
            runs.extend((0..window.size[1]).step_by(in_run).map(|x| [y * window.dilation[0], x * window.dilation[1]]));
        }
        Ok(Some(Self {
            weight: weight.clone(),
            bias: bias.clone(),
            rows: step.output.channels,
            columns: column_of.len(),
            groups: *groups,
            columns_per_unit: *columns_per_unit,
            column_of,
            run: in_run * seen,
            runs,
            classes: if stencil.is_some() { Vec::new() } else { classes(input, window, *groups)? },
            stencil,
            is_winograd: winograd::IS_FASTER && winograd::suits(input, window, step.output, *groups),
            input,
            output: step.output,
            window,
        }))
    }

    /// One pixel in, one out.
    pub(super) fn is_dense(&self) -> bool {
        self.input.area() == 1 && self.window.padding.is_none() && self.groups == 1
    }

    /// Does every channel see one channel alone?
    pub(super) fn is_channelwise(&self) -> bool {
        self.stencil.is_some()
    }

    /// The pixels of a row that may be in a class.
    pub(super) fn columns_of(&self, class: &Class) -> impl Iterator<Item = usize> + use<> {
        let (stride, left) = (self.window.stride[1], self.window.padding.before[1]);
        ((class.residue[1] + stride - left % stride) % stride..self.input.width).step_by(stride)
    }

    /// The classes of a row's pixels.
    pub(super) fn classes_of_row(&self, y: usize) -> impl Iterator<Item = &Class> {
        let residue = (y + self.window.padding.before[0]) % self.window.stride[0];
        let first = self.classes.partition_point(|class| class.residue[0] < residue);
        self.classes[first..].iter().take_while(move |class| class.residue[0] == residue)
    }

    /// The row and column of the last output that would see a pixel if there were outputs without end.
    pub(super) fn last_output(&self, pixel: [usize; 2]) -> [usize; 2] {
        let last = |axis: usize| (pixel[axis] + self.window.padding.before[axis]) / self.window.stride[axis];
        [last(0), last(1)]
    }

    /// The same weights, where every window of this step is a pixel by itself: they are met one after the other.
    pub(super) fn of_windows(&self) -> Result<Self> {
        let input = Shape { channels: self.columns, height: self.output.height, width: self.output.width };
        let window = Window::pixel();
        Ok(Self {
            weight: self.weight.clone(),
            bias: None,
            column_of: copied("places of weights", &self.column_of)?,
            run: self.columns,
            runs: vec![[0, 0]],
            window,
            classes: classes(input, window, 1)?,
            stencil: None,
            is_winograd: false,
            input,
            ..*self
        })
    }

    /// Parts that the channels are in.
    pub(super) fn groups(&self) -> usize {
        self.groups
    }

    /// Channels that one output sees.
    pub(super) fn seen(&self) -> usize {
        self.input.channels / self.groups
    }

    /// Rows that see the same channels.
    pub(super) fn rows_of_group(&self) -> usize {
        self.rows / self.groups
    }

    /// The first channel that a row sees.
    pub(super) fn first_channel(&self, row: usize) -> usize {
        row / self.rows_of_group() * self.seen()
    }

    /// The rows in tiles of up to [`ROWS`], none of which lies in two groups: where each begins, and how many rows it has.
    pub(super) fn row_tiles(&self, rows: Range<usize>) -> impl Iterator<Item = (usize, usize)> + use<> {
        tiles(rows, self.rows_of_group())
    }

    /// The channels that come in, likewise.
    pub(super) fn channel_tiles(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        tiles(0..self.input.channels, self.seen())
    }

    /// Where the window of an output position begins among the padded input's numbers.
    pub(super) fn corner(&self, position: usize) -> usize {
        let [y, x] = [position / self.output.width, position % self.output.width];
        (y * self.window.stride[0] * self.padded()[1] + x * self.window.stride[1]) * self.input.channels
    }

    /// From there to a run, in positions of the padded input.
    pub(super) fn run_offset(&self, [y, x]: [usize; 2]) -> usize {
        y * self.padded()[1] + x
    }

    /// Positions that each weight is used at.
    pub fn positions(&self) -> usize {
        self.output.area()
    }

    /// Units (of a dense layer) or channels (of a convolution) that one row sees.
    pub(super) fn units_seen(&self) -> usize {
        self.columns / self.columns_per_unit
    }

    /// Units (of a dense layer) or channels (of a convolution) that come in.
    pub fn units_in(&self) -> usize {
        self.units_seen() * self.groups
    }

    /// The first of them that a row sees.
    pub(super) fn first_unit(&self, row: usize) -> usize {
        row / self.rows_of_group() * self.units_seen()
    }

    /// Multiplications of one sample.
    pub fn multiplications(&self) -> f64 {
        self.positions() as f64 * self.rows as f64 * self.columns as f64
    }

    /// W and b among a vector of parameters, which lie one after the other.
    pub fn parameters(&self) -> Range<usize> {
        self.weight.start..self.bias.as_ref().unwrap_or(&self.weight).end
    }

    /// Height and width with the padding.
    pub(super) fn padded(&self) -> [usize; 2] {
        let side =
            |axis: usize, length: usize| length + self.window.padding.before[axis] + self.window.padding.after[axis];
        [side(0, self.input.height), side(1, self.input.width)]
    }

    /// W out of a parameter vector, packed for forward passes.
    pub fn pack_forward<T: Real>(&self, theta: &[T], out: &mut Forward<T>) -> Result<()> {
        let weight = &theta[self.weight.clone()];
        if self.is_winograd {
            let packed = sized(&mut out.0, self.rows * self.seen() * winograd::PLACES)?;
            winograd::pack(weight, [self.rows, self.seen()], false, packed);
            return Ok(());
        }
        let out = sized(&mut out.0, weight.len())?;
        if self.is_channelwise() {
            out.copy_from_slice(weight);
            return Ok(());
        }
        for (first, rows) in self.row_tiles(0..self.rows) {
            let range = first * self.columns..(first + rows) * self.columns;
            let (tile, out) = (&weight[range.clone()], &mut out[range]);
            by_rows!(rows, interleave::<T, R>(tile, &self.column_of, out));
        }
        Ok(())
    }

    /// W out of a parameter vector, packed for backward passes.
    pub fn pack_backward<T: Real>(&self, theta: &[T], out: &mut Backward<T>) -> Result<()> {
        let weight = &theta[self.weight.clone()];
        let (seen, rows) = (self.seen(), self.rows_of_group() * self.columns);
        if self.is_winograd {
            let packed = sized(&mut out.0, self.rows * seen * winograd::PLACES)?;
            winograd::pack(weight, [self.rows, seen], true, packed);
            return Ok(());
        }
        let out = sized(&mut out.0, weight.len())?;
        if self.is_channelwise() {
            out.copy_from_slice(weight);
            return Ok(());
        }
        let mut rest = &mut *out;
        for class in &self.classes {
            for (first, count) in self.channel_tiles() {
                let (group, channels) = (first / seen, first % seen..first % seen + count);
                for &tap in &class.taps {
                    let columns = &self.column_of[tap as usize * seen..][channels.clone()];
                    for row in weight[group * rows..][..rows].chunks_exact(self.columns) {
                        let (mine, after) = take(&mut rest).split_at_mut(count);
                        mine.iter_mut().zip(columns).for_each(|(out, &column)| *out = row[column as usize]);
                        rest = after;
                    }
                }
            }
        }
        Ok(())
    }

    /// One block's input as W meets it: where channels see one channel each as it lies, else with its padding.
    pub fn frame<'a, T: Real, const N: usize>(&self, x: &'a [T], workspace: &'a mut Aligned<T>) -> Result<&'a [T]> {
        if self.is_channelwise() { Ok(x) } else { self.pad::<T, N>(x, workspace) }
    }

    /// One block's input with its padding: itself, or a copy in `workspace`.
    pub fn pad<'a, T: Real, const N: usize>(&self, x: &'a [T], workspace: &'a mut Aligned<T>) -> Result<&'a [T]> {
        if self.window.padding.is_none() {
            return Ok(x);
        }
        let ([top, left], [height, width]) = (self.window.padding.before, self.padded());
        let pixel = self.input.channels * N;
        let row = self.input.width * pixel;
        let out = workspace.zeros("a padded image", height * width * pixel)?;
        for (from, to) in x.chunks_exact(row).zip(out.chunks_exact_mut(width * pixel).skip(top)) {
            to[left * pixel..][..row].copy_from_slice(from);
        }
        Ok(workspace)
    }

    /// Numbers of a block that its passes lay out at this step beside what comes in and goes out: transposed inputs, and sums of lanes.
    pub fn layout_numbers<const N: usize>(&self) -> [u64; 2] {
        let sums = if self.is_channelwise() { self.lane_sums::<N>() } else { 0 };
        [self.wide_transposed_len::<N>(), sums as u64]
    }

    /// Numbers of every lane that [`super::channelwise::Pull`] sums, at most.
    pub fn lane_sums<const N: usize>(&self) -> usize {
        self.rows * (self.columns + 1) * N
    }

    /// Numbers of a block's inputs laid out for [`super::gradient::WeightGradient`].
    pub fn transposed_len<const N: usize>(&self) -> usize {
        self.wide_transposed_len::<N>() as usize
    }

    /// The same where no vector may be so long.
    fn wide_transposed_len<const N: usize>(&self) -> u64 {
        match self.is_dense() {
            true => (self.columns.next_multiple_of(N) as u64) * N as u64,
            false if self.is_channelwise() => 0,
            // The last tile of a row may look beyond its end.
            false => self.padded()[0] as u64 * N as u64 * self.row_stride() as u64 + N as u64,
        }
    }

    /// From one sample's row of pixels to the next sample's: not a multiple of a page, whose lines would share a cache set.
    pub(super) fn row_stride(&self) -> usize {
        let row = self.padded()[1] * self.input.channels;
        if row.is_multiple_of(128) { row + 16 } else { row }
    }

    /// One block's padded input sample by sample: tiles of N columns (dense), or rows of pixels (y, n, x, c); where channels see
    /// one channel each it is read as it lies.
    pub fn transpose<T: Real, const N: usize>(&self, x: &[T], out: &mut [T]) {
        if self.is_channelwise() {
            return;
        }
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

/// Rows in tiles of up to [`ROWS`], none of which lies in two groups of so many.
fn tiles(rows: Range<usize>, of_group: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut next = rows.start;
    std::iter::from_fn(move || {
        let first = next;
        next = (first + ROWS).min((first / of_group + 1) * of_group).min(rows.end);
        (first < rows.end).then(|| (first, next - first))
    })
}

/// The classes of an image's pixels.
fn classes(input: Shape, window: Window, groups: usize) -> Result<Vec<Class>> {
    let [rows, columns] = [residues(input.height, window, 0)?, residues(input.width, window, 1)?];
    let mut found = room("classes of pixels", rows.len() * columns.len())?;
    let mut start = 0;
    for &ry in &rows {
        let along_y = taps(window, 0, ry)?;
        for &rx in &columns {
            let along_x = taps(window, 1, rx)?;
            let mut places = room("places of a window", along_y.len() * along_x.len())?;
            for [y, _] in &along_y {
                places.extend(along_x.iter().map(|[x, _]| (y * window.size[1] + x) as u32));
            }
            let is_run = groups == 1 && along_x.windows(2).all(|pair| pair[0][1] == pair[1][1] + 1);
            let run = if is_run { along_x.len() } else { 1 };
            let mut runs = room("rows of a window", places.len().checked_div(run).unwrap_or(0))?;
            for [_, y] in &along_y {
                runs.extend(along_x.iter().step_by(run.max(1)).map(|[_, x]| [*y, *x]));
            }
            let next = start + places.len();
            found.push(Class { residue: [ry, rx], taps: places, run, runs, start });
            start = next;
        }
    }
    Ok(found)
}

/// The rows or columns of a window that pixels of this residue are met by: each with how far back the output lies from the last one
/// that may see the pixel, the farthest first.
fn taps(window: Window, axis: usize, residue: usize) -> Result<Vec<[usize; 2]>> {
    let (stride, dilation) = (window.stride[axis], window.dilation[axis]);
    let met = (0..window.size[axis]).rev().filter(|k| k * dilation % stride == residue);
    let mut found = room("places of a window", window.size[axis])?;
    found.extend(met.map(|k| [k, k * dilation / stride]));
    Ok(found)
}

/// The residues modulo the stride that pixels have along an axis, ascending.
pub(super) fn residues(pixels: usize, window: Window, axis: usize) -> Result<Vec<usize>> {
    let (stride, padding) = (window.stride[axis], window.padding.before[axis]);
    let mut found: Vec<usize> =
        collected("residues of pixels", (0..pixels.min(stride)).map(|y| (y + padding) % stride))?;
    sort_by_key(&mut found, |&residue| residue);
    Ok(found)
}
