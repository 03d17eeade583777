//! ε-sharpness (Keskar et al. 2017; Dinh et al. 2017, Definition 2) in its second-order form ‖H‖₂ ε² / (2 (1 + L)).

use super::{Measure, NEVER_BUT_PERMUTED, Quantity};

pub(super) const MEASURES: &[Measure] = &[Measure {
    key: "epsilon_sharpness_quadratic",
    paper: "Dinh et al. 2017; Rangamani et al. 2019",
    description: "How far the loss rises within a ball of radius ε, to second order: ‖H‖ ε² / (2 (1 + L)).",
    invariant: NEVER_BUT_PERMUTED,
    quantity: Quantity::EpsilonSharpnessQuadratic,
}];
