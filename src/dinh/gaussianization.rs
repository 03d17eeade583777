//! The distribution of one feature and its way to a normal one, Φ⁻¹(F(x)), which gaussianisation is made of (Chen and Gopinath 2001).
//!
//! F is that of equal normal kernels around quantiles of the samples, the smallest and the largest among them. So it is smooth and strictly
//! increasing, with the derivative F′(x) / φ(u), and no sample lies in a tail beyond all kernels.

use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// Most kernels.
const KERNELS: usize = 64;

/// Most Newton steps: they take a few.
const STEPS: usize = 100;

/// F of one feature.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Marginal {
    /// Where kernels are, ascending; a single one where the feature is constant.
    centers: Vec<f64>,
    /// Their standard deviation.
    width: f64,
}

impl Marginal {
    /// Of the samples' values, which are sorted.
    pub fn of(values: &mut [f64]) -> Self {
        values.sort_by(f64::total_cmp);
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let deviation = (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
        let is_constant = deviation <= 1e-9 * values.iter().fold(f64::MIN_POSITIVE, |m, x| f64::max(m, x.abs()));
        if is_constant {
            return Self { centers: vec![mean], width: 1.0 };
        }
        let kernels = values.len().min(KERNELS);
        let last = (values.len() - 1) as f64 / (kernels - 1) as f64;
        let centers = (0..kernels).map(|k| values[(k as f64 * last).round() as usize]).collect();
        // Silverman's rule.
        Self { centers, width: 1.06 * deviation * (kernels as f64).powf(-0.2) }
    }

    /// u = Φ⁻¹(F(x)).
    pub fn normal(&self, x: f64) -> f64 {
        if let [center] = self.centers[..] {
            return (x - center) / self.width;
        }
        // The smaller tail is the one that is known to all its digits.
        let (below, above) = (self.tail(x, 1.0), self.tail(x, -1.0));
        if below < above { -quantile(below) } else { quantile(above) }
    }

    /// du/dx = F′(x) / φ(u).
    pub fn slope(&self, x: f64) -> f64 {
        if self.centers.len() == 1 {
            return 1.0 / self.width;
        }
        let u = self.normal(x);
        // Together, so that both may underflow.
        let kernels = self.centers.iter().map(|c| (0.5 * (u * u - ((x - c) / self.width).powi(2))).exp());
        kernels.sum::<f64>() / (self.centers.len() as f64 * self.width)
    }

    /// x of u: between where the first and the last kernel alone would have it.
    pub fn input(&self, u: f64) -> f64 {
        let (mut low, mut high) = match self.centers[..] {
            [center] => return center + self.width * u,
            [first, .., last] => (first + self.width * u, last + self.width * u),
            [] => return u,
        };
        let mut x = 0.5 * (low + high);
        for _ in 0..STEPS {
            let error = self.normal(x) - u;
            *(if error > 0.0 { &mut high } else { &mut low }) = x;
            let newton = x - error / self.slope(x);
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - x).abs() <= f64::EPSILON * self.width.max(x.abs()) {
                return next;
            }
            x = next;
        }
        x
    }

    /// F(x), or 1 − F(x) for a sign of −1.
    fn tail(&self, x: f64, sign: f64) -> f64 {
        let kernels = self.centers.iter().map(|c| upper(-sign * (x - c) / self.width));
        kernels.sum::<f64>() / self.centers.len() as f64
    }
}

/// 1 − Φ(z).
fn upper(z: f64) -> f64 {
    0.5 * libm::erfc(z * FRAC_1_SQRT_2)
}

/// z ≥ 0 with 1 − Φ(z) = p ≤ ½: Newton's way on the logarithm, which is concave, from 1 − Φ(z) ≤ ½ exp(−z²/2) down.
fn quantile(p: f64) -> f64 {
    let mut z = (-2.0 * (2.0 * p).ln()).max(0.0).sqrt();
    for _ in 0..STEPS {
        let tail = upper(z);
        let step = (tail / p).ln() * tail / ((-0.5 * z * z).exp() / TAU.sqrt());
        z += step;
        if step.abs() <= f64::EPSILON * z.abs().max(1.0) || !z.is_finite() {
            break;
        }
    }
    z
}
