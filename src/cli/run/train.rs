//! `train`.

use serde_json::{Map, Value, json};

use super::{Outcome, spaces};
use crate::cli::checkpoint::train;
use crate::cli::invocation::{Invocation, OptimizerName};
use crate::cli::open::Opened;
use crate::control::Control;
use crate::engine::{Device, Engine};
use crate::error::Result;
use crate::problem::Loss;
use crate::space::SpaceKind;
use crate::train::{Optimizer, TrainOptions};

pub(super) async fn run(
    invocation: &Invocation,
    opened: &Opened,
    device: &Device,
    engine: &Engine,
    control: &Control<'_>,
    result: &mut Map<String, Value>,
) -> Result<Outcome> {
    let arguments = &invocation.train;
    let kind = spaces::kind(invocation, opened)?;
    let open = kind.open_under(&opened.network, &opened.parameters, control).await?;
    if !open.keeps_function {
        // Training begins elsewhere than at the weights that were drawn or read.
        super::evaluated(engine, &open.parameters, result).await?;
    }
    let options = TrainOptions {
        optimizer: optimizer(arguments.optimizer, arguments.rate),
        batch_size: arguments.batch,
        epochs: arguments.epochs,
        seed: invocation.seed,
        ..TrainOptions::default()
    };
    let found = train(device.journal(), engine, &*open.space, &open.parameters, &options, control).await?;
    let after = engine.evaluate(&found.parameters).await?;
    let mut before = json!({ "loss": result["loss"] });
    result.insert("loss".into(), json!(after.loss));
    if engine.problem().loss() == Loss::CrossEntropy {
        before["accuracy"] = result["accuracy"].clone();
        result.insert("accuracy".into(), json!(after.accuracy));
    }
    result.insert("before".into(), before);
    let mut training = json!({
        "epochs": found.epochs,
        "steps": found.steps,
        "history": found.history,
        "optimizer": options.optimizer,
        "batch": options.batch_size,
        "space": invocation.space,
    });
    if let SpaceKind::GSpace { values, .. } | SpaceKind::WeightFixing { values, .. } = kind {
        training["values"] = json!(values);
    }
    if let SpaceKind::GSpace { tree, .. } = kind {
        training["tree"] = json!(tree);
    }
    if let Some(warning) = found.warning.as_ref().or(open.warning.as_ref()) {
        training["warning"] = json!(warning.message);
    }
    result.insert("training".into(), training);
    Ok(Outcome { result: Value::Null, parameters: Some(found.parameters), stopped: found.stopped })
}

fn optimizer(name: OptimizerName, rate: Option<f64>) -> Optimizer {
    match name {
        OptimizerName::Sgd => Optimizer::sgd(rate.unwrap_or(0.05)),
        OptimizerName::Momentum => Optimizer::Sgd { learning_rate: rate.unwrap_or(0.05), momentum: 0.9 },
        OptimizerName::Adam => Optimizer::adam(rate.unwrap_or(1e-3)),
        OptimizerName::AdamW => Optimizer::adam_w(rate.unwrap_or(1e-3)),
    }
}
