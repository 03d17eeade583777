//! Are two parameter vectors one, but for a symmetry: what a map of the group has made is recognised, with the map, and what none has is not.

use crate::support::graphs::random_graph;
use crate::support::*;
use isoflat::network::{Layer, NamedLayer};
use isoflat::symmetry::{Equivalence, SymmetryGroup, TOLERANCE, Transformation, equivalence};
use isoflat::{ErrorCode, Network};
use rand::Rng;

use SymmetryGroup::{Layerwise, Nodewise, Permutation};

const GROUPS: [SymmetryGroup; 3] = [Layerwise, Nodewise, Permutation];

fn between(network: &Network, a: &[f64], b: &[f64], group: SymmetryGroup) -> Equivalence {
    equivalence(network, a, b, group, TOLERANCE).expect("an answer")
}

/// A random member of each group, the largest group last.
fn member(group: SymmetryGroup, seed: u64) -> Transformation {
    let nodewise = Transformation::RandomNodewise { seed, low: 0.1, high: 10.0 };
    match group {
        Layerwise => Transformation::RandomLayerwise { seed, low: 0.1, high: 10.0 },
        Nodewise => nodewise,
        Permutation => Transformation::Composition { of: vec![Transformation::RandomPermutation { seed }, nodewise] },
    }
}

/// How far T(a) is from b, of the map that was found.
fn assert_leads(network: &Network, a: &[f64], b: &[f64], group: SymmetryGroup, tolerance: f64, what: &str) {
    let found = between(network, a, b, group);
    assert_eq!(found.equivalent, Some(true), "{what}, {group:?}: {found:?}");
    let map = found.transformation.expect("a map");
    let moved = map.apply(network, a).expect("a symmetry");
    let size = b.iter().fold(0.0_f64, |size, b| size.max(b.abs()));
    let furthest = moved.iter().zip(b).fold(0.0_f64, |far, (a, b)| far.max((a - b).abs()));
    assert!(
        furthest <= tolerance * size && found.error.expect("an error") < 1e3 * tolerance,
        "{what}, {group:?}: {furthest}"
    );
    // It is an equivalence relation: the way back is there too.
    let back = between(network, b, a, group);
    assert_eq!(back.equivalent, Some(true), "{what}, {group:?}, back: {back:?}");
}

fn any_homogeneous(seed: u64) -> (Network, Vec<f64>) {
    let mut rng = rng(seed);
    let network = match seed % 3 {
        0 => random_network(&mut rng, &HOMOGENEOUS),
        1 => any_network(&mut rng, seed, &HOMOGENEOUS),
        _ => random_graph(&mut rng, &HOMOGENEOUS),
    };
    let parameters = random_parameters(&mut rng, &network);
    (network, parameters)
}

#[test]
fn members_of_the_groups_are_recognised_with_their_maps() {
    let mut moved = [0; 3];
    for seed in 0..120 {
        let (network, a) = any_homogeneous(seed);
        for (g, &group) in GROUPS.iter().enumerate() {
            let b = member(group, seed).apply(&network, &a).expect("a symmetry");
            moved[g] += usize::from(b != a);
            // Layer-wise, weights that read a padding's zeros have a factor too.
            let pads = |layer: &NamedLayer| matches!(layer.layer, Layer::PadChannels { .. });
            let is_in_all = group != Layerwise || !network.named_layers().iter().any(pads);
            for &wider in GROUPS[g..].iter().take(if is_in_all { 3 } else { 1 }) {
                assert_leads(&network, &a, &b, wider, 1e-11, &format!("seed {seed}, {}", network.summary()));
            }
        }
    }
    assert!(moved.iter().all(|&count| count > 60), "{moved:?}");
}

/// Each group is larger than the one before.
#[test]
fn what_a_larger_group_has_made_is_not_of_a_smaller_one() {
    let network = Network::dense(&[4, 7, 6, 3], true).expect("a network");
    for seed in 0..20 {
        let a = random_parameters(&mut rng(seed), &network);
        for (g, &group) in GROUPS.iter().enumerate().skip(1) {
            let b = member(group, seed).apply(&network, &a).expect("a symmetry");
            for &smaller in &GROUPS[..g] {
                let found = between(&network, &a, &b, smaller);
                assert_eq!(found.equivalent, Some(false), "seed {seed}: {group:?} in {smaller:?}");
                assert!(found.error.expect("how far") > TOLERANCE && found.transformation.is_none());
                assert!(found.reason.expect("a reason").contains("differs by"));
            }
        }
    }
}

#[test]
fn another_network_is_told_from_a_rescaled_one() {
    for seed in 0..120 {
        let (network, a) = any_homogeneous(seed);
        let mut rng = rng(1000 + seed);
        for group in GROUPS {
            let mut b = member(group, seed).apply(&network, &a).expect("a symmetry");
            // One of the largest weights of a layer, so that its row is another one whatever its factor is.
            let layers = network.layout().layers();
            let layer = &layers[rng.random_range(0..layers.len())];
            let at = layer.weight.clone().max_by(|&p, &q| b[p].abs().total_cmp(&b[q].abs())).expect("a weight");
            // In a row of one weight that is a rescaling, but where its unit's factor is known.
            let is_lone = layer.range().len() == layer.outputs;
            b[at] *= -1.0;
            let found = between(&network, &a, &b, group);
            assert_ne!(found.equivalent, Some(true), "seed {seed}, {group:?}, {}: {found:?}", network.summary());
            assert!(found.reason.is_some() && found.transformation.is_none());
            b[at] *= -1.001;
            if !is_lone {
                let found = between(&network, &a, &b, group);
                assert_ne!(found.equivalent, Some(true), "seed {seed}, {group:?}, {}: {found:?}", network.summary());
            }
        }
    }
}

/// Weights as files have them.
#[test]
fn single_precision_is_near_enough() {
    for seed in 0..30 {
        let (network, a) = any_homogeneous(seed);
        for group in GROUPS {
            let mut b = member(group, seed).apply(&network, &a).expect("a symmetry");
            b.iter_mut().for_each(|b| *b = f64::from(*b as f32));
            let found = between(&network, &a, &b, group);
            assert_eq!(found.equivalent, Some(true), "seed {seed}, {group:?}, {}: {found:?}", network.summary());
            let fine = equivalence(&network, &a, &b, group, 1e-12).expect("an answer");
            assert_ne!(fine.equivalent, Some(true), "seed {seed}, {group:?}");
        }
    }
}

/// Units that nothing goes into, or nothing comes out of, and units that are twins: what can be decided of them is.
#[test]
fn dead_units_and_twins() {
    let network = Network::dense(&[3, 5, 4, 2], true).expect("a network");
    let layers = network.layout().layers();
    for seed in 0..20 {
        let mut rng = rng(seed);
        let mut a = random_parameters(&mut rng, &network);
        let row = |l: usize, r: usize| {
            layers[l].weight.start + r * layers[l].inputs..layers[l].weight.start + (r + 1) * layers[l].inputs
        };
        // Unit 2 of the first hidden layer reads nothing; nothing reads unit 1 of the second.
        a[row(0, 2)].fill(0.0);
        a[layers[0].bias.clone().expect("biases")][2] = 0.0;
        for r in 0..2 {
            a[row(2, r)][1] = 0.0;
        }
        for group in GROUPS {
            let b = member(group, seed).apply(&network, &a).expect("a symmetry");
            assert_leads(&network, &a, &b, group, 1e-11, &format!("a dead unit, seed {seed}"));
        }
        let mut other = a.clone();
        other[row(0, 2)][0] = 1.0;
        for group in GROUPS {
            assert_ne!(between(&network, &a, &other, group).equivalent, Some(true));
        }
        assert!(between(&network, &a, &other, Nodewise).reason.expect("a reason").contains("unit 2 of hidden layer"));

        // Two of the last hidden layer's units read the same: what the outputs read of them tells them apart.
        let mut twins = random_parameters(&mut rng, &network);
        let first: Vec<f64> = twins[row(1, 0)].to_vec();
        twins[row(1, 3)].iter_mut().zip(first).for_each(|(w, of)| *w = 2.0 * of);
        let biases = layers[1].bias.clone().expect("biases");
        twins[biases.start + 3] = 2.0 * twins[biases.start];
        let b = member(Permutation, seed).apply(&network, &twins).expect("a symmetry");
        assert_leads(&network, &twins, &b, Permutation, 1e-11, &format!("twins, seed {seed}"));
        // Two of the first layer's: what the next one reads of them does, in whatever order its units are.
        let mut twins = random_parameters(&mut rng, &network);
        let first: Vec<f64> = twins[row(0, 0)].to_vec();
        twins[row(0, 3)].copy_from_slice(&first);
        let biases = layers[0].bias.clone().expect("biases");
        twins[biases.start + 3] = twins[biases.start];
        let b = member(Permutation, seed).apply(&network, &twins).expect("a symmetry");
        assert_leads(&network, &twins, &b, Permutation, 1e-11, &format!("twins in the first layer, seed {seed}"));
    }
}

/// Units that nothing goes into are connected by what reads them, and those that read these by theirs.
#[test]
fn weights_that_are_mostly_zero() {
    for seed in 0..300 {
        let (network, mut a) = any_homogeneous(seed);
        let mut rng = rng(seed + 1000);
        let share = rng.random_range(0.2..0.9);
        a.iter_mut().filter(|_| rng.random_bool(share)).for_each(|w| *w = 0.0);
        for group in [Layerwise, Nodewise] {
            let b = member(group, seed).apply(&network, &a).expect("a symmetry");
            assert_leads(&network, &a, &b, group, 1e-10, &format!("zeros, seed {seed}"));
        }
        // Of units that are alike it may stay open which is which.
        let b = member(Permutation, seed).apply(&network, &a).expect("a symmetry");
        let found = between(&network, &a, &b, Permutation);
        assert_ne!(found.equivalent, Some(false), "seed {seed}: {found:?}");
    }
}

/// Smooth activations leave permutations, and they are found; rescalings are refused.
#[test]
fn smooth_networks_are_permuted() {
    let layers = |units| [Layer::Dense { units, bias: true }, Layer::Tanh];
    let mut all: Vec<Layer> = [6, 5].into_iter().flat_map(layers).collect();
    all.push(Layer::Dense { units: 3, bias: true });
    let network = Network::new(vec![4], all).expect("a network");
    for seed in 0..20 {
        let a = random_parameters(&mut rng(seed), &network);
        let b = Transformation::RandomPermutation { seed }.apply(&network, &a).expect("a symmetry");
        assert_leads(&network, &a, &b, Permutation, 1e-15, &format!("seed {seed}"));
        let mut doubled = b.clone();
        network.layout().layers()[0].weight.clone().for_each(|e| doubled[e] *= 2.0);
        assert_eq!(between(&network, &a, &doubled, Permutation).equivalent, Some(false));
        for group in [Layerwise, Nodewise] {
            let error = equivalence(&network, &a, &b, group, TOLERANCE).expect_err("a refusal");
            assert_eq!(error.code, ErrorCode::NotHomogeneous);
        }
    }
}

/// Factors that no sum of squares would hold.
#[test]
fn large_factors_are_found() {
    let network = Network::dense(&[3, 4, 2], true).expect("a network");
    let a = random_parameters(&mut rng(1), &network);
    let map = Transformation::Nodewise { factors: vec![vec![1e200, 1e-200, 1.0, 1e150]] };
    let b = map.apply(&network, &a).expect("a symmetry");
    for group in [Nodewise, Permutation] {
        let found = between(&network, &a, &b, group);
        assert_eq!(found.equivalent, Some(true), "{found:?}");
        assert!(found.error.expect("an error") < 1e-12);
    }
    assert_eq!(between(&network, &a, &b, Layerwise).equivalent, Some(false));
}

/// Factors are ratios of what all weights before multiply up to: of thousands of layers that is more than a number holds.
#[test]
fn weights_that_multiply_up_beyond_numbers_are_refused_with_their_layers() {
    let network = Network::dense(&[2; 1100], false).expect("a network");
    let a: Vec<f64> = (0..network.parameter_count()).map(|i| 3.0 + (i as f64).sin()).collect();
    let error = equivalence(&network, &a, &a, Nodewise, TOLERANCE).expect_err("a refusal");
    assert!(error.code == ErrorCode::NotFinite && error.message.contains("weights of layers 1 to "), "{error}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let network = Network::dense(&[3, 4, 2], true).expect("a network");
    let a = random_parameters(&mut rng(1), &network);
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY, 0.1] {
        let error = equivalence(&network, &a, &a, Nodewise, tolerance).expect_err("a refusal");
        assert_eq!(error.code, ErrorCode::InvalidOption, "{tolerance}");
    }
    for (a, b) in [(&a[1..], &a[..]), (&a[..], &a[1..])] {
        let error = equivalence(&network, a, b, Nodewise, TOLERANCE).expect_err("a refusal");
        assert_eq!(error.code, ErrorCode::InvalidParameters);
    }
}

/// A column that a rescaling has made small is as much of the function as it was.
#[test]
fn another_function_is_another_however_it_is_rescaled() {
    let network = Network::dense(&[2, 2, 1], false).expect("a network");
    let (a, b) = ([1.0, 0.5, 0.5, 1.0, 1.0, 1.0], [1.0, 0.5, 0.5, 1.0, 1.0, 2.0]);
    let bend = Transformation::Nodewise { factors: vec![vec![1.0, 1e7]] };
    let bent = bend.apply(&network, &b).expect("a symmetry");
    for group in [Nodewise, Permutation] {
        for (one, other) in [(&a[..], &bent[..]), (&bent, &a), (&a, &b)] {
            assert_ne!(between(&network, one, other, group).equivalent, Some(true), "{group:?}");
        }
        assert_eq!(between(&network, &b, &bent, group).equivalent, Some(true), "{group:?}");
    }
    // What reads a unit that is 0 does nothing, however large it is; and is no other for a factor that nobody sees.
    let (a, b) = ([1.0, 0.5, 0.0, 0.0, 1.0, 1e7], [1.0, 0.5, 0.0, 0.0, 2.0, 1e7]);
    let bent = Transformation::Nodewise { factors: vec![vec![3.0, 1e-30]] }.apply(&network, &a).expect("a symmetry");
    for group in [Nodewise, Permutation] {
        assert_ne!(between(&network, &a, &b, group).equivalent, Some(true), "{group:?}");
        assert_eq!(between(&network, &a, &bent, group).equivalent, Some(true), "{group:?}");
    }
    for seed in 0..40 {
        let mut rng = rng(seed);
        let network = Network::dense(&[4, 6, 6, 3], false).expect("a network");
        let a = random_parameters(&mut rng, &network);
        let mut b = a.clone();
        let last = network.layout().layers()[2].weight.clone();
        b[rng.random_range(last)] *= 1.1;
        let bent =
            Transformation::RandomNodewise { seed, low: 1e-4, high: 1e4 }.apply(&network, &b).expect("a symmetry");
        assert_ne!(between(&network, &a, &bent, Nodewise).equivalent, Some(true), "{seed}");
        assert_eq!(between(&network, &b, &bent, Nodewise).equivalent, Some(true), "{seed}");
    }
}
