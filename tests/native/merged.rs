//! Problems some of whose inputs are the same in every sample: what is computed of their sums is what is computed of each.

use crate::support::everything::{everything, tolerance};
use crate::support::*;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::network::Layer;
use isoflat::{Loss, Network, Problem, Targets};
use rand::Rng;

/// 24 inputs of which 8 are others again and 6 are 0: of an image where `image` says so.
fn problem(seed: u64, image: bool, loss: Loss, samples: usize) -> (Problem, Vec<f64>) {
    let mut rng = rng(seed);
    let activation = ALL[seed as usize % ALL.len()].clone();
    let bias = rng.random();
    let mut layers = vec![Layer::Dense { units: 7, bias }, activation, Layer::Dense { units: 4, bias: true }];
    let mut input = vec![24];
    if image {
        layers.insert(0, Layer::Flatten);
        input = vec![2, 3, 4];
    }
    let network = Network::new(input, layers).expect("a network");
    let place: Vec<usize> = (0..24).map(|_| rng.random_range(0..24)).collect();
    let mut inputs = random_direction(&mut rng, 24 * samples);
    for row in inputs.chunks_exact_mut(24) {
        for j in 0..8 {
            row[place[j]] = row[place[j + 8]];
        }
        place[16..22].iter().for_each(|&j| row[j] = 0.0);
    }
    let targets = match loss {
        Loss::CrossEntropy => Targets::Classes((0..samples).map(|_| rng.random_range(0..4)).collect()),
        Loss::SquaredError => Targets::Vectors(random_direction(&mut rng, 4 * samples)),
    };
    let theta = random_parameters(&mut rng, &network);
    let single: Vec<f32> = inputs.iter().map(|&x| x as f32).collect();
    let problem = if seed.is_multiple_of(2) {
        Problem::new(network, loss, inputs, targets)
    } else {
        Problem::new(network, loss, single, targets)
    };
    (problem.expect("a problem"), theta)
}

/// An engine that somebody has given a budget keeps no other inputs than the problem's.
#[test]
fn sums_of_columns_are_all_that_counts() {
    let mut merged = 0;
    for seed in 0..40 {
        let samples = rng(500 + seed).random_range(1..=90);
        let loss = [Loss::CrossEntropy, Loss::SquaredError][seed as usize / 2 % 2];
        let (whole, theta) = problem(seed, seed % 3 == 0, loss, samples);
        // A problem cut short has doubles of its own.
        let cut = whole.first(samples.div_ceil(2));
        for (problem, precision) in [(&whole, Precision::F64), (&whole, Precision::F32), (&cut, Precision::F64)] {
            let device = Device::cpu(precision);
            let engine = Engine::new(&device, problem).expect("an engine");
            let plain = Engine::new(&device.with_memory_budget(u64::MAX), problem).expect("an engine");
            let (found, expected) = (everything(&engine, &theta, seed), everything(&plain, &theta, seed));
            merged += usize::from(found != expected);
            for ((name, found), (_, expected)) in found.iter().zip(&expected) {
                let error = error(found, expected);
                // A sum over 24 inputs has another order.
                let tolerance = tolerance(precision, 3 * samples + 24);
                assert!(
                    error <= tolerance,
                    "seed {seed}, {samples} samples, {precision:?}: {name} differs by {error:.1e}"
                );
            }
        }
    }
    // Not one of them is the other: rounding tells.
    assert!(merged > 100, "{merged} of 120");
}
