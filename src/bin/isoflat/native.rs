//! From words to what is printed and written.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use isoflat::cli::{self, Command, Invocation, Outcome, exit};
use isoflat::engine::{Backend, Device, Precision};
use isoflat::{Control, Error};

use super::files::{self, Buffers};
use super::terminal::{Interrupts, ProgressLine};
use super::tunings;

/// What went wrong, and the status to end with.
struct Failure {
    status: u8,
    message: String,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { status: exit::FAILED, message: error.message }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self { status: exit::FAILED, message }
    }
}

/// The program.
pub fn main() -> ExitCode {
    let words: Result<Vec<String>, _> = std::env::args_os().skip(1).map(|word| word.into_string()).collect();
    let found = match words {
        Ok(words) => work(&words),
        Err(word) => Err(usage(format!("{} is no valid Unicode", word.to_string_lossy()))),
    };
    match found {
        Ok(status) => ExitCode::from(status),
        Err(Failure { status, message }) => {
            eprintln!("isoflat: {message}");
            ExitCode::from(status)
        }
    }
}

fn usage(message: String) -> Failure {
    Failure { status: exit::USAGE, message }
}

fn work(words: &[String]) -> Result<u8, Failure> {
    let invocation = cli::parse(words).map_err(|error| usage(error.message))?;
    match invocation.command {
        Command::Help => print(&cli::help(invocation.topic))?,
        Command::Version => print(&format!("isoflat {}\n", env!("CARGO_PKG_VERSION")))?,
        _ => return compute(&invocation),
    }
    Ok(exit::FINE)
}

fn compute(invocation: &Invocation) -> Result<u8, Failure> {
    files::ensure_writable(&invocation.output)?;
    let buffers = Buffers::read(&invocation.reads())?;
    let files = buffers.files();
    let opened = cli::open(invocation, &files)?;
    if let Some(threads) = invocation.device.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        pool.map_err(|error| format!("{threads} threads cannot be had: {error}"))?;
    }
    let interrupts = Interrupts::listen()?;
    let progress = ProgressLine::new(!invocation.output.quiet);
    let control = Control::default().on_progress(|now| progress.show(now)).finish_when(|| interrupts.is_wished());
    let found = pollster::block_on(async {
        let device = match invocation.command {
            Command::Convert => Device::cpu(Precision::F64),
            _ => device(invocation, &control).await?,
        };
        cli::run(invocation, &opened, &device, &control).await
    });
    progress.clear();
    let mut outcome = found?;
    if let Some(written) = cli::save(invocation, &files, &opened, &mut outcome)? {
        files::write(&written.name, &written.bytes)?;
    }
    show(invocation, &outcome)?;
    Ok(if outcome.stopped { exit::INTERRUPTED } else { exit::FINE })
}

async fn device(invocation: &Invocation, control: &Control<'_>) -> Result<Device, Error> {
    let backend = invocation.device.backend();
    let found = Device::request(backend, invocation.device.precision.unwrap_or(Precision::F64)).await?;
    let is_quiet = invocation.output.quiet;
    if backend == Backend::Gpu && found.info().is_software && !is_quiet {
        eprintln!("isoflat: this GPU is a program ({}): --backend cpu is faster", found.info().adapter);
    }
    let (device, measured) = found.tuned(invocation.device.tune, &tunings::kept(), control).await?;
    if let Some(tuning) = measured
        && let Err(why) = tunings::keep(&tuning)
        && !is_quiet
    {
        eprintln!("isoflat: what was measured of this GPU is not kept, and will be measured again: {why}");
    }
    Ok(device)
}

/// What was found, to standard output and into files.
fn show(invocation: &Invocation, outcome: &Outcome) -> Result<(), Failure> {
    let wants_colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty());
    let shown = cli::show(invocation, outcome, wants_colour)?;
    for file in &shown.files {
        files::write(&file.name, &file.bytes)?;
    }
    print(&shown.text)
}

/// To standard output. Who reads no further, as `head` does, has what it wants.
fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(format!("standard output cannot be written: {error}").into())
        }
        _ => Ok(()),
    }
}
