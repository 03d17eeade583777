//! T_λ: W_l → λ_l W_l, b_l → (Π_{k≤l} λ_k) b_l with Π λ_l = 1.

use super::{ensure_homogeneous, ensure_positive};
use crate::error::{Result, bail, ensure};
use crate::network::Network;

/// How far |Σ ln λ| may be from 0: factors typed or multiplied in double precision, not in single.
const PRODUCT_TOLERANCE: f64 = 1e-9;

pub(super) fn check(network: &Network, lambda: &[f64]) -> Result<()> {
    ensure_homogeneous(network)?;
    let depth = network.layout().layers().len();
    ensure!(
        lambda.len() == depth,
        InvalidTransformation,
        "there are {} factors λ, but the network has {depth} parametric layers",
        lambda.len()
    );
    ensure_positive("lambda", lambda)?;
    // In logarithms: a product of many factors may overflow on the way to 1.
    let log_product: f64 = lambda.iter().map(|l| l.ln()).sum();
    if log_product.abs() > PRODUCT_TOLERANCE {
        bail!(
            InvalidTransformation,
            "the factors λ multiply to {}, but must multiply to 1: the outputs would change",
            log_product.exp()
        );
    }
    Ok(())
}

pub(super) fn apply(network: &Network, lambda: &[f64], parameters: &mut [f64]) -> Result<()> {
    check(network, lambda)?;
    let mut product = 1.0;
    for (layer, &factor) in network.layout().layers().iter().zip(lambda) {
        product *= factor;
        parameters[layer.weight.clone()].iter_mut().for_each(|w| *w *= factor);
        if let Some(bias) = &layer.bias {
            parameters[bias.clone()].iter_mut().for_each(|b| *b *= product);
        }
    }
    Ok(())
}
