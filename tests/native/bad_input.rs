//! Bad input gives an error that names the fault, never a panic.

use isoflat::engine::{Device, Engine, Precision};
use isoflat::network::{BiasInitialization, Conv2d, Initialization, Layer, Preset};
use isoflat::{ErrorCode, Loss, Network, Problem, ProblemFile, Targets};

const GOOD: &str = r#"{"network": {"input": [2], "layers": [{"type": "dense", "units": 2, "bias": true}]},
    "loss": "cross_entropy", "parameters": [1, 2, 3, 4, 5, 6], "inputs": [[1, 2], [3, 4]], "targets": [0, 1]}"#;

#[test]
fn problem_files() {
    ProblemFile::from_json(GOOD).expect("a good file");
    let faults = [
        ("{", "[", ErrorCode::Parse, "one JSON object"),
        (":", "=", ErrorCode::Parse, "line 1"),
        ("\"loss\": \"cross_entropy\"", "\"loss\": \"hinge\"", ErrorCode::Parse, "hinge"),
        ("\"dense\"", "\"recurrent\"", ErrorCode::Parse, "recurrent"),
        ("\"units\": 2", "\"units\": 0", ErrorCode::InvalidNetwork, "0 units"),
        ("\"units\": 2", "\"units\": -2", ErrorCode::Parse, "-2"),
        ("\"units\": 2", "\"units\": 5000000000", ErrorCode::TooLarge, "parameters"),
        ("\"units\": 2", "\"units\": 18446744073709551615", ErrorCode::TooLarge, "parameters"),
        ("\"input\": [2]", "\"input\": []", ErrorCode::InvalidNetwork, "must be [features]"),
        ("\"input\": [2]", "\"input\": [0]", ErrorCode::InvalidNetwork, "zero"),
        ("\"input\": [2]", "\"input\": [1, 2]", ErrorCode::InvalidNetwork, "must be [features] or"),
        ("\"input\": [2]", "\"input\": [3]", ErrorCode::InvalidProblem, "input row 0 has 2 values"),
        ("[1, 2, 3, 4, 5, 6]", "[1, 2, 3, 4, 5]", ErrorCode::InvalidParameters, "6 parameters, but 5"),
        ("[1, 2, 3, 4, 5, 6]", "[1, 2, 3, 4, 5, 1e999]", ErrorCode::Parse, "number out of range"),
        ("[1, 2, 3, 4, 5, 6]", "[1, 2, 3, 4, 5, NaN]", ErrorCode::Parse, "line 2"),
        ("[[1, 2], [3, 4]]", "[[1, 2], [3]]", ErrorCode::InvalidProblem, "input row 1 has 1 values"),
        ("[[1, 2], [3, 4]]", "[]", ErrorCode::InvalidProblem, "no samples"),
        ("[0, 1]", "[0]", ErrorCode::InvalidProblem, "1 targets for 2 samples"),
        ("[0, 1]", "[0, 2]", ErrorCode::InvalidProblem, "sample 1 is class 2"),
        ("[0, 1]", "[[0, 1], [1, 0]]", ErrorCode::InvalidProblem, "class number"),
        ("[0, 1]", "[0, 1.5]", ErrorCode::Parse, ""),
        ("[0, 1]}", "[0, 1], \"direction\": [1]}", ErrorCode::InvalidParameters, "direction has 1 values"),
        ("[0, 1]}", "[0, 1], \"transformations\": [{\"type\": \"twist\"}]}", ErrorCode::Parse, "twist"),
    ];
    for (old, new, code, says) in faults {
        let text = GOOD.replacen(old, new, 1);
        assert_ne!(text, GOOD, "{old} is not in the file");
        let found = ProblemFile::from_json(&text).expect_err(new);
        assert_eq!(found.code, code, "{new}: {found}");
        assert!(found.message.contains(says), "{new}: {found}");
    }
    for cut in 0..GOOD.len() {
        assert!(ProblemFile::from_json(&GOOD[..cut]).is_err());
    }
}

#[test]
fn a_file_reads_back_what_was_written() {
    let file = ProblemFile::from_json(GOOD).expect("a good file");
    let again = ProblemFile::from_json(&file.to_json()).expect("what was written");
    assert_eq!(again.to_json(), file.to_json());
    assert_eq!(again.parameters, file.parameters);
}

#[test]
fn networks_and_problems() {
    let dense = |units| Layer::Dense { units, bias: false };
    let network = |layers| Network::new(vec![2], layers).expect_err("a fault");
    assert_eq!(network(vec![]).code, ErrorCode::InvalidNetwork);
    assert_eq!(network(vec![Layer::Relu]).code, ErrorCode::InvalidNetwork);
    assert_eq!(network(vec![dense(2), Layer::Relu]).code, ErrorCode::InvalidNetwork);
    for slope in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        assert_eq!(network(vec![Layer::LeakyRelu { slope }, dense(2)]).code, ErrorCode::InvalidNetwork);
    }
    assert_eq!(network(vec![dense(100_000), dense(100_000)]).code, ErrorCode::TooLarge);
    assert_eq!(Network::dense(&[3], true).expect_err("a fault").code, ErrorCode::InvalidNetwork);

    let small = Network::dense(&[2, 2], true).expect("a network");
    let problem = |inputs: Vec<f64>, targets| {
        Problem::new(small.clone(), Loss::SquaredError, inputs, targets).expect_err("a fault")
    };
    assert_eq!(problem(vec![1.0, f64::NAN], Targets::Vectors(vec![0.0, 1.0])).code, ErrorCode::NotFinite);
    assert_eq!(problem(vec![1.0, 2.0], Targets::Vectors(vec![0.0, f64::NAN])).code, ErrorCode::NotFinite);
    assert_eq!(problem(vec![1.0, 2.0], Targets::Vectors(vec![0.0])).code, ErrorCode::InvalidProblem);
    assert_eq!(problem(vec![1.0, 2.0], Targets::Classes(vec![0])).code, ErrorCode::InvalidProblem);
    assert_eq!(problem(vec![1.0], Targets::Vectors(vec![0.0])).code, ErrorCode::InvalidProblem);
    assert_eq!(problem(vec![], Targets::Vectors(vec![])).code, ErrorCode::InvalidProblem);

    for weights in [Initialization::Uniform { bound: -1.0 }, Initialization::Normal { sigma: f64::NAN }] {
        let found = small.initialize(weights, BiasInitialization::Zero, 0).expect_err("a fault");
        assert_eq!(found.code, ErrorCode::InvalidOption);
    }
    assert_eq!(Preset::from_name("f2").expect_err("a fault").code, ErrorCode::InvalidOption);
}

/// A network over images, in which the faults below are made.
const IMAGES: &str = r#"{"input": [2, 6, 5], "layers": [
    {"type": "conv2d", "channels": 3, "kernel": [3, 2], "stride": [1, 1], "padding": [1, 0], "bias": true},
    {"type": "relu"}, {"type": "max_pool2d", "size": [2, 2], "stride": [2, 2]},
    {"type": "flatten"}, {"type": "dense", "units": 4, "bias": true}]}"#;

#[test]
fn networks_over_images() {
    Network::from_json(IMAGES).expect("a good network");
    use ErrorCode::{InvalidNetwork as Invalid, Parse, TooLarge};
    let tail = r#"{"type": "flatten"}, {"type": "dense", "units": 4, "bias": true}"#;
    let pool = r#"{"type": "max_pool2d", "size": [2, 2], "stride": [2, 2]}"#;
    let means = IMAGES.replace(tail, r#"{"type": "relu"}, {"type": "global_avg_pool2d"}, {"type": "flatten"}"#);
    Network::from_json(&means).expect("means of what is piecewise linear");
    let faults = [
        // Sizes of zero.
        ("[2, 6, 5]", "[2, 0, 5]", Invalid, "zero"),
        ("[2, 6, 5]", "[2, 6, 5, 1]", Invalid, "must be [features] or [channels, height, width]"),
        ("[2, 6, 5]", "[6, 5]", Invalid, "must be [features] or [channels, height, width]"),
        ("\"channels\": 3", "\"channels\": 0", Invalid, "layers[0] (conv2d) has 0 channels"),
        ("\"kernel\": [3, 2]", "\"kernel\": [3, 0]", Invalid, "layers[0] (conv2d) has a window of size [3, 0]"),
        ("\"kernel\": [3, 2]", "\"kernel\": 0", Invalid, "[0, 0]"),
        ("\"stride\": [1, 1]", "\"stride\": [0, 1]", Invalid, "layers[0] (conv2d) has stride [0, 1]"),
        ("\"size\": [2, 2]", "\"size\": [0, 2]", Invalid, "layers[2] (max_pool2d) has a window of size [0, 2]"),
        ("\"stride\": [2, 2]", "\"stride\": [2, 0]", Invalid, "layers[2] (max_pool2d) has stride [2, 0]"),
        // Windows that do not fit.
        ("\"kernel\": [3, 2]", "\"kernel\": [9, 2]", Invalid, "window of 9×2, which does not fit its input of 2×6×5"),
        ("\"kernel\": [3, 2]", "\"kernel\": [3, 6]", Invalid, "does not fit"),
        ("\"size\": [2, 2]", "\"size\": [7, 1]", Invalid, "window of 7×1, which does not fit its input of 3×6×4"),
        // Layers that do not follow each other.
        (r#"{"type": "flatten"},"#, "", Invalid, "layers[3] (dense) takes a flat row, but images of 3×3×2 come in"),
        ("[2, 6, 5]", "[60]", Invalid, "layers[0] (conv2d) takes images"),
        (
            pool,
            r#"{"type": "flatten"}, {"type": "avg_pool2d", "size": 1}"#,
            Invalid,
            "layers[3] (avg_pool2d) takes images",
        ),
        (tail, r#"{"type": "conv2d", "channels": 4, "kernel": 2}"#, Invalid, "puts out images of 4×2×1"),
        (tail, r#"{"type": "flatten"}"#, Invalid, "may not end with layers[2] (max_pool2d)"),
        (
            tail,
            r#"{"type": "tanh"}, {"type": "global_avg_pool2d"}, {"type": "flatten"}"#,
            Invalid,
            "may not end with layers[3] (tanh)",
        ),
        // What is no size, and what is no field.
        ("\"kernel\": [3, 2]", "\"kernel\": [3, 2, 1]", Parse, "[height, width]"),
        ("\"kernel\": [3, 2]", "\"kernel\": [3]", Parse, "[height, width]"),
        ("\"kernel\": [3, 2]", "\"kernel\": -3", Parse, "whole number"),
        ("\"kernel\": [3, 2]", "\"kernel\": 2.5", Parse, "whole number"),
        ("\"kernel\": [3, 2]", "\"kernel\": \"3\"", Parse, "whole number"),
        ("\"kernel\": [3, 2],", "", Parse, "the key \"kernel\" is missing"),
        ("\"padding\": [1, 0]", "\"padding\": [-1, 0]", Parse, "whole number"),
        ("\"padding\": [1, 0]", "\"padding\": \"same\"", Parse, "whole number"),
        ("\"padding\": [1, 0]", "\"pading\": [1, 0]", Parse, "there is no key \"pading\""),
        ("\"padding\": [1, 0]", "\"dilations\": 2", Parse, "there is no key \"dilations\""),
        ("\"channels\": 3", "\"channels\": -3", Parse, "must be a whole number from 0 to"),
        ("\"channels\": 3", "\"channels\": 1e300", Parse, "must be a whole number from 0 to"),
        ("[2, 6, 5]", "[2, 6.5, 5]", Parse, "must be a whole number from 0 to"),
        ("\"channels\": 3", "\"channels\": 36893488147419103232", Parse, "must be a whole number from 0 to"),
        ("\"channels\": 3", "\"channels\": 4294967297", TooLarge, "values"),
        ("\"channels\": 3", "\"channels\": 3, \"group\": 3", Parse, "there is no key \"group\""),
        ("\"size\": [2, 2]", "\"size\": [2, 2], \"padding\": 2", Invalid, "a maximum over padding alone is −∞"),
        ("\"size\": [2, 2]", "\"kernel\": [2, 2]", Parse, "there is no key \"kernel\""),
        ("\"relu\"", "\"relu\", \"slope\": 0.1", Parse, "there is no key \"slope\"; there are none"),
        ("\"flatten\"", "\"flatten\", \"start\": 1", Parse, "there is no key \"start\""),
        ("\"type\": \"relu\"", "\"activation\": \"relu\"", Parse, "type"),
        (r#"{"type": "relu"}"#, "\"relu\"", Parse, "must be a layer, an object with a type"),
        ("\"channels\": 3", "\"channels\": 3, \"channels\": 4", Parse, "the key \"channels\" is there twice"),
        ("\"type\": \"relu\"", "\"type\": \"relu\", \"type\": \"tanh\"", Parse, "the key \"type\" is there twice"),
        ("\"max_pool2d\"", "\"max_pool3d\"", Parse, "max_pool3d"),
        ("\"layers\"", "\"output\": 4, \"layers\"", Parse, "there is no key \"output\""),
        // Sizes that nothing holds; none of them may be counted wrongly, or asked of the memory.
        ("[2, 6, 5]", "[2, 6000000000, 5000000000]", TooLarge, "values"),
        ("[2, 6, 5]", "[2, 18446744073709551615, 18446744073709551615]", TooLarge, "values"),
        ("[2, 6, 5]", "[2, 90000000, 5]", TooLarge, "layers[0] (conv2d) puts out 3×90000000×4 values"),
        ("\"channels\": 3", "\"channels\": 18446744073709551615", TooLarge, "values"),
        ("\"channels\": 3", "\"channels\": 40000000", TooLarge, "parameters"),
        ("\"padding\": [1, 0]", "\"padding\": 18446744073709551615", TooLarge, "pads"),
        ("\"padding\": [1, 0]", "\"padding\": [20000, 20000]", TooLarge, "pads"),
        ("\"kernel\": [3, 2]", "\"kernel\": 18446744073709551615", Invalid, "does not fit"),
        ("\"units\": 4", "\"units\": 18446744073709551615", TooLarge, "parameters"),
    ];
    for (old, new, code, says) in faults {
        let text = IMAGES.replacen(old, new, 1);
        assert_ne!(text, IMAGES, "{old} is not in the network");
        let found = Network::from_json(&text).expect_err(new);
        assert_eq!(found.code, code, "{new}: {found}");
        assert!(found.message.contains(says), "{new}: {found}");
    }
    // A step as large as can be is one window, and no fault.
    let one_window = IMAGES.replacen("\"stride\": [2, 2]", "\"stride\": 18446744073709551615", 1);
    assert_eq!(
        Network::from_json(&one_window)
            .expect("a network")
            .layout()
            .tensor(isoflat::network::Source::Layer(2))
            .shape
            .area(),
        1
    );
    for cut in 0..IMAGES.len() {
        assert!(Network::from_json(&IMAGES[..cut]).is_err());
    }
    // Kernel and padding that fit each other, and whose area no number holds.
    let huge = usize::MAX / 2;
    let conv = Layer::Conv2d(Conv2d { stride: [huge; 2], padding: [huge / 2; 2].into(), ..Conv2d::new(1, [huge; 2]) });
    let found = Network::new(vec![1, 1, 1], vec![conv]).expect_err("a fault");
    assert_eq!(found.code, ErrorCode::TooLarge, "{found}");
}

const GRAPH: &str = r#"{"input": [4, 5, 5], "layers": [
    {"type": "conv2d", "channels": 4, "kernel": 3, "padding": [1, 1, 1, 1], "groups": 2, "name": "a"},
    {"type": "relu", "name": "b"},
    {"type": "scale", "name": "c"},
    {"type": "add", "from": ["c", "b"]},
    {"type": "max_pool2d", "size": 2, "padding": [1, 0, 0, 1]},
    {"type": "global_avg_pool2d"}, {"type": "flatten"}, {"type": "dense", "units": 3}]}"#;

#[test]
fn networks_that_are_graphs() {
    Network::from_json(GRAPH).expect("a good network");
    use ErrorCode::{InvalidNetwork as Invalid, Parse, TooLarge};
    let add = r#"{"type": "add", "from": ["c", "b"]}"#;
    let flatten = r#"{"type": "flatten"}"#;
    let faults = [
        // Names.
        (r#"["c", "b"]"#, r#"["c", "d"]"#, Invalid, "layers[3] (add) reads from \"d\", but no layer has that name"),
        (r#""name": "b""#, r#""name": "a""#, Invalid, "layers[1] (relu \"a\") has a name that another layer has too"),
        (r#""name": "b""#, r#""name": """#, Invalid, "empty name"),
        (r#""name": "b""#, r#""name": "input""#, Invalid, "the name of the network's input"),
        (r#""name": "b""#, r#""name": "b", "from": "c""#, Invalid, "reads from \"c\", which does not come before it"),
        (r#""name": "b""#, r#""name": "b", "from": "b""#, Invalid, "does not come before it"),
        (r#""name": "b""#, r#""name": 3"#, Parse, "name"),
        (r#"["c", "b"]"#, "[]", Invalid, "layers[3] (add) has an empty list in from"),
        (r#"["c", "b"]"#, "[1]", Parse, "the name of a layer, or a list of names"),
        (r#"["c", "b"]"#, "null", Parse, "the name of a layer, or a list of names"),
        (
            r#"{"type": "scale""#,
            r#"{"from": ["a", "b"], "type": "scale""#,
            Invalid,
            "reads one thing, but from lists 2",
        ),
        // What nothing reads.
        (r#"["c", "b"]"#, r#"["b", "b"]"#, Invalid, "layers[2] (scale \"c\") is read by no layer"),
        // Shapes that do not meet.
        (r#"["c", "b"]"#, r#"["c", "b", "input"]"#, Invalid, ""),
        (
            add,
            r#"{"type": "add", "from": ["c", "b", "input"]}, {"type": "relu", "from": "nothing"}"#,
            Invalid,
            "nothing",
        ),
        (flatten, r#"{"type": "flatten", "name": "f"}, {"type": "add", "from": ["f", "b"]}"#, Invalid, "one shape"),
        (flatten, r#"{"type": "flatten", "name": "f"}, {"type": "concat", "from": ["f", "b"]}"#, Invalid, "differ"),
        // Groups, dilation, padding.
        (r#""groups": 2"#, r#""groups": 3"#, Invalid, "3 groups, which do not divide its 4 input channels"),
        (r#""groups": 2"#, r#""groups": 0"#, Invalid, "0 groups"),
        (r#""groups": 2"#, r#""dilation": 0"#, Invalid, "dilation [0, 0]"),
        (r#""groups": 2"#, r#""dilation": 9"#, Invalid, "window of 19×19, which does not fit"),
        (r#""groups": 2"#, r#""dilation": 4294967296"#, Invalid, "does not fit"),
        (r#""groups": 2"#, r#""group": 2"#, Parse, "there is no key \"group\""),
        ("[1, 1, 1, 1]", "[1, 1, 1]", Parse, "[top, left, bottom, right]"),
        ("[1, 0, 0, 1]", "[2, 0, 0, 1]", Invalid, "a maximum over padding alone is −∞"),
        ("[1, 0, 0, 1]", "[0, 0, 0, 3]", Invalid, "layers[4] (max_pool2d) has padding"),
        (r#""global_avg_pool2d""#, r#""global_avg_pool2d", "size": 2"#, Parse, "size"),
        (
            r#"{"type": "global_avg_pool2d"}"#,
            r#"{"type": "pad_channels", "before": 9007199254740993}"#,
            TooLarge,
            "channels",
        ),
        (r#"{"type": "global_avg_pool2d"}"#, r#"{"type": "pad_channels", "before": -1}"#, Parse, "whole number"),
    ];
    for (old, new, code, says) in faults {
        let text = GRAPH.replacen(old, new, 1);
        assert_ne!(text, GRAPH, "{old} is not there");
        match Network::from_json(&text) {
            // Four channels come in, and four go out: they may be added.
            Ok(_) => assert!(new.contains("\"input\"]"), "{new} is taken"),
            Err(found) => {
                assert_eq!(found.code, code, "{new}: {found}");
                assert!(found.message.contains(says), "{new}: {found}");
            }
        }
    }
}

#[test]
fn engines() {
    let file = ProblemFile::from_json(GOOD).expect("a good file");
    let engine = Engine::new(&Device::cpu(Precision::F64), &file.problem).expect("an engine");
    assert_eq!(pollster::block_on(engine.prepare(&[1.0])).expect_err("a fault").code, ErrorCode::InvalidParameters);
    assert_eq!(pollster::block_on(engine.prepare(&[f64::NAN; 6])).expect_err("a fault").code, ErrorCode::NotFinite);
    assert_eq!(engine.parameters().expect_err("a fault").code, ErrorCode::InvalidParameters);
    assert!(pollster::block_on(engine.loss()).is_err(), "nothing is prepared");
    pollster::block_on(engine.prepare(&file.parameters)).expect("a point");
    let product = |v: &[f64]| pollster::block_on(engine.product(isoflat::engine::Curvature::Hessian, v));
    assert_eq!(product(&[]).expect_err("a fault").code, ErrorCode::InvalidParameters);
    assert_eq!(product(&[1.0; 7]).expect_err("a fault").code, ErrorCode::InvalidParameters);
    assert_eq!(product(&[f64::INFINITY; 6]).expect_err("a fault").code, ErrorCode::NotFinite);
    product(&[1.0; 12]).expect("two directions");
    let squares = pollster::block_on(engine.squared_gradients(&[])).expect_err("a fault");
    assert!(squares.message.contains("at least one cotangent"), "{squares}");

    // Parameters that overflow on the way are finite input with a curvature that is not.
    pollster::block_on(engine.prepare(&[1e200, 1e200, -1e200, 1e200, 0.0, 0.0])).expect("finite parameters");
    let options = isoflat::measure::MeasureOptions::default();
    let measures: Vec<_> = isoflat::measure::Measure::all().collect();
    let huge = vec![1e308, 1e308, -1e308, 1e308, 0.0, 0.0];
    let control = isoflat::Control::default();
    let found = isoflat::measure::measure(&engine, &huge, &measures, &options, &control);
    assert_eq!(pollster::block_on(found).expect_err("a fault").code, ErrorCode::NotFinite);
}
