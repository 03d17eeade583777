//! Tangent passes of one block of N samples (Pearlmutter's R-operator).

use super::activation;
use super::affine::{BackwardBlock, ForwardBlock};
use super::loss;
use super::point::{BlockPoint, Net, Scratch, Weights, pool_backward, sized};
use super::pool;
use super::real::Real;
use super::simd;
use crate::engine::plan::Operation;
use crate::error::Result;

/// What a block's tangent passes leave behind.
#[derive(Default)]
pub struct BlockTangent<T> {
    /// ȧ of every step; of the last one ż.
    pub activations: Vec<Vec<T>>,
    /// What comes into the affine steps, sample by sample; nothing comes into the first.
    pub transposed: Vec<Vec<T>>,
    /// δ̇ of every step.
    pub deltas: Vec<Vec<T>>,
}

impl<T: Real> BlockTangent<T> {
    /// A place for every step.
    pub fn prepare_lists(&mut self, steps: usize) {
        self.activations.resize_with(steps, Vec::new);
        self.transposed.resize_with(steps, Vec::new);
        self.deltas.resize_with(steps, Vec::new);
    }

    /// ȧ of step l in direction V.
    pub fn forward_step<const N: usize>(
        &mut self,
        net: &Net,
        [weights, direction]: [&Weights<T>; 2],
        l: usize,
        point: &BlockPoint<T>,
        scratch: &mut Scratch<T>,
    ) -> Result<()> {
        let step = &net.plan.steps[l];
        let (before, rest) = self.activations.split_at_mut(l);
        let out = sized(&mut rest[0], step.output.len() * N)?;
        match (&net.affine[l], before.last()) {
            (Some(affine), tangent) => {
                let input = affine.pad::<T, N>(point.input_of(l), &mut scratch.padded)?;
                let first = (&direction.forward[l], input);
                let bias = direction.bias(affine);
                match tangent {
                    None => simd::run(net.level, ForwardBlock::<T, N> { affine, bias, terms: &[first], out }),
                    Some(tangent) => {
                        let tangent = affine.pad::<T, N>(tangent, &mut scratch.padded_too)?;
                        let transposed = sized(&mut self.transposed[l], affine.transposed_len::<N>())?;
                        affine.transpose::<T, N>(tangent, transposed);
                        let terms = [first, (&weights.forward[l], tangent)];
                        simd::run(net.level, ForwardBlock::<T, N> { affine, bias, terms: &terms, out });
                    }
                }
            }
            (None, Some(tangent)) => match step.operation {
                Operation::MaxPool => pool::max_tangent(tangent, &point.argmax[l], out),
                Operation::AveragePool => pool::average::<T, N>(step, tangent, out)?,
                _ => out.copy_from_slice(tangent),
            },
            (None, None) => unreachable!("the first step of a plan is affine"),
        }
        activation::multiply_derivative(step.activation, &point.activations[l], out);
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

    /// δ̇ of step l − 1 from that of step l: the Hessian's, or without the terms in δ the Gauss–Newton matrix's.
    pub fn backward_step<const N: usize>(
        &mut self,
        net: &Net,
        [weights, direction]: [&Weights<T>; 2],
        l: usize,
        point: &BlockPoint<T>,
        is_hessian: bool,
        scratch: &mut Scratch<T>,
    ) -> Result<()> {
        let step = &net.plan.steps[l];
        let (before, rest) = self.deltas.split_at_mut(l);
        let (q, d) = (sized(&mut before[l - 1], step.input.len() * N)?, &rest[0]);
        match &net.affine[l] {
            Some(affine) => {
                let first = (&weights.backward[l], affine.pad_delta::<T, N>(d, &mut scratch.padded)?);
                if is_hessian {
                    let delta = affine.pad_delta::<T, N>(&point.deltas[l], &mut scratch.padded_too)?;
                    let terms = [first, (&direction.backward[l], delta)];
                    simd::run(net.level, BackwardBlock::<T, N> { affine, terms: &terms, out: &mut *q });
                } else {
                    simd::run(net.level, BackwardBlock::<T, N> { affine, terms: &[first], out: &mut *q });
                }
            }
            None => pool_backward::<T, N>(step, d, &point.argmax[l], q)?,
        }
        activation::multiply_derivative(net.plan.steps[l - 1].activation, &point.activations[l - 1], q);
        if is_hessian && !point.curvatures[l - 1].is_empty() {
            let terms = point.curvatures[l - 1].iter().zip(&self.activations[l - 1]);
            for (q, (&c, &t)) in q.iter_mut().zip(terms) {
                *q += c * t;
            }
        }
        Ok(())
    }
}
