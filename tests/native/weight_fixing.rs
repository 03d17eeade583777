//! Which weights are fixed, what they are set to, and the warnings about it.

use crate::support::*;
use isoflat::space::{Biases, FixedChoice, FixedValues, Fixing, Skeleton, SpaceKind};
use isoflat::{Loss, Network};

const DIAGONAL: FixedChoice = FixedChoice::Diagonal;

#[test]
fn fixed_values_are_kept_set_or_reparametrised() {
    let mut rng = rng(6);
    for seed in 0..40 {
        let network = any_network(&mut rng, seed, &HOMOGENEOUS);
        let parameters = random_parameters(&mut rng, &network);
        let problem = random_problem(&mut rng, network.clone(), Loss::SquaredError);
        let outputs = |parameters: &[f64]| naive::outputs(&network, parameters, &problem.inputs().to_f64());
        for choice in [DIAGONAL, FixedChoice::Hungarian] {
            let fix = |values| Fixing::new(&network, &parameters, choice, values).expect("fixed weights");
            let kept = fix(FixedValues::Keep);
            assert!(kept.keeps_function && kept.parameters == parameters);
            let set = fix(FixedValues::Set(-0.25));
            assert_eq!(set.keeps_function, set.skeleton.is_empty());
            assert!(set.skeleton.fixed_indices().iter().all(|&index| set.parameters[index] == -0.25));
            let moved = set.parameters.iter().zip(&parameters).filter(|(a, b)| a != b).count();
            assert_eq!(moved, set.skeleton.len());
            let rescaled = fix(FixedValues::Reparametrize);
            assert!(rescaled.keeps_function);
            assert!(rescaled.skeleton.fixed_indices().iter().all(|&index| rescaled.parameters[index].abs() == 1.0));
            let (found, expected) = (outputs(&rescaled.parameters), outputs(&parameters));
            assert!(error(&found, &expected) < 1e-11, "{}", network.summary());
        }
    }
}

/// Σ |ln |w|| over one layer's choice, of every assignment: the Hungarian one is the least.
#[test]
fn the_hungarian_choice_needs_the_least_rescaling() {
    let mut rng = rng(7);
    for (hidden, outputs) in [(4, 4), (3, 5), (5, 2)] {
        for _ in 0..10 {
            let network = Network::dense(&[3, hidden, outputs], false).expect("a network");
            let mut parameters = random_parameters(&mut rng, &network);
            let second = network.layout().layers()[1].weight.clone();
            parameters[second.start] = 0.0;
            let cost =
                |unit: usize, row: usize| parameters[second.start + row * hidden + unit].abs().ln().abs().min(1e3);
            let copies = hidden.div_ceil(outputs);
            let mut best = f64::INFINITY;
            for number in 0..outputs.pow(hidden as u32) {
                let rows: Vec<usize> = (0..hidden).map(|j| number / outputs.pow(j as u32) % outputs).collect();
                if (0..outputs).all(|row| rows.iter().filter(|&&r| r == row).count() <= copies) {
                    best = best.min(rows.iter().enumerate().map(|(unit, &row)| cost(unit, row)).sum());
                }
            }
            let skeleton = Skeleton::new(&network, &parameters, FixedChoice::Hungarian).expect("a skeleton");
            let found: f64 = skeleton.fixed()[0].iter().enumerate().map(|(unit, edge)| cost(unit, edge.unit)).sum();
            assert!((found - best).abs() < 1e-6, "{found}, but {best} is possible");
        }
    }
}

/// Ten layers of small weights: the diagonal choice multiplies hundreds of orders of magnitude together and says so, with the factor.
#[test]
fn dangerous_factors_are_warned_of() {
    let network = Network::dense(&[8; 11], false).expect("a network");
    let mut rng = rng(8);
    let parameters: Vec<f64> = random_parameters(&mut rng, &network).iter().map(|w| w / 10.0).collect();
    let fix = |choice| Fixing::new(&network, &parameters, choice, FixedValues::Reparametrize).expect("a rescaling");
    let diagonal = fix(DIAGONAL).warning.expect("a warning");
    assert!(diagonal.spread > 1e6 && diagonal.message.contains("single precision"), "{diagonal:?}");
    assert!(diagonal.message.contains(&format!("{:.1e}", diagonal.factor)), "{diagonal:?}");
    let hungarian = fix(FixedChoice::Hungarian).warning.map_or(1.0, |warning| warning.spread);
    assert!(hungarian < diagonal.spread / 100.0, "{hungarian} against {}", diagonal.spread);
    let kind = SpaceKind::GSpace { choice: DIAGONAL, values: FixedValues::Keep, biases: Biases::Appended };
    assert!(kind.open(&network, &parameters).expect("a space").warning.is_some());
    // Near ±1 there is nothing to warn of.
    let calm: Vec<f64> = parameters.iter().map(|w| w.signum() * (1.0 + 0.1 * w)).collect();
    let fixing = Fixing::new(&network, &calm, DIAGONAL, FixedValues::Reparametrize).expect("a rescaling");
    assert_eq!(fixing.warning, None);
    assert!(kind.open(&network, &calm).expect("a space").warning.is_none());
}
