//! The way back through the steps of one block: what arrives behind a step goes on to what the step reads.
//!
//! All backward passes take it: gradients and products keep the cotangent of every step, sweeps and squared gradients see it
//! when it arrives and let it go.

use std::mem::take;

use super::activation::{self, Finish};
use super::affine::Affine;
use super::affine_block::BackwardBlock;
use super::affine_work;
use super::aligned::Aligned;
use super::channelwise::{Pull, PullTerm};
use super::net::{Kind, Net, Weights};
use super::point::{BlockPoint, Workspace, sized};
use super::real::Real;
use super::simd;
use crate::engine::plan::Read;
use crate::error::Result;
use crate::event_loop::worked;

/// What cotangents are pulled back through.
pub struct Back<'a, T> {
    pub net: &'a Net,
    pub weights: &'a Weights<T>,
    /// What the max pools chose.
    pub chosen: &'a [Aligned<u32>],
    /// On a Hessian product's way also a direction, with what goes back through that: δ of every step.
    pub second: Option<(&'a Weights<T>, &'a [Aligned<T>])>,
    /// What comes into the step and its tangent, where δ aᵀ and the like are summed in the same pass: channels see one channel each.
    pub summed: Option<[&'a [T]; 2]>,
    /// a of every step, where φ' of a piecewise linear activation joins at once what a step's only reader pulls back to it. Without,
    /// whoever completes multiplies.
    pub finished_by: Option<&'a [Aligned<T>]>,
    /// The steps that it goes back to; to all without.
    pub within: Option<&'a [bool]>,
}

impl<T: Real> Back<'_, T> {
    /// From the cotangent of step l to those of what it reads: `arrive(d, q)` with the step's own and with what is pulled back (and,
    /// where it is finished at once, times φ') to
    /// a read (nothing, to what comes into the network), and `complete(from, cotangent)` where nothing more will be added.
    pub fn step<const N: usize>(
        &self,
        l: usize,
        deltas: &mut [Aligned<T>],
        workspace: &mut Workspace<T>,
        mut arrive: impl FnMut(&[T], &[T]) -> Result<()>,
        mut complete: impl FnMut(usize, &mut [T]),
    ) -> Result<()> {
        for (k, read) in self.net.plan.steps[l].reads.iter().enumerate() {
            let Some(from) = read.from else {
                arrive(&deltas[l], &[])?;
                continue;
            };
            if self.within.is_some_and(|within| !within[from]) {
                continue;
            }
            let activation = self.net.plan.steps[from].activation;
            let finished_by = self.finished_by.filter(|_| read.starts && read.completes && !activation.is_smooth());
            let finish = finished_by.map_or(Finish::Nothing, |a| Finish::derivative(activation, &a[from]));
            let q = self.pull::<N>(l, (k, read), from, deltas, finish, workspace)?;
            arrive(&deltas[l], &q)?;
            add(read, q, &mut deltas[from], workspace);
            if read.completes && finished_by.is_none() {
                complete(from, &mut deltas[from]);
            }
        }
        Ok(())
    }

    /// The derivative by what read k of step l finds, from δ of the step.
    fn pull<const N: usize>(
        &self,
        l: usize,
        (k, read): (usize, &Read),
        from: usize,
        deltas: &mut [Aligned<T>],
        finish: Finish<'_, T>,
        workspace: &mut Workspace<T>,
    ) -> Result<Aligned<T>> {
        let mut q = if read.starts { take(&mut deltas[from]) } else { Aligned::default() };
        if q.capacity() == 0 {
            q = workspace.spare.pop().unwrap_or_default();
        }
        let d = &deltas[l];
        let out = sized(&mut q, self.net.plan.steps[from].output.len() * N)?;
        let affine = match &self.net.kinds[l] {
            Kind::Affine(affine) => affine,
            Kind::Plain(plain) => {
                plain.transpose::<T, N>(k, d, &self.chosen[l], out);
                finish.apply(0, out);
                return Ok(q);
            }
        };
        if let Some([input, tangent]) = self.summed {
            let lanes = sized(&mut workspace.lanes, affine.lane_sums::<N>())?;
            let gradient = sized(&mut workspace.gradient, affine.parameters().len())?;
            let first = PullTerm { weights: self.weights.backward[l].as_ref(), delta: &d[..], input };
            let second = self.second.map(|(direction, deltas)| PullTerm {
                weights: direction.backward[l].as_ref(),
                delta: &deltas[l][..],
                input: tangent,
            });
            let both = [first, second.unwrap_or(first)];
            let terms = &both[..1 + usize::from(second.is_some())];
            simd::run(self.net.level, Pull::<T, N> { affine, terms, finish, out, lanes, gradient });
            return Ok(q);
        }
        let first = (&self.weights.backward[l], &d[..]);
        match self.second {
            None => affine_work::run(self.net.level, BackwardBlock::<T, N> { affine, terms: &[first], finish, out }),
            Some((direction, deltas)) => {
                let terms = [first, (&direction.backward[l], &deltas[l][..])];
                affine_work::run(self.net.level, BackwardBlock::<T, N> { affine, terms: &terms, finish, out });
            }
        }
        Ok(q)
    }
}

/// What was pulled back joins what other readers have.
fn add<T: Real>(read: &Read, q: Aligned<T>, sum: &mut Aligned<T>, workspace: &mut Workspace<T>) {
    if read.starts {
        *sum = q;
    } else {
        sum.iter_mut().zip(&q[..]).for_each(|(sum, &q)| *sum += q);
        workspace.spare.push(q);
    }
}

/// Walks back from the cotangent at the outputs, which `workspace.deltas` has in its last place, at a block of a point:
/// `arrive(l, affine, g, Wᵀ g)` at every affine step; the last is empty where nothing is pulled back to.
pub async fn walk_back<T: Real, const N: usize>(
    net: &Net,
    weights: &Weights<T>,
    block: &BlockPoint<T>,
    workspace: &mut Workspace<T>,
    mut arrive: impl FnMut(usize, &Affine, &[T], &[T]) -> Result<()>,
) -> Result<()> {
    let back =
        Back { net, weights, chosen: &block.chosen, second: None, summed: None, finished_by: None, within: None };
    let mut deltas = take(&mut workspace.deltas);
    for (l, kind) in net.kinds.iter().enumerate().rev() {
        let at_step = |g: &[T], pulled: &[T]| match kind {
            Kind::Affine(affine) => arrive(l, affine, g, pulled),
            Kind::Plain(_) => Ok(()),
        };
        back.step::<N>(l, &mut deltas, workspace, at_step, |from, q| {
            let (a, curve) = (&block.activations[from], &block.curves[from]);
            activation::multiply_derivative(net.plan.steps[from].activation, a, curve, q);
        })?;
        workspace.spare.push(take(&mut deltas[l]));
        worked(2.0 * net.step_work::<N>(l)).await?;
    }
    workspace.deltas = deltas;
    Ok(())
}
