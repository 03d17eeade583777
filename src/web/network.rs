//! `Network` in JavaScript.

use js_sys::{Array, Object};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use super::convert::{float64, numbers, options, parameters, plain, set, to_js};
use super::error::{fault, throw};
use crate::error::ErrorCode;
use crate::network::numbering::number_of;
use crate::network::{BiasInitialization, Initialization, Network as Inner, Preset, fold_batch_norm};
use crate::symmetry::{SymmetryGroup, TOLERANCE, Transformation, equivalence};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EquivalenceOptions {
    #[serde(default)]
    group: SymmetryGroup,
    tolerance: Option<f64>,
}

/// A network's handle.
#[wasm_bindgen(skip_typescript)]
pub struct Network {
    pub(super) inner: Inner,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct InitializeOptions {
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    bias: BiasInitialization,
    scheme: Option<String>,
    bound: Option<f64>,
    sigma: Option<f64>,
}

impl InitializeOptions {
    fn scheme(&self) -> Result<Initialization, JsValue> {
        let missing = |name| fault(ErrorCode::InvalidOption, format!("this initialisation needs a {name}"));
        for (key, is_given, scheme) in
            [("bound", self.bound.is_some(), "uniform"), ("sigma", self.sigma.is_some(), "normal")]
        {
            if is_given && self.scheme.as_deref() != Some(scheme) {
                let said = self.scheme.as_deref().unwrap_or("kaiming_uniform, the default,");
                let message = format!("initialize: {key} is for the scheme {scheme}, and {said} has none");
                return Err(fault(ErrorCode::InvalidOption, message));
            }
        }
        match self.scheme.as_deref() {
            None | Some("kaiming_uniform") => Ok(Initialization::KaimingUniform),
            Some("kaiming_normal") => Ok(Initialization::KaimingNormal),
            Some("xavier_normal") => Ok(Initialization::XavierNormal),
            Some("pytorch") => Ok(Initialization::Pytorch),
            Some("uniform") => Ok(Initialization::Uniform { bound: self.bound.ok_or_else(|| missing("bound"))? }),
            Some("normal") => Ok(Initialization::Normal { sigma: self.sigma.ok_or_else(|| missing("sigma"))? }),
            Some(other) => Err(fault(
                ErrorCode::InvalidOption,
                format!(
                    "no initialisation is named \"{other}\"; there are kaiming_uniform, kaiming_normal, xavier_normal, \
                     pytorch, uniform and normal"
                ),
            )),
        }
    }
}

#[wasm_bindgen]
impl Network {
    /// From a JSON text.
    #[wasm_bindgen(js_name = fromJSON)]
    pub fn from_json(json: &str) -> Result<Network, JsValue> {
        Ok(Self { inner: Inner::from_json(json).map_err(throw)? })
    }

    /// A network without its batch normalisations, and its parameters: `{ network, parameters }`.
    #[wasm_bindgen(js_name = foldBatchNorm)]
    pub fn fold_batch_norm(json: &str, parameters_value: JsValue) -> Result<JsValue, JsValue> {
        let folded = fold_batch_norm(json, &parameters(&parameters_value)?);
        let (inner, folded) = folded.map_err(throw)?;
        let out = Object::new().into();
        set(&out, "network", &Self { inner }.into());
        set(&out, "parameters", &float64(&folded));
        Ok(out)
    }

    /// A ReLU network of these widths.
    pub fn dense(widths: JsValue, bias: bool) -> Result<Network, JsValue> {
        let widths = numbers(&widths, "widths", ErrorCode::InvalidNetwork)?;
        const MOST: f64 = 1e9;
        if let Some(width) = widths.iter().find(|w| !(w.fract() == 0.0 && (0.0..=MOST).contains(*w))) {
            let message = format!("a width is {width}, but must be a whole number from 1 to {MOST}");
            return Err(fault(ErrorCode::InvalidNetwork, message));
        }
        let widths: Vec<usize> = widths.into_iter().map(|w| w as usize).collect();
        Ok(Self { inner: Inner::dense(&widths, bias).map_err(throw)? })
    }

    /// A network of the papers.
    pub fn preset(name: &str) -> Result<Network, JsValue> {
        Ok(Self { inner: Preset::from_name(name).map_err(throw)?.network() })
    }

    /// The network's JSON as an object.
    #[wasm_bindgen(js_name = toJSON)]
    pub fn to_json(&self) -> Result<JsValue, JsValue> {
        to_js(&self.inner)
    }

    /// Shape of one input.
    #[wasm_bindgen(getter, js_name = inputShape)]
    pub fn input_shape(&self) -> Array {
        self.inner.input().iter().map(|&n| JsValue::from(n as f64)).collect()
    }

    /// Values in one input.
    #[wasm_bindgen(getter, js_name = inputLength)]
    pub fn input_length(&self) -> usize {
        self.inner.input_len()
    }

    /// Values in one output.
    #[wasm_bindgen(getter, js_name = outputLength)]
    pub fn output_length(&self) -> usize {
        self.inner.output_len()
    }

    /// Length of the parameter vector.
    #[wasm_bindgen(getter, js_name = parameterCount)]
    pub fn parameter_count(&self) -> usize {
        self.inner.parameter_count()
    }

    /// Number of parametric layers.
    #[wasm_bindgen(getter)]
    pub fn depth(&self) -> usize {
        self.inner.layout().layers().len()
    }

    /// `784-300-100-10`, `1×28×28-conv5×5×10-pool2×2-…-10`.
    #[wasm_bindgen(getter)]
    pub fn summary(&self) -> String {
        self.inner.summary()
    }

    /// Are all activations positively homogeneous?
    #[wasm_bindgen(getter)]
    pub fn homogeneous(&self) -> bool {
        self.inner.is_positively_homogeneous()
    }

    /// Are all activations piecewise linear?
    #[wasm_bindgen(getter, js_name = piecewiseLinear)]
    pub fn piecewise_linear(&self) -> bool {
        self.inner.is_piecewise_linear()
    }

    /// Every W_l and b_l.
    pub fn blocks(&self) -> Result<Array, JsValue> {
        let layers = self.inner.layout().layers();
        let blocks = self.inner.layout().blocks().into_iter().map(|block| {
            to_js(&serde_json::json!({
                "layer": number_of(block.layer),
                "kind": if block.is_bias { "bias" } else { "weight" },
                "start": block.range.start,
                "end": block.range.end,
                "inputs": layers[block.layer].inputs,
                "outputs": layers[block.layer].outputs,
            }))
        });
        blocks.collect()
    }

    /// The tensors whose factors a layer-wise map is free to choose.
    #[wasm_bindgen(js_name = freeTensors)]
    pub fn free_tensors(&self) -> Result<JsValue, JsValue> {
        to_js(&crate::symmetry::free_tensors(&self.inner).map_err(throw)?)
    }

    /// Parameters drawn from a seed.
    pub fn initialize(&self, options_value: JsValue) -> Result<JsValue, JsValue> {
        let found: InitializeOptions = options(options_value, "initialize")?;
        let values = self.inner.initialize(found.scheme()?, found.bias, found.seed).map_err(throw)?;
        Ok(float64(&values))
    }

    /// T(θ).
    pub fn transform(&self, parameters_value: JsValue, transformation: JsValue) -> Result<JsValue, JsValue> {
        let moved = transformation_from(transformation)?.apply(&self.inner, &parameters(&parameters_value)?);
        Ok(float64(&moved.map_err(throw)?))
    }

    /// Are two vectors one, but for a symmetry?
    pub fn equivalence(&self, a: JsValue, b: JsValue, options_value: JsValue) -> Result<JsValue, JsValue> {
        let EquivalenceOptions { group, tolerance } = options(options_value, "equivalence")?;
        let tolerance = tolerance.unwrap_or(TOLERANCE);
        let found = equivalence(&self.inner, &parameters(&a)?, &parameters(&b)?, group, tolerance);
        to_js(&found.map_err(throw)?)
    }

    /// T⁻¹.
    pub fn invert(&self, transformation: JsValue) -> Result<JsValue, JsValue> {
        to_js(&transformation_from(transformation)?.inverse(&self.inner).map_err(throw)?)
    }
}

/// A transformation from its object.
pub fn transformation_from(value: JsValue) -> Result<Transformation, JsValue> {
    plain(value, "transformation", ErrorCode::InvalidTransformation)
}
