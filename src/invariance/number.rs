//! What is compared: the outputs and the measures at one point, each a number or the reason why there is none.

use crate::control::Control;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::measure::{Evaluator, Measure, MeasureOptions, MeasureValue};

/// Name of the outputs among the measures.
pub(super) const OUTPUTS: &str = "outputs";

/// A measure's value, or the largest |output| with the outputs behind it.
#[derive(Debug, Clone)]
pub(super) struct Number {
    pub value: MeasureValue,
    outputs: Vec<f64>,
}

impl Number {
    fn of_outputs(outputs: Vec<f64>) -> Self {
        let largest = outputs.iter().fold(0.0, |m, v: &f64| f64::max(m, v.abs()));
        Self { value: MeasureValue::exact(OUTPUTS, largest, largest), outputs }
    }

    /// How far it is to another one; of outputs, to the one that differs most.
    pub fn distance(&self, other: &Self) -> f64 {
        if self.outputs.is_empty() {
            return (self.value.value - other.value.value).abs();
        }
        self.outputs.iter().zip(&other.outputs).fold(0.0, |m, (a, b)| f64::max(m, (a - b).abs()))
    }
}

/// A number that is not finite, or that the device cannot hold, is the fault of that number alone; any other error ends the
/// table.
pub(super) fn of_a_number<T>(result: Result<T>) -> Result<Result<T>> {
    match result {
        Err(error) if !["not_finite", "out_of_range"].contains(&error.code.as_str()) => Err(error),
        result => Ok(result),
    }
}

/// The numbers of these quantities at a point: 0 for the outputs, i + 1 for measure i. What several need is computed once.
///
/// # Errors
/// What [`Evaluator::value`] says, but for numbers that are not finite.
pub(super) async fn numbers(
    engine: &Engine,
    theta: &[f64],
    measures: &[&'static Measure],
    quantities: &[usize],
    options: &MeasureOptions,
    control: &Control<'_>,
) -> Result<Vec<Result<Number>>> {
    let evaluator = match engine.prepare(theta).await {
        Ok(()) => Evaluator::new(engine, options, measures, control).await,
        Err(error) => Err(error),
    };
    let mut evaluator = match of_a_number(evaluator)? {
        Ok(evaluator) => evaluator,
        Err(error) => return Ok(vec![Err(error); quantities.len()]),
    };
    let mut found = Vec::with_capacity(quantities.len());
    for &quantity in quantities {
        found.push(match quantity.checked_sub(1) {
            None => Ok(Number::of_outputs(engine.outputs().await?)),
            Some(i) => {
                let value = of_a_number(evaluator.value(measures[i]).await)?;
                value.and_then(finite).map(|value| Number { value, outputs: Vec::new() })
            }
        });
    }
    Ok(found)
}

fn finite(value: MeasureValue) -> Result<MeasureValue> {
    if value.value.is_finite() {
        return Ok(value);
    }
    Err(Error::new(crate::error::ErrorCode::NotFinite, format!("{} is {}", value.key, value.value)))
}
