//! Which tile an affine step's sums are taken in, and into how many parts long ones are cut.

use super::kernel::Kernel;
use super::template;

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
    /// Tiles a workgroup computes.
    pub tiles_a_group: usize,
    /// Threads that compute one together.
    pub threads: usize,
}

/// Below this many rows, or columns, more than half of a workgroup's tile would be beyond the matrix.
const WORKGROUP_SIDE: usize = 33;

/// Tiles in registers by their fours of rows.
const GATHER: [Kernel; 5] = {
    use Kernel::*;
    [Gather4x16, Gather8x16, Gather12x16, Gather16x16, Gather20x16]
};
const WINDOW: [Kernel; 5] = {
    use Kernel::*;
    [Window4x16, Window8x16, Window12x16, Window16x16, Window20x16]
};
const WEIGHTS: [Kernel; 5] = {
    use Kernel::*;
    [Weights4x16, Weights8x16, Weights12x16, Weights16x16, Weights20x16]
};

impl Tile {
    /// For `rows` × `samples` at every position of an image.
    pub fn gather(rows: usize, samples: usize, tiling: Tiling, is_software: bool) -> Self {
        if uses_workgroups(rows, samples, tiling, is_software) {
            return Self { kernel: Kernel::Gather64x64, size: [64, 64], tiles_a_group: 1, threads: 64 };
        }
        Self::in_registers(GATHER, rows, is_software)
    }

    /// The same where the places of terms are looked up.
    pub fn window(rows: usize, is_software: bool) -> Self {
        Self::in_registers(WINDOW, rows, is_software)
    }

    /// For the gradient of `rows` × `columns` weights.
    pub fn weights(rows: usize, columns: usize, tiling: Tiling, is_software: bool) -> Self {
        if uses_workgroups(rows, columns, tiling, is_software) {
            return Self { kernel: Kernel::Weights64x64, size: [64, 64], tiles_a_group: 1, threads: 64 };
        }
        Self::in_registers(WEIGHTS, rows, is_software)
    }

    /// For steps whose channels are in groups: rows of one group, all of which see the same.
    pub fn grouped(group_rows: usize) -> Self {
        let (kernel, rows) = if group_rows > 2 { (Kernel::Grouped4, 4) } else { (Kernel::Grouped1, 1) };
        Self { kernel, size: [rows, 16], tiles_a_group: 64, threads: 1 }
    }

    /// For the gradient of their weights.
    pub fn grouped_weights(group_rows: usize) -> Self {
        let (kernel, rows) = if group_rows > 2 { (Kernel::WeightsGrouped4, 4) } else { (Kernel::WeightsGrouped1, 1) };
        Self { kernel, size: [rows, 4], tiles_a_group: 64, threads: 1 }
    }

    fn in_registers(kernels: [Kernel; 5], rows: usize, is_software: bool) -> Self {
        let fours = fours(rows, is_software);
        let tiles_a_group = template::threads(fours as u32) as usize;
        Self { kernel: kernels[fours - 1], size: [4 * fours, 16], tiles_a_group, threads: 1 }
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

/// Fours of rows in the tiles that do the work of `rows` rows in the least time. On a software adapter every number that
/// is read costs about as much as six multiplications, so a tile of n fours takes about 0.55 + 0.43 n times the time of the
/// lowest. On hardware a higher one would need more registers than a thread has (255 on NVIDIA's): two fours of sums and
/// their totals alone take 256.
fn fours(rows: usize, is_software: bool) -> usize {
    let cost = |n: usize| rows.div_ceil(4 * n) as f64 * (0.55 + 0.43 * n as f64);
    if is_software { (1..=5).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(1) } else { 1 }
}

/// The number of parts of a sum of `blocks` and their length, with `threads` threads a part. Not a function of the batch, so
/// K directions give the bits of K single ones.
pub(super) fn slabs(threads: usize, blocks: usize, is_software: bool) -> (usize, usize) {
    let wanted = (if is_software { 256 } else { 32768 } / threads).clamp(1, 256);
    let span = blocks.div_ceil(wanted).max(2);
    (blocks.div_ceil(span), span)
}
