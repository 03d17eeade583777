//! T_λ: W_l → λ_l W_l, b_l → (Π_{k≤l} λ_k) b_l with Π λ_l = 1. In a graph the factors of all ways to one place must have the same
//! product μ, and that of the ways to the outputs is 1: λ_l is μ of what the layer writes over μ of what it reads, and b_l goes with the
//! former.

use super::tensors::Tensors;
use super::{ensure_homogeneous, ensure_positive};
use crate::error::{Result, bail, ensure};
use crate::network::{Network, numbering::number_of};

/// How far |Σ ln λ| may be from 0: factors typed or multiplied in double precision, not in single.
const PRODUCT_TOLERANCE: f64 = 1e-9;

pub(super) fn check(network: &Network, lambda: &[f64]) -> Result<()> {
    products(network, lambda).map(|_| ())
}

/// Of every layer the product of the factors up to it.
fn products(network: &Network, lambda: &[f64]) -> Result<Vec<f64>> {
    ensure_homogeneous(network)?;
    let depth = network.layout().layers().len();
    ensure!(
        lambda.len() == depth,
        InvalidTransformation,
        "there are {} factors λ, but the network has {depth} parametric layers",
        lambda.len()
    );
    ensure_positive("lambda", lambda)?;
    let tensors = Tensors::of(network)?;
    // Of every tensor its first writer, the product up to there and its logarithm: the product may overflow on the way to 1.
    let mut known: Vec<Option<(Option<usize>, f64, f64)>> = vec![None; tensors.count];
    known[0] = Some((None, 1.0, 0.0));
    let mut products = Vec::with_capacity(depth);
    for (l, factor) in lambda.iter().enumerate() {
        let (_, product, log) = known[tensors.read[l] as usize].expect("what is read has been written");
        let (product, log) = (product * factor, log + factor.ln());
        products.push(product);
        match known[tensors.written[l] as usize] {
            None => known[tensors.written[l] as usize] = Some((Some(l), product, log)),
            Some((other, _, expected)) => {
                if (log - expected).abs() > PRODUCT_TOLERANCE {
                    refuse(network, &tensors, l, other, lambda)?;
                }
            }
        }
    }
    Ok(products)
}

/// Says which ways meet behind a layer, one of them over `other`, with other products.
fn refuse(network: &Network, tensors: &Tensors, layer: usize, other: Option<usize>, lambda: &[f64]) -> Result<()> {
    let product = |way: &[usize]| way.iter().map(|&l| lambda[l]).product::<f64>();
    let (way, meets) = (tensors.way(layer), other.map_or(Vec::new(), |other| tensors.way(other)));
    if network.layout().is_chain() {
        bail!(
            InvalidTransformation,
            "the factors λ multiply to {}, but must multiply to 1: the outputs would change",
            lambda.iter().map(|l| l.ln()).sum::<f64>().exp()
        );
    }
    if other.is_none() {
        bail!(
            InvalidTransformation,
            "{} multiplies to {}, but must multiply to 1, as what is added to inputs or outputs must: the outputs would change",
            over(network, &way),
            product(&way)
        );
    }
    let shared = way.iter().zip(&meets).take_while(|(a, b)| a == b).count();
    let (way, meets) = (&way[shared..], &meets[shared..]);
    bail!(
        InvalidTransformation,
        "{} multiplies to {}, {} to {}, but they meet: the outputs would change",
        over(network, way),
        product(way),
        over(network, meets),
        product(meets)
    )
}

/// What messages call a way: the layers with parameters on it, by their numbers and names.
fn over(network: &Network, way: &[usize]) -> String {
    let title = |&l: &usize| match &network.named_layers()[network.layout().layers()[l].layer].name {
        Some(name) => format!("{} (\"{name}\")", number_of(l)),
        None => number_of(l).to_string(),
    };
    match way {
        [] => "the way over the shortcut".into(),
        [layer] => format!("the way over layer {}", title(layer)),
        layers => format!("the way over layers {}", layers.iter().map(title).collect::<Vec<_>>().join(", ")),
    }
}

pub(super) fn apply(network: &Network, lambda: &[f64], parameters: &mut [f64]) -> Result<()> {
    let products = products(network, lambda)?;
    for ((layer, &factor), product) in network.layout().layers().iter().zip(lambda).zip(products) {
        parameters[layer.weight.clone()].iter_mut().for_each(|w| *w *= factor);
        if let Some(bias) = &layer.bias {
            parameters[bias.clone()].iter_mut().for_each(|b| *b *= product);
        }
    }
    Ok(())
}
