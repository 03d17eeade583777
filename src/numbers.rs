//! Lengths, inner products, means and spreads of numbers of any size: what is squared is scaled by a power of two before, where its
//! square would overflow or vanish. Everywhere else the plain sums are taken, with the bits they have always had.

/// A sum of squares within these loses nothing that counts: what underflowed in it is below its last digit.
pub(crate) const SAFE: std::ops::RangeInclusive<f64> = 1e-270..=f64::MAX;

/// Factors within these multiply without overflow, and what underflows does not count.
const MODERATE: std::ops::RangeInclusive<f64> = 1e-135..=1e150;

/// ‖x‖₂, right for every length that is a finite number; NaN or ∞ where an x is, or the length itself overflows.
pub(crate) fn norm<I>(values: I) -> f64
where
    I: IntoIterator<Item = f64>,
    I::IntoIter: Clone,
{
    let values = values.into_iter();
    let square: f64 = values.clone().map(|x| x * x).sum();
    if SAFE.contains(&square) {
        return square.sqrt();
    }
    let largest = largest(values.clone());
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let factor = power_near(largest);
    values.map(|x| x / factor).map(|x| x * x).sum::<f64>().sqrt() * factor
}

/// The largest |x|; NaN if there is one.
pub(crate) fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |m: f64, x| if x.is_nan() || x.abs() > m { x.abs() } else { m })
}

/// Σ a_i b_i, right where the sum is a finite number but its terms need not be.
pub(crate) fn inner(a: &[f64], b: &[f64]) -> f64 {
    let plain = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let [p, q] = [a, b].map(|values| largest(values.iter().copied()));
    let is_moderate = |x: f64| x == 0.0 || !x.is_finite() || MODERATE.contains(&x);
    if (is_moderate(p) && is_moderate(q)) || p == 0.0 || q == 0.0 {
        return plain(a, b);
    }
    let [p, q] = [p, q].map(power_near);
    let sum = a.iter().zip(b).map(|(a, b)| (a / p) * (b / q)).sum::<f64>();
    // Nothing overflows or vanishes on the way to a number that does not.
    if (p < 1.0) == (q < 1.0) { sum * p * q } else { sum * (p * q) }
}

/// ⟨a, b⟩ of numbers of moderate size. Four sums, since the additions of one wait for each other.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a, b) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y).sum();
    for (a, b) in a.zip(b) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    rest + sums.iter().sum::<f64>()
}

/// The power of two at or below |x|, for finite x ≠ 0, but none whose reciprocal would overflow.
pub(crate) fn power_near(x: f64) -> f64 {
    let exponent = ((x.to_bits() >> 52) & 0x7ff).clamp(2, 2045);
    f64::from_bits(exponent << 52)
}

/// Mean and spread of samples as they come (Welford), whatever their size.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Samples {
    count: usize,
    /// What mean and squares are in units of: a power of two of the size of the largest sample so far; 0 before there is one
    /// but 0.
    unit: f64,
    mean: f64,
    squares: f64,
}

impl Samples {
    /// One more.
    pub fn push(&mut self, sample: f64) {
        self.count += 1;
        // Powers of two, so that a change of the unit rounds nothing.
        if sample != 0.0 && sample.is_finite() && sample.abs() >= 2.0f64.powi(60) * self.unit {
            let unit = power_near(sample);
            let ratio = self.unit / unit;
            (self.unit, self.mean, self.squares) = (unit, self.mean * ratio, self.squares * ratio * ratio);
        }
        let sample = if self.unit > 0.0 { sample / self.unit } else { sample };
        let before = sample - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (sample - self.mean);
    }

    /// How many there were.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Their mean; 0 where there were none.
    pub fn mean(&self) -> f64 {
        if self.unit > 0.0 { self.mean * self.unit } else { self.mean }
    }

    /// The standard deviation of the mean, from their spread; 0 for fewer than two.
    pub fn standard_error(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let count = self.count as f64;
        let error = (self.squares / ((count - 1.0) * count)).sqrt();
        if self.unit > 0.0 { error * self.unit } else { error }
    }
}

/// Mean of independent samples, and the standard deviation of that mean from their spread (0 for one sample).
pub(crate) fn mean_and_error(samples: &[f64]) -> (f64, f64) {
    let count = samples.len() as f64;
    let mut mean = samples.iter().sum::<f64>() / count;
    if mean.is_infinite() {
        mean = samples.iter().map(|s| s / count).sum();
    }
    if samples.len() < 2 {
        return (mean, 0.0);
    }
    let spread = norm(samples.iter().map(|s| s - mean));
    (mean, spread / ((count - 1.0) * count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Powers of ten between the ends of double precision.
    const SIZES: [f64; 9] = [1e-300, 1e-200, 1e-160, 1e-100, 1.0, 1e100, 1e160, 1e200, 1e300];

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-14 * expected.abs()
    }

    #[test]
    fn lengths_are_right_at_every_size() {
        for size in SIZES {
            let found = norm([3.0, -4.0, 0.0, 12.0].map(|x| x * size));
            assert!(near(found, 13.0 * size), "{size:e}: {found:e}");
        }
        assert!(near(norm([1e300, 1e-300]), 1e300) && norm([0.0; 3]) == 0.0 && norm([0.0; 0]) == 0.0);
        assert!(near(norm([5e-324, 0.0]), 5e-324) && near(norm([f64::MAX, 0.0]), f64::MAX));
        assert!(norm([1.0, f64::NAN]).is_nan() && norm([f64::NAN, 1.0]).is_nan());
        assert!(!norm([f64::INFINITY, 1.0]).is_finite() && norm([f64::MAX; 4]).is_infinite());
    }

    #[test]
    fn inner_products_are_right_wherever_they_are_numbers() {
        for a in SIZES {
            for b in SIZES {
                let expected = 11.0 * a * b;
                let found = inner(&[a, 2.0 * a, 0.0], &[3.0 * b, 4.0 * b, b]);
                let is_number = expected.is_finite() && expected >= f64::MIN_POSITIVE;
                assert!(!is_number || near(found, expected), "{a:e}, {b:e}: {found:e}, expected {expected:e}");
            }
        }
        assert_eq!(inner(&[1e300, 1e300], &[1e300, -1e300]), 0.0);
        assert!(inner(&[f64::NAN], &[1.0]).is_nan());
    }

    #[test]
    fn means_and_errors_scale_with_the_samples() {
        let samples = [1.0, 4.0, -2.0, 3.5, 3.5];
        let (mean, error) = mean_and_error(&samples);
        for size in SIZES {
            let scaled = samples.map(|s| s * size);
            let (found, its_error) = mean_and_error(&scaled);
            assert!(near(found, mean * size) && near(its_error, error * size), "{size:e}: {found:e} ± {its_error:e}");
            let mut streamed = Samples::default();
            scaled.iter().for_each(|&s| streamed.push(s));
            let (found, its_error) = (streamed.mean(), streamed.standard_error());
            assert!(near(found, mean * size) && near(its_error, error * size), "{size:e}: {found:e} ± {its_error:e}");
        }
        let mut growing = Samples::default();
        [0.0, 1e-300, 1e300].into_iter().for_each(|s| growing.push(s));
        assert!(near(growing.mean(), 1e300 / 3.0) && near(growing.standard_error(), 1e300 / 3.0));
        assert_eq!((Samples::default().mean(), mean_and_error(&[2.0])), (0.0, (2.0, 0.0)));
    }
}
