//! The commands, over an engine.

mod eigenvalues;
mod invariance;
mod landscape;
pub(super) mod maps;
mod plan;
mod report;
mod spaces;
mod train;

use serde_json::{Map, Value, json};

pub(super) use self::landscape::direction;
pub(super) use self::spaces::SPACES;
use super::checkpoint::written;
use super::files::named;
use super::invocation::{Command, Invocation};
use super::open::Opened;
use crate::control::{Control, now};
use crate::engine::{Device, Engine};
use crate::error::{Error, ErrorCode, Result, bail};
use crate::problem::Loss;

/// What a command came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What it found.
    pub result: Value,
    /// Parameters that are to be written: [`super::save`] makes their file.
    pub parameters: Option<Vec<f64>>,
    /// Was it asked to finish before its end? What was finished is there.
    pub stopped: bool,
}

/// Fails for words that cannot be, whatever is in the files.
///
/// # Errors
/// `InvalidOption`.
pub(super) fn check(invocation: &Invocation) -> Result<()> {
    match invocation.command {
        Command::Eigenvalues => eigenvalues::check(invocation).map(|_| ()),
        Command::Landscape => landscape::check(invocation).map(|_| ()),
        _ => Ok(()),
    }
}

/// Runs a command that computes, or `convert`. A wish to finish ([`Control::finish_when`]) is no error: what is finished is handed over.
///
/// # Errors
/// What the library says of what was asked; `InvalidOption` where there are no data; `Aborted`.
pub async fn run(invocation: &Invocation, opened: &Opened, device: &Device, control: &Control<'_>) -> Result<Outcome> {
    let found = written(device, computed(invocation, opened, device, control).await);
    // What was asked is not the file's fault, nor is the device.
    let is_of_file = |error: &Error| {
        use ErrorCode::{Aborted, BackendUnavailable, DeviceLost, Gpu, InvalidOption};
        !matches!(error.code, Aborted | BackendUnavailable | DeviceLost | Gpu | InvalidOption)
    };
    found.map_err(|error| if is_of_file(&error) { named(error, &opened.model.files) } else { error })
}

async fn computed(invocation: &Invocation, opened: &Opened, device: &Device, control: &Control<'_>) -> Result<Outcome> {
    let begin = now();
    let mut result = described(invocation, opened);
    let mut outcome = match invocation.command {
        Command::Convert => {
            let mut parameters = opened.parameters.clone();
            for map in maps::given(invocation, &opened.network)? {
                parameters = map.apply(&opened.network, &parameters)?;
            }
            Outcome { result: Value::Null, parameters: Some(parameters), stopped: false }
        }
        Command::Help | Command::Version => bail!(InvalidOption, "{} computes nothing", invocation.command.name()),
        Command::Report => report::run(invocation, opened, device, control, &mut result).await?,
        Command::Plan => ended(plan::run(invocation, opened, device, control, &mut result).await, control)?,
        _ => {
            let engine = Engine::new(device, opened.problem()?)?;
            result.insert("backend".into(), json!(engine.info()));
            evaluated(&engine, &opened.parameters, &mut result).await?;
            let found = match invocation.command {
                Command::Invariance => invariance::run(invocation, opened, &engine, control, &mut result).await,
                Command::Eigenvalues => eigenvalues::run(invocation, opened, &engine, control, &mut result).await,
                Command::Landscape => landscape::run(invocation, opened, &engine, control, &mut result).await,
                _ => train::run(invocation, opened, device, &engine, control, &mut result).await,
            };
            ended(found, control)?
        }
    };
    result.insert("stopped".into(), json!(outcome.stopped));
    result.insert("seconds".into(), json!(now() - begin));
    outcome.result = Value::Object(result);
    Ok(outcome)
}

/// Work that has nothing to hand over ends as if it had been stopped, but what is known besides is kept.
fn ended(found: Result<Outcome>, control: &Control<'_>) -> Result<Outcome> {
    match found {
        Err(Error { code: ErrorCode::Aborted, .. }) if !control.is_stopped() => {
            Ok(Outcome { result: Value::Null, parameters: None, stopped: true })
        }
        found => found,
    }
}

/// The whole of what was asked for.
fn whole() -> Outcome {
    Outcome { result: Value::Null, parameters: None, stopped: false }
}

/// What a command is about.
fn described(invocation: &Invocation, opened: &Opened) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("command".into(), json!(invocation.command));
    let mut model = json!(opened.model);
    model["network"] = json!(opened.network.summary());
    model["parameters"] = json!(opened.network.parameter_count());
    out.insert("model".into(), model);
    if let Some(problem) = &opened.problem {
        let mut data = json!(opened.data);
        data["samples"] = json!(problem.samples());
        if opened.data.available == Some(problem.samples()) {
            data.as_object_mut().map(|data| data.remove("available"));
        }
        data["loss"] = json!(problem.loss());
        out.insert("data".into(), data);
    }
    out
}

/// Loss, and of a classifier accuracy: the share of samples whose largest output is the target's.
async fn evaluated(engine: &Engine, parameters: &[f64], result: &mut Map<String, Value>) -> Result<()> {
    let found = engine.evaluate(parameters).await?;
    result.insert("loss".into(), json!(found.loss));
    if engine.problem().loss() == Loss::CrossEntropy {
        result.insert("accuracy".into(), json!(found.accuracy));
    }
    Ok(())
}

/// What is printed for programs: the result, but of a report its values, as the function `report` gives them. Of a whole problem
/// file they are that alone; else what else is known is beside them.
pub fn json(result: &Value) -> Value {
    let Some(Value::Object(values)) = result.get("report") else { return result.clone() };
    let mut out = values.clone();
    let is_whole = result["wholeFile"] == true && result["stopped"] != true;
    for key in ["accuracy", "command", "data", "model", "seconds", "sections", "stopped"] {
        match result.get(key) {
            Some(value) if !is_whole => out.insert(key.into(), value.clone()),
            _ => None,
        };
    }
    Value::Object(out)
}
