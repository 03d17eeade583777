//! The least Hessian trace that rescaling can reach (Ibayashi et al. 2021, “minimum sharpness”), and the rescaling that reaches it: the
//! flattest bend of a network.
//!
//! A diagonal rescaling S takes H to S⁻¹ H S⁻¹, so Tr H(Sθ) = Σ H_ii / s_i², s_i = Λ_row(i) / Λ_column(i), of a bias Λ_row(i). The least of
//! these over all Λ belongs to the orbit and not to the point, so no rescaling moves it. With u = ln Λ it is a sum of exponentials of linear
//! forms, of which no share H_ii is negative: the diagonal blocks over single layers are those of the Gauss–Newton matrix
//! ([`trace`](super::trace)), whose least trace is therefore the same number. Such a sum is convex in u; [`balance`](super::balance) finds
//! its infimum.
//!
//! The paper's is the layer-wise one over weights: L (Π Tr H_l)^(1/L). Factors for single nodes, biases and graphs are ours.

mod terms;

use serde::Serialize;

use self::terms::terms;
use super::balance::{Minimum, Ways, minimum};
use super::known::Known;
use super::row::{ALWAYS, AtPoint, Compute, Cost, Domain, Family, LAYERWISE};
use super::{Measure, MeasureValue, exact_diagonal};
use crate::control::Control;
use crate::engine::{Engine, ensure_number};
use crate::error::Result;
use crate::memory::zeros;
use crate::network::{Network, numbering};
use crate::operator::OperatorKind;
use crate::symmetry::{Nodes, SymmetryGroup, Tensors, Transformation, ensure_homogeneous};

/// What the rows have in common.
const fn least(by: AtPoint) -> Measure {
    Measure {
        paper: "Ibayashi et al. 2021",
        defined_for: Domain::PiecewiseLinear,
        ..Measure::new(Family::Orbit, Cost::Sweep, Compute::Point(by))
    }
}

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        key: "least_trace.layerwise",
        title: "Least trace, layer-wise",
        paper: "Ibayashi et al. 2021, with biases",
        description: "The least trace that the Hessian has after any rescaling of layers: min over λ of Tr H(T_λ θ).",
        invariant: LAYERWISE,
        ..least(|known, row| Box::pin(row_of(known, row, SymmetryGroup::Layerwise)))
    },
    Measure {
        key: "least_trace.nodewise",
        title: "Least trace, node-wise",
        paper: "Ibayashi et al. 2021, with one factor a neuron",
        description: "The least trace that the Hessian has after any rescaling of neurons: min over Λ of Tr H(T_Λ θ).",
        invariant: ALWAYS,
        ..least(|known, row| Box::pin(row_of(known, row, SymmetryGroup::Nodewise)))
    },
];

/// Of positive terms: its rounding is relative to itself.
async fn row_of(known: &mut Known<'_, '_>, row: &Measure, group: SymmetryGroup) -> Result<MeasureValue> {
    let found = known.least_trace(group).await?;
    Ok(MeasureValue { residual: Some(found.error), converged: found.converged, ..row.exact(found.value, found.value) })
}

/// Which rescalings are considered, and what of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeastTraceOptions {
    /// The rescalings. Permutations move no trace, so that the group with them has the least trace of node-wise rescalings.
    pub group: SymmetryGroup,
    /// Are biases counted? Without them it is the trace over the weights.
    pub biases: bool,
}

impl Default for LeastTraceOptions {
    fn default() -> Self {
        Self { group: SymmetryGroup::Nodewise, biases: true }
    }
}

/// The least trace of an orbit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeastTrace {
    /// The infimum of the trace over the rescalings.
    pub value: f64,
    /// Is there a rescaling that has it? If not, factors run away on the way to it.
    pub attained: bool,
    /// The trace at the point itself.
    pub before: f64,
    /// The trace behind the transformation: the infimum, or where it is not attained, within a millionth of it.
    pub after: f64,
    /// The rescaling that leads there.
    pub transformation: Transformation,
    /// What has no factor of its own at the infimum.
    pub loose: Vec<LooseFactor>,
    /// Steps of Newton's method.
    pub iterations: usize,
    /// How far the value may be above the infimum, by the last step's decrement.
    pub error: f64,
    /// Has that fallen below rounding?
    pub converged: bool,
}

/// A node, or of layer-wise rescalings a tensor, whose factor the infimum does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LooseFactor {
    /// The layer with parameters, counted from 0 (in JSON from 1), that is the first to write it.
    #[serde(serialize_with = "numbering::serialize")]
    pub layer: usize,
    /// The unit or channel; none of a whole tensor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<usize>,
    /// Where it goes.
    pub tendency: Tendency,
}

/// Where a factor goes on the way to the infimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tendency {
    /// Beyond all bounds: what it multiplies would vanish from the trace, and what it divides has no curvature.
    Grows,
    /// To 0, the other way round.
    Shrinks,
    /// Nowhere: nothing depends on it, as on that of a unit that is 0 at every sample. Such factors stay as they are.
    Any,
}

/// The least trace of the Hessian, which is that of the Gauss–Newton matrix, over all rescalings of the prepared point.
///
/// # Errors
/// `NotHomogeneous` for a network that has no rescalings; as [`exact_diagonal`]; `TooLarge`.
pub async fn least_trace(engine: &Engine, options: &LeastTraceOptions, control: &Control<'_>) -> Result<LeastTrace> {
    let network = engine.problem().network();
    ensure_homogeneous(network)?;
    let diagonal = diagonal_of(engine, control).await?;
    let found = least_of(network, &diagonal, options, control).await?;
    ensure_number("the least trace", engine.info().precision, &[found.value, found.before, found.after])?;
    Ok(found)
}

/// The Hessian's diagonal, which homogeneous networks have exactly.
pub(super) async fn diagonal_of(engine: &Engine, control: &Control<'_>) -> Result<Vec<f64>> {
    let found = exact_diagonal(engine, OperatorKind::GAUSS_NEWTON, control).await?;
    Ok(found.map_or_else(Vec::new, |found| found.values))
}

/// The same of a diagonal.
pub(super) async fn least_of(
    network: &Network,
    diagonal: &[f64],
    options: &LeastTraceOptions,
    control: &Control<'_>,
) -> Result<LeastTrace> {
    let factors = match options.group {
        SymmetryGroup::Layerwise => Factors::Tensors(Tensors::of(network)?),
        SymmetryGroup::Nodewise | SymmetryGroup::Permutation => Factors::Nodes(Nodes::of(network)?),
    };
    let mut terms = terms(network, diagonal, &factors, options.biases)?;
    let before = terms.total();
    let mut ways = Ways::part(&mut terms)?;
    let Minimum { mut logarithms, value, error, iterations, converged } =
        minimum("least trace", &terms, &ways, control).await?;
    let value = value + terms.fixed;
    let rest = ways.run_away(&mut logarithms, if value > 0.0 { value } else { before });
    let mut loose = Vec::new();
    for node in 1..terms.count {
        if let Some(tendency) = ways.tendency(node) {
            let (layer, unit) = factors.place(node);
            loose.push(LooseFactor { layer, unit, tendency });
        }
    }
    let unit = terms.unit;
    Ok(LeastTrace {
        value: value * unit,
        attained: ways.is_attained(),
        before: before * unit,
        after: (value + rest) * unit,
        transformation: factors.transformation(&logarithms)?,
        loose,
        iterations,
        error: error * unit,
        converged,
    })
}

/// What has a factor of its own; number 0 is fixed.
enum Factors {
    Tensors(Tensors),
    Nodes(Nodes),
}

impl Factors {
    fn count(&self) -> usize {
        match self {
            Self::Tensors(tensors) => tensors.count,
            Self::Nodes(nodes) => nodes.count(),
        }
    }

    /// The layer that is the first to write it, and which of its rows does.
    fn place(&self, number: usize) -> (usize, Option<usize>) {
        match self {
            Self::Tensors(tensors) => {
                let writer = tensors.written.iter().position(|&written| written as usize == number);
                (writer.expect("a tensor is written"), None)
            }
            Self::Nodes(nodes) => {
                let (list, at) = nodes.place(number as u32);
                let written = &nodes.written()[list];
                (written.layer, Some(written.rows[at] as usize))
            }
        }
    }

    /// The rescaling of these logarithms.
    fn transformation(&self, logarithms: &[f64]) -> Result<Transformation> {
        Ok(match self {
            Self::Tensors(tensors) => {
                let ends = tensors.written.iter().zip(&tensors.read);
                let factor = |(&end, &start): (&u32, &u32)| logarithms[end as usize] - logarithms[start as usize];
                Transformation::Layerwise { lambda: ends.map(factor).map(f64::exp).collect() }
            }
            Self::Nodes(nodes) => {
                let mut factors: Vec<f64> = zeros("node-wise factors", logarithms.len())?;
                factors.iter_mut().zip(logarithms).for_each(|(factor, logarithm)| *factor = logarithm.exp());
                Transformation::Nodewise { factors: nodes.in_lists(&factors)? }
            }
        })
    }
}
