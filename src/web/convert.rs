//! Values between JavaScript and Rust.

use js_sys::{Array, Float32Array, Float64Array, Reflect, Uint8Array, Uint32Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

use super::error::fault;
use crate::error::ErrorCode;

/// A plain object, array or number; absent fields stay absent.
pub fn to_js(value: &impl Serialize) -> Result<JsValue, JsValue> {
    let serializer = serde_wasm_bindgen::Serializer::json_compatible();
    value.serialize(&serializer).map_err(|error| fault(ErrorCode::InvalidOption, error.to_string()))
}

/// An options object; `undefined` and `null` mean all defaults.
pub fn options<T: DeserializeOwned>(value: JsValue, what: &str) -> Result<T, JsValue> {
    let value = if value.is_undefined() || value.is_null() { js_sys::Object::new().into() } else { value };
    if let Some(key) = not_finite(&value) {
        return Err(fault(ErrorCode::InvalidOption, format!("{what}: {key} is not a finite number")));
    }
    // By way of a JSON value: read straight into a struct, keys that it does not know would pass unseen.
    let fault = |error: String| fault(ErrorCode::InvalidOption, format!("{what}: {error}"));
    let plain: serde_json::Value = serde_wasm_bindgen::from_value(value).map_err(|error| fault(error.to_string()))?;
    serde_json::from_value(plain).map_err(|error| fault(error.to_string()))
}

/// The key of a NaN or an infinity, which JSON would turn into a null, and so into a default.
fn not_finite(value: &JsValue) -> Option<String> {
    let object = value.dyn_ref::<js_sys::Object>()?;
    js_sys::Object::entries(object).iter().find_map(|entry| {
        let entry: Array = entry.unchecked_into();
        let (key, value) = (entry.get(0).as_string().unwrap_or_default(), entry.get(1));
        match value.as_f64() {
            Some(number) if !number.is_finite() => Some(key),
            Some(_) => None,
            None => not_finite(&value).map(|inner| format!("{key}.{inner}")),
        }
    })
}

/// `object[key] = value` on an object of our own making.
pub fn set(object: &JsValue, key: &str, value: &JsValue) {
    let _ = Reflect::set(object, &key.into(), value);
}

/// Numbers from a Float64Array, a Float32Array or a plain array.
pub fn numbers(value: &JsValue, what: &str, code: ErrorCode) -> Result<Vec<f64>, JsValue> {
    if let Some(array) = value.dyn_ref::<Float64Array>() {
        return Ok(array.to_vec());
    }
    if let Some(array) = value.dyn_ref::<Float32Array>() {
        return Ok(array.to_vec().into_iter().map(f64::from).collect());
    }
    let Some(array) = value.dyn_ref::<Array>() else {
        return Err(fault(code, format!("{what} must be a Float64Array, a Float32Array or an array of numbers")));
    };
    let mut found = Vec::with_capacity(array.length() as usize);
    for (i, item) in array.iter().enumerate() {
        match item.as_f64() {
            Some(number) => found.push(number),
            None => return Err(fault(code, format!("{what}[{i}] is not a number"))),
        }
    }
    Ok(found)
}

/// Class numbers from a Uint8Array, a Uint32Array or numbers that are whole.
pub fn classes(value: &JsValue) -> Result<Vec<u32>, JsValue> {
    if let Some(array) = value.dyn_ref::<Uint8Array>() {
        return Ok(array.to_vec().into_iter().map(u32::from).collect());
    }
    if let Some(array) = value.dyn_ref::<Uint32Array>() {
        return Ok(array.to_vec());
    }
    let numbers = numbers(value, "targets", ErrorCode::InvalidProblem)?;
    let whole = |y: f64| y.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&y);
    match numbers.iter().position(|&y| !whole(y)) {
        None => Ok(numbers.into_iter().map(|y| y as u32).collect()),
        Some(i) => Err(fault(ErrorCode::InvalidProblem, format!("targets[{i}] is {}, not a class number", numbers[i]))),
    }
}

/// A Float64Array of these values.
pub fn float64(values: &[f64]) -> JsValue {
    Float64Array::from(values).into()
}

/// A Float64Array, or what else `numbers` takes, as a parameter vector.
pub fn parameters(value: &JsValue) -> Result<Vec<f64>, JsValue> {
    numbers(value, "parameters", ErrorCode::InvalidParameters)
}
