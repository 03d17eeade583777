//! Sharpness by ascent and on average: against exact quadratics, against what sampling finds, and where f32 is too coarse.

use crate::support::*;
use isoflat::engine::{Curvature, Device, Engine, Precision};
use isoflat::linalg::{dense_matrix, orthonormal_columns, seed_of_draw};
use isoflat::measure::sharpness::{
    Noise, Region, Sharpness, Stop, average_sharpness, epsilon_sharpness, subspace_sharpness,
};
use isoflat::measure::{Measure, MeasureOptions, SharpnessOptions, measure};
use isoflat::network::Layer;
use isoflat::operator::CurvatureOperator;
use isoflat::{Control, ErrorCode, Loss, Network, Problem, Targets};
use nalgebra::{DMatrix, DVector};
use rand::Rng;

fn cpu(problem: &Problem) -> Engine {
    Engine::new(&Device::cpu(Precision::F64), problem).expect("an engine")
}

fn sharpness(engine: &Engine, theta: &[f64], region: Region, epsilon: f64) -> Sharpness {
    sharpness_to(None, engine, theta, region, epsilon)
}

fn sharpness_to(tolerance: Option<f64>, engine: &Engine, theta: &[f64], region: Region, epsilon: f64) -> Sharpness {
    let (options, control) = (SharpnessOptions { tolerance, ..SharpnessOptions::default() }, Control::default());
    pollster::block_on(epsilon_sharpness(engine, theta, region, epsilon, &options, &control)).expect("a sharpness")
}

/// A linear network with squared error: its loss is a quadratic form in θ, with this H everywhere.
fn quadratic(seed: u64) -> (Engine, Vec<f64>, DMatrix<f64>) {
    let mut rng = rng(seed);
    let network = Network::dense(&[4, 2], true).expect("a network");
    let problem = random_problem(&mut rng, network.clone(), Loss::SquaredError);
    let theta = random_parameters(&mut rng, &network);
    let engine = cpu(&problem);
    pollster::block_on(engine.prepare(&theta)).expect("a point");
    let operator = CurvatureOperator::new(&engine, Curvature::Hessian);
    let matrix = pollster::block_on(dense_matrix(&operator, &Control::default())).expect("a matrix");
    let n = theta.len();
    (engine, theta, DMatrix::from_vec(n, n, matrix))
}

/// max of gᵀu + uᵀAu/2 over ‖u‖ ≤ 1, A positive semidefinite: on the sphere, (λ − A) u = g with λ ≥ λ_max, found by bisection.
fn largest_on_ball(a: &DMatrix<f64>, g: &DVector<f64>) -> f64 {
    let eigen = a.clone().symmetric_eigen();
    let (q, top) = (eigen.eigenvectors.tr_mul(g), eigen.eigenvalues.max());
    let length = |l: f64| q.iter().zip(&eigen.eigenvalues).map(|(q, e)| (q / (l - e)).powi(2)).sum::<f64>().sqrt();
    let (mut low, mut high) = (top, top + g.norm() + 1e-300);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if length(middle) > 1.0 { low = middle } else { high = middle }
    }
    let l = high;
    let u = q.zip_map(&eigen.eigenvalues, |q, e| q / (l - e));
    q.dot(&u) + 0.5 * u.iter().zip(&eigen.eigenvalues).map(|(u, e)| e * u * u).sum::<f64>()
}

#[test]
fn balls_of_a_quadratic_loss_have_the_trust_regions_maximum() {
    for seed in 0..20 {
        let (engine, theta, h) = quadratic(seed);
        let g = DVector::from_vec(pollster::block_on(engine.gradient()).expect("a gradient"));
        let loss = pollster::block_on(engine.loss()).expect("a loss");
        for epsilon in [1e-3, 0.1, 3.0] {
            for region in [Region::Ball, Region::RiemannianLayerwise, Region::RiemannianNodewise] {
                let norms = |range: std::ops::Range<usize>| theta[range].iter().map(|w| w * w).sum::<f64>().sqrt();
                let d = DVector::from_iterator(
                    theta.len(),
                    (0..theta.len()).map(|i| match region {
                        Region::Ball => epsilon,
                        Region::RiemannianLayerwise => epsilon * if i < 8 { norms(0..8) } else { norms(8..10) },
                        _ => epsilon * theta[i].abs(),
                    }),
                );
                let a = DMatrix::from_fn(theta.len(), theta.len(), |i, j| d[i] * h[(i, j)] * d[j]);
                let expected = largest_on_ball(&a, &g.component_mul(&d)) / (1.0 + loss);
                let quick = sharpness(&engine, &theta, region, epsilon);
                assert!(quick.value <= expected * (1.0 + 1e-12) && quick.value >= expected * (1.0 - 1e-3), "{quick:?}");
                let found = sharpness_to(Some(1e-6), &engine, &theta, region, epsilon);
                assert!(found.converged && found.resolved && !found.fell_back, "{found:?}");
                // The gap at which an ascent ends is at most 1e-6 of the rise; what is missing is of its order.
                assert!(
                    (found.value - expected).abs() <= 1e-5 * expected,
                    "seed {seed} {region:?} {epsilon}: {}, expected {expected}",
                    found.value
                );
                let norm = a.symmetric_eigenvalues().amax() / (2.0 * (1.0 + loss));
                assert!(
                    (found.quadratic.expect("a ball") - norm).abs() <= 1e-8 * norm,
                    "{:?}, {norm}",
                    found.quadratic
                );
            }
        }
    }
}

#[test]
fn boxes_of_a_quadratic_loss_end_at_corners_that_no_flip_improves() {
    for seed in 0..10 {
        let (engine, theta, _) = quadratic(100 + seed);
        let epsilon = 0.2;
        let found = sharpness(&engine, &theta, Region::Box, epsilon);
        let loss = |delta: &[f64]| {
            let moved: Vec<f64> = theta.iter().zip(delta).map(|(w, d)| w + d).collect();
            pollster::block_on(engine.evaluate(&moved)).expect("a loss").loss
        };
        let bound = |i: usize| epsilon * (theta[i].abs() + 1.0);
        let n = theta.len();
        // A convex function is largest at a corner; 2¹⁰ of them are soon tried.
        let best = (0..1 << n)
            .map(|corner: usize| {
                let corner: Vec<f64> =
                    (0..n).map(|i| if corner >> i & 1 == 1 { bound(i) } else { -bound(i) }).collect();
                loss(&corner)
            })
            .fold(0.0, f64::max);
        let base = loss(&vec![0.0; n]);
        let expected = (best - base) / (1.0 + base);
        assert!(found.delta.iter().enumerate().all(|(i, d)| d.abs() <= bound(i) * (1.0 + 1e-12)));
        assert!(found.converged && found.value <= expected * (1.0 + 1e-12), "{} above {expected}", found.value);
        for i in 0..n {
            let mut flipped = found.delta.clone();
            flipped[i] = -flipped[i];
            let value = (loss(&flipped) - base) / (1.0 + base);
            assert!(
                value <= found.value * (1.0 + 1e-5),
                "seed {seed}: flipping {i} gives {value}, not {}",
                found.value
            );
        }
    }
}

/// Where the Hessian's ends are asked for too, ascents begin at the eigenvector that is found for these, and come to the same height.
#[test]
fn what_a_spectrum_has_found_is_where_ascents_begin() {
    let mut rng = rng(41);
    let network = Network::dense(&[12, 26, 24, 4], true).expect("a network");
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    let theta = random_parameters(&mut rng, &network);
    let engine = cpu(&problem);
    let options = MeasureOptions { epsilon: 0.05, ..MeasureOptions::default() };
    let of = |keys: &[&str]| {
        let measures: Vec<_> = keys.iter().map(|key| Measure::from_key(key).expect("a measure")).collect();
        let control = Control::default();
        pollster::block_on(measure(&engine, &theta, &measures, &options, &control)).expect("values")
    };
    for key in ["epsilon_sharpness", "riemannian_sharpness.layerwise", "riemannian_sharpness.nodewise"] {
        let kind =
            key.strip_prefix("riemannian_sharpness.").map(|metric| format!("riemannian.{metric}_flat.spectral_norm"));
        let ends = kind.as_deref().unwrap_or("hessian.spectral_norm");
        let (alone, both) = (of(&[key]).remove(0), of(&[ends, key]).remove(1));
        assert!((alone.value - both.value).abs() <= 2e-3 * alone.value, "{alone:?}, {both:?}");
        assert!(alone.converged && both.converged);
    }
}

/// Where nobody says how far to climb, ascents that will not come to the highest are left, and none of them would have.
#[test]
fn ascents_that_are_left_would_have_ended_lower() {
    let mut left = 0;
    for seed in 0..40 {
        let mut rng = rng(800 + seed);
        let network = any_network(&mut rng, seed, &ALL);
        let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
        let theta = random_parameters(&mut rng, &network);
        let engine = cpu(&problem);
        for region in [Region::Ball, Region::Box, Region::RiemannianLayerwise] {
            let [quick, whole] =
                [None, Some(1e-3)].map(|tolerance| sharpness_to(tolerance, &engine, &theta, region, 0.05));
            left += quick.starts.iter().filter(|start| start.stop == Stop::Surpassed).count();
            assert!(whole.starts.iter().all(|start| start.stop != Stop::Surpassed), "{whole:?}");
            assert!(quick.value >= whole.value * (1.0 - 2e-3), "seed {seed} {region:?}: {quick:?}, {whole:?}");
        }
    }
    assert!(left > 100, "{left} ascents were left");
}

/// Along ridges ascents end where steps gain next to nothing, and those that go on for long come no higher than the error says.
#[test]
fn ascents_along_a_ridge_end_within_their_error_of_where_it_leads() {
    let (mut creeping, mut steps) = (0, [0, 0]);
    for seed in 0..24 {
        let mut rng = rng(1100 + seed);
        let network = Network::dense(&[12, 26, 24, 4], true).expect("a network");
        let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
        let theta = random_parameters(&mut rng, &network);
        let engine = cpu(&problem);
        let found = sharpness_to(None, &engine, &theta, Region::Box, 0.1);
        let options = SharpnessOptions { tolerance: Some(1e-9), max_iterations: 2000, ..SharpnessOptions::default() };
        let control = Control::default();
        let long = epsilon_sharpness(&engine, &theta, Region::Box, 0.1, &options, &control);
        let long = pollster::block_on(long).expect("a sharpness");
        steps[0] += found.iterations;
        steps[1] += long.iterations;
        // The starts are the same ones.
        for (quick, long) in found.starts.iter().zip(&long.starts).filter(|(quick, _)| quick.value == found.value) {
            if quick.stop == Stop::Creeping {
                creeping += 1;
                assert!(found.error > 0.0 && found.error <= 1e-3 * found.value, "seed {seed}: {found:?}");
                assert!(long.value <= quick.value + found.error, "seed {seed}: {quick:?} {long:?}, to {}", found.error);
            }
        }
    }
    assert!(creeping >= 8, "{creeping} of the highest crept");
    assert!(4 * steps[0] < steps[1], "{steps:?} gradients");
}

/// No random point of the region is higher than what the ascent finds, the best Δ lies in the region, and has the loss that is
/// reported.
#[test]
fn ascents_end_within_the_region_and_above_what_sampling_finds() {
    for seed in 0..12 {
        let mut rng = rng(500 + seed);
        let network = any_network(&mut rng, seed, &ALL);
        let loss = if seed % 4 < 2 { Loss::CrossEntropy } else { Loss::SquaredError };
        let problem = random_problem(&mut rng, network.clone(), loss);
        let theta = random_parameters(&mut rng, &network);
        let engine = cpu(&problem);
        let n = theta.len();
        let dimension = n.min(5);
        for region in [Region::Ball, Region::Box, Region::Subspace { dimension }, Region::SubspaceBox { dimension }] {
            let epsilon = 0.05;
            let found = sharpness(&engine, &theta, region, epsilon);
            let at = |delta: &[f64]| {
                let moved: Vec<f64> = theta.iter().zip(delta).map(|(w, d)| w + d).collect();
                pollster::block_on(engine.evaluate(&moved)).expect("a loss").loss
            };
            let rise = at(&found.delta) - found.loss;
            assert!((rise - found.rise).abs() <= 1e-12 * (1.0 + found.loss), "seed {seed}: {rise}, {}", found.rise);
            let length = dot(&found.delta, &found.delta).sqrt();
            match region {
                Region::Box => assert!(
                    found.delta.iter().zip(&theta).all(|(d, w)| d.abs() <= epsilon * (w.abs() + 1.0) * (1.0 + 1e-12))
                ),
                Region::SubspaceBox { .. } => {}
                _ => assert!(length <= epsilon * (1.0 + 1e-12)),
            }
            if matches!(region, Region::Ball | Region::Box) {
                for _ in 0..200 {
                    let mut delta = random_direction(&mut rng, n);
                    let length = dot(&delta, &delta).sqrt();
                    for (d, w) in delta.iter_mut().zip(&theta) {
                        *d *= if region == Region::Ball { epsilon / length } else { epsilon * (w.abs() + 1.0) };
                    }
                    assert!(
                        at(&delta) - found.loss <= found.rise + 1e-12,
                        "seed {seed} {region:?}: sampling is higher"
                    );
                }
            }
            let best = found.starts.iter().fold(0.0, |m: f64, start| m.max(start.value));
            assert!((best - found.value).abs() <= 1e-15, "the best start is what is reported");
        }
    }
}

/// The best Δ is A z, z in the ball or Keskar's box, and no other point that is drawn there is higher.
#[test]
fn the_best_point_of_a_subspace_lies_in_it_and_in_its_box_and_above_what_sampling_finds() {
    let (control, epsilon) = (Control::default(), 0.05);
    let (mut all, mut at_the_edge) = (0, 0);
    for seed in 0..16 {
        let mut rng = rng(900 + seed);
        let network = any_network(&mut rng, seed, &ALL);
        let loss = if seed % 4 < 2 { Loss::CrossEntropy } else { Loss::SquaredError };
        let problem = random_problem(&mut rng, network.clone(), loss);
        let theta = random_parameters(&mut rng, &network);
        let (engine, n) = (cpu(&problem), theta.len());
        let dimension = n.min(5);
        let options = SharpnessOptions { seed, subspace_dimension: dimension, ..SharpnessOptions::default() };
        let over = |region| {
            let found = epsilon_sharpness(&engine, &theta, region, epsilon, &options, &control);
            (seed, pollster::block_on(found).expect("a sharpness"))
        };
        let several = pollster::block_on(subspace_sharpness(&engine, &theta, epsilon, &options, &control));
        let several =
            several.expect("a sharpness").runs.into_iter().enumerate().map(|(i, run)| (seed_of_draw(seed, i), run));
        let cases = [Region::Subspace { dimension }, Region::SubspaceBox { dimension }].map(over);
        for (drawn, found) in cases.into_iter().chain(several) {
            let what = format!("seed {seed} {:?} of {drawn}", found.region);
            let a = pollster::block_on(orthonormal_columns(n, dimension, drawn, &control)).expect("a subspace");
            let a = DMatrix::from_vec(n, dimension, a);
            let origin = DVector::from_column_slice(&theta);
            let delta = DVector::from_column_slice(&found.delta);
            let z = a.tr_mul(&delta);
            assert!((&a * &z - &delta).norm() <= 1e-12 * delta.norm(), "{what}: not in the subspace");
            // A has orthonormal columns, so that A⁺ is its transpose.
            let bound = a.tr_mul(&origin).map(|x| epsilon * (x.abs() + 1.0));
            let is_box = matches!(found.region, Region::SubspaceBox { .. });
            let reach = if is_box { z.component_div(&bound).amax() } else { z.norm() / epsilon };
            assert!(reach <= 1.0 + 1e-12, "{what}: it reaches {reach} times as far as it may");
            all += 1;
            at_the_edge += usize::from(reach > 0.999);
            for draw in 0..200 {
                let mut z = DVector::from_vec(random_direction(&mut rng, dimension));
                if is_box {
                    z.component_mul_assign(&bound);
                } else {
                    // Half of them at the edge, where most maxima are.
                    let radius = if draw % 2 == 0 { 1.0 } else { rng.random::<f64>() };
                    z *= epsilon * radius / z.norm();
                }
                let moved = &origin + &a * z;
                let rise = pollster::block_on(engine.evaluate(moved.as_slice())).expect("a loss").loss - found.loss;
                let most = found.rise * (1.0 + 1e-3) + 1e-12;
                assert!(rise <= most, "{what}: sampling finds {rise}, the ascent {}", found.rise);
            }
        }
    }
    assert!(at_the_edge * 4 > all * 3, "{at_the_edge} of {all}");
}

/// Near a minimum and for a small ε, f32 sees nothing of the rise: the answer is f64's, and says so.
#[test]
fn what_f32_cannot_resolve_is_computed_in_f64() {
    let mut rng = rng(7);
    let network = Network::dense(&[6, 8, 3], true).expect("a network");
    let theta = random_parameters(&mut rng, &network);
    let inputs: Vec<f64> = (0..40 * 6).map(|_| rng.random_range(-2.0..2.0)).collect();
    let zeros = Targets::Vectors(vec![0.0; 40 * 3]);
    let problem = Problem::new(network.clone(), Loss::SquaredError, inputs.clone(), zeros).expect("a problem");
    let engine = cpu(&problem);
    pollster::block_on(engine.prepare(&theta)).expect("a point");
    // The targets are the network's own outputs and a little more, so that θ is nearly a minimum of a loss that is not 0.
    let targets: Vec<f64> = pollster::block_on(engine.outputs())
        .expect("outputs")
        .iter()
        .map(|y| y + rng.random_range(-1e-3..1e-3) + 1.0)
        .collect();
    let problem = Problem::new(network, Loss::SquaredError, inputs, Targets::Vectors(targets)).expect("a problem");
    let exact = cpu(&problem);
    for device in [Device::cpu(Precision::F32), gpu()] {
        let engine = Engine::new(&device, &problem).expect("an engine");
        for region in [Region::Ball, Region::RiemannianLayerwise] {
            let fine = sharpness(&engine, &theta, region, 1e-6);
            assert!(fine.fell_back && fine.precision == Precision::F64 && fine.resolved, "{fine:?}");
            assert_eq!(fine.value, sharpness(&exact, &theta, region, 1e-6).value);
            let coarse = sharpness(&engine, &theta, region, 0.3);
            assert!(!coarse.fell_back && coarse.precision == Precision::F32 && coarse.resolved, "{coarse:?}");
            let expected = sharpness(&exact, &theta, region, 0.3).value;
            // f32 ascents end at a gap of 1e-3 of the rise.
            assert!((coarse.value - expected).abs() <= 5e-3 * expected, "{} instead of {expected}", coarse.value);
        }
        let options = SharpnessOptions { sigma: 1e-7, ..SharpnessOptions::default() };
        let control = Control::default();
        let found =
            pollster::block_on(average_sharpness(&engine, &theta, Noise::Plain, &options, &control)).expect("a mean");
        assert!(found.fell_back && found.precision == Precision::F64, "{found:?}");
    }
}

/// Of a quadratic form the mean rise is σ² Tr(D H D) / 2.
#[test]
fn average_sharpness_of_a_quadratic_loss_is_a_trace() {
    for seed in 0..10 {
        let (engine, theta, h) = quadratic(200 + seed);
        // An odd number of pairs leaves one without another in its plane.
        let pairs = 50 + seed as usize % 2;
        let (options, control) =
            (SharpnessOptions { pairs: Some(pairs), ..SharpnessOptions::default() }, Control::default());
        for (noise, sigma) in [(Noise::Plain, options.sigma), (Noise::Scaled, options.relative_sigma)] {
            let d = |i: usize| if noise == Noise::Plain { 1.0 } else { theta[i].abs() };
            let expected = 0.5 * sigma * sigma * (0..theta.len()).map(|i| d(i) * d(i) * h[(i, i)]).sum::<f64>();
            let found =
                pollster::block_on(average_sharpness(&engine, &theta, noise, &options, &control)).expect("a mean");
            assert_eq!(found.pairs, pairs);
            assert!((found.value - expected).abs() <= 4.5 * found.standard_error, "{found:?}, expected {expected}");
            assert!(found.standard_error < 0.5 * expected, "{found:?}");
        }
    }
}

#[test]
fn options_out_of_range_are_refused_and_work_stops() {
    let (engine, theta, _) = quadratic(1);
    let control = Control::default();
    let good = SharpnessOptions::default;
    let bad = [
        (SharpnessOptions { max_iterations: 0, ..good() }, "step"),
        (SharpnessOptions { tolerance: Some(0.0), ..good() }, "tolerance"),
        (SharpnessOptions { subspace_dimension: 0, ..good() }, "dimension"),
        (SharpnessOptions { subspaces: Some(1), ..good() }, "subspaces"),
        (SharpnessOptions { pairs: Some(1), ..good() }, "pairs"),
        (SharpnessOptions { sigma: f64::NAN, ..good() }, "σ"),
        (SharpnessOptions { relative_sigma: -1.0, ..good() }, "σ"),
    ];
    for (options, says) in bad {
        let refused =
            pollster::block_on(subspace_sharpness(&engine, &theta, 0.1, &options, &control)).expect_err("a fault");
        assert!(refused.code == ErrorCode::InvalidOption && refused.message.contains(says), "{refused}");
    }
    for (region, epsilon) in [(Region::Ball, 0.0), (Region::Ball, f64::NAN), (Region::Subspace { dimension: 11 }, 0.1)]
    {
        let refused = pollster::block_on(epsilon_sharpness(&engine, &theta, region, epsilon, &good(), &control));
        assert_eq!(refused.expect_err("a fault").code, ErrorCode::InvalidOption);
    }
    let refused = pollster::block_on(epsilon_sharpness(&engine, &theta, Region::Ball, 1e300, &good(), &control));
    assert_eq!(refused.expect_err("an overflow").code, ErrorCode::NotFinite);
    let stop = Control::default().stop_when(|| true);
    let stopped = pollster::block_on(epsilon_sharpness(&engine, &theta, Region::Ball, 0.1, &good(), &stop));
    assert_eq!(stopped.expect_err("a stop").code, ErrorCode::Aborted);
}

/// With weights so small that the loss stands still but for rounding, a rise is made of rounding: such a number has not converged.
#[test]
fn a_rise_below_rounding_is_not_known() {
    let mut rng = rng(11);
    let network = Network::dense(&[6, 8, 8, 3], false).expect("a network");
    let theta: Vec<f64> = random_parameters(&mut rng, &network).iter().map(|w| 1e-4 * w).collect();
    let inputs: Vec<f64> = (0..20 * 6).map(|_| rng.random_range(-1e-4..1e-4)).collect();
    let targets = Targets::Classes((0..20).map(|n| n % 3).collect());
    let problem = Problem::new(network, Loss::CrossEntropy, inputs, targets).expect("a problem");
    let engine = cpu(&problem);
    let found = sharpness(&engine, &theta, Region::RiemannianNodewise, 1e-3);
    assert!(found.rise < found.resolution, "{found:?}");
    let measures: Vec<_> =
        isoflat::measure::Measure::all().filter(|measure| measure.key.starts_with("riemannian_sharpness")).collect();
    assert_eq!(measures.len(), 2);
    let options = isoflat::measure::MeasureOptions::default();
    let control = Control::default();
    let values = pollster::block_on(isoflat::measure::measure(&engine, &theta, &measures, &options, &control));
    for value in values.expect("numbers") {
        assert!(value.value == 0.0 || !value.converged, "{value:?}");
    }
}

/// A unit that no sample reaches has no gradient, and so no ascent along one wakes it. Random directions do, and then its large weight
/// behind makes most of the rise.
#[test]
fn a_unit_that_is_dead_at_the_point_is_woken() {
    let dense = |units| Layer::Dense { units, bias: false };
    let network = Network::new(vec![1], vec![dense(2), Layer::Relu, dense(1)]).expect("a network");
    let problem = Problem::new(network, Loss::SquaredError, vec![1.0, 2.0], Targets::Vectors(vec![0.0, 0.0]));
    let engine = cpu(&problem.expect("a problem"));
    let theta = [1.0, -0.1, 0.1, 1.0];
    let loss = |theta: &[f64]| pollster::block_on(engine.evaluate(theta)).expect("a loss").loss;
    let epsilon = 0.5;
    let corner: Vec<f64> = theta.iter().map(|w| w + epsilon).collect();
    let highest = loss(&corner) - loss(&theta);
    let of = |restarts| {
        let (options, control) = (SharpnessOptions { restarts, ..SharpnessOptions::default() }, Control::default());
        let found = epsilon_sharpness(&engine, &theta, Region::Cube, epsilon, &options, &control);
        pollster::block_on(found).expect("a sharpness").rise
    };
    assert!(of(Some(2)) < 0.5 * highest, "gradients alone find {} of {highest}", of(Some(2)));
    for found in [of(None), of(Some(12))] {
        assert!((found - highest).abs() < 1e-9 * highest, "{found} of {highest}");
    }
}
