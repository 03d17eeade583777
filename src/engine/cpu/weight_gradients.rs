//! Gradients and products in W and b of all affine steps: which pairs of δ and inputs they are sums of, and who sums them.

use std::sync::Arc;

use super::affine::Affine;
use super::affine_work;
use super::aligned::Aligned;
use super::gradient::{BiasGradient, GradientWorkspace, Portion, Term, WeightGradient};
use super::parallel;
use super::passes::Passes;
use super::point::BlockPoint;
use super::real::Real;
use super::simd;
use super::tangent::{BlockTangent, Differential};
use crate::error::Result;

impl<T: Real, const N: usize> Passes<T, N> {
    /// Adds the gradient that these blocks give.
    pub async fn add_gradient(&self, blocks: &[BlockPoint<T>], gradient: &mut [T]) -> Result<()> {
        for blocks in blocks.chunks(self.summed()) {
            let terms =
                |l: usize| blocks.iter().map(|block| (&block.deltas[l][..], block.laid_out(&self.net, l))).collect();
            self.add_parts(|l| self.net.sums_on_the_way(l), blocks.iter().map(|block| &block.gradients[..]), gradient);
            self.add_weight_gradients(|_| 1, |l| !self.net.sums_on_the_way(l), &terms, gradient).await?;
        }
        Ok(())
    }

    /// (Cv)_l = δ̇_l a_{l−1}ᵀ + δ_l ȧ_{l−1}ᵀ; the term with δ is the Hessian's.
    pub async fn add_product(
        &self,
        blocks: &[BlockPoint<T>],
        tangents: &[BlockTangent<T>],
        differential: &Differential,
        out: &mut [T],
    ) -> Result<()> {
        for (blocks, tangents) in blocks.chunks(self.summed()).zip(tangents.chunks(self.summed())) {
            self.add_product_of(blocks, tangents, differential, out).await?;
        }
        Ok(())
    }

    /// The same of blocks that are summed in one go.
    async fn add_product_of(
        &self,
        blocks: &[BlockPoint<T>],
        tangents: &[BlockTangent<T>],
        differential: &Differential,
        out: &mut [T],
    ) -> Result<()> {
        let terms = |l: usize| {
            let net = &self.net;
            let first = blocks.iter().zip(tangents).map(|(block, dot)| (&dot.deltas[l][..], block.laid_out(net, l)));
            let second = blocks.iter().zip(tangents).map(|(block, dot)| (&block.deltas[l][..], dot.laid_out(net, l)));
            if differential.has_second(net, l) {
                first.zip(second).flat_map(|(first, second)| [first, second]).collect()
            } else {
                first.collect()
            }
        };
        let is_summed = |l: usize| differential.sums_on_the_way(&self.net, l);
        self.add_parts(is_summed, tangents.iter().map(|dot| &dot.products[..]), out);
        let every = |l| if differential.has_second(&self.net, l) { 2 } else { 1 };
        self.add_weight_gradients(every, |l| differential.moves(l) && !is_summed(l), &terms, out).await
    }

    /// Adds what every block summed of these steps on its way back.
    fn add_parts<'a>(
        &self,
        is_summed: impl Fn(usize) -> bool,
        blocks: impl Iterator<Item = &'a [Aligned<T>]> + Clone,
        out: &mut [T],
    ) {
        for (l, affine) in self.net.affine_steps().filter(|(l, _)| is_summed(*l)) {
            for parts in blocks.clone() {
                out[affine.parameters()].iter_mut().zip(&parts[l][..]).for_each(|(out, &sum)| *out += sum);
            }
        }
    }

    /// Adds Σ δ xᵀ of the affine steps that are `wanted` to their weights, and to their biases Σ δ of as many of the terms as
    /// `every` says: all, or every second one.
    async fn add_weight_gradients<'a>(
        &self,
        every: impl Fn(usize) -> usize,
        wanted: impl Fn(usize) -> bool,
        terms: &dyn Fn(usize) -> Vec<Term<'a, T>>,
        out: &mut [T],
    ) -> Result<()> {
        let mut tasks = Vec::new();
        let (mut rest, mut done) = (out, 0);
        let mut work = 0.0;
        for (l, affine) in self.net.affine_steps() {
            let end = affine.bias.as_ref().unwrap_or(&affine.weight).end;
            let (mine, after) = rest.split_at_mut(end - done);
            (rest, done) = (after, end);
            if !wanted(l) {
                continue;
            }
            let terms = Arc::new(terms(l));
            let work_of_step = affine.multiplications() * (N * terms.len()) as f64;
            work += work_of_step;
            let (every, portions) = (every(l), affine.portions(mine, work_of_step));
            tasks.extend(portions.map(|rows| Task { affine, terms: terms.clone(), every, rows }));
        }
        let level = self.net.level;
        let each = async |workspace: &mut GradientWorkspace<T>, _: usize, task: &mut Task<'_, '_, T>| {
            task.run::<N>(level, workspace)
        };
        parallel::for_each(&mut tasks, work, GradientWorkspace::default, each).await
    }
}

/// Some rows of one step's gradient.
struct Task<'a, 'b, T> {
    affine: &'a Affine,
    terms: Arc<Vec<Term<'b, T>>>,
    /// From one term of a bias to the next.
    every: usize,
    rows: Portion<'a, T>,
}

impl<T: Real> Task<'_, '_, T> {
    fn run<const N: usize>(&mut self, level: simd::Level, workspace: &mut GradientWorkspace<T>) -> Result<()> {
        let Portion { first, weight, bias } = &mut self.rows;
        let rows = *first..*first + weight.len() / self.affine.columns;
        if !bias.is_empty() {
            for (delta, _) in self.terms.iter().step_by(self.every) {
                simd::run(level, BiasGradient::<T, N> { all_rows: self.affine.rows, first: *first, delta, out: bias });
            }
        }
        let (affine, terms) = (self.affine, &self.terms[..]);
        workspace.fit::<N>(affine, rows.len(), terms.len())?;
        affine_work::run(level, WeightGradient::<T, N> { affine, rows, terms, workspace, out: weight });
        Ok(())
    }
}
