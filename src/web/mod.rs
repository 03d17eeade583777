//! The JavaScript face: conversions, promises and handles. No mathematics in it.
//!
//! Its types are `isoflat.d.ts` beside this file, which becomes the package's, so every export here skips the generated
//! ones. A call never consumes a handle.

mod convert;
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

use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &'static str = include_str!("isoflat.d.ts");

/// Runs when the module is loaded: a panic, which would be a fault of isoflat, then says where it happened.
#[wasm_bindgen(start)]
fn start() {
    console_error_panic_hook::set_once();
}

/// `describeMeasures()`: all measures with their meaning.
#[wasm_bindgen(js_name = describeMeasures, skip_typescript)]
pub fn describe_measures() -> Result<JsValue, JsValue> {
    let measures: Vec<_> = crate::measure::Measure::all().collect();
    convert::to_js(&measures)
}

/// `parseIdx(bytes)`: an IDX file of unsigned bytes.
#[wasm_bindgen(js_name = parseIdx, skip_typescript)]
pub fn parse_idx(bytes: &[u8]) -> Result<JsValue, JsValue> {
    let file = crate::data::IdxFile::parse(bytes).map_err(error::throw)?;
    let out = convert::to_js(&serde_json::json!({ "shape": file.shape }))?;
    convert::set(&out, "values", &js_sys::Uint8Array::from(&file.values[..]));
    Ok(out)
}
