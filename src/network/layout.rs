//! Shape inference, and where each layer's parameters lie in the flat vector.

use std::ops::Range;

use super::{Layer, MAX_PARAMETERS};
use crate::error::{Result, bail, ensure};

/// One layer with parameters: its shapes, and its places in the parameter vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParametricLayer {
    /// Its index in [`super::Network::layers`].
    pub layer: usize,
    /// Width of what comes in (columns of W).
    pub inputs: usize,
    /// Width of what goes out (rows of W).
    pub outputs: usize,
    /// W_l, (outputs, inputs) row-major.
    pub weight: Range<usize>,
    /// b_l, if there is one.
    pub bias: Option<Range<usize>>,
}

/// One block of the parameter vector: a whole W_l or a whole b_l.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Index of the parametric layer, from 0.
    pub layer: usize,
    /// Is it the bias?
    pub is_bias: bool,
    /// Where it lies.
    pub range: Range<usize>,
}

/// The parameter layout: layer by layer, weight and then bias.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    layers: Vec<ParametricLayer>,
    parameter_count: usize,
}

impl Layout {
    pub(super) fn infer(input: &[usize], layers: &[Layer]) -> Result<Self> {
        ensure!(!input.is_empty(), InvalidNetwork, "the network's input shape is empty; give [features]");
        ensure!(input.iter().all(|&n| n > 0), InvalidNetwork, "the network's input shape {input:?} has a zero");
        ensure!(
            input.len() == 1,
            InvalidNetwork,
            "a dense layer takes flat inputs of shape [features], but the input shape is {input:?}"
        );
        let mut width = input[0];
        let mut count: u64 = 0;
        let mut found = Vec::new();
        for (i, layer) in layers.iter().enumerate() {
            match *layer {
                Layer::Dense { units, bias } => {
                    ensure!(units > 0, InvalidNetwork, "layer {i} (dense) has 0 units");
                    let weights = (units as u64).checked_mul(width as u64);
                    let end = weights
                        .and_then(|w| count.checked_add(w))
                        .and_then(|c| c.checked_add(if bias { units as u64 } else { 0 }));
                    let Some(end) = end.filter(|&end| end <= MAX_PARAMETERS) else {
                        bail!(
                            TooLarge,
                            "the network has over {MAX_PARAMETERS} parameters, the most isoflat takes, \
                             with layer {i} (dense {width} → {units})"
                        );
                    };
                    let start = count as usize;
                    let middle = start + units * width;
                    found.push(ParametricLayer {
                        layer: i,
                        inputs: width,
                        outputs: units,
                        weight: start..middle,
                        bias: bias.then_some(middle..end as usize),
                    });
                    (count, width) = (end, units);
                }
                Layer::LeakyRelu { slope } => ensure!(
                    slope.is_finite() && slope > 0.0,
                    InvalidNetwork,
                    "layer {i} (leaky_relu) has slope {slope}, but it must be positive"
                ),
                Layer::Relu | Layer::Identity | Layer::Tanh => {}
            }
        }
        let Some(last) = found.last() else { bail!(InvalidNetwork, "the network has no dense layer") };
        if let Some(layer) = layers[last.layer + 1..].iter().find(|layer| **layer != Layer::Identity) {
            bail!(
                InvalidNetwork,
                "the last layer must be dense: the loss takes its outputs, not those of a {}",
                layer.name()
            );
        }
        Ok(Self { layers: found, parameter_count: count as usize })
    }

    /// The layers with parameters, in order.
    pub fn layers(&self) -> &[ParametricLayer] {
        &self.layers
    }

    /// Length of the parameter vector.
    pub fn parameter_count(&self) -> usize {
        self.parameter_count
    }

    /// Values in one output.
    pub fn output_len(&self) -> usize {
        self.layers.last().map_or(0, |layer| layer.outputs)
    }

    /// Every W_l and b_l, in the order of the parameter vector. They cover it without gaps.
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        for (l, layer) in self.layers.iter().enumerate() {
            blocks.push(Block { layer: l, is_bias: false, range: layer.weight.clone() });
            if let Some(bias) = &layer.bias {
                blocks.push(Block { layer: l, is_bias: true, range: bias.clone() });
            }
        }
        blocks
    }
}
