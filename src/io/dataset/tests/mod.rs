//! Files that other programs wrote (tests/fixtures/data), opened and compared with what these programs read from them.

mod hostile;

use serde_json::Value;

use super::gather::Entry;
use super::names::{role, split};
use super::*;
use crate::error::ErrorCode;

macro_rules! fixtures {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_bytes!(concat!("../../../../tests/fixtures/data/", $name)) as &[u8])),*]
    };
}

const FILES: [(&str, &[u8]); 36] = fixtures![
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte",
    "uint8.idx",
    "int8.idx",
    "int16.idx",
    "int32.idx",
    "float32.idx",
    "float64.idx",
    "data_batch_1.bin",
    "data_batch_2.bin",
    "test_batch.bin",
    "flowers.csv",
    "digits.csv",
    "prices.tsv",
    "animals.zip",
    "grey.png",
    "rgb.png",
    "rgba.png",
    "bits.png",
    "palette4.png",
    "palette8.png",
    "grey16.png",
    "interlaced.png",
    "interlaced2.png",
    "interlaced16.png",
    "grey.jpg",
    "full.jpg",
    "half.jpg",
    "progressive.jpg",
    "cmyk.jpg",
    "keras.npz",
    "unnamed.npz",
    "X.npy",
    "y.npy",
];

fn file(name: &str) -> File<'static> {
    let (_, bytes) = FILES.iter().find(|(known, _)| *known == name).expect("a fixture");
    File::new(format!("folder/{name}"), *bytes)
}

fn files(names: &[&str]) -> Vec<File<'static>> {
    names.iter().map(|name| file(name)).collect()
}

fn expected(path: &[&str]) -> Vec<f64> {
    let all: Value = serde_json::from_str(include_str!("../../../../tests/fixtures/data/expected.json")).expect("JSON");
    let found = path.iter().fold(&all, |value, key| &value[*key]);
    serde_json::from_value(found.clone()).expect("numbers")
}

/// Truth values are 0 and 1, and no pixels that are divided by 255.
#[test]
fn truth_values_are_numbers() {
    let npy = include_bytes!("../../../../tests/fixtures/numpy/b1.npy");
    let data = open(&[File::new("x.npy", &npy[..])], &DataOptions::default()).expect("data");
    let values: Vec<f64> = (0..data.inputs.len()).map(|i| data.inputs.get(i)).collect();
    assert!(values.contains(&1.0) && values.iter().all(|&x| x == 0.0 || x == 1.0), "{values:?}");
    assert!(data.notes.iter().all(|note| !note.contains("divided")), "{:?}", data.notes);
}

fn options(json: &str) -> DataOptions {
    serde_json::from_str(json).expect("options")
}

fn opened(names: &[&str], json: &str) -> Dataset {
    open(&files(names), &options(json)).expect("data")
}

fn fault(names: &[&str], json: &str) -> crate::Error {
    open(&files(names), &options(json)).expect_err("a fault")
}

fn classes(data: &Dataset) -> Vec<f64> {
    let Some(Targets::Classes(classes)) = &data.targets else { panic!("no classes: {:?}", data.targets) };
    classes.iter().map(|&class| f64::from(class)).collect()
}

const MNIST: [&str; 4] =
    ["train-labels-idx1-ubyte", "t10k-labels-idx1-ubyte", "train-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte.gz"];

#[test]
fn of_mnist_the_test_data_are_taken_or_those_asked_for() {
    let data = opened(&MNIST, "{}");
    assert_eq!((data.shape.as_slice(), data.samples()), (&[1, 5, 4][..], 7));
    let pixels: Vec<f64> = expected(&["t10k", "images"]).into_iter().map(|x| x / 255.0).collect();
    assert_eq!(data.inputs, Values::F64(pixels));
    assert_eq!(classes(&data), expected(&["t10k", "labels"]));
    assert!(data.notes[0].contains("test, train: those of test are taken"), "{:?}", data.notes);
    assert_eq!(data.normalization.as_ref().and_then(Normalization::name), Some("unit"));
    let data = opened(&MNIST, "{\"split\": \"train\", \"shape\": [20], \"normalization\": \"mnist\", \"samples\": 10}");
    let pixels = expected(&["train", "images"]).into_iter().map(|x| (x / 255.0 - 0.1307) / 0.3081);
    assert_eq!(data.inputs, Values::F64(pixels.take(200).collect()));
    assert_eq!((data.shape.as_slice(), classes(&data)), (&[20][..], expected(&["train", "labels"])[..10].to_vec()));
    assert!(data.notes.is_empty(), "{:?}", data.notes);
}

#[test]
fn files_that_are_not_taken_are_named() {
    let rows = |name: &str, label: usize| File::new(name, format!("a,b,label\n1,2,{label}\n3,4,1\n").into_bytes());
    let data = open(&[rows("rows_test.csv", 0), rows("other.csv", 1)], &options("{}")).expect("data");
    assert_eq!(data.samples(), 2);
    assert_eq!(data.notes.len(), 1, "{:?}", data.notes);
    assert!(data.notes[0].starts_with("Not taken: other.csv (no name says that it is of test"), "{:?}", data.notes);
    let data = opened(&["X.npy", "y.npy", "uint8.idx"], "{}");
    assert!(data.notes.iter().any(|note| note.contains("Not taken: folder/uint8.idx (neither")), "{:?}", data.notes);
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let found = fault(&["train-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte"], "{}");
    assert!(found.message.contains("but no inputs"), "{found}");
    let mixed = [
        File::new("images", file("train-images-idx3-ubyte.gz").bytes),
        File::new("labels", file("t10k-labels-idx1-ubyte").bytes),
    ];
    let found = open(&mixed, &DataOptions::default()).expect_err("12 and 7");
    assert_eq!(found.code, ErrorCode::InvalidProblem);
    assert!(found.message.contains("are of 12 samples, but the targets labels [7] of 7"), "{found}");
    assert!(fault(&MNIST, "{\"split\": \"validation\"}").message.contains("no validation data"));
    assert!(fault(&MNIST, "{\"split\": \"tset\"}").message.contains("no split is named"));
    assert!(fault(&MNIST, "{\"shape\": [3, 5, 4]}").message.contains("[5, 4], but the network takes [3, 5, 4]"));
    assert!(fault(&MNIST, "{\"outputs\": 3}").message.contains("but the network has 3 outputs"));
    assert!(fault(&MNIST, "{\"normalization\": \"cifar10\"}").message.contains("3 means, but the data have 1 channel"));
    for wrong in ["{\"samples\": 0}", "{\"shape\": [2, 2]}", "{\"shape\": [0]}", "{\"outputs\": 0}"] {
        assert_eq!(fault(&MNIST, wrong).code, ErrorCode::InvalidOption, "{wrong}");
    }
    assert!(serde_json::from_str::<DataOptions>("{\"sample\": 1}").is_err());
    assert_eq!(open(&[], &DataOptions::default()).expect_err("none").code, ErrorCode::InvalidOption);
}

#[test]
fn idx_of_every_type_is_read() {
    for name in ["uint8.idx", "int8.idx", "int16.idx", "int32.idx", "float32.idx", "float64.idx"] {
        let data = opened(&[name], "{\"normalization\": \"none\"}");
        assert_eq!((data.inputs.to_f64(), data.shape.as_slice()), (expected(&[name]), &[3][..]), "{name}");
        assert_eq!(matches!(data.inputs, Values::F32(_)), name == "float32.idx");
        assert_eq!(data.targets, None);
    }
}

#[test]
fn cifar_batches_are_one_data_set() {
    let all = ["data_batch_2.bin", "test_batch.bin", "data_batch_1.bin"];
    let data = opened(&all, "{\"split\": \"train\", \"normalization\": \"none\"}");
    assert_eq!((data.shape.as_slice(), data.samples()), (&[3, 32, 32][..], 3));
    let labels = [expected(&["data_batch_1", "labels"]), expected(&["data_batch_2", "labels"])].concat();
    assert_eq!(classes(&data), labels);
    let inputs = data.inputs.to_f64();
    let number = |name: &str, key: &str| {
        let all: Value =
            serde_json::from_str(include_str!("../../../../tests/fixtures/data/expected.json")).expect("JSON");
        all[name][key].as_f64().expect("a number")
    };
    let sums = [inputs[..2 * 3072].iter().sum::<f64>(), inputs[2 * 3072..].iter().sum()];
    assert_eq!(sums, ["data_batch_1", "data_batch_2"].map(|name| number(name, "sum")));
    assert_eq!(inputs[3072 + 2048 + 17 * 32 + 5], number("data_batch_1", "at"));
    assert_eq!(data.classes[3], "cat");
    let data = opened(&all, "{}");
    assert_eq!((classes(&data), data.samples()), (expected(&["test_batch", "labels"]), 2));
    let overview = data.overview();
    assert_eq!((overview.samples, overview.counts.len(), overview.counts.iter().sum::<usize>()), (2, 10, 2));
}

#[test]
fn tables_are_one_where_their_columns_are() {
    let table = |name: &str, text: &str| File::new(name.to_owned(), text.as_bytes().to_vec());
    let first = table("a.csv", "width,height,label\n1,2,0\n");
    let data = open(&[first.clone(), table("b.csv", "width,height,label\n10,20,1\n")], &options("{}")).expect("data");
    assert_eq!(data.inputs.to_f64(), [1.0, 2.0, 10.0, 20.0]);
    for other in ["height,width,label\n20,10,1\n", "width,depth,label\n10,20,1\n"] {
        let found = open(&[first.clone(), table("b.csv", other)], &options("{}")).expect_err("other columns");
        assert!(found.message.starts_with("a.csv and b.csv are not one table: where the first has"), "{found}");
    }
}

#[test]
fn tables_are_read_with_their_classes() {
    let data = opened(&["flowers.csv"], "{\"outputs\": 5, \"loss\": \"cross_entropy\"}");
    assert_eq!(data.inputs, Values::F64(expected(&["flowers.csv", "inputs"])));
    assert_eq!(classes(&data), expected(&["flowers.csv", "targets"]));
    assert_eq!(data.classes, ["a \"wild\" one", "a, b", "setosa", "versicolor", "virginica"]);
    let columns = "{\"inputs\": \"length,width, cm\", \"targets\": \"weight\"}";
    assert!(fault(&["flowers.csv"], columns).message.contains("no column is named \"width\""));
    let data = opened(&["flowers.csv"], "{\"inputs\": \"length\", \"targets\": \"weight\"}");
    let rows = expected(&["flowers.csv", "inputs"]);
    let column = |at: usize| rows.iter().skip(at).step_by(3).copied().collect::<Vec<f64>>();
    assert_eq!((data.inputs.to_f64(), data.targets), (column(1), Some(Targets::Vectors(column(2)))));

    let data = opened(&["digits.csv"], "{\"shape\": [1, 2, 3]}");
    let pixels: Vec<f64> = expected(&["digits.csv", "inputs"]).into_iter().map(|x| x / 255.0).collect();
    assert_eq!((data.inputs.to_f64(), classes(&data)), (pixels, expected(&["digits.csv", "targets"])));

    let data = opened(&["prices.tsv"], "{\"loss\": \"squared_error\", \"outputs\": 1}");
    let rows = expected(&["prices.tsv"]);
    let prices: Vec<f64> = rows.iter().skip(2).step_by(3).copied().collect();
    assert_eq!((data.samples(), data.targets), (5, Some(Targets::Vectors(prices))));
    assert!(data.notes[0].contains("the last, \"price\""), "{:?}", data.notes);
}

#[test]
fn arrays_of_numpy_are_inputs_and_targets() {
    let pixels: Vec<f64> = expected(&["keras.npz", "x_test"]).into_iter().map(|x| x / 255.0).collect();
    for (json, shape) in [("{}", &[3, 4, 6][..]), ("{\"shape\": [72]}", &[72])] {
        let data = opened(&["keras.npz"], json);
        assert_eq!((data.shape.as_slice(), data.inputs.to_f64()), (shape, pixels.clone()), "{json}");
        assert_eq!(classes(&data), expected(&["keras.npz", "y_test"]), "{json}");
    }
    assert_eq!(classes(&opened(&["keras.npz"], "{\"inputs\": \"x_train\"}")), expected(&["keras.npz", "y_train"]));
    let data = opened(&["y.npy", "X.npy"], "{}");
    assert!(matches!(data.inputs, Values::F32(_)));
    assert_eq!((data.inputs.to_f64(), classes(&data)), (expected(&["scores"]), vec![1.0, 0.0, 1.0, 1.0]));
    let data = opened(&["unnamed.npz"], "{\"loss\": \"cross_entropy\", \"outputs\": 3}");
    assert_eq!((data.shape.as_slice(), classes(&data)), (&[4][..], vec![2.0, 0.0, 1.0, 1.0]));
    let wrong = "{\"inputs\": \"arr_1\", \"targets\": \"arr_1\"}";
    assert!(fault(&["unnamed.npz"], wrong).message.contains("both inputs and targets"));
}

#[test]
fn a_problem_has_data_and_a_network_has_none() {
    let network = "{\"input\": [2], \"layers\": [{\"type\": \"dense\", \"units\": 2}]}";
    let problem = format!(
        "{{\"network\": {network}, \"loss\": \"cross_entropy\", \"parameters\": [1, 2, 3, 4, 5, 6], \"inputs\": [[1, 2.5], [3, 4]], \
         \"targets\": [1, 0]}}"
    );
    let of =
        |text: &str| open(&[File::new("a.json", text.as_bytes())], &options("{\"samples\": 5, \"split\": \"test\"}"));
    let data = of(&problem).expect("data");
    assert_eq!(
        (data.inputs, data.targets),
        (Values::F64(vec![1.0, 2.5, 3.0, 4.0]), Some(Targets::Classes(vec![1, 0])))
    );
    assert!(
        data.notes[0].contains("No name says") && data.notes[1].contains("There are 2 samples, not 5"),
        "{:?}",
        data.notes
    );
    let found = of(network).expect_err("no data");
    assert!(found.message.contains("a.json: this is a model (isoflat JSON)"), "{found}");
}

#[test]
fn archives_of_pictures_have_splits_too() {
    let data = opened(&["animals.zip"], "{\"normalization\": \"none\"}");
    assert_eq!(data.shape, [3, 6, 5]);
    assert_eq!(data.inputs.to_f64(), expected(&["animals.zip", "inputs"]));
    assert_eq!(classes(&data), expected(&["animals.zip", "targets"]));
    assert_eq!(data.classes, ["cats", "dogs"]);
    assert_eq!(opened(&["animals.zip"], "{\"split\": \"train\"}").samples(), 2);
    let found = fault(&["animals.zip", "flowers.csv"], "{}");
    assert!(found.message.contains("flowers.csv is no PNG"), "{found}");
}

fn entry(name: &str, shape: &[usize], values: impl Fn(usize) -> f64) -> Entry {
    let values = (0..shape.iter().product()).map(values).collect();
    Entry {
        name: name.into(),
        file: "data.npz".into(),
        role: role(name),
        split: split(name),
        is_table: false,
        array: Array::new(shape.to_vec(), Elements::F64(values)).expect("an array"),
        classes: Vec::new(),
        columns: Vec::new(),
    }
}

/// Names of the arrays that are chosen, known by the first number of each.
fn chosen(arrays: &[(&str, &[usize])], json: &str) -> Result<(usize, Option<usize>)> {
    let entries = arrays.iter().enumerate().map(|(i, (name, shape))| entry(name, shape, |_| i as f64)).collect();
    let found = choose::choose(entries, &options(json), &mut Vec::new())?;
    let of = |array: &Array| array.to_f64().expect("memory").first().map_or(99, |&x| x as usize);
    Ok((of(&found.inputs), found.targets.as_ref().map(of)))
}

#[test]
fn arrays_are_chosen_by_names_then_by_shapes() {
    let keras: [(&str, &[usize]); 4] =
        [("x_train", &[9, 2, 2]), ("x_test", &[4, 2, 2]), ("y_train", &[9]), ("y_test", &[4])];
    assert_eq!(chosen(&keras, "{}").expect("test"), (1, Some(3)));
    assert_eq!(chosen(&keras, "{\"split\": \"train\"}").expect("train"), (0, Some(2)));
    assert_eq!(chosen(&keras, "{\"inputs\": \"x_train\"}").expect("train"), (0, Some(2)));
    assert_eq!(chosen(&keras, "{\"inputs\": \"x_train\", \"targets\": \"y_train\"}").expect("train"), (0, Some(2)));
    assert_eq!(chosen(&[("arr_0", &[5]), ("arr_1", &[5, 8])], "{}").expect("by shapes"), (1, Some(0)));
    assert_eq!(chosen(&[("arr_0", &[5, 8]), ("arr_1", &[4])], "{}").expect("no targets"), (0, None));
    assert_eq!(
        chosen(&[("a", &[5, 8]), ("labels", &[5]), ("mean", &[8]), ("n", &[])], "{}").expect("one name"),
        (0, Some(1))
    );
    assert_eq!(chosen(&[("X", &[5, 8]), ("b", &[5, 2])], "{}").expect("one name"), (0, Some(1)));
    let three: [(&str, &[usize]); 3] = [("inputs", &[5, 8]), ("fine_labels", &[5]), ("coarse_labels", &[5])];
    let found = chosen(&three, "{}").expect_err("two targets");
    assert!(found.message.contains("inputs [5, 8], fine_labels [5], coarse_labels [5]"), "{found}");
    assert_eq!(chosen(&three, "{\"targets\": \"coarse_labels\"}").expect("named"), (0, Some(2)));
    for unclear in [&[("a", &[5, 8][..]), ("b", &[5, 8])][..], &[("a", &[5, 8]), ("b", &[5]), ("c", &[5])]] {
        assert_eq!(chosen(unclear, "{}").expect_err("unclear").code, ErrorCode::InvalidOption, "{unclear:?}");
    }
    assert!(chosen(&keras, "{\"inputs\": \"x\"}").expect_err("none").message.contains("no array is named \"x\""));
    assert!(chosen(&keras, "{\"inputs\": \"y_test\"}").expect_err("both").message.contains("both inputs and targets"));
    let weights: [(&str, &[usize]); 2] = [("0.weight", &[5, 8]), ("0.bias", &[5])];
    assert!(chosen(&weights, "{}").expect_err("weights").message.contains("named as weights are"));
    assert!(chosen(&[("y", &[4])], "{}").expect_err("no inputs").message.contains("no inputs among"));
}

/// A data set of one array of floating-point numbers.
fn of_numbers(shape: &[usize], values: &[f64], json: &str) -> Result<Dataset> {
    let bytes = [
        &[0, 0, 0x0e, shape.len() as u8][..],
        &shape.iter().flat_map(|&n| (n as u32).to_be_bytes()).collect::<Vec<_>>(),
    ];
    let bytes = [bytes.concat(), values.iter().flat_map(|x| x.to_be_bytes()).collect()].concat();
    open(&[File::new("inputs.idx", bytes)], &options(json))
}

#[test]
fn channels_that_lie_last_are_put_first() {
    let values: Vec<f64> = (0..24).map(f64::from).collect();
    let first = [0, 3, 6, 9, 12, 15, 18, 21].map(f64::from);
    let reordered: Vec<f64> = (0..3).flat_map(|c| first.map(|x| x + f64::from(c))).collect();
    for json in ["{}", "{\"shape\": [3, 2, 4]}", "{\"shape\": [24]}"] {
        let data = of_numbers(&[1, 2, 4, 3], &values, json).expect("data");
        assert_eq!(data.inputs, Values::F64(reordered.clone()), "{json}");
    }
    let data = of_numbers(&[1, 2, 4, 3], &values, "{\"shape\": [2, 4, 3]}").expect("data");
    assert_eq!(data.inputs, Values::F64(values.clone()));
    let normalized = "{\"normalization\": {\"mean\": [0, 1, 2], \"deviation\": [1, 2, 4], \"divisor\": 1}}";
    let data = of_numbers(&[1, 2, 4, 3], &values, normalized).expect("data");
    let expected = (0..3).flat_map(|c| first.map(|x| x / [1.0, 2.0, 4.0][c]));
    assert_eq!(data.inputs, Values::F64(expected.collect()));
    assert_eq!(data.overview().mean, [10.5, 5.25, 2.625]);
}

#[test]
fn numbers_that_look_like_pixels_are_spoken_of() {
    let told = |data: &Dataset, what: &str| data.notes.iter().any(|note| note.contains(what));
    let image = |values: [f64; 4], json: &str| of_numbers(&[1, 2, 2], &values, json).expect("data");
    let data = image([0.0, 17.0, 255.0, 3.5], "{}");
    assert!(told(&data, "look like pixels") && data.normalization.is_none(), "{:?}", data.notes);
    let data = image([0.0, 51.0, 255.0, 102.0], "{\"normalization\": \"minus_one_to_one\"}");
    assert_eq!(data.inputs.to_f64(), [-1.0, (0.2 - 0.5) / 0.5, 1.0, (0.4 - 0.5) / 0.5]);
    assert!(told(&data, "were divided by 255"), "{:?}", data.notes);
    let data = image([0.0, 0.25, 1.0, 0.5], "{\"normalization\": \"minus_one_to_one\"}");
    assert_eq!(data.inputs.to_f64(), [-1.0, -0.5, 1.0, 0.0]);
    assert_eq!(data.normalization.as_ref().map(|found| found.divisor), Some(1.0));
    for values in [[0.0, 0.25, 1.0, 0.5], [-1.0, 17.0, 200.0, 0.0], [0.0, 17.0, 256.0, 0.0]] {
        assert!(!told(&image(values, "{}"), "look like"), "{values:?}");
    }
}

#[test]
fn what_is_not_finite_is_refused_with_its_place() {
    let found = of_numbers(&[2, 3], &[0.0, 1.0, 2.0, 3.0, f64::NAN, 5.0], "{}").expect_err("NaN");
    assert_eq!(
        (found.code, found.message.as_str()),
        (ErrorCode::NotFinite, "input 1 of sample 1 is NaN, but must be finite")
    );
    let mut values = [0.0; 24];
    values[13] = f64::INFINITY;
    let found = of_numbers(&[1, 2, 4, 3], &values, "{}").expect_err("inf");
    assert!(found.message.contains("(channel 1, row 1, column 0)"), "{found}");
    assert!(of_numbers(&[0, 3], &[], "{}").expect_err("none").message.contains("no samples"));
    assert!(of_numbers(&[2, 0], &[], "{}").expect_err("none").message.contains("without any values"));
}

#[test]
fn an_overview_says_what_came_in() {
    let values = [1.0, 2.0, 3.0, 4.0, -1.0, 0.0, 1.0, 2.0, 5.0, 5.0, 5.0, 5.0, 7.0, 7.0, 7.0, 7.0];
    let found = of_numbers(&[2, 2, 2, 2], &values, "{\"shape\": [2, 2, 2]}").expect("data").overview();
    assert_eq!((found.samples, found.shape, found.minimum, found.maximum), (2, vec![2, 2, 2], -1.0, 7.0));
    assert_eq!(found.mean, [3.75, 3.75]);
    // numpy: values.reshape(2, 2, 4).std((0, 2))
    let expected = [1.479019945774904, 3.344_772_040_064_913];
    assert!(found.deviation.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14), "{:?}", found.deviation);
    let flat = of_numbers(&[2, 2], &[1e300, 1e300, -1e300, -1e300], "{}").expect("data").overview();
    assert!(flat.mean == [0.0] && (flat.deviation[0] / 1e300 - 1.0).abs() < 1e-14 && flat.counts.is_empty());
}
