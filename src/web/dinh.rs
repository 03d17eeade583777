//! Dinh's constructions in JavaScript.

use js_sys::Promise;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

use super::convert::{float64, options, set, to_js};
use super::engine::{Call, Engine};
use super::options::check_tolerance;
use super::problem::Problem;
use super::run::thrown;
use crate::dinh::{self, BoxOptions, InputMap, PowerMap, RadialMap, Reparametrization, WeightNormalization};
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
    coordinates: Option<Coordinates>,
}

/// Where boxes are built.
#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Coordinates {
    Parameters,
    WeightNormalization,
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NormalizedOptions {
    alphas: Vec<f64>,
    epsilon: Option<f64>,
    restarts: Option<usize>,
    max_iterations: Option<usize>,
    seed: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CoordinatesOptions {
    map: MapOption,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum MapOption {
    Radial { center: Option<Vec<f64>>, delta: f64, inner: f64, rho: f64 },
    WeightNormalization { alpha: Option<f64> },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RepresentationOptions {
    map: Representation,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Representation {
    Standardize,
    Whiten,
    Gaussianize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PowerOptions {
    #[serde(default)]
    center: f64,
    a: f64,
    b: f64,
    points: Vec<[f64; 4]>,
}

/// Figure 5: points [θ, L, L′, L″] in both coordinates.
#[wasm_bindgen(js_name = powerMap, skip_typescript)]
pub fn power_map(given: JsValue) -> Js<JsValue> {
    let PowerOptions { center, a, b, points } = options(given, "powerMap")?;
    let map = thrown(PowerMap::new(center, a, b))?;
    let points: Vec<_> =
        points.iter().map(|&[theta, loss, slope, bend]| map.point(theta, [loss, slope, bend])).collect();
    to_js(&points)
}

#[wasm_bindgen]
impl Engine {
    /// Section 5.1: sharpness in (v, s) after v → αv.
    #[wasm_bindgen(js_name = normalizedSharpness)]
    pub fn normalized_sharpness(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, normalized_sharpness)
    }

    /// Section 5.1: the Hessian in other coordinates.
    #[wasm_bindgen(js_name = reparametrizedHessian)]
    pub fn reparametrized_hessian(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, reparametrized_hessian)
    }

    /// Section 5.2.
    #[wasm_bindgen(js_name = inputRepresentation)]
    pub fn input_representation(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, input_representation)
    }

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
    let theta = call.parameters()?;
    let found = match found.coordinates {
        Some(Coordinates::WeightNormalization) => dinh::normalized_volume(&engine, theta, &options, &control).await,
        _ => dinh::volume_flatness(&engine, theta, &options, &control).await,
    };
    to_js(&thrown(found)?)
}

async fn normalized_sharpness(call: Call) -> Js<JsValue> {
    let found: NormalizedOptions = call.parts.parse("normalizedSharpness")?;
    let defaults = SharpnessOptions::default();
    let options = SharpnessOptions {
        restarts: found.restarts,
        max_iterations: found.max_iterations.unwrap_or(defaults.max_iterations),
        seed: found.seed.unwrap_or(defaults.seed),
        ..defaults
    };
    let epsilon = found.epsilon.unwrap_or(1e-3);
    let control = call.control().await?;
    let engine = call.engine()?;
    let theta = call.parameters()?;
    to_js(&thrown(dinh::normalized_sharpness(&engine, theta, &found.alphas, epsilon, &options, &control).await)?)
}

async fn reparametrized_hessian(call: Call) -> Js<JsValue> {
    let found: CoordinatesOptions = call.parts.parse("reparametrizedHessian")?;
    let control = call.control().await?;
    let engine = call.engine()?;
    let theta = call.parameters()?;
    thrown(call.problem.check_parameters(theta))?;
    let (map, eta): (Box<dyn Reparametrization>, Vec<f64>) = match found.map {
        MapOption::Radial { center, delta, inner, rho } => {
            let center = center.unwrap_or_else(|| theta.to_vec());
            thrown(call.problem.check_parameters(&center))?;
            let map = thrown(RadialMap::new(center, delta, inner, rho))?;
            let eta = thrown(map.eta(theta))?;
            (Box::new(map), eta)
        }
        MapOption::WeightNormalization { alpha } => {
            let map = WeightNormalization::new(call.problem.network());
            let eta = thrown(map.eta(theta))?;
            let eta = thrown(map.scaled(&eta, alpha.unwrap_or(1.0)))?;
            (Box::new(map), eta)
        }
    };
    let found = thrown(dinh::reparametrized_hessian(&engine, &*map, &eta, &control).await)?;
    let out = to_js(&found)?;
    set(&out, "coordinates", &float64(&eta));
    Ok(out)
}

async fn input_representation(call: Call) -> Js<JsValue> {
    let found: RepresentationOptions = call.parts.parse("inputRepresentation")?;
    let control = call.control().await?;
    let map = thrown(match found.map {
        Representation::Standardize => InputMap::standardize(&call.problem),
        Representation::Whiten => InputMap::whiten(&call.problem, &control).await,
        Representation::Gaussianize => InputMap::gaussianize(&call.problem),
    })?;
    let theta = call.parameters()?;
    let found = thrown(dinh::input_representation(call.device(), &call.problem, theta, &map, &control).await)?;
    let out = with_parameters(&found, &found.parameters)?;
    set(&out, "inputs", &float64(&found.inputs));
    Ok(out)
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
