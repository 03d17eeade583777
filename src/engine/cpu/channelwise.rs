//! Convolutions whose channels see one channel each, and scales: there is no matrix product in them, and what they cost is memory.
//!
//! Every number of a channel is met by a few weights of that channel alone. So images are read as they lie, without a frame of
//! zeros; neighbours on a line, which share most of what they see, are computed together; and channels go through the image in
//! bands, narrow enough that the rows that a window sees stay in the cache until the next row of outputs wants them again.
//!
//! That is for windows of every kind. Those that are common have loops of their own (`row_sums`, `row_pull`), over rows that are laid
//! out channel by channel first (`laid`).
//!
//! Arrays are filled by loops here: what `array::map` calls is not put in its place under a level's instructions, half the speed.

mod laid;
mod pull;
mod row_pull;
mod row_sums;
#[cfg(test)]
mod row_tests;

use std::ops::Range;

use self::laid::{Grid, LAYS_ROWS};
pub use self::pull::{Pull, Term as PullTerm};
use self::row_sums::RowSums;
use super::activation::Finish;
use super::affine::{Affine, Backward, Forward};
use super::gradient::Term;
use super::real::Real;
use super::stencil::{Side, Stencil};
use super::tile::Sums;
use crate::network::Shape;

/// Neighbours that are computed together. A pixel's channels often fill pages, so that neighbours share sets of the cache: what more
/// of them see would not stay in it.
const NEIGHBOURS: usize = 4;

/// Places of a window whose sums stay in registers together.
const PLACES: usize = 5;

/// Places of a window that are looked up together, for all channels of a band.
const LOOKED_UP: usize = 32;

/// Bytes of the rows that a band of channels sees at a time: half of a second cache of 1 MiB.
const BAND: usize = 512 << 10;

/// Where the window's places meet an image, for the first channel: which place, and where it is.
#[derive(Clone, Copy, Default)]
struct Met {
    place: usize,
    at: usize,
}

/// How windows move over an image.
#[derive(Clone, Copy)]
struct Geometry<'a> {
    /// Along rows and columns.
    sides: [&'a Side; 2],
    /// Columns of the window.
    window: usize,
    /// Pixels of a row, and channels of a pixel.
    width: usize,
    channels: usize,
}

impl Geometry<'_> {
    /// What is met at a point; at its neighbours within the columns' inner points it is the same, [`Geometry::step`] on.
    #[inline(always)]
    fn met(&self, [y, x]: [usize; 2]) -> impl Iterator<Item = Met> {
        let (Self { window, width, channels, .. }, [rows, columns]) = (*self, self.sides);
        rows.places.iter().filter(move |row| row.is_met(y)).flat_map(move |row| {
            let line = row.at(y, rows.stride) * width;
            let met = columns.places.iter().filter(move |column| column.is_met(x));
            met.map(move |column| Met {
                place: row.k * window + column.k,
                at: (line + column.at(x, columns.stride)) * channels,
            })
        })
    }

    /// From what a place meets at one point to what it meets at the next.
    #[inline(always)]
    fn step(&self) -> usize {
        self.sides[1].stride * self.channels
    }

    /// The points of a row in stretches: among the inner points of [`NEIGHBOURS`], then of halves, else one by one; the first of
    /// each, and how many.
    #[inline(always)]
    fn stretches(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let ([start, end], count) = (self.sides[1].inner, self.sides[1].count);
        let mut next = 0;
        std::iter::from_fn(move || {
            let first = next;
            let inner = if start <= first { end.saturating_sub(first) } else { 0 };
            let mut length = NEIGHBOURS;
            while length > inner.max(1) {
                length /= 2;
            }
            next += length;
            (first < count).then_some((first, length))
        })
    }
}

/// The next places that are met, as many together as are looked up together: the first time some, if only none.
#[inline(always)]
fn look_up<'a>(met: &mut impl Iterator<Item = Met>, found: &'a mut [Met], is_first: bool) -> Option<&'a [Met]> {
    let mut count = 0;
    while count < found.len() {
        let Some(met) = met.next() else { break };
        found[count] = met;
        count += 1;
    }
    (count > 0 || is_first).then(|| &found[..count])
}

/// Sums over what the window's places meet, of every channel that comes out.
struct Correlation<'a, T, W> {
    geometry: Geometry<'a>,
    /// Weights of a row of W.
    columns: usize,
    /// Pixels of a row that comes out, and channels of a pixel.
    width: usize,
    channels: usize,
    /// Of each channel that comes out, added to its sums.
    bias: Option<&'a [T]>,
    /// Weights, and the images that they meet.
    terms: &'a [(&'a W, &'a [T])],
}

/// z = Σ over the terms of W x, plus b: one block. `out` is (positions, rows, N).
#[inline(always)]
pub fn forward<T: Real, const N: usize, const FMA: bool>(
    affine: &Affine,
    bias: Option<&[T]>,
    terms: &[(&Forward<T>, &[T])],
    finish: Finish<'_, T>,
    out: &mut [T],
) {
    let Some(stencil) = &affine.stencil else { return };
    let [rows, columns] = &stencil.forward;
    affine.correlation([rows, columns], bias, terms, true).run::<N, FMA>(finish, out);
}

/// q = Σ over the terms of Wᵀ δ: one block. `out` is (pixels, input channels, N).
#[inline(always)]
pub fn backward<T: Real, const N: usize, const FMA: bool>(
    affine: &Affine,
    terms: &[(&Backward<T>, &[T])],
    finish: Finish<'_, T>,
    out: &mut [T],
) {
    let Some(stencil) = &affine.stencil else { return };
    let [rows, columns] = &stencil.backward;
    for rows in rows {
        for columns in columns {
            affine.correlation([rows, columns], None, terms, false).run::<N, FMA>(finish, out);
        }
    }
}

impl Affine {
    fn correlation<'a, T, W>(
        &'a self,
        sides: [&'a Side; 2],
        bias: Option<&'a [T]>,
        terms: &'a [(&'a W, &'a [T])],
        is_forward: bool,
    ) -> Correlation<'a, T, W> {
        let [from, to] = if is_forward { [self.input, self.output] } else { [self.output, self.input] };
        let geometry = Geometry { sides, window: self.window.size[1], width: from.width, channels: from.channels };
        Correlation { geometry, columns: self.columns, width: to.width, channels: to.channels, bias, terms }
    }
}

impl<T: Real, W: AsRef<[T]>> Correlation<'_, T, W> {
    #[inline(always)]
    fn run<const N: usize, const FMA: bool>(&self, finish: Finish<'_, T>, out: &mut [T]) {
        let Geometry { sides: [rows, columns], window, width, channels } = self.geometry;
        let seen = [rows.places.len(), width, channels.div_ceil(self.channels), self.terms.len()];
        let band = band::<T, N>(&seen);
        if LAYS_ROWS && channels == self.channels && matches!(self.terms.len(), 1 | 2) {
            let sides = [rows, columns];
            let weights = self.columns;
            let grid = Grid { sides, window, weights, channels, met_width: width, width: self.width };
            let mut terms = [(&[][..], &[][..]); 2];
            for (to, (weights, image)) in terms.iter_mut().zip(self.terms) {
                *to = (weights.as_ref(), image);
            }
            let by_rows = RowSums::<T, N> { grid, bias: self.bias, terms: &terms[..self.terms.len()], finish };
            if by_rows.run::<FMA>(out) {
                return;
            }
        }
        let out = out.as_chunks_mut::<N>().0;
        let mut found = [Met::default(); LOOKED_UP];
        for first in (0..self.channels).step_by(band) {
            let channels = first..self.channels.min(first + band);
            for y in 0..rows.count {
                let line = (rows.first + y * rows.step) * self.width;
                for (x, count) in self.geometry.stretches() {
                    let pixel = line + columns.first + x * columns.step;
                    let out = &mut out[pixel * self.channels..];
                    let (mut places, mut is_first) = (self.geometry.met([y, x]), true);
                    while let Some(met) = look_up(&mut places, &mut found, is_first) {
                        match count {
                            NEIGHBOURS => self.add::<NEIGHBOURS, N, FMA>(met, is_first, channels.clone(), out),
                            2 => self.add::<2, N, FMA>(met, is_first, channels.clone(), out),
                            _ => self.add::<1, N, FMA>(met, is_first, channels.clone(), out),
                        }
                        is_first = false;
                    }
                    for r in 0..count {
                        let at = pixel * self.channels + r * columns.step * self.channels;
                        let run = &mut out[r * columns.step * self.channels..][channels.clone()];
                        finish.apply((at + channels.start) * N, run.as_flattened_mut());
                    }
                }
            }
        }
    }

    /// What R neighbours meet; `out` begins with the pixel of the first.
    #[inline(always)]
    fn add<const R: usize, const N: usize, const FMA: bool>(
        &self,
        met: &[Met],
        is_first: bool,
        channels: Range<usize>,
        out: &mut [[T; N]],
    ) {
        // As many channels meet one that comes out, or one meets as many.
        let several = (self.geometry.channels / self.channels).max(1);
        let each = (self.channels / self.geometry.channels).max(1);
        let (step, next) = (self.geometry.step(), self.geometry.sides[1].step * self.channels);
        for channel in channels {
            let mut sums = Sums::<T, R, N>::zero();
            for (weights, images) in self.terms {
                let images = images.as_chunks::<N>().0;
                for from in channel * several / each..channel * several / each + several {
                    let weights = &weights.as_ref()[channel.max(from) * self.columns..][..self.columns];
                    for met in met {
                        let images = &images[met.at + from..][..(R - 1) * step + 1];
                        let mut met_by = [&images[0]; R];
                        for r in 0..R {
                            met_by[r] = &images[r * step];
                        }
                        sums.add_each::<FMA>(weights[met.place], met_by);
                    }
                }
            }
            let start = self.bias.map_or(T::ZERO, |b| b[channel]);
            for r in 0..R {
                let out = &mut out[r * next + channel];
                if is_first { sums.write_row::<FMA>(r, start, out) } else { sums.add_row_to::<FMA>(r, out) }
            }
        }
    }
}

/// Channels in a band, of each of which the window sees the product of these numbers a sample at a time.
#[inline(always)]
fn band<T, const N: usize>(seen: &[usize]) -> usize {
    let bytes = seen.iter().fold(N * size_of::<T>(), |bytes, &n| bytes.saturating_mul(n));
    (BAND / bytes.max(1)).max(4)
}

/// `out` += Σ over the terms, positions and lanes of δ x, for some rows of W; the inputs are as they lie.
#[inline(always)]
pub fn add_gradient<T: Real, const N: usize, const FMA: bool>(
    affine: &Affine,
    rows: Range<usize>,
    terms: &[Term<'_, T>],
    sums: &mut [T],
    out: &mut [T],
) {
    let Some(Stencil { forward: [lines, columns], .. }) = &affine.stencil else { return };
    let Shape { width, channels, .. } = affine.input;
    let geometry = Geometry { sides: [lines, columns], window: affine.window.size[1], width, channels };
    let band = band::<T, N>(&[lines.places.len() + 1, width]).min(rows.len());
    for (first, out) in rows.step_by(band).zip(out.chunks_mut(band * affine.columns)) {
        let sums = &mut sums[..out.len() * N];
        sums.fill(T::ZERO);
        let mut found = [Met::default(); LOOKED_UP];
        for (delta, input) in terms {
            let (delta, input) = (delta.as_chunks::<N>().0, input.as_chunks::<N>().0);
            for y in 0..lines.count {
                for (x, count) in geometry.stretches() {
                    let delta = &delta[(y * columns.count + x) * affine.rows..][..count * affine.rows];
                    let mut places = geometry.met([y, x]);
                    while let Some(met) = look_up(&mut places, &mut found, false) {
                        let rows = sums.as_chunks_mut::<N>().0.chunks_exact_mut(affine.columns);
                        for (i, sums) in rows.enumerate() {
                            let row = first + i;
                            let line = Line { delta: &delta[row..], rows: affine.rows, step: geometry.step(), count };
                            line.add::<FMA>(met, &input[row / affine.rows_of_group()..], sums);
                        }
                    }
                }
            }
            // Block by block, as sums of many terms go in parts.
            for (out, lanes) in out.iter_mut().zip(sums.as_chunks_mut::<N>().0) {
                *out += std::mem::replace(lanes, [T::ZERO; N]).into_iter().sum();
            }
        }
    }
}

/// A stretch of outputs, of one row of W.
struct Line<'a, T, const N: usize> {
    /// δ from the first on.
    delta: &'a [[T; N]],
    /// From one output's to the next one's.
    rows: usize,
    /// The same of inputs.
    step: usize,
    count: usize,
}

impl<T: Real, const N: usize> Line<'_, T, N> {
    /// `sums` += Σ over the stretch of δ x, lane by lane; `input` begins with the channel that is met.
    #[inline(always)]
    fn add<const FMA: bool>(&self, met: &[Met], input: &[[T; N]], sums: &mut [[T; N]]) {
        // Groups as even as can be.
        let groups = met.len().div_ceil(PLACES).max(1);
        for met in met.chunks(met.len().div_ceil(groups).max(1)) {
            match met.len() {
                1 => self.add_places::<1, FMA>(met, input, sums),
                2 => self.add_places::<2, FMA>(met, input, sums),
                3 => self.add_places::<3, FMA>(met, input, sums),
                4 => self.add_places::<4, FMA>(met, input, sums),
                _ => self.add_places::<PLACES, FMA>(met, input, sums),
            }
        }
    }

    #[inline(always)]
    fn add_places<const K: usize, const FMA: bool>(&self, met: &[Met], input: &[[T; N]], sums: &mut [[T; N]]) {
        let Some(met) = met.first_chunk::<K>() else { return };
        let len = (self.count - 1) * self.step + 1;
        let mut lines = [&input[..0]; K];
        for (line, met) in lines.iter_mut().zip(met) {
            *line = &input[met.at..][..len];
        }
        let mut found = Sums::<T, K, N>::zero();
        for i in 0..self.count {
            let mut met = [&lines[0][0]; K];
            for (met, line) in met.iter_mut().zip(lines) {
                *met = &line[i * self.step];
            }
            found.add_products::<FMA>(&self.delta[i * self.rows], met);
        }
        for k in 0..K {
            found.add_row_to::<FMA>(k, &mut sums[met[k].place]);
        }
    }
}
