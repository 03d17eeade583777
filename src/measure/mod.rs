//! The measures: one table of what there is, one [`Evaluator`] that computes them with shared work done once.
//!
//! A measure is a row: its names, its meaning, and the function that computes it from what is [`Known`] at a point. It sees an engine
//! or an operator, never a device. Each family has its file, with its paper in the header.

mod balance;
mod curvature_matrix;
mod custom;
mod diagonal;
mod draft;
mod evaluator;
mod gradient;
mod hessian;
mod known;
mod least_trace;
mod normalized_sharpness;
mod norms;
pub mod petzka;
mod riemannian;
mod row;
pub mod sharpness;
mod spectral;
mod trace;

pub use custom::CustomMeasure;
pub use diagonal::{diagonal_by, exact_diagonal};
pub use evaluator::{Evaluator, MeasureOptions};
pub use known::{DENSE_LIMIT, Known};
pub use least_trace::{LeastTrace, LeastTraceOptions, LooseFactor, Tendency, least_trace};
pub use norms::{fisher_rao_norm, path_norm_squared};
pub use row::{Cost, Domain, Family, Measure};
pub use sharpness::SharpnessOptions;
pub use trace::{TraceMethod, exact_trace, has_exact_trace, trace_by};

use serde::Serialize;

use crate::control::Control;
use crate::engine::{Engine, Precision};
use crate::error::Result;
use crate::symmetry::Kinds;

/// A measure's value with what says how far to trust it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MeasureValue {
    /// The measure's name.
    pub key: &'static str,
    /// Its value.
    pub value: f64,
    /// An eigenvalue's residual ‖A v − λ v‖.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
    /// How far off an eigenvalue may be, where that is less than its residual.
    #[serde(skip)]
    pub error_bound: Option<f64>,
    /// Products it took (shared by measures of one operator).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<usize>,
    /// Of a mean over random draws, such as a trace or norm from random probes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// What gave the number, where it may not have been the engine's own precision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// Is it within the tolerance that was asked for?
    pub converged: bool,
    /// The size of the numbers it was computed from: what rounding errors are relative to.
    #[serde(skip)]
    pub scale: f64,
    /// The maps that carry the random draws along, so that the standard error says nothing of a change under them.
    #[serde(skip)]
    pub paired: Kinds,
}

impl MeasureValue {
    /// A value that is exact but for rounding, relative to numbers of size `scale`.
    pub fn exact(key: &'static str, value: f64, scale: f64) -> Self {
        Self {
            key,
            value,
            residual: None,
            error_bound: None,
            iterations: None,
            standard_error: None,
            precision: None,
            converged: true,
            scale,
            paired: Kinds::default(),
        }
    }
}

/// Computes measures at parameters θ, in the order given. Prepares θ, and leaves the engine there.
///
/// # Errors
/// What [`Engine::prepare`] says; `NotFinite` where a measure, or what it is computed from, overflows; `Aborted`.
pub async fn measure(
    engine: &Engine,
    parameters: &[f64],
    measures: &[&'static Measure],
    options: &MeasureOptions,
    control: &Control<'_>,
) -> Result<Vec<MeasureValue>> {
    engine.prepare(parameters).await?;
    let mut evaluator = Evaluator::new(engine, options, measures, control).await?;
    let mut values = Vec::with_capacity(measures.len());
    for measure in measures {
        values.push(evaluator.value(measure).await?);
    }
    Ok(values)
}
