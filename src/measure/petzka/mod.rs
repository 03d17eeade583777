//! Petzka et al. 2019 (Table 1): κ, κ_τ and ρ of every layer and neuron, and the relative flatness of Petzka et al. 2021.
//!
//! Within one layer's weights a piecewise linear network is linear, so the layer's block of the Hessian is its block of
//! the Gauss–Newton matrix, and one backward pass from each of C cotangents gives all traces and all ρ exactly. κ and κ_τ are
//! defined for any other network too, whose layers have Hessians of their own: rescalings are what such a network lacks.

mod features;
mod sampled;

pub use features::{FeatureMatrix, FeatureRobustness, NoiseInjection, feature_robustness, noise_injection};
pub use sampled::{SampledTraces, sampled_traces};

use super::evaluator::is_lost;
use super::known::Known;
use super::row::{ALWAYS, AtPoint, Compute, Cost, Domain, Family, LAYERWISE};
use super::{Measure, MeasureValue};
use crate::control::{Control, Progress};
use crate::engine::{Cotangent, Engine, LayerSums, ensure_number};
use crate::error::{Result, bail};
use crate::linalg::{Eigenpair, Goal};
use crate::measure::MeasureOptions;
use crate::numbers::norm;
use crate::operator::{OperatorKind, Part};

/// Cotangents that go through together: between two batches of them the work may stop.
const TOGETHER: usize = 16;

/// What the rows have in common.
const fn petzka(cost: Cost, by: AtPoint) -> Measure {
    Measure {
        paper: "Petzka et al. 2019, Table 1",
        defined_for: Domain::PiecewiseLinear,
        invariant: LAYERWISE,
        ..Measure::new(Family::Petzka, cost, Compute::Point(by))
    }
}

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        key: "petzka.kappa_max",
        title: "Petzka’s κ, largest layer",
        description: "Largest κ of a layer: ‖W_l‖² times the largest eigenvalue of the layer's Hessian.",
        defined_for: Domain::Any,
        ..petzka(Cost::Eigenvalues, |known, row| Box::pin(kappas(known, row, largest)))
    },
    Measure {
        key: "petzka.kappa_sum",
        title: "Petzka’s κ, sum",
        description: "Sum over the layers of κ.",
        defined_for: Domain::Any,
        ..petzka(Cost::Eigenvalues, |known, row| Box::pin(kappas(known, row, sum)))
    },
    Measure {
        key: "petzka.kappa_trace_max",
        title: "Petzka’s κ_τ (trace), largest layer",
        description: "Largest κ_τ of a layer: ‖W_l‖² times the trace of the layer's Hessian.",
        defined_for: Domain::Any,
        ..petzka(Cost::Sweep, |known, row| Box::pin(kappa_traces_of(known, row, largest)))
    },
    Measure {
        key: "petzka.kappa_trace_sum",
        title: "Petzka’s κ_τ (trace), sum",
        description: "Sum over the layers of κ_τ: the trace of the layer-wise Riemannian Hessian over the weights.",
        defined_for: Domain::Any,
        ..petzka(Cost::Sweep, |known, row| Box::pin(kappa_traces_of(known, row, sum)))
    },
    Measure {
        key: "petzka.rho_max",
        title: "Petzka’s ρ, largest neuron",
        description: "Largest ρ of a neuron: curvature along the weights that leave it, at their own length.",
        invariant: ALWAYS,
        ..petzka(Cost::Sweep, |known, row| Box::pin(swept(known, row, rhos_of, largest)))
    },
    Measure {
        key: "petzka.rho_sum",
        title: "Petzka’s ρ, sum",
        description: "Sum over all neurons of ρ.",
        invariant: ALWAYS,
        ..petzka(Cost::Sweep, |known, row| Box::pin(swept(known, row, rhos_of, sum)))
    },
    Measure {
        key: "petzka.relative_flatness_sum",
        title: "Relative flatness, sum",
        paper: "Petzka et al. 2021",
        description: "Sum over the layers of Σ ⟨w_s, w_s'⟩ Tr H_(s, s') over the pairs of a layer's rows, of a convolution its channels.",
        ..petzka(Cost::Sweep, |known, row| Box::pin(swept(known, row, Traces::relative_flatness, sum)))
    },
];

/// What the layers' κ come to.
async fn kappas(known: &mut Known<'_, '_>, row: &Measure, join: fn(&[f64]) -> f64) -> Result<MeasureValue> {
    let pairs = known.kappa().await?;
    let (values, residuals): (Vec<f64>, Vec<f64>) = pairs.iter().map(|pair| (pair.value, pair.residual)).unzip();
    Ok(MeasureValue {
        residual: Some(join(&residuals)),
        converged: pairs.iter().all(|pair| pair.converged),
        ..row.exact(join(&values), sum(&values))
    })
}

/// What the layers' κ_τ come to: exactly by a sweep of a piecewise linear network, by probes of others' Hessians.
async fn kappa_traces_of(known: &mut Known<'_, '_>, row: &Measure, join: fn(&[f64]) -> f64) -> Result<MeasureValue> {
    let (mut values, mut errors, mut products) = (Vec::new(), Vec::new(), None);
    for (layer, norm) in norms(known.engine)?.into_iter().enumerate() {
        let trace = known.trace(OperatorKind::HESSIAN.over(Part::Layer(layer))).await?;
        values.push(norm * trace.value * norm);
        errors.extend(trace.standard_error.map(|error| norm * error * norm));
        products = trace.iterations.map(|more| products.unwrap_or(0) + more);
    }
    ensure_number("a trace of a layer", known.engine.info().precision, &values)?;
    // The layers' probes are the same ones: their errors add at most.
    let standard_error = (!errors.is_empty()).then(|| join(&errors));
    let scale = values.iter().map(|value| value.abs()).sum();
    Ok(MeasureValue { standard_error, iterations: products, ..row.exact(join(&values), scale) })
}

/// What numbers of a sweep come to.
async fn swept(
    known: &mut Known<'_, '_>,
    row: &Measure,
    numbers: fn(&Traces) -> Vec<f64>,
    join: fn(&[f64]) -> f64,
) -> Result<MeasureValue> {
    let numbers = numbers(&known.traces().await?);
    Ok(row.exact(join(&numbers), sum(&numbers)))
}

fn rhos_of(traces: &Traces) -> Vec<f64> {
    traces.rho().flatten().copied().collect()
}

fn sum(numbers: &[f64]) -> f64 {
    numbers.iter().sum()
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(f64::NEG_INFINITY, |m, &number| f64::max(m, number))
}

/// Every trace of Petzka's Table 1, layer by layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Traces {
    /// What the cotangents left, summed.
    pub layers: Vec<LayerSums>,
    /// ‖W_l‖² Tr H_l.
    pub kappa_trace: Vec<f64>,
}

impl Traces {
    /// From the sums of a sweep over all cotangents.
    pub(crate) fn of(engine: &Engine, layers: Vec<LayerSums>) -> Result<Self> {
        let kappa_trace = kappa_traces(engine, &layers)?;
        Ok(Self { layers, kappa_trace })
    }

    /// ρ_l(j) for every unit or channel j that comes into layer l.
    pub fn rho(&self) -> impl Iterator<Item = &[f64]> {
        self.layers.iter().map(|layer| layer.column_forms.as_slice())
    }

    /// Relative flatness of every layer; a convolution's rows are its channels, as W_l (channels, inputs × kernel) has them, where
    /// Petzka et al. 2021 speak of dense layers.
    pub fn relative_flatness(&self) -> Vec<f64> {
        self.layers.iter().map(|layer| layer.gram_trace).collect()
    }
}

/// Fails for a network with an activation that is not piecewise linear: its layers' Hessians are not Gauss–Newton blocks.
pub(super) fn ensure_piecewise_linear(engine: &Engine) -> Result<()> {
    match engine.problem().network().first_curved_layer() {
        None => Ok(()),
        Some((i, layer)) => bail!(
            NotHomogeneous,
            "layers[{i}] ({}) is not piecewise linear, so Petzka's measures are not defined by backward passes",
            layer.name()
        ),
    }
}

/// κ_τ, ρ and the relative flatness of every layer at the prepared point, by one backward pass for each output.
///
/// # Errors
/// `NotHomogeneous` for a network that is not piecewise linear; `Aborted`; the device's.
pub async fn traces(engine: &Engine, control: &Control<'_>) -> Result<Traces> {
    ensure_piecewise_linear(engine)?;
    Traces::of(engine, sweep(engine, control).await?)
}

/// What the cotangents of all outputs leave at every layer, summed. Of a network that is not piecewise linear it is about the
/// Gauss–Newton matrix alone. Where a rescaling has made a layer's gradients so small that single precision loses their squares, though
/// none of what they are multiplied by would be, the CPU sweeps in f64.
pub(crate) async fn sweep(engine: &Engine, control: &Control<'_>) -> Result<Vec<LayerSums>> {
    let mut layers: Vec<LayerSums> = Vec::new();
    for (progress, some) in cotangents(engine) {
        control.step(progress).await?;
        for sums in engine.sweep(&some).await? {
            add(&mut layers, &sums);
        }
    }
    if layers.iter().any(|layer| is_lost(engine, layer.weight_trace)) {
        return Box::pin(sweep(&engine.in_f64_here().await?, control)).await;
    }
    Ok(layers)
}

/// The cotangents of all outputs, in the groups that go through together, with what to report before each.
pub(super) fn cotangents(engine: &Engine) -> impl Iterator<Item = (Progress, Vec<Cotangent>)> {
    let outputs = engine.problem().network().output_len();
    (0..outputs).step_by(TOGETHER).map(move |first| {
        let group = first..outputs.min(first + TOGETHER);
        (Progress::new("cotangent sweep", first, outputs), group.map(Cotangent::Class).collect())
    })
}

fn add(layers: &mut Vec<LayerSums>, sums: &[LayerSums]) {
    if layers.is_empty() {
        *layers = sums.to_vec();
        return;
    }
    for (layer, sums) in layers.iter_mut().zip(sums) {
        layer.add(sums);
    }
}

fn kappa_traces(engine: &Engine, layers: &[LayerSums]) -> Result<Vec<f64>> {
    let traces: Vec<f64> =
        norms(engine)?.iter().zip(layers).map(|(norm, layer)| norm * layer.weight_trace * norm).collect();
    let numbers = layers.iter().flat_map(|layer| layer.column_forms.iter().chain([&layer.gram_trace]));
    let numbers: Vec<f64> = numbers.chain(&traces).copied().collect();
    ensure_number("a trace of a layer", engine.info().precision, &numbers)?;
    Ok(traces)
}

/// ‖W_l‖ of every layer. Its square times a trace may be a number where the square is none.
fn norms(engine: &Engine) -> Result<Vec<f64>> {
    let parameters = engine.parameters()?;
    let layers = engine.problem().network().layout().layers();
    Ok(layers.iter().map(|layer| norm(parameters[layer.weight.clone()].iter().copied())).collect())
}

/// ‖W_l‖² of every layer.
fn squared_norms(engine: &Engine) -> Result<Vec<f64>> {
    Ok(norms(engine)?.into_iter().map(|norm| norm * norm).collect())
}

/// κ of every layer at the prepared point: ‖W_l‖² λ_max(H_l), by Lanczos on the layer's block. The pairs' values and
/// residuals are multiplied by ‖W_l‖².
///
/// # Errors
/// `NotFinite` where products overflow; `Aborted`; the device's.
pub async fn kappa(engine: &Engine, options: &MeasureOptions, control: &Control<'_>) -> Result<Vec<Eigenpair>> {
    let mut found = Vec::new();
    for layer in 0..engine.problem().network().layout().layers().len() {
        found.push(kappa_of(engine, layer, options, control).await?);
    }
    Ok(found)
}

/// κ of one layer.
async fn kappa_of(engine: &Engine, layer: usize, options: &MeasureOptions, control: &Control<'_>) -> Result<Eigenpair> {
    let norm = norms(engine)?[layer];
    // The block of the Hessian is that of the Gauss–Newton matrix where it can be, and that is never negative.
    let (whole, goal) = match engine.problem().network().is_piecewise_linear() {
        true => (OperatorKind::GAUSS_NEWTON, Goal::SpectralNorm),
        false => (OperatorKind::HESSIAN, Goal::Extremes { top: 1, bottom: 0 }),
    };
    let block = whole.over(Part::Layer(layer)).operator(engine).await?;
    let spectrum = options.lanczos(goal).run(&block, control).await?;
    let found = if goal == Goal::SpectralNorm { spectrum.dominant() } else { spectrum.top.first() };
    let pair = found.cloned().expect("a spectrum has an end");
    let (value, residual) = (norm * pair.value * norm, norm * pair.residual * norm);
    ensure_number("κ", engine.info().precision, &[value, residual])?;
    let error_bound = pair.error_bound.map(|bound| norm * bound * norm);
    Ok(Eigenpair { value, residual, error_bound, ..pair })
}
