//! Landscapes against losses computed point by point, and what normalisation promises.

use crate::support::*;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::landscape::{Axis, Direction, Normalization, Span, landscape, landscape_rows};
use isoflat::linalg::{Goal, Lanczos};
use isoflat::network::Layer;
use isoflat::operator::OperatorKind;
use isoflat::symmetry::Transformation;
use isoflat::{Control, ErrorCode, Loss, Network, Problem, Targets};

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

/// The parts of a direction that have a length each, and whether they are moved.
fn parts(network: &Network, normalization: Normalization) -> Vec<(std::ops::Range<usize>, bool)> {
    let layout = network.layout();
    match normalization {
        Normalization::None => vec![(0..network.parameter_count(), true)],
        Normalization::Layer => layout.blocks().into_iter().map(|block| (block.range, true)).collect(),
        Normalization::Filter => layout
            .layers()
            .iter()
            .flat_map(|layer| {
                let start = layer.weight.start;
                let rows = (0..layer.outputs).map(move |i| start + i * layer.inputs..start + (i + 1) * layer.inputs);
                rows.map(|row| (row, true)).chain(layer.bias.clone().map(|bias| (bias, false)))
            })
            .collect(),
    }
}

#[test]
fn every_part_of_a_normalised_direction_has_the_length_of_the_parameters_part() {
    let length = |part: &[f64]| dot(part, part).sqrt();
    for seed in 0..30 {
        let mut rng = rng(60 + seed);
        let network = any_network(&mut rng, seed, &ALL);
        let mut theta = random_parameters(&mut rng, &network);
        // A layer that is zero, as biases often are: it is not moved.
        if seed % 3 == 0 {
            let block = network.layout().blocks().pop().expect("a block").range;
            theta[block].fill(0.0);
        }
        let direction = random_direction(&mut rng, theta.len());
        for normalization in [Normalization::None, Normalization::Layer, Normalization::Filter] {
            let found = normalization.apply(&network, &theta, direction.clone()).expect("a direction");
            let parts = parts(&network, normalization);
            assert_eq!(parts.iter().map(|(part, _)| part.len()).sum::<usize>(), theta.len(), "parts are disjoint");
            for (part, moves) in parts {
                let [v, w, own] = [&found, &theta, &direction].map(|all| &all[part.clone()]);
                let expected = match (normalization, moves) {
                    (Normalization::None, _) => 1.0,
                    (_, true) => length(w),
                    (_, false) => 0.0,
                };
                assert!((length(v) - expected).abs() <= 1e-13 * expected, "seed {seed} {normalization:?} {part:?}");
                // Within a part only the length changes, and not the way.
                let factor = expected / length(own);
                assert!(v.iter().zip(own).all(|(v, own)| (v - factor * own).abs() <= 1e-13 * expected));
            }
        }
    }
    let network = Network::dense(&[2, 2], true).expect("a network");
    let short = Normalization::Layer.apply(&network, &[1.0; 6], vec![1.0; 5]);
    assert_eq!(short.expect_err("a fault").code, ErrorCode::InvalidParameters);
    let infinite = Normalization::Layer.apply(&network, &[1.0; 6], vec![f64::INFINITY; 6]);
    assert_eq!(infinite.expect_err("a fault").code, ErrorCode::NotFinite);
}

/// At W x + b for x = ±e_i, with these outputs as targets, squared error along (U, u) is s² (‖U‖² / n + ‖u‖²): a ruler.
#[test]
fn landscapes_go_as_far_as_their_normalisation_says() {
    let (control, n) = (Control::default(), 5);
    let network = Network::dense(&[n, 3], true).expect("a network");
    let theta = random_parameters(&mut rng(3), &network);
    let inputs: Vec<f64> =
        (0..2 * n).flat_map(|row| (0..n).map(move |i| if i == row / 2 { [1.0, -1.0][row % 2] } else { 0.0 })).collect();
    let problem = |targets| {
        let targets = isoflat::Targets::Vectors(targets);
        Problem::new(network.clone(), Loss::SquaredError, inputs.clone(), targets).expect("a problem")
    };
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem(vec![0.0; 2 * n * 3])).expect("an engine");
    pollster::block_on(engine.prepare(&theta)).expect("a point");
    let outputs = pollster::block_on(engine.outputs()).expect("outputs").to_vec();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem(outputs)).expect("an engine");
    let squares = |part: &[f64]| dot(part, part);
    let (weights, bias) = (squares(&theta[..3 * n]), squares(&theta[3 * n..]));
    let expected = [(Normalization::Layer, weights / n as f64 + bias), (Normalization::Filter, weights / n as f64)];
    for (normalization, square) in expected {
        let directions = [(Direction::Random { seed: 5 }, AXIS)];
        let line = pollster::block_on(landscape(&engine, &theta, &directions, normalization, &control));
        let line = line.expect("a line");
        for (s, loss) in line.s.iter().zip(&line.loss) {
            assert!((loss - s * s * square).abs() <= 1e-12 * square, "{normalization:?}: {loss} at {s}");
        }
    }
}

#[test]
fn normalised_landscapes_stand_still_under_layer_wise_rescaling() {
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

/// The row of a unit that is 0 at every sample is rounding in an eigenvector, which no filter's length makes a direction of.
#[test]
fn rows_within_an_eigenvectors_error_are_no_direction() {
    let control = Control::default();
    let (problem, mut theta) = problem();
    let network = problem.network();
    let second = &network.layout().layers()[1];
    theta[second.bias.clone().expect("biases").start] = -1e3;
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let line_at = |theta: &[f64]| {
        let directions = [(Direction::Eigenvector { operator: OperatorKind::HESSIAN, index: 0 }, AXIS)];
        pollster::block_on(landscape(&engine, theta, &directions, Normalization::Filter, &control))
            .expect("a line")
            .loss
    };
    let expected = line_at(&theta);
    for seed in 0..4 {
        let permuted = Transformation::RandomPermutation { seed }.apply(network, &theta).expect("a symmetry");
        let mut found = line_at(&permuted);
        // An eigenvector has no sign.
        if (found[0] - expected[0]).abs() > (found[0] - expected[4]).abs() {
            found.reverse();
        }
        assert!(error(&found, &expected) < 1e-2, "{seed}: {found:?}, expected {expected:?}");
    }
}

/// A residual can be less than what rounding, and another eigenvalue that is close, have left in such a row.
#[test]
fn rows_that_are_rounding_stay_however_small_the_residual_is() {
    let control = Control::default();
    for seed in [24, 245, 1072, 1177, 1734] {
        // Outputs share no parameters: an eigenvector is one output's, and has nothing in the rows of the others.
        let outputs = 2 + seed as usize % 3;
        let layers = vec![Layer::Dense { units: outputs, bias: false }, Layer::Scale { bias: false }];
        let network = Network::new(vec![2], layers).expect("a network");
        let mut rng = rng(seed);
        let (inputs, targets) = (random_direction(&mut rng, 2), random_direction(&mut rng, outputs));
        let targets = Targets::Vectors(targets);
        let problem = Problem::new(network.clone(), Loss::SquaredError, inputs, targets).expect("a problem");
        let theta = random_direction(&mut rng, network.parameter_count());
        let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
        let line = |direction, normalization| {
            let directions = [(direction, AXIS)];
            let line = landscape(&engine, &theta, &directions, normalization, &control);
            pollster::block_on(line).expect("a line").loss
        };
        pollster::block_on(engine.prepare(&theta)).expect("a point");
        let operator = pollster::block_on(OperatorKind::HESSIAN.operator(&engine)).expect("an operator");
        let search = Lanczos { goal: Goal::Extremes { top: 1, bottom: 0 }, vectors: true, ..Lanczos::default() };
        let mut found = pollster::block_on(search.run(&operator, &control)).expect("a spectrum").top;
        let mut vector = found.remove(0).vector.expect("a vector");
        vector.iter_mut().filter(|v| v.abs() < 1e-9).for_each(|v| *v = 0.0);
        let vector = Normalization::Filter.apply(&network, &theta, vector).expect("a direction");
        let expected = line(Direction::Vector(vector), Normalization::None);
        let mut found =
            line(Direction::Eigenvector { operator: OperatorKind::HESSIAN, index: 0 }, Normalization::Filter);
        // An eigenvector has no sign.
        if (found[0] - expected[0]).abs() > (found[0] - expected[4]).abs() {
            found.reverse();
        }
        assert!(error(&found, &expected) < 1e-3, "{seed}: {found:?}, expected {expected:?}");
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
