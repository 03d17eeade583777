//! Training in parameter spaces: the optimisers' rules in PyTorch's conventions, fixed weights that stay, invariance of G-SGD.

use crate::support::space_cases::*;
use crate::support::*;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::space::{Biases, FixedChoice, FixedValues, OpenSpace, SpaceKind, TreeValues};
use isoflat::symmetry::Transformation;
use isoflat::train::{Decay, Optimizer, Schedule, TrainOptions, Training, train};
use isoflat::{Control, Loss, Network, Problem, Targets};
use pollster::block_on;

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
        let OpenSpace { space, parameters, .. } = open(&kind, &problem, &start);
        for optimizer in optimizers() {
            let options = TrainOptions { batch_size: 100, epochs: 4, weight_decay: 0.01, ..options(optimizer) };
            let mut v = space.to_coordinates(&parameters).expect("coordinates");
            let mut torch = Torch::default();
            for _ in 0..options.epochs {
                block_on(engine.prepare(&space.to_parameters(&v).expect("parameters"))).expect("a point");
                let gradient = block_on(engine.gradient()).expect("a gradient");
                let gradient = space.pull_back(&v, &gradient).expect("a gradient");
                torch.step(optimizer, optimizer.learning_rate(), options.weight_decay, &gradient, &mut v);
            }
            let found = run(&engine, &*space, &parameters, &options);
            // The order of the samples differs, and with it the rounding, which the factors of a space multiply.
            assert!(
                error(&found.coordinates, &v) < 1e-8,
                "{kind:?} {optimizer:?}: {:.1e}",
                error(&found.coordinates, &v)
            );
        }
    }
}

/// One known implementation makes a new Adam every step, which leaves the sign of the gradient alone: its steps are all of size η.
#[test]
fn adam_keeps_its_state_in_the_g_space() {
    let (problem, start) = image_problem();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let OpenSpace { space, parameters, .. } = open(&KEPT_G, &problem, &start);
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
                tree: TreeValues::Keep,
                biases: Biases::Appended,
            },
            SpaceKind::WeightFixing { choice: FixedChoice::Diagonal, values: FixedValues::Set(value) },
        ] {
            let OpenSpace { space, parameters, keeps_function, .. } = open(&kind, &problem, &start);
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
        for kind in
            all_kinds().into_iter().filter(|kind| !matches!(kind, SpaceKind::Weights | SpaceKind::WeightNorm { .. }))
        {
            let OpenSpace { space, parameters, .. } = open(&kind, &problem, &start);
            for optimizer in optimizers() {
                let options = TrainOptions { weight_decay: 0.05, ..options(optimizer) };
                let training = run(&engine, &*space, &parameters, &options);
                let moved: Vec<usize> = (0..parameters.len())
                    .filter(|&i| training.parameters[i].to_bits() != parameters[i].to_bits())
                    .collect();
                // 3 + 4 + 6 hidden units or channels. On a coarse device a free weight may rarely come back to its start.
                assert!(parameters.len() - moved.len() >= 13, "{kind:?} {optimizer:?}: a fixed weight moved");
                assert!(moved.len() + 13 + 3 >= parameters.len(), "{kind:?} {optimizer:?}: free weights stood still");
                for index in fixed_of(&kind, &problem, &start) {
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
        let e = engine.vectors();
        let OpenSpace { space, parameters, .. } = open(&KEPT_G, &problem, &start);
        let training = run(&engine, &*space, &parameters, &options(Optimizer::adam(0.01)));
        let chart = engine.charts().load(space.chart()).expect("a chart");
        let v = e.upload(&training.coordinates, 1).expect("coordinates");
        let mut theta = e.zeros(parameters.len(), 1).expect("parameters");
        engine.charts().parameters(&chart, &v, &mut theta).expect("parameters");
        let theta = block_on(e.download(&theta)).expect("parameters");
        for index in fixed_of(&KEPT_G, &problem, &start) {
            let kept = match device.info().precision {
                Precision::F64 => parameters[index],
                Precision::F32 => f64::from(parameters[index] as f32),
            };
            assert_eq!(theta[index].to_bits(), kept.to_bits(), "on {:?}", device.info());
        }
    }
}

fn fixed_of(kind: &SpaceKind, problem: &Problem, start: &[f64]) -> Vec<usize> {
    let choice = match kind {
        SpaceKind::GSpace { choice, .. } | SpaceKind::WeightFixing { choice, .. } => choice,
        _ => return Vec::new(),
    };
    isoflat::space::Skeleton::new(problem.network(), start, *choice).expect("a skeleton").fixed_indices()
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
        let (here, there) = (open(&KEPT_G, &problem, &start), open(&KEPT_G, &problem, &moved));
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

        let weights = open(&SpaceKind::Weights, &problem, &start).space;
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
        let again = run(&engine, &*open(&SpaceKind::Weights, &problem, &start).space, &start, &options);
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
            assert_eq!(
                plain.parameters,
                run(&engine, &*open(&kind, &problem, &start).space, &start, &options).parameters
            );
        }
    }
}
