//! Are two parameter vectors one, but for a symmetry, and by which map (Rangamani, Proposition 2.1: an equivalence relation)?
//!
//! Rescalings leave a trace in lengths: with every unit divided by the length of what it reads, W_rows/columns and bias together, a vector
//! and all its rescaled ones are the same (`lengths.rs`). Factors are ratios of these lengths. Under permutations the rows so divided
//! are the same in another order: from the inputs on, each is matched with the one that it is (`matching.rs`); those that read the same
//! are told apart by what becomes of them (`traits.rs`). Whatever was found so is applied, and what comes out is held against the other vector: nothing is said on the strength of lengths and matches alone.

mod lengths;
mod matching;
mod traits;

use lengths::Classes;
use matching::Match;
use serde::{Deserialize, Serialize};

use super::nodes::Nodes;
use super::tensors::Tensors;
use super::{Transformation, ensure_homogeneous, row_of};
use crate::error::{Error, ErrorCode, Result, ensure};
use crate::memory::collected;
use crate::network::Network;
use crate::numbers::largest;

/// What maps may lead from one vector to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SymmetryGroup {
    /// Layer-wise rescalings.
    Layerwise,
    /// Node-wise rescalings; layer-wise ones are among them, but for their factors on weights that read the zeros of a `pad_channels`.
    #[default]
    Nodewise,
    /// Permutations of hidden units with node-wise rescalings; of a network that cannot be rescaled, permutations alone.
    Permutation,
}

/// How far T(a) may be from b, where nothing is said: what factors through some layers of single precision numbers leave.
pub const TOLERANCE: f64 = 1e-6;

/// The largest tolerance: beyond it rows that are not alike would be matched.
const MOST: f64 = 1e-3;

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Equivalence {
    /// Is there a map T of the group with T(a) = b, up to the tolerance? `None` where that is not decided: units are so much alike that
    /// others than those that were taken might be their counterparts, and with those that were taken it is not.
    pub equivalent: Option<bool>,
    /// T, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transformation: Option<Transformation>,
    /// The largest difference between T(a) and b, relative to the largest weight of its row in either, with every unit divided by the
    /// length of what it reads, of the map that fits best; absent where none could be made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Equivalence {
    fn different(reason: String) -> Self {
        Self::failed(reason, None, false)
    }

    /// Not by what was tried; with ties that decides nothing.
    fn failed(reason: String, error: Option<f64>, has_ties: bool) -> Self {
        let equivalent = if has_ties { None } else { Some(false) };
        Self { equivalent, transformation: None, error, reason: Some(reason) }
    }
}

/// Is `b` what a map of the group makes of `a`?
///
/// # Errors
/// What [`Network::check_parameters`] says of either; `NotHomogeneous` for rescalings of a network that has none; `InvalidOption` for a
/// tolerance that is not within (0, 1e-3]; `NotFinite` where lengths overflow; `TooLarge`.
pub fn equivalence(
    network: &Network,
    a: &[f64],
    b: &[f64],
    group: SymmetryGroup,
    tolerance: f64,
) -> Result<Equivalence> {
    network.check_parameters(a)?;
    network.check_parameters(b)?;
    ensure!(
        tolerance > 0.0 && tolerance <= MOST,
        InvalidOption,
        "the tolerance of an equivalence is {tolerance}, but must be above 0 and at most {MOST}"
    );
    if group != SymmetryGroup::Permutation {
        ensure_homogeneous(network)?;
    }
    match group {
        SymmetryGroup::Layerwise => layerwise(network, a, b, tolerance),
        SymmetryGroup::Nodewise => {
            let nodes = Nodes::of(network)?;
            match nodewise(network, &nodes, a, b)? {
                Ok(map) => judged(network, a, b, map, tolerance, false),
                Err(reason) => Ok(Equivalence::different(reason)),
            }
        }
        SymmetryGroup::Permutation => permutation(network, a, b, tolerance),
    }
}

fn layerwise(network: &Network, a: &[f64], b: &[f64], tolerance: f64) -> Result<Equivalence> {
    let tensors = Tensors::of(network)?;
    let classes = Classes::of_tensors(network, &tensors)?;
    let factors = match classes.factors(network, a, b)? {
        Ok(factors) => factors,
        Err(tensor) => {
            let writer = tensors.written.iter().position(|&written| written as usize == tensor).unwrap_or(0);
            let layer = &network.layout().layers()[writer];
            return Ok(Equivalence::different(format!(
                "all weights of {} are 0 in one of them, and not in the other",
                network.title(layer.layer)
            )));
        }
    };
    let ways = tensors.read.iter().zip(&tensors.written);
    let lambda = ways.map(|(&read, &written)| factors[written as usize] / factors[read as usize]);
    let map = Transformation::Layerwise { lambda: collected("layer-wise factors", lambda)? };
    judged(network, a, b, map, tolerance, false)
}

/// The node-wise map by the vectors' lengths, or why there is none.
fn nodewise(
    network: &Network,
    nodes: &Nodes,
    a: &[f64],
    b: &[f64],
) -> Result<std::result::Result<Transformation, String>> {
    Ok(match Classes::of_nodes(network, nodes)?.factors(network, a, b)? {
        Ok(factors) => Ok(Transformation::Nodewise { factors: nodes.in_lists(&factors)? }),
        Err(node) => Err(format!(
            "all weights by which {} reads something are 0 in one of them, and not in the other",
            nodes.title(network, node as u32)
        )),
    })
}

fn permutation(network: &Network, a: &[f64], b: &[f64], tolerance: f64) -> Result<Equivalence> {
    let nodes = Nodes::of(network)?;
    let is_rescaled = network.first_inhomogeneous_layer().is_none();
    let (moved, has_ties) = match matching::matched(network, &nodes, a, b, is_rescaled, tolerance)? {
        Match::Found { moved, has_ties } => (moved, has_ties),
        Match::None { reason, has_ties } => return Ok(Equivalence::failed(reason, None, has_ties)),
    };
    let lists = nodes.written().iter().zip(nodes.in_lists(&moved)?);
    let permutations =
        lists.map(|(written, list)| list.iter().map(|&node| (node - written.first) as usize).collect()).collect();
    let order = Transformation::Permutation { permutations };
    let reordered = match order.apply(network, a) {
        Ok(reordered) => reordered,
        Err(error) if error.code == ErrorCode::InvalidTransformation => {
            return Ok(Equivalence::failed(error.message, None, has_ties));
        }
        Err(error) => return Err(error),
    };
    if !is_rescaled {
        return judged(network, a, b, order, tolerance, has_ties);
    }
    match nodewise(network, &nodes, &reordered, b)? {
        Ok(map) => judged(network, a, b, Transformation::Composition { of: vec![order, map] }, tolerance, has_ties),
        Err(reason) => Ok(Equivalence::failed(reason, None, has_ties)),
    }
}

/// The map, applied and held against the other vector.
fn judged(
    network: &Network,
    a: &[f64],
    b: &[f64],
    map: Transformation,
    tolerance: f64,
    has_ties: bool,
) -> Result<Equivalence> {
    let moved = match map.apply(network, a) {
        Ok(moved) => moved,
        // Factors whose products are none in floating point.
        Err(Error { code: ErrorCode::NotFinite | ErrorCode::InvalidTransformation, message, .. }) => {
            return Ok(Equivalence::different(message));
        }
        Err(error) => return Err(error),
    };
    let (error, place) = furthest(network, &moved, b)?;
    if error <= tolerance {
        let (transformation, error) = (Some(map), Some(error));
        return Ok(Equivalence { equivalent: Some(true), transformation, error, reason: None });
    }
    let reason = format!("{place} differs by {error:.1e} of its largest weight where the others fit best");
    Ok(Equivalence::failed(reason, Some(error), has_ties))
}

/// The largest difference at these places, each times its length, relative to the largest that is there.
fn apart(a: &[f64], b: &[f64], places: impl Iterator<Item = (usize, f64)> + Clone) -> f64 {
    let size = largest(places.clone().flat_map(|(e, length)| [a[e] * length, b[e] * length]));
    let difference = largest(places.map(|(e, length)| (a[e] - b[e]) * length));
    // A row of zeros is what it is.
    if size == 0.0 { 0.0 } else { difference / size }
}

/// The largest difference of two vectors relative to their largest weight in its row, and which row that is. Weights are taken by what they
/// do, times the length of the unit that comes in: a column that a rescaling has made small is as much of the function as it was. Those
/// that read a unit which nothing comes into do nothing, and are as large as one likes: they are compared among themselves.
fn furthest(network: &Network, a: &[f64], b: &[f64]) -> Result<(f64, String)> {
    let classes = match network.first_inhomogeneous_layer() {
        None => Some(Classes::of_nodes(network, &Nodes::of(network)?)?),
        // Nothing is rescaled there.
        Some(_) => None,
    };
    let lengths = match &classes {
        Some(classes) => classes.lengths(network, b)?,
        None => Vec::new(),
    };
    let mut worst = (0.0, 0, 0);
    for (l, layer) in network.layout().layers().iter().enumerate() {
        for row in 0..layer.outputs {
            let start = layer.weight.start + row * layer.inputs;
            let weights = (0..layer.inputs).map(|column| {
                let length = classes.as_ref().map_or(1.0, |classes| classes.length(&lengths, l, layer, row, column));
                (start + column, length)
            });
            let idle = weights.clone().filter(|(_, length)| *length == 0.0).map(|(e, _)| (e, 1.0));
            let places = weights.chain(layer.bias.iter().map(|bias| (bias.start + row, 1.0)));
            let error = f64::max(apart(a, b, places), apart(a, b, idle));
            if error > worst.0 {
                worst = (error, l, row);
            }
        }
    }
    let (error, l, row) = worst;
    let layer = &network.layout().layers()[l];
    Ok((error, format!("{} {row} of {}", row_of(network, layer), network.title(layer.layer))))
}
