//! An engine stands at one point. Work that is begun while other work on it waits may take it away from there: that work ends with an
//! error then, and never with numbers of two points.

use std::cell::Cell;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use isoflat::engine::{Device, Engine, Precision};
use isoflat::invariance::invariance;
use isoflat::linalg::{Goal, Lanczos};
use isoflat::measure::{Measure, MeasureOptions, MeasureValue, measure};
use isoflat::network::{BiasInitialization, Initialization};
use isoflat::operator::{OperatorKind, SymmetricOperator};
use isoflat::symmetry::Transformation;
use isoflat::{Control, ErrorCode, Network, Problem, Result, data};
use pollster::block_on;

fn problem() -> (Problem, Vec<f64>) {
    let network = Network::dense(&[3, 5, 4, 2], true).expect("a network");
    let problem = data::synthetic(network.clone(), 40, 1).expect("a problem");
    let theta = network.initialize(Initialization::KaimingNormal, BiasInitialization::Uniform, 4).expect("a start");
    (problem, theta)
}

/// Comes back once before it is ready, as an event loop does.
struct Breath(bool);

impl Future for Breath {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Both, a step of each in turn.
fn in_turn<T>(first: impl Future<Output = T>, second: impl Future<Output = T>) -> [T; 2] {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let mut found = [None, None];
    let mut context = Context::from_waker(Waker::noop());
    loop {
        let [a, b] = &mut found;
        if a.is_none()
            && let Poll::Ready(value) = first.as_mut().poll(&mut context)
        {
            *a = Some(value);
        }
        if b.is_none()
            && let Poll::Ready(value) = second.as_mut().poll(&mut context)
        {
            *b = Some(value);
        }
        if let [Some(_), Some(_)] = found {
            return found.map(|value| value.expect("both"));
        }
    }
}

const KEYS: [&str; 6] = [
    "loss",
    "hessian.max_eigenvalue",
    "riemannian.layerwise_flat.spectral_norm",
    "petzka.kappa_max",
    "hessian.trace",
    "riemannian_sharpness.nodewise",
];

fn measures() -> Vec<&'static Measure> {
    KEYS.iter().map(|key| Measure::from_key(key).expect("a measure")).collect()
}

#[test]
fn measures_of_two_points_at_once_are_refused_and_never_mixed() {
    let (problem, here) = problem();
    let there: Vec<f64> = here.iter().map(|w| 1.5 * w).collect();
    let options = MeasureOptions::default();
    let engine = || Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let values = |found: Vec<MeasureValue>| found.into_iter().map(|found| found.value).collect::<Vec<f64>>();
    let alone = [&here, &there].map(|theta| {
        values(block_on(measure(&engine(), theta, &measures(), &options, &Control::default())).expect("measures"))
    });
    assert!(alone[0].iter().zip(&alone[1]).all(|(a, b)| a != b), "the points have other numbers");

    let engine = engine();
    let control = Control::default().breathe_with(|| Box::pin(Breath(false)));
    let asked = measures();
    let found: [Result<Vec<MeasureValue>>; 2] = in_turn(
        measure(&engine, &here, &asked, &options, &control),
        measure(&engine, &there, &asked, &options, &control),
    );
    let mut refused = 0;
    for (found, alone) in found.into_iter().zip(&alone) {
        match found {
            Ok(found) => assert_eq!(&values(found), alone),
            Err(error) => {
                assert_eq!(error.code, ErrorCode::InvalidParameters);
                assert!(error.message.contains("prepared at another point"), "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 0, "they were not in each other's way");
    // The engine is as good as ever.
    let again = block_on(measure(&engine, &here, &asked, &options, &control)).expect("measures");
    assert_eq!(values(again), alone[0]);
}

#[test]
fn who_listens_to_progress_may_not_move_the_engine_unseen() {
    let (problem, here) = problem();
    let there: Vec<f64> = here.iter().map(|w| 2.0 * w).collect();
    let engine = Rc::new(Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine"));
    let moved = Cell::new(false);
    let control = Control::default().on_progress(|_| {
        if !moved.replace(true) {
            block_on(engine.prepare(&there)).expect("a point");
        }
    });
    let found = block_on(measure(&engine, &here, &measures(), &MeasureOptions::default(), &control));
    assert!(moved.get());
    assert!(found.expect_err("a fault").message.contains("prepared at another point"));
}

#[test]
fn an_operator_is_of_the_point_that_it_was_made_at() {
    let (problem, here) = problem();
    let there: Vec<f64> = here.iter().map(|w| 2.0 * w).collect();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    for name in ["hessian", "riemannian.layerwise_flat", "riemannian.nodewise_flat", "riemannian.layerwise_levi_civita"]
    {
        block_on(engine.prepare(&here)).expect("a point");
        let kind = OperatorKind::from_name(name).expect("an operator");
        let operator = block_on(kind.operator(&engine)).expect("an operator");
        let lanczos = Lanczos { goal: Goal::Extremes { top: 1, bottom: 0 }, ..Lanczos::default() };
        let run = |operator: &dyn SymmetricOperator| block_on(lanczos.run(operator, &Control::default()));
        run(&operator).expect("at its own point");
        // The same point is no other one.
        block_on(engine.prepare(&here)).expect("a point");
        run(&operator).expect("at its own point still");
        block_on(engine.prepare(&there)).expect("another point");
        let error = run(&operator).expect_err("at another point");
        assert_eq!(error.code, ErrorCode::InvalidParameters, "{name}");
        run(&block_on(kind.operator(&engine)).expect("an operator")).expect("one of this point");
    }
}

#[test]
fn the_invariance_table_leaves_the_engine_where_it_was_asked_about() {
    let (problem, theta) = problem();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let maps = [Transformation::RandomNodewise { seed: 7, low: 0.25, high: 4.0 }];
    let (measures, options) = (measures(), MeasureOptions::default());
    block_on(invariance(&engine, &theta, &measures, &maps, &options, &Control::default())).expect("a table");
    assert_eq!(engine.parameters().expect("a point"), theta);
}
