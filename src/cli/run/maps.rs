//! Transformations of weights, as words name them.

use crate::cli::invocation::Invocation;
use crate::error::{Result, bail};
use crate::network::Network;
use crate::symmetry::Transformation;

/// Names of those that are drawn; the last is no rescaling.
pub(in crate::cli) const DRAWN: [&str; 3] = ["layerwise", "nodewise", "permutation"];

/// Smallest and largest factor of rescalings that are drawn.
const FACTORS: (f64, f64) = (0.2, 5.0);

/// What the options name, in their order.
///
/// # Errors
/// What [`Transformation::from_json`] says; `InvalidTransformation` for `--alpha` where there are no two layers.
pub(super) fn given(invocation: &Invocation, network: &Network) -> Result<Vec<Transformation>> {
    let mut list = Vec::new();
    for name in &invocation.maps.transformations {
        match drawn(name, invocation.seed) {
            Some(map) => list.push(map),
            None => list.extend(from_json(name)?),
        }
    }
    if let Some(alpha) = invocation.maps.alpha {
        list.push(alpha_scale(network, alpha)?);
    }
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
fn alpha_scale(network: &Network, alpha: f64) -> Result<Transformation> {
    let depth = network.layout().layers().len();
    let mut lambda = vec![1.0; depth];
    match &mut lambda[..] {
        [_, _] => return Ok(Transformation::AlphaScale { alpha }),
        [first, .., last] => (*first, *last) = (alpha, 1.0 / alpha),
        _ => bail!(
            InvalidTransformation,
            "--alpha multiplies the first layer of parameters and divides the last, and this network has {depth}"
        ),
    }
    Ok(Transformation::Layerwise { lambda })
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

#[cfg(test)]
mod tests {
    use super::alpha_scale;
    use crate::network::Network;
    use crate::symmetry::Transformation;

    #[test]
    fn an_alpha_is_of_two_layers_or_more() {
        let of = |depth: usize| {
            let layers = vec![r#"{"type": "dense", "units": 2}"#; depth].join(r#", {"type": "relu"}, "#);
            let network = Network::from_json(&format!(r#"{{"input": [2], "layers": [{layers}]}}"#)).expect("a network");
            alpha_scale(&network, 4.0)
        };
        assert_eq!(of(2).expect("two layers"), Transformation::AlphaScale { alpha: 4.0 });
        assert_eq!(of(3).expect("three"), Transformation::Layerwise { lambda: vec![4.0, 1.0, 0.25] });
        // It would change nothing, and all measures would stay.
        let refused = of(1).expect_err("one layer").message;
        assert!(refused.contains("this network has 1"), "{refused}");
    }
}
