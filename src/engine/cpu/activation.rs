//! Activations and their derivatives on one block. Twin of `shaders/activation/` and of the epilogues.

use super::aligned::Aligned;
use super::point::sized;
use super::real::Real;
use crate::engine::activation::{Activation, Smooth};
use crate::error::Result;

/// What a step's smooth activation leaves behind for passes that need derivatives; empty for others.
#[derive(Default)]
pub struct Curve<T> {
    /// φ'(z).
    pub slopes: Aligned<T>,
    /// φ''(z), and after the backward pass φ''(z) ⊙ q with the q that is pulled back to the activation: a product's tangent adds
    /// that times ż.
    pub bends: Aligned<T>,
}

impl<T: Real> Curve<T> {
    /// a = φ(z) in place, with what is kept of it.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn apply(&mut self, smooth: Smooth, values: &mut [T]) -> Result<()> {
        let (slopes, bends) = (sized(&mut self.slopes, values.len())?, sized(&mut self.bends, values.len())?);
        for ((value, slope), bend) in values.iter_mut().zip(slopes).zip(bends) {
            [*value, *slope, *bend] = smooth.jet(value.to_f64()).map(T::from_f64);
        }
        Ok(())
    }

    /// What is pulled back to the activation joins φ''.
    pub fn bend(&mut self, q: &[T]) {
        self.bends.iter_mut().zip(q).for_each(|(bend, &q)| *bend *= q);
    }
}

/// What a step's results go through before they leave the cache: memory is passed once.
#[derive(Clone, Copy)]
pub enum Finish<'a, T> {
    /// Nothing.
    Nothing,
    /// φ of this slope at the left of 0.
    Activation { slope: T },
    /// Times φ', of this slope at the left of 0; a = φ(z) lies as the results do.
    Derivative { slope: T, a: &'a [T] },
}

impl<'a, T: Real> Finish<'a, T> {
    /// φ, as far as it can be applied at once.
    pub fn activation(activation: Activation) -> Self {
        match activation {
            Activation::IDENTITY | Activation::Smooth(_) => Self::Nothing,
            Activation::Piecewise { slope } => Self::Activation { slope: T::from_f64(slope) },
        }
    }

    /// Times φ' likewise, from a = φ(z).
    pub fn derivative(activation: Activation, a: &'a [T]) -> Self {
        match activation {
            Activation::IDENTITY | Activation::Smooth(_) => Self::Nothing,
            Activation::Piecewise { slope } => Self::Derivative { slope: T::from_f64(slope), a },
        }
    }

    /// Results that begin at this place among all.
    #[inline(always)]
    pub fn apply(&self, at: usize, values: &mut [T]) {
        match *self {
            Self::Nothing => {}
            Self::Activation { slope } => {
                for v in values {
                    *v = if *v > T::ZERO { *v } else { slope * *v };
                }
            }
            Self::Derivative { slope, a } => {
                let a = &a[at..][..values.len()];
                for (x, &a) in values.iter_mut().zip(a) {
                    // Multiplying keeps the loop free of branches and −0 away from where NaN could hide.
                    *x *= if a > T::ZERO { T::ONE } else { slope };
                }
            }
        }
    }
}

/// a = φ(z) in place.
pub fn apply<T: Real>(activation: Activation, values: &mut [T]) {
    match activation {
        Activation::Piecewise { .. } => Finish::activation(activation).apply(0, values),
        Activation::Smooth(smooth) => values.iter_mut().for_each(|v| *v = T::from_f64(smooth.value(v.to_f64()))),
    }
}

/// x ← φ'(z) ⊙ x, from a = φ(z) or from what is kept of a smooth one.
pub fn multiply_derivative<T: Real>(activation: Activation, a: &[T], curve: &Curve<T>, x: &mut [T]) {
    match activation {
        Activation::Piecewise { .. } => Finish::derivative(activation, a).apply(0, x),
        Activation::Smooth(_) => x.iter_mut().zip(&*curve.slopes).for_each(|(x, &slope)| *x *= slope),
    }
}
