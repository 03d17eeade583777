//! The regions that sharpness is searched in, each as the unit ball of coordinates u with Δ = M u.
//!
//! Rangamani's ball ‖ξ‖_g ≤ ε is ‖u‖₂ ≤ 1 with ξ = ε D u. A rescaling of the weights takes D to T D, so L(θ + ε D u) is the same
//! function of u before and after: an ascent in u goes the same way.

use std::ops::Range;

use rand::Rng;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

use crate::control::Control;
use crate::engine::Engine;
use crate::error::Result;
use crate::linalg::orthonormal_columns;
use crate::memory::{collected, filled, zeros};
use crate::numbers::{dot, inner, norm};
use crate::operator::{Connection, Metric, OperatorKind};

/// Where the loss is searched for its highest point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Region {
    /// ‖Δ‖₂ ≤ ε (Dinh et al., Definition 2).
    #[serde(deserialize_with = "crate::json::nothing")]
    Ball,
    /// |Δ_i| ≤ ε (|θ_i| + 1) (Keskar et al. in the full space).
    #[serde(deserialize_with = "crate::json::nothing")]
    Box,
    /// ‖Δ‖_∞ ≤ ε (Dinh et al., the boxes of Theorem 2).
    #[serde(deserialize_with = "crate::json::nothing")]
    Cube,
    /// ‖Δ‖₂ ≤ ε with Δ = A z in a uniformly random subspace, A with the orthonormal columns that
    /// [`orthonormal_columns`] draws from the search's seed.
    Subspace {
        /// Columns of A.
        dimension: usize,
    },
    /// |z_i| ≤ ε (|(A⁺θ)_i| + 1), Δ = A z (Keskar et al.), with the same A.
    SubspaceBox {
        /// Columns of A.
        dimension: usize,
    },
    /// ‖ξ‖_g ≤ ε in the layer-wise metric: ‖D⁻¹ ξ‖₂ ≤ ε, D holding the norm of each entry's block (Rangamani et al.).
    #[serde(deserialize_with = "crate::json::nothing")]
    RiemannianLayerwise,
    /// The same in the node-wise metric, D holding |θ_i|: the region of Kwon et al.'s adaptive sharpness (2021) where they normalise by
    /// elements, |w| for biases too and nothing added to it, and take the Euclidean norm, with their ρ for ε. Their sharpness is the rise
    /// itself, not over 1 + L, and in training that of a batch. By filters, and in the maximum norm, they have other regions.
    #[serde(deserialize_with = "crate::json::nothing")]
    RiemannianNodewise,
}

const MOVE: &str = "a move of the parameters";

/// Entries of a column that are taken together: they stay in the nearest cache while the columns pass.
const ROWS: usize = 1024;

/// What "within 1" means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Norm {
    Two,
    Infinity,
}

enum Map {
    /// Δ_i = m_i u_i.
    Diagonal(Vec<f64>),
    /// Δ = A (s ⊙ u), A with orthonormal columns one after the other.
    Columns { a: Vec<f64>, scale: Vec<f64> },
}

/// Coordinates u of a region: Δ = M u, and u within 1 in one of two norms.
pub(crate) struct Coordinates {
    map: Map,
    norm: Norm,
    parameters: usize,
}

impl Region {
    /// The operator whose spectrum the loss is shaped by here: MᵀHM is ε² times it. `None` where M is of this region alone.
    pub(crate) fn operator(self) -> Option<OperatorKind> {
        match self {
            Self::Ball => Some(OperatorKind::HESSIAN),
            Self::RiemannianLayerwise => Some(OperatorKind::riemannian(Metric::Layerwise, Connection::Flat)),
            Self::RiemannianNodewise => Some(OperatorKind::riemannian(Metric::Nodewise, Connection::Flat)),
            Self::Box | Self::Cube | Self::Subspace { .. } | Self::SubspaceBox { .. } => None,
        }
    }

    /// The region's coordinates around θ.
    ///
    /// # Errors
    /// `InvalidOption` for a subspace larger than the space; `TooLarge` if A does not fit in memory.
    pub(crate) async fn coordinates(
        self,
        engine: &Engine,
        theta: &[f64],
        epsilon: f64,
        seed: u64,
        control: &Control<'_>,
    ) -> Result<Coordinates> {
        const WHAT: &str = "the scale of a region";
        let n = theta.len();
        let riemannian = |metric: Metric| collected(WHAT, metric.scale(engine, theta)?.iter().map(|d| epsilon * d));
        let (map, norm) = match self {
            Self::Ball => (Map::Diagonal(filled(WHAT, epsilon, n)?), Norm::Two),
            Self::Cube => (Map::Diagonal(filled(WHAT, epsilon, n)?), Norm::Infinity),
            Self::Box => {
                let scale = theta.iter().map(|w| epsilon * (w.abs() + 1.0));
                (Map::Diagonal(collected(WHAT, scale)?), Norm::Infinity)
            }
            Self::RiemannianLayerwise => (Map::Diagonal(riemannian(Metric::Layerwise)?), Norm::Two),
            Self::RiemannianNodewise => (Map::Diagonal(riemannian(Metric::Nodewise)?), Norm::Two),
            Self::Subspace { dimension } => {
                let a = orthonormal_columns(n, dimension, seed, control).await?;
                (Map::Columns { a, scale: filled(WHAT, epsilon, dimension)? }, Norm::Two)
            }
            Self::SubspaceBox { dimension } => {
                let a = orthonormal_columns(n, dimension, seed, control).await?;
                let scale = a.chunks_exact(n).map(|column| epsilon * (dot(column, theta).abs() + 1.0)).collect();
                (Map::Columns { a, scale }, Norm::Infinity)
            }
        };
        Ok(Coordinates { map, norm, parameters: n })
    }
}

impl Coordinates {
    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.map {
            Map::Diagonal(m) => m.len(),
            Map::Columns { scale, .. } => scale.len(),
        }
    }

    /// The same region with the coordinates that lie outside of these ranges held fast, where M is diagonal.
    pub fn only(mut self, moving: &[Range<usize>]) -> Self {
        if let Map::Diagonal(m) = &mut self.map {
            let held = (0..m.len()).filter(|i| !moving.iter().any(|range| range.contains(i)));
            held.collect::<Vec<_>>().into_iter().for_each(|i| m[i] = 0.0);
        }
        self
    }

    /// M as a diagonal, if it is one.
    pub fn diagonal(&self) -> Option<&[f64]> {
        match &self.map {
            Map::Diagonal(m) => Some(m),
            Map::Columns { .. } => None,
        }
    }

    /// M u.
    ///
    /// # Errors
    /// `TooLarge`, as for the other maps.
    pub fn delta(&self, u: &[f64]) -> Result<Vec<f64>> {
        match &self.map {
            Map::Diagonal(m) => collected(MOVE, m.iter().zip(u).map(|(m, u)| m * u)),
            Map::Columns { a, scale } => {
                let mut delta: Vec<f64> = zeros(MOVE, self.parameters)?;
                for (i, delta) in delta.chunks_mut(ROWS).enumerate() {
                    for ((column, s), u) in a.chunks_exact(self.parameters).zip(scale).zip(u) {
                        let share = s * u;
                        delta.iter_mut().zip(&column[i * ROWS..]).for_each(|(d, a)| *d += a * share);
                    }
                }
                Ok(delta)
            }
        }
    }

    /// Mᵀ g.
    pub fn pull(&self, gradient: &[f64]) -> Result<Vec<f64>> {
        match &self.map {
            Map::Diagonal(m) => collected(MOVE, m.iter().zip(gradient).map(|(m, g)| m * g)),
            Map::Columns { a, scale } => {
                let columns = a.chunks_exact(self.parameters).zip(scale);
                collected(MOVE, columns.map(|(column, s)| s * dot(column, gradient)))
            }
        }
    }

    /// u with Δ = M u, of a Δ in M's range; entries whose m is 0 cannot move.
    pub fn coordinates_of(&self, delta: &[f64]) -> Result<Vec<f64>> {
        match &self.map {
            Map::Diagonal(m) => collected(MOVE, m.iter().zip(delta).map(|(m, d)| if *m == 0.0 { 0.0 } else { d / m })),
            Map::Columns { a, scale } => {
                let columns = a.chunks_exact(self.parameters).zip(scale);
                collected(MOVE, columns.map(|(column, s)| dot(column, delta) / s))
            }
        }
    }

    /// A random direction: any of a ball's alike, or one to a corner.
    ///
    /// # Errors
    /// `TooLarge`, as for the maps.
    pub fn random(&self, rng: &mut impl Rng) -> Result<Vec<f64>> {
        let mut draw = || rng.sample::<f64, _>(StandardNormal);
        let direction = (0..self.len()).map(|_| match self.norm {
            Norm::Two => draw(),
            Norm::Infinity => draw().signum(),
        });
        collected(MOVE, direction)
    }

    /// The norm that the region is the unit ball of.
    pub fn size(&self, u: &[f64]) -> f64 {
        match self.norm {
            Norm::Two => dot(u, u).sqrt(),
            Norm::Infinity => u.iter().fold(0.0, |m, x| f64::max(m, x.abs())),
        }
    }

    /// The nearest point of the region.
    pub fn project(&self, u: &mut [f64]) {
        match self.norm {
            Norm::Two => {
                let size = self.size(u);
                if size > 1.0 {
                    u.iter_mut().for_each(|x| *x /= size);
                }
            }
            Norm::Infinity => u.iter_mut().for_each(|x| *x = x.clamp(-1.0, 1.0)),
        }
    }

    /// max over u′ in the region of ⟨g, u′ − u⟩: what could be gained still, to first order; 0 at a stationary point.
    pub fn gap(&self, u: &[f64], gradient: &[f64]) -> f64 {
        let support = match self.norm {
            Norm::Two => norm(gradient.iter().copied()),
            Norm::Infinity => gradient.iter().map(|g| g.abs()).sum(),
        };
        (support - inner(gradient, u)).max(0.0)
    }
}
