//! Seconds of a Hessian product of the presets' networks, natively, in both precisions.
//!
//! `cargo run --release --example products -- [PRESET:SAMPLES …]`, with `RAYON_NUM_THREADS=1` on one thread: the fastest of five
//! products at a random point, on random samples (256 unless told). Without presets, those of docs/performance.md.

#[path = "support/product.rs"]
mod product;

use isoflat::engine::Precision;
use isoflat::network::Preset;
use isoflat::{ErrorCode, Result};

/// What is measured where nothing is asked for.
const WORKS: [&str; 5] = ["f1:2048", "lenet:512", "c1:512", "resnet20:32", "mobilenet_cifar10:32"];

fn main() -> Result<()> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let works = if asked.is_empty() { WORKS.map(String::from).to_vec() } else { asked };
    println!("milliseconds of a Hessian product in f32, f64");
    for work in works {
        let (preset, samples) = work.split_once(':').unwrap_or((&work, "256"));
        let network = Preset::from_name(preset)?.network();
        let samples = samples.parse().map_err(|_| {
            isoflat::Error::new(ErrorCode::InvalidOption, format!("{work}: a work is PRESET:SAMPLES, as in lenet:512"))
        })?;
        let milliseconds =
            |precision| pollster::block_on(product::seconds(&network, samples, precision)).map(|s| s * 1e3);
        println!("{work}  {:.1}  {:.1}", milliseconds(Precision::F32)?, milliseconds(Precision::F64)?);
    }
    Ok(())
}
