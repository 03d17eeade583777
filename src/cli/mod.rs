//! The command line: what the program `isoflat` and the package's command have in common, which is all but the door.
//!
//! Words become an [`Invocation`] ([`parse`]), its files become a model with data ([`open`]), and with a device that becomes an
//! [`Outcome`] ([`run`]), which is written as a table ([`text`]), as a page ([`page`]), as JSON ([`json`]) or as weights ([`save`]).
//! The door reads and writes files, has the terminal, and hears signals; nothing here does.

mod arguments;
mod checkpoint;
mod data;
mod files;
mod help;
mod html;
mod invocation;
mod nearest;
mod number;
mod open;
mod options;
mod progress;
mod run;
mod show;
mod svg;
mod table;
mod view;
mod writes;

pub use arguments::{native_option, parse};
pub use checkpoint::journal;
pub use help::help;
pub use html::page;
pub use invocation::{
    Command, ConvertArguments, DataArguments, DeviceArguments, EigenvalueArguments, InvarianceArguments, Invocation,
    LandscapeArguments, MapArguments, ModelArguments, OptimizerName, OutputArguments, PlanArguments, ReportArguments,
    SaveAs, TrainArguments,
};
pub use open::{Opened, Origin, Written, data_names, open, open_share, save};
pub use progress::Meter;
pub use run::{Outcome, json, run};
pub use show::{Shown, show};
pub use table::text;
pub use writes::writes_data;

/// What a program ends with.
pub mod exit {
    /// All went well.
    pub const FINE: u8 = 0;
    /// The work failed.
    pub const FAILED: u8 = 1;
    /// The words were no command.
    pub const USAGE: u8 = 2;
    /// Interrupted; what was finished has been written.
    pub const INTERRUPTED: u8 = 130;
}
