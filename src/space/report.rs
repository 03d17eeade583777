//! What a report says of the spaces at a point: path values, gradients, and one step of SGD taken in the G-space on the device.

use serde_json::{Value, json};

use super::{Biases, FixedChoice, FixedValues, Fixing, GSpace, ParameterSpace, Skeleton};
use crate::engine::Engine;
use crate::error::{Error, ErrorCode, Result};

/// η of the step.
const LEARNING_RATE: f64 = 0.01;

/// The spaces with the diagonal choice at the engine's prepared point; nothing for a network that has no rescalings, or no tree that
/// its paths could go along.
///
/// # Errors
/// The device's; `InvalidParameters` if no point is prepared.
pub(crate) async fn report(engine: &Engine) -> Result<Option<Value>> {
    let (network, parameters) = (engine.problem().network(), &engine.parameters()?);
    if !network.is_positively_homogeneous() {
        return Ok(None);
    }
    let Some(skeleton) = present(Skeleton::new(network, parameters, FixedChoice::Diagonal))? else { return Ok(None) };
    let free = skeleton.try_free(network)?;
    let gradient = engine.gradient().await?;
    let masked = gradient.iter().zip(&free).map(|(g, &free)| if free { *g } else { 0.0 });
    let masked: Vec<f64> = crate::memory::collected("a gradient", masked)?;
    let mut report = json!({
        "free": free.iter().map(|&free| u8::from(free)).collect::<Vec<_>>(),
        "weight_fixing": { "gradient": masked },
    });
    // At parameters with a 0 on the skeleton there is neither a rescaling to 1 nor a G-space: what there is not is absent.
    let reparametrized = Fixing::new(network, parameters, FixedChoice::Diagonal, FixedValues::Reparametrize);
    if let Some(fixing) = present(reparametrized)? {
        report["weight_fixing"]["parameters_reparametrized"] = json!(fixing.parameters);
    }
    if let Some(space) = present(GSpace::new(network, &skeleton, parameters, Biases::Appended))? {
        report["g_space"] = g_space(engine, &space, parameters).await?;
    }
    Ok(Some(report))
}

async fn g_space(engine: &Engine, space: &GSpace, parameters: &[f64]) -> Result<Value> {
    let layers = engine.problem().network().layout().layers();
    let biases: usize = layers.iter().filter_map(|layer| layer.bias.as_ref()).map(|bias| bias.len()).sum();
    let values = space.to_coordinates(parameters)?;
    let (e, charts) = (engine.vectors(), engine.charts());
    let chart = charts.load(space.chart())?;
    let (mut v, mut theta) = (e.upload(&values, 1)?, e.zeros(parameters.len(), 1)?);
    let (mut gradient, mut loss) = (e.zeros(values.len(), 1)?, e.zeros(2, 1)?);
    engine.gradient_into(&mut theta)?;
    charts.cotangent(&chart, &v, &theta, None, &mut gradient)?;
    let mut report = json!({
        "dimension_without_biases": values.len() - biases,
        "gradient": e.download(&gradient).await?,
        "values": values,
        "learning_rate": LEARNING_RATE,
    });
    e.axpy(-LEARNING_RATE, &gradient, &mut v)?;
    charts.parameters(&chart, &v, &mut theta)?;
    engine.evaluate_into(&theta, &mut loss, 0).await?;
    let (moved, loss) = (e.download(&theta).await?, e.download(&loss).await?[0]);
    // A step may end where a path value is 0.
    if loss.is_finite() && moved.iter().all(|w| w.is_finite()) {
        report["parameters_after_one_sgd_step"] = json!(moved);
        report["loss_after_one_sgd_step"] = json!(loss);
    }
    Ok(report)
}

/// None where the parameters have no place in a space.
fn present<T>(found: Result<T>) -> Result<Option<T>> {
    use ErrorCode::{InvalidNetwork, InvalidParameters, InvalidTransformation, NotFinite};
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Error { code: InvalidNetwork | InvalidParameters | InvalidTransformation | NotFinite, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
