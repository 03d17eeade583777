//! Pools over one block of N samples, (H, W, C, N).

use super::real::Real;
use crate::engine::plan::Step;
use crate::error::Result;
use crate::memory::collected;

/// A pool's windows over its input.
pub struct Windows {
    channels: usize,
    /// The input pixel at the top left of each output pixel's window.
    corners: Vec<usize>,
    /// From there to each of the window's pixels, row by row.
    offsets: Vec<usize>,
}

impl Windows {
    /// # Errors
    /// `TooLarge` where they do not fit in memory.
    pub fn new(step: &Step) -> Result<Self> {
        let ([height, width], [sy, sx], row) = (step.window.size, step.window.stride, step.input.width);
        let output = step.output;
        let corner = |i: usize| i / output.width * sy * row + i % output.width * sx;
        Ok(Self {
            channels: step.input.channels,
            corners: collected("windows of a pool", (0..output.area()).map(corner))?,
            offsets: collected("places in a window", (0..height * width).map(|i| i / width * row + i % width))?,
        })
    }
}

/// Largest of each window, and which element of the block's input it is.
pub fn max<T: Real, const N: usize>(windows: &Windows, x: &[T], out: &mut [T], argmax: &mut [u32]) {
    let Windows { channels, corners, offsets } = windows;
    let out = out.as_chunks_mut::<N>().0.chunks_exact_mut(*channels);
    let argmax = argmax.as_chunks_mut::<N>().0.chunks_exact_mut(*channels);
    let x = x.as_chunks::<N>().0;
    for ((corner, out), argmax) in corners.iter().zip(out).zip(argmax) {
        for (c, (best, place)) in out.iter_mut().zip(argmax).enumerate() {
            let first = corner * channels + c;
            *best = x[first];
            *place = std::array::from_fn(|n| (first * N + n) as u32);
            for offset in &offsets[1..] {
                let at = (corner + offset) * channels + c;
                for n in 0..N {
                    // Strictly larger: the first of equals stays.
                    if x[at][n] > best[n] {
                        best[n] = x[at][n];
                        place[n] = (at * N + n) as u32;
                    }
                }
            }
        }
    }
}

/// The tangent of a max pool: what lies at the argmax.
pub fn max_tangent<T: Real>(x: &[T], argmax: &[u32], out: &mut [T]) {
    for (out, &place) in out.iter_mut().zip(argmax) {
        *out = x[place as usize];
    }
}

/// The transpose of [`max_tangent`].
pub fn max_backward<T: Real>(d: &[T], argmax: &[u32], out: &mut [T]) {
    out.fill(T::ZERO);
    for (&d, &place) in d.iter().zip(argmax) {
        out[place as usize] += d;
    }
}

/// Mean of each window; its own tangent.
pub fn average<T: Real, const N: usize>(windows: &Windows, x: &[T], out: &mut [T]) {
    let Windows { channels, corners, offsets } = windows;
    let share = T::from_f64(1.0 / offsets.len() as f64);
    let x = x.as_chunks::<N>().0;
    for (corner, out) in corners.iter().zip(out.as_chunks_mut::<N>().0.chunks_exact_mut(*channels)) {
        for (c, out) in out.iter_mut().enumerate() {
            let mut sums = [T::ZERO; N];
            for offset in offsets {
                let x = &x[(corner + offset) * channels + c];
                for n in 0..N {
                    sums[n] += x[n];
                }
            }
            *out = sums.map(|sum| sum * share);
        }
    }
}

/// The transpose of [`average`].
pub fn average_backward<T: Real, const N: usize>(windows: &Windows, d: &[T], out: &mut [T]) {
    let Windows { channels, corners, offsets } = windows;
    let share = T::from_f64(1.0 / offsets.len() as f64);
    out.fill(T::ZERO);
    let out = out.as_chunks_mut::<N>().0;
    for (corner, d) in corners.iter().zip(d.as_chunks::<N>().0.chunks_exact(*channels)) {
        for (c, d) in d.iter().enumerate() {
            for offset in offsets {
                let out = &mut out[(corner + offset) * channels + c];
                for n in 0..N {
                    out[n] += d[n] * share;
                }
            }
        }
    }
}
