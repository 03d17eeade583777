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

/// Columns that go through an inner product together: each has eight sums, and WebAssembly 16 registers of two.
const INNER: usize = 2;

/// out[s + k S] = Σ_{i in s} a_i x_{i,k}.
pub fn segment_inner<T: Real>(segments: &Segments, a: &[T], x: &[T], out: &mut [T]) {
    let (len, count) = (a.len().max(1), segments.count());
    for (x, out) in x.chunks(INNER * len).zip(out.chunks_mut(INNER * count)) {
        let mut columns = x.chunks_exact(len);
        match [columns.next(), columns.next()] {
            [Some(first), Some(second)] => {
                let (out, other) = out.split_at_mut(count);
                for ((range, out), other) in segments.ranges().zip(out).zip(other) {
                    let [a, first, second] = [a, first, second].map(|x| &x[range.clone()]);
                    [*out, *other] = dots(a, [first, second]).map(T::from_f64);
                }
            }
            [column, _] => {
                for (range, out) in segments.ranges().zip(out) {
                    *out = T::from_f64(column.map_or(0.0, |column| dot(&a[range.clone()], &column[range])));
                }
            }
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
    // In blocks, so that a piece of y stays in the cache while all of q's columns are added to it, and four columns at a time, so that
    // it is loaded and stored once for them.
    const BLOCK: usize = 16384;
    const TOGETHER: usize = 4;
    let len = y.len();
    let (groups, rest) = c.as_chunks::<TOGETHER>();
    for (b, y) in y.chunks_mut(BLOCK).enumerate() {
        let size = y.len();
        let column = |j: usize| &q[j * len + b * BLOCK..][..size];
        for (g, c) in groups.iter().enumerate() {
            let columns = std::array::from_fn(|k| column(TOGETHER * g + k));
            add_columns(c.map(|c| alpha * c), columns, y);
        }
        for (j, &c) in rest.iter().enumerate() {
            add_columns([alpha * c], [column(TOGETHER * groups.len() + j)], y);
        }
    }
}

/// y += Σ_k factors[k] columns[k], one after the other.
fn add_columns<T: Real, const N: usize>(factors: [T; N], columns: [&[T]; N], y: &mut [T]) {
    let columns = columns.map(|column| &column[..y.len()]);
    for (i, y) in y.iter_mut().enumerate() {
        let mut sum = *y;
        for k in 0..N {
            sum += factors[k] * columns[k][i];
        }
        *y = sum;
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
    let [sum] = dots(a, [b]);
    sum
}

/// The same of a with each b: to the same bits, and a is loaded once.
fn dots<A: Real, B: Real, const N: usize>(a: &[A], b: [&[B]; N]) -> [f64; N] {
    let mut lanes = [[0.0f64; 8]; N];
    let (a_blocks, a_rest) = a.as_chunks::<8>();
    let blocks = b.map(|b| &b.as_chunks::<8>().0[..a_blocks.len()]);
    for (i, x) in a_blocks.iter().enumerate() {
        for k in 0..N {
            let y = &blocks[k][i];
            for lane in 0..8 {
                lanes[k][lane] += x[lane].to_f64() * y[lane].to_f64();
            }
        }
    }
    std::array::from_fn(|k| {
        let rest: f64 = a_rest.iter().zip(&b[k][8 * a_blocks.len()..]).map(|(x, y)| x.to_f64() * y.to_f64()).sum();
        let [a, b, c, d, e, f, g, h] = lanes[k];
        ((a + b) + (c + d)) + ((e + f) + (g + h)) + rest
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Preset;
    use crate::random::{generator, random_normal};

    const COLUMNS: usize = 11;

    fn random(len: usize, seed: u64) -> Vec<f64> {
        random_normal(len, &mut generator(seed)).expect("room for so many numbers")
    }

    /// Columns go through together for speed alone.
    #[test]
    fn columns_together_are_those_of_one_at_a_time() {
        // Of more than a block, with segments of no whole number of lanes.
        let network = Preset::Small.network();
        let segments = Segments::blocks(network.layout());
        let len = segments.len();
        let (q, c, start) = (random(len * COLUMNS, 1), random(COLUMNS, 2), random(len, 3));
        let (mut together, mut apart) = (start.clone(), start.clone());
        combine(-0.7, &q, &c, &mut together);
        for (column, c) in q.chunks_exact(len).zip(&c) {
            axpy(-0.7 * c, column, &mut apart);
        }
        assert_eq!(together, apart);

        let mut together = vec![0.0; segments.count() * COLUMNS];
        segment_inner(&segments, &start, &q, &mut together);
        let apart = q.chunks_exact(len).flat_map(|column| {
            segments.ranges().map(|range| dot(&start[range.clone()], &column[range])).collect::<Vec<_>>()
        });
        assert_eq!(together, apart.collect::<Vec<_>>());
    }
}
