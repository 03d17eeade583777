//! Back through a step whose channels see one channel each, and its part of a product or gradient, in one pass.
//!
//! The δ that see a pixel are met twice there: times their weights they are what goes back to it, and times what lies there they
//! are the gradient in those weights. Both at once pass memory once.

use std::ops::Range;

use super::laid::{Grid, LAYS_ROWS};
use super::row_pull::RowPull;
use super::{Geometry, LOOKED_UP, Met, NEIGHBOURS, band, look_up};
use crate::engine::cpu::activation::Finish;
use crate::engine::cpu::affine::Affine;
use crate::engine::cpu::lanes;
use crate::engine::cpu::real::Real;
use crate::engine::cpu::simd::Work;
use crate::engine::cpu::stencil::Side;
use crate::engine::cpu::tile::Sums;

/// Packed weights, the δ that they meet, and the input x that is met in the gradient.
#[derive(Clone, Copy)]
pub struct Term<'a, T> {
    pub weights: &'a [T],
    pub delta: &'a [T],
    pub input: &'a [T],
}

/// q = Σ over the terms of Wᵀ δ, and Σ over the terms, positions and lanes of δ x: one block.
pub struct Pull<'a, T, const N: usize> {
    pub affine: &'a Affine,
    /// One or two.
    pub terms: &'a [Term<'a, T>],
    pub finish: Finish<'a, T>,
    /// q, (pixels, input channels, N).
    pub out: &'a mut [T],
    /// Room for the sums of every lane, [`Affine::lane_sums`].
    pub lanes: &'a mut [T],
    /// The step's part of the gradient: in W, and in b, which the first term's δ are summed for.
    pub gradient: &'a mut [T],
}

impl<T: Real, const N: usize> Work for Pull<'_, T, N> {
    const ROW: usize = size_of::<[T; N]>();

    #[inline(always)]
    fn run<const FMA: bool>(mut self) {
        let Some(stencil) = &self.affine.stencil else { return };
        self.gradient.fill(T::ZERO);
        let mut sums_bias = self.affine.bias.is_some();
        for rows in &stencil.backward[0] {
            for columns in &stencil.backward[1] {
                self.residue::<FMA>(rows, columns, sums_bias);
                sums_bias = false;
            }
        }
    }
}

impl<T: Real, const N: usize> Pull<'_, T, N> {
    /// The pixels of one residue by rows that are laid out, where that suits the step.
    #[inline(always)]
    fn by_rows<const FMA: bool>(&mut self, sides: [&Side; 2], sums_bias: bool) -> bool {
        let Affine { input, output, columns: weights, .. } = *self.affine;
        let (window, channels) = (self.affine.window.size[1], input.channels);
        let grid = Grid { sides, window, weights, channels, met_width: output.width, width: input.width };
        let lanes = &mut self.lanes[..channels * (weights + 1) * N];
        lanes.fill(T::ZERO);
        let (sums, bias) = lanes.split_at_mut(channels * weights * N);
        let meets_all = sides[0].meets_all(output.height) && sides[1].meets_all(output.width);
        let of_rows = if sums_bias && meets_all { Some(&mut *bias) } else { None };
        let by_rows = RowPull::<T, N> { grid, terms: self.terms, finish: self.finish };
        if !by_rows.run::<FMA>(self.out, sums, of_rows) {
            return false;
        }
        let (of_weights, of_bias) = self.gradient.split_at_mut(self.affine.weight.len());
        add_lanes(sums.as_chunks::<N>().0, of_weights);
        if sums_bias {
            let bias = bias.as_chunks_mut::<N>().0;
            if !meets_all {
                add_bias::<T, N, FMA>(self.affine, self.terms[0].delta, 0..output.height, 0..channels, bias);
            }
            add_lanes(bias, of_bias);
        }
        true
    }

    /// The pixels of one residue modulo the stride.
    #[inline(always)]
    fn residue<const FMA: bool>(&mut self, rows: &Side, columns: &Side, sums_bias: bool) {
        let Affine { input, output, columns: weights, .. } = *self.affine;
        let several = self.affine.rows_of_group();
        let window = self.affine.window.size[1];
        let geometry = Geometry { sides: [rows, columns], window, width: output.width, channels: output.channels };
        if LAYS_ROWS && several == 1 && self.by_rows::<FMA>([rows, columns], sums_bias) {
            return;
        }
        let band = band::<T, N>(&[rows.places.len() * several + 1, output.width, self.terms.len()]);
        for first in (0..input.channels).step_by(band) {
            let channels = first..input.channels.min(first + band);
            let of_band = channels.start * several..channels.end * several;
            let (sums, bias) =
                self.lanes[..of_band.len() * (weights + 1) * N].split_at_mut(of_band.len() * weights * N);
            sums.fill(T::ZERO);
            bias.fill(T::ZERO);
            let bias = bias.as_chunks_mut::<N>().0;
            let mut summed = 0;
            for y in 0..rows.count {
                if sums_bias {
                    // Rows of δ that are wanted now: they are read once.
                    let [_, seen] = rows.met(y);
                    add_bias::<T, N, FMA>(self.affine, self.terms[0].delta, summed..seen, of_band.clone(), bias);
                    summed = summed.max(seen);
                }
                let at = ((rows.first + y * rows.step) * input.width + columns.first) * input.channels;
                let next = columns.step * input.channels;
                let stretch = Stretch { geometry: &geometry, several, weights, terms: self.terms, at, next };
                stretch.row::<N, FMA>(y, self.finish, channels.clone(), self.out, sums.as_chunks_mut::<N>().0);
            }
            let sums = sums.as_chunks::<N>().0;
            let (of_weights, of_bias) = self.gradient.split_at_mut(self.affine.weight.len());
            add_lanes(sums, &mut of_weights[of_band.start * weights..][..sums.len()]);
            if sums_bias {
                add_bias::<T, N, FMA>(self.affine, self.terms[0].delta, summed..output.height, of_band.clone(), bias);
                add_lanes(bias, &mut of_bias[of_band]);
            }
        }
    }
}

/// Some pixels of a row, side by side among those of one residue.
#[derive(Clone, Copy)]
struct Stretch<'a, T> {
    geometry: &'a Geometry<'a>,
    /// Channels that see one that comes in.
    several: usize,
    /// Weights of a row of W.
    weights: usize,
    terms: &'a [Term<'a, T>],
    /// The first pixel's first channel, and from there to the next pixel's.
    at: usize,
    next: usize,
}

impl<T: Real> Stretch<'_, T> {
    /// Row `y`, which begins with this stretch.
    #[inline(always)]
    fn row<const N: usize, const FMA: bool>(
        self,
        y: usize,
        finish: Finish<'_, T>,
        channels: Range<usize>,
        out: &mut [T],
        sums: &mut [[T; N]],
    ) {
        let mut found = [Met::default(); LOOKED_UP];
        let (next, begin) = (self.next, self.at);
        for (x, count) in self.geometry.stretches() {
            let at = begin + x * next;
            let stretch = Self { at, ..self };
            let (mut places, mut is_first) = (self.geometry.met([y, x]), true);
            let out = &mut out.as_chunks_mut::<N>().0[at..];
            while let Some(met) = look_up(&mut places, &mut found, is_first) {
                match count {
                    NEIGHBOURS => stretch.add::<NEIGHBOURS, N, FMA>(met, is_first, channels.clone(), out, sums),
                    2 => stretch.add::<2, N, FMA>(met, is_first, channels.clone(), out, sums),
                    _ => stretch.add::<1, N, FMA>(met, is_first, channels.clone(), out, sums),
                }
                is_first = false;
            }
            for r in 0..count {
                let run = &mut out[r * next..][channels.clone()];
                finish.apply((at + r * next + channels.start) * N, run.as_flattened_mut());
            }
        }
    }

    /// What R neighbours are met by; `out` begins with the first.
    #[inline(always)]
    fn add<const R: usize, const N: usize, const FMA: bool>(
        &self,
        met: &[Met],
        is_first: bool,
        channels: Range<usize>,
        out: &mut [[T; N]],
        sums: &mut [[T; N]],
    ) {
        let Self { several, weights: columns, next, .. } = *self;
        let step = self.geometry.step();
        let first = channels.start * several;
        for channel in channels {
            let mut pulled = Sums::<T, R, N>::zero();
            for Term { weights, delta, input } in self.terms {
                let (delta, input) = (delta.as_chunks::<N>().0, input.as_chunks::<N>().0);
                let input = &input[self.at + channel..][..(R - 1) * next + 1];
                for row in channel * several..channel * several + several {
                    let weights = &weights[row * columns..][..columns];
                    let sums = &mut sums[(row - first) * columns..][..columns];
                    for met in met {
                        let delta = &delta[met.at + row..][..(R - 1) * step + 1];
                        let mut met_by = [&delta[0]; R];
                        for r in 0..R {
                            met_by[r] = &delta[r * step];
                        }
                        pulled.add_each::<FMA>(weights[met.place], met_by);
                        let mut found = Sums::<T, 1, N>::zero();
                        for r in 0..R {
                            found.add_products::<FMA>(&input[r * next], [met_by[r]]);
                        }
                        found.add_row_to::<FMA>(0, &mut sums[met.place]);
                    }
                }
            }
            for r in 0..R {
                let out = &mut out[r * next + channel];
                if is_first { pulled.write_row::<FMA>(r, T::ZERO, out) } else { pulled.add_row_to::<FMA>(r, out) }
            }
        }
    }
}

/// `bias` += Σ over some rows of positions of δ, lane by lane.
#[inline(always)]
fn add_bias<T: Real, const N: usize, const FMA: bool>(
    affine: &Affine,
    delta: &[T],
    lines: Range<usize>,
    rows: Range<usize>,
    bias: &mut [[T; N]],
) {
    let width = affine.output.width;
    for position in lines.start * width..lines.end * width {
        let delta = &delta.as_chunks::<N>().0[position * affine.rows..][rows.clone()];
        for (sum, delta) in bias.iter_mut().zip(delta) {
            lanes::add::<T, N, FMA>(sum, delta);
        }
    }
}

/// `out` += Σ over lanes.
#[inline(always)]
fn add_lanes<T: Real, const N: usize>(sums: &[[T; N]], out: &mut [T]) {
    for (out, lanes) in out.iter_mut().zip(sums) {
        *out += lanes.iter().copied().sum();
    }
}

#[cfg(test)]
mod tests {
    use super::{Pull, Term};
    use crate::engine::cpu::activation::Finish;
    use crate::engine::cpu::affine::Backward;
    use crate::engine::cpu::affine_block::BackwardBlock;
    use crate::engine::cpu::affine_work;
    use crate::engine::cpu::gradient::{BiasGradient, GradientWorkspace, WeightGradient};
    use crate::engine::cpu::net::Net;
    use crate::engine::cpu::real::numbers;
    use crate::engine::cpu::simd::{self, Level};
    use crate::engine::plan::Plan;
    use crate::network::Network;

    const N: usize = 8;

    fn assert_close(found: &[f64], expected: &[f64], what: &str) {
        assert_eq!(found.len(), expected.len(), "{what}");
        for (i, (a, b)) in found.iter().zip(expected).enumerate() {
            assert!((a - b).abs() < 1e-10, "{what}, number {i}: {a} instead of {b}");
        }
    }

    #[test]
    fn one_pass_gives_what_two_give() {
        for (channels, geometry) in [
            // More than a band of channels.
            (40, r#""channels": 40, "kernel": [3, 3], "padding": [1, 1]"#),
            // Several rows a group, a stride that leaves pixels out, uneven sides.
            (3, r#""channels": 9, "kernel": [2, 3], "stride": [3, 2], "padding": [1, 0, 0, 2]"#),
            (4, r#""channels": 4, "kernel": [3, 2], "dilation": [2, 3], "padding": [2, 3]"#),
            // More places than are looked up together.
            (2, r#""channels": 4, "kernel": [7, 6], "padding": [3, 3]"#),
        ] {
            let json = format!(
                r#"{{"input": [{channels}, 11, 70], "layers": [{{"type": "conv2d", {geometry}, "groups": {channels}, "bias": true}},
                    {{"type": "flatten"}}, {{"type": "dense", "units": 1}}]}}"#
            );
            let network = Network::from_json(&json).expect("a network");
            let net = Net::new(Plan::new(&network), Level::Baseline).expect("a net");
            let (_, affine) = net.affine_steps().next().expect("a convolution");
            assert!(affine.is_channelwise());
            let [outputs, inputs] = [affine.output.len() * N, affine.input.len() * N];
            let parameters = network.parameter_count();
            let [mut first, mut second] = [Backward::default(), Backward::default()];
            affine.pack_backward(&numbers(1, parameters), &mut first).expect("weights");
            affine.pack_backward(&numbers(2, parameters), &mut second).expect("weights");
            let [delta, delta_dot] = [3, 4].map(|seed| numbers(seed, outputs));
            let [x, x_dot] = [5, 6].map(|seed| numbers(seed, inputs));
            let finish = Finish::Derivative { slope: 0.5, a: &x[..] };

            let (mut q, mut weight) = (vec![0.0; inputs], vec![0.0; affine.weight.len()]);
            let mut bias = vec![0.0; affine.rows];
            let terms = [(&first, &delta_dot[..]), (&second, &delta[..])];
            affine_work::run(net.level, BackwardBlock::<f64, N> { affine, terms: &terms, finish, out: &mut q });
            let terms = [(&delta_dot[..], &x[..]), (&delta[..], &x_dot[..])];
            let (mut workspace, rows) = (GradientWorkspace::default(), 0..affine.rows);
            workspace.fit::<N>(affine, affine.rows, terms.len()).expect("room");
            let (terms, workspace, out) = (&terms[..], &mut workspace, &mut weight[..]);
            affine_work::run(net.level, WeightGradient::<f64, N> { affine, rows, terms, workspace, out });
            let (all_rows, out) = (affine.rows, &mut bias[..]);
            simd::run(net.level, BiasGradient::<f64, N> { all_rows, first: 0, delta: &delta_dot, out });

            let mut out = vec![f64::NAN; inputs];
            let mut lanes = vec![f64::NAN; affine.lane_sums::<N>()];
            let mut gradient = vec![f64::NAN; affine.parameters().len()];
            let terms = [
                Term { weights: first.as_ref(), delta: &delta_dot, input: &x },
                Term { weights: second.as_ref(), delta: &delta, input: &x_dot },
            ];
            let (terms, lanes) = (&terms[..], &mut lanes[..]);
            let pull = Pull::<f64, N> { affine, terms, finish, out: &mut out, lanes, gradient: &mut gradient };
            simd::run(net.level, pull);
            assert_close(&out, &q, geometry);
            assert_close(&gradient, &[weight, bias].concat(), geometry);
        }
    }
}
