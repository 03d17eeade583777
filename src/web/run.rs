//! Long work in an event loop: progress callbacks, abort signals, yielding.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::convert::to_js;
use crate::control::Control;
use crate::error::Result;
use crate::event_loop;

/// A control from functions of the package's JavaScript, each of which may be missing: `onProgress(progress)`, `stopped()` and
/// `finishing()`. None of them throws.
pub fn control(on_progress: &JsValue, stopped: &JsValue, finishing: &JsValue) -> Control<'static> {
    let mut control = Control::default();
    if let Some(callback) = on_progress.dyn_ref::<Function>().cloned() {
        control = control.on_progress(move |progress| {
            if let Ok(value) = to_js(progress) {
                let _ = callback.call1(&JsValue::UNDEFINED, &value);
            }
        });
    }
    if let Some(stopped) = asks(stopped) {
        control = control.stop_when(stopped);
    }
    if let Some(finishing) = asks(finishing) {
        control = control.finish_when(finishing);
    }
    control.breathe_with(|| Box::pin(event_loop::run_if_due()))
}

/// A wish that a function of the package's JavaScript tells of, if there is one.
fn asks(function: &JsValue) -> Option<impl Fn() -> bool + 'static> {
    let function = function.dyn_ref::<Function>().cloned()?;
    Some(move || function.call0(&JsValue::UNDEFINED).is_ok_and(|answer| answer.is_truthy()))
}

/// What a call does. Of one type, since a promise's machinery is compiled once for each.
pub type Work = Pin<Box<dyn Future<Output = std::result::Result<JsValue, JsValue>>>>;

/// Runs calls one after the other, in the order they were made.
pub struct Queue {
    tail: std::cell::RefCell<Promise>,
}

impl Queue {
    /// An empty one.
    pub fn new() -> Self {
        Self { tail: std::cell::RefCell::new(Promise::resolve(&JsValue::UNDEFINED)) }
    }

    /// A promise for `work`, which starts when all before it have ended, however they ended. Once `stopped()` says so it ends within a pass.
    pub fn push(&self, stopped: &JsValue, work: Work) -> Promise {
        let work: Work = match asks(stopped) {
            Some(stopped) => Box::pin(event_loop::Stoppable { work, stopped: Rc::new(stopped) }),
            None => work,
        };
        let before = self.tail.borrow().clone();
        let promise = wasm_bindgen_futures::future_to_promise(async move {
            let _ = JsFuture::from(before).await;
            work.await
        });
        // The tail forgets the outcome: results need not live until the next call, and only the caller's copy of a
        // rejection should count as unhandled.
        let over = JsFuture::from(promise.clone());
        *self.tail.borrow_mut() = wasm_bindgen_futures::future_to_promise(async move {
            let _ = over.await;
            Ok(JsValue::UNDEFINED)
        });
        promise
    }
}

/// The crate's result as JavaScript's.
pub fn thrown<T>(result: Result<T>) -> std::result::Result<T, JsValue> {
    result.map_err(super::error::throw)
}
