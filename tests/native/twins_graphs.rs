//! Networks that are graphs on the GPU executor against the CPU executor in double precision: every layer there is, wired at random, and
//! by hand what chance would seldom make. twins.rs says what the tolerance is made of; these chains are longer, and sums of branches may
//! cancel.

use isoflat::{Loss, Network};
use serde_json::{Value, json};

use super::support::graphs::random_graph;
use super::support::twins::{Case, context, workgroup_tiles};
use super::support::{ALL, HOMOGENEOUS, rng};

const TOLERANCE: f64 = 4e-6;

const SEEDS: u64 = 64;

fn random_case(seed: u64, samples: usize) -> Case {
    let activations: &[_] = if seed.is_multiple_of(2) { &ALL } else { &HOMOGENEOUS };
    let network = random_graph(&mut rng(71_000 + seed), activations);
    let loss = if seed % 4 < 2 { Loss::CrossEntropy } else { Loss::SquaredError };
    Case::new(network, samples, loss, seed)
}

fn by_hand(name: &str, input: [usize; 3], layers: &Value) -> Case {
    let network = Network::from_json(&json!({"input": input, "layers": layers}).to_string()).expect(name);
    let case = Case::new(network, 21, Loss::CrossEntropy, 5);
    Case { name: name.into(), ..case }
}

fn cases_by_hand() -> Vec<Case> {
    vec![
        by_hand(
            "depthwise, with strides and dilation",
            [5, 9, 8],
            &json!([
                {"type": "conv2d", "channels": 5, "kernel": 3, "stride": 2, "padding": 1, "groups": 5},
                {"type": "relu"},
                {"type": "conv2d", "channels": 5, "kernel": [2, 3], "dilation": 2, "padding": [2, 1], "groups": 5, "bias": false},
                {"type": "tanh"},
                {"type": "conv2d", "channels": 10, "kernel": 2, "stride": [1, 2], "dilation": [2, 3], "padding": 2, "groups": 5},
                {"type": "relu"},
                {"type": "flatten"},
                {"type": "dense", "units": 3},
            ]),
        ),
        by_hand(
            "depthwise: a window of more places than are looked up together, padded beyond itself",
            [3, 5, 12],
            &json!([
                {"type": "conv2d", "channels": 6, "kernel": [6, 7], "padding": [8, 3, 0, 9], "groups": 3},
                {"type": "relu"},
                {"type": "conv2d", "channels": 6, "kernel": [6, 6], "groups": 6},
                {"type": "tanh"},
                {"type": "flatten"},
                {"type": "dense", "units": 3},
            ]),
        ),
        by_hand(
            "depthwise: windows that leave pixels out",
            [4, 11, 13],
            &json!([
                {"type": "conv2d", "channels": 12, "kernel": 2, "stride": 3, "dilation": 3, "padding": 1, "groups": 4},
                {"type": "relu"},
                {"type": "conv2d", "channels": 12, "kernel": 1, "stride": [2, 3], "groups": 12},
                {"type": "sigmoid"},
                {"type": "flatten"},
                {"type": "dense", "units": 3},
            ]),
        ),
        by_hand(
            "depthwise: more channels than go together",
            [2, 3, 40],
            &json!([
                {"type": "conv2d", "channels": 90, "kernel": 1},
                {"type": "relu"},
                {"type": "conv2d", "channels": 90, "kernel": 3, "padding": 1, "groups": 90},
                {"type": "relu"},
                {"type": "global_avg_pool2d"},
                {"type": "flatten"},
                {"type": "dense", "units": 3},
            ]),
        ),
        by_hand(
            "scale of images and rows, the first layer among them",
            [3, 4, 5],
            &json!([
                {"type": "scale"},
                {"type": "relu"},
                {"type": "conv2d", "channels": 4, "kernel": 3, "padding": 1},
                {"type": "scale", "bias": false},
                {"type": "leaky_relu", "slope": 0.1},
                {"type": "flatten"},
                {"type": "dense", "units": 6},
                {"type": "scale"},
                {"type": "relu"},
                {"type": "dense", "units": 3},
                {"type": "scale"},
            ]),
        ),
        by_hand(
            "groups of three channels, and of unequal parts",
            [6, 7, 6],
            &json!([
                {"type": "conv2d", "channels": 6, "kernel": 3, "padding": [0, 1, 2, 0], "groups": 2},
                {"type": "relu"},
                {"type": "conv2d", "channels": 15, "kernel": [3, 2], "stride": 2, "padding": 1, "groups": 3},
                {"type": "sigmoid"},
                {"type": "conv2d", "channels": 9, "kernel": 1, "groups": 3, "bias": false},
                {"type": "relu"},
                {"type": "flatten"},
                {"type": "dense", "units": 4},
            ]),
        ),
        by_hand(
            "padded pools",
            [2, 9, 10],
            &json!([
                {"type": "conv2d", "channels": 5, "kernel": 3},
                {"type": "relu"},
                {"type": "max_pool2d", "size": 3, "stride": 2, "padding": 1},
                {"type": "leaky_relu", "slope": 0.3},
                {"type": "avg_pool2d", "size": [2, 3], "stride": [1, 2], "padding": [1, 0, 0, 2]},
                {"type": "conv2d", "channels": 4, "kernel": 3, "padding": 1},
                {"type": "max_pool2d", "size": 2, "padding": [0, 1, 1, 0]},
                {"type": "flatten"},
                {"type": "dense", "units": 3},
            ]),
        ),
        by_hand(
            "the input beside what is made of it",
            [2, 6, 5],
            &json!([
                {"type": "conv2d", "channels": 3, "kernel": 3, "padding": 1, "from": "input"},
                {"type": "softplus", "name": "a"},
                {"type": "concat", "from": ["input", "a"], "name": "both"},
                {"type": "conv2d", "channels": 4, "kernel": 3, "padding": 2},
                {"type": "relu"},
                {"type": "flatten"},
                {"type": "dense", "units": 3},
            ]),
        ),
        by_hand(
            "a sum at the end",
            [7, 1, 1],
            &json!([
                {"type": "flatten"},
                {"type": "dense", "units": 9, "name": "a"},
                {"type": "tanh", "name": "b"},
                {"type": "dense", "units": 3, "from": "b", "name": "c"},
                {"type": "dense", "units": 3, "from": "b", "bias": false, "name": "d"},
                {"type": "add", "from": ["c", "d"]},
            ]),
        ),
        by_hand(
            "a shortcut of more channels at half the size",
            [3, 8, 7],
            &json!([
                {"type": "conv2d", "channels": 4, "kernel": 3, "padding": 1},
                {"type": "relu", "name": "a"},
                {"type": "conv2d", "channels": 8, "kernel": 3, "stride": 2, "padding": 1, "from": "a"},
                {"type": "scale"},
                {"type": "relu"},
                {"type": "conv2d", "channels": 8, "kernel": 3, "padding": 1, "name": "b"},
                {"type": "avg_pool2d", "size": 1, "stride": 2, "from": "a"},
                {"type": "pad_channels", "before": 1, "after": 3, "name": "short"},
                {"type": "add", "from": ["b", "short"]},
                {"type": "gelu"},
                {"type": "global_avg_pool2d"},
                {"type": "flatten"},
                {"type": "dense", "units": 3},
            ]),
        ),
        by_hand(
            "an input that two convolutions read, with unequal paddings and dilation, and channels of zeros before a sigmoid",
            [2, 7, 8],
            &json!([
                {"type": "conv2d", "channels": 3, "kernel": 3, "padding": 1, "from": "input", "name": "a"},
                {"type": "conv2d", "channels": 3, "kernel": 3, "dilation": 2, "padding": [4, 1, 0, 3], "from": "input", "name": "b"},
                {"type": "add", "from": ["a", "b"]},
                {"type": "pad_channels", "before": 2, "after": 1},
                {"type": "sigmoid", "name": "c"},
                {"type": "conv2d", "channels": 4, "kernel": 3, "stride": 2, "dilation": [3, 2], "padding": 3, "from": "c"},
                {"type": "relu"},
                {"type": "global_avg_pool2d"},
                {"type": "flatten"},
                {"type": "dense", "units": 3},
            ]),
        ),
        by_hand(
            "a mean at the end, of what does not overlap and is read twice",
            [1, 6, 6],
            &json!([
                {"type": "conv2d", "channels": 3, "kernel": 3, "padding": 1},
                {"type": "relu", "name": "a"},
                {"type": "max_pool2d", "size": 2, "stride": 3, "from": "a", "name": "b"},
                {"type": "max_pool2d", "size": 1, "stride": 3, "from": "a", "name": "c"},
                {"type": "add", "from": ["b", "c", "b"]},
                {"type": "conv2d", "channels": 4, "kernel": 1},
                {"type": "global_avg_pool2d"},
                {"type": "flatten"},
            ]),
        ),
        by_hand(
            "steps that are constant, behind one that is not affine",
            [2, 6, 6],
            &json!([
                {"type": "avg_pool2d", "size": 2, "from": "input", "name": "small"},
                {"type": "conv2d", "channels": 2, "kernel": 2, "from": "small", "name": "a"},
                {"type": "max_pool2d", "size": 3, "from": "input", "name": "b"},
                {"type": "pad_channels", "before": 0, "after": 1, "from": "small"},
                {"type": "tanh"},
                {"type": "conv2d", "channels": 2, "kernel": 2, "name": "c"},
                {"type": "add", "from": ["b", "a", "c"]},
                {"type": "relu", "name": "d"},
                {"type": "concat", "from": ["b", "d"]},
                {"type": "flatten"},
            ]),
        ),
        by_hand(
            "an image that a dense layer and a convolution with padding read",
            [2, 5, 4],
            &json!([
                {"type": "conv2d", "channels": 3, "kernel": 3, "padding": 1},
                {"type": "relu", "name": "a"},
                {"type": "flatten"},
                {"type": "dense", "units": 4, "name": "b"},
                {"type": "conv2d", "channels": 4, "kernel": 3, "padding": 2, "from": "a"},
                {"type": "relu"},
                {"type": "global_avg_pool2d"},
                {"type": "flatten", "name": "c"},
                {"type": "add", "from": ["b", "c"]},
            ]),
        ),
    ]
}

#[test]
fn random_graphs_agree_with_the_cpu() {
    let context = context(None);
    let mut faults = Vec::new();
    for seed in 0..SEEDS {
        random_case(seed, 1 + (seed as usize * 7) % 23).agrees_with_the_cpu(&context, TOLERANCE, &mut faults);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn random_graphs_agree_with_the_cpu_in_workgroup_tiles() {
    let context = context(workgroup_tiles());
    let mut faults = Vec::new();
    for seed in SEEDS..SEEDS + 8 {
        random_case(seed, 19).agrees_with_the_cpu(&context, TOLERANCE, &mut faults);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn graphs_made_by_hand_agree_with_the_cpu() {
    let context = context(None);
    let mut faults = Vec::new();
    for case in cases_by_hand() {
        case.agrees_with_the_cpu(&context, TOLERANCE, &mut faults);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn chunks_of_graphs_equal_the_whole_and_the_budget_changes_no_bit() {
    let context = context(None);
    let mut faults = Vec::new();
    for seed in 0..8 {
        random_case(seed, 100).equals_its_chunks(&context, TOLERANCE, &mut faults);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
