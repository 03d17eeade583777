//! What Petzka et al. (2019) do with every network: train it, measure it, rescale its layers by random factors from 5 to 25, which changes no
//! function, and measure it again; and how each measure goes with the generalisation gap over all networks.

use isoflat::engine::{Device, Engine, Precision};
use isoflat::measure::{Cost, Measure, MeasureOptions, SharpnessOptions, measure};
use isoflat::symmetry::Transformation;
use isoflat::train::{TrainOptions, train};
use isoflat::{Control, Error, ErrorCode, Problem, ReportOptions, Result, Section, report_at};
use serde_json::{Map, Value, json};

use super::Arguments;
use super::runs;
use super::statistics::{kendall, pearson};

/// How much of everything.
pub struct Scale {
    pub training: usize,
    pub test: usize,
    pub epochs: usize,
    pub seeds: u64,
    /// Training images at which measures are taken: the first.
    pub measured: usize,
    /// Measures that take more are left out.
    pub dearest: Cost,
    /// Training losses above it are left out.
    pub largest_loss: f64,
}

/// Trains a network from `start` and measures it, and again after the rescaling that `bend` draws; what is found joins the `entry`, which says
/// how it was trained.
pub async fn one(
    [training, test]: [Problem; 2],
    start: &[f64],
    options: &TrainOptions,
    bend: u64,
    scale: &Scale,
    mut entry: Value,
) -> Result<Value> {
    let device = Device::cpu(Precision::F32);
    let control = Control::default();
    let engines = [Engine::new(&device, &training)?, Engine::new(&device, &test)?];
    let trained = match train(&engines[0], start, None, options, &control).await {
        Ok(training) => training,
        Err(Error { code: ErrorCode::NotFinite, message, .. }) => {
            entry["fault"] = message.into();
            return Ok(entry);
        }
        Err(error) => return Err(error),
    };
    let parameters = trained.parameters;
    entry["epochs"] = trained.epochs.into();
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
    entry["at"] = measured(&engine, &parameters, scale.dearest).await?;
    let bend = Transformation::RandomLayerwise { seed: bend, low: 5.0, high: 25.0 };
    entry["rescaled"] = measured(&engine, &bend.apply(training.network(), &parameters)?, scale.dearest).await?;
    Ok(entry)
}

/// Writes what was found, of which `said` says what it is, and prints the correlations.
pub fn finish(arguments: &Arguments, scale: &Scale, found: Vec<Value>, said: Value) -> Result<()> {
    let (kept, left_out): (Vec<_>, Vec<_>) =
        found.iter().partition(|run| run["training_loss"].as_f64().is_some_and(|loss| loss <= scale.largest_loss));
    let (rows, left_out) = (correlations(&kept), left_out.len());
    let mut result = said;
    result["training"] = scale.training.into();
    result["test"] = scale.test.into();
    result["measured"] = scale.measured.into();
    result["epochs"] = scale.epochs.into();
    result["largest_loss"] = scale.largest_loss.into();
    result["seconds"] = runs::seconds(&found).into();
    result["left_out"] = left_out.into();
    println!("{} runs, {left_out} of them above a training loss of {}\n", found.len(), scale.largest_loss);
    println!("{}", table(&rows));
    result["correlations"] = rows.into();
    result["runs"] = found.into();
    runs::write(&arguments.out, &result)?;
    println!("\nwritten to {}", arguments.out.display());
    Ok(())
}

/// Every measure that takes no more than `dearest`, and Petzka's of each layer.
async fn measured(engine: &Engine, parameters: &[f64], dearest: Cost) -> Result<Value> {
    // As few ascents as in a table: there are dozens of networks.
    let sharpness = SharpnessOptions { restarts: Some(2), ..SharpnessOptions::default() };
    let (options, control) = (MeasureOptions { sharpness, ..MeasureOptions::default() }, Control::default());
    let defined = Measure::defined_for(engine.problem().network());
    let all: Vec<&'static Measure> = defined.filter(|measure| measure.cost <= dearest).collect();
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
