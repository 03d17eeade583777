//! Checkpoints: all that a run needs to go on with the same bits on the same device.

use serde::{Deserialize, Serialize};

use super::{Epoch, TrainOptions};
use crate::error::{Result, ensure, ensure_finite};
use crate::space::ParameterSpace;

/// The state of a run between two steps. As JSON all numbers read back as they were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Checkpoint {
    /// The space's name.
    pub space: String,
    /// [`crate::engine::Chart::fingerprint`], as hexadecimal digits: the space must have the same fixed values.
    pub chart: String,
    /// v, as the device had it.
    pub coordinates: Vec<f64>,
    /// Momentum or the mean gradient, if the optimiser has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<Vec<f64>>,
    /// The mean squared gradient, if the optimiser has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub square: Option<Vec<f64>>,
    /// Steps done.
    pub steps: usize,
    /// Steps done in the epoch under way.
    pub batch: usize,
    /// Σ loss over the samples of that epoch so far.
    pub loss_sum: f64,
    /// Σ accuracy likewise.
    pub accuracy_sum: f64,
    /// Whole epochs' outcomes.
    pub history: Vec<Epoch>,
    /// Of the order of samples.
    pub seed: u64,
    /// Samples a step.
    pub batch_size: usize,
    /// Samples in all.
    pub samples: usize,
}

/// How a checkpoint names a chart.
pub(super) fn chart_name(space: &dyn ParameterSpace) -> String {
    format!("{:016x}", space.chart().fingerprint())
}

impl Checkpoint {
    /// Fails unless a run with these options in this space can go on from here. The learning rate, the schedule and the end of
    /// the run may be others.
    pub(super) fn check(&self, space: &dyn ParameterSpace, options: &TrainOptions, samples: usize) -> Result<()> {
        ensure!(
            self.space == space.name() && self.chart == chart_name(space),
            InvalidOption,
            "the checkpoint is of the space {} (chart {}), but is to go on in {} (chart {}): the fixed weights must be the same",
            self.space,
            self.chart,
            space.name(),
            chart_name(space)
        );
        ensure!(
            (self.seed, self.batch_size, self.samples) == (options.seed, options.batch_size, samples),
            InvalidOption,
            "the checkpoint is of seed {}, batches of {} and {} samples, but is to go on with seed {}, batches of {} and {samples} samples",
            self.seed,
            self.batch_size,
            self.samples,
            options.seed,
            options.batch_size
        );
        let steps = samples.div_ceil(self.batch_size);
        ensure!(
            self.batch < steps && self.steps == self.history.len() * steps + self.batch,
            InvalidOption,
            "the checkpoint has {} steps, which are not {} epochs of {steps} steps and {} more",
            self.steps,
            self.history.len(),
            self.batch
        );
        let dimension = space.dimension();
        for (what, values) in
            [("coordinates", Some(&self.coordinates)), ("mean", self.mean.as_ref()), ("square", self.square.as_ref())]
        {
            let Some(values) = values else { continue };
            ensure!(
                values.len() == dimension,
                InvalidOption,
                "the checkpoint's {what} has {} values, but the space {dimension} coordinates",
                values.len()
            );
            ensure_finite(what, values)?;
        }
        Ok(())
    }
}
