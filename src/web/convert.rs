//! Values between JavaScript and Rust.

use js_sys::{Float32Array, Float64Array, Reflect, Uint8Array, Uint32Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

use super::error::{fault, throw};
use crate::error::ErrorCode;
use crate::memory::reserve;
use crate::network::Network;
use crate::problem::{Loss, Problem, Targets, Values};

/// A plain object, array or number; absent fields stay absent.
pub fn to_js(value: &impl Serialize) -> Result<JsValue, JsValue> {
    let serializer = serde_wasm_bindgen::Serializer::json_compatible();
    value.serialize(&serializer).map_err(|error| fault(ErrorCode::InvalidOption, error.to_string()))
}

/// An options object; `undefined` and `null` mean all defaults.
pub fn options<T: DeserializeOwned>(value: JsValue, what: &str) -> Result<T, JsValue> {
    let value = if value.is_undefined() || value.is_null() { js_sys::Object::new().into() } else { value };
    plain(value, what, ErrorCode::InvalidOption)
}

/// A value made of plain ones, whose numbers are finite.
pub fn plain<T: DeserializeOwned>(value: JsValue, what: &str, code: ErrorCode) -> Result<T, JsValue> {
    crate::json::from_value(&json_of(value, what, code)?).map_err(|error| refused(&error, what, code))
}

/// By way of a JSON value: read straight into a struct, keys that it does not know would pass unseen. Beside [`plain`], of which there is
/// one a type.
#[inline(never)]
fn json_of(value: JsValue, what: &str, code: ErrorCode) -> Result<serde_json::Value, JsValue> {
    serde_wasm_bindgen::from_value(value).map_err(|error| refused(&error.to_string(), what, code))
}

#[cold]
#[inline(never)]
fn refused(error: &str, what: &str, code: ErrorCode) -> JsValue {
    fault(code, format!("{what}: {error}"))
}

/// `object[key] = value` on an object of our own making.
pub fn set(object: &JsValue, key: &str, value: &JsValue) {
    let _ = Reflect::set(object, &key.into(), value);
}

/// Numbers from a Float64Array or a Float32Array; the package's JavaScript makes the former of an array of numbers.
pub fn numbers(value: &JsValue, what: &str, code: ErrorCode) -> Result<Vec<f64>, JsValue> {
    if let Some(array) = value.dyn_ref::<Float64Array>() {
        let mut found = room(array.length())?;
        array.copy_to(&mut found);
        return Ok(found);
    }
    if let Some(array) = value.dyn_ref::<Float32Array>() {
        let mut found = room(array.length())?;
        for (to, from) in found.iter_mut().zip(float32(array)?) {
            *to = from.into();
        }
        return Ok(found);
    }
    Err(fault(code, format!("{what} must be a Float64Array, a Float32Array or an array of numbers")))
}

/// As many zeros; an error where there is no memory for them.
fn room<T: Copy + Default>(length: u32) -> Result<Vec<T>, JsValue> {
    let mut values = reserve(length as usize).map_err(throw)?;
    values.resize(length as usize, T::default());
    Ok(values)
}

/// The values of a Float32Array.
pub fn float32(array: &Float32Array) -> Result<Vec<f32>, JsValue> {
    let mut values = room(array.length())?;
    array.copy_to(&mut values);
    Ok(values)
}

/// The values of a Uint8Array.
pub fn bytes(array: &Uint8Array) -> Result<Vec<u8>, JsValue> {
    let mut values = room(array.length())?;
    array.copy_to(&mut values);
    Ok(values)
}

/// Files of `{ name, bytes }`.
#[cfg(any(feature = "files", feature = "command"))]
pub fn files_of(list: &js_sys::Array) -> Result<Vec<crate::io::File<'static>>, JsValue> {
    let get = |file: &JsValue, key: &str| Reflect::get(file, &key.into()).unwrap_or(JsValue::UNDEFINED);
    let file = |file: JsValue| {
        let content = bytes(&Uint8Array::from(get(&file, "bytes")))?;
        Ok(crate::io::File::new(get(&file, "name").as_string().unwrap_or_default(), content))
    };
    list.iter().map(file).collect()
}

/// A text from the bytes of its encoding.
pub fn text(array: &Uint8Array) -> Result<String, JsValue> {
    String::from_utf8(bytes(array)?).map_err(|_| fault(ErrorCode::Parse, "the text is not valid UTF-8"))
}

/// Class numbers from a Uint8Array, a Uint32Array or numbers that are whole.
pub fn classes(value: &JsValue) -> Result<Vec<u32>, JsValue> {
    if let Some(array) = value.dyn_ref::<Uint8Array>() {
        return Ok(bytes(array)?.into_iter().map(u32::from).collect());
    }
    if let Some(array) = value.dyn_ref::<Uint32Array>() {
        let mut values = room(array.length())?;
        array.copy_to(&mut values);
        return Ok(values);
    }
    let numbers = numbers(value, "targets", ErrorCode::InvalidProblem)?;
    let whole = |y: f64| y.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&y);
    match numbers.iter().position(|&y| !whole(y)) {
        None => Ok(numbers.into_iter().map(|y| y as u32).collect()),
        Some(i) => Err(fault(ErrorCode::InvalidProblem, format!("targets[{i}] is {}, not a class number", numbers[i]))),
    }
}

/// A problem of `{ loss, inputs, targets }`.
pub fn problem(network: Network, data: &JsValue) -> Result<Problem, JsValue> {
    let get = |key: &str| Reflect::get(data, &key.into()).unwrap_or(JsValue::UNDEFINED);
    let loss = Loss::from_name(&get("loss").as_string().unwrap_or_default()).map_err(throw)?;
    let inputs = get("inputs");
    let inputs = match inputs.dyn_ref::<Float32Array>() {
        Some(array) => Values::F32(float32(array)?),
        None => Values::F64(numbers(&inputs, "data.inputs", ErrorCode::InvalidProblem)?),
    };
    let targets = match loss {
        Loss::CrossEntropy => Targets::Classes(classes(&get("targets"))?),
        Loss::SquaredError => Targets::Vectors(numbers(&get("targets"), "data.targets", ErrorCode::InvalidProblem)?),
    };
    Problem::new(network, loss, inputs, targets).map_err(throw)
}

/// Copies of a problem's data, as `inputs` and `targets` of an object.
pub fn set_data(out: &JsValue, inputs: &Values, targets: Option<&Targets>) {
    let inputs = match inputs {
        Values::F32(values) => Float32Array::from(&values[..]).into(),
        Values::F64(values) => float64(values),
    };
    set(out, "inputs", &inputs);
    match targets {
        Some(Targets::Classes(classes)) => set(out, "targets", &Uint32Array::from(&classes[..]).into()),
        Some(Targets::Vectors(vectors)) => set(out, "targets", &float64(vectors)),
        None => {}
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
