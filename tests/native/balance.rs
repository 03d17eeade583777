//! Balancing: the function stays, the norm is the least, and all of an orbit comes to one representative.

use crate::support::*;
use isoflat::network::Layer;
use isoflat::space::{Balance, BalanceOptions, Balancing, balance};
use isoflat::symmetry::Transformation;
use isoflat::{Control, ErrorCode, Loss, Network};

fn balanced(network: &Network, parameters: &[f64], kind: Balance) -> Balancing {
    let (options, control) = (BalanceOptions::default(), Control::default());
    pollster::block_on(balance(network, parameters, kind, &options, &control)).expect("a balanced network")
}

fn squared_norm(values: &[f64]) -> f64 {
    dot(values, values)
}

#[test]
fn outputs_stay_and_no_rescaling_is_smaller() {
    let mut rng = rng(1);
    for seed in 0..24 {
        let network = any_network(&mut rng, seed, &HOMOGENEOUS);
        let parameters = random_parameters(&mut rng, &network);
        let problem = random_problem(&mut rng, network.clone(), Loss::SquaredError);
        let outputs = |parameters: &[f64]| naive::outputs(&network, parameters, &problem.inputs().to_f64());
        for kind in [Balance::Layerwise, Balance::Nodewise] {
            let found = balanced(&network, &parameters, kind);
            assert!(found.converged, "{}: {} sweeps, {}", network.summary(), found.sweeps, found.change);
            assert!(error(&outputs(&found.parameters), &outputs(&parameters)) < 1e-11);
            assert_eq!(found.squared_norm, squared_norm(&found.parameters));
            assert!(found.attained, "{}", network.summary());
            assert_eq!(found.squared_norm_before, squared_norm(&parameters));
            assert!(found.squared_norm <= found.squared_norm_before * (1.0 + 1e-12));
            for seed in 0..8 {
                // Factors near 1 too: at a minimum every direction goes up.
                for (low, high) in [(0.999, 1.001), (0.5, 2.0)] {
                    let map = match kind {
                        Balance::Layerwise => Transformation::RandomLayerwise { seed, low, high },
                        Balance::Nodewise => Transformation::RandomNodewise { seed, low, high },
                    };
                    let other = map.apply(&network, &found.parameters).expect("parameters");
                    assert!(squared_norm(&other) >= found.squared_norm * (1.0 - 1e-13));
                }
            }
        }
    }
}

/// At the minimum the incoming weights and bias of a unit are as long as its outgoing weights.
#[test]
fn in_and_out_are_equally_long() {
    let mut rng = rng(2);
    let network = Network::dense(&[5, 7, 4, 6, 3], true).expect("a network");
    let parameters = random_parameters(&mut rng, &network);
    let found = balanced(&network, &parameters, Balance::Nodewise).parameters;
    for pair in network.layout().layers().windows(2) {
        for j in 0..pair[0].outputs {
            let row = pair[0].weight.start + j * pair[0].inputs;
            let bias = found[pair[0].bias.clone().expect("a bias").start + j];
            let incoming = squared_norm(&found[row..row + pair[0].inputs]) + bias * bias;
            let column: Vec<f64> =
                found[pair[1].weight.clone()].iter().skip(j).step_by(pair[1].inputs).copied().collect();
            assert!((incoming - squared_norm(&column)).abs() < 1e-10 * incoming);
        }
    }
}

/// Without biases the layer-wise minimum has all ‖W_l‖ at their geometric mean.
#[test]
fn layers_come_to_their_geometric_mean() {
    let mut rng = rng(3);
    let network = Network::dense(&[5, 7, 4, 3], false).expect("a network");
    let parameters = random_parameters(&mut rng, &network);
    let norms = |parameters: &[f64]| -> Vec<f64> {
        network.layout().layers().iter().map(|layer| squared_norm(&parameters[layer.weight.clone()]).sqrt()).collect()
    };
    let mean = norms(&parameters).iter().product::<f64>().cbrt();
    let found = balanced(&network, &parameters, Balance::Layerwise);
    assert!(error(&norms(&found.parameters), &[mean; 3]) < 1e-11);
    assert!(matches!(found.transformation, Transformation::Layerwise { .. }));
}

#[test]
fn an_orbit_has_one_representative() {
    let mut rng = rng(4);
    for seed in 0..16 {
        let network = any_network(&mut rng, seed, &HOMOGENEOUS);
        let parameters = random_parameters(&mut rng, &network);
        let map = Transformation::RandomNodewise { seed, low: 0.01, high: 100.0 };
        let moved = map.apply(&network, &parameters).expect("parameters");
        let (here, there) =
            (balanced(&network, &parameters, Balance::Nodewise), balanced(&network, &moved, Balance::Nodewise));
        assert!(error(&there.parameters, &here.parameters) < 1e-9, "{}", network.summary());
    }
}

#[test]
fn dead_units_and_faults() {
    let mut rng = rng(5);
    let network = Network::dense(&[3, 4, 2], false).expect("a network");
    let mut parameters = random_parameters(&mut rng, &network);
    parameters[..3].fill(0.0);
    let found = balanced(&network, &parameters, Balance::Nodewise);
    assert!(found.converged && !found.attained && found.parameters[..3] == [0.0; 3]);
    let Transformation::Nodewise { factors } = &found.transformation else { panic!("a node-wise map") };
    assert_eq!(factors[0][0], 1.0);

    // A residual network whose last layer is 0: what comes before it falls as its units are made small, and never gets to an end.
    let layers = r#"[{"type": "dense", "units": 2, "bias": false}, {"type": "relu", "name": "r"},
        {"type": "dense", "units": 2, "bias": false, "name": "b"}, {"type": "add", "from": ["r", "b"]},
        {"type": "dense", "units": 1, "bias": false}]"#;
    let residual = Network::from_json(&format!(r#"{{"input": [2], "layers": {layers}}}"#)).expect("a network");
    let mut theta = [1.0, 2.0, 3.0, 4.0, 1.0, -1.0, 2.0, 1.0, 0.0, 0.0];
    for kind in [Balance::Layerwise, Balance::Nodewise] {
        let found = balanced(&residual, &theta, kind);
        assert!(!found.attained && found.squared_norm <= found.squared_norm_before, "{kind:?}: {found:?}");
    }
    theta[9] = 1e-3;
    assert!(balanced(&residual, &theta, Balance::Layerwise).attained);

    let code = |network: &Network, parameters: &[f64], options: BalanceOptions, control: &Control<'_>| {
        pollster::block_on(balance(network, parameters, Balance::Nodewise, &options, control))
            .expect_err("a fault")
            .code
    };
    let (options, control) = (BalanceOptions::default(), Control::default());
    let stopped = Control::default().stop_when(|| true);
    assert_eq!(code(&network, &parameters, options, &stopped), ErrorCode::Aborted);
    assert_eq!(code(&network, &parameters[1..], options, &control), ErrorCode::InvalidParameters);
    let negative = BalanceOptions { tolerance: -1.0, ..options };
    assert_eq!(code(&network, &parameters, negative, &control), ErrorCode::InvalidOption);
    let tanh = Network::new(
        vec![2],
        vec![Layer::Dense { units: 2, bias: true }, Layer::Tanh, Layer::Dense { units: 2, bias: true }],
    );
    assert_eq!(code(&tanh.expect("a network"), &[1.0; 12], options, &control), ErrorCode::NotHomogeneous);
    let few = BalanceOptions { max_sweeps: 1, ..options };
    let found =
        pollster::block_on(balance(&network, &parameters, Balance::Nodewise, &few, &control)).expect("a network");
    assert!(!found.converged && found.sweeps == 1);
}
