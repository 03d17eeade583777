//! Loss landscapes: L(θ + s u) along a line, L(θ + s u + t v) over a grid.

mod normalization;
mod trajectory;

use std::collections::BTreeMap;

pub use normalization::Normalization;
use serde::Serialize;
pub use trajectory::{Path, PrincipalComponents, Trajectory};

use self::trajectory::around;
use crate::control::{Control, Progress};
use crate::engine::{Engine, Plan, Step, Vector};
use crate::error::{Result, bail, ensure};
use crate::linalg::{Eigenpair, Goal, Lanczos, generator, random_normal};
use crate::memory::{collected, copied};
use crate::numbers::norm;
use crate::operator::OperatorKind;

/// The most points a landscape may have.
const MAX_POINTS: usize = 1 << 20;

/// Multiplications between two looks at whether to stop: about a tenth of a second on a software adapter.
const POINT_WORK: f64 = 2e8;

/// Most points that are computed together.
const MAX_AT_ONCE: usize = 64;

/// A direction through the parameter space.
#[derive(Debug, Clone, PartialEq)]
pub enum Direction {
    /// Normally distributed, of length 1.
    Random {
        /// The same seed gives the same direction.
        seed: u64,
    },
    /// An eigenvector at θ. A Riemannian operator's is mapped back from the coordinates of D H D.
    Eigenvector {
        /// Whose.
        operator: OperatorKind,
        /// 0 is the largest eigenvalue's, 1 the next; −1 the smallest's.
        index: isize,
    },
    /// Towards other parameters: s = 1 is there. Not normalised.
    Towards(Vec<f64>),
    /// This vector. Not normalised.
    Vector(Vec<f64>),
    /// A principal component of the trajectory that the landscape shows. Of length 1, whatever others are matched to.
    Principal {
        /// 0 explains most, 1 the most of what that one leaves.
        component: usize,
    },
}

/// Points along one axis, whose ends may be left to the trajectory that is to be inside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// First and last coordinate.
    pub range: Option<(f64, f64)>,
    /// How many points, both ends included.
    pub points: usize,
}

/// Points along one axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    /// First coordinate.
    pub from: f64,
    /// Last coordinate.
    pub to: f64,
    /// How many, both ends included.
    pub points: usize,
}

impl Axis {
    /// Its points.
    ///
    /// # Errors
    /// `InvalidOption` for a range that does not go up, and too few points or too many.
    pub(crate) fn coordinates(&self) -> Result<Vec<f64>> {
        self.check()?;
        let Self { from, to, points } = *self;
        // Mirrored weights, so that the middle of an odd number of points over a symmetric range is 0 exactly.
        let last = (points - 1) as f64;
        Ok((0..points).map(|i| (from * (last - i as f64) + to * i as f64) / last).collect())
    }

    fn check(&self) -> Result<()> {
        let Self { from, to, points } = *self;
        // Places between them are found by their difference.
        let is_finite = (to - from).is_finite();
        ensure!(
            is_finite,
            InvalidOption,
            "a landscape's range is [{from}, {to}], but must be of finite numbers and length"
        );
        let goes_up = from < to;
        ensure!(goes_up, InvalidOption, "a landscape's range is [{from}, {to}], but must go up");
        ensure!(points >= 2, InvalidOption, "a landscape's axis has {points} points, but needs 2 or more");
        let is_few = points <= MAX_POINTS;
        ensure!(is_few, InvalidOption, "a landscape's axis has {points} points, but at most {MAX_POINTS} can be taken");
        Ok(())
    }
}

/// Losses along a line or over a grid.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Landscape {
    /// Coordinates along the first direction.
    pub s: Vec<f64>,
    /// Coordinates along the second; empty for a line.
    pub t: Vec<f64>,
    /// `loss[i + j · s.len()]` = L(θ + s_i u + t_j v). Infinite where it overflows.
    pub loss: Vec<f64>,
    /// Accuracy likewise.
    pub accuracy: Vec<f64>,
    /// How many of the losses are not finite.
    #[serde(rename = "notFinite")]
    pub not_finite: usize,
    /// L(θ).
    pub center: f64,
    /// Where the trajectory runs, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Path>,
}

/// Computes the landscape around θ: one axis and direction for a line, two for a grid.
///
/// # Errors
/// `InvalidOption` for other counts, empty ranges, an eigenvector that there is none of, or over 2²⁰ points; what
/// [`Engine::prepare`] says; `OutOfRange` for directions that the device's precision does not hold; `NotFinite` where the loss at θ
/// itself, or a direction, overflows (elsewhere it is counted); `Aborted`; the device's.
pub async fn landscape(
    engine: &Engine,
    parameters: &[f64],
    directions: &[(Direction, Axis)],
    normalization: Normalization,
    control: &Control<'_>,
) -> Result<Landscape> {
    let span = |axis: &Axis| Span { range: Some((axis.from, axis.to)), points: axis.points };
    let directions: Vec<_> = directions.iter().map(|(direction, axis)| (direction, span(axis))).collect();
    drawn(engine, parameters, None, &directions, normalization, 0, control).await
}

/// As [`landscape`], with the way of a training drawn into it: along its own principal components, or projected onto any other plane.
/// A span without a range has all of the way inside.
///
/// # Errors
/// As [`landscape`]; `InvalidParameters` for a trajectory of another network; what [`Trajectory::principal`] says.
pub async fn landscape_with(
    engine: &Engine,
    parameters: &[f64],
    trajectory: &Trajectory,
    directions: &[(Direction, Span)],
    normalization: Normalization,
    control: &Control<'_>,
) -> Result<Landscape> {
    landscape_rows(engine, parameters, Some(trajectory), directions, normalization, 0, control).await
}

/// The rows of a grid from `first` on, where those before it are there already: to the last bit what they are in the whole, and `t` is
/// theirs. With a trajectory or without; a span that has neither is [−1, 1].
///
/// # Errors
/// As [`landscape_with`]; `InvalidOption` where there is no such row.
pub async fn landscape_rows(
    engine: &Engine,
    parameters: &[f64],
    trajectory: Option<&Trajectory>,
    directions: &[(Direction, Span)],
    normalization: Normalization,
    first: usize,
    control: &Control<'_>,
) -> Result<Landscape> {
    for snapshot in trajectory.iter().flat_map(|trajectory| trajectory.snapshots()) {
        engine.problem().network().check_parameters(snapshot)?;
    }
    let directions: Vec<_> = directions.iter().map(|(direction, span)| (direction, *span)).collect();
    drawn(engine, parameters, trajectory, &directions, normalization, first, control).await
}

async fn drawn(
    engine: &Engine,
    parameters: &[f64],
    trajectory: Option<&Trajectory>,
    directions: &[(&Direction, Span)],
    normalization: Normalization,
    first: usize,
    control: &Control<'_>,
) -> Result<Landscape> {
    ensure!(
        matches!(directions.len(), 1 | 2),
        InvalidOption,
        "a landscape has 1 or 2 directions, not {}",
        directions.len()
    );
    // What is wrong with an axis is said before anything is computed.
    for Span { range, points } in directions.iter().map(|(_, span)| *span) {
        let (from, to) = range.unwrap_or((-1.0, 1.0));
        Axis { from, to, points }.check()?;
    }
    let points = directions.iter().fold(1, |product: usize, (_, span)| product.saturating_mul(span.points));
    ensure!(points <= MAX_POINTS, InvalidOption, "the landscape has over {MAX_POINTS} points");
    let rows = directions.get(1).map_or(1, |(_, span)| span.points);
    let last = rows - 1;
    ensure!(first <= last, InvalidOption, "a landscape is to begin with row {first}, but its rows are 0 to {last}");
    let theta = engine.upload_parameters(parameters)?;

    let specs: Vec<&Direction> = directions.iter().map(|(direction, _)| *direction).collect();
    let vectors = direction_vectors(engine, parameters, trajectory, &specs, normalization, control).await?;
    let path = trajectory.map(|trajectory| trajectory.projected(parameters, &vectors)).transpose()?;
    let axis = |i: usize| {
        let Span { range, points } = directions[i].1;
        let along = path.as_ref().map_or(&[][..], |path| if i == 0 { &path.s } else { &path.t });
        let (from, to) = range.map_or_else(|| around(along), Ok)?;
        Axis { from, to, points }.coordinates()
    };
    let s = axis(0)?;
    let mut t = if directions.len() == 2 { axis(1)? } else { Vec::new() };
    t.drain(..first);
    let e = engine.vectors();
    let u = engine.upload_directions(&vectors[0])?;
    let v: Option<Vector> = vectors.get(1).map(|v| engine.upload_directions(v)).transpose()?;
    engine.prepare_plane(&theta, &u, v.as_ref()).await?;
    let batch = points_at_once(engine);
    let mut out = e.zeros(2 * batch, 1)?;
    let center = engine.evaluate(parameters).await?.loss;

    let (loss, accuracy) = (Vec::new(), Vec::new());
    let mut landscape = Landscape { loss, accuracy, not_finite: 0, center, s: s.clone(), t: t.clone(), path };
    let rows = if t.is_empty() { vec![0.0] } else { t };
    let total = rows.len() * s.len();
    for rows in rows.chunks((batch / s.len()).max(1)) {
        let points: Vec<[f64; 2]> = rows.iter().flat_map(|&t| s.iter().map(move |&s| [s, t])).collect();
        let first = landscape.loss.len();
        for points in points.chunks(batch) {
            engine.evaluate_plane(points, &mut out).await?;
            let values = e.download(&out).await?;
            let values = values.chunks_exact(2).take(points.len());
            // An overflow is a loss beyond all bounds, and NaN would be a hole in the plot.
            landscape.loss.extend(values.clone().map(|v| if v[0].is_nan() { f64::INFINITY } else { v[0] }));
            landscape.not_finite += values.clone().filter(|v| !v[0].is_finite()).count();
            landscape.accuracy.extend(values.map(|v| v[1]));
            control.breathe().await?;
        }
        for row in (first..landscape.loss.len()).step_by(s.len()).map(|row| row..row + s.len()) {
            let mut progress = Progress::new("landscape", row.end, total);
            progress.losses = Some(landscape.loss[row.clone()].to_vec());
            progress.accuracies = Some(landscape.accuracy[row].to_vec());
            control.step(progress).await?;
        }
    }
    Ok(landscape)
}

/// Points of a landscape between two looks at whether to stop: about a tenth of a second of work on a slow device, of each rank that there
/// is.
fn points_at_once(engine: &Engine) -> usize {
    let plan = Plan::new(engine.problem().network());
    let multiplications = plan.steps.iter().skip(1).map(Step::multiplications).sum::<f64>();
    let point = (multiplications * engine.problem().samples() as f64).max(1.0);
    let ranks = engine.info().ranks.unwrap_or(1);
    ((POINT_WORK / point) as usize).clamp(1, MAX_AT_ONCE) * ranks
}

/// The directions as vectors, normalised.
async fn direction_vectors(
    engine: &Engine,
    parameters: &[f64],
    trajectory: Option<&Trajectory>,
    specs: &[&Direction],
    normalization: Normalization,
    control: &Control<'_>,
) -> Result<Vec<Vec<f64>>> {
    let network = engine.problem().network();
    let eigenvectors = Eigenvectors::compute(engine, parameters, specs, control).await?;
    let mut components = principal_components(trajectory, specs, control).await?;
    let mut vectors = Vec::new();
    for spec in specs {
        vectors.push(match spec {
            Direction::Principal { component } => match specs.iter().filter(|other| *other == spec).count() {
                1 => std::mem::take(&mut components[*component]),
                _ => bail!(InvalidOption, "both directions of the landscape are principal component {component}"),
            },
            Direction::Random { seed } => {
                let vector = random_normal(parameters.len(), &mut generator(*seed))?;
                normalization.apply(network, parameters, vector)?
            }
            Direction::Eigenvector { operator, index } => {
                let (vector, error) = eigenvectors.get(*operator, *index)?;
                normalization.apply_within(network, parameters, vector, error)?
            }
            Direction::Towards(other) => {
                network.check_parameters(other)?;
                collected("a direction", other.iter().zip(parameters).map(|(a, b)| a - b))?
            }
            Direction::Vector(vector) => {
                network.check_parameters(vector)?;
                copied("a direction", vector)?
            }
        });
    }
    if let Some(i) = vectors.iter().position(|v: &Vec<f64>| v.iter().all(|&x| x == 0.0)) {
        let where_not = match normalization {
            Normalization::Filter if !matches!(specs[i], Direction::Vector(_) | Direction::Towards(_)) => {
                " in all weights, and by filters biases are not moved"
            }
            _ => "",
        };
        bail!(InvalidOption, "direction {i} of the landscape is zero{where_not}");
    }
    Ok(vectors)
}

/// The principal components up to the last one that a direction names.
async fn principal_components(
    trajectory: Option<&Trajectory>,
    specs: &[&Direction],
    control: &Control<'_>,
) -> Result<Vec<Vec<f64>>> {
    let wanted = specs.iter().filter_map(|spec| match spec {
        Direction::Principal { component } => Some(component.saturating_add(1)),
        _ => None,
    });
    match (wanted.max(), trajectory) {
        (None, _) => Ok(Vec::new()),
        (Some(count), Some(trajectory)) => Ok(trajectory.principal(count, control).await?.directions),
        (Some(_), None) => {
            bail!(InvalidOption, "a principal direction is of a training's trajectory: give its snapshots")
        }
    }
}

/// Eigenvectors of the operators that the directions name, one run an operator.
struct Eigenvectors(BTreeMap<String, Ends>);

/// Eigenvectors at both ends of a spectrum, from the end inwards, each with what any part of it may be off by.
struct Ends {
    top: Vec<(Vec<f64>, f64)>,
    bottom: Vec<(Vec<f64>, f64)>,
}

/// Most that a part of an eigenvector is taken to be off by, as a share of the whole: of a small eigenvalue a residual tells little.
const UNCERTAIN: f64 = 1e-3;

impl Eigenvectors {
    async fn compute(engine: &Engine, parameters: &[f64], specs: &[&Direction], control: &Control<'_>) -> Result<Self> {
        let mut wanted: BTreeMap<String, (OperatorKind, usize, usize)> = BTreeMap::new();
        for spec in specs {
            if let Direction::Eigenvector { operator, index } = spec {
                let (_, top, bottom) = wanted.entry(operator.name()).or_insert((*operator, 0, 0));
                if *index >= 0 {
                    *top = (*top).max(index.unsigned_abs().saturating_add(1));
                } else {
                    *bottom = (*bottom).max(index.unsigned_abs());
                }
            }
        }
        let mut found = BTreeMap::new();
        for (name, (kind, top, bottom)) in wanted {
            ensure!(
                top.max(bottom) <= 100,
                InvalidOption,
                "a landscape's eigenvector may be among the 100 largest or smallest"
            );
            engine.prepare(parameters).await?;
            let operator = kind.operator(engine).await?;
            // Drawing needs no nine digits of a direction.
            let lanczos = Lanczos {
                goal: Goal::Extremes { top, bottom },
                tolerance: Some(1e-4),
                max_products: 400,
                vectors: true,
                ..Lanczos::default()
            };
            let spectrum = lanczos.run(&operator, control).await?;
            // Of half of the digits: where another eigenvalue lies close, rounding mixes its vector in, and residuals do not tell.
            let rounding = engine.info().precision.epsilon().sqrt();
            let mapped = |pairs: Vec<Eigenpair>| -> Result<Vec<(Vec<f64>, f64)>> {
                let known = pairs.into_iter().filter_map(|pair| Some((pair.residual / pair.value.abs(), pair.vector?)));
                known
                    .map(|(error, vector)| {
                        let vector = kind.displacement(engine, &vector)?;
                        // Where the operator has nothing, as for a unit that is 0 at every sample, the residual is λ times the vector.
                        let error = error.min(UNCERTAIN).max(rounding) * norm(vector.iter().copied());
                        Ok((vector, error))
                    })
                    .collect()
            };
            found.insert(name, Ends { top: mapped(spectrum.top)?, bottom: mapped(spectrum.bottom)? });
        }
        Ok(Self(found))
    }

    fn get(&self, kind: OperatorKind, index: isize) -> Result<(Vec<f64>, f64)> {
        let Ends { top, bottom } = &self.0[&kind.name()];
        let (vector, error) = match usize::try_from(index) {
            Ok(i) => &top[i],
            Err(_) => &bottom[index.unsigned_abs() - 1],
        };
        Ok((copied("a direction", vector)?, *error))
    }
}
