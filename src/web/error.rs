//! `IsoflatError`: a real JavaScript `Error` with a stable `code`.

use js_sys::{Error as JsError, Object, Reflect};
use wasm_bindgen::prelude::*;

use crate::error::{Error, ErrorCode};

/// The exported class, for `instanceof`. Its prototype is put under `Error.prototype` when the first error is thrown;
/// the errors themselves are made by `Error`, so that they have a stack.
#[wasm_bindgen(skip_typescript)]
pub struct IsoflatError {}

thread_local! {
    static PROTOTYPE: Object = {
        let instance = JsValue::from(IsoflatError {});
        let prototype = Object::get_prototype_of(&instance);
        let error = Object::get_prototype_of(&JsError::new(""));
        Object::set_prototype_of(&prototype, &error);
        prototype
    };
}

/// The JavaScript error of an error.
pub fn throw(error: Error) -> JsValue {
    let thrown = JsError::new(&error.message);
    PROTOTYPE.with(|prototype| Object::set_prototype_of(&thrown, prototype));
    thrown.set_name("IsoflatError");
    // Setting a property of a fresh object cannot fail.
    let _ = Reflect::set(&thrown, &"code".into(), &error.code.as_str().into());
    thrown.into()
}

/// An error of this code.
pub fn fault(code: ErrorCode, message: impl Into<String>) -> JsValue {
    throw(Error::new(code, message))
}

/// Makes the prototype right before anything is thrown, so that `IsoflatError.prototype instanceof Error` holds always.
#[wasm_bindgen(start)]
fn link_prototype() {
    PROTOTYPE.with(|_| {});
}
