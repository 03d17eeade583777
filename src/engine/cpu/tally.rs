//! Means of losses and hits over samples.

use super::point::BlockPoint;
use crate::error::Result;

/// Means over samples.
#[derive(Debug, Clone, Copy)]
pub struct Means {
    pub loss: f64,
    pub accuracy: f64,
}

/// Sums over chunks on the way to [`Means`].
#[derive(Default)]
pub struct Tally {
    losses: Vec<f64>,
    hits: usize,
}

impl Tally {
    /// Adds blocks in their order.
    pub fn add<T>(&mut self, blocks: &[BlockPoint<T>]) -> Result<()> {
        for block in blocks {
            if self.losses.capacity() - self.losses.len() < block.loss.losses.len() {
                // Doubled, so that they are copied a few times at most.
                let more = self.losses.len().max(block.loss.losses.len());
                crate::memory::make_room("losses of samples", &mut self.losses, more)?;
            }
            self.losses.extend(&block.loss.losses);
            self.hits += block.loss.hits;
        }
        Ok(())
    }

    pub fn means(&self) -> Means {
        let count = self.losses.len() as f64;
        Means { loss: mean(&self.losses), accuracy: self.hits as f64 / count }
    }
}

/// The mean of per-sample losses.
pub fn mean(values: &[f64]) -> f64 {
    let (blocks, rest) = values.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for block in blocks {
        lanes.iter_mut().zip(block).for_each(|(lane, value)| *lane += value);
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    let sum = ((a + b) + (c + d)) + ((e + f) + (g + h)) + rest.iter().sum::<f64>();
    sum / values.len() as f64
}
