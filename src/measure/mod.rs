//! The measures: one table of what there is, one [`Evaluator`] that computes them with shared work done once.
//!
//! A measure sees an engine or an operator, never a device. Each family has its file, with its paper in the header.

mod evaluator;
mod gradient;
mod hessian;
mod norms;
pub mod petzka;
mod riemannian;
mod sharpness;
mod trace;

pub use evaluator::{DENSE_LIMIT, Evaluator, MeasureOptions};
pub use norms::{fisher_rao_norm, path_norm_squared};
pub use trace::{exact_trace, has_exact_trace};

use serde::Serialize;

use crate::control::Control;
use crate::engine::Engine;
use crate::error::{Result, bail};
use crate::network::Network;
use crate::operator::{Metric, OperatorKind};
use crate::symmetry::Kinds;

/// What a measure computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Quantity {
    Loss,
    GradientNorm,
    LargestEigenvalue(OperatorKind),
    SmallestEigenvalue(OperatorKind),
    SpectralNorm(OperatorKind),
    Trace(OperatorKind),
    FrobeniusNorm(OperatorKind),
    EpsilonSharpnessQuadratic,
    RiemannianGradientNorm(Metric),
    FisherRaoNorm,
    KappaMax,
    KappaSum,
    KappaTraceMax,
    KappaTraceSum,
    RhoMax,
    RhoSum,
    RelativeFlatnessSum,
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

    /// Those that are defined for a network: Petzka's need one that is piecewise linear.
    pub fn defined_for(network: &Network) -> impl Iterator<Item = &'static Self> {
        let is_piecewise_linear = network.first_inhomogeneous_layer().is_none();
        Self::all().filter(move |measure| is_piecewise_linear || !measure.key.starts_with("petzka."))
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
    /// Of a trace or norm from random probes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// Is it within the tolerance that was asked for?
    pub converged: bool,
    /// The size of the numbers it was computed from: what rounding errors are relative to.
    #[serde(skip)]
    pub(crate) scale: f64,
}

/// Computes measures at parameters θ, in the order given.
///
/// # Errors
/// What [`Engine::prepare`] says; `NotFinite` where products overflow; `Aborted`.
pub async fn measure(
    engine: &Engine,
    parameters: &[f64],
    measures: &[&'static Measure],
    options: &MeasureOptions,
    control: &Control<'_>,
) -> Result<Vec<MeasureValue>> {
    engine.prepare(parameters)?;
    let mut evaluator = Evaluator::new(engine, options, measures, control).await?;
    let mut values = Vec::with_capacity(measures.len());
    for measure in measures {
        values.push(evaluator.value(measure).await?);
    }
    Ok(values)
}
