//! Maps on parameters that leave the function as it is.

use serde::{Deserialize, Serialize};

/// A map on the parameters of a network, as JSON spells it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Transformation {
    /// placeholder
    Layerwise {
        /// λ
        lambda: Vec<f64>,
    },
    /// placeholder
    Nodewise {
        /// factors
        factors: Vec<Vec<f64>>,
    },
}
