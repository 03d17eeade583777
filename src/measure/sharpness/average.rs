//! Average sharpness: the mean rise of the loss under Gaussian noise on the weights (Neyshabur et al. 2017), plain or in
//! proportion to each weight.
//!
//! Noise comes in pairs ±z, so that the gradient's share cancels to first order, and two pairs in a plane, in which layer 1 is linear.
//! Scaled noise σ |θ_i| z_i moves with a rescaling of the weights: with the same z the losses are the same, pair by pair.

use rand::Rng;
use rand_distr::StandardNormal;
use serde::Serialize;

use super::SharpnessOptions;
use super::probe::Probe;
use crate::control::{Control, Progress};
use crate::engine::{Engine, Precision, held};
use crate::error::Result;
use crate::linalg::generator;
use crate::memory::collected;
use crate::numbers::Samples;

/// θ ± u, θ ± v in a plane of two draws of noise.
const POINTS: [[f64; 2]; 4] = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]];

/// What the noise on a weight is proportional to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Noise {
    /// σ z_i, the same for all weights.
    Plain,
    /// σ |θ_i| z_i.
    Scaled,
}

/// A mean rise of the loss.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AverageSharpness {
    /// The mean of (L(θ + Δ) + L(θ − Δ)) / 2 − L(θ).
    pub value: f64,
    /// Its standard error, over the pairs.
    pub standard_error: f64,
    /// Pairs ±z.
    pub pairs: usize,
    /// σ.
    pub sigma: f64,
    /// What it was proportional to.
    pub noise: Noise,
    /// What gave the number.
    pub precision: Precision,
    /// Was the engine's own precision too coarse, so that the CPU took over in f64?
    pub fell_back: bool,
    /// How much the loss changes when θ is rounded another way.
    pub resolution: f64,
    /// Is the mean more than rounding, to three digits?
    pub resolved: bool,
}

/// Mean rise of the loss under noise on all parameters. Where the engine's precision cannot resolve it, the CPU computes it in
/// f64; where f32 does and the problem is large, a CPU's f64 leaves it to that. Leaves the prepared point as it is.
///
/// # Errors
/// `InvalidOption` for options out of range; what [`crate::Network::check_parameters`] says; `NotFinite` where the noise makes
/// the loss overflow; `Aborted`; the device's.
pub async fn average_sharpness(
    engine: &Engine,
    parameters: &[f64],
    noise: Noise,
    options: &SharpnessOptions,
    control: &Control<'_>,
) -> Result<AverageSharpness> {
    options.check()?;
    if engine.is_prepared_at(parameters)
        && let Some(coarse) = engine.coarse().await?
        && let Some(found) = held(sample(coarse, parameters, noise, options, control).await)?
        && found.resolved
    {
        return Ok(found);
    }
    let found = sample(engine, parameters, noise, options, control).await?;
    if found.resolved || engine.info().precision == Precision::F64 {
        return Ok(found);
    }
    let precise = engine.in_f64()?;
    let found = sample(&precise, parameters, noise, options, control).await?;
    Ok(AverageSharpness { fell_back: true, ..found })
}

async fn sample(
    engine: &Engine,
    parameters: &[f64],
    noise: Noise,
    options: &SharpnessOptions,
    control: &Control<'_>,
) -> Result<AverageSharpness> {
    let probe = Probe::new(engine);
    let loss = probe.loss(parameters).await?;
    let resolution = probe.resolution(parameters, loss).await?;
    let is_scaled = noise == Noise::Scaled;
    let sigma = if is_scaled { options.relative_sigma } else { options.sigma };
    let mut rng = generator(options.seed);
    let mut rises = Samples::default();
    let mut draw = || {
        let normal = |w: &f64| sigma * rng.sample::<f64, _>(StandardNormal) * if is_scaled { w.abs() } else { 1.0 };
        collected("noise", parameters.iter().map(normal))
    };
    let vectors = engine.vectors();
    let theta = vectors.upload(parameters, 1)?;
    let mut out = vectors.zeros(2 * POINTS.len(), 1)?;
    for first in (0..options.pairs()).step_by(2) {
        let pairs = (options.pairs() - first).min(2);
        let u = vectors.upload(&draw()?, 1)?;
        let v = if pairs == 2 { Some(vectors.upload(&draw()?, 1)?) } else { None };
        engine.prepare_plane(&theta, &u, v.as_ref()).await?;
        engine.evaluate_plane(&POINTS[..2 * pairs], &mut out).await?;
        for pair in vectors.download(&out).await?.chunks_exact(4).take(pairs) {
            let sum = (pair[0] - loss) + (pair[2] - loss);
            crate::error::ensure_finite("losses under noise", &[sum])?;
            rises.push(0.5 * sum);
        }
        let (value, error) = (rises.mean(), rises.standard_error());
        let progress = Progress::new("average sharpness", first + pairs, options.pairs());
        control.step(progress.with_estimate(value, error)).await?;
    }
    let (value, standard_error) = (rises.mean(), rises.standard_error());
    Ok(AverageSharpness {
        value,
        standard_error,
        pairs: options.pairs(),
        sigma,
        noise,
        precision: engine.info().precision,
        fell_back: false,
        resolution,
        resolved: Probe::resolves(value, resolution),
    })
}
