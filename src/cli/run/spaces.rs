//! Spaces by their names.

use crate::cli::invocation::Invocation;
use crate::cli::open::Opened;
use crate::control::Control;
use crate::error::{Result, ensure};
use crate::space::{Biases, FixedChoice, FixedValues, Grouping, OpenSpace, SpaceKind};

/// Spaces that can be named.
pub(in crate::cli) const SPACES: [&str; 5] = ["weights", "g_space", "weight_fixing", "weight_norm", "batch_norm"];

/// The space that is asked for, at the parameters.
///
/// # Errors
/// What [`SpaceKind::open_under`] says; `InvalidOption` for γ and β of a model that has none.
pub(super) async fn opened(invocation: &Invocation, opened: &Opened, control: &Control<'_>) -> Result<OpenSpace> {
    let (choice, values) = (FixedChoice::default(), FixedValues::default());
    let kind = match invocation.space.as_str() {
        "g_space" => SpaceKind::GSpace { choice, values, biases: Biases::default() },
        "weight_fixing" => SpaceKind::WeightFixing { choice, values },
        "weight_norm" => SpaceKind::WeightNorm { grouping: Grouping::default() },
        "batch_norm" => {
            ensure!(
                !opened.statistics.is_empty(),
                InvalidOption,
                "--space batch_norm: no batch normalisation of the model is a scale here; of weights and ONNX files --batch-norm \
                 scale keeps them, and isoflat's own files have scales alone"
            );
            SpaceKind::BatchNorm { statistics: opened.statistics.clone() }
        }
        _ => SpaceKind::Weights,
    };
    kind.open_under(&opened.network, &opened.parameters, control).await
}
