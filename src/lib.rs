//! isoflat: how flat is a neural network's minimum, in a way that rescaling the weights cannot fake.
//!
//! `Network + data = Problem → Engine (CPU or GPU) → operator → measure → report`: a [`Network`] with data is a [`Problem`], whose
//! [`engine::Engine`] computes on a CPU or GPU what [`measure::measure`] and [`linalg::Lanczos`] ask for. The README's *In Rust* is a program,
//! `ARCHITECTURE.md` says where everything lies and why.

// wasm-pack builds unit tests beside the tests that it is asked for; these run natively alone.
#![cfg(not(all(test, target_arch = "wasm32")))]
#![deny(unsafe_code)]
// What only computing needs is of no use to the module for files.
#![cfg_attr(not(computes), allow(dead_code, unused_imports))]

/// The tests' forward pass in plain loops names the crate as those outside do.
#[cfg(test)]
extern crate self as isoflat;

#[cfg(computes)]
pub mod cli;
mod components;
#[cfg(computes)]
pub mod control;
pub mod data;
#[cfg(computes)]
pub mod dinh;
#[cfg(computes)]
pub mod engine;
mod error;
#[cfg(computes)]
mod event_loop;
#[cfg(computes)]
pub mod invariance;
pub mod io;
mod json;
#[cfg(computes)]
pub mod landscape;
#[cfg(computes)]
pub mod linalg;
#[cfg(computes)]
pub mod measure;
mod memory;
pub mod network;
mod numbers;
#[cfg(computes)]
mod opaque;
#[cfg(computes)]
pub mod operator;
mod problem;
mod random;
#[cfg(computes)]
pub mod ranks;
#[cfg(computes)]
mod report;
mod sorting;
#[cfg(computes)]
pub mod space;
pub mod symmetry;
#[cfg(computes)]
pub mod train;
// Classes of JavaScript, which prints them its own way.
#[cfg(all(target_arch = "wasm32", computes))]
#[allow(missing_debug_implementations)]
mod web;
#[cfg(not(computes))]
#[allow(missing_debug_implementations)]
#[path = "web/files.rs"]
mod web;

#[cfg(computes)]
pub use control::{Control, Progress};
pub use error::{Error, ErrorCode, Result};
pub use network::Network;
pub use problem::{Loss, Problem, ProblemFile, Targets, Values};
#[cfg(computes)]
pub use report::{Report, ReportOptions, Section, SectionRun, report, report_at};
#[cfg(all(target_arch = "wasm32", computes))]
pub use web::threads;

/// The README's Rust is compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
