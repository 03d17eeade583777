//! What follows a step, elementwise.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2, PI};

use crate::network::{GeluApproximation, Layer};

/// An activation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Activation {
    /// z for z > 0, slope · z otherwise. Slope 1 is the identity, slope 0 the ReLU. Its derivative, read off its own
    /// value a: 1 where a > 0, the slope elsewhere. Runs of ReLU, leaky ReLU and identity fold into one of these.
    Piecewise {
        /// Slope on the negative side, ≥ 0.
        slope: f64,
    },
    /// One that curves, or has another kink: φ' and φ'' are kept beside its value.
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

    /// Are its derivatives kept beside its value?
    pub(super) fn is_smooth(self) -> bool {
        matches!(self, Self::Smooth(_))
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

/// An activation whose derivatives are kept beside its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Smooth {
    /// tanh z.
    Tanh,
    /// σ(z) = 1/(1 + e⁻ᶻ).
    Sigmoid,
    /// log(1 + eᶻ).
    Softplus,
    /// z σ(z).
    Silu,
    /// z Φ(z) with the normal distribution function Φ.
    Gelu,
    /// z σ(2u) with u = √(2/π)(z + 0.044715 z³), which is near z Φ(z).
    GeluTanh,
    /// min(max(z, 0), 6), which has no second derivative, but derivatives that a slope does not tell.
    Relu6,
}

impl Smooth {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Tanh, Self::Sigmoid, Self::Softplus, Self::Silu, Self::Gelu, Self::GeluTanh, Self::Relu6];

    fn of(layer: &Layer) -> Option<Self> {
        match layer {
            Layer::Tanh => Some(Self::Tanh),
            Layer::Sigmoid => Some(Self::Sigmoid),
            Layer::Softplus => Some(Self::Softplus),
            Layer::Silu => Some(Self::Silu),
            Layer::Gelu { approximate: GeluApproximation::None } => Some(Self::Gelu),
            Layer::Gelu { approximate: GeluApproximation::Tanh } => Some(Self::GeluTanh),
            Layer::Relu6 => Some(Self::Relu6),
            _ => None,
        }
    }

    /// Its number in `shaders/shared/smooth.wgsl`.
    pub(super) fn number(self) -> u32 {
        self as u32
    }

    /// φ(z).
    pub fn value(self, z: f64) -> f64 {
        match self {
            Self::Tanh => z.tanh(),
            _ => self.jet(z)[0],
        }
    }

    /// φ(z), φ'(z) and φ''(z), each to its last digits, also where φ is flat.
    pub fn jet(self, z: f64) -> [f64; 3] {
        match self {
            Self::Tanh => {
                // 1 − a² without the difference.
                let (a, [_, slope, _]) = (z.tanh(), sigmoid(2.0 * z));
                [a, 4.0 * slope, -8.0 * a * slope]
            }
            Self::Sigmoid => sigmoid(z),
            Self::Softplus => {
                let [first, second, _] = sigmoid(z);
                [z.max(0.0) + (-z.abs()).exp().ln_1p(), first, second]
            }
            Self::Silu => gated(z, [z, 1.0, 0.0]),
            Self::GeluTanh => {
                let (k, c) = (2.0 * (2.0 / PI).sqrt(), 0.044_715);
                gated(z, [k * (z + c * z * z * z), k * (1.0 + 3.0 * c * z * z), 6.0 * k * c * z])
            }
            Self::Gelu => {
                let below = 0.5 * libm::erfc(-z * FRAC_1_SQRT_2);
                let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
                [product(z, below), below + product(z, density), product(2.0 - z * z, density)]
            }
            Self::Relu6 => [z.clamp(0.0, 6.0), if z > 0.0 && z < 6.0 { 1.0 } else { 0.0 }, 0.0],
        }
    }

    /// The most that |φ(z)| is where |z| is at most `bound`.
    pub(super) fn largest(self, bound: f64) -> f64 {
        match self {
            Self::Tanh => bound.min(1.0),
            Self::Sigmoid => 1.0,
            Self::Softplus => bound + LN_2,
            Self::Silu | Self::Gelu | Self::GeluTanh => bound,
            Self::Relu6 => bound.min(6.0),
        }
    }

    /// Where φ' jumps.
    pub(crate) fn kinks(self) -> &'static [f64] {
        if self == Self::Relu6 { &[0.0, 6.0] } else { &[] }
    }
}

/// σ, σ' and σ'' = −tanh(w/2) σ'.
fn sigmoid(w: f64) -> [f64; 3] {
    let e = (-w.abs()).exp();
    let slope = e / (1.0 + e).powi(2);
    [if w < 0.0 { e } else { 1.0 } / (1.0 + e), slope, -(0.5 * w).tanh() * slope]
}

/// z σ(w) and its derivatives in z, for w, w' and w''.
fn gated(z: f64, [w, first, second]: [f64; 3]) -> [f64; 3] {
    let [s, slope, bend] = sigmoid(w);
    let along = product(first, slope);
    [
        product(z, s),
        s + product(z, along),
        2.0 * along + product(z, product(first * first, bend) + product(second, slope)),
    ]
}

/// A product that is 0 where one factor is, however large the other.
fn product(large: f64, small: f64) -> f64 {
    if small == 0.0 { 0.0 } else { large * small }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_agree_with_differences() {
        for smooth in Smooth::ALL {
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
        }
    }

    /// By 50 digits (mpmath): what differences would have lost.
    #[test]
    fn tails_keep_their_digits() {
        let cases = [
            (Smooth::Tanh, 12.0, [0.999_999_999_924_497_3, 1.510_053_817_597_626e-10, -3.020_107_634_967_225_7e-10]),
            (Smooth::Sigmoid, -30.0, [9.357_622_968_839_299e-14, 9.357_622_968_838_423e-14, 9.357_622_968_836_672e-14]),
            (
                Smooth::Softplus,
                -30.0,
                [9.357_622_968_839_737e-14, 9.357_622_968_839_299e-14, 9.357_622_968_838_423e-14],
            ),
            (
                Smooth::Silu,
                -30.0,
                [-2.807_286_890_651_789_7e-12, -2.713_710_660_963_134e-12, -2.620_134_431_274_233e-12],
            ),
            (
                Smooth::Gelu,
                -8.0,
                [-4.976_768_459_417_427e-15, -3.979_607_261_086_796e-14, -3.132_408_071_792_873_2e-13],
            ),
            (
                Smooth::GeluTanh,
                -4.0,
                [-7.024_594_819_237_269e-5, -3.351_231_971_226_707e-4, -1.474_059_663_765_336_5e-3],
            ),
        ];
        for (smooth, z, expected) in cases {
            for (found, expected) in smooth.jet(z).into_iter().zip(expected) {
                assert!((found / expected - 1.0).abs() < 1e-13, "{smooth:?} at {z}: {found:e}, {expected:e}");
            }
        }
    }

    #[test]
    fn values_without_end_are_none() {
        for smooth in Smooth::ALL {
            for z in [-1e300, -1e30, -800.0, 800.0, 1e30, 1e300] {
                assert!(smooth.jet(z).iter().all(|x| x.is_finite()), "{smooth:?} at {z}: {:?}", smooth.jet(z));
            }
        }
    }
}
