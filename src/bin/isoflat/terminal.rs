//! The terminal: a line of progress, and Ctrl-C.

use std::cell::RefCell;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use isoflat::Progress;
use isoflat::cli::{Meter, exit};

/// Seconds between two lines, at least.
const EVERY: f64 = 0.1;
/// Columns of the line: more might wrap, and could not be cleared.
const WIDTH: usize = 78;

/// A line on standard error that is written over itself.
pub struct ProgressLine {
    is_shown: bool,
    start: Instant,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    meter: Meter,
    /// When the last line was written.
    last: Option<f64>,
}

impl ProgressLine {
    /// Shown only where standard error is a terminal.
    pub fn new(is_wanted: bool) -> Self {
        let is_shown = is_wanted && std::io::stderr().is_terminal();
        Self { is_shown, start: Instant::now(), state: RefCell::default() }
    }

    /// Says where work stands.
    pub fn show(&self, progress: &Progress) {
        if !self.is_shown {
            return;
        }
        let now = self.start.elapsed().as_secs_f64();
        let mut state = self.state.borrow_mut();
        let line = state.meter.line(progress, now);
        if state.last.is_some_and(|last| now - last < EVERY) {
            return;
        }
        state.last = Some(now);
        let line: String = line.chars().take(WIDTH).collect();
        let _ = write!(std::io::stderr(), "\r{line:<WIDTH$}");
    }

    /// Leaves nothing behind.
    pub fn clear(&self) {
        if self.state.borrow().last.is_some() {
            let _ = write!(std::io::stderr(), "\r{:WIDTH$}\r", "");
        }
    }
}

/// How often Ctrl-C was pressed.
static PRESSED: AtomicUsize = AtomicUsize::new(0);

/// Is it said what was heard?
static IS_TOLD: AtomicBool = AtomicBool::new(false);

/// Ctrl-C: the first asks the work to finish, a second ends the program. With MPI other signals that ask for an end are heard too: that is
/// how `mpirun` and batch systems hand it on. Once this is dropped there is nothing to finish: where one rank has ended with a fault,
/// `mpirun` asks the others to end too, and who has told that fault already has no more to say.
pub struct Interrupts;

impl Drop for Interrupts {
    fn drop(&mut self) {
        IS_TOLD.store(false, Ordering::SeqCst);
    }
}

impl Interrupts {
    /// Listens from now on, and where it is to be said, says what was heard.
    pub fn listen(is_told: bool) -> Result<Self, String> {
        IS_TOLD.store(is_told, Ordering::SeqCst);
        ctrlc::set_handler(|| {
            if PRESSED.fetch_add(1, Ordering::SeqCst) > 0 {
                std::process::exit(exit::INTERRUPTED.into());
            }
            if IS_TOLD.load(Ordering::SeqCst) {
                eprintln!("\nisoflat: finishing with what there is; Ctrl-C again ends at once");
            }
        })
        .map_err(|error| format!("Ctrl-C cannot be listened to: {error}"))?;
        Ok(Self)
    }

    /// Was it pressed?
    pub fn are_wished() -> bool {
        PRESSED.load(Ordering::SeqCst) > 0
    }
}
