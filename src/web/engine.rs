//! `Engine` in JavaScript.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use js_sys::Promise;
use wasm_bindgen::prelude::*;

use super::convert::{float64, numbers, parameters, set, to_js};
use super::options::{EngineOptions, LandscapeOption, MeasureOption, NoOptions, Parts, ProductOptions, ReportOption};
use super::problem::Problem;
use super::run::{Queue, thrown};
use super::threads::cpu_with_threads;
use crate::control::{Control, Progress};
use crate::engine::gpu::Tuning;
use crate::engine::{Device, Engine as Inner, ensure_number};
use crate::error::Result;
use crate::landscape::landscape_rows;
use crate::linalg::Eigenpair;
use crate::memory::room;
use crate::operator::{OperatorKind, SymmetricOperator};
use crate::problem::Problem as InnerProblem;

/// Problems whose data an engine keeps on its device.
const LOADED: usize = 4;

/// Directions whose products are computed together: who stops waits for no more.
const TOGETHER: usize = 16;

thread_local! {
    /// All engines, to be told of problems that are freed.
    static ENGINES: RefCell<Vec<Weak<Shared>>> = RefCell::default();
}

/// Lets go what engines keep of problems that nobody has a handle of; work that is under way keeps its own.
pub(super) fn unload_freed() {
    let engines = ENGINES.with_borrow_mut(|engines| {
        engines.retain(|engine| engine.strong_count() > 0);
        engines.clone()
    });
    for engine in engines.iter().filter_map(Weak::upgrade) {
        engine.unload_freed();
    }
}

/// An engine's handle.
#[wasm_bindgen(skip_typescript)]
pub struct Engine {
    shared: Rc<Shared>,
    measured: Option<Tuning>,
}

struct Shared {
    device: Device,
    queue: Queue,
    /// Most recently used last.
    loaded: RefCell<Vec<(u64, Rc<Inner>)>>,
}

impl Shared {
    fn unload_freed(&self) {
        let freed: Vec<_> = self.loaded.borrow_mut().extract_if(.., |(id, _)| !Problem::is_alive(*id)).collect();
        // Only now that nothing is borrowed.
        drop(freed);
    }

    /// The engine of a problem, with its data on the device; it is kept for later calls as long as the problem has a handle.
    fn load(&self, id: u64, problem: &InnerProblem) -> Result<Rc<Inner>> {
        let mut loaded = self.loaded.borrow_mut();
        let engine = match loaded.iter().position(|(known, _)| *known == id) {
            Some(i) => loaded.remove(i).1,
            None => {
                if loaded.len() == LOADED {
                    loaded.remove(0);
                }
                Rc::new(Inner::new(&self.device, problem)?)
            }
        };
        if Problem::is_alive(id) {
            loaded.push((id, engine.clone()));
        }
        Ok(engine)
    }
}

/// What a method's call carries into its turn: nothing of it borrows from JavaScript.
pub(super) struct Call {
    shared: Rc<Shared>,
    id: u64,
    pub problem: InnerProblem,
    parameters: std::result::Result<Vec<f64>, JsValue>,
    pub parts: Parts,
    /// `train`'s validation problem: found when the call is made, since its handle may be freed before its turn.
    validation: std::result::Result<Option<(u64, InnerProblem)>, JsValue>,
}

impl Call {
    pub fn engine(&self) -> std::result::Result<Rc<Inner>, JsValue> {
        thrown(self.shared.load(self.id, &self.problem))
    }

    pub fn parameters(&self) -> std::result::Result<&[f64], JsValue> {
        match &self.parameters {
            Ok(parameters) => Ok(parameters),
            Err(error) => Err(error.clone()),
        }
    }

    /// An engine prepared at the call's parameters.
    pub async fn prepared(&self) -> std::result::Result<Rc<Inner>, JsValue> {
        let engine = self.engine()?;
        thrown(engine.prepare(self.parameters()?).await)?;
        Ok(engine)
    }

    /// The engine of `train`'s validation problem, if there is one.
    pub fn validation(&self) -> std::result::Result<Option<Rc<Inner>>, JsValue> {
        match self.validation.clone()? {
            Some((id, problem)) => Ok(Some(thrown(self.shared.load(id, &problem))?)),
            None => Ok(None),
        }
    }

    /// The control, after a first look at whether the caller has stopped the work already.
    pub async fn control(&self) -> std::result::Result<Control<'static>, JsValue> {
        let control = self.parts.control();
        thrown(control.breathe().await)?;
        Ok(control)
    }

    /// What the engine computes on, for work that makes engines of its own.
    pub fn device(&self) -> &Device {
        &self.shared.device
    }

    pub fn backend(&self) -> std::result::Result<JsValue, JsValue> {
        to_js(self.shared.device.info())
    }
}

impl Engine {
    pub(super) fn call<F>(&self, problem: &Problem, parameters_value: &JsValue, options: &JsValue, work: F) -> Promise
    where
        F: AsyncFnOnce(Call) -> std::result::Result<JsValue, JsValue> + 'static,
    {
        let call = self.open(problem, parameters_value, options);
        let stopped = call.parts.stopped.clone();
        self.shared.queue.push(&stopped, Box::pin(async move { work(call).await }))
    }

    /// What a call works with.
    fn open(&self, problem: &Problem, parameters_value: &JsValue, options: &JsValue) -> Call {
        let parts = Parts::new(options);
        let validation = match &parts.validation {
            handle if handle.is_undefined() || handle.is_null() => Ok(None),
            handle => Problem::find(handle, "train: validation").map(Some),
        };
        let parameters = parameters(parameters_value);
        let (id, problem) = (problem.id, problem.inner.clone());
        Call { shared: self.shared.clone(), id, problem, parameters, parts, validation }
    }
}

#[wasm_bindgen]
impl Engine {
    /// An engine on the backend that is asked for.
    pub async fn create(options_value: JsValue) -> std::result::Result<Engine, JsValue> {
        let parts = Parts::new(&options_value);
        let found: EngineOptions = parts.parse("Engine.create")?;
        found.check()?;
        let (backend, precision) = found.parts()?;
        let (memory_budget, threads) = (found.memory_budget()?, found.threads()?);
        let (tune, tunings) = found.tuning();
        let device = thrown(Device::request(backend, precision).await)?;
        let (mut device, measured) = thrown(device.tuned(tune, &tunings, &parts.control()).await)?;
        if device.info().backend == "cpu" {
            device = cpu_with_threads(precision, threads).await;
        } else if threads > 1 {
            device = device.with_threads_reason("the GPU computes");
        }
        if let Some(bytes) = memory_budget {
            device = device.with_memory_budget(bytes);
        }
        let shared = Rc::new(Shared { device, queue: Queue::new(), loaded: RefCell::new(Vec::new()) });
        ENGINES.with_borrow_mut(|engines| engines.push(Rc::downgrade(&shared)));
        Ok(Self { shared, measured })
    }

    /// What was measured of the GPU when this was made, to be kept: its name, and JSON.
    #[wasm_bindgen(getter)]
    pub fn measured(&self) -> Option<Vec<String>> {
        self.measured.as_ref().map(|tuning| vec![tuning.name(), tuning.to_json()])
    }

    /// What computes.
    #[wasm_bindgen(getter)]
    pub fn info(&self) -> std::result::Result<JsValue, JsValue> {
        to_js(self.shared.device.info())
    }

    /// Time and memory of work to come.
    pub fn estimate(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, async |call| {
            let NoOptions {} = call.parts.parse("estimate")?;
            call.control().await?;
            to_js(&thrown(call.engine()?.estimate(call.parameters()?).await)?)
        })
    }

    /// Loss and accuracy.
    pub fn evaluate(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, async |call| {
            let NoOptions {} = call.parts.parse("evaluate")?;
            call.control().await?;
            to_js(&thrown(call.engine()?.evaluate(call.parameters()?).await)?)
        })
    }

    /// Outputs of all samples.
    pub fn outputs(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, async |call| {
            let NoOptions {} = call.parts.parse("outputs")?;
            call.control().await?;
            Ok(float64(&thrown(call.prepared().await?.outputs().await)?))
        })
    }

    /// ∇L.
    pub fn gradient(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, async |call| {
            let NoOptions {} = call.parts.parse("gradient")?;
            call.control().await?;
            Ok(float64(&thrown(call.prepared().await?.gradient().await)?))
        })
    }

    /// Products of an operator with directions.
    pub fn product(&self, problem: &Problem, parameters: JsValue, directions: JsValue, options: JsValue) -> Promise {
        let directions = numbers(&directions, "directions", crate::ErrorCode::InvalidParameters);
        self.call(problem, &parameters, &options, async move |call| {
            let found: ProductOptions = call.parts.parse("product")?;
            let control = call.control().await?;
            let engine = call.prepared().await?;
            let kind = found.operator()?;
            Ok(float64(&thrown(products(&engine, kind, &directions?, &control).await)?))
        })
    }

    /// Measures with what says how far to trust them.
    pub fn measure(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, async |call| {
            let found: MeasureOption = call.parts.parse("measure")?;
            let measures = found.measures(call.problem.network())?;
            let control = call.control().await?;
            let engine = call.engine()?;
            let values =
                crate::measure::measure(&engine, call.parameters()?, &measures, &found.options(), &control).await;
            let out = to_js(&serde_json::json!({
                "parameterCount": engine.problem().network().parameter_count(),
                "samples": engine.problem().samples(),
            }))?;
            set(&out, "values", &to_js(&thrown(values)?)?);
            set(&out, "backend", &call.backend()?);
            Ok(out)
        })
    }

    /// The invariance table.
    pub fn invariance(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, async |call| {
            let found: MeasureOption = call.parts.parse("invariance")?;
            let (measures, transformations) = (found.measures(call.problem.network())?, found.transformations()?);
            let control = call.control().await?;
            let engine = call.engine()?;
            let options = found.options();
            let table = crate::invariance::invariance(
                &engine,
                call.parameters()?,
                &measures,
                transformations,
                &options,
                &control,
            );
            let out = to_js(&thrown(table.await)?)?;
            set(&out, "backend", &call.backend()?);
            Ok(out)
        })
    }

    /// A line or a grid of losses.
    pub fn landscape(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, async |call| {
            let found: LandscapeOption = call.parts.parse("landscape")?;
            let (directions, normalization) = (found.directions(&call.parts)?, found.normalization()?);
            let control = call.control().await?;
            let engine = call.engine()?;
            let parameters = call.parameters()?;
            let trajectory = found.trajectory(&call.parts)?;
            let (trajectory, first) = (trajectory.as_ref(), found.first_row());
            let landscape =
                landscape_rows(&engine, parameters, trajectory, &directions, normalization, first, &control);
            let landscape = thrown(landscape.await)?;
            let out = to_js(&serde_json::json!({ "center": landscape.center, "notFinite": landscape.not_finite }))?;
            set(&out, "s", &float64(&landscape.s));
            set(&out, "t", &float64(&landscape.t));
            set(&out, "loss", &float64(&landscape.loss));
            set(&out, "accuracy", &float64(&landscape.accuracy));
            if let Some(path) = &landscape.path {
                let found = to_js(&serde_json::json!({ "explained": path.explained, "share": path.share }))?;
                set(&found, "s", &float64(&path.s));
                set(&found, "t", &float64(&path.t));
                set(&out, "path", &found);
            }
            set(&out, "backend", &call.backend()?);
            Ok(out)
        })
    }

    /// All that was asked for; a wish to finish hands over what there is.
    pub fn report(&self, problem: &Problem, parameters: JsValue, options: JsValue) -> Promise {
        self.call(problem, &parameters, &options, async |call| {
            let options = call.parts.parse::<ReportOption>("report")?.options();
            let control = call.control().await?;
            let engine = call.engine()?;
            to_js(&thrown(crate::report::report_at(&engine, call.parameters()?, &options, &control).await)?)
        })
    }

    /// Destroys the GPU device.
    #[wasm_bindgen(js_name = loseDevice)]
    pub fn lose_device(&self) {
        self.shared.device.destroy();
    }
}

/// Eigenpairs, with their vectors if they are there.
pub(super) fn pairs(pairs: &[Eigenpair]) -> std::result::Result<JsValue, JsValue> {
    let list = js_sys::Array::new();
    for pair in pairs {
        let item = to_js(&serde_json::json!({
            "value": pair.value,
            "residual": pair.residual,
            "converged": pair.converged,
        }))?;
        if let Some(vector) = &pair.vector {
            set(&item, "vector", &float64(vector));
        }
        list.push(&item);
    }
    Ok(list.into())
}

/// An operator's products with these directions, one after the other.
async fn products(engine: &Inner, kind: OperatorKind, directions: &[f64], control: &Control<'_>) -> Result<Vec<f64>> {
    let operator = kind.operator(engine).await?;
    let n = operator.len();
    let of_part = kind.part.map_or(String::new(), |_| format!(" of {}", kind.name()));
    let count = engine.directions(directions, n, &format!("the parameter count{of_part}"))?;
    let mut found = room("products", directions.len())?;
    for some in directions.chunks(TOGETHER * n) {
        control.step(Progress::new("products", found.len() / n, count)).await?;
        let v = engine.vectors().upload(some, some.len() / n)?;
        let mut out = engine.vectors().zeros(v.len(), v.columns())?;
        operator.apply(&v, &mut out).await?;
        found.extend(engine.vectors().download(&out).await?);
    }
    ensure_number("a product with the curvature", engine.info().precision, &found)?;
    Ok(found)
}
