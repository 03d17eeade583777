//! Eigenvalues.

use serde_json::Value;

use super::{Block, Cell, Mark, Plot, Table, numbers, text};
use crate::cli::number::{number, of, rough, whole};

pub(super) fn blocks(result: &Value) -> Vec<Block> {
    let title = text(&result["title"]);
    let found = &result["eigenvalues"];
    if !found.is_object() {
        return Vec::new();
    }
    let mut out = Vec::new();
    for (key, which) in [("top", "largest"), ("bottom", "smallest")] {
        let pairs = found[key].as_array().filter(|pairs| !pairs.is_empty());
        out.extend(pairs.map(|pairs| Block::Table(table(pairs, format!("{title}: the {which} eigenvalues")))));
    }
    let dimension = result["dimension"].as_u64().unwrap_or(0);
    let products = found["products"].as_u64().unwrap_or(0);
    let verified = match (found["converged"] == true, found["verified"] == true) {
        (false, _) => "not all converged: residuals say how far off each is",
        (true, true) => "verified: none was missed, by all that a random vector tells",
        (true, false) => "converged, but not verified: others may lie between them",
    };
    out.push(Block::Text(format!("Of {} in all, by {} products; {verified}.", whole(dimension), whole(products))));
    let mut values: Vec<f64> = ["bottom", "top"].into_iter().flat_map(|key| values(&found[key])).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    out.push(Block::Plot(Plot {
        title: format!("{title}: eigenvalues"),
        x: "number".into(),
        y: "eigenvalue".into(),
        points: values.iter().enumerate().map(|(i, &value)| ((i + 1) as f64, value)).collect(),
        ..Plot::default()
    }));
    if result["density"].is_object() {
        out.push(Block::Plot(density(&result["density"], &format!("{title}: density of the spectrum"))));
    }
    out
}

fn values(pairs: &Value) -> Vec<f64> {
    pairs.as_array().into_iter().flatten().filter_map(|pair| pair["value"].as_f64()).collect()
}

fn table(pairs: &[Value], title: String) -> Table {
    let row = |(i, pair): (usize, &Value)| {
        let residual = pair["residual"].as_f64().unwrap_or(f64::NAN);
        let converged = match pair["converged"] == true {
            true => Cell::marked("yes", Mark::Good),
            false => Cell::marked("no", Mark::Bad),
        };
        vec![Cell::from((i + 1).to_string()), of(&pair["value"]).into(), rough(residual).into(), converged]
    };
    let columns = ["number", "eigenvalue", "residual", "converged"].map(String::from).to_vec();
    Table { title, columns, rows: pairs.iter().enumerate().map(row).collect() }
}

/// A density as a curve; most of a spectrum lies near 0, so the scale is logarithmic.
pub(super) fn density(density: &Value, title: &str) -> Plot {
    let (grid, values) = (numbers(&density["grid"]), numbers(&density["density"]));
    let width = density["width"].as_f64().map_or(String::new(), |width| format!(", broadened by {}", number(width)));
    Plot {
        title: title.into(),
        x: format!("eigenvalue{width}"),
        y: "share per unit".into(),
        points: grid.into_iter().zip(values).collect(),
        is_log: true,
        is_line: true,
    }
}
