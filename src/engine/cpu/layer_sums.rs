//! What a cotangent that arrives at an affine step leaves there: the sums of [`LayerSums`] over one block.

use super::activation::Finish;
use super::affine::{Affine, Backward, Forward};
use super::affine_block::{BackwardBlock, ForwardBlock};
use super::affine_work;
use super::aligned::Aligned;
use super::gradient::bias_lanes;
use super::lanes;
use super::net::Net;
use super::point::sized;
use super::real::Real;
use super::simd::{self, Work};
use super::tile::{PART, ROWS, by_rows};
use crate::engine::sweep::LayerSums;
use crate::error::Result;
use crate::memory::{make_room, product, room};

/// What the sums of a step need of its weights, whatever block and cotangent.
pub enum Layer<T> {
    /// G = g aᵀ: everything comes from products of norms.
    Dense {
        /// W ⊙ W.
        squares: Forward<T>,
        /// W where backward passes have no use for it.
        first: Option<Backward<T>>,
    },
    /// ‖Wᵀ G‖² = Σ over pairs of rows of (W Wᵀ)(G Gᵀ), with W Wᵀ (rows, rows).
    Rows(Vec<f64>),
    /// ‖Wᵀ G‖² = Σ over pairs of positions of (Wᵀ g · Wᵀ g′)(x · x′), where they are fewer: W, and a step that takes every
    /// window for a pixel of its own.
    Positions { windows: Box<Affine>, backward: Backward<T> },
}

impl<T: Real> Layer<T> {
    /// Of a step at `theta`; are cotangents pulled back through it?
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn new(affine: &Affine, theta: &[T], pulls_back: bool) -> Result<Self> {
        let pack_backward = |affine: &Affine| {
            let mut packed = Backward::default();
            affine.pack_backward(theta, &mut packed).map(|()| packed)
        };
        let (rows, columns, positions) = (affine.rows, affine.columns, affine.positions());
        if affine.is_dense() {
            let mut packed = Forward::default();
            affine.pack_forward(theta, &mut packed)?;
            let first = (!pulls_back).then(|| pack_backward(affine)).transpose()?;
            return Ok(Self::Dense { squares: packed.squared(), first });
        }
        let [p, r] = [positions, rows].map(|n| n as u64);
        if affine.groups() == 1 && p * (p + r) < r * r / 2 {
            let windows = Box::new(affine.of_windows()?);
            let backward = pack_backward(&windows)?;
            return Ok(Self::Positions { windows, backward });
        }
        let rows_of_w = || theta[affine.weight.clone()].chunks_exact(columns);
        let inner = |a: &[T], b: &[T]| a.iter().zip(b).map(|(a, b)| a.to_f64() * b.to_f64()).sum::<f64>();
        const WHAT: &str = "inner products of a layer's rows";
        let mut products = room(WHAT, product::<f64>(WHAT, &[rows, rows])?)?;
        rows_of_w().for_each(|a| products.extend(rows_of_w().map(|b| inner(a, b))));
        Ok(Self::Rows(products))
    }
}

/// What the sums of a dense step need of a block, whatever cotangent.
#[derive(Default)]
pub struct BlockLayer<T> {
    /// ‖a‖² of every lane.
    input_square: Vec<f64>,
    /// (W ⊙ W) a², (rows, N): with g² the diagonal of the node-wise D H D, added up over the columns.
    spread: Aligned<T>,
}

impl<T: Real> BlockLayer<T> {
    /// Of a block whose padded input is `x`.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn new<const N: usize>(net: &Net, affine: &Affine, layer: &Layer<T>, x: &[T]) -> Result<Self> {
        let Layer::Dense { squares, .. } = layer else { return Ok(Self::default()) };
        let mut square = Aligned::default();
        sized(&mut square, x.len())?.iter_mut().zip(x).for_each(|(square, &a)| *square = a * a);
        let mut spread = Aligned::default();
        sized(&mut spread, affine.rows * N)?;
        let terms = [(squares, &square[..])];
        affine_work::run(
            net.level,
            ForwardBlock::<T, N> { affine, bias: None, terms: &terms, finish: Finish::Nothing, out: &mut spread },
        );
        let mut input_square = [0.0; N];
        for rows in square.as_chunks::<N>().0.chunks(PART) {
            let mut part = [T::ZERO; N];
            for row in rows {
                for n in 0..N {
                    part[n] += row[n];
                }
            }
            add(&mut input_square, &part);
        }
        Ok(Self { input_square: input_square.to_vec(), spread })
    }
}

/// A cotangent's arrival at an affine step, in one block.
pub struct Arrival<'a, T> {
    pub affine: &'a Affine,
    pub layer: &'a Layer<T>,
    pub block: &'a BlockLayer<T>,
    pub theta: &'a [T],
    /// (positions, rows, N), 0 in the lanes that do not count.
    pub g: &'a [T],
    /// The padded input.
    pub x: &'a [T],
    /// Wᵀ g of a dense step in the order of its inputs, (columns, N).
    pub pulled: &'a [T],
}

impl<T: Real> Arrival<'_, T> {
    /// Its sums.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn sums<const N: usize>(&self, net: &Net, workspace: &mut SumsWorkspace<T>) -> Result<LayerSums> {
        let mut found = LayerSums::zeros(self.affine.units_in())?;
        self.add_bias::<N>(&mut found);
        if let Layer::Positions { windows, backward } = self.layer {
            const WHAT: &str = "cotangents of windows";
            let len = product::<T>(WHAT, &[windows.positions(), windows.columns, N])?;
            let out = sized(&mut workspace.pulled, len)?;
            let terms = [(backward, self.g)];
            affine_work::run(
                net.level,
                BackwardBlock::<T, N> { affine: windows, terms: &terms, finish: Finish::Nothing, out },
            );
        }
        workspace.fit::<N>(self.affine, self.layer)?;
        match self.layer {
            Layer::Dense { .. } => {
                simd::run(net.level, DenseSums::<T, N> { arrival: self, workspace, found: &mut found })
            }
            _ => simd::run(net.level, WindowSums::<T, N> { arrival: self, workspace, found: &mut found }),
        }
        Ok(found)
    }

    fn add_bias<const N: usize>(&self, found: &mut LayerSums) {
        let Some(bias) = self.affine.bias.clone() else { return };
        for (row, &b) in self.theta[bias].iter().enumerate() {
            let sums = bias_lanes::<T, N>(self.affine.rows, row, self.g);
            let square: f64 = sums.iter().map(|s| s.to_f64() * s.to_f64()).sum();
            found.bias_trace += square;
            found.scaled_bias_trace += square * b.to_f64() * b.to_f64();
        }
    }
}

/// Memory that one thread uses again and again.
#[derive(Default)]
pub struct SumsWorkspace<T> {
    units: Vec<f64>,
    gradient: Aligned<T>,
    pulled: Aligned<T>,
}

impl<T: Real> SumsWorkspace<T> {
    /// Room for the sums of a layer, asked for before its loops begin.
    fn fit<const N: usize>(&mut self, affine: &Affine, layer: &Layer<T>) -> Result<()> {
        const WHAT: &str = "sums of a layer";
        self.units.clear();
        make_room(WHAT, &mut self.units, product::<f64>(WHAT, &[affine.units_in(), N])?)?;
        if !matches!(layer, Layer::Dense { .. }) {
            sized(&mut self.gradient, product::<T>(WHAT, &[kept_rows(affine, layer), affine.columns, N])?)?;
        }
        Ok(())
    }

    /// Zeros, N for every unit that comes in, for which there is room.
    fn units<const N: usize>(&mut self, units: usize) -> &mut [[f64; N]] {
        self.units.clear();
        self.units.resize(units * N, 0.0);
        self.units.as_chunks_mut::<N>().0
    }
}

/// Rows of a convolution's gradient that are kept: all where they are paired, one group after the other where not.
fn kept_rows<T>(affine: &Affine, layer: &Layer<T>) -> usize {
    if matches!(layer, Layer::Rows(_)) { affine.rows } else { ROWS.min(affine.rows) }
}

#[inline(always)]
fn add<S: Real, T: Real, const N: usize>(sums: &mut [S; N], values: &[T; N]) {
    for (sum, &value) in sums.iter_mut().zip(values) {
        *sum += S::from_f64(value.to_f64());
    }
}

/// Σ over pairs of rows of their products, lane by lane.
#[inline(always)]
fn products<T: Real, const N: usize, const FMA: bool>(a: &[[T; N]], b: &[[T; N]]) -> [f64; N] {
    let mut sums = [0.0; N];
    for (a, b) in a.chunks(PART).zip(b.chunks(PART)) {
        let mut part = [T::ZERO; N];
        for (a, b) in a.iter().zip(b) {
            lanes::add_product::<T, N, FMA>(&mut part, a, b);
        }
        add(&mut sums, &part);
    }
    sums
}

/// Σ over rows and lanes of a² s.
#[inline(always)]
fn spread_squares<T: Real, const N: usize, const FMA: bool>(a: &[[T; N]], s: &[[T; N]]) -> f64 {
    let mut sums = [0.0; N];
    for (a, s) in a.chunks(PART).zip(s.chunks(PART)) {
        let mut part = [T::ZERO; N];
        for (a, s) in a.iter().zip(s) {
            let mut square = [T::ZERO; N];
            lanes::add_product::<T, N, FMA>(&mut square, a, a);
            lanes::add_product::<T, N, FMA>(&mut part, &square, s);
        }
        add(&mut sums, &part);
    }
    sums.iter().sum()
}

/// Column forms from the sums over the weights that leave each unit, (units, N).
#[inline(always)]
fn add_squares<const N: usize>(units: &[[f64; N]], forms: &mut [f64]) {
    for (form, lanes) in forms.iter_mut().zip(units) {
        *form += lanes.iter().map(|sum| sum * sum).sum::<f64>();
    }
}

struct DenseSums<'a, 'b, T, const N: usize> {
    arrival: &'a Arrival<'b, T>,
    workspace: &'a mut SumsWorkspace<T>,
    found: &'a mut LayerSums,
}

impl<T: Real, const N: usize> Work for DenseSums<'_, '_, T, N> {
    const ROW: usize = size_of::<[T; N]>();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { arrival, workspace, found } = self;
        let Arrival { affine, block, .. } = arrival;
        let [g, x, pulled] = [arrival.g, arrival.x, arrival.pulled].map(|values| values.as_chunks::<N>().0);
        let g_square = products::<T, N, FMA>(g, g);
        let pulled_square = products::<T, N, FMA>(pulled, pulled);
        for (n, a) in block.input_square.iter().enumerate() {
            found.weight_trace += g_square[n] * a;
            found.gram_trace += pulled_square[n] * a;
        }
        found.scaled_trace += spread_squares::<T, N, FMA>(g, block.spread.as_chunks::<N>().0);
        let (units, per_unit) = (workspace.units::<N>(affine.units_in()), affine.columns / affine.units_in());
        for (&column, (x, pulled)) in affine.column_of.iter().zip(x.iter().zip(pulled)) {
            let unit = if per_unit == 1 { column as usize } else { column as usize / per_unit };
            add(&mut units[unit], &std::array::from_fn::<T, N, _>(|n| x[n] * pulled[n]));
        }
        add_squares(units, &mut found.column_forms);
    }
}

struct WindowSums<'a, 'b, T, const N: usize> {
    arrival: &'a Arrival<'b, T>,
    workspace: &'a mut SumsWorkspace<T>,
    found: &'a mut LayerSums,
}

impl<T: Real, const N: usize> Work for WindowSums<'_, '_, T, N> {
    const ROW: usize = size_of::<[T; N]>();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { arrival, workspace, found } = self;
        let affine = arrival.affine;
        let (rows, columns, per_unit) = (affine.rows, affine.columns, affine.columns / affine.units_seen());
        let [g, x] = [arrival.g, arrival.x].map(|values| values.as_chunks::<N>().0);
        let weight = &arrival.theta[affine.weight.clone()];
        let is_whole = matches!(arrival.layer, Layer::Rows(_));
        let mut gradient = std::mem::take(&mut workspace.gradient);
        let gradient_of = gradient.as_chunks_mut::<N>().0;
        let units = workspace.units::<N>(affine.units_in());
        for (first, count) in affine.row_tiles(0..rows) {
            let at = if is_whole { first * columns } else { 0 };
            let gradient = &mut gradient_of[at..][..count * columns];
            by_rows!(count, sample_gradients::<T, R, N, FMA>(affine, first, g, x, gradient));
            found.weight_trace += products::<T, N, FMA>(gradient, gradient).iter().sum::<f64>();
            let seen = affine.first_unit(first);
            for (row, weight) in gradient.chunks_exact(columns).zip(weight[first * columns..].chunks_exact(columns)) {
                let mut squares = [0.0; N];
                let by_unit = row.chunks_exact(per_unit).zip(weight.chunks_exact(per_unit));
                for (unit, (row, weight)) in units[seen..].iter_mut().zip(by_unit) {
                    let mut part = [[T::ZERO; N]; 2];
                    for (lanes, &w) in row.iter().zip(weight) {
                        for n in 0..N {
                            let term = w * lanes[n];
                            part[0][n] += term;
                            part[1][n] += term * term;
                        }
                    }
                    add(unit, &part[0]);
                    add(&mut squares, &part[1]);
                }
                found.scaled_trace += squares.iter().sum::<f64>();
            }
        }
        add_squares(units, &mut found.column_forms);
        found.gram_trace += match arrival.layer {
            Layer::Rows(products) => pairs_of_rows::<T, N, FMA>(products, gradient_of, columns, affine.rows_of_group()),
            _ => pairs_of_positions::<T, N, FMA>(affine, x, workspace.pulled.as_chunks::<N>().0),
        };
        workspace.gradient = gradient;
    }
}

/// Σ over pairs of rows of (W Wᵀ)(G Gᵀ), over all lanes; rows of two groups have nothing in common.
#[inline(always)]
fn pairs_of_rows<T: Real, const N: usize, const FMA: bool>(
    of_weights: &[f64],
    gradient: &[[T; N]],
    columns: usize,
    of_group: usize,
) -> f64 {
    let rows = gradient.len() / columns;
    let mut total = 0.0;
    for (i, a) in gradient.chunks_exact(columns).enumerate() {
        let end = (i / of_group + 1) * of_group;
        for (j, b) in gradient.chunks_exact(columns).enumerate().take(end).skip(i) {
            let factor = if i == j { of_weights[i * rows + j] } else { 2.0 * of_weights[i * rows + j] };
            total += factor * products::<T, N, FMA>(a, b).iter().sum::<f64>();
        }
    }
    total
}

/// Σ over pairs of positions of (Wᵀ g · Wᵀ g′)(x · x′), over all lanes; `pulled` is (positions, columns, N).
#[inline(always)]
fn pairs_of_positions<T: Real, const N: usize, const FMA: bool>(
    affine: &Affine,
    x: &[[T; N]],
    pulled: &[[T; N]],
) -> f64 {
    let (run, channels) = (affine.run, affine.input.channels);
    let mut total = 0.0;
    for (i, a) in pulled.chunks_exact(affine.columns).enumerate() {
        for (j, b) in pulled.chunks_exact(affine.columns).enumerate().skip(i) {
            let mut inputs = [0.0; N];
            for &offset in &affine.runs {
                let start = |position| affine.corner(position) + affine.run_offset(offset) * channels;
                let [a, b] = [i, j].map(|position| &x[start(position)..][..run]);
                add(&mut inputs, &products::<T, N, FMA>(a, b));
            }
            let factor = if i == j { 1.0 } else { 2.0 };
            let pulled = products::<T, N, FMA>(a, b);
            total += factor * pulled.iter().zip(inputs).map(|(p, x)| p * x).sum::<f64>();
        }
    }
    total
}

/// R rows of the gradient of every sample by itself, from row `first`: (R, columns in W's order, N).
#[inline(always)]
pub fn sample_gradients<T: Real, const R: usize, const N: usize, const FMA: bool>(
    affine: &Affine,
    first: usize,
    g: &[[T; N]],
    x: &[[T; N]],
    out: &mut [[T; N]],
) {
    let channels = affine.input.channels;
    let (line, run) = (affine.padded()[1] * channels, affine.run);
    let [sy, sx] = affine.window.stride;
    let channel = affine.first_channel(first);
    for (i, &column) in affine.column_of.iter().enumerate() {
        let offset = affine.run_offset(affine.runs[i / run]) * channels + i % run + channel;
        let mut sums = [[T::ZERO; N]; R];
        for (y, g) in g.chunks_exact(affine.output.width * affine.rows).enumerate() {
            let x = &x[y * sy * line + offset..];
            for (g, x) in g.chunks_exact(affine.rows).zip(x.iter().step_by(sx * channels)) {
                for (sums, g) in sums.iter_mut().zip(&g[first..first + R]) {
                    lanes::add_product::<T, N, FMA>(sums, g, x);
                }
            }
        }
        for (r, sums) in sums.into_iter().enumerate() {
            out[r * affine.columns + column as usize] = sums;
        }
    }
}
