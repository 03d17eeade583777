//! `ParameterSpace` in JavaScript, and what `Network` says of spaces.

use js_sys::Promise;
use serde::Deserialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use super::convert::{float64, numbers, options, parameters, set, to_js};
use super::error::{fault, throw};
use super::network::Network;
use super::options::Parts;
use crate::error::ErrorCode;
use crate::space::{Balance, BalanceOptions, OpenSpace, SpaceKind, balance};

type Js<T> = Result<T, JsValue>;

/// A space's handle.
#[wasm_bindgen(skip_typescript)]
pub struct ParameterSpace {
    open: OpenSpace,
}

#[wasm_bindgen]
impl ParameterSpace {
    /// Its name.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        self.open.space.name().into()
    }

    /// Number of coordinates.
    #[wasm_bindgen(getter)]
    pub fn dimension(&self) -> usize {
        self.open.space.dimension()
    }

    /// The parameters to begin at.
    #[wasm_bindgen(getter)]
    pub fn parameters(&self) -> JsValue {
        float64(&self.open.parameters)
    }

    /// Is their function that of the parameters it was opened at?
    #[wasm_bindgen(getter, js_name = keepsFunction)]
    pub fn keeps_function(&self) -> bool {
        self.open.keeps_function
    }

    /// Where factors are numerically dangerous.
    #[wasm_bindgen(getter)]
    pub fn warning(&self) -> Js<JsValue> {
        self.open.warning.as_ref().map_or(Ok(JsValue::UNDEFINED), to_js)
    }

    /// v(θ).
    #[wasm_bindgen(js_name = toCoordinates)]
    pub fn to_coordinates(&self, parameters_value: JsValue) -> Js<JsValue> {
        Ok(float64(&self.open.space.to_coordinates(&parameters(&parameters_value)?).map_err(throw)?))
    }

    /// θ(v).
    #[wasm_bindgen(js_name = toParameters)]
    pub fn to_parameters(&self, coordinates: JsValue) -> Js<JsValue> {
        Ok(float64(&self.open.space.to_parameters(&vector(&coordinates, "coordinates")?).map_err(throw)?))
    }

    /// Jᵀ ∇_θ L.
    #[wasm_bindgen(js_name = pullBack)]
    pub fn pull_back(&self, coordinates: JsValue, gradient: JsValue) -> Js<JsValue> {
        let (coordinates, gradient) = (vector(&coordinates, "coordinates")?, vector(&gradient, "gradient")?);
        Ok(float64(&self.open.space.pull_back(&coordinates, &gradient).map_err(throw)?))
    }
}

fn vector(value: &JsValue, what: &str) -> Js<Vec<f64>> {
    numbers(value, what, ErrorCode::InvalidParameters)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BalanceOption {
    per: Option<String>,
}

#[wasm_bindgen]
impl Network {
    /// A parameter space at these parameters.
    pub fn space(&self, parameters_value: JsValue, spec: JsValue) -> Js<ParameterSpace> {
        let kind: SpaceKind = options(spec, "space")?;
        let open = kind.open(&self.inner, &parameters(&parameters_value)?).map_err(throw)?;
        Ok(ParameterSpace { open })
    }

    /// The rescaling of least norm.
    pub fn balance(&self, parameters_value: JsValue, options_value: JsValue) -> Promise {
        let (network, theta) = (self.inner.clone(), parameters(&parameters_value));
        let parts = Parts::new(&options_value);
        future_to_promise(async move {
            let found: BalanceOption = parts.parse("balance")?;
            let per = match found.per.as_deref() {
                None | Some("node") => Balance::Nodewise,
                Some("layer") => Balance::Layerwise,
                Some(other) => {
                    let message = format!("balance is per layer or per node, not per \"{other}\"");
                    return Err(fault(ErrorCode::InvalidOption, message));
                }
            };
            let control = parts.control();
            let found = balance(&network, &theta?, per, &BalanceOptions::default(), &control).await.map_err(throw)?;
            let out = to_js(&found)?;
            set(&out, "parameters", &float64(&found.parameters));
            set(&out, "transformation", &to_js(&found.transformation)?);
            Ok(out)
        })
    }
}
