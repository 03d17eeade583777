//! Tangent passes of one block of N samples (Pearlmutter's R-operator).

use super::activation;
use super::affine::{BackwardBlock, ForwardBlock};
use super::loss;
use super::point::{BlockPoint, Net, Scratch, Weights, pool_backward, sized};
use super::pool;
use super::real::Real;
use super::simd;
use crate::engine::plan::Operation;

/// What a block's tangent passes leave behind.
#[derive(Default)]
pub struct BlockTangent<T> {
    /// ȧ of every step; of the last one ż.
    pub activations: Vec<Vec<T>>,
    /// What comes into the affine steps, sample by sample; nothing comes into the first.
    pub transposed: Vec<Vec<T>>,
    /// δ̇ of the affine steps.
    pub deltas: Vec<Vec<T>>,
}

impl<T: Real> BlockTangent<T> {
    /// ȧ of all steps in direction V.
    pub fn forward<const N: usize>(
        &mut self,
        net: &Net,
        weights: &Weights<T>,
        direction: &Weights<T>,
        point: &BlockPoint<T>,
        scratch: &mut Scratch<T>,
    ) {
        let steps = &net.plan.steps;
        self.activations.resize_with(steps.len(), Vec::new);
        self.transposed.resize_with(steps.len(), Vec::new);
        self.deltas.resize_with(steps.len(), Vec::new);
        for (l, step) in steps.iter().enumerate() {
            let (before, rest) = self.activations.split_at_mut(l);
            let out = sized(&mut rest[0], step.output.len() * N);
            let tangent = before.last();
            match (&net.affine[l], tangent) {
                (Some(affine), tangent) => {
                    let input = affine.pad::<T, N>(point.input_of(l), &mut scratch.padded);
                    let first = (&direction.forward[l], input);
                    let bias = direction.bias(affine);
                    match tangent {
                        None => simd::run(net.level, ForwardBlock::<T, N> { affine, bias, terms: &[first], out }),
                        Some(tangent) => {
                            let tangent = affine.pad::<T, N>(tangent, &mut scratch.padded_too);
                            let transposed = sized(&mut self.transposed[l], affine.transposed_len::<N>());
                            affine.transpose::<T, N>(tangent, transposed);
                            let terms = [first, (&weights.forward[l], tangent)];
                            simd::run(net.level, ForwardBlock::<T, N> { affine, bias, terms: &terms, out });
                        }
                    }
                }
                (None, Some(tangent)) => match step.operation {
                    Operation::MaxPool => pool::max_tangent(tangent, &point.argmax[l], out),
                    Operation::AveragePool => pool::average::<T, N>(step, tangent, out),
                    _ => out.copy_from_slice(tangent),
                },
                (None, None) => unreachable!("the first step of a plan is affine"),
            }
            activation::multiply_derivative(step.activation, &point.activations[l], out);
        }
    }

    /// δ̇ of all affine steps: the Hessian's, or without the terms in δ the Gauss–Newton matrix's.
    #[allow(clippy::too_many_arguments, reason = "point and direction, each with its weights")]
    pub fn backward<const N: usize>(
        &mut self,
        net: &Net,
        weights: &Weights<T>,
        direction: &Weights<T>,
        point: &BlockPoint<T>,
        is_hessian: bool,
        count: usize,
        scratch: &mut Scratch<T>,
    ) {
        let last = net.plan.steps.len() - 1;
        let mut d = std::mem::take(&mut scratch.d);
        let mut q = std::mem::take(&mut scratch.q);
        d.clone_from(&self.activations[last]);
        loss::second_derivative::<T, N>(&point.probabilities, point.valid, count, &mut d);
        for (l, step) in net.plan.steps.iter().enumerate().rev() {
            if net.affine[l].is_some() {
                self.deltas[l].clone_from(&d);
            }
            if l == 0 {
                break;
            }
            let out = sized(&mut q, step.input.len() * N);
            match &net.affine[l] {
                Some(affine) => {
                    let first = (&weights.backward[l], affine.pad_delta::<T, N>(&d, &mut scratch.padded));
                    if is_hessian {
                        let delta = affine.pad_delta::<T, N>(&point.deltas[l], &mut scratch.padded_too);
                        let terms = [first, (&direction.backward[l], delta)];
                        simd::run(net.level, BackwardBlock::<T, N> { affine, terms: &terms, out });
                    } else {
                        simd::run(net.level, BackwardBlock::<T, N> { affine, terms: &[first], out });
                    }
                }
                None => pool_backward::<T, N>(step, &d, &point.argmax[l], out),
            }
            activation::multiply_derivative(net.plan.steps[l - 1].activation, &point.activations[l - 1], &mut q);
            if is_hessian && !point.curvatures[l - 1].is_empty() {
                let terms = point.curvatures[l - 1].iter().zip(&self.activations[l - 1]);
                for (q, (&c, &t)) in q.iter_mut().zip(terms) {
                    *q += c * t;
                }
            }
            std::mem::swap(&mut d, &mut q);
        }
        (scratch.d, scratch.q) = (d, q);
    }
}
