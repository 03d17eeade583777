//! Hessian products of depthwise convolutions, beside what memory allows.
//!
//! `cargo run --release --example depthwise -- [CHANNELS SIDE WINDOW]`: the time of a chain of ten depthwise convolutions with ReLU
//! less that of a chain of two, on all cores. A product at such a layer reads a and ȧ and writes ż, reads δ and δ̇ and writes what goes
//! back, and reads all four for the weights: ten images, if these are three passes and each touches each number once (the executor
//! needs but two passes). Memory allows what five copies of an image take. Both chains and the copies are timed in turn, round by
//! round, since what memory gives changes with what else the computer does; medians of the rounds are told, and their fastest.

#[path = "support/product.rs"]
mod product;

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

use isoflat::engine::{Device, Precision};
use isoflat::network::{Conv2d, Layer};
use isoflat::{Network, Result};
use product::Timed;

/// Images of a product at one layer.
const IMAGES: f64 = 10.0;

/// Layers by which the chains that are timed differ: the long one has two more.
const LAYERS: usize = 8;

/// Samples.
const SAMPLES: usize = 256;

/// Rounds.
const ROUNDS: usize = 15;

fn main() -> Result<()> {
    println!(
        "channels × side², window  number  GFLOP/s of a Hessian product: median, fastest  of what memory allows: median, fastest"
    );
    let asked: Vec<Option<usize>> = std::env::args().skip(1).map(|number| number.parse().ok()).collect();
    let cases = match asked[..] {
        [] => vec![(64, 32, 3), (48, 24, 3), (128, 16, 3), (64, 8, 3), (96, 14, 5)],
        [Some(channels), Some(side), Some(kernel)] => vec![(channels, side, kernel)],
        _ => {
            let usage = "three numbers are taken, CHANNELS SIDE WINDOW, or none";
            return Err(isoflat::Error::new(isoflat::ErrorCode::InvalidOption, usage));
        }
    };
    for (channels, side, kernel) in cases {
        for (precision, bytes) in [(Precision::F32, 4), (Precision::F64, 8)] {
            let numbers = SAMPLES * channels * side * side;
            let [median, fastest] = pollster::block_on(rounds(channels, side, kernel, precision, numbers * bytes))?;
            // Forward, backward and for the weights two sums each.
            let speed = |layer: f64| (12 * kernel * kernel * numbers) as f64 / layer / 1e9;
            let allowed = |times: Times| IMAGES / 2.0 * times.copy / times.layer;
            println!(
                "{channels} × {side}², {kernel} × {kernel}  {precision:?}  {:.1} {:.1}  {:.2} {:.2}",
                speed(median.layer),
                speed(fastest.layer),
                allowed(median),
                allowed(fastest)
            );
        }
    }
    Ok(())
}

/// Seconds of a product at one layer, and of a copy of one image.
#[derive(Clone, Copy)]
struct Times {
    layer: f64,
    copy: f64,
}

/// Median and fastest of the rounds.
async fn rounds(channels: usize, side: usize, kernel: usize, precision: Precision, bytes: usize) -> Result<[Times; 2]> {
    let timed = |depth| async move {
        Timed::new(&Device::cpu(precision), chain(channels, side, kernel, depth)?, SAMPLES).await
    };
    let (long, short) = (timed(2 + LAYERS).await?, timed(2).await?);
    let mut taken = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        taken[0].push(long.seconds().await?);
        taken[1].push(short.seconds().await?);
        // New ones each time: how fast copies are depends on which memory they got.
        taken[2].push(Copies::new(bytes).seconds());
    }
    taken.iter_mut().for_each(|seconds| seconds.sort_by(f64::total_cmp));
    Ok([ROUNDS / 2, 0].map(|at| {
        let [long, short, copy] = [&taken[0], &taken[1], &taken[2]].map(|seconds| seconds[at]);
        Times { layer: (long - short) / LAYERS as f64, copy }
    }))
}

/// A chain of so many depthwise convolutions.
fn chain(channels: usize, side: usize, kernel: usize, depth: usize) -> Result<Network> {
    let pixel = Conv2d {
        channels,
        kernel: [1; 2],
        stride: [1; 2],
        padding: [0; 2].into(),
        dilation: [1; 2],
        groups: 1,
        bias: true,
    };
    let depthwise = Conv2d { kernel: [kernel; 2], padding: [kernel / 2; 2].into(), groups: channels, ..pixel.clone() };
    let mut layers = vec![Layer::Conv2d(pixel), Layer::Relu];
    layers.extend((0..depth).flat_map(|_| [Layer::Conv2d(depthwise.clone()), Layer::Relu]));
    layers.extend([Layer::GlobalAvgPool2d, Layer::Flatten, Layer::Dense { units: 10, bias: true }]);
    Network::new(vec![1, side, side], layers)
}

/// As many images as layers are timed, which all cores together copy to as many others, each its share: one alone might stay in the
/// cache, where a product finds none of a layer's.
struct Copies {
    shares: Vec<[Vec<u8>; 2]>,
    share: usize,
}

impl Copies {
    /// Images of so many bytes.
    fn new(bytes: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let share = bytes / cores;
        Self { shares: (0..cores).map(|_| [vec![1_u8; LAYERS * share], vec![0_u8; LAYERS * share]]).collect(), share }
    }

    /// Seconds of one image: the slowest share's, of two rounds the faster, since the first wakes the cores.
    fn seconds(&mut self) -> f64 {
        let share = self.share;
        let barrier = &Barrier::new(self.shares.len());
        std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .shares
                .iter_mut()
                .map(|[from, to]| {
                    scope.spawn(move || {
                        let mut fastest = f64::INFINITY;
                        for _ in 0..2 {
                            barrier.wait();
                            let start = Instant::now();
                            for (from, to) in from.chunks_exact(share).zip(to.chunks_exact_mut(share)) {
                                to.copy_from_slice(black_box(from));
                                black_box(to);
                            }
                            // A round takes until all have copied: one by itself is faster than beside others.
                            barrier.wait();
                            fastest = fastest.min(start.elapsed().as_secs_f64());
                        }
                        fastest / LAYERS as f64
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or(f64::INFINITY)).fold(0.0, f64::max)
        })
    }
}
