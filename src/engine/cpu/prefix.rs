//! The steps before the first one with parameters. They are constant in θ and taken once, when data are loaded.

use super::activation;
use super::aligned::Aligned;
use super::plain::Plain;
use super::real::Real;
use crate::engine::plan::{Operation, Step};
use crate::error::Result;
use crate::memory::{product, room, zeros};
use crate::network::Shape;

/// Rows of inputs (samples, C · H · W) as they come into the first affine step.
///
/// # Errors
/// `TooLarge` where they do not fit in memory.
pub fn apply<T: Real>(prefix: &[Step], mut rows: Vec<T>) -> Result<Vec<T>> {
    for step in prefix {
        if step.operation != Operation::Copy {
            rows = through(step, &rows)?;
        }
        activation::apply(step.activation, &mut rows);
    }
    Ok(rows)
}

/// Images through a step, one after the other as blocks of one sample.
fn through<T: Real>(step: &Step, rows: &[T]) -> Result<Vec<T>> {
    const WHAT: &str = "inputs behind the first steps";
    let plain = Plain::new(step, |_| step.input)?;
    let images = rows.chunks_exact(step.input.len());
    let mut found = room(WHAT, product::<T>(WHAT, &[images.len(), step.output.len()])?)?;
    let (mut x, mut out) = (zeros(WHAT, step.input.len())?, zeros(WHAT, step.output.len())?);
    let mut chosen = Aligned::default();
    for image in images {
        image.iter().enumerate().for_each(|(i, &value)| x[place(step.input, i)] = value);
        plain.forward::<T, 1>(1, |_| &x, &mut chosen, &mut out)?;
        found.extend((0..out.len()).map(|i| out[place(step.output, i)]));
    }
    Ok(found)
}

/// Where value i of (C, H, W) lies in (H, W, C).
fn place(shape: Shape, i: usize) -> usize {
    i % shape.area() * shape.channels + i / shape.area()
}
