//! Computes measures at a prepared point. What several of them need is computed once.

use std::collections::HashMap;

use super::petzka::{self, Traces};
use super::sharpness::{Noise, SharpnessOptions, average_sharpness, epsilon_sharpness, subspace_sharpness};
use super::trace::{Trace, has_exact_trace, trace_of};
use super::{Measure, MeasureValue, Quantity, fisher_rao_norm, path_norm_squared};
use crate::control::Control;
use crate::engine::{Engine, Precision, ensure_number};
use crate::error::{Result, bail, ensure};
use crate::linalg::{DenseSpectrum, Eigenpair, Goal, LOST, Lanczos, TraceAndNorm, dense_spectrum, trace_and_norm};
use crate::numbers::norm;
use crate::operator::OperatorKind;
use crate::symmetry::Kinds;

/// Up to this many parameters a spectrum is computed whole: quicker than an iteration, and exact.
pub const DENSE_LIMIT: usize = 512;

/// How measures are computed.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureOptions {
    /// ε of the ε-sharpness, in all regions.
    pub epsilon: f64,
    /// Products by which Hutch++ estimates traces and Frobenius norms that have no exact form, for networks above
    /// [`DENSE_LIMIT`] parameters; at least 4.
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
}

/// Which ends of an operator's spectrum are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ends {
    Norm,
    Both,
}

/// The ends of a spectrum, however they were computed.
#[derive(Debug, Clone)]
struct Extremes {
    max: Eigenpair,
    min: Eigenpair,
    products: usize,
}

impl Extremes {
    fn dominant(&self) -> &Eigenpair {
        if self.max.value.abs() >= self.min.value.abs() { &self.max } else { &self.min }
    }
}

/// Measures at an engine's prepared point.
pub struct Evaluator<'a, 'c> {
    engine: &'a Engine,
    options: &'a MeasureOptions,
    control: &'a Control<'c>,
    ends: HashMap<OperatorKind, Ends>,
    dense: HashMap<OperatorKind, DenseSpectrum>,
    extremes: HashMap<OperatorKind, Extremes>,
    estimates: HashMap<OperatorKind, TraceAndNorm>,
    sweep: Option<Traces>,
    kappa: Option<Vec<Eigenpair>>,
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
        control: &'a Control<'c>,
    ) -> Result<Self> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        ensure!(positive(options.epsilon), InvalidOption, "ε is {}, but must be positive", options.epsilon);
        ensure!(options.tolerance.is_none_or(positive), InvalidOption, "the tolerance must be positive");
        ensure!(options.max_products > 0, InvalidOption, "at least one product must be allowed");
        let mut ends = HashMap::new();
        for measure in measures {
            let (kind, end) = match measure.quantity {
                Quantity::SpectralNorm(kind) => (kind, Ends::Norm),
                Quantity::EpsilonSharpnessQuadratic => (OperatorKind::HESSIAN, Ends::Norm),
                // The Gauss–Newton matrix is never negative: its largest eigenvalue is its norm.
                Quantity::LargestEigenvalue(kind) if kind == OperatorKind::GAUSS_NEWTON => (kind, Ends::Norm),
                Quantity::LargestEigenvalue(kind) | Quantity::SmallestEigenvalue(kind) => (kind, Ends::Both),
                _ => continue,
            };
            let wanted = ends.entry(kind).or_insert(end);
            *wanted = end.max(*wanted);
        }
        let loss = engine.loss().await?;
        // Fails where one of them is not finite.
        engine.outputs().await?;
        Ok(Self {
            engine,
            options,
            control,
            ends,
            dense: HashMap::new(),
            extremes: HashMap::new(),
            estimates: HashMap::new(),
            sweep: None,
            kappa: None,
            loss,
        })
    }

    /// The value of one measure. Where single precision may have lost it to underflow, the CPU computes it in f64.
    ///
    /// # Errors
    /// `NotFinite` where it, or what it is computed from, overflows; `Aborted`; the device's.
    pub async fn value(&mut self, measure: &'static Measure) -> Result<MeasureValue> {
        let mut found = self.value_as_computed(measure).await?;
        let precision = self.engine.info().precision;
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
        let precise = self.engine.in_f64()?;
        precise.prepare(&self.engine.parameters()?).await?;
        let mut evaluator = Evaluator::new(&precise, self.options, &[measure], self.control).await?;
        let found = evaluator.value_as_computed(measure).await?;
        Ok(MeasureValue { precision: Some(Precision::F64), ..found })
    }

    async fn value_as_computed(&mut self, measure: &'static Measure) -> Result<MeasureValue> {
        let plain = |value: f64, scale: f64| MeasureValue::exact(measure.key, value, scale);
        Ok(match measure.quantity {
            Quantity::Loss => plain(self.loss, self.loss),
            Quantity::GradientNorm => {
                let gradient = self.engine.gradient().await?;
                let norm = norm(gradient.iter().copied());
                plain(norm, norm)
            }
            Quantity::RiemannianGradientNorm(metric) => {
                let norm = metric.gradient_norm(self.engine).await?;
                plain(norm, norm)
            }
            Quantity::LargestEigenvalue(kind) => {
                let extremes = self.extremes(kind).await?;
                eigenvalue(plain(extremes.max.value, extremes.dominant().value.abs()), &extremes.max, &extremes)
            }
            Quantity::SmallestEigenvalue(kind) => {
                let extremes = self.extremes(kind).await?;
                eigenvalue(plain(extremes.min.value, extremes.dominant().value.abs()), &extremes.min, &extremes)
            }
            Quantity::SpectralNorm(kind) => {
                let extremes = self.extremes(kind).await?;
                let norm = extremes.dominant().value.abs();
                eigenvalue(plain(norm, norm), extremes.dominant(), &extremes)
            }
            Quantity::EpsilonSharpnessQuadratic => {
                let extremes = self.extremes(OperatorKind::HESSIAN).await?;
                let factor = self.options.epsilon.powi(2) / (2.0 * (1.0 + self.loss));
                let value = extremes.dominant().value.abs() * factor;
                let mut found = eigenvalue(plain(value, value), extremes.dominant(), &extremes);
                found.residual = found.residual.map(|residual| residual * factor);
                found
            }
            Quantity::EpsilonSharpness(region) => {
                let (theta, options) = (self.engine.parameters()?, self.options.sharpness());
                let epsilon = self.options.epsilon;
                let found = epsilon_sharpness(self.engine, &theta, region, epsilon, &options, self.control).await?;
                MeasureValue {
                    residual: Some(found.error),
                    iterations: Some(found.iterations),
                    precision: Some(found.precision),
                    converged: found.converged && is_known(found.rise, found.resolution),
                    ..plain(found.value, made_of(found.resolution, found.precision) / (1.0 + self.loss))
                }
            }
            Quantity::SubspaceSharpness => {
                let (theta, options) = (self.engine.parameters()?, self.options.sharpness());
                let found = subspace_sharpness(self.engine, &theta, self.options.epsilon, &options, self.control);
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
                let (theta, options) = (self.engine.parameters()?, self.options.sharpness());
                let found = average_sharpness(self.engine, &theta, noise, &options, self.control).await?;
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
                let network = self.engine.problem().network();
                match path_norm_squared(network, &self.engine.parameters()?) {
                    Some(norm) => plain(norm, norm),
                    None => bail!(InvalidOption, "the path norm is defined for networks of dense layers only"),
                }
            }
            Quantity::Custom(custom) => {
                let found = custom.compute(self.engine, self.options, self.control).await?;
                MeasureValue { key: measure.key, ..found }
            }
            Quantity::FisherRaoNorm => {
                let norm = fisher_rao_norm(self.engine).await?;
                plain(norm, norm)
            }
            Quantity::KappaMax | Quantity::KappaSum => {
                let pairs = self.kappa().await?;
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
                let traces = self.sweep().await?;
                plain(largest(traces.kappa_trace.iter()), traces.kappa_trace.iter().sum())
            }
            Quantity::KappaTraceSum => {
                let sum = self.sweep().await?.kappa_trace.iter().sum();
                plain(sum, sum)
            }
            Quantity::RhoMax => {
                let traces = self.sweep().await?;
                plain(largest(traces.rho().flatten()), traces.rho().flatten().sum())
            }
            Quantity::RhoSum => {
                let sum = self.sweep().await?.rho().flatten().sum();
                plain(sum, sum)
            }
            Quantity::RelativeFlatnessSum => {
                let sum = self.sweep().await?.layers.iter().map(|layer| layer.gram_trace).sum();
                plain(sum, sum)
            }
            Quantity::Trace(kind) => {
                if let Some(trace) = self.swept_trace(kind).await? {
                    plain(trace.value, trace.scale)
                } else if let Some(dense) = self.dense(kind).await? {
                    let scale = dense.values.iter().map(|v| v.abs()).sum();
                    MeasureValue { iterations: Some(dense.products), ..plain(dense.trace, scale) }
                } else {
                    let found = self.estimates(kind).await?;
                    MeasureValue {
                        standard_error: Some(found.trace.standard_error),
                        iterations: Some(found.products),
                        // Tr |A| is not known; its probes are of the norm's size.
                        ..plain(found.trace.value, found.trace.value.abs() + found.norm.value)
                    }
                }
            }
            Quantity::FrobeniusNorm(kind) => {
                if let Some(dense) = self.dense(kind).await? {
                    let norm = dense.frobenius_norm();
                    MeasureValue { iterations: Some(dense.products), ..plain(norm, norm) }
                } else {
                    let found = self.estimates(kind).await?;
                    MeasureValue {
                        standard_error: Some(found.norm.standard_error),
                        iterations: Some(found.products),
                        ..plain(found.norm.value, found.norm.value)
                    }
                }
            }
        })
    }

    /// Whole spectrum of an operator, if the network is small enough.
    ///
    /// # Errors
    /// As [`Evaluator::value`].
    pub async fn dense(&mut self, kind: OperatorKind) -> Result<Option<DenseSpectrum>> {
        if self.engine.problem().network().parameter_count() > DENSE_LIMIT {
            return Ok(None);
        }
        if !self.dense.contains_key(&kind) {
            let operator = kind.operator(self.engine).await?;
            let spectrum =
                dense_spectrum(&operator, self.options.tolerance_in(self.engine.info().precision), self.control)
                    .await?;
            self.dense.insert(kind, spectrum);
        }
        Ok(self.dense.get(&kind).cloned())
    }

    async fn extremes(&mut self, kind: OperatorKind) -> Result<Extremes> {
        if let Some(found) = self.extremes.get(&kind) {
            return Ok(found.clone());
        }
        let found = if let Some(dense) = self.dense(kind).await? {
            Extremes { max: dense.max, min: dense.min, products: dense.products }
        } else {
            let operator = kind.operator(self.engine).await?;
            let goal = match self.ends.get(&kind) {
                Some(Ends::Both) => Goal::Extremes { top: 1, bottom: 1 },
                _ => Goal::SpectralNorm,
            };
            let lanczos = Lanczos {
                goal,
                tolerance: self.options.tolerance,
                max_products: self.options.max_products,
                seed: self.options.seed,
                ..Lanczos::default()
            };
            let mut spectrum = lanczos.run(&operator, self.control).await?;
            let (max, min) = (spectrum.top.remove(0), spectrum.bottom.remove(0));
            Extremes { max, min, products: spectrum.products }
        };
        self.extremes.insert(kind, found.clone());
        Ok(found)
    }

    async fn sweep(&mut self) -> Result<&Traces> {
        if self.sweep.is_none() {
            self.sweep = Some(petzka::traces(self.engine, self.control).await?);
        }
        Ok(self.sweep.as_ref().expect("it was just made"))
    }

    /// An operator's trace by the cotangent sweep, where that gives it.
    async fn swept_trace(&mut self, kind: OperatorKind) -> Result<Option<Trace>> {
        let network = self.engine.problem().network();
        if !has_exact_trace(network, kind) {
            return Ok(None);
        }
        let engine = self.engine;
        let trace = if network.is_piecewise_linear() {
            trace_of(engine, kind, &self.sweep().await?.layers).await?
        } else {
            trace_of(engine, kind, &petzka::sweep(engine, self.control).await?).await?
        };
        Ok(Some(trace))
    }

    async fn kappa(&mut self) -> Result<&[Eigenpair]> {
        if self.kappa.is_none() {
            self.kappa = Some(petzka::kappa(self.engine, self.options, self.control).await?);
        }
        Ok(self.kappa.as_deref().expect("it was just made"))
    }

    /// Trace and Frobenius norm of an operator whose spectrum is not taken whole.
    async fn estimates(&mut self, kind: OperatorKind) -> Result<TraceAndNorm> {
        if let Some(found) = self.estimates.get(&kind) {
            return Ok(found.clone());
        }
        let operator = kind.operator(self.engine).await?;
        let found = trace_and_norm(&operator, self.options.probes, self.options.seed, self.control).await?;
        self.estimates.insert(kind, found.clone());
        Ok(found)
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

fn eigenvalue(value: MeasureValue, pair: &Eigenpair, extremes: &Extremes) -> MeasureValue {
    MeasureValue {
        residual: Some(pair.residual),
        iterations: Some(extremes.products),
        converged: pair.converged,
        ..value
    }
}
