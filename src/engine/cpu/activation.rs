//! Activations and their derivatives, read off the activation's own value. Twin of `shaders/activation/`.

use super::real::Real;
use crate::engine::plan::Activation;

/// a = φ(z) in place.
pub fn apply<T: Real>(activation: Activation, values: &mut [T]) {
    match activation {
        Activation::IDENTITY => {}
        Activation::Piecewise { slope } => {
            let slope = T::from_f64(slope);
            for v in values {
                *v = if *v > T::ZERO { *v } else { slope * *v };
            }
        }
        Activation::Tanh => values.iter_mut().for_each(|v| *v = v.tanh()),
    }
}

/// x ← φ'(z) ⊙ x, from a = φ(z). `x` may hold several times as many rows as `a` (K directions).
pub fn multiply_derivative<T: Real>(activation: Activation, a: &[T], x: &mut [T]) {
    match activation {
        Activation::IDENTITY => {}
        Activation::Piecewise { slope } => {
            let slope = T::from_f64(slope);
            for x in x.chunks_exact_mut(a.len()) {
                for (x, &a) in x.iter_mut().zip(a) {
                    // Multiplying keeps the loop free of branches and −0 away from where NaN could hide.
                    *x *= if a > T::ZERO { T::ONE } else { slope };
                }
            }
        }
        Activation::Tanh => {
            for x in x.chunks_exact_mut(a.len()) {
                for (x, &a) in x.iter_mut().zip(a) {
                    *x *= T::ONE - a * a;
                }
            }
        }
    }
}

/// For tanh, c = −2 a ⊙ q with q = Wᵀδ: the Hessian's tangent backward pass adds c ⊙ ȧ, since φ'' ż = −2 a φ' ż = −2 a ȧ.
/// Piecewise linear activations have none: their φ'' is 0.
pub fn curvature<T: Real>(a: &[T], q: &[T], out: &mut [T]) {
    let two = T::ONE + T::ONE;
    for ((out, &a), &q) in out.iter_mut().zip(a).zip(q) {
        *out = -(two * a * q);
    }
}
