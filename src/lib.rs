//! isoflat: how flat is a neural network's minimum, in a way that rescaling the weights cannot fake.
//!
//! `Network + data = Problem → Engine (CPU or GPU) → operator → measure → report`. The README shows it in use,
//! `ARCHITECTURE.md` says where everything lies and why.

#![deny(unsafe_code)]

pub mod control;
pub mod data;
pub mod dinh;
pub mod engine;
mod error;
mod event_loop;
pub mod invariance;
mod json;
pub mod landscape;
pub mod linalg;
pub mod measure;
mod memory;
pub mod network;
mod numbers;
pub mod operator;
mod problem;
mod report;
pub mod space;
pub mod symmetry;
pub mod train;
#[cfg(target_arch = "wasm32")]
mod web;

pub use control::{Control, Progress};
pub use error::{Error, ErrorCode, Result};
pub use network::Network;
pub use problem::{Loss, Problem, ProblemFile, Targets, Values};
pub use report::{Report, ReportOptions, Section, SectionRun, report, report_at};
#[cfg(target_arch = "wasm32")]
pub use web::threads;

/// The README's Rust is compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
