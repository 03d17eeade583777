//! What a command leaves behind: a text for standard output, and files.

use super::html::page;
use super::invocation::Invocation;
use super::open::Written;
use super::run::{Outcome, json};
use super::table::text;
use crate::error::{Error, ErrorCode, Result};

/// An outcome as it is given to people and programs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    /// For standard output.
    pub text: String,
    /// Pages and JSON; weights are not among them.
    pub files: Vec<Written>,
}

/// Tables or JSON to standard output, pages and JSON into files, as the invocation says.
///
/// # Errors
/// `TooLarge` where a result has no JSON form that fits in memory.
pub fn show(invocation: &Invocation, outcome: &Outcome, wants_colour: bool) -> Result<Shown> {
    let output = &invocation.output;
    let mut shown = Shown::default();
    let written = || {
        serde_json::to_string_pretty(&json(&outcome.result))
            .map_err(|error| Error::new(ErrorCode::TooLarge, format!("the result as JSON: {error}")))
    };
    if let Some(name) = &output.html {
        let bytes = page(invocation, &outcome.result).into_bytes();
        shown.files.push(Written { name: name.clone(), bytes });
    }
    if let Some(name) = output.out.as_ref().filter(|_| outcome.parameters.is_none()) {
        shown.files.push(Written { name: name.clone(), bytes: written()?.into_bytes() });
    }
    if output.json {
        shown.text = written()? + "\n";
    } else if !output.quiet {
        shown.text = text(invocation, &outcome.result, wants_colour);
    }
    Ok(shown)
}
