//! Rangamani's Tables 2 and 3: the relative difference of the Riemannian spectral norm at θ and at T_λ(θ), of F₁
//! (784-300-100-10) and of C₁ (two convolutions), on 500 standard normal samples with random labels.
//!
//! `cargo run --release --example tables -- [2] [3] [cpu] [cpu-f32] [gpu]`; all of them if none is named. Exits with 1 where a
//! difference is above the paper's (f32) or above 1e-12 (f64).

use std::process::ExitCode;

use isoflat::engine::{Backend, Device, Engine, Precision};
use isoflat::linalg::{Goal, Lanczos, PowerIteration};
use isoflat::network::{BiasInitialization, Initialization, Preset};
use isoflat::operator::{Connection, Metric, OperatorKind};
use isoflat::symmetry::Transformation;
use isoflat::{Control, Result, data};

const SAMPLES: usize = 500;
const SEED: u64 = 2019;

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

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let chosen = |known: &[&'static str]| -> Vec<&'static str> {
        let named: Vec<_> = known.iter().copied().filter(|name| words.iter().any(|word| word == name)).collect();
        if named.is_empty() { known.to_vec() } else { named }
    };
    let (numbers, devices) = (["2", "3"], ["cpu", "cpu-f32", "gpu"]);
    if let Some(strange) = words.iter().find(|word| !numbers.iter().chain(&devices).any(|known| known == word)) {
        eprintln!("tables: there are 2, 3, cpu, cpu-f32 and gpu, not {strange}");
        return ExitCode::FAILURE;
    }
    let mut met = true;
    for number in chosen(&numbers) {
        for device in chosen(&devices) {
            for table in TABLES.iter().filter(|table| table.number == number) {
                match pollster::block_on(run(table, device)) {
                    Ok(ok) => met &= ok,
                    Err(error) => {
                        eprintln!("tables: {number}: {device}: {error}");
                        met = false;
                    }
                }
            }
        }
    }
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn run(table: &Table, device: &str) -> Result<bool> {
    let (backend, precision) = match device {
        "cpu" => (Backend::Cpu, Precision::F64),
        "cpu-f32" => (Backend::Cpu, Precision::F32),
        _ => (Backend::Gpu, Precision::F32),
    };
    let device = Device::request(backend, precision).await?;
    let info = device.info();
    let network = table.preset.network();
    println!("Table {}, {}", table.number, network.summary());
    println!("{} · {} · {} · {}", info.backend, info.adapter, info.api, info.precision.name());
    let parameters = network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, SEED)?;
    let engine = Engine::new(&device, &data::synthetic(network.clone(), SAMPLES, SEED)?)?;
    let before = spectral_norm(&engine, &parameters).await?;
    println!("  {:<28} {:>14} {:>14} {:>12} {:>10}", "λ", "at θ", "at T_λ(θ)", "difference", "at most");
    let mut met = true;
    for (free, paper) in table.rows {
        let mut lambda = free.to_vec();
        lambda.push(1.0 / free.iter().product::<f64>());
        let map = Transformation::Layerwise { lambda };
        let after = spectral_norm(&engine, &map.apply(&network, &parameters)?).await?;
        let difference = (after.0 - before.0).abs() / before.0;
        let by_power = (after.1 - before.1).abs() / before.1;
        let limit = if info.precision == Precision::F64 { 1e-12 } else { paper };
        let shown: Vec<_> =
            free.iter().map(|l| if *l < 1.0 { format!("1/{}", 1.0 / l) } else { l.to_string() }).collect();
        let shown = format!("({}, 1/{:.0})", shown.join(", "), free.iter().product::<f64>());
        println!(
            "  {shown:<28} {:>14.8} {:>14.8} {difference:>12.2e} {limit:>10.2e}   (Algorithm 1: {by_power:.2e})",
            before.0, after.0
        );
        met &= difference <= limit && by_power <= limit;
    }
    Ok(met)
}

/// ‖D H D‖₂ in the layer-wise metric with the paper's connection, by Lanczos and by Algorithm 1.
async fn spectral_norm(engine: &Engine, parameters: &[f64]) -> Result<(f64, f64)> {
    engine.prepare(parameters).await?;
    let operator = OperatorKind::riemannian(Metric::Layerwise, Connection::Flat).operator(engine).await?;
    let control = Control::default();
    let lanczos = Lanczos { goal: Goal::SpectralNorm, ..Lanczos::default() };
    let by_lanczos = lanczos.run(&operator, &control).await?;
    let by_power = PowerIteration::default().run(&operator, &control).await?;
    Ok((by_lanczos.dominant().map_or(0.0, |pair| pair.value.abs()), by_power.pair.value.abs()))
}
