//! What runs come to together: the file that figures and the lab are drawn from, and a table in Markdown.

use serde_json::{Value, json};

use super::experiments::preset;
use super::{Arguments, BATCH};

/// The runs with their setting, losses by epoch.
pub fn report(arguments: &Arguments, found: &[Value], seconds: f64) -> Value {
    let mut seeds: Vec<&Value> = found.iter().map(|run| &run["seed"]).collect();
    seeds.dedup();
    let [training, test] = arguments.samples();
    json!({
        "data": arguments.set.name(),
        "network": preset(arguments.set).network().summary(),
        "training": training,
        "test": test,
        "epochs": arguments.epochs,
        "batch_size": BATCH,
        "seed": arguments.seed,
        "seeds": seeds.len(),
        "seconds": seconds,
        "backend": found[0]["backend"],
        "runs": found.iter().map(entry).collect::<Vec<Value>>(),
    })
}

/// To five digits: there are thousands of them, and figures have no more.
fn short(value: &Value) -> Value {
    value.as_f64().and_then(|value| format!("{value:.4e}").parse::<f64>().ok()).into()
}

/// Losses by epoch; of a run that diverged no more than what it came to.
fn entry(run: &Value) -> Value {
    let history = run["history"].as_array().map_or(&[][..], Vec::as_slice);
    let series = |key: &str| history.iter().map(|epoch| short(&epoch[key])).collect::<Vec<_>>();
    let mut entry = json!({
        "method": run["method"],
        "learning_rate": run["learning_rate"],
        "seed": run["seed"],
        "validation_loss": series("validationLoss"),
        "validation_accuracy": series("validationAccuracy"),
        "training_loss": series("loss"),
    });
    if let Value::Object(scaling) = &run["scaling"] {
        entry["scaling"] = scaling.iter().map(|(key, value)| (key.clone(), short(value))).collect();
    }
    for said in ["drawn_by", "warning", "fault"] {
        if !run[said].is_null() {
            entry[said] = run[said].clone();
        }
    }
    entry
}

/// Loss and accuracy of the learning curve's best epoch by validation loss, as the thesis counts; none of a run that diverged.
fn best(run: &Value) -> Option<(f64, f64)> {
    let epochs = run["history"].as_array()?.iter();
    let pairs =
        epochs.filter_map(|epoch| Some((epoch["validationLoss"].as_f64()?, epoch["validationAccuracy"].as_f64()?)));
    pairs.min_by(|a, b| a.0.total_cmp(&b.0))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sample's; nothing of one value.
fn deviation(values: &[f64]) -> Option<f64> {
    let middle = mean(values);
    let squares: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// Mean and sample standard deviation of the best over the seeds, by method and rate.
pub fn table(arguments: &Arguments, found: &[Value]) -> String {
    let all = arguments.experiment.rates;
    let rates = all.iter().map(|rate| format!("{rate:.0e}")).collect::<Vec<_>>().join(" | ");
    let mut lines =
        vec![format!("| best validation loss (accuracy) | {rates} |"), "| --- ".repeat(all.len() + 1) + "|"];
    for method in arguments.experiment.methods {
        let of_cell = |rate: &f64| {
            let own = found.iter().filter(|run| run["method"] == method.name && run["learning_rate"] == *rate);
            cell(&own.map(best).collect::<Vec<_>>())
        };
        lines.push(format!("| {} | {} |", method.name, all.iter().map(of_cell).collect::<Vec<_>>().join(" | ")));
    }
    lines.join("\n")
}

fn cell(found: &[Option<(f64, f64)>]) -> String {
    let (losses, shares): (Vec<f64>, Vec<f64>) = found.iter().flatten().copied().unzip();
    let diverged = found.len() - losses.len();
    if losses.is_empty() {
        return if diverged > 0 { "diverged" } else { "not run" }.into();
    }
    let spread = deviation(&losses).map_or(String::new(), |deviation| format!(" ± {deviation:.4}"));
    let rest = if diverged > 0 { format!(", {diverged} of {} diverged", found.len()) } else { String::new() };
    format!("{:.4}{spread} ({:.2} %{rest})", mean(&losses), 100.0 * mean(&shares))
}
