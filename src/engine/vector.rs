//! Vectors on a device, opaque to everything but the executor that made them.

use std::ops::Range;

use super::executor::Precision;
use super::gpu::GpuVector;
use crate::error::{Result, bail};
use crate::memory::collected;
use crate::network::Layout;

/// What is said of a vector that another device's executor made.
pub(in crate::engine) const ELSEWHERE: &str = "this vector lives on another device than the engine it was given to";

/// A dense vector with `columns` columns of length `len`, on the device of the executor that made it.
pub struct Vector {
    pub(super) len: usize,
    pub(super) columns: usize,
    pub(super) storage: Storage,
}

/// Where the values are.
pub(in crate::engine) enum Storage {
    F64(Vec<f64>),
    F32(Vec<f32>),
    Gpu(GpuVector),
}

impl Vector {
    /// Length of a column.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Length 0?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The values of a CPU executor's vector as they lie in memory.
    pub(in crate::engine) fn bytes(&self) -> Result<&[u8]> {
        match &self.storage {
            Storage::F64(values) => Ok(bytemuck::cast_slice(values)),
            Storage::F32(values) => Ok(bytemuck::cast_slice(values)),
            Storage::Gpu(_) => bail!(InvalidParameters, "{ELSEWHERE}"),
        }
    }

    /// A CPU executor's vector from [`Vector::bytes`].
    ///
    /// # Errors
    /// `TooLarge`.
    pub(in crate::engine) fn from_bytes(precision: Precision, bytes: &[u8], columns: usize) -> Result<Self> {
        const WHAT: &str = "a vector from another thread";
        let (len, storage) = match precision {
            Precision::F64 => {
                let values = bytes.as_chunks::<8>().0.iter().map(|&bytes| f64::from_ne_bytes(bytes));
                (bytes.len() / 8, Storage::F64(collected(WHAT, values)?))
            }
            Precision::F32 => {
                let values = bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_ne_bytes(bytes));
                (bytes.len() / 4, Storage::F32(collected(WHAT, values)?))
            }
        };
        Ok(Self { len: len / columns.max(1), columns, storage })
    }

    /// Writes values into a CPU executor's vector, from place `at` on.
    pub(in crate::engine) fn set(&mut self, at: usize, values: &[f64]) -> Result<()> {
        match &mut self.storage {
            Storage::F64(all) => all[at..][..values.len()].copy_from_slice(values),
            Storage::F32(all) => all[at..].iter_mut().zip(values).for_each(|(to, &value)| *to = value as f32),
            Storage::Gpu(_) => bail!(InvalidParameters, "{ELSEWHERE}"),
        }
        Ok(())
    }
}

/// Disjoint, ascending ranges that cover a vector without gaps: its blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segments {
    ends: Vec<usize>,
}

impl Segments {
    /// One segment over the whole length.
    pub fn whole(len: usize) -> Self {
        Self { ends: vec![len] }
    }

    /// A segment for every W_l and every b_l.
    pub fn blocks(layout: &Layout) -> Self {
        Self { ends: layout.blocks().iter().map(|block| block.range.end).collect() }
    }

    /// How many segments.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Segment `s`.
    pub fn range(&self, s: usize) -> Range<usize> {
        let start = if s == 0 { 0 } else { self.ends[s - 1] };
        start..self.ends[s]
    }

    /// All of them in order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        (0..self.count()).map(|s| self.range(s))
    }
}
