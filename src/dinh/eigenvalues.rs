//! Theorem 5 of Dinh et al. 2017: many eigenvalues of the Hessian can be made large at once.
//!
//! All layers but the smallest, m, shrink by 1/β, and m grows by β^(K−1). Let c be the number of parameters that do not shrink
//! by 1/β at least: those of m, and the biases that the factors' product leaves larger (Appendix B). H restricted to the others
//! has λ_i ≥ λ_{i+c}(H) (Cauchy), scaled it has β² times as much where that is positive (Ostrowski), and the whole has no less
//! (Cauchy again). In a graph several layers may be held back (`exponents.rs`), and c counts all their parameters. So at least
//! r − c eigenvalues exceed M for β² > M / λ_r(H), r being the number of positive ones: the rank of H at a minimum.

use serde::Serialize;

use super::exponents::Exponents;
use super::{OutputChange, diagonal, ensure_deep, outputs_at, power_of_two_below};
use crate::control::{Control, Progress};
use crate::engine::{Curvature, Engine, Precision};
use crate::error::{Result, ensure, ensure_positive};
use crate::linalg::{SymmetricMatrix, dense_spectrum, spectrum_of, symmetric_matrix};
use crate::measure::MeasureOptions;
use crate::network::numbering;
use crate::numbers::largest;
use crate::operator::CurvatureOperator;
use crate::symmetry::Transformation;

/// A point of the same function with many large eigenvalues.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ManyEigenvalues {
    /// M.
    pub target: f64,
    /// β.
    pub beta: f64,
    /// The smallest layer, which grows by β^(K−1) while the others shrink by 1/β; in a graph, the first of those that do not shrink.
    #[serde(serialize_with = "numbering::serialize")]
    pub smallest_layer: usize,
    /// min_k n_k, the number of its weights; in a graph, of all that do not shrink.
    pub smallest_size: usize,
    /// c: parameters that do not shrink by 1/β at least, biases included; min_k n_k without biases.
    pub held_back: usize,
    /// T.
    pub transformation: Transformation,
    /// r: eigenvalues of H(θ) above the rank's threshold.
    pub rank: usize,
    /// λ_r, the smallest of them.
    pub smallest_positive: f64,
    /// Eigenvalues of H(θ) up to this size count as 0.
    pub rank_threshold: f64,
    /// r − c, or 0: what the theorem promises.
    pub promised: usize,
    /// Eigenvalues of H(T(θ)) above M: by the signs of H − M I, since of the spectrum the small ones are rounding.
    pub measured: usize,
    /// Eigenvalues of H(θ) above M.
    pub before: usize,
    /// measured ≥ promised?
    pub holds: bool,
    /// All eigenvalues of H(θ), ascending.
    pub spectrum_before: Vec<f64>,
    /// All eigenvalues of H(T(θ)), ascending.
    pub spectrum_after: Vec<f64>,
    /// Up to this size they are rounding: P ε ‖H(T(θ))‖.
    pub rounding: f64,
    /// What became of the outputs.
    pub outputs: OutputChange,
    /// T(θ).
    #[serde(skip)]
    pub parameters: Vec<f64>,
}

/// Makes as many eigenvalues as the theorem promises exceed M, with both spectra whole. Eigenvalues up to `rank_tolerance`
/// times the largest count as 0 (`None`: 1e-8 in f64, 1e-4 in f32). With `powers_of_two`, β is one and the outputs stay to the
/// last bit. Leaves the engine prepared at T(θ).
///
/// # Errors
/// `InvalidOption` for a target or tolerance that is not positive or a network of one layer; `TooLarge` above 4096 parameters;
/// `NotHomogeneous`; `NotFinite`; `Aborted`; the device's.
pub async fn many_large_eigenvalues(
    engine: &Engine,
    parameters: &[f64],
    target: f64,
    rank_tolerance: Option<f64>,
    powers_of_two: bool,
    control: &Control<'_>,
) -> Result<ManyEigenvalues> {
    let network = engine.problem().network();
    ensure_deep(network)?;
    ensure_positive("the target M", target)?;
    let precision = engine.info().precision;
    let rank_tolerance = rank_tolerance.unwrap_or(match precision {
        Precision::F64 => 1e-8,
        Precision::F32 => 1e-4,
    });
    ensure_positive("the rank's tolerance", rank_tolerance)?;
    let outputs_before = outputs_at(engine, parameters).await?;
    let hessian = CurvatureOperator::new(engine, Curvature::Hessian);
    let tolerance = MeasureOptions::default().tolerance_in(precision);
    control.step(Progress::new("spectrum at θ", 0, 2)).await?;
    let spectrum_before = dense_spectrum(&hessian, tolerance, control).await?.values;
    let norm = largest(spectrum_before.iter().copied());
    let rank_threshold = rank_tolerance * norm;
    let positive = spectrum_before.iter().copied().filter(|&v| v > rank_threshold);
    let (rank, smallest_positive) = positive.fold((0usize, f64::INFINITY), |(r, low), v| (r + 1, f64::min(low, v)));

    let exponents = Exponents::of(network)?;
    // β ≥ 1: never flatter than it was. A little more than the bound, so that what exceeds M does by more than rounding.
    let more = match precision {
        Precision::F64 => 1.001,
        Precision::F32 => 1.01,
    };
    let mut beta = if rank == 0 { 1.0 } else { ((target / smallest_positive).sqrt() * more).max(1.0) };
    if powers_of_two {
        beta = 1.0 / power_of_two_below(1.0 / beta);
    }
    ensure!(beta.is_finite(), NotFinite, "the target {target:e} is beyond what numbers hold");
    let power = |&exponent: &i32| if exponent == -1 { 1.0 / beta } else { beta.powi(exponent) };
    let transformation = Transformation::Layerwise { lambda: exponents.powers.iter().map(power).collect() };
    let moved = transformation.apply(network, parameters)?;
    let shrunk = diagonal(network, &transformation)?;
    let held_back = shrunk.iter().filter(|&&t| t > (1.0 + 1e-12) / beta).count();

    control.step(Progress::new("spectrum at T(θ)", 1, 2)).await?;
    let outputs_after = outputs_at(engine, &moved).await?;
    let matrix = symmetric_matrix(&hessian, control).await?;
    let spectrum_after = spectrum_of(matrix.copied()?, &hessian, tolerance, control).await?.values;
    // Where M T² is beyond ‖H(θ)‖, it is of that size.
    let scales: Vec<f64> = shrunk.iter().map(|&t| t.min((norm / target).sqrt())).collect();
    let measured = count_above(matrix, target, &scales, 8.0 * precision.epsilon(), control).await?;
    let promised = rank.saturating_sub(held_back);
    Ok(ManyEigenvalues {
        target,
        beta,
        smallest_layer: exponents.held[0],
        smallest_size: exponents.held_weights,
        held_back,
        transformation,
        rank,
        smallest_positive: if rank == 0 { 0.0 } else { smallest_positive },
        rank_threshold,
        promised,
        measured,
        before: spectrum_before.iter().filter(|&&v| v > target).count(),
        holds: measured >= promised,
        spectrum_before,
        rounding: spectrum_after.len() as f64 * precision.epsilon() * largest(spectrum_after.iter().copied()),
        spectrum_after,
        outputs: OutputChange::new(&outputs_before, &outputs_after),
        parameters: moved,
    })
}

/// How many eigenvalues of H are above M. As many as D (H − M I) D has above 0, for any diagonal D > 0 (Sylvester). After a rescaling H has
/// entries of very different sizes, and its small eigenvalues are lost in the rounding of the large ones; with D = T there is one size.
/// There biases that shrink most have next to nothing of M, and what is up to `noise` of the largest is 0.
async fn count_above(
    mut h: SymmetricMatrix,
    target: f64,
    scales: &[f64],
    noise: f64,
    control: &Control<'_>,
) -> Result<usize> {
    for (j, (column, scale)) in h.columns_mut().zip(scales).enumerate() {
        column.iter_mut().zip(scales).for_each(|(entry, other)| *entry = *entry * other * scale);
        column[j] -= target * scale * scale;
    }
    let values = h.eigenvalues(control).await?;
    let floor = noise * largest(values.iter().copied());
    Ok(values.into_iter().filter(|&value| value > floor).count())
}
