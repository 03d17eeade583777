//! Rangamani's Tables 2 and 3: the relative difference of the Riemannian spectral norm at θ and at T_λ(θ), of F₁
//! (784-300-100-10) and of C₁ (two convolutions), on 500 standard normal samples with random labels.
//!
//! Biases are drawn as the weights are, so that none is zero, and the search at T_λ(θ) begins at a vector of its own: what agrees has
//! converged to the same number from two places, and did not walk the same way twice.
//!
//! `cargo run --release --example tables -- [2] [3] [cpu] [cpu-f32] [gpu] [--seeds 20] [--runs DIR] [--json FILE]`; all of them if none is
//! named. Each seed of a table on a device is written to a file of its own in `--runs` (target/papers/tables) as soon as it is done, and
//! what was killed goes on with the seeds that are missing. Exits with 1 where a search did not converge, or a difference is above 1e-12
//! in f64 or 1e-5 in f32 though nothing flips: rounding puts a pre-activation on the other side of 0, or has a max pool choose another
//! value, where λ are no powers of two.

#[path = "support/runs.rs"]
mod runs;

use std::path::PathBuf;
use std::process::ExitCode;

use isoflat::engine::{Backend, Device, Engine, Precision};
use isoflat::linalg::{Goal, Lanczos};
use isoflat::network::{BiasInitialization, Initialization, Layer, Preset, Shape, Source};
use isoflat::operator::{Connection, Metric, OperatorKind};
use isoflat::symmetry::Transformation;
use isoflat::{Control, Error, ErrorCode, Loss, Network, Problem, Result, Targets, data};
use serde_json::{Value, json};

const SAMPLES: usize = 500;

/// Of the first network, its data and its start vectors; the others follow.
const SEED: u64 = 2019;

/// What the largest difference may be where nothing flips.
const F64_LIMIT: f64 = 1e-12;
const F32_LIMIT: f64 = 1e-5;

/// One of the paper's tables.
struct Table {
    number: &'static str,
    preset: Preset,
    /// λ, the last of which makes the product 1, and the paper's relative difference.
    rows: [(&'static [f64], f64); 2],
}

const TABLES: [Table; 2] = [
    Table { number: "2", preset: Preset::F1, rows: [(&[5.0, 4.0], 1.7e-7), (&[100.0, 30.0], 7.17e-7)] },
    Table {
        number: "3",
        preset: Preset::C1,
        rows: [(&[5.0, 4.0, 3.0, 2.0], 1.28e-7), (&[50.0, 24.0, 30.0, 1.0 / 6.0], 5.1e-6)],
    },
];

const DEVICES: [&str; 3] = ["cpu", "cpu-f32", "gpu"];

struct Asked {
    tables: Vec<&'static Table>,
    devices: Vec<&'static str>,
    seeds: u64,
    /// Where runs are kept.
    runs: PathBuf,
    file: Option<PathBuf>,
}

fn asked() -> std::result::Result<Asked, String> {
    let runs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/papers/tables");
    let mut asked = Asked { tables: Vec::new(), devices: Vec::new(), seeds: 20, runs, file: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if let Some(table) = TABLES.iter().find(|table| table.number == word) {
            asked.tables.push(table);
        } else if let Some(device) = DEVICES.iter().find(|device| **device == word) {
            asked.devices.push(device);
        } else if word == "--seeds" {
            let count = words.next().and_then(|count| count.parse().ok()).filter(|count| *count > 0);
            asked.seeds = count.ok_or("--seeds is followed by how many, at least 1")?;
        } else if word == "--runs" {
            asked.runs = words.next().ok_or("--runs is followed by the name of a folder")?.into();
        } else if word == "--json" {
            asked.file = Some(words.next().ok_or("--json is followed by the name of a file")?.into());
        } else {
            return Err(format!("there are 2, 3, cpu, cpu-f32, gpu, --seeds, --runs and --json, not {word}"));
        }
    }
    if asked.tables.is_empty() {
        asked.tables.extend(&TABLES);
    }
    if asked.devices.is_empty() {
        asked.devices.extend(DEVICES);
    }
    Ok(asked)
}

fn main() -> ExitCode {
    let asked = match asked() {
        Ok(asked) => asked,
        Err(message) => {
            eprintln!("tables: {message}");
            return ExitCode::FAILURE;
        }
    };
    let (mut met, mut found) = (true, Vec::new());
    for table in &asked.tables {
        for device in &asked.devices {
            match run(table, device, &asked) {
                Ok((ok, rows)) => {
                    met &= ok;
                    found.extend(rows);
                }
                Err(error) => {
                    eprintln!("tables: {}: {device}: {error}", table.number);
                    met = false;
                }
            }
        }
    }
    if let Some(file) = asked.file {
        let command: Vec<String> = std::env::args().skip(1).collect();
        let command = format!("cargo run --release --example tables -- {}", command.join(" "));
        let report = json!({ "command": command, "samples": SAMPLES, "firstSeed": SEED, "rows": found });
        if let Err(error) = runs::write(&file, &report) {
            eprintln!("tables: {error}");
            met = false;
        }
    }
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One seed at one λ.
struct Outcome {
    difference: f64,
    converged: bool,
    /// Units that are on at one of the points alone, and pools that choose another value there, each counted once a sample.
    flips: usize,
}

impl Outcome {
    fn kept(&self) -> Value {
        json!({ "difference": self.difference, "converged": self.converged, "flips": self.flips })
    }

    fn read(kept: &Value) -> Option<Self> {
        Some(Self {
            difference: kept["difference"].as_f64()?,
            converged: kept["converged"].as_bool()?,
            flips: kept["flips"].as_u64()? as usize,
        })
    }
}

async fn requested(device: &str) -> Result<Device> {
    let (backend, precision) = match device {
        "cpu" => (Backend::Cpu, Precision::F64),
        "cpu-f32" => (Backend::Cpu, Precision::F32),
        _ => (Backend::Gpu, Precision::F32),
    };
    Device::request(backend, precision).await
}

/// One seed at each λ.
async fn one(table: &Table, device: &str, seed: u64) -> Result<Value> {
    let device = &requested(device).await?;
    let network = table.preset.network();
    let parameters = network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, seed)?;
    let problem = data::synthetic(network.clone(), SAMPLES, seed)?;
    let engine = Engine::new(device, &problem)?;
    let chosen = choices(device, &problem, &parameters).await?;
    let (before, was_found) = spectral_norm(&engine, &parameters, 3 * seed).await?;
    let mut outcomes = Vec::new();
    for (i, (free, _)) in table.rows.iter().enumerate() {
        let map = Transformation::Layerwise { lambda: with_last(free) };
        let moved = map.apply(&network, &parameters)?;
        let (after, is_found) = spectral_norm(&engine, &moved, 3 * seed + 1 + i as u64).await?;
        let difference = (after - before).abs() / before;
        let flips = chosen.iter().zip(&choices(device, &problem, &moved).await?).filter(|(a, b)| a != b).count();
        outcomes.push(Outcome { difference, converged: was_found && is_found, flips }.kept());
    }
    Ok(json!({ "device": device.info(), "outcomes": outcomes }))
}

/// All seeds of a table on a device.
fn run(table: &Table, device_name: &str, asked: &Asked) -> Result<(bool, Vec<Value>)> {
    let info = pollster::block_on(requested(device_name))?.info().clone();
    let network = table.preset.network();
    println!("Table {}, {}, {} seeds", table.number, network.summary(), asked.seeds);
    println!("{} · {} · {} · {}", info.backend, info.adapter, info.api, info.precision.name());
    let seeds: Vec<u64> = (SEED..SEED + asked.seeds).collect();
    let file = |seed: &u64| format!("table-{}-{device_name}-seed-{seed}", table.number);
    // What another adapter or number of threads has found is not this one's. One after the other, since each has all threads.
    let is_of_another = |_: &u64, kept: &Value| Ok(kept["device"] != json!(info));
    let found = runs::completed(&asked.runs, 1, &seeds, file, is_of_another, |seed, _| {
        pollster::block_on(one(table, device_name, *seed))
    })?;
    let mut outcomes: [Vec<Outcome>; 2] = [Vec::new(), Vec::new()];
    for (run, seed) in found.iter().zip(&seeds) {
        for (i, outcomes) in outcomes.iter_mut().enumerate() {
            let outcome = Outcome::read(&run["outcomes"][i]).ok_or_else(|| {
                let what = format!("{}: it is not what this program keeps", asked.runs.join(file(seed)).display());
                Error::new(ErrorCode::InvalidOption, what)
            })?;
            outcomes.push(outcome);
        }
    }
    println!(
        "  {:<28} {:>9} {:>10} {:>10} {:>10} {:>10} {:>14}",
        "λ", "paper", "converged", "median", "worst", "with flips", "worst of others"
    );
    let (mut met, mut rows) = (true, Vec::new());
    for ((free, paper), outcomes) in table.rows.iter().zip(&outcomes) {
        let sorted = |keep: fn(&Outcome) -> bool| {
            let kept = outcomes.iter().filter(|outcome| keep(outcome));
            let mut differences: Vec<f64> = kept.map(|outcome| outcome.difference).collect();
            differences.sort_by(f64::total_cmp);
            differences
        };
        let (all, others) = (sorted(|_| true), sorted(|outcome| outcome.flips == 0));
        let (median, worst, others_worst) = (median(&all), all[all.len() - 1], others.last().copied());
        let converged = outcomes.iter().filter(|outcome| outcome.converged).count();
        let with_flips = outcomes.len() - others.len();
        println!(
            "  {:<28} {paper:>9.2e} {converged:>10} {median:>10.1e} {worst:>10.1e} {with_flips:>10} {:>14}",
            name(free),
            others_worst.map_or_else(|| "–".to_owned(), |worst| format!("{worst:.1e}"))
        );
        let limit = if info.precision == Precision::F64 { F64_LIMIT } else { F32_LIMIT };
        met &= converged == outcomes.len() && others_worst.is_none_or(|worst| worst <= limit);
        rows.push(json!({
            "table": table.number,
            "network": network.summary(),
            "lambda": with_last(free),
            "paper": paper,
            "device": &info,
            "seeds": outcomes.len(),
            "converged": converged,
            "median": median,
            "worst": worst,
            "seedsWithFlips": with_flips,
            "worstWithoutFlips": others_worst,
            "differences": outcomes.iter().map(|outcome| outcome.difference).collect::<Vec<_>>(),
            "flips": outcomes.iter().map(|outcome| outcome.flips).collect::<Vec<_>>(),
        }));
    }
    Ok((met, rows))
}

/// What every ReLU and max pool chooses at every sample, as this device computes it: on or off, and which of the window. The network's
/// beginnings, layer by layer, are networks whose outputs are what the layers behind them see.
async fn choices(device: &Device, problem: &Problem, parameters: &[f64]) -> Result<Vec<u8>> {
    let network = problem.network();
    let layers: Vec<Layer> = network.layers().cloned().collect();
    let mut found = Vec::new();
    for (i, layer) in layers.iter().enumerate() {
        if !matches!(layer, Layer::Relu | Layer::MaxPool2d(_)) {
            continue;
        }
        let Shape { height, width, .. } = network.layout().tensor(Source::Layer(i - 1)).shape;
        // No network ends with a ReLU: what it gives a pool is what stands before it, or 0.
        let is_after_relu = *layer != Layer::Relu && layers[i - 1] == Layer::Relu;
        let mut beginning = layers[..i - usize::from(is_after_relu)].to_vec();
        if height * width > 1 {
            beginning.push(Layer::Flatten);
        }
        let beginning = Network::new(network.input().to_vec(), beginning)?;
        let count = beginning.parameter_count();
        let classes = Targets::Classes(vec![0; problem.samples()]);
        let seen = Problem::new(beginning, Loss::CrossEntropy, problem.inputs().to_f64(), classes)?;
        let engine = Engine::new(device, &seen)?;
        engine.prepare(&parameters[..count]).await?;
        let mut values = engine.outputs().await?;
        if is_after_relu {
            values.iter_mut().for_each(|z| *z = z.max(0.0));
        }
        if *layer == Layer::Relu {
            found.extend(values.iter().map(|z| u8::from(*z > 0.0)));
            continue;
        }
        // Both pools of these networks are 2 × 2, side by side.
        for image in values.chunks_exact(height * width) {
            for (y, x) in (0..height - 1).step_by(2).flat_map(|y| (0..width - 1).step_by(2).map(move |x| (y, x))) {
                let window = [0, 1, width, width + 1].map(|place| image[y * width + x + place]);
                let largest = window.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                found.push(window.iter().position(|z| *z == largest).unwrap_or_default() as u8);
            }
        }
    }
    Ok(found)
}

fn median(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    0.5 * (sorted[(n - 1) / 2] + sorted[n / 2])
}

fn with_last(free: &[f64]) -> Vec<f64> {
    free.iter().copied().chain([1.0 / free.iter().product::<f64>()]).collect()
}

/// `(5, 4, 1/20)`.
fn name(free: &[f64]) -> String {
    let shown: Vec<_> = free.iter().map(|l| if *l < 1.0 { format!("1/{}", 1.0 / l) } else { l.to_string() }).collect();
    format!("({}, 1/{:.0})", shown.join(", "), free.iter().product::<f64>())
}

/// ‖D H D‖₂ in the layer-wise metric with the paper's connection, by Lanczos from a random vector, and whether it has converged.
async fn spectral_norm(engine: &Engine, parameters: &[f64], seed: u64) -> Result<(f64, bool)> {
    engine.prepare(parameters).await?;
    let operator = OperatorKind::riemannian(Metric::Layerwise, Connection::Flat).operator(engine).await?;
    let lanczos = Lanczos { goal: Goal::SpectralNorm, seed, ..Lanczos::default() };
    let found = lanczos.run(&operator, &Control::default()).await?;
    let pair = found.dominant();
    Ok((pair.map_or(0.0, |pair| pair.value.abs()), pair.is_some_and(|pair| pair.converged)))
}
