//! What is known at a point: whole spectra, their ends, traces and norms, each computed once and by the method that is chosen here,
//! whoever asks: a measure, a report or a page.
//!
//! A trace that a sweep gives exactly is the sweep's. What else is asked of a spectrum of up to [`DENSE_LIMIT`] eigenvalues is read off
//! the whole of it, but for its ends alone, which are Lanczos' from half as many on; above that, norms and the other traces are
//! Hutch++'s, and densities quadratures.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::curvature_matrix::CurvatureMatrix;
use super::draft::Seen;
use super::least_trace::{self, LeastTrace, LeastTraceOptions};
use super::normalized_sharpness::normalized_sharpness;
use super::petzka::{self, Traces};
use super::sharpness::Ground;
use super::trace::{has_exact_trace, trace_of};
use super::{MeasureOptions, MeasureValue};
use crate::control::Control;
use crate::engine::{Curvature, Engine, LayerSums, Precision};
use crate::error::{Error, ErrorCode, Result};
use crate::linalg::{
    DenseSpectrum, Eigenpair, Goal, SpectralDensity, Spectrum, StochasticLanczos, SymmetricMatrix, TraceAndNorm,
    columns_of, dense_spectrum, spectrum_of, trace_and_norm, trace_and_norm_beyond,
};
use crate::memory::copied;
use crate::operator::OperatorKind;
use crate::symmetry::{SymmetryGroup, ensure_homogeneous};

/// Up to so many eigenvalues a spectrum is computed whole: exact, and in seconds.
pub const DENSE_LIMIT: usize = 1024;

/// Up to so many its ends alone are worth that: for larger ones an iteration takes a thousandth of the time.
const ENDS_LIMIT: usize = 512;

/// The two ends of a spectrum, however they were computed.
#[derive(Debug, Clone)]
pub(crate) struct Ends {
    pub max: Eigenpair,
    pub min: Eigenpair,
    pub products: usize,
}

impl Ends {
    /// The one of largest magnitude.
    pub fn dominant(&self) -> &Eigenpair {
        if self.max.value.abs() >= self.min.value.abs() { &self.max } else { &self.min }
    }

    /// Its magnitude.
    pub fn norm(&self) -> f64 {
        self.dominant().value.abs()
    }
}

/// What is known at an engine's prepared point, which must stay that one.
pub struct Known<'a, 'c> {
    pub(crate) engine: &'a Engine,
    pub(crate) options: &'a MeasureOptions,
    /// Work that is still to come may be given another one.
    pub(crate) control: Control<'c>,
    wanted: HashMap<OperatorKind, Goal>,
    /// Operators of which estimates will be wanted: what a search for their ends has seen is kept for these.
    estimated: HashSet<OperatorKind>,
    explored: HashMap<OperatorKind, Seen>,
    /// Operators of which the eigenvector of largest magnitude will be wanted.
    directions: HashSet<OperatorKind>,
    dominant: HashMap<OperatorKind, Eigenpair>,
    /// Of networks of up to [`DENSE_LIMIT`] parameters; `None` where it has entries that the precision does not hold.
    matrices: HashMap<Curvature, Option<CurvatureMatrix>>,
    dense: HashMap<OperatorKind, Rc<DenseSpectrum>>,
    spectra: HashMap<OperatorKind, Rc<Spectrum>>,
    estimates: HashMap<OperatorKind, Rc<(TraceAndNorm, Precision)>>,
    sums: Option<Rc<Vec<LayerSums>>>,
    diagonal: Option<Rc<Vec<f64>>>,
    kappa: Option<Rc<Vec<Eigenpair>>>,
    ground: Option<Rc<Ground>>,
}

impl<'a, 'c> Known<'a, 'c> {
    /// Nothing yet, of the point that is prepared.
    pub fn new(engine: &'a Engine, options: &'a MeasureOptions, control: &Control<'c>) -> Self {
        Self {
            engine,
            options,
            control: control.clone(),
            wanted: HashMap::new(),
            estimated: HashSet::new(),
            explored: HashMap::new(),
            directions: HashSet::new(),
            dominant: HashMap::new(),
            matrices: HashMap::new(),
            dense: HashMap::new(),
            spectra: HashMap::new(),
            estimates: HashMap::new(),
            sums: None,
            diagonal: None,
            kappa: None,
            ground: None,
        }
    }

    /// Says which ends of a spectrum will be asked for, so that one run finds them all.
    pub(crate) fn want(&mut self, kind: OperatorKind, ends: Goal) {
        let goal = self.wanted.get(&kind).map_or(ends, |goal| goal.and(ends));
        if self.wanted.insert(kind, goal) != Some(goal) {
            self.spectra.remove(&kind);
        }
    }

    /// Says that trace or norm of an operator will be asked for.
    pub(crate) fn want_estimates(&mut self, kind: OperatorKind) {
        self.estimated.insert(kind);
    }

    /// Says that the eigenvector of largest magnitude will be asked for.
    pub(crate) fn want_direction(&mut self, kind: OperatorKind) {
        self.directions.insert(kind);
    }

    /// The whole spectrum of an operator of up to [`DENSE_LIMIT`] coordinates.
    ///
    /// # Errors
    /// `InvalidOption` for a layer that is not there; `NotFinite` where products overflow; `Aborted`; the device's.
    pub async fn dense(&mut self, kind: OperatorKind) -> Result<Option<Rc<DenseSpectrum>>> {
        let dimension = kind.dimension(self.engine.problem().network().layout())?;
        if dimension <= DENSE_LIMIT && !self.dense.contains_key(&kind) {
            let operator = kind.operator(self.engine).await?;
            let tolerance = self.options.tolerance_in(self.engine.info().precision);
            let found = match self.matrix(kind).await? {
                Some((matrix, products)) => {
                    let found = spectrum_of(matrix, &operator, tolerance, &self.control).await?;
                    DenseSpectrum { products: found.products + products, ..found }
                }
                None => dense_spectrum(&operator, tolerance, &self.control).await?,
            };
            self.dense.insert(kind, Rc::new(found));
        }
        Ok(self.dense.get(&kind).cloned())
    }

    /// An operator's matrix, where its curvature's is known or worth knowing, and the products that were taken for it.
    async fn matrix(&mut self, kind: OperatorKind) -> Result<Option<(SymmetricMatrix, usize)>> {
        let (curvature, parameters) = (kind.whole.curvature(), self.engine.problem().network().parameter_count());
        let mut products = 0;
        if !self.matrices.contains_key(&curvature) {
            // A part's own products are fewer.
            if parameters > DENSE_LIMIT || kind.part.is_some() {
                return Ok(None);
            }
            let found = match CurvatureMatrix::at(self.engine, curvature, &self.control).await {
                Ok(found) => Some(found),
                // Between a metric's lengths it may be in range.
                Err(Error { code: ErrorCode::NotFinite, .. }) if kind.whole.metric().is_some() => None,
                Err(error) => return Err(error),
            };
            self.matrices.insert(curvature, found);
            products = parameters;
        }
        match &self.matrices[&curvature] {
            Some(matrix) => Ok(matrix.of(kind, self.engine).await?.map(|matrix| (matrix, products))),
            None => Ok(None),
        }
    }

    /// The ends of a spectrum that are wanted of it, by Lanczos.
    pub(crate) async fn spectrum(&mut self, kind: OperatorKind) -> Result<Rc<Spectrum>> {
        if let Some(found) = self.spectra.get(&kind) {
            return Ok(found.clone());
        }
        let dimension = kind.dimension(self.engine.problem().network().layout())?;
        let goal = self.wanted.get(&kind).copied().unwrap_or(Goal::SpectralNorm);
        let is_singular = kind.most_nonzero(self.engine.problem()).is_some_and(|most| most < dimension);
        // Of what is taken whole nothing is estimated.
        let is_estimated = dimension > DENSE_LIMIT && self.estimated.contains(&kind);
        let columns = if is_estimated { columns_of(self.options.probes) } else { 0 };
        let (mut found, seen) = match goal {
            // Never negative, and 0 by its rank: to look for that as for any other eigenvalue would take longer than all else.
            Goal::Extremes { top, .. } if is_singular => {
                let (found, seen) = self.search(kind, Goal::Extremes { top, bottom: 0 }, columns).await?;
                let zero = Eigenpair { value: 0.0, residual: 0.0, error_bound: None, converged: true, vector: None };
                (Spectrum { bottom: vec![zero], ..found }, seen)
            }
            goal => self.search(kind, goal, columns).await?,
        };
        if self.directions.contains(&kind)
            && let Some(pair) = found.dominant()
        {
            let vector = match &pair.vector {
                Some(vector) => copied("an eigenvector", vector)?,
                None => seen.explored.dominant(self.engine.vectors()).await?,
            };
            self.dominant.insert(kind, Eigenpair { vector: Some(vector), ..pair.clone() });
        }
        found.top.iter_mut().chain(&mut found.bottom).for_each(|pair| pair.vector = None);
        if is_estimated && !self.estimates.contains_key(&kind) {
            self.explored.insert(kind, seen);
        }
        let found = Rc::new(found);
        self.spectra.insert(kind, found.clone());
        Ok(found)
    }

    /// The two ends of a spectrum.
    pub(crate) async fn ends(&mut self, kind: OperatorKind) -> Result<Ends> {
        let dimension = kind.dimension(self.engine.problem().network().layout())?;
        if (dimension <= ENDS_LIMIT || self.dense.contains_key(&kind))
            && let Some(found) = self.dense(kind).await?
        {
            return Ok(Ends { max: found.max.clone(), min: found.min.clone(), products: found.products });
        }
        let found = self.spectrum(kind).await?;
        Ok(Ends { max: found.top[0].clone(), min: found.bottom[0].clone(), products: found.products })
    }

    /// The eigenpair of largest magnitude with its vector, where an iteration finds the ends of this spectrum anyway.
    pub(crate) async fn direction(&mut self, kind: OperatorKind) -> Result<Option<&Eigenpair>> {
        let dimension = kind.dimension(self.engine.problem().network().layout())?;
        if dimension > ENDS_LIMIT && self.wanted.contains_key(&kind) && !self.dense.contains_key(&kind) {
            self.want_direction(kind);
            self.spectrum(kind).await?;
        }
        Ok(self.dominant.get(&kind))
    }

    /// Trace and Frobenius norm from the same random probes. Where ends of the spectrum are wanted too, they are found before: what
    /// that has seen may take the place of most products.
    /// And what they were computed in.
    pub(crate) async fn estimates(&mut self, kind: OperatorKind) -> Result<Rc<(TraceAndNorm, Precision)>> {
        if !self.estimates.contains_key(&kind) {
            if self.wanted.contains_key(&kind) {
                self.estimated.insert(kind);
                self.spectrum(kind).await?;
            }
            let MeasureOptions { probes, seed, .. } = *self.options;
            let seen = self.explored.remove(&kind);
            let engine = match self.engine.coarse().await? {
                Some(coarse) if seen.as_ref().is_some_and(|seen| seen.is_coarse) => coarse,
                _ => self.engine,
            };
            let operator = kind.operator(engine).await?;
            let found = match seen {
                Some(Seen { explored, .. }) => {
                    trace_and_norm_beyond(explored, &operator, probes, seed, &self.control).await?
                }
                None => trace_and_norm(&operator, probes, seed, &self.control).await?,
            };
            self.estimates.insert(kind, Rc::new((found, engine.info().precision)));
        }
        Ok(self.estimates[&kind].clone())
    }

    /// The trace of an operator.
    pub(crate) async fn trace(&mut self, kind: OperatorKind) -> Result<MeasureValue> {
        let exact = |value: f64, scale: f64| MeasureValue::exact("trace", value, scale);
        if has_exact_trace(self.engine.problem().network(), kind) {
            let trace = trace_of(self.engine, kind, &self.sums().await?).await?;
            return Ok(exact(trace.value, trace.scale));
        }
        if let Some(found) = self.dense(kind).await? {
            let scale = found.values.iter().map(|v| v.abs()).sum();
            return Ok(MeasureValue { iterations: Some(found.products), ..exact(found.trace, scale) });
        }
        let estimates = self.estimates(kind).await?;
        let (found, precision) = &*estimates;
        Ok(MeasureValue {
            precision: self.other(*precision),
            standard_error: Some(found.trace.standard_error),
            iterations: Some(found.products),
            // Tr |A| is not known; its probes are of the norm's size.
            ..exact(found.trace.value, found.trace.value.abs() + found.norm.value)
        })
    }

    /// The Frobenius norm of an operator.
    pub(crate) async fn frobenius_norm(&mut self, kind: OperatorKind) -> Result<MeasureValue> {
        let exact = |value: f64| MeasureValue::exact("frobenius_norm", value, value);
        if let Some(found) = self.dense(kind).await? {
            return Ok(MeasureValue { iterations: Some(found.products), ..exact(found.frobenius_norm()) });
        }
        let estimates = self.estimates(kind).await?;
        let (found, precision) = &*estimates;
        Ok(MeasureValue {
            precision: self.other(*precision),
            iterations: Some(found.products),
            standard_error: Some(found.norm.standard_error),
            ..exact(found.norm.value)
        })
    }

    /// A precision that is not the engine's own.
    fn other(&self, precision: Precision) -> Option<Precision> {
        Some(precision).filter(|precision| *precision != self.engine.info().precision)
    }

    /// The density of an operator's spectrum.
    ///
    /// # Errors
    /// As [`Known::dense`] and [`StochasticLanczos::run`].
    pub async fn density(&mut self, kind: OperatorKind, lanczos: &StochasticLanczos) -> Result<SpectralDensity> {
        // Before what may take long, and where no probe is needed too.
        lanczos.check()?;
        match self.dense(kind).await? {
            Some(found) => lanczos.exact(&found.values, &self.control).await,
            None => lanczos.run(&kind.operator(self.engine).await?, &self.control).await,
        }
    }

    /// What all searches for the highest point begin with.
    pub(crate) async fn ground(&mut self) -> Result<Rc<Ground>> {
        if let Some(found) = &self.ground {
            return Ok(found.clone());
        }
        let found = Rc::new(Ground::at(self.engine, &self.engine.parameters()?).await?);
        self.ground = Some(found.clone());
        Ok(found)
    }

    /// What the cotangents of all outputs leave at every layer, summed.
    pub(crate) async fn sums(&mut self) -> Result<Rc<Vec<LayerSums>>> {
        if let Some(found) = &self.sums {
            return Ok(found.clone());
        }
        let found = Rc::new(petzka::sweep(self.engine, &self.control).await?);
        self.sums = Some(found.clone());
        Ok(found)
    }

    /// The Hessian's diagonal, of a network that has rescalings.
    pub(crate) async fn diagonal(&mut self) -> Result<Rc<Vec<f64>>> {
        ensure_homogeneous(self.engine.problem().network())?;
        if let Some(found) = &self.diagonal {
            return Ok(found.clone());
        }
        let found = Rc::new(least_trace::diagonal_of(self.engine, &self.control).await?);
        self.diagonal = Some(found.clone());
        Ok(found)
    }

    /// The least trace that rescalings reach.
    pub(crate) async fn least_trace(&mut self, group: SymmetryGroup) -> Result<LeastTrace> {
        let network = self.engine.problem().network();
        let diagonal = self.diagonal().await?;
        let options = LeastTraceOptions { group, ..LeastTraceOptions::default() };
        least_trace::least_of(network, &diagonal, &options, &self.control).await
    }

    /// Normalised sharpness.
    pub(crate) async fn normalized_sharpness(&mut self) -> Result<MeasureValue> {
        let diagonal = self.diagonal().await?;
        normalized_sharpness(self.engine, &diagonal, &self.control).await
    }

    /// Petzka's κ_τ, ρ and relative flatness of every layer.
    ///
    /// # Errors
    /// As [`petzka::traces`].
    pub async fn traces(&mut self) -> Result<Traces> {
        petzka::ensure_piecewise_linear(self.engine)?;
        Traces::of(self.engine, self.sums().await?.to_vec())
    }

    /// Petzka's κ of every layer.
    ///
    /// # Errors
    /// As [`petzka::kappa`].
    pub async fn kappa(&mut self) -> Result<Rc<Vec<Eigenpair>>> {
        if let Some(found) = &self.kappa {
            return Ok(found.clone());
        }
        let found = Rc::new(petzka::kappa(self.engine, self.options, &self.control).await?);
        self.kappa = Some(found.clone());
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Curvature, Device};
    use crate::network::{BiasInitialization, Initialization, Network};
    use crate::numbers::norm;

    /// What ascents begin at is the eigenvector of the value that stands beside it, in both precisions.
    #[test]
    fn directions_are_eigenvectors() {
        let network = Network::dense(&[12, 26, 24, 4], true).expect("a network");
        let (scheme, biases) = (Initialization::KaimingUniform, BiasInitialization::Uniform);
        let theta = network.initialize(scheme, biases, 3).expect("weights");
        let problem = crate::data::synthetic(network, 40, 5).expect("a problem");
        for precision in [Precision::F64, Precision::F32] {
            let engine = Engine::new(&Device::cpu(precision), &problem).expect("an engine");
            pollster::block_on(engine.prepare(&theta)).expect("a point");
            let options = MeasureOptions::default();
            let mut known = Known::new(&engine, &options, &Control::default());
            let none = pollster::block_on(known.direction(OperatorKind::HESSIAN)).expect("an answer");
            assert!(none.is_none(), "nobody looks for the ends");
            known.want(OperatorKind::HESSIAN, Goal::Extremes { top: 2, bottom: 1 });
            let pair = pollster::block_on(known.direction(OperatorKind::HESSIAN)).expect("an answer").expect("a pair");
            let vector = pair.vector.clone().expect("a vector");
            let product = pollster::block_on(engine.product(Curvature::Hessian, &vector)).expect("a product");
            let residual = norm(product.iter().zip(&vector).map(|(p, v)| p - pair.value * v));
            let tolerance = 2.0 * precision.eigenvalue_tolerance() * pair.value.abs();
            assert!(residual <= tolerance, "{precision:?}: {residual:e}, {}", pair.value);
            assert!((norm(vector.iter().copied()) - 1.0).abs() < 1e-12);
        }
    }
}
