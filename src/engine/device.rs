//! Where engines compute, and how an executor for a problem is made there.

use std::fmt;
use std::rc::Rc;

use super::cpu::{self, cpu_executor, cpu_info};
use super::executor::{BackendInfo, Executor, Precision};
use super::gpu::{self, AdapterChoice, GpuContext, GpuExecutor, GpuOptions, Tune, Tuning};
use super::journal::{Journal, journaled};
use super::merged;
use super::sharded::{self, Channel, Team, ranked_executor, share_of, team_executor};
use crate::control::Control;
use crate::error::{ErrorCode, Result};
use crate::problem::Problem;
use crate::ranks::Ranks;

/// Which device to compute on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backend {
    /// A hardware GPU if there is one, otherwise the CPU: GPU APIs that run on a CPU are slower than the CPU executor.
    #[default]
    Auto,
    /// A GPU through wgpu, a software one if need be; in f32.
    Gpu,
    /// The CPU.
    Cpu,
}

/// Where engines compute. Cheap to clone; engines on one device share pipelines and may exchange vectors.
#[derive(Clone)]
pub struct Device {
    pub(super) info: BackendInfo,
    pub(super) gpu: Option<Rc<GpuContext>>,
    pub(super) helpers: Option<Rc<Channel>>,
    pub(super) memory_budget: Option<u64>,
    pub(super) ranks: Option<Rc<Ranks>>,
    pub(super) journal: Option<Rc<Journal>>,
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("info", &self.info).finish_non_exhaustive()
    }
}

impl Device {
    /// The CPU, in this precision.
    pub fn cpu(precision: Precision) -> Self {
        Self { info: cpu_info(precision), gpu: None, helpers: None, memory_budget: None, ranks: None, journal: None }
    }

    /// The device of a backend; `cpu_precision` where it is the CPU.
    ///
    /// # Errors
    /// `BackendUnavailable` where a GPU was asked for and there is none.
    pub async fn request(backend: Backend, cpu_precision: Precision) -> Result<Self> {
        Self::request_on(backend, cpu_precision, AdapterChoice::Best).await
    }

    /// The same, on one of several GPUs.
    ///
    /// # Errors
    /// As [`Device::request`]; `InvalidOption` where there is no adapter of the number that was chosen.
    pub async fn request_on(backend: Backend, cpu_precision: Precision, adapter: AdapterChoice) -> Result<Self> {
        let allow_software = match backend {
            Backend::Cpu => return Ok(Self::cpu(cpu_precision)),
            Backend::Auto => false,
            Backend::Gpu => true,
        };
        match GpuContext::request(GpuOptions { allow_software, adapter, ..GpuOptions::default() }).await {
            Ok(context) => {
                let info = context.info().clone();
                Ok(Self { info, gpu: Some(Rc::new(context)), ..Self::cpu(cpu_precision) })
            }
            Err(error) if backend == Backend::Auto && error.code != ErrorCode::InvalidOption => {
                Ok(Self::cpu(cpu_precision))
            }
            Err(error) => Err(error),
        }
    }

    /// What computes.
    pub fn info(&self) -> &BackendInfo {
        &self.info
    }

    /// The same device, whose engines keep at most about this many bytes of data and activations between passes. What does
    /// not fit is computed again for every product: slower, with the same results.
    #[must_use]
    pub fn with_memory_budget(self, bytes: u64) -> Self {
        Self { memory_budget: Some(bytes), ..self }
    }

    /// The CPU, whose engines share their samples with these helpers where that is worthwhile. Natively the executor has
    /// threads of its own; helpers are for where threads have no memory in common, as in a page.
    pub fn cpu_with_helpers(precision: Precision, team: Rc<dyn Team>) -> Self {
        Self::cpu_with_channel(precision, Rc::new(Channel::new(team)))
    }

    pub(super) fn cpu_with_channel(precision: Precision, helpers: Rc<Channel>) -> Self {
        let info = cpu::cpu_info_of(precision, helpers.team().helpers() + 1);
        Self { info, helpers: Some(helpers), ..Self::cpu(precision) }
    }

    /// The same device as one of many: its engines have a share of their problem's samples, and what they find is what those of all ranks
    /// find together. Every rank does the same work on engines like these, in the same order. A problem that is held whole is divided; one
    /// that is a [`Problem::share`] goes with the others' shares.
    ///
    /// # Errors
    /// `InvalidOption` where the ranks' devices are no match; `DeviceLost` where a rank is gone.
    pub fn with_ranks(self, ranks: Rc<Ranks>) -> Result<Self> {
        ranks.ensure_same("backend", &[self.info.backend.as_bytes()])?;
        ranks.ensure_same("precision", &[self.info.precision.name().as_bytes()])?;
        Ok(Self { info: self.info.of_ranks(ranks.size()), ranks: Some(ranks), ..self })
    }

    /// The same device, whose engines keep what their passes find in a journal, and make no pass that is in there already. Work on it is to
    /// be the same from its beginning as when the journal was begun.
    #[must_use]
    pub fn with_journal(self, journal: Rc<Journal>) -> Self {
        Self { journal: Some(journal), ..self }
    }

    /// The journal, where there is one.
    pub fn journal(&self) -> Option<&Rc<Journal>> {
        present(&self.journal)
    }

    /// The same device by itself: its engines have all of their problem's samples, and every pass is made.
    #[must_use]
    pub fn alone(&self) -> Self {
        let info = BackendInfo { ranks: None, ..self.info.clone() };
        Self { info, ranks: None, journal: None, ..self.clone() }
    }

    /// The ranks that it is one of.
    pub fn ranks(&self) -> Option<&Rc<Ranks>> {
        present(&self.ranks)
    }

    /// The largest of all ranks' numbers; this one, where there are none.
    ///
    /// # Errors
    /// `DeviceLost` where a rank is gone.
    pub(crate) fn slowest(&self, own: f64) -> Result<f64> {
        self.ranks().map_or(Ok(own), |ranks| ranks.largest(own))
    }

    /// What of a problem an engine on this device needs to be here: a device with ranks has a share of it, others all.
    ///
    /// # Errors
    /// `InvalidProblem` for more ranks than samples; `TooLarge`; `DeviceLost` where a rank is gone.
    pub fn share(&self, problem: &Problem) -> Result<Problem> {
        match present(&self.ranks) {
            Some(ranks) => share_of(ranks, problem),
            None => Ok(problem.clone()),
        }
    }

    /// The same GPU, whose steps take the tiles that were measured to be the fastest on it, with what was measured now, to be kept. For
    /// engines that are made of it from now on: some results differ by rounding from those of before. A CPU stays as it is.
    ///
    /// # Errors
    /// `Aborted`; where it is to be measured anew, what [`tune`](gpu::tune) says. Where nobody has asked for it and it fails, the tiles
    /// are those that are usual on such an adapter.
    pub async fn tuned(self, when: Tune, kept: &[Tuning], control: &Control<'_>) -> Result<(Self, Option<Tuning>)> {
        let Some(context) = &self.gpu else { return Ok((self, None)) };
        let is_software = self.info.is_software;
        let known = kept.iter().find(|tuning| tuning.is_of(&self.info));
        let measured = match (when, known) {
            (Tune::Never, _) => None,
            (Tune::Auto, Some(known)) => {
                context.take(*known.tiles());
                None
            }
            (Tune::Auto, None) if is_software => None,
            _ => {
                let adapter = context.choice();
                let options = GpuOptions { allow_software: is_software, adapter, ..GpuOptions::default() };
                match gpu::tune(options, control).await {
                    Ok(tuning) => Some(tuning).filter(|tuning| tuning.is_of(&self.info)),
                    Err(error) if when == Tune::Anew || error.code == ErrorCode::Aborted => return Err(error),
                    Err(_) => None,
                }
            }
        };
        if let Some(tuning) = &measured {
            context.take(*tuning.tiles());
        }
        Ok((self, measured))
    }

    /// The same device, which says why it has fewer threads than were asked for.
    #[must_use]
    pub fn with_threads_reason(mut self, reason: impl Into<String>) -> Self {
        self.info.threads_reason = Some(reason.into());
        self
    }

    /// Destroys a GPU device, so that tests and demonstrations can see what a lost device does. No effect on the CPU.
    pub fn destroy(&self) {
        if let Some(context) = &self.gpu {
            context.destroy();
        }
    }

    pub(super) fn executor(&self, problem: &Problem) -> Result<Box<dyn Executor>> {
        let executor = match present(&self.ranks) {
            Some(ranks) => {
                let device = self.clone();
                ranked_executor(ranks, problem, move |own| device.executor_alone(own))?
            }
            None => self.executor_alone(problem)?,
        };
        Ok(match self.journal() {
            Some(journal) => journaled(journal, executor),
            None => executor,
        })
    }

    fn executor_alone(&self, problem: &Problem) -> Result<Box<dyn Executor>> {
        if let Some(context) = &self.gpu {
            // Those of a machine's ranks that have the same adapter.
            let sharing = self.neighbours().div_ceil(self.info.adapters.unwrap_or(1));
            let budget = self.memory_budget.unwrap_or_else(|| gpu::usual_budget(&self.info) / sharing as u64);
            return Ok(Box::new(GpuExecutor::new(context.clone(), problem, Some(budget))?));
        }
        // Where somebody has said how much memory there is, one set of inputs has to do.
        if self.memory_budget.is_none()
            && let Some(merged) = merged::executor(self, problem)?
        {
            return Ok(merged);
        }
        self.cpu_executor(problem)
    }

    pub(super) fn cpu_executor(&self, problem: &Problem) -> Result<Box<dyn Executor>> {
        let precision = self.info.precision;
        match &self.helpers {
            Some(helpers) if sharded::is_worthwhile(helpers.team(), problem) => {
                team_executor(helpers.clone(), problem, precision, self.memory_budget)
            }
            _ => {
                let budget = self.memory_budget.unwrap_or(cpu::MEMORY_BUDGET / self.neighbours() as u64);
                cpu_executor(problem, precision, Some(budget))
            }
        }
    }

    /// Ranks on this machine, which share its memory.
    fn neighbours(&self) -> usize {
        self.ranks().map_or(1, |ranks| ranks.on_machine().1)
    }
}

/// Ranks or a journal, which only native programs have: all that is for them alone is left out of a WebAssembly module.
pub(super) fn present<T>(of: &Option<Rc<T>>) -> Option<&Rc<T>> {
    if cfg!(target_arch = "wasm32") { None } else { of.as_ref() }
}
