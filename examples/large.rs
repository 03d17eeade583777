//! What is large: 60,000 images of 784 numbers through F₁, and a few images through a VGG16-type network of 15 million
//! parameters. Prints the estimate and what it took.
//!
//! `cargo run --release --example large -- [mnist] [vgg] [cpu] [gpu]`; all of them if none is named.

use std::time::Instant;

use isoflat::engine::{Backend, Curvature, Device, Engine, Precision};
use isoflat::network::{BiasInitialization, Initialization, Preset};
use isoflat::{Result, data};

fn main() -> std::process::ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_chosen = |name: &str, others: [&str; 2]| {
        words.iter().any(|word| word == name) || !words.iter().any(|word| others.contains(&word.as_str()))
    };
    for (name, preset, samples) in [("mnist", Preset::F1, 60_000), ("vgg", Preset::Vgg16Cifar10, 8)] {
        for (device, backend) in [("cpu", Backend::Cpu), ("gpu", Backend::Gpu)] {
            if !is_chosen(name, ["mnist", "vgg"]) || !is_chosen(device, ["cpu", "gpu"]) {
                continue;
            }
            if let Err(error) = pollster::block_on(run(preset, samples, backend)) {
                eprintln!("large: {name} on {device}: {error}");
                return std::process::ExitCode::FAILURE;
            }
        }
    }
    std::process::ExitCode::SUCCESS
}

async fn run(preset: Preset, samples: usize, backend: Backend) -> Result<()> {
    let device = Device::request(backend, Precision::F32).await?;
    let network = preset.network();
    let parameters = network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, 1)?;
    println!("{}: {} parameters, {samples} samples, {}", preset.name(), parameters.len(), device.info().adapter);
    let engine = Engine::new(&device, &data::synthetic(network, samples, 1)?)?;
    let estimate = engine.estimate(&parameters).await?;
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!(
        "  estimated: gradient {:.2} s, product {:.2} s; data {:.0} MiB, point {:.0} MiB, a vector {:.1} MiB",
        estimate.gradient_seconds,
        estimate.product_seconds,
        mib(estimate.data_bytes),
        mib(estimate.point_bytes),
        mib(estimate.vector_bytes)
    );
    let start = Instant::now();
    engine.prepare(&parameters).await?;
    let gradient = engine.gradient().await?;
    println!("  gradient: {:.2} s, of length {:.6}", start.elapsed().as_secs_f64(), norm(&gradient));
    let start = Instant::now();
    let product = engine.product(Curvature::Hessian, &gradient).await?;
    println!("  product:  {:.2} s, of length {:.6}", start.elapsed().as_secs_f64(), norm(&product));
    Ok(())
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}
