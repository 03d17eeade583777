//! What a report says of one operator's spectrum.

use serde_json::{Map, Value, json};

use super::Reporter;
use crate::control::Control;
use crate::error::Result;
use crate::linalg::{Eigenpair, Goal, Lanczos, dense_spectrum, trace_and_norm};
use crate::measure::{has_exact_trace, trace_of};
use crate::operator::{OperatorKind, SymmetricOperator, Whole};

/// Up to this many parameters the report has exact spectra.
pub(super) const EXACT_LIMIT: usize = 1024;

/// Eigenvalues listed of the Hessian, and of a Riemannian operator.
const TOP: (usize, usize) = (8, 5);

impl Reporter<'_> {
    /// Ends, trace and Frobenius norm of an operator's spectrum; of a small one all of it.
    pub(super) async fn spectrum(&mut self, kind: OperatorKind, control: &Control<'_>) -> Result<Value> {
        let operator = kind.operator(self.engine).await?;
        if operator.len() <= EXACT_LIMIT {
            self.exact(kind, &operator, control).await
        } else {
            self.estimated(kind, &operator, control).await
        }
    }

    async fn exact(
        &self,
        kind: OperatorKind,
        operator: &dyn SymmetricOperator,
        control: &Control<'_>,
    ) -> Result<Value> {
        let found =
            dense_spectrum(operator, self.options.measure.tolerance_in(self.engine.info().precision), control).await?;
        let mut out = ends(&found.max, &found.min);
        out.insert("trace".into(), json!(found.trace));
        let descending: Vec<f64> = found.values.iter().rev().copied().collect();
        out.insert("top_eigenvalues".into(), json!(descending[..top(kind).min(descending.len())]));
        out.insert("frobenius_norm".into(), json!(found.frobenius_norm()));
        if kind == OperatorKind::HESSIAN {
            out.insert("eigenvalues".into(), json!(found.values));
        }
        out.insert("products".into(), json!(found.products));
        Ok(Value::Object(out))
    }

    async fn estimated(
        &mut self,
        kind: OperatorKind,
        operator: &dyn SymmetricOperator,
        control: &Control<'_>,
    ) -> Result<Value> {
        // Never negative, and 0 by its rank: to look for that as for any other eigenvalue would take longer than all else here.
        let is_singular = kind.most_nonzero(self.engine.problem()).is_some_and(|most| most < operator.len());
        let lanczos = Lanczos {
            goal: Goal::Extremes { top: top(kind), bottom: usize::from(!is_singular) },
            tolerance: self.options.measure.tolerance,
            max_products: self.options.measure.max_products,
            seed: self.options.measure.seed,
            ..Lanczos::default()
        };
        let found = lanczos.run(operator, control).await?;
        let zero = Eigenpair { value: 0.0, residual: 0.0, converged: true, vector: None };
        let mut out = ends(&found.top[0], found.bottom.first().unwrap_or(&zero));
        let list = |f: fn(&Eigenpair) -> f64| found.top.iter().map(f).collect::<Vec<_>>();
        out.insert("top_eigenvalues".into(), json!(list(|pair| pair.value)));
        out.insert("top_residuals".into(), json!(list(|pair| pair.residual)));
        out.insert("converged".into(), json!(found.converged));
        out.insert("verified".into(), json!(found.verified));
        out.insert("products".into(), json!(found.products));
        let estimates =
            trace_and_norm(operator, self.options.measure.probes, self.options.measure.seed, control).await?;
        if has_exact_trace(self.engine.problem().network(), kind) {
            let trace = trace_of(self.engine, kind, self.sums(control).await?).await?;
            out.insert("trace".into(), json!(trace.value));
        } else {
            out.insert("trace".into(), json!(estimates.trace.value));
            out.insert("trace_standard_error".into(), json!(estimates.trace.standard_error));
            out.insert("trace_products".into(), json!(estimates.products));
        }
        out.insert("frobenius_norm".into(), json!(estimates.norm.value));
        out.insert("frobenius_norm_standard_error".into(), json!(estimates.norm.standard_error));
        Ok(Value::Object(out))
    }
}

fn top(kind: OperatorKind) -> usize {
    match kind.whole {
        Whole::Curvature(_) => TOP.0,
        _ => TOP.1,
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
