//! From words to what is printed and written.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::rc::Rc;

use isoflat::cli::{self, Command, Invocation, Opened, Outcome, exit};
use isoflat::engine::gpu::AdapterChoice;
use isoflat::engine::{Backend, Device, Journal, Precision, Store};
use isoflat::ranks::{Launch, Meeting, Ranks};
use isoflat::{Control, Error, ErrorCode};

use super::files::{self, Buffers, Folder};
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
    let launch = match Launch::new(Interrupts::are_wished) {
        Ok(launch) => launch,
        Err(error) => return ended(Err(error.into()), true),
    };
    let words: Result<Vec<String>, _> = std::env::args_os().skip(1).map(|word| word.into_string()).collect();
    let work = || match &words {
        Ok(words) => work(words, &launch),
        Err(word) => Err(usage(format!("{} is no valid Unicode", word.to_string_lossy()))),
    };
    let found = match launch.ranks() {
        None => work(),
        Some(ranks) => together(&launch, ranks, work),
    };
    ended(found, launch.is_first())
}

fn ended(found: Result<u8, Failure>, is_told: bool) -> ExitCode {
    match found {
        Ok(status) => ExitCode::from(status),
        Err(Failure { status, message }) => {
            if is_told {
                eprintln!("isoflat: {message}");
            }
            ExitCode::from(status)
        }
    }
}

/// The work of one of many ranks, which end together: where one fails, all fail with its error.
fn together(launch: &Launch, ranks: &Ranks, work: impl FnOnce() -> Result<u8, Failure>) -> Result<u8, Failure> {
    // What panics has said why; the others are not to wait for it.
    let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    let found = found
        .unwrap_or_else(|_| Err("a fault of isoflat, please report it with what is said above".to_string().into()));
    let mut status = exit::FAILED;
    if let Err(failure) = &found {
        status = failure.status;
        launch.end_soon(failure.message.clone(), status);
    }
    let found = found.map_err(|failure| Error::new(ErrorCode::Aborted, failure.message));
    ranks.agree(Meeting::END, found).map_err(|error| Failure { status, message: error.message })
}

fn usage(message: String) -> Failure {
    Failure { status: exit::USAGE, message }
}

fn work(words: &[String], launch: &Launch) -> Result<u8, Failure> {
    let invocation = cli::parse(words).map_err(|error| usage(error.message))?;
    let text = match invocation.command {
        Command::Help => cli::help(invocation.topic),
        Command::Version => format!("isoflat {}\n", env!("CARGO_PKG_VERSION")),
        _ => return compute(&invocation, words, launch),
    };
    if launch.is_first() {
        print(&text)?;
    }
    Ok(exit::FINE)
}

fn compute(invocation: &Invocation, words: &[String], launch: &Launch) -> Result<u8, Failure> {
    if launch.is_first() {
        files::ensure_writable(invocation)?;
    }
    let (mut buffers, opened) = match launch.ranks() {
        Some(ranks) => open_on(ranks, invocation, words)?,
        None => {
            let buffers = Buffers::read(&invocation.reads())?;
            let opened = cli::open(invocation, &buffers.files())?;
            (buffers, opened)
        }
    };
    buffers.forget_data(&opened);
    let files = buffers.files();
    if let Some(threads) = invocation.device.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        pool.map_err(|error| format!("{threads} threads cannot be had: {error}"))?;
    }
    let _listening = Interrupts::listen(launch.is_first())?;
    let progress = ProgressLine::new(launch.is_first() && !invocation.output.quiet);
    // All ranks finish at the same step of their work.
    let is_wished = || launch.ranks().map_or_else(Interrupts::are_wished, |ranks| ranks.is_wished());
    let control = Control::default().on_progress(|now| progress.show(now)).finish_when(is_wished);
    let found = pollster::block_on(async {
        let device = match invocation.command {
            Command::Convert => Device::cpu(Precision::F64),
            _ => device(invocation, launch, &control).await?,
        };
        let opened = opened.share(invocation, &device)?;
        let device = match &invocation.output.checkpoint {
            Some(folder) => {
                let journal = journal(folder, invocation, &opened, &device, launch)?;
                device.with_journal(journal)
            }
            None => device,
        };
        let outcome = cli::run(invocation, &opened, &device, &control).await?;
        Ok::<_, Error>((opened, outcome))
    });
    progress.clear();
    let (opened, mut outcome) = found?;
    if launch.is_first() {
        if let Some(written) = cli::save(invocation, &files, &opened, &mut outcome)? {
            files::write(&written.name, &written.bytes)?;
        }
        show(invocation, &outcome)?;
    }
    Ok(if outcome.stopped { exit::INTERRUPTED } else { exit::FINE })
}

/// Opens the files of a rank, which reads its share of the data and no more where that can be.
fn open_on(ranks: &Ranks, invocation: &Invocation, words: &[String]) -> Result<(Buffers, Opened), Failure> {
    let mut buffers = Buffers::read_but_data(invocation)?;
    ranks.ensure_same("version of isoflat", &[env!("CARGO_PKG_VERSION").as_bytes()])?;
    ranks.ensure_same("command line", &words.iter().map(String::as_bytes).collect::<Vec<_>>())?;
    buffers.ensure_same(ranks)?;
    let data = buffers.sliced();
    if !data.is_empty() {
        let opened = cli::open_share(invocation, &buffers.files(), &data, ranks)?;
        if let Some(opened) = opened {
            return Ok((buffers, opened));
        }
        buffers.read_data()?;
    }
    let opened = cli::open(invocation, &buffers.files())?;
    Ok((buffers, opened))
}

/// The checkpoint in a folder, which is the first rank's to read and write.
fn journal(
    folder: &str,
    invocation: &Invocation,
    opened: &Opened,
    device: &Device,
    launch: &Launch,
) -> Result<Rc<Journal>, Error> {
    let store = if launch.is_first() { Folder::open(folder).map(Some) } else { Ok(None) };
    let store = store.map(|store| store.map(|folder| Box::new(folder) as Box<dyn Store>));
    cli::journal(invocation, opened, device, launch.ranks(), store)
}

async fn device(invocation: &Invocation, launch: &Launch, control: &Control<'_>) -> Result<Device, Error> {
    let backend = invocation.device.backend();
    let adapter = match (invocation.device.adapter, launch.ranks()) {
        (Some(number), _) => AdapterChoice::Number(number),
        (None, Some(ranks)) => AdapterChoice::Turn(ranks.on_machine().0),
        (None, None) => AdapterChoice::Best,
    };
    let precision = invocation.device.precision.unwrap_or(Precision::F64);
    let found = Device::request_on(backend, precision, adapter).await?;
    let is_quiet = invocation.output.quiet || !launch.is_first();
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
    match launch.ranks() {
        Some(ranks) => device.with_ranks(ranks.clone()),
        None => Ok(device),
    }
}

/// What was found, to standard output and into files.
fn show(invocation: &Invocation, outcome: &Outcome) -> Result<(), Failure> {
    let wants_colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty());
    let shown = cli::show(invocation, outcome, wants_colour)?;
    // What was found is said whether it can be kept or not, and kept whether somebody reads it or not.
    let written: Vec<_> = shown.files.iter().map(|file| files::write(&file.name, &file.bytes)).collect();
    print(&shown.text)?;
    written.into_iter().collect::<std::result::Result<(), _>>().map_err(Failure::from)
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
