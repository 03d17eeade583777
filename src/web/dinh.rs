//! Dinh's constructions in JavaScript.

use js_sys::Promise;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

use super::convert::{float64, set, to_js};
use super::engine::{Call, Engine};
use super::options::check_tolerance;
use super::problem::Problem;
use super::run::thrown;
use crate::dinh::{self, BoxOptions};
use crate::measure::sharpness::Region;
use crate::measure::{MeasureOptions, SharpnessOptions};
use crate::network::numbering;

type Js<T> = Result<T, JsValue>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SharpenOptions {
    target: f64,
    #[serde(default, deserialize_with = "numbering::optional::deserialize")]
    layer: Option<usize>,
    powers_of_two: Option<bool>,
    tolerance: Option<f64>,
    max_products: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct VolumeOptions {
    epsilon: Option<f64>,
    radius: Option<f64>,
    boxes: Option<usize>,
    samples: Option<usize>,
    seed: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EigenvaluesOptions {
    target: f64,
    powers_of_two: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BallOptions {
    region: Option<Region>,
    epsilon: Option<f64>,
    seed: Option<u64>,
}

#[wasm_bindgen]
impl Engine {
    /// Theorem 4.
    pub fn sharpen(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, sharpen)
    }

    /// Theorem 2.
    #[wasm_bindgen(js_name = volumeFlatness)]
    pub fn volume_flatness(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, volume_flatness)
    }

    /// Theorem 5.
    #[wasm_bindgen(js_name = manyLargeEigenvalues)]
    pub fn many_large_eigenvalues(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, many_large_eigenvalues)
    }

    /// Section 4.3.
    #[wasm_bindgen(js_name = constantInBall)]
    pub fn constant_in_ball(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, constant_in_ball)
    }
}

/// A construction's finding with the parameters that it leads to.
fn with_parameters(found: &impl Serialize, parameters: &[f64]) -> Js<JsValue> {
    let out = to_js(found)?;
    set(&out, "parameters", &float64(parameters));
    Ok(out)
}

async fn sharpen(call: Call) -> Js<JsValue> {
    let found: SharpenOptions = call.parts.parse("sharpen")?;
    let options = dinh::SharpenOptions {
        target: found.target,
        layer: found.layer,
        powers_of_two: found.powers_of_two.unwrap_or(false),
    };
    check_tolerance(found.tolerance)?;
    let defaults = MeasureOptions::default();
    let estimation = MeasureOptions {
        tolerance: found.tolerance,
        max_products: found.max_products.unwrap_or(defaults.max_products),
        ..defaults
    };
    let control = call.control().await?;
    let engine = call.engine()?;
    let found = thrown(dinh::sharpen(&engine, call.parameters()?, &options, &estimation, &control).await)?;
    with_parameters(&found, &found.parameters)
}

async fn volume_flatness(call: Call) -> Js<JsValue> {
    let found: VolumeOptions = call.parts.parse("volumeFlatness")?;
    let defaults = BoxOptions::default();
    let options = BoxOptions {
        epsilon: found.epsilon.unwrap_or(defaults.epsilon),
        radius: found.radius,
        boxes: found.boxes.unwrap_or(defaults.boxes),
        samples: found.samples.unwrap_or(defaults.samples),
        seed: found.seed.unwrap_or(defaults.seed),
    };
    let control = call.control().await?;
    let engine = call.engine()?;
    to_js(&thrown(dinh::volume_flatness(&engine, call.parameters()?, &options, &control).await)?)
}

async fn many_large_eigenvalues(call: Call) -> Js<JsValue> {
    let found: EigenvaluesOptions = call.parts.parse("manyLargeEigenvalues")?;
    let control = call.control().await?;
    let engine = call.engine()?;
    let powers_of_two = found.powers_of_two.unwrap_or(false);
    let found =
        dinh::many_large_eigenvalues(&engine, call.parameters()?, found.target, None, powers_of_two, &control).await;
    let found = thrown(found)?;
    with_parameters(&found, &found.parameters)
}

async fn constant_in_ball(call: Call) -> Js<JsValue> {
    let found: BallOptions = call.parts.parse("constantInBall")?;
    let defaults = SharpnessOptions::default();
    let options = SharpnessOptions { seed: found.seed.unwrap_or(defaults.seed), ..defaults };
    let (region, epsilon) = (found.region.unwrap_or(Region::Ball), found.epsilon.unwrap_or(1e-3));
    let control = call.control().await?;
    let engine = call.engine()?;
    let found = thrown(dinh::constant_in_ball(&engine, call.parameters()?, region, epsilon, &options, &control).await)?;
    with_parameters(&found, &found.parameters)
}
