//! How long work reports, yields and stops.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use crate::error::{Result, bail};

/// A boxed future that need not be `Send`: isoflat runs on one thread, in a page or in `pollster`.
pub type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Where long work stands.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Progress {
    /// What is being computed, e.g. `"training"` or `"hessian eigenvalues"`.
    pub phase: String,
    /// Steps done.
    pub done: usize,
    /// Steps in all, as far as known now (an iteration that converges early stops before).
    pub total: usize,
    /// The estimate so far, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<f64>,
    /// Its residual or standard error, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
    /// Landscapes: the losses of the row that is done with this step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub losses: Option<Vec<f64>>,
    /// Likewise the accuracies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracies: Option<Vec<f64>>,
    /// More numbers by name, such as training's `loss` and `accuracy`.
    #[serde(flatten)]
    pub numbers: std::collections::BTreeMap<&'static str, f64>,
}

impl Progress {
    /// Step `done` of `total` in `phase`.
    pub fn new(phase: impl Into<String>, done: usize, total: usize) -> Self {
        let numbers = Default::default();
        let (losses, accuracies) = (None, None);
        Self { phase: phase.into(), done, total, estimate: None, residual: None, losses, accuracies, numbers }
    }

    /// The same with the estimate so far and its residual.
    pub fn with_estimate(mut self, estimate: f64, residual: f64) -> Self {
        self.estimate = Some(estimate);
        self.residual = Some(residual);
        self
    }

    /// The same with one more number.
    pub fn with(mut self, name: &'static str, value: f64) -> Self {
        self.numbers.insert(name, value);
        self
    }
}

type OnProgress<'a> = Rc<RefCell<dyn FnMut(&Progress) + 'a>>;

type Wish<'a> = Rc<dyn Fn() -> bool + 'a>;

/// What the caller of long work may do to it. `Control::default()` neither reports nor stops.
///
/// There are two ways to end work early. To stop it ([`Control::stop_when`]) ends everything with `Aborted`, and nothing is
/// handed over. To have it finish ([`Control::finish_when`]) is heard where there is something to hand over, by training and
/// reports: they return what they have.
#[derive(Clone, Default)]
pub struct Control<'a> {
    progress: Option<OnProgress<'a>>,
    stopped: Option<Wish<'a>>,
    finishing: Option<Wish<'a>>,
    /// Is this the control of work that can hand over what it has?
    is_finishable: bool,
    breathe: Option<Rc<dyn Fn() -> LocalFuture<'static, ()> + 'a>>,
}

impl<'a> Control<'a> {
    /// Calls `f` with every progress.
    pub fn on_progress(mut self, f: impl FnMut(&Progress) + 'a) -> Self {
        self.progress = Some(Rc::new(RefCell::new(f)));
        self
    }

    /// Stops the work with [`crate::ErrorCode::Aborted`] within a step after `f` says true.
    pub fn stop_when(mut self, f: impl Fn() -> bool + 'a) -> Self {
        self.stopped = Some(Rc::new(f));
        self
    }

    /// Ends training and reports within a step after `f` says true, with what they have; other work goes on.
    pub fn finish_when(mut self, f: impl Fn() -> bool + 'a) -> Self {
        self.finishing = Some(Rc::new(f));
        self
    }

    /// The same for work that can hand over what it has: a wish to finish stops it too. It is that and no stop where the
    /// work fails with `Aborted` and [`Control::is_stopped`] says no.
    pub(crate) fn finishable(&self) -> Self {
        Self { is_finishable: true, ..self.clone() }
    }

    /// Awaits `f()` between steps, so that an event loop can run; `f` decides how often it really yields.
    pub fn breathe_with(mut self, f: impl Fn() -> LocalFuture<'static, ()> + 'a) -> Self {
        self.breathe = Some(Rc::new(f));
        self
    }

    /// Does anybody want to know of progress?
    pub(crate) fn is_watched(&self) -> bool {
        self.progress.is_some()
    }

    /// The same, with every progress changed on its way to the caller.
    pub(crate) fn map_progress(&self, change: impl Fn(Progress) -> Progress + 'a) -> Self {
        let mut mapped = self.clone();
        if let Some(outer) = self.progress.clone() {
            mapped.progress =
                Some(Rc::new(RefCell::new(move |progress: &Progress| (outer.borrow_mut())(&change(progress.clone())))));
        }
        mapped
    }

    /// Reports, lets the event loop run, then fails if the caller wants the work stopped.
    ///
    /// # Errors
    /// `Aborted`.
    pub async fn step(&self, progress: Progress) -> Result<()> {
        if let Some(f) = &self.progress {
            (f.borrow_mut())(&progress);
        }
        self.breathe().await
    }

    /// As [`Control::step`], without a report.
    ///
    /// # Errors
    /// `Aborted`.
    pub async fn breathe(&self) -> Result<()> {
        if let Some(f) = &self.breathe {
            f().await;
        }
        if self.is_stopped() || (self.is_finishable && self.is_finishing()) {
            bail!(Aborted, "stopped by the caller");
        }
        Ok(())
    }

    /// Does the caller want the work stopped, and nothing of it?
    pub fn is_stopped(&self) -> bool {
        self.stopped.as_ref().is_some_and(|f| f())
    }

    /// Does the caller want what there is?
    pub fn is_finishing(&self) -> bool {
        self.finishing.as_ref().is_some_and(|f| f())
    }
}

/// Seconds since some moment.
pub(crate) fn now() -> f64 {
    // `performance` is in pages, workers and Node alike, and finer than the clock, which may also be set.
    #[cfg(target_arch = "wasm32")]
    {
        use wasm_bindgen::JsCast;
        let get = |of: &wasm_bindgen::JsValue, name: &str| js_sys::Reflect::get(of, &name.into()).unwrap_or_default();
        let performance = get(&js_sys::global(), "performance");
        let now = get(&performance, "now");
        let milliseconds = now.dyn_ref::<js_sys::Function>().and_then(|now| now.call0(&performance).ok()?.as_f64());
        milliseconds.unwrap_or_else(js_sys::Date::now) / 1e3
    }
    #[cfg(not(target_arch = "wasm32"))]
    {
        static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
        START.elapsed().as_secs_f64()
    }
}
