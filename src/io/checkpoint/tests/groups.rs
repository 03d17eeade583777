//! Groups are nothing that is guessed of a chain, but where a convolution looks at one channel at a time.

use super::*;

fn given(list: &[(&str, &[usize])]) -> Arrays {
    let made = |(name, shape): &(&str, &[usize])| {
        let values = (0..shape.iter().product::<usize>()).map(|i| 0.2 * (i as f64 * 0.7).sin()).collect();
        (format!("{name}.weight"), array(shape.to_vec(), values))
    };
    arrays(list.iter().map(made).collect())
}

fn refused(list: &[(&str, &[usize])]) -> String {
    checkpoint::graph(&given(list), None, None).expect_err("no chain").message
}

#[test]
fn a_convolution_of_another_branch_is_none_with_groups() {
    // The second is registered before the third, and both read the first.
    for name in ["shortcut", "around"] {
        let list: [(&str, &[usize]); 4] =
            [("stem", &[8, 3, 3, 3]), (name, &[16, 8, 1, 1]), ("conv", &[16, 8, 3, 3]), ("fc", &[3, 16])];
        let said = refused(&list);
        let word = if name == "shortcut" { "leads around" } else { "conv [16, 8, 3, 3] takes 8 of the 16 channels" };
        assert!(said.contains(word) && said.contains("say which network") && said.contains("ONNX"), "{said}");
    }
    // So is one that leads around layers of one width.
    let said =
        refused(&[("stem", &[8, 3, 3, 3]), ("block.skip", &[8, 8, 1, 1]), ("conv", &[8, 8, 3, 3]), ("fc", &[3, 8])]);
    assert!(said.contains("block.skip [8, 8, 1, 1] leads around"), "{said}");
    // Somebody who knows says it.
    let network = Network::from_json(
        r#"{"input": [3, 8, 8], "layers": [
            {"type": "conv2d", "channels": 8, "kernel": 3, "bias": false}, {"type": "relu"},
            {"type": "conv2d", "channels": 4, "kernel": 3, "groups": 2, "bias": false}, {"type": "global_avg_pool2d"}, {"type": "flatten"},
            {"type": "dense", "units": 3, "bias": false}]}"#,
    )
    .expect("a network");
    let list: [(&str, &[usize]); 3] = [("a", &[8, 3, 3, 3]), ("b", &[4, 4, 3, 3]), ("fc", &[3, 4])];
    assert!(refused(&list).contains("2 groups"));
    let graph = checkpoint::graph(&given(&list), Some(&network), None).expect("a graph");
    assert_eq!(Model::new(graph).expect("a model").network, network);
}

#[test]
fn one_channel_at_a_time_is_said() {
    let list: [(&str, &[usize]); 4] =
        [("a", &[8, 3, 3, 3]), ("deep", &[8, 1, 3, 3]), ("point", &[12, 8, 1, 1]), ("fc", &[3, 12])];
    let model = Model::new(checkpoint::graph(&given(&list), None, None).expect("a graph")).expect("a model");
    let said = model.notes.join("; ");
    assert!(said.contains("takes one channel, as those of deep do"), "{said}");
    assert!(said.contains("conv3×3×8 (8 groups)"), "{said}");
    // Of one channel there are no groups.
    let list: [(&str, &[usize]); 3] = [("a", &[1, 3, 3, 3]), ("b", &[8, 1, 3, 3]), ("fc", &[3, 8])];
    let notes = checkpoint::graph(&given(&list), None, None).expect("a graph").notes.join("; ");
    assert!(!notes.contains("group"), "{notes}");
}

#[test]
fn blocks_that_widen_and_come_back_have_shortcuts() {
    let inverted = |end: usize| {
        let (end, last) = ([end, 24, 1, 1], [3, end]);
        let list: [(&str, &[usize]); 5] =
            [("a", &[8, 3, 3, 3]), ("b.0", &[24, 8, 1, 1]), ("b.1", &[24, 1, 3, 3]), ("b.2", &end), ("fc", &last)];
        checkpoint::graph(&given(&list), None, None).map_err(|error| error.message)
    };
    let said = inverted(8).expect_err("a shortcut");
    assert!(said.contains("b.0 [24, 8, 1, 1] widens 8 channels") && said.contains("b.2"), "{said}");
    inverted(16).expect("a chain");
}
