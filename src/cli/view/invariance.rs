//! An invariance table.

use serde_json::Value;

use super::{Block, Cell, Mark, Table, strings, text};
use crate::cli::number::{of, rough};
use crate::measure::Measure;

/// Transformations side by side.
const BESIDE: usize = 3;

pub(super) fn blocks(result: &Value) -> Vec<Block> {
    let names = strings(&result["names"]);
    let Some(cells) = result["table"]["cells"].as_array().filter(|_| !names.is_empty()) else { return Vec::new() };
    let said = match result["agrees"] == true {
        true => "yes: nothing that was found speaks against it",
        false => "no: what should stand still has moved",
    };
    let unresolved = result["unresolved"].as_u64().unwrap_or(0);
    let mut out =
        vec![Block::Facts(vec![("as theory says".into(), said.into()), ("unresolved".into(), unresolved.to_string())])];
    let rows: Vec<&[Value]> = cells.chunks(names.len()).collect();
    for first in (0..names.len()).step_by(BESIDE) {
        let columns = first..(first + BESIDE).min(names.len());
        out.push(Block::Table(table(&rows, columns, &names)));
    }
    let notes: Vec<String> = cells
        .iter()
        .filter(|cell| cell["agrees"] == false || cell["verdict"] == "unresolved")
        .map(|cell| {
            let map = cell["transformation"].as_u64().and_then(|i| names.get(i as usize)).map_or("", String::as_str);
            format!("{} under {map}: {}", title(cell), text(&cell["reason"]))
        })
        .collect();
    if !notes.is_empty() {
        out.push(Block::Notes(notes));
    }
    out
}

fn title(cell: &Value) -> String {
    let key = text(&cell["measure"]);
    if key == "outputs" {
        return "Outputs".into();
    }
    Measure::all().find(|measure| measure.key == key).map_or(key.clone(), |measure| measure.title.into())
}

fn table(rows: &[&[Value]], columns: std::ops::Range<usize>, names: &[String]) -> Table {
    let heads = ["measure", "before"].map(String::from).into_iter().chain(names[columns.clone()].iter().cloned());
    let rows = rows.iter().filter_map(|row| {
        let cells = row.get(columns.clone())?;
        let mut out = vec![Cell::from(title(&cells[0])), of(&cells[0]["before"]).into()];
        out.extend(cells.iter().map(verdict));
        Some(out)
    });
    Table { title: "Measures before and after".into(), columns: heads.collect(), rows: rows.collect() }
}

/// What was found, and by how much it moved, relative to what it was.
fn verdict(cell: &Value) -> Cell {
    let change = cell["relativeChange"].as_f64().map_or("—".into(), rough);
    let (word, mark) = match cell["verdict"].as_str() {
        Some("invariant") => ("stays", Mark::Good),
        Some("changed") if cell["agrees"] == true => ("moves", Mark::Unsure),
        Some("changed") => ("MOVES", Mark::Bad),
        _ => ("unresolved", Mark::Unsure),
    };
    Cell::marked(format!("{word} {change}"), mark)
}
