//! Theorem 4 of Dinh et al. 2017: the spectral norm of the Hessian can be made as large as one likes.
//!
//! A principal block is no larger than the whole: ‖H(T_α θ)‖₂ ≥ ‖H_l(T_α θ)‖₂ = α⁻² ‖H_l(θ)‖₂ for a layer l whose weights are
//! multiplied by α. So α = √(‖H_l‖₂ / M) suffices, at any point and any depth.

use serde::Serialize;

use super::scaling::Scaling;
use super::{Ends, OutputChange, diagonal, ends, ensure_deep, outputs_at, power_of_two_below};
use crate::control::{Control, Progress};
use crate::engine::{Curvature, Engine};
use crate::error::{Result, bail, ensure, ensure_positive};
use crate::linalg::Eigenpair;
use crate::measure::MeasureOptions;
use crate::network::numbering::{self, number_of};
use crate::operator::{CurvatureOperator, Scaled};
use crate::symmetry::{Tensors, Transformation};

/// Left between M and the bound for rounding: α is this share smaller than it need be.
const MARGIN: f64 = 1e-3;

/// How a point is to be made sharp.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SharpenOptions {
    /// M, the spectral norm that is wanted.
    pub target: f64,
    /// The parametric layer (from 0) that shrinks by α; `None` takes the one with the largest block, of
    /// those that can.
    pub layer: Option<usize>,
    /// Take α down to a power of two: then the outputs stay to the last bit.
    pub powers_of_two: bool,
}

/// A point of the same function, as sharp as was wanted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sharpened {
    /// M.
    pub target: f64,
    /// α ≤ 1; 1 where the block is as sharp as that already.
    pub alpha: f64,
    /// The layer multiplied by α.
    #[serde(serialize_with = "numbering::serialize")]
    pub layer: usize,
    /// The layer multiplied by 1/α; in a graph, where there may be several, the first.
    #[serde(serialize_with = "numbering::serialize")]
    pub compensating_layer: usize,
    /// T.
    pub transformation: Transformation,
    /// Norm of the layer's block at θ, with its residual.
    pub block: Eigenpair,
    /// α⁻² ‖H_l(θ)‖₂, what the theorem promises at least.
    pub guaranteed: f64,
    /// The ends of the spectrum of H(θ).
    pub before: Ends,
    /// The ends of the spectrum of T⁻¹ H(θ) T⁻¹: what the spectrum at T(θ) must be.
    pub predicted: Ends,
    /// The ends of the spectrum of H(T(θ)).
    pub measured: Ends,
    /// |measured − predicted| / predicted, of the spectral norm.
    pub relative_difference: f64,
    /// Is the measured norm at least M, and has the eigenvalue that it is the magnitude of converged? Of the spectrum's other end nothing is asked.
    pub reached: bool,
    /// What became of the outputs.
    pub outputs: OutputChange,
    /// L(θ).
    pub loss_before: f64,
    /// L(T(θ)).
    pub loss_after: f64,
    /// T(θ).
    #[serde(skip)]
    pub parameters: Vec<f64>,
}

/// Makes θ as sharp as wanted without changing its function. Leaves the engine prepared at T(θ).
///
/// # Errors
/// `InvalidOption` for a target that is not positive, a layer that is not there or cannot shrink, a network of one layer, or a block
/// that is 0; `NotHomogeneous`; `NotFinite` for a target beyond what numbers hold; `Aborted`; the device's.
pub async fn sharpen(
    engine: &Engine,
    parameters: &[f64],
    options: &SharpenOptions,
    estimation: &MeasureOptions,
    control: &Control<'_>,
) -> Result<Sharpened> {
    let network = engine.problem().network();
    ensure_deep(network)?;
    ensure_positive("the target M", options.target)?;
    options.layer.map(|layer| network.layout().parametric(layer)).transpose()?;
    let outputs_before = outputs_at(engine, parameters).await?;
    let loss_before = engine.loss().await?;

    let (layer, block, scaling) = sharpest_block(engine, options.layer, estimation, control).await?;
    // An eigenvalue of the block is at least this large.
    let certain = block.value.abs() - block.residual;
    let is_curved = certain > 0.0;
    ensure!(
        is_curved || block.converged,
        InvalidOption,
        "the largest eigenvalue of layer {}'s Hessian has not converged, and may be 0: it takes more products",
        number_of(layer)
    );
    ensure!(
        is_curved,
        InvalidOption,
        "the Hessian's own block of layer {} is 0 here, which is what this construction makes large: it promises nothing at this point",
        number_of(layer)
    );
    let mut alpha = ((certain / options.target).sqrt() * (1.0 - MARGIN)).min(1.0);
    if options.powers_of_two {
        alpha = power_of_two_below(alpha);
    }
    let guaranteed = certain / (alpha * alpha);
    ensure!(guaranteed.is_finite(), NotFinite, "the target {:e} is beyond what numbers hold", options.target);
    let compensating_layer = scaling.compensating().unwrap_or(layer);
    let transformation = scaling.by(alpha);
    let moved = transformation.apply(network, parameters)?;

    control.step(Progress::new("spectrum at θ", 0, 3)).await?;
    let before = ends(&CurvatureOperator::new(engine, Curvature::Hessian), estimation, control).await?;
    control.step(Progress::new("predicted spectrum", 1, 3)).await?;
    let inverse: Vec<f64> = diagonal(network, &transformation)?.iter().map(|t| 1.0 / t).collect();
    let scaled = Scaled::new(CurvatureOperator::new(engine, Curvature::Hessian), &inverse)?;
    let predicted = ends(&scaled, estimation, control).await?;
    control.step(Progress::new("spectrum at T(θ)", 2, 3)).await?;
    let outputs_after = outputs_at(engine, &moved).await?;
    let measured = ends(&CurvatureOperator::new(engine, Curvature::Hessian), estimation, control).await?;
    Ok(Sharpened {
        target: options.target,
        alpha,
        layer,
        compensating_layer,
        transformation,
        guaranteed,
        block,
        before,
        relative_difference: (measured.norm - predicted.norm).abs() / predicted.norm,
        reached: measured.dominant().converged && measured.norm >= options.target,
        predicted,
        measured,
        outputs: OutputChange::new(&outputs_before, &outputs_after),
        loss_before,
        loss_after: engine.loss().await?,
        parameters: moved,
    })
}

/// The layer whose block of the Hessian has the eigenvalue of the largest magnitude, of all that can be rescaled or of the chosen one, with
/// its rescaling.
async fn sharpest_block(
    engine: &Engine,
    chosen: Option<usize>,
    estimation: &MeasureOptions,
    control: &Control<'_>,
) -> Result<(usize, Eigenpair, Scaling)> {
    let network = engine.problem().network();
    let (layers, tensors) = (network.layout().layers(), Tensors::of(network)?);
    let mut largest: Option<(usize, Eigenpair, Scaling)> = None;
    for (l, layer) in layers.iter().enumerate().filter(|(l, _)| chosen.is_none_or(|chosen| chosen == *l)) {
        let Some(scaling) = Scaling::of_layer(&tensors, l) else { continue };
        control.step(Progress::new("layer blocks", l, layers.len())).await?;
        let mut mask = vec![0.0; network.parameter_count()];
        mask[layer.weight.clone()].fill(1.0);
        let block = Scaled::new(CurvatureOperator::new(engine, Curvature::Hessian), &mask)?;
        let found = ends(&block, estimation, control).await?;
        let pair = found.dominant().clone();
        if largest.as_ref().is_none_or(|(_, other, _)| pair.value.abs() > other.value.abs()) {
            largest = Some((l, pair, scaling));
        }
    }
    match (largest, chosen) {
        (Some(found), _) => Ok(found),
        (None, Some(layer)) => bail!(
            InvalidOption,
            "layer {} cannot shrink: what it reads and what it writes are fixed, or are added up, and have one factor",
            number_of(layer)
        ),
        (None, None) => bail!(InvalidOption, "no layer of this network can shrink without a change of its function"),
    }
}
