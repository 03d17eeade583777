//! A landscape.

use serde_json::Value;

use super::{Block, Cell, Heat, Plot, Table, numbers, strings};
use crate::cli::number::{number, of, percent};

pub(super) fn blocks(result: &Value) -> Vec<Block> {
    let found = &result["landscape"];
    if !found.is_object() {
        return Vec::new();
    }
    let (s, t, loss) = (numbers(&found["s"]), numbers(&found["t"]), numbers(&found["loss"]));
    let finite = || loss.iter().copied().filter(|loss| loss.is_finite());
    let [low, high] = [finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max)];
    let mut facts = vec![
        ("directions".into(), strings(&result["directions"]).join(", ")),
        ("loss at the middle".into(), of(&found["center"])),
        ("lowest, highest".into(), format!("{}, {}", number(low), number(high))),
    ];
    if let Some(count) = found["notFinite"].as_u64().filter(|&count| count > 0) {
        facts.push(("points that overflow".into(), count.to_string()));
    }
    let mut out = vec![Block::Facts(facts)];
    // A range of many orders is seen only on a logarithmic scale.
    let is_log = low > 0.0 && high > 100.0 * low;
    if t.is_empty() {
        out.push(Block::Table(table(&s, &loss, &numbers(&found["accuracy"]))));
        let points = s.into_iter().zip(loss).collect();
        let title = "Loss along the direction".into();
        out.push(Block::Plot(Plot { title, x: "distance".into(), y: "loss".into(), points, is_log, is_line: true }));
    } else {
        let values = if is_log { loss.iter().map(|loss| loss.log10()).collect() } else { loss };
        let title = if is_log { "Loss over the plane, log10" } else { "Loss over the plane" };
        out.push(Block::Heat(Heat { title: title.into(), s, t, values }));
    }
    out
}

/// A line's points, as many as are read.
fn table(s: &[f64], loss: &[f64], accuracy: &[f64]) -> Table {
    const MOST: usize = 21;
    let every = s.len().div_ceil(MOST).max(1);
    let mut columns = vec![String::from("distance"), "loss".into()];
    if accuracy.len() == loss.len() {
        columns.push("accuracy".into());
    }
    let rows = s.iter().zip(loss).enumerate().step_by(every).map(|(i, (&s, &loss))| {
        let mut row = vec![Cell::from(number(s)), number(loss).into()];
        row.extend(accuracy.get(i).map(|&share| Cell::from(percent(share))));
        row
    });
    Table { title: "Points of the line".into(), columns, rows: rows.collect() }
}
