//! A plan.

use serde_json::Value;

use super::{Block, Cell, Mark, Plot, Table};
use crate::cli::number::{percent, rough, whole};
use crate::memory::in_words;

pub(super) fn blocks(result: &Value) -> Vec<Block> {
    let found = &result["plan"];
    let Some(rows) = found["rows"].as_array() else { return Vec::new() };
    let enough = found["enough"].as_u64().unwrap_or(1);
    let title = "A Hessian product on so many ranks, each on a machine like this one";
    let columns = ["ranks", "samples each", "memory each", "a product", "of it waiting", "times as fast"];
    let columns = columns.map(String::from).to_vec();
    let table = Table { title: title.into(), columns, rows: rows.iter().map(|row| cells(row, enough)).collect() };
    let link = &found["link"];
    let rate = rough(link["rate"].as_f64().unwrap_or(f64::NAN) / 1e9);
    let latency = rough(1e6 * link["latency"].as_f64().unwrap_or(f64::NAN));
    let by = match link["ranks"].as_u64() {
        Some(ranks) => format!("was measured between {ranks} ranks: {rate} GB/s, {latency} µs a message"),
        None => format!(
            "is assumed to be of {rate} GB/s and {latency} µs a message; under mpirun, on two machines or more, it is measured"
        ),
    };
    let trial = whole(found["trial"]["samples"].as_u64().unwrap_or(0));
    let (most, so_many) = (found["nodes"].as_u64().unwrap_or(1), whole(enough));
    let saved = match enough == most {
        true => format!("Every doubling up to {so_many} ranks saves a quarter of the time or more."),
        false => format!("More than {so_many} ranks save less than a quarter of the time with every doubling."),
    };
    let text = format!(
        "{saved} A product was tried here with up to {trial} samples; \
         the network between ranks {by}. All are taken to come to the end of a pass at once. Six eigenvalues take 30 to 40 products, a \
         report some 300.",
    );
    let points = rows.iter().filter_map(|row| row["ranks"].as_f64().zip(row["seconds"].as_f64()));
    let plot = Plot {
        title: "Seconds of a product".into(),
        x: "ranks".into(),
        y: "seconds".into(),
        points: points.collect(),
        is_log: true,
        is_line: true,
    };
    vec![Block::Table(table), Block::Text(text), Block::Plot(plot)]
}

fn cells(row: &Value, enough: u64) -> Vec<Cell> {
    let ranks = row["ranks"].as_u64().unwrap_or(0);
    let number = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
    let mark = if ranks <= enough { Mark::Good } else { Mark::Unsure };
    vec![
        whole(ranks).into(),
        whole(row["samples"].as_u64().unwrap_or(0)).into(),
        row["bytes"].as_u64().map_or("—".into(), in_words).into(),
        time(number("seconds")).into(),
        percent(number("waiting")).into(),
        Cell::marked(rough(number("speedup")), mark),
    ]
}

/// From microseconds to days.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{} µs", rough(1e6 * s)),
        s if s < 1.0 => format!("{} ms", rough(1e3 * s)),
        s if s < 100.0 => format!("{} s", rough(s)),
        s => crate::cli::number::duration(s),
    }
}
