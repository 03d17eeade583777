//! Theorem 2 of Dinh et al. 2017: the volume ε-flatness of every minimum is infinite.
//!
//! A box of radius r′ around θ within C(L, θ, ε) is carried by T_α^k to boxes of the same losses. With
//! α = 2 (‖θ_1‖_∞ + r′) / (‖θ_1‖_∞ − r′) they are disjoint, since they are along the coordinate that attains ‖θ_1‖_∞, and T_α (or
//! its inverse) does not make them smaller: its determinant is α to the number of parameters it enlarges less those it shrinks.
//!
//! That the first box lies within C(L, θ, ε) is what no finite search proves. Its highest point is searched for, by samples and by ascents
//! within it, and a radius is given up where one of them finds L(θ) + ε: what is left is the largest box without a counterexample, whose r′
//! can be too large. So the volumes are no proven lower bound either.

use std::ops::Range;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::Reparametrization;
use super::scaling::Scaling;
use crate::control::{Control, Progress};
use crate::engine::Engine;
use crate::error::{ErrorCode, Result, ensure, ensure_finite, ensure_positive};
use crate::linalg::generator;
use crate::measure::sharpness::{Hints, Probe, Region, Sharpness, SharpnessOptions, ascend, ascend_through};
use crate::memory::copied;
use crate::sorting::sort_by;

/// Halvings of the radius before the search gives up.
const HALVINGS: usize = 60;

/// α ≥ 2 to a higher power is no number.
const MOST_POWER: usize = 1100;

/// Bisections after that.
const BISECTIONS: usize = 8;

/// Gradients of one ascent: whether ε is reached is known before the summit is.
const MOST_STEPS: usize = 60;

/// What boxes are built.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxOptions {
    /// ε: the loss in the boxes stays below L(θ) + ε.
    pub epsilon: f64,
    /// r′, at most ½ ‖θ_1‖_∞; `None` looks for the largest one in whose box neither samples nor ascents find L(θ) + ε.
    pub radius: Option<f64>,
    /// Boxes, the first one included.
    pub boxes: usize,
    /// Points at which losses are compared (half of them corners), beside the highest one that ascents find.
    pub samples: usize,
    /// Of the points and the ascents.
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
    /// What it covers of the separating coordinate's magnitude: measured on the corners of the first box, and all its sampled points, after T^k.
    pub interval: [f64; 2],
    /// ln of its volume.
    pub log_volume: f64,
    /// ln of the volume of all boxes up to this one.
    pub total_log_volume: f64,
    /// Largest |L(T^k θ′) − L(θ′)| over the sampled θ′ of the first box and the highest found.
    pub largest_difference: f64,
}

/// Disjoint boxes of the same losses, whose volumes add up. Their sum is below the volume ε-flatness if the first box lies within
/// C(L, θ, ε), against which an adversarial search has found nothing where `inside` is true: evidence, no proof.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VolumeFlatness {
    /// ε.
    pub epsilon: f64,
    /// r′: where it was found, the largest radius, to 1/256 of it, at which the search met no rise of ε. A larger search could still meet one.
    pub radius: f64,
    /// Was r′ found, rather than given?
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
    pub sampled_rise: f64,
    /// The ascents within the first box; none where its losses overflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ascent: Option<Sharpness>,
    /// The larger of the two rises.
    pub largest_rise: f64,
    /// Is it below ε? Not known to be false is all that this says.
    pub inside: bool,
    /// Do the boxes' intervals, as they are measured, have no point in common?
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
    let growing = scaling.growing().map(|layer| network.layout().layers()[layer].weight.clone());
    let scale = |factor: f64, point: &[f64]| scaling.by(factor).apply(network, point);
    let place = Boxed { engine, map: None, point: parameters, growing: growing.collect(), scale: &scale };
    boxes_around(&place, options, control).await
}

/// A point, and the maps T_α that leave its function as it is.
pub(super) struct Boxed<'a> {
    pub engine: &'a Engine,
    /// g, where the point is η in other coordinates.
    pub map: Option<&'a dyn Reparametrization>,
    pub point: &'a [f64],
    /// The coordinates whose largest separates the boxes: T_α multiplies them by α.
    pub growing: Vec<Range<usize>>,
    /// T_α of a point.
    pub scale: &'a Scale<'a>,
}

/// Takes α and a point.
pub(super) type Scale<'a> = dyn Fn(f64, &[f64]) -> Result<Vec<f64>> + 'a;

impl Boxed<'_> {
    fn parameters(&self, point: &[f64]) -> Result<Vec<f64>> {
        self.map.map_or_else(|| copied("a point of a box", point), |map| Ok(map.parameters(point)))
    }

    async fn loss(&self, point: &[f64]) -> Result<f64> {
        Ok(self.engine.evaluate(&self.parameters(point)?).await?.loss)
    }

    /// The highest point of the cube of this radius that ascents find; none where the loss overflows in it.
    async fn ascent(
        &self,
        radius: f64,
        seed: u64,
        from: &[Vec<f64>],
        control: &Control<'_>,
    ) -> Result<Option<Sharpness>> {
        let options =
            SharpnessOptions { restarts: Some(1), max_iterations: MOST_STEPS, seed, ..SharpnessOptions::default() };
        let found = match self.map {
            None => {
                let hints = Hints { directions: from, ..Hints::default() };
                ascend(self.engine, self.point, Region::Cube, radius, &options, hints, control).await
            }
            Some(map) => {
                let all = 0..self.point.len();
                let within = (Region::Cube, radius);
                ascend_through(
                    self.engine,
                    (map, self.point),
                    within,
                    std::slice::from_ref(&all),
                    &options,
                    from,
                    control,
                )
                .await
            }
        };
        match found {
            Err(error) if error.code == ErrorCode::NotFinite => Ok(None),
            found => found.map(Some),
        }
    }
}

/// Builds the boxes of a point and checks them.
pub(super) async fn boxes_around(
    place: &Boxed<'_>,
    options: &BoxOptions,
    control: &Control<'_>,
) -> Result<VolumeFlatness> {
    let &Boxed { engine, point, scale, .. } = place;
    ensure_positive("ε", options.epsilon)?;
    ensure!(options.boxes > 0, InvalidOption, "at least one box is needed");
    ensure!(options.samples > 0, InvalidOption, "at least one sample is needed");
    engine.prepare(&place.parameters(point)?).await?;
    let loss = engine.loss().await?;
    ensure_finite("loss", &[loss])?;
    let first = place.growing.iter().cloned().flatten();
    let (separating_coordinate, largest_weight) =
        first.map(|i| (i, point[i].abs())).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
    ensure!(largest_weight != 0.0, InvalidOption, "the weights of layer 1 are all 0: the function is constant");

    let cube = Cube::new(place, options).await?;
    let most = largest_weight / 2.0;
    let (radius, highest) = match options.radius {
        Some(radius) => {
            ensure_positive("the radius", radius)?;
            ensure!(
                (0.0..=most).contains(&radius),
                InvalidOption,
                "the radius is {radius}, but must be at most {most}, half of the largest weight that the boxes are disjoint along"
            );
            (radius, cube.highest(loss, radius, None, &[], control).await?)
        }
        None => cube.largest_within(loss, most, options.epsilon, control).await?,
    };
    let alpha = 2.0 * (largest_weight + radius) / (largest_weight - radius);
    // Of T_2, whose diagonal has 2, 1 and ½, and so logarithms 1, 0 and −1.
    let exponents = scale(2.0, &vec![1.0; point.len()])?;
    let balance = exponents.iter().map(|t| t.log2()).sum::<f64>();
    let inverted = balance < 0.0;
    let log_determinant = balance.abs() * alpha.ln();

    let first_log_volume = point.len() as f64 * (2.0 * radius).ln();
    let around = [largest_weight - radius, largest_weight + radius];
    let mut boxes = boxes_of(options.boxes, around, (alpha, inverted), first_log_volume, log_determinant)?;
    let mut moved = copied("a corner of a box", point)?;
    // The corners between which the first box lies, each coordinate at its least and its largest magnitude.
    for flat in &mut boxes {
        let factor = power_of(alpha, flat.power, inverted);
        for away in [-radius, radius] {
            control.breathe().await?;
            moved.iter_mut().zip(point).for_each(|(to, w)| *to = w + away * w.signum());
            flat.cover(scale(factor, &moved)?[separating_coordinate]);
        }
    }
    let mut corners = cube.corners();
    let worst = highest.ascent.as_ref().map(|ascent| &ascent.delta);
    for i in 0..cube.count() + usize::from(worst.is_some()) {
        control.step(Progress::new("boxes", i, cube.count())).await?;
        match worst {
            Some(delta) if i == cube.count() => {
                moved.iter_mut().zip(point).zip(delta).for_each(|((to, w), d)| *to = w + d);
            }
            _ => cube.move_to(&mut corners, radius, &mut moved),
        }
        let before = place.loss(&moved).await?;
        for flat in &mut boxes {
            control.breathe().await?;
            let image = scale(power_of(alpha, flat.power, inverted), &moved)?;
            flat.cover(image[separating_coordinate]);
            let after = place.loss(&image).await?;
            flat.largest_difference = flat.largest_difference.max((after - before).abs());
        }
    }
    let largest_rise = highest.rise();
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
        sampled_rise: highest.sampled,
        ascent: highest.ascent,
        largest_rise,
        inside: largest_rise < options.epsilon,
        disjoint: are_disjoint(boxes.iter().map(|flat| flat.interval).collect()),
        boxes,
        samples: cube.count(),
    })
}

impl FlatBox {
    /// Takes this value of the separating coordinate in.
    fn cover(&mut self, coordinate: f64) {
        let [low, high] = self.interval;
        self.interval = [low.min(coordinate.abs()), high.max(coordinate.abs())];
    }
}

/// Do these intervals have no point in common?
fn are_disjoint(mut intervals: Vec<[f64; 2]>) -> bool {
    sort_by(&mut intervals, |a, b| a[0].total_cmp(&b[0]));
    intervals.windows(2).all(|pair| pair[0][1] < pair[1][0])
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
        let [low, high] = around.map(|end| end * factor);
        let is_held = low.is_normal() && high.is_finite() && (1.0 / factor).is_normal();
        ensure!(is_held, NotFinite, "box {power} of {count} is beyond what numbers hold: α^{power} is {factor:e}");
        let log_volume = first_log_volume + power as f64 * log_determinant;
        let total_log_volume = boxes.last().map_or(log_volume, |last| log_sum(last.total_log_volume, log_volume));
        // Of no point yet.
        let interval = [f64::INFINITY, f64::NEG_INFINITY];
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
    place: &'a Boxed<'a>,
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

/// How far the loss rises in a cube, as far as is found.
struct Highest {
    sampled: f64,
    ascent: Option<Sharpness>,
    /// Was a rise of the size that was looked for found before any ascent?
    is_early: bool,
}

impl Highest {
    fn rise(&self) -> f64 {
        match &self.ascent {
            _ if self.is_early => self.sampled,
            Some(ascent) => ascent.rise.max(self.sampled),
            None => f64::INFINITY,
        }
    }
}

impl<'a> Cube<'a> {
    async fn new(place: &'a Boxed<'a>, options: &BoxOptions) -> Result<Self> {
        let mut signs = place.engine.gradient().await?;
        if let Some(map) = place.map {
            signs = map.pull(place.point, &signs);
        }
        signs.iter_mut().for_each(|g| *g = g.signum());
        Ok(Self { place, signs, samples: options.samples, seed: options.seed })
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
        for ((to, w), sign) in point.iter_mut().zip(self.place.point).zip(&self.signs) {
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

    /// The largest rise that samples, the places `known` and then ascents find; where one of the first reaches `enough`, nothing more is
    /// looked for.
    async fn highest(
        &self,
        loss: f64,
        radius: f64,
        enough: Option<f64>,
        known: &[Vec<f64>],
        control: &Control<'_>,
    ) -> Result<Highest> {
        let probe = Probe::through(self.place.engine, self.place.map);
        let mut sampled = f64::NEG_INFINITY;
        let mut corners = self.corners();
        let mut point = copied("a corner of a box", self.place.point)?;
        let is_enough = |rise: f64| enough.is_some_and(|enough| rise >= enough);
        for i in 0..known.len().saturating_add(self.count()) {
            control.breathe().await?;
            match known.get(i) {
                Some(unit) => {
                    point.iter_mut().zip(self.place.point).zip(unit).for_each(|((to, w), u)| *to = w + radius * u);
                }
                None => self.move_to(&mut corners, radius, &mut point),
            }
            let rise = probe.loss(&point).await? - loss;
            sampled = if rise.is_nan() { f64::INFINITY } else { sampled.max(rise) };
            if is_enough(sampled) {
                return Ok(Highest { sampled, ascent: None, is_early: true });
            }
        }
        let ascent = self.place.ascent(radius, self.seed, known, control).await?;
        Ok(Highest { sampled, ascent, is_early: false })
    }

    /// A radius up to `most`, and the highest point of its cube, where the search finds no rise of ε.
    async fn largest_within(
        &self,
        loss: f64,
        most: f64,
        epsilon: f64,
        control: &Control<'_>,
    ) -> Result<(f64, Highest)> {
        // Where a cube was too high, in units of its radius: smaller ones may be there too.
        let mut known: Vec<Vec<f64>> = Vec::new();
        let (mut inside, mut outside): (Option<(f64, Highest)>, Option<f64>) = (None, None);
        let (mut halvings, mut bisections) = (0, 0);
        loop {
            let radius = match (&inside, outside) {
                (None, None) => most,
                (None, Some(outside)) => 0.5 * outside,
                (Some(_), None) => break,
                (Some((inside, _)), Some(outside)) => 0.5 * (inside + outside),
            };
            control.step(Progress::new("radius", halvings, HALVINGS)).await?;
            let highest = self.highest(loss, radius, Some(epsilon), &known, control).await?;
            if highest.rise() < epsilon {
                inside = Some((radius, highest));
            } else {
                if let Some(ascent) = &highest.ascent {
                    known = vec![ascent.delta.iter().map(|d| d / radius).collect()];
                }
                ensure!(
                    inside.is_some() || halvings < HALVINGS,
                    InvalidOption,
                    "no box around this point stays below L + ε with ε = {epsilon}: ε is below the rounding of the loss"
                );
                outside = Some(radius);
            }
            if inside.is_none() {
                halvings += 1;
            } else {
                bisections += 1;
            }
            if bisections > BISECTIONS {
                break;
            }
        }
        Ok(inside.expect("the loop ends with one"))
    }
}

#[cfg(test)]
mod tests {
    use super::are_disjoint;

    #[test]
    fn intervals_that_touch_are_not_disjoint() {
        assert!(are_disjoint(vec![[4.0, 5.0], [1.0, 2.0], [2.5, 3.0]]));
        assert!(!are_disjoint(vec![[4.0, 5.0], [1.0, 4.0]]));
        assert!(!are_disjoint(vec![[1.0, 9.0], [2.0, 3.0]]));
    }
}
