//! Hutchinson's estimate of a trace: the mean of zᵀ A z over random signs z (Hutchinson 1990).

use super::{generator, overflow, random_signs};
use crate::control::{Control, Progress};
use crate::engine::Segments;
use crate::error::{Result, ensure};
use crate::numbers::Samples;
use crate::operator::SymmetricOperator;

/// Probes that go through an operator together.
pub(super) const COLUMNS: usize = 8;

/// A trace estimated from random probes.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct TraceEstimate {
    /// The mean over the probes.
    pub value: f64,
    /// Standard deviation of that mean, from the probes' own spread.
    pub standard_error: f64,
    /// Number of probes.
    pub probes: usize,
}

/// Estimates Tr A from this many probes (at least 2).
///
/// # Errors
/// `InvalidOption` for fewer than 2 probes; `NotFinite` where the products overflow; `Aborted`; the device's.
pub async fn hutchinson(
    operator: &dyn SymmetricOperator,
    probes: usize,
    seed: u64,
    control: &Control<'_>,
) -> Result<TraceEstimate> {
    ensure!(probes >= 2, InvalidOption, "Hutchinson's method needs at least 2 probes, for its standard error");
    let vectors = operator.vectors();
    let n = operator.len();
    let whole = Segments::whole(n);
    let mut rng = generator(seed);
    let mut samples = Samples::default();
    while samples.count() < probes {
        let columns = COLUMNS.min(probes - samples.count());
        let z = vectors.upload(&random_signs(n * columns, &mut rng)?, columns)?;
        let mut az = vectors.zeros(n, columns)?;
        operator.apply(&z, &mut az).await?;
        let mut column = vectors.zeros(n, 1)?;
        let mut quotients = vectors.zeros(columns, 1)?;
        for k in 0..columns {
            vectors.copy_columns(&z, k..k + 1, &mut column, 0)?;
            vectors.segment_inner(&whole, &column, &az, k..k + 1, &mut quotients, k)?;
        }
        vectors.download(&quotients).await?.into_iter().for_each(|sample| samples.push(sample));
        let (value, standard_error) = (samples.mean(), samples.standard_error());
        if !value.is_finite() || !standard_error.is_finite() {
            return Err(overflow(vectors));
        }
        let progress = Progress::new("trace", samples.count(), probes).with_estimate(value, standard_error);
        control.step(progress).await?;
    }
    Ok(TraceEstimate { value: samples.mean(), standard_error: samples.standard_error(), probes })
}
