//! Training on either executor: it learns, the same seed gives the same run, it stops, and it says what is wrong.

use std::cell::Cell;

use crate::support::*;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::network::{BiasInitialization, Initialization};
use isoflat::train::{Optimizer, Snapshots, Target, TrainOptions, Training, train};
use isoflat::{Control, ErrorCode, Loss, Network, Problem, Targets};
use rand::Rng;

/// Two noisy rings: no straight line tells them apart.
fn rings(samples: usize, seed: u64) -> Problem {
    let mut rng = rng(seed);
    let (mut inputs, mut labels) = (Vec::new(), Vec::new());
    for i in 0..samples {
        let class = (i % 2) as u32;
        let angle: f64 = rng.random_range(0.0..std::f64::consts::TAU);
        let radius = 1.0 + f64::from(class) + rng.random_range(-0.2..0.2);
        inputs.extend([radius * angle.cos(), radius * angle.sin()]);
        labels.push(class);
    }
    let network = Network::dense(&[2, 16, 8, 2], true).expect("a network");
    Problem::new(network, Loss::CrossEntropy, inputs, Targets::Classes(labels)).expect("a problem")
}

fn start(problem: &Problem) -> Vec<f64> {
    problem.network().initialize(Initialization::KaimingUniform, BiasInitialization::Zero, 1).expect("parameters")
}

fn run(device: &Device, options: &TrainOptions, control: &Control<'_>) -> isoflat::Result<Training> {
    let (problem, validation) = (rings(400, 1), rings(200, 2));
    let engine = Engine::new(device, &problem)?;
    let validation = Engine::new(device, &validation)?;
    pollster::block_on(train(&engine, &start(&problem), Some(&validation), options, control))
}

const OPTIMIZERS: [Optimizer; 3] = [
    Optimizer::Sgd { learning_rate: 0.3, momentum: 0.0 },
    Optimizer::Sgd { learning_rate: 0.05, momentum: 0.9 },
    Optimizer::Adam { learning_rate: 0.01, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 },
];

#[test]
fn every_optimizer_learns_on_every_device_and_repeats_itself() {
    for device in [Device::cpu(Precision::F64), Device::cpu(Precision::F32), gpu()] {
        for optimizer in OPTIMIZERS {
            let options = TrainOptions { optimizer, batch_size: 32, epochs: 25, seed: 3, ..TrainOptions::default() };
            let found = run(&device, &options, &Control::default()).expect("training");
            assert_eq!((found.epochs, found.steps, found.stopped), (25, 25 * 13, false));
            let last = found.history[24];
            let validation = last.validation_accuracy.expect("a validation");
            assert!(validation > 0.97, "{optimizer:?} on {:?}: {last:?}", device.info());
            let again = run(&device, &options, &Control::default()).expect("training");
            assert_eq!(found, again, "the same seed gives another run");
        }
    }
}

/// The first steps against the rules spelt out on the host.
#[test]
fn steps_follow_the_rules() {
    let problem = rings(64, 1);
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    for optimizer in OPTIMIZERS {
        let mut theta = start(&problem);
        let (mut mean, mut square) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
        for t in 1..=3 {
            pollster::block_on(engine.prepare(&theta)).expect("a point");
            let gradient = pollster::block_on(engine.gradient()).expect("a gradient");
            for i in 0..theta.len() {
                let g = gradient[i];
                match optimizer {
                    Optimizer::Sgd { learning_rate, momentum } => {
                        mean[i] = momentum * mean[i] + g;
                        theta[i] -= learning_rate * mean[i];
                    }
                    Optimizer::Adam { learning_rate, beta1, beta2, epsilon }
                    | Optimizer::AdamW { learning_rate, beta1, beta2, epsilon } => {
                        mean[i] = beta1 * mean[i] + (1.0 - beta1) * g;
                        square[i] = beta2 * square[i] + (1.0 - beta2) * g * g;
                        let (m, v) = (mean[i] / (1.0 - beta1.powi(t)), square[i] / (1.0 - beta2.powi(t)));
                        theta[i] -= learning_rate * m / (v.sqrt() + epsilon);
                    }
                }
            }
        }
        let options = TrainOptions { optimizer, batch_size: 1000, epochs: 3, ..TrainOptions::default() };
        let (start, control) = (start(&problem), Control::default());
        let found = pollster::block_on(train(&engine, &start, None, &options, &control)).expect("training");
        // The order of the samples differs, and with it the rounding.
        assert!(error(&found.parameters, &theta) < 1e-9, "{optimizer:?}: {:.1e}", error(&found.parameters, &theta));
    }
}

#[test]
fn a_wish_to_finish_hands_over_what_was_reached() {
    let options = TrainOptions { epochs: 1_000_000, ..TrainOptions::default() };
    let reports = Cell::new(0);
    let control = Control::default()
        .on_progress(|progress| {
            assert_eq!(progress.phase, "training");
            assert!(progress.numbers.contains_key("loss"));
            reports.set(reports.get() + 1);
        })
        .finish_when(|| reports.get() == 20);
    let found = run(&Device::cpu(Precision::F64), &options, &control).expect("training");
    assert!(found.stopped && found.steps > 0 && found.epochs == found.history.len());
    assert_ne!(found.parameters, start(&rings(400, 1)));
}

#[test]
fn a_stop_hands_over_nothing() {
    let options = TrainOptions { epochs: 1_000_000, ..TrainOptions::default() };
    let reports = Cell::new(0);
    let control = Control::default().on_progress(|_| reports.set(reports.get() + 1)).stop_when(|| reports.get() == 3);
    let found = run(&Device::cpu(Precision::F64), &options, &control).expect_err("a stop");
    assert_eq!(found.code, ErrorCode::Aborted);
}

#[test]
fn a_last_step_that_diverges_is_an_error() {
    // One step, whose own loss is the one before it: only what it leads to overflows.
    let options = TrainOptions {
        optimizer: Optimizer::Sgd { learning_rate: 1e160, momentum: 0.0 },
        batch_size: 400,
        epochs: 1,
        ..TrainOptions::default()
    };
    let problem = rings(400, 1);
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let found = pollster::block_on(train(&engine, &start(&problem), None, &options, &Control::default()));
    let found = found.expect_err("a divergence");
    assert_eq!(found.code, ErrorCode::NotFinite, "{found}");
    assert!(found.message.contains("last step"), "{found}");
}

#[test]
fn bad_options_and_divergence_are_errors() {
    let device = Device::cpu(Precision::F64);
    let sgd = |learning_rate, momentum| TrainOptions {
        optimizer: Optimizer::Sgd { learning_rate, momentum },
        ..TrainOptions::default()
    };
    for (options, code, says) in [
        (sgd(0.0, 0.0), ErrorCode::InvalidOption, "learning rate"),
        (sgd(f64::NAN, 0.0), ErrorCode::InvalidOption, "learning rate"),
        (sgd(0.1, 1.0), ErrorCode::InvalidOption, "momentum"),
        (TrainOptions { batch_size: 0, ..TrainOptions::default() }, ErrorCode::InvalidOption, "batch size"),
        (sgd(1e200, 0.0), ErrorCode::NotFinite, "smaller learning rate"),
        (
            // What is kept of the way overflows before a loss is read.
            TrainOptions { snapshots: Some(Snapshots::Every(1)), ..sgd(1e200, 0.0) },
            ErrorCode::NotFinite,
            "training diverged by step 2: try a smaller learning rate",
        ),
    ] {
        let found = run(&device, &options, &Control::default()).expect_err("a fault");
        assert_eq!(found.code, code, "{found}");
        assert!(found.message.contains(says), "{found}");
    }
}

#[test]
fn what_one_loss_has_is_not_asked_of_the_other() {
    let device = Device::cpu(Precision::F64);
    let classes = rings(40, 1);
    let targets = Targets::Vectors(vec![0.5; 80]);
    let (network, inputs) = (classes.network().clone(), classes.inputs().clone());
    let vectors = Problem::new(network, Loss::SquaredError, inputs, targets).expect("a problem");
    let theta = start(&classes);
    let trained = |problem: &Problem, validation: &Problem, target: Option<Target>| {
        let [engine, validation] = [problem, validation].map(|of| Engine::new(&device, of).expect("an engine"));
        let options = TrainOptions { epochs: 1, target, ..TrainOptions::default() };
        pollster::block_on(train(&engine, &theta, Some(&validation), &options, &Control::default()))
    };
    let accuracy = Some(Target::Accuracy(0.9));
    for (problem, validation, target, says) in [
        (
            &classes,
            &vectors,
            None,
            "the validation problem's loss is squared_error, but that of the training is cross_entropy",
        ),
        (&vectors, &classes, None, "the validation problem's loss is cross_entropy"),
        (&vectors, &vectors, accuracy, "squared_error has no accuracy"),
    ] {
        let error = trained(problem, validation, target).expect_err("a refusal");
        assert!(error.code == ErrorCode::InvalidOption && error.message.contains(says), "{error}");
    }
    trained(&classes, &classes, accuracy).expect("a training");
    trained(&vectors, &vectors, Some(Target::Loss(0.1))).expect("a training");
}
