//! Forward and backward passes of one block of N samples.

use std::mem::swap;

use bytemuck::Pod;

use super::activation::{self, Curve, Finish};
use super::affine_block::ForwardBlock;
use super::affine_work;
use super::aligned::Aligned;
use super::data::{self, Rows, Selection};
use super::loss::{self, BlockLoss};
use super::net::{Kind, Net, Weights};
use super::real::Real;
use super::walk::Back;
use crate::engine::activation::Activation;
use crate::engine::plan::Read;
use crate::error::Result;
use crate::problem::Targets;

/// What a block's passes leave behind. Every vector is (…, N); memory is taken when first needed and kept.
#[derive(Default)]
pub struct BlockPoint<T> {
    pub valid: usize,
    /// The first sample of the input and how many count, where they are consecutive ones. Data do not change.
    run: Option<(usize, usize)>,
    /// For every step: has the input been laid out sample by sample for it?
    is_input_transposed: Vec<bool>,
    pub input: Aligned<T>,
    /// a of every step.
    pub activations: Vec<Aligned<T>>,
    /// What the max pools chose.
    pub chosen: Vec<Aligned<u32>>,
    /// δ of every step, the derivative by what its activation is of.
    pub deltas: Vec<Aligned<T>>,
    /// The parts of the gradient that were summed on the way back: of a step's W, then of its b.
    pub gradients: Vec<Aligned<T>>,
    /// What comes into the affine steps, sample by sample; nothing where it is read as it lies.
    pub transposed: Vec<Aligned<T>>,
    /// Of the smooth activations.
    pub curves: Vec<Curve<T>>,
    pub probabilities: Aligned<T>,
    pub loss: BlockLoss,
}

/// Memory that one thread uses again and again.
#[derive(Default)]
pub struct Workspace<T> {
    pub padded: Aligned<T>,
    pub padded_too: Aligned<T>,
    /// Sums of every lane, and what comes of them: a step's part of a product, where it is summed on the way back.
    pub lanes: Aligned<T>,
    pub gradient: Aligned<T>,
    /// Cotangents of the steps on a walk that does not keep them, and what is free for more of them.
    pub deltas: Vec<Aligned<T>>,
    pub spare: Vec<Aligned<T>>,
}

/// Room for `len` numbers, whatever they are.
///
/// # Errors
/// `TooLarge`.
pub fn sized<T: Pod>(values: &mut Aligned<T>, len: usize) -> Result<&mut [T]> {
    values.resize("numbers of a pass", len)
}

impl<T: Real> BlockPoint<T> {
    /// A place for every step.
    pub fn prepare_lists(&mut self, steps: usize) {
        self.activations.resize_with(steps, Aligned::default);
        self.chosen.resize_with(steps, Aligned::default);
        self.deltas.resize_with(steps, Aligned::default);
        self.gradients.resize_with(steps, Aligned::default);
        self.transposed.resize_with(steps, Aligned::default);
        self.curves.resize_with(steps, Curve::default);
        self.is_input_transposed.resize(steps, false);
    }

    /// Takes the inputs of block `i` of these samples, unless it has them from before.
    pub fn load<const N: usize>(
        &mut self,
        net: &Net,
        rows: Rows<'_, T>,
        selection: &Selection<'_>,
        i: usize,
    ) -> Result<()> {
        let shape = net.plan.input;
        let (samples, valid) = selection.lanes::<N>(i);
        self.valid = valid;
        let run = selection.is_run().then_some((samples[0], valid));
        if run.is_none() || self.run != run {
            self.run = None;
            data::load(rows, shape, &samples, sized(&mut self.input, shape.len() * N)?);
            self.run = run;
            self.is_input_transposed.fill(false);
        }
        Ok(())
    }

    /// What a step's read finds.
    pub fn read(&self, read: &Read) -> &[T] {
        found(&self.input, &self.activations, read)
    }

    /// What comes into an affine step, which reads one thing.
    pub fn input_of(&self, net: &Net, l: usize) -> &[T] {
        self.read(&net.plan.steps[l].reads[0])
    }

    /// What comes into an affine step, as sums of gradients read it.
    pub fn laid_out(&self, net: &Net, l: usize) -> &[T] {
        if net.reads_as_it_is(l) { self.input_of(net, l) } else { &self.transposed[l] }
    }

    /// The activation of step l, and what backward passes need of its input if asked for.
    pub fn forward_step<const N: usize>(
        &mut self,
        net: &Net,
        weights: &Weights<T>,
        l: usize,
        with_backward: bool,
        workspace: &mut Workspace<T>,
    ) -> Result<()> {
        let step = &net.plan.steps[l];
        let (before, rest) = self.activations.split_at_mut(l);
        let out = sized(&mut rest[0], step.output.len() * N)?;
        let read = |k: usize| found(&self.input, before, &step.reads[k]);
        let finish = Finish::activation(step.activation);
        match &net.kinds[l] {
            Kind::Affine(affine) => {
                let is_data = step.reads[0].from.is_none();
                let input = affine.frame::<T, N>(read(0), &mut workspace.padded)?;
                if with_backward && !(is_data && self.is_input_transposed[l]) {
                    affine.transpose::<T, N>(input, sized(&mut self.transposed[l], affine.transposed_len::<N>())?);
                    self.is_input_transposed[l] = is_data;
                }
                let (bias, terms) = (weights.bias(affine), [(&weights.forward[l], input)]);
                affine_work::run(net.level, ForwardBlock::<T, N> { affine, bias, terms: &terms, finish, out });
            }
            Kind::Plain(plain) => {
                plain.forward::<T, N>(step.reads.len(), read, &mut self.chosen[l], out)?;
                finish.apply(0, out);
            }
        }
        match step.activation {
            Activation::Smooth(smooth) if with_backward => self.curves[l].apply(smooth, out),
            Activation::Smooth(_) => {
                activation::apply(step.activation, out);
                Ok(())
            }
            Activation::Piecewise { .. } => Ok(()),
        }
    }

    /// The activation of the first step from its z.
    pub fn activate_first(&mut self, net: &Net) {
        activation::apply(net.plan.steps[0].activation, &mut self.activations[0]);
    }

    /// Losses and δ_L of these samples; `count` is the number of samples that the mean is over.
    pub fn evaluate<const N: usize>(
        &mut self,
        net: &Net,
        targets: &Targets,
        samples: &[usize; N],
        count: usize,
    ) -> Result<()> {
        let last = net.plan.steps.len() - 1;
        let outputs = &self.activations[last];
        let delta = sized(&mut self.deltas[last], outputs.len())?;
        if matches!(targets, Targets::Classes(_)) {
            sized(&mut self.probabilities, outputs.len())?;
        }
        let (valid, p) = (self.valid, &mut self.probabilities[..]);
        self.loss = loss::evaluate(outputs, &net.places, targets, samples, valid, count, p, delta);
        Ok(())
    }

    /// From δ of step l to δ of what it reads, and what else products need.
    pub fn backward_step<const N: usize>(
        &mut self,
        net: &Net,
        weights: &Weights<T>,
        l: usize,
        workspace: &mut Workspace<T>,
    ) -> Result<()> {
        let finished_by = Some(&self.activations[..]);
        let from = net.plan.steps[l].reads[0].from.filter(|_| net.sums_on_the_way(l));
        // There is no second term, so nothing is read as a tangent.
        let summed = from.map(|from| [&self.activations[from][..]; 2]);
        let back = Back { net, weights, chosen: &self.chosen, second: None, summed, finished_by, within: None };
        back.step::<N>(
            l,
            &mut self.deltas,
            workspace,
            |_, _| Ok(()),
            |from, q| {
                let (activation, a) = (net.plan.steps[from].activation, &self.activations[from]);
                self.curves[from].bend(q);
                activation::multiply_derivative(activation, a, &self.curves[from], q);
            },
        )?;
        if summed.is_some() {
            swap(&mut self.gradients[l], &mut workspace.gradient);
        }
        Ok(())
    }
}

/// What a read finds, among the results of the steps before.
pub fn found<'a, T: Real>(input: &'a [T], results: &'a [Aligned<T>], read: &Read) -> &'a [T] {
    read.from.map_or(input, |from| &results[from][..])
}
