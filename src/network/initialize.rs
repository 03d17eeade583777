//! Initial parameters, from a seed.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

use super::{Layer, Network, Source};
use crate::error::{Result, ensure, ensure_positive};

/// How the weights are drawn. `fan_in` and `fan_out` are the numbers of inputs that
/// one output reads and of outputs that one input reaches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "scheme", rename_all = "snake_case")]
pub enum Initialization {
    /// Normal, variance 2 / (fan_in + fan_out) (Glorot and Bengio 2010).
    XavierNormal,
    /// Uniform in ±√(3 · gain² / fan_in), gain² = 2 / (1 + slope²) of the ReLU or leaky ReLU that follows (He et al. 2015), and 1 where any
    /// other activation does, tanh or SiLU as much as identity, or none: at the output layer PyTorch's `kaiming_uniform_`, told that all are
    /// ReLUs, takes 2, and before tanh its `calculate_gain` 25/9.
    KaimingUniform,
    /// Normal, variance gain² / fan_in (He et al. 2015).
    KaimingNormal,
    /// Uniform in ±1/√fan_in, in all layers: what PyTorch's layers draw by themselves, biases too with [`BiasInitialization::Uniform`].
    Pytorch,
    /// Uniform in ±bound. Petzka uses 0.1.
    Uniform {
        /// The bound.
        bound: f64,
    },
    /// Normal, standard deviation `sigma`.
    Normal {
        /// σ.
        sigma: f64,
    },
}

/// How the biases are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BiasInitialization {
    /// All 0. Such a block drops out of the Riemannian measures: its norm is 0.
    #[default]
    Zero,
    /// Uniform in ±1/√fan_in.
    Uniform,
}

impl Network {
    /// A parameter vector drawn by these schemes. The same seed gives the same vector on every machine.
    ///
    /// # Errors
    /// `InvalidOption` for a bound or σ that is not positive and finite; `TooLarge` where they do not fit in memory.
    pub fn initialize(&self, weights: Initialization, biases: BiasInitialization, seed: u64) -> Result<Vec<f64>> {
        if let Initialization::Uniform { bound: scale } | Initialization::Normal { sigma: scale } = weights {
            ensure_positive("the scale of an initialisation", scale)?;
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut parameters = crate::memory::zeros("a vector of parameters", self.parameter_count())?;
        for layer in self.layout().layers() {
            let (fan_in, fan_out) = (layer.inputs as f64, layer.fan_out as f64);
            // What a batch normalisation is at first.
            if matches!(self.layer(layer.layer), Layer::Scale { .. }) {
                parameters[layer.weight.clone()].fill(1.0);
                continue;
            }
            let gain_squared = self.gain_squared(layer.layer);
            let (normal, scale) = match weights {
                Initialization::XavierNormal => (true, (2.0 / (fan_in + fan_out)).sqrt()),
                Initialization::KaimingUniform => (false, (3.0 * gain_squared / fan_in).sqrt()),
                Initialization::KaimingNormal => (true, (gain_squared / fan_in).sqrt()),
                Initialization::Pytorch => (false, 1.0 / fan_in.sqrt()),
                Initialization::Uniform { bound } => (false, bound),
                Initialization::Normal { sigma } => (true, sigma),
            };
            for w in &mut parameters[layer.weight.clone()] {
                *w = scale * if normal { rng.sample::<f64, _>(StandardNormal) } else { rng.random_range(-1.0..1.0) };
            }
            if let (Some(bias), BiasInitialization::Uniform) = (&layer.bias, biases) {
                for b in &mut parameters[bias.clone()] {
                    *b = rng.random_range(-1.0..1.0) / fan_in.sqrt();
                }
            }
        }
        let is_finite = parameters.iter().all(|w| w.is_finite());
        ensure!(
            is_finite,
            InvalidOption,
            "the scale of an initialisation is so large that some of its weights are infinite"
        );
        Ok(parameters)
    }

    /// gain² of the activations that follow a layer, behind its scale if it has one: 2 / (1 + slope²); 1 for the output layer, identity, and
    /// what is not piecewise linear.
    fn gain_squared(&self, layer: usize) -> f64 {
        let reads = |i: usize, j: usize| self.layout().sources(j).contains(&Source::Layer(i));
        let (mut slope, mut at) = (1.0, layer);
        while let Some(next) = (at + 1..self.layers().len()).find(|&j| reads(at, j)) {
            match *self.layer(next) {
                Layer::Relu => slope = 0.0,
                Layer::LeakyRelu { slope: of } => slope *= of,
                Layer::Dense { .. } | Layer::Conv2d(_) => break,
                _ => {}
            }
            at = next;
        }
        2.0 / (1.0 + slope * slope)
    }
}
