//! ε-sharpness by ascent (Keskar et al. 2017; Dinh et al. 2017, Definition 2; Rangamani et al. 2019, section 3) and average
//! sharpness: how far the loss rises in a neighbourhood of θ, at its worst and on average.
//!
//! Every number says how it was come by: starts and their spread, the optimality gap, and the precision that could resolve
//! the difference of two losses.

mod ascent;
mod average;
mod climb;
mod coarse;
mod ground;
mod probe;
mod region;
mod starts;

pub(crate) use ascent::{Hints, ascend, ascend_through, in_subspaces};
pub use ascent::{Sharpness, Start, StartKind, SubspaceSharpness, epsilon_sharpness, subspace_sharpness};
pub use average::{AverageSharpness, Noise, average_sharpness};
pub use climb::Stop;
pub(crate) use ground::Ground;
pub(crate) use probe::Probe;
pub use region::Region;

use super::known::Known;
use super::row::{ALWAYS, Compute, Cost, Family, LAYERWISE};
use super::{Measure, MeasureValue, spectral};
use crate::engine::Precision;
use crate::error::{Result, ensure, ensure_positive};
use crate::linalg::Goal;
use crate::operator::OperatorKind;
use crate::symmetry::Kinds;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        key: "epsilon_sharpness_quadratic",
        title: "ε-sharpness, quadratic",
        paper: "Dinh et al. 2017; Rangamani et al. 2019",
        description: "How far the loss rises within a ball of radius ε, to second order: ‖H‖ ε² / (2 (1 + L)).",
        ..Measure::new(Family::Sharpness, Cost::Eigenvalues, QUADRATIC)
    },
    Measure {
        key: "epsilon_sharpness",
        title: "ε-sharpness, ball",
        paper: "Keskar et al. 2017; Dinh et al. 2017, Definition 2",
        description: "How far the loss rises within a ball of radius ε, over 1 + L: the highest point that ascents find.",
        ..search(Family::Sharpness, Compute::Highest(Region::Ball))
    },
    Measure {
        key: "epsilon_sharpness_subspace",
        title: "ε-sharpness, random subspaces",
        paper: "Keskar et al. 2017, with random subspaces",
        description: "The same within the ball's cuts through random subspaces, on average over the subspaces.",
        ..search(Family::Sharpness, Compute::Point(|known, row| Box::pin(highest_in_subspaces(known, row))))
    },
    Measure {
        key: "epsilon_sharpness_box",
        title: "ε-sharpness, Keskar’s box",
        paper: "Keskar et al. 2017, in the full space",
        description: "How far the loss rises where every weight moves by up to ε (|θ_i| + 1), over 1 + L.",
        ..search(Family::Sharpness, Compute::Highest(Region::Box))
    },
    Measure {
        key: "riemannian_sharpness.layerwise",
        title: "Riemannian sharpness, layer-wise",
        paper: "Rangamani et al. 2019, section 3",
        description: "How far the loss rises within ε, lengths taken relative to the size of each layer, over 1 + L.",
        invariant: LAYERWISE,
        ..search(Family::Riemannian, Compute::Highest(Region::RiemannianLayerwise))
    },
    Measure {
        key: "riemannian_sharpness.nodewise",
        title: "Riemannian sharpness, node-wise",
        paper: "Rangamani et al. 2019, section 3, with one block a weight; Kwon et al. 2021",
        description: "How far the loss rises within ε, lengths taken relative to each weight, over 1 + L: the adaptive sharpness by elements, in the Euclidean norm.",
        invariant: ALWAYS,
        ..search(Family::Riemannian, Compute::Highest(Region::RiemannianNodewise))
    },
    Measure {
        key: "average_sharpness",
        title: "Average sharpness, equal noise",
        paper: "Neyshabur et al. 2017",
        description: "How far the loss rises on average when Gaussian noise is added to all weights.",
        ..search(Family::Noise, Compute::Point(|known, row| Box::pin(average(known, row, Noise::Plain))))
    },
    Measure {
        key: "average_sharpness_scaled",
        title: "Average sharpness, noise in proportion",
        paper: "Neyshabur et al. 2017, with noise in proportion",
        description: "How far the loss rises on average when each weight gets Gaussian noise in proportion to itself.",
        invariant: ALWAYS,
        ..search(Family::Noise, Compute::Point(|known, row| Box::pin(average(known, row, Noise::Scaled))))
    },
];

const fn search(family: Family, by: Compute) -> Measure {
    Measure::new(family, Cost::Search, by)
}

/// ‖H‖ ε² / (2 (1 + L)).
const QUADRATIC: Compute = Compute::Spectrum(OperatorKind::HESSIAN, Some(Goal::SpectralNorm), |known, row, of| {
    Box::pin(quadratic(known, row, of))
});

async fn quadratic(known: &mut Known<'_, '_>, row: &Measure, of: OperatorKind) -> Result<MeasureValue> {
    let ends = known.ends(of).await?;
    let factor = known.options.epsilon.powi(2) / (2.0 * (1.0 + known.engine.loss().await?));
    let pair = ends.dominant();
    let value = pair.value.abs() * factor;
    let found = spectral::eigenvalue(row.exact(value, value), pair, &ends);
    Ok(MeasureValue {
        residual: Some(pair.residual * factor),
        error_bound: pair.error_bound.map(|bound| bound * factor),
        ..found
    })
}

/// The highest point of a region that ascents find, with what is known of where to begin.
pub(crate) async fn highest_known(known: &mut Known<'_, '_>, region: Region) -> Result<Sharpness> {
    let (engine, epsilon, options) = (known.engine, known.options.epsilon, known.options.sharpness());
    let (theta, control) = (engine.parameters()?, known.control.clone());
    let ground = known.ground().await?;
    let top = match region.operator() {
        Some(kind) => known.direction(kind).await?,
        None => None,
    };
    let hints = Hints { top, ground: Some(&ground), ..Hints::default() };
    ascend(engine, &theta, region, epsilon, &options, hints, &control).await
}

/// The highest point of a region that ascents find.
pub(super) async fn highest(known: &mut Known<'_, '_>, row: &Measure, region: Region) -> Result<MeasureValue> {
    let (engine, found) = (known.engine, highest_known(known, region).await?);
    let scale = made_of(found.resolution, found.precision) / (1.0 + engine.loss().await?);
    Ok(MeasureValue {
        residual: Some(found.error),
        iterations: Some(found.iterations),
        precision: Some(found.precision),
        converged: found.converged && is_known(found.rise, found.resolution),
        ..row.exact(found.value, scale)
    })
}

/// The mean of the highest points in random subspaces.
async fn highest_in_subspaces(known: &mut Known<'_, '_>, row: &Measure) -> Result<MeasureValue> {
    let (engine, epsilon, options) = (known.engine, known.options.epsilon, known.options.sharpness());
    let theta = engine.parameters()?;
    let ground = known.ground().await?;
    let found = in_subspaces(engine, &theta, epsilon, &options, Some(&ground), &known.control).await?;
    let scales = found.runs.iter().map(|run| made_of(run.resolution, run.precision));
    let scale = scales.fold(0.0, f64::max) / (1.0 + engine.loss().await?);
    let coarsest = |a: &Precision, b: &Precision| a.epsilon().total_cmp(&b.epsilon());
    Ok(MeasureValue {
        residual: Some(found.runs.iter().fold(0.0, |m, run| f64::max(m, run.error))),
        iterations: Some(found.runs.iter().map(|run| run.iterations).sum()),
        standard_error: Some(found.standard_error),
        precision: found.runs.iter().map(|run| run.precision).max_by(coarsest),
        converged: found.runs.iter().all(|run| run.converged && is_known(run.rise, run.resolution)),
        ..row.exact(found.value, scale)
    })
}

/// The mean rise under noise.
async fn average(known: &mut Known<'_, '_>, row: &Measure, noise: Noise) -> Result<MeasureValue> {
    let (engine, options) = (known.engine, known.options.sharpness());
    let found = average_sharpness(engine, &engine.parameters()?, noise, &options, &known.control).await?;
    let is_scaled = noise == Noise::Scaled;
    Ok(MeasureValue {
        iterations: Some(2 * found.pairs),
        standard_error: Some(found.standard_error),
        precision: Some(found.precision),
        converged: is_known(found.value, found.resolution),
        // Rescaling takes σ |θ_i| z_i along; a permutation does not take the numbers z_i with the weights.
        paired: Kinds { layerwise: is_scaled, nodewise: is_scaled, permutation: false },
        ..row.exact(found.value, made_of(found.resolution, found.precision))
    })
}

/// Does the loss rise by more than rounding alone would have it? Not at all is known too.
fn is_known(rise: f64, resolution: f64) -> bool {
    rise == 0.0 || rise.abs() > resolution
}

/// The size of the numbers that losses with this resolution are made of: a rise is a difference of such losses.
fn made_of(resolution: f64, precision: Precision) -> f64 {
    resolution / precision.epsilon()
}

/// How sharpness is searched for and averaged.
#[derive(Debug, Clone, PartialEq)]
pub struct SharpnessOptions {
    /// Ascents beside those from ± the top eigenvector and the gradient: the first two from gradients of random halves of the samples, the
    /// others from random directions, which in large regions find summits that the others miss. `None` takes 4, and in invariance tables 2,
    /// which permutations carry along too.
    pub restarts: Option<usize>,
    /// Most steps of one ascent.
    pub max_iterations: usize,
    /// An ascent has converged when no step within the region gains more than this share of the rise, to first order. `None` takes 1e-3;
    /// those that will not reach the highest before them are left at 1e-2, and in f64 the others go on to 1e-6 as long as they near their
    /// summit fast. Along ridges, where units cross their kinks, they do not, and end where ten gradients gain less than a tenth of that
    /// share.
    pub tolerance: Option<f64>,
    /// Dimension of a random subspace, at most the number of parameters. Keskar et al. take 100.
    pub subspace_dimension: usize,
    /// Subspaces that the subspace sharpness is the mean of (at least 2, for its standard error). `None` takes 5, and in invariance tables
    /// 3.
    pub subspaces: Option<usize>,
    /// σ of plain noise.
    pub sigma: f64,
    /// σ of noise in proportion to the weights.
    pub relative_sigma: f64,
    /// Pairs ±z of noise (at least 2, for the standard error). `None` takes 50, and in invariance tables 16.
    pub pairs: Option<usize>,
    /// Of restarts, subspaces and noise.
    pub seed: u64,
}

impl Default for SharpnessOptions {
    fn default() -> Self {
        Self {
            restarts: None,
            max_iterations: 200,
            tolerance: None,
            subspace_dimension: 20,
            subspaces: None,
            sigma: 0.01,
            relative_sigma: 0.05,
            pairs: None,
            seed: 0,
        }
    }
}

/// Subspaces, pairs of noise and restarts, where nobody says how many.
const DRAWS: [usize; 3] = [5, 50, 4];

/// The same where all that is asked is whether the value stands still: it is that of the same draws before and after, and of starts that
/// permutations carry along.
const DRAWS_TO_COMPARE: [usize; 3] = [3, 16, starts::GRADIENTS];

impl SharpnessOptions {
    /// Subspaces that are drawn.
    pub(crate) fn subspaces(&self) -> usize {
        self.subspaces.unwrap_or(DRAWS[0])
    }

    /// Pairs of noise that are drawn.
    pub(crate) fn pairs(&self) -> usize {
        self.pairs.unwrap_or(DRAWS[1])
    }

    /// Ascents beside those from ± the top eigenvector and the gradient.
    pub(crate) fn restarts(&self) -> usize {
        self.restarts.unwrap_or(DRAWS[2])
    }

    /// The same options, with as many draws as a comparison takes where they do not say how many.
    pub(crate) fn to_compare(&self) -> Self {
        let [subspaces, pairs, restarts] = DRAWS_TO_COMPARE;
        Self {
            subspaces: self.subspaces.or(Some(subspaces)),
            pairs: self.pairs.or(Some(pairs)),
            restarts: self.restarts.or(Some(restarts)),
            ..self.clone()
        }
    }

    /// # Errors
    /// `InvalidOption` for a number out of its range.
    pub(crate) fn check(&self) -> Result<()> {
        ensure!(self.max_iterations > 0, InvalidOption, "an ascent needs at least one step");
        self.tolerance.map_or(Ok(()), |tolerance| ensure_positive("the ascents' tolerance", tolerance))?;
        ensure!(self.subspace_dimension > 0, InvalidOption, "a subspace needs at least one dimension");
        ensure!(self.subspaces() >= 2, InvalidOption, "subspace sharpness needs at least 2 subspaces");
        ensure!(self.pairs() >= 2, InvalidOption, "average sharpness needs at least 2 pairs of noise");
        ensure_positive("σ", self.sigma)?;
        ensure_positive("the relative σ", self.relative_sigma)
    }
}
