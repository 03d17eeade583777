//! The report of a problem file, as JSON with stable keys. What is not built is absent, never null or zero.

use serde_json::{Map, Value, json};

use crate::control::{Control, Progress};
use crate::engine::{Curvature, Device, Engine};
use crate::error::Result;
use crate::linalg::{Eigenpair, Goal, Lanczos, dense_spectrum, hutchinson};
use crate::measure::{MeasureOptions, fisher_rao_norm, path_norm_squared, petzka};
use crate::network::Layer;
use crate::operator::{Metric, OperatorKind, SymmetricOperator};
use crate::problem::ProblemFile;
use crate::symmetry::Transformation;

/// Up to this many parameters the report has exact spectra.
const EXACT_LIMIT: usize = 1024;

/// Eigenvalues listed of the Hessian, and of a Riemannian operator.
const TOP: (usize, usize) = (8, 5);

/// Everything that can be said of a problem file: at its parameters, and after each of its transformations.
///
/// # Errors
/// What [`Engine::new`], [`Engine::prepare`] and [`Transformation::apply`] say; `NotFinite`; `Aborted`.
pub async fn report(
    file: &ProblemFile,
    device: &Device,
    options: &MeasureOptions,
    control: &Control<'_>,
) -> Result<Value> {
    let engine = Engine::new(device, &file.problem)?;
    let reporter = Reporter { engine: &engine, options, control };
    let mut report = Map::new();
    if let Some(name) = &file.name {
        report.insert("name".into(), json!(name));
    }
    report.insert("backend".into(), json!(engine.info()));
    report.insert("parameter_count".into(), json!(file.parameters.len()));
    report.insert("samples".into(), json!(file.problem.samples()));
    report.extend(reporter.at(&file.parameters).await?);

    engine.prepare(&file.parameters)?;
    let width = file.problem.network().output_len();
    report.insert("outputs_first".into(), json!(engine.outputs().await?[..width]));
    report.insert("gradient".into(), json!(engine.gradient().await?));
    if let Some(spaces) = crate::space::report(&engine).await? {
        report.insert("spaces".into(), spaces);
    }
    if let Some(direction) = &file.direction {
        report.insert("hvp".into(), json!(engine.product(Curvature::Hessian, direction).await?));
        let product = engine.product(Curvature::GaussNewton, direction).await?;
        report["gauss_newton"]["product"] = json!(product);
    }
    let mut transformed = Vec::new();
    for (i, map) in file.transformations.iter().enumerate() {
        control.step(Progress::new("transformations", i, file.transformations.len())).await?;
        transformed.push(reporter.after(map, &file.parameters).await?);
    }
    report.insert("transformed".into(), Value::Array(transformed));
    Ok(Value::Object(report))
}

struct Reporter<'a, 'c> {
    engine: &'a Engine,
    options: &'a MeasureOptions,
    control: &'a Control<'c>,
}

impl Reporter<'_, '_> {
    async fn after(&self, map: &Transformation, parameters: &[f64]) -> Result<Value> {
        let moved = map.apply(self.engine.problem().network(), parameters)?;
        let mut entry = Map::new();
        entry.insert("type".into(), json!(map)["type"].take());
        entry.extend(self.at(&moved).await?);
        entry.insert("parameters".into(), json!(moved));
        Ok(Value::Object(entry))
    }

    /// What is computed at every point.
    async fn at(&self, parameters: &[f64]) -> Result<Map<String, Value>> {
        self.engine.prepare(parameters)?;
        let mut at = Map::new();
        at.insert("loss".into(), json!(self.engine.loss().await?));
        let mut riemannian = Map::new();
        for kind in OperatorKind::ALL {
            let spectrum = self.spectrum(kind).await?;
            match kind.name().strip_prefix("riemannian.") {
                Some(name) => riemannian.insert(name.into(), spectrum),
                None => at.insert(kind.name().into(), spectrum),
            };
        }
        for (name, metric) in [("layerwise", Metric::Layerwise), ("nodewise", Metric::Nodewise)] {
            riemannian.insert(format!("{name}_gradient_norm"), json!(metric.gradient_norm(self.engine).await?));
        }
        at.insert("riemannian".into(), Value::Object(riemannian));
        at.insert("fisher_rao_norm".into(), json!(fisher_rao_norm(self.engine).await?));
        let network = self.engine.problem().network();
        if let Some(norm) = path_norm_squared(network, parameters) {
            at.insert("path_norm_squared".into(), json!(norm));
        }
        if network.first_inhomogeneous_layer().is_none() {
            at.insert("petzka".into(), self.petzka().await?);
        }
        Ok(at)
    }

    async fn petzka(&self) -> Result<Value> {
        let kappa = petzka::kappa(self.engine, self.options, self.control).await?;
        let traces = petzka::traces(self.engine, self.control).await?;
        let kappa: Vec<f64> = kappa.iter().map(|pair| pair.value).collect();
        let rho: Vec<&[f64]> = traces.rho().collect();
        let max = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let sum = |values: &[f64]| values.iter().sum::<f64>();
        let rho_max: Vec<f64> = rho.iter().map(|rho| max(rho)).collect();
        let rho_sum: Vec<f64> = rho.iter().map(|rho| sum(rho)).collect();
        // Petzka et al. 2021 define it for dense layers.
        let network = self.engine.problem().network();
        let layers = network.layout().layers().iter().zip(&traces.layers);
        let relative_flatness: Vec<Option<f64>> = layers
            .map(|(layer, sums)| {
                matches!(network.layers()[layer.layer], Layer::Dense { .. }).then_some(sums.relative_flatness)
            })
            .collect();
        Ok(json!({
            "kappa": kappa,
            "kappa_max": max(&kappa),
            "kappa_sum": sum(&kappa),
            "kappa_trace": traces.kappa_trace,
            "kappa_trace_max": max(&traces.kappa_trace),
            "kappa_trace_sum": sum(&traces.kappa_trace),
            "rho": rho,
            "rho_max_per_layer": rho_max,
            "rho_sum_per_layer": rho_sum,
            "rho_max": max(&rho_max),
            "rho_sum": sum(&rho_sum),
            "relative_flatness": relative_flatness,
        }))
    }

    async fn spectrum(&self, kind: OperatorKind) -> Result<Value> {
        let operator = kind.operator(self.engine).await?;
        if operator.len() <= EXACT_LIMIT {
            self.exact(kind, &operator).await
        } else {
            self.estimated(kind, &operator).await
        }
    }

    async fn exact(&self, kind: OperatorKind, operator: &dyn SymmetricOperator) -> Result<Value> {
        let found =
            dense_spectrum(operator, self.options.tolerance_in(self.engine.info().precision), self.control).await?;
        let mut out = ends(&found.max, &found.min);
        out.insert("trace".into(), json!(found.trace));
        let descending: Vec<f64> = found.values.iter().rev().copied().collect();
        out.insert("top_eigenvalues".into(), json!(descending[..top(kind).min(descending.len())]));
        if let OperatorKind::Curvature(_) = kind {
            let squares: f64 = found.values.iter().map(|v| v * v).sum();
            out.insert("frobenius_norm".into(), json!(squares.sqrt()));
        }
        if kind == OperatorKind::Curvature(Curvature::Hessian) {
            out.insert("eigenvalues".into(), json!(found.values));
        }
        out.insert("products".into(), json!(found.products));
        Ok(Value::Object(out))
    }

    async fn estimated(&self, kind: OperatorKind, operator: &dyn SymmetricOperator) -> Result<Value> {
        let lanczos = Lanczos {
            goal: Goal::Extremes { top: top(kind), bottom: 1 },
            tolerance: self.options.tolerance,
            max_products: self.options.max_products,
            seed: self.options.seed,
            ..Lanczos::default()
        };
        let found = lanczos.run(operator, self.control).await?;
        let mut out = ends(&found.top[0], &found.bottom[0]);
        let list = |f: fn(&Eigenpair) -> f64| found.top.iter().map(f).collect::<Vec<_>>();
        out.insert("top_eigenvalues".into(), json!(list(|pair| pair.value)));
        out.insert("top_residuals".into(), json!(list(|pair| pair.residual)));
        out.insert("converged".into(), json!(found.converged));
        out.insert("products".into(), json!(found.products));
        let trace = hutchinson(operator, self.options.probes, self.options.seed, self.control).await?;
        out.insert("trace".into(), json!(trace.value));
        out.insert("trace_standard_error".into(), json!(trace.standard_error));
        out.insert("trace_probes".into(), json!(trace.probes));
        Ok(Value::Object(out))
    }
}

fn top(kind: OperatorKind) -> usize {
    match kind {
        OperatorKind::Curvature(_) => TOP.0,
        OperatorKind::Riemannian(..) => TOP.1,
    }
}

fn ends(max: &Eigenpair, min: &Eigenpair) -> Map<String, Value> {
    let norm = max.value.abs().max(min.value.abs());
    let json = json!({
        "max_eigenvalue": max.value,
        "max_eigenvalue_residual": max.residual,
        "min_eigenvalue": min.value,
        "min_eigenvalue_residual": min.residual,
        "spectral_norm": norm,
    });
    json.as_object().cloned().unwrap_or_default()
}
