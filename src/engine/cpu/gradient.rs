//! Gradients in W and b of affine steps: sums over blocks, positions and lanes.

use std::ops::Range;

use super::affine::Affine;
use super::affine_work::AffineWork;
use super::aligned::Aligned;
use super::channelwise;
use super::lanes;
use super::parallel;
use super::real::Real;
use super::simd::{self, Level, Work};
use super::tile::{PART, ROWS, accumulate, by_rows};
use super::winograd;
use super::winograd_gradient::{self, WinogradGradient};
use crate::error::Result;
use crate::memory::{make_room, product};

/// Of one block: δ (positions, rows, N), and the transposed input that it meets, or the input where channels see one channel each.
pub type Term<'a, T> = (&'a [T], &'a [T]);

/// Memory that one thread uses again and again.
#[derive(Default)]
pub struct GradientWorkspace<T> {
    /// Sums tile by tile, (tiles, rows, J): written row by row into W, whose rows are pages apart, they would come and go
    /// through the same few sets of the cache.
    pub(super) tiles: Aligned<T>,
    /// δ of a strip for each group of rows, step by step: (steps, rows of the group).
    pub(super) delta: Aligned<T>,
    /// Inputs of a strip that one tile meets, (steps, J).
    pub(super) input: Aligned<T>,
    /// Where the strip's cells lie: term, position, and where the window begins in the input.
    cells: Vec<[usize; 3]>,
}

impl<T: Real> GradientWorkspace<T> {
    /// Room for what the gradient of so many rows lays out, asked for before its loops begin.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn fit<const N: usize>(&mut self, affine: &Affine, rows: usize, terms: usize) -> Result<()> {
        const WHAT: &str = "sums of a weight gradient";
        self.cells.clear();
        if affine.is_channelwise() {
            return self.tiles.resize(WHAT, product::<T>(WHAT, &[affine.columns, rows, N])?).map(|_| ());
        }
        // The tiles of both widths there are: a narrow one covers a run no worse than a wide one.
        let columns = affine.runs.len() * affine.run.div_ceil(N) * N;
        let cells = (PART / N).min(terms * affine.positions());
        let steps = cells * N;
        // Sums of squares go over windows where those of products are in Winograd's form.
        let places = if winograd_gradient::is_faster(affine) { winograd::PLACES } else { 0 };
        let (channels, together) = (affine.input.channels, winograd_gradient::together(N) * N);
        for (memory, in_windows, in_form) in [
            (&mut self.tiles, [columns, rows], [channels, rows]),
            (&mut self.delta, [rows, steps], [rows, together]),
            (&mut self.input, [steps, N], [channels, together]),
        ] {
            let in_form = product::<T>(WHAT, &[places, in_form[0], in_form[1]])?;
            memory.resize(WHAT, product::<T>(WHAT, &in_windows)?.max(in_form))?;
        }
        make_room(WHAT, &mut self.cells, cells)
    }
}

/// `out` += Σ over the terms, positions and lanes of δ xᵀ, for some rows of W: (rows, columns).
///
/// The sum goes over strips of cells, a cell being a term's position and its N lanes the steps. Everything that a strip's
/// tile needs is laid out step by step first, so that a tile is one loop without jumps: engines that compile WebAssembly
/// keep a tile in registers there, and with fused multiply-adds nowhere else.
pub struct WeightGradient<'a, T, const N: usize> {
    pub affine: &'a Affine,
    pub rows: Range<usize>,
    pub terms: &'a [Term<'a, T>],
    pub workspace: &'a mut GradientWorkspace<T>,
    pub out: &'a mut [T],
}

impl<T: Real, const N: usize> Work for WeightGradient<'_, T, N> {
    const ROW: usize = size_of::<[T; N]>();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        // A narrow tile where a wide one would be mostly beyond the run's end; WebAssembly's are narrow already.
        #[cfg(not(target_arch = "wasm32"))]
        {
            let run = self.affine.run;
            if !self.affine.is_dense() && run.next_multiple_of(8) * 5 < run.next_multiple_of(N) * 4 {
                return self.in_tiles::<8, FMA>();
            }
        }
        self.in_tiles::<N, FMA>();
    }
}

impl<T: Real, const N: usize> AffineWork for WeightGradient<'_, T, N> {
    fn affine(&self) -> &Affine {
        self.affine
    }

    #[inline(always)]
    fn run_channelwise<const FMA: bool>(self) {
        let Self { affine, rows, terms, workspace, out } = self;
        channelwise::add_gradient::<T, N, FMA>(affine, rows, terms, &mut workspace.tiles, out);
    }

    fn run_winograd(self, level: Level) {
        if winograd_gradient::is_faster(self.affine) {
            simd::run(level, WinogradGradient(self));
        } else {
            simd::run(level, self);
        }
    }
}

impl<T: Real, const N: usize> WeightGradient<'_, T, N> {
    #[inline(always)]
    fn in_tiles<const J: usize, const FMA: bool>(self) {
        let Self { affine, rows, terms, workspace, out } = self;
        let of_group = affine.rows_of_group();
        // A group's rows meet the same inputs; of the dense there is one group.
        let mut rest = out;
        let mut first = rows.start;
        while first < rows.end {
            let end = rows.end.min((first / of_group + 1) * of_group);
            let (mine, after) = rest.split_at_mut((end - first) * affine.columns);
            add_group::<T, N, J, FMA>(affine, first..end, terms, workspace, mine);
            (rest, first) = (after, end);
        }
    }
}

/// Rows of one group.
#[inline(always)]
fn add_group<T: Real, const N: usize, const J: usize, const FMA: bool>(
    affine: &Affine,
    rows: Range<usize>,
    terms: &[Term<'_, T>],
    workspace: &mut GradientWorkspace<T>,
    out: &mut [T],
) {
    let GradientWorkspace { tiles, delta, input, cells } = workspace;
    let run = affine.run;
    let in_run = run.div_ceil(J);
    let tiles = &mut tiles[..affine.runs.len() * in_run * rows.len() * J];
    tiles.fill(T::ZERO);
    let count = terms.len() * affine.positions();
    for first in (0..count).step_by(PART / N) {
        let last = count.min(first + PART / N);
        affine.list_cells::<N>(first..last, affine.first_channel(rows.start), cells);
        let steps = cells.len() * N;
        let (delta, input) = (&mut delta[..rows.len() * steps], &mut input[..steps * J]);
        for (row, delta) in rows.clone().step_by(ROWS).zip(delta.chunks_mut(ROWS * steps)) {
            by_rows!(rows.end - row, pack_delta::<T, R, N>(affine.rows, row, terms, cells, delta));
        }
        for (tile, sums) in tiles.chunks_exact_mut(rows.len() * J).enumerate() {
            let start = affine.tile_start::<N, J>(tile / in_run, tile % in_run);
            pack_input::<T, N, J, FMA>(affine, terms, cells, start, input);
            for (delta, sums) in delta.chunks(ROWS * steps).zip(sums.chunks_mut(ROWS * J)) {
                by_rows!(sums.len() / J, add_tile::<T, R, J, FMA>(delta, input, sums));
            }
        }
    }
    for (tile, sums) in tiles.chunks_exact(rows.len() * J).enumerate() {
        let (i, tile) = (tile / in_run, tile % in_run);
        let places = &affine.column_of[i * run + tile * J..][..J.min(run - tile * J)];
        let start = places[0] as usize;
        let is_run = places.windows(2).all(|pair| pair[1] == pair[0] + 1);
        for (sums, out) in sums.chunks_exact(J).zip(out.chunks_exact_mut(affine.columns)) {
            if is_run {
                out[start..start + places.len()].iter_mut().zip(sums).for_each(|(out, &sum)| *out += sum);
                continue;
            }
            for (&sum, &place) in sums.iter().zip(places) {
                out[place as usize] += sum;
            }
        }
    }
}

impl Affine {
    /// Cells `range` of all terms' positions, for rows that see channels from `channel` on.
    #[inline(always)]
    fn list_cells<const N: usize>(&self, range: Range<usize>, channel: usize, cells: &mut Vec<[usize; 3]>) {
        let (positions, width) = (self.positions(), self.output.width);
        let [sy, sx] = self.window.stride;
        cells.clear();
        cells.extend(range.map(|cell| {
            let (term, position) = (cell / positions, cell % positions);
            let (y, x) = (position / width, position % width);
            [term, position, y * sy * N * self.row_stride() + x * sx * self.input.channels + channel]
        }));
    }

    /// From a window's corner to the first number of a tile of a run, in the transposed input.
    #[inline(always)]
    fn tile_start<const N: usize, const J: usize>(&self, run: usize, tile: usize) -> usize {
        if self.is_dense() {
            return tile * N * N;
        }
        let [y, x] = self.runs[run];
        y * N * self.row_stride() + x * self.input.channels + tile * J
    }
}

/// δ of rows `row` to `row` + R at these cells, (steps, R).
#[inline(always)]
fn pack_delta<T: Real, const R: usize, const N: usize>(
    rows: usize,
    row: usize,
    terms: &[Term<'_, T>],
    cells: &[[usize; 3]],
    out: &mut [T],
) {
    for (&[term, position, _], out) in cells.iter().zip(out.as_chunks_mut::<R>().0.chunks_exact_mut(N)) {
        let delta = terms[term].0[(position * rows + row) * N..][..R * N].as_chunks::<N>().0;
        for n in 0..N {
            for r in 0..R {
                out[n][r] = delta[r][n];
            }
        }
    }
}

/// The inputs that a tile which begins at `start` from a window's corner meets at these cells, (steps, J).
#[inline(always)]
fn pack_input<T: Real, const N: usize, const J: usize, const FMA: bool>(
    affine: &Affine,
    terms: &[Term<'_, T>],
    cells: &[[usize; 3]],
    start: usize,
    out: &mut [T],
) {
    let stride = if affine.is_dense() { N } else { affine.row_stride() };
    for (&[term, _, corner], out) in cells.iter().zip(out.as_chunks_mut::<J>().0.chunks_exact_mut(N)) {
        let input = &terms[term].1[start + corner..][..(N - 1) * stride + J];
        // Samples' rows may be shorter than the tile is wide.
        for (input, out) in input.windows(J).step_by(stride).zip(out) {
            let Some(input) = input.first_chunk() else { return };
            lanes::copy::<T, J, FMA>(out, input);
        }
    }
}

/// R rows and J columns: `sums` += δᵀ x over the steps.
#[inline(always)]
fn add_tile<T: Real, const R: usize, const J: usize, const FMA: bool>(delta: &[T], input: &[T], sums: &mut [T]) {
    if let Some(sums) = sums.as_chunks_mut::<J>().0.first_chunk_mut::<R>() {
        accumulate::<T, R, J, FMA>(sums, delta, input);
    }
}

/// `out` += Σ over positions and lanes of δ (positions, all rows, N), for rows from `first` on: the gradient of b from one block.
pub struct BiasGradient<'a, T, const N: usize> {
    pub all_rows: usize,
    pub first: usize,
    pub delta: &'a [T],
    pub out: &'a mut [T],
}

impl<T: Real, const N: usize> Work for BiasGradient<'_, T, N> {
    const ROW: usize = size_of::<[T; N]>();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { all_rows, first, delta, out } = self;
        for (row, out) in (first..).step_by(ROWS).zip(out.chunks_mut(ROWS)) {
            let delta = &delta.as_chunks::<N>().0[row..];
            by_rows!(out.len(), add_bias::<T, R, N>(all_rows, delta, out));
        }
    }
}

/// R rows, the first of which `delta` begins with.
#[inline(always)]
fn add_bias<T: Real, const R: usize, const N: usize>(all_rows: usize, delta: &[[T; N]], out: &mut [T]) {
    let mut sums = [[T::ZERO; N]; R];
    for position in delta.chunks(all_rows) {
        let Some(rows) = position.first_chunk::<R>() else { break };
        for r in 0..R {
            for n in 0..N {
                sums[r][n] += rows[r][n];
            }
        }
    }
    for (out, sums) in out.iter_mut().zip(sums) {
        *out += sums.into_iter().sum();
    }
}

/// Σ over positions of δ of one row, lane by lane: the gradient of its b for every sample by itself.
pub fn bias_lanes<T: Real, const N: usize>(all_rows: usize, row: usize, delta: &[T]) -> [T; N] {
    let mut sums = [T::ZERO; N];
    for position in delta.as_chunks::<N>().0.chunks_exact(all_rows) {
        for n in 0..N {
            sums[n] += position[row][n];
        }
    }
    sums
}

/// Some rows of a step: their part of W and of b, in what belongs to the step or in what is summed of it.
pub struct Portion<'a, O> {
    /// The first row.
    pub first: usize,
    pub weight: &'a mut [O],
    pub bias: &'a mut [O],
}

impl Affine {
    /// The rows in portions, for work of so many multiplications; `out` is of the step's W and b.
    pub fn portions<'a, O>(&self, out: &'a mut [O], work: f64) -> impl Iterator<Item = Portion<'a, O>> + use<'a, O> {
        let (weight, bias) = out.split_at_mut(self.weight.len());
        let rows = parallel::rows_of_task(self.rows, work).next_multiple_of(ROWS);
        let mut bias = bias.chunks_mut(rows);
        let weight = weight.chunks_mut(rows * self.columns).enumerate();
        weight.map(move |(i, weight)| Portion { first: i * rows, weight, bias: bias.next().unwrap_or_default() })
    }
}
