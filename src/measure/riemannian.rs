//! Rangamani et al. 2019: spectral norm and trace of the Riemannian Hessian, D H D in ordinary coordinates, and the length of
//! the Riemannian gradient. D holds the norm of each entry's block: a whole W_l or b_l, or the entry itself.

use super::{ALWAYS, LAYERWISE, Measure, Quantity};
use crate::operator::Connection::{Flat, LeviCivita};
use crate::operator::Metric::{Layerwise, Nodewise};
use crate::operator::OperatorKind;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        key: "riemannian.layerwise_flat.spectral_norm",
        paper: "Rangamani et al. 2019",
        description: "Curvature relative to the size of each layer: rescaling whole layers cannot move it.",
        invariant: LAYERWISE,
        quantity: Quantity::SpectralNorm(OperatorKind::riemannian(Layerwise, Flat)),
    },
    Measure {
        key: "riemannian.layerwise_levi_civita.spectral_norm",
        paper: "Rangamani et al. 2019, with the metric's own connection",
        description: "The same with the connection term that the paper sets to zero; equal to it at a minimum.",
        invariant: LAYERWISE,
        quantity: Quantity::SpectralNorm(OperatorKind::riemannian(Layerwise, LeviCivita)),
    },
    Measure {
        key: "riemannian.nodewise_flat.spectral_norm",
        paper: "Rangamani et al. 2019, with one block a weight",
        description: "Curvature relative to the size of each weight: rescaling single neurons cannot move it either.",
        invariant: ALWAYS,
        quantity: Quantity::SpectralNorm(OperatorKind::riemannian(Nodewise, Flat)),
    },
    Measure {
        key: "riemannian.nodewise_levi_civita.spectral_norm",
        paper: "Rangamani et al. 2019, with one block a weight and the metric's own connection",
        description: "The same with the connection term; equal to it at a minimum.",
        invariant: ALWAYS,
        quantity: Quantity::SpectralNorm(OperatorKind::riemannian(Nodewise, LeviCivita)),
    },
    Measure {
        key: "riemannian.layerwise_flat.trace",
        paper: "Rangamani et al. 2019; Petzka et al. 2020",
        description: "Mean curvature relative to the size of each layer, times the number of parameters: Σ κ_τ and the biases' share.",
        invariant: LAYERWISE,
        quantity: Quantity::Trace(OperatorKind::riemannian(Layerwise, Flat)),
    },
    Measure {
        key: "riemannian.layerwise_levi_civita.trace",
        paper: "Rangamani et al. 2019, with the metric's own connection",
        description: "The same with the connection term; equal to it at a minimum.",
        invariant: LAYERWISE,
        quantity: Quantity::Trace(OperatorKind::riemannian(Layerwise, LeviCivita)),
    },
    Measure {
        key: "riemannian.nodewise_flat.trace",
        paper: "Rangamani et al. 2019, with one block a weight",
        description: "Mean curvature relative to the size of each weight, times the number of parameters.",
        invariant: ALWAYS,
        quantity: Quantity::Trace(OperatorKind::riemannian(Nodewise, Flat)),
    },
    Measure {
        key: "riemannian.nodewise_levi_civita.trace",
        paper: "Rangamani et al. 2019, with one block a weight and the metric's own connection",
        description: "The same with the connection term; equal to it at a minimum.",
        invariant: ALWAYS,
        quantity: Quantity::Trace(OperatorKind::riemannian(Nodewise, LeviCivita)),
    },
    Measure {
        key: "riemannian.layerwise_gradient_norm",
        paper: "Rangamani et al. 2019",
        description: "Length of the gradient relative to the size of each layer: how near a critical point is.",
        invariant: LAYERWISE,
        quantity: Quantity::RiemannianGradientNorm(Layerwise),
    },
    Measure {
        key: "riemannian.nodewise_gradient_norm",
        paper: "Rangamani et al. 2019, with one block a weight",
        description: "Length of the gradient relative to the size of each weight.",
        invariant: ALWAYS,
        quantity: Quantity::RiemannianGradientNorm(Nodewise),
    },
];
