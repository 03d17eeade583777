//! Landscapes against losses computed point by point, and what normalisation promises.

use crate::support::*;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::landscape::{Axis, Direction, Normalization, Span, landscape, landscape_rows};
use isoflat::operator::OperatorKind;
use isoflat::{Control, ErrorCode, Loss, Network, Problem};

fn problem() -> (Problem, Vec<f64>) {
    let network = Network::dense(&[4, 6, 5, 3], true).expect("a network");
    let mut rng = rng(7);
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    (problem, random_parameters(&mut rng, &network))
}

const AXIS: Axis = Axis { from: -1.0, to: 1.0, points: 5 };

fn moved(theta: &[f64], s: f64, u: &[f64], t: f64, v: &[f64]) -> Vec<f64> {
    theta.iter().zip(u).zip(v).map(|((p, u), v)| p + s * u + t * v).collect()
}

#[test]
fn a_grid_holds_the_loss_of_each_point_on_every_device() {
    let control = Control::default();
    let (problem, theta) = problem();
    let mut rng = rng(8);
    let (u, v) = (random_direction(&mut rng, theta.len()), random_direction(&mut rng, theta.len()));
    let directions =
        [(Direction::Vector(u.clone()), AXIS), (Direction::Vector(v.clone()), Axis { from: 0.0, to: 2.0, points: 3 })];
    let reference = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    for (device, limit) in [(Device::cpu(Precision::F64), 1e-14), (Device::cpu(Precision::F32), 1e-5), (gpu(), 1e-5)] {
        let engine = Engine::new(&device, &problem).expect("an engine");
        let found = landscape(&engine, &theta, &directions, Normalization::None, &control);
        let found = pollster::block_on(found).expect("a landscape");
        assert_eq!((found.s.len(), found.t.len(), found.loss.len()), (5, 3, 15));
        for (j, &t) in found.t.iter().enumerate() {
            for (i, &s) in found.s.iter().enumerate() {
                let expected = pollster::block_on(reference.evaluate(&moved(&theta, s, &u, t, &v))).expect("a loss");
                let (loss, accuracy) = (found.loss[i + j * 5], found.accuracy[i + j * 5]);
                assert!((loss - expected.loss).abs() <= limit * expected.loss, "{loss}, expected {}", expected.loss);
                assert!((accuracy - expected.accuracy).abs() < 1e-6);
            }
        }
        assert!((found.loss[2] - found.center).abs() <= limit * found.center, "s = t = 0 is θ");
    }
}

#[test]
fn rows_from_any_one_on_are_those_of_the_whole_to_the_last_bit() {
    let (problem, theta) = problem();
    let mut rng = rng(9);
    let vector = || Direction::Vector(random_direction(&mut rng, theta.len()));
    // Ends that no step between them divides.
    let spans = [(-1.0, 1.0), (-0.3, 1.7)].map(|range| Span { range: Some(range), points: 7 });
    let directions: Vec<_> = std::iter::repeat_with(vector).zip(spans).collect();
    for device in [Device::cpu(Precision::F64), Device::cpu(Precision::F32), gpu()] {
        let engine = Engine::new(&device, &problem).expect("an engine");
        let rows = |first, control: &Control<'_>| {
            let found = landscape_rows(&engine, &theta, None, &directions, Normalization::None, first, control);
            pollster::block_on(found)
        };
        let told = std::cell::RefCell::new((Vec::new(), Vec::new()));
        let watched = Control::default().on_progress(|progress| {
            let mut told = told.borrow_mut();
            told.0.extend(progress.losses.clone().expect("losses"));
            told.1.extend(progress.accuracies.clone().expect("accuracies"));
        });
        let whole = rows(0, &watched).expect("a landscape");
        drop(watched);
        assert_eq!(told.into_inner(), (whole.loss.clone(), whole.accuracy.clone()), "what is told as they come");
        for first in 1..7 {
            let rest = rows(first, &Control::default()).expect("rows");
            assert_eq!(rest.t, whole.t[first..]);
            assert_eq!(rest.loss, whole.loss[7 * first..]);
            assert_eq!(rest.accuracy, whole.accuracy[7 * first..]);
            assert_eq!(rest.center, whole.center);
        }
        assert_eq!(rows(7, &Control::default()).expect_err("no such row").code, ErrorCode::InvalidOption);
    }
}

#[test]
fn normalised_directions_have_the_lengths_they_are_matched_to() {
    let control = Control::default();
    let (problem, theta) = problem();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    // The direction itself is not handed out; its effect is: on a network without activations, the loss along it tells.
    let line = |normalization, scale: f64| {
        let axis = Axis { from: -scale, to: scale, points: 3 };
        let directions = [(Direction::Random { seed: 5 }, axis)];
        pollster::block_on(landscape(&engine, &theta, &directions, normalization, &control)).expect("a line").loss
    };
    let (none, layer, filter) =
        (line(Normalization::None, 0.5), line(Normalization::Layer, 0.5), line(Normalization::Filter, 0.5));
    assert!(none != layer && layer != filter);

    // Layer-normalised landscapes do not move under layer-wise rescaling; unnormalised ones do.
    let map = isoflat::symmetry::Transformation::Layerwise { lambda: vec![8.0, 0.5, 0.25] };
    let bent = map.apply(problem.network(), &theta).expect("a map");
    let line_at = |theta: &[f64], normalization| {
        let directions = [(Direction::Random { seed: 5 }, AXIS)];
        pollster::block_on(landscape(&engine, theta, &directions, normalization, &control)).expect("a line").loss
    };
    for normalization in [Normalization::Layer, Normalization::Filter] {
        assert!(error(&line_at(&bent, normalization), &line_at(&theta, normalization)) < 1e-12);
    }
    assert!(error(&line_at(&bent, Normalization::None), &line_at(&theta, Normalization::None)) > 1e-3);
}

#[test]
fn eigenvector_directions_curve_as_their_eigenvalues_say() {
    let control = Control::default();
    let (problem, theta) = problem();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let hessian = OperatorKind::HESSIAN;
    let axis = Axis { from: -1e-4, to: 1e-4, points: 3 };
    pollster::block_on(engine.prepare(&theta)).expect("a point");
    let operator = pollster::block_on(hessian.operator(&engine)).expect("an operator");
    let spectrum =
        pollster::block_on(isoflat::linalg::dense_spectrum(&operator, 1e-9, &Control::default())).expect("a spectrum");
    let n = spectrum.values.len();
    for (index, value) in [(0, spectrum.values[n - 1]), (1, spectrum.values[n - 2]), (-1, spectrum.values[0])] {
        let directions = [(Direction::Eigenvector { operator: hessian, index }, axis)];
        let line = landscape(&engine, &theta, &directions, Normalization::None, &control);
        let loss = pollster::block_on(line).expect("a line").loss;
        let curvature = (loss[0] - 2.0 * loss[1] + loss[2]) / 1e-8;
        assert!((curvature - value).abs() < 1e-3 * spectrum.values[n - 1], "{index}: {curvature}, expected {value}");
    }
}

#[test]
fn towards_other_parameters_ends_there() {
    let control = Control::default();
    let (problem, theta) = problem();
    let other = random_parameters(&mut rng(12), problem.network());
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let directions = [(Direction::Towards(other.clone()), Axis { from: 0.0, to: 1.0, points: 3 })];
    let line = landscape(&engine, &theta, &directions, Normalization::Filter, &control);
    let loss = pollster::block_on(line).expect("a line").loss;
    let expected = pollster::block_on(engine.evaluate(&other)).expect("a loss").loss;
    assert!((loss[2] - expected).abs() < 1e-13 * expected);
}

#[test]
fn bad_options_are_errors() {
    let control = Control::default();
    let (problem, theta) = problem();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let random = || Direction::Random { seed: 1 };
    let eigenvector = |index| Direction::Eigenvector { operator: OperatorKind::ALL[0], index };
    let cases: Vec<(Vec<(Direction, Axis)>, ErrorCode)> = vec![
        (vec![], ErrorCode::InvalidOption),
        (vec![(random(), AXIS); 3], ErrorCode::InvalidOption),
        (vec![(random(), Axis { from: 1.0, to: -1.0, points: 5 })], ErrorCode::InvalidOption),
        (vec![(random(), Axis { from: f64::NAN, to: 1.0, points: 5 })], ErrorCode::InvalidOption),
        (vec![(random(), Axis { points: 1, ..AXIS })], ErrorCode::InvalidOption),
        (vec![(random(), Axis { points: 1 << 11, ..AXIS }); 2], ErrorCode::InvalidOption),
        (vec![(random(), Axis { points: usize::MAX, ..AXIS }); 2], ErrorCode::InvalidOption),
        (vec![(eigenvector(100_000), AXIS)], ErrorCode::InvalidOption),
        (vec![(eigenvector(isize::MIN), AXIS)], ErrorCode::InvalidOption),
        (vec![(Direction::Vector(vec![1.0]), AXIS)], ErrorCode::InvalidParameters),
        (vec![(Direction::Vector(vec![0.0; theta.len()]), AXIS)], ErrorCode::InvalidOption),
        (vec![(Direction::Towards(vec![f64::INFINITY; theta.len()]), AXIS)], ErrorCode::NotFinite),
    ];
    for (directions, code) in cases {
        let found = landscape(&engine, &theta, &directions, Normalization::None, &control);
        assert_eq!(pollster::block_on(found).expect_err("a fault").code, code, "{directions:?}");
    }
}
