//! Maps on parameters that leave the function as it is: layer-wise and node-wise rescaling, Dinh's α-scale, permutation.
//!
//! They see parameters and a layout, never an engine. Each has an inverse, and they compose.

mod bundles;
mod equivalence;
mod layerwise;
mod moves;
mod nodes;
mod nodewise;
mod permutation;
mod random;
mod tensors;
mod union;

pub use equivalence::{Equivalence, SymmetryGroup, TOLERANCE, equivalence};
pub(crate) use nodes::{Nodes, ZEROS, factor};
use serde::{Deserialize, Serialize};
pub(crate) use tensors::Tensors;
pub use tensors::{FreeTensor, free_tensors};

use crate::error::{Result, bail, ensure};
use crate::network::{Layer, Network, ParametricLayer};

/// A map on the parameters of a network, as JSON spells it: `{"type": "layerwise", "lambda": [5, 4, 0.05]}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Transformation {
    /// T_λ: W_l → λ_l W_l, b_l → (Π_{k≤l} λ_k) b_l (Rangamani, Proposition 2.1 and section 2.1).
    Layerwise {
        /// One positive factor a parametric layer, with product 1; in a graph, with one product for all ways that meet.
        lambda: Vec<f64>,
    },
    /// T_α of Dinh (Definition 5), for two parametric layers: (α W_1, α⁻¹ W_2), b_1 → α b_1.
    AlphaScale {
        /// α > 0.
        alpha: f64,
    },
    /// W_l → Λ_l W_l Λ_{l−1}⁻¹, b_l → Λ_l b_l with Λ_0 = Λ_L = I.
    Nodewise {
        /// The diagonals of Λ_1 … Λ_{L−1}: a positive factor for every unit of every hidden layer. In a graph, where layers may write
        /// to the same nodes (what `add` makes one), the new nodes of every layer that is the first to write some.
        factors: Vec<Vec<f64>>,
    },
    /// Units of hidden layers in another order: rows of W_l and b_l here, columns of W_{l+1} there.
    Permutation {
        /// For each hidden layer: new unit i is old unit `permutations[l][i]`. In a graph, listed as node-wise factors are.
        permutations: Vec<Vec<usize>>,
    },
    /// One after the other, the first one first.
    Composition {
        /// The maps.
        #[serde(deserialize_with = "crate::json::objects")]
        of: Vec<Transformation>,
    },
    /// A layer-wise map with factors drawn log-uniformly from [low, high]; the last one makes the product 1. In a graph, those of layers
    /// that are the first to write a tensor are drawn, and the others follow.
    RandomLayerwise {
        /// The same seed draws the same factors.
        seed: u64,
        /// Smallest factor.
        low: f64,
        /// Largest factor.
        high: f64,
    },
    /// A node-wise map with factors drawn log-uniformly from [low, high].
    RandomNodewise {
        /// The same seed draws the same factors.
        seed: u64,
        /// Smallest factor.
        low: f64,
        /// Largest factor.
        high: f64,
    },
    /// A uniformly random permutation of every hidden layer; in a graph, of what can be permuted there.
    RandomPermutation {
        /// The same seed draws the same permutations.
        seed: u64,
    },
}

/// The kinds of symmetry a transformation is made of: what theory says of a measure follows from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Kinds {
    /// Layer-wise rescaling, Dinh's α-scale included.
    pub layerwise: bool,
    /// Node-wise rescaling.
    pub nodewise: bool,
    /// Permutation of units.
    pub permutation: bool,
}

impl Transformation {
    /// The same map with random ones drawn and α-scales spelled as the layer-wise maps they are.
    ///
    /// # Errors
    /// `InvalidTransformation` where it does not fit the network.
    pub fn resolve(&self, network: &Network) -> Result<Self> {
        Ok(match self {
            Self::AlphaScale { alpha } => {
                let depth = network.layout().layers().len();
                ensure!(
                    depth == 2,
                    InvalidTransformation,
                    "Dinh's α-scale is for networks of 2 parametric layers, but this one has {depth}; \
                     a layerwise transformation is the same for more"
                );
                ensure!(
                    alpha.is_finite() && *alpha > 0.0,
                    InvalidTransformation,
                    "alpha is {alpha}, but must be positive and finite"
                );
                Self::Layerwise { lambda: vec![*alpha, 1.0 / alpha] }
            }
            Self::Composition { of } => {
                Self::Composition { of: of.iter().map(|map| map.resolve(network)).collect::<Result<_>>()? }
            }
            Self::RandomLayerwise { seed, low, high } => random::layerwise(network, *seed, *low, *high)?,
            Self::RandomNodewise { seed, low, high } => random::nodewise(network, *seed, *low, *high)?,
            Self::RandomPermutation { seed } => random::permutation(network, *seed)?,
            Self::Layerwise { .. } | Self::Nodewise { .. } | Self::Permutation { .. } => self.clone(),
        })
    }

    /// T(θ).
    ///
    /// # Errors
    /// `NotHomogeneous` for a rescaling of a network whose activations do not allow it; `InvalidTransformation` for
    /// factors that are not positive, do not multiply to 1, or do not fit the network; what
    /// [`Network::check_parameters`] says; `NotFinite` if the result overflows.
    pub fn apply(&self, network: &Network, parameters: &[f64]) -> Result<Vec<f64>> {
        network.check_parameters(parameters)?;
        let mut parameters = crate::memory::copied("a vector of parameters", parameters)?;
        self.resolve(network)?.apply_resolved(network, &mut parameters)?;
        crate::error::ensure_finite("transformed parameters", &parameters)?;
        Ok(parameters)
    }

    fn apply_resolved(&self, network: &Network, parameters: &mut [f64]) -> Result<()> {
        match self {
            Self::Layerwise { lambda } => layerwise::apply(network, lambda, parameters),
            Self::Nodewise { factors } => nodewise::apply(network, factors, parameters),
            Self::Permutation { permutations } => permutation::apply(network, permutations, parameters),
            Self::Composition { of } => of.iter().try_for_each(|map| map.apply_resolved(network, parameters)),
            other => other.resolve(network)?.apply_resolved(network, parameters),
        }
    }

    /// T⁻¹.
    ///
    /// # Errors
    /// As [`Transformation::apply`].
    pub fn inverse(&self, network: &Network) -> Result<Self> {
        Ok(match self.resolve(network)? {
            Self::Layerwise { lambda } => {
                layerwise::check(network, &lambda)?;
                Self::Layerwise { lambda: lambda.iter().map(|l| 1.0 / l).collect() }
            }
            Self::Nodewise { factors } => {
                nodewise::check(network, &factors)?;
                let inverse = |layer: &Vec<f64>| layer.iter().map(|f| 1.0 / f).collect();
                Self::Nodewise { factors: factors.iter().map(inverse).collect() }
            }
            Self::Permutation { permutations } => {
                permutation::check(network, &permutations)?;
                Self::Permutation { permutations: permutations.iter().map(|p| permutation::inverse(p)).collect() }
            }
            Self::Composition { of } => {
                Self::Composition { of: of.iter().rev().map(|map| map.inverse(network)).collect::<Result<_>>()? }
            }
            other => bail!(InvalidTransformation, "{other:?} has no inverse"),
        })
    }

    /// How many maps it is made of, those of compositions counted one by one: each rounds the parameters once.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Composition { of } => of.iter().map(Self::len).sum::<usize>().max(1),
            _ => 1,
        }
    }

    /// What kinds of symmetry it is made of.
    pub fn kinds(&self) -> Kinds {
        match self {
            Self::Layerwise { .. } | Self::AlphaScale { .. } | Self::RandomLayerwise { .. } => {
                Kinds { layerwise: true, ..Kinds::default() }
            }
            Self::Nodewise { .. } | Self::RandomNodewise { .. } => Kinds { nodewise: true, ..Kinds::default() },
            Self::Permutation { .. } | Self::RandomPermutation { .. } => {
                Kinds { permutation: true, ..Kinds::default() }
            }
            Self::Composition { of } => of.iter().map(Self::kinds).fold(Kinds::default(), |a, b| Kinds {
                layerwise: a.layerwise || b.layerwise,
                nodewise: a.nodewise || b.nodewise,
                permutation: a.permutation || b.permutation,
            }),
        }
    }

    /// Reads a transformation from its JSON.
    ///
    /// # Errors
    /// `Parse`.
    pub fn from_json(json: &str) -> Result<Self> {
        crate::json::read(json)
    }
}

/// Refuses a rescaling of a network that has none.
pub(crate) fn ensure_homogeneous(network: &Network) -> Result<()> {
    if let Some((i, layer)) = network.first_inhomogeneous_layer() {
        bail!(
            NotHomogeneous,
            "layers[{i}] ({}) is not positively homogeneous, so rescaling the weights would change the function",
            layer.name()
        );
    }
    Ok(())
}

/// What a row of a layer's W is called.
fn row_of(network: &Network, layer: &ParametricLayer) -> &'static str {
    match network.layer(layer.layer) {
        Layer::Dense { .. } => "unit",
        _ => "channel",
    }
}

fn ensure_positive(what: &str, factors: &[f64]) -> Result<()> {
    match factors.iter().position(|f| !(f.is_finite() && *f > 0.0)) {
        None => Ok(()),
        Some(i) => bail!(InvalidTransformation, "{what}[{i}] is {}, but must be positive and finite", factors[i]),
    }
}
