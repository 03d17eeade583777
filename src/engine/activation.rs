//! What follows a step, elementwise.

use crate::network::Layer;

/// An activation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Activation {
    /// z for z > 0, slope · z otherwise. Slope 1 is the identity, slope 0 the ReLU. Its derivative, read off its own
    /// value a: 1 where a > 0, the slope elsewhere. Runs of ReLU, leaky ReLU and identity fold into one of these.
    Piecewise {
        /// Slope on the negative side, ≥ 0.
        slope: f64,
    },
    /// One that curves: φ' and φ'' are kept beside its value.
    Smooth(Smooth),
}

impl Activation {
    /// No activation.
    pub const IDENTITY: Self = Self::Piecewise { slope: 1.0 };

    /// A layer's.
    pub fn of(layer: &Layer) -> Option<Self> {
        match layer {
            Layer::Relu => Some(Self::Piecewise { slope: 0.0 }),
            Layer::LeakyRelu { slope } => Some(Self::Piecewise { slope: *slope }),
            _ => Smooth::of(layer).map(Self::Smooth),
        }
    }

    /// This one and then another, if they fold into one.
    pub(super) fn then(self, next: Self) -> Option<Self> {
        match (self, next) {
            (Self::Piecewise { slope: 1.0 }, next) => Some(next),
            (Self::Piecewise { slope: before }, Self::Piecewise { slope }) => {
                Some(Self::Piecewise { slope: before * slope })
            }
            _ => None,
        }
    }
}

/// An activation with a second derivative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Smooth {
    /// tanh z.
    Tanh,
}

impl Smooth {
    fn of(layer: &Layer) -> Option<Self> {
        match layer {
            Layer::Tanh => Some(Self::Tanh),
            _ => None,
        }
    }

    /// Its number in `shaders/shared/smooth.wgsl`.
    pub(super) fn number(self) -> u32 {
        match self {
            Self::Tanh => 0,
        }
    }

    /// φ(z).
    pub fn value(self, z: f64) -> f64 {
        match self {
            Self::Tanh => z.tanh(),
        }
    }

    /// φ(z), φ'(z) and φ''(z), each to its last digits, also where φ is flat.
    pub fn jet(self, z: f64) -> [f64; 3] {
        match self {
            Self::Tanh => {
                let a = z.tanh();
                // 1 − a² without the difference.
                let e = (-2.0 * z.abs()).exp();
                let slope = 4.0 * e / (1.0 + e).powi(2);
                [a, slope, -2.0 * a * slope]
            }
        }
    }

    /// The most that |φ(z)| is where |z| is at most `bound`.
    pub(super) fn largest(self, bound: f64) -> f64 {
        match self {
            Self::Tanh => bound.min(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_agree_with_differences() {
        for smooth in [Smooth::Tanh] {
            for i in -40..=40 {
                let (z, h) = (0.25 * f64::from(i) + 0.01, 1e-5);
                let [a, first, second] = smooth.jet(z);
                assert!((a - smooth.value(z)).abs() <= 4.0 * f64::EPSILON * a.abs(), "{smooth:?} at {z}");
                let (before, after) = (smooth.jet(z - h), smooth.jet(z + h));
                for (order, derivative) in [(0, first), (1, second)] {
                    let difference = (after[order] - before[order]) / (2.0 * h);
                    let allowed = 1e-9 * (1.0 + derivative.abs());
                    assert!((difference - derivative).abs() < allowed, "{smooth:?}, order {order} at {z}");
                }
            }
            // Where 1 − a² has no digit left.
            let far = smooth.jet(25.0);
            assert!(far[1] > 0.0 && far[2] < 0.0, "{smooth:?}: {far:?}");
        }
    }
}
