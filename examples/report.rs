//! Prints the report of a problem file as JSON:
//! `cargo run --release --example report -- FILE [--backend auto|cpu|gpu] [--precision f64|f32] [--everything]`.
//! `--everything` adds the sections that take longest: spectral density and sharpness. What is being computed goes to stderr then.

use std::process::ExitCode;

use isoflat::engine::{Backend, Device, Engine, Precision};
use isoflat::measure::MeasureOptions;
use isoflat::{Control, Error, ProblemFile, ReportOptions, Section, report, report_at};

const USAGE: &str = "usage: report FILE [--backend auto|cpu|gpu] [--precision f64|f32] [--everything]";

fn main() -> ExitCode {
    match run() {
        Ok(json) => {
            println!("{json}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("report: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, String> {
    let (mut path, mut backend, mut precision, mut everything) = (None, Backend::Cpu, Precision::F64, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--backend" => {
                backend = match arguments.next().as_deref() {
                    Some("auto") => Backend::Auto,
                    Some("cpu") => Backend::Cpu,
                    Some("gpu") => Backend::Gpu,
                    _ => return Err(format!("--backend takes auto, cpu or gpu\n{USAGE}")),
                }
            }
            "--precision" => {
                precision = match arguments.next().as_deref() {
                    Some("f32") => Precision::F32,
                    Some("f64") => Precision::F64,
                    _ => return Err(format!("--precision takes f32 or f64\n{USAGE}")),
                }
            }
            "--everything" => everything = true,
            _ if argument.starts_with('-') => return Err(format!("unknown option {argument}\n{USAGE}")),
            _ if path.is_none() => path = Some(argument),
            _ => return Err(format!("one file at a time\n{USAGE}")),
        }
    }
    let path = path.ok_or(USAGE)?;
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let file = ProblemFile::from_json(&text).map_err(|error| format!("{path}: {error}"))?;
    let report = pollster::block_on(async {
        let device = Device::request(backend, precision).await?;
        let mut found = report(&file, &device, &MeasureOptions::default(), &Control::default()).await?;
        if everything {
            let sections = Some(vec![Section::Density, Section::Sharpness]);
            let options = ReportOptions { sections, ..ReportOptions::default() };
            let control = Control::default().on_progress(|progress| {
                let left = progress.numbers.get("remainingSeconds").copied().unwrap_or(0.0);
                eprint!("\r{} {}/{}, about {left:.0} s left          ", progress.phase, progress.done, progress.total);
            });
            let engine = Engine::new(&device, &file.problem)?;
            let more = report_at(&engine, &file.parameters, &options, &control).await?;
            eprintln!();
            found.as_object_mut().expect("a report is an object").extend(more.values);
        }
        Ok::<_, Error>(found)
    });
    let report = report.map_err(|error| format!("{path}: {error} ({})", error.code.as_str()))?;
    serde_json::to_string_pretty(&report).map_err(|error| error.to_string())
}
