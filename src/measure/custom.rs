//! Measures of a user's own, which can stand in the invariance table beside those that are built in.

use super::row::{Compute, Cost, Family};
use super::{Measure, MeasureOptions, MeasureValue};
use crate::control::{Control, LocalFuture};
use crate::engine::Engine;
use crate::error::Result;
use crate::symmetry::Kinds;

/// Computes a measure at the engine's prepared point, which it must leave as it is. [`MeasureValue::exact`] makes the value; its
/// key is replaced by the measure's.
pub type CustomMeasure =
    for<'a> fn(&'a Engine, &'a MeasureOptions, &'a Control<'_>) -> LocalFuture<'a, Result<MeasureValue>>;

impl Measure {
    /// A measure of one's own, with what theory is thought to say of it: the invariance table checks that.
    ///
    /// ```
    /// use isoflat::measure::{Measure, MeasureValue};
    /// use isoflat::symmetry::Kinds;
    ///
    /// static WEIGHT_NORM: Measure = Measure::custom(
    ///     "weight_norm",
    ///     "Length of the parameter vector.",
    ///     Kinds { layerwise: false, nodewise: false, permutation: true },
    ///     |engine, _, _| {
    ///         Box::pin(async move {
    ///             let norm = engine.parameters()?.iter().map(|w| w * w).sum::<f64>().sqrt();
    ///             Ok(MeasureValue::exact("weight_norm", norm, norm))
    ///         })
    ///     },
    /// );
    /// ```
    pub const fn custom(
        key: &'static str,
        description: &'static str,
        invariant: Kinds,
        compute: CustomMeasure,
    ) -> Self {
        let row = Self::new(Family::Own, Cost::Search, Compute::Custom(compute));
        Self { key, title: key, description, invariant, ..row }
    }
}
