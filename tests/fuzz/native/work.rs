//! Work on a problem by the names and options of the package's methods.

use isoflat::dinh::{self, BoxOptions};
use isoflat::engine::{Curvature, Engine};
use isoflat::landscape::{Axis, Direction, Normalization, landscape};
use isoflat::linalg::{Eigenpair, Goal, Lanczos, PowerIteration, StochasticLanczos};
use isoflat::measure::sharpness::{Noise, Region, SharpnessOptions, average_sharpness, epsilon_sharpness};
use isoflat::measure::{Known, Measure, MeasureOptions, TraceMethod, diagonal_by, measure, petzka, trace_by};
use isoflat::operator::{OperatorKind, SymmetricOperator};
use isoflat::space::{SecondOrder, SpaceCurvature, SpaceKind};
use isoflat::symmetry::Transformation;
use isoflat::train::{Optimizer, TrainOptions, train_in};
use isoflat::{Control, Error, ErrorCode, ReportOptions, Result, report_at};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// One piece of work at one point.
pub struct Work<'a, 'c> {
    pub engine: &'a Engine,
    pub theta: &'a [f64],
    pub control: &'a Control<'c>,
    pub piece: &'a Value,
}

fn json_of(pair: &Eigenpair) -> Value {
    json!({ "value": pair.value, "residual": pair.residual, "converged": pair.converged })
}

impl Work<'_, '_> {
    fn option(&self, name: &str) -> &Value {
        &self.piece["options"][name]
    }

    fn count(&self, name: &str, default: usize) -> usize {
        self.option(name).as_u64().map_or(default, |count| count as usize)
    }

    fn number(&self, name: &str, default: f64) -> f64 {
        self.option(name).as_f64().unwrap_or(default)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.option(name).as_str()
    }

    fn seed(&self) -> u64 {
        self.option("seed").as_u64().unwrap_or(0)
    }

    /// An option of some type of the crate's own; absent ones are the default.
    fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        match self.option(name) {
            Value::Null => Ok(None),
            value => serde_json::from_value(value.clone()).map(Some).map_err(|_| {
                // The package's face reads options itself; their sentences are not what is tried here.
                Error::new(ErrorCode::InvalidOption, format!("the harness could not read {name}"))
            }),
        }
    }

    fn operator(&self) -> Result<OperatorKind> {
        OperatorKind::from_name(self.text("operator").unwrap_or("hessian"))
    }

    fn measuring(&self) -> MeasureOptions {
        let defaults = MeasureOptions::default();
        MeasureOptions {
            epsilon: self.number("epsilon", defaults.epsilon),
            probes: self.count("probes", defaults.probes),
            tolerance: self.option("tolerance").as_f64(),
            max_products: self.count("maxProducts", defaults.max_products),
            seed: self.seed(),
            ..defaults
        }
    }

    fn measures(&self) -> Result<Vec<&'static Measure>> {
        match self.read::<Vec<String>>("measures")? {
            None => Ok(Measure::defined_for(self.engine.problem().network()).collect()),
            Some(keys) => keys.iter().map(|key| Measure::from_key(key)).collect(),
        }
    }

    /// Does the work of this name.
    pub async fn run(&self, name: &str) -> Result<Value> {
        let Self { engine, theta, control, .. } = *self;
        match name {
            "evaluate" => Ok(json!(engine.evaluate(theta).await?)),
            "measure" => {
                let values = measure(engine, theta, &self.measures()?, &self.measuring(), control).await?;
                Ok(json!({ "values": values }))
            }
            "invariance" => {
                let maps: Vec<Transformation> = self.read("transformations")?.unwrap_or_default();
                let (measures, options) = (self.measures()?, self.measuring());
                let table = isoflat::invariance::invariance(engine, theta, &measures, &maps, &options, control);
                Ok(json!(table.await?))
            }
            "report" => {
                let options =
                    ReportOptions { sections: self.read("sections")?, measure: self.measuring(), ..Default::default() };
                let report = report_at(engine, theta, &options, control).await?;
                Ok(json!(report))
            }
            "landscape" => self.landscape().await,
            "train" => self.train().await,
            "sharpness" | "averageSharpness" => self.sharpness(name).await,
            "sharpen" | "volumeFlatness" | "manyLargeEigenvalues" | "constantInBall" => self.dinh(name).await,
            _ => {
                engine.prepare(theta).await?;
                self.at_the_point(name).await
            }
        }
    }

    async fn at_the_point(&self, name: &str) -> Result<Value> {
        let Self { engine, theta, control, .. } = *self;
        match name {
            "outputs" => Ok(json!(engine.outputs().await?)),
            "gradient" => Ok(json!(engine.gradient().await?)),
            "product" => {
                let direction: Vec<f64> = serde_json::from_value(self.piece["direction"].clone()).unwrap_or_default();
                let curvature = match self.text("operator") {
                    Some("gauss_newton") => Curvature::GaussNewton,
                    _ => Curvature::Hessian,
                };
                Ok(json!(engine.product(curvature, &direction).await?))
            }
            "petzka" => {
                let kappa = petzka::kappa(engine, &self.measuring(), control).await?;
                let traces = petzka::traces(engine, control).await?;
                let kappa: Vec<Value> = kappa.iter().map(json_of).collect();
                Ok(json!({ "kappa": kappa, "kappaTrace": traces.kappa_trace }))
            }
            "noiseInjection" => {
                let (layer, draws) = (self.count("layer", 0), self.count("draws", 10));
                let (delta, options) = (self.number("delta", 0.1), self.measuring());
                Ok(json!(petzka::noise_injection(engine, theta, layer, delta, draws, &options, control).await?))
            }
            "trace" | "diagonal" | "density" | "eigenvalues" => self.spectrum(name).await,
            other => panic!("no work is named {other}"),
        }
    }

    async fn spectrum(&self, name: &str) -> Result<Value> {
        let Self { engine, control, .. } = *self;
        let (kind, probes, seed) = (self.operator()?, self.count("probes", 100), self.seed());
        if name == "eigenvalues"
            && let Some(space) = self.read::<SpaceKind>("space")?
        {
            let open = space.open(engine.problem().network(), self.theta)?;
            engine.prepare(&open.parameters).await?;
            let curvature = SpaceCurvature::new(engine, &*open.space, Curvature::Hessian, SecondOrder::Included)?;
            return self.eigenvalues(&curvature).await;
        }
        match name {
            "trace" => {
                let method = self.read::<TraceMethod>("method")?.unwrap_or_default();
                let (found, method) = trace_by(engine, kind, method, probes, seed, control).await?;
                Ok(json!({ "value": found.value, "standardError": found.standard_error, "method": method }))
            }
            "diagonal" => {
                let (found, _) = diagonal_by(engine, kind, probes, seed, control).await?;
                let errors = if found.probes > 0 { found.standard_errors } else { Vec::new() };
                Ok(json!({ "values": found.values, "standardErrors": errors }))
            }
            "density" => {
                let defaults = StochasticLanczos::default();
                let lanczos = StochasticLanczos {
                    probes: self.count("probes", defaults.probes),
                    steps: self.count("steps", defaults.steps),
                    points: self.count("points", defaults.points),
                    seed,
                    ..defaults
                };
                let options = MeasureOptions::default();
                Ok(json!(Known::new(engine, &options, control).density(kind, &lanczos).await?))
            }
            _ => self.eigenvalues(&*kind.operator(engine).await?).await,
        }
    }

    async fn eigenvalues(&self, operator: &dyn SymmetricOperator) -> Result<Value> {
        let (tolerance, max_products) = (self.option("tolerance").as_f64(), self.count("maxProducts", 1000));
        if self.text("method") == Some("power") {
            let power = PowerIteration { tolerance, max_products, seed: self.seed(), vector: false };
            let found = power.run(operator, self.control).await?;
            return Ok(json!({ "top": [json_of(&found.pair)], "converged": found.pair.converged }));
        }
        let goal = Goal::Extremes { top: self.count("top", 1), bottom: self.count("bottom", 0) };
        let lanczos = Lanczos { goal, tolerance, max_products, seed: self.seed(), ..Lanczos::default() };
        let found = lanczos.run(operator, self.control).await?;
        let pairs = |list: &[Eigenpair]| list.iter().map(json_of).collect::<Vec<_>>();
        Ok(json!({ "top": pairs(&found.top), "bottom": pairs(&found.bottom), "converged": found.converged }))
    }

    async fn landscape(&self) -> Result<Value> {
        let points = self.count("points", 21);
        let axis = |seed| (Direction::Random { seed }, Axis { from: -1.0, to: 1.0, points });
        let axes: Vec<_> = (0..self.option("directions").as_array().map_or(1, Vec::len) as u64).map(axis).collect();
        Ok(json!(landscape(self.engine, self.theta, &axes, Normalization::None, self.control).await?))
    }

    async fn train(&self) -> Result<Value> {
        let defaults = TrainOptions::default();
        let rate = self.option("optimizer")["learningRate"].as_f64();
        let options = TrainOptions {
            optimizer: rate.map_or(defaults.optimizer, Optimizer::sgd),
            batch_size: self.count("batchSize", defaults.batch_size),
            epochs: self.count("epochs", defaults.epochs),
            seed: self.seed(),
            ..defaults
        };
        let space: SpaceKind = self.read("space")?.unwrap_or_default();
        let open = space.open(self.engine.problem().network(), self.theta)?;
        let training = train_in(self.engine, &*open.space, &open.parameters, None, &options, self.control).await?;
        Ok(json!({
            "parameters": training.parameters,
            "coordinates": training.coordinates,
            "history": training.history,
            "steps": training.steps,
        }))
    }

    async fn sharpness(&self, name: &str) -> Result<Value> {
        let Self { engine, theta, control, .. } = *self;
        let defaults = SharpnessOptions::default();
        let options = SharpnessOptions {
            restarts: Some(self.count("restarts", 4)),
            max_iterations: self.count("maxIterations", defaults.max_iterations),
            pairs: Some(self.count("pairs", 50)),
            sigma: self.number("sigma", defaults.sigma),
            seed: self.seed(),
            ..defaults
        };
        if name == "averageSharpness" {
            return Ok(json!(average_sharpness(engine, theta, Noise::Plain, &options, control).await?));
        }
        let region = self.read("region")?.unwrap_or(Region::Ball);
        let epsilon = self.number("epsilon", 1e-3);
        Ok(json!(epsilon_sharpness(engine, theta, region, epsilon, &options, control).await?))
    }

    async fn dinh(&self, name: &str) -> Result<Value> {
        let Self { engine, theta, control, .. } = *self;
        let target = self.number("target", 10.0);
        match name {
            "sharpen" => {
                let options = dinh::SharpenOptions { target, layer: None, powers_of_two: false };
                Ok(json!(dinh::sharpen(engine, theta, &options, &self.measuring(), control).await?))
            }
            "volumeFlatness" => {
                let defaults = BoxOptions::default();
                let options = BoxOptions {
                    boxes: self.count("boxes", defaults.boxes),
                    samples: self.count("samples", defaults.samples),
                    ..defaults
                };
                Ok(json!(dinh::volume_flatness(engine, theta, &options, control).await?))
            }
            "manyLargeEigenvalues" => {
                Ok(json!(dinh::many_large_eigenvalues(engine, theta, target, None, false, control).await?))
            }
            _ => {
                let options = SharpnessOptions::default();
                let (region, epsilon) = (self.read("region")?.unwrap_or(Region::Ball), self.number("epsilon", 1e-3));
                Ok(json!(dinh::constant_in_ball(engine, theta, region, epsilon, &options, control).await?))
            }
        }
    }
}
