//! Squared gradients: of every sample and cotangent by itself, added up parameter by parameter.
//!
//! Of a dense step the gradient of one sample is g aᵀ, so its squares are g² (a²)ᵀ: the squares of g are added up over the
//! cotangents first, and one sum over blocks is for all of them. Of a convolution it is a sum over positions, which is taken
//! for every sample and cotangent before it is squared.

use super::affine::Affine;
use super::aligned::Aligned;
use super::gradient::{GradientWorkspace, Portion, Term, WeightGradient, bias_lanes};
use super::layer_sums::sample_gradients;
use super::net::{Net, Weights};
use super::parallel;
use super::passes::{Passes, Point};
use super::point::{BlockPoint, Workspace, sized};
use super::real::Real;
use super::simd::{self, Work};
use super::sweep::start;
use super::tile::{ROWS, by_rows};
use super::walk::walk_back;
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
                parallel::for_each(&mut arrivals, work, Workspace::default, async |workspace, i, arrivals| {
                    let (samples, _) = selection.lanes::<N>(i);
                    arrivals.run::<N>(net, weights, &blocks[i], &samples, cotangent, workspace).await
                })
                .await?;
                for (l, affine) in net.affine_steps().filter(|(_, affine)| !affine.is_dense()) {
                    let terms: Vec<_> = arrivals
                        .iter()
                        .zip(blocks)
                        .map(|(a, block)| (&a.steps[l][..], block.input_of(net, l)))
                        .collect();
                    self.add_squares(affine, &terms, &mut found).await?;
                }
            }
            for (arrivals, blocks) in arrivals.chunks(self.summed()).zip(blocks.chunks(self.summed())) {
                for (l, affine) in net.affine_steps().filter(|(_, affine)| affine.is_dense()) {
                    let squares = |block: &BlockPoint<T>| {
                        collected("squares of inputs", block.transposed[l].iter().map(|&a| a * a))
                    };
                    let inputs = blocks.iter().map(squares).collect::<Result<Vec<Vec<T>>>>()?;
                    let terms: Vec<_> = arrivals.iter().zip(&inputs).map(|(a, x)| (&a.steps[l][..], &x[..])).collect();
                    self.add_squares(affine, &terms, &mut found).await?;
                }
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
        let work = affine.multiplications() * (N * terms.len()) as f64;
        let portions = affine.portions(&mut out[affine.weight.start..end], work);
        let mut tasks: Vec<_> = portions.map(|rows| Task { affine, terms, rows }).collect();
        let level = self.net.level;
        let each = async |workspace: &mut SquaresWorkspace<T>, _: usize, task: &mut Task<'_, '_, T>| {
            task.run::<N>(level, workspace).await
        };
        parallel::for_each(&mut tasks, work, SquaresWorkspace::default, each).await
    }
}

/// What the cotangents leave in front of the affine steps of one block: g of the last one at a convolution, Σ g² over all of
/// them at a dense step. (positions, rows, N), 0 in the lanes that do not count; empty at other steps.
struct Arrivals<T> {
    steps: Vec<Aligned<T>>,
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
        workspace: &mut Workspace<T>,
    ) -> Result<()> {
        self.steps.resize_with(net.plan.steps.len(), Aligned::default);
        start::<T, N>(net, block, cotangent, samples, workspace)?;
        walk_back::<T, N>(net, weights, block, workspace, |l, affine, g, _| {
            let kept = sized(&mut self.steps[l], g.len())?;
            match affine.is_dense() {
                true => kept.iter_mut().zip(g).for_each(|(sum, &g)| *sum += g * g),
                false => kept.copy_from_slice(g),
            }
            Ok(())
        })
        .await
    }
}

/// Memory that one thread uses again and again.
#[derive(Default)]
struct SquaresWorkspace<T> {
    of_gradient: GradientWorkspace<T>,
    gradient: Aligned<T>,
    padded: Aligned<T>,
}

/// Some rows of one step.
struct Task<'a, 'b, T> {
    affine: &'a Affine,
    terms: &'a [Term<'b, T>],
    rows: Portion<'a, f64>,
}

impl<T: Real> Task<'_, '_, T> {
    async fn run<const N: usize>(&mut self, level: simd::Level, workspace: &mut SquaresWorkspace<T>) -> Result<()> {
        let affine = self.affine;
        let SquaresWorkspace { of_gradient, gradient, padded } = workspace;
        let Portion { first, weight, bias } = &mut self.rows;
        let rows = *first..*first + weight.len() / affine.columns;
        let square = |value: &T| if affine.is_dense() { value.to_f64() } else { value.to_f64() * value.to_f64() };
        for (g, _) in self.terms {
            for (row, sum) in rows.clone().zip(bias.iter_mut()) {
                *sum += bias_lanes::<T, N>(affine.rows, row, g).iter().map(square).sum::<f64>();
            }
        }
        if affine.is_dense() {
            let out = gradient.zeros("squared gradients", weight.len())?;
            of_gradient.fit::<N>(affine, rows.len(), self.terms.len())?;
            simd::run(level, WeightGradient::<T, N> { affine, rows, terms: self.terms, workspace: of_gradient, out });
            weight.iter_mut().zip(out).for_each(|(sum, square)| *sum += square.to_f64());
            return Ok(());
        }
        const WHAT: &str = "gradients of single samples";
        sized(gradient, product::<T>(WHAT, &[ROWS.min(rows.len()), affine.columns, N])?)?;
        for (g, x) in self.terms {
            let (g, x) = (g.as_chunks::<N>().0, affine.pad::<T, N>(x, padded)?.as_chunks::<N>().0);
            simd::run(level, SampleSquares::<T, N> { affine, first: *first, g, x, gradient, out: weight });
            worked(affine.multiplications() * N as f64 * rows.len() as f64 / affine.rows as f64).await?;
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
    const ROW: usize = size_of::<[T; N]>();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { affine, first, g, x, gradient, out } = self;
        let end = first + out.len() / affine.columns;
        for (row, count) in affine.row_tiles(first..end) {
            let out = &mut out[(row - first) * affine.columns..][..count * affine.columns];
            let gradient = gradient[..out.len() * N].as_chunks_mut::<N>().0;
            by_rows!(count, sample_gradients::<T, R, N, FMA>(affine, row, g, x, gradient));
            for (sum, lanes) in out.iter_mut().zip(gradient) {
                *sum += lanes.iter().map(|&value| (value * value).to_f64()).sum::<f64>();
            }
        }
    }
}
