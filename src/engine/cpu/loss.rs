//! The losses, their first and second derivatives in the outputs. Twin of `shaders/loss/`.

use super::real::Real;
use crate::problem::Targets;

/// Targets of a run of samples in the executor's precision.
#[derive(Clone)]
pub enum TargetRows<T> {
    /// Cross-entropy: class numbers.
    Classes(Vec<u32>),
    /// Squared error: row after row.
    Vectors(Vec<T>),
}

impl<T: Real> TargetRows<T> {
    /// All of a problem's targets.
    pub fn new(targets: &Targets) -> Self {
        match targets {
            Targets::Classes(labels) => Self::Classes(labels.clone()),
            Targets::Vectors(values) => Self::Vectors(values.iter().map(|&v| T::from_f64(v)).collect()),
        }
    }

    /// Those of the given samples.
    pub fn gather(&self, rows: impl Iterator<Item = usize>, width: usize) -> Self {
        match self {
            Self::Classes(labels) => Self::Classes(rows.map(|i| labels[i]).collect()),
            Self::Vectors(values) => {
                Self::Vectors(rows.flat_map(|i| &values[i * width..(i + 1) * width]).copied().collect())
            }
        }
    }
}

/// What the loss leaves behind for the backward passes.
pub struct LossPoint<T> {
    /// Loss of each sample.
    pub sample_losses: Vec<f64>,
    /// Share of samples whose first largest output is the target's; 0 for squared error.
    pub accuracy: f64,
    /// softmax(ŷ), for cross-entropy; empty otherwise.
    pub probabilities: Vec<T>,
    /// δ_L, divided by the number of samples.
    pub delta: Vec<T>,
}

/// Losses and δ_L of these outputs: (p − y)/N, or 2(ŷ − y)/N.
pub fn evaluate<T: Real>(outputs: &[T], targets: &TargetRows<T>, width: usize) -> LossPoint<T> {
    let samples = outputs.len() / width;
    let weight = 1.0 / samples as f64;
    let mut point = LossPoint {
        sample_losses: Vec::with_capacity(samples),
        accuracy: 0.0,
        probabilities: Vec::new(),
        delta: Vec::with_capacity(outputs.len()),
    };
    match targets {
        TargetRows::Classes(labels) => {
            let mut correct = 0usize;
            // Softmax in double precision whatever T is: a few numbers a sample, and the loss needs their digits.
            let mut exponentials = vec![0.0f64; width];
            for (row, &label) in outputs.chunks_exact(width).zip(labels) {
                let label = label as usize;
                let largest = (1..width).fold(0, |best, c| if row[c] > row[best] { c } else { best });
                correct += usize::from(largest == label);
                let max = row[largest].to_f64();
                for (e, &z) in exponentials.iter_mut().zip(row) {
                    *e = (z.to_f64() - max).exp();
                }
                let sum: f64 = exponentials.iter().sum();
                point.sample_losses.push(sum.ln() + max - row[label].to_f64());
                for (c, e) in exponentials.iter().enumerate() {
                    let p = e / sum;
                    point.probabilities.push(T::from_f64(p));
                    let y = if c == label { 1.0 } else { 0.0 };
                    point.delta.push(T::from_f64((p - y) * weight));
                }
            }
            point.accuracy = correct as f64 * weight;
        }
        TargetRows::Vectors(values) => {
            for (row, target) in outputs.chunks_exact(width).zip(values.chunks_exact(width)) {
                let mut loss = 0.0;
                for (&z, &y) in row.iter().zip(target) {
                    let difference = z.to_f64() - y.to_f64();
                    loss += difference * difference;
                    point.delta.push(T::from_f64(2.0 * difference * weight));
                }
                point.sample_losses.push(loss);
            }
        }
    }
    point
}

/// ż_L → δ̇_L in place: (diag p − p pᵀ) ż / N, or 2 ż / N. `tangent` may hold K times the rows.
pub fn second_derivative<T: Real>(probabilities: &[T], samples: usize, width: usize, tangent: &mut [T]) {
    let weight = T::from_f64(1.0 / samples as f64);
    if probabilities.is_empty() {
        let factor = weight + weight;
        tangent.iter_mut().for_each(|z| *z *= factor);
        return;
    }
    for direction in tangent.chunks_exact_mut(samples * width) {
        for (z, p) in direction.chunks_exact_mut(width).zip(probabilities.chunks_exact(width)) {
            let mean: T = z.iter().zip(p).map(|(&z, &p)| z * p).sum();
            for (z, &p) in z.iter_mut().zip(p) {
                *z = p * (*z - mean) * weight;
            }
        }
    }
}
