//! A network as the ordered steps that both executors walk.

use std::ops::Range;

use crate::error::{Result, bail};
use crate::network::{Layer, Network};

/// What follows a layer, elementwise. Runs of ReLU, leaky ReLU and identity fold into one slope, since
/// each is x for x > 0 and a multiple of x otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Activation {
    /// z for z > 0, slope · z otherwise. Slope 1 is the identity, slope 0 the ReLU. Its derivative, read off its own
    /// value a: 1 where a > 0, the slope elsewhere.
    Piecewise {
        /// Slope on the negative side, ≥ 0.
        slope: f64,
    },
    /// tanh z. Derivative 1 − a²; second derivative −2 a (1 − a²).
    Tanh,
}

impl Activation {
    /// No activation.
    pub const IDENTITY: Self = Self::Piecewise { slope: 1.0 };
}

/// One dense layer with the activation after it.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Width of what comes in.
    pub inputs: usize,
    /// Width of what goes out.
    pub outputs: usize,
    /// W (outputs, inputs) row-major in the parameter vector.
    pub weight: Range<usize>,
    /// b in the parameter vector.
    pub bias: Option<Range<usize>>,
    /// Applied to W a + b; the identity after the last step.
    pub activation: Activation,
}

/// The steps of a network, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Activation of the inputs before the first step: constant in θ, so it is applied once, when the data are loaded.
    pub input_activation: Activation,
    /// The steps; never empty.
    pub steps: Vec<Step>,
    /// Length of the parameter vector.
    pub parameter_count: usize,
}

impl Plan {
    /// The plan of a network.
    ///
    /// # Errors
    /// `InvalidNetwork` where a tanh and another activation follow each other with no layer between: nothing needs it.
    pub fn new(network: &Network) -> Result<Self> {
        let layers = network.layers();
        let activation_after = |start: usize| -> Result<Activation> {
            let run = layers[start..].iter().take_while(|layer| !matches!(layer, Layer::Dense { .. }));
            let mut found = Activation::IDENTITY;
            for layer in run {
                found = match (found, layer) {
                    (found, Layer::Identity) => found,
                    (Activation::Piecewise { slope: _ }, Layer::Relu) => Activation::Piecewise { slope: 0.0 },
                    (Activation::Piecewise { slope: before }, Layer::LeakyRelu { slope }) => {
                        Activation::Piecewise { slope: before * slope }
                    }
                    (Activation::IDENTITY, Layer::Tanh) => Activation::Tanh,
                    (_, layer) => bail!(
                        InvalidNetwork,
                        "a tanh next to another activation is not supported: put a dense layer before the {}",
                        layer.name()
                    ),
                };
            }
            Ok(found)
        };
        let steps = network.layout().layers().iter().map(|layer| {
            Ok(Step {
                inputs: layer.inputs,
                outputs: layer.outputs,
                weight: layer.weight.clone(),
                bias: layer.bias.clone(),
                activation: activation_after(layer.layer + 1)?,
            })
        });
        Ok(Self {
            input_activation: activation_after(0)?,
            steps: steps.collect::<Result<_>>()?,
            parameter_count: network.parameter_count(),
        })
    }
}
