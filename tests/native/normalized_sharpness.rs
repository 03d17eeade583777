//! Normalised sharpness of whole networks: one number for all of an orbit, between bounds that need no minimum, and faults.

use crate::support::graphs::{any_problem, engine_of};
use crate::support::*;
use isoflat::engine::Engine;
use isoflat::measure::{Measure, MeasureOptions, MeasureValue, exact_diagonal, measure};
use isoflat::network::Layer;
use isoflat::operator::OperatorKind;
use isoflat::symmetry::Transformation;
use isoflat::{Control, ErrorCode, Loss, Network};
use pollster::block_on;

fn normalized(engine: &Engine, parameters: &[f64]) -> MeasureValue {
    let row = Measure::from_key("normalized_sharpness").expect("a measure");
    let found = block_on(measure(engine, parameters, &[row], &MeasureOptions::default(), &Control::default()));
    let [found] = found.expect("a value").try_into().expect("one value");
    assert!(found.converged, "{found:?}");
    found
}

#[test]
fn it_is_one_number_for_all_of_an_orbit() {
    for seed in 0..45 {
        let (problem, parameters) = any_problem(seed);
        let (network, engine) = (problem.network(), engine_of(&problem));
        let before = normalized(&engine, &parameters).value;
        for map in [
            Transformation::RandomLayerwise { seed, low: 1e-3, high: 1e3 },
            Transformation::RandomNodewise { seed, low: 1e-3, high: 1e3 },
            Transformation::RandomPermutation { seed },
        ] {
            let moved = map.apply(network, &parameters).expect("a symmetry");
            let after = normalized(&engine, &moved).value;
            let off = (after - before).abs() / before.max(f64::MIN_POSITIVE);
            assert!(off <= 1e-10, "{seed}, {}, {map:?}: {off:.1e}", network.summary());
        }
    }
}

/// Were every weight a layer of its own it would be Σ 2 √h |w|; with one factor a layer it is 2 √(Tr H_l) ‖W_l‖.
#[test]
fn it_lies_between_what_more_and_what_fewer_factors_leave() {
    let (mut above, mut below) = (0, 0);
    for seed in 0..30 {
        let (problem, parameters) = any_problem(seed);
        let engine = engine_of(&problem);
        let found = normalized(&engine, &parameters).value;
        block_on(engine.prepare(&parameters)).expect("a point");
        let diagonal = block_on(exact_diagonal(&engine, OperatorKind::HESSIAN, &Control::default()));
        let diagonal = diagonal.expect("a diagonal").expect("an exact one").values;
        let (mut least, mut most) = (0.0, 0.0);
        for layer in problem.network().layout().layers() {
            let (h, w) = (&diagonal[layer.weight.clone()], &parameters[layer.weight.clone()]);
            let trace: f64 = h.iter().sum();
            let square: f64 = w.iter().map(|w| w * w).sum();
            most += 2.0 * (trace * square).sqrt();
            least += h.iter().zip(w).map(|(h, w)| 2.0 * h.sqrt() * w.abs()).sum::<f64>();
        }
        assert!(found >= least * (1.0 - 1e-12) && found <= most * (1.0 + 1e-12), "{seed}: {least}, {found}, {most}");
        above += usize::from(found > 1.01 * least);
        below += usize::from(found < 0.99 * most);
    }
    assert!(above > 15 && below > 15, "{above} above, {below} below: bounds that mean something");
}

#[test]
fn a_network_that_is_0_everywhere_has_none() {
    let network = Network::dense(&[3, 4, 4, 2], true).expect("a network");
    let problem = random_problem(&mut rng(3), network.clone(), Loss::SquaredError);
    assert_eq!(normalized(&engine_of(&problem), &vec![0.0; network.parameter_count()]).value, 0.0);
}

#[test]
fn what_has_no_rescalings_has_no_such_measure() {
    let layers = vec![Layer::Dense { units: 4, bias: true }, Layer::Tanh, Layer::Dense { units: 2, bias: true }];
    let network = Network::new(vec![3], layers).expect("a network");
    let engine = engine_of(&random_problem(&mut rng(1), network.clone(), Loss::CrossEntropy));
    let parameters = random_parameters(&mut rng(2), &network);
    assert!(Measure::defined_for(&network).all(|measure| measure.key != "normalized_sharpness"));
    let row = Measure::from_key("normalized_sharpness").expect("a measure");
    let found = block_on(measure(&engine, &parameters, &[row], &MeasureOptions::default(), &Control::default()));
    assert_eq!(found.expect_err("a fault").code, ErrorCode::NotHomogeneous);
}
