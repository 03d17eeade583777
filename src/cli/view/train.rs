//! A training run.

use serde_json::Value;

use super::{Block, Cell, Plot, Table, text};
use crate::cli::number::{of, percent, whole};

pub(super) fn blocks(result: &Value) -> Vec<Block> {
    let training = &result["training"];
    let Some(history) = training["history"].as_array() else { return Vec::new() };
    let is_classifier = result["accuracy"].is_number();
    let row = |epoch: &Value| {
        let mut row = vec![Cell::from(epoch["epoch"].to_string()), of(&epoch["loss"]).into()];
        if is_classifier {
            row.push(epoch["accuracy"].as_f64().map_or("—".into(), percent).into());
        }
        row
    };
    let names: &[&str] = if is_classifier { &["epoch", "loss", "accuracy"] } else { &["epoch", "loss"] };
    let columns = names.iter().map(|name| name.to_string()).collect();
    let title = "Epochs: means over their steps, each at the weights of its moment".into();
    let mut out = vec![Block::Table(Table { title, columns, rows: history.iter().map(row).collect() })];
    let steps = training["steps"].as_u64().unwrap_or(0);
    out.push(Block::Text(format!("{} steps in the space {}.", whole(steps), text(&training["space"]))));
    let set: Vec<String> = [("fixed weights", "values"), ("tree", "tree")]
        .into_iter()
        .filter_map(|(what, key)| Some(format!("its {what} to {}", of(training[key].get("set")?))))
        .collect();
    if !set.is_empty() {
        out.push(Block::Text(format!("Before the first step it has set {}: another function.", set.join(", "))));
    }
    if let Some(warning) = training["warning"].as_str() {
        out.push(Block::Notes(vec![warning.into()]));
    }
    let points: Vec<(f64, f64)> =
        history.iter().filter_map(|epoch| Some((epoch["epoch"].as_f64()?, epoch["loss"].as_f64()?))).collect();
    if points.len() > 1 {
        let (x, y) = ("epoch".into(), "loss".into());
        out.push(Block::Plot(Plot { title: "Loss".into(), x, y, points, is_line: true, ..Plot::default() }));
    }
    out
}
