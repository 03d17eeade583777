//! Learning-rate schedules: a factor on the optimiser's rate, by epoch as PyTorch's schedulers are commonly stepped, and a linear
//! warm-up by step.

use serde::{Deserialize, Serialize};

use crate::error::{Result, ensure};

/// How the learning rate changes.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Schedule {
    /// Over so many first steps the rate grows linearly: step t of n has t/n of it. 0 for none.
    #[serde(default)]
    pub warm_up_steps: usize,
    /// How it falls.
    #[serde(default)]
    pub decay: Decay,
}

/// The factor of an epoch, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Decay {
    /// 1.
    #[default]
    #[serde(deserialize_with = "crate::json::nothing")]
    Constant,
    /// `factor` to the power ⌊epoch / every⌋.
    Step {
        /// Epochs between two falls.
        every: usize,
        /// What is left after one.
        factor: f64,
    },
    /// `factor` to the power of the epoch.
    Exponential {
        /// What is left after an epoch.
        factor: f64,
    },
    /// Half a cosine from 1 to `minimum` at epoch `epochs` and `minimum` from then on (Loshchilov and Hutter 2017, without restarts).
    Cosine {
        /// Epochs until the minimum.
        epochs: usize,
        /// The last factor.
        #[serde(default)]
        minimum: f64,
    },
    /// A line from 1 to `minimum` at epoch `epochs` and `minimum` from then on.
    Linear {
        /// Epochs until the minimum.
        epochs: usize,
        /// The last factor.
        #[serde(default)]
        minimum: f64,
    },
}

impl Schedule {
    /// What the optimiser's rate is multiplied with in this epoch, from 0, at this step of the whole run, from 1.
    pub fn factor(&self, epoch: usize, step: usize) -> f64 {
        let warm_up = if step < self.warm_up_steps { step as f64 / self.warm_up_steps as f64 } else { 1.0 };
        let share = |epochs: usize| (epoch as f64 / epochs as f64).min(1.0);
        let decay = match self.decay {
            Decay::Constant => 1.0,
            Decay::Step { every, factor } => factor.powi((epoch / every) as i32),
            Decay::Exponential { factor } => factor.powi(epoch as i32),
            Decay::Cosine { epochs, minimum } => {
                minimum + (1.0 - minimum) * (1.0 + (std::f64::consts::PI * share(epochs)).cos()) / 2.0
            }
            Decay::Linear { epochs, minimum } => 1.0 + (minimum - 1.0) * share(epochs),
        };
        warm_up * decay
    }

    pub(super) fn check(&self) -> Result<()> {
        let factor = match self.decay {
            Decay::Constant => return Ok(()),
            Decay::Step { every: epochs, factor } => {
                ensure!(epochs > 0, InvalidOption, "a schedule's step is of 0 epochs");
                factor
            }
            Decay::Exponential { factor } => factor,
            Decay::Cosine { epochs, minimum } | Decay::Linear { epochs, minimum } => {
                ensure!(epochs > 0, InvalidOption, "a schedule ends after 0 epochs");
                minimum
            }
        };
        ensure!((0.0..=1.0).contains(&factor), InvalidOption, "a schedule's factor is {factor}, but must be in [0, 1]");
        Ok(())
    }
}
