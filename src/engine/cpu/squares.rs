//! Squared gradients: of every sample and cotangent by itself, added up parameter by parameter.
//!
//! Of a dense step the gradient of one sample is g aᵀ, so its squares are g² (a²)ᵀ: the squares of g are added up over the
//! cotangents first, and one sum over blocks is for all of them. Of a convolution it is a sum over positions, which is taken
//! for every sample and cotangent before it is squared.

use super::activation;
use super::affine::{Affine, ROWS};
use super::gradient::{Room, Term, WeightGradient};
use super::layer_sums::sample_gradients;
use super::parallel;
use super::passes::{Passes, Point};
use super::point::{BlockPoint, Net, Scratch, Weights, pull_back, sized};
use super::real::Real;
use super::simd::{self, Work};
use super::sweep::start;
use crate::engine::sweep::Cotangent;
use crate::error::Result;
use crate::event_loop::worked;
use crate::memory::{collected, product, zeros};

impl<T: Real, const N: usize> Passes<T, N> {
    /// Σ over the cotangents of the mean over samples of the squared gradient in every parameter.
    ///
    /// # Errors
    /// `TooLarge`.
    pub async fn squared_gradients(&self, point: &Point<T>, cotangents: &[Cotangent]) -> Result<Vec<f64>> {
        let count = self.data.samples();
        let (net, weights) = (&self.net, &point.weights);
        let mut found = zeros("squared gradients", net.plan.parameter_count)?;
        let mut selections = self.chunks(count);
        self.for_each_chunk(point, async |blocks| {
            let Some(selection) = selections.next() else { return Ok(()) };
            let mut arrivals = Vec::new();
            arrivals.resize_with(blocks.len(), Arrivals::default);
            let work = net.block_work::<N>() * blocks.len() as f64;
            for cotangent in cotangents {
                parallel::for_each(&mut arrivals, work, Scratch::default, async |scratch, i, arrivals| {
                    let (samples, _) = selection.lanes::<N>(i);
                    arrivals.run::<N>(net, weights, &blocks[i], &samples, cotangent, scratch).await
                })
                .await?;
                for (l, affine) in net.affine_steps().filter(|(_, affine)| !affine.is_dense()) {
                    let terms: Vec<_> =
                        arrivals.iter().zip(blocks).map(|(a, block)| (&a.steps[l][..], block.input_of(l))).collect();
                    self.add_squares(affine, &terms, &mut found).await?;
                }
            }
            for (l, affine) in net.affine_steps().filter(|(_, affine)| affine.is_dense()) {
                let squares =
                    |block: &BlockPoint<T>| collected("squares of inputs", block.transposed[l].iter().map(|&a| a * a));
                let inputs = blocks.iter().map(squares).collect::<Result<Vec<Vec<T>>>>()?;
                let terms: Vec<_> = arrivals.iter().zip(&inputs).map(|(a, x)| (&a.steps[l][..], &x[..])).collect();
                self.add_squares(affine, &terms, &mut found).await?;
            }
            Ok(())
        })
        .await?;
        found.iter_mut().for_each(|sum| *sum /= count as f64);
        Ok(found)
    }

    /// Adds the sums of one step, from what arrived at it in every block and what comes into it: of a dense step the squares
    /// of both.
    async fn add_squares(&self, affine: &Affine, terms: &[Term<'_, T>], out: &mut [f64]) -> Result<()> {
        let end = affine.bias.as_ref().unwrap_or(&affine.weight).end;
        let (weight, bias) = out[affine.weight.start..end].split_at_mut(affine.weight.len());
        let work = affine.multiplications() * (N * terms.len()) as f64;
        let rows = parallel::rows_of_task(affine.rows, work).next_multiple_of(ROWS);
        let mut bias = bias.chunks_mut(rows);
        let weight = weight.chunks_mut(rows * affine.columns).enumerate();
        let mut tasks: Vec<_> = weight
            .map(|(i, weight)| Task { affine, terms, first: i * rows, weight, bias: bias.next().unwrap_or_default() })
            .collect();
        let level = self.net.level;
        let each =
            async |memory: &mut Memory<T>, _: usize, task: &mut Task<'_, '_, T>| task.run::<N>(level, memory).await;
        parallel::for_each(&mut tasks, work, Memory::default, each).await
    }
}

/// What the cotangents leave in front of the affine steps of one block: g of the last one at a convolution, Σ g² over all of
/// them at a dense step. (positions, rows, N), 0 in the lanes that do not count; empty at other steps.
struct Arrivals<T> {
    steps: Vec<Vec<T>>,
}

impl<T> Default for Arrivals<T> {
    fn default() -> Self {
        Self { steps: Vec::new() }
    }
}

impl<T: Real> Arrivals<T> {
    /// A backward pass from one more cotangent.
    async fn run<const N: usize>(
        &mut self,
        net: &Net,
        weights: &Weights<T>,
        block: &BlockPoint<T>,
        samples: &[usize; N],
        cotangent: &Cotangent,
        scratch: &mut Scratch<T>,
    ) -> Result<()> {
        self.steps.resize_with(net.plan.steps.len(), Vec::new);
        let mut d = std::mem::take(&mut scratch.d);
        let mut q = std::mem::take(&mut scratch.q);
        start::<T, N>(net, block, cotangent, samples, &mut d)?;
        for l in (0..net.plan.steps.len()).rev() {
            match &net.affine[l] {
                Some(affine) if affine.is_dense() => {
                    let sums = sized(&mut self.steps[l], d.len())?;
                    sums.iter_mut().zip(&d).for_each(|(sum, &g)| *sum += g * g);
                }
                Some(_) => sized(&mut self.steps[l], d.len())?.copy_from_slice(&d),
                None => {}
            }
            if l > 0 {
                pull_back::<T, N>(net, weights, l, &block.argmax[l], &d, &mut scratch.padded, &mut q)?;
                activation::multiply_derivative(net.plan.steps[l - 1].activation, &block.activations[l - 1], &mut q);
                std::mem::swap(&mut d, &mut q);
            }
            worked(net.step_work::<N>(l)).await;
        }
        (scratch.d, scratch.q) = (d, q);
        Ok(())
    }
}

/// Memory that one thread uses again and again.
#[derive(Default)]
struct Memory<T> {
    room: Room<T>,
    gradient: Vec<T>,
    padded: Vec<T>,
}

/// Some rows of one step.
struct Task<'a, 'b, T> {
    affine: &'a Affine,
    terms: &'a [Term<'b, T>],
    first: usize,
    weight: &'a mut [f64],
    bias: &'a mut [f64],
}

impl<T: Real> Task<'_, '_, T> {
    async fn run<const N: usize>(&mut self, level: simd::Level, memory: &mut Memory<T>) -> Result<()> {
        let affine = self.affine;
        let Memory { room, gradient, padded } = memory;
        let rows = self.first..self.first + self.weight.len() / affine.columns;
        for (g, _) in self.terms {
            let positions = g.chunks_exact(affine.rows * N);
            for (row, sum) in rows.clone().zip(self.bias.iter_mut()) {
                let mut lanes = [T::ZERO; N];
                for position in positions.clone() {
                    let g = &position.as_chunks::<N>().0[row];
                    (0..N).for_each(|n| lanes[n] += g[n]);
                }
                let square =
                    |value: &T| if affine.is_dense() { value.to_f64() } else { value.to_f64() * value.to_f64() };
                *sum += lanes.iter().map(square).sum::<f64>();
            }
        }
        if affine.is_dense() {
            gradient.clear();
            let out = sized(gradient, self.weight.len())?;
            room.fit::<N>(affine, rows.len(), self.terms.len())?;
            simd::run(level, WeightGradient::<T, N> { affine, rows, terms: self.terms, room, out });
            self.weight.iter_mut().zip(gradient).for_each(|(sum, square)| *sum += square.to_f64());
            return Ok(());
        }
        const WHAT: &str = "gradients of single samples";
        sized(gradient, product::<T>(WHAT, &[ROWS.min(rows.len()), affine.columns, N])?)?;
        for (g, x) in self.terms {
            let (g, x) = (g.as_chunks::<N>().0, affine.pad::<T, N>(x, padded)?.as_chunks::<N>().0);
            let (first, out) = (self.first, &mut *self.weight);
            simd::run(level, SampleSquares::<T, N> { affine, first, g, x, gradient, out });
            worked(affine.multiplications() * N as f64 * rows.len() as f64 / affine.rows as f64).await;
        }
        Ok(())
    }
}

/// `out` += Σ over the lanes of the squared gradient of one sample, for rows of W from `first` on: (rows, columns).
struct SampleSquares<'a, T, const N: usize> {
    affine: &'a Affine,
    first: usize,
    g: &'a [[T; N]],
    x: &'a [[T; N]],
    /// Room for a group of rows.
    gradient: &'a mut [T],
    out: &'a mut [f64],
}

impl<T: Real, const N: usize> Work for SampleSquares<'_, T, N> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { affine, first, g, x, gradient, out } = self;
        for (group, out) in out.chunks_mut(ROWS * affine.columns).enumerate() {
            let first = first + group * ROWS;
            let gradient = gradient[..out.len() * N].as_chunks_mut::<N>().0;
            match out.len() / affine.columns {
                1 => sample_gradients::<T, 1, N, FMA>(affine, first, g, x, gradient),
                2 => sample_gradients::<T, 2, N, FMA>(affine, first, g, x, gradient),
                3 => sample_gradients::<T, 3, N, FMA>(affine, first, g, x, gradient),
                _ => sample_gradients::<T, 4, N, FMA>(affine, first, g, x, gradient),
            }
            for (sum, lanes) in out.iter_mut().zip(gradient) {
                *sum += lanes.iter().map(|&value| (value * value).to_f64()).sum::<f64>();
            }
        }
    }
}
