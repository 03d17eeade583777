//! Training in parameter spaces: the optimisers' rules in PyTorch's conventions, fixed weights that stay, invariance of G-SGD,
//! checkpoints, schedules, targets and runs side by side.
#![cfg(not(target_arch = "wasm32"))]

mod support;

use std::cell::Cell;

use isoflat::engine::{Device, Engine, Precision};
use isoflat::network::Layer;
use isoflat::space::{Biases, FixedChoice, FixedValues, Grouping, OpenSpace, ParameterSpace, SpaceKind};
use isoflat::symmetry::Transformation;
use isoflat::train::{
    Checkpoint, Decay, Optimizer, Run, Schedule, Target, TrainOptions, Training, resume, train, train_in,
    train_side_by_side,
};
use isoflat::{Control, ErrorCode, Loss, Network, Problem, Targets};
use pollster::block_on;
use support::*;

const KEPT_G: SpaceKind =
    SpaceKind::GSpace { choice: FixedChoice::Diagonal, values: FixedValues::Keep, biases: Biases::Paths };
const KEPT: SpaceKind = SpaceKind::WeightFixing { choice: FixedChoice::Diagonal, values: FixedValues::Keep };

fn devices() -> [Device; 3] {
    [Device::cpu(Precision::F64), Device::cpu(Precision::F32), gpu()]
}

fn optimizers() -> [Optimizer; 4] {
    [
        Optimizer::sgd(0.02),
        Optimizer::Sgd { learning_rate: 0.01, momentum: 0.9 },
        Optimizer::Adam { learning_rate: 0.005, beta1: 0.8, beta2: 0.99, epsilon: 1e-6 },
        Optimizer::adam_w(0.005),
    ]
}

/// A convolution, overlapping pools, unequal widths and biases.
fn image_problem() -> (Problem, Vec<f64>) {
    let mut rng = rng(1);
    let layers = vec![
        Layer::Conv2d { channels: 3, kernel: [3, 3], stride: [1, 1], padding: [1, 1], bias: true },
        Layer::Relu,
        Layer::MaxPool2d { size: [3, 3], stride: Some([2, 2]) },
        Layer::Conv2d { channels: 4, kernel: [2, 2], stride: [1, 1], padding: [0, 0], bias: false },
        Layer::LeakyRelu { slope: 0.1 },
        Layer::AvgPool2d { size: [2, 2], stride: Some([1, 1]) },
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

fn open(kind: SpaceKind, problem: &Problem, parameters: &[f64]) -> OpenSpace {
    kind.open(problem.network(), parameters).expect("a space")
}

fn all_kinds() -> Vec<SpaceKind> {
    let mut kinds = vec![SpaceKind::Weights, SpaceKind::WeightNorm { grouping: Grouping::Unit }, KEPT_G, KEPT];
    for values in [FixedValues::Set(0.5), FixedValues::Reparametrize] {
        let choice = FixedChoice::Hungarian;
        kinds.push(SpaceKind::GSpace { choice, values, biases: Biases::Appended });
        kinds.push(SpaceKind::WeightFixing { choice, values });
    }
    kinds
}

fn options(optimizer: Optimizer) -> TrainOptions {
    TrainOptions { optimizer, batch_size: 7, epochs: 3, seed: 5, ..TrainOptions::default() }
}

fn run(engine: &Engine, space: &dyn ParameterSpace, parameters: &[f64], options: &TrainOptions) -> Training {
    block_on(train_in(engine, space, parameters, None, options, &Control::default())).expect("training")
}

/// The rules of torch.optim.SGD, Adam and AdamW (their documentation's algorithms), on numbers.
#[derive(Default)]
struct Torch {
    t: i32,
    buffer: Vec<f64>,
    m: Vec<f64>,
    v: Vec<f64>,
}

impl Torch {
    fn step(&mut self, optimizer: Optimizer, lr: f64, decay: f64, gradient: &[f64], theta: &mut [f64]) {
        self.t += 1;
        let n = theta.len();
        if self.t == 1 {
            (self.buffer, self.m, self.v) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        }
        for i in 0..n {
            let mut g = gradient[i];
            match optimizer {
                Optimizer::Sgd { momentum, .. } => {
                    g += decay * theta[i];
                    self.buffer[i] = if self.t == 1 { g } else { momentum * self.buffer[i] + g };
                    theta[i] -= lr * self.buffer[i];
                }
                Optimizer::Adam { beta1, beta2, epsilon, .. } | Optimizer::AdamW { beta1, beta2, epsilon, .. } => {
                    if matches!(optimizer, Optimizer::AdamW { .. }) {
                        theta[i] -= lr * decay * theta[i];
                    } else {
                        g += decay * theta[i];
                    }
                    self.m[i] = beta1 * self.m[i] + (1.0 - beta1) * g;
                    self.v[i] = beta2 * self.v[i] + (1.0 - beta2) * g * g;
                    let m_hat = self.m[i] / (1.0 - beta1.powi(self.t));
                    let v_hat = self.v[i] / (1.0 - beta2.powi(self.t));
                    theta[i] -= lr * m_hat / (v_hat.sqrt() + epsilon);
                }
            }
        }
    }
}

/// One weight w, one sample x = 2 with target 1: L = (2w − 1)², ∂L/∂w = 4 (2w − 1). Nothing of the crate but training itself.
#[test]
fn optimizers_follow_their_published_rules_step_by_step() {
    let network = Network::dense(&[1, 1], false).expect("a network");
    let problem = Problem::new(network, Loss::SquaredError, vec![2.0], Targets::Vectors(vec![1.0]));
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem.expect("a problem")).expect("an engine");
    let decays = [Decay::Constant, Decay::Step { every: 2, factor: 0.5 }, Decay::Cosine { epochs: 5, minimum: 0.1 }];
    for optimizer in optimizers() {
        for (weight_decay, decay) in [0.0, 0.1, 0.3].into_iter().zip(decays) {
            let schedule = Schedule { warm_up_steps: 3, decay };
            let mut w = [1.5];
            let mut torch = Torch::default();
            for epoch in 0..8 {
                // A step an epoch; written out, not asked of `Schedule::factor`.
                let fall = match decay {
                    Decay::Step { .. } => 0.5_f64.powi(epoch / 2),
                    Decay::Cosine { .. } => {
                        let share = f64::from(epoch.min(5)) / 5.0;
                        0.1 + 0.45 * (1.0 + (std::f64::consts::PI * share).cos())
                    }
                    _ => 1.0,
                };
                let lr = optimizer.learning_rate() * fall * (f64::from(epoch + 1) / 3.0).min(1.0);
                let gradient = [4.0 * (2.0 * w[0] - 1.0)];
                torch.step(optimizer, lr, weight_decay, &gradient, &mut w);
                let options = TrainOptions {
                    epochs: epoch as usize + 1,
                    weight_decay,
                    schedule,
                    batch_size: 1,
                    ..options(optimizer)
                };
                let found = block_on(train(&engine, &[1.5], None, &options, &Control::default())).expect("training");
                let error = (found.parameters[0] - w[0]).abs();
                assert!(error < 1e-13, "{optimizer:?} {schedule:?} step {epoch}: {found:?}, expected {w:?}");
            }
        }
    }
}

/// The same rules over coordinates, with gradients pulled back on the host: whole-batch steps in every space.
#[test]
fn optimizers_run_on_coordinates_in_every_space() {
    let (problem, start) = image_problem();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    for kind in all_kinds() {
        let OpenSpace { space, parameters, .. } = open(kind, &problem, &start);
        for optimizer in optimizers() {
            let options = TrainOptions { batch_size: 100, epochs: 4, weight_decay: 0.01, ..options(optimizer) };
            let mut v = space.to_coordinates(&parameters).expect("coordinates");
            let mut torch = Torch::default();
            for _ in 0..options.epochs {
                engine.prepare(&space.to_parameters(&v).expect("parameters")).expect("a point");
                let gradient = block_on(engine.gradient()).expect("a gradient");
                let gradient = space.pull_back(&v, &gradient).expect("a gradient");
                torch.step(optimizer, optimizer.learning_rate(), options.weight_decay, &gradient, &mut v);
            }
            let found = run(&engine, &*space, &parameters, &options);
            // The order of the samples differs, and with it the rounding, which the factors of a space multiply.
            assert!(error(&found.coordinates, &v) < 1e-8, "{kind:?} {optimizer:?}: {:.1e}", error(&found.coordinates, &v));
        }
    }
}

/// One known implementation makes a new Adam every step, which leaves the sign of the gradient alone: its steps are all of size η.
#[test]
fn adam_keeps_its_state_in_the_g_space() {
    let (problem, start) = image_problem();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let OpenSpace { space, parameters, .. } = open(KEPT_G, &problem, &start);
    let optimizer = Optimizer::adam(1e-3);
    let options = |epochs| TrainOptions { batch_size: 100, epochs, ..options(optimizer) };
    let kept = run(&engine, &*space, &parameters, &options(5));
    let mut forgetful = parameters.clone();
    for _ in 0..5 {
        forgetful = run(&engine, &*space, &forgetful, &options(1)).parameters;
    }
    let start = space.to_coordinates(&parameters).expect("coordinates");
    let forgetful = space.to_coordinates(&forgetful).expect("coordinates");
    let moved = |v: &[f64]| v.iter().zip(&start).map(|(a, b)| (a - b).abs()).collect::<Vec<_>>();
    let (kept, forgetful) = (moved(&kept.coordinates), moved(&forgetful));
    assert!(error(&kept, &forgetful) > 0.05, "nothing is kept from step to step");
}

/// One known implementation ignores the value that weights are to be fixed at.
#[test]
fn every_fixed_value_has_effect() {
    let (problem, start) = image_problem();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let mut found: Vec<Vec<f64>> = Vec::new();
    for value in [1.0, 0.3, -2.0] {
        for kind in [
            SpaceKind::GSpace {
                choice: FixedChoice::Diagonal,
                values: FixedValues::Set(value),
                biases: Biases::Appended,
            },
            SpaceKind::WeightFixing { choice: FixedChoice::Diagonal, values: FixedValues::Set(value) },
        ] {
            let OpenSpace { space, parameters, keeps_function, .. } = open(kind, &problem, &start);
            assert!(!keeps_function, "setting fixed weights changes the function");
            let training = run(&engine, &*space, &parameters, &options(Optimizer::sgd(1e-3)));
            let fixed = parameters.iter().zip(&start).filter(|(a, b)| a != b).count();
            let still = training.parameters.iter().filter(|w| **w == value).count();
            assert_eq!(still, fixed, "{kind:?}");
            assert!(found.iter().all(|other| error(other, &training.parameters) > 1e-3), "{kind:?} as another");
            found.push(training.parameters);
        }
    }
}

#[test]
fn fixed_weights_never_move() {
    let (problem, start) = image_problem();
    for device in devices() {
        let engine = Engine::new(&device, &problem).expect("an engine");
        for kind in all_kinds().into_iter().filter(|kind| !matches!(kind, SpaceKind::Weights | SpaceKind::WeightNorm { .. })) {
            let OpenSpace { space, parameters, .. } = open(kind, &problem, &start);
            for optimizer in optimizers() {
                let options = TrainOptions { weight_decay: 0.05, ..options(optimizer) };
                let training = run(&engine, &*space, &parameters, &options);
                let moved: Vec<usize> = (0..parameters.len())
                    .filter(|&i| training.parameters[i].to_bits() != parameters[i].to_bits())
                    .collect();
                // 3 + 4 + 6 hidden units or channels. On a coarse device a free weight may rarely come back to its start.
                assert!(parameters.len() - moved.len() >= 13, "{kind:?} {optimizer:?}: a fixed weight moved");
                assert!(moved.len() + 13 + 3 >= parameters.len(), "{kind:?} {optimizer:?}: free weights stood still");
                for index in fixed_of(kind, &problem, &start) {
                    assert!(!moved.contains(&index), "{kind:?} {optimizer:?} on {:?}: {index} moved", device.info());
                }
            }
        }
    }
}

/// The fixed weights on the device itself, after steps there: θ as the executor makes it from the trained coordinates.
#[test]
fn fixed_weights_are_constants_on_the_device() {
    let (problem, start) = image_problem();
    for device in devices() {
        let engine = Engine::new(&device, &problem).expect("an engine");
        let e = engine.executor();
        let OpenSpace { space, parameters, .. } = open(KEPT_G, &problem, &start);
        let training = run(&engine, &*space, &parameters, &options(Optimizer::adam(0.01)));
        let chart = e.load_chart(space.chart()).expect("a chart");
        let v = e.upload(&training.coordinates, 1).expect("coordinates");
        let mut theta = e.zeros(parameters.len(), 1).expect("parameters");
        e.chart_parameters(&chart, &v, &mut theta).expect("parameters");
        let theta = block_on(e.download(&theta)).expect("parameters");
        for index in fixed_of(KEPT_G, &problem, &start) {
            let kept = match device.info().precision {
                Precision::F64 => parameters[index],
                Precision::F32 => f64::from(parameters[index] as f32),
            };
            assert_eq!(theta[index].to_bits(), kept.to_bits(), "on {:?}", device.info());
        }
    }
}

fn fixed_of(kind: SpaceKind, problem: &Problem, start: &[f64]) -> Vec<usize> {
    let choice = match kind {
        SpaceKind::GSpace { choice, .. } | SpaceKind::WeightFixing { choice, .. } => choice,
        _ => return Vec::new(),
    };
    isoflat::space::Skeleton::new(problem.network(), start, choice).expect("a skeleton").fixed_indices()
}

/// G-SGD's path values after training do not depend on which rescaling of a network it began at; SGD's do.
#[test]
fn g_sgd_is_invariant_and_sgd_is_not() {
    let (problem, start) = image_problem();
    let moved = Transformation::RandomNodewise { seed: 3, low: 0.2, high: 5.0 }
        .apply(problem.network(), &start)
        .expect("parameters");
    for device in devices() {
        let engine = Engine::new(&device, &problem).expect("an engine");
        // The gradient of a path value is multiplied with 1/(in out) twice on its way to the weights: a small rate.
        let options = TrainOptions { epochs: 6, ..options(Optimizer::Sgd { learning_rate: 1e-4, momentum: 0.5 }) };
        let (here, there) = (open(KEPT_G, &problem, &start), open(KEPT_G, &problem, &moved));
        let a = run(&engine, &*here.space, &here.parameters, &options);
        let b = run(&engine, &*there.space, &there.parameters, &options);
        let before = here.space.to_coordinates(&start).expect("coordinates");
        let learnt = error(&a.coordinates, &before);
        assert!(learnt > 1e-3, "nothing was learnt: {learnt:.1e}");
        let tolerance = if device.info().precision == Precision::F64 { 1e-9 } else { 1e-3 };
        let difference = error(&a.coordinates, &b.coordinates);
        assert!(difference < tolerance * learnt, "on {:?}: {difference:.1e} of {learnt:.1e}", device.info());
        let losses = |training: &Training| training.history.last().expect("an epoch").loss;
        assert!((losses(&a) - losses(&b)).abs() < tolerance);

        let weights = open(SpaceKind::Weights, &problem, &start).space;
        let options = TrainOptions { optimizer: Optimizer::sgd(0.02), ..options };
        let (c, d) = (run(&engine, &*weights, &start, &options), run(&engine, &*weights, &moved, &options));
        let values = |training: &Training| here.space.to_coordinates(&training.parameters).expect("coordinates");
        assert!(error(&values(&c), &values(&d)) > 0.05, "SGD should depend on the scale of its start");
    }
}

/// The weights' own space is what training always was.
#[test]
fn plain_training_and_free_fixing_come_to_the_same_bits() {
    let (problem, start) = image_problem();
    for device in devices() {
        let engine = Engine::new(&device, &problem).expect("an engine");
        let options = options(Optimizer::adam(0.01));
        let plain = block_on(train(&engine, &start, None, &options, &Control::default())).expect("training");
        let again = run(&engine, &*open(SpaceKind::Weights, &problem, &start).space, &start, &options);
        assert_eq!(plain, again);
    }
    // Without hidden units nothing is fixed, and the chart copies: the same bits through its kernels.
    let network = Network::dense(&[3, 2], true).expect("a network");
    let mut rng = rng(2);
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    let start = random_parameters(&mut rng, &network);
    for device in devices() {
        let engine = Engine::new(&device, &problem).expect("an engine");
        let options = options(Optimizer::adam(0.01));
        let plain = block_on(train(&engine, &start, None, &options, &Control::default())).expect("training");
        for kind in [KEPT, KEPT_G] {
            assert_eq!(plain.parameters, run(&engine, &*open(kind, &problem, &start).space, &start, &options).parameters);
        }
    }
}

#[test]
fn a_resumed_run_comes_to_the_same_bits() {
    let (problem, start) = image_problem();
    for device in devices() {
        let engine = Engine::new(&device, &problem).expect("an engine");
        for (number, kind) in all_kinds().into_iter().enumerate() {
            let OpenSpace { space, parameters, .. } = open(kind, &problem, &start);
            let optimizer = optimizers()[number % 4];
            let schedule = Schedule { warm_up_steps: 5, decay: Decay::Linear { epochs: 4, minimum: 0.2 } };
            let options = TrainOptions { epochs: 5, schedule, batch_size: 2, ..options(optimizer) };
            let whole = run(&engine, &*space, &parameters, &options);
            // Stops between two steps, in the middle of an epoch, and at an epoch's end; and again.
            let mut checkpoint: Option<Checkpoint> = None;
            let mut pieces = 0;
            let resumed = loop {
                let (breaths, most) = (Cell::new(0), [17, 12, 1, 30, 9][pieces % 5]);
                let control = Control::default().stop_when(|| {
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
    let OpenSpace { space, parameters, .. } = open(KEPT_G, &problem, &start);
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
    refuse(&*open(KEPT_G, &problem, &moved).space, &checkpoint, &options, "fixed weights");
    refuse(&*open(KEPT, &problem, &start).space, &checkpoint, &options, "weight_fixing");
    refuse(&*space, &checkpoint, &TrainOptions { seed: 6, ..options }, "seed");
    refuse(&*space, &checkpoint, &TrainOptions { batch_size: 8, ..options }, "batches of 8");
    refuse(&*space, &checkpoint, &TrainOptions { optimizer: Optimizer::sgd(0.1), ..options }, "another optimizer");
    let mut broken = checkpoint.clone();
    broken.coordinates.pop();
    refuse(&*space, &broken, &options, "coordinates");
    broken = Checkpoint { steps: 5, ..checkpoint.clone() };
    refuse(&*space, &broken, &options, "5 steps");
    // More epochs at another rate are welcome.
    let more = TrainOptions { epochs: 4, optimizer: Optimizer::Adam { learning_rate: 0.02, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }, ..options };
    let found = block_on(resume(&engine, &*space, &checkpoint, None, &more, &Control::default())).expect("training");
    assert_eq!((found.epochs, found.steps), (4, 16));
}

#[test]
fn a_target_ends_a_run() {
    let (problem, start) = image_problem();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    for kind in [SpaceKind::Weights, KEPT] {
        let OpenSpace { space, parameters, .. } = open(kind, &problem, &start);
        for target in [Target::Accuracy(1.0), Target::Loss(0.05)] {
            let options = TrainOptions { epochs: 2000, target: Some(target), ..options(Optimizer::adam(0.01)) };
            let found = run(&engine, &*space, &parameters, &options);
            assert!(found.reached_target && !found.stopped && found.epochs < 2000, "{kind:?} {target:?}: {}", found.epochs);
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
        let opened: Vec<OpenSpace> = all_kinds().into_iter().map(|kind| open(kind, &problem, &start)).collect();
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
    assert_eq!(at(Decay::Linear { epochs: 4, minimum: 0.2 }), [1.0, 0.8, 0.6, 0.3999999999999999, 0.19999999999999996, 0.19999999999999996]);
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
