//! The distribution of one feature and its way to a normal one, Φ⁻¹(F(x)), which gaussianisation is made of (Chen and Gopinath 2001).
//!
//! F is that of normal kernels around quantiles of the samples, the smallest and the largest among them, each as wide as quantiles are
//! apart there. So it is smooth and strictly increasing, with the derivative F′(x) / φ(u), and no sample lies in a tail beyond all
//! kernels. Tails are known by their logarithms, so that u is finite however far x lies from the samples.

use crate::numbers::largest;
use crate::sorting::sort_by;
use std::f64::consts::{FRAC_1_SQRT_2, LN_2, TAU};

/// Most kernels.
const KERNELS: usize = 64;

/// A kernel is as wide as half the distance of the quantiles that are so many before and behind it, and no narrower than this share of the
/// standard deviation, where many samples have one value.
const NEIGHBOURS: usize = 2;
const NARROWEST: f64 = 0.05;

/// Most steps, of Newton or halving: they take seven on average.
const STEPS: usize = 100;

/// F of one feature.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Marginal {
    /// Where kernels are, ascending; a single one where the feature is constant.
    centers: Vec<f64>,
    /// Their standard deviations.
    widths: Vec<f64>,
}

/// Deviations up to this share of a feature's largest number are rounding.
const CONSTANT: f64 = 1e-9;

/// Is a feature of this standard deviation, whose largest number is so large, the same in every sample?
pub(super) fn is_constant(deviation: f64, size: f64) -> bool {
    deviation <= CONSTANT * size.max(f64::MIN_POSITIVE)
}

impl Marginal {
    /// Of the samples' values, which are sorted.
    pub fn of(values: &mut [f64]) -> Self {
        sort_by(values, f64::total_cmp);
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let deviation = (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
        if is_constant(deviation, largest(values.iter().copied())) {
            return Self { centers: vec![mean], widths: vec![1.0] };
        }
        let kernels = values.len().min(KERNELS);
        let last = (values.len() - 1) as f64 / (kernels - 1) as f64;
        let centers: Vec<f64> = (0..kernels).map(|k| values[(k as f64 * last).round() as usize]).collect();
        let width = |k: usize| {
            let (low, high) = (k.saturating_sub(NEIGHBOURS), (k + NEIGHBOURS).min(kernels - 1));
            f64::max(NARROWEST * deviation, 0.5 * (centers[high] - centers[low]))
        };
        let widths = (0..kernels).map(width).collect();
        Self { centers, widths }
    }

    /// u = Φ⁻¹(F(x)).
    pub fn normal(&self, x: f64) -> f64 {
        if let [center] = self.centers[..] {
            return x - center;
        }
        // The smaller tail is the one that is known to all its digits.
        let (below, above) = (self.tail(x, 1.0), self.tail(x, -1.0));
        if below < above { -quantile(below) } else { quantile(above) }
    }

    /// du/dx = F′(x) / φ(u).
    pub fn slope(&self, x: f64) -> f64 {
        if self.centers.len() == 1 {
            return 1.0;
        }
        self.slope_of(x, self.normal(x))
    }

    /// The same where u is known.
    fn slope_of(&self, x: f64, u: f64) -> f64 {
        // Together, so that both may underflow.
        let kernels = self.kernels().map(|(c, width)| (0.5 * (u * u - ((x - c) / width).powi(2))).exp() / width);
        kernels.sum::<f64>() / self.centers.len() as f64
    }

    /// x of u: between where the kernels alone would have it.
    pub fn input(&self, u: f64) -> f64 {
        if let [center] = self.centers[..] {
            return center + u;
        }
        let alone = || self.kernels().map(|(c, width)| c + width * u);
        let (mut low, mut high) = (alone().fold(f64::INFINITY, f64::min), alone().fold(f64::NEG_INFINITY, f64::max));
        let mut x = 0.5 * (low + high);
        // The last step, and the one before it.
        let mut steps = [high - low; 2];
        for _ in 0..STEPS {
            let found = self.normal(x);
            if found == u {
                return x;
            }
            *(if found > u { &mut high } else { &mut low }) = x;
            let step = (u - found) / self.slope_of(x, found);
            // Where kernels are narrow F is steep and Newton's steps are short: from there they would creep to where it is not.
            let is_fast = 2.0 * step.abs() <= steps[1].abs();
            let newton = x + step;
            let next = if is_fast && newton > low && newton < high { newton } else { 0.5 * (low + high) };
            steps = [next - x, steps[0]];
            if steps[0].abs() <= f64::EPSILON * x.abs().max(f64::MIN_POSITIVE) {
                return next;
            }
            x = next;
        }
        x
    }

    fn kernels(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.centers.iter().copied().zip(self.widths.iter().copied())
    }

    /// ln F(x), or ln (1 − F(x)) for a sign of −1.
    fn tail(&self, x: f64, sign: f64) -> f64 {
        let logarithms = || self.kernels().map(|(c, width)| log_upper(-sign * (x - c) / width));
        let largest = logarithms().fold(f64::NEG_INFINITY, f64::max);
        largest + (logarithms().map(|one| (one - largest).exp()).sum::<f64>() / self.centers.len() as f64).ln()
    }
}

/// From here on 1 − Φ(z) is taken by its asymptotic series: long before it underflows, and where the terms that are taken have all
/// digits but two.
const FAR: f64 = 30.0;

/// ln (1 − Φ(z)).
fn log_upper(z: f64) -> f64 {
    if z < FAR {
        return (0.5 * libm::erfc(z * FRAC_1_SQRT_2)).ln();
    }
    -0.5 * z * z - (z * TAU.sqrt()).ln() + series(z).ln()
}

/// What (1 − Φ(z)) z / φ(z) is for large z.
fn series(z: f64) -> f64 {
    let w = 1.0 / (z * z);
    1.0 - w * (1.0 - w * (3.0 - w * (15.0 - w * (105.0 - 945.0 * w))))
}

/// φ(z) / (1 − Φ(z)).
fn hazard(z: f64) -> f64 {
    if z < FAR { (-0.5 * z * z).exp() / TAU.sqrt() / log_upper(z).exp() } else { z / series(z) }
}

/// z ≥ 0 with 1 − Φ(z) = p ≤ ½, of ln p: Newton's way on the logarithm, which is concave, from 1 − Φ(z) ≤ ½ exp(−z²/2) down.
fn quantile(log_p: f64) -> f64 {
    let mut z = (-2.0 * (LN_2 + log_p)).max(0.0).sqrt();
    for _ in 0..STEPS {
        let step = (log_upper(z) - log_p) / hazard(z);
        z += step;
        if step.abs() <= f64::EPSILON * z.abs().max(1.0) {
            break;
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use super::Marginal;

    /// Pixels are mostly 0, and then anything: kernels are narrow where they are many, and wide elsewhere.
    #[test]
    fn every_value_comes_back() {
        let bright = [19, 26, 140, 151, 165, 214, 239, 252, 253, 253];
        let one = [128];
        let spread: Vec<u32> = (0..200).map(|i| if i % 3 == 0 { 0 } else { i * i % 256 }).collect();
        for (zeros, others) in [(21, &bright[..]), (499, &one), (0, &spread)] {
            let pixels = std::iter::repeat_n(0, zeros).chain(others.iter().copied());
            let mut values: Vec<f64> = pixels.map(|pixel| f64::from(pixel) / 255.0).collect();
            let marginal = Marginal::of(&mut values);
            for x in values {
                let found = marginal.input(marginal.normal(x));
                assert!((found - x).abs() <= 1e-14, "{x} came back as {found}, with {zeros} zeros");
            }
        }
    }
}
