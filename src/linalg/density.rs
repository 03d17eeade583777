//! The spectral density by stochastic Lanczos quadrature (Lin, Saad and Yang 2016; Ubaru, Chen and Saad 2017; for networks
//! Ghorbani, Krishnan and Xiao 2019).
//!
//! For a probe z of random signs, m steps of Lanczos from z/√n give Ritz values θ_i, and weights τ_i (the squared first
//! entries of the Ritz vectors) with Σ τ_i f(θ_i) = zᵀ f(A) z / n for every polynomial f of degree below 2m. Its mean over the
//! probes is Tr f(A) / n. With f a Gaussian around t it is the density at t, broadened.

use nalgebra::DMatrix;
use serde::Serialize;

use super::krylov::{Basis, CHECK_EVERY};
use super::symmetric::decomposed_row;
use super::{generator, random_signs};
use crate::control::{Control, Progress};
use crate::error::{Result, bail, ensure, ensure_positive};
use crate::memory::reserve;
use crate::numbers::{Samples, power_near};
use crate::operator::SymmetricOperator;

/// The grid reaches this many widths beyond the outermost Ritz values: what is left out there is below 2e-9.
const MARGIN: f64 = 6.0;

/// The most points of a grid.
const MAX_POINTS: usize = 1_000_000;

/// The most Lanczos steps of a probe: the matrix that they leave has their number squared.
const MAX_STEPS: usize = 2048;

/// Moments that a density comes with.
const MOMENTS: i32 = 4;

/// Gaussians that are added up between two looks at whether to stop: a few milliseconds.
const AT_ONCE: usize = 1 << 18;

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub struct StochasticLanczos {
    /// Random probes, at least 2: the error bands come from their spread.
    pub probes: usize,
    /// Lanczos steps for each, at most 2048, all of them kept and orthogonalised against.
    pub steps: usize,
    /// Points of the grid, evenly spaced, at most a million.
    pub points: usize,
    /// Standard deviation σ of the Gaussian that each eigenvalue is broadened to; `None` takes a hundredth of the spectrum's
    /// extent (at least 1e-5 of its largest magnitude). The grid must not be coarser.
    pub width: Option<f64>,
    /// Seed of the probes.
    pub seed: u64,
}

impl Default for StochasticLanczos {
    fn default() -> Self {
        Self { probes: 10, steps: 80, points: 512, width: None, seed: 0 }
    }
}

/// The mean of λ^k over the spectrum: Tr A^k / n.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Moment {
    /// k.
    pub order: i32,
    /// Its mean over the probes.
    pub value: f64,
    /// Standard deviation of that mean.
    pub standard_error: f64,
}

/// The density of a spectrum, broadened, with what says how far to trust it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SpectralDensity {
    /// Points t, ascending and evenly spaced.
    pub grid: Vec<f64>,
    /// Share of the eigenvalues per unit of λ, at each point: it integrates to 1.
    pub density: Vec<f64>,
    /// Standard error of each, over the probes.
    pub density_error: Vec<f64>,
    /// Share of the eigenvalues up to each point: the integral of `density`.
    pub cumulative: Vec<f64>,
    /// Standard error of each, over the probes.
    pub cumulative_error: Vec<f64>,
    /// Standard deviation σ of the Gaussian each eigenvalue is broadened to. Nothing finer can be seen.
    pub width: f64,
    /// Means of λ, λ², λ³ and λ⁴, without the broadening; without those that are beyond what double precision holds (λ⁴ of a
    /// spectrum of size 1e100, or of 1e-100).
    pub moments: Vec<Moment>,
    /// The largest change of the density when the last quarter of the Lanczos steps is left out: of the order of the
    /// quadrature's error, or above it. More steps, or a larger width, lower it.
    pub quadrature_error: f64,
    /// The same of `cumulative`.
    pub cumulative_quadrature_error: f64,
    /// Number of eigenvalues n.
    pub dimension: usize,
    /// Probes; 0 for a spectrum that is known whole.
    pub probes: usize,
    /// Lanczos steps for each, at most.
    pub steps: usize,
    /// Seed of the probes.
    pub seed: u64,
    /// Products with the operator.
    pub products: usize,
}

/// Nodes and weights of one probe.
type Quadrature = Vec<(f64, f64)>;

impl StochasticLanczos {
    /// Runs it.
    ///
    /// # Errors
    /// `InvalidOption` for fewer than 2 probes, 2 steps or 2 points, a width that is not positive, or a grid coarser than
    /// the width; `NotFinite` where products, or the density of a spectrum of next to no width, overflow; `TooLarge` for a grid that
    /// memory does not hold; `Aborted`; the device's.
    pub async fn run(&self, operator: &dyn SymmetricOperator, control: &Control<'_>) -> Result<SpectralDensity> {
        self.check()?;
        ensure!(
            self.steps.min(operator.len()) <= MAX_STEPS,
            InvalidOption,
            "a spectral density takes at most {MAX_STEPS} Lanczos steps, but {} were asked for",
            self.steps
        );
        let n = operator.len();
        let steps = self.steps.min(n);
        let mut rng = generator(self.seed);
        let (mut all, mut shorter) = (Vec::new(), Vec::new());
        let mut products = 0;
        for probe in 0..self.probes {
            let mut basis = Basis::start(operator, steps, &random_signs(n, &mut rng)?, generator(self.seed)).await?;
            while basis.size < steps {
                let done = probe * steps + basis.size;
                control.step(Progress::new("spectral density", done, self.probes * steps)).await?;
                products += basis.advance(CHECK_EVERY.min(steps - basis.size)).await?;
                // An invariant subspace: the quadrature is exact for this probe.
                if basis.beta == 0.0 {
                    break;
                }
            }
            let t = basis.projected(0)?;
            let fewer = if basis.beta == 0.0 { basis.size } else { (3 * basis.size).div_ceil(4) };
            shorter.push(quadrature(&t.view((0, 0), (fewer, fewer)).into_owned())?);
            all.push(quadrature(&t)?);
        }
        let mut found = self.density(&all, control).await?;
        let width = found.width;
        let change = |coarse: &[f64], fine: &[f64]| {
            coarse.iter().zip(fine).fold(0.0, |m, (coarse, fine)| f64::max(m, (coarse - fine).abs()))
        };
        let (coarse, _) = over_grid(&shorter, &found.grid, control, |nodes, t| gaussians(nodes, t, width)).await?;
        found.quadrature_error = change(&coarse, &found.density);
        let (coarse, _) = over_grid(&shorter, &found.grid, control, |nodes, t| share(nodes, t, width)).await?;
        found.cumulative_quadrature_error = change(&coarse, &found.cumulative);
        Ok(SpectralDensity { dimension: n, probes: self.probes, steps, seed: self.seed, products, ..found })
    }

    /// The density of a spectrum that is known whole, broadened likewise: no probes, no errors but rounding.
    ///
    /// # Errors
    /// `InvalidOption` as [`StochasticLanczos::run`], and for no eigenvalue at all; `NotFinite` for eigenvalues that are not;
    /// `TooLarge` for a grid that memory does not hold; `Aborted`.
    pub async fn exact(&self, eigenvalues: &[f64], control: &Control<'_>) -> Result<SpectralDensity> {
        ensure!(!eigenvalues.is_empty(), InvalidOption, "a spectral density needs at least one eigenvalue");
        self.check_grid()?;
        crate::error::ensure_finite("eigenvalues", eigenvalues)?;
        let share = 1.0 / eigenvalues.len() as f64;
        let nodes: Quadrature = eigenvalues.iter().map(|&value| (value, share)).collect();
        let found = self.density(&[nodes], control).await?;
        Ok(SpectralDensity { dimension: eigenvalues.len(), ..found })
    }

    /// What can be told without an operator.
    ///
    /// # Errors
    /// `InvalidOption`, as [`StochasticLanczos::run`].
    pub(crate) fn check(&self) -> Result<()> {
        ensure!(
            self.probes >= 2,
            InvalidOption,
            "a spectral density needs at least 2 probes, for its error bands, not {}",
            self.probes
        );
        ensure!(
            self.steps >= 2,
            InvalidOption,
            "a spectral density needs at least 2 Lanczos steps, not {}",
            self.steps
        );
        self.check_grid()
    }

    fn check_grid(&self) -> Result<()> {
        ensure!(
            self.points <= MAX_POINTS,
            InvalidOption,
            "a spectral density has at most {MAX_POINTS} points, but {} were asked for",
            self.points
        );
        ensure!(self.points >= 2, InvalidOption, "a spectral density needs a grid of at least 2 points");
        self.width.map_or(Ok(()), |width| ensure_positive("the width of a spectral density", width))
    }

    /// Everything that follows from the nodes.
    async fn density(&self, probes: &[Quadrature], control: &Control<'_>) -> Result<SpectralDensity> {
        let nodes = || probes.iter().flatten().map(|(node, _)| *node);
        let (low, high) = nodes().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        // A multiple of the identity is a spike: rounding alone tells its Ritz values apart.
        let magnitude = f64::max(low.abs(), high.abs());
        let extent = if magnitude > 0.0 { f64::max(high - low, 1e-3 * magnitude) } else { 1.0 };
        let width = self.width.unwrap_or(extent / 100.0);
        let (from, to) = (low - MARGIN * width, high + MARGIN * width);
        let spacing = (to - from) / (self.points - 1) as f64;
        let is_fine = spacing <= width;
        ensure!(
            is_fine,
            InvalidOption,
            "a grid of {} points from {from:.3e} to {to:.3e} is coarser than the width {width:.3e}: at least {} are needed",
            self.points,
            ((to - from) / width).ceil() + 1.0
        );
        let mut grid: Vec<f64> = reserve(self.points)?;
        grid.extend((0..self.points).map(|i| from + i as f64 * spacing));
        let (density, density_error) = over_grid(probes, &grid, control, |nodes, t| gaussians(nodes, t, width)).await?;
        let (cumulative, cumulative_error) =
            over_grid(probes, &grid, control, |nodes, t| share(nodes, t, width)).await?;
        let numbers = || grid.iter().chain(&density).chain(&density_error);
        if !numbers().all(|x| x.is_finite()) {
            bail!(NotFinite, "the density of a spectrum from {low:.3e} to {high:.3e} is beyond what numbers hold");
        }
        let unit = if magnitude > 0.0 { power_near(magnitude) } else { 1.0 };
        let moments = (1..=MOMENTS).filter_map(|order| moment(probes, order, unit));
        Ok(SpectralDensity {
            density,
            density_error,
            cumulative,
            cumulative_error,
            width,
            moments: moments.collect(),
            quadrature_error: 0.0,
            cumulative_quadrature_error: 0.0,
            grid,
            dimension: 0,
            probes: 0,
            steps: 0,
            seed: self.seed,
            products: 0,
        })
    }
}

/// Ritz values with the squared first entries of their vectors, which sum to 1.
///
/// # Errors
/// `TooLarge` where the projected matrix does not fit in memory twice.
fn quadrature(projected: &DMatrix<f64>) -> Result<Quadrature> {
    let (values, first) = decomposed_row(projected, 0)?;
    Ok(values.into_iter().zip(first).map(|(value, first)| (value, first * first)).collect())
}

/// Σ τ_i of Gaussians around θ_i at t.
fn gaussians(nodes: &Quadrature, t: f64, width: f64) -> f64 {
    let height = 1.0 / (width * std::f64::consts::TAU.sqrt());
    nodes.iter().map(|(node, weight)| weight * height * (-0.5 * ((t - node) / width).powi(2)).exp()).sum()
}

/// Share of eigenvalues up to t.
fn share(nodes: &Quadrature, t: f64, width: f64) -> f64 {
    nodes.iter().map(|(node, weight)| weight * normal_distribution((t - node) / width)).sum()
}

/// Mean and standard error over the probes of a function of the nodes, at every point.
async fn over_grid(
    probes: &[Quadrature],
    grid: &[f64],
    control: &Control<'_>,
    f: impl Fn(&Quadrature, f64) -> f64,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let nodes: usize = probes.iter().map(Vec::len).sum();
    let (mut means, mut errors) = (reserve(grid.len())?, reserve(grid.len())?);
    for points in grid.chunks((AT_ONCE / nodes.max(1)).max(1)) {
        control.breathe().await?;
        for &t in points {
            let mut samples = Samples::default();
            probes.iter().for_each(|nodes| samples.push(f(nodes, t)));
            means.push(samples.mean());
            errors.push(samples.standard_error());
        }
    }
    Ok((means, errors))
}

/// The mean of λ^k, in units of `unit`^k on the way, which is a power of two of the spectrum's size; `None` where that is no number.
fn moment(probes: &[Quadrature], order: i32, unit: f64) -> Option<Moment> {
    let mut samples = Samples::default();
    for nodes in probes {
        samples.push(nodes.iter().map(|(x, weight)| weight * (x / unit).powi(order)).sum());
    }
    let factor = unit.powi(order);
    let is_held = factor.is_normal() && (samples.mean() * factor).is_finite();
    let (value, standard_error) = (samples.mean() * factor, samples.standard_error() * factor);
    is_held.then_some(Moment { order, value, standard_error })
}

/// Φ(x) = ½ + φ(x) (x + x³/3 + x⁵/(3·5) + …) (Marsaglia 2004).
fn normal_distribution(x: f64) -> f64 {
    if x.abs() > 8.0 {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    let (mut term, mut sum, mut before, mut i) = (x, x, 0.0, 1.0);
    while sum != before {
        before = sum;
        i += 2.0;
        term *= x * x / i;
        sum += term;
    }
    0.5 + sum * (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt()
}

#[cfg(test)]
mod tests {
    use super::normal_distribution;

    #[test]
    fn the_normal_distribution_has_its_known_values() {
        // Tables of Φ to ten digits.
        for (x, expected) in [(0.0, 0.5), (1.0, 0.8413447461), (-1.96, 0.0249978951), (3.0, 0.9986501020), (-6.0, 0.0)]
        {
            assert!((normal_distribution(x) - expected).abs() < 1e-9, "{x}");
        }
    }
}
