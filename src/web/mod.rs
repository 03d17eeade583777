//! The JavaScript face: conversions, promises and handles. No mathematics in it.
//!
//! What a caller sees is JavaScript, in `package/` beside this file, with `isoflat.d.ts` as its types: it reads and checks all
//! arguments before it comes here, owns the handles and notices a crash. So what is exported here meets plain values, real
//! typed arrays and living handles alone, and is no interface to others. A call never consumes a handle.

#[cfg(feature = "command")]
mod command;
mod convert;
mod crash;
mod curvature;
mod dinh;
mod engine;
mod error;
mod helper;
mod network;
mod options;
mod problem;
mod run;
mod sharpness;
mod space;
pub mod threads;
mod training;
mod trajectory;

use wasm_bindgen::prelude::*;

/// `describeMeasures()`: all measures with their meaning.
#[wasm_bindgen(js_name = describeMeasures, skip_typescript)]
pub fn describe_measures() -> Result<JsValue, JsValue> {
    let measures: Vec<_> = crate::measure::Measure::all().collect();
    convert::to_js(&measures)
}

/// `describeOperators()`: all operators over all parameters.
#[wasm_bindgen(js_name = describeOperators, skip_typescript)]
pub fn describe_operators() -> Result<JsValue, JsValue> {
    convert::to_js(&crate::operator::Whole::all())
}

/// `parseIdx(bytes)`: an IDX file of unsigned bytes.
#[wasm_bindgen(js_name = parseIdx, skip_typescript)]
pub fn parse_idx(bytes: &js_sys::Uint8Array) -> Result<JsValue, JsValue> {
    let file = crate::data::IdxFile::parse(&convert::bytes(bytes)?).map_err(error::throw)?;
    let out = convert::to_js(&serde_json::json!({ "shape": file.shape }))?;
    convert::set(&out, "values", &js_sys::Uint8Array::from(&file.values[..]));
    Ok(out)
}
