//! Rangamani et al. (2019), Table 4, MNIST's rows: 784-512×5-10 and a network of LeNet's type, trained with small and with large batches until
//! every training image is told right; the accuracy on test images, and the spectral norm of the Riemannian Hessian over all training
//! images, by Lanczos. The paper's losses are then in the order of 1e-4; what they are here is in the results.
//!
//! Each training is a run, which begins anew where it was killed: one of 784-512×5-10 is the longest.

use isoflat::engine::{Device, Engine, Precision};
use isoflat::linalg::{Goal, Lanczos};
use isoflat::network::Preset;
use isoflat::operator::{Connection, Metric, OperatorKind};
use isoflat::{Control, Result};
use pollster::block_on;
use serde_json::{Value, json};

use super::Arguments;
use super::images::Images;
use super::rangamani_training::{BATCHES, Key, images, keys, trained};
use super::runs;

const PRESETS: [Preset; 2] = [Preset::MnistFc, Preset::LeNet];

struct Scale {
    training: usize,
    test: usize,
    epochs: usize,
    seeds: u64,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let scale = match arguments.quick {
        true => Scale { training: 500, test: 1000, epochs: 400, seeds: 1 },
        false => Scale { training: 60_000, test: 10_000, epochs: 200, seeds: 5 },
    };
    let scale = Scale { seeds: arguments.seeds.unwrap_or(scale.seeds), ..scale };
    let data = images(arguments, scale.training, scale.test)?;
    let keys = keys(&PRESETS, scale.seeds);
    let work = |key: &Key| block_on(one(key, &data, scale.epochs));
    let found = runs::all(&arguments.runs, arguments.jobs, &keys, Key::name, work)?;
    let rows: Vec<Value> = PRESETS
        .iter()
        .flat_map(|preset| BATCHES.iter().map(|batches| (preset.name(), batches.name)))
        .map(|(network, batches)| row(network, batches, &found))
        .collect();
    let result = json!({
        "paper": "Rangamani et al. 2019, Table 4",
        "training": scale.training,
        "test": scale.test,
        "epochs": scale.epochs,
        "seconds": runs::seconds(&found),
        "rows": rows,
        "runs": found,
    });
    runs::write(&arguments.out, &result)?;
    println!("{}\n\nwritten to {}", table(&rows), arguments.out.display());
    Ok(())
}

async fn one(key: &Key, data: &[Images; 2], epochs: usize) -> Result<Value> {
    let mut found = trained(key, data, epochs).await?;
    let engine = Engine::new(&Device::cpu(Precision::F32), &found.problem)?;
    engine.prepare(&found.parameters).await?;
    let operator = OperatorKind::riemannian(Metric::Layerwise, Connection::Flat).operator(&engine).await?;
    let lanczos = Lanczos { goal: Goal::SpectralNorm, seed: key.seed, ..Lanczos::default() };
    let spectrum = lanczos.run(&operator, &Control::default()).await?;
    let pair = spectrum.dominant();
    found.entry["spectral_norm"] = pair.map(|pair| pair.value.abs()).into();
    found.entry["converged"] = pair.is_some_and(|pair| pair.converged).into();
    found.entry["products"] = spectrum.products.into();
    Ok(found.entry)
}

/// The mean over seeds and its standard deviation; none of no number.
fn spread(values: &[f64]) -> Value {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    json!({ "mean": mean, "deviation": (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt()) })
}

fn row(network: &str, batches: &str, found: &[Value]) -> Value {
    let own = || found.iter().filter(|run| run["network"] == network && run["batches"] == batches);
    let of = |key: &str| own().filter_map(|run| run[key].as_f64()).collect::<Vec<_>>();
    json!({
        "network": network,
        "batches": batches,
        "seeds": own().count(),
        "reached": own().filter(|run| run["reached"] == true).count(),
        "converged": own().filter(|run| run["converged"] == true).count(),
        "epochs": spread(&of("epochs")),
        "training_loss": spread(&of("training_loss")),
        "test_accuracy": spread(&of("test_accuracy")),
        "spectral_norm": spread(&of("spectral_norm")),
    })
}

fn table(rows: &[Value]) -> String {
    let mut lines = vec![
        "| network | batches | seeds at 100 % | epochs | training loss | test accuracy | spectral norm |".into(),
        "| --- | --- | --- | --- | --- | --- | --- |".into(),
    ];
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
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        let (network, batches) = (text("network"), text("batches"));
        lines.push(format!("| {network} | {batches} | {} of {} | {cells} |", row["reached"], row["seeds"]));
    }
    lines.join("\n")
}
