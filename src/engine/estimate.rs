//! What work will cost, before it is begun.

use serde::Serialize;

use super::{Engine, Plan};
use crate::error::Result;

/// Samples of the trial runs that times are estimated from. The first is small enough for any network.
const TRIALS: [usize; 2] = [16, 128];

/// Where the first trial takes longer, it has told enough.
const LONG_TRIAL: f64 = 0.5;

/// Trials of one size: the first compiles pipelines and takes memory.
const REPEATS: usize = 3;

/// Most seconds of a GPU's first trial that may be compiling for the larger part: in a browser whose adapter is software, and
/// has just been started, ten and more.
const COMPILING: f64 = 60.0;

/// Seconds and bytes that work on a problem takes on an engine, estimated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// Seconds of a gradient over all samples.
    pub gradient_seconds: f64,
    /// The part of it that is the same for any number of samples, as for a batch of them: a GPU's way there and back.
    pub call_seconds: f64,
    /// Seconds of one product with the Hessian.
    pub product_seconds: f64,
    /// Seconds of the loss over all samples; of a landscape, times its points at most.
    pub evaluation_seconds: f64,
    /// Bytes of the inputs on the device.
    pub data_bytes: u64,
    /// Bytes of activations and derivatives that one point keeps for its products, if the memory budget allows. What it
    /// does not allow is computed again in each product, which then takes up to twice as long. Searches of a large problem in f64 on a CPU
    /// take half as much of both again where no budget is given: they begin in f32.
    pub point_bytes: u64,
    /// Bytes of one vector of parameters; Lanczos keeps some dozens.
    pub vector_bytes: u64,
    /// Threads that a pass over the data is shared out to: the device's, or one where more would not help.
    pub threads: usize,
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
    /// Estimates time and memory from the network's shape and trial gradients of a few samples at θ. A trial pays more
    /// overhead a sample than the work itself: times err upwards.
    ///
    /// # Errors
    /// What [`crate::Network::check_parameters`] says; the device's.
    pub async fn estimate(&self, parameters: &[f64]) -> Result<Estimate> {
        self.problem().check_parameters(parameters)?;
        let plan = Plan::new(self.problem().network());
        let samples = self.problem().samples();
        let [few, many] = TRIALS.map(|count| count.min(samples));
        // A trial may be too small to be shared out as the work itself is.
        let threads = self.threads(samples);
        let seconds_a_sample =
            |seconds: f64, trial: usize| seconds / trial as f64 * self.threads(trial) as f64 / threads as f64;
        let is_gpu = self.info().backend == "gpu";
        let mut seconds = self.trial(parameters, few, 1).await?;
        if is_gpu && (LONG_TRIAL..COMPILING).contains(&seconds) {
            seconds = self.trial(parameters, few, 1).await?;
        }
        let (mut call_seconds, mut rate) = (0.0, seconds_a_sample(seconds, few));
        if seconds < LONG_TRIAL {
            seconds = self.trial(parameters, few, REPEATS).await?;
            rate = seconds_a_sample(seconds, few);
            if many > few {
                let more = self.trial(parameters, many, REPEATS).await?;
                rate = seconds_a_sample(more, many);
                // A CPU has no way to go, and its samples go in blocks: two times would tell of those.
                if is_gpu {
                    // No sample is for nothing, and no call takes less than no time.
                    let slope = ((more - seconds) / (many - few) as f64).clamp(0.02 * rate, rate);
                    (call_seconds, rate) = (many as f64 * (rate - slope), slope);
                }
            }
        }
        let [forward, gradient, product] = multiplications(&plan).map(|count| count.max(1.0));
        let bytes = self.info().precision.bytes() as u64;
        let outputs: u64 = plan.steps.iter().map(|step| step.output.len() as u64).sum();
        let affine = plan.steps.iter().filter(|step| step.is_affine());
        let kept = 2 * outputs + affine.map(|step| step.input.len() as u64).sum::<u64>();
        let gradient_seconds = call_seconds + samples as f64 * rate;
        Ok(Estimate {
            gradient_seconds,
            call_seconds,
            product_seconds: gradient_seconds * product / gradient,
            evaluation_seconds: gradient_seconds * forward / gradient,
            data_bytes: bytes * samples as u64 * plan.input.len() as u64,
            point_bytes: bytes * samples as u64 * kept,
            vector_bytes: bytes * plan.parameter_count as u64,
            threads,
        })
    }

    /// The least of some times of a gradient of the first samples, in seconds.
    async fn trial(&self, parameters: &[f64], samples: usize, repeats: usize) -> Result<f64> {
        let rows: Vec<u32> = (0..samples as u32).collect();
        let e = self.vectors();
        let theta = e.upload(parameters, 1)?;
        let mut gradient = e.zeros(parameters.len(), 1)?;
        let mut out = e.zeros(2, 1)?;
        let mut seconds = f64::INFINITY;
        for _ in 0..repeats {
            let start = crate::control::now();
            self.batch_gradient(&theta, &rows, &mut gradient, &mut out, 0).await?;
            e.download(&out).await?;
            seconds = seconds.min(crate::control::now() - start);
        }
        // Ranks go on alike where the same is long for all of them.
        let mut clocks = [seconds, 1.0];
        self.total(&mut clocks)?;
        Ok(clocks[0] / clocks[1])
    }
}
