//! What work will cost, before it is begun.

use serde::Serialize;

use super::{Engine, Plan};
use crate::engine::Precision;
use crate::error::Result;

/// Samples of the trial run that times are estimated from.
const TRIAL_SAMPLES: usize = 32;

/// Seconds and bytes that work on a problem takes on an engine, estimated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// Seconds of a gradient over all samples.
    pub gradient_seconds: f64,
    /// Seconds of one product with the Hessian.
    pub product_seconds: f64,
    /// Seconds of the loss over all samples; of a landscape, times its points at most.
    pub evaluation_seconds: f64,
    /// Bytes of the inputs on the device.
    pub data_bytes: u64,
    /// Bytes of activations and derivatives that one point keeps for its products, if the memory budget allows. What it
    /// does not allow is computed again in each product, which then takes up to twice as long.
    pub point_bytes: u64,
    /// Bytes of one vector of parameters; Lanczos keeps some dozens.
    pub vector_bytes: u64,
}

/// Multiplications of one sample in a forward pass, a gradient and a product at a prepared point: layer 1 needs no
/// derivative by its input, the others one for each of the passes (Pearlmutter's R-operator).
fn multiplications(plan: &Plan) -> [f64; 3] {
    let count = |first: f64, others: f64| -> f64 {
        let steps = plan.steps.iter().enumerate();
        steps.map(|(l, step)| if l == 0 { first } else { others } * step.multiplications()).sum()
    };
    [count(1.0, 1.0), count(2.0, 3.0), count(2.0, 6.0)]
}

impl Engine {
    /// Estimates time and memory from the network's shape and a trial gradient of a few samples at θ. The trial is small
    /// enough for any network, and pays more overhead a sample than the work itself: times err upwards.
    ///
    /// # Errors
    /// What [`crate::Network::check_parameters`] says; the device's.
    pub async fn estimate(&self, parameters: &[f64]) -> Result<Estimate> {
        self.problem().check_parameters(parameters)?;
        let plan = Plan::new(self.problem().network())?;
        let samples = self.problem().samples();
        let trial = samples.min(TRIAL_SAMPLES);
        let rows: Vec<u32> = (0..trial as u32).collect();
        let e = self.executor();
        let theta = e.upload(parameters, 1)?;
        let mut gradient = e.zeros(parameters.len(), 1)?;
        let mut out = e.zeros(2, 1)?;
        let mut seconds = f64::INFINITY;
        // The first run compiles pipelines and takes memory.
        for _ in 0..3 {
            let start = crate::control::now();
            e.batch_gradient(&theta, &rows, &mut gradient, &mut out, 0)?;
            e.download(&out).await?;
            seconds = seconds.min(crate::control::now() - start);
        }
        let [forward, gradient, product] = multiplications(&plan);
        let rate = seconds / (gradient * trial as f64).max(1.0);
        let bytes = match self.info().precision {
            Precision::F32 => 4,
            Precision::F64 => 8,
        };
        let outputs: usize = plan.steps.iter().map(|step| step.output.len()).sum();
        let affine = plan.steps.iter().filter(|step| step.is_affine());
        let kept = outputs + affine.map(|step| step.input.len() + step.output.len()).sum::<usize>();
        let total = samples as f64 * rate;
        Ok(Estimate {
            gradient_seconds: total * gradient,
            product_seconds: total * product,
            evaluation_seconds: total * forward,
            data_bytes: bytes * (samples * plan.input().len()) as u64,
            point_bytes: bytes * (samples * kept) as u64,
            vector_bytes: bytes * plan.parameter_count as u64,
        })
    }
}
