//! Rangamani et al. (2019), Figure 2: the loss along lines through a minimum of small batches and one of large batches, W_i + t ‖W_i‖ V_i / ‖V_i‖
//! for t from −1 to 1, in the same random directions V through both. The same with the lengths of rows (filters) in place of layers'.
//!
//! The paper's networks are of AlexNet's and VGG16's type, on CIFAR-10, with SGD. Here it is that of LeNet's type which the paper has for
//! MNIST, also convolutional, on the first 10,000 images, trained as the paper trains on MNIST.

use std::path::Path;

use isoflat::engine::{Device, Engine, Precision};
use isoflat::landscape::{Axis, Direction, Normalization, landscape};
use isoflat::network::Preset;
use isoflat::{Control, Result};
use pollster::block_on;
use serde_json::{Value, json};

use super::Arguments;
use super::images::Images;
use super::rangamani_training::{BATCHES, Key, Setting, images, keys, trained};
use super::runs::{self, short};

struct Scale {
    training: usize,
    test: usize,
    epochs: usize,
    seeds: u64,
    directions: u64,
    points: usize,
    /// Images whose mean loss is drawn: the first of those that are trained on.
    drawn: usize,
}

const KINDS: [(&str, Normalization); 2] = [("layer", Normalization::Layer), ("filter", Normalization::Filter)];

pub fn run(arguments: &Arguments) -> Result<()> {
    let scale = match arguments.quick {
        true => Scale { training: 1000, test: 1000, epochs: 60, seeds: 2, directions: 3, points: 9, drawn: 500 },
        false => {
            Scale { training: 10_000, test: 10_000, epochs: 1000, seeds: 3, directions: 6, points: 21, drawn: 1000 }
        }
    };
    let scale = Scale { seeds: arguments.seeds.unwrap_or(scale.seeds), ..scale };
    let data = images(arguments, scale.training, scale.test)?;
    let keys = keys(&[Preset::LeNet], &BATCHES, Setting::printed(scale.epochs), scale.seeds);
    let found = runs::all(&arguments.runs, arguments.jobs, &keys, Key::name, |key| {
        block_on(one(key, &scale, &data, &arguments.runs))
    })?;
    let compared: Vec<Value> = KINDS.iter().map(|(kind, _)| compared(&found, kind)).collect();
    let result = json!({
        "paper": "Rangamani et al. 2019, Figure 2",
        "network": Preset::LeNet.network().summary(),
        "training": scale.training,
        "test": scale.test,
        "drawn": scale.drawn,
        "directions": scale.directions,
        "seconds": runs::seconds(&found),
        "compared": compared,
        "runs": found,
    });
    runs::write(&arguments.out, &result)?;
    for run in &found {
        let number = |key: &str| run[key].as_f64().unwrap_or(f64::NAN);
        let (loss, accuracy) = (number("training_loss"), number("training_accuracy"));
        println!(
            "{} {}: {} epochs, loss {loss:.1e}, accuracy {accuracy}, on test images {}",
            run["batches"],
            run["seed"],
            run["epochs"],
            number("test_accuracy")
        );
    }
    println!("{}\n\nwritten to {}", table(&compared), arguments.out.display());
    Ok(())
}

async fn one(key: &Key, scale: &Scale, data: &[Images; 2], folder: &Path) -> Result<Value> {
    let mut found = trained(key, data, folder).await?;
    let engine = Engine::new(&Device::cpu(Precision::F32), &found.problem.first(scale.drawn))?;
    for (kind, normalization) in KINDS {
        let mut lines = Vec::new();
        for direction in 0..scale.directions {
            // The same directions through both minima of a seed.
            let direction = Direction::Random { seed: 1000 * key.seed + direction };
            let axis = Axis { from: -1.0, to: 1.0, points: scale.points };
            let through = [(direction, axis)];
            let line = landscape(&engine, &found.parameters, &through, normalization, &Control::default()).await?;
            found.entry["t"] = line.s.into();
            lines.push(line.loss.iter().map(|loss| short(*loss)).collect::<Vec<_>>());
        }
        found.entry[kind] = lines.into();
    }
    Ok(found.entry)
}

/// Large batches' lines against small ones', in the same direction at the same t: how often they are above, and the ratio of the means.
fn compared(found: &[Value], kind: &str) -> Value {
    let of = |batches: &str| -> Vec<&Value> { found.iter().filter(|run| run["batches"] == batches).collect() };
    let large = of(BATCHES[1].name);
    let beside = |small: &Value| large.iter().find(|large| large["seed"] == small["seed"]).copied();
    let pairs: Vec<(&Value, &Value)> =
        of(BATCHES[0].name).into_iter().filter_map(|small| Some((small, beside(small)?))).collect();
    let places = pairs.first().and_then(|(small, _)| small["t"].as_array()).map_or(0, Vec::len);
    let mut rows = Vec::new();
    for i in (0..places).filter(|i| 2 * i + 1 != places) {
        let (mut above, mut count, mut ratios) = (0, 0, Vec::new());
        for (small, large) in &pairs {
            let losses = |run: &Value| -> Vec<f64> {
                let lines = run[kind].as_array().into_iter().flatten();
                lines.map(|line| line[i].as_f64().unwrap_or(f64::INFINITY)).collect()
            };
            let (small, large) = (losses(small), losses(large));
            above += small.iter().zip(&large).filter(|(small, large)| large > small).count();
            count += small.len();
            ratios.push(short(large.iter().sum::<f64>() / small.iter().sum::<f64>()));
        }
        rows.push(json!({ "t": pairs[0].0["t"][i], "above": above, "of": count, "ratios": ratios }));
    }
    json!({ "lengths": kind, "at": rows })
}

fn table(compared: &[Value]) -> String {
    let mut lines = vec![
        "\n| lengths | t | large above small | ratio of their means, by seed |".into(),
        "| --- | --- | --- | --- |".into(),
    ];
    for one in compared {
        let kind = one["lengths"].as_str().unwrap_or_default();
        for row in one["at"].as_array().into_iter().flatten() {
            lines.push(format!("| {kind} | {} | {} of {} | {} |", row["t"], row["above"], row["of"], row["ratios"]));
        }
    }
    lines.join("\n")
}
