//! The traces of Petzka's Table 1 from random cotangents: a few backward passes instead of one for each of many classes.
//!
//! With C the columns whose outer products sum to ∂²ℓ/∂ŷ², √p_c (e_c − p) for cross-entropy and √2 e_c for the squared error, and random
//! signs s for every sample, r = C s has E r rᵀ = C Cᵀ. Every sum of [`LayerSums`] is quadratic in r, and so unbiased.

use rand::Rng;

use super::{Traces, ensure_piecewise_linear, squared_norms};
use crate::control::{Control, Progress};
use crate::engine::{Cotangent, Engine, LayerSums};
use crate::error::{Result, ensure};
use crate::linalg::generator;
use crate::memory::{collected, zeros};
use crate::numbers::Samples;

/// Numbers that the cotangents of one sweep may take.
const NUMBERS: usize = 1 << 24;

/// Most cotangents that go through together.
const TOGETHER: usize = 16;

/// Most draws that are kept, and most numbers in them.
const KEPT: usize = 1000;
const KEPT_NUMBERS: usize = 1 << 22;

/// Estimates of κ_τ, ρ and the relative flatness, with their standard errors over the draws.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledTraces {
    /// The means, in the form of the exact ones.
    pub traces: Traces,
    /// Standard errors of ‖W_l‖² Tr H_l.
    pub kappa_trace_error: Vec<f64>,
    /// Standard errors of ρ_l(j), layer by layer.
    pub rho_error: Vec<Vec<f64>>,
    /// Standard errors of the relative flatness of each layer.
    pub relative_flatness_error: Vec<f64>,
    /// What each draw left at each layer, of the first thousand draws, or fewer in wide networks (at least two).
    pub draws: Vec<Vec<LayerSums>>,
    /// How many draws there were.
    pub count: usize,
    squared_norms: Vec<f64>,
}

impl SampledTraces {
    /// Mean and standard error of any sum over layers and neurons, such as κ_τ^Σ or ρ^Σ: layers share their draws, so that their
    /// errors do not simply add. `f` gets one draw, or the mean of all, and ‖W_l‖² of every layer, and must be linear in the
    /// draw. The mean is over all draws; their spread is taken from those that were kept.
    pub fn estimate(&self, f: impl Fn(&[LayerSums], &[f64]) -> f64) -> (f64, f64) {
        let mut values = Samples::default();
        self.draws.iter().for_each(|draw| values.push(f(draw, &self.squared_norms)));
        let share = self.draws.len() as f64 / self.count as f64;
        (f(&self.traces.layers, &self.squared_norms), values.standard_error() * share.sqrt())
    }

    /// κ_τ^Σ and its standard error.
    pub fn kappa_trace_sum(&self) -> (f64, f64) {
        self.estimate(|layers, norms| layers.iter().zip(norms).map(|(layer, norm)| norm * layer.weight_trace).sum())
    }

    /// ρ^Σ and its standard error.
    pub fn rho_sum(&self) -> (f64, f64) {
        self.estimate(|layers, _| layers.iter().flat_map(|layer| &layer.column_forms).sum())
    }
}

/// κ_τ, ρ and the relative flatness of every layer at the prepared point from this many draws (at least 2).
///
/// # Errors
/// `InvalidOption` for fewer than 2 draws; `NotHomogeneous` for a network that is not piecewise linear; `NotFinite` for outputs
/// that overflow; `Aborted`; the device's.
pub async fn sampled_traces(engine: &Engine, draws: usize, seed: u64, control: &Control<'_>) -> Result<SampledTraces> {
    ensure_piecewise_linear(engine)?;
    ensure!(draws >= 2, InvalidOption, "sampled traces need at least 2 draws, for their standard errors");
    let problem = engine.problem();
    crate::error::ensure_finite("outputs", &engine.outputs().await?)?;
    let signs = problem.samples() * problem.network().output_len();
    let mut rng = generator(seed);
    let together = (NUMBERS / signs).clamp(1, TOGETHER);
    let mut kept: Vec<Vec<LayerSums>> = Vec::new();
    let mut statistics: Vec<LayerStatistics> = Vec::new();
    let mut done = 0;
    while done < draws {
        control.step(Progress::new("cotangent sweep", done, draws)).await?;
        let mut cotangent = |_| {
            let sign = |_| if rng.random::<bool>() { 1.0 } else { -1.0 };
            Ok(Cotangent::Signs(collected("drawn signs", (0..signs).map(sign))?))
        };
        let some = (0..together.min(draws - done)).map(&mut cotangent).collect::<Result<Vec<Cotangent>>>()?;
        done += some.len();
        for draw in engine.sweep(&some).await? {
            if statistics.is_empty() {
                statistics = draw.iter().map(LayerStatistics::new).collect::<Result<_>>()?;
            }
            statistics.iter_mut().zip(&draw).for_each(|(statistics, sums)| statistics.push(sums));
            let numbers: usize = draw.iter().map(|sums| sums.numbers().count()).sum();
            if kept.len() < (KEPT_NUMBERS / numbers).clamp(2, KEPT) {
                kept.push(draw);
            }
        }
    }
    let squared_norms = squared_norms(engine)?;
    let layers = statistics.iter().map(LayerStatistics::means).collect::<Result<Vec<_>>>()?;
    let errors = statistics.iter().map(LayerStatistics::errors).collect::<Result<Vec<_>>>()?;
    for layer in &errors {
        crate::error::ensure_finite("standard errors of the traces", &layer.numbers().collect::<Vec<f64>>())?;
    }
    let traces = Traces::of(engine, layers)?;
    Ok(SampledTraces {
        traces,
        kappa_trace_error: squared_norms.iter().zip(&errors).map(|(norm, errors)| norm * errors.weight_trace).collect(),
        relative_flatness_error: errors.iter().map(|errors| errors.gram_trace).collect(),
        rho_error: errors.into_iter().map(|errors| errors.column_forms).collect(),
        draws: kept,
        count: draws,
        squared_norms,
    })
}

/// Mean and spread of every sum of one layer, draw by draw.
struct LayerStatistics {
    /// In the order of [`LayerSums::numbers`].
    samples: Vec<Samples>,
    units: usize,
}

impl LayerStatistics {
    /// Of sums of this shape.
    fn new(sums: &LayerSums) -> Result<Self> {
        let samples = zeros("statistics of a layer", sums.numbers().count())?;
        Ok(Self { samples, units: sums.column_forms.len() })
    }

    fn push(&mut self, sums: &LayerSums) {
        self.samples.iter_mut().zip(sums.numbers()).for_each(|(samples, number)| samples.push(number));
    }

    fn of_each(&self, f: impl Fn(&Samples) -> f64) -> Result<LayerSums> {
        let mut sums = LayerSums::zeros(self.units)?;
        sums.numbers_mut().zip(&self.samples).for_each(|(number, samples)| *number = f(samples));
        Ok(sums)
    }

    fn means(&self) -> Result<LayerSums> {
        self.of_each(Samples::mean)
    }

    fn errors(&self) -> Result<LayerSums> {
        self.of_each(Samples::standard_error)
    }
}
