//! Balancing: among all rescalings of a network the one of least norm, Σ w² + Σ b² (what Jestädt 2025 suggests in the discussion of section 4.2.2; the
//! idea of equal norms is Neyshabur et al.'s 2015).
//!
//! With μ = Λ² the sum is, as a function of the μ of one node r, in_r μ_r + out_r/μ_r and what does not depend on it: in_r the squares of the
//! incoming weights and biases at the μ of the nodes that they read, out_r those of the outgoing ones at the μ of the nodes that they write. So
//! μ_r = √(out_r/in_r) minimises it; and likewise with one factor a tensor. In ln μ the whole sum is convex, so going through the nodes
//! again and again ends at its minimum.

use serde::Serialize;

use super::squares::{Squares, Sums};
use crate::control::{Control, Progress};
use crate::engine::{Precision, ensure_number};
use crate::error::{Result, ensure};
use crate::memory::filled;
use crate::network::{Network, ParametricLayer};
use crate::numbers::{largest, power_near};
use crate::symmetry::{Nodes, Tensors, Transformation, ensure_homogeneous};

/// A layer whose largest weight is below this share of the largest parameter has squares that vanish beside it.
const SMALLEST: f64 = 1e-140;

/// Nodes between two looks at the event loop.
const BREATH: usize = 256;

/// Which rescalings are considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Balance {
    /// One factor a layer.
    Layerwise,
    /// One factor a hidden unit or channel.
    Nodewise,
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BalanceOptions {
    /// Largest change of a ln Λ in a sweep over all nodes that counts as none.
    pub tolerance: f64,
    /// Most sweeps.
    pub max_sweeps: usize,
}

impl Default for BalanceOptions {
    fn default() -> Self {
        Self { tolerance: 1e-12, max_sweeps: 10_000 }
    }
}

/// The representative of least norm.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Balancing {
    /// The rescaling that leads to it.
    #[serde(skip)]
    pub transformation: Transformation,
    /// Its parameters.
    #[serde(skip)]
    pub parameters: Vec<f64>,
    /// Σ θ² before.
    pub squared_norm_before: f64,
    /// Σ θ² now.
    pub squared_norm: f64,
    /// Is it the least? Not where weights lie on no way through the network that others close, from what is fixed (inputs, biases, outputs)
    /// back to it: as they are made small the norm falls without an end. Nodes with weights on one side alone keep their factor.
    pub attained: bool,
    /// Sweeps over the nodes.
    pub sweeps: usize,
    /// Largest change of a ln Λ in the last one.
    pub change: f64,
    /// Did that fall to the tolerance?
    pub converged: bool,
}

/// The rescaling of least norm. Nodes without incoming or without outgoing weights keep their factor: their norm has no
/// minimum.
///
/// # Errors
/// `NotHomogeneous`; what [`Network::check_parameters`] says; `InvalidOption` for a tolerance below 0; `Aborted`; `NotFinite` where the
/// squared norm overflows; `NotFinite` or `InvalidTransformation` where factors do; `OutOfRange` for layers of such different size
/// that no number holds both their squares.
pub async fn balance(
    network: &Network,
    parameters: &[f64],
    kind: Balance,
    options: &BalanceOptions,
    control: &Control<'_>,
) -> Result<Balancing> {
    ensure_homogeneous(network)?;
    network.check_parameters(parameters)?;
    let is_valid = options.tolerance >= 0.0;
    ensure!(is_valid, InvalidOption, "the tolerance is {}, but must not be negative", options.tolerance);
    let layers = network.layout().layers();
    let unit = unit_of(layers, parameters)?;
    let (nodes, tensors) = (Nodes::of(network)?, Tensors::of(network)?);
    let mut squares = Vec::with_capacity(layers.len());
    for (l, layer) in layers.iter().enumerate() {
        let found = Squares::by_node(layer, l, &nodes, parameters, unit)?;
        squares.push(match kind {
            Balance::Nodewise => found,
            Balance::Layerwise => found.whole(tensors.read[l], tensors.written[l]),
        });
    }
    let count = if kind == Balance::Nodewise { nodes.count() } else { tensors.count };
    let sums = Sums::new(count, squares)?;
    let mut mu = filled("factors", 1.0, count)?;
    let (mut sweeps, mut change) = (0, if count == 1 { 0.0 } else { f64::INFINITY });
    while change > options.tolerance && sweeps < options.max_sweeps {
        control.step(Progress::new("balancing", sweeps, options.max_sweeps).with("change", change)).await?;
        change = 0.0;
        for node in 1..count {
            let (incoming, outgoing) = (sums.incoming(node as u32, &mu), sums.outgoing(node as u32, &mu));
            if incoming > 0.0 && outgoing > 0.0 {
                let best = (outgoing / incoming).sqrt();
                change = change.max((best / mu[node]).ln().abs() / 2.0);
                mu[node] = best;
            }
            if node.is_multiple_of(BREATH) {
                control.breathe().await?;
            }
        }
        sweeps += 1;
    }
    let attained = sums.has_minimum(count)?;
    mu.iter_mut().for_each(|mu| *mu = mu.sqrt());
    let transformation = match kind {
        Balance::Nodewise => Transformation::Nodewise { factors: nodes.in_lists(&mu)? },
        Balance::Layerwise => {
            let ends = tensors.written.iter().zip(&tensors.read);
            Transformation::Layerwise {
                lambda: ends.map(|(&end, &start)| mu[end as usize] / mu[start as usize]).collect(),
            }
        }
    };
    let balanced = transformation.apply(network, parameters)?;
    Ok(Balancing {
        squared_norm_before: squared_norm(parameters)?,
        squared_norm: squared_norm(&balanced)?,
        attained,
        parameters: balanced,
        transformation,
        sweeps,
        change,
        converged: change <= options.tolerance,
    })
}

/// What squares are taken in units of: a power of two of the size of the largest parameter.
fn unit_of(layers: &[ParametricLayer], parameters: &[f64]) -> Result<f64> {
    let all = largest(parameters.iter().copied());
    if all == 0.0 {
        return Ok(1.0);
    }
    for (l, layer) in layers.iter().enumerate() {
        let weights = largest(parameters[layer.weight.clone()].iter().copied());
        ensure!(
            weights == 0.0 || weights / all > SMALLEST,
            OutOfRange,
            "the largest weight of layer {} is {weights:.3e} beside parameters of {all:.3e}: no number holds both their squares",
            l + 1
        );
    }
    Ok(power_near(all))
}

/// Σ θ².
fn squared_norm(parameters: &[f64]) -> Result<f64> {
    let sum = parameters.iter().map(|w| w * w).sum();
    ensure_number("the squared norm of the parameters", Precision::F64, &[sum])?;
    Ok(sum)
}
