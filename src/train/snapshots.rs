//! Snapshots of a run: parameters at evenly spaced steps, as the way of a training on a landscape is drawn from.

use super::TrainOptions;
use crate::error::{Result, ensure};
use crate::memory::{copied, in_words, make_room};

/// The most snapshots of a run.
pub const MOST_SNAPSHOTS: usize = 1024;

/// The most bytes that they may take together.
pub const MOST_SNAPSHOT_BYTES: usize = 256 << 20;

/// Which steps of a run to keep the parameters of. Where it begins and ends is always among them, and where steps are numbered from
/// the beginning of a run that goes on from a checkpoint, so are its snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Snapshots {
    /// After every so many steps.
    Every(usize),
    /// At most so many, whenever the run ends: the steps between two of them are a power of two, which doubles where they would
    /// become more.
    Count(usize),
}

/// The parameters at one step of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Steps done.
    pub step: usize,
    /// Passes over the data so far, with the part of the one under way.
    pub epoch: f64,
    /// The mean loss, at these parameters, over the samples of the step that follows; at a run's end over as many others.
    pub loss: f64,
    /// θ, in whatever space the run is.
    pub parameters: Vec<f64>,
}

impl Snapshots {
    /// Fails for none at all, and for more than may be kept.
    pub(super) fn check(self, options: &TrainOptions, samples: usize, parameters: usize) -> Result<()> {
        let most = match self {
            Self::Every(steps) => {
                ensure!(steps > 0, InvalidOption, "snapshots every 0 steps are none");
                let whole = options.epochs.saturating_mul(options.steps_per_epoch(samples)) / steps;
                whole.saturating_add(2)
            }
            Self::Count(count) => {
                ensure!(
                    count >= 2,
                    InvalidOption,
                    "a run has 2 snapshots or more, its beginning and its end, not {count}"
                );
                count
            }
        };
        let fit = MOST_SNAPSHOTS.min(MOST_SNAPSHOT_BYTES / (8 * parameters.max(1)));
        ensure!(
            most <= fit,
            TooLarge,
            "this run may have {most} snapshots of {parameters} parameters, but at most {fit} are kept ({MOST_SNAPSHOTS}, and {} \
             together): take fewer, by count or further apart",
            in_words(MOST_SNAPSHOT_BYTES as u64)
        );
        Ok(())
    }

    /// Steps between two of them in a run that has come to this step.
    fn spacing(self, steps: usize) -> usize {
        match self {
            Self::Every(spacing) => spacing,
            Self::Count(count) => {
                let mut spacing = 1;
                // One place is for the end, wherever it is.
                while steps / spacing + 2 > count {
                    spacing *= 2;
                }
                spacing
            }
        }
    }
}

/// The snapshots of a run that is under way.
pub(super) struct Kept {
    which: Snapshots,
    list: Vec<Snapshot>,
}

impl Kept {
    pub fn new(which: Snapshots) -> Self {
        Self { which, list: Vec::new() }
    }

    /// Is this step among them?
    pub fn wants(&self, step: usize) -> bool {
        step.is_multiple_of(self.which.spacing(step)) && !self.has(step)
    }

    /// Is the last one of this step?
    pub fn has(&self, step: usize) -> bool {
        self.list.last().is_some_and(|last| last.step == step)
    }

    /// One more, whose loss is not known yet.
    pub fn push(&mut self, step: usize, epoch: f64, parameters: &[f64]) -> Result<()> {
        let spacing = self.which.spacing(step);
        self.list.retain(|kept| kept.step.is_multiple_of(spacing));
        make_room("a list of snapshots", &mut self.list, 1)?;
        let parameters = copied("a snapshot", parameters)?;
        self.list.push(Snapshot { step, epoch, loss: f64::NAN, parameters });
        Ok(())
    }

    /// The loss that a step has found where it began.
    pub fn found(&mut self, step: usize, loss: f64) {
        if let Some(kept) = self.list.iter_mut().rev().find(|kept| kept.step == step) {
            kept.loss = loss;
        }
    }

    pub fn into_list(self) -> Vec<Snapshot> {
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_kept_to_and_half_of_it_reached() {
        for count in 2..40 {
            let mut kept = Kept::new(Snapshots::Count(count));
            for step in 0..500 {
                if kept.wants(step) {
                    kept.push(step, 0.0, &[]).expect("room");
                }
                let with_end = kept.list.len() + usize::from(!kept.has(step));
                assert!(with_end <= count, "{with_end} of {count} at step {step}");
                assert!(step + 1 < count || 2 * with_end >= count, "{with_end} of {count} at step {step}");
                let steps: Vec<usize> = kept.list.iter().map(|kept| kept.step).collect();
                assert_eq!(steps[0], 0);
                let gaps: Vec<usize> = steps.windows(2).map(|pair| pair[1] - pair[0]).collect();
                assert!(gaps.iter().all(|gap| *gap == gaps[0] && gap.is_power_of_two()), "{steps:?}");
            }
        }
    }
}
