//! Pools over one block of N samples, (H, W, C, N).

use super::real::Real;
use crate::engine::plan::Step;
use crate::error::Result;
use crate::memory::collected;

/// The input pixel at the top left of output pixel (y, x)'s window, and steps from there to each of its pixels, row by row.
fn windows(step: &Step) -> Result<(impl Iterator<Item = usize>, Vec<usize>)> {
    let ([height, width], [sy, sx], row) = (step.window.size, step.window.stride, step.input.width);
    let offsets = collected("places in a window", (0..height * width).map(|i| i / width * row + i % width))?;
    let output = step.output;
    let corners = (0..output.area()).map(move |i| i / output.width * sy * row + i % output.width * sx);
    Ok((corners, offsets))
}

/// Largest of each window, and which element of the block's input it is.
pub fn max<T: Real, const N: usize>(step: &Step, x: &[T], out: &mut [T], argmax: &mut [u32]) -> Result<()> {
    let channels = step.input.channels;
    let (corners, offsets) = windows(step)?;
    let out = out.as_chunks_mut::<N>().0.chunks_exact_mut(channels);
    let argmax = argmax.as_chunks_mut::<N>().0.chunks_exact_mut(channels);
    let x = x.as_chunks::<N>().0;
    for ((corner, out), argmax) in corners.zip(out).zip(argmax) {
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
    Ok(())
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
pub fn average<T: Real, const N: usize>(step: &Step, x: &[T], out: &mut [T]) -> Result<()> {
    let channels = step.input.channels;
    let (corners, offsets) = windows(step)?;
    let share = T::from_f64(1.0 / offsets.len() as f64);
    let x = x.as_chunks::<N>().0;
    for (corner, out) in corners.zip(out.as_chunks_mut::<N>().0.chunks_exact_mut(channels)) {
        for (c, out) in out.iter_mut().enumerate() {
            let mut sums = [T::ZERO; N];
            for offset in &offsets {
                let x = &x[(corner + offset) * channels + c];
                for n in 0..N {
                    sums[n] += x[n];
                }
            }
            *out = sums.map(|sum| sum * share);
        }
    }
    Ok(())
}

/// The transpose of [`average`].
pub fn average_backward<T: Real, const N: usize>(step: &Step, d: &[T], out: &mut [T]) -> Result<()> {
    let channels = step.input.channels;
    let (corners, offsets) = windows(step)?;
    let share = T::from_f64(1.0 / offsets.len() as f64);
    out.fill(T::ZERO);
    let out = out.as_chunks_mut::<N>().0;
    for (corner, d) in corners.zip(d.as_chunks::<N>().0.chunks_exact(channels)) {
        for (c, d) in d.iter().enumerate() {
            for offset in &offsets {
                let out = &mut out[(corner + offset) * channels + c];
                for n in 0..N {
                    out[n] += d[n] * share;
                }
            }
        }
    }
    Ok(())
}
