//! Weight normalisation (Salimans and Kingma 2016) as a reparametrisation, section 5.1 of Dinh et al. 2017: each row of W is
//! w = s v/‖v‖. v → αv leaves the function as it is and multiplies the curvature along v by α⁻²: every minimum is as sharp, or
//! as flat, in v as one likes.

use std::ops::Range;

use serde::Serialize;

use super::boxes::{BoxOptions, Boxed, VolumeFlatness, boxes_around};
use super::reparametrization::{Direction, Reparametrization, ReparametrizedHessian, reparametrized_hessian};
use super::{OutputChange, outputs_at};
use crate::control::Control;
use crate::engine::Engine;
use crate::error::{Result, ensure};
use crate::measure::sharpness::{Region, Sharpness, SharpnessOptions, ascend_through};
use crate::network::Network;
use crate::numbers::dot;

/// η = (v and the biases, in θ's places; then s, one a row of W, layer by layer).
#[derive(Debug, Clone, PartialEq)]
pub struct WeightNormalization {
    parameters: usize,
    /// Where each row lies in θ.
    rows: Vec<Range<usize>>,
}

impl WeightNormalization {
    /// Of all layers of a network: a row is a unit's incoming weights, or a channel's kernel.
    pub fn new(network: &Network) -> Self {
        let rows = network
            .layout()
            .layers()
            .iter()
            .flat_map(|layer| layer.weight.clone().step_by(layer.inputs).map(|start| start..start + layer.inputs));
        Self { parameters: network.parameter_count(), rows: rows.collect() }
    }

    /// η of θ with v = w and s = ‖w‖.
    ///
    /// # Errors
    /// `InvalidParameters` for a wrong length or a row that is 0: it has no direction.
    pub fn eta(&self, parameters: &[f64]) -> Result<Vec<f64>> {
        ensure!(
            parameters.len() == self.parameters,
            InvalidParameters,
            "there are {} parameters, but the network has {}",
            parameters.len(),
            self.parameters
        );
        let mut eta = parameters.to_vec();
        for (i, row) in self.rows.iter().enumerate() {
            let length = dot(&parameters[row.clone()], &parameters[row.clone()]).sqrt();
            ensure!(length != 0.0, InvalidParameters, "row {i} of the weights is 0, and has no direction v");
            eta.push(length);
        }
        Ok(eta)
    }

    /// v → αv in every row.
    ///
    /// # Errors
    /// `InvalidOption` for α = 0 or one that is not finite; `InvalidParameters` for coordinates of another number.
    pub fn scaled(&self, eta: &[f64], alpha: f64) -> Result<Vec<f64>> {
        let (given, needed) = (eta.len(), self.dimension());
        ensure!(given == needed, InvalidParameters, "{given} coordinates were given, but there are {needed}");
        ensure!(alpha.is_finite() && alpha != 0.0, InvalidOption, "α is {alpha}, but must be finite and not 0");
        let mut scaled = eta.to_vec();
        for row in &self.rows {
            scaled[row.clone()].iter_mut().for_each(|v| *v *= alpha);
        }
        // A negative α turns v round, and s with it.
        scaled[self.parameters..].iter_mut().for_each(|s| *s *= alpha.signum());
        Ok(scaled)
    }

    /// Each row with its v's direction, its s and the place of s.
    fn each<'a>(&'a self, eta: &'a [f64]) -> impl Iterator<Item = (Range<usize>, Direction, f64, usize)> + 'a {
        self.rows.iter().enumerate().map(move |(i, row)| {
            let place = self.parameters + i;
            (row.clone(), Direction::new(&eta[row.clone()]), eta[place], place)
        })
    }
}

impl Reparametrization for WeightNormalization {
    fn dimension(&self) -> usize {
        self.parameters + self.rows.len()
    }

    fn parameters(&self, eta: &[f64]) -> Vec<f64> {
        let mut theta = eta[..self.parameters].to_vec();
        for (row, direction, s, _) in self.each(eta) {
            theta[row].iter_mut().zip(direction.unit()).for_each(|(w, e)| *w = s * e);
        }
        theta
    }

    fn push(&self, eta: &[f64], x: &[f64]) -> Vec<f64> {
        let mut out = x[..self.parameters].to_vec();
        for (row, direction, s, place) in self.each(eta) {
            let turned = direction.derivative(&x[row.clone()]);
            let new = turned.iter().zip(direction.unit()).map(|(t, e)| s * t + x[place] * e);
            out[row].iter_mut().zip(new).for_each(|(out, new)| *out = new);
        }
        out
    }

    fn pull(&self, eta: &[f64], p: &[f64]) -> Vec<f64> {
        let mut out = p.to_vec();
        out.resize(self.dimension(), 0.0);
        for (row, direction, s, place) in self.each(eta) {
            let turned = direction.derivative(&p[row.clone()]);
            out[place] = dot(direction.unit(), &p[row.clone()]);
            out[row].iter_mut().zip(turned).for_each(|(out, t)| *out = s * t);
        }
        out
    }

    fn bend(&self, eta: &[f64], p: &[f64], x: &[f64]) -> Vec<f64> {
        // p·w = s p·e(v): twice by v, and once by each of s and v.
        let mut out = vec![0.0; self.dimension()];
        for (row, direction, s, place) in self.each(eta) {
            let (p, xv) = (&p[row.clone()], &x[row.clone()]);
            let turned = direction.derivative(p);
            out[place] = dot(&turned, xv);
            let second = direction.second_derivative(p, xv);
            let new = second.iter().zip(&turned).map(|(d, t)| s * d + x[place] * t);
            out[row].iter_mut().zip(new).for_each(|(out, new)| *out = new);
        }
        out
    }
}

/// The Hessian in (v, s) after v → αv.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NormalizedScale {
    /// α.
    pub alpha: f64,
    /// The Hessian in η.
    pub hessian: ReparametrizedHessian,
    /// Against the outputs at α = 1.
    pub outputs: OutputChange,
}

/// The Hessian in (v, s) at θ after v → αv, for each α. Leaves the engine prepared at θ up to rounding.
///
/// # Errors
/// As [`WeightNormalization::eta`], [`WeightNormalization::scaled`] and [`reparametrized_hessian`].
pub async fn weight_normalization(
    engine: &Engine,
    parameters: &[f64],
    alphas: &[f64],
    control: &Control<'_>,
) -> Result<Vec<NormalizedScale>> {
    let map = WeightNormalization::new(engine.problem().network());
    let eta = map.eta(parameters)?;
    let before = outputs_at(engine, &map.parameters(&eta)).await?;
    let mut found = Vec::new();
    for &alpha in alphas {
        let hessian = reparametrized_hessian(engine, &map, &map.scaled(&eta, alpha)?, control).await?;
        let outputs = OutputChange::new(&before, &engine.outputs().await?);
        found.push(NormalizedScale { alpha, hessian, outputs });
    }
    Ok(found)
}

/// The volume ε-flatness in (v, s), as [`volume_flatness`](super::volume_flatness) has it in θ: v → αv carries a box around η to boxes of the
/// same losses, each α to the number of weights times as large, and ‖v‖_∞ separates them. Its radius and `inside` are those of a search.
/// Leaves the engine prepared at θ up to rounding.
///
/// # Errors
/// As [`WeightNormalization::eta`]; `InvalidOption` for options out of range, or where no box of positive radius stays below L + ε;
/// `NotFinite` for more boxes than numbers hold; `Aborted`; the device's.
pub async fn normalized_volume(
    engine: &Engine,
    parameters: &[f64],
    options: &BoxOptions,
    control: &Control<'_>,
) -> Result<VolumeFlatness> {
    let map = WeightNormalization::new(engine.problem().network());
    let eta = map.eta(parameters)?;
    let scale = |factor: f64, point: &[f64]| map.scaled(point, factor);
    let place = Boxed { engine, map: Some(&map), point: &eta, growing: map.rows.clone(), scale: &scale };
    boxes_around(&place, options, control).await
}

/// ε-sharpness in (v, s) after v → αv, by ascent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NormalizedSharpness {
    /// α.
    pub alpha: f64,
    /// Where v alone moves: L((αv + Δ) / ‖αv + Δ‖) is that of v and Δ/α, so that this is the sharpness at α = 1 for ε/α, as low or as high as α
    /// makes it.
    pub directions: Sharpness,
    /// Where s and the biases move too.
    pub whole: Sharpness,
    /// Against the outputs at α = 1.
    pub outputs: OutputChange,
}

/// The sharpness in the ball ‖Δη‖₂ ≤ ε at (αv, s), for each α. Leaves the engine prepared at θ up to rounding.
///
/// # Errors
/// As [`WeightNormalization::eta`] and [`WeightNormalization::scaled`]; what [`epsilon_sharpness`](crate::measure::sharpness::epsilon_sharpness)
/// says.
pub async fn normalized_sharpness(
    engine: &Engine,
    parameters: &[f64],
    alphas: &[f64],
    epsilon: f64,
    options: &SharpnessOptions,
    control: &Control<'_>,
) -> Result<Vec<NormalizedSharpness>> {
    let map = WeightNormalization::new(engine.problem().network());
    let eta = map.eta(parameters)?;
    let before = outputs_at(engine, &map.parameters(&eta)).await?;
    let within = (Region::Ball, epsilon);
    let mut found = Vec::new();
    for &alpha in alphas {
        let scaled = map.scaled(&eta, alpha)?;
        let (at, all) = ((&map as &dyn Reparametrization, &scaled[..]), 0..scaled.len());
        let directions = ascend_through(engine, at, within, &map.rows, options, &[], control).await?;
        // What v alone reaches, all coordinates do.
        let from = [directions.delta.clone()];
        let whole = ascend_through(engine, at, within, std::slice::from_ref(&all), options, &from, control).await?;
        let outputs = OutputChange::new(&before, &outputs_at(engine, &map.parameters(&scaled)).await?);
        found.push(NormalizedSharpness { alpha, directions, whole, outputs });
    }
    Ok(found)
}
