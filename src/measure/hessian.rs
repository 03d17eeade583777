//! The ordinary curvature of the loss: eigenvalues, trace and Frobenius norm of the Hessian and of the Gauss–Newton matrix.
//! Dinh et al. 2017 (Theorem 4) show that rescaling makes them as large as one likes.

use super::{Measure, spectral};
use crate::operator::OperatorKind;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        key: "hessian.max_eigenvalue",
        title: "Hessian, largest eigenvalue",
        paper: "Dinh et al. 2017",
        description: "Curvature of the loss in its steepest direction: the largest eigenvalue of the Hessian.",
        ..spectral::max_eigenvalue(OperatorKind::HESSIAN)
    },
    Measure {
        key: "hessian.min_eigenvalue",
        title: "Hessian, smallest eigenvalue",
        paper: "Dinh et al. 2017",
        description: "The most negative curvature: below 0, the point is no minimum but a saddle.",
        ..spectral::min_eigenvalue(OperatorKind::HESSIAN)
    },
    Measure {
        key: "hessian.spectral_norm",
        title: "Hessian, spectral norm",
        paper: "Dinh et al. 2017",
        description: "The eigenvalue of the Hessian of largest magnitude.",
        ..spectral::spectral_norm(OperatorKind::HESSIAN)
    },
    Measure {
        key: "hessian.trace",
        title: "Hessian, trace",
        paper: "Dinh et al. 2017",
        description: "Sum of the Hessian's eigenvalues: the mean curvature times the number of parameters.",
        ..spectral::trace(OperatorKind::HESSIAN)
    },
    Measure {
        key: "hessian.frobenius_norm",
        title: "Hessian, Frobenius norm",
        paper: "Dinh et al. 2017",
        description: "Root of the sum of the squared eigenvalues of the Hessian: all its curvature, of either sign.",
        ..spectral::frobenius_norm(OperatorKind::HESSIAN)
    },
    Measure {
        key: "gauss_newton.max_eigenvalue",
        title: "Gauss–Newton, largest eigenvalue",
        description: "Largest eigenvalue of the Gauss–Newton matrix, the part of the Hessian that is never negative.",
        ..spectral::max_eigenvalue(OperatorKind::GAUSS_NEWTON)
    },
    Measure {
        key: "gauss_newton.trace",
        title: "Gauss–Newton, trace",
        description: "Sum of the eigenvalues of the Gauss–Newton matrix.",
        ..spectral::trace(OperatorKind::GAUSS_NEWTON)
    },
    Measure {
        key: "gauss_newton.frobenius_norm",
        title: "Gauss–Newton, Frobenius norm",
        description: "Root of the sum of the squared eigenvalues of the Gauss–Newton matrix.",
        ..spectral::frobenius_norm(OperatorKind::GAUSS_NEWTON)
    },
];
