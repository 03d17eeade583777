//! The options objects of the engine's methods. Unknown keys are refused: a misspelt option should not pass in silence.

use js_sys::{Object, Reflect};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use super::convert::numbers;
use super::error::{fault, throw};
use super::run;
use super::threads::hardware_threads;
use crate::control::Control;
use crate::engine::gpu::{Tune, Tuning};
use crate::engine::{Backend, MOST_WORKERS, Precision};
use crate::error::ErrorCode;
use crate::landscape::{Direction, Normalization, Span, Trajectory};
use crate::linalg::{Goal, Lanczos, PowerIteration, StochasticLanczos};
use crate::measure::{Measure, MeasureOptions};
use crate::network::Network;
use crate::operator::OperatorKind;
use crate::report::{ReportOptions, Section};
use crate::space::SpaceKind;
use crate::symmetry::Transformation;

type Js<T> = Result<T, JsValue>;

/// An options object, with what is no plain data taken out of it. The package's JavaScript has read it from the caller's, and
/// made functions of what watches and stops the work.
pub struct Parts {
    rest: JsValue,
    on_progress: JsValue,
    /// `stopped()`, which says whether the caller has stopped it.
    pub stopped: JsValue,
    finishing: JsValue,
    /// `train`'s validation problem.
    pub validation: JsValue,
    /// `train`'s checkpoint: it holds vectors.
    pub checkpoint: JsValue,
    /// `landscape`'s directions: they may hold parameter vectors.
    directions: JsValue,
    /// `landscape`'s trajectory: parameter vectors.
    trajectory: JsValue,
}

impl Parts {
    /// Splits an options object.
    pub fn new(value: &JsValue) -> Self {
        let rest = Object::new();
        if let Some(object) = value.dyn_ref::<Object>() {
            Object::assign(&rest, object);
        }
        let take = |key: &str| take(&rest, key);
        Self {
            on_progress: take("onProgress"),
            stopped: take("stopped"),
            finishing: take("finishing"),
            validation: take("validation"),
            checkpoint: take("checkpoint"),
            directions: take("directions"),
            trajectory: take("trajectory"),
            rest: rest.into(),
        }
    }

    /// The control that the caller asked for.
    pub fn control(&self) -> Control<'static> {
        run::control(&self.on_progress, &self.stopped, &self.finishing)
    }

    /// The plain rest.
    pub fn parse<T: serde::de::DeserializeOwned>(&self, what: &str) -> Js<T> {
        super::convert::options(self.rest.clone(), what)
    }
}

/// Of methods that have no options beside those that watch and stop.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoOptions {}

/// `Engine.create`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EngineOptions {
    backend: Option<String>,
    precision: Option<Precision>,
    memory_budget: Option<f64>,
    threads: Option<ThreadsOption>,
    #[serde(default)]
    tune: Tune,
    /// What was measured of GPUs before, from where the package's JavaScript keeps it.
    #[serde(default)]
    tunings: Vec<String>,
}

/// A number, or `"auto"`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "threads must be a whole number from 1 to 64 or \"auto\"")]
enum ThreadsOption {
    Count(f64),
    Name(String),
}

/// Most threads that `"auto"` takes.
const AUTO_THREADS: usize = 8;

impl EngineOptions {
    /// What is asked for must be there together.
    pub fn check(&self) -> Js<()> {
        if matches!(self.backend.as_deref(), Some("gpu" | "webgpu")) && self.precision == Some(Precision::F64) {
            let message = "WebGPU computes in f32 alone: leave out precision, or take the backend cpu";
            return Err(fault(ErrorCode::InvalidOption, message));
        }
        Ok(())
    }

    /// How many threads are asked for.
    pub fn threads(&self) -> Js<usize> {
        match &self.threads {
            None => Ok(1),
            Some(ThreadsOption::Count(count))
                if count.fract() == 0.0 && (1.0..=MOST_WORKERS as f64).contains(count) =>
            {
                Ok(*count as usize)
            }
            Some(ThreadsOption::Name(name)) if name == "auto" => Ok(hardware_threads().clamp(1, AUTO_THREADS)),
            Some(other) => {
                let other = match other {
                    ThreadsOption::Count(count) => count.to_string(),
                    ThreadsOption::Name(name) => format!("\"{name}\""),
                };
                let message =
                    format!("threads is {other}, but must be a whole number from 1 to {MOST_WORKERS} or \"auto\"");
                Err(fault(ErrorCode::InvalidOption, message))
            }
        }
    }

    /// When a GPU's tiles are measured, and what is known of them: what cannot be read is measured again.
    pub fn tuning(&self) -> (Tune, Vec<Tuning>) {
        (self.tune, self.tunings.iter().filter_map(|text| Tuning::from_json(text).ok()).collect())
    }

    /// Bytes that may be kept between passes.
    pub fn memory_budget(&self) -> Js<Option<u64>> {
        match self.memory_budget {
            Some(bytes) if !(bytes >= 0.0 && bytes.is_finite()) => {
                Err(fault(ErrorCode::InvalidOption, format!("memoryBudget is {bytes}, but must be a number of bytes")))
            }
            bytes => Ok(bytes.map(|bytes| bytes as u64)),
        }
    }

    pub fn parts(&self) -> Js<(Backend, Precision)> {
        let backend = match self.backend.as_deref() {
            None | Some("auto") => Backend::Auto,
            // The former is what results say, the latter what it is in a browser.
            Some("gpu" | "webgpu") => Backend::Gpu,
            Some("cpu") => Backend::Cpu,
            Some(other) => {
                let message = format!("no backend is named \"{other}\"; there are auto, gpu (or webgpu) and cpu");
                return Err(fault(ErrorCode::InvalidOption, message));
            }
        };
        // Who wants double precision wants the CPU: a GPU computes in f32.
        let backend = match (backend, self.precision) {
            (Backend::Auto, Some(Precision::F64)) => Backend::Cpu,
            (backend, _) => backend,
        };
        Ok((backend, self.precision.unwrap_or(Precision::F64)))
    }
}

/// `engine.product`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProductOptions {
    operator: Option<String>,
}

impl ProductOptions {
    pub fn operator(&self) -> Js<OperatorKind> {
        operator(self.operator.as_deref())
    }
}

/// An operator by its name, H by default.
pub fn operator(name: Option<&str>) -> Js<OperatorKind> {
    OperatorKind::from_name(name.unwrap_or("hessian")).map_err(throw)
}

/// `engine.eigenvalues`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EigenOptions {
    operator: Option<String>,
    method: Option<String>,
    top: Option<usize>,
    bottom: Option<usize>,
    tolerance: Option<f64>,
    max_products: Option<usize>,
    seed: Option<u64>,
    vectors: Option<bool>,
    /// Over horizontal vectors alone?
    pub horizontal: Option<bool>,
    /// The space whose coordinates the curvature is taken in.
    pub space: Option<SpaceKind>,
}

/// The two iterations.
pub enum EigenMethod {
    Lanczos(Lanczos),
    Power(PowerIteration),
}

impl EigenOptions {
    pub fn operator(&self) -> Js<OperatorKind> {
        operator(self.operator.as_deref())
    }

    pub fn method(&self) -> Js<EigenMethod> {
        check_tolerance(self.tolerance)?;
        let (seed, max_products) = (self.seed.unwrap_or(0), self.max_products.unwrap_or(1000));
        let vectors = self.vectors.unwrap_or(false);
        match self.method.as_deref() {
            None | Some("lanczos") => Ok(EigenMethod::Lanczos(Lanczos {
                goal: Goal::Extremes { top: self.top.unwrap_or(1), bottom: self.bottom.unwrap_or(0) },
                tolerance: self.tolerance,
                max_products,
                seed,
                vectors,
                ..Lanczos::default()
            })),
            Some("power") => {
                if self.top.unwrap_or(1) != 1 || self.bottom.unwrap_or(0) != 0 {
                    let message = "power iteration finds one eigenvalue: leave out top and bottom, or use lanczos";
                    return Err(fault(ErrorCode::InvalidOption, message));
                }
                Ok(EigenMethod::Power(PowerIteration {
                    tolerance: self.tolerance,
                    max_products,
                    seed,
                    vector: vectors,
                }))
            }
            Some(other) => {
                let message = format!("no method is named \"{other}\"; there are lanczos and power");
                Err(fault(ErrorCode::InvalidOption, message))
            }
        }
    }
}

pub(super) fn check_tolerance(tolerance: Option<f64>) -> Js<()> {
    match tolerance {
        Some(value) if !(value.is_finite() && value > 0.0) => {
            Err(fault(ErrorCode::InvalidOption, format!("the tolerance is {value}, but must be positive")))
        }
        _ => Ok(()),
    }
}

/// How measures are computed, with the defaults of what is left out.
pub fn measure_options(
    epsilon: Option<f64>,
    probes: Option<usize>,
    tolerance: Option<f64>,
    max_products: Option<usize>,
    seed: Option<u64>,
) -> MeasureOptions {
    let mut options = MeasureOptions { tolerance, ..MeasureOptions::default() };
    options.epsilon = epsilon.unwrap_or(options.epsilon);
    options.probes = probes.unwrap_or(options.probes);
    options.max_products = max_products.unwrap_or(options.max_products);
    options.seed = seed.unwrap_or(options.seed);
    options
}

/// `engine.measure` and `engine.invariance`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MeasureOption {
    measures: Option<Vec<String>>,
    epsilon: Option<f64>,
    probes: Option<usize>,
    tolerance: Option<f64>,
    max_products: Option<usize>,
    seed: Option<u64>,
    transformations: Option<Vec<Transformation>>,
}

impl MeasureOption {
    /// What was asked for, or all that the network has.
    pub fn measures(&self, network: &Network) -> Js<Vec<&'static Measure>> {
        match &self.measures {
            None => Ok(Measure::defined_for(network).collect()),
            Some(keys) => keys.iter().map(|key| Measure::from_key(key).map_err(throw)).collect(),
        }
    }

    pub fn options(&self) -> MeasureOptions {
        measure_options(self.epsilon, self.probes, self.tolerance, self.max_products, self.seed)
    }

    pub fn transformations(&self) -> Js<&[Transformation]> {
        match &self.transformations {
            Some(list) => Ok(list),
            None => Err(fault(ErrorCode::InvalidOption, "invariance needs transformations")),
        }
    }
}

/// `engine.report`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReportOption {
    sections: Option<Vec<Section>>,
    epsilon: Option<f64>,
    probes: Option<usize>,
    tolerance: Option<f64>,
    max_products: Option<usize>,
    seed: Option<u64>,
}

impl ReportOption {
    pub fn options(&self) -> ReportOptions {
        let measure = measure_options(self.epsilon, self.probes, self.tolerance, self.max_products, self.seed);
        let density = StochasticLanczos { seed: measure.seed, ..StochasticLanczos::default() };
        ReportOptions { sections: self.sections.clone(), measure, density }
    }
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum DirectionOption {
    Random { seed: u64 },
    Eigenvector { operator: Option<String>, index: i32 },
    Towards {},
    Vector {},
    Principal { component: usize },
}

/// `engine.landscape`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LandscapeOption {
    normalization: Option<String>,
    range: Option<(f64, f64)>,
    range_t: Option<(f64, f64)>,
    points: Option<usize>,
    points_t: Option<usize>,
    first_row: Option<usize>,
}

impl LandscapeOption {
    /// Each direction with its axis.
    pub fn directions(&self, parts: &Parts) -> Js<Vec<(Direction, Span)>> {
        let points = self.points.unwrap_or(21);
        let s = Span { range: self.range, points };
        let t = Span { range: self.range_t.or(self.range), points: self.points_t.unwrap_or(points) };
        let Some(list) = parts.directions.dyn_ref::<js_sys::Array>() else {
            return Err(fault(ErrorCode::InvalidOption, "landscape needs directions, an array of one or two"));
        };
        let second = [("rangeT", self.range_t.is_some()), ("pointsT", self.points_t.is_some())];
        if let Some((key, _)) = second.into_iter().find(|&(_, is_given)| is_given && list.length() == 1) {
            let message = format!("landscape: {key} is of a second direction, but there is one alone");
            return Err(fault(ErrorCode::InvalidOption, message));
        }
        list.iter().zip([s, t].into_iter().cycle()).map(|(value, span)| Ok((direction(value)?, span))).collect()
    }

    /// The row of a grid to begin with.
    pub fn first_row(&self) -> usize {
        self.first_row.unwrap_or(0)
    }

    /// The way of a training that is to be drawn.
    pub fn trajectory(&self, parts: &Parts) -> Js<Option<Trajectory>> {
        let given = &parts.trajectory;
        if given.is_undefined() || given.is_null() { Ok(None) } else { trajectory(given, "landscape").map(Some) }
    }

    pub fn normalization(&self) -> Js<Normalization> {
        match self.normalization.as_deref() {
            None | Some("none") => Ok(Normalization::None),
            Some("layer") => Ok(Normalization::Layer),
            Some("filter") => Ok(Normalization::Filter),
            Some(other) => {
                let message = format!("no normalisation is named \"{other}\"; there are none, layer and filter");
                Err(fault(ErrorCode::InvalidOption, message))
            }
        }
    }
}

/// A training's snapshots, an array of parameter vectors.
pub fn trajectory(value: &JsValue, what: &str) -> Js<Trajectory> {
    let Some(list) = value.dyn_ref::<js_sys::Array>() else {
        let message =
            format!("{what}: trajectory must be an array of parameter vectors, a training's snapshots in order");
        return Err(fault(ErrorCode::InvalidOption, message));
    };
    let vector =
        |(i, value): (usize, JsValue)| numbers(&value, &format!("trajectory[{i}]"), ErrorCode::InvalidParameters);
    let snapshots = list.iter().enumerate().map(vector).collect::<Js<Vec<_>>>()?;
    Trajectory::new(snapshots).map_err(throw)
}

fn direction(value: JsValue) -> Js<Direction> {
    let vectors = Object::new();
    if let Some(object) = value.dyn_ref::<Object>() {
        Object::assign(&vectors, object);
    }
    let parameters = take(&vectors, "parameters");
    let values = take(&vectors, "values");
    let found: DirectionOption = super::convert::options(vectors.into(), "direction")?;
    // They are no plain data, so that nobody else has looked whether they belong to this type.
    for (key, value, belongs) in [
        ("parameters", &parameters, matches!(found, DirectionOption::Towards {})),
        ("values", &values, matches!(found, DirectionOption::Vector {})),
    ] {
        if !(belongs || value.is_undefined() || value.is_null()) {
            let message = format!("direction: there is no key \"{key}\" in one of this type");
            return Err(fault(ErrorCode::InvalidOption, message));
        }
    }
    Ok(match found {
        DirectionOption::Random { seed } => Direction::Random { seed },
        DirectionOption::Eigenvector { operator: name, index } => {
            Direction::Eigenvector { operator: operator(name.as_deref())?, index: index as isize }
        }
        DirectionOption::Towards {} => {
            Direction::Towards(numbers(&parameters, "direction.parameters", ErrorCode::InvalidParameters)?)
        }
        DirectionOption::Principal { component } => Direction::Principal { component },
        DirectionOption::Vector {} => {
            Direction::Vector(numbers(&values, "direction.values", ErrorCode::InvalidParameters)?)
        }
    })
}

/// Takes a property out of an object of our own.
pub fn take(object: &Object, key: &str) -> JsValue {
    let value = Reflect::get(object, &key.into()).unwrap_or(JsValue::UNDEFINED);
    let _ = Reflect::delete_property(object, &key.into());
    value
}
