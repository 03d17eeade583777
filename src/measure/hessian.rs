//! The ordinary curvature of the loss: eigenvalues, trace and Frobenius norm of the Hessian and of the Gauss–Newton matrix.
//! Dinh et al. 2017 (Theorem 4) show that rescaling makes them as large as one likes.

use super::{Measure, NEVER_BUT_PERMUTED, Quantity};
use crate::operator::OperatorKind;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        key: "hessian.max_eigenvalue",
        paper: "Dinh et al. 2017",
        description: "Curvature of the loss in its steepest direction: the largest eigenvalue of the Hessian.",
        invariant: NEVER_BUT_PERMUTED,
        quantity: Quantity::LargestEigenvalue(OperatorKind::HESSIAN),
    },
    Measure {
        key: "hessian.min_eigenvalue",
        paper: "Dinh et al. 2017",
        description: "The most negative curvature: below 0, the point is no minimum but a saddle.",
        invariant: NEVER_BUT_PERMUTED,
        quantity: Quantity::SmallestEigenvalue(OperatorKind::HESSIAN),
    },
    Measure {
        key: "hessian.spectral_norm",
        paper: "Dinh et al. 2017",
        description: "The eigenvalue of the Hessian of largest magnitude.",
        invariant: NEVER_BUT_PERMUTED,
        quantity: Quantity::SpectralNorm(OperatorKind::HESSIAN),
    },
    Measure {
        key: "hessian.trace",
        paper: "Dinh et al. 2017",
        description: "Sum of the Hessian's eigenvalues: the mean curvature times the number of parameters.",
        invariant: NEVER_BUT_PERMUTED,
        quantity: Quantity::Trace(OperatorKind::HESSIAN),
    },
    Measure {
        key: "hessian.frobenius_norm",
        paper: "Dinh et al. 2017",
        description: "Root of the sum of the squared eigenvalues of the Hessian: all its curvature, of either sign.",
        invariant: NEVER_BUT_PERMUTED,
        quantity: Quantity::FrobeniusNorm(OperatorKind::HESSIAN),
    },
    Measure {
        key: "gauss_newton.max_eigenvalue",
        paper: "—",
        description: "Largest eigenvalue of the Gauss–Newton matrix, the part of the Hessian that is never negative.",
        invariant: NEVER_BUT_PERMUTED,
        quantity: Quantity::LargestEigenvalue(OperatorKind::GAUSS_NEWTON),
    },
    Measure {
        key: "gauss_newton.trace",
        paper: "—",
        description: "Sum of the eigenvalues of the Gauss–Newton matrix.",
        invariant: NEVER_BUT_PERMUTED,
        quantity: Quantity::Trace(OperatorKind::GAUSS_NEWTON),
    },
    Measure {
        key: "gauss_newton.frobenius_norm",
        paper: "—",
        description: "Root of the sum of the squared eigenvalues of the Gauss–Newton matrix.",
        invariant: NEVER_BUT_PERMUTED,
        quantity: Quantity::FrobeniusNorm(OperatorKind::GAUSS_NEWTON),
    },
];
