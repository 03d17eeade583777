//! A plan with the geometry that the CPU's passes need, and parameters packed for it.

use std::ops::Range;

use super::affine::{Affine, Backward, Forward};
use super::aligned::Aligned;
use super::plain::Plain;
use super::point::sized;
use super::real::Real;
use super::simd::Level;
use crate::engine::plan::{Plan, Step};
use crate::error::Result;
use crate::event_loop::worked;
use crate::memory::collected;

/// A step's geometry.
pub enum Kind {
    Affine(Box<Affine>),
    Plain(Plain),
}

/// A plan with the geometry of its steps.
pub struct Net {
    pub plan: Plan,
    pub kinds: Vec<Kind>,
    /// Where output c lies in the last step's (H, W, C).
    pub places: Vec<u32>,
    pub level: Level,
}

impl Net {
    /// # Errors
    /// `TooLarge` where the geometry's tables do not fit in memory.
    pub fn new(plan: Plan, level: Level) -> Result<Self> {
        let kind = |step: &Step| match Affine::new(step)? {
            Some(affine) => Ok(Kind::Affine(Box::new(affine))),
            None => Plain::new(step, |read| plan.shape_of(read)).map(Kind::Plain),
        };
        let kinds = plan.steps.iter().map(kind).collect::<Result<_>>()?;
        let output = plan.steps[plan.steps.len() - 1].output;
        let area = output.area();
        let place = |c: usize| (c % area * output.channels + c / area) as u32;
        let places = collected("places of outputs", (0..output.len()).map(place))?;
        Ok(Self { plan, kinds, places, level })
    }

    /// The affine steps, by their number.
    pub fn affine_steps(&self) -> impl DoubleEndedIterator<Item = (usize, &Affine)> {
        self.kinds.iter().enumerate().filter_map(|(l, kind)| match kind {
            Kind::Affine(affine) => Some((l, &**affine)),
            Kind::Plain(_) => None,
        })
    }

    /// Do cotangents go back beyond this step? What comes into the network is no variable.
    pub fn pulls_back(&self, l: usize) -> bool {
        self.plan.steps[l].reads.iter().any(|read| read.from.is_some())
    }

    /// Do sums of gradients read the input of this step as it lies?
    pub fn reads_as_it_is(&self, l: usize) -> bool {
        matches!(&self.kinds[l], Kind::Affine(affine) if affine.is_channelwise())
    }

    /// Is a step's part of the gradient summed where δ goes back through it? It is read there anyway.
    pub fn sums_on_the_way(&self, l: usize) -> bool {
        self.reads_as_it_is(l) && self.pulls_back(l)
    }

    /// The first step, where it is affine in what comes in: layer 1 is linear in the parameters then.
    pub fn first(&self) -> Option<&Affine> {
        let (_, affine) = self.affine_steps().next()?;
        self.plan.starts_affine().then_some(affine)
    }

    /// All steps.
    pub fn all(&self) -> Range<usize> {
        0..self.kinds.len()
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
    pub theta: Aligned<T>,
    /// For every step; empty for those without weights.
    pub forward: Vec<Forward<T>>,
    /// As `forward`; empty for steps that nothing is pulled back through.
    pub backward: Vec<Backward<T>>,
}

impl<T: Real> Weights<T> {
    /// Packs θ of these steps, and nothing of others, for backward passes too if asked for. The memory of before is used again.
    pub async fn pack(&mut self, net: &Net, theta: &[T], steps: Range<usize>, with_backward: bool) -> Result<()> {
        sized(&mut self.theta, theta.len())?;
        let range = net.start(steps.start)..net.start(steps.end);
        self.theta[range.clone()].copy_from_slice(&theta[range]);
        self.forward.resize_with(net.plan.steps.len(), Default::default);
        self.backward.resize_with(net.plan.steps.len(), Default::default);
        for (l, affine) in net.affine_steps().filter(|(l, _)| steps.contains(l)) {
            affine.pack_forward(theta, &mut self.forward[l])?;
            if with_backward && net.pulls_back(l) {
                affine.pack_backward(theta, &mut self.backward[l])?;
            }
            // A number packed is as slow as some that are multiplied.
            worked(4.0 * affine.weight.len() as f64).await?;
        }
        Ok(())
    }

    /// b of an affine step.
    pub fn bias(&self, affine: &Affine) -> Option<&[T]> {
        affine.bias.clone().map(|range| &self.theta[range])
    }
}
