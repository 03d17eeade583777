//! Random invariance tables: networks, data of every size, points and maps, from a seed.

use isoflat::engine::{Device, Engine, Precision};
use isoflat::invariance::{InvarianceTable, invariance};
use isoflat::measure::{Measure, MeasureOptions, SharpnessOptions};
use isoflat::network::{BiasInitialization, Initialization, Layer};
use isoflat::symmetry::Transformation;
use isoflat::train::{TrainOptions, train};
use isoflat::{Control, Loss, Network, Problem, Targets};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::{HOMOGENEOUS, random_image_network, rng};

/// A table's ingredients.
pub struct Case {
    /// Network, loss and data.
    pub problem: Problem,
    /// The point.
    pub parameters: Vec<f64>,
    /// Maps that the network has.
    pub maps: Vec<Transformation>,
    /// In a few words.
    pub summary: String,
}

/// Parameters of a network at most: of most, so few that spectra are taken whole and quickly, of some, so many that they are
/// not taken whole.
const PARAMETERS: [usize; 2] = [160, 1200];

fn dense_network(rng: &mut ChaCha8Rng, widths: usize, activation: &[Layer]) -> Network {
    let has_bias = rng.random();
    let mut layers = Vec::new();
    let depth = rng.random_range(2..=4);
    for l in 0..depth {
        let units = if l + 1 == depth { rng.random_range(2..=6) } else { rng.random_range(2..=widths) };
        layers.push(Layer::Dense { units, bias: has_bias });
        if l + 1 < depth {
            layers.push(activation[rng.random_range(0..activation.len())].clone());
        }
    }
    Network::new(vec![rng.random_range(2..=30)], layers).expect("a valid network")
}

fn network(rng: &mut ChaCha8Rng) -> Network {
    let (most, widths) = if rng.random_ratio(1, 15) { (PARAMETERS[1], 30) } else { (PARAMETERS[0], 12) };
    loop {
        let network = match rng.random_range(0..10) {
            0 => dense_network(rng, widths, &[Layer::Tanh]),
            1..=3 => random_image_network(rng, &HOMOGENEOUS),
            _ => dense_network(rng, widths, &HOMOGENEOUS),
        };
        if network.parameter_count() <= most && network.layout().layers().len() > 1 {
            return network;
        }
    }
}

/// Inputs like normal numbers, like pixels, or like pixels of which most are 0; times a power of ten from 1e-6 to 1e6.
fn inputs(rng: &mut ChaCha8Rng, count: usize) -> (Vec<f64>, String) {
    let scale = 10f64.powi(rng.random_range(-6..=6));
    let kind = rng.random_range(0..3);
    let value = |rng: &mut ChaCha8Rng| match kind {
        0 => rng.random_range(-2.0..2.0),
        1 => f64::from(rng.random_range(0..=255u8)) / 255.0,
        _ if rng.random_ratio(4, 5) => 0.0,
        _ => f64::from(rng.random_range(0..=255u8)) / 255.0,
    };
    let values = (0..count).map(|_| scale * value(rng)).collect();
    (values, format!("{} of {scale:e}", ["numbers", "pixels", "sparse pixels"][kind]))
}

fn point(rng: &mut ChaCha8Rng, problem: &Problem) -> (Vec<f64>, String) {
    let weights = match rng.random_range(0..5) {
        0 => Initialization::XavierNormal,
        1 => Initialization::KaimingUniform,
        2 => Initialization::KaimingNormal,
        3 => Initialization::Uniform { bound: 0.1 },
        _ => Initialization::Normal { sigma: 1.0 },
    };
    let biases = if rng.random() { BiasInitialization::Zero } else { BiasInitialization::Uniform };
    let fresh = problem.network().initialize(weights, biases, rng.random()).expect("valid options");
    if rng.random_ratio(2, 3) {
        return (fresh, format!("{weights:?}, {biases:?}"));
    }
    let engine = Engine::new(&Device::cpu(Precision::F64), problem).expect("an engine");
    let epochs = [1, 20][rng.random_range(0..2)];
    let options = TrainOptions { batch_size: 8, epochs, ..TrainOptions::default() };
    match pollster::block_on(train(&engine, &fresh, None, &options, &Control::default())) {
        Ok(found) if found.parameters.iter().all(|w| w.is_finite()) => {
            (found.parameters, format!("{weights:?}, {epochs} epochs"))
        }
        _ => (fresh, format!("{weights:?}, {biases:?}, training failed")),
    }
}

fn map(rng: &mut ChaCha8Rng, network: &Network, depth: usize) -> Transformation {
    let seed = rng.random();
    if network.first_inhomogeneous_layer().is_some() {
        return Transformation::RandomPermutation { seed };
    }
    let high = [2.0, 10.0, 1e3, 1e6, 1e12][rng.random_range(0..5)];
    let low = 1.0 / high;
    match rng.random_range(0..if depth == 0 { 6 } else { 4 }) {
        0 => Transformation::RandomLayerwise { seed, low, high },
        1 => Transformation::RandomNodewise { seed, low, high },
        2 => Transformation::RandomPermutation { seed },
        3 if network.layout().layers().len() == 2 => Transformation::AlphaScale { alpha: high },
        3 => Transformation::RandomLayerwise { seed, low: 0.3, high: 3.0 },
        _ => {
            let count = rng.random_range(2..=5);
            Transformation::Composition { of: (0..count).map(|_| map(rng, network, depth + 1)).collect() }
        }
    }
}

impl Case {
    /// The case of a seed.
    pub fn new(seed: u64) -> Self {
        let mut rng = rng(seed);
        let network = network(&mut rng);
        let samples = rng.random_range(1..=40);
        let (inputs, data) = inputs(&mut rng, samples * network.input_len());
        let outputs = network.output_len();
        let (loss, targets) = if rng.random() {
            let labels = (0..samples).map(|_| rng.random_range(0..outputs as u32)).collect();
            (Loss::CrossEntropy, Targets::Classes(labels))
        } else {
            let values = (0..samples * outputs).map(|_| rng.random_range(-1.0..1.0)).collect();
            (Loss::SquaredError, Targets::Vectors(values))
        };
        let problem = Problem::new(network.clone(), loss, inputs, targets).expect("a valid problem");
        let (parameters, start) = point(&mut rng, &problem);
        let maps = (0..3).map(|_| map(&mut rng, &network, 0)).collect();
        let summary = format!("{}, {}, {samples} {data}, {start}", network.summary(), loss.name());
        Self { problem, parameters, maps, summary }
    }

    /// Its table.
    pub fn table(&self, device: &Device, measures: &[&'static Measure]) -> isoflat::Result<InvarianceTable> {
        let engine = Engine::new(device, &self.problem)?;
        let sharpness = SharpnessOptions {
            pairs: Some(10),
            subspaces: Some(2),
            restarts: Some(1),
            max_iterations: 60,
            subspace_dimension: 6,
            ..SharpnessOptions::default()
        };
        let options = MeasureOptions { sharpness, ..MeasureOptions::default() };
        let control = Control::default();
        pollster::block_on(invariance(&engine, &self.parameters, measures, &self.maps, &options, &control))
    }
}
