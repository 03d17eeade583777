//! Runs: checkpoints that go on to the same bits, targets, schedules, several runs side by side.

use std::cell::Cell;

use crate::support::space_cases::*;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::space::{OpenSpace, ParameterSpace, SpaceKind};
use isoflat::symmetry::Transformation;
use isoflat::train::{
    Checkpoint, Decay, Optimizer, Run, Schedule, Target, TrainOptions, resume, train, train_in, train_side_by_side,
};
use isoflat::{Control, ErrorCode, Network};
use pollster::block_on;

#[test]
fn a_resumed_run_comes_to_the_same_bits() {
    let (problem, start) = image_problem();
    for device in devices() {
        let engine = Engine::new(&device, &problem).expect("an engine");
        for (number, kind) in all_kinds().into_iter().enumerate() {
            let OpenSpace { space, parameters, .. } = open(&kind, &problem, &start);
            let optimizer = optimizers()[number % 4];
            let schedule = Schedule { warm_up_steps: 5, decay: Decay::Linear { epochs: 4, minimum: 0.2 } };
            let options = TrainOptions { epochs: 5, schedule, batch_size: 2, ..options(optimizer) };
            let whole = run(&engine, &*space, &parameters, &options);
            // Finishes between two steps, in the middle of an epoch, and at an epoch's end; and again.
            let mut checkpoint: Option<Checkpoint> = None;
            let mut pieces = 0;
            let resumed = loop {
                let (breaths, most) = (Cell::new(0), [17, 12, 1, 30, 9][pieces % 5]);
                let control = Control::default().finish_when(|| {
                    breaths.set(breaths.get() + 1);
                    breaths.get() > most
                });
                let training = match &checkpoint {
                    None => block_on(train_in(&engine, &*space, &parameters, None, &options, &control)),
                    Some(from) => block_on(resume(&engine, &*space, from, None, &options, &control)),
                };
                let training = training.expect("training");
                pieces += 1;
                if !training.stopped {
                    break training;
                }
                let text = serde_json::to_string(&training.checkpoint).expect("a JSON");
                checkpoint = Some(serde_json::from_str(&text).expect("a checkpoint"));
            };
            assert!(pieces >= 4, "{pieces} pieces");
            assert_eq!(resumed, whole, "{kind:?} on {:?}", device.info());
        }
    }
}

#[test]
fn a_checkpoint_goes_on_in_its_own_run_alone() {
    let (problem, start) = image_problem();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let OpenSpace { space, parameters, .. } = open(&KEPT_G, &problem, &start);
    let options = options(Optimizer::adam(0.01));
    let checkpoint = run(&engine, &*space, &parameters, &options).checkpoint;
    let refuse = |space: &dyn ParameterSpace, checkpoint: &Checkpoint, options: &TrainOptions, says: &str| {
        let error = block_on(resume(&engine, space, checkpoint, None, options, &Control::default()));
        let error = error.expect_err("a fault");
        assert!(error.code == ErrorCode::InvalidOption && error.message.contains(says), "{error:?}");
    };
    let moved = Transformation::RandomNodewise { seed: 3, low: 0.2, high: 5.0 }
        .apply(problem.network(), &start)
        .expect("parameters");
    refuse(&*open(&KEPT_G, &problem, &moved).space, &checkpoint, &options, "fixed weights");
    refuse(&*open(&KEPT, &problem, &start).space, &checkpoint, &options, "weight_fixing");
    refuse(&*space, &checkpoint, &TrainOptions { seed: 6, ..options }, "seed");
    refuse(&*space, &checkpoint, &TrainOptions { batch_size: 8, ..options }, "batches of 8");
    refuse(&*space, &checkpoint, &TrainOptions { optimizer: Optimizer::sgd(0.1), ..options }, "another optimizer");
    let mut broken = checkpoint.clone();
    broken.coordinates.pop();
    refuse(&*space, &broken, &options, "coordinates");
    broken = Checkpoint { steps: 5, ..checkpoint.clone() };
    refuse(&*space, &broken, &options, "5 steps");
    // More epochs at another rate are welcome.
    let more = TrainOptions {
        epochs: 4,
        optimizer: Optimizer::Adam { learning_rate: 0.02, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 },
        ..options
    };
    let found = block_on(resume(&engine, &*space, &checkpoint, None, &more, &Control::default())).expect("training");
    assert_eq!((found.epochs, found.steps), (4, 16));
}

#[test]
fn a_target_ends_a_run() {
    let (problem, start) = image_problem();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    for kind in [SpaceKind::Weights, KEPT] {
        let OpenSpace { space, parameters, .. } = open(&kind, &problem, &start);
        for target in [Target::Accuracy(1.0), Target::Loss(0.05)] {
            let options = TrainOptions { epochs: 2000, target: Some(target), ..options(Optimizer::adam(0.01)) };
            let found = run(&engine, &*space, &parameters, &options);
            assert!(
                found.reached_target && !found.stopped && found.epochs < 2000,
                "{kind:?} {target:?}: {}",
                found.epochs
            );
            let there = block_on(engine.evaluate(&found.parameters)).expect("a loss");
            match target {
                Target::Accuracy(_) => assert_eq!(there.accuracy, 1.0),
                Target::Loss(loss) => assert!(there.loss <= loss),
            }
            let before = TrainOptions { epochs: found.epochs - 1, ..options };
            assert!(!run(&engine, &*space, &parameters, &before).reached_target);
        }
    }
}

#[test]
fn runs_side_by_side_are_the_runs_alone() {
    let (problem, start) = image_problem();
    for device in devices() {
        let engine = Engine::new(&device, &problem).expect("an engine");
        let opened: Vec<OpenSpace> = all_kinds().into_iter().map(|kind| open(&kind, &problem, &start)).collect();
        let mut runs: Vec<Run<'_>> = opened
            .iter()
            .enumerate()
            .map(|(i, open)| {
                let options = TrainOptions { epochs: 1 + i % 3, ..options(optimizers()[i % 4]) };
                Run { space: &*open.space, parameters: &open.parameters, options }
            })
            .collect();
        let weights = &opened[0];
        runs.push(Run {
            space: &*weights.space,
            parameters: &weights.parameters,
            options: options(Optimizer::sgd(1e30)),
        });
        let seen = std::cell::RefCell::new(std::collections::BTreeSet::new());
        let control = Control::default().on_progress(|progress| {
            seen.borrow_mut().insert(progress.numbers["run"] as usize);
        });
        let found = block_on(train_side_by_side(&engine, &runs, None, &control)).expect("runs");
        let (diverged, found) = found.split_last().expect("runs");
        assert_eq!(diverged.as_ref().expect_err("a divergence").code, ErrorCode::NotFinite);
        for (run_, found) in runs.iter().zip(found) {
            assert_eq!(found.as_ref().expect("training"), &run(&engine, run_.space, run_.parameters, &run_.options));
        }
        assert!(seen.borrow().len() >= 8);
    }
}

#[test]
fn schedules_are_pytorchs() {
    let at = |decay: Decay| -> Vec<f64> {
        (0..6).map(|epoch| Schedule { warm_up_steps: 0, decay }.factor(epoch, 100)).collect()
    };
    assert_eq!(at(Decay::Constant), [1.0; 6]);
    assert_eq!(at(Decay::Step { every: 2, factor: 0.5 }), [1.0, 1.0, 0.5, 0.5, 0.25, 0.25]);
    assert_eq!(at(Decay::Exponential { factor: 0.5 }), [1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125]);
    assert_eq!(
        at(Decay::Linear { epochs: 4, minimum: 0.2 }),
        [1.0, 0.8, 0.6, 0.3999999999999999, 0.19999999999999996, 0.19999999999999996]
    );
    // CosineAnnealingLR with T_max = 4: (1 + cos(π e/4)) / 2.
    let root = 0.5_f64.sqrt();
    let expected = [1.0, (1.0 + root) / 2.0, 0.5, (1.0 - root) / 2.0, 0.0, 0.0];
    for (found, expected) in at(Decay::Cosine { epochs: 4, minimum: 0.0 }).iter().zip(expected) {
        assert!((found - expected).abs() < 1e-15);
    }
    let warm = Schedule { warm_up_steps: 4, decay: Decay::Constant };
    assert_eq!([1, 2, 3, 4, 5].map(|step| warm.factor(0, step)), [0.25, 0.5, 0.75, 1.0, 1.0]);
}

#[test]
fn bad_options_are_errors() {
    let (problem, start) = image_problem();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let good = options(Optimizer::adam_w(0.01));
    let scheduled = |decay| TrainOptions { schedule: Schedule { warm_up_steps: 0, decay }, ..good };
    for (options, says) in [
        (TrainOptions { weight_decay: -1.0, ..good }, "weight decay"),
        (TrainOptions { weight_decay: f64::NAN, ..good }, "weight decay"),
        (TrainOptions { target: Some(Target::Accuracy(1.5)), ..good }, "target accuracy"),
        (TrainOptions { target: Some(Target::Loss(f64::NAN)), ..good }, "target loss"),
        (scheduled(Decay::Step { every: 0, factor: 0.5 }), "0 epochs"),
        (scheduled(Decay::Cosine { epochs: 0, minimum: 0.0 }), "0 epochs"),
        (scheduled(Decay::Exponential { factor: 1.5 }), "factor is 1.5"),
        (TrainOptions { optimizer: Optimizer::adam_w(-1.0), ..good }, "learning rate"),
    ] {
        let error = block_on(train(&engine, &start, None, &options, &Control::default())).expect_err("a fault");
        assert!(error.code == ErrorCode::InvalidOption && error.message.contains(says), "{error:?}");
    }
    // A space of another network.
    let other = Network::dense(&[3, 4, 2], true).expect("a network");
    let parameters = vec![1.0; other.parameter_count()];
    let space = KEPT.open(&other, &parameters).expect("a space").space;
    let error = block_on(train_in(&engine, &*space, &start, None, &good, &Control::default())).expect_err("a fault");
    assert_eq!(error.code, ErrorCode::InvalidParameters);
}
