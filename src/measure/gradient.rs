//! The loss and the length of its gradient: how near a critical point is.

use super::known::Known;
use super::row::{ALWAYS, Compute, Cost, Family};
use super::{Measure, MeasureValue};
use crate::error::Result;
use crate::numbers::norm;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        key: "loss",
        title: "Loss",
        description: "The mean loss over the samples. A rescaling leaves the function, and so the loss, as it is.",
        invariant: ALWAYS,
        ..Measure::new(Family::Point, Cost::Pass, Compute::Point(|known, row| Box::pin(loss(known, row))))
    },
    Measure {
        key: "gradient_norm",
        title: "Gradient norm",
        description: "Length of the gradient: 0 at a minimum. Away from one, rescaling the weights changes it.",
        ..Measure::new(Family::Point, Cost::Pass, Compute::Point(|known, row| Box::pin(gradient_norm(known, row))))
    },
];

async fn loss(known: &mut Known<'_, '_>, row: &Measure) -> Result<MeasureValue> {
    let loss = known.engine.loss().await?;
    Ok(row.exact(loss, loss))
}

async fn gradient_norm(known: &mut Known<'_, '_>, row: &Measure) -> Result<MeasureValue> {
    let norm = norm(known.engine.gradient().await?);
    Ok(row.exact(norm, norm))
}
