//! Threads of the CPU executor in a page: helpers in workers of their own, reached through shared memory.
//!
//! A page has shared memory only if it is cross-origin isolated, and only a worker may wait for others; where either is
//! missing there is one thread, and a sentence that says why. Messages of [`crate::engine::Team`] lie in a buffer that all
//! helpers read, replies in a buffer each; a word a helper says whose turn it is, and both sides sleep on it. `helper.js` catches
//! all that can go wrong there and says so in that word; of a worker that was ended from outside only silence tells.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use js_sys::{Array, Atomics, Int32Array, Object, Promise, Reflect, SharedArrayBuffer, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag, Url, Worker};

use super::convert::set;
use crate::control::now;
use crate::engine::{Device, Precision, Team};
use crate::error::{Error, ErrorCode, Result};
use crate::memory::reserve;

/// The helpers' program.
const PROGRAM: &str = include_str!("helper.js");

/// Bytes of a shared buffer: a vector of most networks in one piece, and no more than a cache holds.
const AREA: usize = 4 << 20;

/// What a message there and back costs, in multiplications of a forward pass whose work could be shared: sleeping and
/// waking, and a vector of parameters copied twice each way and added.
const MESSAGE_COST: f64 = 2e6;
const PARAMETER_COST: f64 = 64.0;

/// Seconds in which a helper takes a message, answers it, or looks whether it may stop.
const PATIENCE: f64 = 10.0;

/// Seconds of one sleep, of which no more than these are counted.
const SLEEP: f64 = 1.0;

/// The same where the event loop is to have its turn again soon.
const DOZE: f64 = 0.008;

// As in helper.js.
const STATE: u32 = 0;
const LENGTH: u32 = 1;
const TOTAL: u32 = 2;
const STOPPED: u32 = 3;
const LOOKS: u32 = 4;
const WAITING: i32 = 0;
const GIVEN: i32 = 1;
const ANSWERED: i32 = 3;
const MORE: i32 = 4;
const FAILED: i32 = 5;
const ENDED: i32 = 6;

/// The CPU in this precision, with so many threads if they can be had here. [`Device::info`] says how many there are, and
/// why no more.
pub async fn cpu_with_threads(precision: Precision, threads: usize) -> Device {
    if threads < 2 {
        return Device::cpu(precision);
    }
    match start(threads - 1).await {
        Ok(team) => Device::cpu_with_helpers(precision, Rc::new(team)),
        Err(reason) => Device::cpu(precision).with_threads_reason(reason),
    }
}

/// Processors of this computer, as far as it says.
pub fn hardware_threads() -> usize {
    let navigator = global("navigator");
    let count = Reflect::get(&navigator, &"hardwareConcurrency".into()).ok().and_then(|count| count.as_f64());
    // Where nobody says, what is missing besides is told by trying.
    count.map_or(2, |count| count as usize)
}

fn global(name: &str) -> JsValue {
    Reflect::get(&js_sys::global(), &name.into()).unwrap_or(JsValue::UNDEFINED)
}

/// A thread, its buffers and its word.
struct Thread {
    worker: Worker,
    control: Int32Array,
    reply: Uint8Array,
    /// Resolves when the module runs there.
    ready: Promise,
    /// Seconds of sleep since it last looked whether it may stop, and how often it had by then.
    silence: Cell<f64>,
    looks: Cell<i32>,
}

impl Thread {
    fn new(address: &str, request: &Uint8Array) -> std::result::Result<Self, JsValue> {
        let control = Int32Array::new(&SharedArrayBuffer::new(20));
        let reply = Uint8Array::new(&SharedArrayBuffer::new(AREA as u32));
        let worker = Worker::new(address)?;
        let ready = Promise::new(&mut |resolve, reject| {
            worker.set_onmessage(Some(&resolve));
            // Told to whoever asked for the thread, and so nothing that a page's own handler of uncaught errors should hear.
            let failed = Closure::<dyn FnMut(web_sys::Event)>::new(move |event: web_sys::Event| {
                event.prevent_default();
                let _ = reject.call1(&JsValue::UNDEFINED, &event);
            });
            worker.set_onerror(Some(failed.into_js_value().unchecked_ref()));
        });
        let thread = Self { worker, control, reply, ready, silence: Cell::default(), looks: Cell::default() };
        let parts = Object::new();
        set(&parts, "module", &wasm_bindgen::module());
        set(&parts, "control", &thread.control);
        set(&parts, "request", request);
        set(&parts, "reply", &thread.reply);
        thread.worker.post_message(&parts)?;
        Ok(thread)
    }

    fn state(&self) -> i32 {
        // Fails for other kinds of arrays only.
        Atomics::load(&self.control, STATE).unwrap_or(FAILED)
    }

    fn tell(&self, state: i32) {
        let _ = Atomics::store(&self.control, STATE, state);
        let _ = Atomics::notify(&self.control, STATE);
    }

    /// Sleeps until the state pleases; the helper's last words if it has failed, or that it is silent.
    fn wait_until(&self, pleases: impl Fn(i32) -> bool) -> std::result::Result<(), String> {
        while !self.sleep(SLEEP, &pleases)? {}
        Ok(())
    }

    /// Sleeps for so many seconds at most, if the state does not please: does it now?
    fn sleep(&self, seconds: f64, pleases: impl Fn(i32) -> bool) -> std::result::Result<bool, String> {
        match self.state() {
            FAILED => Err(self.last_words()),
            state if pleases(state) => {
                self.silence.set(0.0);
                Ok(true)
            }
            _ if self.is_silent() => Err(format!("it has not answered for {:.0} s", self.silence.get())),
            // A notification may be an old one that comes late, so the state is looked at again.
            state => {
                let start = now();
                let woken = Atomics::wait_with_timeout(&self.control, STATE, state, 1e3 * seconds);
                if woken.map_err(|error| text_of(&error))? == "timed-out" {
                    // A busy computer has it sleep for longer; of a computer's own sleep a second counts.
                    self.silence.set(self.silence.get() + (now() - start).min(SLEEP));
                }
                Ok(false)
            }
        }
    }

    fn is_silent(&self) -> bool {
        let looks = Atomics::load(&self.control, LOOKS).unwrap_or(0);
        if self.looks.replace(looks) != looks {
            self.silence.set(0.0);
        }
        self.silence.get() > PATIENCE
    }

    fn last_words(&self) -> String {
        let text = self.reply.subarray(0, self.control.get_index(LENGTH) as u32).to_vec();
        String::from_utf8_lossy(&text).into_owned()
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.tell(ENDED);
        self.worker.terminate();
    }
}

/// Helpers in workers.
struct Workers {
    request: Uint8Array,
    threads: Vec<Thread>,
    /// How the first that failed put it.
    lost: RefCell<Option<String>>,
}

/// Starts helpers, or says why that cannot be.
async fn start(helpers: usize) -> std::result::Result<Workers, String> {
    if global("crossOriginIsolated").is_undefined() {
        return Err("threads are started in browsers alone, which this is not".into());
    }
    if global("crossOriginIsolated") != JsValue::TRUE {
        return Err("threads need a cross-origin isolated page (Cross-Origin-Opener-Policy: same-origin and \
                    Cross-Origin-Embedder-Policy: require-corp)"
            .into());
    }
    let nothing = Int32Array::new(&SharedArrayBuffer::new(4));
    if Atomics::wait_with_timeout(&nothing, 0, 0, 0.0).is_err() {
        return Err(
            "threads need an engine in a worker (`worker: true`): a page's main thread may not wait for others".into(),
        );
    }
    if !global("Worker").is_function() {
        return Err("this browser has no workers inside workers".into());
    }
    let failed = |error: JsValue| format!("the workers did not start: {}", text_of(&error));
    let kind = BlobPropertyBag::new();
    kind.set_type("text/javascript");
    let program = Blob::new_with_str_sequence_and_options(&Array::of1(&PROGRAM.into()), &kind).map_err(failed)?;
    let address = Url::create_object_url_with_blob(&program).map_err(failed)?;
    let request = Uint8Array::new(&SharedArrayBuffer::new(AREA as u32));
    let threads: std::result::Result<Vec<_>, _> = (0..helpers).map(|_| Thread::new(&address, &request)).collect();
    let threads = threads.map_err(failed)?;
    let ready: Array = threads.iter().map(|thread| &thread.ready).collect();
    let outcome = JsFuture::from(Promise::all(&ready)).await;
    let _ = Url::revoke_object_url(&address);
    outcome.map_err(failed)?;
    for thread in &threads {
        thread.worker.set_onmessage(None);
        thread.worker.set_onerror(None);
    }
    Ok(Workers { request, threads, lost: RefCell::default() })
}

impl Workers {
    /// Runs a step that fails only where helper `number` has; then the whole team is lost.
    fn attempt<T>(&self, number: usize, step: impl FnOnce(&Thread) -> std::result::Result<T, String>) -> Result<T> {
        step(&self.threads[number]).map_err(|words| {
            // The engine itself is thread 1.
            let of = self.threads.len() + 1;
            let message = format!("thread {} of {of} has failed: {words}. Create a new engine", number + 2);
            *self.lost.borrow_mut() = Some(message.clone());
            Error::new(ErrorCode::DeviceLost, message)
        })
    }

    fn ensure_there(&self) -> Result<()> {
        match &*self.lost.borrow() {
            Some(message) => Err(Error::new(ErrorCode::DeviceLost, message.clone())),
            None => Ok(()),
        }
    }

    /// The shared buffer may be written anew when nobody reads it any more, not even those whom the message is not for.
    fn wait_until_taken(&self) -> Result<()> {
        (0..self.threads.len())
            .try_for_each(|number| self.attempt(number, |thread| thread.wait_until(|state| state != GIVEN)))
    }

    fn tell_whether_stopped(&self, who: Range<usize>, stopped: bool) {
        for thread in &self.threads[who] {
            let _ = Atomics::store(&thread.control, STOPPED, stopped.into());
        }
    }

    /// Hands over what is in the shared buffer.
    fn give(&self, to: Range<usize>, length: usize, total: usize) {
        for thread in &self.threads[to] {
            thread.control.set_index(LENGTH, length as i32);
            thread.control.set_index(TOTAL, total as i32);
            thread.tell(GIVEN);
        }
    }
}

impl Team for Workers {
    fn helpers(&self) -> usize {
        self.threads.len()
    }

    fn send(&self, to: Range<usize>, message: &[&[u8]]) -> Result<()> {
        self.ensure_there()?;
        self.tell_whether_stopped(to.clone(), false);
        let total = message.iter().map(|piece| piece.len()).sum();
        let mut filled = 0;
        for mut piece in message.iter().copied() {
            while !piece.is_empty() {
                if filled == 0 {
                    self.wait_until_taken()?;
                }
                let (part, rest) = piece.split_at(piece.len().min(AREA - filled));
                self.request.subarray(filled as u32, (filled + part.len()) as u32).copy_from(part);
                (piece, filled) = (rest, filled + part.len());
                if filled == AREA {
                    self.give(to.clone(), filled, total);
                    filled = 0;
                }
            }
        }
        if filled > 0 {
            self.give(to, filled, total);
        }
        Ok(())
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>> {
        self.ensure_there()?;
        self.attempt(from, |thread| {
            let mut answer: Vec<u8> = Vec::new();
            loop {
                thread.wait_until(|state| state == ANSWERED)?;
                let (length, total) = (thread.control.get_index(LENGTH) as u32, thread.control.get_index(TOTAL) as u32);
                let start = answer.len();
                if start == 0 {
                    answer = reserve(total as usize).map_err(|error| error.message)?;
                }
                answer.resize(start + length as usize, 0);
                thread.reply.subarray(0, length).copy_to(&mut answer[start..]);
                if answer.len() == total as usize {
                    thread.tell(WAITING);
                    return Ok(answer);
                }
                thread.tell(MORE);
            }
        })
    }

    fn is_answered(&self, from: usize) -> bool {
        // What is wrong is told by `receive`.
        self.lost.borrow().is_some() || self.threads[from].sleep(DOZE, |state| state == ANSWERED).unwrap_or(true)
    }

    fn stop(&self) {
        self.tell_whether_stopped(0..self.threads.len(), true);
    }

    fn is_worthwhile(&self, multiplications: f64, parameters: usize) -> bool {
        multiplications >= MESSAGE_COST + PARAMETER_COST * parameters as f64
    }
}

/// What an exception, or a worker's error event, says.
fn text_of(error: &JsValue) -> String {
    let message = Reflect::get(error, &"message".into()).ok().and_then(|message| message.as_string());
    match message {
        Some(message) if !message.is_empty() => message,
        _ => "the browser does not say why (a Content-Security-Policy must allow worker-src blob:)".into(),
    }
}
