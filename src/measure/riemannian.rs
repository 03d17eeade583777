//! Rangamani et al. 2019: spectral norm and trace of the Riemannian Hessian, D H D in ordinary coordinates, and the length of
//! the Riemannian gradient. D holds the norm of each entry's block: a whole W_l or b_l, or the entry itself.
//!
//! Spectral norms are the largest magnitude of an eigenvalue over all vectors. The paper's Definition 3 is the signed maximum over
//! horizontal ones, which is the same at a minimum; away from critical points it is the end of [`Horizontal`](crate::operator::Horizontal).

use super::known::Known;
use super::row::{ALWAYS, AtPoint, Compute, Cost, Family, LAYERWISE};
use super::{Measure, MeasureValue, spectral};
use crate::error::Result;
use crate::operator::Connection::{Flat, LeviCivita};
use crate::operator::Metric::{Layerwise, Nodewise};
use crate::operator::{Metric, OperatorKind};

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        key: "riemannian.layerwise_flat.spectral_norm",
        title: "Riemannian spectral norm, layer-wise",
        paper: "Rangamani et al. 2019",
        description: "Curvature relative to the size of each layer: rescaling whole layers cannot move it.",
        ..spectral::spectral_norm(OperatorKind::riemannian(Layerwise, Flat))
    },
    Measure {
        key: "riemannian.layerwise_levi_civita.spectral_norm",
        title: "Riemannian spectral norm, layer-wise, Levi-Civita",
        paper: "Rangamani et al. 2019, with the metric's own connection",
        description: "The same with the connection term that the paper sets to zero; equal to it at a minimum.",
        ..spectral::spectral_norm(OperatorKind::riemannian(Layerwise, LeviCivita))
    },
    Measure {
        key: "riemannian.nodewise_flat.spectral_norm",
        title: "Riemannian spectral norm, node-wise",
        paper: "Rangamani et al. 2019, with one block a weight",
        description: "Curvature relative to the size of each weight: rescaling single neurons cannot move it either.",
        ..spectral::spectral_norm(OperatorKind::riemannian(Nodewise, Flat))
    },
    Measure {
        key: "riemannian.nodewise_levi_civita.spectral_norm",
        title: "Riemannian spectral norm, node-wise, Levi-Civita",
        paper: "Rangamani et al. 2019, with one block a weight and the metric's own connection",
        description: "The same with the connection term; equal to it at a minimum.",
        ..spectral::spectral_norm(OperatorKind::riemannian(Nodewise, LeviCivita))
    },
    Measure {
        key: "riemannian.layerwise_flat.trace",
        title: "Riemannian trace, layer-wise",
        paper: "Rangamani et al. 2019; Petzka et al. 2019",
        description: "Mean curvature relative to the size of each layer, times the number of parameters: Σ κ_τ and the biases' share.",
        ..spectral::trace(OperatorKind::riemannian(Layerwise, Flat))
    },
    Measure {
        key: "riemannian.layerwise_levi_civita.trace",
        title: "Riemannian trace, layer-wise, Levi-Civita",
        paper: "Rangamani et al. 2019, with the metric's own connection",
        description: "The same with the connection term; equal to it at a minimum.",
        ..spectral::trace(OperatorKind::riemannian(Layerwise, LeviCivita))
    },
    Measure {
        key: "riemannian.nodewise_flat.trace",
        title: "Riemannian trace, node-wise",
        paper: "Rangamani et al. 2019, with one block a weight",
        description: "Mean curvature relative to the size of each weight, times the number of parameters.",
        ..spectral::trace(OperatorKind::riemannian(Nodewise, Flat))
    },
    Measure {
        key: "riemannian.nodewise_levi_civita.trace",
        title: "Riemannian trace, node-wise, Levi-Civita",
        paper: "Rangamani et al. 2019, with one block a weight and the metric's own connection",
        description: "The same with the connection term; equal to it at a minimum.",
        ..spectral::trace(OperatorKind::riemannian(Nodewise, LeviCivita))
    },
    Measure {
        key: "riemannian.layerwise_gradient_norm",
        title: "Riemannian gradient norm, layer-wise",
        paper: "Rangamani et al. 2019",
        description: "Length of the gradient relative to the size of each layer: how near a critical point is.",
        invariant: LAYERWISE,
        ..length(|known, row| Box::pin(gradient_norm(known, row, Layerwise)))
    },
    Measure {
        key: "riemannian.nodewise_gradient_norm",
        title: "Riemannian gradient norm, node-wise",
        paper: "Rangamani et al. 2019, with one block a weight",
        description: "Length of the gradient relative to the size of each weight.",
        invariant: ALWAYS,
        ..length(|known, row| Box::pin(gradient_norm(known, row, Nodewise)))
    },
];

const fn length(by: AtPoint) -> Measure {
    Measure::new(Family::Riemannian, Cost::Pass, Compute::Point(by))
}

async fn gradient_norm(known: &mut Known<'_, '_>, row: &Measure, metric: Metric) -> Result<MeasureValue> {
    let norm = metric.gradient_norm(known.engine).await?;
    Ok(row.exact(norm, norm))
}
