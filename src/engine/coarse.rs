//! The single precision that a large problem's double precision leaves its searches to: on a CPU a pass takes half the time there, and
//! half the memory goes by. What is found so is taken to double precision before anybody sees it.

use std::cell::OnceCell;

use super::{Device, Engine, Plan, Precision};
use crate::error::{ErrorCode, Result};
use crate::problem::Problem;

/// Multiplications of a forward pass over all samples from which on a second engine is worth its memory: some hundredths of a second.
const LARGE: f64 = 5e7;

/// Sizes of weights within which single precision has numbers to spare for what is computed from them.
const MODERATE: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

/// An engine's companion in single precision, made when it is first asked for.
#[derive(Default)]
pub(super) struct Coarse {
    /// Where it would compute; none where it should not.
    device: Option<Device>,
    engine: OnceCell<Option<Box<Engine>>>,
}

impl Coarse {
    /// For an engine of this problem on this device.
    pub fn of(device: &Device, problem: &Problem) -> Self {
        let is_cpu = device.gpu.is_none() && device.info.precision == Precision::F64;
        // Where somebody has said how much memory there is, one set of data and activations has to do.
        if !is_cpu || device.memory_budget.is_some() {
            return Self::default();
        }
        let multiplications: f64 = Plan::new(problem.network()).steps.iter().map(|step| step.multiplications()).sum();
        let is_large = problem.samples() as f64 * multiplications >= LARGE;
        Self { device: is_large.then(|| device.in_f32()), engine: OnceCell::new() }
    }
}

/// What single precision holds of this; `None` where it does not, and double precision should be asked.
///
/// # Errors
/// What double precision would not mend.
pub(crate) fn held<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if [ErrorCode::NotFinite, ErrorCode::OutOfRange, ErrorCode::TooLarge].contains(&error.code) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

impl Device {
    /// The same CPU in single precision.
    fn in_f32(&self) -> Self {
        let device = match &self.helpers {
            Some(helpers) => Self::cpu_with_channel(Precision::F32, helpers.clone()),
            None => Self::cpu(Precision::F32),
        };
        Self { ranks: self.ranks.clone(), journal: self.journal.clone(), ..device }
    }
}

impl Engine {
    /// The same problem at the prepared point in single precision, where searches may begin; `None` where they take no time that counts,
    /// or single precision does not hold the problem or this point.
    ///
    /// # Errors
    /// `InvalidParameters` where no point is prepared; the device's.
    pub(crate) async fn coarse(&self) -> Result<Option<&Engine>> {
        let Some(device) = &self.coarse.device else { return Ok(None) };
        let theta = self.parameters()?;
        let layout = self.problem.network().layout();
        let largest = |range: std::ops::Range<usize>| theta[range].iter().fold(0.0, |m: f64, w| m.max(w.abs()));
        if !layout.layers().iter().all(|layer| MODERATE.contains(&largest(layer.weight.clone()))) {
            return Ok(None);
        }
        let made = self.coarse.engine.get_or_init(|| Engine::exact(device, &self.problem).ok().map(Box::new));
        let Some(engine) = made else { return Ok(None) };
        Ok(held(engine.prepare(&theta).await)?.map(|()| &**engine))
    }
}
