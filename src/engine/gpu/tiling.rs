//! Which tile an affine step's sums are taken in, and into how many parts long ones are cut.

use super::kernel::Kernel;

/// Where tiles are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tiling {
    /// In workgroup memory on hardware, in registers on adapters that run on a CPU, where barriers cost more than the loads
    /// they save.
    #[default]
    Auto,
    /// Always in workgroup memory, whatever the adapter and the shape: so that software adapters can test it.
    Workgroup,
}

/// A kernel's tile.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tile {
    pub kernel: Kernel,
    /// Rows and columns (or samples) of a tile.
    pub size: [usize; 2],
    /// Tiles a workgroup of 64 threads computes.
    pub tiles_a_group: usize,
}

/// Below this many rows, or columns, more than half of a workgroup's tile would be beyond the matrix.
const WORKGROUP_SIDE: usize = 33;

impl Tile {
    /// For `rows` × `samples` at every position of an image.
    pub fn gather(rows: usize, samples: usize, tiling: Tiling, is_software: bool) -> Self {
        if uses_workgroups(rows, samples, tiling, is_software) {
            return Self { kernel: Kernel::Gather64x64, size: [64, 64], tiles_a_group: 1 };
        }
        match prefers_eight(rows, is_software) {
            true => Self { kernel: Kernel::Gather8x16, size: [8, 16], tiles_a_group: 64 },
            false => Self { kernel: Kernel::Gather4x16, size: [4, 16], tiles_a_group: 64 },
        }
    }

    /// For the gradient of `rows` × `columns` weights.
    pub fn weights(rows: usize, columns: usize, tiling: Tiling, is_software: bool) -> Self {
        if uses_workgroups(rows, columns, tiling, is_software) {
            return Self { kernel: Kernel::Weights64x64, size: [64, 64], tiles_a_group: 1 };
        }
        match prefers_eight(rows, is_software) {
            true => Self { kernel: Kernel::Weights8x16, size: [8, 16], tiles_a_group: 64 },
            false => Self { kernel: Kernel::Weights4x16, size: [4, 16], tiles_a_group: 64 },
        }
    }

    /// How many cover a matrix.
    pub fn count(&self, rows: usize, columns: usize) -> usize {
        rows.div_ceil(self.size[0]) * columns.div_ceil(self.size[1])
    }
}

/// Not a function of the batch, so K directions give the bits of K single ones: the two kinds of tile end a run in another
/// order of additions.
fn uses_workgroups(rows: usize, columns: usize, tiling: Tiling, is_software: bool) -> bool {
    let pays = !is_software && rows >= WORKGROUP_SIDE && columns >= WORKGROUP_SIDE;
    pays || tiling == Tiling::Workgroup
}

/// Does a tile of 8 rows do the work of `rows` rows in less time than one of 4? A thread of twice the work takes 1.6 times
/// as long on a software adapter. On hardware it would need more registers than a thread has (255 on NVIDIA's): its sums
/// and their totals alone take 256.
fn prefers_eight(rows: usize, is_software: bool) -> bool {
    is_software && 1.6 * rows.div_ceil(8) as f64 <= rows.div_ceil(4) as f64
}

/// The number of parts of a sum of `blocks` and their length, with `threads` threads a part. Not a function of the batch, so
/// K directions give the bits of K single ones.
pub(super) fn slabs(threads: usize, blocks: usize, is_software: bool) -> (usize, usize) {
    let wanted = (if is_software { 1024 } else { 32768 } / threads).clamp(1, 256);
    let span = blocks.div_ceil(wanted).max(2);
    (blocks.div_ceil(span), span)
}
