//! Pools over one block of N samples, (H, W, C, N).

use super::real::Real;
use crate::engine::plan::Step;
use crate::error::Result;
use crate::memory::{product, room};

/// A pool's windows over its input.
pub struct Windows {
    channels: usize,
    /// The pixels of each window one after the other, row by row, without those of the padding.
    pixels: Vec<u32>,
    /// Where each window's end.
    ends: Vec<usize>,
    /// What a mean divides by: padding counts.
    area: usize,
}

impl Windows {
    /// # Errors
    /// `TooLarge` where they do not fit in memory.
    pub fn new(step: &Step) -> Result<Self> {
        const WHAT: &str = "windows of a pool";
        let (window, input, output) = (step.window, step.input, step.output);
        let most = product::<u32>(WHAT, &[output.area(), window.area()])?;
        let (mut pixels, mut ends) = (room(WHAT, most)?, room(WHAT, output.area())?);
        // What part of a window is inside, along an axis.
        let inside = |axis: usize, place: usize, length: usize| {
            let start = place * window.stride[axis];
            let before = window.padding.before[axis];
            start.saturating_sub(before)..(start + window.size[axis]).saturating_sub(before).min(length)
        };
        for y in 0..output.height {
            for x in 0..output.width {
                for row in inside(0, y, input.height) {
                    pixels.extend(inside(1, x, input.width).map(|column| (row * input.width + column) as u32));
                }
                ends.push(pixels.len());
            }
        }
        Ok(Self { channels: input.channels, pixels, ends, area: window.area() })
    }

    /// The pixels of every window.
    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.pixels[start..end])
    }
}

/// Largest of each window, and which element of the block's input it is.
pub fn max<T: Real, const N: usize>(windows: &Windows, x: &[T], out: &mut [T], argmax: &mut [u32]) {
    let channels = windows.channels;
    let out = out.as_chunks_mut::<N>().0.chunks_exact_mut(channels);
    let argmax = argmax.as_chunks_mut::<N>().0.chunks_exact_mut(channels);
    let x = x.as_chunks::<N>().0;
    for ((pixels, out), argmax) in windows.iter().zip(out).zip(argmax) {
        for (c, (out, argmax)) in out.iter_mut().zip(argmax).enumerate() {
            // In variables of its own and without branches, which the compiler makes vectors of.
            let first = pixels[0] as usize * channels + c;
            let (mut best, mut row) = (x[first], [first as u32; N]);
            for &pixel in &pixels[1..] {
                let at = pixel as usize * channels + c;
                let next = &x[at];
                for n in 0..N {
                    // Strictly larger: the first of equals stays.
                    let is_larger = next[n] > best[n];
                    row[n] = if is_larger { at as u32 } else { row[n] };
                    best[n] = if is_larger { next[n] } else { best[n] };
                }
            }
            *out = best;
            for n in 0..N {
                argmax[n] = row[n] * N as u32 + n as u32;
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
    let channels = windows.channels;
    let share = T::from_f64(1.0 / windows.area as f64);
    let x = x.as_chunks::<N>().0;
    for (pixels, out) in windows.iter().zip(out.as_chunks_mut::<N>().0.chunks_exact_mut(channels)) {
        for (c, out) in out.iter_mut().enumerate() {
            let mut sums = [T::ZERO; N];
            for &pixel in pixels {
                let x = &x[pixel as usize * channels + c];
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
    let channels = windows.channels;
    let share = T::from_f64(1.0 / windows.area as f64);
    out.fill(T::ZERO);
    let out = out.as_chunks_mut::<N>().0;
    for (pixels, d) in windows.iter().zip(d.as_chunks::<N>().0.chunks_exact(channels)) {
        for (c, d) in d.iter().enumerate() {
            for &pixel in pixels {
                let out = &mut out[pixel as usize * channels + c];
                for n in 0..N {
                    out[n] += d[n] * share;
                }
            }
        }
    }
}
