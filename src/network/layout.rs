//! Shape inference, and where each layer's parameters lie in the flat vector.

use std::ops::Range;

use super::{Layer, MAX_PARAMETERS, Shape, Window};
use crate::error::{Result, bail, ensure};

/// One layer with parameters: its shapes, and its places in the parameter vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParametricLayer {
    /// Its index in [`super::Network::layers`].
    pub layer: usize,
    /// Columns of W as a matrix: inputs of a dense layer, input channels × window of a convolution. The fan-in.
    pub inputs: usize,
    /// Rows of W: units of a dense layer, channels of a convolution.
    pub outputs: usize,
    /// Consecutive columns of W that read one unit or channel of the parametric layer before: 1 between dense layers, the
    /// window's size in a convolution, the image's size in a dense layer after a flatten.
    pub columns_per_unit: usize,
    /// Outputs that one input reaches: `outputs` of a dense layer, times the window of a convolution.
    pub fan_out: usize,
    /// W_l, (outputs, inputs) row-major; of a convolution (outputs, input channels, kernel height, kernel width).
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
    /// Shape behind each layer; behind a flatten, the image's.
    shapes: Vec<Shape>,
    parameter_count: usize,
}

/// What comes out of the layers so far.
struct Current {
    shape: Shape,
    is_flat: bool,
}

impl Current {
    fn of_input(input: &[usize]) -> Result<Self> {
        let (shape, is_flat) = match *input {
            [features] => (Shape::flat(features), true),
            [channels, height, width] => (Shape { channels, height, width }, false),
            _ => bail!(
                InvalidNetwork,
                "the network's input shape is {input:?}, but must be [features] or [channels, height, width]"
            ),
        };
        ensure!(input.iter().all(|&n| n > 0), InvalidNetwork, "the network's input shape {input:?} has a zero");
        let count = input.iter().try_fold(1u64, |n, &m| n.checked_mul(m as u64));
        ensure!(
            count.is_some_and(|n| n <= MAX_PARAMETERS),
            TooLarge,
            "the network's input shape {input:?} has over {MAX_PARAMETERS} values, the most isoflat takes"
        );
        Ok(Self { shape, is_flat })
    }

    fn ensure_image(&self, what: &str) -> Result<()> {
        ensure!(
            !self.is_flat,
            InvalidNetwork,
            "{what} takes images of shape (channels, height, width), but a flat row of {} values comes in",
            self.shape.len()
        );
        Ok(())
    }
}

impl Layout {
    pub(super) fn infer(input: &[usize], layers: &[Layer]) -> Result<Self> {
        let mut current = Current::of_input(input)?;
        let mut found = Self::default();
        for (i, layer) in layers.iter().enumerate() {
            let what = format!("layer {i} ({})", layer.name());
            let pool = |current: &Current, size: [usize; 2], stride: Option<[usize; 2]>| {
                current.ensure_image(&what)?;
                let window = Window { size, stride: stride.unwrap_or(size), padding: [0, 0] };
                window.output(&what, current.shape, current.shape.channels)
            };
            match *layer {
                Layer::Dense { units, bias } => {
                    ensure!(
                        current.is_flat,
                        InvalidNetwork,
                        "{what} takes a flat row, but images of {} come in: put a flatten before it",
                        current.shape
                    );
                    ensure!(units > 0, InvalidNetwork, "{what} has 0 units");
                    let columns_per_unit = current.shape.area();
                    found.add(i, &what, units, current.shape.len() as u64, columns_per_unit, units, bias)?;
                    current = Current { shape: Shape::flat(units), is_flat: true };
                }
                Layer::Conv2d { channels, kernel, stride, padding, bias } => {
                    current.ensure_image(&what)?;
                    let window = Window { size: kernel, stride, padding };
                    let output = window.output(&what, current.shape, channels)?;
                    let columns = (current.shape.channels as u64).saturating_mul(window.wide_area());
                    let fan_out = channels.saturating_mul(window.area());
                    found.add(i, &what, channels, columns, window.area(), fan_out, bias)?;
                    current.shape = output;
                }
                Layer::MaxPool2d { size, stride } | Layer::AvgPool2d { size, stride } => {
                    current.shape = pool(&current, size, stride)?;
                }
                Layer::Flatten => current.is_flat = true,
                Layer::LeakyRelu { slope } => ensure!(
                    slope.is_finite() && slope > 0.0,
                    InvalidNetwork,
                    "{what} has slope {slope}, but it must be positive"
                ),
                Layer::Relu | Layer::Identity => {}
                Layer::Tanh | Layer::Sigmoid | Layer::Softplus | Layer::Silu | Layer::Gelu { .. } => {}
            }
            found.shapes.push(current.shape);
        }
        let Some(last) = found.layers.last() else {
            bail!(InvalidNetwork, "the network has no layer with parameters (dense or conv2d)")
        };
        let is_neutral = |layer: &&Layer| matches!(layer, Layer::Identity | Layer::Flatten);
        if let Some(layer) = layers[last.layer + 1..].iter().find(|layer| !is_neutral(layer)) {
            bail!(
                InvalidNetwork,
                "the last layer must be dense or conv2d: the loss takes its outputs, not those of a {}",
                layer.name()
            );
        }
        ensure!(
            current.is_flat || current.shape.area() == 1,
            InvalidNetwork,
            "the network puts out images of {}: end with a flatten, or a dense layer after one",
            current.shape
        );
        Ok(found)
    }

    /// Adds a layer of (rows, columns) weights.
    #[allow(clippy::too_many_arguments, reason = "one layer, in the layout's terms")]
    fn add(
        &mut self,
        layer: usize,
        what: &str,
        rows: usize,
        columns: u64,
        columns_per_unit: usize,
        fan_out: usize,
        bias: bool,
    ) -> Result<()> {
        let start = self.parameter_count;
        let weights = (rows as u64).checked_mul(columns);
        let end = weights
            .and_then(|w| w.checked_add(start as u64))
            .and_then(|c| c.checked_add(if bias { rows as u64 } else { 0 }));
        let Some(end) = end.filter(|&end| end <= MAX_PARAMETERS) else {
            bail!(
                TooLarge,
                "the network has over {MAX_PARAMETERS} parameters, the most isoflat takes, with {what}, \
                 whose weights are {rows} × {columns}"
            );
        };
        let columns = columns as usize;
        let middle = start + rows * columns;
        self.parameter_count = end as usize;
        self.layers.push(ParametricLayer {
            layer,
            inputs: columns,
            outputs: rows,
            columns_per_unit,
            fan_out,
            weight: start..middle,
            bias: bias.then_some(middle..end as usize),
        });
        Ok(())
    }

    /// The layers with parameters, in order.
    pub fn layers(&self) -> &[ParametricLayer] {
        &self.layers
    }

    /// The shape behind each layer of the network. A flatten keeps the image's: it only gives up its name.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// Length of the parameter vector.
    pub fn parameter_count(&self) -> usize {
        self.parameter_count
    }

    /// Values in one output.
    pub fn output_len(&self) -> usize {
        self.shapes.last().map_or(0, Shape::len)
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
