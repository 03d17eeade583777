//! `train`.

use serde_json::{Map, Value, json};

use super::Outcome;
use crate::cli::invocation::{Invocation, OptimizerName};
use crate::cli::open::Opened;
use crate::control::Control;
use crate::engine::Engine;
use crate::error::Result;
use crate::problem::Loss;
use crate::space::{Biases, FixedChoice, FixedValues, Grouping, SpaceKind};
use crate::train::{Optimizer, TrainOptions, train_in};

/// Spaces that can be named.
pub(in crate::cli) const SPACES: [&str; 4] = ["weights", "g_space", "weight_fixing", "weight_norm"];

pub(super) async fn run(
    invocation: &Invocation,
    opened: &Opened,
    engine: &Engine,
    control: &Control<'_>,
    result: &mut Map<String, Value>,
) -> Result<Outcome> {
    let arguments = &invocation.train;
    let open = space(&arguments.space).open_under(&opened.network, &opened.parameters, control).await?;
    let options = TrainOptions {
        optimizer: optimizer(arguments.optimizer, arguments.rate),
        batch_size: arguments.batch,
        epochs: arguments.epochs,
        seed: invocation.seed,
        ..TrainOptions::default()
    };
    let found = train_in(engine, &*open.space, &open.parameters, None, &options, control).await?;
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
        "space": arguments.space,
    });
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

fn space(name: &str) -> SpaceKind {
    let (choice, values) = (FixedChoice::default(), FixedValues::default());
    match name {
        "g_space" => SpaceKind::GSpace { choice, values, biases: Biases::default() },
        "weight_fixing" => SpaceKind::WeightFixing { choice, values },
        "weight_norm" => SpaceKind::WeightNorm { grouping: Grouping::default() },
        _ => SpaceKind::Weights,
    }
}
