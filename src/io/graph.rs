//! A model as a file has it: isoflat's layers, batch normalisations among them, each with its weights and the places in the file
//! from which they came.

use crate::network::{Layer, Names};

/// A model on its way to a network.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Graph {
    /// Shape of one input: `[features]` or `[channels, height, width]`.
    pub input: Vec<usize>,
    /// In an order in which each comes after those that it reads; the last one's result is the outputs.
    pub nodes: Vec<GraphNode>,
    /// What was taken off, assumed or changed on the way, a sentence each.
    pub notes: Vec<String>,
    /// The softmax that was taken off behind the outputs, as the file calls it.
    pub softmax: Option<String>,
}

/// One of its layers.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphNode {
    /// What it computes.
    pub operation: Operation,
    /// Its name, by which others read it.
    pub name: Option<String>,
    /// What it reads; where nothing is said, the one before it.
    pub from: Option<Names>,
}

/// What a layer computes.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// One of isoflat's layers. A dense layer, a convolution and a scale have a weight, and a bias where the layer says so.
    Layer {
        /// Which.
        layer: Layer,
        /// W, row-major.
        weight: Option<Slot>,
        /// b.
        bias: Option<Slot>,
    },
    /// A batch normalisation with frozen statistics.
    BatchNorm(BatchNormNode),
}

/// γ (x − μ)/√(σ² + ε) + β, channel by channel.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchNormNode {
    /// γ; ones where there is none.
    pub scale: Option<Slot>,
    /// β; zeros where there is none.
    pub shift: Option<Slot>,
    /// μ.
    pub mean: Slot,
    /// σ².
    pub variance: Slot,
    /// ε.
    pub epsilon: f64,
    /// Becomes a `scale` even where it could be folded.
    pub is_scale: bool,
}

/// Parameters in isoflat's order.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// The numbers, as the parameter vector has them: of a dense layer (units, inputs), inputs of a flattened image channel after
    /// channel; of a convolution (channels, input channels / groups, height, width).
    pub values: Vec<f64>,
    /// Where they came from, if they can go back there.
    pub place: Option<Place>,
}

/// Where numbers are in a file: `values[i] = factor · tensor[order[i]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// Name of the tensor.
    pub tensor: String,
    /// Index of each value in the tensor's own row-major order; `None` where both orders are the same. A value that several
    /// places of the file share is not representable: such a model is refused.
    pub order: Option<Vec<u32>>,
    /// 1 but for a `Gemm`'s α and the like.
    pub factor: f64,
}

impl Slot {
    /// Numbers that lie in the file as they lie here.
    pub fn whole(tensor: impl Into<String>, values: Vec<f64>) -> Self {
        Self { values, place: Some(Place { tensor: tensor.into(), order: None, factor: 1.0 }) }
    }
}
