//! The fuzzer's native side: one request a line on standard input, as JSON, and one answer a line on standard output.
//! `{"file": TEXT, "precision": "f64", "backend": "cpu", "work": [{"do": "trace", "options": {…}}, …], "stopAfter": ms}` is
//! answered by a list: whether the file opened, then each piece of work, as `{"ok": …}`, `{"error": {code, message}}` or
//! `{"panic": …}`. `{"what": "network", "text": …}` and its like take the parsers alone. `tests/fuzz/native.mjs` drives it.

mod parsers;
mod work;

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use isoflat::engine::{Backend, Device, Engine, Precision};
use isoflat::{Control, Error, ProblemFile, Result};
use serde_json::{Value, json};

/// A device lives on from request to request, so that what one leaves behind is seen by the next.
#[derive(Default)]
struct Devices(HashMap<String, Device>);

impl Devices {
    fn get(&mut self, backend: &str, precision: &str) -> Result<Device> {
        let key = format!("{backend} {precision}");
        if let Some(device) = self.0.get(&key) {
            return Ok(device.clone());
        }
        let backend = if backend == "gpu" { Backend::Gpu } else { Backend::Cpu };
        let precision = if precision == "f32" { Precision::F32 } else { Precision::F64 };
        let device = pollster::block_on(Device::request(backend, precision))?;
        self.0.insert(key, device.clone());
        Ok(device)
    }
}

fn main() {
    // Where a panic came from goes to standard error, as ever; that there was one is part of the answer.
    let mut devices = Devices::default();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let request: Value = serde_json::from_str(&line).expect("a request is JSON");
        let answers = match request["what"].as_str() {
            Some(what) => parsers::read(what, &request).into(),
            None => compute(&mut devices, &request),
        };
        let mut out = std::io::stdout().lock();
        if serde_json::to_writer(&mut out, &answers)
            .and_then(|()| writeln!(out).map_err(serde_json::Error::io))
            .is_err()
        {
            return;
        }
        let _ = out.flush();
    }
}

/// What came of a call, as an answer.
fn answer(work: impl FnOnce() -> Result<Value>) -> Value {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(found)) => json!({ "ok": found }),
        Ok(Err(Error { code, message, .. })) => json!({ "error": { "code": code.as_str(), "message": message } }),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().cloned();
            let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            json!({ "panic": text.unwrap_or_else(|| "of an unknown kind".into()) })
        }
    }
}

fn compute(devices: &mut Devices, request: &Value) -> Value {
    let text = request["file"].as_str().unwrap_or_default();
    let (backend, precision) = (request["backend"].as_str(), request["precision"].as_str());
    let mut opened = None;
    let mut answers = vec![answer(|| {
        let file = ProblemFile::from_json(text)?;
        let device = devices.get(backend.unwrap_or("cpu"), precision.unwrap_or("f64"))?;
        let engine = Engine::new(&device, &file.problem)?;
        opened = Some((file, engine));
        Ok(json!(true))
    })];
    let Some((file, engine)) = opened else { return answers.into() };
    let after = Duration::from_millis(request["stopAfter"].as_u64().unwrap_or(2500));
    for piece in request["work"].as_array().into_iter().flatten() {
        let name = piece["do"].as_str().unwrap_or_default();
        let begin = Instant::now();
        let stopped = Cell::new(false);
        let control = Control::default().stop_when(|| {
            stopped.set(begin.elapsed() > after);
            stopped.get()
        });
        let mut found = answer(|| {
            // Everything is computed at the file's point, whatever the work before has prepared.
            let work = work::Work { engine: &engine, theta: &file.parameters, control: &control, piece };
            pollster::block_on(work.run(name))
        });
        if found["error"]["code"] == "aborted" {
            found["late"] = json!(begin.elapsed().saturating_sub(after).as_secs_f64() * 1e3);
        }
        answers.push(found);
    }
    answers.into()
}
