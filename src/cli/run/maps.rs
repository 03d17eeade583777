//! Transformations of weights, as words name them.

use crate::cli::invocation::Invocation;
use crate::error::Result;
use crate::network::Network;
use crate::symmetry::Transformation;

/// Names of those that are drawn; the last is no rescaling.
pub(in crate::cli) const DRAWN: [&str; 3] = ["layerwise", "nodewise", "permutation"];

/// Smallest and largest factor of rescalings that are drawn.
const FACTORS: (f64, f64) = (0.2, 5.0);

/// What the options name, in their order.
///
/// # Errors
/// What [`Transformation::from_json`] says.
pub(super) fn given(invocation: &Invocation, network: &Network) -> Result<Vec<Transformation>> {
    let mut list = Vec::new();
    for name in &invocation.maps.transformations {
        match drawn(name, invocation.seed) {
            Some(map) => list.push(map),
            None => list.extend(from_json(name)?),
        }
    }
    list.extend(invocation.maps.alpha.map(|alpha| alpha_scale(network, alpha)));
    Ok(list)
}

/// One that is drawn, by its name.
pub(super) fn drawn(name: &str, seed: u64) -> Option<Transformation> {
    let (low, high) = FACTORS;
    match name {
        "layerwise" => Some(Transformation::RandomLayerwise { seed, low, high }),
        "nodewise" => Some(Transformation::RandomNodewise { seed, low, high }),
        "permutation" => Some(Transformation::RandomPermutation { seed }),
        _ => None,
    }
}

/// Dinh's (α W_1, W_2 / α); of deeper networks the first and the last layer.
fn alpha_scale(network: &Network, alpha: f64) -> Transformation {
    let depth = network.layout().layers().len();
    if depth == 2 {
        return Transformation::AlphaScale { alpha };
    }
    let mut lambda = vec![1.0; depth];
    if let [first, .., last] = &mut lambda[..] {
        (*first, *last) = (alpha, 1.0 / alpha);
    }
    Transformation::Layerwise { lambda }
}

/// One transformation, or a list of them.
///
/// # Errors
/// What [`Transformation::from_json`] says.
pub(in crate::cli) fn from_json(text: &str) -> Result<Vec<Transformation>> {
    match text.trim_start().starts_with('[') {
        true => crate::json::read(text),
        false => Ok(vec![Transformation::from_json(text)?]),
    }
}
