//! The door of `cli` for Node: words and files come in, a text and files go out. The program around it, `package/command.mjs`, has
//! the terminal.

use std::cell::RefCell;

use js_sys::{Array, Function, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;

use super::convert::{files_of, set};
use super::error::throw;
use super::threads::{cpu_with_threads, hardware_threads};
use crate::cli::{self, Command, Invocation, Meter, Written, exit};
use crate::control::{Control, now};
use crate::engine::{Backend, Device, Precision};
use crate::error::{Result, bail};
use crate::event_loop;
use crate::io::File;

/// `commandReads(words)`: `{ text }` where there is nothing to compute, else the files to read and those that will be written,
/// `{ reads, writes, quiet }`, and among these `own`, which nobody has named. What it throws is wrong usage.
#[wasm_bindgen(js_name = commandReads, skip_typescript)]
pub fn command_reads(words: Vec<String>) -> std::result::Result<JsValue, JsValue> {
    let invocation = cli::parse(&words).map_err(throw)?;
    ensure_of_package(&invocation).map_err(throw)?;
    let out: JsValue = Object::new().into();
    let list = |names: &[&str]| -> JsValue { names.iter().copied().map(JsValue::from_str).collect::<Array>().into() };
    match invocation.command {
        Command::Help => set(&out, "text", &cli::help(invocation.topic).into()),
        Command::Version => set(&out, "text", &format!("isoflat {}\n", env!("CARGO_PKG_VERSION")).into()),
        _ => {
            let writes = invocation.writes().map_err(throw)?;
            set(&out, "reads", &list(&invocation.reads()));
            set(&out, "writes", &list(&writes.iter().map(String::as_str).collect::<Vec<&str>>()));
            if let Some(own) = invocation.names_itself().map_err(throw)? {
                set(&out, "own", &own.into());
            }
            set(&out, "quiet", &invocation.output.quiet.into());
        }
    }
    Ok(out)
}

/// Fails for what this program would not look at.
fn ensure_of_package(invocation: &Invocation) -> Result<()> {
    match cli::native_option(invocation) {
        None => Ok(()),
        Some(option) => bail!(
            InvalidOption,
            "--{option} is of the native program: this one has no GPU, and keeps nothing between two runs"
        ),
    }
}

/// `commandWork(words, files, terminal)`: a promise of `{ weights, text, files, status }`, `weights` being written before the text, which says
/// that they are, and `files` whatever becomes of it. The terminal has `line(text)` for progress, `finishing()`, which says whether work is to end with
/// what it has, and `colour`.
#[wasm_bindgen(js_name = commandWork, skip_typescript)]
pub fn command_work(words: Vec<String>, files: &Array, terminal: JsValue) -> std::result::Result<Promise, JsValue> {
    let read = files_of(files)?;
    let invocation = cli::parse(&words).map_err(throw)?;
    Ok(wasm_bindgen_futures::future_to_promise(async move { work(&invocation, &read, &terminal).await.map_err(throw) }))
}

async fn work(invocation: &Invocation, files: &[File<'_>], terminal: &JsValue) -> Result<JsValue> {
    let opened = cli::open(invocation, files)?;
    let function = |key: &str| Reflect::get(terminal, &key.into()).ok().and_then(|f| f.dyn_into::<Function>().ok());
    let mut control = Control::default();
    if let Some(line) = function("line") {
        let meter = RefCell::new(Meter::default());
        control = control.on_progress(move |progress| {
            let text = meter.borrow_mut().line(progress, now());
            let _ = line.call1(&JsValue::UNDEFINED, &text.into());
        });
    }
    if let Some(finishing) = function("finishing") {
        let asks = move || finishing.call0(&JsValue::UNDEFINED).is_ok_and(|answer| answer.is_truthy());
        control = control.finish_when(asks);
    }
    let control = control.breathe_with(|| Box::pin(event_loop::run_if_due()));
    let device = device(invocation).await?;
    let mut outcome = cli::run(invocation, &opened, &device, &control).await?;
    let weights = cli::save(invocation, files, &opened, &mut outcome)?;
    let wants_colour = Reflect::get(terminal, &"colour".into()).is_ok_and(|colour| colour.is_truthy());
    let shown = cli::show(invocation, &outcome, wants_colour)?;
    let out: JsValue = Object::new().into();
    let entry = |file: Written| {
        let entry: JsValue = Object::new().into();
        set(&entry, "name", &file.name.into());
        set(&entry, "bytes", &Uint8Array::from(&file.bytes[..]));
        entry
    };
    set(&out, "weights", &weights.into_iter().map(entry).collect::<Array>());
    set(&out, "text", &shown.text.into());
    set(&out, "files", &shown.files.into_iter().map(entry).collect::<Array>());
    set(&out, "status", &(if outcome.stopped { exit::INTERRUPTED } else { exit::FINE }).into());
    Ok(out)
}

async fn device(invocation: &Invocation) -> Result<Device> {
    let precision = invocation.device.precision.unwrap_or(Precision::F64);
    if invocation.command == Command::Convert {
        return Ok(Device::cpu(precision));
    }
    match invocation.device.backend() {
        Backend::Gpu => Device::request(Backend::Gpu, precision).await,
        _ => {
            let threads = invocation.device.threads.unwrap_or_else(hardware_threads);
            Ok(cpu_with_threads(precision, threads).await)
        }
    }
}
