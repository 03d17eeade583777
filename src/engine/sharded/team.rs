//! Helpers on threads without common memory: in a page, workers with a WebAssembly instance each. The caller sends them commands, and
//! what they find comes back to it as bytes.

use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::channel::{Channel, Taken};
use super::message::{Command, Load, Reply};
use super::numbers::{bytes, from_bytes};
use super::pass::Pass;
use super::shares::Shares;
use super::{Crew, Sharded};
use crate::control::LocalFuture;
use crate::engine::cpu::{MEMORY_BUDGET, cpu_executor_of_first, cpu_info_of};
use crate::engine::executor::{Executor, Precision};
use crate::engine::plan::{Plan, Step};
use crate::engine::vector::{Vector, Vectors};
use crate::error::{Result, ensure};
use crate::event_loop::now;
use crate::memory::make_room;
use crate::problem::{Problem, Targets, Values};

/// Shares are whole multiples of this but for the last: as many samples as the widest block in a browser has lanes.
const UNIT: usize = 8;

/// The helpers that one device's engines share their work with, and the way to them.
pub trait Team {
    /// How many there are.
    fn helpers(&self) -> usize;

    /// Hands one message, which is these pieces one behind the other, to the helpers of this range. Each passes it to
    /// [`super::Helper::answer`]; the answer must be taken by [`Team::receive`] before the next message to that helper.
    ///
    /// # Errors
    /// `DeviceLost` if any of the team's helpers is gone: from then on always.
    fn send(&self, to: Range<usize>, message: &[&[u8]]) -> Result<()>;

    /// Waits for a helper's answer.
    ///
    /// # Errors
    /// `DeviceLost` if the helper is gone.
    fn receive(&self, from: usize) -> Result<Vec<u8>>;

    /// Waits for some milliseconds at most: will [`Team::receive`] have the helper's answer, or its error, without waiting? A team that never
    /// says no has the caller wait there, and its event loop too.
    fn is_answered(&self, _from: usize) -> bool {
        true
    }

    /// Nobody needs the answers to the messages that have been sent. Helpers that hear it answer at once, with an error.
    fn stop(&self) {}

    /// Is work of this many multiplications (in a forward pass over its samples) worth sending a vector of parameters to
    /// the helpers and back?
    fn is_worthwhile(&self, multiplications: f64, parameters: usize) -> bool;
}

/// Multiplications of a forward pass of one sample.
fn sample_work(plan: &Plan) -> f64 {
    plan.steps.iter().map(Step::multiplications).sum()
}

/// Is a pass over this problem worth sharing out?
pub(in crate::engine) fn is_worthwhile(team: &dyn Team, problem: &Problem) -> bool {
    let plan = Plan::new(problem.network());
    team.is_worthwhile(sample_work(&plan) * problem.samples() as f64, plan.parameter_count)
}

/// A CPU executor over the first share of a problem, and helpers over the others. Together they may keep `memory_budget` bytes between
/// passes.
pub(in crate::engine) fn team_executor(
    channel: Rc<Channel>,
    problem: &Problem,
    precision: Precision,
    memory_budget: Option<u64>,
) -> Result<Box<dyn Executor>> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let plan = Plan::new(problem.network());
    let shares = Shares::split(problem.samples(), channel.team().helpers() + 1, UNIT);
    let budget = memory_budget.unwrap_or(MEMORY_BUDGET) as f64;
    let budgets: Vec<u64> = shares.weights().iter().map(|weight| (budget * weight) as u64).collect();
    let own = cpu_executor_of_first(problem, shares.range(0).len(), precision, Some(budgets[0]))?;
    let info = cpu_info_of(precision, shares.count());
    let loaded = Loaded {
        channel,
        precision,
        problem: NEXT.fetch_add(1, Ordering::Relaxed),
        helpers: shares.count() - 1,
        sample_work: sample_work(&plan),
        parameters: plan.parameter_count,
    };
    loaded.load(problem, &shares, &budgets)?;
    Ok(Box::new(Sharded::new(loaded, info, own, shares, 0, problem.network().output_len())))
}

/// A problem whose shares helpers have.
struct Loaded {
    channel: Rc<Channel>,
    precision: Precision,
    /// Its number, for the helpers.
    problem: u32,
    helpers: usize,
    sample_work: f64,
    parameters: usize,
}

impl Loaded {
    /// Every helper's share goes to it; they take them in at the same time.
    fn load(&self, problem: &Problem, shares: &Shares, budgets: &[u64]) -> Result<()> {
        let network = serde_json::to_string(problem.network())?;
        let (width, outputs) = (problem.network().input_len(), problem.network().output_len());
        let mut taken = self.channel.take_now(self.problem)?;
        for (helper, (share, &memory_budget)) in shares.iter().zip(budgets).skip(1).enumerate() {
            let (inputs, values): (_, &[u8]) = match problem.shared_inputs() {
                Values::F32(v) => (Precision::F32, bytemuck::cast_slice(&v[share.start * width..share.end * width])),
                Values::F64(v) => (Precision::F64, bytemuck::cast_slice(&v[share.start * width..share.end * width])),
            };
            let targets: &[u8] = match problem.shared_targets() {
                Targets::Classes(v) => bytemuck::cast_slice(&v[share.clone()]),
                Targets::Vectors(v) => bytemuck::cast_slice(&v[share.start * outputs..share.end * outputs]),
            };
            let (network, loss, precision) = (network.clone(), problem.loss(), self.precision);
            let load = Load { network, loss, precision, inputs, memory_budget, first: share.start };
            taken.send(helper..helper + 1, Command::Load(load), &[values, targets])?;
        }
        now(taken.replies()).map(|_| ())
    }

    /// Tells the helpers of a pass. Boxed, as the replies are: what comes before and after the own share is compiled once for all passes.
    fn begin<'a>(&'a self, pass: Pass<'a>) -> LocalFuture<'a, Result<Taken<'a>>> {
        Box::pin(async move {
            let (command, parts) = pass.message(bytes)?;
            let mut taken = self.channel.take(self.problem).await?;
            taken.send(0..self.helpers, command, &parts)?;
            Ok(taken)
        })
    }
}

impl Crew for Loaded {
    type Found = Vec<Reply>;

    async fn together<R>(&self, pass: Pass<'_>, own: impl Future<Output = Result<R>>) -> Result<(R, Vec<Reply>)> {
        let mut taken = self.begin(pass).await?;
        let own = own.await;
        if own.is_err() {
            taken.stop();
        }
        let replies = taken.replies().await;
        Ok((own?, replies?))
    }

    fn weigh(&self, vectors: &dyn Vectors, weights: &[f64], found: &Vec<Reply>, out: &mut Vector) -> Result<()> {
        vectors.scale(weights[0], out)?;
        for (&weight, reply) in weights[1..].iter().zip(found) {
            // A helper without samples in a batch has nothing to say.
            if weight > 0.0 {
                let theirs = from_bytes(self.precision, reply.part(0)?, out.columns())?;
                ensure!(theirs.len() == out.len(), Parse, "a thread sent {} numbers too few or many", theirs.len());
                vectors.axpy(weight, &theirs, out)?;
            }
        }
        Ok(())
    }

    fn weigh_numbers(&self, weights: &[f64], own: Vec<f64>, found: &Vec<Reply>, list: usize) -> Result<Vec<f64>> {
        let mut sums = own;
        sums.iter_mut().for_each(|own| *own *= weights[0]);
        for (&weight, reply) in weights[1..].iter().zip(found) {
            if weight > 0.0 {
                let theirs = reply.numbers(list)?;
                ensure!(theirs.len() == sums.len(), Parse, "a thread sent {} numbers too few or many", theirs.len());
                sums.iter_mut().zip(theirs).for_each(|(sum, theirs)| *sum += weight * theirs);
            }
        }
        Ok(sums)
    }

    fn join(&self, own: Vec<f64>, found: &Vec<Reply>) -> Result<Vec<f64>> {
        let mut all = own;
        for reply in found {
            let theirs = reply.numbers(0)?;
            make_room("outputs", &mut all, theirs.len())?;
            all.extend(theirs);
        }
        Ok(all)
    }

    fn is_batch_shared(&self, rows: usize) -> bool {
        self.channel.team().is_worthwhile(self.sample_work * rows as f64, self.parameters)
    }

    fn threads(&self, _own: &dyn Executor, samples: usize) -> usize {
        if self.is_batch_shared(samples) { self.helpers + 1 } else { 1 }
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        self.channel.unload(self.problem, self.helpers);
    }
}
