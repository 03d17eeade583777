//! Computes measures at a prepared point. What several of them need is computed once.

use super::known::Known;
use super::sharpness::SharpnessOptions;
use super::{Family, Measure, MeasureValue};
use crate::control::Control;
use crate::engine::{Engine, Point, Precision, ensure_number};
use crate::error::{Result, ensure_positive};
use crate::linalg::{Goal, LOST, Lanczos, ensure_enough, ensure_product};

/// How measures are computed.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureOptions {
    /// ε of the ε-sharpness, in all regions.
    pub epsilon: f64,
    /// Products by which Hutch++ estimates traces and Frobenius norms that have no exact form, for networks above
    /// [`DENSE_LIMIT`](super::DENSE_LIMIT) parameters; at least 4. As few as a sixth where the same operator's ends are asked for.
    pub probes: usize,
    /// Residual of eigenvalues relative to the spectral norm; `None` takes 1e-9 in f64 and 2e-5 in f32.
    pub tolerance: Option<f64>,
    /// Most products per operator; at least 1.
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
    /// Refuses what no measure could be computed by, whether or not one that is asked for reads it.
    pub(crate) fn check(&self) -> Result<()> {
        ensure_positive("ε", self.epsilon)?;
        self.tolerance.map_or(Ok(()), |tolerance| ensure_positive("the tolerance", tolerance))?;
        ensure_product(self.max_products)?;
        ensure_enough(self.probes)?;
        self.sharpness.check()
    }

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

/// Did squares that add up to this get lost in single precision, or nearly?
pub(super) fn is_lost(engine: &Engine, sum: f64) -> bool {
    engine.info().precision == Precision::F32 && sum.abs() < LOST
}

/// Measures at an engine's prepared point.
pub struct Evaluator<'a, 'c> {
    known: Known<'a, 'c>,
    point: Point,
}

impl<'a, 'c> Evaluator<'a, 'c> {
    /// For these measures, at the point that is prepared.
    ///
    /// # Errors
    /// `InvalidOption` for an ε, tolerance or count of products or probes out of range; the device's.
    pub async fn new(
        engine: &'a Engine,
        options: &'a MeasureOptions,
        measures: &[&Measure],
        control: &Control<'c>,
    ) -> Result<Self> {
        options.check()?;
        let point = engine.point();
        let mut known = Known::new(engine, options, control);
        measures.iter().for_each(|measure| measure.announce(&mut known));
        // Fails where one of them is not finite.
        engine.loss().await?;
        engine.outputs().await?;
        engine.ensure_at(point)?;
        Ok(Self { known, point })
    }

    /// The value of one measure. Where single precision may have lost it to underflow, the CPU computes it in f64.
    ///
    /// # Errors
    /// `NotFinite` where it, or what it is computed from, overflows; `Aborted`; `InvalidParameters` where the engine has been prepared at
    /// another point since; the device's.
    pub async fn value(&mut self, measure: &'static Measure) -> Result<MeasureValue> {
        let mut found = measure.compute(&mut self.known).await?;
        self.known.engine.ensure_at(self.point)?;
        let is_own = found.precision.is_none() && measure.family != Family::Own;
        if is_own && is_lost(self.known.engine, found.scale) {
            found = self.value_in_f64(measure).await?;
        }
        let numbers = [Some(found.value), found.residual, found.standard_error];
        let precision = found.precision.unwrap_or(self.known.engine.info().precision);
        ensure_number(measure.key, precision, &numbers.into_iter().flatten().collect::<Vec<f64>>())?;
        Ok(found)
    }

    async fn value_in_f64(&self, measure: &'static Measure) -> Result<MeasureValue> {
        let precise = self.known.engine.in_f64_here().await?;
        let mut evaluator = Evaluator::new(&precise, self.known.options, &[measure], &self.known.control).await?;
        let found = measure.compute(&mut evaluator.known).await?;
        Ok(MeasureValue { precision: Some(Precision::F64), ..found })
    }
}
