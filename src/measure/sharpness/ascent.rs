//! Projected gradient ascent of the loss within a region, from several starts.
//!
//! A step goes along the gradient and back into the region, shorter until the loss rises by a share of what the gradient
//! promises (Armijo), longer after each success: with long steps it is the power iteration u ← ∇L / ‖∇L‖. The starts are ± the
//! top eigenvector of MᵀHM, the gradient, and gradients of random halves of the samples. A symmetry of the network carries all
//! of them along, so ascents at θ and at T(θ) correspond.

use rand::Rng;
use rand::seq::SliceRandom;
use rand_distr::StandardNormal;
use serde::Serialize;

use super::SharpnessOptions;
use super::probe::Probe;
use super::region::{Coordinates, Region};
use crate::control::{Control, Progress};
use crate::engine::{Curvature, Device, Engine, Precision, ensure_number};
use crate::error::{Result, bail, ensure};
use crate::linalg::{Goal, Lanczos, mean_and_error, second_generator, symmetric_eigen};
use crate::memory::{collected, copied, make_room, product, zeros};
use crate::operator::{CurvatureOperator, Scaled};

/// Share of the promised rise that a step must bring.
const ARMIJO: f64 = 1e-4;

/// Shortest and longest step, in units of the region.
const STEPS: (f64, f64) = (1e-9, 1e12);

const START: &str = "the start of an ascent";

/// Residual of a start vector, relative to the norm: ascents need no exact eigenvector, and its eigenvalue is off by the square,
/// over the distance to the next one.
const EIGENVECTOR_TOLERANCE: f64 = 1e-5;

/// Most products for it.
const EIGENVECTOR_PRODUCTS: usize = 300;

/// Where an ascent began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StartKind {
    /// The top eigenvector of the Hessian in the region's coordinates.
    Eigenvector,
    /// The same, the other way.
    MinusEigenvector,
    /// The gradient.
    Gradient,
    /// The gradient over a random half of the samples, or a random direction where that is 0.
    Random,
    /// A direction that the caller gave.
    Given,
}

/// Why an ascent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The optimality gap is within the tolerance.
    Stationary,
    /// No step along the gradient raises the loss any more: a kink, or rounding.
    Stalled,
    /// The steps are used up.
    Limit,
}

/// One ascent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Start {
    /// Where it began.
    pub kind: StartKind,
    /// The sharpness it came to.
    pub value: f64,
    /// Gradients it took.
    pub iterations: usize,
    /// Why it ended.
    pub stop: Stop,
}

/// ε-sharpness: a lower bound by ascent, with what says how good it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sharpness {
    /// Where the loss was searched.
    pub region: Region,
    /// ε.
    pub epsilon: f64,
    /// (L(θ + Δ) − L(θ)) / (1 + L(θ)) at the best Δ.
    pub value: f64,
    /// L(θ + Δ) − L(θ).
    pub rise: f64,
    /// L(θ).
    pub loss: f64,
    /// The quadratic approximation at a critical point, ‖MᵀHM‖₂ / (2 (1 + L)) with M = ε for the ball; none for boxes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quadratic: Option<f64>,
    /// What could be gained still at the best point, to first order, in units of `value`.
    pub gap: f64,
    /// How far the value may be from the local maximum it climbs, in units of `value`: the gap where the ascent ended
    /// stationary or at its limit, the last step's gain where it stalled.
    pub error: f64,
    /// Did the best ascent end before its limit?
    pub converged: bool,
    /// Gradients over all ascents.
    pub iterations: usize,
    /// All ascents.
    pub starts: Vec<Start>,
    /// Largest less smallest value over the ascents.
    pub spread: f64,
    /// What gave the number.
    pub precision: Precision,
    /// Was the engine's own precision too coarse for the difference of losses, so that the CPU took over in f64?
    pub fell_back: bool,
    /// How much the loss changes when θ is rounded another way.
    pub resolution: f64,
    /// Is the rise more than rounding, to three digits?
    pub resolved: bool,
    /// The best Δ.
    #[serde(skip)]
    pub delta: Vec<f64>,
}

/// ε-sharpness in a region around θ. Where the engine's precision cannot resolve the rise, the CPU computes it in f64.
/// Prepares θ.
///
/// # Errors
/// `InvalidOption` for options out of range; what [`Engine::prepare`] says; `NotFinite`; `Aborted`; the device's.
pub async fn epsilon_sharpness(
    engine: &Engine,
    parameters: &[f64],
    region: Region,
    epsilon: f64,
    options: &SharpnessOptions,
    control: &Control<'_>,
) -> Result<Sharpness> {
    ascend(engine, parameters, region, epsilon, options, &[], control).await
}

/// [`epsilon_sharpness`] with more starts: directions Δ of the caller's.
pub(crate) async fn ascend(
    engine: &Engine,
    parameters: &[f64],
    region: Region,
    epsilon: f64,
    options: &SharpnessOptions,
    given: &[Vec<f64>],
    control: &Control<'_>,
) -> Result<Sharpness> {
    options.check()?;
    ensure!(epsilon.is_finite() && epsilon > 0.0, InvalidOption, "ε is {epsilon}, but must be positive");
    let found = search(engine, parameters, region, epsilon, options, given, control).await?;
    if found.resolved || engine.info().precision == Precision::F64 {
        return Ok(found);
    }
    let precise = Engine::new(&Device::cpu(Precision::F64), engine.problem())?;
    let found = search(&precise, parameters, region, epsilon, options, given, control).await?;
    Ok(Sharpness { fell_back: true, ..found })
}

async fn search(
    engine: &Engine,
    parameters: &[f64],
    region: Region,
    epsilon: f64,
    options: &SharpnessOptions,
    given: &[Vec<f64>],
    control: &Control<'_>,
) -> Result<Sharpness> {
    engine.prepare(parameters).await?;
    let coordinates = region.coordinates(engine, parameters, epsilon, options.seed, control).await?;
    let probe = Probe::new(engine);
    let (loss, gradient) = probe.gradient(parameters).await?;
    let resolution = probe.resolution(parameters, loss).await?;
    let (eigenvalue, eigenvector) = top_eigenvector(engine, &coordinates, options.seed, control).await?;

    let climb = Climb { probe: &probe, theta: parameters, coordinates: &coordinates, loss, resolution, options };
    // One start after the other, as many as one likes: only the best summit is kept.
    let first = 3 + given.len();
    let total = first.saturating_add(options.restarts);
    let value = |rise: f64| rise.max(0.0) / (1.0 + loss);
    let (mut starts, mut best): (Vec<Start>, Option<Summit>) = (Vec::new(), None);
    for i in 0..total {
        let (kind, mut direction) = match i {
            0 => (StartKind::Eigenvector, copied(START, &eigenvector)?),
            1 => (StartKind::MinusEigenvector, collected(START, eigenvector.iter().map(|x| -x))?),
            _ if i < first - 1 => (StartKind::Given, coordinates.coordinates_of(&given[i - 2])?),
            _ if i < first => (StartKind::Gradient, coordinates.pull(&gradient)?),
            _ => {
                let restart = (i - first) as u64;
                control.breathe().await?;
                (StartKind::Random, random_start(&probe, parameters, &coordinates, options.seed, restart).await?)
            }
        };
        let size = coordinates.size(&direction);
        if size.is_finite() && size > 0.0 {
            direction.iter_mut().for_each(|x| *x /= size);
            let summit = climb.from(direction, control).await?;
            let progress = Progress::new("sharpness", i + 1, total);
            control.step(progress.with_estimate(summit.rise / (1.0 + loss), summit.gap / (1.0 + loss))).await?;
            if starts.len() == starts.capacity() {
                make_room("ascents", &mut starts, i + 1)?;
            }
            starts.push(Start { kind, value: value(summit.rise), iterations: summit.iterations, stop: summit.stop });
            if best.as_ref().is_none_or(|best| summit.rise.total_cmp(&best.rise).is_ge()) {
                best = Some(summit);
            }
        }
    }
    // θ itself where every start falls, or none has a direction: then nothing depends on the parameters here.
    let best = match best.filter(|best| best.rise > 0.0) {
        Some(best) => best,
        None => Summit::at_rest(coordinates.len())?,
    };
    let ends = starts.iter().map(|start| start.value);
    let (low, high) = ends.fold((f64::INFINITY, 0.0), |(low, high), v| (f64::min(low, v), f64::max(high, v)));
    let error = if best.stop == Stop::Stalled { best.last_gain } else { best.gap };
    let spread = if starts.is_empty() { 0.0 } else { high - low };
    ensure_number("the sharpness", engine.info().precision, &[best.rise, best.gap, error, spread])?;
    Ok(Sharpness {
        region,
        epsilon,
        value: value(best.rise),
        rise: best.rise,
        loss,
        quadratic: coordinates.is_round().then(|| eigenvalue.abs() / (2.0 * (1.0 + loss))),
        gap: best.gap / (1.0 + loss),
        error: error / (1.0 + loss),
        converged: best.stop != Stop::Limit,
        iterations: starts.iter().map(|start| start.iterations).sum(),
        spread,
        starts,
        precision: engine.info().precision,
        fell_back: false,
        resolution,
        resolved: Probe::resolves(best.rise, resolution),
        delta: coordinates.delta(&best.u)?,
    })
}

/// Where an ascent ended.
struct Summit {
    u: Vec<f64>,
    rise: f64,
    gap: f64,
    last_gain: f64,
    iterations: usize,
    stop: Stop,
}

impl Summit {
    fn at_rest(len: usize) -> Result<Self> {
        let u = zeros(START, len)?;
        Ok(Self { u, rise: 0.0, gap: 0.0, last_gain: 0.0, iterations: 0, stop: Stop::Stationary })
    }
}

struct Climb<'a> {
    probe: &'a Probe<'a>,
    theta: &'a [f64],
    coordinates: &'a Coordinates,
    loss: f64,
    resolution: f64,
    options: &'a SharpnessOptions,
}

impl Climb<'_> {
    /// L(θ + M u) − L(θ), and its gradient in u.
    async fn at(&self, u: &[f64]) -> Result<(f64, Vec<f64>)> {
        let mut moved = self.coordinates.delta(u)?;
        moved.iter_mut().zip(self.theta).for_each(|(d, w)| *d += w);
        let (loss, gradient) = self.probe.gradient(&moved).await?;
        Ok((loss - self.loss, self.coordinates.pull(&gradient)?))
    }

    async fn from(&self, start: Vec<f64>, control: &Control<'_>) -> Result<Summit> {
        let tolerance = self.options.tolerance.unwrap_or(match self.probe.engine().info().precision {
            Precision::F64 => 1e-6,
            Precision::F32 => 1e-3,
        });
        let mut u = start;
        let (mut rise, mut gradient) = self.at(&u).await?;
        if !rise.is_finite() || gradient.iter().any(|g| !g.is_finite()) {
            bail!(NotFinite, "the loss overflows within the region: a smaller ε is needed");
        }
        let (mut step, mut last_gain, mut iterations) = (0.25, 0.0, 1);
        let (stop, gap) = loop {
            control.breathe().await?;
            let gap = self.coordinates.gap(&u, &gradient);
            if gap <= tolerance * f64::max(rise.abs(), self.resolution) {
                break (Stop::Stationary, gap);
            }
            if iterations >= self.options.max_iterations {
                break (Stop::Limit, gap);
            }
            let unit = self.coordinates.size(&gradient);
            let mut accepted = None;
            let mut length = f64::min(step * 4.0, STEPS.1);
            while length > STEPS.0 && iterations < self.options.max_iterations {
                control.breathe().await?;
                let mut next: Vec<f64> =
                    collected("a step of an ascent", u.iter().zip(&gradient).map(|(u, g)| u + length / unit * g))?;
                self.coordinates.project(&mut next);
                let promised: f64 = next.iter().zip(&u).zip(&gradient).map(|((n, u), g)| (n - u) * g).sum();
                let (found, slope) = self.at(&next).await?;
                iterations += 1;
                // A loss that overflows compares false: the step was too long.
                if promised > 0.0 && found - rise >= ARMIJO * promised && slope.iter().all(|g| g.is_finite()) {
                    accepted = Some((next, found, slope));
                    break;
                }
                length /= 4.0;
            }
            let Some((next, found, slope)) = accepted else {
                break (if length > STEPS.0 { Stop::Limit } else { Stop::Stalled }, gap);
            };
            (step, last_gain) = (length, found - rise);
            (u, rise, gradient) = (next, found, slope);
        };
        Ok(Summit { u, rise, gap, last_gain, iterations, stop })
    }
}

/// The gradient over a random half of the samples, or a normal direction where it vanishes, in the region's coordinates.
async fn random_start(
    probe: &Probe<'_>,
    theta: &[f64],
    coordinates: &Coordinates,
    seed: u64,
    i: u64,
) -> Result<Vec<f64>> {
    let mut rng = second_generator(seed.wrapping_add(i));
    let samples = probe.engine().problem().samples();
    let mut rows: Vec<u32> = collected("sample numbers", 0..samples as u32)?;
    let (half, _) = rows.partial_shuffle(&mut rng, samples.div_ceil(2));
    half.sort_unstable();
    let direction = coordinates.pull(&probe.gradient_over(theta, half).await?.1)?;
    if samples > 1 && coordinates.size(&direction) > 0.0 {
        return Ok(direction);
    }
    collected(START, (0..coordinates.len()).map(|_| rng.sample::<f64, _>(StandardNormal)))
}

/// The eigenvalue of MᵀHM of largest magnitude at the prepared point, and its eigenvector.
async fn top_eigenvector(
    engine: &Engine,
    coordinates: &Coordinates,
    seed: u64,
    control: &Control<'_>,
) -> Result<(f64, Vec<f64>)> {
    if let Some(diagonal) = coordinates.diagonal() {
        let operator = Scaled::new(CurvatureOperator::new(engine, Curvature::Hessian), diagonal)?;
        let lanczos = Lanczos {
            goal: Goal::SpectralNorm,
            tolerance: Some(f64::max(EIGENVECTOR_TOLERANCE, engine.info().precision.eigenvalue_tolerance())),
            max_products: EIGENVECTOR_PRODUCTS,
            seed,
            vectors: true,
            ..Lanczos::default()
        };
        let found = lanczos.run(&operator, control).await?;
        let pair = found.dominant().expect("a spectrum has an end");
        return Ok((pair.value, pair.vector.clone().unwrap_or_default()));
    }
    // A few columns: MᵀHM as a dense matrix.
    const WHAT: &str = "the curvature in a subspace";
    let p = coordinates.len();
    let mut matrix: Vec<f64> = zeros(WHAT, product::<f64>(WHAT, &[p, p])?)?;
    for j in 0..p {
        control.breathe().await?;
        let mut unit = zeros(WHAT, p)?;
        unit[j] = 1.0;
        let product = engine.product(Curvature::Hessian, &coordinates.delta(&unit)?).await?;
        matrix[j * p..(j + 1) * p].copy_from_slice(&coordinates.pull(&product)?);
    }
    crate::error::ensure_finite("curvature", &matrix)?;
    for j in 0..p {
        for i in j + 1..p {
            matrix[j * p + i] = 0.5 * matrix[j * p + i] + 0.5 * matrix[i * p + j];
        }
    }
    let eigen = symmetric_eigen(matrix, p, control).await?;
    // One of the two ends.
    let top = if eigen.values[0].abs() > eigen.values[p - 1].abs() { 0 } else { p - 1 };
    Ok((eigen.values[top], copied(START, &eigen.vectors[top * p..(top + 1) * p])?))
}

/// The mean of the sharpness over random subspaces, as Keskar et al. report it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubspaceSharpness {
    /// The mean.
    pub value: f64,
    /// Its standard error, over the subspaces.
    pub standard_error: f64,
    /// One a subspace.
    pub runs: Vec<Sharpness>,
}

/// ε-sharpness in random subspaces of `options.subspace_dimension` (at most the number of parameters). Prepares θ.
///
/// # Errors
/// As [`epsilon_sharpness`].
pub async fn subspace_sharpness(
    engine: &Engine,
    parameters: &[f64],
    epsilon: f64,
    options: &SharpnessOptions,
    control: &Control<'_>,
) -> Result<SubspaceSharpness> {
    options.check()?;
    let dimension = options.subspace_dimension.min(parameters.len());
    let mut runs: Vec<Sharpness> = Vec::new();
    for i in 0..options.subspaces {
        let options = SharpnessOptions { seed: options.seed.wrapping_add(i as u64), ..options.clone() };
        let region = Region::Subspace { dimension };
        if runs.len() == runs.capacity() {
            make_room("subspaces", &mut runs, i + 1)?;
        }
        runs.push(epsilon_sharpness(engine, parameters, region, epsilon, &options, control).await?);
    }
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    let (value, standard_error) = mean_and_error(&values);
    Ok(SubspaceSharpness { value, standard_error, runs })
}
