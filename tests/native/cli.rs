//! The command line in this process, command by command, against the library.

use std::cell::Cell;

use isoflat::cli::{self, Invocation, Opened, Outcome};
use isoflat::engine::{Device, Engine, Precision};
use isoflat::io::{File, ModelOptions, open_model};
use isoflat::linalg::{Goal, Lanczos, StochasticLanczos, dense_spectrum};
use isoflat::measure::{Measure, MeasureOptions, measure};
use isoflat::operator::OperatorKind;
use isoflat::space::{BatchNormSpace, FixedChoice, Skeleton, SpaceCurvature};
use isoflat::symmetry::Transformation;
use isoflat::{Control, ErrorCode, ProblemFile, Targets, report};
use pollster::block_on;
use serde_json::{Value, json};

use crate::support::error;

pub const CASE: &str = "tests/golden/mlp_bias.json";

fn golden(name: &str) -> ProblemFile {
    let text = std::fs::read_to_string(name).expect("a golden case");
    ProblemFile::from_json(&text).expect("a problem file")
}

fn invocation(line: &str) -> Invocation {
    let words: Vec<String> = line.split_whitespace().map(String::from).collect();
    cli::parse(&words).unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn read(invocation: &Invocation) -> Vec<File<'static>> {
    let read = |name: &str| File::new(name, std::fs::read(name).unwrap_or_else(|error| panic!("{name}: {error}")));
    invocation.reads().into_iter().map(read).collect()
}

fn run_under(line: &str, control: &Control<'_>) -> (Invocation, Opened, Outcome) {
    let invocation = invocation(line);
    let opened = cli::open(&invocation, &read(&invocation)).unwrap_or_else(|error| panic!("{line}: {error}"));
    let device = Device::cpu(Precision::F64);
    let found = block_on(cli::run(&invocation, &opened, &device, control));
    let outcome = found.unwrap_or_else(|error| panic!("{line}: {error}"));
    (invocation, opened, outcome)
}

/// A command's result; that it can be shown in every form goes without saying.
pub fn run(line: &str) -> Value {
    let (invocation, _, outcome) = run_under(line, &Control::default());
    assert!(!outcome.stopped);
    let text = cli::text(&invocation, &outcome.result, false);
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{} columns: {line}", line.chars().count());
    }
    let page = cli::page(&invocation, &outcome.result);
    assert!(page.starts_with("<!doctype html>") && !page.contains("NaN") && !page.contains("<script"));
    outcome.result
}

pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list")).iter().map(number).collect()
}

fn engine(file: &ProblemFile) -> Engine {
    let engine = Engine::new(&Device::cpu(Precision::F64), &file.problem).expect("an engine");
    block_on(engine.prepare(&file.parameters)).expect("a point");
    engine
}

/// The share of samples whose largest output is the target's, from the outputs themselves.
fn accuracy(file: &ProblemFile) -> f64 {
    let Targets::Classes(classes) = file.problem.targets() else { panic!("no classifier") };
    let outputs = block_on(engine(file).outputs()).expect("outputs");
    let width = file.problem.network().output_len();
    let largest = |row: &[f64]| (0..width).max_by(|&a, &b| row[a].total_cmp(&row[b])).expect("an output");
    let right = outputs.chunks(width).zip(classes).filter(|(row, class)| largest(row) == **class as usize);
    right.count() as f64 / classes.len() as f64
}

#[test]
fn a_problem_files_report_has_the_keys_and_numbers_of_the_library() {
    for case in [CASE, "tests/golden/mlp_regression.json", "tests/golden/graph_mlp_skip.json"] {
        let result = run(&format!("report {case} --backend cpu --json"));
        let file = golden(case);
        let device = Device::cpu(Precision::F64);
        let expected = block_on(report(&file, &device, &MeasureOptions::default(), &Control::default()));
        assert_eq!(cli::json(&result), expected.expect("a report"), "{case}");
        match file.problem.targets() {
            Targets::Classes(_) => assert_eq!(number(&result["accuracy"]), accuracy(&file), "{case}"),
            Targets::Vectors(_) => assert!(result.get("accuracy").is_none(), "{case} classifies nothing"),
        }
    }
}

#[test]
fn named_sections_are_there_alone_with_loss_and_accuracy() {
    let result = run(&format!("report {CASE} --sections point,petzka --samples 10"));
    let printed = cli::json(&result);
    let file = golden(CASE);
    let first = ProblemFile { problem: file.problem.first(10), ..file };
    let keys: Vec<&str> = printed.as_object().expect("an object").keys().map(String::as_str).collect();
    let expected = [
        "accuracy",
        "backend",
        "command",
        "data",
        "gradient_norm",
        "loss",
        "model",
        "parameter_count",
        "petzka",
        "samples",
        "seconds",
        "sections",
        "stopped",
    ];
    assert_eq!(keys, expected);
    assert_eq!(printed["samples"], 10);
    let expected = block_on(engine(&first).loss()).expect("a loss");
    assert!((number(&printed["loss"]) - expected).abs() <= 1e-14 * expected);
    assert_eq!(number(&printed["accuracy"]), accuracy(&first));
}

#[test]
fn tables_show_the_numbers_with_what_leaves_them() {
    let (invocation, _, outcome) = run_under(&format!("report {CASE} --everything"), &Control::default());
    let text = cli::text(&invocation, &outcome.result, false);
    let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let file = golden(CASE);
    let engine = engine(&file);
    // All but those of random subspaces are in a report.
    for measure_row in
        Measure::defined_for(file.problem.network()).filter(|row| row.key != "epsilon_sharpness_subspace")
    {
        let line = text.lines().find(|line| line.starts_with(measure_row.title));
        let line = line.unwrap_or_else(|| panic!("{} is not in\n{text}", measure_row.title));
        let words: Vec<&str> = line[measure_row.title.len()..].split_whitespace().collect();
        let said = |stays: bool| if stays { "stays" } else { "moves" };
        let kinds = measure_row.invariant;
        assert_eq!(words[1..], [said(kinds.layerwise), said(kinds.nodewise), said(kinds.permutation)], "{line}");
        let is_drawn = measure_row.key.starts_with("average_sharpness");
        assert_eq!(unwrapped.contains(&format!("{} ± ", measure_row.title)), is_drawn, "{text}");
        let found = block_on(measure(
            &engine,
            &file.parameters,
            &[measure_row],
            &MeasureOptions::default(),
            &Control::default(),
        ));
        let expected = found.expect("a value")[0].value;
        let shown: f64 = words[0].parse().unwrap_or_else(|_| panic!("{line}"));
        assert!((shown - expected).abs() <= 1e-4 * expected.abs(), "{line}: {expected}");
    }
    // A section that has no measures has no table of them.
    let (invocation, _, outcome) = run_under(&format!("report {CASE} --sections spaces"), &Control::default());
    let bare = cli::text(&invocation, &outcome.result, false);
    assert!(bare.contains("in the result alone: --json") && !bare.contains("Measures, and"), "{bare}");
    assert!(text.starts_with("loss "), "{text}");
    assert!(text.lines().nth(1).is_some_and(|line| line.starts_with("accuracy ")), "{text}");
}

#[test]
fn eigenvalues_are_those_of_lanczos_and_of_the_whole_spectrum() {
    let result = run(&format!("eigenvalues {CASE} --count 4 --lowest --density"));
    let file = golden(CASE);
    let engine = engine(&file);
    let operator = block_on(OperatorKind::HESSIAN.operator(&engine)).expect("an operator");
    let whole = block_on(dense_spectrum(&operator, 1e-9, &Control::default())).expect("a spectrum").values;
    let norm = whole.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let values = |key: &str| -> Vec<f64> {
        result["eigenvalues"][key].as_array().expect("pairs").iter().map(|pair| number(&pair["value"])).collect()
    };
    let [top, bottom] = [values("top"), values("bottom")];
    assert_eq!((top.len(), bottom.len()), (4, 4));
    for i in 0..4 {
        assert!((top[i] - whole[whole.len() - 1 - i]).abs() <= 1e-9 * norm);
        assert!((bottom[i] - whole[i]).abs() <= 1e-9 * norm);
    }
    let lanczos = Lanczos { goal: Goal::Extremes { top: 4, bottom: 4 }, ..Lanczos::default() };
    let alone = block_on(lanczos.run(&operator, &Control::default())).expect("eigenvalues");
    assert_eq!(result["eigenvalues"], serde_json::to_value(alone).expect("a JSON"));
    let density = block_on(StochasticLanczos::default().exact(&whole, &Control::default())).expect("a density");
    assert!(error(&numbers(&result["density"]["grid"]), &density.grid) < 1e-9);
    assert!(error(&numbers(&result["density"]["density"]), &density.density) < 1e-6);
    assert_eq!(result["dimension"], file.parameters.len());
    let part = run(&format!("eigenvalues {CASE} --operator gauss_newton.layer_1"));
    assert_eq!(part["title"], "Gauss–Newton, layer 1");
    assert_eq!(part["eigenvalues"]["top"].as_array().map(Vec::len), Some(10));
}

#[test]
fn a_network_with_few_parameters_has_all_its_eigenvalues() {
    let result = run("eigenvalues tests/golden/linear_regression.json");
    assert_eq!(result["eigenvalues"]["top"].as_array().map(Vec::len), Some(6));
}

#[test]
fn landscapes_have_the_losses_of_their_points() {
    let file = golden(CASE);
    let line = run(&format!("landscape {CASE} --directions eigen --points 5 --extent 0.5"));
    let found = &line["landscape"];
    assert_eq!(numbers(&found["s"]), [-0.5, -0.25, 0.0, 0.25, 0.5]);
    let loss = numbers(&found["loss"]);
    let engine = engine(&file);
    let center = block_on(engine.loss()).expect("a loss");
    assert!((loss[2] - center).abs() <= 1e-12 * center && number(&line["loss"]) == number(&found["center"]));
    let operator = block_on(OperatorKind::HESSIAN.operator(&engine)).expect("an operator");
    let lanczos = Lanczos { goal: Goal::Extremes { top: 1, bottom: 0 }, vectors: true, ..Lanczos::default() };
    let pair = block_on(lanczos.run(&operator, &Control::default())).expect("a pair").top.remove(0);
    let vector = pair.vector.expect("a vector");
    let at = |s: f64| {
        let moved: Vec<f64> = file.parameters.iter().zip(&vector).map(|(w, v)| w + s * v).collect();
        block_on(engine.evaluate(&moved)).expect("a loss").loss
    };
    // An eigenvector has no sign, and drawing needs but four digits of it.
    let mut ends = [at(-0.5), at(0.5)];
    let mut shown = [loss[0], loss[4]];
    ends.sort_by(f64::total_cmp);
    shown.sort_by(f64::total_cmp);
    assert!(error(&shown, &ends) < 1e-3, "{shown:?}, and {ends:?}");
    let plane = run(&format!("landscape {CASE} --points 7"));
    assert_eq!(plane["landscape"]["loss"].as_array().map(Vec::len), Some(49));
    assert!((number(&plane["landscape"]["loss"][24]) - center).abs() <= 1e-12 * center);
    // The two directions are different ones: the plane is no line.
    assert_ne!(plane["landscape"]["loss"][3], plane["landscape"]["loss"][21]);
    // Whoever asks without words is refused too.
    let (mut mixed, opened, _) = run_under(&format!("landscape {CASE} --points 2"), &Control::default());
    mixed.landscape.directions = ["filter", "eigen"].map(String::from).to_vec();
    let refused = block_on(cli::run(&mixed, &opened, &Device::cpu(Precision::F64), &Control::default()));
    assert!(refused.expect_err("two measures of length").message.contains("filter and eigen"));
}

#[test]
fn an_invariance_table_is_the_librarys() {
    let line = format!(
        "invariance {CASE} --transformations layerwise,permutation --measures hessian.trace,petzka.rho_sum --seed 3"
    );
    let result = run(&line);
    assert_eq!(result["names"], serde_json::json!(["layer-wise, drawn", "permutation, drawn"]));
    let file = golden(CASE);
    let maps = [
        isoflat::symmetry::Transformation::RandomLayerwise { seed: 3, low: 0.2, high: 5.0 },
        isoflat::symmetry::Transformation::RandomPermutation { seed: 3 },
    ];
    let measures = ["hessian.trace", "petzka.rho_sum"].map(|key| Measure::from_key(key).expect("a measure"));
    let options = MeasureOptions { seed: 3, ..MeasureOptions::default() };
    let engine = engine(&file);
    let control = Control::default();
    let found = isoflat::invariance::invariance(&engine, &file.parameters, &measures, &maps, &options, &control);
    let table = block_on(found).expect("a table");
    assert_eq!(result["table"], serde_json::to_value(&table).expect("a JSON"));
    assert_eq!((&result["agrees"], table.agrees()), (&Value::Bool(true), true));
    // The file's own, where none are named; and Dinh's.
    let own = run(&format!("invariance {CASE} --measures loss"));
    assert_eq!(own["names"], serde_json::json!(["layer-wise", "node-wise"]));
    let dinh = run("invariance tests/golden/mlp_one_hidden.json --alpha 100 --measures hessian.spectral_norm");
    assert_eq!(dinh["names"], serde_json::json!(["α-scale 100"]));
    let cells = dinh["table"]["cells"].as_array().expect("cells");
    let cell = cells.iter().find(|cell| cell["measure"] == "hessian.spectral_norm").expect("its cell");
    assert_eq!((&cell["verdict"], &cell["expected"]), (&"changed".into(), &"changes".into()));
    let (invocation, _, outcome) = run_under(&line, &Control::default());
    let text = cli::text(&invocation, &outcome.result, false);
    let line = text.lines().find(|line| line.starts_with("Hessian, trace")).expect("a row");
    assert!(line.contains("moves") && line.contains("stays"), "{line}");
}

#[test]
fn training_lowers_the_loss_and_what_is_written_has_it() {
    let out = std::env::temp_dir().join(format!("isoflat-cli-{}.json", std::process::id()));
    let line = format!("train {CASE} --epochs 20 --batch 8 --rate 0.01 --out {}", out.display());
    let (invocation, opened, mut outcome) = run_under(&line, &Control::default());
    let result = outcome.result.clone();
    assert!(number(&result["loss"]) < number(&result["before"]["loss"]), "{result}");
    assert_eq!(result["training"]["history"].as_array().map(Vec::len), Some(20));
    let file = golden(CASE);
    let options = isoflat::train::TrainOptions {
        optimizer: isoflat::train::Optimizer::adam(0.01),
        batch_size: 8,
        epochs: 20,
        ..Default::default()
    };
    let engine = engine(&file);
    let alone = block_on(isoflat::train::train(&engine, &file.parameters, None, &options, &Control::default()));
    let alone = alone.expect("a run");
    assert_eq!(outcome.parameters.as_deref(), Some(&alone.parameters[..]));
    let files = read(&invocation);
    let written = cli::save(&invocation, &files, &opened, &mut outcome).expect("a file").expect("weights");
    let again = ProblemFile::from_json(str::from_utf8(&written.bytes).expect("a text")).expect("a problem file");
    assert_eq!(again.parameters, alone.parameters);
    assert_eq!(outcome.result["written"]["bytes"], written.bytes.len());
    let begun = run(&format!("train {CASE} --space g_space --epochs 1 --out a.json"));
    assert_eq!(begun["training"]["space"], "g_space");
    // Weights that are there stay the function that they are.
    assert_eq!((&begun["training"]["values"], &begun["training"]["tree"]), (&json!("keep"), &json!("keep")));
    assert_eq!(begun["before"]["loss"], outcome.result["before"]["loss"]);
}

/// A G-space of a network whose weights are drawn has its fixed weights and its tree at 1, unless one says otherwise; weights that are read
/// are kept.
#[test]
fn a_space_begins_at_ones_where_weights_are_drawn() {
    let folder = std::env::temp_dir().join(format!("isoflat-cli-ones-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let network = folder.join("network.json");
    let text = serde_json::to_string(golden(CASE).problem.network()).expect("a JSON");
    std::fs::write(&network, text).expect("a file");
    let drawn = format!("train --preset {} --data {CASE} --epochs 1 --rate 1e-12 --optimizer sgd", network.display());
    let drawn = format!("{drawn} --seed 5 --out a.json --space");
    let (set, keep) = (|value: f64| json!({ "set": value }), json!("keep"));
    for (line, values, tree) in [
        (format!("{drawn} g_space"), set(1.0), set(1.0)),
        (format!("{drawn} g_space --tree keep"), set(1.0), keep.clone()),
        (format!("{drawn} g_space --values keep --tree 0.5"), keep.clone(), set(0.5)),
        (format!("{drawn} weight_fixing"), set(1.0), Value::Null),
        (format!("{drawn} weight_fixing --values reparametrize"), json!("reparametrize"), Value::Null),
        (
            format!("train {CASE} --epochs 1 --rate 1e-12 --optimizer sgd --out a.json --space g_space"),
            keep.clone(),
            keep.clone(),
        ),
        (
            format!("train {CASE} --epochs 1 --rate 1e-12 --optimizer sgd --out a.json --space g_space --tree -2"),
            keep,
            set(-2.0),
        ),
    ] {
        let (invocation, opened, outcome) = run_under(&line, &Control::default());
        let training = &outcome.result["training"];
        assert_eq!((&training["values"], &training["tree"]), (&values, &tree), "{line}");
        let begins = |value: &Value, at: f64| value["set"].as_f64().unwrap_or(at);
        let found = outcome.parameters.expect("weights");
        let skeleton = Skeleton::new(&opened.network, &opened.parameters, FixedChoice::Diagonal).expect("a skeleton");
        let free = skeleton.free(&opened.network);
        if values != json!("reparametrize") {
            let mut expected = opened.parameters.clone();
            for index in skeleton.fixed_indices() {
                expected[index] = begins(&values, expected[index]);
            }
            for edge in skeleton.tree().iter().flatten().filter(|edge| free[edge.index]) {
                expected[edge.index] = begins(&tree, expected[edge.index]);
            }
            assert!(error(&found, &expected) < 1e-9, "{line}");
            // What it was before is said of where training began.
            let problem = opened.problem().expect("a problem");
            let engine = Engine::new(&Device::cpu(Precision::F64), problem).expect("an engine");
            let begin = block_on(engine.evaluate(&expected)).expect("a loss").loss;
            assert!((number(&outcome.result["before"]["loss"]) - begin).abs() < 1e-12 * begin, "{line}");
        }
        let shown = cli::text(&invocation, &outcome.result, false);
        let says = shown.contains("another function");
        assert_eq!(says, values.is_object() || tree.is_object(), "{line}: {shown}");
    }
    std::fs::remove_dir_all(&folder).expect("it is there");
}

#[test]
fn training_begins_at_random_in_a_network_that_is_named() {
    let folder = std::env::temp_dir().join(format!("isoflat-cli-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let network = folder.join("network.json");
    let text = serde_json::to_string(golden(CASE).problem.network()).expect("a JSON");
    std::fs::write(&network, text).expect("a file");
    let line = format!("train --preset {} --data {CASE} --epochs 1 --seed 5 --out a.json", network.display());
    let (_, opened, outcome) = run_under(&line, &Control::default());
    assert_eq!(opened.network.parameter_count(), 91);
    assert!(number(&outcome.result["before"]["loss"]) > 0.0);
    let other = run_under(&line.replace("--seed 5", "--seed 6"), &Control::default()).1;
    assert_ne!(opened.parameters, other.parameters);
    std::fs::remove_dir_all(&folder).expect("it is there");
}

#[test]
fn eigenvalues_in_gamma_and_beta_are_those_of_the_space() {
    let outputs = std::fs::read_to_string("tests/fixtures/onnx/outputs.json").expect("outputs");
    let record: Value = serde_json::from_str(&outputs).expect("JSON");
    let inputs: Vec<f64> = serde_json::from_value(record["preactivation"]["inputs"].clone()).expect("inputs");
    let folder = std::env::temp_dir().join(format!("isoflat-gamma-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("rows.csv");
    let mut table = (0..50).map(|i| format!("x{i},")).collect::<String>() + "label\n";
    for (i, row) in inputs.chunks_exact(50).enumerate() {
        table += &(row.iter().map(|x| format!("{x},")).collect::<String>() + &format!("{}\n", i % 2));
    }
    std::fs::write(&file, table).expect("a table");
    let line = format!("eigenvalues tests/fixtures/onnx/preactivation.onnx {} --count 2", file.display());
    let (_, opened, outcome) = run_under(&format!("{line} --space batch_norm"), &Control::default());
    assert!(!opened.statistics.is_empty());
    let engine = Engine::new(&Device::cpu(Precision::F64), opened.problem().expect("data")).expect("an engine");
    block_on(engine.prepare(&opened.parameters)).expect("a point");
    let space = BatchNormSpace::new(&opened.network, &opened.statistics).expect("a space");
    let operator = SpaceCurvature::of_kind(&engine, &space, OperatorKind::HESSIAN).expect("an operator");
    let spectrum = block_on(dense_spectrum(&operator, 1e-12, &Control::default())).expect("a spectrum").values;
    let largest = *spectrum.last().expect("eigenvalues");
    let found = number(&outcome.result["eigenvalues"]["top"][0]["value"]);
    assert!((found - largest).abs() < 1e-8 * largest.abs(), "{found} is not {largest}");
    let plain = number(&run(&line)["eigenvalues"]["top"][0]["value"]);
    assert!((plain - found).abs() > 1e-3 * largest.abs(), "{plain} in the coordinates of scales");
    let with = |change: fn(&mut Invocation)| {
        let mut found = invocation(&format!("{line} --space batch_norm"));
        change(&mut found);
        found
    };
    for (invocation, says) in [
        (with(|found| found.eigenvalues.density = true), "--density"),
        (with(|found| found.eigenvalues.operator = "riemannian.layerwise_flat".into()), "in a space"),
        (invocation(&format!("eigenvalues {CASE} --space batch_norm")), "--batch-norm scale"),
    ] {
        let opened = cli::open(&invocation, &read(&invocation)).expect(says);
        let refused = block_on(cli::run(&invocation, &opened, &Device::cpu(Precision::F64), &Control::default()));
        let refused = refused.expect_err(says);
        assert!(refused.code == ErrorCode::InvalidOption && refused.message.contains(says), "{refused}");
    }
    std::fs::remove_dir_all(&folder).expect("it is there");
}

#[test]
fn convert_writes_what_it_read() {
    let (invocation, opened, mut outcome) =
        run_under(&format!("convert {CASE} --to json --out a.json"), &Control::default());
    let written = cli::save(&invocation, &read(&invocation), &opened, &mut outcome).expect("a file").expect("weights");
    let again = ProblemFile::from_json(str::from_utf8(&written.bytes).expect("a text")).expect("a file");
    let file_of_case = golden(CASE);
    assert_eq!(
        (again.parameters, again.direction, &again.transformations),
        (file_of_case.parameters.clone(), file_of_case.direction.clone(), &file_of_case.transformations)
    );
    assert!(cli::text(&invocation, &outcome.result, false).contains("written to a.json"));
    // The same as safetensors, whose name says it.
    let line = format!("convert {CASE} --out a.problem.safetensors");
    let (invocation, opened, mut binary) = run_under(&line, &Control::default());
    let written = cli::save(&invocation, &read(&invocation), &opened, &mut binary).expect("a file").expect("weights");
    let files = [File::new(written.name, written.bytes)];
    let again = open_model(&files, &ModelOptions::default()).expect("a problem").problem.expect("its data");
    assert_eq!((again.parameters, again.transformations), (file_of_case.parameters, file_of_case.transformations));
    assert_eq!(again.problem.inputs().to_f64(), file_of_case.problem.inputs().to_f64());
    // What was read is not written over.
    let over = self::invocation(&format!("convert {CASE} --to json --out {CASE}"));
    let refused = cli::save(&over, &read(&over), &opened, &mut outcome).expect_err("the same file");
    assert!(refused.message.contains("was read"), "{refused}");
}

#[test]
fn convert_bends_one_map_after_the_other() {
    let line = format!("convert {CASE} --to json --out a.json --transformations nodewise,permutation --seed 3");
    let (_, opened, outcome) = run_under(&line, &Control::default());
    let maps = [
        Transformation::RandomNodewise { seed: 3, low: 0.2, high: 5.0 },
        Transformation::RandomPermutation { seed: 3 },
    ];
    let network = &opened.network;
    let once = maps[0].apply(network, &opened.parameters).expect("a rescaling");
    let expected = maps[1].apply(network, &once).expect("a permutation");
    assert_ne!(expected, opened.parameters);
    assert_eq!(outcome.parameters, Some(expected));
}

#[test]
fn a_wish_to_finish_keeps_what_is_finished() {
    let wished = Cell::new(false);
    let wish = |phase: &'static str| {
        wished.set(false);
        let wished = &wished;
        Control::default()
            .on_progress(move |progress| wished.set(wished.get() || progress.phase.contains(phase)))
            .finish_when(move || wished.get())
    };
    let (invocation, _, outcome) = run_under(&format!("report {CASE}"), &wish("riemannian"));
    assert!(outcome.stopped);
    let printed = cli::json(&outcome.result);
    assert!(printed["hessian"].is_object() && printed.get("riemannian").is_none(), "{printed}");
    assert_eq!(printed["stopped"], true);
    assert!(cli::text(&invocation, &outcome.result, false).contains("Interrupted"));

    let (invocation, _, outcome) = run_under(&format!("landscape {CASE} --points 5"), &wish("landscape"));
    assert!(outcome.stopped);
    let found = &outcome.result["landscape"];
    assert_eq!((numbers(&found["t"]).len(), numbers(&found["loss"]).len()), (1, 5));
    cli::page(&invocation, &outcome.result);

    let (_, _, outcome) = run_under(&format!("train {CASE} --epochs 1000 --batch 4 --out a.json"), &wish("training"));
    assert!(outcome.stopped && outcome.parameters.is_some());

    for line in [format!("eigenvalues {CASE}"), format!("invariance {CASE}")] {
        wished.set(true);
        let (_, _, outcome) = run_under(&line, &Control::default().finish_when(|| wished.get()));
        assert!(outcome.stopped && outcome.result["loss"].is_number(), "{line}");
    }
    // A stop is another thing.
    let invocation = self::invocation(&format!("landscape {CASE}"));
    let opened = cli::open(&invocation, &read(&invocation)).expect("a model");
    let control = Control::default().stop_when(|| true);
    let stopped = block_on(cli::run(&invocation, &opened, &Device::cpu(Precision::F64), &control));
    assert_eq!(stopped.expect_err("a stop").code, ErrorCode::Aborted);
}

#[test]
fn options_that_files_have_no_use_for_are_refused() {
    for (line, says) in [
        (format!("report {CASE} --normalize mnist"), "--normalize is of data files"),
        (format!("report {CASE} --loss squared_error"), "--loss is of data files"),
        (format!("report {CASE} --input 1x28x28"), "its inputs are [7], not [1, 28, 28]"),
    ] {
        let invocation = invocation(&line);
        let refused = cli::open(&invocation, &read(&invocation)).expect_err(&line);
        assert!(refused.message.contains(says), "{refused}");
    }
}
