//! Convolutions of 3 × 3 in Winograd's form F(2 × 2, 3 × 3) (Lavin and Gray 2016): four outputs that lie together take 16 products of a
//! weight and a pixel instead of 36.
//!
//! Y = Aᵀ [(G g Gᵀ) ⊙ (Bᵀ d B)] A, with the window's weights g, the 4 × 4 pixels d that the outputs Y see, and
//!
//! ```text
//!      1  0 −1  0          1  0  0         1  1  1  0
//! Bᵀ = 0  1  1  0      G = ½  ½  ½    Aᵀ = 0  1 −1 −1
//!      0 −1  1  0          ½ −½  ½
//!      0  1  0 −1          0  0  1
//! ```
//!
//! Each of the 16 places is a product of matrices over the channels. What an output is made of are places of its own window's pixels
//! alone, so that no other pixel rounds it or makes it overflow, and one all of whose pixels are 0 is exactly 0: where biases are 0 too, a
//! unit that is on its kink stays there. Larger forms, whose points are not −1, 0, 1 and ∞, lack that.

use std::ops::Range;

use super::activation::Finish;
use super::lanes;
use super::real::Real;
use super::simd::Work;
use super::tile::{ROWS, Sums};
use crate::network::{Shape, Window};

/// Places that are multiplied one by one.
pub const PLACES: usize = 16;

/// Rows and columns of outputs that lie together.
pub const SIDE: usize = 2;

/// Rows and columns of the pixels that they see.
pub const SEEN: usize = SIDE + 2;

/// Channels that are spread at a time: what is multiplied stays in the first cache, or near it.
const CHANNELS: usize = 32;

/// Is it faster than sums over the windows? With vectors of 128 bits those wait for the multipliers; with AVX-512's they do not, and what
/// is spread and gathered takes as long as what is saved (docs/performance.md).
pub const IS_FASTER: bool = cfg!(target_arch = "wasm32");

/// Channels, in and out, from which the places are products of matrices. They come in multiples of as many, so that one tile does for all.
const CHANNELS_OF: usize = 8;

/// Can a convolution be met in this form, and has it channels enough and few enough outputs beyond the image's edge?
pub fn suits(input: Shape, window: Window, output: Shape, groups: usize) -> bool {
    let is_common = window.size == [3, 3] && window.stride == [1, 1] && window.dilation == [1, 1] && groups == 1;
    let places = PLACES * output.height.div_ceil(SIDE) * output.width.div_ceil(SIDE);
    is_common
        && window.padding.before.iter().all(|&padding| padding <= 2)
        && input.channels.is_multiple_of(CHANNELS_OF)
        && output.channels.is_multiple_of(CHANNELS_OF)
        && 10 * places <= 6 * 9 * output.area()
}

/// G g Gᵀ.
#[inline(always)]
fn of_window<T: Real>(g: &[T; 9]) -> [T; PLACES] {
    #[inline(always)]
    fn along<T: Real>(a: T, b: T, c: T) -> [T; SEEN] {
        let half = T::from_f64(0.5);
        [a, half * (a + b + c), half * (a - b + c), c]
    }
    let columns = [along(g[0], g[3], g[6]), along(g[1], g[4], g[7]), along(g[2], g[5], g[8])];
    let mut places = [T::ZERO; PLACES];
    for y in 0..SEEN {
        let row = along(columns[0][y], columns[1][y], columns[2][y]);
        for x in 0..SEEN {
            places[SEEN * y + x] = row[x];
        }
    }
    places
}

/// Its adjoint, Gᵀ u G: the gradient in the window's weights.
pub fn to_window<T: Real>(u: &[T; PLACES]) -> [T; 9] {
    let half = T::from_f64(0.5);
    let along = |[a, b, c, d]: [T; SEEN]| [a + half * (b + c), half * (b - c), half * (b + c) + d];
    let columns: [[T; 3]; SEEN] = std::array::from_fn(|x| along([u[x], u[4 + x], u[8 + x], u[12 + x]]));
    let mut g = [T::ZERO; 9];
    for (y, row) in g.chunks_exact_mut(3).enumerate() {
        row.copy_from_slice(&along([columns[0][y], columns[1][y], columns[2][y], columns[3][y]]));
    }
    g
}

/// Weights for [`Convolution`], of W (rows, channels, 3, 3): for each [`ROWS`] of what comes out, of each [`CHANNELS`] of what goes in
/// place by place and channel by channel. Back through a window its places come in the opposite order.
pub fn pack<T: Real>(weight: &[T], [rows, channels]: [usize; 2], is_backward: bool, packed: &mut [T]) {
    let (windows, seen) = (weight.as_chunks::<9>().0, channels);
    let [going_in, coming_out] = if is_backward { [rows, channels] } else { [channels, rows] };
    let mut rest = packed;
    for first in (0..coming_out).step_by(ROWS) {
        for channels in parts(going_in) {
            let stride = channels.len() * ROWS;
            let (mine, after) = rest.split_at_mut(PLACES * stride);
            for (i, channel) in channels.enumerate() {
                for r in 0..ROWS {
                    let [row, c] = if is_backward { [channel, first + r] } else { [first + r, channel] };
                    let mut g = windows[row * seen + c];
                    if is_backward {
                        g.reverse();
                    }
                    let places = of_window(&g);
                    for place in 0..PLACES {
                        mine[place * stride + i * ROWS + r] = places[place];
                    }
                }
            }
            rest = after;
        }
    }
}

fn parts(channels: usize) -> impl Iterator<Item = Range<usize>> {
    (0..channels).step_by(CHANNELS).map(move |first| first..channels.min(first + CHANNELS))
}

/// Pixels (H, W, C, N), and 0 around them.
#[derive(Clone, Copy)]
pub struct Image<'a, T> {
    pub data: &'a [T],
    pub height: usize,
    pub width: usize,
    pub channels: usize,
    /// Rows and columns before the first pixel that windows see.
    pub before: [usize; 2],
}

impl<'a, T: Real> Image<'a, T> {
    #[inline(always)]
    fn pixel<const N: usize>(&self, y: usize, x: usize) -> Option<&'a [[T; N]]> {
        let (y, x) = (y.wrapping_sub(self.before[0]), x.wrapping_sub(self.before[1]));
        let is_there = y < self.height && x < self.width;
        is_there.then(|| self.data[(y * self.width + x) * self.channels * N..][..self.channels * N].as_chunks().0)
    }
}

/// z = Σ over the terms of W x, plus b: one block. Forwards W x and back Wᵀ δ are both such sums.
pub struct Convolution<'a, T, const N: usize> {
    /// Weights as [`pack`] has them, and what they meet.
    pub terms: &'a [(&'a [T], Image<'a, T>)],
    pub bias: Option<&'a [T]>,
    /// Of what comes out.
    pub shape: Shape,
    pub finish: Finish<'a, T>,
    /// (H, W, C, N).
    pub out: &'a mut [T],
}

impl<T: Real, const N: usize> Work for Convolution<'_, T, N> {
    const ROW: usize = size_of::<[T; N]>();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { terms, bias, shape: Shape { height, width, channels: rows }, finish, out } = self;
        let mut spread = [[T::ZERO; N]; PLACES * CHANNELS];
        let line = width * rows * N;
        for (y, band) in (0..height).step_by(SIDE).zip(out.chunks_mut(SIDE * line)) {
            for pixel in band.chunks_exact_mut(rows * N) {
                for (row, out) in pixel.as_chunks_mut::<N>().0.iter_mut().enumerate() {
                    *out = [bias.map_or(T::ZERO, |b| b[row]); N];
                }
            }
            for (weights, image) in terms {
                for channels in parts(image.channels) {
                    for x in (0..width).step_by(SIDE) {
                        spread_pixels::<T, N, FMA>(image, [y, x], channels.clone(), &mut spread);
                        for first in (0..rows).step_by(ROWS) {
                            let begin = PLACES * (first * image.channels + ROWS * channels.start);
                            let weights = &weights[begin..][..PLACES * ROWS * channels.len()];
                            add_rows::<T, N, FMA>(weights, &spread, (x, first, rows, width), band);
                        }
                    }
                }
            }
            finish.apply(y * line, band);
        }
    }
}

/// Bᵀ d B of these channels, (places, [`CHANNELS`], N).
#[inline(always)]
fn spread_pixels<T: Real, const N: usize, const FMA: bool>(
    image: &Image<'_, T>,
    [y, x]: [usize; 2],
    channels: Range<usize>,
    spread: &mut [[T; N]],
) {
    let zeros = [[T::ZERO; N]; CHANNELS];
    let count = channels.len();
    let mut pixels = [&zeros[..count]; PLACES];
    for (i, seen) in pixels.iter_mut().enumerate() {
        if let Some(pixel) = image.pixel(y + i / SEEN, x + i % SEEN) {
            *seen = &pixel[channels.clone()][..count];
        }
    }
    for channel in 0..count {
        let mut seen = [&zeros[0]; PLACES];
        for i in 0..PLACES {
            seen[i] = &pixels[i][channel];
        }
        lanes::spread::<T, N, FMA>(&seen, &mut spread[channel..], CHANNELS);
    }
}

/// Some rows of the outputs that lie together at x: Aᵀ (Σ over the channels of U ⊙ V) A joins them.
#[inline(always)]
fn add_rows<T: Real, const N: usize, const FMA: bool>(
    weights: &[T],
    spread: &[[T; N]],
    (x, first, rows, width): (usize, usize, usize, usize),
    band: &mut [T],
) {
    let channels = weights.len() / (PLACES * ROWS);
    let mut products = [[[T::ZERO; N]; ROWS]; PLACES];
    for (place, products) in products.iter_mut().enumerate() {
        let weights = weights[place * channels * ROWS..][..channels * ROWS].as_chunks::<ROWS>().0;
        let mut sums = Sums::<T, ROWS, N>::zero();
        for (a, b) in weights.iter().zip(&spread[place * CHANNELS..]) {
            sums.add::<FMA>(a, b);
        }
        for (r, row) in products.iter_mut().enumerate() {
            sums.write_row::<FMA>(r, T::ZERO, row);
        }
    }
    let line = width * rows * N;
    for r in 0..ROWS {
        let mut places = [&products[0][r]; PLACES];
        for (place, products) in places.iter_mut().zip(&products) {
            *place = &products[r];
        }
        let mut outputs = [[T::ZERO; N]; SIDE * SIDE];
        lanes::gather::<T, N, FMA>(&places, &mut outputs);
        for (dy, line) in band.chunks_exact_mut(line).enumerate() {
            for dx in 0..SIDE.min(width - x) {
                let out = &mut line[((x + dx) * rows + first + r) * N..];
                if let Some(out) = out.first_chunk_mut::<N>() {
                    lanes::add::<T, N, FMA>(out, &outputs[dy * SIDE + dx]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PLACES, of_window, suits, to_window};
    use crate::engine::cpu::activation::Finish;
    use crate::engine::cpu::affine::{Affine, Backward, Forward};
    use crate::engine::cpu::affine_block::{BackwardBlock, ForwardBlock};
    use crate::engine::cpu::affine_work;
    use crate::engine::cpu::aligned::Aligned;
    use crate::engine::cpu::gradient::{GradientWorkspace, WeightGradient};
    use crate::engine::cpu::real::{Real, numbers};
    use crate::engine::cpu::simd::Level;
    use crate::engine::plan::Plan;
    use crate::network::Network;

    /// The convolution of a network of one, over its windows and in Winograd's form.
    fn both(input: [usize; 3], channels: usize, padding: &str) -> [Affine; 2] {
        let json = format!(
            r#"{{"input": {input:?}, "layers": [{{"type": "conv2d", "channels": {channels}, "kernel": [3, 3], "padding": {padding},
                "bias": true}}, {{"type": "flatten"}}, {{"type": "dense", "units": 1}}]}}"#
        );
        let plan = Plan::new(&Network::from_json(&json).expect("a network"));
        let affine = Affine::new(&plan.steps[0]).expect("memory").expect("a convolution");
        [false, true].map(|is_winograd| {
            let mut affine = affine.clone();
            affine.is_winograd = is_winograd;
            affine
        })
    }

    /// z, q and the gradient in W, of two terms.
    fn passes<T: Real, const N: usize>(
        affine: &Affine,
        level: Level,
        x: &[Vec<T>; 2],
        delta: &[Vec<T>; 2],
    ) -> [Vec<T>; 3] {
        let theta = [1, 2].map(|seed| numbers::<T>(seed, affine.parameters().len()));
        let frames = [0, 1].map(|i| {
            let mut workspace = Aligned::default();
            affine.frame::<T, N>(&x[i], &mut workspace).expect("memory").to_vec()
        });
        let forward = [0, 1].map(|i| {
            let mut packed = Forward::default();
            affine.pack_forward(&theta[i], &mut packed).expect("memory");
            packed
        });
        let backward = [0, 1].map(|i| {
            let mut packed = Backward::default();
            affine.pack_backward(&theta[i], &mut packed).expect("memory");
            packed
        });
        let mut z = vec![T::ONE; affine.output.len() * N];
        let terms = [(&forward[0], &frames[0][..]), (&forward[1], &frames[1][..])];
        let (bias, finish) = (affine.bias.clone().map(|range| &theta[0][range]), Finish::Activation { slope: T::ZERO });
        affine_work::run(level, ForwardBlock::<T, N> { affine, bias, terms: &terms, finish, out: &mut z });
        let mut q = vec![T::ONE; affine.input.len() * N];
        let terms = [(&backward[0], &delta[0][..]), (&backward[1], &delta[1][..])];
        let finish = Finish::Derivative { slope: T::from_f64(0.5), a: &x[0] };
        affine_work::run(level, BackwardBlock::<T, N> { affine, terms: &terms, finish, out: &mut q });
        let laid_out = [0, 1].map(|i| {
            let mut out = vec![T::ONE; affine.transposed_len::<N>()];
            affine.transpose::<T, N>(&frames[i], &mut out);
            out
        });
        let terms = [(&delta[0][..], &laid_out[0][..]), (&delta[1][..], &laid_out[1][..])];
        let mut gradient = vec![T::ONE; affine.weight.len()];
        // Some rows and then the others, as threads share them.
        let (first, rest) = gradient.split_at_mut(4 * affine.columns);
        for (rows, out) in [(0..4, first), (4..affine.rows, rest)] {
            let mut workspace = GradientWorkspace::default();
            workspace.fit::<N>(affine, rows.len(), 2).expect("memory");
            let workspace = &mut workspace;
            affine_work::run(level, WeightGradient::<T, N> { affine, rows, terms: &terms, workspace, out });
        }
        [z, q, gradient]
    }

    fn check<T: Real, const N: usize>(level: Level) {
        for (input, channels, padding) in [
            ([8, 6, 6], 8, "[1, 1]"),
            // An odd number of outputs, and padding that is not even.
            ([16, 7, 5], 24, "[1, 1]"),
            ([8, 8, 9], 16, "[0, 0]"),
            ([24, 4, 6], 8, "[2, 0, 1, 2]"),
            // More channels than are spread at a time.
            ([40, 5, 4], 72, "[1, 1]"),
        ] {
            let affines = both(input, channels, padding);
            let [x, delta] = [affines[0].input.len(), affines[0].output.len()]
                .map(|len| [3, 4].map(|seed| numbers::<T>(seed, len * N)));
            let [expected, found] = affines.map(|affine| passes::<T, N>(&affine, level, &x, &delta));
            let tolerance = if size_of::<T>() == 4 { 3e-6 } else { 1e-14 };
            for (what, (expected, found)) in ["z", "q", "W"].iter().zip(expected.iter().zip(&found)) {
                let largest = expected.iter().fold(1.0, |largest, value| f64::max(largest, value.to_f64().abs()));
                for (i, (a, b)) in expected.iter().zip(found).enumerate() {
                    let off = (a.to_f64() - b.to_f64()).abs();
                    assert!(
                        off <= tolerance * largest,
                        "{what}, number {i} of {input:?} to {channels}, {padding}, {N} lanes, {level:?}: {} for {}, of {largest}",
                        b.to_f64(),
                        a.to_f64()
                    );
                }
            }
        }
    }

    #[test]
    fn passes_are_those_over_windows() {
        check::<f64, 8>(Level::Baseline);
        check::<f32, 16>(Level::Baseline);
        #[cfg(target_arch = "x86_64")]
        {
            if Level::detect() != Level::Baseline {
                check::<f64, 8>(Level::Avx2);
                check::<f32, 16>(Level::Avx2);
            }
            if Level::detect() == Level::Avx512 {
                check::<f64, 16>(Level::Avx512);
                check::<f32, 32>(Level::Avx512);
            }
        }
    }

    /// An output sees its own window alone: of an image that is 0 but for one pixel without end, the others are exactly 0, and so units
    /// on their kinks stay there.
    #[test]
    fn what_a_window_does_not_see_is_nothing_to_it() {
        const N: usize = 8;
        let [_, affine] = both([8, 6, 6], 8, "[1, 1]");
        for at in 0..36 {
            let mut x = vec![0.0f32; affine.input.len() * N];
            x[at * 8 * N..][..8 * N].fill(f32::INFINITY);
            let mut workspace = Aligned::default();
            let frame = affine.frame::<f32, N>(&x, &mut workspace).expect("memory");
            let mut packed = Forward::default();
            affine.pack_forward(&numbers::<f32>(1, affine.parameters().len()), &mut packed).expect("memory");
            let (mut z, terms, affine) = (vec![1.0f32; affine.output.len() * N], [(&packed, frame)], &affine);
            let finish = Finish::Nothing;
            affine_work::run(
                Level::Baseline,
                ForwardBlock::<f32, N> { affine, bias: None, terms: &terms, finish, out: &mut z },
            );
            for (output, z) in z.chunks_exact(8 * N).enumerate() {
                let sees = (output / 6).abs_diff(at / 6) <= 1 && (output % 6).abs_diff(at % 6) <= 1;
                assert!(
                    z.iter().all(|&z| if sees { !z.is_finite() } else { z == 0.0 }),
                    "output {output}, pixel {at}: {z:?}"
                );
            }
        }
    }

    #[test]
    fn the_gradient_is_the_adjoint() {
        let g: Vec<f64> = numbers(1, 9);
        let u: Vec<f64> = numbers(2, PLACES);
        let (spread, back) = (of_window(g.first_chunk().expect("a window")), to_window(&std::array::from_fn(|i| u[i])));
        let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        assert!((inner(&spread, &u) - inner(&g, &back)).abs() < 1e-14);
    }

    #[test]
    fn other_convolutions_are_not_met_in_this_form() {
        let of = |input: [usize; 3], channels: usize, geometry: &str| {
            let json = format!(
                r#"{{"input": {input:?}, "layers": [{{"type": "conv2d", "channels": {channels}, {geometry}}}, {{"type": "flatten"}},
                    {{"type": "dense", "units": 1}}]}}"#
            );
            let plan = Plan::new(&Network::from_json(&json).expect("a network"));
            let step = &plan.steps[0];
            suits(
                step.input,
                step.window,
                step.output,
                input[0] / if geometry.contains("groups") { 8 } else { input[0] },
            )
        };
        let same = r#""kernel": [3, 3], "padding": [1, 1]"#;
        assert!(of([16, 8, 8], 16, same));
        for (input, channels, geometry) in [
            ([1, 8, 8], 16, same),
            ([12, 8, 8], 16, same),
            ([16, 8, 8], 4, same),
            ([16, 8, 8], 10, same),
            ([16, 3, 3], 16, same),
            ([16, 8, 8], 16, r#""kernel": [5, 5], "padding": [2, 2]"#),
            ([16, 8, 8], 16, r#""kernel": [3, 3], "padding": [1, 1], "stride": [2, 2]"#),
            ([16, 8, 8], 16, r#""kernel": [3, 3], "padding": [2, 2], "dilation": [2, 2]"#),
            ([16, 8, 8], 16, r#""kernel": [3, 3], "padding": [3, 3]"#),
            ([16, 8, 8], 16, r#""kernel": [3, 3], "padding": [1, 1], "groups": 2"#),
        ] {
            assert!(!of(input, channels, geometry), "{input:?} {channels} {geometry}");
        }
    }
}
