//! What Rangamani et al. (2019), Table 4, say of every network: the spectral norm of the Riemannian Hessian at the end of a training with
//! small and with large batches, by Lanczos, and how much of the test images is told right; seeds together. The norm is in the layer-wise
//! metric, as in the paper, and in the node-wise one too.

use std::path::Path;

use isoflat::engine::{Device, Engine, Precision};
use isoflat::linalg::{Goal, Lanczos};
use isoflat::operator::{Connection, Metric, OperatorKind};
use isoflat::{Control, Error, ErrorCode, Result};
use pollster::block_on;
use serde_json::{Value, json};

use super::Arguments;
use super::images::Images;
use super::rangamani_training::{Key, is_kept, trained};
use super::runs;

/// How much of everything.
pub struct Scale {
    pub training: usize,
    pub test: usize,
    pub epochs: usize,
    pub seeds: u64,
    /// Training images at which the norm is taken: the first.
    pub measured: usize,
    /// In which the norm is taken, and the loss beside it.
    pub precision: Precision,
}

/// In which the norm is taken, and how the names of what is found begin. The paper has the first, and leaves the second to others.
const METRICS: [(Metric, &str); 2] = [(Metric::Layerwise, ""), (Metric::Nodewise, "nodewise_")];

/// Trains, and takes the norms, or those alone that were not taken `before`.
fn one(key: &Key, data: &[Images; 2], scale: &Scale, folder: &Path, before: Option<Value>) -> Result<Value> {
    let found = block_on(trained(key, data, folder))?;
    let engine = Engine::new(&Device::cpu(scale.precision), &found.problem.first(scale.measured))?;
    let mut entry = match before {
        None => {
            let loss = block_on(engine.evaluate(&found.parameters))?.loss;
            let mut entry = found.entry;
            entry["measured_loss"] = loss.into();
            entry
        }
        Some(before) => {
            ensure_same(key, &before, &found.entry)?;
            before
        }
    };
    block_on(engine.prepare(&found.parameters))?;
    for (metric, of) in METRICS {
        if entry.get(format!("{of}products")).is_some() {
            continue;
        }
        let kind = OperatorKind::riemannian(metric, Connection::Flat);
        let lanczos = Lanczos { goal: Goal::SpectralNorm, seed: key.seed, ..Lanczos::default() };
        let spectrum = block_on(async { lanczos.run(&kind.operator(&engine).await?, &Control::default()).await })?;
        let pair = spectrum.dominant();
        entry[format!("{of}spectral_norm")] = pair.map(|pair| pair.value.abs()).into();
        entry[format!("{of}converged")] = pair.is_some_and(|pair| pair.converged).into();
        entry[format!("{of}products")] = spectrum.products.into();
    }
    Ok(entry)
}

/// Of a run that was measured before, does its state come to the same network? But for what another machine rounds otherwise.
fn ensure_same(key: &Key, before: &Value, now: &Value) -> Result<()> {
    let [before, now] = [before, now].map(|entry| entry["training_loss"].as_f64().unwrap_or(f64::NAN));
    if (before - now).abs() <= 0.01 * before.abs() {
        return Ok(());
    }
    let what = format!(
        "{}: its state comes to a training loss of {now:.3e}, but was measured at {before:.3e}: it is of another training",
        key.name()
    );
    Err(Error::new(ErrorCode::InvalidOption, what))
}

/// Was a run measured in one metric alone, and is its network still there?
fn lacks(name: &str, key: &Key, found: &Value, folder: &Path) -> Result<bool> {
    if METRICS.iter().all(|(_, of)| found.get(format!("{of}products")).is_some()) {
        return Ok(false);
    }
    let is_kept = is_kept(key, folder, found["epochs"].as_u64().unwrap_or(0) as usize)?;
    if !is_kept {
        eprintln!(
            "{name}: it has no node-wise norm, and its network is not kept; without {name}.json it is trained again"
        );
    }
    Ok(is_kept)
}

/// All runs, with their names, in a table with a row for those that are the same in both of `by`.
pub fn run(
    arguments: &Arguments,
    scale: &Scale,
    data: &[Images; 2],
    keys: &[(String, Key)],
    by: [&str; 2],
) -> Result<()> {
    let folder = &arguments.runs;
    let found = runs::completed(
        folder,
        arguments.jobs,
        keys,
        |(name, _)| name.clone(),
        |(name, key), found| lacks(name, key, found, folder),
        |(_, key), before| one(key, data, scale, folder, before),
    )?;
    let mut settings: Vec<[&Value; 2]> = Vec::new();
    for run in &found {
        let setting = by.map(|key| &run[key]);
        if !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    let rows: Vec<Value> = settings.into_iter().map(|setting| row(by, setting, &found)).collect();
    let result = json!({
        "paper": "Rangamani et al. 2019, Table 4",
        "training": scale.training,
        "test": scale.test,
        "measured": scale.measured,
        "epochs": scale.epochs,
        "seconds": runs::seconds(&found),
        "rows": rows,
        "runs": found,
    });
    runs::write(&arguments.out, &result)?;
    println!("{}\n\nwritten to {}", table(by, &rows), arguments.out.display());
    Ok(())
}

/// The mean over seeds and its standard deviation; none of no number.
fn spread(values: &[f64]) -> Value {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    json!({ "mean": mean, "deviation": (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt()) })
}

fn row(by: [&str; 2], setting: [&Value; 2], found: &[Value]) -> Value {
    let own = || found.iter().filter(|run| by.map(|key| &run[key]) == setting);
    let of = |key: &str| own().filter_map(|run| run[key].as_f64()).collect::<Vec<_>>();
    let count = |key: &str| own().filter(|run| run[key] == true).count();
    json!({
        by[0]: setting[0],
        by[1]: setting[1],
        "seeds": own().count(),
        "reached": count("reached"),
        "converged": count("converged"),
        "epochs": spread(&of("epochs")),
        "training_loss": spread(&of("training_loss")),
        "test_accuracy": spread(&of("test_accuracy")),
        "spectral_norm": spread(&of("spectral_norm")),
        // Of fewer seeds, where some were measured before there was this one.
        "nodewise_seeds": of("nodewise_products").len(),
        "nodewise_converged": count("nodewise_converged"),
        "nodewise_spectral_norm": spread(&of("nodewise_spectral_norm")),
    })
}

fn table(by: [&str; 2], rows: &[Value]) -> String {
    let columns = "seeds at 100 % | epochs | training loss | test accuracy | spectral norm | node-wise";
    let mut lines = vec![format!("| {} | {columns} |", by.join(" | ")), format!("|{}", " --- |".repeat(8))];
    for row in rows {
        let shown = |key: &str| {
            let number = |of: &str| row[key][of].as_f64();
            let deviation = number("deviation").map(|value| format!(" ± {value:.2}")).unwrap_or_default();
            number("mean").map_or("none".into(), |mean| match mean.abs() < 0.01 {
                true => format!("{mean:.1e}"),
                false => format!("{mean:.3}{deviation}"),
            })
        };
        let cells = ["epochs", "training_loss", "test_accuracy", "spectral_norm", "nodewise_spectral_norm"];
        let cells = cells.map(shown).join(" | ");
        let setting = by.map(|key| row[key].as_str().unwrap_or_default()).join(" | ");
        lines.push(format!("| {setting} | {} of {} | {cells} |", row["reached"], row["seeds"]));
    }
    lines.join("\n")
}
