//! Feature robustness (Petzka et al. 2020, Appendix D): how the loss changes when the features φ(x) that enter a layer become
//! φ(x) + δ A φ(x), and noise injection (D.1), its mean over random A.
//!
//! W (φ + δ A φ) is W (I + δ A) φ: a change of the layer's weights. At a minimum, to second order, it raises the loss by at most
//! (δ²/2) ‖A‖² ‖W‖² λ_max(H_l), which is (δ²/2) κ_l for ‖A‖ ≤ 1. Over random orthogonal A the mean of A φ φᵀ Aᵀ is ‖φ‖² I / m, so
//! that noise injection raises a dense layer's loss by δ²/(2 m) times its relative flatness.

use nalgebra::DMatrix;
use serde::Serialize;

use super::{kappa_of, traces};
use crate::control::{Control, Progress};
use crate::engine::{Device, Engine, Precision};
use crate::error::{Result, ensure};
use crate::linalg::{Eigenpair, mean_and_error};
use crate::measure::MeasureOptions;
use crate::measure::sharpness::{Probe, orthonormal_columns};
use crate::network::{Layer, ParametricLayer};

/// A, which acts on the units that enter a layer: on channels before a convolution, or behind a flatten.
#[derive(Debug, Clone, PartialEq)]
pub enum FeatureMatrix {
    /// m × m, row-major, m being the units that enter.
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
    /// The parametric layer whose inputs change, from 0.
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
    /// The parametric layer whose inputs change, from 0.
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
    /// One a matrix.
    pub draws: Vec<FeatureRobustness>,
}

/// Feature robustness of θ at the inputs of a layer. Prepares θ.
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
    let target = find_layer(engine, layer)?;
    ensure!(delta.is_finite(), InvalidOption, "δ is {delta}, but must be finite");
    engine.prepare(parameters)?;
    let kappa = kappa_of(engine, layer, options, control).await?;
    changed(engine, parameters, (layer, target), delta, matrix, &kappa).await
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
    let target = find_layer(engine, layer)?;
    ensure!(draws >= 2, InvalidOption, "noise injection needs at least 2 draws, for its standard error");
    ensure!(delta.is_finite(), InvalidOption, "δ is {delta}, but must be finite");
    engine.prepare(parameters)?;
    let kappa = kappa_of(engine, layer, options, control).await?;
    let is_dense = matches!(engine.problem().network().layers()[target.layer], Layer::Dense { .. });
    let second_order = if is_dense && target.columns_per_unit == 1 {
        let flatness = traces(engine, control).await?.layers[layer].relative_flatness;
        Some(delta * delta / (2.0 * units(target) as f64) * flatness)
    } else {
        None
    };
    let mut found = Vec::with_capacity(draws);
    for i in 0..draws {
        control.step(Progress::new("noise injection", i, draws)).await?;
        let matrix = FeatureMatrix::Orthogonal { seed: options.seed.wrapping_add(i as u64) };
        found.push(changed(engine, parameters, (layer, target), delta, &matrix, &kappa).await?);
    }
    let values: Vec<f64> = found.iter().map(|draw| draw.value).collect();
    let (value, standard_error) = mean_and_error(&values);
    let bound = 0.5 * delta * delta * kappa.value;
    Ok(NoiseInjection { layer, delta, value, standard_error, bound, second_order, draws: found })
}

fn find_layer(engine: &Engine, layer: usize) -> Result<&ParametricLayer> {
    let layers = engine.problem().network().layout().layers();
    ensure!(layer < layers.len(), InvalidOption, "there is no layer {layer}: they are 0 to {}", layers.len() - 1);
    Ok(&layers[layer])
}

/// Units or channels that enter.
fn units(layer: &ParametricLayer) -> usize {
    layer.inputs / layer.columns_per_unit
}

async fn changed(
    engine: &Engine,
    parameters: &[f64],
    (index, layer): (usize, &ParametricLayer),
    delta: f64,
    matrix: &FeatureMatrix,
    kappa: &Eigenpair,
) -> Result<FeatureRobustness> {
    let m = units(layer);
    let (a, matrix_norm) = match matrix {
        FeatureMatrix::Given(a) => {
            ensure!(
                a.len() == m * m,
                InvalidOption,
                "the matrix has {} entries, but {m} units enter layer {index}: it needs {}",
                a.len(),
                m * m
            );
            crate::error::ensure_finite("the matrix", a)?;
            let a = DMatrix::from_row_slice(m, m, a);
            let norm = a.singular_values().max();
            (a, norm)
        }
        FeatureMatrix::Orthogonal { seed } => (DMatrix::from_vec(m, m, orthonormal_columns(m, m, *seed)?), 1.0),
    };
    // δ W A, unit by unit: columns that read one unit change together.
    let mut change = vec![0.0; parameters.len()];
    let rows = parameters[layer.weight.clone()].chunks_exact(layer.inputs);
    for (w, out) in rows.zip(change[layer.weight.clone()].chunks_exact_mut(layer.inputs)) {
        for (i, w) in w.chunks_exact(layer.columns_per_unit).enumerate() {
            for (j, out) in out.chunks_exact_mut(layer.columns_per_unit).enumerate() {
                let factor = delta * a[(i, j)];
                out.iter_mut().zip(w).for_each(|(out, w)| *out += factor * w);
            }
        }
    }
    let on = async |engine: &Engine| -> Result<(f64, f64, f64)> {
        let probe = Probe::new(engine)?;
        let (loss, gradient) = probe.gradient(parameters).await?;
        let moved: Vec<f64> = parameters.iter().zip(&change).map(|(w, c)| w + c).collect();
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
        let precise = Engine::new(&Device::cpu(precision), engine.problem())?;
        (value, first_order, resolution) = on(&precise).await?;
    }
    Ok(FeatureRobustness {
        layer: index,
        delta,
        value,
        first_order,
        bound: 0.5 * (delta * matrix_norm).powi(2) * kappa.value,
        matrix_norm,
        kappa: kappa.clone(),
        precision,
        fell_back,
        resolution,
        resolved: Probe::resolves(value, resolution),
    })
}
