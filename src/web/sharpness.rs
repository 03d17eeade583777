//! Sharpness by ascent and on average, and noise on features, in JavaScript.

use js_sys::Promise;
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use super::convert::{float64, set, to_js};
use super::engine::{Call, Engine};
use super::error::fault;
use super::problem::Problem;
use super::run::thrown;
use crate::error::ErrorCode;
use crate::measure::petzka::FeatureMatrix;
use crate::measure::sharpness::{Noise, Region, SharpnessOptions, average_sharpness, epsilon_sharpness};
use crate::measure::{MeasureOptions, petzka};
use crate::network::numbering;

type Js<T> = Result<T, JsValue>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AscentOptions {
    region: Option<Region>,
    epsilon: Option<f64>,
    restarts: Option<usize>,
    max_iterations: Option<usize>,
    tolerance: Option<f64>,
    seed: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AverageOptions {
    noise: Option<String>,
    sigma: Option<f64>,
    pairs: Option<usize>,
    seed: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FeatureOptions {
    #[serde(deserialize_with = "numbering::deserialize")]
    layer: usize,
    delta: f64,
    draws: Option<usize>,
    seed: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RobustnessOptions {
    #[serde(deserialize_with = "numbering::deserialize")]
    layer: usize,
    delta: f64,
    matrix: Option<Vec<f64>>,
    seed: Option<u64>,
}

#[wasm_bindgen]
impl Engine {
    /// ε-sharpness by ascent.
    pub fn sharpness(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, sharpness)
    }

    /// The mean rise of the loss under noise.
    #[wasm_bindgen(js_name = averageSharpness)]
    pub fn average_sharpness(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, average)
    }

    /// Petzka's feature robustness at one matrix.
    #[wasm_bindgen(js_name = featureRobustness)]
    pub fn feature_robustness(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, feature_robustness)
    }

    /// Petzka's noise on a layer's features.
    #[wasm_bindgen(js_name = noiseInjection)]
    pub fn noise_injection(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, noise_injection)
    }
}

async fn sharpness(call: Call) -> Js<JsValue> {
    let found: AscentOptions = call.parts.parse("sharpness")?;
    let defaults = SharpnessOptions::default();
    let options = SharpnessOptions {
        restarts: found.restarts,
        max_iterations: found.max_iterations.unwrap_or(defaults.max_iterations),
        tolerance: found.tolerance,
        seed: found.seed.unwrap_or(defaults.seed),
        ..defaults
    };
    let (region, epsilon) = (found.region.unwrap_or(Region::Ball), found.epsilon.unwrap_or(1e-3));
    let control = call.control().await?;
    let engine = call.engine()?;
    let found = thrown(epsilon_sharpness(&engine, call.parameters()?, region, epsilon, &options, &control).await)?;
    let out = to_js(&found)?;
    set(&out, "delta", &float64(&found.delta));
    Ok(out)
}

async fn average(call: Call) -> Js<JsValue> {
    let found: AverageOptions = call.parts.parse("averageSharpness")?;
    let noise = match found.noise.as_deref() {
        None | Some("plain") => Noise::Plain,
        Some("scaled") => Noise::Scaled,
        Some(other) => {
            let message = format!("no noise is named \"{other}\"; there are plain and scaled");
            return Err(fault(ErrorCode::InvalidOption, message));
        }
    };
    let mut options = SharpnessOptions::default();
    match (noise, found.sigma) {
        (Noise::Plain, Some(sigma)) => options.sigma = sigma,
        (Noise::Scaled, Some(sigma)) => options.relative_sigma = sigma,
        _ => {}
    }
    options.pairs = found.pairs;
    options.seed = found.seed.unwrap_or(options.seed);
    let control = call.control().await?;
    let engine = call.engine()?;
    to_js(&thrown(average_sharpness(&engine, call.parameters()?, noise, &options, &control).await)?)
}

async fn feature_robustness(call: Call) -> Js<JsValue> {
    let found: RobustnessOptions = call.parts.parse("featureRobustness")?;
    let defaults = MeasureOptions::default();
    let options = MeasureOptions { seed: found.seed.unwrap_or(defaults.seed), ..defaults };
    let matrix = match found.matrix {
        Some(matrix) => FeatureMatrix::Given(matrix),
        None => FeatureMatrix::Orthogonal { seed: options.seed },
    };
    let control = call.control().await?;
    let (engine, theta, layer, delta) = (call.engine()?, call.parameters()?, found.layer, found.delta);
    let found = petzka::feature_robustness(&engine, theta, layer, delta, &matrix, &options, &control).await;
    to_js(&thrown(found)?)
}

async fn noise_injection(call: Call) -> Js<JsValue> {
    let found: FeatureOptions = call.parts.parse("noiseInjection")?;
    let defaults = MeasureOptions::default();
    let options = MeasureOptions { seed: found.seed.unwrap_or(defaults.seed), ..defaults };
    let control = call.control().await?;
    let engine = call.engine()?;
    let (layer, delta, draws) = (found.layer, found.delta, found.draws.unwrap_or(10));
    let found = petzka::noise_injection(&engine, call.parameters()?, layer, delta, draws, &options, &control).await;
    to_js(&thrown(found)?)
}
