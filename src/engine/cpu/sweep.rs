//! Cotangent sweeps: backward passes from chosen cotangents, and what they leave at each layer.

use super::activation;
use super::affine::Affine;
use super::parallel;
use super::passes::{Passes, Point};
use super::point::{BlockPoint, Net, Scratch, Weights, pull_back};
use super::real::Real;
use crate::engine::sweep::{Cotangent, LayerSums};

impl<T: Real, const N: usize> Passes<T, N> {
    /// For each cotangent, what it leaves at every affine step.
    pub fn sweep(&self, point: &Point<T>, cotangents: &[Cotangent]) -> Vec<Vec<LayerSums>> {
        let count = self.data.samples();
        let mut found: Vec<Vec<LayerSums>> = cotangents.iter().map(|_| self.empty_sums()).collect();
        let mut selections = self.chunks(count).into_iter();
        self.for_each_chunk(point, |blocks| {
            let Some(selection) = selections.next() else { return };
            let mut sums: Vec<Vec<Vec<LayerSums>>> = vec![Vec::new(); blocks.len()];
            let (net, weights) = (&self.net, &point.weights);
            let work = self.net.block_work::<N>() * (blocks.len() * cotangents.len()) as f64;
            parallel::for_each(&mut sums, work, Scratch::default, |scratch, i, sums| {
                for cotangent in cotangents {
                    let (samples, _) = selection.lanes::<N>(i);
                    sums.push(sweep_block(net, &blocks[i], &samples, weights, cotangent, scratch));
                }
            });
            for (c, found) in found.iter_mut().enumerate() {
                for block in &sums {
                    for (found, sums) in found.iter_mut().zip(&block[c]) {
                        found.add(sums);
                    }
                }
            }
        });
        for sums in found.iter_mut().flatten() {
            sums.scale(1.0 / count as f64);
        }
        found
    }

    fn empty_sums(&self) -> Vec<LayerSums> {
        let steps = self.net.affine_steps();
        steps.map(|(_, affine)| LayerSums { rho: vec![0.0; affine.units_in()], ..LayerSums::default() }).collect()
    }
}

/// What a cotangent leaves at the affine steps: sums over one block.
fn sweep_block<T: Real, const N: usize>(
    net: &Net,
    block: &BlockPoint<T>,
    samples: &[usize; N],
    weights: &Weights<T>,
    cotangent: &Cotangent,
    scratch: &mut Scratch<T>,
) -> Vec<LayerSums> {
    let mut d = std::mem::take(&mut scratch.d);
    let mut q = std::mem::take(&mut scratch.q);
    start::<T, N>(net, block, cotangent, samples, &mut d);
    let mut found = Vec::new();
    for l in (0..net.plan.steps.len()).rev() {
        if let Some(affine) = &net.affine[l] {
            let input = affine.pad::<T, N>(block.input_of(l), &mut scratch.padded);
            found.push(affine.sums::<T, N>(&weights.theta, &d, input, block.valid));
        }
        if l == 0 {
            break;
        }
        pull_back::<T, N>(net, weights, l, &block.argmax[l], &d, &mut scratch.padded, &mut q);
        activation::multiply_derivative(net.plan.steps[l - 1].activation, &block.activations[l - 1], &mut q);
        std::mem::swap(&mut d, &mut q);
    }
    (scratch.d, scratch.q) = (d, q);
    found.reverse();
    found
}

/// The cotangent at the outputs of one block; 0 in the lanes that do not count.
fn start<T: Real, const N: usize>(
    net: &Net,
    block: &BlockPoint<T>,
    cotangent: &Cotangent,
    samples: &[usize; N],
    out: &mut Vec<T>,
) {
    let outputs = net.places.len();
    out.clear();
    out.resize(outputs * N, T::ZERO);
    let out = out.as_chunks_mut::<N>().0;
    let p = block.probabilities.as_chunks::<N>().0;
    let two_root = std::f64::consts::SQRT_2;
    for n in 0..block.valid {
        for (c, &place) in net.places.iter().enumerate() {
            let place = place as usize;
            let softmax = |class: usize| {
                let share = p[place][n].to_f64();
                if c == class { 1.0 - share } else { -share }
            };
            out[place][n] = T::from_f64(match cotangent {
                Cotangent::Class(class) if p.is_empty() => {
                    if c == *class {
                        two_root
                    } else {
                        0.0
                    }
                }
                Cotangent::Class(class) => p[net.places[*class] as usize][n].to_f64().sqrt() * softmax(*class),
                Cotangent::Drawn(classes) => softmax(classes[samples[n]] as usize),
                Cotangent::Signs(signs) => two_root * f64::from(signs[samples[n] * outputs + c]),
            });
        }
    }
}

impl Affine {
    /// The sums of [`LayerSums`] over one block's samples; `g` is (positions, rows, N), `x` the padded input.
    fn sums<T: Real, const N: usize>(&self, theta: &[T], g: &[T], x: &[T], valid: usize) -> LayerSums {
        let weight = &theta[self.weight.clone()];
        let bias = self.bias.clone().map(|range| &theta[range]);
        let mut found = LayerSums { rho: vec![0.0; self.units_in()], ..LayerSums::default() };
        let g = g.as_chunks::<N>().0;
        if let Some(bias) = bias {
            for (row, &b) in bias.iter().enumerate() {
                let mut sums = [T::ZERO; N];
                for position in g.chunks_exact(self.rows) {
                    for n in 0..N {
                        sums[n] += position[row][n];
                    }
                }
                let square: f64 = sums[..valid].iter().map(|s| s.to_f64() * s.to_f64()).sum();
                found.bias_trace += square;
                found.nodewise_bias_trace += square * b.to_f64() * b.to_f64();
            }
        }
        if self.is_dense() {
            self.dense_sums(weight, g, x.as_chunks::<N>().0, valid, &mut found);
        } else {
            self.window_sums(weight, g, x.as_chunks::<N>().0, valid, &mut found);
        }
        found
    }

    /// G = g aᵀ: everything from products of norms.
    fn dense_sums<T: Real, const N: usize>(
        &self,
        weight: &[T],
        g: &[[T; N]],
        x: &[[T; N]],
        valid: usize,
        found: &mut LayerSums,
    ) {
        let square = |values: &[[T; N]], n: usize| -> f64 { values.iter().map(|v| v[n].to_f64().powi(2)).sum() };
        let (columns, per_unit) = (self.columns, self.columns / self.units_in());
        // Wᵀ g and (W ⊙ W)ᵀ g² for every column, all lanes together.
        let mut pulled = vec![[T::ZERO; N]; columns];
        let mut squares = vec![[T::ZERO; N]; columns];
        for (row, g) in weight.chunks_exact(columns).zip(g) {
            let g_square = g.map(|v| v * v);
            for ((&w, pulled), squares) in row.iter().zip(&mut pulled).zip(&mut squares) {
                let w_square = w * w;
                for n in 0..N {
                    pulled[n] += w * g[n];
                    squares[n] += w_square * g_square[n];
                }
            }
        }
        let mut unit_sums = vec![[0.0f64; N]; self.units_in()];
        let mut pulled_square = [0.0f64; N];
        for (place, &column) in self.column_of.iter().enumerate() {
            let (column, x) = (column as usize, &x[place]);
            for n in 0..valid {
                let (a, p) = (x[n].to_f64(), pulled[column][n].to_f64());
                unit_sums[column / per_unit][n] += a * p;
                pulled_square[n] += p * p;
                found.nodewise_trace += a * a * squares[column][n].to_f64();
            }
        }
        for (rho, sums) in found.rho.iter_mut().zip(&unit_sums) {
            *rho += sums[..valid].iter().map(|s| s * s).sum::<f64>();
        }
        for n in 0..valid {
            let a = square(x, n);
            found.trace += square(g, n) * a;
            found.relative_flatness += a * pulled_square[n];
        }
    }

    /// G sample by sample: the sum over positions of g times the inputs under the window.
    fn window_sums<T: Real, const N: usize>(
        &self,
        weight: &[T],
        g: &[[T; N]],
        x: &[[T; N]],
        valid: usize,
        found: &mut LayerSums,
    ) {
        let (rows, columns) = (self.rows, self.columns);
        let per_unit = columns / self.units_in();
        let mut gradient = vec![[T::ZERO; N]; rows * columns];
        self.per_sample_gradients(g, x, &mut gradient);
        // ‖Wᵀ G‖² = Σ over pairs of rows of (W Wᵀ)(G Gᵀ).
        let products: Vec<f64> = (0..rows * rows)
            .map(|i| {
                let (a, b) = (i / rows * columns, i % rows * columns);
                let pairs = weight[a..a + columns].iter().zip(&weight[b..b + columns]);
                pairs.map(|(a, b)| a.to_f64() * b.to_f64()).sum()
            })
            .collect();
        for a in 0..rows {
            for b in a..rows {
                let factor = if a == b { products[a * rows + b] } else { 2.0 * products[a * rows + b] };
                let mut inner = [T::ZERO; N];
                let pairs = gradient[a * columns..][..columns].iter().zip(&gradient[b * columns..][..columns]);
                for (p, q) in pairs {
                    for n in 0..N {
                        inner[n] += p[n] * q[n];
                    }
                }
                let sum: f64 = inner[..valid].iter().map(|v| v.to_f64()).sum();
                found.relative_flatness += factor * sum;
                if a == b {
                    found.trace += sum;
                }
            }
        }
        let mut unit_sums = vec![[0.0f64; N]; self.units_in()];
        for row in 0..rows {
            for column in 0..columns {
                let w = weight[row * columns + column].to_f64();
                let gradient = &gradient[row * columns + column];
                for n in 0..valid {
                    let term = w * gradient[n].to_f64();
                    unit_sums[column / per_unit][n] += term;
                    found.nodewise_trace += term * term;
                }
            }
        }
        for (rho, sums) in found.rho.iter_mut().zip(&unit_sums) {
            *rho += sums[..valid].iter().map(|s| s * s).sum::<f64>();
        }
    }

    /// (rows, columns in W's order, N): the gradient of every sample by itself.
    fn per_sample_gradients<T: Real, const N: usize>(&self, g: &[[T; N]], x: &[[T; N]], out: &mut [[T; N]]) {
        let channels = self.input.channels;
        let [kh, kw] = self.window.size;
        let (line, output) = (self.padded()[1] * channels, self.output);
        for row in 0..self.rows {
            for (tap, places) in self.column_of.chunks_exact(channels).enumerate() {
                let offset = tap / kw * line + tap % kw * channels;
                debug_assert!(tap < kh * kw);
                for (c, &place) in places.iter().enumerate() {
                    let mut sums = [T::ZERO; N];
                    for y in 0..output.height {
                        let start = y * self.window.stride[0] * line + offset + c;
                        for position in 0..output.width {
                            let g = &g[(y * output.width + position) * self.rows + row];
                            let x = &x[start + position * self.window.stride[1] * channels];
                            for n in 0..N {
                                sums[n] += g[n] * x[n];
                            }
                        }
                    }
                    out[row * self.columns + place as usize] = sums;
                }
            }
        }
    }
}
