//! The layer-wise rescalings that the constructions use: factors of tensors, each of which its writers take and its readers take back. In a
//! chain a tensor is what one layer gives to the next.

use super::ensure_deep;
use crate::error::{Result, bail, ensure};
use crate::network::{Network, Source};
use crate::symmetry::{Tensors, Transformation};

/// Powers of one α by which the layers of a network are multiplied.
pub(super) struct Scaling {
    /// 1, 0 or −1 a layer.
    exponents: Vec<i32>,
}

impl Scaling {
    /// α for all tensors that can be rescaled: in a chain layer 1 by α and the last one by 1/α, and α for what lies between.
    ///
    /// # Errors
    /// `InvalidOption` for a network that has no such tensors.
    pub fn of_all(network: &Network) -> Result<Self> {
        ensure_deep(network)?;
        let tensors = Tensors::of(network)?;
        ensure!(
            tensors.count > 1,
            InvalidOption,
            "all that the layers give is added to the inputs or outputs: no rescaling of layers leaves the function as it is"
        );
        let one = |tensor: u32| i32::from(tensor != 0);
        let pairs = tensors.read.iter().zip(&tensors.written);
        Ok(Self { exponents: pairs.map(|(&read, &written)| one(written) - one(read)).collect() })
    }

    /// α for one layer, by the factor of what it writes, or of what it reads. None where both are fixed, or are one.
    pub fn of_layer(tensors: &Tensors, layer: usize) -> Option<Self> {
        let (read, written) = (tensors.read[layer], tensors.written[layer]);
        let (tensor, sign) = match (written, read) {
            _ if read == written => return None,
            (0, read) => (read, -1),
            (written, _) => (written, 1),
        };
        let is = |other: u32| if other == tensor { sign } else { 0 };
        let pairs = tensors.read.iter().zip(&tensors.written);
        Some(Self { exponents: pairs.map(|(&read, &written)| is(written) - is(read)).collect() })
    }

    /// The map.
    pub fn by(&self, alpha: f64) -> Transformation {
        let power = |&exponent: &i32| match exponent {
            1 => alpha,
            -1 => 1.0 / alpha,
            _ => 1.0,
        };
        Transformation::Layerwise { lambda: self.exponents.iter().map(power).collect() }
    }

    /// The layers whose weights it multiplies by α.
    pub fn growing(&self) -> impl Iterator<Item = usize> + '_ {
        self.exponents.iter().enumerate().filter(|(_, exponent)| **exponent == 1).map(|(layer, _)| layer)
    }

    /// The first layer whose weights it multiplies by 1/α.
    pub fn compensating(&self) -> Option<usize> {
        self.exponents.iter().position(|&exponent| exponent == -1)
    }
}

/// Fails where the inputs reach the outputs though the weights of all layers that these rescalings multiply by α are 0.
///
/// # Errors
/// `InvalidOption`.
pub(super) fn ensure_cut(network: &Network) -> Result<()> {
    let (layout, tensors) = (network.layout(), Tensors::of(network)?);
    let mut is_reached = vec![false; network.named_layers().len()];
    let mut parametric = 0;
    for (i, layer) in network.layers().enumerate() {
        let mut sources = layout.sources(i).iter();
        is_reached[i] = sources.any(|&source| match source {
            Source::Input => true,
            Source::Layer(j) => is_reached[j],
        });
        if layer.is_parametric() {
            is_reached[i] &= tensors.read[parametric] != 0 || tensors.written[parametric] == 0;
            parametric += 1;
        }
    }
    if is_reached.last() == Some(&true) {
        bail!(
            InvalidOption,
            "the inputs reach the outputs past all layers that a rescaling can shrink, so that no constant function comes into the ball"
        );
    }
    Ok(())
}
