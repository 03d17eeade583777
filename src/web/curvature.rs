//! Spectra, densities, traces and Petzka's measures: what `Engine` in JavaScript says of curvature.

use js_sys::{Array, Object, Promise};
use serde::Deserialize;
use serde_json::json;
use wasm_bindgen::prelude::*;

use super::convert::{float64, set, to_js};
use super::engine::{Call, Engine, pairs};
use super::error::fault;
use super::options::{EigenMethod, EigenOptions, measure_options, operator};
use super::problem::Problem;
use super::run::thrown;
use crate::control::Control;
use crate::error::ErrorCode;
use crate::linalg::StochasticLanczos;
use crate::measure::{
    Known, LeastTraceOptions, MeasureOptions, TraceMethod, diagonal_by, least_trace, petzka, trace_by,
};
use crate::operator::{Horizontal, SymmetricOperator};
use crate::space::{SpaceCurvature, SpaceKind};
use crate::symmetry::SymmetryGroup;

type Js<T> = Result<T, JsValue>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DensityOptions {
    operator: Option<String>,
    probes: Option<usize>,
    steps: Option<usize>,
    points: Option<usize>,
    width: Option<f64>,
    seed: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TraceOptions {
    operator: Option<String>,
    method: Option<TraceMethod>,
    probes: Option<usize>,
    seed: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DiagonalOptions {
    operator: Option<String>,
    probes: Option<usize>,
    seed: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LeastTraceOption {
    #[serde(default)]
    group: SymmetryGroup,
    biases: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PetzkaOptions {
    draws: Option<usize>,
    tolerance: Option<f64>,
    max_products: Option<usize>,
    seed: Option<u64>,
}

#[wasm_bindgen]
impl Engine {
    /// Ends of an operator's spectrum.
    pub fn eigenvalues(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, eigenvalues)
    }

    /// The density of an operator's spectrum.
    pub fn density(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, density)
    }

    /// The trace of an operator.
    pub fn trace(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, trace)
    }

    /// The diagonal of an operator.
    pub fn diagonal(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, diagonal_report)
    }

    /// The least trace that rescalings reach.
    #[wasm_bindgen(js_name = leastTrace)]
    pub fn least_trace(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, least_trace_report)
    }

    /// Petzka's Table 1, layer by layer and neuron by neuron.
    pub fn petzka(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, petzka_report)
    }
}

async fn eigenvalues(call: Call) -> Js<JsValue> {
    let found: EigenOptions = call.parts.parse("eigenvalues")?;
    let (kind, method) = (found.operator()?, found.method()?);
    let is_horizontal = found.horizontal.unwrap_or(false);
    let control = call.control().await?;
    match found.space {
        None | Some(SpaceKind::Weights) => {
            let engine = call.prepared().await?;
            let operator = thrown(kind.operator(&engine).await)?;
            if is_horizontal {
                return ends(&thrown(Horizontal::new(operator, kind, &engine))?, method, &control).await;
            }
            ends(&operator, method, &control).await
        }
        Some(_) if is_horizontal => {
            let message = "horizontal vectors are those of the weights: leave out the space";
            Err(fault(ErrorCode::InvalidOption, message))
        }
        Some(space) => {
            let engine = call.engine()?;
            let open = space.open_under(engine.problem().network(), call.parameters()?, &control).await;
            let open = thrown(open)?;
            thrown(engine.prepare(&open.parameters).await)?;
            let operator = thrown(SpaceCurvature::of_kind(&engine, &*open.space, kind))?;
            ends(&operator, method, &control).await
        }
    }
}

async fn ends(operator: &dyn SymmetricOperator, method: EigenMethod, control: &Control<'_>) -> Js<JsValue> {
    let (top, bottom, plain, norms) = match method {
        EigenMethod::Lanczos(lanczos) => {
            let found = thrown(lanczos.run(operator, control).await)?;
            let plain = json!({ "products": found.products, "converged": found.converged, "verified": found.verified });
            (found.top, found.bottom, plain, None)
        }
        EigenMethod::Power(power) => {
            let found = thrown(power.run(operator, control).await)?;
            let plain = json!({ "products": found.products, "converged": found.pair.converged });
            (vec![found.pair], Vec::new(), plain, Some(found.norms))
        }
    };
    let out = to_js(&plain)?;
    set(&out, "top", &pairs(&top)?);
    set(&out, "bottom", &pairs(&bottom)?);
    if let Some(norms) = norms {
        set(&out, "norms", &float64(&norms));
    }
    Ok(out)
}

async fn density(call: Call) -> Js<JsValue> {
    let found: DensityOptions = call.parts.parse("density")?;
    let kind = operator(found.operator.as_deref())?;
    let defaults = StochasticLanczos::default();
    let lanczos = StochasticLanczos {
        probes: found.probes.unwrap_or(defaults.probes),
        steps: found.steps.unwrap_or(defaults.steps),
        points: found.points.unwrap_or(defaults.points),
        width: found.width,
        seed: found.seed.unwrap_or(defaults.seed),
    };
    let control = call.control().await?;
    let engine = call.prepared().await?;
    let options = MeasureOptions::default();
    let mut density = thrown(Known::new(&engine, &options, &control).density(kind, &lanczos).await)?;
    // Entry by entry, as the rest goes over, a million points would hold the event loop for seconds.
    let lists = [
        ("grid", std::mem::take(&mut density.grid)),
        ("density", std::mem::take(&mut density.density)),
        ("densityError", std::mem::take(&mut density.density_error)),
        ("cumulative", std::mem::take(&mut density.cumulative)),
        ("cumulativeError", std::mem::take(&mut density.cumulative_error)),
    ];
    let out = to_js(&density)?;
    for (key, values) in lists {
        set(&out, key, &Array::from(&float64(&values)));
        thrown(control.breathe().await)?;
    }
    Ok(out)
}

async fn trace(call: Call) -> Js<JsValue> {
    let found: TraceOptions = call.parts.parse("trace")?;
    let kind = operator(found.operator.as_deref())?;
    let (method, probes, seed) =
        (found.method.unwrap_or_default(), found.probes.unwrap_or(100), found.seed.unwrap_or(0));
    let control = call.control().await?;
    let engine = call.prepared().await?;
    let (found, method) = thrown(trace_by(&engine, kind, method, probes, seed, &control).await)?;
    let out = to_js(&json!({ "value": found.value, "method": method }))?;
    // By Hutch++ with as many products as there are parameters it is exact too.
    if found.probes > 0 {
        set(&out, "standardError", &to_js(&found.standard_error)?);
        set(&out, "probes", &to_js(&found.probes)?);
    }
    Ok(out)
}

async fn diagonal_report(call: Call) -> Js<JsValue> {
    let found: DiagonalOptions = call.parts.parse("diagonal")?;
    let kind = operator(found.operator.as_deref())?;
    let (probes, seed) = (found.probes.unwrap_or(100), found.seed.unwrap_or(0));
    let control = call.control().await?;
    let engine = call.prepared().await?;
    let (found, method) = thrown(diagonal_by(&engine, kind, probes, seed, &control).await)?;
    let out = to_js(&json!({ "method": method }))?;
    set(&out, "values", &float64(&found.values));
    if found.probes > 0 {
        set(&out, "standardErrors", &float64(&found.standard_errors));
        set(&out, "probes", &to_js(&found.probes)?);
    }
    Ok(out)
}

async fn least_trace_report(call: Call) -> Js<JsValue> {
    let LeastTraceOption { group, biases } = call.parts.parse("leastTrace")?;
    let options = LeastTraceOptions { group, biases: biases.unwrap_or(true) };
    let control = call.control().await?;
    let engine = call.prepared().await?;
    to_js(&thrown(least_trace(&engine, &options, &control).await)?)
}

async fn petzka_report(call: Call) -> Js<JsValue> {
    let found: PetzkaOptions = call.parts.parse("petzka")?;
    let options = measure_options(None, None, found.tolerance, found.max_products, found.seed);
    let control = call.control().await?;
    let engine = call.prepared().await?;
    let mut known = Known::new(&engine, &options, &control);
    let (traces, errors) = match found.draws {
        None => (thrown(known.traces().await)?, None),
        Some(draws) => {
            let sampled = thrown(petzka::sampled_traces(&engine, draws, options.seed, &control).await)?;
            let errors = Object::new().into();
            set(&errors, "kappaTrace", &to_js(&sampled.kappa_trace_error)?);
            set(&errors, "rho", &arrays(sampled.rho_error.iter().map(Vec::as_slice)));
            set(&errors, "relativeFlatness", &to_js(&sampled.relative_flatness_error)?);
            (sampled.traces, Some(errors))
        }
    };
    let kappa = thrown(known.kappa().await)?;
    let out = to_js(&json!({ "kappaTrace": traces.kappa_trace, "relativeFlatness": traces.relative_flatness() }))?;
    set(&out, "kappa", &pairs(&kappa)?);
    set(&out, "rho", &arrays(traces.rho()));
    if let Some(errors) = errors {
        set(&out, "errors", &errors);
    }
    set(&out, "backend", &call.backend()?);
    Ok(out)
}

fn arrays<'a>(lists: impl Iterator<Item = &'a [f64]>) -> JsValue {
    lists.map(float64).collect::<Array>().into()
}
