//! Measures what the tiles of matrix products take on the adapter at hand, in seconds and once: [`tune`].
//!
//! Every kernel computes synthetic sums of two lengths. Their difference is what the terms take, without what a dispatch and a
//! readback do. One tile alone says how long a device is busy at least; so many that more of them take as much longer, what each adds.
//! The tiles lie next to each other in matrices as large as a network's, since what they read comes from memory there: where all read
//! the same numbers, caches make small tiles look faster than they are.

use super::context::{DeviceBuffer, GpuContext, GpuOptions};
use super::kernel::Kernel;
use super::recorder::Grid;
use super::tiling::{GATHER, Kernels, REGISTERS, Tile, TileTime, TileTimes, Tiles, WEIGHTS};
use super::tuning::Tuning;
use super::uniforms::{Gather, Weights};
use crate::control::{Control, Progress, now};
use crate::error::Result;
use crate::sorting::sort_by_key;

/// Seconds after which no further kernel is measured that is not usual on such an adapter.
const SECONDS: f64 = 6.0;

/// A time below this is not measured, but more of the same.
const SHORTEST: f64 = 2e-3;

/// Dispatches that one time is of, at most.
const MOST_REPEATS: usize = 2048;

/// The shortest of so many.
const TRIES: usize = 3;

/// Lengths of the sums, in units of [`Sums::UNIT`].
const SHORT: usize = 2;
const LONG: usize = 8;

/// Rows, and columns or samples, of the matrices that tiles are of as long as these have room for them.
const SIDE: usize = 512;

/// Samples of wider ones: no power of two times a cache's line, which would have rows share a few of its sets.
const SAMPLES: usize = 129 * Sums::UNIT;

/// Positions of an image that there are at most: as many as the sums have room for.
const POSITIONS: usize = 16;

/// Measures an adapter's tiles: which of them each step of a network should take. On a device of its own, so that a fault of it,
/// or its loss, is nobody else's. Takes some seconds at most once kernels are compiled, and reports each of them.
///
/// # Errors
/// `BackendUnavailable` without an adapter; `Aborted`; the device's.
pub async fn tune(options: GpuOptions, control: &Control<'_>) -> Result<Tuning> {
    let context = GpuContext::request(options).await?;
    let bench = Bench::new(&context)?;
    let (gather, _) = bench.times(Sums::Gather, &GATHER, 0, control).await?;
    let (weights, fill) = bench.times(Sums::Weights, &WEIGHTS, gather.count(), control).await?;
    // Twice as many keep it full to the end.
    let threads = (2 * fill).clamp(256, 1 << 18);
    Ok(Tuning::new(context.info(), Tiles { gather, weights, threads }))
}

/// What is summed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sums {
    /// Affine steps.
    Gather,
    /// Gradients of their weights.
    Weights,
}

impl Sums {
    /// Terms that a sum is made longer by: one block of theirs.
    const UNIT: usize = 64;
}

/// Buffers for all kernels: of zeros, which take as long as anything else.
struct Bench<'a> {
    context: &'a GpuContext,
    first: std::rc::Rc<DeviceBuffer>,
    second: std::rc::Rc<DeviceBuffer>,
    windows: std::rc::Rc<DeviceBuffer>,
    out: std::rc::Rc<DeviceBuffer>,
    begun: f64,
}

impl<'a> Bench<'a> {
    fn new(context: &'a GpuContext) -> Result<Self> {
        let operand = (SIDE * SAMPLES) as u64;
        // As much as the fullest device needs, in so far as there is room.
        let out = (context.max_buffer_bytes() / 4).min(1 << 24);
        Ok(Self {
            context,
            first: context.buffer("an operand", operand)?,
            second: context.buffer("an operand", operand)?,
            // All positions see the same.
            windows: context.buffer_of("windows", &[0, 0, 1, 1].repeat(POSITIONS))?,
            out: context.buffer("sums", out)?,
            begun: now(),
        })
    }

    /// What the kernels of one kind take, and how many threads of the fastest fill the device.
    async fn times(
        &self,
        sums: Sums,
        kernels: &Kernels,
        done: usize,
        control: &Control<'_>,
    ) -> Result<(TileTimes, usize)> {
        let (mut times, mut fill) = (TileTimes::default(), 0);
        let mut fastest = 0.0;
        let usual = Tiles::usual(self.context.info().is_software);
        let usual = if sums == Sums::Gather { usual.gather } else { usual.weights };
        let is_usual = |at: usize| usual.at(at).is_some();
        // The usual ones first: they have to be known however long a device takes to compile a kernel.
        let mut order: Vec<usize> = (0..kernels.len()).collect();
        sort_by_key(&mut order, |&at| !is_usual(at));
        for (i, at) in order.into_iter().enumerate() {
            control.step(Progress::new("tuning", done + i, 2 * kernels.len())).await?;
            if is_usual(at) || now() - self.begun < SECONDS {
                let (time, full) = self.time(sums, kernels.at(at)).await?;
                *times.at_mut(at) = Some(time);
                let tile = Tile::of(kernels.at(at));
                let speed = (tile.size[0] * tile.size[1]) as f64 / time.each;
                if speed > fastest {
                    (fastest, fill) = (speed, full * tile.threads);
                }
            }
        }
        Ok((times, fill))
    }

    /// What a kernel's tiles take, and how many of them it takes to fill the device.
    async fn time(&self, sums: Sums, kernel: Kernel) -> Result<(TileTime, usize)> {
        let tile = Tile::of(kernel);
        // Compiled, and the buffers there.
        self.seconds(sums, tile, 1, LONG, 1).await?;
        let room = self.out.elements as usize / (tile.size[0] * tile.size[1] * tile.tiles_a_group);
        let most = room.min(self.context.max_groups() as usize).max(1);
        // A workgroup's threads go together: one tile alone takes as long as all of theirs.
        let first = self.unit(sums, tile, tile.tiles_a_group).await?;
        let mut each = first / tile.tiles_a_group as f64;
        let mut full = tile.tiles_a_group;
        let mut groups = 1;
        while groups < most {
            groups = (2 * groups).min(most);
            let tiles = tile.tiles_a_group * groups;
            let now = self.unit(sums, tile, tiles).await? / tiles as f64;
            let gain = each / now;
            each = each.min(now);
            if gain < 1.1 {
                break;
            }
            full = tiles;
        }
        Ok((TileTime { first: first.max(each), each }, full))
    }

    /// Seconds that one unit more of terms takes in each of so many sums.
    async fn unit(&self, sums: Sums, tile: Tile, tiles: usize) -> Result<f64> {
        let mut repeats = 1;
        let [short, long] = loop {
            let mut times = [f64::INFINITY; 2];
            for _ in 0..TRIES {
                for (time, length) in times.iter_mut().zip([SHORT, LONG]) {
                    *time = time.min(self.seconds(sums, tile, tiles, length, repeats).await?);
                }
            }
            if times[1] >= SHORTEST || repeats == MOST_REPEATS {
                break times;
            }
            // As many more as it wants, as far as one can tell from so short a time.
            let wanted = (1.5 * SHORTEST / times[1].max(1e-6)).ceil() as usize;
            repeats = (repeats * wanted.clamp(2, 16)).min(MOST_REPEATS);
        };
        // Where the clock is too coarse for a difference, the whole is what there is.
        let terms = if long > short { (long - short) / (LONG - SHORT) as f64 } else { long / LONG as f64 };
        Ok((terms / repeats as f64).max(f64::MIN_POSITIVE))
    }

    /// Seconds for `repeats` dispatches of so many tiles, each a sum of `length` units.
    async fn seconds(&self, sums: Sums, tile: Tile, tiles: usize, length: usize, repeats: usize) -> Result<f64> {
        // Nothing of what went before.
        self.context.read(&self.out, 0, 1).await?;
        let since = now();
        for _ in 0..repeats {
            match sums {
                Sums::Gather => self.gather(tile, tiles, length)?,
                Sums::Weights => self.weights(tile, tiles, length)?,
            }
        }
        self.context.read(&self.out, 0, 1).await?;
        Ok(now() - since)
    }

    fn grid(tile: Tile, tiles: usize, length: usize) -> Grid {
        let [rows, columns] = tile.size;
        let cost = 2.0 * (rows * columns * tiles * length * Sums::UNIT) as f64;
        Grid { groups: tiles.div_ceil(tile.tiles_a_group) as u64, layers: 1, cost }
    }

    /// An affine step: samples, then rows, then more samples, until there are so many tiles; what is left over are positions.
    fn gather(&self, tile: Tile, tiles: usize, length: usize) -> Result<()> {
        let [across, down] = cover(tile, tiles);
        let wider = (tiles / (across * down)).clamp(1, SAMPLES / (across * tile.size[1]));
        let (rows, lanes) = (down * tile.size[0], across * wider * tile.size[1]);
        let positions = tiles.div_ceil(across * wider * down);
        debug_assert!(positions <= POSITIONS);
        let parameters = Gather {
            rows: rows as u32,
            rows4: rows as u32 / 4,
            channels: (length * Sums::UNIT) as u32,
            source_row: 1,
            panel_row: 1,
            lanes4: lanes as u32 / 4,
            out_width: 1,
            positions: positions as u32,
            out_row: 1,
            terms: 1,
            slope: 1.0,
            ..Gather::default()
        };
        let [source, panel] = [&*self.first, &*self.second];
        let buffers = [source, panel, source, panel, source, &*self.windows, &*self.out];
        self.context.dispatch(tile.kernel, &parameters, &buffers, Self::grid(tile, tiles, length))
    }

    /// A gradient of weights: columns, then rows, until there are so many tiles; what is left over are parts of longer sums.
    fn weights(&self, tile: Tile, tiles: usize, length: usize) -> Result<()> {
        let [across, down] = cover(tile, tiles);
        let (rows, columns) = (down * tile.size[0], across * tile.size[1]);
        let slabs = tiles.div_ceil(across * down);
        let blocks = SAMPLES / Sums::UNIT;
        let parameters = Weights {
            rows: rows as u32,
            columns: columns as u32,
            channels: columns as u32,
            window_width: 1,
            taps: 1,
            out_width: 1,
            lanes4: (SAMPLES / 4) as u32,
            // Sums of more samples go through the same ones again.
            position_blocks: blocks as u32,
            blocks: (slabs * length) as u32,
            slabs: slabs as u32,
            span: length as u32,
            terms: 1,
            out_batch: (rows * columns) as u32,
            tap_row: 1,
            tap_column: 1,
            seen: columns as u32,
            group_rows: rows as u32,
            ..Weights::default()
        };
        let [delta, source] = [&*self.first, &*self.second];
        let buffers = [delta, source, delta, source, &*self.out];
        self.context.dispatch(tile.kernel, &parameters, &buffers, Self::grid(tile, tiles, length))
    }
}

/// How many of so many tiles lie side by side, and one below the other, in a matrix of [`SIDE`] × [`SIDE`].
fn cover(tile: Tile, tiles: usize) -> [usize; 2] {
    let across = tiles.clamp(1, SIDE / tile.size[1]);
    [across, (tiles / across).clamp(1, SIDE / tile.size[0])]
}

impl TileTimes {
    /// How many kernels there are.
    const fn count(&self) -> usize {
        self.registers.len() + self.workgroup.len()
    }

    fn at(&self, index: usize) -> Option<TileTime> {
        index.checked_sub(REGISTERS).map_or_else(|| self.registers[index], |i| self.workgroup[i])
    }

    fn at_mut(&mut self, index: usize) -> &mut Option<TileTime> {
        match index.checked_sub(REGISTERS) {
            None => &mut self.registers[index],
            Some(i) => &mut self.workgroup[i],
        }
    }
}

impl Kernels {
    const fn len(&self) -> usize {
        self.registers.len() + self.workgroup.len()
    }

    fn at(&self, index: usize) -> Kernel {
        index.checked_sub(REGISTERS).map_or_else(|| self.registers[index], |i| self.workgroup[i])
    }
}
