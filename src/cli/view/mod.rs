//! A result as blocks, which are written as text or as a page: what is said is said once.

mod head;
mod invariance;
mod landscape;
mod plan;
mod report;
mod spectrum;
mod train;

use serde_json::Value;

use super::invocation::{Command, Invocation};

/// A part of what is shown.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Block {
    /// Names and what they are.
    Facts(Vec<(String, String)>),
    /// A table.
    Table(Table),
    /// A paragraph.
    Text(String),
    /// Sentences, each by itself.
    Notes(Vec<String>),
    /// A curve, or points.
    Plot(Plot),
    /// Values over a plane.
    Heat(Heat),
}

/// Rows of cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Table {
    pub title: String,
    /// Heads of the columns; the first column is text, the others are numbers or words.
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

/// A cell, and whether it is good news.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cell {
    pub text: String,
    pub mark: Mark,
}

/// How a cell is coloured. The text says it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Plain,
    Good,
    Bad,
    Unsure,
}

impl Cell {
    pub fn marked(text: impl Into<String>, mark: Mark) -> Self {
        Self { text: text.into(), mark }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::marked(text, Mark::Plain)
    }
}

/// A figure of points (x, y).
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Plot {
    pub title: String,
    pub x: String,
    pub y: String,
    pub points: Vec<(f64, f64)>,
    /// Is y on a logarithmic scale?
    pub is_log: bool,
    /// A line through the points, or a stick from each down to the axis?
    pub is_line: bool,
}

/// A figure of values over a grid: `values[i + j · s.len()]` at (s_i, t_j).
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Heat {
    pub title: String,
    pub s: Vec<f64>,
    pub t: Vec<f64>,
    pub values: Vec<f64>,
}

/// What is shown of a result.
pub(super) fn blocks(invocation: &Invocation, result: &Value) -> Vec<Block> {
    let mut out = head::blocks(result);
    match invocation.command {
        Command::Report => out.extend(report::blocks(result)),
        Command::Invariance => out.extend(invariance::blocks(result)),
        Command::Eigenvalues => out.extend(spectrum::blocks(result)),
        Command::Landscape => out.extend(landscape::blocks(result)),
        Command::Train => out.extend(train::blocks(result)),
        Command::Plan => out.extend(plan::blocks(result)),
        Command::Convert | Command::Help | Command::Version => {}
    }
    out.extend(head::end(result));
    out
}

/// The numbers of a list; what is no number is infinite, as overflowing losses are in JSON.
fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().map_or(Vec::new(), |list| list.iter().map(|x| x.as_f64().unwrap_or(f64::INFINITY)).collect())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().map_or(Vec::new(), |list| list.iter().map(text).collect())
}
