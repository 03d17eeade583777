//! Balancing: among all rescalings of a network the one of least norm, Σ w² + Σ b² (the outlook of Jestädt 2025, section 4.2.2; the
//! idea of equal norms is Neyshabur et al.'s 2015).
//!
//! With μ = Λ² the sum is, as a function of one hidden layer's μ, Σ_r (in_r μ_r + out_r/μ_r): in_r the squares of the incoming weights
//! and bias of unit r at the layer before's μ, out_r those of the outgoing ones at the next layer's. So μ_r = √(out_r/in_r) minimises it, and for
//! one factor a layer √(Σ out / Σ in). In ln μ the whole sum is convex, so going through the layers again and again ends at its minimum.

use serde::Serialize;

use crate::control::{Control, Progress};
use crate::engine::{Precision, ensure_number};
use crate::error::{Result, ensure};
use crate::network::{Network, ParametricLayer};
use crate::numbers::{largest, power_near};
use crate::symmetry::{Transformation, ensure_homogeneous};

/// A layer whose largest weight is below this share of the largest parameter has squares that vanish beside it.
const SMALLEST: f64 = 1e-140;

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
    /// Largest change of a ln Λ in a sweep over all layers that counts as none.
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
    /// Sweeps over the layers.
    pub sweeps: usize,
    /// Largest change of a ln Λ in the last one.
    pub change: f64,
    /// Did that fall to the tolerance?
    pub converged: bool,
}

/// Squares of a layer's weights, taken together by units, (units, units before), and of its biases.
struct Squares {
    weights: Vec<f64>,
    biases: Vec<f64>,
    before: usize,
}

impl Squares {
    /// In units of `unit`², a power of two of the size of the largest parameter.
    fn of(layer: &ParametricLayer, parameters: &[f64], unit: f64) -> Self {
        let square = |values: &[f64]| values.iter().map(|w| (w / unit) * (w / unit)).sum::<f64>();
        let weights = parameters[layer.weight.clone()].chunks_exact(layer.columns_per_unit).map(square).collect();
        let biases = match &layer.bias {
            Some(bias) => parameters[bias.clone()].iter().map(|b| (b / unit) * (b / unit)).collect(),
            None => vec![0.0; layer.outputs],
        };
        Self { weights, biases, before: layer.inputs / layer.columns_per_unit }
    }

    /// Σ_c S[r, c] / μ[c] + b_r² for every unit r.
    fn incoming(&self, mu: Option<&Vec<f64>>) -> Vec<f64> {
        let rows = self.weights.chunks_exact(self.before).zip(&self.biases);
        rows.map(|(row, bias)| {
            bias + row.iter().enumerate().map(|(c, square)| square / mu.map_or(1.0, |mu| mu[c])).sum::<f64>()
        })
        .collect()
    }

    /// Σ_r S[r, c] μ[r] for every unit c before.
    fn outgoing(&self, mu: Option<&Vec<f64>>) -> Vec<f64> {
        let mut sums = vec![0.0; self.before];
        for (r, row) in self.weights.chunks_exact(self.before).enumerate() {
            let factor = mu.map_or(1.0, |mu| mu[r]);
            sums.iter_mut().zip(row).for_each(|(sum, square)| *sum += square * factor);
        }
        sums
    }
}

/// The rescaling of least norm. Units without incoming or without outgoing weights keep their factor: their norm has no
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
    let squares: Vec<Squares> = layers.iter().map(|layer| Squares::of(layer, parameters, unit)).collect();
    let mut mu: Vec<Vec<f64>> = layers[..layers.len() - 1].iter().map(|layer| vec![1.0; layer.outputs]).collect();
    let (mut sweeps, mut change) = (0, if mu.is_empty() { 0.0 } else { f64::INFINITY });
    while change > options.tolerance && sweeps < options.max_sweeps {
        control.step(Progress::new("balancing", sweeps, options.max_sweeps).with("change", change)).await?;
        change = 0.0;
        for l in 0..mu.len() {
            let mut incoming = squares[l].incoming(l.checked_sub(1).map(|before| &mu[before]));
            let mut outgoing = squares[l + 1].outgoing(mu.get(l + 1));
            if kind == Balance::Layerwise {
                let (total_in, total_out) = (incoming.iter().sum(), outgoing.iter().sum());
                incoming.fill(total_in);
                outgoing.fill(total_out);
            }
            for ((mu, incoming), outgoing) in mu[l].iter_mut().zip(incoming).zip(outgoing) {
                if incoming > 0.0 && outgoing > 0.0 {
                    let best = (outgoing / incoming).sqrt();
                    change = change.max((best / *mu).ln().abs() / 2.0);
                    *mu = best;
                }
            }
        }
        sweeps += 1;
    }
    let factors: Vec<Vec<f64>> = mu.iter().map(|mu| mu.iter().map(|mu| mu.sqrt()).collect()).collect();
    let transformation = match kind {
        Balance::Nodewise => Transformation::Nodewise { factors },
        Balance::Layerwise => {
            // Of a layer's factors Λ_l, all equal, λ_l = Λ_l/Λ_{l−1}.
            let ends: Vec<f64> = factors.iter().map(|factors| factors[0]).chain([1.0]).collect();
            let lambda = ends.iter().enumerate().map(|(l, end)| end / if l == 0 { 1.0 } else { ends[l - 1] });
            Transformation::Layerwise { lambda: lambda.collect() }
        }
    };
    let balanced = transformation.apply(network, parameters)?;
    Ok(Balancing {
        squared_norm_before: squared_norm(parameters)?,
        squared_norm: squared_norm(&balanced)?,
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
