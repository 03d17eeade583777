//! The measures: one table of what there is, one [`Evaluator`] that computes them with shared work done once.
//!
//! A measure sees an engine or an operator, never a device. Each family has its file, with its paper in the header.

mod custom;
mod diagonal;
mod evaluator;
mod gradient;
mod hessian;
mod known;
mod norms;
pub mod petzka;
mod riemannian;
pub mod sharpness;
mod trace;

pub use custom::CustomMeasure;
pub use diagonal::{diagonal_by, exact_diagonal};
pub use evaluator::{Evaluator, MeasureOptions};
pub use known::{DENSE_LIMIT, Known};
pub use norms::{fisher_rao_norm, path_norm_squared};
pub use sharpness::SharpnessOptions;
pub use trace::{FoundTrace, TraceMethod, exact_trace, has_exact_trace, trace_by};

use serde::Serialize;

use self::custom::Custom;
use self::sharpness::{Noise, Region};
use crate::control::Control;
use crate::engine::{Engine, Precision};
use crate::error::{Result, bail};
use crate::network::Network;
use crate::operator::{Metric, OperatorKind};
use crate::symmetry::Kinds;

/// What a measure computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    Loss,
    GradientNorm,
    LargestEigenvalue(OperatorKind),
    SmallestEigenvalue(OperatorKind),
    SpectralNorm(OperatorKind),
    Trace(OperatorKind),
    FrobeniusNorm(OperatorKind),
    EpsilonSharpnessQuadratic,
    EpsilonSharpness(Region),
    SubspaceSharpness,
    AverageSharpness(Noise),
    RiemannianGradientNorm(Metric),
    FisherRaoNorm,
    PathNormSquared,
    KappaMax,
    KappaSum,
    KappaTraceMax,
    KappaTraceSum,
    RhoMax,
    RhoSum,
    RelativeFlatnessSum,
    Custom(Custom),
}

/// A measure of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Measure {
    /// Its stable name, e.g. `hessian.trace`.
    pub key: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// One sentence on what it is.
    pub description: &'static str,
    /// The symmetries under which it stands still, at every point.
    pub invariant: Kinds,
    #[serde(skip)]
    pub(crate) quantity: Quantity,
}

const NEVER_BUT_PERMUTED: Kinds = Kinds { layerwise: false, nodewise: false, permutation: true };
const LAYERWISE: Kinds = Kinds { layerwise: true, nodewise: false, permutation: true };
const ALWAYS: Kinds = Kinds { layerwise: true, nodewise: true, permutation: true };

impl Measure {
    /// All measures, family by family.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        gradient::MEASURES
            .iter()
            .chain(hessian::MEASURES)
            .chain(sharpness::MEASURES)
            .chain(riemannian::MEASURES)
            .chain(petzka::MEASURES)
            .chain(norms::MEASURES)
    }

    /// Those that are defined for a network: Petzka's need one that is piecewise linear, the path norm one of dense layers.
    pub fn defined_for(network: &Network) -> impl Iterator<Item = &'static Self> {
        let is_piecewise_linear = network.is_piecewise_linear();
        let has_path_norm = norms::has_path_norm(network);
        Self::all().filter(move |measure| match measure.quantity {
            Quantity::PathNormSquared => has_path_norm,
            _ => is_piecewise_linear || !measure.key.starts_with("petzka."),
        })
    }

    /// The measure of this name.
    ///
    /// # Errors
    /// `InvalidOption`, with the names there are.
    pub fn from_key(key: &str) -> Result<&'static Self> {
        match Self::all().find(|measure| measure.key == key) {
            Some(measure) => Ok(measure),
            None => {
                let keys: Vec<_> = Self::all().map(|measure| measure.key).collect();
                bail!(InvalidOption, "no measure is named \"{key}\"; there are {}", keys.join(", "))
            }
        }
    }
}

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
            iterations: None,
            standard_error: None,
            precision: None,
            converged: true,
            scale,
            paired: Kinds::default(),
        }
    }
}

/// Computes measures at parameters θ, in the order given.
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
