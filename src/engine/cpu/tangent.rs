//! Tangent passes of one block of N samples (Pearlmutter's R-operator).

use super::activation::{self, Finish};
use super::affine_block::ForwardBlock;
use super::aligned::Aligned;
use super::channelwise;
use super::loss;
use super::net::{Kind, Net, Weights};
use super::point::{BlockPoint, Workspace, sized};
use super::real::Real;
use super::walk::Back;
use crate::error::Result;

/// What a block's tangent passes leave behind.
#[derive(Default)]
pub struct BlockTangent<T> {
    /// ȧ of every step; of the last one ż.
    pub activations: Vec<Aligned<T>>,
    /// What comes into the affine steps, sample by sample; data have no tangent, and nothing is here where it is read as it lies.
    pub transposed: Vec<Aligned<T>>,
    /// φ''(z) ⊙ q ⊙ ż of the smooth activations, if they enter.
    bends: Vec<Aligned<T>>,
    /// δ̇ of every step.
    pub deltas: Vec<Aligned<T>>,
}

impl<T: Real> BlockTangent<T> {
    /// A place for every step.
    pub fn prepare_lists(&mut self, steps: usize) {
        self.activations.resize_with(steps, Aligned::default);
        self.transposed.resize_with(steps, Aligned::default);
        self.bends.resize_with(steps, Aligned::default);
        self.deltas.resize_with(steps, Aligned::default);
    }

    /// The tangent of what comes into an affine step, as sums of gradients read it; nothing of data.
    pub fn laid_out(&self, net: &Net, l: usize) -> &[T] {
        match net.plan.steps[l].reads[0].from {
            Some(from) if net.reads_as_it_is(l) => &self.activations[from],
            _ => &self.transposed[l],
        }
    }

    /// ȧ of step l in direction V.
    pub fn forward_step<const N: usize>(
        &mut self,
        net: &Net,
        [weights, direction]: [&Weights<T>; 2],
        l: usize,
        point: &BlockPoint<T>,
        is_hessian: bool,
        workspace: &mut Workspace<T>,
    ) -> Result<()> {
        let step = &net.plan.steps[l];
        let (before, rest) = self.activations.split_at_mut(l);
        let out = sized(&mut rest[0], step.output.len() * N)?;
        let finish = Finish::derivative(step.activation, &point.activations[l]);
        let tangent = |k: usize| step.reads[k].from.map(|from| &before[from][..]);
        match &net.kinds[l] {
            Kind::Affine(affine) => {
                let input = affine.frame::<T, N>(point.read(&step.reads[0]), &mut workspace.padded)?;
                let first = (&direction.forward[l], input);
                let bias = direction.bias(affine);
                match tangent(0) {
                    None => {
                        channelwise::run(net.level, ForwardBlock::<T, N> { affine, bias, terms: &[first], finish, out })
                    }
                    Some(tangent) => {
                        let tangent = affine.frame::<T, N>(tangent, &mut workspace.padded_too)?;
                        let transposed = sized(&mut self.transposed[l], affine.transposed_len::<N>())?;
                        affine.transpose::<T, N>(tangent, transposed);
                        let terms = [first, (&weights.forward[l], tangent)];
                        channelwise::run(net.level, ForwardBlock::<T, N> { affine, bias, terms: &terms, finish, out });
                    }
                }
            }
            Kind::Plain(plain) => {
                plain.tangent::<T, N>(step.reads.len(), tangent, &point.chosen[l], out);
                finish.apply(0, out);
            }
        }
        if !step.activation.is_smooth() {
            return Ok(());
        }
        let curve = &point.curves[l];
        if is_hessian {
            let bends = sized(&mut self.bends[l], curve.bends.len())?;
            bends.iter_mut().zip(&curve.bends[..]).zip(&*out).for_each(|((bend, &b), &z)| *bend = b * z);
        }
        activation::multiply_derivative(step.activation, &point.activations[l], curve, out);
        Ok(())
    }

    /// δ̇_L; `count` is the number of samples that the mean is over.
    pub fn evaluate<const N: usize>(&mut self, point: &BlockPoint<T>, count: usize) -> Result<()> {
        let last = self.activations.len() - 1;
        let outputs = &self.activations[last];
        let delta = sized(&mut self.deltas[last], outputs.len())?;
        delta.copy_from_slice(outputs);
        let (p, likeliest) = (&point.probabilities, &point.loss.likeliest);
        loss::second_derivative::<T, N>(p, likeliest, point.valid, count, delta);
        Ok(())
    }

    /// From δ̇ of step l to δ̇ of what it reads: the Hessian's, or without the terms in δ the Gauss–Newton matrix's.
    pub fn backward_step<const N: usize>(
        &mut self,
        net: &Net,
        [weights, direction]: [&Weights<T>; 2],
        l: usize,
        point: &BlockPoint<T>,
        is_hessian: bool,
        workspace: &mut Workspace<T>,
    ) -> Result<()> {
        let second = is_hessian.then_some((direction, &point.deltas[..]));
        let finished_by = Some(&point.activations[..]);
        let back = Back { net, weights, chosen: &point.chosen, second, finished_by };
        back.step::<N>(
            l,
            &mut self.deltas,
            workspace,
            |_, _| Ok(()),
            |from, q| {
                let (activation, a) = (net.plan.steps[from].activation, &point.activations[from]);
                activation::multiply_derivative(activation, a, &point.curves[from], q);
                if is_hessian {
                    q.iter_mut().zip(&self.bends[from][..]).for_each(|(q, &bend)| *q += bend);
                }
            },
        )
    }
}
