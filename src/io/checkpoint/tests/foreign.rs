//! Arrays that are no layer's here: without them the rest may be another network.

use super::*;

/// A network of two dense layers, and what stands beside it.
fn beside(list: Vec<(&str, Array)>) -> Arrays {
    let network = Network::dense(&[4, 4, 3], true).expect("a network");
    let mut all = as_torch(&network, &parameters(&network, 2), |l, _| format!("{}", 2 * l));
    all.extend(list.into_iter().map(|(name, array)| (name.to_owned(), array)));
    arrays(all)
}

fn ones(shape: &[usize]) -> Array {
    array(shape.to_vec(), vec![1.0; shape.iter().product()])
}

#[test]
fn layers_that_are_not_known_make_no_network_of_the_others() {
    for (name, shape, says) in [
        ("lstm.weight_ih_l0", &[16, 4][..], "a recurrent layer"),
        ("cell.bias_hh", &[16], "a recurrent layer"),
        ("gru/recurrent_kernel", &[4, 12], "a recurrent layer"),
        ("OptimizedLSTMCell_0/hf/kernel", &[4, 4], "a recurrent layer"),
        ("a.in_proj_weight", &[4, 4], "attention"),
        ("layers.0.q_proj.weight", &[4, 4], "attention"),
        ("self_attn.weight", &[4, 4], "attention"),
        ("embedding.weight", &[4, 4], "an embedding"),
        ("wte.weight", &[4, 4], "an embedding"),
        ("anything", &[2, 7], "no name says what anything [2, 7] is"),
        ("rbf.centres", &[1, 3, 4], "no name says what"),
        ("sep/pointwise", &[1, 1, 4, 4], "no name says what"),
    ] {
        let error = checkpoint::graph(&beside(vec![(name, ones(shape))]), None, None).expect_err(name);
        assert!(error.message.contains(says) && error.message.contains("say which network"), "{name}: {error}");
    }
    // A dense layer of this name has a bias.
    let network = Network::dense(&[5, 4, 3], true).expect("a network");
    let given = arrays(as_torch(&network, &parameters(&network, 2), |l, _| ["embed", "head"][l].into()));
    checkpoint::graph(&given, None, None).expect("a graph");
    // Who says which network it is has their word, and is told what is left out.
    let network = Network::dense(&[4, 4, 3], true).expect("a network");
    let given = beside(vec![("lstm.weight_ih_l0", ones(&[16, 4]))]);
    let notes = checkpoint::graph(&given, Some(&network), None).expect("a graph").notes.join("; ");
    assert!(notes.contains("of a layer: lstm.weight_ih_l0.") && notes.contains("another network"), "{notes}");
}

#[test]
fn what_may_be_computed_with_is_said_apart_from_what_training_keeps() {
    let counter = Array::new(vec![], Elements::I64(vec![7])).expect("a number");
    let given = beside(vec![
        ("alpha", ones(&[])),
        ("normalize.std", ones(&[4])),
        ("n_averaged", counter),
        ("optimizer.exp_avg.0", ones(&[4, 7])),
        ("ema_shadow", ones(&[4, 7])),
    ]);
    let notes = checkpoint::graph(&given, None, None).expect("a graph").notes;
    let of = |word: &str| notes.iter().find(|note| note.contains(word)).expect(word);
    assert!(of("no name says what").contains("of a layer: alpha, normalize.std."), "{notes:?}");
    assert!(of("are left out").ends_with("n_averaged, optimizer.exp_avg.0, ema_shadow"), "{notes:?}");
    let none = checkpoint::graph(&beside(Vec::new()), None, None).expect("a graph").notes.join("; ");
    assert!(!none.contains("left out"), "{none}");
}

#[test]
fn weights_of_classes_in_a_loss_are_no_layer() {
    let network = Network::dense(&[4, 4, 3], true).expect("a network");
    for name in ["criterion.weight", "loss_fn.pos_weight", "bce_loss.weight", "model.FocalLoss_0.scale"] {
        for named in [None, Some(&network)] {
            let graph = checkpoint::graph(&beside(vec![(name, ones(&[3]))]), named, None).expect("a graph");
            let said = graph.notes.join("; ");
            assert!(said.contains(&format!("the loss' own: {name};")) && !said.contains("another network"), "{said}");
        }
    }
    // Others are still scales that somebody has to place.
    for (name, is_with_bias) in [("glossary.weight", false), ("loss.norm", true)] {
        let mut list = vec![(name, ones(&[3]))];
        if is_with_bias {
            list = vec![("loss.norm.weight", ones(&[3])), ("loss.norm.bias", ones(&[3]))];
        }
        let error = checkpoint::graph(&beside(list), None, None).expect_err(name);
        assert!(error.message.contains("give it a scale there"), "{error}");
    }
}
