//! Measures that need no spectrum: the Fisher–Rao norm (Liang et al. 2019) and the path norm (Neyshabur et al. 2015).

use super::{ALWAYS, Measure, Quantity};
use crate::engine::{Curvature, Engine, ensure_number};
use crate::error::Result;
use crate::network::{Layer, Network};
use crate::numbers::inner;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        key: "fisher_rao_norm",
        paper: "Liang et al. 2019",
        description: "θᵀ G θ with the Gauss–Newton matrix G: the curvature seen along the parameters themselves.",
        invariant: ALWAYS,
        quantity: Quantity::FisherRaoNorm,
    },
    Measure {
        key: "path_norm_squared",
        paper: "Neyshabur et al. 2015",
        description: "Sum over the paths from inputs to outputs of the product of the squared weights; dense layers only.",
        invariant: ALWAYS,
        quantity: Quantity::PathNormSquared,
    },
];

/// θᵀ G θ at the prepared point.
///
/// # Errors
/// As [`Engine::product`]; `NotFinite` where the sum overflows.
pub async fn fisher_rao_norm(engine: &Engine) -> Result<f64> {
    let theta = engine.parameters()?;
    let product = engine.product(Curvature::GaussNewton, &theta).await?;
    let norm = inner(&theta, &product);
    ensure_number("the Fisher–Rao norm", engine.info().precision, &[norm])?;
    Ok(norm)
}

/// Σ over the paths from inputs to outputs of Π w²: a forward pass of ones through the squared weights, biases left out.
/// Defined for networks of dense layers: a pool has no weights of its own, and papers differ on what it does to a path.
pub fn path_norm_squared(network: &Network, parameters: &[f64]) -> Option<f64> {
    if !has_path_norm(network) {
        return None;
    }
    let mut values = vec![1.0; network.input_len()];
    for layer in network.layout().layers() {
        let rows = parameters[layer.weight.clone()].chunks_exact(layer.inputs);
        values = rows.map(|row| row.iter().zip(&values).map(|(w, v)| w * (w * v)).sum()).collect();
    }
    Some(values.iter().sum())
}

/// Is the path norm defined for this network?
pub(super) fn has_path_norm(network: &Network) -> bool {
    let is_dense = |layer: &Layer| {
        matches!(layer, Layer::Dense { .. } | Layer::Relu | Layer::LeakyRelu { .. } | Layer::Identity | Layer::Flatten)
    };
    network.layers().iter().all(is_dense)
}
