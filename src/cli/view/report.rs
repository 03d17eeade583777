//! A report.

use serde_json::Value;

use super::{Block, Cell, Mark, Plot, Table, numbers, spectrum, text};
use crate::cli::number::{number, of, rough};
use crate::measure::Measure;
use crate::operator::OperatorKind;

pub(super) fn blocks(result: &Value) -> Vec<Block> {
    let report = &result["report"];
    let mut out: Vec<Block> = measures(report, result["rescalable"] != false).map(Block::Table).into_iter().collect();
    out.extend(errors(report).map(Block::Text));
    out.extend(transformed(report).map(Block::Table));
    out.extend(spectra(report).map(Block::Table));
    out.extend(eigenvalues(report));
    if report["density"]["hessian"].is_object() {
        out.push(Block::Plot(spectrum::density(&report["density"]["hessian"], "Density of the Hessian’s spectrum")));
    }
    out.extend(layers(report).map(Block::Table));
    if out.is_empty() {
        out.push(Block::Text("What these sections find is in the result alone: --json, or --out FILE.".into()));
    }
    let unfinished = result["sections"].as_array().into_iter().flatten().filter(|run| run["finished"] == false);
    let unfinished: Vec<String> = unfinished.map(|run| text(&run["section"])).collect();
    if !unfinished.is_empty() {
        out.push(Block::Text(format!("Not finished: {}.", unfinished.join(", "))));
    }
    out
}

/// The measures that a report has, with what theory says of each; of rescalings nothing where the network has none.
fn measures(report: &Value, is_rescalable: bool) -> Option<Table> {
    let mut rows = Vec::new();
    for measure in Measure::all() {
        let Some(value) = value_of(report, measure.key) else { continue };
        let stays = |stays: bool| match stays {
            true => Cell::marked("stays", Mark::Good),
            false => Cell::marked("moves", Mark::Unsure),
        };
        let rescaled = |holds: bool| if is_rescalable { stays(holds) } else { "—".into() };
        let kinds = measure.invariant;
        rows.push(vec![
            measure.title.into(),
            number(value).into(),
            rescaled(kinds.layerwise),
            rescaled(kinds.nodewise),
            stays(kinds.permutation),
        ]);
    }
    let columns = ["measure", "value", "layer-wise", "node-wise", "permuted"].map(String::from).to_vec();
    let title = "Measures, and which rescalings of the weights leave them as they are".into();
    (!rows.is_empty()).then_some(Table { title, columns, rows })
}

/// A measure's value, wherever a report has it.
fn value_of(report: &Value, key: &str) -> Option<f64> {
    let sharpness = |name: &str, part: &str| report["sharpness"][name][part].as_f64();
    match key {
        "epsilon_sharpness" | "epsilon_sharpness_box" | "average_sharpness" | "average_sharpness_scaled" => {
            sharpness(key, "value")
        }
        "epsilon_sharpness_quadratic" => sharpness("epsilon_sharpness", "quadratic"),
        "riemannian_sharpness.layerwise" | "riemannian_sharpness.nodewise" => {
            sharpness(&key.replace('.', "_"), "value")
        }
        "petzka.relative_flatness_sum" => {
            let list = report["petzka"]["relative_flatness"].as_array()?;
            list.iter().map(Value::as_f64).sum()
        }
        _ => key.split('.').try_fold(report, |value, key| value.get(key))?.as_f64(),
    }
}

/// How far those measures are known that are means over draws.
fn errors(report: &Value) -> Option<String> {
    let error = |measure: &Measure| report["sharpness"][measure.key]["standardError"].as_f64();
    let drawn = Measure::all().filter_map(|measure| Some(format!("{} ± {}", measure.title, rough(error(measure)?))));
    let drawn: Vec<String> = drawn.collect();
    (!drawn.is_empty()).then(|| format!("Means over draws, with their standard errors: {}.", drawn.join("; ")))
}

/// The measures after each transformation of a problem file.
fn transformed(report: &Value) -> Option<Table> {
    let list = report["transformed"].as_array().filter(|list| !list.is_empty())?;
    let mut rows = Vec::new();
    for measure in Measure::all() {
        let Some(before) = value_of(report, measure.key) else { continue };
        let after: Vec<Option<f64>> = list.iter().map(|entry| value_of(entry, measure.key)).collect();
        if after.iter().all(Option::is_none) {
            continue;
        }
        let mut row: Vec<Cell> = vec![measure.title.into(), number(before).into()];
        row.extend(after.into_iter().map(|value| Cell::from(value.map_or("—".into(), number))));
        rows.push(row);
    }
    let names = list.iter().map(|entry| text(&entry["type"]).replace('_', " "));
    let columns = ["measure", "before"].map(String::from).into_iter().chain(names).collect();
    Some(Table { title: "The same network after each of the file’s transformations".into(), columns, rows })
}

fn spectra(report: &Value) -> Option<Table> {
    let mut rows = Vec::new();
    for kind in OperatorKind::ALL {
        let name = kind.name();
        let Some(found) = name.split('.').try_fold(report, |value, key| value.get(key)) else { continue };
        let title = crate::operator::Whole::all().iter().find(|row| row.name == name).map_or("", |row| row.title);
        let residual = found["max_eigenvalue_residual"].as_f64().map_or("—".into(), rough);
        let error = |key: &str| match found[format!("{key}_standard_error")].as_f64() {
            Some(error) => format!("{} ± {}", of(&found[key]), rough(error)),
            None => of(&found[key]),
        };
        rows.push(vec![
            title.into(),
            of(&found["max_eigenvalue"]).into(),
            residual.into(),
            of(&found["min_eigenvalue"]).into(),
            error("trace").into(),
            error("frobenius_norm").into(),
        ]);
    }
    let columns = ["spectrum of", "largest", "residual", "smallest", "trace", "Frobenius norm"].map(String::from);
    (!rows.is_empty()).then(|| Table { title: "Spectra".into(), columns: columns.to_vec(), rows })
}

/// The Hessian's eigenvalues: all of a small network, else the largest.
fn eigenvalues(report: &Value) -> Option<Block> {
    let hessian = &report["hessian"];
    let all = numbers(&hessian["eigenvalues"]);
    let (title, mut values) = match all.is_empty() {
        true => ("The Hessian’s largest eigenvalues", numbers(&hessian["top_eigenvalues"])),
        false => ("The Hessian’s eigenvalues", all),
    };
    values.sort_by(|a, b| b.total_cmp(a));
    (!values.is_empty()).then(|| {
        Block::Plot(Plot {
            title: title.into(),
            x: "number".into(),
            y: "eigenvalue".into(),
            points: values.iter().enumerate().map(|(i, &value)| ((i + 1) as f64, value)).collect(),
            ..Plot::default()
        })
    })
}

/// Petzka's measures of each layer.
fn layers(report: &Value) -> Option<Table> {
    let petzka = &report["petzka"];
    let count = petzka["kappa"].as_array()?.len();
    let rows = (0..count).map(|l| {
        let flatness = &petzka["relative_flatness"][l];
        vec![
            Cell::from(format!("{}", l + 1)),
            of(&petzka["kappa"][l]).into(),
            of(&petzka["kappa_trace"][l]).into(),
            of(&petzka["rho_max_per_layer"][l]).into(),
            of(&petzka["rho_sum_per_layer"][l]).into(),
            of(flatness).into(),
        ]
    });
    let columns = ["layer", "κ", "κ_τ", "ρ, largest", "ρ, sum", "relative flatness"].map(String::from).to_vec();
    Some(Table { title: "Petzka’s measures, layer by layer".into(), columns, rows: rows.collect() })
}
