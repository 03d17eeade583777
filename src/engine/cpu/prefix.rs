//! The steps before the first one with parameters. They are constant in θ and taken once, when data are loaded.

use super::activation;
use super::real::Real;
use crate::engine::plan::{Operation, Step};
use crate::error::Result;
use crate::memory::{product, room};

/// Rows of inputs (samples, C · H · W) as they come into the first affine step.
///
/// # Errors
/// `TooLarge` where they do not fit in memory.
pub fn apply<T: Real>(prefix: &[Step], mut rows: Vec<T>) -> Result<Vec<T>> {
    for step in prefix {
        if step.operation != Operation::Copy {
            let images = rows.chunks_exact(step.input.len());
            let mut pooled = room("pooled inputs", product::<T>("pooled inputs", &[images.len(), step.output.len()])?)?;
            images.for_each(|image| pool(step, image, &mut pooled));
            rows = pooled;
        }
        activation::apply(step.activation, &mut rows);
    }
    Ok(rows)
}

/// One image (C, H, W) through a pool.
fn pool<T: Real>(step: &Step, image: &[T], out: &mut Vec<T>) {
    let (input, output, window) = (step.input, step.output, step.window);
    let share = T::from_f64(1.0 / window.area() as f64);
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
}
