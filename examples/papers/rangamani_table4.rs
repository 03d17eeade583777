//! What Rangamani et al. (2019), Table 4, say of every network: the spectral norm of the Riemannian Hessian at the end of a training with
//! small and with large batches, by Lanczos, and how much of the test images is told right; seeds together.

use std::path::Path;

use isoflat::engine::{Device, Engine, Precision};
use isoflat::linalg::{Goal, Lanczos};
use isoflat::operator::{Connection, Metric, OperatorKind};
use isoflat::{Control, Result};
use pollster::block_on;
use serde_json::{Value, json};

use super::Arguments;
use super::images::Images;
use super::rangamani_training::{Key, trained};
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

/// Trains, and takes the norm.
fn one(key: &Key, data: &[Images; 2], scale: &Scale, folder: &Path) -> Result<Value> {
    let mut found = block_on(trained(key, data, folder))?;
    let engine = Engine::new(&Device::cpu(scale.precision), &found.problem.first(scale.measured))?;
    found.entry["measured_loss"] = block_on(engine.evaluate(&found.parameters))?.loss.into();
    block_on(engine.prepare(&found.parameters))?;
    let kind = OperatorKind::riemannian(Metric::Layerwise, Connection::Flat);
    let lanczos = Lanczos { goal: Goal::SpectralNorm, seed: key.seed, ..Lanczos::default() };
    let spectrum = block_on(async { lanczos.run(&kind.operator(&engine).await?, &Control::default()).await })?;
    let pair = spectrum.dominant();
    found.entry["spectral_norm"] = pair.map(|pair| pair.value.abs()).into();
    found.entry["converged"] = pair.is_some_and(|pair| pair.converged).into();
    found.entry["products"] = spectrum.products.into();
    Ok(found.entry)
}

/// All runs, with their names, in a table with a row for those that are the same in both of `by`.
pub fn run(
    arguments: &Arguments,
    scale: &Scale,
    data: &[Images; 2],
    keys: &[(String, Key)],
    by: [&str; 2],
) -> Result<()> {
    let found = runs::all(
        &arguments.runs,
        arguments.jobs,
        keys,
        |(name, _)| name.clone(),
        |(_, key)| one(key, data, scale, &arguments.runs),
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
    json!({
        by[0]: setting[0],
        by[1]: setting[1],
        "seeds": own().count(),
        "reached": own().filter(|run| run["reached"] == true).count(),
        "converged": own().filter(|run| run["converged"] == true).count(),
        "epochs": spread(&of("epochs")),
        "training_loss": spread(&of("training_loss")),
        "test_accuracy": spread(&of("test_accuracy")),
        "spectral_norm": spread(&of("spectral_norm")),
    })
}

fn table(by: [&str; 2], rows: &[Value]) -> String {
    let columns = "seeds at 100 % | epochs | training loss | test accuracy | spectral norm";
    let mut lines = vec![format!("| {} | {columns} |", by.join(" | ")), format!("|{}", " --- |".repeat(7))];
    for row in rows {
        let shown = |key: &str| {
            let number = |of: &str| row[key][of].as_f64();
            let deviation = number("deviation").map(|value| format!(" ± {value:.2}")).unwrap_or_default();
            number("mean").map_or("none".into(), |mean| match mean.abs() < 0.01 {
                true => format!("{mean:.1e}"),
                false => format!("{mean:.3}{deviation}"),
            })
        };
        let cells = ["epochs", "training_loss", "test_accuracy", "spectral_norm"].map(shown).join(" | ");
        let setting = by.map(|key| row[key].as_str().unwrap_or_default()).join(" | ");
        lines.push(format!("| {setting} | {} of {} | {cells} |", row["reached"], row["seeds"]));
    }
    lines.join("\n")
}
