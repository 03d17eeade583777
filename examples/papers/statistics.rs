//! Correlations, with intervals that hold them at 95 %.

use serde::Serialize;

/// A correlation and where it lies.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Correlation {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// Of a standard normal number, 95 % lie within this of 0.
const TWO_SIDED: f64 = 1.959_963_984_540_054;

/// By Fisher's transformation of r.
fn interval(value: f64, standard_error: f64) -> Correlation {
    let z = value.clamp(-1.0 + 1e-15, 1.0 - 1e-15).atanh();
    let bound = |sign: f64| (z + sign * TWO_SIDED * standard_error).tanh();
    Correlation { value, low: bound(-1.0), high: bound(1.0) }
}

/// Pearson's r. Nothing of fewer than four pairs, or where one of the two is always the same.
pub fn pearson(pairs: &[(f64, f64)]) -> Option<Correlation> {
    let n = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let [mut xx, mut xy, mut yy] = [0.0; 3];
    for pair in pairs {
        let (dx, dy) = (pair.0 - x, pair.1 - y);
        xx += dx * dx;
        xy += dx * dy;
        yy += dy * dy;
    }
    let r = xy / (xx * yy).sqrt();
    (pairs.len() > 3 && r.is_finite()).then(|| interval(r, 1.0 / (n - 3.0).sqrt()))
}

/// Kendall's τ_b. Its interval by Fisher's transformation, with the standard error √(0.437 / (n − 4)) of Fieller, Hartley and
/// Pearson (1957). Nothing of fewer than five pairs, or where one of the two is always the same.
pub fn kendall(pairs: &[(f64, f64)]) -> Option<Correlation> {
    let n = pairs.len();
    let [mut both, mut of_x, mut of_y] = [0_i64; 3];
    for (i, a) in pairs.iter().enumerate() {
        for b in &pairs[..i] {
            let sign = |d: f64| if d > 0.0 { 1 } else { -i64::from(d < 0.0) };
            let (x, y) = (sign(a.0 - b.0), sign(a.1 - b.1));
            both += x * y;
            of_x += x * x;
            of_y += y * y;
        }
    }
    let tau = both as f64 / ((of_x as f64) * (of_y as f64)).sqrt();
    (n > 4 && tau.is_finite()).then(|| interval(tau, (0.437 / (n as f64 - 4.0)).sqrt()))
}
