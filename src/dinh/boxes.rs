//! Theorem 2 of Dinh et al. 2017: the volume ε-flatness of every minimum is infinite.
//!
//! A box of radius r′ around θ within C(L, θ, ε) is carried by T_α^k to boxes of the same losses. With
//! α = 2 (‖θ_1‖_∞ + r′) / (‖θ_1‖_∞ − r′) they are disjoint, since they are along the coordinate that attains ‖θ_1‖_∞, and T_α (or
//! its inverse) does not make them smaller: its determinant is α to the number of parameters it enlarges less those it shrinks.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::scaling::Scaling;
use super::{diagonal, ensure_positive};
use crate::control::{Control, Progress};
use crate::engine::Engine;
use crate::error::{Result, ensure};
use crate::linalg::generator;
use crate::memory::copied;

/// Halvings of the radius before the search gives up.
const HALVINGS: usize = 60;

/// α ≥ 2 to a higher power is no number.
const MOST_POWER: usize = 1100;

/// Bisections after that.
const BISECTIONS: usize = 8;

/// What boxes are built.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxOptions {
    /// ε: the loss in the boxes stays below L(θ) + ε.
    pub epsilon: f64,
    /// r; `None` looks for a large one whose samples all stay below.
    pub radius: Option<f64>,
    /// Boxes, the first one included.
    pub boxes: usize,
    /// Points at which losses are compared (half of them corners).
    pub samples: usize,
    /// Of the points.
    pub seed: u64,
}

impl Default for BoxOptions {
    fn default() -> Self {
        Self { epsilon: 0.1, radius: None, boxes: 8, samples: 32, seed: 0 }
    }
}

/// The image of the first box under T^k.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FlatBox {
    /// k.
    pub power: usize,
    /// What it covers of the separating coordinate's magnitude.
    pub interval: [f64; 2],
    /// ln of its volume.
    pub log_volume: f64,
    /// ln of the volume of all boxes up to this one.
    pub total_log_volume: f64,
    /// Largest |L(T^k θ′) − L(θ′)| over the sampled θ′ of the first box.
    pub largest_difference: f64,
}

/// Disjoint boxes of the same losses: a lower bound of the volume ε-flatness that grows with every box.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VolumeFlatness {
    /// ε.
    pub epsilon: f64,
    /// r′.
    pub radius: f64,
    /// Was r′ found from samples, rather than given?
    pub radius_found: bool,
    /// ‖θ_1‖_∞.
    pub largest_weight: f64,
    /// Where it is attained.
    pub separating_coordinate: usize,
    /// α.
    pub alpha: f64,
    /// Is T = T_α, or T_α⁻¹, which does not shrink volumes where the last layer has more parameters?
    pub inverted: bool,
    /// ln det T = |parameters enlarged − parameters shrunk by T_α| ln α: what a box's log-volume grows by.
    pub log_determinant: f64,
    /// L(θ).
    pub loss: f64,
    /// Largest L(θ′) − L(θ) over the samples of the first box, the corner along the gradient's signs among them.
    pub largest_rise: f64,
    /// Is it below ε?
    pub inside: bool,
    /// Are the boxes' intervals disjoint?
    pub disjoint: bool,
    /// The boxes.
    pub boxes: Vec<FlatBox>,
    /// Sampled points.
    pub samples: usize,
}

/// Builds the boxes and checks them. T_α multiplies layer 1 by α and the last one by 1/α; in a graph, all layers that lead from what is fixed
/// to what can be rescaled, whose largest weight takes the place of ‖θ_1‖_∞, and those that lead back. Leaves the engine prepared at θ.
///
/// # Errors
/// `InvalidOption` for options out of range, a network of one layer, first weights that are all 0, or where no box of positive
/// radius stays below L + ε; `NotHomogeneous`; `NotFinite` for more boxes than numbers hold; `Aborted`; the device's.
pub async fn volume_flatness(
    engine: &Engine,
    parameters: &[f64],
    options: &BoxOptions,
    control: &Control<'_>,
) -> Result<VolumeFlatness> {
    let network = engine.problem().network();
    let scaling = Scaling::of_all(network)?;
    ensure_positive("ε", options.epsilon)?;
    ensure!(options.boxes > 0, InvalidOption, "at least one box is needed");
    ensure!(options.samples > 0, InvalidOption, "at least one sample is needed");
    engine.prepare(parameters).await?;
    let loss = engine.loss().await?;
    crate::error::ensure_finite("loss", &[loss])?;
    let first = scaling.growing().flat_map(|layer| network.layout().layers()[layer].weight.clone());
    let (separating_coordinate, largest_weight) =
        first.map(|i| (i, parameters[i].abs())).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
    ensure!(largest_weight != 0.0, InvalidOption, "the weights of layer 1 are all 0: the function is constant");

    let cube = Cube::new(engine, parameters, options).await?;
    let most = largest_weight / 2.0;
    let (radius, largest_rise) = match options.radius {
        Some(radius) => {
            ensure_positive("the radius", radius)?;
            let radius = radius.min(most);
            (radius, cube.largest_rise(loss, radius, control).await?)
        }
        None => cube.largest_within(loss, most, options.epsilon, control).await?,
    };
    let alpha = 2.0 * (largest_weight + radius) / (largest_weight - radius);
    // Of T_2, whose diagonal has 2, 1 and ½, and so logarithms 1, 0 and −1.
    let exponents = diagonal(network, &scaling.by(2.0))?;
    let balance = exponents.iter().map(|t| t.log2()).sum::<f64>();
    let inverted = balance < 0.0;
    let log_determinant = balance.abs() * alpha.ln();

    let first_log_volume = parameters.len() as f64 * (2.0 * radius).ln();
    let around = [largest_weight - radius, largest_weight + radius];
    let mut boxes = boxes_of(options.boxes, around, (alpha, inverted), first_log_volume, log_determinant)?;
    let mut corners = cube.corners();
    let mut point = copied("a corner of a box", parameters)?;
    for i in 0..cube.count() {
        control.step(Progress::new("boxes", i, cube.count())).await?;
        cube.move_to(&mut corners, radius, &mut point);
        let before = engine.evaluate(&point).await?.loss;
        for flat in &mut boxes {
            control.breathe().await?;
            let map = scaling.by(power_of(alpha, flat.power, inverted));
            let after = engine.evaluate(&map.apply(network, &point)?).await?.loss;
            flat.largest_difference = flat.largest_difference.max((after - before).abs());
        }
    }
    let mut intervals: Vec<[f64; 2]> = boxes.iter().map(|flat| flat.interval).collect();
    intervals.sort_by(|a, b| a[0].total_cmp(&b[0]));
    Ok(VolumeFlatness {
        epsilon: options.epsilon,
        radius,
        radius_found: options.radius.is_none(),
        largest_weight,
        separating_coordinate,
        alpha,
        inverted,
        log_determinant,
        loss,
        largest_rise,
        inside: largest_rise < options.epsilon,
        disjoint: intervals.windows(2).all(|pair| pair[0][1] < pair[1][0]),
        boxes,
        samples: cube.count(),
    })
}

/// The images of the first box, whose interval is `around`, under T⁰, T¹ and so on.
fn boxes_of(
    count: usize,
    around: [f64; 2],
    (alpha, inverted): (f64, bool),
    first_log_volume: f64,
    log_determinant: f64,
) -> Result<Vec<FlatBox>> {
    let mut boxes: Vec<FlatBox> = Vec::new();
    for power in 0..count {
        let factor = power_of(alpha, power, inverted);
        let interval = around.map(|end| end * factor);
        let is_held = interval[0].is_normal() && interval[1].is_finite() && (1.0 / factor).is_normal();
        ensure!(is_held, NotFinite, "box {power} of {count} is beyond what numbers hold: α^{power} is {factor:e}");
        let log_volume = first_log_volume + power as f64 * log_determinant;
        let total_log_volume = boxes.last().map_or(log_volume, |last| log_sum(last.total_log_volume, log_volume));
        boxes.push(FlatBox { power, interval, log_volume, total_log_volume, largest_difference: 0.0 });
    }
    Ok(boxes)
}

/// αᵏ, or its inverse; infinite or 0 beyond what numbers hold.
fn power_of(alpha: f64, power: usize, inverted: bool) -> f64 {
    let factor = if power > MOST_POWER { f64::INFINITY } else { alpha.powi(power as i32) };
    if inverted { 1.0 / factor } else { factor }
}

/// ln(eᵃ + eᵇ).
fn log_sum(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    high + (low - high).exp().ln_1p()
}

/// Sampled points of a cube around θ, the same ones whatever its radius: the corner along the gradient's signs, then random corners
/// and inner points in turn. They are drawn again each time, so that any number of them takes the memory of one.
struct Cube<'a> {
    engine: &'a Engine,
    parameters: &'a [f64],
    /// The signs of the gradient.
    signs: Vec<f64>,
    samples: usize,
    seed: u64,
}

/// Where the points of a [`Cube`] have come to.
struct Corners {
    next: usize,
    rng: ChaCha8Rng,
}

impl<'a> Cube<'a> {
    async fn new(engine: &'a Engine, parameters: &'a [f64], options: &BoxOptions) -> Result<Self> {
        let mut signs = engine.gradient().await?;
        signs.iter_mut().for_each(|g| *g = g.signum());
        Ok(Self { engine, parameters, signs, samples: options.samples, seed: options.seed })
    }

    /// How many there are.
    fn count(&self) -> usize {
        self.samples.saturating_add(1)
    }

    /// All of them from the first on.
    fn corners(&self) -> Corners {
        Corners { next: 0, rng: generator(self.seed) }
    }

    /// The next one of a cube of this radius.
    fn move_to(&self, corners: &mut Corners, radius: f64, point: &mut [f64]) {
        let i = corners.next;
        corners.next += 1;
        for ((to, w), sign) in point.iter_mut().zip(self.parameters).zip(&self.signs) {
            let coordinate = match i {
                0 => *sign,
                _ => {
                    let x: f64 = corners.rng.random_range(-1.0..=1.0);
                    if i % 2 == 1 { x.signum() } else { x }
                }
            };
            *to = w + radius * coordinate;
        }
    }

    /// Largest L(θ′) − L(θ) over the samples.
    async fn largest_rise(&self, loss: f64, radius: f64, control: &Control<'_>) -> Result<f64> {
        let mut largest = f64::NEG_INFINITY;
        let mut corners = self.corners();
        let mut point = copied("a corner of a box", self.parameters)?;
        for _ in 0..self.count() {
            control.breathe().await?;
            self.move_to(&mut corners, radius, &mut point);
            let theta = self.engine.upload_parameters(&point)?;
            let rise = self.engine.evaluate_anywhere(&theta).await?.loss - loss;
            largest = if rise.is_nan() { f64::INFINITY } else { largest.max(rise) };
        }
        Ok(largest)
    }

    /// A radius up to `most` at which all samples rise by less than ε, and their largest rise.
    async fn largest_within(&self, loss: f64, most: f64, epsilon: f64, control: &Control<'_>) -> Result<(f64, f64)> {
        let (mut radius, mut rise) = (most, self.largest_rise(loss, most, control).await?);
        let mut halvings = 0;
        while rise >= epsilon {
            ensure!(
                halvings < HALVINGS,
                InvalidOption,
                "no box around this point stays below L + ε with ε = {epsilon}: ε is below the rounding of the loss"
            );
            control.step(Progress::new("radius", halvings, HALVINGS)).await?;
            radius /= 2.0;
            halvings += 1;
            rise = self.largest_rise(loss, radius, control).await?;
        }
        if halvings > 0 {
            let mut outside = 2.0 * radius;
            for _ in 0..BISECTIONS {
                control.breathe().await?;
                let middle = 0.5 * (radius + outside);
                let found = self.largest_rise(loss, middle, control).await?;
                if found < epsilon {
                    (radius, rise) = (middle, found);
                } else {
                    outside = middle;
                }
            }
        }
        Ok((radius, rise))
    }
}
