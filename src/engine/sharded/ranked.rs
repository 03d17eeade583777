//! Ranks: everybody who has a share makes the same passes, and gets the same sums.

use std::ops::Range;
use std::rc::Rc;

use super::numbers::bytes;
use super::pass::Pass;
use super::points::{Whole, all};
use super::shares::Shares;
use super::{Crew, Sharded};
use crate::engine::cpu::real::Real;
use crate::engine::executor::{Executor, Precision};
use crate::engine::vector::{Vector, Vectors};
use crate::error::Result;
use crate::event_loop::now;
use crate::memory::collected;
use crate::problem::Problem;
use crate::ranks::{Meeting, Ranks};

/// This rank's share of a problem; a problem that is a share already stays what it is.
///
/// # Errors
/// `InvalidProblem` where there are fewer samples than ranks; `TooLarge`.
pub(in crate::engine) fn share_of(ranks: &Ranks, problem: &Problem) -> Result<Problem> {
    let samples = problem.samples();
    if problem.held().len() < samples {
        return Ok(problem.clone());
    }
    let own = ranks.own_of(samples)?;
    ranks.agree(Meeting::new("share", &[]), problem.share(own))
}

/// An executor over this rank's share of a problem, made by `make`, together with those of the other ranks.
///
/// # Errors
/// Any rank's; `InvalidProblem` where the ranks' shares are not all samples, each once.
pub(in crate::engine) fn ranked_executor(
    ranks: &Rc<Ranks>,
    problem: &Problem,
    make: impl Fn(&Problem) -> Result<Box<dyn Executor>> + 'static,
) -> Result<Box<dyn Executor>> {
    let own = ranks.agree(Meeting::new("load", &[]), make(&problem.own()))?;
    let held = problem.held();
    let all = ranks.gather(&[held.start as u64, held.end as u64], 2)?;
    let ranges = all.chunks_exact(2).map(|range| range[0] as usize..range[1] as usize).collect();
    let shares = Shares::of(ranges, problem.samples())?;
    let info = own.info().clone().of_ranks(ranks.size());
    let (place, outputs) = (ranks.rank(), problem.network().output_len());
    let whole = Whole::of(problem, ranks.size(), make);
    let crew = Joined { ranks: ranks.clone(), shares: shares.clone(), outputs, whole };
    Ok(Box::new(Sharded::new(crew, info, own, shares, place, outputs)))
}

/// The ranks with the shares of a problem that each has.
struct Joined {
    ranks: Rc<Ranks>,
    shares: Shares,
    outputs: usize,
    /// Where the points of planes are shared out, and not samples.
    whole: Option<Whole>,
}

/// What goes into a pass, so far as it is on the host.
fn meeting(pass: Pass<'_>) -> Result<Meeting> {
    let (command, parts) = pass.message(|v| Ok(bytes(v).unwrap_or_default()))?;
    Ok(Meeting::new(&format!("{command:?}"), &parts))
}

impl Crew for Joined {
    type Found = ();

    async fn together<R>(&self, pass: Pass<'_>, own: impl Future<Output = Result<R>>) -> Result<(R, ())> {
        let meeting = meeting(pass)?;
        Ok((self.ranks.agree(meeting, now(own))?, ()))
    }

    fn weigh(&self, vectors: &dyn Vectors, weights: &[f64], _found: &(), out: &mut Vector) -> Result<()> {
        if let Ok(numbers) = f64::slice_mut(out) {
            return self.ranks.sum(weights, numbers);
        }
        if let Ok(numbers) = f32::slice_mut(out) {
            return self.ranks.sum(weights, numbers);
        }
        // It lives on a device, from which it has to come.
        const WHAT: &str = "a vector on its way to other ranks";
        let numbers = now(vectors.download(out));
        let mut numbers = self.ranks.agree(Meeting::new("download", &[]), numbers)?;
        match vectors.precision() {
            Precision::F64 => self.ranks.sum(weights, &mut numbers)?,
            Precision::F32 => {
                let narrow = collected(WHAT, numbers.iter().map(|&number| number as f32));
                let mut narrow = self.ranks.agree(Meeting::new("narrow", &[]), narrow)?;
                self.ranks.sum(weights, &mut narrow)?;
                numbers.iter_mut().zip(narrow).for_each(|(number, narrow)| *number = f64::from(narrow));
            }
        }
        *out = vectors.upload(&numbers, out.columns())?;
        Ok(())
    }

    fn weigh_numbers(&self, weights: &[f64], own: Vec<f64>, _found: &(), _list: usize) -> Result<Vec<f64>> {
        let mut numbers = own;
        self.ranks.sum(weights, &mut numbers)?;
        Ok(numbers)
    }

    fn join(&self, own: Vec<f64>, _found: &()) -> Result<Vec<f64>> {
        all(&self.ranks, &self.shares, &own, self.outputs)
    }

    fn by_points(&self) -> Result<Option<&dyn Executor>> {
        self.whole.as_ref().map(|whole| whole.executor(&self.ranks, &self.shares)).transpose()
    }

    fn own_points(&self, points: usize) -> Range<usize> {
        Shares::of_points(points, self.ranks.size()).range(self.ranks.rank())
    }

    fn join_points(&self, own: Vec<f64>, points: usize) -> Result<Vec<f64>> {
        all(&self.ranks, &Shares::of_points(points, self.ranks.size()), &own, 2)
    }

    /// Nobody has all samples.
    fn is_batch_shared(&self, _rows: usize) -> bool {
        true
    }

    fn threads(&self, own: &dyn Executor, samples: usize) -> usize {
        let ranks = self.shares.iter().filter(|share| share.start < samples).count();
        ranks.max(1) * own.threads(samples.min(self.shares.range(self.ranks.rank()).len()))
    }

    fn total(&self, numbers: &mut [f64]) -> Result<()> {
        self.ranks.agree(Meeting::new("total", &[&numbers.len().to_ne_bytes()]), Ok(()))?;
        self.ranks.sum(&vec![1.0; self.ranks.size()], numbers)
    }
}
