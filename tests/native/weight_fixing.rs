//! Which weights are fixed, what they are set to, and the warnings about it.

use crate::support::graphs::random_graph;
use crate::support::*;
use isoflat::space::{Biases, FixedChoice, FixedValues, Fixing, Skeleton, SpaceKind, TreeValues};
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

/// Where the tree begins: its free weights alone are set, in chains and in networks of several layers with free ones, and the function
/// is said to be another one exactly where a weight is.
#[test]
fn the_tree_is_kept_or_set() {
    let mut rng = rng(16);
    let mut deep = 0;
    for seed in 0..80 {
        let network = if seed % 2 == 0 {
            any_network(&mut rng, seed, &HOMOGENEOUS)
        } else {
            random_graph(&mut rng, &HOMOGENEOUS)
        };
        let parameters = random_parameters(&mut rng, &network);
        for choice in [DIAGONAL, FixedChoice::Hungarian] {
            for values in [FixedValues::Keep, FixedValues::Set(1.0), FixedValues::Reparametrize] {
                let fixing = Fixing::new(&network, &parameters, choice, values).expect("fixed weights");
                let free = fixing.skeleton.free(&network);
                let lists =
                    fixing.skeleton.tree().iter().map(|list| list.iter().filter(|edge| free[edge.index]).collect());
                let lists: Vec<Vec<_>> = lists.collect();
                deep += usize::from(lists.iter().skip(1).any(|list| !list.is_empty()));
                let tree: Vec<usize> = lists.iter().flatten().map(|edge| edge.index).collect();
                let kept = fixing.clone().with_tree(&network, TreeValues::Keep).expect("a tree");
                assert_eq!(kept, fixing);
                let set = fixing.clone().with_tree(&network, TreeValues::Set(0.7)).expect("a tree");
                assert_eq!(set.keeps_function, fixing.keeps_function && tree.is_empty());
                for (e, (now, before)) in set.parameters.iter().zip(&fixing.parameters).enumerate() {
                    assert_eq!(*now, if tree.contains(&e) { 0.7 } else { *before }, "seed {seed}, parameter {e}");
                }
                // The same again is the same function.
                let kind = SpaceKind::GSpace {
                    choice: DIAGONAL,
                    values: FixedValues::Keep,
                    tree: TreeValues::Set(0.7),
                    biases: Biases::Paths,
                };
                if choice == DIAGONAL {
                    let open = kind.open(&network, &set.parameters).expect("a space");
                    assert!(open.keeps_function && open.parameters == set.parameters, "seed {seed}");
                    // What is 0 is no fault where it is set: the paths have values then.
                    let mut zero = set.parameters.clone();
                    tree.iter().for_each(|&index| zero[index] = 0.0);
                    let open = kind.open(&network, &zero).expect("a space");
                    assert_eq!(open.keeps_function, tree.is_empty());
                    assert_eq!(open.parameters, set.parameters);
                    if !tree.is_empty() {
                        let kept = SpaceKind::GSpace {
                            choice: DIAGONAL,
                            values: FixedValues::Keep,
                            tree: TreeValues::Keep,
                            biases: Biases::Paths,
                        };
                        let Err(error) = kept.open(&network, &zero) else { panic!("seed {seed}: a path over a 0") };
                        assert!(error.message.contains("tree weight"), "{error:?}");
                    }
                }
            }
        }
    }
    assert!(deep > 20, "only {deep} cases have trees with free weights behind the first layer");
}

/// In a chain of equal widths the tree's free weights are the thesis' w_j, and with all of the skeleton at 1 a path's value is that of its free
/// weight.
#[test]
fn at_ones_path_values_are_the_weights() {
    let mut rng = rng(17);
    let network = Network::dense(&[6, 4, 4, 4, 3], false).expect("a network");
    let parameters = random_parameters(&mut rng, &network);
    let kind = SpaceKind::GSpace {
        choice: DIAGONAL,
        values: FixedValues::Set(1.0),
        tree: TreeValues::Set(1.0),
        biases: Biases::Appended,
    };
    let open = kind.open(&network, &parameters).expect("a space");
    assert!(!open.keeps_function);
    let skeleton = Skeleton::new(&network, &parameters, DIAGONAL).expect("a skeleton");
    let free = skeleton.free(&network);
    let (mut expected, mut weights) = (parameters.clone(), Vec::new());
    skeleton.fixed_indices().into_iter().for_each(|index| expected[index] = 1.0);
    (0..4).for_each(|j| expected[j * 6 + j] = 1.0);
    assert_eq!(open.parameters, expected);
    weights.extend(expected.iter().zip(&free).filter(|(_, free)| **free).map(|(w, _)| *w));
    assert_eq!(open.space.to_coordinates(&open.parameters).expect("values"), weights);
    // They train on, and are kept by whoever opens the space where training has come to.
    let moved: Vec<f64> = weights.iter().map(|v| 1.5 * v).collect();
    let there = open.space.to_parameters(&moved).expect("parameters");
    assert!((0..4).all(|j| there[j * 6 + j] == 1.5));
}

/// Σ |ln |w||, and the thesis' Σ ||w| − 1|, over one layer's choice, of every assignment: the Hungarian one is the least.
#[test]
fn the_hungarian_choices_cost_the_least() {
    let mut rng = rng(7);
    for (hidden, outputs) in [(4, 4), (3, 5), (5, 2)] {
        for _ in 0..10 {
            let network = Network::dense(&[3, hidden, outputs], false).expect("a network");
            let mut parameters = random_parameters(&mut rng, &network);
            let second = network.layout().layers()[1].weight.clone();
            parameters[second.start] = 0.0;
            let weight = |unit: usize, row: usize| parameters[second.start + row * hidden + unit].abs();
            let copies = hidden.div_ceil(outputs);
            let assignments = (0..outputs.pow(hidden as u32))
                .map(|number| (0..hidden).map(|j| number / outputs.pow(j as u32) % outputs).collect::<Vec<usize>>())
                .filter(|rows| (0..outputs).all(|row| rows.iter().filter(|&&r| r == row).count() <= copies));
            let assignments: Vec<Vec<usize>> = assignments.collect();
            for choice in [FixedChoice::Hungarian, FixedChoice::HungarianDistance] {
                let cost = |weight: f64| match choice {
                    FixedChoice::HungarianDistance => (weight - 1.0).abs(),
                    _ => weight.ln().abs().min(1e3),
                };
                let of =
                    |rows: &[usize]| -> f64 { rows.iter().enumerate().map(|(j, &row)| cost(weight(j, row))).sum() };
                let best = assignments.iter().map(|rows| of(rows)).fold(f64::INFINITY, f64::min);
                let skeleton = Skeleton::new(&network, &parameters, choice).expect("a skeleton");
                let found: Vec<usize> = skeleton.fixed()[0].iter().map(|edge| edge.unit).collect();
                assert!((of(&found) - best).abs() < 1e-6, "{choice:?}: {}, but {best} is possible", of(&found));
            }
        }
    }
}

/// By the thesis' cost a weight of 0 is nearer to ±1 than one of 2.5; by the least rescaling it is never taken where there is another.
#[test]
fn the_two_costs_choose_differently() {
    let network = Network::dense(&[1, 2, 2], false).expect("a network");
    // Row by row: unit 1 has 0.2 and 3, unit 2 has 1 and 1.
    let parameters = [1.0, 1.0, 0.2, 1.0, 3.0, 1.0];
    let of = |choice| -> Vec<usize> {
        let skeleton = Skeleton::new(&network, &parameters, choice).expect("a skeleton");
        skeleton.fixed()[0].iter().map(|edge| edge.unit).collect()
    };
    assert_eq!(of(FixedChoice::Hungarian), [1, 0]);
    assert_eq!(of(FixedChoice::HungarianDistance), [0, 1]);
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
    let kind = SpaceKind::GSpace {
        choice: DIAGONAL,
        values: FixedValues::Keep,
        tree: TreeValues::Keep,
        biases: Biases::Appended,
    };
    assert!(kind.open(&network, &parameters).expect("a space").warning.is_some());
    // Near ±1 there is nothing to warn of.
    let calm: Vec<f64> = parameters.iter().map(|w| w.signum() * (1.0 + 0.1 * w)).collect();
    let fixing = Fixing::new(&network, &calm, DIAGONAL, FixedValues::Reparametrize).expect("a rescaling");
    assert_eq!(fixing.warning, None);
    assert!(kind.open(&network, &calm).expect("a space").warning.is_none());
}
