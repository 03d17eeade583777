//! Spaces by their names.

use crate::cli::invocation::Invocation;
use crate::cli::open::{Opened, begins_at_random};
use crate::control::Control;
use crate::error::{Result, ensure};
use crate::space::{Biases, FixedChoice, FixedValues, Grouping, OpenSpace, SpaceKind, TreeValues};

/// Spaces that can be named.
pub(in crate::cli) const SPACES: [&str; 5] = ["weights", "g_space", "weight_fixing", "weight_norm", "batch_norm"];

/// The space that is asked for.
///
/// # Errors
/// `InvalidOption` for γ and β of a model that has none.
pub(super) fn kind(invocation: &Invocation, opened: &Opened) -> Result<SpaceKind> {
    let choice = FixedChoice::default();
    // Whoever begins at random begins as Jestädt does; trained weights stay the function that they are.
    let (values, tree) = if begins_at_random(invocation) {
        (FixedValues::Set(1.0), TreeValues::Set(1.0))
    } else {
        (FixedValues::Keep, TreeValues::Keep)
    };
    let values = invocation.train.values.unwrap_or(values);
    Ok(match invocation.space.as_str() {
        "g_space" => {
            let tree = invocation.train.tree.unwrap_or(tree);
            SpaceKind::GSpace { choice, values, tree, biases: Biases::default() }
        }
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
    })
}

/// The space that is asked for, at the parameters.
///
/// # Errors
/// What [`kind`] and [`SpaceKind::open_under`] say.
pub(super) async fn opened(invocation: &Invocation, opened: &Opened, control: &Control<'_>) -> Result<OpenSpace> {
    kind(invocation, opened)?.open_under(&opened.network, &opened.parameters, control).await
}
