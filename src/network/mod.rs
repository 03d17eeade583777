//! What a network is: layers, shapes, parameter layout, initialisation, presets. Pure data, no device.

mod batch_norm;
mod folding;
mod images;
mod infer;
mod initialize;
mod json;
mod layer;
mod layout;
pub(crate) mod numbering;
mod presets;
mod residual;
mod shape;
mod wiring;

pub use batch_norm::{BatchStatistics, fold_batch_norm};
pub use images::{Conv2d, Padding, Pool2d};
pub use initialize::{BiasInitialization, Initialization};
pub use layer::{GeluApproximation, Layer};
pub use layout::{Block, Layout, ParametricLayer, Tensor};
pub use presets::Preset;
pub use shape::{Shape, Window};
pub use wiring::{NamedLayer, Names, Source};

pub(crate) use batch_norm::BatchNorm;
pub(crate) use folding::{Fate, without_batch_norm};
pub(crate) use json::{RawLayer, RawNamed, RawNetwork};
use serde::{Deserialize, Serialize};

use crate::error::{Result, ensure, ensure_finite};

/// The most parameters a network may have: what 32-bit indices on the device can address with room to spare.
pub const MAX_PARAMETERS: u64 = 1 << 30;

/// A feed-forward network: the shape of one input and the layers in order, each of which reads layers before it.
///
/// It is valid by construction: [`Network::new`] and deserialisation check every shape. Parameters are not part of it;
/// they are one flat vector whose order [`Network::layout`] gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawNetwork")]
pub struct Network {
    input: Vec<usize>,
    layers: Vec<NamedLayer>,
    #[serde(skip)]
    layout: Layout,
}

impl Network {
    /// A chain of layers over inputs of shape `[features]` or `[channels, height, width]`.
    ///
    /// # Errors
    /// `InvalidNetwork` for a zero width, no parametric layer, an activation or max pool after the last one, or layers that do
    /// not fit each other; `TooLarge` above [`MAX_PARAMETERS`].
    pub fn new(input: Vec<usize>, layers: Vec<Layer>) -> Result<Self> {
        Self::graph(input, layers.into_iter().map(Into::into).collect())
    }

    /// A network whose layers may read any that come before them.
    ///
    /// # Errors
    /// As [`Network::new`]; `InvalidNetwork` for a name that is taken or missing, or a layer that none reads.
    pub fn graph(input: Vec<usize>, layers: Vec<NamedLayer>) -> Result<Self> {
        let layout = Layout::infer(&input, &layers)?;
        Ok(Self { input, layers, layout })
    }

    /// A fully connected ReLU network of these widths, input first: `dense(&[784, 300, 100, 10], true)` is F1.
    ///
    /// # Errors
    /// As [`Network::new`]; also for fewer than two widths.
    pub fn dense(widths: &[usize], bias: bool) -> Result<Self> {
        ensure!(widths.len() >= 2, InvalidNetwork, "a dense network needs an input width and at least one layer's");
        let mut layers = Vec::new();
        for (i, &units) in widths[1..].iter().enumerate() {
            if i > 0 {
                layers.push(Layer::Relu);
            }
            layers.push(Layer::Dense { units, bias });
        }
        Self::new(vec![widths[0]], layers)
    }

    /// A network from its JSON, `{"input": [...], "layers": [...]}`.
    ///
    /// # Errors
    /// `Parse` if it is not such a JSON, `InvalidNetwork` for a batch normalisation ([`fold_batch_norm`] makes a network without
    /// it), and what [`Network::new`] says.
    pub fn from_json(json: &str) -> Result<Self> {
        let raw: RawNetwork = crate::json::read(json)?;
        raw.try_into()
    }

    /// Shape of one input, without the sample axis.
    pub fn input(&self) -> &[usize] {
        &self.input
    }

    /// The layers in order.
    pub fn layers(&self) -> impl ExactSizeIterator<Item = &Layer> + DoubleEndedIterator + Clone {
        self.layers.iter().map(|named| &named.layer)
    }

    /// The layers with their names, and what they read.
    pub fn named_layers(&self) -> &[NamedLayer] {
        &self.layers
    }

    /// Layer i.
    ///
    /// # Panics
    /// Where there is none.
    pub fn layer(&self, i: usize) -> &Layer {
        &self.layers[i].layer
    }

    /// What messages call layer i.
    ///
    /// # Panics
    /// Where there is none.
    pub fn title(&self, i: usize) -> String {
        self.layers[i].title(i)
    }

    /// Where each layer's weight and bias lie in the parameter vector.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Shape of one input as an image; flat inputs are images of 1 × 1.
    pub fn input_shape(&self) -> Shape {
        match self.input[..] {
            [channels, height, width] => Shape { channels, height, width },
            _ => Shape::flat(self.input_len()),
        }
    }

    /// Values in one flat input.
    pub fn input_len(&self) -> usize {
        self.input.iter().product()
    }

    /// Values in one output.
    pub fn output_len(&self) -> usize {
        self.layout.output_len()
    }

    /// Length of the parameter vector.
    pub fn parameter_count(&self) -> usize {
        self.layout.parameter_count()
    }

    /// The first layer whose activation is not positively homogeneous, if there is one: rescalings are refused then.
    pub fn first_inhomogeneous_layer(&self) -> Option<(usize, &Layer)> {
        self.layers().enumerate().find(|(_, layer)| !layer.is_positively_homogeneous())
    }

    /// Are all activations positively homogeneous, so that there are rescalings that leave the function as it is?
    pub fn is_positively_homogeneous(&self) -> bool {
        self.first_inhomogeneous_layer().is_none()
    }

    /// The first layer whose activation is not piecewise linear, if there is one: within the layers before it the Hessian is not the
    /// Gauss–Newton matrix then.
    pub fn first_curved_layer(&self) -> Option<(usize, &Layer)> {
        self.layers().enumerate().find(|(_, layer)| !layer.is_piecewise_linear())
    }

    /// Are all activations piecewise linear, so that sweeps are exact and Petzka's measures defined?
    pub fn is_piecewise_linear(&self) -> bool {
        self.first_curved_layer().is_none()
    }

    /// Fails unless `parameters` has this network's length and is finite.
    ///
    /// # Errors
    /// `InvalidParameters`, `NotFinite`.
    pub fn check_parameters(&self, parameters: &[f64]) -> Result<()> {
        let expected = self.parameter_count();
        ensure!(
            parameters.len() == expected,
            InvalidParameters,
            "the network has {expected} parameters, but {} were given",
            parameters.len()
        );
        ensure_finite("parameters", parameters)
    }

    /// A short name of the architecture: `784-300-100-10`, `1×28×28-conv5×5×10-pool2×2-…-10`. Of many layers it has the first and
    /// the last, and how many dense and convolutional ones there are.
    pub fn summary(&self) -> String {
        const MOST: usize = 16;
        let by = |sizes: &[usize]| sizes.iter().map(usize::to_string).collect::<Vec<_>>().join("×");
        let layers = self.layers().filter_map(|layer| match layer {
            Layer::Dense { units, .. } => Some(units.to_string()),
            Layer::Conv2d(Conv2d { channels, kernel: [h, w], groups, .. }) => {
                let groups = if *groups > 1 { format!(" ({groups} groups)") } else { String::new() };
                Some(format!("conv{}{groups}", by(&[*h, *w, *channels])))
            }
            Layer::MaxPool2d(pool) => Some(format!("pool{}", by(&pool.size))),
            Layer::AvgPool2d(pool) => Some(format!("mean{}", by(&pool.size))),
            Layer::GlobalAvgPool2d => Some("mean".into()),
            Layer::Add => Some("add".into()),
            Layer::Concat => Some("concat".into()),
            _ => None,
        });
        let parts: Vec<String> = std::iter::once(by(&self.input)).chain(layers).collect();
        if parts.len() <= MOST {
            return parts.join("-");
        }
        let count = self.layers().filter(|layer| matches!(layer, Layer::Dense { .. } | Layer::Conv2d(_))).count();
        format!("{}-…-{} ({count} layers)", parts[..3].join("-"), parts[parts.len() - 2..].join("-"))
    }
}
