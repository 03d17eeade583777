//! `engine.train` and `engine.trainSideBySide` in JavaScript.

use js_sys::{Array, Object, Promise};
use serde::Deserialize;
use serde_json::json;
use wasm_bindgen::prelude::*;

use super::convert::{float64, numbers, options, parameters, set, to_js};
use super::engine::{Call, Engine};
use super::error::fault;
use super::options::{NoOptions, take};
use super::problem::Problem;
use super::run::thrown;
use crate::control::Control;
use crate::error::ErrorCode;
use crate::space::{OpenSpace, SpaceKind};
use crate::train::{Checkpoint, Optimizer, Run, Schedule, Snapshot, Snapshots, Target, TrainOptions, Training};

type Js<T> = Result<T, JsValue>;

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum OptimizerOption {
    #[serde(rename_all = "camelCase")]
    Sgd { learning_rate: f64, momentum: Option<f64> },
    #[serde(rename_all = "camelCase")]
    Adam { learning_rate: f64, beta1: Option<f64>, beta2: Option<f64>, epsilon: Option<f64> },
    #[serde(rename_all = "camelCase")]
    AdamW { learning_rate: f64, beta1: Option<f64>, beta2: Option<f64>, epsilon: Option<f64> },
}

impl OptimizerOption {
    fn optimizer(&self) -> Optimizer {
        let constants = |beta1: Option<f64>, beta2: Option<f64>, epsilon: Option<f64>| {
            (beta1.unwrap_or(0.9), beta2.unwrap_or(0.999), epsilon.unwrap_or(1e-8))
        };
        match *self {
            Self::Sgd { learning_rate, momentum } => {
                Optimizer::Sgd { learning_rate, momentum: momentum.unwrap_or(0.0) }
            }
            Self::Adam { learning_rate, beta1, beta2, epsilon } => {
                let (beta1, beta2, epsilon) = constants(beta1, beta2, epsilon);
                Optimizer::Adam { learning_rate, beta1, beta2, epsilon }
            }
            Self::AdamW { learning_rate, beta1, beta2, epsilon } => {
                let (beta1, beta2, epsilon) = constants(beta1, beta2, epsilon);
                Optimizer::AdamW { learning_rate, beta1, beta2, epsilon }
            }
        }
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SnapshotsOption {
    Every(usize),
    Count(usize),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TrainOption {
    optimizer: Option<OptimizerOption>,
    weight_decay: Option<f64>,
    schedule: Option<Schedule>,
    batch_size: Option<usize>,
    epochs: Option<usize>,
    target: Option<Target>,
    seed: Option<u64>,
    space: Option<SpaceKind>,
    snapshots: Option<SnapshotsOption>,
}

impl TrainOption {
    fn options(&self) -> TrainOptions {
        let defaults = TrainOptions::default();
        TrainOptions {
            optimizer: self.optimizer.as_ref().map_or(defaults.optimizer, OptimizerOption::optimizer),
            weight_decay: self.weight_decay.unwrap_or(defaults.weight_decay),
            schedule: self.schedule.unwrap_or(defaults.schedule),
            batch_size: self.batch_size.unwrap_or(defaults.batch_size),
            epochs: self.epochs.unwrap_or(defaults.epochs),
            target: self.target,
            seed: self.seed.unwrap_or(defaults.seed),
            snapshots: self.snapshots.map(|snapshots| match snapshots {
                SnapshotsOption::Every(steps) => Snapshots::Every(steps),
                SnapshotsOption::Count(count) => Snapshots::Count(count),
            }),
        }
    }

    async fn open(&self, call: &Call, parameters: &[f64], control: &Control<'_>) -> Js<OpenSpace> {
        thrown(self.space.clone().unwrap_or_default().open_under(call.problem.network(), parameters, control).await)
    }
}

#[wasm_bindgen]
impl Engine {
    /// Trains; a wish to finish resolves with what was reached.
    pub fn train(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, train)
    }

    /// Several runs, an epoch of each in turn.
    #[wasm_bindgen(js_name = trainSideBySide)]
    pub fn train_side_by_side(&self, problem: &Problem, runs: JsValue, options: JsValue) -> Promise {
        let runs = read_runs(&runs);
        self.call(problem, &JsValue::UNDEFINED, &options, async move |call| side_by_side(call, runs?).await)
    }
}

async fn train(call: Call) -> Js<JsValue> {
    let found: TrainOption = call.parts.parse("train")?;
    let checkpoint = read_checkpoint(&call.parts.checkpoint)?;
    let control = call.control().await?;
    let (engine, validation) = (call.engine()?, call.validation()?);
    let open = found.open(&call, call.parameters()?, &control).await?;
    let (space, options) = (&*open.space, found.options());
    let training = match &checkpoint {
        Some(from) => crate::train::resume(&engine, space, from, validation.as_deref(), &options, &control).await,
        None => {
            let from = &open.parameters;
            crate::train::train_in(&engine, space, from, validation.as_deref(), &options, &control).await
        }
    };
    result(thrown(training)?, &open)
}

async fn side_by_side(call: Call, runs: Vec<(Vec<f64>, TrainOption)>) -> Js<JsValue> {
    let NoOptions {} = call.parts.parse("trainSideBySide")?;
    let control = call.control().await?;
    let (engine, validation) = (call.engine()?, call.validation()?);
    let mut opened: Vec<OpenSpace> = Vec::new();
    for (parameters, found) in &runs {
        opened.push(found.open(&call, parameters, &control).await?);
    }
    let begun: Vec<Run<'_>> = runs
        .iter()
        .zip(&opened)
        .map(|((_, found), open)| Run { space: &*open.space, parameters: &open.parameters, options: found.options() })
        .collect();
    let trainings = crate::train::train_side_by_side(&engine, &begun, validation.as_deref(), &control).await;
    let list = Array::new();
    for (training, open) in thrown(trainings)?.into_iter().zip(&opened) {
        list.push(&match training {
            Ok(training) => result(training, open)?,
            Err(error) => {
                let item = Object::new().into();
                set(&item, "error", &super::error::throw(error));
                item
            }
        });
    }
    Ok(list.into())
}

fn read_runs(runs: &JsValue) -> Js<Vec<(Vec<f64>, TrainOption)>> {
    let read = |run: JsValue| {
        let run = Object::unchecked_from_js(run);
        let (theta, given) = (take(&run, "parameters"), take(&run, "options"));
        options::<NoOptions>(run.into(), "trainSideBySide: run")?;
        Ok((parameters(&theta)?, options(given, "trainSideBySide: options")?))
    };
    Array::unchecked_from_js_ref(runs).iter().map(read).collect()
}

fn result(training: Training, open: &OpenSpace) -> Js<JsValue> {
    let out = to_js(&json!({
        "epochs": training.epochs,
        "steps": training.steps,
        "stopped": training.stopped,
        "reachedTarget": training.reached_target,
        "history": training.history,
    }))?;
    if let Some(warning) = training.warning.as_ref().or(open.warning.as_ref()) {
        set(&out, "warning", &to_js(warning)?);
    }
    set(&out, "parameters", &float64(&training.parameters));
    set(&out, "coordinates", &float64(&training.coordinates));
    set(&out, "checkpoint", &write_checkpoint(training.checkpoint)?);
    let snapshots = Array::new();
    for Snapshot { step, epoch, loss, parameters } in &training.snapshots {
        let item = to_js(&json!({ "step": step, "epoch": epoch, "loss": loss }))?;
        set(&item, "parameters", &float64(parameters));
        snapshots.push(&item);
    }
    if !training.snapshots.is_empty() {
        set(&out, "snapshots", &snapshots);
    }
    Ok(out)
}

/// Vectors as typed arrays, the rest plain.
fn write_checkpoint(mut checkpoint: Checkpoint) -> Js<JsValue> {
    let coordinates = std::mem::take(&mut checkpoint.coordinates);
    let (mean, square) = (checkpoint.mean.take(), checkpoint.square.take());
    let out = to_js(&checkpoint)?;
    set(&out, "coordinates", &float64(&coordinates));
    for (key, values) in [("mean", mean), ("square", square)] {
        if let Some(values) = values {
            set(&out, key, &float64(&values));
        }
    }
    Ok(out)
}

fn read_checkpoint(value: &JsValue) -> Js<Option<Checkpoint>> {
    if value.is_undefined() || value.is_null() {
        return Ok(None);
    }
    let Some(object) = value.dyn_ref::<Object>() else {
        return Err(fault(ErrorCode::InvalidOption, "checkpoint must be one that train has given"));
    };
    let rest = Object::assign(&Object::new(), object);
    let vector = |key: &str| match take(&rest, key) {
        value if value.is_undefined() || value.is_null() => Ok(None),
        value => numbers(&value, &format!("checkpoint.{key}"), ErrorCode::InvalidOption).map(Some),
    };
    let (coordinates, mean, square) = (vector("coordinates")?, vector("mean")?, vector("square")?);
    set(&rest, "coordinates", &Array::new());
    let plain: Checkpoint = options(rest.into(), "checkpoint")?;
    Ok(Some(Checkpoint { coordinates: coordinates.unwrap_or_default(), mean, square, ..plain }))
}
