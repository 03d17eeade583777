//! The rule of a step, on the coordinates of any space, in PyTorch's conventions. State stays on the device.

use serde::{Deserialize, Serialize};

use crate::engine::{AdamStep, Vector, Vectors};
use crate::error::{Result, ensure, ensure_positive};

/// The rule of a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Optimizer {
    /// m ← μ m + ∇L, θ ← θ − η m; plain SGD for μ = 0.
    Sgd {
        /// η.
        learning_rate: f64,
        /// μ.
        momentum: f64,
    },
    /// Adam with bias correction (Kingma and Ba 2015). Weight decay is added to the gradient.
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
    /// Adam with decoupled weight decay (Loshchilov and Hutter 2019): θ ← (1 − η λ) θ before the step.
    AdamW {
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
    pub const fn adam(learning_rate: f64) -> Self {
        Self::Adam { learning_rate, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }
    }

    /// AdamW with Adam's constants.
    pub fn adam_w(learning_rate: f64) -> Self {
        Self::AdamW { learning_rate, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }
    }

    /// SGD without momentum.
    pub fn sgd(learning_rate: f64) -> Self {
        Self::Sgd { learning_rate, momentum: 0.0 }
    }

    /// η, before a schedule.
    pub fn learning_rate(self) -> f64 {
        match self {
            Self::Sgd { learning_rate, .. } | Self::Adam { learning_rate, .. } | Self::AdamW { learning_rate, .. } => {
                learning_rate
            }
        }
    }

    pub(super) fn check(self) -> Result<()> {
        let decay = |name: &str, value: f64| {
            ensure!((0.0..1.0).contains(&value), InvalidOption, "{name} is {value}, but must be in [0, 1)");
            Ok(())
        };
        ensure_positive("the learning rate", self.learning_rate())?;
        match self {
            Self::Sgd { momentum, .. } => decay("momentum", momentum),
            Self::Adam { beta1, beta2, epsilon, .. } | Self::AdamW { beta1, beta2, epsilon, .. } => {
                decay("beta1", beta1)?;
                decay("beta2", beta2)?;
                ensure_positive("epsilon", epsilon)
            }
        }
    }

    fn has_mean(self) -> bool {
        self != Self::Sgd { learning_rate: self.learning_rate(), momentum: 0.0 }
    }

    fn has_square(self) -> bool {
        matches!(self, Self::Adam { .. } | Self::AdamW { .. })
    }
}

/// What an optimiser keeps from step to step: momentum or the mean gradient, and the mean squared gradient.
pub(super) struct State {
    pub mean: Option<Vector>,
    pub square: Option<Vector>,
    /// Steps done.
    pub steps: usize,
}

impl State {
    /// Of an optimiser that has made no step.
    pub fn new(vectors: &dyn Vectors, optimizer: Optimizer, dimension: usize) -> Result<Self> {
        let zeros = |wanted: bool| if wanted { vectors.zeros(dimension, 1).map(Some) } else { Ok(None) };
        Ok(Self { mean: zeros(optimizer.has_mean())?, square: zeros(optimizer.has_square())?, steps: 0 })
    }

    /// One step at this learning rate. The gradient is overwritten where weight decay is added to it.
    pub fn step(
        &mut self,
        e: &dyn Vectors,
        optimizer: Optimizer,
        learning_rate: f64,
        weight_decay: f64,
        gradient: &mut Vector,
        v: &mut Vector,
    ) -> Result<()> {
        self.steps += 1;
        if weight_decay > 0.0 {
            match optimizer {
                Optimizer::AdamW { .. } => e.scale(1.0 - learning_rate * weight_decay, v)?,
                Optimizer::Sgd { .. } | Optimizer::Adam { .. } => e.axpy(weight_decay, v, gradient)?,
            }
        }
        match (optimizer, &mut self.mean, &mut self.square) {
            (Optimizer::Sgd { momentum, .. }, Some(mean), _) => {
                e.scale(momentum, mean)?;
                e.axpy(1.0, gradient, mean)?;
                e.axpy(-learning_rate, mean, v)
            }
            (
                Optimizer::Adam { beta1, beta2, epsilon, .. } | Optimizer::AdamW { beta1, beta2, epsilon, .. },
                Some(mean),
                Some(square),
            ) => {
                let step = AdamStep { learning_rate, beta1, beta2, epsilon, step: self.steps as i32 };
                e.adam(&step, gradient, mean, square, v)
            }
            // SGD without momentum; every other has its state from `State::new`.
            _ => e.axpy(-learning_rate, gradient, v),
        }
    }
}
