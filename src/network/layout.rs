//! Where each layer's parameters lie in the flat vector, and the shapes of what goes between layers.

use std::ops::Range;

use super::infer::Inferred;
use super::numbering::number_of;
use super::wiring::{self, Source};
use super::{Layer, MAX_PARAMETERS, NamedLayer, Shape};
use crate::error::{Result, bail, ensure};

/// One layer with parameters: its shapes, and its places in the parameter vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParametricLayer {
    /// Its index in [`super::Network::layers`].
    pub layer: usize,
    /// Columns of W as a matrix: inputs of a dense layer, input channels / groups × window of a convolution, 1 of a scale. The
    /// fan-in.
    pub inputs: usize,
    /// Rows of W: units of a dense layer, channels of a convolution or a scale.
    pub outputs: usize,
    /// Consecutive columns of W that read one unit or channel of the parametric layer before: 1 between dense layers, the
    /// window's size in a convolution, the image's size in a dense layer after a flatten.
    pub columns_per_unit: usize,
    /// Parts that the rows are in, each of which reads a part of the units or channels that come in; 1 of a dense layer, as many
    /// as channels of a scale.
    pub groups: usize,
    /// Outputs that one input reaches: `outputs` of a dense layer, times the window of a convolution.
    pub fan_out: usize,
    /// W_l, (outputs, inputs) row-major; of a convolution (outputs, input channels / groups, kernel height, kernel width).
    pub weight: Range<usize>,
    /// b_l, if there is one.
    pub bias: Option<Range<usize>>,
}

impl ParametricLayer {
    /// Units or channels that come in.
    pub fn units_in(&self) -> usize {
        self.inputs / self.columns_per_unit * self.groups
    }

    /// The first unit or channel that a row reads.
    pub fn first_unit(&self, row: usize) -> usize {
        row / (self.outputs / self.groups) * (self.inputs / self.columns_per_unit)
    }

    /// The unit or channel that a weight of a row reads.
    pub fn unit(&self, row: usize, column: usize) -> usize {
        self.first_unit(row) + column / self.columns_per_unit
    }

    /// W and, if there is one, b: where they lie together.
    pub fn range(&self) -> Range<usize> {
        self.weight.start..self.bias.as_ref().unwrap_or(&self.weight).end
    }
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

/// What goes from one layer to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tensor {
    /// Its shape; of a flattened image, the image's.
    pub shape: Shape,
    /// Is it one row of features? A flatten only gives up the image's name.
    pub is_flat: bool,
}

/// The parameter layout: layer by layer, weight and then bias.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    layers: Vec<ParametricLayer>,
    sources: Vec<Vec<Source>>,
    input: Option<Tensor>,
    /// What each layer gives.
    tensors: Vec<Tensor>,
    parameter_count: usize,
}

impl Layout {
    pub(super) fn infer(input: &[usize], layers: &[NamedLayer]) -> Result<Self> {
        let mut found = Self { input: Some(Tensor::of_input(input)?), ..Self::default() };
        for (i, sources) in wiring::resolve(layers)?.into_iter().enumerate() {
            let what = layers[i].title(i);
            let reads: Vec<Tensor> = sources.iter().map(|&source| found.tensor(source)).collect();
            let inferred = Inferred::new(&layers[i].layer, &what, &reads)?;
            if let Some(weights) = &inferred.weights {
                found.add(i, &what, weights)?;
            }
            found.tensors.push(inferred.output);
            found.sources.push(sources);
        }
        ensure!(
            !found.layers.is_empty(),
            InvalidNetwork,
            "the network has no layer with parameters (dense, conv2d or scale)"
        );
        found.ensure_linear_end(layers)?;
        Ok(found)
    }

    /// Fails unless the outputs are a row of what no activation or maximum has cut off. The mean of an image may be one of what is piecewise
    /// linear, as SqueezeNet's outputs are.
    fn ensure_linear_end(&self, layers: &[NamedLayer]) -> Result<()> {
        let mut open: Vec<(Source, bool)> =
            layers.len().checked_sub(1).map(|i| (Source::Layer(i), false)).into_iter().collect();
        while let Some((Source::Layer(i), is_of_mean)) = open.pop() {
            let layer = &layers[i].layer;
            let cuts_off = layer.is_activation() || matches!(layer, Layer::MaxPool2d(_));
            ensure!(
                !cuts_off || is_of_mean && layer.is_piecewise_linear(),
                InvalidNetwork,
                "the network may not end with {}: the loss takes what a layer with parameters gives, or sums and means of that",
                layers[i].title(i)
            );
            if !layer.is_parametric() && !layer.is_joining() {
                let is_of_mean = is_of_mean || matches!(layer, Layer::AvgPool2d(_) | Layer::GlobalAvgPool2d);
                open.extend(self.sources[i].iter().map(|&source| (source, is_of_mean)));
            }
        }
        if let Some(Tensor { shape, is_flat }) = self.tensors.last() {
            ensure!(
                *is_flat || shape.area() == 1,
                InvalidNetwork,
                "the network puts out images of {shape}: end with a flatten, or a dense layer after one"
            );
        }
        Ok(())
    }

    /// Adds a layer with parameters.
    fn add(&mut self, layer: usize, what: &str, weights: &super::infer::Weights) -> Result<()> {
        let super::infer::Weights { rows, columns, columns_per_unit, groups, fan_out, bias } = *weights;
        let start = self.parameter_count;
        let end = (rows as u64)
            .checked_mul(columns)
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
            groups,
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

    /// The one of these, counted from 0, that somebody has named.
    ///
    /// # Errors
    /// `InvalidOption` if it is not there.
    pub(crate) fn parametric(&self, layer: usize) -> Result<&ParametricLayer> {
        let count = self.layers.len();
        ensure!(layer < count, InvalidOption, "there is no layer {}: they are 1 to {count}", number_of(layer));
        Ok(&self.layers[layer])
    }

    /// What layer i of the network reads, in order.
    ///
    /// # Panics
    /// Where there is none.
    pub fn sources(&self, i: usize) -> &[Source] {
        &self.sources[i]
    }

    /// What a layer gives, or what comes into the network.
    ///
    /// # Panics
    /// Where there is no such layer.
    pub fn tensor(&self, source: Source) -> Tensor {
        match source {
            Source::Input => self.input.expect("a network has an input"),
            Source::Layer(i) => self.tensors[i],
        }
    }

    /// Is every layer read by the one behind it alone?
    pub fn is_chain(&self) -> bool {
        let before = |i: usize| i.checked_sub(1).map_or(Source::Input, Source::Layer);
        self.sources.iter().enumerate().all(|(i, sources)| sources[..] == [before(i)])
    }

    /// Length of the parameter vector.
    pub fn parameter_count(&self) -> usize {
        self.parameter_count
    }

    /// Values in one output.
    pub fn output_len(&self) -> usize {
        self.tensors.last().map_or(0, |tensor| tensor.shape.len())
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
