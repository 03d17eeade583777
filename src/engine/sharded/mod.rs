//! Data-parallel shares of a problem on threads without common memory: in a page, workers with a WebAssembly instance each.
//!
//! Every pass over the data is a fork and a join. A [`Team`] carries a command to all [`Helper`]s, each goes over its own
//! share of the samples, the caller over its own, and what they find is added up. All of it is means over samples, so the
//! mean over all of N is Σ_k (N_k / N) · (mean over share k), always added in the order of the shares: for the same number
//! of threads the same calls give the same bits, and another number changes results by rounding alone. Vectors and what is
//! done to them stay with the caller.

mod helper;
mod message;
mod numbers;

use std::future::ready;
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

pub use helper::Helper;
use helper::{own_count, own_rows};
use message::{Command, Load, Reply, Request, beginning};

use self::numbers::{bytes, from_bytes, write};
use super::chart::Charts;
use super::cpu::{MEMORY_BUDGET, cpu_executor_of_first, cpu_info_of};
use super::executor::{BackendInfo, Curvature, Executor, Precision};
use super::plan::{Plan, Step};
use super::sweep::{Cotangent, LayerSums};
use super::vector::{Vector, Vectors};
use crate::control::LocalFuture;
use crate::error::{Result, ensure};
use crate::event_loop::now;
use crate::memory::make_room;
use crate::problem::{Problem, Targets, Values};

/// Shares are whole multiples of this but for the last: as many samples as the widest block in a browser has lanes.
const SHARE: usize = 8;

/// The helpers that one device's engines share their work with, and the way to them.
pub trait Team {
    /// How many there are.
    fn helpers(&self) -> usize;

    /// Hands one message, which is these pieces one behind the other, to the helpers of this range. Each passes it to
    /// [`Helper::answer`]; the answer must be taken by [`Team::receive`] before the next message to that helper.
    ///
    /// # Errors
    /// `DeviceLost` if any of the team's helpers is gone: from then on always.
    fn send(&self, to: Range<usize>, message: &[&[u8]]) -> Result<()>;

    /// Waits for a helper's answer.
    ///
    /// # Errors
    /// `DeviceLost` if the helper is gone.
    fn receive(&self, from: usize) -> Result<Vec<u8>>;

    /// Is work of this many multiplications (in a forward pass over its samples) worth sending a vector of parameters to
    /// the helpers and back?
    fn is_worthwhile(&self, multiplications: f64, parameters: usize) -> bool;
}

/// Multiplications of a forward pass of one sample.
fn sample_work(plan: &Plan) -> f64 {
    plan.steps.iter().map(Step::multiplications).sum()
}

/// Is a pass over this problem worth sharing out?
pub(super) fn is_worthwhile(team: &dyn Team, problem: &Problem) -> bool {
    let plan = Plan::new(problem.network());
    team.is_worthwhile(sample_work(&plan) * problem.samples() as f64, plan.parameter_count)
}

/// At most `shares` runs of samples of about the same length, in order.
fn split(samples: usize, shares: usize) -> Vec<Range<usize>> {
    let blocks = samples.div_ceil(SHARE);
    let shares = shares.clamp(1, blocks.max(1));
    let at = |share: usize| (share * blocks / shares * SHARE).min(samples);
    (0..shares).map(|share| at(share)..at(share + 1)).collect()
}

/// A CPU executor over the first share of a problem, and helpers over the others.
pub(super) struct ShardedExecutor {
    info: BackendInfo,
    team: Rc<dyn Team>,
    /// Passes over the first share; batches of any samples.
    own: Box<dyn Executor>,
    /// The helpers' name for the problem.
    problem: u32,
    /// First the caller's own.
    shares: Vec<Range<usize>>,
    /// N_k / N.
    weights: Vec<f64>,
    sample_work: f64,
    parameters: usize,
}

impl ShardedExecutor {
    /// Loads the shares of a problem; together they may keep `memory_budget` bytes between passes.
    pub fn new(
        team: Rc<dyn Team>,
        problem: &Problem,
        precision: Precision,
        memory_budget: Option<u64>,
    ) -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let plan = Plan::new(problem.network());
        let samples = problem.samples();
        let shares = split(samples, team.helpers() + 1);
        let weights: Vec<f64> = shares.iter().map(|share| share.len() as f64 / samples as f64).collect();
        let budget = memory_budget.unwrap_or(MEMORY_BUDGET) as f64;
        let budgets: Vec<u64> = weights.iter().map(|weight| (budget * weight) as u64).collect();
        let own = cpu_executor_of_first(problem, shares[0].len(), precision, Some(budgets[0]))?;
        let found = Self {
            info: cpu_info_of(precision, shares.len()),
            team,
            own,
            problem: NEXT.fetch_add(1, Ordering::Relaxed),
            shares,
            weights,
            sample_work: sample_work(&plan),
            parameters: plan.parameter_count,
        };
        found.load(problem, precision, &budgets)?;
        Ok(found)
    }

    /// Every helper's share goes to it; they take them in at the same time.
    fn load(&self, problem: &Problem, precision: Precision, budgets: &[u64]) -> Result<()> {
        let network = serde_json::to_string(problem.network())?;
        let (width, outputs) = (problem.network().input_len(), problem.network().output_len());
        let mut outcome = Ok(());
        let mut asked = 0;
        for (share, &memory_budget) in self.shares.iter().zip(budgets).skip(1) {
            let (inputs, values): (_, &[u8]) = match problem.shared_inputs() {
                Values::F32(v) => (Precision::F32, bytemuck::cast_slice(&v[share.start * width..share.end * width])),
                Values::F64(v) => (Precision::F64, bytemuck::cast_slice(&v[share.start * width..share.end * width])),
            };
            let targets: &[u8] = match problem.shared_targets() {
                Targets::Classes(v) => bytemuck::cast_slice(&v[share.clone()]),
                Targets::Vectors(v) => bytemuck::cast_slice(&v[share.start * outputs..share.end * outputs]),
            };
            let (network, loss) = (network.clone(), problem.loss());
            let load = Load { network, loss, precision, inputs, memory_budget, first: share.start };
            outcome = self.send(asked..asked + 1, Command::Load(load), &[values, targets]);
            if outcome.is_err() {
                break;
            }
            asked += 1;
        }
        let replies = self.receive(asked);
        outcome.and(replies).map(|_| ())
    }

    fn send(&self, to: Range<usize>, command: Command, parts: &[&[u8]]) -> Result<()> {
        let beginning = beginning(&Request { problem: self.problem, command }, parts);
        let pieces: Vec<&[u8]> = std::iter::once(&beginning[..]).chain(parts.iter().copied()).collect();
        self.team.send(to, &pieces)
    }

    /// The first `count` helpers' replies. All are taken before the first error is told.
    fn receive(&self, count: usize) -> Result<Vec<Reply>> {
        let replies: Vec<_> = (0..count).map(|helper| self.team.receive(helper).and_then(Reply::new)).collect();
        replies.into_iter().collect()
    }

    /// The helpers do `command` while the caller does `own`, without a turn of the event loop in between: it is a worker's,
    /// never a page's, and nobody else may speak to the helpers meanwhile.
    fn together<R>(
        &self,
        command: Command,
        parts: &[&[u8]],
        own: impl Future<Output = Result<R>>,
    ) -> Result<(R, Vec<Reply>)> {
        let helpers = self.shares.len() - 1;
        self.send(0..helpers, command, parts)?;
        let own = now(own);
        let replies = self.receive(helpers);
        Ok((own?, replies?))
    }

    /// `out`, which holds what the first share gave, becomes Σ weight · (part 0 of each share's).
    fn weigh(&self, weights: &[f64], replies: &[Reply], out: &mut Vector) -> Result<()> {
        self.own.vectors().scale(weights[0], out)?;
        for (&weight, reply) in weights[1..].iter().zip(replies) {
            // A helper without samples in a batch has nothing to say.
            if weight > 0.0 {
                let theirs = from_bytes(self.info.precision, reply.part(0)?, out.columns())?;
                ensure!(theirs.len() == out.len(), Parse, "a thread sent {} numbers too few or many", theirs.len());
                self.own.vectors().axpy(weight, &theirs, out)?;
            }
        }
        Ok(())
    }

    /// The same for numbers, in the part of this index.
    fn weigh_numbers(&self, weights: &[f64], own: Vec<f64>, replies: &[Reply], index: usize) -> Result<Vec<f64>> {
        let mut sums = own;
        sums.iter_mut().for_each(|own| *own *= weights[0]);
        for (&weight, reply) in weights[1..].iter().zip(replies) {
            if weight > 0.0 {
                let theirs = reply.numbers(index)?;
                ensure!(theirs.len() == sums.len(), Parse, "a thread sent {} numbers too few or many", theirs.len());
                sums.iter_mut().zip(theirs).for_each(|(sum, theirs)| *sum += weight * theirs);
            }
        }
        Ok(sums)
    }

    fn is_batch_shared(&self, rows: usize) -> bool {
        self.team.is_worthwhile(self.sample_work * rows as f64, self.parameters)
    }

    fn mean_loss(&self) -> Result<f64> {
        let (own, replies) = self.together(Command::Loss, &[], self.own.loss())?;
        Ok(self.weigh_numbers(&self.weights, vec![own], &replies, 0)?[0])
    }

    fn all_outputs(&self) -> Result<Vec<f64>> {
        let (mut outputs, replies) = self.together(Command::Outputs, &[], self.own.outputs())?;
        for reply in &replies {
            let theirs = reply.numbers(0)?;
            make_room("outputs", &mut outputs, theirs.len())?;
            outputs.extend(theirs);
        }
        Ok(outputs)
    }

    fn mean_sums(&self, cotangents: &[Cotangent]) -> Result<Vec<Vec<LayerSums>>> {
        let command = Command::Sweep(cotangents.iter().map(Into::into).collect());
        let (mut found, replies) = self.together(command, &lists(cotangents), self.own.sweep(cotangents))?;
        let own = found.iter().flatten().flat_map(LayerSums::numbers).collect();
        let sums = self.weigh_numbers(&self.weights, own, &replies, 0)?;
        for (number, sum) in found.iter_mut().flatten().flat_map(LayerSums::numbers_mut).zip(sums) {
            *number = sum;
        }
        Ok(found)
    }

    fn mean_squares(&self, cotangents: &[Cotangent]) -> Result<Vec<f64>> {
        let command = Command::SquaredGradients(cotangents.iter().map(Into::into).collect());
        let own = self.own.squared_gradients(cotangents);
        let (own, replies) = self.together(command, &lists(cotangents), own)?;
        self.weigh_numbers(&self.weights, own, &replies, 0)
    }
}

/// The classes and signs of those cotangents that have some, for all samples.
fn lists(cotangents: &[Cotangent]) -> Vec<&[u8]> {
    let list = |cotangent| match cotangent {
        &Cotangent::Class(_) => None,
        Cotangent::Drawn(classes) => Some(bytemuck::cast_slice(classes)),
        Cotangent::Signs(signs) => Some(bytemuck::cast_slice(signs)),
    };
    cotangents.iter().filter_map(list).collect()
}

impl Drop for ShardedExecutor {
    fn drop(&mut self) {
        // A team that is gone has forgotten the problem too.
        let helpers = self.shares.len() - 1;
        if self.send(0..helpers, Command::Unload, &[]).is_ok() {
            let _ = self.receive(helpers);
        }
    }
}

impl ShardedExecutor {
    /// A product with the curvature of all samples, or with a layer's block of it.
    async fn multiply(&self, curvature: Curvature, layer: Option<usize>, v: &Vector, out: &mut Vector) -> Result<()> {
        let command = Command::Product { curvature, layer, columns: v.columns() };
        let own = product(&*self.own, curvature, layer, v, out);
        let ((), replies) = self.together(command, &[bytes(v)?], own)?;
        self.weigh(&self.weights, &replies, out)
    }
}

/// The same of one share.
fn product<'a>(
    executor: &'a dyn Executor,
    curvature: Curvature,
    layer: Option<usize>,
    v: &'a Vector,
    out: &'a mut Vector,
) -> LocalFuture<'a, Result<()>> {
    match layer {
        None => executor.product(curvature, v, out),
        Some(layer) => executor.layer_product(curvature, layer, v, out),
    }
}

impl Executor for ShardedExecutor {
    fn info(&self) -> &BackendInfo {
        &self.info
    }

    fn threads(&self, samples: usize) -> usize {
        if self.is_batch_shared(samples) { self.shares.len() } else { 1 }
    }

    fn vectors(&self) -> &dyn Vectors {
        self.own.vectors()
    }

    fn charts(&self) -> &dyn Charts {
        self.own.charts()
    }

    fn prepare<'a>(&'a self, theta: &'a Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move { self.together(Command::Prepare, &[bytes(theta)?], self.own.prepare(theta)).map(|_| ()) })
    }

    fn loss(&self) -> LocalFuture<'_, Result<f64>> {
        Box::pin(ready(self.mean_loss()))
    }

    fn outputs(&self) -> LocalFuture<'_, Result<Vec<f64>>> {
        Box::pin(ready(self.all_outputs()))
    }

    fn gradient(&self, out: &mut Vector) -> Result<()> {
        let ((), replies) = self.together(Command::Gradient, &[], async { self.own.gradient(out) })?;
        self.weigh(&self.weights, &replies, out)
    }

    fn product<'a>(&'a self, curvature: Curvature, v: &'a Vector, out: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(self.multiply(curvature, None, v, out))
    }

    fn layer_product<'a>(
        &'a self,
        curvature: Curvature,
        layer: usize,
        v: &'a Vector,
        out: &'a mut Vector,
    ) -> LocalFuture<'a, Result<()>> {
        Box::pin(self.multiply(curvature, Some(layer), v, out))
    }

    fn evaluate<'a>(&'a self, theta: &'a Vector, out: &'a mut Vector, index: usize) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut own = self.own.vectors().zeros(2, 1)?;
            let ((), replies) =
                self.together(Command::Evaluate, &[bytes(theta)?], self.own.evaluate(theta, &mut own, 0))?;
            let means = self.weigh_numbers(&self.weights, now(self.own.vectors().download(&own))?, &replies, 0)?;
            write(out, 2 * index, &means)
        })
    }

    fn prepare_plane<'a>(
        &'a self,
        theta: &'a Vector,
        u: &'a Vector,
        v: Option<&'a Vector>,
    ) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let vectors: Vec<&[u8]> =
                [Some(theta), Some(u), v].into_iter().flatten().map(bytes).collect::<Result<_>>()?;
            self.together(Command::PreparePlane, &vectors, self.own.prepare_plane(theta, u, v)).map(|_| ())
        })
    }

    fn evaluate_plane<'a>(&'a self, points: &'a [[f64; 2]], out: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut own = self.own.vectors().zeros(2 * points.len(), 1)?;
            let parts = [bytemuck::cast_slice(points)];
            let ((), replies) =
                self.together(Command::EvaluatePlane, &parts, self.own.evaluate_plane(points, &mut own))?;
            let means = self.weigh_numbers(&self.weights, now(self.own.vectors().download(&own))?, &replies, 0)?;
            write(out, 0, &means)
        })
    }

    fn sweep<'a>(&'a self, cotangents: &'a [Cotangent]) -> LocalFuture<'a, Result<Vec<Vec<LayerSums>>>> {
        Box::pin(ready(self.mean_sums(cotangents)))
    }

    fn squared_gradients<'a>(&'a self, cotangents: &'a [Cotangent]) -> LocalFuture<'a, Result<Vec<f64>>> {
        Box::pin(ready(self.mean_squares(cotangents)))
    }

    /// A batch's samples go to whoever has them; a small one the caller, who has the whole problem, computes alone.
    fn batch_gradient<'a>(
        &'a self,
        theta: &'a Vector,
        rows: &'a [u32],
        gradient: &'a mut Vector,
        out: &'a mut Vector,
        index: usize,
    ) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            if !self.is_batch_shared(rows.len()) {
                return self.own.batch_gradient(theta, rows, gradient, out, index).await;
            }
            let weight = |share: &Range<usize>| own_count(rows, share) as f64 / rows.len() as f64;
            let weights: Vec<f64> = self.shares.iter().map(weight).collect();
            let mut means = self.own.vectors().zeros(2, 1)?;
            let parts = [bytes(theta)?, bytemuck::cast_slice(rows)];
            let ((), replies) = self.together(Command::BatchGradient, &parts, async {
                if weights[0] > 0.0 {
                    let rows = own_rows(rows, &self.shares[0])?;
                    return self.own.batch_gradient(theta, &rows, gradient, &mut means, 0).await;
                }
                *gradient = self.own.vectors().zeros(gradient.len(), 1)?;
                Ok(())
            })?;
            self.weigh(&weights, &replies, gradient)?;
            let means = self.weigh_numbers(&weights, now(self.own.vectors().download(&means))?, &replies, 1)?;
            write(out, 2 * index, &means)
        })
    }
}
