//! What a report says of one operator's spectrum.

use serde_json::{Map, Value, json};

use super::Reporter;
use crate::error::Result;
use crate::linalg::{DenseSpectrum, Eigenpair, Goal};
use crate::operator::OperatorKind;

/// Eigenvalues listed of the Hessian, and of a Riemannian operator.
const TOP: (usize, usize) = (8, 5);

impl Reporter<'_, '_> {
    /// Ends, trace and Frobenius norm of an operator's spectrum; of a small one all of it.
    pub(super) async fn spectrum(&mut self, kind: OperatorKind) -> Result<Value> {
        match self.known.dense(kind).await? {
            Some(found) => Ok(exact(kind, &found)),
            None => self.estimated(kind).await,
        }
    }

    async fn estimated(&mut self, kind: OperatorKind) -> Result<Value> {
        self.known.want(kind, Goal::Extremes { top: top(kind), bottom: 1 });
        self.known.want_estimates(kind);
        let found = self.known.spectrum(kind).await?;
        let mut out = ends(&found.top[0], &found.bottom[0]);
        let list = |f: fn(&Eigenpair) -> f64| found.top.iter().map(f).collect::<Vec<_>>();
        out.insert("top_eigenvalues".into(), json!(list(|pair| pair.value)));
        out.insert("top_residuals".into(), json!(list(|pair| pair.residual)));
        out.insert("converged".into(), json!(found.converged));
        out.insert("verified".into(), json!(found.verified));
        out.insert("products".into(), json!(found.products));
        let norm = self.known.frobenius_norm(kind).await?;
        let trace = self.known.trace(kind).await?;
        out.insert("trace".into(), json!(trace.value));
        if let Some(error) = trace.standard_error {
            out.insert("trace_standard_error".into(), json!(error));
            out.insert("trace_products".into(), json!(trace.iterations));
        }
        out.insert("frobenius_norm".into(), json!(norm.value));
        out.insert("frobenius_norm_standard_error".into(), json!(norm.standard_error));
        Ok(Value::Object(out))
    }
}

fn exact(kind: OperatorKind, found: &DenseSpectrum) -> Value {
    let mut out = ends(&found.max, &found.min);
    out.insert("trace".into(), json!(found.trace));
    let descending: Vec<f64> = found.values.iter().rev().copied().collect();
    out.insert("top_eigenvalues".into(), json!(descending[..top(kind).min(descending.len())]));
    out.insert("frobenius_norm".into(), json!(found.frobenius_norm()));
    if kind == OperatorKind::HESSIAN {
        out.insert("eigenvalues".into(), json!(found.values));
    }
    out.insert("products".into(), json!(found.products));
    Value::Object(out)
}

fn top(kind: OperatorKind) -> usize {
    if kind.whole.metric().is_none() { TOP.0 } else { TOP.1 }
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
