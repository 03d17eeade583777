//! Steps without weights on one block of N samples: what they give, their tangents and their transposes.

use super::aligned::Aligned;
use super::point::sized;
use super::pool::{self, Windows};
use super::real::Real;
use crate::engine::plan::{Operation, Read, Step};
use crate::error::Result;
use crate::memory::room;
use crate::network::Shape;

/// A step without weights, with its geometry.
pub enum Plain {
    MaxPool(Windows),
    AveragePool(Windows),
    Add,
    Channels(Channels),
    /// An image's values as channels of their own.
    Flatten(Shape),
    Copy,
}

/// Where the channels of what is read lie among those of what is given.
pub struct Channels {
    all: usize,
    /// Of each read: its first channel there, and how many it has.
    parts: Vec<[usize; 2]>,
}

impl Plain {
    /// Of a step whose reads find these shapes.
    ///
    /// # Errors
    /// `TooLarge` where its tables do not fit in memory.
    pub fn new(step: &Step, shape_of: impl Fn(&Read) -> Shape) -> Result<Self> {
        let all = step.output.channels;
        Ok(match step.operation {
            Operation::MaxPool => Self::MaxPool(Windows::new(step)?),
            Operation::AveragePool => Self::AveragePool(Windows::new(step)?),
            Operation::Add => Self::Add,
            Operation::Concat => {
                let mut parts = room("parts of a concatenation", step.reads.len())?;
                let mut first = 0;
                for read in &step.reads {
                    let channels = shape_of(read).channels;
                    parts.push([first, channels]);
                    first += channels;
                }
                Self::Channels(Channels { all, parts })
            }
            Operation::PadChannels { before } => {
                Self::Channels(Channels { all, parts: vec![[before, step.input.channels]] })
            }
            Operation::Flatten => Self::Flatten(step.input),
            Operation::Copy | Operation::Affine { .. } => Self::Copy,
        })
    }

    /// What it gives for what its reads find, and what it chose where it chooses.
    pub fn forward<'a, T: Real, const N: usize>(
        &self,
        reads: usize,
        read: impl Fn(usize) -> &'a [T],
        chosen: &mut Aligned<u32>,
        out: &mut [T],
    ) -> Result<()> {
        match self {
            Self::MaxPool(windows) => pool::max::<T, N>(windows, read(0), out, sized(chosen, out.len())?),
            _ => self.linear::<T, N>(reads, |k| Some(read(k)), out),
        }
        Ok(())
    }

    /// The tangent of what it gives, from those of what its reads find; `None` of what has none.
    pub fn tangent<'a, T: Real, const N: usize>(
        &self,
        reads: usize,
        read: impl Fn(usize) -> Option<&'a [T]>,
        chosen: &[u32],
        out: &mut [T],
    ) {
        match self {
            Self::MaxPool(_) => match read(0) {
                Some(x) => pool::max_tangent(x, chosen, out),
                None => out.fill(T::ZERO),
            },
            _ => self.linear::<T, N>(reads, read, out),
        }
    }

    fn linear<'a, T: Real, const N: usize>(
        &self,
        reads: usize,
        read: impl Fn(usize) -> Option<&'a [T]>,
        out: &mut [T],
    ) {
        match self {
            Self::Add => {
                out.fill(T::ZERO);
                for x in (0..reads).filter_map(read) {
                    out.iter_mut().zip(x).for_each(|(out, &x)| *out += x);
                }
            }
            Self::Channels(Channels { all, parts }) => {
                out.fill(T::ZERO);
                for (k, &[first, count]) in parts.iter().enumerate() {
                    let Some(x) = read(k) else { continue };
                    for (out, x) in out.chunks_exact_mut(all * N).zip(x.chunks_exact(count * N)) {
                        out[first * N..][..count * N].copy_from_slice(x);
                    }
                }
            }
            _ => match (self, read(0)) {
                (_, None) => out.fill(T::ZERO),
                (Self::AveragePool(windows), Some(x)) => pool::average::<T, N>(windows, x, out),
                (Self::Flatten(shape), Some(x)) => {
                    let (x, out) = (x.as_chunks::<N>().0, out.as_chunks_mut::<N>().0);
                    for (c, out) in out.chunks_exact_mut(shape.area()).enumerate() {
                        out.iter_mut().zip(x[c..].iter().step_by(shape.channels)).for_each(|(out, x)| *out = *x);
                    }
                }
                (_, Some(x)) => out.copy_from_slice(x),
            },
        }
    }

    /// The cotangent of what read k finds, from that of what it gives: the transpose of [`Self::tangent`].
    pub fn transpose<T: Real, const N: usize>(&self, k: usize, d: &[T], chosen: &[u32], out: &mut [T]) {
        match self {
            Self::MaxPool(_) => pool::max_backward(d, chosen, out),
            Self::AveragePool(windows) => pool::average_backward::<T, N>(windows, d, out),
            Self::Channels(Channels { all, parts }) => {
                let [first, count] = parts[k];
                for (out, d) in out.chunks_exact_mut(count * N).zip(d.chunks_exact(all * N)) {
                    out.copy_from_slice(&d[first * N..][..count * N]);
                }
            }
            Self::Flatten(shape) => {
                let (d, out) = (d.as_chunks::<N>().0, out.as_chunks_mut::<N>().0);
                for (c, d) in d.chunks_exact(shape.area()).enumerate() {
                    out[c..].iter_mut().step_by(shape.channels).zip(d).for_each(|(out, d)| *out = *d);
                }
            }
            Self::Add | Self::Copy => out.copy_from_slice(d),
        }
    }
}
