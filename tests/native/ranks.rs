//! A problem's samples shared out to ranks, against one executor over all of them. Here the ranks are threads; that they are processes
//! which MPI connects is tried by `tests/ranks.mjs`.

use std::cell::Cell;
use std::rc::Rc;

use crate::sharded::problem_of;
use crate::support::everything::{everything, tolerance};
use crate::support::golden::{Case, check};
use crate::support::*;
use isoflat::dinh::constant_in_ball;
use isoflat::engine::{Curvature, Device, Engine, Precision};
use isoflat::landscape::{Axis, Direction, Normalization, landscape};
use isoflat::measure::SharpnessOptions;
use isoflat::measure::sharpness::Region;
use isoflat::ranks::{Meeting, Ranks, Thread, threads};
use isoflat::train::{Optimizer, TrainOptions, train};
use isoflat::{Control, Error, ErrorCode, Loss, Network, Problem, Result, Targets, data};
use pollster::block_on;
use rand::Rng;

/// What so many ranks come to, each in its thread.
pub fn on_ranks<R: Send>(size: usize, work: impl Fn(Rc<Ranks>) -> R + Sync) -> Vec<R> {
    on_threads(threads(size), |thread| work(Rc::new(Ranks::new(Box::new(thread)).expect("memory"))))
}

fn on_threads<R: Send>(threads: Vec<Thread>, work: impl Fn(Thread) -> R + Sync) -> Vec<R> {
    let work = &work;
    std::thread::scope(|scope| {
        let running: Vec<_> = threads.into_iter().map(|thread| scope.spawn(move || work(thread))).collect();
        running.into_iter().map(|thread| thread.join().expect("a rank")).collect()
    })
}

pub fn device(precision: Precision, ranks: &Rc<Ranks>) -> Device {
    Device::cpu(precision).with_ranks(ranks.clone()).expect("devices that match")
}

/// All ranks have found the same.
pub fn same<R: PartialEq + std::fmt::Debug>(found: Vec<R>) -> R {
    assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "ranks differ: {found:?}");
    found.into_iter().next().expect("a rank")
}

#[test]
fn golden_cases_on_1_rank() {
    golden_cases(1, || Case::all().step_by(3));
}

#[test]
fn golden_cases_on_2_ranks() {
    golden_cases(2, Case::all);
}

/// Every rank has all that is no sample's, so that seven take seven times as long for it: these two share the cases with one rank, which
/// has no other to sum with. `tests/ranks.mjs --all` has every one on all of them.
#[test]
fn golden_cases_on_3_ranks() {
    golden_cases(3, || Case::all().skip(1).step_by(3));
}

#[test]
fn golden_cases_on_7_ranks() {
    golden_cases(7, || Case::all().skip(2).step_by(3));
}

/// Every number of these cases: operators, measures and transformations all go through the ranks.
fn golden_cases<C: Iterator<Item = Case>>(size: usize, cases: impl Fn() -> C + Sync) {
    on_ranks(size, |ranks| block_on(check(cases(), &device(Precision::F64, &ranks), |_| 1e-9)));
}

#[test]
fn ranks_together_are_the_whole() {
    for seed in 0..24 {
        let size = [1, 2, 3, 7][seed as usize % 4];
        let samples = rng(1000 + seed).random_range(size..=150);
        for precision in [Precision::F64, Precision::F32] {
            let on_all = || {
                same(on_ranks(size, |ranks| {
                    let (problem, parameters) = problem_of(seed, samples);
                    let engine = Engine::new(&device(precision, &ranks), &problem).expect("an engine");
                    assert_eq!(engine.info().ranks, Some(size));
                    assert_eq!(engine.problem().samples(), samples);
                    assert!(engine.problem().held().len() <= samples.div_ceil(size));
                    everything(&engine, &parameters, seed)
                }))
            };
            let found = on_all();
            let (problem, parameters) = problem_of(seed, samples);
            let whole = Engine::new(&Device::cpu(precision), &problem).expect("an engine");
            let expected = everything(&whole, &parameters, seed);
            for ((name, found), (_, expected)) in found.iter().zip(&expected) {
                let error = error(found, expected);
                // A sample's own outputs are computed by the very same operations.
                let tolerance = if *name == "outputs" { 0.0 } else { tolerance(precision, 3 * samples) };
                assert!(
                    error <= tolerance,
                    "seed {seed} {}, {samples} samples, {size} ranks, {precision:?}: {name} differs by {error:.1e}",
                    problem.network().summary()
                );
            }
            assert_eq!(found, on_all(), "the same number of ranks gives the same bits");
        }
    }
}

/// A constant's least loss is of all labels, also where each rank has its own.
#[test]
fn the_best_constant_is_that_of_all_samples() {
    for loss in [Loss::CrossEntropy, Loss::SquaredError] {
        let found = |device: &Device| {
            let network = Network::dense(&[3, 5, 2], true).expect("a network");
            let theta = random_direction(&mut rng(2), network.parameter_count());
            let targets = match loss {
                Loss::CrossEntropy => Targets::Classes(vec![0, 0, 0, 0, 0, 1]),
                _ => Targets::Vectors((0..12).map(|i| f64::from(i * i)).collect()),
            };
            let inputs = random_direction(&mut rng(1), 3 * 6);
            let problem = Problem::new(network, loss, inputs, targets).expect("a problem");
            let engine = Engine::new(device, &problem).expect("an engine");
            let (options, control) = (SharpnessOptions::default(), Control::default());
            let found = constant_in_ball(&engine, &theta, Region::Ball, 0.1, &options, &control);
            block_on(found).expect("a ball").best_constant_loss
        };
        let expected = found(&Device::cpu(Precision::F64));
        let together = same(on_ranks(2, |ranks| found(&device(Precision::F64, &ranks))));
        assert!((together / expected - 1.0).abs() < 1e-12, "{loss:?}: {together} instead of {expected}");
    }
}

/// A landscape of few samples is shared out by its points, each of which is then the same bits as on one process, however many ranks and
/// points there are.
#[test]
fn a_landscape_of_few_samples_has_the_bits_of_one_process() {
    for samples in [8, 20] {
        for points in [2, 5, 9] {
            let found = |engine: &Engine, parameters: &[f64]| {
                let axis = Axis { from: -1.0, to: 1.0, points };
                let directions = [0, 1].map(|seed| (Direction::Random { seed }, axis));
                let control = Control::default();
                let found = landscape(engine, parameters, &directions, Normalization::None, &control);
                let found = block_on(found).expect("a landscape");
                (found.loss, found.accuracy)
            };
            let network = || Network::dense(&[6, 40, 3], true).expect("a network");
            let problem = || {
                let inputs = random_direction(&mut rng(1), 6 * samples);
                let targets = Targets::Classes((0..samples as u32).map(|i| i % 3).collect());
                Problem::new(network(), Loss::CrossEntropy, inputs, targets).expect("a problem")
            };
            let parameters = random_direction(&mut rng(2), network().parameter_count());
            let whole = Engine::new(&Device::cpu(Precision::F64), &problem()).expect("an engine");
            let expected = found(&whole, &parameters);
            for size in [2, 3, 7] {
                let together = same(on_ranks(size, |ranks| {
                    let engine = Engine::new(&device(Precision::F64, &ranks), &problem()).expect("an engine");
                    found(&engine, &parameters)
                }));
                assert_eq!(together, expected, "{samples} samples, {points} points, {size} ranks");
            }
        }
    }
}

/// Each rank's own executor may compute anywhere.
#[test]
fn ranks_of_gpus_are_the_whole() {
    let (problem, parameters) = problem_of(3, 40);
    let expected = everything(&Engine::new(&gpu(), &problem).expect("an engine"), &parameters, 3);
    let found = same(on_ranks(2, |ranks| {
        let (problem, parameters) = problem_of(3, 40);
        let device = gpu().with_ranks(ranks).expect("devices that match");
        everything(&Engine::new(&device, &problem).expect("an engine"), &parameters, 3)
    }));
    for ((name, found), (_, expected)) in found.iter().zip(&expected) {
        assert!(error(found, expected) <= tolerance(Precision::F32, 120), "{name}");
    }
}

/// Sums of any length: those that go whole to all ranks, and those of which each rank adds up a piece, with pieces of any length.
#[test]
fn a_sum_goes_in_the_order_of_ranks() {
    let numbers = |rank: usize, len: usize| random_direction(&mut rng(rank as u64), len);
    for (size, len) in [(1, 1), (2, 3), (3, 5000), (3, 1 << 18), (7, (1 << 18) + 12345), (2, 600_001)] {
        let weights: Vec<f64> =
            (0..size).map(|rank| if size > 2 && rank == 1 { 0.0 } else { 0.3 + rank as f64 }).collect();
        let found = same(on_ranks(size, |ranks| {
            let mut own = numbers(ranks.rank(), len);
            if weights[ranks.rank()] == 0.0 {
                own.fill(f64::NAN);
            }
            let mut narrow: Vec<f32> = own.iter().map(|&x| x as f32).collect();
            ranks.sum(&weights, &mut own).expect("a sum");
            ranks.sum(&weights, &mut narrow).expect("a sum");
            (own, narrow)
        }));
        let all: Vec<Vec<f64>> = (0..size).map(|rank| numbers(rank, len)).collect();
        let sum = |i: usize, number: fn(f64) -> f64| {
            let terms = weights.iter().zip(&all).filter(|(weight, _)| **weight > 0.0);
            terms.fold(0.0, |sum, (weight, all)| sum + weight * number(all[i]))
        };
        for i in 0..len {
            assert_eq!(found.0[i].to_bits(), sum(i, |x| x).to_bits(), "{size} ranks, {len} numbers: {i}");
            assert_eq!(found.1[i], sum(i, |x| f64::from(x as f32)) as f32, "{size} ranks, {len} numbers: {i}");
        }
    }
}

#[test]
fn training_takes_the_same_way() {
    let run = |engine: &Engine, control: &Control<'_>| {
        let start = random_parameters(&mut rng(5), engine.problem().network());
        let optimizer = Optimizer::Sgd { learning_rate: 0.05, momentum: 0.9 };
        let options = TrainOptions { optimizer, batch_size: 10, epochs: 3, seed: 1, ..TrainOptions::default() };
        block_on(train(engine, &start, None, &options, control)).expect("training")
    };
    let problem = || data::synthetic(Network::dense(&[6, 10, 4], true).expect("a network"), 90, 3).expect("a problem");
    let alone = run(&Engine::new(&Device::cpu(Precision::F64), &problem()).expect("an engine"), &Control::default());
    let on_all = || {
        same(on_ranks(3, |ranks| {
            let engine = Engine::new(&device(Precision::F64, &ranks), &problem()).expect("an engine");
            let found = run(&engine, &Control::default());
            (found.parameters, found.steps)
        }))
    };
    let found = on_all();
    assert_eq!(found.1, alone.steps);
    // Each of the steps passes on what rounding has done before, a little more at most.
    assert!(error(&found.0, &alone.parameters) < found.1 as f64 * tolerance(Precision::F64, 64));
    assert_eq!(found, on_all());
}

/// One rank hears a wish; all hear of it when they next agree, and end after the same step.
#[test]
fn a_wish_of_one_rank_ends_the_work_of_all_at_the_same_step() {
    let steps = same(on_threads(threads(3), |thread| {
        let steps = Rc::new(Cell::new(0));
        let asked = steps.clone();
        let ranks = Ranks::new(Box::new(thread)).expect("memory");
        let is_second = ranks.rank() == 1;
        let ranks = Rc::new(ranks.finish_when(move || {
            asked.set(asked.get() + 1);
            is_second && asked.get() > 20
        }));
        let network = Network::dense(&[6, 10, 4], true).expect("a network");
        let problem = data::synthetic(network, 90, 3).expect("a problem");
        let engine = Engine::new(&device(Precision::F64, &ranks), &problem).expect("an engine");
        let start = random_parameters(&mut rng(5), problem.network());
        let options = TrainOptions { batch_size: 10, epochs: 50, ..TrainOptions::default() };
        let control = Control::default().finish_when({
            let ranks = ranks.clone();
            move || ranks.is_wished()
        });
        let found = block_on(train(&engine, &start, None, &options, &control)).expect("training");
        assert!(found.stopped);
        found.steps
    }));
    assert!((5..40).contains(&steps), "{steps} steps");
}

fn message<T: std::fmt::Debug>(found: Result<T>) -> (ErrorCode, String) {
    let error = found.expect_err("a fault");
    (error.code, error.message)
}

#[test]
fn more_ranks_than_samples_are_refused() {
    let found = same(on_ranks(7, |ranks| {
        let (problem, _) = problem_of(4, 6);
        message(Engine::new(&device(Precision::F64, &ranks), &problem).map(|_| ()))
    }));
    let says = "there are 7 ranks for 6 samples, and each needs one at least: start fewer ranks";
    assert_eq!(found, (ErrorCode::InvalidProblem, says.into()));
}

/// Inputs that only one rank has, and which f32 does not hold.
#[test]
fn an_error_of_one_rank_is_everybodys_and_says_whose_it_is() {
    let found = same(on_ranks(3, |ranks| {
        let network = Network::dense(&[2, 3], true).expect("a network");
        let inputs: Vec<f64> = (0..18).map(|i| if i == 15 { 1e300 } else { 1.0 }).collect();
        let problem =
            Problem::new(network, Loss::CrossEntropy, inputs, Targets::Classes(vec![0; 9])).expect("a problem");
        let first = message(Engine::new(&device(Precision::F32, &ranks), &problem).map(|_| ()));
        // It was a step like any other: there may be more.
        let engine = Engine::new(&device(Precision::F64, &ranks), &problem).expect("an engine");
        block_on(engine.prepare(&[0.0; 9])).expect("a point");
        (first, block_on(engine.loss()).expect("a loss").to_bits())
    }));
    assert_eq!(found.0.0, ErrorCode::OutOfRange);
    assert!(found.0.1.starts_with("rank 2: ") && found.0.1.contains("f32"), "{}", found.0.1);
    assert!((f64::from_bits(found.1) - 3f64.ln()).abs() < 1e-15);
}

/// A rank that fails where the others do not even look ends them all, and nobody waits for anybody afterwards.
#[test]
fn a_rank_that_ends_early_ends_the_others() {
    for at in [0, 1, 5] {
        let found = same(on_ranks(3, |ranks| {
            let work = || -> Result<()> {
                let (problem, parameters) = problem_of(4, 30);
                let engine = Engine::new(&device(Precision::F64, &ranks), &problem)?;
                block_on(engine.prepare(&parameters))?;
                for step in 0..10 {
                    if (ranks.rank(), step) == (1, at) {
                        return Err(Error::new(ErrorCode::TooLarge, "the disk is full"));
                    }
                    block_on(engine.product(Curvature::Hessian, &parameters))?;
                }
                Ok(())
            };
            message(ranks.agree(Meeting::END, work()))
        }));
        assert_eq!(found, (ErrorCode::TooLarge, "rank 1: the disk is full".into()));
    }
}

/// What fails on all ranks alike is no single one's.
#[test]
fn an_error_of_all_ranks_is_told_as_it_is() {
    let found = same(on_ranks(3, |ranks| {
        let (problem, parameters) = problem_of(4, 30);
        let engine = Engine::new(&device(Precision::F64, &ranks), &problem).expect("an engine");
        let found = block_on(engine.prepare(&parameters[1..]));
        message(ranks.agree(Meeting::END, found))
    }));
    assert_eq!(found.0, ErrorCode::InvalidParameters);
    assert!(!found.1.contains("rank"), "{}", found.1);
}

#[test]
fn a_rank_that_is_gone_is_an_error() {
    let found = on_ranks(2, |ranks| {
        let (problem, parameters) = problem_of(4, 30);
        let engine = Engine::new(&device(Precision::F64, &ranks), &problem).expect("an engine");
        if ranks.rank() == 1 {
            return None;
        }
        let first = message(block_on(engine.prepare(&parameters)));
        assert_eq!(first, message(block_on(engine.evaluate(&parameters))), "it stays gone");
        Some(first)
    });
    assert_eq!(found, [Some((ErrorCode::DeviceLost, "rank 1 is gone".into())), None]);
}

/// Other numbers on one rank, by a last bit: as on another kind of processor.
#[test]
fn ranks_that_have_lost_each_other_say_so() {
    let found = same(on_ranks(3, |ranks| {
        let (problem, mut parameters) = problem_of(4, 30);
        let engine = Engine::new(&device(Precision::F64, &ranks), &problem).expect("an engine");
        if ranks.rank() == 1 {
            parameters[0] = f64::from_bits(parameters[0].to_bits() + 1);
        }
        message(ranks.agree(Meeting::END, block_on(engine.prepare(&parameters))))
    }));
    assert_eq!(found.0, ErrorCode::DeviceLost);
    assert!(found.1.starts_with("rank 1 is at another step than rank 0"), "{}", found.1);
    let found = same(on_ranks(2, |ranks| {
        let precision = [Precision::F64, Precision::F32][ranks.rank()];
        message(Device::cpu(precision).with_ranks(ranks).map(|_| ()))
    }));
    assert_eq!(found, (ErrorCode::InvalidOption, "rank 1 has not the same precision as rank 0".into()));
}

/// Each rank may bring its own share, of any length, as long as together they are all samples.
#[test]
fn ranks_bring_their_own_shares() {
    let (problem, parameters) = problem_of(5, 20);
    let whole = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let expected = everything(&whole, &parameters, 1);
    let on_shares = |shares: [std::ops::Range<usize>; 3]| {
        same(on_ranks(3, |ranks| {
            let (problem, parameters) = problem_of(5, 20);
            let share = problem.share(shares[ranks.rank()].clone()).expect("a share");
            assert_eq!(share.held(), shares[ranks.rank()]);
            let engine = Engine::new(&device(Precision::F64, &ranks), &share);
            engine.map(|engine| everything(&engine, &parameters, 1)).map_err(|error| error.message)
        }))
    };
    for ((name, found), (_, expected)) in on_shares([0..1, 1..13, 13..20]).expect("numbers").iter().zip(&expected) {
        assert!(error(found, expected) <= tolerance(Precision::F64, 60), "{name}");
    }
    for shares in [[0..5, 6..13, 13..20], [0..5, 5..13, 13..19], [5..13, 0..5, 13..20], [0..7, 5..13, 13..20]] {
        let refused = on_shares(shares).expect_err("no whole");
        assert!(refused.contains("all 20 samples, each once"), "{refused}");
    }
}

#[test]
fn a_share_is_no_problem_of_its_own() {
    let (problem, parameters) = problem_of(5, 20);
    for range in [3..3, 5..21, 20..21] {
        assert_eq!(problem.share(range).expect_err("no share").code, ErrorCode::InvalidProblem);
    }
    let share = problem.share(4..9).expect("a share");
    assert_eq!((share.samples(), share.held()), (20, 4..9));
    assert_eq!(share.share(5..9).expect("a share").held(), 5..9);
    assert!(share.share(3..9).is_err());
    let refused = message(Engine::new(&Device::cpu(Precision::F64), &share).map(|_| ()));
    assert_eq!(refused, (ErrorCode::InvalidProblem, "only samples 4 to 9 of 20 are here".into()));
    let file =
        isoflat::ProblemFile { name: None, problem: share, parameters, direction: None, transformations: Vec::new() };
    assert_eq!(file.try_to_json().expect_err("a part of a file").code, ErrorCode::InvalidProblem);
}
