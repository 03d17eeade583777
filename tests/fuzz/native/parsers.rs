//! What reads text or bytes and is no problem file.

use isoflat::data::IdxFile;
use isoflat::network::{BiasInitialization, Initialization, fold_batch_norm};
use isoflat::symmetry::Transformation;
use isoflat::{Network, Result};
use serde_json::{Value, json};

use super::answer;

/// Parameters of more than this are not made up.
const MANY: usize = 1_000_000;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

/// Answers of the parser named, and of what it has read.
pub fn read(what: &str, request: &Value) -> Vec<Value> {
    let text = request["text"].as_str().unwrap_or_default();
    match what {
        "idx" => {
            let bytes: Vec<u8> = numbers(&request["bytes"]).into_iter().map(|byte| byte as u8).collect();
            vec![answer(|| Ok(json!(IdxFile::parse(&bytes)?.values.len())))]
        }
        "network" => vec![answer(|| look(&Network::from_json(text)?))],
        "batch_norm" => {
            let given: Value = serde_json::from_str(text).unwrap_or_default();
            let parameters = numbers(&given["parameters"]);
            vec![answer(|| {
                let (network, folded) = fold_batch_norm(&given["network"].to_string(), &parameters)?;
                look(&network)?;
                Ok(json!(folded))
            })]
        }
        _ => vec![answer(|| {
            let network = Network::from_json(&request["network"].to_string())?;
            let parameters = numbers(&request["parameters"]);
            let map = Transformation::from_json(text)?;
            let moved = map.apply(&network, &parameters)?;
            let back = map.inverse(&network)?.apply(&network, &moved)?;
            Ok(json!([moved, back]))
        })],
    }
}

fn look(network: &Network) -> Result<Value> {
    let count = network.parameter_count();
    if count < MANY {
        network.initialize(Initialization::KaimingUniform, BiasInitialization::Zero, 1)?;
    }
    let again = Network::from_json(&json!(network).to_string())?;
    assert_eq!(&again, network, "a network reads back as it was written");
    Ok(json!([network.input_len(), network.output_len(), count, network.summary()]))
}
