//! Figures of networks of one to three weights: drawings of definitions and proofs, here of what the engine finds.

use isoflat::engine::{Device, Engine, Precision};
use isoflat::{Problem, Result};
use serde_json::{Value, json};

use super::Arguments;
use super::runs::{self, short};

/// Its name, and what finds it.
pub type Figure = (&'static str, fn() -> Result<Value>);

/// Finds all `figures` of a `paper`, and writes and prints what was found.
pub fn run(arguments: &Arguments, paper: &str, figures: &[Figure]) -> Result<()> {
    let name = |(name, _): &Figure| (*name).into();
    let found = runs::all(&arguments.runs, arguments.jobs, figures, name, |(_, figure)| figure())?;
    let mut result = json!({ "paper": paper, "seconds": runs::seconds(&found) });
    for ((name, _), figure) in figures.iter().zip(found) {
        println!("{name}: {:#}", figure["found"]);
        result[name.replace('-', "_")] = figure;
    }
    // On one line: most of it is drawings, thousands of numbers.
    runs::keep(&arguments.out, &result)?;
    println!("\nwritten to {}", arguments.out.display());
    Ok(())
}

pub fn engine(problem: &Problem) -> Result<Engine> {
    Engine::new(&Device::cpu(Precision::F64), problem)
}

/// Where `is_left` of a place turns from true to false, between a place where it is true and one where it is not.
pub async fn turn(mut left: f64, mut right: f64, is_left: impl AsyncFn(f64) -> Result<bool>) -> Result<f64> {
    for _ in 0..60 {
        let middle = 0.5 * (left + right);
        if is_left(middle).await? {
            left = middle;
        } else {
            right = middle;
        }
    }
    Ok(0.5 * (left + right))
}

/// `count` numbers from `low` to `high`.
pub fn spaced(low: f64, high: f64, count: usize) -> Vec<f64> {
    (0..count).map(|i| low + (high - low) * i as f64 / (count - 1) as f64).collect()
}

pub fn shortened(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| short(*value)).collect()
}
