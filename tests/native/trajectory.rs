//! The way of a training: snapshots that change nothing in the run, their principal components against a singular value decomposition,
//! and their projection onto landscapes.

use std::cell::Cell;

use crate::support::space_cases::*;
use crate::support::*;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::landscape::{Axis, Direction, Normalization, Span, Trajectory, landscape, landscape_with};
use isoflat::space::SpaceKind;
use isoflat::train::{Optimizer, Snapshot, Snapshots, TrainOptions, resume, train_in};
use isoflat::{Control, ErrorCode};
use nalgebra::DMatrix;
use pollster::block_on;

const SPAN: Span = Span { range: None, points: 5 };

fn steps(snapshots: &[Snapshot]) -> Vec<usize> {
    snapshots.iter().map(|snapshot| snapshot.step).collect()
}

#[test]
fn snapshots_change_nothing_and_hold_the_parameters_of_every_space() {
    let (problem, start) = image_problem();
    for device in devices() {
        let engine = Engine::new(&device, &problem).expect("an engine");
        for kind in [SpaceKind::Weights, KEPT_G] {
            let opened = open(&kind, &problem, &start);
            let plain = options(Optimizer::adam(0.01));
            let without = run(&engine, &*opened.space, &opened.parameters, &plain);
            for (which, expected) in [
                (Snapshots::Every(5), vec![0, 5, 10, 12]),
                (Snapshots::Every(100), vec![0, 12]),
                (Snapshots::Count(2), vec![0, 12]),
                (Snapshots::Count(5), vec![0, 4, 8, 12]),
                (Snapshots::Count(100), (0..=12).collect()),
            ] {
                let options = TrainOptions { snapshots: Some(which), ..plain };
                let mut found = run(&engine, &*opened.space, &opened.parameters, &options);
                let kept = std::mem::take(&mut found.snapshots);
                assert_eq!(found, without, "{which:?} in {kind:?}");
                assert_eq!(steps(&kept), expected, "{which:?}");
                assert_eq!(kept[kept.len() - 1].parameters, found.parameters);
                assert_eq!(kept[kept.len() - 1].epoch, 3.0);
                assert!(error(&kept[0].parameters, &opened.parameters) < 1e-6);
                // The parameters of a step are those of a run that ends there.
                for snapshot in kept.iter().filter(|snapshot| snapshot.step.is_multiple_of(4)) {
                    let shorter = TrainOptions { epochs: snapshot.step / 4, ..plain };
                    let shorter = run(&engine, &*opened.space, &opened.parameters, &shorter);
                    assert_eq!(snapshot.parameters, shorter.parameters, "step {}", snapshot.step);
                }
            }
        }
    }
}

#[test]
fn a_snapshot_has_the_loss_of_the_samples_that_follow() {
    let (problem, start) = image_problem();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let space = open(&SpaceKind::Weights, &problem, &start).space;
    // Batches of all samples, in every order.
    let options = TrainOptions {
        batch_size: 24,
        epochs: 11,
        snapshots: Some(Snapshots::Every(3)),
        ..options(Optimizer::sgd(0.1))
    };
    let found = run(&engine, &*space, &start, &options);
    assert_eq!(steps(&found.snapshots), [0, 3, 6, 9, 11]);
    for snapshot in &found.snapshots {
        let loss = block_on(engine.evaluate(&snapshot.parameters)).expect("a loss").loss;
        assert!((snapshot.loss - loss).abs() < 1e-12 * loss, "{} at step {}", snapshot.loss, snapshot.step);
    }
}

#[test]
fn a_run_in_pieces_keeps_the_snapshots_of_a_whole_one() {
    let (problem, start) = image_problem();
    let engine = Engine::new(&Device::cpu(Precision::F32), &problem).expect("an engine");
    let opened = open(&KEPT_G, &problem, &start);
    for which in [Snapshots::Every(2), Snapshots::Count(6)] {
        let options = TrainOptions { snapshots: Some(which), epochs: 5, ..options(Optimizer::adam(0.01)) };
        let whole = run(&engine, &*opened.space, &opened.parameters, &options);
        let (mut list, mut checkpoint): (Vec<Snapshot>, _) = (Vec::new(), None);
        loop {
            let breaths = Cell::new(0);
            let control = Control::default().finish_when(|| {
                breaths.set(breaths.get() + 1);
                breaths.get() > 7
            });
            let piece = match &checkpoint {
                None => block_on(train_in(&engine, &*opened.space, &opened.parameters, None, &options, &control)),
                Some(from) => block_on(resume(&engine, &*opened.space, from, None, &options, &control)),
            };
            let piece = piece.expect("training");
            // The last of a piece is where it was stopped, which is none of a whole run's unless the next piece says so.
            if checkpoint.is_some() {
                list.pop();
            }
            list.extend(piece.snapshots.iter().cloned());
            if !piece.stopped {
                break;
            }
            checkpoint = Some(piece.checkpoint);
        }
        let expected = steps(&whole.snapshots);
        list.retain(|snapshot| expected.contains(&snapshot.step));
        assert_eq!(list, whole.snapshots, "{which:?}");
    }
}

#[test]
fn too_many_snapshots_are_refused_before_the_first_step() {
    let (problem, start) = image_problem();
    let engine = Engine::new(&Device::cpu(Precision::F32), &problem).expect("an engine");
    let space = open(&SpaceKind::Weights, &problem, &start).space;
    let longer =
        |snapshots, epochs| TrainOptions { snapshots: Some(snapshots), epochs, ..options(Optimizer::sgd(0.1)) };
    for (options, code, says) in [
        (longer(Snapshots::Every(0), 1), ErrorCode::InvalidOption, "every 0 steps"),
        (longer(Snapshots::Count(1), 1), ErrorCode::InvalidOption, "2 snapshots or more"),
        (longer(Snapshots::Count(1025), 1), ErrorCode::TooLarge, "at most 1024"),
        (longer(Snapshots::Every(1), 1000), ErrorCode::TooLarge, "may have 4002 snapshots"),
        (longer(Snapshots::Every(1), usize::MAX), ErrorCode::TooLarge, "take fewer"),
    ] {
        let error = block_on(train_in(&engine, &*space, &start, None, &options, &Control::default()));
        let error = error.expect_err("too many");
        assert!(error.code == code && error.message.contains(says), "{error:?}");
    }
}

fn spread_out(count: usize, length: usize) -> Vec<Vec<f64>> {
    let mut rng = rng(11);
    let axes: Vec<Vec<f64>> = (0..4).map(|_| random_direction(&mut rng, length)).collect();
    let far = random_direction(&mut rng, length);
    (0..count)
        .map(|i| {
            let x = i as f64 / count as f64;
            let weights = [5.0 * x, (3.0 * x).sin(), 0.2 * (17.0 * x).cos(), 0.01 * (31.0 * x).sin()];
            (0..length)
                .map(|k| 100.0 * far[k] + axes.iter().zip(weights).map(|(axis, w)| w * axis[k]).sum::<f64>())
                .collect()
        })
        .collect()
}

#[test]
fn principal_components_are_those_of_a_singular_value_decomposition() {
    for (count, length) in [(9, 5000), (30, 40), (3, 7)] {
        let snapshots = spread_out(count, length);
        let components = 4.min(count - 1);
        let trajectory = Trajectory::new(snapshots.clone()).expect("a trajectory");
        let found = block_on(trajectory.principal(components, &Control::default())).expect("components");
        let mut rows = DMatrix::from_fn(count, length, |i, k| snapshots[i][k] - snapshots[count - 1][k]);
        for mut column in rows.column_iter_mut() {
            let mean = column.mean();
            column.add_scalar_mut(-mean);
        }
        let variance = rows.norm_squared();
        let svd = rows.clone().svd(false, true);
        let right = svd.v_t.expect("right vectors");
        for k in 0..components {
            let expected: Vec<f64> = right.row(k).iter().copied().collect();
            let direction = &found.directions[k];
            // Rounding of the Gram matrix, beside the distance to the next singular value.
            assert!(dot(&expected, direction).abs() > 1.0 - 1e-8, "component {k} of {count}");
            let share = svd.singular_values[k].powi(2) / variance;
            assert!((found.explained[k] - share).abs() < 1e-10, "{} of {share}", found.explained[k]);
            for (j, other) in found.directions.iter().enumerate() {
                assert!((dot(direction, other) - f64::from(u8::from(j == k))).abs() < 1e-12, "not orthonormal");
            }
            let along: Vec<f64> =
                rows.row_iter().map(|row| row.iter().zip(direction).map(|(a, b)| a * b).sum()).collect();
            let farthest = along.iter().fold(0.0, |m: f64, &x| if x.abs() > m.abs() { x } else { m });
            assert!(farthest > 0.0, "the farthest snapshot is on the negative side");
        }
        let all = found.explained.iter().sum::<f64>();
        assert!((all - 1.0).abs() < 1e-10, "4 directions explain {all}");
    }
}

#[test]
fn a_trajectory_of_any_size_is_the_same_one() {
    let snapshots = spread_out(6, 30);
    let components = |factor: f64| {
        let scaled = snapshots.iter().map(|snapshot| snapshot.iter().map(|x| x * factor).collect()).collect();
        let trajectory = Trajectory::new(scaled).expect("a trajectory");
        block_on(trajectory.principal(2, &Control::default())).expect("components")
    };
    let expected = components(1.0);
    // Powers of two, so that nothing but the scale changes.
    for factor in [2.0f64.powi(900), 2.0f64.powi(-900)] {
        assert_eq!(components(factor), expected);
    }
}

#[test]
fn the_way_of_a_training_is_inside_its_landscape_and_ends_at_the_origin() {
    let (problem, start) = image_problem();
    for device in devices() {
        let engine = Engine::new(&device, &problem).expect("an engine");
        let space = open(&SpaceKind::Weights, &problem, &start).space;
        let options = TrainOptions { snapshots: Some(Snapshots::Count(12)), ..options(Optimizer::adam(0.02)) };
        let training = run(&engine, &*space, &start, &options);
        let snapshots: Vec<Vec<f64>> = training.snapshots.into_iter().map(|snapshot| snapshot.parameters).collect();
        let trajectory = Trajectory::new(snapshots.clone()).expect("a trajectory");
        let directions = [0, 1].map(|component| (Direction::Principal { component }, SPAN));
        // What random directions are matched to is not theirs.
        let control = Control::default();
        let end = &training.parameters;
        let found = landscape_with(&engine, end, &trajectory, &directions, Normalization::Filter, &control);
        let found = block_on(found).expect("a landscape");
        let path = found.path.expect("a path");
        assert_eq!((path.s.len(), path.t.len()), (snapshots.len(), snapshots.len()));
        assert_eq!((path.s[path.s.len() - 1], path.t[path.t.len() - 1]), (0.0, 0.0));
        assert!((path.explained.iter().sum::<f64>() - path.share).abs() < 1e-12);
        assert!(path.explained[0] > path.explained[1] && path.share < 1.0);
        for (axis, along) in [(&found.s, &path.s), (&found.t, &path.t)] {
            assert!(along.iter().all(|x| axis[0] < *x && *x < axis[axis.len() - 1]), "{along:?} outside of {axis:?}");
            assert!(axis[0] < 0.0 && 0.0 < axis[axis.len() - 1]);
        }
        // The plane is at most as far from each snapshot as the line through the same point, and no snapshot is beyond its distance.
        let components = block_on(trajectory.principal(2, &Control::default())).expect("components");
        for (i, snapshot) in snapshots.iter().enumerate() {
            let difference: Vec<f64> = snapshot.iter().zip(&training.parameters).map(|(a, b)| a - b).collect();
            let expected = [0, 1].map(|k| dot(&difference, &components.directions[k]));
            assert!((path.s[i] - expected[0]).abs() + (path.t[i] - expected[1]).abs() < 1e-12);
        }
    }
}

#[test]
fn three_snapshots_are_in_their_own_plane() {
    let (problem, theta) = image_problem();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let mut rng = rng(4);
    let near = |size: f64, rng: &mut _| -> Vec<f64> {
        theta.iter().zip(random_direction(rng, theta.len())).map(|(a, b)| a + size * b).collect()
    };
    let snapshots = vec![near(0.3, &mut rng), near(0.1, &mut rng), theta.clone()];
    let trajectory = Trajectory::new(snapshots.clone()).expect("a trajectory");
    let landscape = |spans: [Span; 2]| {
        let directions = [0, 1].map(|component| (Direction::Principal { component }, spans[component]));
        let control = Control::default();
        let found = landscape_with(&engine, &theta, &trajectory, &directions, Normalization::None, &control);
        block_on(found).expect("a landscape")
    };
    let path = landscape([SPAN; 2]).path.expect("a path");
    assert!((path.share - 1.0).abs() < 1e-12);
    for i in 0..3 {
        for j in 0..i {
            let apart: Vec<f64> = snapshots[i].iter().zip(&snapshots[j]).map(|(a, b)| a - b).collect();
            let drawn = (path.s[i] - path.s[j]).hypot(path.t[i] - path.t[j]);
            assert!((drawn - dot(&apart, &apart).sqrt()).abs() < 1e-10 * drawn);
        }
        // The landscape there is the snapshot's loss.
        let at = |x: f64| Span { range: Some((x, x + 1.0)), points: 2 };
        let loss = landscape([at(path.s[i]), at(path.t[i])]).loss[0];
        let expected = block_on(engine.evaluate(&snapshots[i])).expect("a loss").loss;
        assert!((loss - expected).abs() < 1e-10 * expected, "{loss}, expected {expected}");
    }
}

#[test]
fn in_other_directions_a_way_is_where_it_is_nearest() {
    let (problem, theta) = image_problem();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let mut rng = rng(9);
    let u = random_direction(&mut rng, theta.len());
    // Neither of length 1 nor at right angles.
    let v: Vec<f64> = u.iter().zip(random_direction(&mut rng, theta.len())).map(|(a, b)| 0.5 * a + 3.0 * b).collect();
    let snapshots: Vec<Vec<f64>> = (0..6)
        .map(|_| theta.iter().zip(random_direction(&mut rng, theta.len())).map(|(a, b)| a + b).collect())
        .collect();
    let trajectory = Trajectory::new(snapshots.clone()).expect("a trajectory");
    let on = |directions: &[(Direction, Span)]| {
        let control = Control::default();
        block_on(landscape_with(&engine, &theta, &trajectory, directions, Normalization::None, &control))
    };
    let found = on(&[(Direction::Vector(u.clone()), SPAN), (Direction::Vector(v.clone()), SPAN)]);
    let path = found.expect("a landscape").path.expect("a path");
    assert!(path.share > 0.0 && path.share < 1.0);
    for (i, snapshot) in snapshots.iter().enumerate() {
        let rest: Vec<f64> =
            (0..theta.len()).map(|k| snapshot[k] - theta[k] - path.s[i] * u[k] - path.t[i] * v[k]).collect();
        assert!(dot(&rest, &u).abs() + dot(&rest, &v).abs() < 1e-9, "what is left is at right angles to the plane");
    }
    // The same direction twice is a line: the second coordinate says nothing.
    let twice = on(&[(Direction::Vector(u.clone()), SPAN), (Direction::Vector(u.clone()), SPAN)]);
    let twice = twice.expect("a landscape").path.expect("a path");
    assert!(twice.t.iter().all(|t| *t == 0.0));
    let line = on(&[(Direction::Vector(u), SPAN)]).expect("a line").path.expect("a path");
    assert!(line.t.is_empty() && error(&line.s, &twice.s) < 1e-12);
    assert!((line.share - line.explained[0]).abs() < 1e-12);
    assert!((path.explained[0] - line.share).abs() < 1e-12);
}

#[test]
fn what_has_no_way_or_too_little_of_one_says_so() {
    let (problem, theta) = image_problem();
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine");
    let moved = |size: f64| theta.iter().map(|x| x + size).collect::<Vec<f64>>();
    let directions = |components: &[usize]| -> Vec<(Direction, Span)> {
        components.iter().map(|&component| (Direction::Principal { component }, SPAN)).collect()
    };
    let draw = |snapshots: Vec<Vec<f64>>, directions: &[(Direction, Span)]| {
        let control = Control::default();
        let trajectory = Trajectory::new(snapshots)?;
        block_on(landscape_with(&engine, &theta, &trajectory, directions, Normalization::None, &control))
    };
    let refuse = |snapshots, components: &[usize], says: &str| {
        let error = draw(snapshots, &directions(components)).expect_err(says);
        assert!(error.message.contains(says), "{error:?}");
    };
    refuse(vec![theta.clone()], &[0], "2 to 1024 snapshots, not 1");
    refuse(vec![moved(1.0), vec![1.0; 3]], &[0], "snapshot 1 of the trajectory has 3 parameters");
    refuse(vec![vec![1.0; 3], vec![2.0; 3]], &[0], "3");
    refuse(vec![moved(1.0), moved(f64::NAN)], &[0], "NaN");
    refuse(vec![theta.clone(), theta.clone()], &[0], "has not moved");
    refuse(vec![moved(1.0), theta.clone()], &[0, 1], "differ along 1 principal component, but number 1");
    refuse(vec![moved(2.0), moved(1.0), theta.clone()], &[0, 1], "differ along 1 principal component");
    refuse(vec![moved(1.0), theta.clone()], &[0, usize::MAX], "is asked for");
    refuse(vec![moved(1.0), theta.clone()], &[0, 0], "both directions");
    let line = draw(vec![moved(1.0), theta.clone()], &directions(&[0])).expect("a line along the only component");
    let path = line.path.expect("a path");
    assert!((path.share - 1.0).abs() < 1e-12 && path.s[1] == 0.0);
    let axis = Axis { from: -1.0, to: 1.0, points: 3 };
    let directions = [(Direction::Principal { component: 0 }, axis)];
    let control = Control::default();
    let without = landscape(&engine, &theta, &directions, Normalization::None, &control);
    let error = block_on(without).expect_err("no trajectory");
    assert!(error.code == ErrorCode::InvalidOption && error.message.contains("snapshots"), "{error:?}");
}
