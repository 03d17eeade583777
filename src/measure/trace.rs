//! Exact traces by the cotangent sweep: what Hutchinson's method estimates, from one backward pass for each output.
//!
//! z_l is linear in (W_l, b_l), and a piecewise linear network stays so behind it. The Hessian's diagonal blocks over the
//! parameters of one layer, weight and bias together, are therefore those of the Gauss–Newton matrix, and H has its trace:
//! Tr H = Tr G = Σ over layers of the squared lengths of the cotangents' gradients. D H D likewise, with the entries of D²
//! before the squares. The Levi-Civita connection adds, for a block w of n entries with gradient g,
//! Tr (w gᵀ + g wᵀ − (w·g) I) = (2 − n) (w·g), and w·g itself for n = 1. The trace of G needs no piecewise linear network.

use std::ops::Range;

use serde::Deserialize;

use super::petzka;
use crate::control::Control;
use crate::engine::{Engine, LayerSums};
use crate::error::Result;
use crate::linalg::{TraceEstimate, ensure_enough, hutch_plus_plus, hutchinson};
use crate::network::{Network, ParametricLayer};
use crate::numbers::norm;
use crate::operator::{Connection, Metric, OperatorKind, Part, Whole};

/// A trace with the size of what it is the sum of, which its rounding is relative to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Trace {
    pub value: f64,
    pub scale: f64,
}

/// Does the sweep give this operator's trace exactly? It does for all of a piecewise linear network, and for the
/// Gauss–Newton ones of any.
pub fn has_exact_trace(network: &Network, kind: OperatorKind) -> bool {
    kind.whole.is_gauss_newton() || network.is_piecewise_linear()
}

/// The trace of an operator at the prepared point, by one backward pass for each output; `None` where that does not give it
/// (see [`has_exact_trace`]).
///
/// # Errors
/// `InvalidParameters` if no point is prepared; `InvalidOption` for a layer that is not there; `NotFinite` where it overflows;
/// `Aborted`; the device's.
pub async fn exact_trace(engine: &Engine, kind: OperatorKind, control: &Control<'_>) -> Result<Option<f64>> {
    if !has_exact_trace(engine.problem().network(), kind) {
        return Ok(None);
    }
    let sums = petzka::sweep(engine, control).await?;
    Ok(Some(trace_of(engine, kind, &sums).await?.value))
}

/// How a trace is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceMethod {
    /// Exactly by a sweep where that gives it, otherwise by Hutch++.
    #[default]
    Auto,
    /// [`hutchinson`].
    Hutchinson,
    /// [`hutch_plus_plus`].
    HutchPlusPlus,
}

/// The trace of an operator at the prepared point, and what it was found by: `sweep`, `hutchinson` or `hutch_plus_plus`.
///
/// # Errors
/// As [`exact_trace`], [`hutchinson`] and [`hutch_plus_plus`].
pub async fn trace_by(
    engine: &Engine,
    kind: OperatorKind,
    method: TraceMethod,
    probes: usize,
    seed: u64,
    control: &Control<'_>,
) -> Result<(TraceEstimate, &'static str)> {
    // Whether or not a sweep spares them.
    if method != TraceMethod::Hutchinson {
        ensure_enough(probes)?;
    }
    if method == TraceMethod::Auto
        && let Some(value) = exact_trace(engine, kind, control).await?
    {
        return Ok((TraceEstimate { value, standard_error: 0.0, probes: 0 }, "sweep"));
    }
    let operator = kind.operator(engine).await?;
    Ok(match method {
        TraceMethod::Hutchinson => (hutchinson(&operator, probes, seed, control).await?, "hutchinson"),
        _ => (hutch_plus_plus(&operator, probes, seed, control).await?, "hutch_plus_plus"),
    })
}

/// The trace of an operator that has an exact one, from the sums of a sweep over all cotangents.
pub(crate) async fn trace_of(engine: &Engine, kind: OperatorKind, sums: &[LayerSums]) -> Result<Trace> {
    let layout = engine.problem().network().layout();
    // Fails for a layer that is not there.
    let blocks = kind.blocks(layout)?;
    let theta = engine.parameters()?;
    // ‖w‖² times a trace, which may be a number where ‖w‖² is none.
    let scaled = |range: &Range<usize>, trace: f64| {
        let length = norm(theta[range.clone()].iter().copied());
        if trace == 0.0 { 0.0 } else { length * trace * length }
    };
    // The shares of a layer's weight and of its bias.
    let shares = |layer: &ParametricLayer, sums: &LayerSums| match kind.whole.metric() {
        Some(Metric::Layerwise) => {
            let bias = layer.bias.as_ref().map_or(0.0, |bias| scaled(bias, sums.bias_trace));
            (scaled(&layer.weight, sums.weight_trace), bias)
        }
        Some(Metric::Nodewise) => (sums.scaled_trace, sums.scaled_bias_trace),
        None => (sums.weight_trace, sums.bias_trace),
    };
    let layers = layout.layers().iter().zip(sums).map(|(layer, sums)| shares(layer, sums));
    let value = match kind.part {
        None => layers.map(|(weight, bias)| weight + bias).sum(),
        Some(Part::Weights) => layers.map(|(weight, _)| weight).sum(),
        Some(Part::Layer(l)) => layers.map(|(weight, _)| weight).nth(l).unwrap_or(0.0),
    };
    let mut trace = Trace { value, scale: value };
    if let Whole::Riemannian(metric, Connection::LeviCivita) = kind.whole {
        let g = engine.gradient().await?;
        for block in blocks {
            let factor = match metric {
                Metric::Layerwise => 2.0 - block.len() as f64,
                Metric::Nodewise => 1.0,
            };
            for i in block {
                trace.value += factor * theta[i] * g[i];
                trace.scale += (factor * theta[i] * g[i]).abs();
            }
        }
    }
    crate::engine::ensure_number("the trace", engine.info().precision, &[trace.value])?;
    Ok(trace)
}
