//! Training in the G-space against PyTorch's, which knows paths as products alone: tests/fixtures/pytorch/paths.py says how.

use crate::support::space_cases::{open, options, run};
use crate::support::*;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::space::{Biases, FixedChoice, FixedValues, SpaceKind, TreeValues};
use isoflat::train::{Optimizer, TrainOptions};
use isoflat::{Loss, Network, Problem, Targets};
use serde::Deserialize;

const PATHS: &str = include_str!("../fixtures/pytorch/paths.json");

#[derive(Deserialize)]
struct Paths {
    steps: usize,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    widths: Vec<usize>,
    bias: bool,
    biases: Biases,
    /// What the whole skeleton is set to, the tree's weights of the first layer with it.
    set: Option<f64>,
    optimizer: String,
    inputs: Vec<Vec<f64>>,
    targets: Vec<u32>,
    parameters: Vec<f64>,
    /// Before each step.
    losses: Vec<f64>,
    /// The parameters after the first step, and after the last.
    trained: [Vec<f64>; 2],
}

impl Case {
    fn optimizer(&self) -> Optimizer {
        match self.optimizer.as_str() {
            "sgd" => Optimizer::Sgd { learning_rate: 0.05, momentum: 0.5 },
            "adam" => Optimizer::adam(0.01),
            name => panic!("{name}: an optimiser that paths.py has and this test has not"),
        }
    }

    fn kind(&self) -> SpaceKind {
        let (values, tree) = match self.set {
            None => (FixedValues::Keep, TreeValues::Keep),
            Some(value) => (FixedValues::Set(value), TreeValues::Set(value)),
        };
        SpaceKind::GSpace { choice: FixedChoice::Diagonal, values, tree, biases: self.biases }
    }
}

/// With weights kept and with all of the skeleton at 1, as the author's program begins: SGD and Adam, biases as paths and not.
#[test]
fn the_g_space_trains_as_a_program_of_paths_does() {
    let Paths { steps, cases } = serde_json::from_str(PATHS).expect("paths.json");
    for case in &cases {
        let network = Network::dense(&case.widths, case.bias).expect("a network");
        let targets = Targets::Classes(case.targets.clone());
        let problem = Problem::new(network, Loss::CrossEntropy, case.inputs.concat(), targets).expect("a problem");
        let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
        let begun = open(&case.kind(), &problem, &case.parameters);
        for (epochs, expected) in [1, steps].into_iter().zip(&case.trained) {
            let options = TrainOptions { batch_size: case.targets.len(), epochs, ..options(case.optimizer()) };
            let found = run(&engine, &*begun.space, &begun.parameters, &options);
            let title = format!("{:?} set to {:?}, {}, {epochs} steps", case.widths, case.set, case.optimizer);
            let off = error(&found.parameters, expected);
            assert!(off < 1e-9, "{title}: {off:.1e}");
            for (epoch, loss) in found.history.iter().zip(&case.losses) {
                assert!((epoch.loss - loss).abs() < 1e-10 * loss.max(1.0), "{title}: {} for {loss}", epoch.loss);
            }
        }
    }
    assert_eq!(cases.len(), 12);
}
