//! What every result begins with: loss and accuracy, as one knows them, and what they are of.

use serde_json::Value;

use super::{Block, strings, text};
use crate::cli::number::{duration, of, percent, whole};
use crate::error::some_of;

pub(super) fn blocks(result: &Value) -> Vec<Block> {
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: String| facts.push((name.to_string(), value));
    let before = |key: &str, show: fn(&Value) -> String| match result["before"].get(key) {
        Some(before) => format!("{} (before {})", show(&result[key]), show(before)),
        None => show(&result[key]),
    };
    if result["loss"].is_number() {
        fact("loss", before("loss", of));
    }
    if result["accuracy"].is_number() {
        fact("accuracy", before("accuracy", |share| share.as_f64().map_or("—".into(), percent)));
    }
    let model = &result["model"];
    let parameters = model["parameters"].as_u64().map_or(String::new(), |n| format!(", {} parameters", whole(n)));
    fact("network", format!("{}{parameters}", text(&model["network"])));
    let format = text(&model["format"]);
    let format = if format.is_empty() { format } else { format!(" ({format})") };
    fact("model", format!("{}{format}", listed(&model["files"])));
    let data = &result["data"];
    if let Some(samples) = data["samples"].as_u64() {
        let loss = text(&data["loss"]).replace('_', " ");
        let samples = match data["available"].as_u64() {
            Some(available) => format!("the first {} of {} samples", whole(samples), whole(available)),
            None => format!("{} samples", whole(samples)),
        };
        fact("data", format!("{}: {samples}, {loss}", listed(&data["files"])));
    }
    let backend = &result["backend"];
    if backend.is_object() {
        let took = result["seconds"].as_f64().map_or(String::new(), |seconds| format!(", {}", duration(seconds)));
        let ranks = backend["ranks"].as_u64().map_or(String::new(), |ranks| format!("{} × ", whole(ranks)));
        let adapters = match (backend["adapters"].as_u64(), backend["ranks"].is_u64()) {
            (Some(1), true) => " (one GPU for all ranks that see it)".into(),
            (Some(adapters), true) => format!(" (in turn among the {} GPUs that a rank sees)", whole(adapters)),
            _ => String::new(),
        };
        let name = text(&backend["adapter"]);
        fact("computed by", format!("{ranks}{name}{adapters}, {}{took}", text(&backend["precision"])));
    }
    let notes: Vec<String> = [model, data].into_iter().flat_map(|part| strings(&part["notes"])).collect();
    let mut out = vec![Block::Facts(facts)];
    if !notes.is_empty() {
        out.push(Block::Notes(notes));
    }
    out
}

/// Names of files, of which there may be thousands.
fn listed(files: &Value) -> String {
    const MOST: usize = 3;
    let names = strings(files);
    some_of(&names[..names.len().min(MOST)], names.len())
}

/// What every result ends with.
pub(super) fn end(result: &Value) -> Vec<Block> {
    let mut out = Vec::new();
    let written = &result["written"];
    if written.is_object() {
        let bytes = written["bytes"].as_u64().unwrap_or(0);
        out.push(Block::Text(format!("written to {}: {} bytes", text(&written["file"]), whole(bytes))));
    }
    if result["stopped"] == true {
        out.push(Block::Text("Interrupted: this is what was finished.".into()));
    }
    out
}
