//! What the tests of training in parameter spaces share.

use isoflat::engine::{Device, Engine, Precision};
use isoflat::network::{Conv2d, Layer, Pool2d};
use isoflat::space::{Biases, FixedChoice, FixedValues, Grouping, OpenSpace, ParameterSpace, SpaceKind, TreeValues};
use isoflat::train::{Optimizer, TrainOptions, Training, train_in};
use isoflat::{Control, Loss, Network, Problem, Targets};
use pollster::block_on;

use super::{gpu, random_direction, random_parameters, rng};

pub const KEPT_G: SpaceKind = SpaceKind::GSpace {
    choice: FixedChoice::Diagonal,
    values: FixedValues::Keep,
    tree: TreeValues::Keep,
    biases: Biases::Paths,
};
pub const KEPT: SpaceKind = SpaceKind::WeightFixing { choice: FixedChoice::Diagonal, values: FixedValues::Keep };

pub fn devices() -> [Device; 3] {
    [Device::cpu(Precision::F64), Device::cpu(Precision::F32), gpu()]
}

pub fn optimizers() -> [Optimizer; 4] {
    [
        Optimizer::sgd(0.02),
        Optimizer::Sgd { learning_rate: 0.01, momentum: 0.9 },
        Optimizer::Adam { learning_rate: 0.005, beta1: 0.8, beta2: 0.99, epsilon: 1e-6 },
        Optimizer::adam_w(0.005),
    ]
}

/// A convolution, overlapping pools, unequal widths and biases.
pub fn image_problem() -> (Problem, Vec<f64>) {
    let mut rng = rng(1);
    let layers = vec![
        Layer::Conv2d(Conv2d { padding: [1, 1].into(), ..Conv2d::new(3, [3, 3]) }),
        Layer::Relu,
        Layer::MaxPool2d(Pool2d { stride: Some([2, 2]), ..Pool2d::new([3, 3]) }),
        Layer::Conv2d(Conv2d { bias: false, ..Conv2d::new(4, [2, 2]) }),
        Layer::LeakyRelu { slope: 0.1 },
        Layer::AvgPool2d(Pool2d { stride: Some([1, 1]), ..Pool2d::new([2, 2]) }),
        Layer::Flatten,
        Layer::Dense { units: 6, bias: true },
        Layer::Relu,
        Layer::Dense { units: 3, bias: true },
    ];
    let network = Network::new(vec![2, 7, 7], layers).expect("a network");
    let inputs = random_direction(&mut rng, 24 * 98);
    let targets = Targets::Classes((0..24).map(|i| i % 3).collect());
    let parameters = random_parameters(&mut rng, &network);
    (Problem::new(network, Loss::CrossEntropy, inputs, targets).expect("a problem"), parameters)
}

pub fn open(kind: &SpaceKind, problem: &Problem, parameters: &[f64]) -> OpenSpace {
    kind.open(problem.network(), parameters).expect("a space")
}

pub fn all_kinds() -> Vec<SpaceKind> {
    let mut kinds = vec![SpaceKind::Weights, SpaceKind::WeightNorm { grouping: Grouping::Unit }, KEPT_G, KEPT];
    for values in [FixedValues::Set(0.5), FixedValues::Reparametrize] {
        let choice = FixedChoice::Hungarian;
        kinds.push(SpaceKind::GSpace { choice, values, tree: TreeValues::Keep, biases: Biases::Appended });
        kinds.push(SpaceKind::WeightFixing { choice, values });
    }
    kinds
}

pub fn options(optimizer: Optimizer) -> TrainOptions {
    TrainOptions { optimizer, batch_size: 7, epochs: 3, seed: 5, ..TrainOptions::default() }
}

pub fn run(engine: &Engine, space: &dyn ParameterSpace, parameters: &[f64], options: &TrainOptions) -> Training {
    block_on(train_in(engine, space, parameters, None, options, &Control::default())).expect("training")
}
