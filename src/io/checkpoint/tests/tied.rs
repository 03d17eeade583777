//! Weights that layers share are refused, and the other names of a network's are none of them.

use super::*;

fn tied(names: &[&str], widths: &[usize], pairs: &[[&str; 2]]) -> (Network, Arrays) {
    let network = Network::dense(widths, true).expect("a network");
    let all = as_torch(&network, &parameters(&network, 2), |l, _| names[l].into());
    let shared = pairs.iter().map(|pair| pair.map(str::to_owned)).collect();
    (network, Arrays { arrays: all, shared, ..Arrays::default() })
}

fn said(arrays: &Arrays, network: Option<&Network>) -> Result<String, String> {
    checkpoint::graph(arrays, network, None).map(|graph| graph.notes.join("; ")).map_err(|error| error.message)
}

#[test]
fn two_weights_of_the_same_numbers_are_refused() {
    let (network, both) = tied(&["a", "b", "c"], &[4, 4, 4, 3], &[["b.weight", "a.weight"]]);
    for network in [None, Some(&network)] {
        let error = said(&both, network).expect_err("a tie");
        assert!(error.contains("b.weight and a.weight are the same numbers"), "{error}");
        assert!(error.contains("one weight would become two"), "{error}");
    }
    // Of three the network may have the last two.
    let pairs = [["a.weight", "elsewhere"], ["b.weight", "elsewhere"]];
    let (_, mut three) = tied(&["a", "b", "c"], &[4, 4, 4, 3], &pairs);
    three.arrays.push(("elsewhere".into(), Array::new(vec![1], Elements::I64(vec![0])).expect("an array")));
    assert!(said(&three, None).expect_err("a tie").contains("b.weight and a.weight"));
    // What the network has once is none.
    let (_, once) = tied(&["a", "b", "c"], &[4, 4, 4, 3], &[["elsewhere", "a.weight"], ["a.weight", "elsewhere"]]);
    let with = Arrays { shared: vec![["other".into(), "a.weight".into()]], ..once };
    let mut held = with.clone();
    held.arrays.push(("other".into(), Array::new(vec![1], Elements::I64(vec![0])).expect("an array")));
    said(&held, None).expect("a network");
}

#[test]
fn a_weight_that_the_file_has_under_another_name_alone_is_refused() {
    // b has its bias, and its weight is a's: without b there would be another network.
    let (network, mut given) = tied(&["a", "c"], &[4, 4, 3], &[["b.weight", "a.weight"]]);
    assert!(said(&given, None).expect_err("a tie").contains("b.weight and a.weight"));
    // Where b has nothing else, it may be another name of a, for those who know the network.
    assert!(said(&given, Some(&network)).expect("a network").contains("taken once: b.weight"));
    given.arrays.insert(2, ("b.bias".into(), array(vec![4], vec![0.0; 4])));
    for network in [None, Some(&network)] {
        assert!(said(&given, network).expect_err("a tie").contains("b.weight and a.weight"));
    }
}

#[test]
fn a_whole_network_under_two_names_is_one() {
    let names = ["0.weight", "0.bias", "2.weight", "2.bias"];
    let wrapped = names.map(|name| format!("ema.module.{name}"));
    let pairs: Vec<[&str; 2]> = wrapped.iter().zip(names).map(|(other, kept)| [other.as_str(), kept]).collect();
    let (_, given) = tied(&["0", "2"], &[4, 4, 3], &pairs);
    let notes = said(&given, None).expect("a network");
    assert!(notes.contains("taken once: ema.module.0.weight and 3 more"), "{notes}");
    // A part of it may be a layer that is used twice.
    let (_, given) = tied(&["0", "2"], &[4, 4, 3], &pairs[..2]);
    assert!(said(&given, None).is_err());
    // So may layers of other names, all of them.
    let pairs = [["1.weight", "0.weight"], ["1.bias", "0.bias"]];
    let (_, given) = tied(&["0"], &[4, 4], &pairs);
    assert!(said(&given, None).is_err());
}
