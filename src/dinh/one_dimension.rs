//! Figure 5 of Dinh et al. 2017: η = (|θ − θ̂|² + b)^a (θ − θ̂) in one dimension, b ≥ 0 and a > −½, makes the minimum next to θ̂ sharper
//! or flatter than the others.

use serde::Serialize;

use crate::error::{Result, ensure};

/// Newton steps of the inverse, each safeguarded by bisection.
const STEPS: usize = 200;

/// The map.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PowerMap {
    center: f64,
    a: f64,
    b: f64,
}

/// A point of a loss in one dimension, in both coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PowerPoint {
    /// θ.
    pub theta: f64,
    /// η.
    pub eta: f64,
    /// L, the same in both.
    pub loss: f64,
    /// dL/dη; none where the map is singular (b = 0 at θ̂).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slope: Option<f64>,
    /// d²L/dη²; likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curvature: Option<f64>,
}

impl PowerMap {
    /// With θ̂ (`center`), a and b of the paper.
    ///
    /// # Errors
    /// `InvalidOption` unless b ≥ 0 and a > −½, where the map is a bijection; `NotFinite`.
    pub fn new(center: f64, a: f64, b: f64) -> Result<Self> {
        crate::error::ensure_finite("centre, a, b", &[center, a, b])?;
        let (grows, is_real) = (a > -0.5, b >= 0.0);
        ensure!(grows, InvalidOption, "a is {a}, but must be above −½: η would not grow with θ");
        ensure!(is_real, InvalidOption, "b is {b}, but must not be negative");
        Ok(Self { center, a, b })
    }

    /// η of θ.
    pub fn eta(&self, theta: f64) -> f64 {
        let d = theta - self.center;
        if d == 0.0 { 0.0 } else { (d * d + self.b).powf(self.a) * d }
    }

    /// dη/dθ = q^(a−1) ((1 + 2a) d² + b), with d = θ − θ̂ and q = d² + b.
    pub fn slope(&self, theta: f64) -> f64 {
        let d = theta - self.center;
        let q = d * d + self.b;
        q.powf(self.a - 1.0) * ((1.0 + 2.0 * self.a) * d * d + self.b)
    }

    /// d²η/dθ² = 2 d q^(a−2) ((a − 1)((1 + 2a) d² + b) + (1 + 2a) q).
    pub fn bend(&self, theta: f64) -> f64 {
        let d = theta - self.center;
        let q = d * d + self.b;
        let c = 1.0 + 2.0 * self.a;
        2.0 * d * q.powf(self.a - 2.0) * ((self.a - 1.0) * (c * d * d + self.b) + c * q)
    }

    /// θ of η.
    pub fn theta(&self, eta: f64) -> f64 {
        if eta == 0.0 || !eta.is_finite() {
            return if eta == 0.0 { self.center } else { eta };
        }
        // An odd function: the root of its positive side, kept between bounds.
        let size = eta.abs();
        let value = |d: f64| (d * d + self.b).powf(self.a) * d;
        let (mut low, mut high) = (0.0, 1.0);
        while value(high) < size && f64::is_finite(high) {
            (low, high) = (high, 2.0 * high);
        }
        let mut d = 0.5 * (low + high);
        for _ in 0..STEPS {
            let error = value(d) - size;
            if error > 0.0 {
                high = d;
            } else {
                low = d;
            }
            let newton = d - error / self.slope(self.center + d);
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if next == d || high - low <= f64::EPSILON * high {
                break;
            }
            d = next;
        }
        self.center + d.copysign(eta)
    }

    /// A loss at θ with dL/dθ and d²L/dθ², seen in η: L_η' = L'/η', L_η'' = (L'' − L' η''/η') / η'². At a critical point the second
    /// is L''/η'².
    pub fn point(&self, theta: f64, [loss, slope, curvature]: [f64; 3]) -> PowerPoint {
        let (first, second) = (self.slope(theta), self.bend(theta));
        let is_regular = first.is_finite() && first > 0.0 && second.is_finite();
        PowerPoint {
            theta,
            eta: self.eta(theta),
            loss,
            slope: is_regular.then(|| slope / first),
            curvature: is_regular.then(|| (curvature - slope * second / first) / (first * first)),
        }
    }

    /// The paper's figure: a loss, given as [L, L', L''] of θ, at these θ.
    pub fn curve(&self, thetas: &[f64], loss: impl Fn(f64) -> [f64; 3]) -> Vec<PowerPoint> {
        thetas.iter().map(|&theta| self.point(theta, loss(theta))).collect()
    }
}
