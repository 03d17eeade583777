//! Rangamani's Table 2: the relative difference of the Riemannian spectral norm of F₁ (784-300-100-10, 500 standard
//! normal samples, random labels) at θ and at T_λ(θ).
//!
//! `cargo run --release --example table2 -- [cpu] [cpu-f32] [gpu]`; all three if none is named. Exits with 1 where a
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

/// λ and the paper's relative difference.
const ROWS: [([f64; 3], f64); 2] = [([5.0, 4.0, 1.0 / 20.0], 1.7e-7), ([100.0, 30.0, 1.0 / 3000.0], 7.17e-7)];

fn main() -> ExitCode {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    if names.is_empty() {
        names = ["cpu", "cpu-f32", "gpu"].map(String::from).to_vec();
    }
    let mut met = true;
    for name in names {
        match pollster::block_on(table(&name)) {
            Ok(ok) => met &= ok,
            Err(error) => {
                eprintln!("table2: {name}: {error}");
                met = false;
            }
        }
    }
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn table(name: &str) -> Result<bool> {
    let (backend, precision) = match name {
        "cpu" => (Backend::Cpu, Precision::F64),
        "cpu-f32" => (Backend::Cpu, Precision::F32),
        "gpu" => (Backend::Gpu, Precision::F32),
        _ => return Err(isoflat::Error::new(isoflat::ErrorCode::InvalidOption, "there are cpu, cpu-f32 and gpu")),
    };
    let device = Device::request(backend, precision).await?;
    let info = device.info();
    println!("{} · {} · {} · {}", info.backend, info.adapter, info.api, info.precision.name());
    let network = Preset::F1.network();
    let parameters = network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, SEED)?;
    let engine = Engine::new(&device, &data::synthetic(network.clone(), SAMPLES, SEED)?)?;
    let before = spectral_norm(&engine, &parameters).await?;
    println!("  {:<28} {:>14} {:>14} {:>12} {:>10}", "λ", "at θ", "at T_λ(θ)", "difference", "at most");
    let mut met = true;
    for (lambda, paper) in ROWS {
        let map = Transformation::Layerwise { lambda: lambda.to_vec() };
        let after = spectral_norm(&engine, &map.apply(&network, &parameters)?).await?;
        let difference = (after.0 - before.0).abs() / before.0;
        let by_power = (after.1 - before.1).abs() / before.1;
        let limit = if info.precision == Precision::F64 { 1e-12 } else { paper };
        let shown = format!("({}, {}, 1/{})", lambda[0], lambda[1], (1.0 / lambda[2]).round());
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
    engine.prepare(parameters)?;
    let operator = OperatorKind::Riemannian(Metric::Layerwise, Connection::Flat).operator(engine).await?;
    let control = Control::default();
    let lanczos = Lanczos { goal: Goal::SpectralNorm, ..Lanczos::default() };
    let by_lanczos = lanczos.run(&operator, &control).await?;
    let by_power = PowerIteration::default().run(&operator, &control).await?;
    Ok((by_lanczos.dominant().map_or(0.0, |pair| pair.value.abs()), by_power.pair.value.abs()))
}
