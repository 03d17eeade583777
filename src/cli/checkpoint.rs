//! `--checkpoint`: of which run a checkpoint is, and training that keeps its state as it goes.

use std::cell::Cell;
use std::rc::Rc;

use serde_json::Value;

use super::invocation::Invocation;
use super::open::Opened;
use crate::control::{Control, now};
use crate::engine::{Device, Engine, Journal, Store};
use crate::error::{Result, ensure};
use crate::problem::{Problem, Targets, Values};
use crate::ranks::{Ranks, digest};
use crate::space::ParameterSpace;
use crate::train::{Checkpoint, TrainOptions, Training, resume, train_in};

/// Seconds between two checkpoints where nobody says.
const EVERY: f64 = 10.0;

/// What of an invocation may be another when work goes on: where things are, how fast they are computed, and how far a training goes, whose
/// steps do not depend on it.
const FREE: [&str; 5] = ["output", "files", "dataFiles", "device", "train.epochs"];

/// Opens the checkpoint of a run on this device, or begins it. The first of the ranks has its files.
///
/// # Errors
/// What [`Journal::open`] says.
pub fn journal(
    invocation: &Invocation,
    opened: &Opened,
    device: &Device,
    ranks: Option<&Rc<Ranks>>,
    store: Result<Option<Box<dyn Store>>>,
) -> Result<Rc<Journal>> {
    let mut about = vec![
        ("version of isoflat".to_string(), env!("CARGO_PKG_VERSION").to_string()),
        ("backend".to_string(), device.info().backend.to_string()),
        ("precision".to_string(), device.info().precision.name().to_string()),
    ];
    options("", &serde_json::to_value(invocation)?, &mut about);
    let network = serde_json::to_vec(&opened.network)?;
    let parts = [digest(&network), digest(bytemuck::cast_slice(&opened.parameters))];
    about.push(("model".into(), named(digest(bytemuck::cast_slice(&parts)))));
    if let Some(problem) = &opened.problem {
        about.push(("samples".into(), problem.samples().to_string()));
        about.push(("data".into(), named(digest_of_data(problem, ranks)?)));
    }
    let every = invocation.output.checkpoint_every.unwrap_or(EVERY);
    Journal::open(store, ranks.cloned(), &about, every)
}

/// All that was said, an option's name with those it is in before it.
fn options(name: &str, value: &Value, about: &mut Vec<(String, String)>) {
    match value {
        _ if FREE.contains(&name) => {}
        Value::Object(all) => {
            for (key, value) in all {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                options(&name, value, about);
            }
        }
        _ => about.push((name.into(), value.to_string())),
    }
}

fn named(digest: u64) -> String {
    format!("{digest:016x}")
}

/// A number that is another one where a sample is, whoever has it.
fn digest_of_data(problem: &Problem, ranks: Option<&Rc<Ranks>>) -> Result<u64> {
    let (held, width, outputs) = (problem.held(), problem.network().input_len(), problem.network().output_len());
    let mut sum = 0u64;
    for (i, number) in held.enumerate() {
        let input: &[u8] = match problem.inputs() {
            Values::F32(v) => bytemuck::cast_slice(&v[i * width..(i + 1) * width]),
            Values::F64(v) => bytemuck::cast_slice(&v[i * width..(i + 1) * width]),
        };
        let target: &[u8] = match problem.targets() {
            Targets::Classes(v) => bytemuck::cast_slice(&v[i..=i]),
            Targets::Vectors(v) => bytemuck::cast_slice(&v[i * outputs..(i + 1) * outputs]),
        };
        sum = sum.wrapping_add(digest(bytemuck::cast_slice(&[number as u64, digest(input), digest(target)])));
    }
    let all = match ranks {
        Some(ranks) => ranks.gather(&[sum], 1)?,
        None => vec![sum],
    };
    Ok(all.into_iter().fold(0, u64::wrapping_add))
}

/// Trains, and where there is a journal goes on from what it has, and keeps there where it comes to.
///
/// # Errors
/// What [`train_in`] and [`resume`] say; the journal's.
pub(super) async fn train(
    journal: Option<&Rc<Journal>>,
    engine: &Engine,
    space: &dyn ParameterSpace,
    parameters: &[f64],
    options: &TrainOptions,
    control: &Control<'_>,
) -> Result<Training> {
    let Some(journal) = journal else {
        return train_in(engine, space, parameters, None, options, control).await;
    };
    let mut kept: Option<Checkpoint> = journal.state()?;
    if let Some(kept) = &kept {
        let steps = options.epochs.saturating_mul(kept.samples.div_ceil(kept.batch_size.max(1)));
        ensure!(
            kept.steps <= steps,
            InvalidOption,
            "the checkpoint is {} steps on the way, and {} epochs are {steps}: --epochs goes up, or begin anew in another folder",
            kept.steps,
            options.epochs
        );
        if kept.steps < steps {
            // What was found at the end that the training had then.
            journal.forget_rest()?;
        }
    }
    // Looks at whether to finish, of which there is one a step; all ranks take as many, and so many that there is a step among them.
    const FEWEST: usize = 8;
    let mut looks = FEWEST;
    loop {
        let (start, left) = (now(), Rc::new(Cell::new(looks)));
        let (outer, count) = (control.clone(), left.clone());
        let some = control.clone().finish_when(move || {
            count.set(usize::saturating_sub(count.get(), 1));
            count.get() == 0 || outer.is_finishing()
        });
        let found = match &kept {
            None => train_in(engine, space, parameters, None, options, &some).await?,
            Some(kept) => resume(engine, space, kept, None, options, &some).await?,
        };
        journal.keep_state(&found.checkpoint)?;
        if !found.stopped || control.is_finishing() {
            return Ok(found);
        }
        looks = journal.as_many(looks, now() - start)?.max(FEWEST);
        kept = Some(found.checkpoint);
    }
}

/// Writes what passes have found last, whether the work is done or not.
///
/// # Errors
/// The work's, else the store's.
pub(super) fn written<T>(device: &Device, found: Result<T>) -> Result<T> {
    let written = device.journal().map_or(Ok(()), |journal| journal.flush());
    found.and_then(|found| written.map(|()| found))
}
