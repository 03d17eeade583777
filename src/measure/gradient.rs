//! The loss and the length of its gradient: how near a critical point is.

use super::{ALWAYS, Measure, NEVER_BUT_PERMUTED, Quantity};

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        key: "loss",
        paper: "—",
        description: "The mean loss over the samples. A rescaling leaves the function, and so the loss, as it is.",
        invariant: ALWAYS,
        quantity: Quantity::Loss,
    },
    Measure {
        key: "gradient_norm",
        paper: "—",
        description: "Length of the gradient: 0 at a minimum. Away from one, rescaling the weights changes it.",
        invariant: NEVER_BUT_PERMUTED,
        quantity: Quantity::GradientNorm,
    },
];
