//! The report of a point: everything that is asked for, in the cheapest order, as JSON with stable keys. What is not built, or
//! not defined for a network, is absent, never null or zero. A wish to finish hands over what is finished.

mod phases;
mod spectrum;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use self::phases::Phases;
use crate::control::{Control, Progress, now};
use crate::engine::{Curvature, Device, Engine, Precision, ensure_number};
use crate::error::{Error, ErrorCode, Result};
use crate::linalg::StochasticLanczos;
use crate::measure::sharpness::{Noise, Region, average_sharpness, highest_known};
use crate::measure::{Known, MeasureOptions, fisher_rao_norm, path_norm_squared};
use crate::network::{Layer, Network};
use crate::numbers::norm;
use crate::operator::{Connection, Metric, OperatorKind};
use crate::problem::ProblemFile;
use crate::sorting::sort_by_key;
use crate::symmetry::{SymmetryGroup, Transformation};

/// A part of a report, in the order in which they are computed: what is quick comes first, and what others share before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// Loss, and lengths of the gradient in three metrics.
    Point,
    /// Fisher–Rao norm, and the path norm of dense networks.
    Norms,
    /// κ, κ_τ, ρ and relative flatness, by one sweep whose traces the spectra share, and one Lanczos run a layer.
    Petzka,
    /// The least traces that rescalings reach, and normalised sharpness, by another sweep.
    Orbit,
    /// Spectrum of the Gauss–Newton matrix.
    GaussNewton,
    /// Spectrum of the Hessian.
    Hessian,
    /// Spectra of the four Riemannian Hessians.
    Riemannian,
    /// The Hessian's spectral density.
    Density,
    /// ε-sharpness in four regions and average sharpness.
    Sharpness,
    /// The G-space and weight fixing.
    Spaces,
}

impl Section {
    /// All of them, in their order.
    pub const ALL: [Self; 10] = [
        Self::Point,
        Self::Norms,
        Self::Petzka,
        Self::Orbit,
        Self::GaussNewton,
        Self::Hessian,
        Self::Riemannian,
        Self::Density,
        Self::Sharpness,
        Self::Spaces,
    ];

    /// Those that a problem file's report has at each of its points.
    pub(crate) const OF_A_FILE: [Self; 7] =
        [Self::Point, Self::Norms, Self::Petzka, Self::Orbit, Self::GaussNewton, Self::Hessian, Self::Riemannian];

    /// Is it defined for this network? Petzka's measures are for piecewise linear ones, orbits and spaces for those that have rescalings.
    pub fn is_defined_for(self, network: &Network) -> bool {
        match self {
            Self::Petzka => network.is_piecewise_linear(),
            Self::Orbit | Self::Spaces => network.is_positively_homogeneous(),
            _ => true,
        }
    }

    /// Its name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::Norms => "norms",
            Self::Petzka => "petzka",
            Self::Orbit => "orbit",
            Self::GaussNewton => "gauss_newton",
            Self::Hessian => "hessian",
            Self::Riemannian => "riemannian",
            Self::Density => "density",
            Self::Sharpness => "sharpness",
            Self::Spaces => "spaces",
        }
    }
}

/// Where the section on sharpness searches.
const REGIONS: [(&str, Region); 4] = [
    ("epsilon_sharpness", Region::Ball),
    ("epsilon_sharpness_box", Region::Box),
    ("riemannian_sharpness_layerwise", Region::RiemannianLayerwise),
    ("riemannian_sharpness_nodewise", Region::RiemannianNodewise),
];

/// What a report is to hold, and how it is computed.
#[derive(Debug, Clone, Default)]
pub struct ReportOptions {
    /// `None` takes all that are defined for the network.
    pub sections: Option<Vec<Section>>,
    /// How measures are computed.
    pub measure: MeasureOptions,
    /// How the density is.
    pub density: StochasticLanczos,
}

/// How far a section came.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SectionRun {
    /// Which.
    pub section: Section,
    /// How long it took.
    pub seconds: f64,
    /// Is it whole? What is not is absent from the values.
    pub finished: bool,
}

/// A report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// What was finished, with the keys of [`report`].
    pub values: Map<String, Value>,
    /// The sections in their order.
    pub sections: Vec<SectionRun>,
    /// Did the caller have it finish before its end?
    pub stopped: bool,
}

/// The report of one point. Progress has the section as its phase, and in `remainingSeconds` an estimate of what is left. A wish to
/// finish ([`Control::finish_when`]) is no error: what is finished is handed over.
///
/// # Errors
/// What [`Engine::prepare`] says; `InvalidOption` for options out of range, `NotHomogeneous` for a section that is not defined for
/// the network; `NotFinite`; `Aborted`; the device's.
pub async fn report_at(
    engine: &Engine,
    parameters: &[f64],
    options: &ReportOptions,
    control: &Control<'_>,
) -> Result<Report> {
    let network = engine.problem().network();
    let control = &control.finishable();
    let mut sections = match &options.sections {
        Some(sections) => sections.clone(),
        None => Section::ALL.into_iter().filter(|section| section.is_defined_for(network)).collect(),
    };
    sort_by_key(&mut sections, |&section| section);
    sections.dedup();
    options.measure.check()?;
    // Where it is for the density's own section to refuse it, what came before would be lost.
    if sections.contains(&Section::Density) {
        options.density.check()?;
    }
    let mut reporter = Reporter { known: Known::new(engine, &options.measure, control), options, parameters };
    if sections.contains(&Section::Sharpness) {
        let kinds = REGIONS.iter().filter_map(|(_, region)| region.operator());
        kinds.for_each(|kind| reporter.known.want_direction(kind));
    }
    let mut report = Report { values: Map::new(), sections: Vec::new(), stopped: false };
    let mut phases = Phases::new(engine, parameters, &sections, options, control).await?;
    for &section in &sections {
        let start = now();
        let finished = !report.stopped && {
            reporter.known.control = phases.begin(section, control);
            match reporter.section(section, &mut report.values).await {
                Ok(()) => true,
                Err(Error { code: ErrorCode::Aborted, .. }) if !control.is_stopped() => {
                    report.stopped = true;
                    false
                }
                Err(error) => return Err(error),
            }
        };
        let seconds = now() - start;
        phases.end(section, seconds);
        report.sections.push(SectionRun { section, seconds, finished });
    }
    Ok(report)
}

/// Everything that can be said of a problem file: at its parameters, and after each of its transformations. A wish to finish
/// ([`Control::finish_when`]) hands over what is finished.
///
/// # Errors
/// What [`Engine::new`], [`report_at`] and [`Transformation::apply`] say; `Aborted`.
pub async fn report(
    file: &ProblemFile,
    device: &Device,
    options: &MeasureOptions,
    control: &Control<'_>,
) -> Result<Value> {
    let engine = Engine::new(device, &file.problem)?;
    let mut report = Map::new();
    if let Some(name) = &file.name {
        report.insert("name".into(), json!(name));
    }
    report.insert("backend".into(), json!(engine.info()));
    report.insert("parameter_count".into(), json!(file.parameters.len()));
    report.insert("samples".into(), json!(file.problem.samples()));
    let at = whole(&engine, &file.parameters, options, &[Section::Spaces], control).await?;
    report.extend(at.values);
    if at.stopped {
        return Ok(Value::Object(report));
    }

    engine.prepare(&file.parameters).await?;
    let width = file.problem.network().output_len();
    report.insert("outputs_first".into(), json!(engine.outputs().await?[..width]));
    report.insert("gradient".into(), json!(engine.gradient().await?));
    if let Some(direction) = &file.direction {
        report.insert("hvp".into(), json!(engine.product(Curvature::Hessian, direction).await?));
        let product = engine.product(Curvature::GaussNewton, direction).await?;
        report["gauss_newton"]["product"] = json!(product);
    }
    let mut transformed = Vec::new();
    for (i, map) in file.transformations.iter().enumerate() {
        control.step(Progress::new("transformations", i, file.transformations.len())).await?;
        match after(&engine, map, &file.parameters, options, control).await? {
            Some(entry) => transformed.push(entry),
            None => break,
        }
    }
    report.insert("transformed".into(), Value::Array(transformed));
    Ok(Value::Object(report))
}

/// Nothing where it was not finished.
async fn after(
    engine: &Engine,
    map: &Transformation,
    parameters: &[f64],
    options: &MeasureOptions,
    control: &Control<'_>,
) -> Result<Option<Value>> {
    let moved = map.apply(engine.problem().network(), parameters)?;
    let mut entry = Map::new();
    entry.insert("type".into(), json!(map)["type"].take());
    let at = whole(engine, &moved, options, &[], control).await?;
    entry.extend(at.values);
    entry.insert("parameters".into(), json!(moved));
    Ok((!at.stopped).then_some(Value::Object(entry)))
}

/// The report of a file's sections and of `more`.
async fn whole(
    engine: &Engine,
    parameters: &[f64],
    options: &MeasureOptions,
    more: &[Section],
    control: &Control<'_>,
) -> Result<Report> {
    let network = engine.problem().network();
    let sections = Section::OF_A_FILE.iter().chain(more).filter(|section| section.is_defined_for(network));
    let options =
        ReportOptions { sections: Some(sections.copied().collect()), measure: options.clone(), ..Default::default() };
    report_at(engine, parameters, &options, control).await
}

/// Computes sections. What several of them need is computed once.
struct Reporter<'a, 'c> {
    known: Known<'a, 'c>,
    options: &'a ReportOptions,
    parameters: &'a [f64],
}

impl Reporter<'_, '_> {
    async fn section(&mut self, section: Section, values: &mut Map<String, Value>) -> Result<()> {
        let engine = self.known.engine;
        self.known.control.breathe().await?;
        engine.prepare(self.parameters).await?;
        let mut put = |name: &str, value: Value| {
            values.insert(name.into(), value);
        };
        match section {
            Section::Point => {
                let gradient = engine.gradient().await?;
                put("loss", json!(engine.loss().await?));
                put("gradient_norm", json!(norm(gradient.iter().copied())));
            }
            Section::Norms => {
                put("fisher_rao_norm", json!(fisher_rao_norm(engine).await?));
                if let Some(norm) = path_norm_squared(engine.problem().network(), self.parameters) {
                    ensure_number("the path norm", Precision::F64, &[norm])?;
                    put("path_norm_squared", json!(norm));
                }
            }
            Section::Petzka => put("petzka", self.petzka().await?),
            Section::Orbit => {
                put("normalized_sharpness", json!(self.known.normalized_sharpness().await?.value));
                put("least_trace", self.least_traces().await?);
            }
            Section::GaussNewton => put("gauss_newton", self.spectrum(OperatorKind::GAUSS_NEWTON).await?),
            Section::Hessian => put("hessian", self.spectrum(OperatorKind::HESSIAN).await?),
            Section::Riemannian => put("riemannian", self.riemannian().await?),
            Section::Density => {
                let density = self.known.density(OperatorKind::HESSIAN, &self.options.density).await?;
                put("density", json!({ "hessian": density }));
            }
            Section::Sharpness => put("sharpness", self.sharpness().await?),
            Section::Spaces => {
                if let Some(spaces) = crate::space::report(engine).await? {
                    put("spaces", spaces);
                }
            }
        }
        Ok(())
    }

    async fn least_traces(&mut self) -> Result<Value> {
        let mut found = Map::new();
        for (name, group) in [("layerwise", SymmetryGroup::Layerwise), ("nodewise", SymmetryGroup::Nodewise)] {
            let least = self.known.least_trace(group).await?;
            found.insert(name.into(), json!(least.value));
            found.insert(format!("{name}_attained"), json!(least.attained));
        }
        Ok(Value::Object(found))
    }

    async fn riemannian(&mut self) -> Result<Value> {
        let mut found = Map::new();
        for (name, metric) in [("layerwise", Metric::Layerwise), ("nodewise", Metric::Nodewise)] {
            for (connection, kind) in [("flat", Connection::Flat), ("levi_civita", Connection::LeviCivita)] {
                let spectrum = self.spectrum(OperatorKind::riemannian(metric, kind)).await?;
                found.insert(format!("{name}_{connection}"), spectrum);
            }
            found.insert(format!("{name}_gradient_norm"), json!(metric.gradient_norm(self.known.engine).await?));
        }
        Ok(Value::Object(found))
    }

    async fn sharpness(&mut self) -> Result<Value> {
        let mut found = Map::new();
        for (name, region) in REGIONS {
            found.insert(name.into(), json!(highest_known(&mut self.known, region).await?));
        }
        let (engine, control, theta) = (self.known.engine, &self.known.control, self.parameters);
        let options = self.options.measure.sharpness();
        for (name, noise) in [("average_sharpness", Noise::Plain), ("average_sharpness_scaled", Noise::Scaled)] {
            let sharpness = average_sharpness(engine, theta, noise, &options, control).await?;
            found.insert(name.into(), json!(sharpness));
        }
        Ok(Value::Object(found))
    }

    async fn petzka(&mut self) -> Result<Value> {
        let kappa = self.known.kappa().await?;
        let traces = self.known.traces().await?;
        let kappa: Vec<f64> = kappa.iter().map(|pair| pair.value).collect();
        let rho: Vec<&[f64]> = traces.rho().collect();
        let max = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let sum = |values: &[f64]| values.iter().sum::<f64>();
        let rho_max: Vec<f64> = rho.iter().map(|rho| max(rho)).collect();
        let rho_sum: Vec<f64> = rho.iter().map(|rho| sum(rho)).collect();
        // Petzka et al. 2021 define it for dense layers; the measure's sum has convolutions too.
        let network = self.known.engine.problem().network();
        let layers = network.layout().layers().iter().zip(&traces.layers);
        let relative_flatness: Vec<Option<f64>> = layers
            .map(|(layer, sums)| matches!(network.layer(layer.layer), Layer::Dense { .. }).then_some(sums.gram_trace))
            .collect();
        Ok(json!({
            "kappa": kappa,
            "kappa_max": max(&kappa),
            "kappa_sum": sum(&kappa),
            "kappa_trace": traces.kappa_trace,
            "kappa_trace_max": max(&traces.kappa_trace),
            "kappa_trace_sum": sum(&traces.kappa_trace),
            "rho": rho,
            "rho_max_per_layer": rho_max,
            "rho_sum_per_layer": rho_sum,
            "rho_max": max(&rho_max),
            "rho_sum": sum(&rho_sum),
            "relative_flatness": relative_flatness,
        }))
    }
}
