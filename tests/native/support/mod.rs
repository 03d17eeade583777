//! What several test files share: random networks and problems, and comparisons.
#![allow(dead_code)] // Each test file uses its own part.

pub mod any_table;
pub mod diagonal;
pub mod everything;
pub mod golden;
pub mod graphs;
pub mod naive;
pub mod reflected;
pub mod space_cases;
pub mod twins;

use isoflat::engine::{Backend, Device, Precision};
use isoflat::network::{BiasInitialization, Conv2d, GeluApproximation, Initialization, Layer, Pool2d};
use isoflat::{Loss, Network, Problem, Targets};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A random ragged network of dense layers: 1 to 4 of them, widths 1 to 9, with and without biases.
pub fn random_network(rng: &mut ChaCha8Rng, activations: &[Layer]) -> Network {
    let depth = rng.random_range(1..=4);
    let mut layers = Vec::new();
    for l in 0..depth {
        let units = if l + 1 == depth { rng.random_range(2..=5) } else { rng.random_range(1..=9) };
        layers.push(Layer::Dense { units, bias: rng.random() });
        if l + 1 < depth {
            layers.push(activations[rng.random_range(0..activations.len())].clone());
        }
    }
    Network::new(vec![rng.random_range(1..=8)], layers).expect("a valid network")
}

/// A random ragged network over small images of unequal sides: 0 to 3 convolutions (any kernel, stride, padding, with and
/// without bias), each with an activation and perhaps a pool (maximum or mean, overlapping or with gaps), a flatten, 0 to 2
/// hidden dense layers, and at the end a dense layer or a convolution over all that is left.
pub fn random_image_network(rng: &mut ChaCha8Rng, activations: &[Layer]) -> Network {
    let mut side = [rng.random_range(3..=9), rng.random_range(3..=9)];
    let input = vec![rng.random_range(1..=3), side[0], side[1]];
    let activation = |rng: &mut ChaCha8Rng| activations[rng.random_range(0..activations.len())].clone();
    let mut layers = Vec::new();
    let convolutions = rng.random_range(0..=3);
    for l in 0..convolutions {
        let padding: [usize; 2] = [rng.random_range(0..=2), rng.random_range(0..=2)];
        let kernel: [usize; 2] = std::array::from_fn(|i| rng.random_range(1..=4.min(side[i] + 2 * padding[i])));
        let stride: [usize; 2] = std::array::from_fn(|_| rng.random_range(1..=2));
        let channels = rng.random_range(1..=4);
        let bias = rng.random();
        layers.push(Layer::Conv2d(Conv2d { stride, padding: padding.into(), bias, ..Conv2d::new(channels, kernel) }));
        side = std::array::from_fn(|i| (side[i] + 2 * padding[i] - kernel[i]) / stride[i] + 1);
        // An activation before the pool or after it, in every other network.
        let early = rng.random();
        if early {
            layers.push(activation(rng));
        }
        if l == 0 || rng.random() {
            let size: [usize; 2] = std::array::from_fn(|i| rng.random_range(1..=3.min(side[i])));
            let stride = rng.random::<bool>().then(|| std::array::from_fn(|_| rng.random_range(1..=3)));
            side = std::array::from_fn(|i| (side[i] - size[i]) / stride.unwrap_or(size)[i] + 1);
            let mean = rng.random();
            let pool = Pool2d { stride, ..Pool2d::new(size) };
            layers.push(if mean { Layer::AvgPool2d(pool) } else { Layer::MaxPool2d(pool) });
        }
        if !early {
            layers.push(activation(rng));
        }
    }
    if convolutions > 0 && rng.random_ratio(1, 5) {
        layers.push(Layer::Conv2d(Conv2d::new(rng.random_range(2..=4), side)));
        if rng.random() {
            layers.push(Layer::Flatten);
        }
    } else {
        layers.push(Layer::Flatten);
        for _ in 0..rng.random_range(0..=2) {
            layers.push(Layer::Dense { units: rng.random_range(1..=6), bias: rng.random() });
            layers.push(activation(rng));
        }
        layers.push(Layer::Dense { units: rng.random_range(2..=4), bias: rng.random() });
    }
    Network::new(input, layers).expect("a valid network")
}

/// Dense and image networks in turn.
pub fn any_network(rng: &mut ChaCha8Rng, seed: u64, activations: &[Layer]) -> Network {
    if seed.is_multiple_of(2) { random_network(rng, activations) } else { random_image_network(rng, activations) }
}

/// A problem of random data for it.
pub fn random_problem(rng: &mut ChaCha8Rng, network: Network, loss: Loss) -> Problem {
    let samples = rng.random_range(1..=23);
    let inputs: Vec<f64> = (0..samples * network.input_len()).map(|_| rng.random_range(-2.0..2.0)).collect();
    let outputs = network.output_len();
    let targets = match loss {
        Loss::CrossEntropy => Targets::Classes((0..samples).map(|_| rng.random_range(0..outputs as u32)).collect()),
        Loss::SquaredError => Targets::Vectors((0..samples * outputs).map(|_| rng.random_range(-1.0..1.0)).collect()),
    };
    Problem::new(network, loss, inputs, targets).expect("a valid problem")
}

/// Parameters with every entry drawn, biases too.
pub fn random_parameters(rng: &mut ChaCha8Rng, network: &Network) -> Vec<f64> {
    let seed = rng.random();
    network.initialize(Initialization::KaimingNormal, BiasInitialization::Uniform, seed).expect("valid options")
}

/// A vector of the network's length.
pub fn random_direction(rng: &mut ChaCha8Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// So many random signs.
pub fn random_signs(rng: &mut ChaCha8Rng, count: usize) -> Vec<f32> {
    (0..count).map(|_| if rng.random() { 1.0 } else { -1.0 }).collect()
}

/// The generator of a seed.
pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Positively homogeneous activations.
pub const HOMOGENEOUS: [Layer; 3] = [Layer::Relu, Layer::LeakyRelu { slope: 0.2 }, Layer::Identity];

/// All of them.
pub const ALL: [Layer; 10] = [
    Layer::Relu,
    Layer::LeakyRelu { slope: 0.2 },
    Layer::Identity,
    Layer::Relu6,
    Layer::Tanh,
    Layer::Sigmoid,
    Layer::Softplus,
    Layer::Silu,
    Layer::Gelu { approximate: GeluApproximation::None },
    Layer::Gelu { approximate: GeluApproximation::Tanh },
];

/// Those that curve.
pub const SMOOTH: &[Layer] = ALL.split_at(4).1;

/// A GPU, or a panic that says how to get one.
pub fn gpu() -> Device {
    pollster::block_on(Device::request(Backend::Gpu, Precision::F32)).unwrap_or_else(|error| {
        panic!(
            "this test needs a Vulkan, Metal or DX12 adapter ({error}); Debian's mesa-vulkan-drivers has a software one"
        )
    })
}

/// The largest |a − b| relative to the largest |b|.
pub fn error(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let largest = b.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
    a.iter().zip(b).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs())) / largest
}

/// Σ a_i b_i.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
