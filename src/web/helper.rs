//! What `helper.js` calls in a helper's instance of the module: plain numbers in and out, since the glue that wasm-bindgen
//! makes is not loaded there.

use std::cell::RefCell;

use wasm_bindgen::prelude::*;

use super::crash::keep_panics;
use crate::engine::Helper;
use crate::event_loop::obeying;
use crate::memory::reserve;

/// Room beyond this is given back after a message: data come once, commands again and again.
const KEPT: usize = 32 << 20;

#[wasm_bindgen]
extern "C" {
    /// Does the caller need no answer any more? `helper.js` has it, nobody else.
    #[wasm_bindgen(js_name = isoflatHelperStopped)]
    fn is_stopped() -> bool;
}

#[derive(Default)]
struct State {
    helper: Helper,
    request: Vec<u8>,
    reply: Vec<u8>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Where a message of this length is to be written; 0 where there is no room.
#[allow(unsafe_code)] // An exported name; nothing else is unsafe about it.
#[unsafe(no_mangle)]
pub extern "C" fn isoflat_helper_reserve(length: usize) -> usize {
    keep_panics(false);
    STATE.with_borrow_mut(|state| {
        if state.request.capacity() < length {
            state.request = Vec::new();
            match reserve(length) {
                Ok(room) => state.request = room,
                Err(_) => return 0,
            }
        }
        state.request.resize(length, 0);
        state.request.as_ptr() as usize
    })
}

/// Answers the message that was written; the reply's length.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn isoflat_helper_answer() -> usize {
    STATE.with_borrow_mut(|state| {
        let State { helper, request, reply } = state;
        *reply = obeying(is_stopped, || helper.answer(request));
        if request.capacity() > KEPT {
            *request = Vec::new();
        }
        reply.len()
    })
}

/// Where the reply is.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn isoflat_helper_reply() -> usize {
    STATE.with_borrow(|state| state.reply.as_ptr() as usize)
}
