//! Tiles of every shape give the same numbers, and what an adapter's tiles take can be measured, kept and used.

use isoflat::engine::gpu::{GpuOptions, TileTime, TileTimes, Tiles, Tuning, tune};
use isoflat::network::{Conv2d, Layer};
use isoflat::{Control, Loss, Network};
use pollster::block_on;

use super::support::twins::{Case, context};

/// As in `twins.rs`.
const TOLERANCE: f64 = 1e-6;

fn dense(units: usize) -> Layer {
    Layer::Dense { units, bias: true }
}

fn only(at: usize) -> Tiles {
    let mut times = TileTimes::default();
    let time = Some(TileTime { first: 0.0, each: 1.0 });
    match at.checked_sub(5) {
        None => times.registers[at] = time,
        Some(i) => times.workgroup[i] = time,
    }
    Tiles { gather: times, weights: times, threads: 1024 }
}

#[test]
fn every_tile_gives_the_same_numbers() {
    let wide = Network::new(vec![70], vec![dense(150), Layer::Relu, dense(10)]).unwrap();
    let convolution = |channels| Layer::Conv2d(Conv2d::new(channels, [3, 3]));
    let layers = vec![convolution(37), Layer::Relu, convolution(5), Layer::Relu, Layer::Flatten, dense(4)];
    let image = Network::new(vec![3, 8, 7], layers).unwrap();
    let mut faults = Vec::new();
    for at in 0..8 {
        let context = context(Some(only(at)));
        for (seed, network) in [(1, &wide), (2, &image)] {
            let case = Case::new(network.clone(), 75, Loss::CrossEntropy, seed);
            case.agrees_with_the_cpu(&context, TOLERANCE, &mut faults);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn an_adapter_is_measured_once_and_its_tuning_holds_for_it_alone() {
    let mut phases = 0;
    let control = Control::default().on_progress(|_| phases += 1);
    let tuning = block_on(tune(GpuOptions::default(), &control)).unwrap();
    drop(control);
    println!("{}", tuning.to_json());
    assert_eq!(phases, 16);
    let tiles = tuning.tiles();
    for times in [tiles.gather, tiles.weights] {
        let known: Vec<TileTime> = times.registers.into_iter().chain(times.workgroup).flatten().collect();
        assert!(!known.is_empty());
        assert!(known.iter().all(|time| time.each > 0.0 && time.first >= time.each), "{known:?}");
    }
    assert_eq!(Tuning::from_json(&tuning.to_json()).unwrap(), tuning);
}
