//! Vectors on a device, opaque to everything but the executor that made them.

use std::ops::Range;

use super::gpu::GpuVector;
use crate::network::Layout;

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
