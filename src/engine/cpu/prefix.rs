//! The steps before the first one with parameters. They are constant in θ and taken once, when data are loaded.

use super::activation;
use super::real::Real;
use crate::engine::plan::{Operation, Step};

/// Rows of inputs (samples, C · H · W) as they come into the first affine step.
pub fn apply<T: Real>(prefix: &[Step], mut rows: Vec<T>) -> Vec<T> {
    for step in prefix {
        if step.operation != Operation::Copy {
            rows = rows.chunks_exact(step.input.len()).flat_map(|image| pool(step, image)).collect();
        }
        activation::apply(step.activation, &mut rows);
    }
    rows
}

/// One image (C, H, W) through a pool.
fn pool<T: Real>(step: &Step, image: &[T]) -> Vec<T> {
    let (input, output, window) = (step.input, step.output, step.window);
    let share = T::from_f64(1.0 / window.area() as f64);
    let mut out = Vec::with_capacity(output.len());
    for channel in image.chunks_exact(input.area()) {
        for y in 0..output.height {
            for x in 0..output.width {
                let corner = y * window.stride[0] * input.width + x * window.stride[1];
                let values =
                    (0..window.area()).map(|i| channel[corner + i / window.size[1] * input.width + i % window.size[1]]);
                out.push(match step.operation {
                    Operation::MaxPool => values.reduce(|best, v| if v > best { v } else { best }).unwrap_or(T::ZERO),
                    _ => values.sum::<T>() * share,
                });
            }
        }
    }
    out
}
