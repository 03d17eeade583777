//! What a report says of the spaces at a point: path values, gradients, and one step of SGD taken in the G-space on the device.

use serde_json::{Value, json};

use super::{Biases, FixedChoice, FixedValues, Fixing, GSpace, ParameterSpace, Skeleton};
use crate::control::Control;
use crate::engine::Engine;
use crate::error::{Error, ErrorCode, Result};
use crate::train::{Optimizer, TrainOptions, train_in};

/// η of the step.
const LEARNING_RATE: f64 = 0.01;

/// The spaces with the diagonal choice at these parameters, which are the engine's prepared point; nothing for a network that has no
/// rescalings.
///
/// # Errors
/// The device's; `Aborted`.
pub(crate) async fn report(engine: &Engine, parameters: &[f64], control: &Control<'_>) -> Result<Option<Value>> {
    let network = engine.problem().network();
    if network.first_inhomogeneous_layer().is_some() {
        return Ok(None);
    }
    let skeleton = Skeleton::new(network, parameters, FixedChoice::Diagonal)?;
    let free = skeleton.free(network);
    let gradient = engine.gradient().await?;
    let masked: Vec<f64> = gradient.iter().zip(&free).map(|(g, &free)| if free { *g } else { 0.0 }).collect();
    let reparametrized = Fixing::new(network, parameters, FixedChoice::Diagonal, FixedValues::Reparametrize);
    let mut report = json!({
        "free": free.iter().map(|&free| u8::from(free)).collect::<Vec<_>>(),
        "weight_fixing": { "gradient": masked },
    });
    // At parameters with a 0 on the skeleton there is neither a rescaling to 1 nor a G-space: what there is not is absent.
    if let Some(fixing) = present(reparametrized)? {
        report["weight_fixing"]["parameters_reparametrized"] = json!(fixing.parameters);
    }
    if let Some(space) = present(GSpace::new(network, &skeleton, parameters, Biases::Appended))? {
        report["g_space"] = g_space(engine, &space, parameters, &gradient, control).await?;
    }
    Ok(Some(report))
}

async fn g_space(
    engine: &Engine,
    space: &GSpace,
    parameters: &[f64],
    gradient: &[f64],
    control: &Control<'_>,
) -> Result<Value> {
    let network = engine.problem().network();
    let values = space.to_coordinates(parameters)?;
    let biases: usize = network.layout().layers().iter().filter_map(|layer| layer.bias.as_ref()).map(|b| b.len()).sum();
    let mut report = json!({
        "dimension_without_biases": values.len() - biases,
        "gradient": space.pull_back(&values, gradient)?,
        "values": values,
        "learning_rate": LEARNING_RATE,
    });
    let options = TrainOptions {
        optimizer: Optimizer::sgd(LEARNING_RATE),
        batch_size: engine.problem().samples(),
        epochs: 1,
        ..TrainOptions::default()
    };
    // A step may end where a path value is 0.
    if let Some(training) = present(train_in(engine, space, parameters, None, &options, control).await)? {
        report["loss_after_one_sgd_step"] = json!(engine.evaluate(&training.parameters).await?.loss);
        report["parameters_after_one_sgd_step"] = json!(training.parameters);
    }
    Ok(report)
}

/// None where the parameters have no place in a space.
fn present<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Error { code, .. })
            if matches!(
                code,
                ErrorCode::InvalidParameters | ErrorCode::NotFinite | ErrorCode::InvalidTransformation
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
