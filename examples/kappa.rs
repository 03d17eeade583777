//! Petzka's κ of a LeNet's layers, 2048 random samples: by products with each layer's block, and by whole products of vectors that are 0
//! outside the layer, as they were made before.
//!
//! `cargo run --release --example kappa`, with `RAYON_NUM_THREADS=1` on one thread. Fails where the two disagree.

use std::time::Instant;

use isoflat::engine::{Curvature, Device, Engine, Precision};
use isoflat::linalg::{Goal, Lanczos};
use isoflat::measure::{MeasureOptions, petzka};
use isoflat::network::{BiasInitialization, Initialization, Preset};
use isoflat::operator::{CurvatureOperator, Part, Restricted};
use isoflat::{Control, Error, ErrorCode, Result, data};

fn main() -> Result<()> {
    pollster::block_on(async {
        let network = Preset::LeNet.network();
        let theta = network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, 1)?;
        let (control, options) = (Control::default(), MeasureOptions::default());
        println!("seconds for κ of all layers by their blocks, by whole products");
        for precision in [Precision::F32, Precision::F64] {
            let engine = Engine::new(&Device::cpu(precision), &data::synthetic(network.clone(), 2048, 1)?)?;
            engine.prepare(&theta).await?;
            let start = Instant::now();
            let kappa = petzka::kappa(&engine, &options, &control).await?;
            let by_blocks = start.elapsed().as_secs_f64();
            let start = Instant::now();
            for (l, layer) in network.layout().layers().iter().enumerate() {
                let whole = CurvatureOperator::new(&engine, Curvature::GaussNewton);
                let block = Restricted::new(whole, Part::Layer(l).ranges(network.layout())?)?;
                let lanczos = Lanczos { goal: Goal::SpectralNorm, ..Lanczos::default() };
                let largest = lanczos.run(&block, &control).await?.dominant().map_or(f64::NAN, |pair| pair.value);
                let square: f64 = theta[layer.weight.clone()].iter().map(|w| w * w).sum();
                let differ = (square * largest - kappa[l].value).abs() / kappa[l].value;
                if differ.is_nan() || differ > 1e-4 {
                    let message = format!("layer {}: {} by blocks, {}", l + 1, kappa[l].value, square * largest);
                    return Err(Error::new(ErrorCode::NotFinite, message));
                }
            }
            println!("{precision:?}  {by_blocks:.2}  {:.2}", start.elapsed().as_secs_f64());
        }
        Ok(())
    })
}
