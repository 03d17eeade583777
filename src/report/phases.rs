//! Where a report stands: sections as phases, and how long the rest will take.

use super::{ReportOptions, Section};
use crate::control::Control;
use crate::engine::Engine;
use crate::error::Result;
use crate::measure::DENSE_LIMIT;
use crate::network::Network;

/// Products of a Lanczos run for a few eigenvalues, about.
const LANCZOS: f64 = 50.0;

/// Products of the ascents and draws that sharpness takes, about, a gradient counting as half a product.
const SHARPNESS: f64 = 300.0;

/// The sections that are still to come, with what each takes, in seconds by an estimate that the finished ones correct.
pub(super) struct Phases {
    /// Section, predicted seconds.
    rest: Vec<(Section, f64)>,
    /// Predicted seconds of what is finished, and those it took.
    predicted: f64,
    taken: f64,
    count: usize,
}

impl Phases {
    pub async fn new(
        engine: &Engine,
        parameters: &[f64],
        sections: &[Section],
        options: &ReportOptions,
        control: &Control<'_>,
    ) -> Result<Self> {
        // The trial gradients are for the sake of progress alone.
        let product = if control.is_watched() { engine.estimate(parameters).await?.product_seconds } else { 0.0 };
        let network = engine.problem().network();
        let has_matrix = sections.contains(&Section::Hessian) && network.parameter_count() <= DENSE_LIMIT;
        let of = |&section: &Section| match section {
            // By the Hessian's matrix and spectrum, which are there by then.
            Section::Density | Section::Riemannian if has_matrix => (section, 0.0),
            _ => (section, product * products(section, network, options)),
        };
        let rest = sections.iter().map(of).collect();
        Ok(Self { rest, predicted: 0.0, taken: 0.0, count: sections.len() })
    }

    /// A control for this section: progress has the section's name before the phase, and what remains.
    pub fn begin<'a>(&self, section: Section, control: &Control<'a>) -> Control<'a> {
        // The least that tells anything: before that the estimate stands as it is.
        let correction = if self.predicted > 0.0 { self.taken / self.predicted } else { 1.0 };
        let place = self.count - self.rest.len();
        let now = self.rest.first().map_or(0.0, |(_, seconds)| *seconds);
        let later: f64 = self.rest.iter().skip(1).map(|(_, seconds)| seconds).sum();
        let count = self.count;
        control.map_progress(move |mut progress| {
            let left = 1.0 - progress.done as f64 / progress.total.max(1) as f64;
            progress.phase = format!("{}: {}", section.name(), progress.phase);
            progress
                .with("section", (place + 1) as f64)
                .with("sections", count as f64)
                .with("remainingSeconds", correction * (now * left + later))
        })
    }

    /// The section took so long.
    pub fn end(&mut self, section: Section, seconds: f64) {
        self.rest.retain(|(other, predicted)| {
            if *other == section {
                self.predicted += predicted;
                self.taken += seconds;
            }
            *other != section
        });
    }
}

/// What a section takes, in products with the Hessian.
fn products(section: Section, network: &Network, options: &ReportOptions) -> f64 {
    let n = network.parameter_count();
    let layers = network.layout().layers().len() as f64;
    let is_exact = n <= DENSE_LIMIT;
    let spectrum = if is_exact { n as f64 } else { LANCZOS + options.measure.probes as f64 / 6.0 };
    match section {
        Section::Point => 0.5,
        Section::Norms => 1.0,
        // A backward pass for each output, and a run for each layer.
        Section::Petzka => 0.5 * network.output_len() as f64 + layers * LANCZOS,
        Section::Orbit => 0.5 * network.output_len() as f64,
        Section::GaussNewton | Section::Hessian => spectrum,
        Section::Riemannian | Section::Density if is_exact => n as f64,
        Section::Riemannian => 4.0 * spectrum,
        Section::Density => (options.density.probes * options.density.steps) as f64,
        Section::Sharpness => SHARPNESS,
        Section::Spaces => 1.0,
    }
}
