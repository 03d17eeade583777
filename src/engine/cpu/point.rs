//! Forward and backward passes of one block of N samples.

use super::activation;
use super::affine::{Affine, Backward, BackwardBlock, Forward, ForwardBlock};
use super::data::{self, Rows, Selection};
use super::loss::{self, BlockLoss};
use super::pool;
use super::real::Real;
use super::simd::{self, Level};
use crate::engine::plan::{Activation, Operation, Plan, Step};
use crate::error::Result;
use crate::event_loop::worked;
use crate::memory::{collected, resized};
use crate::problem::Targets;

/// A plan with the geometry of its affine steps.
pub struct Net {
    pub plan: Plan,
    pub affine: Vec<Option<Affine>>,
    /// Where output c lies in the last step's (H, W, C).
    pub places: Vec<u32>,
    pub level: Level,
}

impl Net {
    /// # Errors
    /// `TooLarge` where the geometry's tables do not fit in memory.
    pub fn new(plan: Plan, level: Level) -> Result<Self> {
        let affine = plan.steps.iter().map(Affine::new).collect::<Result<_>>()?;
        let output = plan.steps[plan.steps.len() - 1].output;
        let area = output.area();
        let place = |c: usize| (c % area * output.channels + c / area) as u32;
        let places = collected("places of outputs", (0..output.len()).map(place))?;
        Ok(Self { plan, affine, places, level })
    }

    /// Steps with their geometry, the affine ones.
    pub fn affine_steps(&self) -> impl DoubleEndedIterator<Item = (usize, &Affine)> {
        self.affine.iter().enumerate().filter_map(|(l, affine)| Some((l, affine.as_ref()?)))
    }

    /// Where the parameters of step `first` and those behind it begin.
    pub fn start(&self, first: usize) -> usize {
        self.affine_steps()
            .find(|(l, _)| *l >= first)
            .map_or(self.plan.parameter_count, |(_, affine)| affine.weight.start)
    }

    /// Multiplications of a forward pass of one block through one step.
    pub fn step_work<const N: usize>(&self, l: usize) -> f64 {
        self.plan.steps[l].multiplications() * N as f64
    }

    /// Multiplications of a forward pass of one block.
    pub fn block_work<const N: usize>(&self) -> f64 {
        self.plan.steps.iter().map(Step::multiplications).sum::<f64>() * N as f64
    }
}

/// A parameter vector with its weights packed.
#[derive(Default)]
pub struct Weights<T> {
    pub theta: Vec<T>,
    /// For every step; empty for those without weights.
    pub forward: Vec<Forward<T>>,
    /// As `forward`; the first step has no backward pass.
    pub backward: Vec<Backward<T>>,
}

impl<T: Real> Weights<T> {
    /// Packs θ from step `first` on, and nothing before it, for backward passes too if asked for. The memory of before is
    /// used again.
    pub async fn pack(&mut self, net: &Net, theta: &[T], first: usize, with_backward: bool) -> Result<()> {
        sized(&mut self.theta, theta.len())?;
        let start = net.start(first);
        self.theta[start..].copy_from_slice(&theta[start..]);
        self.forward.resize_with(net.plan.steps.len(), Default::default);
        self.backward.resize_with(net.plan.steps.len(), Default::default);
        for (l, affine) in net.affine_steps().filter(|(l, _)| *l >= first) {
            affine.pack_forward(theta, &mut self.forward[l])?;
            if with_backward && l > 0 {
                affine.pack_backward(theta, &mut self.backward[l])?;
            }
            // A number packed is as slow as some that are multiplied.
            worked(4.0 * affine.weight.len() as f64).await;
        }
        Ok(())
    }

    /// b of an affine step.
    pub fn bias(&self, affine: &Affine) -> Option<&[T]> {
        affine.bias.clone().map(|range| &self.theta[range])
    }
}

/// What a block's passes leave behind. Every vector is (…, N); memory is taken when first needed and kept.
#[derive(Default)]
pub struct BlockPoint<T> {
    pub valid: usize,
    /// The first sample of the input and how many count, where they are consecutive ones. Data do not change.
    run: Option<(usize, usize)>,
    /// Has it been laid out sample by sample?
    is_input_transposed: bool,
    pub input: Vec<T>,
    /// a of every step.
    pub activations: Vec<Vec<T>>,
    /// Of the max pools.
    pub argmax: Vec<Vec<u32>>,
    /// δ of every step, the derivative by what its activation is of.
    pub deltas: Vec<Vec<T>>,
    /// What comes into the affine steps, sample by sample.
    pub transposed: Vec<Vec<T>>,
    /// c of [`activation::curvature`], where an activation has one.
    pub curvatures: Vec<Vec<T>>,
    pub probabilities: Vec<T>,
    pub loss: BlockLoss,
}

/// Memory that one thread uses again and again.
#[derive(Default)]
pub struct Scratch<T> {
    pub padded: Vec<T>,
    pub padded_too: Vec<T>,
    pub d: Vec<T>,
    pub q: Vec<T>,
}

/// Room for `len` numbers, whatever they are.
///
/// # Errors
/// `TooLarge`.
pub fn sized<T: Clone + Default>(values: &mut Vec<T>, len: usize) -> Result<&mut [T]> {
    resized("numbers of a pass", values, len)
}

impl<T: Real> BlockPoint<T> {
    /// A place for every step.
    pub fn prepare_lists(&mut self, steps: usize) {
        self.activations.resize_with(steps, Vec::new);
        self.argmax.resize_with(steps, Vec::new);
        self.deltas.resize_with(steps, Vec::new);
        self.transposed.resize_with(steps, Vec::new);
        self.curvatures.resize_with(steps, Vec::new);
    }

    /// Takes the inputs of block `i` of these samples, unless it has them from before.
    pub fn load<const N: usize>(
        &mut self,
        net: &Net,
        rows: Rows<'_, T>,
        selection: &Selection<'_>,
        i: usize,
    ) -> Result<()> {
        let shape = net.plan.input();
        let (samples, valid) = selection.lanes::<N>(i);
        self.valid = valid;
        let run = selection.is_run().then_some((samples[0], valid));
        if run.is_none() || self.run != run {
            self.run = None;
            data::load(rows, shape, &samples, sized(&mut self.input, shape.len() * N)?);
            self.run = run;
            self.is_input_transposed = false;
        }
        Ok(())
    }

    /// What comes into step l.
    pub fn input_of(&self, l: usize) -> &[T] {
        if l == 0 { &self.input } else { &self.activations[l - 1] }
    }

    /// The activation of step l, and what backward passes need of its input if asked for.
    pub fn forward_step<const N: usize>(
        &mut self,
        net: &Net,
        weights: &Weights<T>,
        l: usize,
        with_backward: bool,
        scratch: &mut Scratch<T>,
    ) -> Result<()> {
        let step = &net.plan.steps[l];
        let (before, rest) = self.activations.split_at_mut(l);
        let input = before.last().unwrap_or(&self.input);
        let out = sized(&mut rest[0], step.output.len() * N)?;
        match &net.affine[l] {
            Some(affine) => {
                let input = affine.pad::<T, N>(input, &mut scratch.padded)?;
                if with_backward && !(l == 0 && self.is_input_transposed) {
                    affine.transpose::<T, N>(input, sized(&mut self.transposed[l], affine.transposed_len::<N>())?);
                    self.is_input_transposed |= l == 0;
                }
                let (bias, terms) = (weights.bias(affine), [(&weights.forward[l], input)]);
                simd::run(net.level, ForwardBlock::<T, N> { affine, bias, terms: &terms, out });
            }
            None => match &step.operation {
                Operation::MaxPool => {
                    pool::max::<T, N>(step, input, out, sized(&mut self.argmax[l], out.len())?)?;
                }
                Operation::AveragePool => pool::average::<T, N>(step, input, out)?,
                _ => out.copy_from_slice(input),
            },
        }
        activation::apply(step.activation, out);
        Ok(())
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
        let (valid, p) = (self.valid, &mut self.probabilities);
        self.loss = loss::evaluate(outputs, &net.places, targets, samples, valid, count, p, delta);
        Ok(())
    }

    /// δ of step l − 1 from that of step l, and what else products need.
    pub fn backward_step<const N: usize>(
        &mut self,
        net: &Net,
        weights: &Weights<T>,
        l: usize,
        scratch: &mut Scratch<T>,
    ) -> Result<()> {
        let (before, rest) = self.deltas.split_at_mut(l);
        let q = &mut before[l - 1];
        pull_back::<T, N>(net, weights, l, &self.argmax[l], &rest[0], &mut scratch.padded, q)?;
        let (activation, a) = (net.plan.steps[l - 1].activation, &self.activations[l - 1]);
        if activation == Activation::Tanh {
            activation::curvature(a, q, sized(&mut self.curvatures[l - 1], q.len())?);
        }
        activation::multiply_derivative(activation, a, q);
        Ok(())
    }
}

/// The derivative by what comes into step l, from δ behind it.
pub fn pull_back<T: Real, const N: usize>(
    net: &Net,
    weights: &Weights<T>,
    l: usize,
    argmax: &[u32],
    d: &[T],
    padded: &mut Vec<T>,
    q: &mut Vec<T>,
) -> Result<()> {
    let step = &net.plan.steps[l];
    let out = sized(q, step.input.len() * N)?;
    match &net.affine[l] {
        Some(affine) => {
            let terms = [(&weights.backward[l], affine.pad_delta::<T, N>(d, padded)?)];
            simd::run(net.level, BackwardBlock::<T, N> { affine, terms: &terms, out });
        }
        None => pool_backward::<T, N>(step, d, argmax, out)?,
    }
    Ok(())
}

/// The transpose of a step without parameters.
pub fn pool_backward<T: Real, const N: usize>(step: &Step, d: &[T], argmax: &[u32], out: &mut [T]) -> Result<()> {
    match step.operation {
        Operation::MaxPool => pool::max_backward(d, argmax, out),
        Operation::AveragePool => pool::average_backward::<T, N>(step, d, out)?,
        _ => out.copy_from_slice(d),
    }
    Ok(())
}
