//! Hessian products of depthwise convolutions, beside what memory allows.
//!
//! `cargo run --release --example depthwise -- [CHANNELS SIDE WINDOW]`: the time of a chain of ten depthwise convolutions with ReLU
//! less that of a chain of two, on all cores. A product at such a layer reads a and ȧ and writes ż, reads δ and δ̇ and writes what goes
//! back, and reads all four for the weights: ten images, if these are three passes and each touches each number once (the executor
//! needs but two passes). Memory allows what five copies of an image take, which are timed beside it.

#[path = "support/product.rs"]
mod product;

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

use isoflat::engine::Precision;
use isoflat::network::{Conv2d, Layer};
use isoflat::{Network, Result};

/// Images of a product at one layer.
const IMAGES: f64 = 10.0;

/// Layers by which the chains that are timed differ: the long one has two more.
const LAYERS: usize = 8;

/// Samples.
const SAMPLES: usize = 256;

fn main() -> Result<()> {
    println!("channels × side², window  number  Hessian product  of what memory allows");
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
        for precision in [Precision::F32, Precision::F64] {
            let product = |depth| pollster::block_on(seconds(channels, side, kernel, depth, precision));
            let of_layer = (product(2 + LAYERS)? - product(2)?) / LAYERS as f64;
            let numbers = (SAMPLES * channels * side * side) as f64;
            let bytes = if precision == Precision::F32 { 4.0 } else { 8.0 };
            // Forward, backward and for the weights two sums each.
            let operations = 12.0 * (kernel * kernel) as f64 * numbers;
            let memory = IMAGES / 2.0 * copy(numbers as usize * bytes as usize);
            println!(
                "{channels} × {side}², {kernel} × {kernel}  {precision:?}  {:.1} GFLOP/s  {:.2}",
                operations / of_layer / 1e9,
                memory / of_layer
            );
        }
    }
    Ok(())
}

/// Of one Hessian product of a chain of so many convolutions: the fastest of some.
async fn seconds(channels: usize, side: usize, kernel: usize, depth: usize, precision: Precision) -> Result<f64> {
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
    let network = Network::new(vec![1, side, side], layers)?;
    product::seconds(&network, SAMPLES, precision).await
}

/// Seconds in which all cores together copy an image of so many bytes, each its share: of some rounds the fastest. Every round copies
/// as many images as layers are timed, to as many others: one alone might stay in the cache, where a product finds none of a layer's.
fn copy(bytes: usize) -> f64 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let share = bytes / cores;
    let barrier = &Barrier::new(cores);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores)
            .map(|_| {
                scope.spawn(move || {
                    let (from, mut to) = (vec![1_u8; LAYERS * share], vec![0_u8; LAYERS * share]);
                    let mut fastest = f64::INFINITY;
                    for _ in 0..10 {
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
