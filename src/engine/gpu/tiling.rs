//! Which tile an affine step's sums are taken in, and into how many parts long ones are cut.
//!
//! No tile is the best everywhere, so what each takes stands in a table: [`Tiles`], for software adapters and for hardware that
//! nobody has measured, or as [`super::tune`] has measured it on the machine at hand.

use serde::{Deserialize, Serialize};

use super::kernel::Kernel;
use super::template::Shape;

/// Kernels of tiles in registers, by their fours of rows.
pub(super) const REGISTERS: usize = 5;
/// Kernels of tiles in workgroup memory: 32 × 128, 64 × 64 and 128 × 64.
pub(super) const WORKGROUPS: usize = 3;

/// What the tiles of one kind of sum take, a kernel an entry; `None` is never taken. In any unit, the same for all.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TileTimes {
    /// Tiles in registers, of 4, 8, 12, 16 and 20 rows × 16 columns.
    pub registers: [Option<TileTime>; REGISTERS],
    /// Tiles in workgroup memory, of 32 × 128, 64 × 64 and 128 × 64.
    pub workgroup: [Option<TileTime>; WORKGROUPS],
}

/// What a kernel's tiles take for each term of their sums.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TileTime {
    /// The first one, of a device that has nothing else to do.
    pub first: f64,
    /// Each, where there are so many that the device is full.
    pub each: f64,
}

impl TileTime {
    /// Of so many.
    fn of(self, tiles: f64) -> f64 {
        self.first.max(self.each * tiles)
    }

    fn is_valid(self) -> bool {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        positive(self.each) && (positive(self.first) || self.first == 0.0)
    }
}

/// What the tiles of matrix products take on an adapter, from which the tile of every step is chosen.
///
/// Tiles in registers all give the same bits, and so do tiles in workgroup memory; one kind differs from the other by rounding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiles {
    /// Of affine steps and their transposes.
    pub gather: TileTimes,
    /// Of gradients of weights.
    pub weights: TileTimes,
    /// Threads that fill the device: a long sum is cut into parts until there are so many.
    pub threads: usize,
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

/// The kernels of one kind of sum.
pub(super) struct Kernels {
    pub registers: [Kernel; REGISTERS],
    pub workgroup: [Kernel; WORKGROUPS],
}

pub(super) const GATHER: Kernels = {
    use Kernel::*;
    Kernels {
        registers: [Gather4x16, Gather8x16, Gather12x16, Gather16x16, Gather20x16],
        workgroup: [Gather32x128, Gather64x64, Gather128x64],
    }
};
const WINDOW: [Kernel; REGISTERS] = {
    use Kernel::*;
    [Window4x16, Window8x16, Window12x16, Window16x16, Window20x16]
};
pub(super) const WEIGHTS: Kernels = {
    use Kernel::*;
    Kernels {
        registers: [Weights4x16, Weights8x16, Weights12x16, Weights16x16, Weights20x16],
        workgroup: [Weights32x128, Weights64x64, Weights128x64],
    }
};

impl Tiles {
    /// Adapters that run on a CPU. Every number that is read costs about as much as six multiplications there, so a tile of n fours of
    /// rows takes about 0.55 + 0.43 n times the time of the lowest; barriers cost more than the loads they save.
    pub const SOFTWARE: Self = {
        let mut times = TileTimes { registers: [None; REGISTERS], workgroup: [None; WORKGROUPS] };
        let mut n = 0;
        while n < REGISTERS {
            times.registers[n] = Some(TileTime { first: 0.0, each: 0.55 + 0.43 * (n + 1) as f64 });
            n += 1;
        }
        Self { gather: times, weights: times, threads: 256 }
    };

    /// Hardware that has not been measured. Above the lowest, tiles in registers would need more of these than a thread has (255 on
    /// NVIDIA's): two fours of sums and their totals alone take 256. One of 64 × 64, 64 times as large, is thought to take as long as
    /// 20.
    pub const HARDWARE: Self = {
        let mut times = TileTimes { registers: [None; REGISTERS], workgroup: [None; WORKGROUPS] };
        times.registers[0] = Some(TileTime { first: 0.0, each: 1.0 });
        times.workgroup[1] = Some(TileTime { first: 0.0, each: 20.0 });
        Self { gather: times, weights: times, threads: 32768 }
    };

    /// What is known of an adapter before it is measured.
    pub fn usual(is_software: bool) -> Self {
        if is_software { Self::SOFTWARE } else { Self::HARDWARE }
    }

    /// Is there a tile for every kind of sum, and are all times such?
    pub(super) fn are_valid(&self) -> bool {
        let all = |times: &TileTimes| times.registers.into_iter().chain(times.workgroup).flatten().collect::<Vec<_>>();
        let is_whole = |times: &TileTimes| {
            let all = all(times);
            !all.is_empty() && all.into_iter().all(TileTime::is_valid)
        };
        is_whole(&self.gather) && is_whole(&self.weights) && (1..=1 << 24).contains(&self.threads)
    }

    /// For `rows` × `samples` at every one of `positions` of an image.
    pub(super) fn gather(&self, rows: usize, samples: usize, positions: usize) -> Tile {
        let cost = |time: TileTime, tile: Tile| time.of((positions * tile.count(rows, samples)) as f64);
        self.gather.best(&GATHER, cost)
    }

    /// The same where the places of terms are looked up, which tiles in registers alone do.
    pub(super) fn window(&self, rows: usize, samples: usize, positions: usize) -> Tile {
        let known = TileTimes { workgroup: [None; WORKGROUPS], ..self.gather };
        // The lowest is the one that every device has room for.
        let times = if known.registers == [None; REGISTERS] { Self::HARDWARE.gather } else { known };
        let kernels = Kernels { registers: WINDOW, ..GATHER };
        let cost = |time: TileTime, tile: Tile| time.of((positions * tile.count(rows, samples)) as f64);
        TileTimes { workgroup: [None; WORKGROUPS], ..times }.best(&kernels, cost)
    }

    /// For the gradient of `rows` × `columns` weights, a sum over `blocks`.
    pub(super) fn weights(&self, rows: usize, columns: usize, blocks: usize) -> Tile {
        let cost = |time: TileTime, tile: Tile| {
            let tiles = tile.count(rows, columns);
            let (slabs, span) = self.slabs(tiles * tile.threads, blocks);
            span as f64 * time.of((tiles * slabs) as f64)
        };
        self.weights.best(&WEIGHTS, cost)
    }

    /// The number of parts of a sum of `blocks` and their length, with `threads` threads a part. Not a function of the batch, so
    /// K directions give the bits of K single ones.
    pub(super) fn slabs(&self, threads: usize, blocks: usize) -> (usize, usize) {
        let wanted = (self.threads / threads).clamp(1, 256);
        let span = blocks.div_ceil(wanted).max(2);
        (blocks.div_ceil(span), span)
    }
}

impl TileTimes {
    /// The tile that costs least, the lowest of those that cost the same.
    fn best(&self, kernels: &Kernels, cost: impl Fn(TileTime, Tile) -> f64) -> Tile {
        let of = |times: &[Option<TileTime>], kernels: &[Kernel]| -> Vec<(TileTime, Tile)> {
            times.iter().zip(kernels).filter_map(|(time, &kernel)| Some(((*time)?, Tile::of(kernel)))).collect()
        };
        let registers = of(&self.registers, &kernels.registers);
        let all = registers.into_iter().chain(of(&self.workgroup, &kernels.workgroup));
        let cheapest = all.map(|(time, tile)| (cost(time, tile), tile)).min_by(|a, b| a.0.total_cmp(&b.0));
        cheapest.map_or(Tile::of(kernels.registers[0]), |(_, tile)| tile)
    }
}

impl Tile {
    /// A kernel's.
    pub fn of(kernel: Kernel) -> Self {
        let shape = kernel.spec().shape().unwrap_or(Shape::Registers { fours: 1 });
        let threads = shape.threads() as usize;
        let (tiles_a_group, threads) = match shape {
            Shape::Registers { .. } => (threads, 1),
            Shape::Workgroup { .. } => (1, threads),
        };
        Self { kernel, size: shape.size(), tiles_a_group, threads }
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

    /// How many cover a matrix.
    pub fn count(&self, rows: usize, columns: usize) -> usize {
        rows.div_ceil(self.size[0]) * columns.div_ceil(self.size[1])
    }
}

#[cfg(test)]
mod tests {
    use super::{Kernel, TileTime, TileTimes, Tiles, WORKGROUPS};

    #[test]
    fn software_takes_the_height_that_covers_the_rows_in_the_least_time() {
        let tiles = Tiles::SOFTWARE;
        let kernels =
            [(10, Kernel::Gather12x16), (64, Kernel::Gather16x16), (300, Kernel::Gather20x16), (1, Kernel::Gather4x16)];
        for (rows, kernel) in kernels {
            assert_eq!(tiles.gather(rows, 500, 1).kernel, kernel, "{rows}");
        }
        assert_eq!(tiles.weights(300, 784, 8).kernel, Kernel::Weights20x16);
        assert_eq!(tiles.window(10, 500, 9).kernel, Kernel::Window12x16);
    }

    #[test]
    fn hardware_takes_workgroups_where_they_are_filled() {
        let tiles = Tiles::HARDWARE;
        assert_eq!(tiles.gather(300, 512, 1).kernel, Kernel::Gather64x64);
        assert_eq!(tiles.gather(10, 512, 1).kernel, Kernel::Gather4x16);
        assert_eq!(tiles.weights(300, 784, 8).kernel, Kernel::Weights64x64);
        assert_eq!(tiles.weights(10, 100, 8).kernel, Kernel::Weights4x16);
        assert_eq!(tiles.window(64, 512, 9).kernel, Kernel::Window4x16);
    }

    #[test]
    fn a_tile_that_is_slow_alone_is_left_where_there_are_few() {
        let mut tiles = Tiles::HARDWARE;
        tiles.gather.workgroup[2] = Some(TileTime { first: 4000.0, each: 10.0 });
        assert_eq!(tiles.gather(128, 64, 1).kernel, Kernel::Gather64x64);
        assert_eq!(tiles.gather(128, 64, 1000).kernel, Kernel::Gather128x64);
    }

    #[test]
    fn tables_that_lack_a_kind_or_hold_no_times_are_refused() {
        assert!(Tiles::SOFTWARE.are_valid() && Tiles::HARDWARE.are_valid());
        let none = TileTimes::default();
        assert!(!Tiles { weights: none, ..Tiles::SOFTWARE }.are_valid());
        assert!(!Tiles { threads: 0, ..Tiles::SOFTWARE }.are_valid());
        let mut negative = Tiles::SOFTWARE;
        negative.gather.workgroup[WORKGROUPS - 1] = Some(TileTime { first: 0.0, each: -1.0 });
        assert!(!negative.are_valid());
    }
}
