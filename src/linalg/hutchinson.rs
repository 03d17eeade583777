//! Hutchinson's estimate of a trace: the mean of zᵀ A z over random signs z (Hutchinson 1990).

use rand::Rng;

use super::generator;
use crate::control::{Control, Progress};
use crate::engine::Segments;
use crate::error::{Result, ensure};
use crate::operator::SymmetricOperator;

/// Probes that go through an operator together.
const COLUMNS: usize = 8;

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
    let executor = operator.executor();
    let n = operator.len();
    let whole = Segments::whole(n);
    let mut rng = generator(seed);
    let mut samples: Vec<f64> = Vec::with_capacity(probes);
    while samples.len() < probes {
        let columns = COLUMNS.min(probes - samples.len());
        let signs: Vec<f64> = (0..n * columns).map(|_| if rng.random::<bool>() { 1.0 } else { -1.0 }).collect();
        let z = executor.upload(&signs, columns)?;
        let mut az = executor.zeros(n, columns)?;
        operator.apply(&z, &mut az)?;
        let mut column = executor.zeros(n, 1)?;
        let mut quotients = executor.zeros(columns, 1)?;
        for k in 0..columns {
            executor.copy_columns(&z, k..k + 1, &mut column, 0)?;
            executor.segment_inner(&whole, &column, &az, k..k + 1, &mut quotients, k)?;
        }
        samples.extend(executor.download(&quotients).await?);
        crate::error::ensure_finite("trace probes", &samples)?;
        let (value, standard_error) = mean_and_error(&samples);
        let progress = Progress::new("trace", samples.len(), probes).with_estimate(value, standard_error);
        control.step(progress).await?;
    }
    let (value, standard_error) = mean_and_error(&samples);
    Ok(TraceEstimate { value, standard_error, probes })
}

/// Mean, and the standard deviation of the mean (0 for one sample).
pub(crate) fn mean_and_error(samples: &[f64]) -> (f64, f64) {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    if samples.len() < 2 {
        return (mean, 0.0);
    }
    let variance = samples.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}
