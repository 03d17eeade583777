//! Feature robustness (Petzka et al. 2019, Appendix D): how the loss changes when the features φ(x) that enter a layer become
//! φ(x) + δ A φ(x), and noise injection (D.1), its mean over random A.
//!
//! W (φ + δ A φ) is W (I + δ A) φ: a change of the layer's weights. At a minimum, to second order, it raises the loss by at most
//! (δ²/2) ‖A‖² ‖W‖² λ_max(H_l), which is (δ²/2) κ_l for ‖A‖ ≤ 1. Over random orthogonal A the mean of A φ φᵀ Aᵀ is ‖φ‖² I / m, so
//! that noise injection raises a dense layer's loss by δ²/(2 m) times its relative flatness.
//!
//! The bound is for the mean over the samples (D.2): any sample can be moved any way by some A, but an A that moves neighbours at a
//! distance ε apart has ‖A‖ ≥ √2/ε, and its bound says nothing.

use serde::Serialize;

use super::{kappa_of, traces};
use crate::control::{Control, Progress};
use crate::engine::{Engine, Precision, ensure_number};
use crate::error::{Result, ensure};
use crate::linalg::{Eigenpair, orthonormal_columns, symmetric_eigenvalues};
use crate::measure::MeasureOptions;
use crate::measure::sharpness::Probe;
use crate::memory::{collected, copied, room, zeros};
use crate::network::numbering::{self, number_of};
use crate::network::{Layer, ParametricLayer};
use crate::numbers::{Samples, largest};
use crate::random::seed_of_draw;

/// Draws of noise injection that are told one by one.
const KEPT: usize = 1000;

/// A, which acts on the units that enter a layer: on channels before a convolution, or behind a flatten. Before a layer in groups (a
/// depthwise convolution, a scale) it has one block a group, all of them the same: what mixes groups is no change of its weights.
#[derive(Debug, Clone, PartialEq)]
pub enum FeatureMatrix {
    /// m × m, row-major, m being the units that enter, of a layer in groups those of a group.
    Given(Vec<f64>),
    /// Uniformly random among the orthogonal ones.
    Orthogonal {
        /// The same seed draws the same matrix.
        seed: u64,
    },
}

/// The loss under a change of features, and its bound.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FeatureRobustness {
    /// The parametric layer whose inputs change, from 0 (in JSON from 1).
    #[serde(serialize_with = "numbering::serialize")]
    pub layer: usize,
    /// δ.
    pub delta: f64,
    /// Mean over the samples of ℓ with φ + δ A φ, minus ℓ.
    pub value: f64,
    /// What the gradient alone makes of it, δ ⟨∇W, W A⟩: 0 at a minimum.
    pub first_order: f64,
    /// (δ²/2) ‖A‖² ‖W‖² λ_max(H_l): at a minimum, to second order, the value is no larger.
    pub bound: f64,
    /// ‖A‖₂.
    pub matrix_norm: f64,
    /// κ_l = ‖W‖² λ_max(H_l).
    pub kappa: Eigenpair,
    /// What gave the number.
    pub precision: Precision,
    /// Was the engine's own precision too coarse for the difference, so that the CPU took over in f64?
    pub fell_back: bool,
    /// How much the loss changes when θ is rounded another way.
    pub resolution: f64,
    /// Is the value more than rounding, to three digits?
    pub resolved: bool,
}

/// Feature robustness at random orthogonal matrices.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NoiseInjection {
    /// The parametric layer whose inputs change, from 0 (in JSON from 1).
    #[serde(serialize_with = "numbering::serialize")]
    pub layer: usize,
    /// δ.
    pub delta: f64,
    /// The mean over the matrices.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// (δ²/2) κ_l.
    pub bound: f64,
    /// δ²/(2 m) times the relative flatness: the mean to second order, of dense layers that are not behind a flattened image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_order: Option<f64>,
    /// One a matrix, of the first thousand.
    pub draws: Vec<FeatureRobustness>,
}

/// Feature robustness of θ at the inputs of a layer, F(δ, S, A) of one A (Petzka et al., Appendices C.1 and D). Prepares θ.
///
/// # Errors
/// `InvalidOption` for a layer that is not there, a δ that is not finite or a matrix of another size; `NotHomogeneous` for a
/// network that is not piecewise linear; what [`Engine::prepare`] says; `NotFinite`; `Aborted`; the device's.
pub async fn feature_robustness(
    engine: &Engine,
    parameters: &[f64],
    layer: usize,
    delta: f64,
    matrix: &FeatureMatrix,
    options: &MeasureOptions,
    control: &Control<'_>,
) -> Result<FeatureRobustness> {
    let target = engine.problem().network().layout().parametric(layer)?;
    ensure!(delta.is_finite(), InvalidOption, "δ is {delta}, but must be finite");
    engine.prepare(parameters).await?;
    let kappa = kappa_of(engine, layer, options, control).await?;
    changed(engine, parameters, (layer, target), delta, matrix, &kappa, control).await
}

/// The mean of [`feature_robustness`] over `draws` (at least 2) random orthogonal matrices. Prepares θ.
///
/// # Errors
/// As [`feature_robustness`]; `InvalidOption` for fewer than 2 draws.
#[allow(clippy::too_many_arguments, reason = "an experiment's settings")]
pub async fn noise_injection(
    engine: &Engine,
    parameters: &[f64],
    layer: usize,
    delta: f64,
    draws: usize,
    options: &MeasureOptions,
    control: &Control<'_>,
) -> Result<NoiseInjection> {
    let target = engine.problem().network().layout().parametric(layer)?;
    ensure!(draws >= 2, InvalidOption, "noise injection needs at least 2 draws, for its standard error");
    ensure!(delta.is_finite(), InvalidOption, "δ is {delta}, but must be finite");
    engine.prepare(parameters).await?;
    let kappa = kappa_of(engine, layer, options, control).await?;
    let is_dense = matches!(engine.problem().network().layer(target.layer), Layer::Dense { .. });
    let second_order = if is_dense && target.columns_per_unit == 1 {
        let flatness = traces(engine, control).await?.layers[layer].gram_trace;
        Some(delta * delta / (2.0 * units(target) as f64) * flatness)
    } else {
        None
    };
    let mut found = room("draws of noise injection", draws.min(KEPT))?;
    let mut values = Samples::default();
    for i in 0..draws {
        let (value, error) = (values.mean(), values.standard_error());
        control.step(Progress::new("noise injection", i, draws).with_estimate(value, error)).await?;
        let matrix = FeatureMatrix::Orthogonal { seed: seed_of_draw(options.seed, i) };
        let draw = changed(engine, parameters, (layer, target), delta, &matrix, &kappa, control).await?;
        values.push(draw.value);
        if found.len() < KEPT {
            found.push(draw);
        }
    }
    let (value, standard_error) = (values.mean(), values.standard_error());
    let bound = 0.5 * delta * delta * kappa.value;
    ensure_number("the bound of a noise injection", engine.info().precision, &[bound, second_order.unwrap_or(0.0)])?;
    Ok(NoiseInjection { layer, delta, value, standard_error, bound, second_order, draws: found })
}

/// Units or channels that enter, of a layer in groups those of a group.
fn units(layer: &ParametricLayer) -> usize {
    layer.inputs / layer.columns_per_unit
}

/// ‖A‖₂: the root of the largest eigenvalue of AᵀA, with A in units of its largest entry.
async fn spectral_norm(a: &[f64], m: usize, control: &Control<'_>) -> Result<f64> {
    let scale = largest(a.iter().copied());
    if scale == 0.0 {
        return Ok(0.0);
    }
    let mut square = zeros("the square of a matrix", m * m)?;
    for row in a.chunks_exact(m) {
        for (j, x) in row.iter().enumerate() {
            let x = x / scale;
            square[j * m + j..(j + 1) * m].iter_mut().zip(&row[j..]).for_each(|(sum, y)| *sum += x * (y / scale));
        }
        control.breathe().await?;
    }
    let values = symmetric_eigenvalues(square, m, control).await?;
    Ok(scale * values.last().copied().unwrap_or_default().max(0.0).sqrt())
}

impl FeatureMatrix {
    /// A, row-major, for this layer, and its spectral norm.
    async fn of_layer(&self, index: usize, layer: &ParametricLayer, control: &Control<'_>) -> Result<(Vec<f64>, f64)> {
        let (m, groups) = (units(layer), layer.groups);
        match self {
            Self::Given(a) => {
                let needed = m as u64 * m as u64;
                ensure!(
                    a.len() as u64 == needed,
                    InvalidOption,
                    "the matrix has {} entries, but {m} units enter {}layer {}: it needs {needed}",
                    a.len(),
                    if groups > 1 { "each group of " } else { "" },
                    number_of(index)
                );
                crate::error::ensure_finite("the matrix", a)?;
                Ok((copied("a matrix of features", a)?, spectral_norm(a, m, control).await?))
            }
            // Transposed it is as uniformly random.
            Self::Orthogonal { seed } => {
                let columns = orthonormal_columns(m, m, *seed, control).await?;
                let mut a = zeros("a matrix of features", m * m)?;
                for (j, column) in columns.chunks_exact(m).enumerate() {
                    column.iter().enumerate().for_each(|(i, &x)| a[i * m + j] = x);
                }
                Ok((a, 1.0))
            }
        }
    }
}

/// δ W A, unit by unit: columns that read one unit change together.
async fn change_of(
    layer: &ParametricLayer,
    parameters: &[f64],
    delta: f64,
    a: &[f64],
    control: &Control<'_>,
) -> Result<Vec<f64>> {
    let m = units(layer);
    let mut change: Vec<f64> = zeros("a change of parameters", parameters.len())?;
    let rows = parameters[layer.weight.clone()].chunks_exact(layer.inputs);
    for (w, out) in rows.zip(change[layer.weight.clone()].chunks_exact_mut(layer.inputs)) {
        for (i, w) in w.chunks_exact(layer.columns_per_unit).enumerate() {
            for (j, out) in out.chunks_exact_mut(layer.columns_per_unit).enumerate() {
                let factor = delta * a[i * m + j];
                out.iter_mut().zip(w).for_each(|(out, w)| *out += factor * w);
            }
        }
        control.breathe().await?;
    }
    Ok(change)
}

async fn changed(
    engine: &Engine,
    parameters: &[f64],
    (index, layer): (usize, &ParametricLayer),
    delta: f64,
    matrix: &FeatureMatrix,
    kappa: &Eigenpair,
    control: &Control<'_>,
) -> Result<FeatureRobustness> {
    let (a, matrix_norm) = matrix.of_layer(index, layer, control).await?;
    let change = change_of(layer, parameters, delta, &a, control).await?;
    let on = async |engine: &Engine| -> Result<(f64, f64, f64)> {
        let probe = Probe::new(engine);
        let (loss, gradient) = probe.gradient(parameters).await?;
        let moved = collected("a vector of parameters", parameters.iter().zip(&change).map(|(w, c)| w + c))?;
        let rise = probe.loss(&moved).await? - loss;
        crate::error::ensure_finite("changed loss", &[rise])?;
        let first_order = gradient.iter().zip(&change).map(|(g, c)| g * c).sum();
        Ok((rise, first_order, probe.resolution(parameters, loss).await?))
    };
    let mut precision = engine.info().precision;
    let (mut value, mut first_order, mut resolution) = on(engine).await?;
    let fell_back = precision == Precision::F32 && !Probe::resolves(value, resolution);
    if fell_back {
        precision = Precision::F64;
        let precise = Engine::new(&engine.cpu(precision), engine.problem())?;
        (value, first_order, resolution) = on(&precise).await?;
    }
    let bound = 0.5 * (delta * matrix_norm).powi(2) * kappa.value;
    ensure_number("the bound of a change of features", precision, &[bound])?;
    Ok(FeatureRobustness {
        layer: index,
        delta,
        value,
        first_order,
        bound,
        matrix_norm,
        kappa: kappa.clone(),
        precision,
        fell_back,
        resolution,
        resolved: Probe::resolves(value, resolution),
    })
}
