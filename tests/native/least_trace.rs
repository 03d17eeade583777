//! The least trace of an orbit: the independent program's numbers, closed forms where there are some, and a number that is the same from
//! every point of the orbit, that its rescaling reaches and that none undercuts.

use std::cell::Cell;

use crate::support::golden::{Case, LEAST_TRACES};
use crate::support::graphs::{any_problem, engine_of};
use crate::support::*;
use isoflat::engine::Engine;
use isoflat::measure::{
    LeastTrace, LeastTraceOptions, LooseFactor, Tendency, exact_diagonal, exact_trace, least_trace,
};
use isoflat::network::Layer;
use isoflat::operator::{OperatorKind, Part};
use isoflat::symmetry::{SymmetryGroup, Transformation};
use isoflat::{Control, ErrorCode, Loss, Network, Problem};
use pollster::block_on;
use rand::Rng;

const NODEWISE: LeastTraceOptions = LeastTraceOptions { group: SymmetryGroup::Nodewise, biases: true };
const LAYERWISE: LeastTraceOptions = LeastTraceOptions { group: SymmetryGroup::Layerwise, biases: true };
const WEIGHTS: LeastTraceOptions = LeastTraceOptions { group: SymmetryGroup::Layerwise, biases: false };

fn least(engine: &Engine, parameters: &[f64], options: LeastTraceOptions) -> LeastTrace {
    block_on(engine.prepare(parameters)).expect("a point");
    let found = block_on(least_trace(engine, &options, &Control::default())).expect("a least trace");
    assert!(found.converged && found.error <= 1e-16 * found.value, "{found:?}");
    found
}

fn trace(engine: &Engine, parameters: &[f64], part: Option<Part>) -> f64 {
    block_on(engine.prepare(parameters)).expect("a point");
    let kind = part.map_or(OperatorKind::HESSIAN, |part| OperatorKind::HESSIAN.over(part));
    block_on(exact_trace(engine, kind, &Control::default())).expect("a trace").expect("an exact one")
}

fn moved(network: &Network, parameters: &[f64], map: &Transformation) -> Vec<f64> {
    map.apply(network, parameters).expect("a symmetry")
}

#[test]
fn golden_numbers() {
    let expected: serde_json::Value = serde_json::from_str(LEAST_TRACES).expect("a JSON");
    for case in Case::all() {
        let (file, expected) = (case.file(), &expected[case.name]);
        let engine = engine_of(&file.problem);
        let near = |found: f64, key: &str| {
            let expected = expected[key].as_f64().expect("a number");
            assert!((found - expected).abs() <= 1e-9 * expected, "{} {key}: {found}, expected {expected}", case.name);
        };
        let found = least(&engine, &file.parameters, NODEWISE);
        near(found.value, "nodewise");
        // Their program takes a unit that is never active for one whose factor runs away. Nothing depends on such a factor.
        let idle = found.loose.iter().filter(|loose| loose.tendency == Tendency::Any).count();
        assert_eq!(found.attained && idle == 0, expected["attained"].as_bool().expect("a flag"), "{}", case.name);
        if expected.get("layerwise_weights").is_some() {
            near(least(&engine, &file.parameters, WEIGHTS).value, "layerwise_weights");
        }
    }
}

#[test]
fn over_the_weights_of_a_chain_the_layers_traces_multiply() {
    for seed in 0..30 {
        let mut rng = rng(500 + seed);
        let network = any_network(&mut rng, seed, &HOMOGENEOUS);
        let parameters = random_parameters(&mut rng, &network);
        let engine = engine_of(&random_problem(&mut rng, network.clone(), Loss::CrossEntropy));
        let depth = network.layout().layers().len();
        let traces: Vec<f64> = (0..depth).map(|l| trace(&engine, &parameters, Some(Part::Layer(l)))).collect();
        let expected = depth as f64 * traces.iter().product::<f64>().powf(1.0 / depth as f64);
        let found = least(&engine, &parameters, WEIGHTS);
        assert!((found.value - expected).abs() <= 1e-12 * expected, "{seed}: {found:?}, expected {expected}");
        if expected > 0.0 {
            // Where it is, all layers have one trace.
            let flattest = moved(&network, &parameters, &found.transformation);
            for l in 0..depth {
                let trace = trace(&engine, &flattest, Some(Part::Layer(l)));
                assert!(
                    (trace * depth as f64 - expected).abs() <= 1e-10 * expected,
                    "{seed}: layer {}: {trace}",
                    l + 1
                );
            }
        }
    }
}

/// Of one hidden layer every unit is by itself: the least of in/Λ² + out Λ² is 2 √(in · out).
#[test]
fn units_of_one_hidden_layer_are_balanced_one_by_one() {
    for seed in 0..20 {
        let mut rng = rng(900 + seed);
        let widths = [rng.random_range(1..6), rng.random_range(1..12), rng.random_range(2..5)];
        let network = Network::dense(&widths, true).expect("a network");
        let parameters = random_parameters(&mut rng, &network);
        let engine = engine_of(&random_problem(&mut rng, network.clone(), Loss::SquaredError));
        block_on(engine.prepare(&parameters)).expect("a point");
        let control = Control::default();
        let diagonal = block_on(exact_diagonal(&engine, OperatorKind::HESSIAN, &control))
            .expect("a diagonal")
            .expect("an exact one")
            .values;
        let [first, second] = network.layout().layers() else { panic!("two layers") };
        let biases = |layer: &isoflat::network::ParametricLayer| diagonal[layer.bias.clone().expect("biases")].to_vec();
        let mut expected: f64 = biases(second).iter().sum();
        for (unit, bias) in biases(first).iter().enumerate() {
            let row = &diagonal[first.weight.clone()][unit * first.inputs..][..first.inputs];
            let incoming = row.iter().sum::<f64>() + bias;
            let outgoing: f64 = diagonal[second.weight.clone()].iter().skip(unit).step_by(second.inputs).sum();
            expected += 2.0 * (incoming * outgoing).sqrt();
        }
        let found = least(&engine, &parameters, NODEWISE);
        assert!((found.value - expected).abs() <= 1e-12 * expected, "{seed}: {found:?}, expected {expected}");
    }
}

#[test]
fn it_is_one_number_for_all_of_an_orbit() {
    let mut flatter = 0;
    for seed in 0..45 {
        let (problem, parameters) = any_problem(seed);
        let (network, engine) = (problem.network().clone(), engine_of(&problem));
        let layerwise = Transformation::RandomLayerwise { seed, low: 1e-3, high: 1e3 };
        let nodewise = Transformation::RandomNodewise { seed, low: 1e-3, high: 1e3 };
        let permutation = Transformation::RandomPermutation { seed };
        let of = vec![nodewise.clone(), permutation.clone(), layerwise.clone()];
        let all = Transformation::Composition { of };
        for (options, maps) in [
            (NODEWISE, vec![&layerwise, &nodewise, &permutation, &all]),
            (LAYERWISE, vec![&layerwise, &permutation]),
            (WEIGHTS, vec![&layerwise, &permutation]),
        ] {
            let found = least(&engine, &parameters, options);
            assert!(found.value <= found.before * (1.0 + 1e-14), "{seed}: {found:?}");
            flatter += usize::from(found.value < 0.9 * found.before);
            for map in maps {
                let again = least(&engine, &moved(&network, &parameters, map), options);
                // A unit within rounding of its kink would be another function's: there is none among these.
                let off = (again.value - found.value).abs() / found.value.max(f64::MIN_POSITIVE);
                assert!(off <= 1e-11, "{seed}, {}, {options:?}, {map:?}: {off:.1e}", network.summary());
                let tendencies =
                    |least: &LeastTrace| least.loose.iter().map(|loose| loose.tendency).collect::<Vec<_>>();
                assert_eq!(again.attained, found.attained, "{seed}");
                if !map.kinds().permutation {
                    assert_eq!(tendencies(&again), tendencies(&found), "{seed}");
                }
            }
        }
        let [whole, layers] = [NODEWISE, LAYERWISE].map(|options| least(&engine, &parameters, options).value);
        assert!(whole <= layers * (1.0 + 1e-12), "{seed}: the larger group has the smaller minimum");
    }
    assert!(flatter > 60, "only {flatter} were made flatter");
}

/// Curvatures of one point that are so far apart that none is near the sum of all: what is least of them is largest at another.
#[test]
fn it_is_one_number_at_the_ends_of_what_numbers_hold() {
    let network = Network::dense(&[4, 16, 3], false).expect("a network");
    let mut rng = rng(5);
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    let parameters = random_parameters(&mut rng, &network);
    let engine = engine_of(&problem);
    for options in [NODEWISE, LAYERWISE] {
        let expected = least(&engine, &parameters, options).value;
        for power in [60, 100, 140] {
            let factor = 10_f64.powi(power);
            let map = Transformation::Layerwise { lambda: vec![factor, 1.0 / factor] };
            let found = least(&engine, &moved(&network, &parameters, &map), options);
            assert!((found.value - expected).abs() <= 1e-11 * expected, "1e{power}: {found:?}, expected {expected}");
        }
    }
}

#[test]
fn its_rescaling_leads_there_and_none_leads_below() {
    for seed in 0..30 {
        let (problem, parameters) = any_problem(seed);
        let (network, engine) = (problem.network().clone(), engine_of(&problem));
        for options in [NODEWISE, LAYERWISE] {
            let found = least(&engine, &parameters, options);
            let flattest = moved(&network, &parameters, &found.transformation);
            let there = trace(&engine, &flattest, None);
            assert!((there - found.after).abs() <= 1e-11 * there, "{seed}: {there}, {found:?}");
            assert!((found.before - trace(&engine, &parameters, None)).abs() <= 1e-12 * found.before);
            let slack = if found.attained { 1e-13 } else { 1.001e-6 };
            assert!(found.after <= found.value.max(1e-6 * found.before) * (1.0 + slack), "{seed}: {found:?}");
            assert!(found.after >= found.value * (1.0 - 1e-14), "{seed}: {found:?}");
            for draw in 0..6 {
                // Factors near 1 too: at a minimum every direction goes up.
                for (low, high) in [(0.999, 1.001), (0.5, 2.0)] {
                    let map = match options.group {
                        SymmetryGroup::Layerwise => Transformation::RandomLayerwise { seed: draw, low, high },
                        _ => Transformation::RandomNodewise { seed: draw, low, high },
                    };
                    let other = trace(&engine, &moved(&network, &flattest, &map), None);
                    assert!(other >= found.value * (1.0 - 1e-12), "{seed}: {other} after {map:?}, {found:?}");
                }
            }
        }
    }
}

/// A unit that nothing reads by a weight, one that is 0 and not inactive, and one that is never active, before two more layers.
fn with_loose_units() -> (Problem, Vec<f64>) {
    let activations = [Layer::Relu, Layer::Identity, Layer::LeakyRelu { slope: 0.3 }];
    let mut layers = Vec::new();
    for (units, activation) in [6, 5, 4].into_iter().zip(activations) {
        layers.extend([Layer::Dense { units, bias: true }, activation]);
    }
    layers.push(Layer::Dense { units: 3, bias: true });
    let network = Network::new(vec![4], layers).expect("a network");
    let mut rng = rng(31);
    let mut parameters = random_parameters(&mut rng, &network);
    let problem = random_problem(&mut rng, network.clone(), Loss::SquaredError);
    let [first, second, third, last] = network.layout().layers() else { panic!("four layers") };
    let row = |layer: &isoflat::network::ParametricLayer, unit: usize| {
        layer.weight.start + unit * layer.inputs..layer.weight.start + (unit + 1) * layer.inputs
    };
    let bias =
        |layer: &isoflat::network::ParametricLayer, unit: usize| layer.bias.clone().expect("biases").start + unit;
    // Inactive.
    parameters[row(first, 1)].fill(0.0);
    parameters[bias(first, 1)] = -1.0;
    // Always 0, and yet it hands back what comes to it.
    parameters[row(second, 3)].fill(0.0);
    parameters[bias(second, 3)] = 0.0;
    // Read by nothing.
    last.weight.clone().skip(2).step_by(last.inputs).for_each(|i| parameters[i] = 0.0);
    assert_eq!(third.outputs, 4);
    (problem, parameters)
}

#[test]
fn factors_that_run_away_are_named_and_followed_as_far_as_it_pays() {
    let (problem, parameters) = with_loose_units();
    let (network, engine) = (problem.network().clone(), engine_of(&problem));
    let found = least(&engine, &parameters, NODEWISE);
    let expected = [(0, 1, Tendency::Any), (1, 3, Tendency::Grows), (2, 2, Tendency::Shrinks)];
    let expected = expected.map(|(layer, unit, tendency)| LooseFactor { layer, unit: Some(unit), tendency });
    assert_eq!(found.loose, expected);
    assert!(!found.attained && found.after > found.value && found.after <= found.value * (1.0 + 1.001e-6), "{found:?}");
    let flattest = moved(&network, &parameters, &found.transformation);
    let there = trace(&engine, &flattest, None);
    assert!((there - found.after).abs() <= 1e-11 * there, "{there}, {found:?}");
    // Farther on the same way it goes on to fall, towards the infimum and not below.
    let mut factors = vec![vec![1.0; 6], vec![1.0; 5], vec![1.0; 4]];
    (factors[1][3], factors[2][2]) = (1e3, 1e-3);
    let farther = trace(&engine, &moved(&network, &flattest, &Transformation::Nodewise { factors }), None);
    assert!(farther < there && (farther - found.value).abs() <= 1e-11 * farther, "{farther:.17}, {found:?}");
    // What is left out has no part in it: the network without these units has the same least trace.
    let json = serde_json::to_value(&found).expect("a JSON");
    assert_eq!(json["loose"][1], serde_json::json!({ "layer": 2, "unit": 3, "tendency": "grows" }));
    // Whole layers have curvature before and behind them.
    let layers = least(&engine, &parameters, LAYERWISE);
    assert!(layers.attained && layers.loose.is_empty() && layers.value > found.value, "{layers:?}");
}

/// Without any curvature all factors are as good as others.
#[test]
fn a_network_that_is_0_everywhere_has_the_least_trace_of_its_last_biases() {
    let network = Network::dense(&[3, 4, 4, 2], true).expect("a network");
    let problem = random_problem(&mut rng(3), network.clone(), Loss::SquaredError);
    let engine = engine_of(&problem);
    let found = least(&engine, &vec![0.0; network.parameter_count()], NODEWISE);
    // 2/N Σ over samples and outputs of the squared loss.
    assert!((found.value - 4.0).abs() < 1e-14 && found.attained && found.loose.len() == 8, "{found:?}");
    assert!(found.loose.iter().all(|loose| loose.tendency == Tendency::Any));
    let bare = Network::dense(&[3, 4, 2], false).expect("a network");
    let problem = random_problem(&mut rng(3), bare.clone(), Loss::SquaredError);
    assert_eq!(least(&engine_of(&problem), &vec![0.0; bare.parameter_count()], NODEWISE).value, 0.0);
}

/// Deep chains and factors of all sizes: balance has to travel through all layers.
#[test]
fn few_steps_lead_there_from_far_away() {
    let widths: Vec<usize> = std::iter::once(6).chain([9; 24]).chain([4]).collect();
    let network = Network::dense(&widths, true).expect("a network");
    let mut rng = rng(12);
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    let (engine, parameters) = (engine_of(&problem), random_parameters(&mut rng, &network));
    let found = least(&engine, &parameters, NODEWISE);
    for (seed, size) in [(1, 1e2), (2, 1e4), (3, 1e8)] {
        let map = Transformation::RandomNodewise { seed, low: 1.0 / size, high: size };
        let again = least(&engine, &moved(&network, &parameters, &map), NODEWISE);
        let off = (again.value - found.value).abs() / found.value;
        assert!(off < 1e-10 && again.iterations <= 20, "{size:e}: {off:.1e}, {} steps", again.iterations);
    }
}

#[test]
fn thousands_of_neurons_take_no_longer_than_their_weights() {
    let network = Network::dense(&[5, 1500, 700, 400, 3], true).expect("a network");
    let mut rng = rng(8);
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy).first(3);
    let (engine, parameters) = (engine_of(&problem), random_parameters(&mut rng, &network));
    let found = least(&engine, &parameters, NODEWISE);
    assert!(found.iterations <= 12, "{} steps", found.iterations);
    let there = trace(&engine, &moved(&network, &parameters, &found.transformation), None);
    assert!((there - found.after).abs() <= 1e-11 * there, "{there}, {}", found.after);
}

#[test]
fn faults_are_named_and_a_stop_stops() {
    let tanh = Network::new(
        vec![3],
        vec![Layer::Dense { units: 4, bias: true }, Layer::Tanh, Layer::Dense { units: 2, bias: true }],
    )
    .expect("a network");
    let fault = |engine: &Engine, control: &Control<'_>| {
        block_on(least_trace(engine, &LeastTraceOptions::default(), control)).expect_err("a fault").code
    };
    let engine = engine_of(&random_problem(&mut rng(1), tanh.clone(), Loss::CrossEntropy));
    block_on(engine.prepare(&random_parameters(&mut rng(2), &tanh))).expect("a point");
    assert_eq!(fault(&engine, &Control::default()), ErrorCode::NotHomogeneous);
    let network = Network::dense(&[3, 8, 8, 3], true).expect("a network");
    let engine = engine_of(&random_problem(&mut rng(1), network.clone(), Loss::CrossEntropy));
    assert_eq!(fault(&engine, &Control::default()), ErrorCode::InvalidParameters);
    block_on(engine.prepare(&random_parameters(&mut rng(2), &network))).expect("a point");
    let stop = Cell::new(false);
    let control = Control::default()
        .on_progress(|progress| stop.set(progress.phase == "least trace" && progress.done == 2))
        .stop_when(|| stop.get());
    assert_eq!(fault(&engine, &control), ErrorCode::Aborted);
}
