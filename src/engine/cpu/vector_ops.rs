//! Vector kernels. Twins of `shaders/vector/`.

use super::super::vector::{AdamStep, Segments};
use super::real::Real;
use crate::numbers::{self, SAFE};

/// y += alpha x, x broadcast over the columns of y if it is shorter.
pub fn axpy<T: Real>(alpha: f64, x: &[T], y: &mut [T]) {
    let alpha = T::from_f64(alpha);
    for y in y.chunks_exact_mut(x.len().max(1)) {
        for (y, &x) in y.iter_mut().zip(x) {
            *y += alpha * x;
        }
    }
}

/// y = beta y + alpha d ⊙ x.
pub fn multiply_add<T: Real>(alpha: f64, d: &[T], x: &[T], beta: f64, y: &mut [T]) {
    let (alpha, is_set, beta) = (T::from_f64(alpha), beta == 0.0, T::from_f64(beta));
    for (y, x) in y.chunks_exact_mut(d.len().max(1)).zip(x.chunks_exact(d.len().max(1))) {
        for ((y, &x), &d) in y.iter_mut().zip(x).zip(d) {
            *y = if is_set { alpha * d * x } else { beta * *y + alpha * d * x };
        }
    }
}

/// out[s + k S] = Σ_{i in s} a_i x_{i,k}.
pub fn segment_inner<T: Real>(segments: &Segments, a: &[T], x: &[T], out: &mut [T]) {
    for (x, out) in x.chunks_exact(a.len().max(1)).zip(out.chunks_exact_mut(segments.count())) {
        for (range, out) in segments.ranges().zip(out) {
            *out = T::from_f64(dot(&a[range.clone()], &x[range]));
        }
    }
}

/// y[i, k] += c[s(i) + k S] a[i].
pub fn segment_axpy<T: Real>(segments: &Segments, coefficients: &[T], a: &[T], y: &mut [T]) {
    for (y, c) in y.chunks_exact_mut(a.len().max(1)).zip(coefficients.chunks_exact(segments.count())) {
        for (range, &c) in segments.ranges().zip(c) {
            for (y, &a) in y[range.clone()].iter_mut().zip(&a[range]) {
                *y += c * a;
            }
        }
    }
}

/// y += alpha Σ_j c[j] q[:, j] for one column y.
pub fn combine<T: Real>(alpha: f64, q: &[T], c: &[T], y: &mut [T]) {
    let alpha = T::from_f64(alpha);
    // In blocks, so that a piece of y stays in the cache while all of q's columns are added to it.
    const BLOCK: usize = 2048;
    let len = y.len();
    for (b, y) in y.chunks_mut(BLOCK).enumerate() {
        for (column, &c) in q.chunks_exact(len).zip(c) {
            let factor = alpha * c;
            for (y, &q) in y.iter_mut().zip(&column[b * BLOCK..]) {
                *y += factor * q;
            }
        }
    }
}

/// out = x / ‖x‖ (zeros if the norm is 0, NaN if x is not finite); returns the norm. Where squares of x would overflow or vanish, x is
/// scaled by a power of two before.
pub fn normalize<T: Real>(x: &[T], out: &mut [T]) -> T {
    let square = dot(x, x);
    if SAFE.contains(&square) {
        let norm = square.sqrt();
        let inverse = 1.0 / norm;
        for (out, &x) in out.iter_mut().zip(x) {
            *out = T::from_f64(x.to_f64() * inverse);
        }
        return T::from_f64(norm);
    }
    let largest = numbers::largest(x.iter().map(|x| x.to_f64()));
    if largest == 0.0 || !largest.is_finite() {
        out.fill(T::from_f64(if largest == 0.0 { 0.0 } else { f64::NAN }));
        return T::from_f64(largest);
    }
    let unit = numbers::power_near(largest);
    let scaled: Vec<f64> = x.iter().map(|x| x.to_f64() / unit).collect();
    let norm = dot(&scaled, &scaled).sqrt();
    for (out, x) in out.iter_mut().zip(scaled) {
        *out = T::from_f64(x / norm);
    }
    T::from_f64(norm * unit)
}

/// One step of Adam.
pub fn adam<T: Real>(step: &AdamStep, gradient: &[T], mean: &mut [T], square: &mut [T], theta: &mut [T]) {
    let rate = step.learning_rate * (1.0 - step.beta2.powi(step.step)).sqrt() / (1.0 - step.beta1.powi(step.step));
    // ε̂ = ε √(1 − β₂ᵗ): with it, θ −= rate · m / (√v + ε̂) is the paper's bias-corrected step exactly.
    let epsilon = step.epsilon * (1.0 - step.beta2.powi(step.step)).sqrt();
    for (((&g, m), v), theta) in gradient.iter().zip(mean).zip(square).zip(theta) {
        let g = g.to_f64();
        let new_mean = step.beta1 * m.to_f64() + (1.0 - step.beta1) * g;
        let new_square = step.beta2 * v.to_f64() + (1.0 - step.beta2) * g * g;
        (*m, *v) = (T::from_f64(new_mean), T::from_f64(new_square));
        *theta = T::from_f64(theta.to_f64() - rate * new_mean / (new_square.sqrt() + epsilon));
    }
}

/// Σ a_i b_i in eight double-precision lanes, added in a fixed order.
pub fn dot<A: Real, B: Real>(a: &[A], b: &[B]) -> f64 {
    let mut lanes = [0.0f64; 8];
    let (a_blocks, a_rest) = a.as_chunks::<8>();
    let (b_blocks, b_rest) = b.as_chunks::<8>();
    for (x, y) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..8 {
            lanes[lane] += x[lane].to_f64() * y[lane].to_f64();
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x.to_f64() * y.to_f64()).sum();
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + b) + (c + d)) + ((e + f) + (g + h)) + rest
}
