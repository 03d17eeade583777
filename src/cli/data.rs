//! Data files as the command line names them.

use serde_json::json;

use super::invocation::DataArguments;
use super::nearest::hint;
use super::open::Origin;
use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::io::{DataOptions, Dataset, Normalization};
use crate::network::Network;
use crate::problem::{Loss, Problem};

/// What arguments and a network say of data.
///
/// # Errors
/// `InvalidOption`.
pub(super) fn options(network: &Network, arguments: &DataArguments) -> Result<DataOptions> {
    Ok(DataOptions {
        shape: Some(network.input().to_vec()),
        outputs: Some(network.output_len()),
        loss: arguments.loss,
        split: arguments.split.clone(),
        inputs: arguments.inputs.clone(),
        targets: arguments.targets.clone(),
        samples: arguments.samples,
        normalization: arguments.normalize.as_deref().map(normalization).transpose()?,
    })
}

/// A network's problem over the data of files, and where these came from.
///
/// # Errors
/// What [`Problem::new`] says; `InvalidProblem` where there are no targets.
pub(super) fn problem(
    network: &Network,
    files: Vec<String>,
    data: Dataset,
    loss: Option<Loss>,
) -> Result<(Problem, Origin)> {
    let Some(targets) = data.targets else {
        let name = files.first().map_or("the data", String::as_str);
        // What could not be read may be what they are in.
        let left = data.notes.iter().find(|note| note.contains("left out"));
        let left = left.map(|note| format!(" ({note})")).unwrap_or_default();
        bail!(InvalidProblem, "{name}: there are inputs, but no targets: --targets names the array that has them{left}")
    };
    let loss = loss.unwrap_or(targets.usual_loss());
    let mut notes = data.notes;
    notes.extend(data.normalization.as_ref().map(said));
    let origin = Origin { files, format: String::new(), available: Some(data.available), notes };
    Ok((Problem::new(network.clone(), loss, data.inputs, targets)?, origin))
}

/// What `--normalize` says: a name, or means and deviations with a stroke between them: `0.5,0.5,0.5/0.2,0.2,0.2`.
///
/// # Errors
/// `InvalidOption`.
pub(super) fn normalization(text: &str) -> Result<Normalization> {
    let Some((mean, deviation)) = text.split_once('/') else {
        let hint = hint(text, Normalization::NAMES, "");
        ensure!(
            Normalization::NAMES.contains(&text),
            InvalidOption,
            "there is no normalization \"{text}\"{hint} (there are {}, or means and deviations such as 0.5,0.5,0.5/0.2,0.2,0.2)",
            Normalization::NAMES.join(", ")
        );
        return Normalization::from_name(text);
    };
    let numbers = |list: &str| -> Option<Vec<f64>> { list.split(',').map(|x| x.trim().parse().ok()).collect() };
    let (Some(mean), Some(deviation)) = (numbers(mean), numbers(deviation)) else {
        bail!(InvalidOption, "--normalize takes a name, or numbers such as 0.1307/0.3081, not \"{text}\"")
    };
    // Read as JSON is, which says what is wrong with the numbers.
    let found = serde_json::from_value(json!({ "mean": mean, "deviation": deviation }));
    found.map_err(|error| Error::new(ErrorCode::InvalidOption, format!("--normalize {text}: {error}")))
}

/// What was done to the inputs.
fn said(normalization: &Normalization) -> String {
    let list = |numbers: &[f64]| numbers.iter().map(f64::to_string).collect::<Vec<String>>().join(", ");
    let Normalization { divisor, mean, deviation } = normalization;
    let mut steps = Vec::new();
    if *divisor != 1.0 {
        steps.push(format!("divided by {divisor}"));
    }
    if mean.iter().any(|&mean| mean != 0.0) {
        steps.push(format!("less {}", list(mean)));
    }
    if deviation.iter().any(|&deviation| deviation != 1.0) {
        steps.push(format!("divided by {}", list(deviation)));
    }
    let steps = if steps.is_empty() { "as they are".into() } else { steps.join(", then ") };
    let name = normalization.name().map(|name| format!(" {name}")).unwrap_or_default();
    format!("Normalization{name}: inputs are {steps}.")
}

#[cfg(test)]
mod tests {
    use super::{normalization, said};

    #[test]
    fn names_and_numbers_are_normalizations() {
        assert_eq!(normalization("mnist").expect("a name").mean, [0.1307]);
        let found = normalization("0.1, 0.2,0.3/1,2,3").expect("numbers");
        assert_eq!((found.mean, found.deviation, found.divisor), (vec![0.1, 0.2, 0.3], vec![1.0, 2.0, 3.0], 255.0));
        for (text, says) in [
            ("mnits", "did you mean mnist?"),
            ("0.5/x", "0.1307/0.3081"),
            ("0.5/0", "positive"),
            ("1,2/1,2,3", "2 means"),
        ] {
            let refused = normalization(text).expect_err(text).message;
            assert!(refused.contains(says), "{text}: {refused}");
        }
        let unit = normalization("unit").expect("a name");
        assert_eq!(said(&unit), "Normalization unit: inputs are divided by 255.");
        let own = normalization("0.5/0.25").expect("numbers");
        assert_eq!(said(&own), "Normalization: inputs are divided by 255, then less 0.5, then divided by 0.25.");
    }
}
