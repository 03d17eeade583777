//! What Dinh's constructions say of their own searches, and the same in weight normalisation's coordinates.

use crate::dinh::{cases, cpu, solved};
use crate::support::*;
use isoflat::dinh::*;
use isoflat::engine::Engine;
use isoflat::measure::sharpness::Region;
use isoflat::measure::{MeasureOptions, SharpnessOptions};
use isoflat::symmetry::Transformation;
use isoflat::train::{Optimizer, TrainOptions, train};
use isoflat::{Control, ErrorCode, Network, Problem, data};
use pollster::block_on;
use rand::Rng;

fn loss(engine: &Engine, parameters: &[f64]) -> f64 {
    block_on(engine.evaluate(parameters)).expect("a loss").loss
}

/// A problem and where training leads: far below the loss of the best constant.
fn trained() -> (Problem, Vec<f64>) {
    let network = Network::dense(&[6, 8, 3], true).expect("a network");
    let problem = data::synthetic(network.clone(), 48, 3).expect("a problem");
    let start = random_parameters(&mut rng(4), &network);
    let options =
        TrainOptions { batch_size: 16, epochs: 300, optimizer: Optimizer::adam(0.01), ..TrainOptions::default() };
    let found = block_on(train(&cpu(&problem), &start, None, &options, &Control::default())).expect("training");
    (problem, found.parameters)
}

#[test]
fn what_has_not_converged_has_reached_nothing() {
    let mut unconverged = 0;
    for (seed, problem, parameters) in cases(100..130, 300) {
        let engine = cpu(&problem);
        let wanted = SharpenOptions { target: 1e4, layer: None, powers_of_two: false };
        for max_products in [3, 4, 6, 2000] {
            let options = MeasureOptions { max_products, ..MeasureOptions::default() };
            let found = match block_on(sharpen(&engine, &parameters, &wanted, &options, &Control::default())) {
                Ok(found) => found,
                Err(refused) => {
                    assert!(max_products < 2000 && refused.message.contains("has not converged"), "{refused}");
                    continue;
                }
            };
            let Ends { max, min, .. } = &found.measured;
            let pair = if max.value.abs() >= min.value.abs() { max } else { min };
            assert_eq!(found.reached, pair.converged && pair.value.abs() >= 1e4, "seed {seed}: {found:?}");
            assert!(max_products < 2000 || found.reached, "seed {seed}: {found:?}");
            // A residual that spans the goal is no reason to say that it is reached.
            unconverged += usize::from(!pair.converged && pair.value.abs() + pair.residual >= 1e4);
        }
    }
    assert!(unconverged >= 3, "only {unconverged}");
}

#[test]
fn the_boxes_intervals_are_those_of_moved_points() {
    for (seed, problem, parameters) in cases(0..30, 500) {
        let options = BoxOptions { epsilon: 0.05, boxes: 5, samples: 6, ..BoxOptions::default() };
        let found = block_on(volume_flatness(&cpu(&problem), &parameters, &options, &Control::default()));
        let found = found.expect("boxes");
        let (i, r) = (found.separating_coordinate, found.radius);
        let mut rng = rng(seed);
        for flat in &found.boxes {
            let factor = if found.inverted { found.alpha.recip() } else { found.alpha }.powi(flat.power as i32);
            let mut lambda = vec![1.0; problem.network().layout().layers().len()];
            (lambda[0], *lambda.last_mut().expect("layers")) = (factor, 1.0 / factor);
            let map = Transformation::Layerwise { lambda };
            // The images of any points of the first box lie within, and those of its ends at the ends.
            let image = |at: f64, rng: &mut rand_chacha::ChaCha8Rng| {
                let mut point: Vec<f64> = parameters.iter().map(|w| w + r * rng.random_range(-1.0..1.0)).collect();
                point[i] = parameters[i] + at * r;
                map.apply(problem.network(), &point).expect("a point")[i].abs()
            };
            let ends = [image(-parameters[i].signum(), &mut rng), image(parameters[i].signum(), &mut rng)];
            for (end, measured) in ends.iter().zip(&flat.interval) {
                assert!((end - measured).abs() <= 1e-12 * end, "seed {seed}: {ends:?} {flat:?}");
            }
            for _ in 0..20 {
                let at = rng.random_range(-1.0..1.0);
                let inner = image(at, &mut rng);
                let [low, high] = flat.interval;
                assert!(low * (1.0 - 1e-12) <= inner && inner <= high * (1.0 + 1e-12), "seed {seed}: {inner} {flat:?}");
            }
        }
        assert!(found.disjoint);
    }
}

/// At minima, where the gradient's signs say nothing.
#[test]
fn ascents_find_what_samples_do_not() {
    let (mut fooled, mut refuted, mut checked) = (0, 0, 0);
    for seed in 0..12 {
        let network = Network::dense(&[5, 8, 6, 3], seed % 2 == 0).expect("a network");
        let (problem, parameters) = solved(&network, seed);
        let engine = cpu(&problem);
        let with = |radius: Option<f64>| {
            let options = BoxOptions { epsilon: 0.1, radius, boxes: 2, samples: 32, ..BoxOptions::default() };
            block_on(volume_flatness(&engine, &parameters, &options, &Control::default())).expect("boxes")
        };
        let found = with(None);
        let ascent = found.ascent.as_ref().expect("ascents");
        assert!(found.inside && found.radius_found && found.radius < 0.5 * found.largest_weight, "seed {seed}");
        assert_eq!(found.largest_rise, ascent.rise.max(found.sampled_rise), "seed {seed}");
        // The place that was found is in the box, and as high as is said.
        assert!(ascent.delta.iter().all(|d| d.abs() <= found.radius * (1.0 + 1e-12)));
        let there: Vec<f64> = parameters.iter().zip(&ascent.delta).map(|(w, d)| w + d).collect();
        assert!((loss(&engine, &there) - found.loss - ascent.rise).abs() < 1e-10 * (1.0 + found.loss));
        // Boxes a little larger have counterexamples, which none of the samples is.
        let larger = with(Some((1.1 * found.radius).min(0.5 * found.largest_weight)));
        assert!(!larger.radius_found && larger.inside == (larger.largest_rise < 0.1), "seed {seed}");
        refuted += usize::from(!larger.inside);
        fooled += usize::from(!larger.inside && larger.sampled_rise < 0.1);
        checked += 1;
    }
    assert!(4 * refuted >= 3 * checked, "only {refuted} of {checked} larger boxes were refuted");
    assert!(4 * fooled >= 3 * refuted, "samples missed only {fooled} of {refuted}");
}

#[test]
fn keskars_box_holds_a_constant_function_where_that_says_something() {
    let (problem, parameters) = trained();
    let engine = cpu(&problem);
    let options = SharpnessOptions { restarts: Some(0), max_iterations: 60, ..SharpnessOptions::default() };
    for region in [Region::Ball, Region::Box, Region::Cube] {
        for epsilon in [1e-3, 0.05] {
            let control = Control::default();
            let found = block_on(constant_in_ball(&engine, &parameters, region, epsilon, &options, &control));
            let found = found.expect("a region");
            let case = format!("{region:?} {epsilon}: {found:?}");
            // Not vacuous: the point fits better than any constant, and nowhere in its own region is as bad as one.
            assert!(found.least > 0.2 && found.guaranteed >= found.least - 1e-12, "{case}");
            assert!(found.holds && found.measured.value >= found.guaranteed - 1e-9, "{case}");
            assert!(epsilon > 0.01 || found.before.value < 0.5 * found.least, "{case}");
            assert!(found.outputs.relative < 1e-12 && (found.distance - epsilon).abs() < 1e-12, "{case}");
            // The constant lies within the region, and is one.
            let mut constant = found.parameters.clone();
            constant[problem.network().layout().layers()[0].weight.clone()].fill(0.0);
            let moves = found.parameters.iter().zip(&constant).map(|(w, c)| (w, (w - c).abs()));
            match region {
                Region::Ball => assert!(moves.map(|(_, d)| d * d).sum::<f64>().sqrt() <= epsilon * (1.0 + 1e-12)),
                Region::Box => assert!(moves.map(|(w, d)| d / (w.abs() + 1.0)).all(|d| d <= epsilon)),
                _ => assert!(moves.map(|(_, d)| d).all(|d| d <= epsilon * (1.0 + 1e-12))),
            }
            assert!((loss(&engine, &constant) - found.constant_loss).abs() < 1e-12);
        }
    }
    let region = Region::RiemannianLayerwise;
    let refused = block_on(constant_in_ball(&engine, &parameters, region, 0.1, &options, &Control::default()));
    assert_eq!(refused.expect_err("another region").code, ErrorCode::InvalidOption);
}

#[test]
fn boxes_in_weight_normalisation_are_disjoint_and_grow() {
    let mut checked = 0;
    for (seed, problem, parameters) in cases(0..40, 200) {
        let engine = cpu(&problem);
        let map = WeightNormalization::new(problem.network());
        let Ok(eta) = map.eta(&parameters) else { continue };
        let options = BoxOptions { epsilon: 0.05, boxes: 4, samples: 8, ..BoxOptions::default() };
        let found = block_on(normalized_volume(&engine, &parameters, &options, &Control::default())).expect("boxes");
        assert!(found.disjoint && found.inside && !found.inverted, "seed {seed}: {found:?}");
        let weights = problem.network().layout().layers().iter().map(|layer| layer.weight.len()).sum::<usize>() as f64;
        assert!((found.log_determinant - weights * found.alpha.ln()).abs() < 1e-9 * weights, "seed {seed}");
        let n = map.dimension() as f64;
        assert!((found.boxes[0].log_volume - n * (2.0 * found.radius).ln()).abs() < 1e-9 * n);
        for flat in &found.boxes {
            assert!(flat.largest_difference < 1e-10 * (1.0 + found.loss), "seed {seed}: {flat:?}");
        }
        // The rise that the ascents found, from η + Δ itself.
        let ascent = found.ascent.as_ref().expect("ascents");
        let there: Vec<f64> = eta.iter().zip(&ascent.delta).map(|(x, d)| x + d).collect();
        let rise = loss(&engine, &map.parameters(&there)) - loss(&engine, &parameters);
        assert!((rise - ascent.rise).abs() < 1e-9 * (1.0 + found.loss), "seed {seed}: {rise} {}", ascent.rise);
        checked += 1;
    }
    assert!(checked >= 8, "only {checked}");
}

#[test]
fn sharpness_in_weight_normalisation_is_as_low_or_high_as_one_likes() {
    let (problem, parameters) = trained();
    let engine = cpu(&problem);
    let options = SharpnessOptions { restarts: Some(1), max_iterations: 100, ..SharpnessOptions::default() };
    let at = |alphas: &[f64], epsilon: f64| {
        let control = Control::default();
        block_on(normalized_sharpness(&engine, &parameters, alphas, epsilon, &options, &control)).expect("sharpness")
    };
    let found = at(&[1e-3, 1.0, 1e4], 0.01);
    let value = |i: usize| found[i].directions.value;
    let case = format!("{} {} {}", value(0), value(1), value(2));
    assert!(value(0) > 5.0 * value(1) && value(2) < 1e-2 * value(1) && value(2) > 0.0, "{case}");
    for scale in &found {
        assert!(scale.whole.value >= scale.directions.value * (1.0 - 1e-9), "{scale:?}");
        assert!(scale.outputs.relative < 1e-12, "{:?}", scale.outputs);
        // v alone has moved.
        let map = WeightNormalization::new(problem.network());
        let n = parameters.len();
        assert!(scale.directions.delta[n..].iter().all(|d| *d == 0.0));
        let eta = map.scaled(&map.eta(&parameters).expect("η"), scale.alpha).expect("η");
        for found in [&scale.directions, &scale.whole] {
            assert!(dot(&found.delta, &found.delta).sqrt() <= 0.01 * (1.0 + 1e-9));
            let there: Vec<f64> = eta.iter().zip(&found.delta).map(|(x, d)| x + d).collect();
            let rise = loss(&engine, &map.parameters(&there)) - loss(&engine, &parameters);
            assert!((rise - found.rise).abs() < 1e-9 * (1.0 + found.rise), "{rise} {}", found.rise);
        }
    }
    // ε at αv is ε/α at v.
    let (one, other) = (&at(&[4.0], 0.04)[0].directions, &at(&[1.0], 0.01)[0].directions);
    assert!((one.value - other.value).abs() < 1e-3 * other.value, "{} {}", one.value, other.value);
    // Near a minimum and to second order: the quadratic approximation is the top of the Hessian's block of v, which α⁻² multiplies.
    let (quadratic, half) = (one.quadratic.expect("a ball"), at(&[2.0], 0.04)[0].directions.quadratic);
    assert!((half.expect("a ball") - 4.0 * quadratic).abs() < 1e-6 * quadratic);
    let refused = block_on(normalized_sharpness(&engine, &parameters, &[0.0], 0.1, &options, &Control::default()));
    assert_eq!(refused.expect_err("α = 0").code, ErrorCode::InvalidOption);
}
