//! Projected gradient ascent of the loss within a region, from several starts.
//!
//! The starts are ± the top eigenvector of MᵀHM, the gradient, gradients of random halves of the samples, and random directions
//! ([`starts`](super::starts)). A symmetry of the network carries all ascents along ([`climb`](super::climb)), so those at θ and at T(θ)
//! correspond; but a permutation does not carry the random directions.

use std::ops::Range;

use serde::Serialize;

use super::SharpnessOptions;
use super::climb::{Ascent, Climb, Stop};
use super::coarse::ascend_coarse;
use super::ground::Ground;
use super::probe::Probe;
use super::region::{Coordinates, Region};
use super::starts::{START, dominant_pair, is_enough, random_start, tolerance_in, top_eigenvector};
use crate::control::{Control, Progress};
use crate::dinh::{Reparametrization, ReparametrizedOperator};
use crate::engine::{Engine, Precision, ensure_number};
use crate::error::{Result, ensure_positive};
use crate::linalg::{Eigenpair, mean_and_error};
use crate::memory::{collected, copied, make_room};
use crate::operator::Scaled;
use crate::random::seed_of_draw;

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
    /// The gradient over a random half of the samples, or a random direction.
    Random,
    /// A direction that the caller gave.
    Given,
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
    /// The quadratic approximation at a critical point, ‖MᵀHM‖₂ / (2 (1 + L)) with M = ε for the ball; none for boxes, nor in random
    /// subspaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quadratic: Option<f64>,
    /// What could be gained still at the best point, to first order, in units of `value`.
    pub gap: f64,
    /// How far the value may be from the local maximum it climbs, in units of `value`: the gap where the ascent ended
    /// stationary or at its limit, the last step's gain where it stalled, and four times that of the last ten gradients along a ridge.
    pub error: f64,
    /// Did the best ascent end before its limit?
    pub converged: bool,
    /// Gradients over all ascents.
    pub iterations: usize,
    /// All ascents.
    pub starts: Vec<Start>,
    /// Largest less smallest value over the ascents, those that were left before their summits too.
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

/// What is known beforehand.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hints<'a> {
    /// The point's, on the same engine.
    pub ground: Option<&'a Ground>,
    /// Places Δ to begin at too, or in whose directions where they are beyond the region.
    pub directions: &'a [Vec<f64>],
    /// The eigenpair of largest magnitude of the region's operator ([`Region::operator`]).
    pub top: Option<&'a Eigenpair>,
}

/// Where ascents begin.
#[derive(Debug, Clone, Copy)]
pub(super) enum Begin<'a> {
    /// At all starts, and in these directions Δ too.
    Everywhere(&'a [Vec<f64>]),
    /// At this Δ, which ascents have found, and nowhere else.
    At(&'a [f64]),
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
    ascend(engine, parameters, region, epsilon, options, Hints::default(), control).await
}

/// [`epsilon_sharpness`] where something is known of where to begin.
pub(crate) async fn ascend(
    engine: &Engine,
    parameters: &[f64],
    region: Region,
    epsilon: f64,
    options: &SharpnessOptions,
    hints: Hints<'_>,
    control: &Control<'_>,
) -> Result<Sharpness> {
    check(epsilon, options)?;
    engine.prepare(parameters).await?;
    let own = match hints.ground {
        Some(_) => None,
        None => Some(Ground::at(engine, parameters).await?),
    };
    let ground = hints.ground.or(own.as_ref()).expect("one of the two");
    let coordinates = region.coordinates(engine, parameters, epsilon, options.seed, control).await?;
    let top = match hints.top {
        Some(pair @ Eigenpair { value, vector: Some(vector), .. }) if is_enough(pair, engine) => {
            (epsilon * epsilon * value, copied(START, vector)?)
        }
        _ => top_of(engine, region, &coordinates, options, control).await?,
    };
    let map = None;
    let place = Place { engine, map, ground, parameters, region, epsilon, coordinates: &coordinates, top: &top };
    let begin = Begin::Everywhere(hints.directions);
    if let Some(found) = ascend_coarse(&place, begin, options, control).await? {
        return Ok(found);
    }
    let found = search(&place, begin, options, control).await?;
    if found.resolved || engine.info().precision == Precision::F64 {
        return Ok(found);
    }
    let precise = engine.in_f64()?;
    let ground = Ground::at(&precise, parameters).await?;
    let top = top_of(&precise, region, &coordinates, options, control).await?;
    let place = Place { engine: &precise, ground: &ground, top: &top, ..place };
    let found = search(&place, begin, options, control).await?;
    Ok(Sharpness { fell_back: true, ..found })
}

/// [`epsilon_sharpness`] of L ∘ g in a ball, box or cube around η, of which the coordinates outside of `moving` are held fast. Prepares g(η).
///
/// # Errors
/// As [`epsilon_sharpness`].
pub(crate) async fn ascend_through(
    engine: &Engine,
    (map, eta): (&dyn Reparametrization, &[f64]),
    (region, epsilon): (Region, f64),
    moving: &[Range<usize>],
    options: &SharpnessOptions,
    directions: &[Vec<f64>],
    control: &Control<'_>,
) -> Result<Sharpness> {
    check(epsilon, options)?;
    let coordinates = region.coordinates(engine, eta, epsilon, options.seed, control).await?.only(moving);
    let diagonal = coordinates.diagonal().expect("it is no subspace");
    let mut precise: Option<Engine> = None;
    loop {
        let engine = precise.as_ref().unwrap_or(engine);
        engine.prepare(&map.parameters(eta)).await?;
        let ground = Ground::of(&Probe::through(engine, Some(map)), eta).await?;
        let operator = Scaled::new(ReparametrizedOperator::new(engine, map, eta).await?, diagonal)?;
        let is_reported = region.operator().is_some();
        let top = dominant_pair(&operator, tolerance_in(engine, is_reported), options.seed, control).await?;
        let (parameters, coordinates, top) = (eta, &coordinates, &top);
        let place = Place { engine, map: Some(map), ground: &ground, parameters, region, epsilon, coordinates, top };
        let found = search(&place, Begin::Everywhere(directions), options, control).await?;
        if found.resolved || engine.info().precision == Precision::F64 {
            return Ok(Sharpness { fell_back: precise.is_some(), ..found });
        }
        precise = Some(engine.in_f64()?);
    }
}

/// The top eigenpair in a region's coordinates; where nothing but its direction counts, in single precision too.
async fn top_of(
    engine: &Engine,
    region: Region,
    coordinates: &Coordinates,
    options: &SharpnessOptions,
    control: &Control<'_>,
) -> Result<(f64, Vec<f64>)> {
    let is_reported = region.operator().is_some();
    let coarse = if is_reported { None } else { engine.coarse().await? };
    top_eigenvector(coarse.unwrap_or(engine), coordinates, is_reported, options.seed, control).await
}

/// Largest less smallest value.
pub(super) fn spread(starts: &[Start]) -> f64 {
    let ends = starts.iter().map(|start| start.value);
    let (low, high) = ends.fold((f64::INFINITY, 0.0), |(low, high), v| (f64::min(low, v), f64::max(high, v)));
    if starts.is_empty() { 0.0 } else { high - low }
}

fn check(epsilon: f64, options: &SharpnessOptions) -> Result<()> {
    ensure_positive("ε", epsilon)?;
    options.check()
}

/// Where ascents are: a region around the engine's prepared point.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub engine: &'a Engine,
    /// g, where ascents are in coordinates η of the parameters, which stand for θ then.
    pub map: Option<&'a dyn Reparametrization>,
    /// Of the engine and the point.
    pub ground: &'a Ground,
    pub parameters: &'a [f64],
    pub region: Region,
    pub epsilon: f64,
    /// The region's.
    pub coordinates: &'a Coordinates,
    /// The eigenvalue of MᵀHM of largest magnitude, and its eigenvector.
    pub top: &'a (f64, Vec<f64>),
}

/// The highest point that ascents find there, in the engine's own precision.
pub(super) async fn search(
    place: &Place<'_>,
    begin: Begin<'_>,
    options: &SharpnessOptions,
    control: &Control<'_>,
) -> Result<Sharpness> {
    let &Place { engine, map, ground, parameters, region, epsilon, coordinates, top: (eigenvalue, eigenvector) } =
        place;
    let &Ground { loss, ref gradient, resolution, .. } = ground;
    let probe = Probe::through(engine, map);
    let is_reported = region.operator().is_some();
    let climb = Climb {
        probe: &probe,
        theta: parameters,
        coordinates,
        loss,
        resolution,
        max_iterations: options.max_iterations,
    };
    let precision = engine.info().precision;
    // One start after the other, as many as one likes: only the best ascent is kept.
    let given = if let Begin::Everywhere(given) = begin { given } else { &[] };
    let first = 3 + given.len();
    let total = if let Begin::At(_) = begin { 1 } else { first.saturating_add(options.restarts()) };
    let value = |rise: f64| rise.max(0.0) / (1.0 + loss);
    let (mut starts, mut best): (Vec<Start>, Option<(usize, Ascent)>) = (Vec::new(), None);
    for i in 0..total {
        let (kind, mut direction) = match (i, begin) {
            (_, Begin::At(delta)) => (StartKind::Given, coordinates.coordinates_of(delta)?),
            (0, _) => (StartKind::Eigenvector, copied(START, eigenvector)?),
            (1, _) => (StartKind::MinusEigenvector, collected(START, eigenvector.iter().map(|x| -x))?),
            _ if i < first - 1 => (StartKind::Given, coordinates.coordinates_of(&given[i - 2])?),
            _ if i < first => (StartKind::Gradient, coordinates.pull(gradient)?),
            _ => {
                let restart = i - first;
                control.breathe().await?;
                (StartKind::Random, random_start(&probe, parameters, coordinates, options.seed, restart).await?)
            }
        };
        let size = coordinates.size(&direction);
        if size.is_finite() && size > 0.0 {
            match begin {
                Begin::At(_) => coordinates.project(&mut direction),
                // A place within the region, which may be the highest.
                Begin::Everywhere(_) if kind == StartKind::Given && size <= 1.0 => {}
                Begin::Everywhere(_) => direction.iter_mut().for_each(|x| *x /= size),
            }
            let mut ascent = climb.begin(direction).await?;
            let highest = best.as_ref().map(|(_, best)| best.rise);
            climb.all_the_way(&mut ascent, highest, options.tolerance, control).await?;
            let progress = Progress::new("sharpness", i + 1, total);
            control.step(progress.with_estimate(ascent.rise / (1.0 + loss), ascent.gap / (1.0 + loss))).await?;
            if starts.len() == starts.capacity() {
                make_room("ascents", &mut starts, i + 1)?;
            }
            starts.push(ascent.seen(kind, value(ascent.rise)));
            if best.as_ref().is_none_or(|(_, best)| ascent.rise.total_cmp(&best.rise).is_ge()) {
                best = Some((starts.len() - 1, ascent));
            }
            // What is far below what single precision resolves is not climbed to another time.
            if precision == Precision::F32
                && best.as_ref().is_some_and(|(_, best)| !Probe::resolves(10.0 * best.rise, resolution))
            {
                break;
            }
        }
    }
    if let (None, Some((i, best))) = (options.tolerance, &mut best) {
        climb.polish(best, control).await?;
        starts[*i] = best.seen(starts[*i].kind, value(best.rise));
    }
    let spread = spread(&starts);
    // θ itself where every start falls, or none has a direction: then nothing depends on the parameters here.
    let best = match best.filter(|(_, best)| best.rise > 0.0) {
        Some((_, best)) => best,
        None => Ascent::at_rest(coordinates.len())?,
    };
    let error = best.left();
    ensure_number("the sharpness", precision, &[best.rise, best.gap, error, spread])?;
    Ok(Sharpness {
        region,
        epsilon,
        value: value(best.rise),
        rise: best.rise,
        loss,
        quadratic: is_reported.then(|| eigenvalue.abs() / (2.0 * (1.0 + loss))),
        gap: best.gap / (1.0 + loss),
        error: error / (1.0 + loss),
        converged: best.stop != Stop::Limit,
        iterations: starts.iter().map(|start| start.iterations).sum(),
        spread,
        starts,
        precision,
        fell_back: false,
        resolution,
        resolved: Probe::resolves(best.rise, resolution),
        delta: coordinates.delta(&best.u)?,
    })
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

/// ε-sharpness in random subspaces of `options.subspace_dimension` (at most the number of parameters), the i-th of them
/// [`Region::Subspace`] at the seed `options.seed` + i. Prepares θ.
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
    in_subspaces(engine, parameters, epsilon, options, None, control).await
}

/// [`subspace_sharpness`] where the point's ground may be known.
pub(crate) async fn in_subspaces(
    engine: &Engine,
    parameters: &[f64],
    epsilon: f64,
    options: &SharpnessOptions,
    known: Option<&Ground>,
    control: &Control<'_>,
) -> Result<SubspaceSharpness> {
    check(epsilon, options)?;
    let dimension = options.subspace_dimension.min(parameters.len());
    let mut runs: Vec<Sharpness> = Vec::new();
    // Where one subspace needs double precision the others do.
    let mut precise: Option<Engine> = None;
    let mut own = match known {
        Some(_) => None,
        None => Some(Ground::at(engine, parameters).await?),
    };
    for i in 0..options.subspaces() {
        let options = SharpnessOptions { seed: seed_of_draw(options.seed, i), ..options.clone() };
        let region = Region::Subspace { dimension };
        if runs.len() == runs.capacity() {
            make_room("subspaces", &mut runs, i + 1)?;
        }
        let engine = precise.as_ref().unwrap_or(engine);
        let hints = Hints { ground: own.as_ref().or(known), ..Hints::default() };
        let run = ascend(engine, parameters, region, epsilon, &options, hints, control).await?;
        let fell_back = run.fell_back || precise.is_some();
        if run.fell_back {
            let engine = precise.insert(engine.in_f64()?);
            own = Some(Ground::at(engine, parameters).await?);
        }
        runs.push(Sharpness { fell_back, ..run });
    }
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    let (value, standard_error) = mean_and_error(&values);
    Ok(SubspaceSharpness { value, standard_error, runs })
}
