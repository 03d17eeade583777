//! Computes measures at a prepared point. What several of them need is computed once.

use super::known::{Ends, Known};
use super::sharpness::{Noise, SharpnessOptions, average_sharpness, epsilon_sharpness, subspace_sharpness};
use super::{Measure, MeasureValue, Quantity, fisher_rao_norm, path_norm_squared};
use crate::control::Control;
use crate::engine::{Engine, Precision, ensure_number};
use crate::error::{Result, bail, ensure};
use crate::linalg::{Eigenpair, Goal, LOST, Lanczos};
use crate::numbers::norm;
use crate::operator::OperatorKind;
use crate::symmetry::Kinds;

/// How measures are computed.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureOptions {
    /// ε of the ε-sharpness, in all regions.
    pub epsilon: f64,
    /// Products by which Hutch++ estimates traces and Frobenius norms that have no exact form, for networks above
    /// [`DENSE_LIMIT`](super::DENSE_LIMIT) parameters; at least 4.
    pub probes: usize,
    /// Residual of eigenvalues relative to the spectral norm; `None` takes 1e-9 in f64 and 2e-5 in f32.
    pub tolerance: Option<f64>,
    /// Most products per operator.
    pub max_products: usize,
    /// Of start vectors, probes, restarts and noise.
    pub seed: u64,
    /// How sharpness is searched for and averaged; its seed is the one above.
    pub sharpness: SharpnessOptions,
}

impl Default for MeasureOptions {
    fn default() -> Self {
        let sharpness = SharpnessOptions::default();
        Self { epsilon: 1e-3, probes: 100, tolerance: None, max_products: 1000, seed: 0, sharpness }
    }
}

impl MeasureOptions {
    /// The tolerance asked for, or this precision's own.
    pub(crate) fn tolerance_in(&self, precision: Precision) -> f64 {
        self.tolerance.unwrap_or_else(|| precision.eigenvalue_tolerance())
    }

    /// The sharpness options with these options' seed.
    pub(crate) fn sharpness(&self) -> SharpnessOptions {
        SharpnessOptions { seed: self.seed, ..self.sharpness.clone() }
    }

    /// Lanczos with these options.
    pub(crate) fn lanczos(&self, goal: Goal) -> Lanczos {
        let Self { tolerance, max_products, seed, .. } = *self;
        Lanczos { goal, tolerance, max_products, seed, ..Lanczos::default() }
    }
}

/// Measures at an engine's prepared point.
pub struct Evaluator<'a, 'c> {
    known: Known<'a, 'c>,
    loss: f64,
}

impl<'a, 'c> Evaluator<'a, 'c> {
    /// For these measures, at the point that is prepared.
    ///
    /// # Errors
    /// `InvalidOption` for an ε, tolerance or product count out of range; the device's.
    pub async fn new(
        engine: &'a Engine,
        options: &'a MeasureOptions,
        measures: &[&Measure],
        control: &Control<'c>,
    ) -> Result<Self> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        ensure!(positive(options.epsilon), InvalidOption, "ε is {}, but must be positive", options.epsilon);
        ensure!(options.tolerance.is_none_or(positive), InvalidOption, "the tolerance must be positive");
        ensure!(options.max_products > 0, InvalidOption, "at least one product must be allowed");
        let mut known = Known::new(engine, options, control);
        for measure in measures {
            let both = Goal::Extremes { top: 1, bottom: 1 };
            match measure.quantity {
                Quantity::SpectralNorm(kind) => known.want(kind, Goal::SpectralNorm),
                Quantity::EpsilonSharpnessQuadratic => known.want(OperatorKind::HESSIAN, Goal::SpectralNorm),
                // The Gauss–Newton matrix is never negative: its largest eigenvalue is its norm.
                Quantity::LargestEigenvalue(kind) if kind == OperatorKind::GAUSS_NEWTON => {
                    known.want(kind, Goal::SpectralNorm);
                }
                Quantity::LargestEigenvalue(kind) | Quantity::SmallestEigenvalue(kind) => known.want(kind, both),
                _ => {}
            }
        }
        let loss = engine.loss().await?;
        // Fails where one of them is not finite.
        engine.outputs().await?;
        Ok(Self { known, loss })
    }

    /// The value of one measure. Where single precision may have lost it to underflow, the CPU computes it in f64.
    ///
    /// # Errors
    /// `NotFinite` where it, or what it is computed from, overflows; `Aborted`; the device's.
    pub async fn value(&mut self, measure: &'static Measure) -> Result<MeasureValue> {
        let mut found = self.value_as_computed(measure).await?;
        let precision = self.known.engine().info().precision;
        let is_custom = matches!(measure.quantity, Quantity::Custom(_));
        if precision == Precision::F32 && found.precision.is_none() && found.scale.abs() < LOST && !is_custom {
            found = self.value_in_f64(measure).await?;
        }
        let numbers = [Some(found.value), found.residual, found.standard_error];
        let precision = found.precision.unwrap_or(precision);
        ensure_number(measure.key, precision, &numbers.into_iter().flatten().collect::<Vec<f64>>())?;
        Ok(found)
    }

    async fn value_in_f64(&self, measure: &'static Measure) -> Result<MeasureValue> {
        let precise = self.known.engine().in_f64()?;
        precise.prepare(&self.known.engine().parameters()?).await?;
        let mut evaluator = Evaluator::new(&precise, self.known.options(), &[measure], self.known.control()).await?;
        let found = evaluator.value_as_computed(measure).await?;
        Ok(MeasureValue { precision: Some(Precision::F64), ..found })
    }

    async fn value_as_computed(&mut self, measure: &'static Measure) -> Result<MeasureValue> {
        let plain = |value: f64, scale: f64| MeasureValue::exact(measure.key, value, scale);
        Ok(match measure.quantity {
            Quantity::Loss => plain(self.loss, self.loss),
            Quantity::GradientNorm => {
                let gradient = self.known.engine().gradient().await?;
                let norm = norm(gradient.iter().copied());
                plain(norm, norm)
            }
            Quantity::RiemannianGradientNorm(metric) => {
                let norm = metric.gradient_norm(self.known.engine()).await?;
                plain(norm, norm)
            }
            Quantity::LargestEigenvalue(kind) => {
                let ends = self.known.ends(kind).await?;
                eigenvalue(plain(ends.max.value, ends.dominant().value.abs()), &ends.max, &ends)
            }
            Quantity::SmallestEigenvalue(kind) => {
                let ends = self.known.ends(kind).await?;
                eigenvalue(plain(ends.min.value, ends.dominant().value.abs()), &ends.min, &ends)
            }
            Quantity::SpectralNorm(kind) => {
                let ends = self.known.ends(kind).await?;
                let norm = ends.dominant().value.abs();
                eigenvalue(plain(norm, norm), ends.dominant(), &ends)
            }
            Quantity::EpsilonSharpnessQuadratic => {
                let ends = self.known.ends(OperatorKind::HESSIAN).await?;
                let factor = self.known.options().epsilon.powi(2) / (2.0 * (1.0 + self.loss));
                let value = ends.dominant().value.abs() * factor;
                let mut found = eigenvalue(plain(value, value), ends.dominant(), &ends);
                found.residual = found.residual.map(|residual| residual * factor);
                found
            }
            Quantity::EpsilonSharpness(region) => {
                let (theta, options) = (self.known.engine().parameters()?, self.known.options().sharpness());
                let epsilon = self.known.options().epsilon;
                let found =
                    epsilon_sharpness(self.known.engine(), &theta, region, epsilon, &options, self.known.control())
                        .await?;
                MeasureValue {
                    residual: Some(found.error),
                    iterations: Some(found.iterations),
                    precision: Some(found.precision),
                    converged: found.converged && is_known(found.rise, found.resolution),
                    ..plain(found.value, made_of(found.resolution, found.precision) / (1.0 + self.loss))
                }
            }
            Quantity::SubspaceSharpness => {
                let (theta, options) = (self.known.engine().parameters()?, self.known.options().sharpness());
                let found = subspace_sharpness(
                    self.known.engine(),
                    &theta,
                    self.known.options().epsilon,
                    &options,
                    self.known.control(),
                );
                let found = found.await?;
                let scales = found.runs.iter().map(|run| made_of(run.resolution, run.precision));
                let scale = scales.fold(0.0, f64::max) / (1.0 + self.loss);
                MeasureValue {
                    residual: Some(found.runs.iter().fold(0.0, |m, run| f64::max(m, run.error))),
                    iterations: Some(found.runs.iter().map(|run| run.iterations).sum()),
                    standard_error: Some(found.standard_error),
                    precision: found.runs.iter().map(|run| run.precision).max_by(|a, b| coarser(*a, *b)),
                    converged: found.runs.iter().all(|run| run.converged && is_known(run.rise, run.resolution)),
                    ..plain(found.value, scale)
                }
            }
            Quantity::AverageSharpness(noise) => {
                let (theta, options) = (self.known.engine().parameters()?, self.known.options().sharpness());
                let found =
                    average_sharpness(self.known.engine(), &theta, noise, &options, self.known.control()).await?;
                let is_scaled = noise == Noise::Scaled;
                MeasureValue {
                    iterations: Some(2 * found.pairs),
                    standard_error: Some(found.standard_error),
                    precision: Some(found.precision),
                    converged: is_known(found.value, found.resolution),
                    // Rescaling takes σ |θ_i| z_i along; a permutation does not take the numbers z_i with the weights.
                    paired: Kinds { layerwise: is_scaled, nodewise: is_scaled, permutation: false },
                    ..plain(found.value, made_of(found.resolution, found.precision))
                }
            }
            Quantity::PathNormSquared => {
                let network = self.known.engine().problem().network();
                match path_norm_squared(network, &self.known.engine().parameters()?) {
                    Some(norm) => plain(norm, norm),
                    None => bail!(InvalidOption, "the path norm is defined for networks of dense layers only"),
                }
            }
            Quantity::Custom(custom) => {
                let found = custom.compute(self.known.engine(), self.known.options(), self.known.control()).await?;
                MeasureValue { key: measure.key, ..found }
            }
            Quantity::FisherRaoNorm => {
                let norm = fisher_rao_norm(self.known.engine()).await?;
                plain(norm, norm)
            }
            Quantity::KappaMax | Quantity::KappaSum => {
                let pairs = self.known.kappa().await?;
                let largest = pairs.iter().fold(0.0, |m, pair| f64::max(m, pair.value));
                let sum: f64 = pairs.iter().map(|pair| pair.value).sum();
                let is_max = measure.quantity == Quantity::KappaMax;
                let residuals = pairs.iter().map(|pair| pair.residual);
                let residual = if is_max { residuals.fold(0.0, f64::max) } else { residuals.sum() };
                MeasureValue {
                    residual: Some(residual),
                    converged: pairs.iter().all(|pair| pair.converged),
                    ..plain(if is_max { largest } else { sum }, sum)
                }
            }
            Quantity::KappaTraceMax => {
                let traces = self.known.traces().await?;
                plain(largest(traces.kappa_trace.iter()), traces.kappa_trace.iter().sum())
            }
            Quantity::KappaTraceSum => {
                let sum = self.known.traces().await?.kappa_trace.iter().sum();
                plain(sum, sum)
            }
            Quantity::RhoMax => {
                let traces = self.known.traces().await?;
                plain(largest(traces.rho().flatten()), traces.rho().flatten().sum())
            }
            Quantity::RhoSum => {
                let sum = self.known.traces().await?.rho().flatten().sum();
                plain(sum, sum)
            }
            Quantity::RelativeFlatnessSum => {
                let sum = self.known.traces().await?.layers.iter().map(|layer| layer.gram_trace).sum();
                plain(sum, sum)
            }
            Quantity::Trace(kind) => self.known.trace(kind).await?.value_of(measure.key),
            Quantity::FrobeniusNorm(kind) => self.known.frobenius_norm(kind).await?.value_of(measure.key),
        })
    }
}

/// Does the loss rise by more than rounding alone would have it? Not at all is known too.
fn is_known(rise: f64, resolution: f64) -> bool {
    rise == 0.0 || rise.abs() > resolution
}

/// The size of the numbers that losses with this resolution are made of: a rise is a difference of such losses.
fn made_of(resolution: f64, precision: Precision) -> f64 {
    resolution / precision.epsilon()
}

fn largest<'a>(values: impl Iterator<Item = &'a f64>) -> f64 {
    values.fold(0.0, |m, &v| f64::max(m, v))
}

/// Orders precisions by their rounding.
fn coarser(a: Precision, b: Precision) -> std::cmp::Ordering {
    a.epsilon().total_cmp(&b.epsilon())
}

fn eigenvalue(value: MeasureValue, pair: &Eigenpair, ends: &Ends) -> MeasureValue {
    MeasureValue { residual: Some(pair.residual), iterations: Some(ends.products), converged: pair.converged, ..value }
}
