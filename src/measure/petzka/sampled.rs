//! The traces of Petzka's Table 1 from random cotangents: a few backward passes instead of one for each of many classes.
//!
//! For cross-entropy a class c is drawn from the network's own p for every sample, and r = e_c − p has E r rᵀ = diag p − p pᵀ =
//! ∂²ℓ/∂ŷ²; for the squared error r = √2 s with random signs s. Every sum of [`LayerSums`] is quadratic in r, and so unbiased.

use rand::Rng;

use super::{Traces, ensure_piecewise_linear, squared_norms};
use crate::control::{Control, Progress};
use crate::engine::{Cotangent, Engine, LayerSums};
use crate::error::{Result, ensure};
use crate::linalg::{generator, mean_and_error};
use crate::problem::Loss;

/// Numbers that the cotangents of one sweep may take.
const NUMBERS: usize = 1 << 24;

/// Most cotangents that go through together.
const TOGETHER: usize = 16;

/// Estimates of κ_τ, ρ and the relative flatness, with their standard errors over the draws.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledTraces {
    /// The means, in the form of the exact ones.
    pub traces: Traces,
    /// Standard errors of ‖W_l‖² Tr H_l.
    pub kappa_trace_error: Vec<f64>,
    /// Standard errors of ρ_l(j), layer by layer.
    pub rho_error: Vec<Vec<f64>>,
    /// Standard errors of the relative flatness of each layer.
    pub relative_flatness_error: Vec<f64>,
    /// What each draw left at each layer.
    pub draws: Vec<Vec<LayerSums>>,
    squared_norms: Vec<f64>,
}

impl SampledTraces {
    /// Mean and standard error of any sum over layers and neurons, such as κ_τ^Σ or ρ^Σ: layers share their draws, so that their
    /// errors do not simply add. `f` gets one draw and ‖W_l‖² of every layer, and must be linear in the draw.
    pub fn estimate(&self, f: impl Fn(&[LayerSums], &[f64]) -> f64) -> (f64, f64) {
        let values: Vec<f64> = self.draws.iter().map(|draw| f(draw, &self.squared_norms)).collect();
        mean_and_error(&values)
    }

    /// κ_τ^Σ and its standard error.
    pub fn kappa_trace_sum(&self) -> (f64, f64) {
        self.estimate(|layers, norms| layers.iter().zip(norms).map(|(layer, norm)| norm * layer.trace).sum())
    }

    /// ρ^Σ and its standard error.
    pub fn rho_sum(&self) -> (f64, f64) {
        self.estimate(|layers, _| layers.iter().flat_map(|layer| &layer.rho).sum())
    }
}

/// κ_τ, ρ and the relative flatness of every layer at the prepared point from this many draws (at least 2).
///
/// # Errors
/// `InvalidOption` for fewer than 2 draws; `NotHomogeneous` for a network that is not piecewise linear; `NotFinite` for outputs
/// that overflow; `Aborted`; the device's.
pub async fn sampled_traces(engine: &Engine, draws: usize, seed: u64, control: &Control<'_>) -> Result<SampledTraces> {
    ensure_piecewise_linear(engine)?;
    ensure!(draws >= 2, InvalidOption, "sampled traces need at least 2 draws, for their standard errors");
    let problem = engine.problem();
    let width = problem.network().output_len();
    let outputs = engine.outputs().await?;
    crate::error::ensure_finite("outputs", &outputs)?;
    let mut rng = generator(seed);
    let together = (NUMBERS / outputs.len().max(1)).clamp(1, TOGETHER);
    let mut found: Vec<Vec<LayerSums>> = Vec::with_capacity(draws);
    while found.len() < draws {
        control.step(Progress::new("cotangent sweep", found.len(), draws)).await?;
        let cotangent = |_| match problem.loss() {
            Loss::CrossEntropy => {
                Cotangent::Drawn(outputs.chunks(width).map(|z| draw_class(z, rng.random())).collect())
            }
            Loss::SquaredError => {
                Cotangent::Signs(outputs.iter().map(|_| if rng.random::<bool>() { 1.0 } else { -1.0 }).collect())
            }
        };
        let some: Vec<Cotangent> = (0..together.min(draws - found.len())).map(cotangent).collect();
        found.extend(engine.executor().sweep(&some).await?);
    }
    let squared_norms = squared_norms(engine)?;
    let over = |f: &dyn Fn(&[LayerSums]) -> f64| mean_and_error(&found.iter().map(|d| f(d)).collect::<Vec<_>>());
    let mut layers = Vec::new();
    let (mut kappa_trace_error, mut rho_error, mut relative_flatness_error) = (Vec::new(), Vec::new(), Vec::new());
    for (l, norm) in squared_norms.iter().enumerate() {
        let mut sums = found[0][l].clone();
        found[1..].iter().for_each(|draw| sums.add(&draw[l]));
        sums.scale(1.0 / draws as f64);
        kappa_trace_error.push(norm * over(&|draw| draw[l].trace).1);
        rho_error.push((0..sums.rho.len()).map(|j| over(&|draw| draw[l].rho[j]).1).collect());
        relative_flatness_error.push(over(&|draw| draw[l].relative_flatness).1);
        layers.push(sums);
    }
    let kappa_trace = squared_norms.iter().zip(&layers).map(|(norm, layer)| norm * layer.trace).collect();
    let traces = Traces { layers, kappa_trace };
    Ok(SampledTraces { traces, kappa_trace_error, rho_error, relative_flatness_error, draws: found, squared_norms })
}

/// The class at which the softmax's running sum passes `level`, a uniform number.
fn draw_class(outputs: &[f64], level: f64) -> u32 {
    let largest = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights = || outputs.iter().map(|z| (z - largest).exp());
    let mut left = level * weights().sum::<f64>();
    for (class, weight) in weights().enumerate() {
        left -= weight;
        if left < 0.0 {
            return class as u32;
        }
    }
    outputs.len() as u32 - 1
}
