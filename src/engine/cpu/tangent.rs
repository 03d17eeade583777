//! Tangent passes of one block of N samples (Pearlmutter's R-operator).

use std::mem::swap;
use std::ops::Range;

use super::activation::{self, Finish};
use super::affine_block::ForwardBlock;
use super::affine_work;
use super::aligned::Aligned;
use super::loss;
use super::net::{Kind, Net, Weights};
use super::point::{BlockPoint, Workspace, sized};
use super::real::Real;
use super::walk::Back;
use crate::engine::executor::Curvature;
use crate::engine::plan::{Plan, Read};
use crate::error::Result;

/// What is differentiated, along which parameters: a product with the Hessian or the Gauss–Newton matrix, or with a layer's block.
pub struct Differential {
    pub is_hessian: bool,
    /// The step whose parameters directions have, and which the product is wanted of; all without.
    step: Option<usize>,
    /// Steps whose results change with those parameters.
    varies: Vec<bool>,
}

impl Differential {
    /// Of all parameters.
    pub fn whole(plan: &Plan, curvature: Curvature) -> Self {
        Self::new(plan, curvature, None)
    }

    /// Of one step's, or of all.
    pub fn new(plan: &Plan, curvature: Curvature, step: Option<usize>) -> Self {
        let mut varies = Vec::with_capacity(plan.steps.len());
        for (l, of) in plan.steps.iter().enumerate() {
            varies.push(step.is_none_or(|step| step == l) || of.reads.iter().any(|read| has_changed(read, &varies)));
        }
        Self { is_hessian: curvature == Curvature::Hessian, step, varies }
    }

    /// Do directions change this step's parameters?
    pub fn moves(&self, l: usize) -> bool {
        self.step.is_none_or(|step| step == l)
    }

    /// The steps whose parameters directions have.
    pub fn steps(&self, net: &Net) -> Range<usize> {
        self.step.map_or(net.all(), |step| step..step + 1)
    }

    /// Does this step's result change?
    pub fn varies(&self, l: usize) -> bool {
        self.varies[l]
    }

    /// Does δ̇ go on from this step?
    pub fn pulls_back(&self, net: &Net, l: usize) -> bool {
        self.varies[l] && net.plan.steps[l].reads.iter().any(|read| has_changed(read, &self.varies))
    }

    /// Do cotangents go back through V too? Not through one step's, where they end.
    pub fn goes_back_through_direction(&self) -> bool {
        self.is_hessian && self.step.is_none()
    }

    /// Is a step's part of the product summed where δ̇ goes back through it? It is read there anyway.
    pub fn sums_on_the_way(&self, net: &Net, l: usize) -> bool {
        self.moves(l) && net.reads_as_it_is(l) && self.pulls_back(net, l)
    }

    /// Is δ ȧᵀ part of the product at this step?
    pub fn has_second(&self, net: &Net, l: usize) -> bool {
        self.goes_back_through_direction() && self.pulls_back(net, l)
    }
}

/// Is what a read finds the result of a step that varies? Data never do.
fn has_changed(read: &Read, varies: &[bool]) -> bool {
    read.from.is_some_and(|from| varies[from])
}

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
    /// The parts of a product that were summed on the way back: of a step's W, then of its b.
    pub products: Vec<Aligned<T>>,
}

impl<T: Real> BlockTangent<T> {
    /// A place for every step.
    pub fn prepare_lists(&mut self, steps: usize) {
        self.activations.resize_with(steps, Aligned::default);
        self.transposed.resize_with(steps, Aligned::default);
        self.bends.resize_with(steps, Aligned::default);
        self.deltas.resize_with(steps, Aligned::default);
        self.products.resize_with(steps, Aligned::default);
    }

    /// The tangent of what comes into an affine step, as sums of gradients read it; nothing of data.
    pub fn laid_out(&self, net: &Net, l: usize) -> &[T] {
        match net.plan.steps[l].reads[0].from {
            Some(from) if net.reads_as_it_is(l) => &self.activations[from],
            _ => &self.transposed[l],
        }
    }

    /// ȧ of step l, which varies, in direction V.
    pub fn forward_step<const N: usize>(
        &mut self,
        net: &Net,
        [weights, direction]: [&Weights<T>; 2],
        l: usize,
        point: &BlockPoint<T>,
        differential: &Differential,
        workspace: &mut Workspace<T>,
    ) -> Result<()> {
        let step = &net.plan.steps[l];
        let (before, rest) = self.activations.split_at_mut(l);
        let out = sized(&mut rest[0], step.output.len() * N)?;
        let finish = Finish::derivative(step.activation, &point.activations[l]);
        let varying = |k: usize| step.reads[k].from.filter(|&from| differential.varies(from));
        let tangent = |k: usize| varying(k).map(|from| &before[from][..]);
        match &net.kinds[l] {
            Kind::Affine(affine) => {
                let frame = |x, padded| affine.frame::<T, N>(x, padded);
                let tangent = tangent(0).map(|tangent| frame(tangent, &mut workspace.padded_too)).transpose()?;
                if let Some(tangent) = tangent
                    && differential.has_second(net, l)
                {
                    let transposed = sized(&mut self.transposed[l], affine.transposed_len::<N>())?;
                    affine.transpose::<T, N>(tangent, transposed);
                }
                let moves = differential.moves(l);
                let input: &[T] = match moves {
                    true => frame(point.read(&step.reads[0]), &mut workspace.padded)?,
                    false => &[],
                };
                let bias = direction.bias(affine).filter(|_| moves);
                // V a, if V is not 0 here, and W ȧ, if ȧ is not.
                let both = [(&direction.forward[l], input), (&weights.forward[l], tangent.unwrap_or_default())];
                let terms = &both[usize::from(!moves)..1 + usize::from(tangent.is_some())];
                affine_work::run(net.level, ForwardBlock::<T, N> { affine, bias, terms, finish, out });
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
        if differential.is_hessian {
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
        differential: &Differential,
        workspace: &mut Workspace<T>,
    ) -> Result<()> {
        let second = differential.goes_back_through_direction().then_some((direction, &point.deltas[..]));
        let finished_by = Some(&point.activations[..]);
        let from = net.plan.steps[l].reads[0].from.filter(|_| differential.sums_on_the_way(net, l));
        let summed = from.map(|from| [&point.activations[from][..], &self.activations[from][..]]);
        let within = Some(&differential.varies[..]);
        let back = Back { net, weights, chosen: &point.chosen, second, summed, finished_by, within };
        back.step::<N>(
            l,
            &mut self.deltas,
            workspace,
            |_, _| Ok(()),
            |from, q| {
                let (activation, a) = (net.plan.steps[from].activation, &point.activations[from]);
                activation::multiply_derivative(activation, a, &point.curves[from], q);
                if differential.is_hessian {
                    q.iter_mut().zip(&self.bends[from][..]).for_each(|(q, &bend)| *q += bend);
                }
            },
        )?;
        if summed.is_some() {
            swap(&mut self.products[l], &mut workspace.gradient);
        }
        Ok(())
    }
}
