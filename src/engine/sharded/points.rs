//! Landscapes of few samples: the points are shared out to the ranks, and each rank has all samples for them.
//!
//! A point of a plane is parameters that are made and laid out anew, whatever the number of samples, and a CPU takes samples in blocks. With
//! few samples a rank, most of its time is what all ranks do alike; with points of its own it does that for its own points alone.

use std::cell::OnceCell;
use std::ops::Range;

use super::shares::Shares;
use crate::engine::executor::Executor;
use crate::engine::plan::{Plan, Step};
use crate::error::Result;
use crate::memory::room;
use crate::problem::{Problem, Targets, Values};
use crate::ranks::{Meeting, Ranks};

/// What it takes to make a parameter of a point and to lay it out, in multiplications of a forward pass. Measured of dense layers.
const PARAMETER: f64 = 40.0;

/// Samples that are computed together.
const BLOCK: usize = 8;

/// How much shorter it has to be.
const GAIN: f64 = 1.25;

/// Bytes of all samples' data that each rank may have besides its share.
const MOST: u64 = 64 << 20;

/// Is a plane computed sooner by points than by samples? The same on all ranks, and by the problem alone, so that the same number of ranks
/// gives the same bits.
fn is_sooner(problem: &Problem, ranks: usize) -> bool {
    let (plan, samples) = (Plan::new(problem.network()), problem.samples());
    let each: f64 = plan.steps.iter().map(Step::multiplications).sum();
    let point =
        |samples: usize| PARAMETER * plan.parameter_count as f64 + each * samples.next_multiple_of(BLOCK) as f64;
    let by_samples = ranks as f64 * point(samples.div_ceil(ranks));
    by_samples >= GAIN * point(samples) && problem.sample_bytes().saturating_mul(samples as u64) <= MOST
}

/// Makes an executor of a problem.
type Make = Box<dyn Fn(&Problem) -> Result<Box<dyn Executor>>>;

/// An executor over all samples, made when it is first asked for.
pub struct Whole {
    share: Problem,
    make: Make,
    executor: OnceCell<Box<dyn Executor>>,
}

impl Whole {
    /// One over all samples of which this is a share, where points are computed sooner by it.
    pub fn of(
        share: &Problem,
        ranks: usize,
        make: impl Fn(&Problem) -> Result<Box<dyn Executor>> + 'static,
    ) -> Option<Self> {
        let new = || Self { share: share.clone(), make: Box::new(make), executor: OnceCell::new() };
        is_sooner(share, ranks).then(new)
    }

    /// The executor, for which the ranks tell each other their samples.
    ///
    /// # Errors
    /// Any rank's.
    pub fn executor(&self, ranks: &Ranks, shares: &Shares) -> Result<&dyn Executor> {
        if let Some(executor) = self.executor.get() {
            return Ok(&**executor);
        }
        let whole = joined(&self.share, ranks, shares)?;
        let executor = ranks.agree(Meeting::new("load whole", &[]), (self.make)(&whole))?;
        Ok(&**self.executor.get_or_init(|| executor))
    }
}

/// All samples of a problem.
fn joined(share: &Problem, ranks: &Ranks, shares: &Shares) -> Result<Problem> {
    let width = share.network().input_len();
    let inputs = match share.inputs() {
        Values::F32(v) => Values::F32(all(ranks, shares, v, width)?),
        Values::F64(v) => Values::F64(all(ranks, shares, v, width)?),
    };
    let targets = match share.targets() {
        Targets::Classes(v) => Targets::Classes(all(ranks, shares, v, 1)?),
        Targets::Vectors(v) => Targets::Vectors(all(ranks, shares, v, share.network().output_len())?),
    };
    let whole = Problem::new(share.network().clone(), share.loss(), inputs, targets);
    ranks.agree(Meeting::new("whole", &[]), whole)
}

/// What all ranks have of something, of which each has `width` numbers for everything in its range.
///
/// # Errors
/// `TooLarge`; `DeviceLost` where a rank is gone.
pub fn all<T: bytemuck::Pod + Default>(ranks: &Ranks, ranges: &Shares, own: &[T], width: usize) -> Result<Vec<T>> {
    let numbers = |range: &Range<usize>| width * range.len();
    let most = ranges.iter().map(numbers).max().unwrap_or(0);
    let padded = ranks.gather(own, most)?;
    let mut all = room("numbers of all ranks, one behind the other", ranges.iter().map(numbers).sum())?;
    for (range, padded) in ranges.iter().zip(padded.chunks(most.max(1))) {
        all.extend_from_slice(&padded[..numbers(range)]);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::is_sooner;
    use crate::{Loss, Network, Problem, Targets};

    fn problem(network: Network, samples: usize) -> Problem {
        let inputs = vec![0f32; samples * network.input_len()];
        Problem::new(network, Loss::CrossEntropy, inputs, Targets::Classes(vec![0; samples])).expect("a problem")
    }

    #[test]
    fn points_are_shared_out_where_a_rank_has_few_samples() {
        let sooner = |samples: usize, ranks: usize| {
            let network = Network::dense(&[784, 100, 10], true).expect("a network");
            is_sooner(&problem(network, samples), ranks)
        };
        assert!(!sooner(16, 1), "one has nobody to share with");
        assert!(sooner(16, 2) && sooner(64, 8) && sooner(500, 64));
        assert!(!sooner(1000, 2) && !sooner(30_000, 64));
        // All that each rank would have besides.
        assert!(!sooner(30_000, 2000));
    }
}
