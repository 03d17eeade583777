//! Mini-batch training on either executor: SGD, momentum, Adam. Parameters and optimiser state stay on the device.

use rand::seq::SliceRandom;
use serde::Serialize;

use crate::control::{Control, Progress};
use crate::engine::{AdamStep, Engine, Evaluation, Executor, Vector};
use crate::error::{ErrorCode, Result, bail, ensure};
use crate::linalg::generator;

/// Steps between two readbacks of the loss.
const REPORT_EVERY: usize = 8;

/// The rule of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Optimizer {
    /// m ← μ m + ∇L, θ ← θ − η m; plain SGD for μ = 0.
    Sgd {
        /// η.
        learning_rate: f64,
        /// μ.
        momentum: f64,
    },
    /// Adam with bias correction (Kingma and Ba 2015).
    Adam {
        /// η.
        learning_rate: f64,
        /// Decay of the mean gradient.
        beta1: f64,
        /// Decay of the mean squared gradient.
        beta2: f64,
        /// Added to the root.
        epsilon: f64,
    },
}

impl Optimizer {
    /// Adam with the paper's constants.
    pub fn adam(learning_rate: f64) -> Self {
        Self::Adam { learning_rate, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }
    }

    /// SGD without momentum.
    pub fn sgd(learning_rate: f64) -> Self {
        Self::Sgd { learning_rate, momentum: 0.0 }
    }

    fn check(self) -> Result<()> {
        let decay = |name: &str, value: f64| {
            ensure!((0.0..1.0).contains(&value), InvalidOption, "{name} is {value}, but must be in [0, 1)");
            Ok(())
        };
        let (Self::Sgd { learning_rate, .. } | Self::Adam { learning_rate, .. }) = self;
        ensure!(
            learning_rate.is_finite() && learning_rate > 0.0,
            InvalidOption,
            "the learning rate is {learning_rate}, but must be positive"
        );
        match self {
            Self::Sgd { momentum, .. } => decay("momentum", momentum),
            Self::Adam { beta1, beta2, epsilon, .. } => {
                decay("beta1", beta1)?;
                decay("beta2", beta2)?;
                ensure!(
                    epsilon.is_finite() && epsilon > 0.0,
                    InvalidOption,
                    "epsilon is {epsilon}, but must be positive"
                );
                Ok(())
            }
        }
    }
}

/// How to train.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainOptions {
    /// The rule of a step.
    pub optimizer: Optimizer,
    /// Samples a step; more than there are means all.
    pub batch_size: usize,
    /// Passes over the data.
    pub epochs: usize,
    /// Of the order of samples. The same seed gives the same run.
    pub seed: u64,
}

impl Default for TrainOptions {
    fn default() -> Self {
        Self { optimizer: Optimizer::adam(1e-3), batch_size: 64, epochs: 10, seed: 0 }
    }
}

impl TrainOptions {
    fn steps_per_epoch(&self, samples: usize) -> usize {
        samples.div_ceil(self.batch_size)
    }
}

/// An epoch's outcome.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Epoch {
    /// Its number, from 1.
    pub epoch: usize,
    /// Mean loss over its steps, each at the parameters of its moment.
    pub loss: f64,
    /// Mean accuracy likewise.
    pub accuracy: f64,
    /// Loss on the validation problem, after the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation_loss: Option<f64>,
    /// Accuracy on the validation problem, after the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation_accuracy: Option<f64>,
}

/// What training came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Training {
    /// θ at the end, or where it was stopped.
    pub parameters: Vec<f64>,
    /// Whole epochs done.
    pub epochs: usize,
    /// Steps done.
    pub steps: usize,
    /// Did the caller stop it?
    pub stopped: bool,
    /// Whole epochs' outcomes.
    pub history: Vec<Epoch>,
}

/// Trains from these parameters on the engine's problem. A stop hands over what was reached. `validation` must be on
/// the same device.
///
/// # Errors
/// `InvalidOption` for a rate, decay or count out of range; `NotFinite` when the loss diverges; the device's.
pub async fn train(
    engine: &Engine,
    parameters: &[f64],
    validation: Option<&Engine>,
    options: &TrainOptions,
    control: &Control<'_>,
) -> Result<Training> {
    options.optimizer.check()?;
    ensure!(options.batch_size > 0, InvalidOption, "the batch size is 0");
    engine.problem().check_parameters(parameters)?;
    if let Some(validation) = validation {
        validation.problem().check_parameters(parameters)?;
    }
    let mut trainer = Trainer::new(engine, parameters, options)?;
    let mut history = Vec::new();
    let mut stopped = false;
    while history.len() < options.epochs {
        match trainer.epoch(history.len() + 1, validation, control).await {
            Ok(epoch) => history.push(epoch),
            Err(error) if error.code == ErrorCode::Aborted => {
                stopped = true;
                break;
            }
            Err(error) => return Err(error),
        }
    }
    let parameters = engine.executor().download(&trainer.theta).await?;
    crate::error::ensure_finite("trained parameters", &parameters)?;
    Ok(Training { parameters, epochs: history.len(), steps: trainer.steps, stopped, history })
}

struct Trainer<'a> {
    executor: &'a dyn Executor,
    options: &'a TrainOptions,
    samples: usize,
    order: Vec<u32>,
    rng: rand_chacha::ChaCha8Rng,
    theta: Vector,
    gradient: Vector,
    mean: Vector,
    square: Option<Vector>,
    /// Loss and accuracy of the steps since the last readback.
    outcomes: Vector,
    steps: usize,
}

impl<'a> Trainer<'a> {
    fn new(engine: &'a Engine, parameters: &[f64], options: &'a TrainOptions) -> Result<Self> {
        let executor = engine.executor();
        let n = parameters.len();
        let is_adam = matches!(options.optimizer, Optimizer::Adam { .. });
        Ok(Self {
            executor,
            options,
            samples: engine.problem().samples(),
            order: (0..engine.problem().samples() as u32).collect(),
            rng: generator(options.seed),
            theta: executor.upload(parameters, 1)?,
            gradient: executor.zeros(n, 1)?,
            mean: executor.zeros(n, 1)?,
            square: if is_adam { Some(executor.zeros(n, 1)?) } else { None },
            outcomes: executor.zeros(2 * REPORT_EVERY, 1)?,
            steps: 0,
        })
    }

    async fn epoch(&mut self, number: usize, validation: Option<&Engine>, control: &Control<'_>) -> Result<Epoch> {
        self.order.shuffle(&mut self.rng);
        let order = std::mem::take(&mut self.order);
        let found = self.batches(&order, number, control).await;
        self.order = order;
        let (loss, accuracy) = found?;
        let mut epoch = Epoch { epoch: number, loss, accuracy, validation_loss: None, validation_accuracy: None };
        let mut progress = self.progress(number);
        progress = progress.with("loss", loss).with("accuracy", accuracy);
        if let Some(validation) = validation {
            let found = self.validate(validation).await?;
            epoch.validation_loss = Some(found.loss);
            epoch.validation_accuracy = Some(found.accuracy);
            progress = progress.with("validationLoss", found.loss).with("validationAccuracy", found.accuracy);
        }
        match control.step(progress).await {
            // The last epoch is whole: a stop after it stops nothing.
            Err(_) if number == self.options.epochs => Ok(epoch),
            other => other.map(|()| epoch),
        }
    }

    async fn validate(&self, validation: &Engine) -> Result<Evaluation> {
        let executor = validation.executor();
        let mut out = executor.zeros(2, 1)?;
        executor.evaluate(&self.theta, &mut out, 0)?;
        let out = executor.download(&out).await?;
        Ok(Evaluation { loss: out[0], accuracy: out[1] })
    }

    /// All steps of an epoch; the mean loss and accuracy over its samples.
    async fn batches(&mut self, order: &[u32], number: usize, control: &Control<'_>) -> Result<(f64, f64)> {
        let (mut loss_sum, mut accuracy_sum) = (0.0, 0.0);
        let steps = self.options.steps_per_epoch(order.len());
        let mut pending: Vec<usize> = Vec::new();
        for (step, rows) in order.chunks(self.options.batch_size).enumerate() {
            self.step(rows, pending.len())?;
            pending.push(rows.len());
            if pending.len() < REPORT_EVERY && step + 1 < steps {
                control.breathe().await?;
                continue;
            }
            let outcomes = self.executor.download(&self.outcomes).await?;
            let (mut loss, mut accuracy) = (0.0, 0.0);
            for (outcome, &rows) in outcomes.chunks_exact(2).zip(&pending) {
                loss += outcome[0] * rows as f64;
                accuracy += outcome[1] * rows as f64;
            }
            if !loss.is_finite() {
                bail!(NotFinite, "training diverged in epoch {number}, step {}: try a smaller learning rate", step + 1);
            }
            (loss_sum, accuracy_sum) = (loss_sum + loss, accuracy_sum + accuracy);
            let samples = pending.drain(..).sum::<usize>() as f64;
            if step + 1 < steps {
                let progress = self.progress(number);
                control.step(progress.with("loss", loss / samples).with("accuracy", accuracy / samples)).await?;
            }
        }
        Ok((loss_sum / order.len() as f64, accuracy_sum / order.len() as f64))
    }

    fn progress(&self, epoch: usize) -> Progress {
        let total = self.options.epochs * self.options.steps_per_epoch(self.samples);
        Progress::new("training", self.steps, total).with("epoch", epoch as f64)
    }

    /// One step on these samples; its outcome goes to slot `slot`.
    fn step(&mut self, rows: &[u32], slot: usize) -> Result<()> {
        let e = self.executor;
        e.batch_gradient(&self.theta, rows, &mut self.gradient, &mut self.outcomes, slot)?;
        self.steps += 1;
        match (self.options.optimizer, &mut self.square) {
            (Optimizer::Sgd { learning_rate, momentum: 0.0 }, _) => {
                e.axpy(-learning_rate, &self.gradient, &mut self.theta)
            }
            (Optimizer::Sgd { learning_rate, momentum }, _) => {
                e.scale(momentum, &mut self.mean)?;
                e.axpy(1.0, &self.gradient, &mut self.mean)?;
                e.axpy(-learning_rate, &self.mean, &mut self.theta)
            }
            (Optimizer::Adam { learning_rate, beta1, beta2, epsilon }, Some(square)) => {
                let step = AdamStep { learning_rate, beta1, beta2, epsilon, step: self.steps as i32 };
                e.adam(&step, &self.gradient, &mut self.mean, square, &mut self.theta)
            }
            (Optimizer::Adam { .. }, None) => unreachable!("Trainer::new makes the square for Adam"),
        }
    }
}
