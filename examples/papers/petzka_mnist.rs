//! Petzka et al. (2019), appendix C: 784-50-50-50-30-10 on MNIST, Xavier normal, SGD with batches of 1000, 2000, 4000 and 8000, and whether
//! flatness goes with the generalisation gap: Figures 3 (κ_τ of each hidden layer), 4 (ρ_σ), 5 (ρ) and 6 (of the whole network), and
//! beside them every measure that isoflat has. All are taken again after a layer-wise rescaling with random factors from 5 to 25, as in
//! Figure 2, which changes no function: what depends on the scale of weights loses what it said, what is invariant keeps it.
//!
//! The text's rates go from 0.02 (batches of 1000) to 1.6 (8000) “to keep the ratio constant”, which these two do not. At 1.6 no run of
//! seven learned anything: three diverged and four stayed where all classes are as likely. So the ratio is kept that the lower end has, up to
//! 0.16. How long networks are trained the text does not say: here for 200 epochs. Runs whose training loss is above 0.07 are left out, as there.

use isoflat::engine::{Device, Engine, Precision};
use isoflat::measure::{Measure, MeasureOptions, measure};
use isoflat::network::{BiasInitialization, Initialization, Preset};
use isoflat::symmetry::Transformation;
use isoflat::train::{Optimizer, TrainOptions, train};
use isoflat::{Control, Error, ErrorCode, ReportOptions, Result, Section, report_at};
use pollster::block_on;
use serde_json::{Map, Value, json};

use super::Arguments;
use super::mnist::Images;
use super::runs;
use super::statistics::{kendall, pearson};

/// Batches and rates.
const SETTINGS: [(usize, f64); 4] = [(1000, 0.02), (2000, 0.04), (4000, 0.08), (8000, 0.16)];

/// How much of everything.
struct Scale {
    training: usize,
    test: usize,
    epochs: usize,
    seeds: u64,
    /// Training images at which measures are taken: the first.
    measured: usize,
    /// Training losses above it are left out.
    largest_loss: f64,
}

struct Key {
    batch: usize,
    rate: f64,
    seed: u64,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let scale = match arguments.quick {
        true => Scale { training: 8000, test: 2000, epochs: 40, seeds: 2, measured: 500, largest_loss: 1.5 },
        false => Scale { training: 60_000, test: 10_000, epochs: 200, seeds: 10, measured: 6000, largest_loss: 0.07 },
    };
    let scale = Scale { seeds: arguments.seeds.unwrap_or(scale.seeds), ..scale };
    let images = |part, count| Images::read(&arguments.data, part, count, |pixel| pixel / 255.0);
    let data = [images("train", scale.training)?, images("t10k", scale.test)?];
    let keys: Vec<Key> = (0..scale.seeds)
        .flat_map(|seed| SETTINGS.into_iter().map(move |(batch, rate)| Key { batch, rate, seed }))
        .collect();
    let name = |key: &Key| format!("batch-{}-seed-{}", key.batch, key.seed);
    let found = runs::all(&arguments.runs, arguments.jobs, &keys, name, |key| block_on(one(key, &scale, &data)))?;

    let (kept, left_out): (Vec<_>, Vec<_>) =
        found.iter().partition(|run| run["training_loss"].as_f64().is_some_and(|loss| loss <= scale.largest_loss));
    let rows = correlations(&kept);
    let result = json!({
        "paper": "Petzka et al. 2019, Figures 3 to 6",
        "network": Preset::PetzkaMnist.network().summary(),
        "training": scale.training,
        "test": scale.test,
        "measured": scale.measured,
        "epochs": scale.epochs,
        "largest_loss": scale.largest_loss,
        "seconds": runs::seconds(&found),
        "left_out": left_out.len(),
        "correlations": rows,
        "runs": found,
    });
    runs::write(&arguments.out, &result)?;
    println!("{} runs, {} of them above a training loss of {}\n", found.len(), left_out.len(), scale.largest_loss);
    println!("{}", table(&rows));
    println!("\nwritten to {}", arguments.out.display());
    Ok(())
}

/// Trains a network and measures it.
async fn one(key: &Key, scale: &Scale, data: &[Images; 2]) -> Result<Value> {
    let [training, test] = [&data[0], &data[1]].map(|images| images.problem(Preset::PetzkaMnist.network()));
    let [training, test] = [training?, test?];
    let device = Device::cpu(Precision::F32);
    let control = Control::default();
    let engines = [Engine::new(&device, &training)?, Engine::new(&device, &test)?];
    let network = training.network();
    let start = network.initialize(Initialization::XavierNormal, BiasInitialization::Zero, key.seed)?;
    let options = TrainOptions {
        optimizer: Optimizer::sgd(key.rate),
        batch_size: key.batch,
        epochs: scale.epochs,
        seed: key.seed,
        ..TrainOptions::default()
    };
    let mut entry = json!({ "batch": key.batch, "learning_rate": key.rate, "seed": key.seed });
    let parameters = match train(&engines[0], &start, None, &options, &control).await {
        Ok(training) => training.parameters,
        Err(Error { code: ErrorCode::NotFinite, message, .. }) => {
            entry["fault"] = message.into();
            return Ok(entry);
        }
        Err(error) => return Err(error),
    };
    for (engine, which) in engines.iter().zip(["training", "test"]) {
        let found = engine.evaluate(&parameters).await?;
        entry[format!("{which}_loss")] = found.loss.into();
        entry[format!("{which}_accuracy")] = found.accuracy.into();
    }
    drop(engines);
    // What is left out is not measured.
    if entry["training_loss"].as_f64().is_none_or(|loss| loss > scale.largest_loss) {
        return Ok(entry);
    }

    let engine = Engine::new(&device, &training.first(scale.measured))?;
    entry["at"] = measured(&engine, &parameters).await?;
    let bend = Transformation::RandomLayerwise { seed: key.seed, low: 5.0, high: 25.0 };
    entry["rescaled"] = measured(&engine, &bend.apply(training.network(), &parameters)?).await?;
    Ok(entry)
}

/// Every measure, and Petzka's of each layer.
async fn measured(engine: &Engine, parameters: &[f64]) -> Result<Value> {
    let (options, control) = (MeasureOptions::default(), Control::default());
    let all: Vec<&'static Measure> = Measure::defined_for(engine.problem().network()).collect();
    let values = match measure(engine, parameters, &all, &options, &control).await {
        Ok(values) => values.iter().map(|value| (value.key.into(), value.value.into())).collect(),
        // One that overflows is no number; the others are.
        Err(Error { code: ErrorCode::NotFinite, .. }) => {
            let mut values = Map::new();
            for one in all {
                let value = measure(engine, parameters, &[one], &options, &control).await;
                values.insert(one.key.into(), value.map_or(Value::Null, |values| values[0].value.into()));
            }
            values
        }
        Err(error) => return Err(error),
    };
    let options = ReportOptions { sections: Some(vec![Section::Petzka]), measure: options, ..Default::default() };
    let report = report_at(engine, parameters, &options, &control).await?;
    Ok(json!({ "measures": Value::Object(values), "layers": layers(&report.values["petzka"]) }))
}

/// Those of Petzka's measures that have a number a layer.
fn layers(petzka: &Value) -> Value {
    let keys = ["kappa", "kappa_trace", "rho_max_per_layer", "rho_sum_per_layer", "relative_flatness"];
    keys.into_iter().map(|key| (key.to_string(), petzka[key].clone())).collect::<Map<_, _>>().into()
}

/// A measure's, at the trained point and after the rescaling. `value` reads it from what was measured at one of the two.
fn row(name: &str, kept: &[&Value], value: impl Fn(&Value) -> Option<f64>) -> Option<Value> {
    let gap = |run: &Value| Some(run["test_loss"].as_f64()? - run["training_loss"].as_f64()?);
    let pairs = |point: &str| -> Vec<(f64, f64)> {
        kept.iter().filter_map(|run| Some((value(&run[point])?, gap(run)?))).collect()
    };
    let (at, rescaled) = (pairs("at"), pairs("rescaled"));
    Some(json!({
        "measure": name,
        "runs": at.len(),
        "pearson": pearson(&at)?,
        "kendall": kendall(&at)?,
        "rescaled": { "runs": rescaled.len(), "pearson": pearson(&rescaled), "kendall": kendall(&rescaled) },
    }))
}

/// Of every measure, and of every layer's, with the gap between test and training loss.
fn correlations(kept: &[&Value]) -> Vec<Value> {
    let Some(first) = kept.first().map(|run| &run["at"]) else { return Vec::new() };
    let keys = |of: &str| first[of].as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect::<Vec<_>>();
    let mut rows: Vec<Value> =
        keys("measures").iter().filter_map(|key| row(key, kept, |point| point["measures"][key].as_f64())).collect();
    for key in keys("layers") {
        for layer in 0..first["layers"][&key].as_array().map_or(0, Vec::len) {
            let name = format!("petzka.{key}, layer {}", layer + 1);
            rows.extend(row(&name, kept, |point| point["layers"][&key][layer].as_f64()));
        }
    }
    let tau = |row: &Value| row["kendall"]["value"].as_f64().unwrap_or(0.0);
    rows.sort_by(|a, b| tau(b).total_cmp(&tau(a)));
    rows
}

fn table(rows: &[Value]) -> String {
    let mut lines = vec![
        "| measure | Kendall's τ with the gap | Pearson's r | τ after a rescaling | r after it |".into(),
        "| --- | --- | --- | --- | --- |".into(),
    ];
    for row in rows {
        let shown = |of: &Value| {
            let numbers = ["value", "low", "high"].map(|key| of[key].as_f64());
            let [Some(value), Some(low), Some(high)] = numbers else { return "none".into() };
            format!("{value:.2} ({low:.2} to {high:.2})")
        };
        let name = row["measure"].as_str().unwrap_or_default();
        let (at, after) = (row, &row["rescaled"]);
        let cells = [&at["kendall"], &at["pearson"], &after["kendall"], &after["pearson"]].map(shown);
        lines.push(format!("| {name} | {} |", cells.join(" | ")));
    }
    lines.join("\n")
}
