//! The module for files, which the package loads when a file is opened or saved: models, data and parameters, as plain values.
//! It is the same crate, compiled with the feature `files`, and has nothing that computes.

#[path = "convert.rs"]
mod convert;
#[path = "crash.rs"]
mod crash;
#[path = "error.rs"]
mod error;

use js_sys::{Array, Uint8Array};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use self::convert::{files_of, float64, options, parameters, plain, set, to_js};
use self::error::throw;
use crate::error::ErrorCode;
use crate::io::{self, DataOptions, ModelOptions, SaveFormat};
use crate::network::Network;
use crate::problem::ProblemFile;

/// `openModel(files, options)`: `{ network, parameters, notes, format }`, and `problem` where there are data too.
#[wasm_bindgen(js_name = openModel, skip_typescript)]
pub fn open_model(files: &Array, given: JsValue) -> Result<JsValue, JsValue> {
    let given: ModelOptions = options(given, "openModel")?;
    let opened = io::open_model(&files_of(files)?, &given).map_err(throw)?;
    let network = serde_json::to_string(&opened.model.network).unwrap_or_default();
    let out = to_js(&serde_json::json!({
        "network": network, "notes": opened.model.notes, "format": opened.format
    }))?;
    set(&out, "parameters", &float64(&opened.model.parameters));
    set(&out, "statistics", &to_js(&opened.model.statistics())?);
    if let Some(problem) = &opened.problem {
        set(&out, "problem", &problem_of(problem)?);
    }
    Ok(out)
}

/// `proposeNetwork(files, options)`: a network's JSON, which need not be one yet.
#[wasm_bindgen(js_name = proposeNetwork, skip_typescript)]
pub fn propose_network(files: &Array, given: JsValue) -> Result<String, JsValue> {
    /// The one option there is.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Options {
        input: Option<Vec<usize>>,
    }
    let Options { input } = options(given, "proposeNetwork")?;
    let found = io::propose_network(&files_of(files)?, input.as_deref()).map_err(throw)?;
    Ok(found.to_string())
}

/// `openData(files, options)`: `{ shape, samples, inputs, targets, loss, classes, normalization, notes, overview }`.
#[wasm_bindgen(js_name = openData, skip_typescript)]
pub fn open_data(files: &Array, given: JsValue) -> Result<JsValue, JsValue> {
    let given: DataOptions = options(given, "openData")?;
    let found = io::open_dataset(&files_of(files)?, &given).map_err(throw)?;
    let loss = found.targets.as_ref().map(|targets| targets.usual_loss().name());
    let out = to_js(&serde_json::json!({
        "shape": found.shape,
        "samples": found.samples(),
        "classes": found.classes,
        "notes": found.notes,
        "overview": found.overview(),
    }))?;
    if let Some(loss) = loss {
        set(&out, "loss", &loss.into());
    }
    if let Some(normalization) = &found.normalization {
        set(&out, "normalization", &to_js(normalization)?);
    }
    convert::set_data(&out, &found.inputs, found.targets.as_ref());
    Ok(out)
}

/// `sortFiles(files)`: `{ model, data }`, indices.
#[wasm_bindgen(js_name = sortFiles, skip_typescript)]
pub fn sort_files(files: &Array) -> Result<JsValue, JsValue> {
    to_js(&io::sort_files(&files_of(files)?).map_err(throw)?)
}

/// `saveModel(files, options, parameters, format)`: the bytes of a file.
#[wasm_bindgen(js_name = saveModel, skip_typescript)]
pub fn save_model(files: &Array, given: JsValue, values: JsValue, format: JsValue) -> Result<Uint8Array, JsValue> {
    let given: ModelOptions = options(given, "openModel")?;
    let written = io::save_model(&files_of(files)?, &given, &parameters(&values)?, format_of(format)?);
    Ok(Uint8Array::from(&written.map_err(throw)?[..]))
}

/// `saveParameters(network, parameters, format)`: the bytes of a file.
#[wasm_bindgen(js_name = saveParameters, skip_typescript)]
pub fn save_parameters(network: &str, values: JsValue, format: JsValue) -> Result<Uint8Array, JsValue> {
    let network = Network::from_json(network).map_err(throw)?;
    let written = io::save_parameters(&network, &parameters(&values)?, format_of(format)?);
    Ok(Uint8Array::from(&written.map_err(throw)?[..]))
}

/// `saveProblem(network, data, parameters, name)`: the bytes of a problem file.
#[wasm_bindgen(js_name = saveProblem, skip_typescript)]
pub fn save_problem(
    network: &str,
    data: &JsValue,
    values: JsValue,
    name: Option<String>,
) -> Result<Uint8Array, JsValue> {
    let network = Network::from_json(network).map_err(throw)?;
    let problem = convert::problem(network, data)?;
    let parameters = parameters(&values)?;
    problem.check_parameters(&parameters).map_err(throw)?;
    let file = ProblemFile { name, problem, parameters, direction: None, transformations: Vec::new() };
    Ok(Uint8Array::from(&io::save_problem(&file).map_err(throw)?[..]))
}

fn format_of(value: JsValue) -> Result<SaveFormat, JsValue> {
    plain(value, "format", ErrorCode::InvalidOption)
}

/// What a problem file has beside its network and parameters.
fn problem_of(file: &ProblemFile) -> Result<JsValue, JsValue> {
    let out = to_js(&serde_json::json!({
        "loss": file.problem.loss().name(), "name": file.name, "transformations": file.transformations
    }))?;
    convert::set_data(&out, file.problem.inputs(), Some(file.problem.targets()));
    if let Some(direction) = &file.direction {
        set(&out, "direction", &float64(direction));
    }
    Ok(out)
}
