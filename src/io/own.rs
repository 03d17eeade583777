//! isoflat's own files: a problem as JSON, or as safetensors with the JSON of what is no array as metadata, and networks without
//! weights. Both forms of a problem open to the same numbers.

use std::collections::HashMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::format::{Content, Format};
use super::{Array, Arrays, Elements, File, safetensors};
use crate::error::{Error, ErrorCode, Result, ensure};
use crate::memory::{collected, copied};
use crate::network::Network;
use crate::problem::{Loss, Problem, ProblemFile, Targets, Values};
use crate::symmetry::Transformation;

/// The key of the metadata.
const KEY: &str = "isoflat";

/// What weights alone say of themselves: their names are those that others give too, and factors without statistics may be anybody's.
const WRITER: [&str; 2] = ["written_by", "isoflat"];

/// The metadata of weights whose names are isoflat's.
pub(super) fn own_weights() -> HashMap<String, String> {
    let [key, value] = WRITER.map(str::to_owned);
    HashMap::from([(key, value)])
}

/// Are weights with this metadata isoflat's own?
pub(super) fn are_own(metadata: &HashMap<String, String>) -> bool {
    let [key, value] = WRITER;
    metadata.get(key).is_some_and(|found| found == value)
}

pub(super) const JSON: Format = Format {
    name: "isoflat JSON",
    is: |file| keys(file).is_some_and(|keys| keys.network.is_some() || keys.layers.is_some()),
    read: read_json,
};

pub(super) const BINARY: Format = Format {
    name: "isoflat safetensors",
    is: |file| (safetensors::FORMAT.is)(file) && safetensors::metadata(&file.bytes).contains_key(KEY),
    read: |file, _| read_binary(&file.bytes).map(|file| Content::Problem(Box::new(file))),
};

/// The keys that tell JSON files apart.
#[derive(Deserialize)]
struct Keys {
    network: Option<IgnoredAny>,
    layers: Option<IgnoredAny>,
}

fn keys(file: &File) -> Option<Keys> {
    let start = file.bytes.iter().position(|byte| !byte.is_ascii_whitespace())?;
    if file.bytes[start] != b'{' { None } else { serde_json::from_slice(&file.bytes).ok() }
}

fn read_json(file: &File, _: &[File]) -> Result<Content> {
    let text =
        std::str::from_utf8(&file.bytes).map_err(|_| Error::new(ErrorCode::Parse, "the text is not valid UTF-8"))?;
    match keys(file) {
        Some(Keys { network: None, .. }) => Ok(Content::Network(text.into())),
        _ => Ok(Content::Problem(Box::new(ProblemFile::from_json(text)?))),
    }
}

/// What of a problem is no array.
#[derive(Serialize, Deserialize)]
struct Description {
    network: Network,
    loss: Loss,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    transformations: Vec<Transformation>,
}

/// A problem file in binary form.
///
/// # Errors
/// `TooLarge` where it does not fit in memory.
pub fn save_problem(file: &ProblemFile) -> Result<Vec<u8>> {
    let problem = &file.problem;
    problem.ensure_whole()?;
    let samples = problem.samples();
    let mut arrays = Arrays::default();
    let mut add = |name: &str, shape: Vec<usize>, elements: Elements| -> Result<()> {
        arrays.arrays.push((name.into(), Array::new(shape, elements)?));
        Ok(())
    };
    let row = |values: &[f64]| Ok::<_, Error>(Elements::F64(copied("parameters", values)?));
    add("parameters", vec![file.parameters.len()], row(&file.parameters)?)?;
    if let Some(direction) = &file.direction {
        add("direction", vec![direction.len()], row(direction)?)?;
    }
    let inputs = match problem.inputs() {
        Values::F32(values) => Elements::F32(copied("inputs", values)?),
        Values::F64(values) => Elements::F64(copied("inputs", values)?),
    };
    add("inputs", [&[samples], problem.network().input()].concat(), inputs)?;
    match problem.targets() {
        Targets::Classes(classes) => {
            let classes = collected("targets", classes.iter().map(|&class| i64::from(class)))?;
            add("targets", vec![samples], Elements::I64(classes))?;
        }
        Targets::Vectors(vectors) => add("targets", vec![samples, problem.network().output_len()], row(vectors)?)?,
    }
    let description = Description {
        network: problem.network().clone(),
        loss: problem.loss(),
        name: file.name.clone(),
        transformations: file.transformations.clone(),
    };
    let text = serde_json::to_string(&description)
        .map_err(|error| Error::new(ErrorCode::TooLarge, format!("a problem's description: {error}")))?;
    safetensors::write(&arrays, Some(HashMap::from([(KEY.into(), text)])))
}

fn read_binary(bytes: &[u8]) -> Result<ProblemFile> {
    let metadata = safetensors::metadata(bytes);
    let description: Description = crate::json::read(metadata.get(KEY).map_or("", String::as_str))?;
    let mut arrays: HashMap<String, Array> = safetensors::read(bytes)?.arrays.into_iter().collect();
    let mut take = |name: &str| {
        let missing = || Error::new(ErrorCode::Parse, format!("the problem file has no array {name}"));
        arrays.remove(name).ok_or_else(missing)
    };
    let parameters = take("parameters")?.to_f64()?;
    let direction = take("direction").ok().map(|array| array.to_f64()).transpose()?;
    let inputs = match take("inputs")?.into_elements() {
        Elements::F32(values) => Values::F32(values),
        Elements::F64(values) => Values::F64(values),
        other => return Err(Error::new(ErrorCode::Parse, format!("the inputs are {}, not numbers", other.kind()))),
    };
    let targets = take("targets")?;
    let targets = match description.loss {
        Loss::CrossEntropy => Targets::Classes(classes(&targets)?),
        Loss::SquaredError => Targets::Vectors(targets.to_f64()?),
    };
    let problem = Problem::new(description.network, description.loss, inputs, targets)?;
    problem.check_parameters(&parameters)?;
    if let Some(direction) = &direction {
        problem.check_parameters(direction)?;
    }
    let Description { name, transformations, .. } = description;
    Ok(ProblemFile { name, problem, parameters, direction, transformations })
}

/// Whole numbers as classes.
fn classes(array: &Array) -> Result<Vec<u32>> {
    let values = array.to_f64()?;
    let is_class = |value: &f64| value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(value);
    if let Some(i) = values.iter().position(|value| !is_class(value)) {
        ensure!(false, Parse, "target {i} is {}, but must be a class number", values[i]);
    }
    collected("targets", values.iter().map(|&value| value as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{ModelOptions, open_model};

    #[test]
    fn a_network_beside_a_problem_is_not_ignored() {
        let network = r#"{"input": [2], "layers": [{"type": "dense", "units": 1}]}"#;
        let problem = format!(
            r#"{{"network": {network}, "loss": "squared_error", "parameters": [1, 2, 3], "inputs": [[1, 2]], "targets": [[1]]}}"#
        );
        let files = [File::new("p.json", problem.as_bytes()), File::new("n.json", network.as_bytes())];
        let error = open_model(&files, &ModelOptions::default()).expect_err("two networks");
        assert!(error.message.contains("p.json says itself which network it is"), "{error}");
        assert!(open_model(&files[..1], &ModelOptions::default()).is_ok());
    }

    #[test]
    fn a_problem_opens_again_to_the_same_numbers_from_either_form() {
        for (loss, targets) in [("cross_entropy", "[2, 0]"), ("squared_error", "[[0.1, 0.2, 1e-300], [3, 4, 5.5]]")] {
            let json = format!(
                r#"{{"name": "two", "network": {{"input": [2], "layers": [{{"type": "dense", "units": 2}}, {{"type": "relu"}},
                {{"type": "dense", "units": 3}}]}}, "loss": "{loss}", "parameters": [0.1, -2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6],
                "inputs": [[0.1, 0.2], [0.3, -0.4]], "targets": {targets}, "direction": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,0.1],
                "transformations": [{{"type": "layerwise", "lambda": [2, 0.5]}}]}}"#
            );
            let file = ProblemFile::from_json(&json).expect("a problem");
            let binary = save_problem(&file).expect("bytes");
            let open = |name: &str, bytes: &[u8]| {
                open_model(&[File::new(name, bytes)], &ModelOptions::default()).expect("a model")
            };
            let (a, b) = (open("a.json", json.as_bytes()), open("b.safetensors", &binary));
            assert_eq!((a.format, b.format), ("isoflat JSON", "isoflat safetensors"));
            assert_eq!(a.model.parameters, b.model.parameters);
            let (a, b) = (a.problem.expect("data"), b.problem.expect("data"));
            assert_eq!(a.to_json(), b.to_json());
            for cut in (0..binary.len()).step_by(7) {
                let file = File::new("cut.safetensors", &binary[..cut]);
                assert!(open_model(&[file], &ModelOptions::default()).is_err(), "cut to {cut}");
            }
        }
    }
}
