//! Problems on devices: [`Engine`] answers for one problem at one point, an [`Executor`] does its arithmetic.

mod activation;
mod chart;
mod coarse;
mod cpu;
mod device;
mod estimate;
mod executor;
pub mod gpu;
mod journal;
mod merged;
mod passes;
mod plan;
mod point;
mod range;
mod shapes;
mod sharded;
mod steps;
mod sweep;
mod vector;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use self::device::present;
pub use activation::{Activation, Smooth};
pub(crate) use chart::NONE;
pub(crate) use chart::Shear;
pub use chart::{Chart, Charts, LoadedChart, Normalized, Quotient, Sheared};
pub(crate) use coarse::held;
pub use cpu::{cpu_executor, cpu_info};
pub use device::{Backend, Device};
pub use estimate::Estimate;
pub use executor::{BackendInfo, Curvature, Executor, Precision};
pub use journal::{Journal, Store};
pub use plan::{Operation, Plan, Read, Step};
pub(crate) use point::Point;
pub(crate) use range::{ensure_in_range, ensure_number, overflows};
pub(crate) use sharded::MOST_WORKERS;
pub use sharded::{Helper, Team};
pub use sweep::{Cotangent, LayerSums};
pub use vector::{AdamStep, Segments, Vector, Vectors};

use crate::error::{Result, bail, ensure};
use crate::memory::copied;
use crate::problem::Problem;
use crate::ranks::{Meeting, Ranks};

/// One problem on one device, which stands at one point at a time: work that is begun while other work on the same engine waits may move it
/// away. Work that is not over by then ends with an error; what shall go on at once wants engines of its own.
pub struct Engine {
    problem: Problem,
    executor: Box<dyn Executor>,
    /// Of the inputs: what follows from it may leave the precision's range.
    largest_input: f64,
    prepared: RefCell<Option<Vec<f64>>>,
    /// How often it has been taken to another point.
    moves: Cell<u64>,
    coarse: coarse::Coarse,
    ranks: Option<Rc<Ranks>>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { problem, .. } = self;
        let (network, samples) = (problem.network(), problem.samples());
        f.debug_struct("Engine").field("network", network).field("samples", &samples).finish_non_exhaustive()
    }
}

impl Engine {
    /// Loads a problem's data onto a device.
    ///
    /// # Errors
    /// `TooLarge` where they do not fit; `OutOfRange` for inputs or targets that the device's precision does not hold;
    /// `InvalidProblem` for more ranks than samples, and for a share of a problem on a device without ranks; `DeviceLost`.
    pub fn new(device: &Device, problem: &Problem) -> Result<Self> {
        let engine = Self::exact(device, problem)?;
        Ok(Self { coarse: coarse::Coarse::of(device, problem), ..engine })
    }

    /// One that leaves nothing to single precision ([`Engine::coarse`]).
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub(crate) fn exact(device: &Device, problem: &Problem) -> Result<Self> {
        let problem = device.share(problem)?;
        Self::on(&problem, device.info.precision, device.ranks.clone(), || device.executor(&problem))
    }

    /// A problem on an executor of one's own, which has its data.
    ///
    /// # Errors
    /// `OutOfRange` as [`Engine::new`].
    pub fn with_executor(problem: &Problem, executor: Box<dyn Executor>) -> Result<Self> {
        Self::on(problem, executor.info().precision, None, || Ok(executor))
    }

    /// Data that the precision does not hold are refused before they are loaded.
    fn on(
        problem: &Problem,
        precision: Precision,
        ranks: Option<Rc<Ranks>>,
        executor: impl FnOnce() -> Result<Box<dyn Executor>>,
    ) -> Result<Self> {
        let found = range::ensure_data(precision, problem);
        let largest_input = match present(&ranks) {
            Some(ranks) => {
                let own = ranks.agree(Meeting::new("data", &[]), found)?;
                ranks.gather(&[own], 1)?.into_iter().fold(0.0, f64::max)
            }
            None => {
                problem.ensure_whole()?;
                found?
            }
        };
        let (problem, executor, prepared) = (problem.clone(), executor()?, RefCell::new(None));
        let (coarse, moves) = (coarse::Coarse::default(), Cell::new(0));
        Ok(Self { problem, executor, largest_input, prepared, moves, coarse, ranks })
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// What computes.
    pub fn info(&self) -> &BackendInfo {
        self.executor.info()
    }

    /// Fixes the point θ: activations, δ and the gradient are computed once and kept for all that follows.
    /// Nothing is done if θ is the prepared point already.
    ///
    /// # Errors
    /// What [`crate::Network::check_parameters`] says; `OutOfRange` for weights or biases of a layer, or a hidden layer's values, that the
    /// device's precision does not hold; the device's errors. `InvalidParameters` where other work has prepared another point meanwhile.
    pub async fn prepare(&self, parameters: &[f64]) -> Result<()> {
        if self.is_prepared_at(parameters) {
            return Ok(());
        }
        let theta = self.upload_parameters(parameters)?;
        // Asked for before the work that it would undo.
        let kept = copied("a point's parameters", parameters)?;
        let point = self.leave();
        self.executor.prepare(&theta).await?;
        self.ensure_at(point)?;
        *self.prepared.borrow_mut() = Some(kept);
        Ok(())
    }

    /// Parameters on the device.
    ///
    /// # Errors
    /// As [`Engine::prepare`].
    pub(crate) fn upload_parameters(&self, parameters: &[f64]) -> Result<Vector> {
        self.problem.check_parameters(parameters)?;
        let network = self.problem.network();
        range::ensure_parameters(self.precision(), network.layout(), parameters)?;
        range::ensure_values(self.precision(), network, self.largest_input, parameters)?;
        self.vectors().upload(parameters, 1)
    }

    fn precision(&self) -> Precision {
        self.info().precision
    }

    /// The same problem on the CPU in double precision, where what single precision does not resolve is computed.
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub(crate) fn in_f64(&self) -> Result<Self> {
        Self::exact(&self.cpu(Precision::F64), &self.problem)
    }

    /// The CPU, where this engine's problem has an engine of another precision: with those who have the other samples.
    pub(crate) fn cpu(&self, precision: Precision) -> Device {
        let device = Device::cpu(precision);
        match present(&self.ranks) {
            Some(ranks) => Device { info: device.info.of_ranks(ranks.size()), ranks: Some(ranks.clone()), ..device },
            None => device,
        }
    }

    /// Is that the prepared point?
    pub(crate) fn is_prepared_at(&self, parameters: &[f64]) -> bool {
        self.prepared.borrow().as_deref() == Some(parameters)
    }

    /// The prepared point.
    ///
    /// # Errors
    /// `InvalidParameters` if there is none.
    pub fn parameters(&self) -> Result<Vec<f64>> {
        match &*self.prepared.borrow() {
            Some(prepared) => copied("a point's parameters", prepared),
            None => bail!(InvalidParameters, "no point is prepared: call Engine::prepare first"),
        }
    }

    /// Mean loss at the prepared point.
    ///
    /// # Errors
    /// `NotFinite` where it overflows; the device's.
    pub async fn loss(&self) -> Result<f64> {
        let loss = self.executor.loss().await?;
        ensure_number("the loss", self.precision(), &[loss])?;
        Ok(loss)
    }

    /// Outputs at the prepared point, samples × output_len.
    ///
    /// # Errors
    /// `NotFinite` where one overflows; the device's.
    pub async fn outputs(&self) -> Result<Vec<f64>> {
        let outputs = self.executor.outputs().await?;
        ensure_number("an output", self.precision(), &outputs)?;
        Ok(outputs)
    }

    /// ∇L at the prepared point.
    ///
    /// # Errors
    /// `NotFinite` where it overflows; the device's.
    pub async fn gradient(&self) -> Result<Vec<f64>> {
        let mut gradient = self.vectors().zeros(self.problem.network().parameter_count(), 1)?;
        self.gradient_into(&mut gradient)?;
        let gradient = self.vectors().download(&gradient).await?;
        ensure_number("the gradient", self.precision(), &gradient)?;
        Ok(gradient)
    }

    /// Bytes that a point and its products over so many samples take beside the data; `None` where that is not known beforehand.
    pub(crate) fn bytes_for(&self, samples: usize) -> Option<u64> {
        self.executor.bytes_for(samples)
    }

    /// C v for each of the directions, which lie one after the other, at the prepared point.
    ///
    /// # Errors
    /// `InvalidParameters` for a length that is no multiple of the parameter count; `OutOfRange` for a direction that the
    /// device's precision does not hold; `NotFinite`, for directions and products; the device's errors.
    pub async fn product(&self, curvature: Curvature, directions: &[f64]) -> Result<Vec<f64>> {
        let v = self.upload_directions(directions)?;
        let mut out = self.vectors().zeros(v.len(), v.columns())?;
        self.apply(curvature, &v, &mut out).await?;
        let products = self.vectors().download(&out).await?;
        ensure_number("a product with the curvature", self.precision(), &products)?;
        Ok(products)
    }

    /// Directions, one after the other, as a vector of as many columns.
    ///
    /// # Errors
    /// As [`Engine::product`].
    pub fn upload_directions(&self, directions: &[f64]) -> Result<Vector> {
        let n = self.problem.network().parameter_count();
        self.vectors().upload(directions, self.directions(directions, n, "the parameter count")?)
    }

    /// How many directions of `n` numbers, which are `what`, these are.
    ///
    /// # Errors
    /// As [`Engine::upload_directions`].
    pub(crate) fn directions(&self, directions: &[f64], n: usize, what: &str) -> Result<usize> {
        ensure!(
            !directions.is_empty() && directions.len().is_multiple_of(n),
            InvalidParameters,
            "directions have {} values, but must have {n} ({what}) each",
            directions.len()
        );
        crate::error::ensure_finite("directions", directions)?;
        for (i, direction) in directions.chunks_exact(n).enumerate() {
            let name = || format!("the {n} numbers of direction {i}");
            ensure_in_range(self.precision(), direction.iter().copied(), name)?;
        }
        Ok(directions.len() / n)
    }

    /// Mean loss and accuracy at θ, which need not be the prepared point.
    ///
    /// # Errors
    /// As [`Engine::prepare`]; `NotFinite` where the loss overflows.
    pub async fn evaluate(&self, parameters: &[f64]) -> Result<Evaluation> {
        let found = self.evaluate_anywhere(&self.upload_parameters(parameters)?).await?;
        ensure_number("the loss", self.precision(), &[found.loss])?;
        Ok(found)
    }

    /// As [`Engine::evaluate`], for searches that may meet a loss that overflows.
    pub(crate) async fn evaluate_anywhere(&self, theta: &Vector) -> Result<Evaluation> {
        let mut out = self.vectors().zeros(2, 1)?;
        self.evaluate_into(theta, &mut out, 0).await?;
        let out = self.vectors().download(&out).await?;
        Ok(Evaluation { loss: out[0], accuracy: out[1] })
    }
}

/// Loss and accuracy over a problem's samples.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Evaluation {
    /// Mean loss.
    pub loss: f64,
    /// Share of samples whose largest output is the target's; 0 for squared error.
    pub accuracy: f64,
}
