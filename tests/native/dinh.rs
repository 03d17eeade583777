//! Dinh's constructions: what each theorem promises against what is measured, on random networks and every executor.

use crate::support::*;
use isoflat::dinh::*;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::measure::sharpness::Region;
use isoflat::measure::{MeasureOptions, SharpnessOptions};
use isoflat::network::{BiasInitialization, Conv2d, Initialization, Layer};
use isoflat::{Control, ErrorCode, Loss, Network, Problem, Targets};
use pollster::block_on;
use rand::Rng;

pub fn cpu(problem: &Problem) -> Engine {
    Engine::new(&Device::cpu(Precision::F64), problem).expect("an engine")
}

/// Random networks of two layers or more whose loss depends on their weights.
pub fn cases(seeds: std::ops::Range<u64>, most: usize) -> impl Iterator<Item = (u64, Problem, Vec<f64>)> {
    seeds.filter_map(move |seed| {
        let mut rng = rng(seed);
        let network = any_network(&mut rng, seed, &HOMOGENEOUS);
        let loss = if seed % 4 < 2 { Loss::CrossEntropy } else { Loss::SquaredError };
        let problem = random_problem(&mut rng, network.clone(), loss);
        let parameters = random_parameters(&mut rng, &network);
        let engine = cpu(&problem);
        block_on(engine.prepare(&parameters)).expect("a point");
        let gradient = block_on(engine.gradient()).expect("a gradient");
        let first = network.layout().layers()[0].weight.clone();
        let is_alive = dot(&gradient[first.clone()], &gradient[first]) > 1e-12;
        let is_fit = network.layout().layers().len() >= 2 && parameters.len() <= most;
        (is_alive && is_fit).then_some((seed, problem, parameters))
    })
}

/// A problem that these parameters solve exactly: a critical point with no error left.
pub fn solved(network: &Network, seed: u64) -> (Problem, Vec<f64>) {
    let mut rng = rng(seed);
    let problem = random_problem(&mut rng, network.clone(), Loss::SquaredError);
    let parameters = random_parameters(&mut rng, network);
    let engine = cpu(&problem);
    block_on(engine.prepare(&parameters)).expect("a point");
    let targets = Targets::Vectors(block_on(engine.outputs()).expect("outputs"));
    let inputs = problem.inputs().to_f64();
    (Problem::new(network.clone(), Loss::SquaredError, inputs, targets).expect("a problem"), parameters)
}

#[test]
fn boxes_are_disjoint_have_the_same_losses_and_do_not_shrink() {
    let mut checked = 0;
    for (seed, problem, parameters) in cases(0..30, 500) {
        let engine = cpu(&problem);
        let options = BoxOptions { epsilon: 0.05, boxes: 6, samples: 12, ..BoxOptions::default() };
        let found = block_on(volume_flatness(&engine, &parameters, &options, &Control::default())).expect("boxes");
        assert!(found.disjoint && found.inside && found.largest_rise < 0.05, "seed {seed}: {found:?}");
        let expected = 2.0 * (found.largest_weight + found.radius) / (found.largest_weight - found.radius);
        assert!(found.alpha == expected && found.radius <= 0.5 * found.largest_weight);
        let n = parameters.len() as f64;
        assert!((found.boxes[0].log_volume - n * (2.0 * found.radius).ln()).abs() < 1e-9 * n);
        assert!(found.log_determinant >= 0.0);
        // The determinant from the map itself.
        let factor = if found.inverted { 1.0 / found.alpha } else { found.alpha };
        let mut lambda = vec![1.0; problem.network().layout().layers().len()];
        (lambda[0], *lambda.last_mut().expect("layers")) = (factor, 1.0 / factor);
        let map = isoflat::symmetry::Transformation::Layerwise { lambda };
        let diagonal = map.apply(problem.network(), &vec![1.0; parameters.len()]).expect("a map");
        let determinant: f64 = diagonal.iter().map(|t| t.ln()).sum();
        assert!((determinant - found.log_determinant).abs() < 1e-9 * n, "{determinant}, {}", found.log_determinant);
        for (k, flat) in found.boxes.iter().enumerate() {
            assert!((flat.log_volume - found.boxes[0].log_volume - k as f64 * found.log_determinant).abs() < 1e-9 * n);
            let shares = found.boxes[..=k].iter().map(|other| (other.log_volume - flat.log_volume).exp());
            let in_logs = flat.log_volume + shares.sum::<f64>().ln();
            assert!((flat.total_log_volume - in_logs).abs() < 1e-9 * n, "{} {in_logs}", flat.total_log_volume);
            // A rescaling rounds each factor: some ε a layer, forward, relative to outputs of size 1 to 10.
            assert!(flat.largest_difference < 1e-11 * (1.0 + found.loss), "seed {seed}: {flat:?}");
        }
        checked += 1;
    }
    assert!(checked >= 8, "only {checked} networks");
}

#[test]
fn a_given_radius_is_used_or_refused_beyond_half_of_the_largest_weight() {
    let (_, problem, parameters) = cases(0..30, 500).next().expect("a case");
    let engine = cpu(&problem);
    let with = |radius: f64| {
        let options = BoxOptions { radius: Some(radius), ..BoxOptions::default() };
        block_on(volume_flatness(&engine, &parameters, &options, &Control::default()))
    };
    let small = with(1e-3).expect("boxes");
    assert_eq!(small.radius, 1e-3);
    let half = 0.5 * small.largest_weight;
    assert_eq!(with(half).expect("boxes").radius, half);
    for radius in [-1.0, half.next_up(), 1e9] {
        let error = with(radius).expect_err("a fault");
        assert!(error.code == ErrorCode::InvalidOption && error.message.contains("the radius is"), "{error}");
    }
}

#[test]
fn any_spectral_norm_is_reached_and_predicted_on_every_executor() {
    let (mut checked, mut options) = (0, MeasureOptions::default());
    // Each one once: a new GPU compiles its kernels again, which takes longer than all that they compute here.
    let devices = [Device::cpu(Precision::F64), Device::cpu(Precision::F32), gpu()];
    for (seed, problem, parameters) in cases(100..120, 300) {
        // A software GPU takes ten times as long for each.
        let on = if checked == 0 { &devices[..] } else { &devices[..2] };
        for device in on {
            let engine = Engine::new(device, &problem).expect("an engine");
            let precise = device.info().precision == Precision::F64;
            options.max_products = 2000;
            for (target, powers_of_two) in [(1e3, true), (1e6, false)] {
                let wanted = SharpenOptions { target, layer: None, powers_of_two };
                let found = block_on(sharpen(&engine, &parameters, &wanted, &options, &Control::default())).expect("α");
                let case = format!("seed {seed} {:?} {target}: {found:?}", device.info());
                assert!(found.reached && found.measured.norm >= 0.999 * target, "{case}");
                assert!(found.guaranteed >= target && found.measured.norm >= 0.999 * found.guaranteed, "{case}");
                assert!(!powers_of_two || found.outputs.bitwise && found.loss_before == found.loss_after, "{case}");
                // Both norms have their residuals; a kink within rounding of 0 aside, what is left is rounding.
                let tolerance = if precise { 1e-9 } else { 1e-4 };
                assert!(found.relative_difference <= tolerance, "{case}");
                assert!(found.alpha < 1.0 && found.before.norm < found.measured.norm);
            }
        }
        checked += 1;
    }
    assert!(checked >= 4, "only {checked} networks");
}

#[test]
fn each_layer_can_be_the_sharp_one() {
    let network = Network::dense(&[4, 5, 5, 3], true).expect("a network");
    let mut rng = rng(3);
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    let parameters = random_parameters(&mut rng, &network);
    let engine = cpu(&problem);
    for layer in 0..3 {
        let wanted = SharpenOptions { target: 1e4, layer: Some(layer), powers_of_two: false };
        let found = block_on(sharpen(&engine, &parameters, &wanted, &MeasureOptions::default(), &Control::default()));
        let found = found.expect("α");
        assert!(found.reached && found.layer == layer, "{found:?}");
    }
    let refuse = |options: SharpenOptions| {
        block_on(sharpen(&engine, &parameters, &options, &MeasureOptions::default(), &Control::default()))
            .expect_err("a fault")
    };
    let good = SharpenOptions { target: 1e4, layer: None, powers_of_two: false };
    assert_eq!(refuse(SharpenOptions { target: 0.0, ..good }).code, ErrorCode::InvalidOption);
    assert!(refuse(SharpenOptions { layer: Some(3), ..good }).message.contains("layer 4: they are 1 to 3"));
    assert_eq!(refuse(SharpenOptions { target: f64::MAX, ..good }).code, ErrorCode::NotFinite);
}

#[test]
fn as_many_eigenvalues_as_promised_exceed_the_target() {
    let (mut checked, mut promised, mut above_rounding) = (0, 0, 0);
    for seed in 0..12 {
        let widths: &[usize] = [&[6, 5, 4, 2][..], &[5, 8, 3], &[7, 4, 4, 4, 3]][seed as usize % 3];
        let network = Network::dense(widths, seed % 2 == 0).expect("a network");
        // Every other one at a minimum, where the Hessian is positive semidefinite and r is its rank.
        let (problem, parameters) = if seed % 4 < 2 {
            solved(&network, seed)
        } else {
            let mut rng = rng(seed);
            let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
            let parameters = random_parameters(&mut rng, &network);
            (problem, parameters)
        };
        let engine = cpu(&problem);
        for powers_of_two in [false, true] {
            let control = Control::default();
            let found = many_large_eigenvalues(&engine, &parameters, 10.0, None, powers_of_two, &control);
            let found = block_on(found).expect("a spectrum");
            assert!(found.holds && found.measured >= found.promised, "seed {seed}: {found:?}");
            assert!(found.smallest_size == widths.windows(2).map(|w| w[0] * w[1]).min().expect("layers"));
            if seed % 2 == 1 {
                assert_eq!(found.held_back, found.smallest_size, "without biases");
            }
            assert!(!powers_of_two || found.outputs.bitwise);
            assert!(found.promised == 0 || found.before < found.measured, "{found:?}");
            promised += found.promised;
            // A congruence leaves the signs: what is more than the positive ones were is rounding, which grows with the target.
            for target in [1e2, 1e4, 1e6] {
                let control = Control::default();
                let far = many_large_eigenvalues(&engine, &parameters, target, None, powers_of_two, &control);
                let far = block_on(far).expect("a spectrum");
                let norm = far.spectrum_before.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
                let positive = far.spectrum_before.iter().filter(|&&v| v > 1e-13 * norm).count();
                assert!(far.holds && far.measured <= positive, "seed {seed}, {target}: {positive}, {far:?}");
                above_rounding +=
                    far.spectrum_after.iter().filter(|&&v| v > target).count().saturating_sub(far.measured);
            }
            match block_on(many_large_eigenvalues(&engine, &parameters, f64::MAX, None, powers_of_two, &control)) {
                Ok(found) => assert!(found.beta.is_finite(), "{found:?}"),
                Err(error) => assert_eq!(error.code, ErrorCode::NotFinite, "{error}"),
            }
            checked += 1;
        }
    }
    assert!(above_rounding > 0, "no rounding was above a target");
    assert!(promised >= 3 * checked, "{promised} eigenvalues promised in {checked} cases");
}

/// Biases of deep layers shrink by more than the weights that the target is for: what rounding makes of their zeros is no eigenvalue above it.
/// The numbers are those of T⁻¹ H T⁻¹ in 60 digits, H being that of double precision.
#[test]
fn zeros_of_biases_are_not_counted() {
    let cases = [
        (Precision::F64, 0, 1e3, 13),
        (Precision::F64, 0, 1e5, 13),
        (Precision::F32, 2, 10.0, 14),
        (Precision::F32, 2, 1e3, 14),
    ];
    for (precision, seed, target, expected) in cases {
        let network = Network::dense(&[3, 4, 5, 2], true).expect("a network");
        let theta = network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, seed);
        let theta = theta.expect("weights");
        let problem = isoflat::data::synthetic(network, 5, seed).expect("a problem");
        let engine = Engine::new(&Device::cpu(precision), &problem).expect("an engine");
        let control = Control::default();
        let found = block_on(many_large_eigenvalues(&engine, &theta, target, None, true, &control)).expect("spectra");
        assert!(found.holds && found.measured == expected, "seed {seed} to {target}: {expected}, {found:?}");
    }
}

#[test]
fn a_constant_function_lies_in_the_ball() {
    let mut checked = 0;
    for (seed, problem, parameters) in cases(200..230, 300) {
        let engine = cpu(&problem);
        let options = SharpnessOptions { restarts: Some(0), max_iterations: 30, ..SharpnessOptions::default() };
        let epsilon = 0.01;
        let found =
            block_on(constant_in_ball(&engine, &parameters, Region::Ball, epsilon, &options, &Control::default()));
        let found = found.expect("a ball");
        assert!(found.holds && found.measured.value >= found.guaranteed - 1e-9, "seed {seed}: {found:?}");
        assert!((found.distance - epsilon).abs() < 1e-12);
        assert!(found.least <= found.guaranteed + 1e-12 && found.outputs.relative < 1e-12);
        // Zero weights in layer 1: all outputs are the same, and their loss is the one that is told.
        let mut constant = found.parameters.clone();
        constant[problem.network().layout().layers()[0].weight.clone()].fill(0.0);
        block_on(engine.prepare(&constant)).expect("a point");
        let outputs = block_on(engine.outputs()).expect("outputs");
        let width = problem.network().output_len();
        assert!(outputs.chunks(width).all(|y| y == &outputs[..width]));
        assert_eq!(block_on(engine.loss()).expect("a loss"), found.constant_loss);
        checked += 1;
    }
    assert!(checked >= 6, "only {checked} networks");
}

/// The Hessian in η against differences of the gradient (∇g)ᵀ ∇L(g(η)), at points that are not critical.
fn check_hessian(engine: &Engine, map: &dyn Reparametrization, eta: &[f64], what: &str) -> bool {
    let n = map.dimension();
    let gradient = |eta: &[f64]| {
        block_on(engine.prepare(&map.parameters(eta))).expect("a point");
        map.pull(eta, &block_on(engine.gradient()).expect("a gradient"))
    };
    let difference = |step: f64| -> Vec<f64> {
        (0..n)
            .flat_map(|i| {
                let (mut plus, mut minus) = (eta.to_vec(), eta.to_vec());
                (plus[i], minus[i]) = (eta[i] + step, eta[i] - step);
                let pair = gradient(&plus).into_iter().zip(gradient(&minus));
                pair.map(|(a, b)| (a - b) / (2.0 * step)).collect::<Vec<_>>()
            })
            .collect()
    };
    let expected = difference(1e-5);
    if error(&expected, &difference(1e-5 / 16.0)) > 1e-5 {
        return false; // A kink lies between the points.
    }
    let found = block_on(reparametrized_hessian(engine, map, eta, &Control::default())).expect("a Hessian");
    let off = error(&found.matrix, &expected);
    assert!(off < 1e-5, "{what}: {off:.1e}");
    assert!(found.gradient_norm > 0.0 && found.term_norm > 0.0, "{what}: the point is no critical one");
    true
}

#[test]
fn hessians_in_other_coordinates_agree_with_finite_differences() {
    let (mut radial, mut normalized) = (0, 0);
    for (seed, problem, parameters) in cases(300..330, 70) {
        let engine = cpu(&problem);
        let mut rng = rng(seed);
        let offset = random_direction(&mut rng, parameters.len());
        let size = dot(&offset, &offset).sqrt();
        // θ at three quarters of δ from the centre: on the outer piece.
        let center: Vec<f64> = parameters.iter().zip(&offset).map(|(w, o)| w + 0.75 * o / size).collect();
        let map = RadialMap::new(center, 1.0, 0.3, 0.6).expect("a map");
        let eta = map.eta(&parameters).expect("η");
        for wrong in [map.eta(&parameters[1..]), map.inverse_push(&parameters, &[1.0])] {
            assert_eq!(wrong.expect_err("another length").code, ErrorCode::InvalidParameters);
        }
        assert!(error(&map.parameters(&eta), &parameters) < 1e-14, "the map is undone");
        radial += usize::from(check_hessian(&engine, &map, &eta, "radial"));
        // The paper's Jacobian of η by θ is the inverse of ∇g.
        let x = random_direction(&mut rng, parameters.len());
        let there = map.inverse_push(&parameters, &x).expect("a vector in η");
        assert!(error(&map.push(&eta, &there), &x) < 1e-12);

        let map = WeightNormalization::new(problem.network());
        let eta = map.scaled(&map.eta(&parameters).expect("coordinates"), -1.7).expect("coordinates");
        assert!(error(&map.parameters(&eta), &parameters) < 1e-14);
        normalized += usize::from(check_hessian(&engine, &map, &eta, "weight normalisation"));
        let (v, w) = (random_direction(&mut rng, map.dimension()), random_direction(&mut rng, parameters.len()));
        let (one, other) = (dot(&map.push(&eta, &v), &w), dot(&v, &map.pull(&eta, &w)));
        assert!((one - other).abs() < 1e-12 * (1.0 + one.abs()), "push and pull are not transposes");
    }
    assert!(radial >= 5 && normalized >= 5, "only {radial} and {normalized} points away from kinks");
}

#[test]
fn at_a_critical_point_the_papers_formula_is_whole() {
    let network = Network::dense(&[4, 5, 2], true).expect("a network");
    let (problem, parameters) = solved(&network, 5);
    let engine = cpu(&problem);
    let control = Control::default();
    let map = RadialMap::new(parameters.clone(), 1.0, 0.25, 0.5).expect("a map");
    let found = block_on(reparametrized_hessian(&engine, &map, &map.eta(&parameters).expect("η"), &control))
        .expect("a Hessian");
    assert_eq!(found.gradient_norm, 0.0);
    assert_eq!((found.term_norm, &found.full), (0.0, &found.transformed));
    // Within r̂ the map multiplies by ρ/r̂ = 2: curvature is a quarter.
    let plain = RadialMap::new(parameters.clone(), 1.0, 0.5, 0.5).expect("the identity");
    let hessian = block_on(reparametrized_hessian(&engine, &plain, &parameters, &control)).expect("a Hessian");
    let quarter: Vec<f64> = hessian.full.iter().map(|v| v / 4.0).collect();
    assert!(error(&found.full, &quarter) < 1e-12);

    let alphas = [1.0, 0.25, 1e-3, 64.0];
    let scales = block_on(weight_normalization(&engine, &parameters, &alphas, &control)).expect("Hessians");
    let largest = |i: usize| *scales[i].hessian.full.last().expect("eigenvalues");
    assert!(largest(2) > 1e4 * largest(0) && largest(3) < largest(0), "{} {} {}", largest(0), largest(2), largest(3));
    assert!(scales.iter().all(|scale| scale.hessian.relative_term < 1e-12 && scale.outputs.relative < 1e-13));
    // Powers of two round nothing: the block of v is exactly α⁻² times what it was.
    assert!(scales[1].outputs.bitwise);
    let (n, weights) = (scales[0].hessian.dimension, 4 * 5);
    for (i, j) in (0..weights).flat_map(|i| (0..weights).map(move |j| (i, j))) {
        let (one, other) = (scales[0].hessian.matrix[j * n + i], scales[1].hessian.matrix[j * n + i]);
        assert!((other - 16.0 * one).abs() <= 1e-12 * largest(1));
    }
    let mut dead = parameters.clone();
    dead[..4].fill(0.0);
    let refused = block_on(weight_normalization(&engine, &dead, &[1.0], &control)).expect_err("no direction");
    assert_eq!(refused.code, ErrorCode::InvalidParameters);
}

#[test]
fn one_dimension_is_inverted_and_its_curvature_is_that_of_the_composition() {
    let mut rng = rng(1);
    for (a, b) in [(0.0, 0.0), (0.5, 0.1), (-0.4, 0.01), (2.0, 1.0), (-0.25, 0.0)] {
        let map = PowerMap::new(0.3, a, b).expect("a map");
        let loss = |x: f64| [(3.0 * x).sin(), 3.0 * (3.0 * x).cos(), -9.0 * (3.0 * x).sin()];
        for _ in 0..50 {
            let theta: f64 = rng.random_range(-2.0..2.0);
            if (theta - 0.3).abs() < 0.05 {
                continue;
            }
            let eta = map.eta(theta);
            assert!((map.theta(eta) - theta).abs() < 1e-10, "{a} {b}: {theta} {}", map.theta(eta));
            let (step, size) = (1e-5, map.slope(theta));
            let slope = (map.eta(theta + step) - map.eta(theta - step)) / (2.0 * step);
            assert!((slope - size).abs() < 1e-6 * size, "{a} {b} {theta}: {slope} {size}");
            let bend = (map.slope(theta + step) - map.slope(theta - step)) / (2.0 * step);
            assert!(
                (bend - map.bend(theta)).abs() < 1e-5 * (1.0 + size),
                "{a} {b} {theta}: {bend} {}",
                map.bend(theta)
            );
            let point = map.point(theta, loss(theta));
            // dL_η/dη is smooth in θ: its change by η is its change by θ over η'.
            let down = |theta: f64| map.point(theta, loss(theta)).slope.expect("a regular point");
            let curvature = (down(theta + step) - down(theta - step)) / (2.0 * step) / size;
            let found = point.curvature.expect("a regular point");
            assert!((found - curvature).abs() < 1e-4 * (1.0 + curvature.abs()), "{a} {b} {theta}: {found} {curvature}");
        }
    }
    // At θ̂ the map's slope is b^a: a minimum there gets L'' / b^(2a).
    let map = PowerMap::new(0.3, 0.5, 0.01).expect("a map");
    let point = map.point(0.3, [0.0, 0.0, 4.0]);
    assert!((point.curvature.expect("a regular point") - 400.0).abs() < 1e-9);
    assert_eq!(PowerMap::new(0.3, 0.5, 0.0).expect("a map").point(0.3, [0.0, 0.0, 4.0]).curvature, None);
    assert_eq!(PowerMap::new(0.0, -0.5, 0.0).expect_err("no bijection").code, ErrorCode::InvalidOption);
}

#[test]
fn input_gradients_agree_with_finite_differences() {
    let mut checked = 0;
    for seed in 0..24 {
        let mut rng = rng(700 + seed);
        let network = any_network(&mut rng, seed, &ALL);
        let loss = if seed % 4 < 2 { Loss::CrossEntropy } else { Loss::SquaredError };
        let problem = random_problem(&mut rng, network.clone(), loss);
        let parameters = random_parameters(&mut rng, &network);
        let device = Device::cpu(Precision::F64);
        let found = block_on(input_gradients(&device, &problem, &parameters, &Control::default())).expect("gradients");
        let x = problem.inputs().to_f64();
        assert_eq!(found.len(), x.len());
        let direction = random_direction(&mut rng, x.len());
        // The sum of all samples' losses, along one direction of all inputs.
        let slope = |step: f64| {
            let total = |step: f64| {
                let moved: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + step * d).collect();
                let moved = Problem::new(network.clone(), loss, moved, problem.targets().clone()).expect("a problem");
                block_on(cpu(&moved).evaluate(&parameters)).expect("a loss").loss * problem.samples() as f64
            };
            (total(step) - total(-step)) / (2.0 * step)
        };
        let (expected, finer) = (slope(1e-6), slope(1e-6 / 4.0));
        if (expected - finer).abs() > 1e-6 * (1.0 + expected.abs()) {
            continue; // A kink.
        }
        let exact = dot(&found, &direction);
        assert!((exact - expected).abs() < 1e-5 * (1.0 + expected.abs()), "seed {seed}: {exact}, {expected}");
        checked += 1;
    }
    assert!(checked >= 15, "only {checked}");
}

#[test]
fn other_input_representations_are_the_same_network_with_other_input_gradients() {
    let device = Device::cpu(Precision::F64);
    let control = Control::default();
    let mut rng = rng(8);
    let dense = Network::dense(&[5, 6, 3], false).expect("a network");
    let conv = |padding: [usize; 2]| {
        Network::new(
            vec![2, 5, 4],
            vec![
                Layer::Conv2d(Conv2d { padding: padding.into(), ..Conv2d::new(3, [2, 3]) }),
                Layer::Relu,
                Layer::Flatten,
                Layer::Dense { units: 2, bias: true },
            ],
        )
        .expect("a network")
    };
    let flattened = Network::new(vec![2, 3, 2], vec![Layer::Flatten, Layer::Dense { units: 3, bias: true }]);
    let flattened = flattened.expect("a network");
    for network in [dense.clone(), conv([0, 0]), flattened] {
        let inputs: Vec<f64> =
            (0..40 * network.input_len()).map(|i| rng.random_range(-2.0..5.0) * (1 + i % 3) as f64).collect();
        let targets = Targets::Classes((0..40).map(|i| i % network.output_len() as u32).collect());
        let problem = Problem::new(network.clone(), Loss::CrossEntropy, inputs, targets).expect("a problem");
        let parameters = random_parameters(&mut rng, &network);
        let mut maps = vec![InputMap::standardize(&problem).expect("a map")];
        match block_on(InputMap::whiten(&problem, &Control::default())) {
            Ok(map) => maps.push(map),
            Err(refused) => assert!(refused.message.contains("convolution"), "{refused}"),
        }
        for (i, map) in maps.iter().enumerate() {
            let found = block_on(input_representation(&device, &problem, &parameters, map, &control)).expect("a map");
            // The inverse of the covariance's root is conditioned by its eigenvalues, 10 to 100 here.
            assert!(found.outputs.relative < 1e-10, "{i}: {:?}", found.outputs);
            assert!(found.chain_rule_error < 1e-9, "{i}: {:.1e}", found.chain_rule_error);
            // Inputs this wide have small gradients, of the loss and of the function.
            for norms in [&found.loss_gradients, &found.prediction_gradients] {
                assert!(norms.mean_after > 1.3 * norms.mean_before, "{norms:?}");
            }
            let width = network.input_len();
            let (mean, square) = (0..40).fold((0.0, 0.0), |(m, s), n| {
                let u = found.inputs[n * width];
                (m + u / 40.0, s + u * u / 40.0)
            });
            if i == 1 || network.input().len() == 1 {
                assert!(mean.abs() < 1e-9 && (square - 1.0).abs() < 1e-9, "{mean} {square}");
            }
        }
    }
    let padded = conv([1, 0]);
    let problem = random_problem(&mut rng, padded.clone(), Loss::CrossEntropy);
    let parameters = random_parameters(&mut rng, &padded);
    let map = InputMap::standardize(&problem).expect("a map");
    let refused = map.fold(&padded, &parameters).expect_err("padding");
    assert!(refused.message.contains("pads"), "{refused}");
    let tanh_first =
        Network::new(vec![2], vec![Layer::Tanh, Layer::Dense { units: 2, bias: true }]).expect("a network");
    let map = InputMap::diagonal(vec![2.0, 1.0], vec![0.0; 2]).expect("a map");
    assert!(map.fold(&tanh_first, &[0.0; 6]).expect_err("an activation").message.contains("tanh"));
}

#[test]
fn networks_without_a_rescaling_are_refused() {
    let single = Network::dense(&[3, 2], true).expect("a network");
    let tanh = Network::new(
        vec![3],
        vec![Layer::Dense { units: 3, bias: true }, Layer::Tanh, Layer::Dense { units: 2, bias: true }],
    )
    .expect("a network");
    for (network, code) in [(single, ErrorCode::InvalidOption), (tanh, ErrorCode::NotHomogeneous)] {
        let mut rng = rng(2);
        let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
        let theta = random_parameters(&mut rng, &network);
        let engine = cpu(&problem);
        let control = Control::default();
        let wanted = SharpenOptions { target: 1e3, layer: None, powers_of_two: false };
        let found = [
            block_on(sharpen(&engine, &theta, &wanted, &MeasureOptions::default(), &control)).err(),
            block_on(many_large_eigenvalues(&engine, &theta, 1e3, None, false, &control)).err(),
            block_on(volume_flatness(&engine, &theta, &BoxOptions::default(), &control)).err(),
            block_on(constant_in_ball(&engine, &theta, Region::Ball, 0.1, &SharpnessOptions::default(), &control))
                .err(),
        ];
        for error in found {
            assert_eq!(error.expect("a fault").code, code);
        }
    }
}
