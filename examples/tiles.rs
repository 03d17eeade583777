//! What this computer's GPU takes for tiles of each shape, and what choosing by that is worth: a table for people to look at, or to
//! send to us.
//!
//! `cargo run --release --example tiles -- [PRESET:SAMPLES …]`: the fastest of five Hessian products with the tiles that are usual on such an adapter
//! and with those that were measured, in turn, at a random point, on random samples (256 unless told).

#[path = "support/product.rs"]
mod product;

use isoflat::engine::gpu::{TileTimes, Tune};
use isoflat::engine::{Backend, Device, Precision};
use isoflat::network::Preset;
use isoflat::{Control, Error, ErrorCode, Result};
use pollster::block_on;

/// What is measured where nothing is asked for.
const WORKS: [&str; 4] = ["f1:500", "lenet:256", "c1:256", "resnet20:8"];

const NAMES: [&str; 8] = ["4 × 16", "8 × 16", "12 × 16", "16 × 16", "20 × 16", "32 × 128", "64 × 64", "128 × 64"];
const AREAS: [f64; 8] = [64.0, 128.0, 192.0, 256.0, 320.0, 4096.0, 4096.0, 8192.0];

fn main() -> Result<()> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let works = if asked.is_empty() { WORKS.map(String::from).to_vec() } else { asked };
    let usual = block_on(Device::request(Backend::Gpu, Precision::F32))?;
    let other = block_on(Device::request(Backend::Gpu, Precision::F32))?;
    let (tuned, measured) = block_on(other.tuned(Tune::Anew, &[], &Control::default()))?;
    let info = usual.info();
    println!("{}, {}, isoflat {}\n", info.adapter, info.api, env!("CARGO_PKG_VERSION"));
    let tuning =
        measured.ok_or_else(|| Error::new(ErrorCode::Gpu, "another adapter was measured than the one at hand"))?;
    println!(
        "| nanoseconds for 64 sums to grow by 64 terms: full device, a workgroup alone | steps | gradients |\n| --- | --- | --- |"
    );
    let tiles = tuning.tiles();
    for (i, (name, area)) in NAMES.into_iter().zip(AREAS).enumerate() {
        println!("| {name} | {} | {} |", shown(&tiles.gather, i, area), shown(&tiles.weights, i, area));
    }
    println!(
        "\n{} threads fill it.\n\n| a Hessian product, milliseconds | usual tiles | measured | ratio |\n| --- | --- | --- | --- |",
        tiles.threads
    );
    for work in works {
        let (preset, samples) = work.split_once(':').unwrap_or((&work, "256"));
        let network = Preset::from_name(preset)?.network();
        let samples = samples.parse().map_err(|_| {
            Error::new(ErrorCode::InvalidOption, format!("{work}: a work is PRESET:SAMPLES, as in lenet:512"))
        })?;
        let mut best = [f64::INFINITY; 2];
        for _ in 0..2 {
            for (best, device) in best.iter_mut().zip([&usual, &tuned]) {
                *best = best.min(block_on(product::seconds_on(device, &network, samples))? * 1e3);
            }
        }
        println!("| {work} | {:.2} | {:.2} | {:.2} |", best[0], best[1], best[1] / best[0]);
    }
    Ok(())
}

fn shown(times: &TileTimes, index: usize, area: f64) -> String {
    let all: Vec<_> = times.registers.into_iter().chain(times.workgroup).collect();
    let of = |seconds: f64| seconds * 1e9 * 64.0 / area;
    all[index].map_or("not measured".into(), |time| format!("{:.2}, {:.0}", of(time.each), of(time.first)))
}
