//! Samples shared out to helpers without common memory, against one executor over all of them. Here the helpers are native
//! threads that are sent bytes, as workers are in a page.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::support::everything::{everything, tolerance};
use crate::support::golden::check_on;
use crate::support::*;
use isoflat::engine::{Device, Engine, Helper, Precision, Team};
use isoflat::measure::{Measure, MeasureOptions, measure};
use isoflat::train::{Optimizer, TrainOptions, train};
use isoflat::{Control, Error, ErrorCode, Loss, Network, Problem, Result, Targets, data};
use pollster::block_on;
use rand::Rng;

const LOSSES: [Loss; 2] = [Loss::CrossEntropy, Loss::SquaredError];

/// The ways to a helper's thread and back.
struct Thread {
    to: Sender<Vec<u8>>,
    from: Receiver<Vec<u8>>,
}

/// Threads that obey commands until they are hung up on.
struct Threads {
    threads: Vec<Thread>,
    /// Multiplications below which nothing is sent.
    least: f64,
    sent: Cell<usize>,
    /// Which helper is gone, once so many messages have been sent.
    dies: Option<(usize, usize)>,
    /// Bytes that the end of every message loses.
    lost: Cell<usize>,
    /// Messages that await their answer.
    open: RefCell<Vec<bool>>,
}

impl Threads {
    fn new(helpers: usize) -> Self {
        let start = |_| {
            let (to, from_here) = channel::<Vec<u8>>();
            let (to_here, from) = channel();
            std::thread::spawn(move || {
                let mut helper = Helper::default();
                for message in from_here {
                    to_here.send(helper.answer(&message)).expect("somebody waits for the answer");
                }
            });
            Thread { to, from }
        };
        Self {
            threads: (0..helpers).map(start).collect(),
            least: 0.0,
            sent: Cell::new(0),
            dies: None,
            lost: Cell::new(0),
            open: RefCell::new(vec![false; helpers]),
        }
    }

    fn is_gone(&self, helper: usize) -> bool {
        self.dies.is_some_and(|(which, after)| which == helper && self.sent.get() > after)
    }
}

fn gone() -> Error {
    Error::new(ErrorCode::DeviceLost, "a thread is gone")
}

impl Team for Threads {
    fn helpers(&self) -> usize {
        self.threads.len()
    }

    fn send(&self, to: Range<usize>, message: &[&[u8]]) -> Result<()> {
        self.sent.set(self.sent.get() + 1);
        let message = message.concat();
        if (0..self.helpers()).any(|helper| self.is_gone(helper)) {
            return Err(gone());
        }
        for helper in to {
            assert!(!self.open.borrow_mut()[helper], "helper {helper} has not been heard yet");
            self.open.borrow_mut()[helper] = true;
            let whole = message[..message.len() - self.lost.get().min(message.len())].to_vec();
            self.threads[helper].to.send(whole).expect("the thread runs");
        }
        Ok(())
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>> {
        assert!(self.open.borrow()[from], "helper {from} was asked nothing");
        self.open.borrow_mut()[from] = false;
        let answer = self.threads[from].from.recv().expect("the thread answers");
        if self.is_gone(from) { Err(gone()) } else { Ok(answer) }
    }

    fn is_worthwhile(&self, multiplications: f64, _: usize) -> bool {
        multiplications >= self.least
    }
}

fn shared(precision: Precision, helpers: usize) -> Device {
    Device::cpu_with_helpers(precision, Rc::new(Threads::new(helpers)))
}

/// A problem of exactly so many samples.
pub fn problem_of(seed: u64, samples: usize) -> (Problem, Vec<f64>) {
    let mut rng = rng(seed);
    let network = any_network(&mut rng, seed, &ALL);
    let inputs = random_direction(&mut rng, samples * network.input_len());
    let outputs = network.output_len();
    let loss = LOSSES[seed as usize / 2 % 2];
    let targets = match loss {
        Loss::CrossEntropy => Targets::Classes((0..samples).map(|_| rng.random_range(0..outputs as u32)).collect()),
        Loss::SquaredError => Targets::Vectors(random_direction(&mut rng, samples * outputs)),
    };
    let parameters = random_parameters(&mut rng, &network);
    // Inputs come in either format.
    let problem = if seed.is_multiple_of(3) {
        let inputs: Vec<f32> = inputs.iter().map(|&x| x as f32).collect();
        Problem::new(network, loss, inputs, targets)
    } else {
        Problem::new(network, loss, inputs, targets)
    };
    (problem.expect("a problem"), parameters)
}

#[test]
fn shares_together_are_the_whole() {
    for seed in 0..60 {
        let samples = rng(1000 + seed).random_range(1..=150);
        let (problem, parameters) = problem_of(seed, samples);
        let helpers = 1 + seed as usize % 6;
        for precision in [Precision::F64, Precision::F32] {
            let whole = Engine::new(&Device::cpu(precision), &problem).expect("an engine");
            let engine = Engine::new(&shared(precision, helpers), &problem).expect("an engine");
            assert_eq!(engine.info().threads, (helpers + 1).min(samples.div_ceil(8)));
            let expected = everything(&whole, &parameters, seed);
            let found = everything(&engine, &parameters, seed);
            for ((name, found), (_, expected)) in found.iter().zip(&expected) {
                let error = error(found, expected);
                // A sample's own outputs are computed by the very same operations.
                let tolerance = if *name == "outputs" { 0.0 } else { tolerance(precision, 3 * samples) };
                assert!(
                    error <= tolerance,
                    "seed {seed} {}, {samples} samples, {helpers} helpers, {precision:?}: {name} differs by {error:.1e}",
                    problem.network().summary()
                );
            }
            // The same number of threads gives the same bits.
            let again = Engine::new(&shared(precision, helpers), &problem).expect("an engine");
            assert_eq!(found, everything(&again, &parameters, seed));
        }
    }
}

#[test]
fn one_sample_stays_in_one_piece() {
    let (problem, parameters) = problem_of(4, 1);
    let whole = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let engine = Engine::new(&shared(Precision::F64, 7), &problem).expect("an engine");
    assert_eq!(engine.info().threads, 1);
    assert_eq!(everything(&engine, &parameters, 1), everything(&whole, &parameters, 1));
}

/// More samples than a chunk holds, so that what the budgets keep matters: the numbers must not.
#[test]
fn without_memory_to_keep_anything_the_numbers_are_the_same() {
    let (problem, parameters) = problem_of(6, 5000);
    let device = shared(Precision::F64, 1);
    let kept = Engine::new(&device, &problem).expect("an engine");
    let anew = Engine::new(&device.with_memory_budget(0), &problem).expect("an engine");
    assert_eq!(everything(&kept, &parameters, 2), everything(&anew, &parameters, 2));
}

/// Every number of every golden case: operators, measures and transformations all go through the shares.
#[test]
fn golden_cases() {
    block_on(check_on(&shared(Precision::F64, 2), |_| 1e-9));
}

/// Engines that come and go share one team, and one of them may be dropped in between.
#[test]
fn several_problems_share_the_helpers() {
    let device = shared(Precision::F64, 2);
    let problems: Vec<_> = (0..4).map(|seed| problem_of(seed, 40)).collect();
    let mut engines: Vec<_> =
        problems.iter().map(|(problem, _)| Engine::new(&device, problem).expect("an engine")).collect();
    for (engine, (_, parameters)) in engines.iter().zip(&problems) {
        block_on(engine.prepare(parameters)).expect("a point");
    }
    engines.remove(1);
    for (engine, i) in engines.iter().zip([0, 2, 3]) {
        let alone = Engine::new(&Device::cpu(Precision::F64), &problems[i].0).expect("an engine");
        block_on(alone.prepare(&problems[i].1)).expect("a point");
        let (found, expected) = (block_on(engine.gradient()), block_on(alone.gradient()));
        assert!(error(&found.expect("a gradient"), &expected.expect("a gradient")) < tolerance(Precision::F64, 40));
    }
}

/// Training shares out large batches and keeps small ones; both are the same steps but for rounding.
#[test]
fn training_takes_the_same_way() {
    let network = Network::dense(&[6, 10, 4], true).expect("a network");
    let problem = data::synthetic(network, 90, 3).expect("a problem");
    let start = random_parameters(&mut rng(5), problem.network());
    let options = |batch_size| TrainOptions {
        optimizer: Optimizer::Sgd { learning_rate: 0.05, momentum: 0.9 },
        batch_size,
        epochs: 3,
        seed: 1,
        ..TrainOptions::default()
    };
    for batch_size in [10, 64] {
        let mut team = Threads::new(3);
        // 100 multiplications a sample: batches of 64 go out, batches of 10 do not, the whole data do.
        team.least = 50.0 * 100.0;
        let team = Rc::new(team);
        let device = Device::cpu_with_helpers(Precision::F64, team.clone());
        let engine = Engine::new(&device, &problem).expect("an engine");
        let loaded = team.sent.get();
        assert_eq!(loaded, 3, "a share each");
        assert_eq!((engine.threads(10), engine.threads(64)), (1, 4));
        assert_eq!(block_on(engine.estimate(&start)).expect("an estimate").threads, 4);
        let loaded = team.sent.get();
        let run = |engine: &Engine| {
            block_on(train(engine, &start, None, &options(batch_size), &Control::default())).expect("training")
        };
        let found = run(&engine);
        assert_eq!(team.sent.get() > loaded, batch_size == 64);
        let expected = run(&Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine"));
        // Each of the steps passes on what rounding has done before, a little more at most.
        let tolerance = found.steps as f64 * tolerance(Precision::F64, 64);
        assert!(error(&found.parameters, &expected.parameters) < tolerance);
    }
}

#[test]
fn work_that_is_not_worthwhile_is_not_sent() {
    let mut team = Threads::new(2);
    team.least = f64::INFINITY;
    let team = Rc::new(team);
    let device = Device::cpu_with_helpers(Precision::F64, team.clone());
    assert_eq!(device.info().threads, 3);
    let (problem, parameters) = problem_of(8, 60);
    let engine = Engine::new(&device, &problem).expect("an engine");
    let alone = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    assert_eq!(everything(&engine, &parameters, 3), everything(&alone, &parameters, 3));
    assert_eq!(block_on(engine.estimate(&parameters)).expect("an estimate").threads, alone.info().threads);
    assert_eq!(team.sent.get(), 0);
}

/// Whichever message a helper dies at, the caller gets an error that says so, and no call hangs or panics.
#[test]
fn a_helper_that_dies_is_an_error() {
    let (problem, parameters) = problem_of(10, 60);
    let measures: Vec<_> = Measure::all().collect();
    let (options, control) = (MeasureOptions::default(), Control::default());
    for (helper, after) in [(0, 0), (1, 1), (2, 2), (0, 3), (1, 4), (2, 5), (0, 17), (1, 40)] {
        let mut team = Threads::new(3);
        team.dies = Some((helper, after));
        let device = Device::cpu_with_helpers(Precision::F64, Rc::new(team));
        let engine = Engine::new(&device, &problem);
        // The shares go out one by one.
        assert_eq!(engine.is_ok(), after >= 3, "helper {helper}, message {after}");
        let outcome = engine.and_then(|engine| {
            let first = block_on(measure(&engine, &parameters, &measures, &options, &control));
            let again = block_on(engine.evaluate(&parameters));
            assert_eq!(again.expect_err("the helper stays dead").code, ErrorCode::DeviceLost);
            first
        });
        assert_eq!(outcome.expect_err("a helper has died").code, ErrorCode::DeviceLost, "helper {helper}");
    }
}

/// A message that lost its end is refused by the helper; the caller learns of it and both go on.
#[test]
fn a_message_that_is_cut_off_is_an_error() {
    let (problem, parameters) = problem_of(12, 60);
    let team = Rc::new(Threads::new(2));
    let device = Device::cpu_with_helpers(Precision::F64, team.clone());
    let engine = Engine::new(&device, &problem).expect("an engine");
    for lost in [1, 8, 100, usize::MAX] {
        team.lost.set(lost);
        assert!(block_on(engine.prepare(&parameters)).is_err(), "{lost} bytes less");
    }
    team.lost.set(0);
    block_on(engine.prepare(&parameters)).expect("a point");
}

/// Batches are checked before anything is sent.
#[test]
fn batches_of_nothing_or_of_samples_that_are_not_there_are_refused() {
    let (problem, parameters) = problem_of(14, 30);
    let engine = Engine::new(&shared(Precision::F64, 2), &problem).expect("an engine");
    let e = engine.vectors();
    let theta = e.upload(&parameters, 1).expect("a vector");
    let mut gradient = e.zeros(parameters.len(), 1).expect("a vector");
    let mut out = e.zeros(2, 1).expect("a vector");
    for rows in [vec![], vec![0, 30]] {
        let refused =
            block_on(engine.batch_gradient(&theta, &rows, &mut gradient, &mut out, 0)).expect_err("no such batch");
        assert_eq!(refused.code, ErrorCode::InvalidOption);
    }
}
