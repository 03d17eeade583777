//! Losses and gradients at points near the prepared one, which stays as it is, and how fine a difference of losses is.

use std::borrow::Cow;

use rand::Rng;

use crate::dinh::Reparametrization;
use crate::engine::{Engine, Plan};
use crate::error::{Result, bail};
use crate::linalg::generator;
use crate::memory::collected;

/// Numbers that the activations of one batch may take: the GPU keeps a whole batch's.
const BATCH_NUMBERS: u64 = 1 << 24;

/// Differences of losses below this many times their rounding are not resolved: three digits are lost already.
const RESOLVED: f64 = 1e3;

/// Roundings of θ that the loss's own rounding is measured from.
const ROUNDINGS: u64 = 4;

/// Looks at one problem's loss anywhere, as a function of its parameters or of other coordinates of them.
pub(crate) struct Probe<'a> {
    engine: &'a Engine,
    map: Option<&'a dyn Reparametrization>,
    /// Samples that go through together.
    batch: usize,
}

impl<'a> Probe<'a> {
    pub fn new(engine: &'a Engine) -> Self {
        Self::through(engine, None)
    }

    /// The loss L ∘ g of η where there is a map g: θ is η below then.
    pub fn through(engine: &'a Engine, map: Option<&'a dyn Reparametrization>) -> Self {
        let plan = Plan::new(engine.problem().network());
        let steps: u64 = plan.steps.iter().map(|step| 2 * step.output.len() as u64).sum();
        let numbers = steps + plan.input.len() as u64;
        // A multiple of every executor's block, so that all batches but the last are of one size.
        Self { engine, map, batch: (BATCH_NUMBERS / numbers.max(1)).clamp(64, 1 << 14).next_multiple_of(64) as usize }
    }

    /// The engine that computes.
    pub fn engine(&self) -> &'a Engine {
        self.engine
    }

    /// L(θ). It may be infinite, or NaN where numbers overflow.
    ///
    /// # Errors
    /// The device's.
    pub async fn loss(&self, theta: &[f64]) -> Result<f64> {
        let theta = self.engine.vectors().upload(&self.parameters(theta), 1)?;
        Ok(self.engine.evaluate_anywhere(&theta).await?.loss)
    }

    /// L(θ) and ∇L(θ) over all samples.
    ///
    /// # Errors
    /// The device's.
    pub async fn gradient(&self, theta: &[f64]) -> Result<(f64, Vec<f64>)> {
        let rows: Vec<u32> = collected("sample numbers", 0..self.engine.problem().samples() as u32)?;
        self.gradient_over(theta, &rows).await
    }

    /// Mean loss over these samples and its gradient.
    ///
    /// # Errors
    /// The device's.
    pub async fn gradient_over(&self, theta: &[f64], rows: &[u32]) -> Result<(f64, Vec<f64>)> {
        let vectors = self.engine.vectors();
        let at = theta;
        let theta = vectors.upload(&self.parameters(at), 1)?;
        let mut total = vectors.zeros(theta.len(), 1)?;
        let mut gradient = vectors.zeros(theta.len(), 1)?;
        let mut out = vectors.zeros(2, 1)?;
        let mut loss = 0.0;
        for rows_of_batch in rows.chunks(self.batch) {
            let share = rows_of_batch.len() as f64 / rows.len() as f64;
            self.engine.batch_gradient(&theta, rows_of_batch, &mut gradient, &mut out, 0).await?;
            vectors.axpy(share, &gradient, &mut total)?;
            loss += share * vectors.download(&out).await?[0];
        }
        let total = vectors.download(&total).await?;
        Ok((
            loss,
            match self.map {
                Some(map) => map.pull(at, &total),
                None => total,
            },
        ))
    }

    fn parameters<'b>(&self, at: &'b [f64]) -> Cow<'b, [f64]> {
        self.map.map_or(Cow::Borrowed(at), |map| Cow::Owned(map.parameters(at)))
    }

    /// How much the loss at θ changes when every parameter is rounded up or down by one unit in the last place: θ + Δ is
    /// stored no better than that, so no difference of losses means anything below it.
    ///
    /// # Errors
    /// `NotFinite` if the loss is not finite; the device's.
    pub async fn resolution(&self, theta: &[f64], loss: f64) -> Result<f64> {
        if !loss.is_finite() {
            bail!(NotFinite, "the loss at this point is {loss}: its numbers overflow");
        }
        let epsilon = self.engine.info().precision.epsilon();
        let mut largest = epsilon * loss.abs();
        for seed in 0..ROUNDINGS {
            let mut rng = generator(seed);
            let sign = |w: &f64| if rng.random::<bool>() { w * (1.0 + epsilon) } else { w * (1.0 - epsilon) };
            let rounded: Vec<f64> = collected("a vector of parameters", theta.iter().map(sign))?;
            largest = f64::max(largest, (self.loss(&rounded).await? - loss).abs());
        }
        Ok(largest)
    }

    /// Is a difference of losses of this size more than rounding?
    pub fn resolves(difference: f64, resolution: f64) -> bool {
        difference.abs() >= RESOLVED * resolution
    }
}
