//! `Problem` in JavaScript.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use js_sys::{Reflect, Uint8Array};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use super::convert::{self, float64, options, parameters, set, text, to_js};
use super::error::{fault, throw};
use super::network::Network;
use crate::error::ErrorCode;
use crate::problem::{Problem as Inner, ProblemFile, Values};

thread_local! {
    static NEXT_ID: Cell<u64> = const { Cell::new(0) };
    /// The problems that have a handle, so that one can be found by a handle inside an options object: wasm-bindgen
    /// would only hand that over by consuming it.
    static ALIVE: RefCell<HashMap<u64, Inner>> = RefCell::default();
}

/// A problem's handle.
#[wasm_bindgen(skip_typescript)]
pub struct Problem {
    pub(super) inner: Inner,
    /// Distinguishes problems, so that an engine knows which data it has loaded.
    pub(super) id: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SyntheticOptions {
    samples: usize,
    #[serde(default)]
    seed: u64,
}

impl Problem {
    fn handle(inner: Inner) -> Self {
        let id = NEXT_ID.with(|next| next.replace(next.get() + 1));
        ALIVE.with_borrow_mut(|alive| alive.insert(id, inner.clone()));
        Self { inner, id }
    }

    /// Has the problem of this id a handle still?
    pub(super) fn is_alive(id: u64) -> bool {
        ALIVE.with_borrow(|alive| alive.contains_key(&id))
    }

    /// The problem behind a handle that is a value, with its id; `what` names it in the error.
    pub(super) fn find(handle: &JsValue, what: &str) -> Result<(u64, Inner), JsValue> {
        let id = Reflect::get(handle, &"__id".into()).ok().and_then(|id| id.as_f64());
        let found =
            id.and_then(|id| ALIVE.with_borrow(|alive| alive.get(&(id as u64)).cloned()).map(|p| (id as u64, p)));
        found
            .ok_or_else(|| fault(ErrorCode::InvalidHandle, format!("{what} must be a Problem that has not been freed")))
    }
}

impl Drop for Problem {
    fn drop(&mut self) {
        ALIVE.with_borrow_mut(|alive| alive.remove(&self.id));
        super::engine::unload_freed();
    }
}

#[wasm_bindgen]
impl Problem {
    /// From a network and data.
    #[wasm_bindgen(constructor)]
    pub fn new(network: &Network, data: JsValue) -> Result<Problem, JsValue> {
        Ok(Self::handle(convert::problem(network.inner.clone(), &data)?))
    }

    /// Standard normal inputs with random labels.
    pub fn synthetic(network: &Network, options_value: JsValue) -> Result<Problem, JsValue> {
        let found: SyntheticOptions = options(options_value, "synthetic")?;
        let inner = crate::data::synthetic(network.inner.clone(), found.samples, found.seed).map_err(throw)?;
        Ok(Self::handle(inner))
    }

    /// Reads a problem file, from the bytes of its text.
    pub fn open(bytes: &Uint8Array) -> Result<JsValue, JsValue> {
        let json = text(bytes)?;
        let file = ProblemFile::from_json(&json).map_err(throw)?;
        let out = to_js(&serde_json::json!({ "transformations": file.transformations }))?;
        if let Some(name) = &file.name {
            set(&out, "name", &name.into());
        }
        if let Some(direction) = &file.direction {
            set(&out, "direction", &float64(direction));
        }
        set(&out, "parameters", &float64(&file.parameters));
        set(&out, "problem", &Self::handle(file.problem).into());
        Ok(out)
    }

    /// The problem file for these parameters.
    pub fn save(&self, parameters_value: JsValue, name: Option<String>) -> Result<String, JsValue> {
        let parameters = parameters(&parameters_value)?;
        self.inner.check_parameters(&parameters).map_err(throw)?;
        let problem = self.inner.clone();
        let file = ProblemFile { name, problem, parameters, direction: None, transformations: Vec::new() };
        file.try_to_json().map_err(throw)
    }

    /// See [`Problem::find`]; not part of the interface.
    #[wasm_bindgen(getter, js_name = __id)]
    pub fn id(&self) -> f64 {
        self.id as f64
    }

    /// Bytes of the inputs, which are nearly all that a problem takes; not part of the interface.
    #[wasm_bindgen(getter, js_name = __bytes)]
    pub fn bytes(&self) -> f64 {
        let values = self.inner.samples() as f64 * self.inner.network().input_len() as f64;
        values * if matches!(self.inner.inputs(), Values::F32(_)) { 4.0 } else { 8.0 }
    }

    /// `{ inputs, targets }`, copies.
    pub fn data(&self) -> JsValue {
        let out: JsValue = js_sys::Object::new().into();
        convert::set_data(&out, self.inner.inputs(), Some(self.inner.targets()));
        out
    }

    /// Number of samples.
    #[wasm_bindgen(getter)]
    pub fn samples(&self) -> usize {
        self.inner.samples()
    }

    /// The loss's name.
    #[wasm_bindgen(getter)]
    pub fn loss(&self) -> String {
        self.inner.loss().name().into()
    }

    /// A new handle to the network.
    #[wasm_bindgen(getter)]
    pub fn network(&self) -> Network {
        Network { inner: self.inner.network().clone() }
    }

    /// The problem over the first samples.
    pub fn first(&self, samples: usize) -> Problem {
        Self::handle(self.inner.first(samples))
    }
}
