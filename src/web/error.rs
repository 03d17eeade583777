//! Errors on their way to the package's JavaScript, which makes `IsoflatError` of them.

use js_sys::{Error as JsError, Reflect};
use wasm_bindgen::prelude::*;

use crate::error::{Error, ErrorCode};

/// A JavaScript error with the error's message and `code`.
pub fn throw(error: Error) -> JsValue {
    let thrown = JsError::new(&error.message);
    // Setting a property of a fresh object cannot fail.
    let _ = Reflect::set(&thrown, &"code".into(), &error.code.as_str().into());
    thrown.into()
}

/// An error of this code.
pub fn fault(code: ErrorCode, message: impl Into<String>) -> JsValue {
    throw(Error::new(code, message))
}
