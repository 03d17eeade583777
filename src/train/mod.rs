//! Mini-batch training in any parameter space, on either executor: SGD, momentum, Adam, AdamW, with schedules. Coordinates,
//! parameters and optimiser state stay on the device.

mod checkpoint;
mod optimizer;
mod schedule;
mod snapshots;
mod trainer;

pub use checkpoint::Checkpoint;
pub use optimizer::Optimizer;
pub use schedule::{Decay, Schedule};
use serde::{Deserialize, Serialize};
pub use snapshots::{MOST_SNAPSHOT_BYTES, MOST_SNAPSHOTS, Snapshot, Snapshots};

use self::trainer::Trainer;
use crate::control::Control;
use crate::engine::Engine;
use crate::error::{ErrorCode, Result, bail, ensure};
use crate::problem::{Loss, Problem};
use crate::space::{ParameterSpace, ScalingWarning, Weights};

/// When a run is good enough. It is asked of all training samples after every epoch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A mean loss of at most this.
    Loss(f64),
    /// A share of samples with the right class of at least this; 1 is all of them.
    Accuracy(f64),
}

/// How to train.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainOptions {
    /// The rule of a step.
    pub optimizer: Optimizer,
    /// λ: with AdamW decoupled, otherwise λ v is added to the gradient, as PyTorch has it. Of the coordinates, so fixed weights never
    /// feel it.
    pub weight_decay: f64,
    /// How the learning rate changes.
    pub schedule: Schedule,
    /// Samples a step; more than there are means all.
    pub batch_size: usize,
    /// Passes over the data, at most.
    pub epochs: usize,
    /// Ends the run before.
    pub target: Option<Target>,
    /// Of the order of samples. The same seed gives the same run.
    pub seed: u64,
    /// Which parameters on its way to keep. They change nothing in the run.
    pub snapshots: Option<Snapshots>,
}

impl Default for TrainOptions {
    fn default() -> Self {
        Self {
            optimizer: Optimizer::adam(1e-3),
            weight_decay: 0.0,
            schedule: Schedule::default(),
            batch_size: 64,
            epochs: 10,
            target: None,
            seed: 0,
            snapshots: None,
        }
    }
}

impl TrainOptions {
    fn steps_per_epoch(&self, samples: usize) -> usize {
        samples.div_ceil(self.batch_size)
    }

    /// Refuses what cannot be, or what would never come about on this problem with this validation.
    fn check(&self, problem: &Problem, validation: Option<&Problem>) -> Result<()> {
        let loss = problem.loss();
        if let Some(other) = validation.map(Problem::loss).filter(|&other| other != loss) {
            bail!(
                InvalidOption,
                "the validation problem's loss is {}, but that of the training is {}: make both with the same loss",
                other.name(),
                loss.name()
            );
        }
        self.optimizer.check()?;
        self.schedule.check()?;
        ensure!(self.batch_size > 0, InvalidOption, "the batch size is 0, but must be at least 1");
        ensure!(
            self.weight_decay.is_finite() && self.weight_decay >= 0.0,
            InvalidOption,
            "the weight decay is {}, but must be finite and not negative",
            self.weight_decay
        );
        match self.target {
            Some(Target::Loss(loss)) => ensure!(!loss.is_nan(), InvalidOption, "the target loss is {loss}"),
            Some(Target::Accuracy(_)) if loss == Loss::SquaredError => {
                bail!(InvalidOption, "squared_error has no accuracy that could be a target: take a target loss")
            }
            Some(Target::Accuracy(accuracy)) => ensure!(
                (0.0..=1.0).contains(&accuracy),
                InvalidOption,
                "the target accuracy is {accuracy}, but must be a share between 0 and 1"
            ),
            None => {}
        }
        Ok(())
    }
}

/// An epoch's outcome.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Epoch {
    /// Its number, from 1.
    pub epoch: usize,
    /// Mean loss over its steps, each at the parameters of its moment.
    pub loss: f64,
    /// Mean accuracy likewise.
    pub accuracy: f64,
    /// Loss on the validation problem, after the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_loss: Option<f64>,
    /// Accuracy on the validation problem, after the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_accuracy: Option<f64>,
}

/// What training came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Training {
    /// θ at the end, or where it was stopped. Fixed weights are what they were, bit for bit, on every device.
    pub parameters: Vec<f64>,
    /// v there.
    pub coordinates: Vec<f64>,
    /// Whole epochs done.
    pub epochs: usize,
    /// Steps done.
    pub steps: usize,
    /// Did the caller have it finish before its end?
    pub stopped: bool,
    /// Was the target reached?
    pub reached_target: bool,
    /// Whole epochs' outcomes.
    pub history: Vec<Epoch>,
    /// Where factors between v and θ have become numerically dangerous.
    pub warning: Option<ScalingWarning>,
    /// To go on from here, see [`resume`].
    pub checkpoint: Checkpoint,
    /// What was asked for of [`TrainOptions::snapshots`], in the order of steps. Of a run that goes on from a checkpoint: those from
    /// there on.
    pub snapshots: Vec<Snapshot>,
}

/// Trains from these parameters on the engine's problem. A wish to finish ([`Control::finish_when`]) hands over what was
/// reached. `validation` must be on the same device.
///
/// # Errors
/// `InvalidOption` for a rate, decay or count out of range; `TooLarge` for more snapshots than are kept; `NotFinite` when the loss diverges, in the last step too;
/// `Aborted`; the device's.
pub async fn train(
    engine: &Engine,
    parameters: &[f64],
    validation: Option<&Engine>,
    options: &TrainOptions,
    control: &Control<'_>,
) -> Result<Training> {
    train_in(engine, &Weights::new(engine.problem().network()), parameters, validation, options, control).await
}

/// As [`train`], in the coordinates of a space: ∇_v L = J(v)ᵀ ∇_θ L moves v, and θ follows.
///
/// # Errors
/// As [`train`]; what [`ParameterSpace::to_coordinates`] says.
pub async fn train_in(
    engine: &Engine,
    space: &dyn ParameterSpace,
    parameters: &[f64],
    validation: Option<&Engine>,
    options: &TrainOptions,
    control: &Control<'_>,
) -> Result<Training> {
    Trainer::begin(engine, space, parameters, validation, options)?.run(validation, control).await
}

/// Goes on from a checkpoint, in the same space with the same seed and batch size, to the same bits that the run would have come to
/// without a stop on the same device.
///
/// # Errors
/// As [`train`]; `InvalidOption` for a checkpoint of another space, seed, batch size or number of samples.
pub async fn resume(
    engine: &Engine,
    space: &dyn ParameterSpace,
    checkpoint: &Checkpoint,
    validation: Option<&Engine>,
    options: &TrainOptions,
    control: &Control<'_>,
) -> Result<Training> {
    Trainer::resume(engine, space, checkpoint, validation, options)?.run(validation, control).await
}

/// One of several runs side by side.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// Where it trains.
    pub space: &'a dyn ParameterSpace,
    /// θ at the beginning.
    pub parameters: &'a [f64],
    /// How.
    pub options: TrainOptions,
}

/// Several runs on one engine, an epoch of each in turn, so that all are at the same epoch whenever one looks; progress has the number
/// of the `run`. Each comes to the same bits as alone. One that diverges ends in its own error and leaves the others going.
///
/// # Errors
/// As [`train_in`], for what is wrong with a run at its beginning; `Aborted`.
pub async fn train_side_by_side(
    engine: &Engine,
    runs: &[Run<'_>],
    validation: Option<&Engine>,
    control: &Control<'_>,
) -> Result<Vec<Result<Training>>> {
    let mut trainers = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let trainer = Trainer::begin(engine, run.space, run.parameters, validation, &run.options)?;
        trainers.push((trainer.numbered(number), None));
    }
    loop {
        let mut all_done = true;
        for (trainer, fault) in &mut trainers {
            if fault.is_none() && !trainer.is_done() {
                *fault = trainer.next_epoch(validation, control).await.err();
                if let Some(stop) = fault.take_if(|fault| fault.code == ErrorCode::Aborted) {
                    return Err(stop);
                }
                all_done &= fault.is_some() || trainer.is_done();
            }
        }
        if all_done {
            break;
        }
    }
    let mut trainings = Vec::new();
    for (trainer, fault) in trainers {
        trainings.push(match fault {
            Some(fault) => Err(fault),
            None => trainer.finish().await,
        });
    }
    Ok(trainings)
}
