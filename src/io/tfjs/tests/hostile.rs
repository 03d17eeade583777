//! Files that were changed at random: an error or a model, no panic, and soon.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::super::super::{File, Model, ModelOptions, open_model};
use super::{FIXTURES, graph};

/// Every value of a JSON, one after the other.
fn values<'a>(value: &'a mut Value, at: &mut usize, wanted: usize) -> Option<&'a mut Value> {
    if *at == wanted {
        return Some(value);
    }
    *at += 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| values(item, at, wanted)),
        Value::Object(map) => map.values_mut().find_map(|item| values(item, at, wanted)),
        _ => None,
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum(),
        _ => 0,
    }
}

/// Something else in the place of a value, or of another's.
fn replacement(random: &mut ChaCha8Rng, old: &Value, all: &Value) -> Value {
    let huge = [json!(u64::MAX), json!(1u64 << 62), json!(1u64 << 32), json!(1 << 30), json!(65536), json!(1e300)];
    let small = [json!(0), json!(1), json!(2), json!(3), json!(7), json!(-1), json!(0.5), json!(i64::MIN)];
    let other = [
        Value::Null,
        json!(true),
        json!("x"),
        json!("same"),
        json!([]),
        json!({}),
        json!([0, 0]),
        json!([[1, 9], [1 << 20, 0]]),
    ];
    match random.random_range(0..6) {
        0 => huge[random.random_range(0..huge.len())].clone(),
        1 | 2 => small[random.random_range(0..small.len())].clone(),
        3 => other[random.random_range(0..other.len())].clone(),
        4 => match old {
            Value::Array(items) if !items.is_empty() => {
                let mut items = items.clone();
                let i = random.random_range(0..items.len());
                if random.random() {
                    items.remove(i);
                } else {
                    items.insert(i, items[i].clone());
                }
                Value::Array(items)
            }
            Value::String(_) => {
                let classes = [
                    "Dense",
                    "Conv2D",
                    "Flatten",
                    "Add",
                    "Concatenate",
                    "ZeroPadding2D",
                    "MaxPooling2D",
                    "softmax",
                    "Reshape",
                ];
                json!(classes[random.random_range(0..classes.len())])
            }
            Value::Number(number) => json!(number.as_i64().unwrap_or(1).wrapping_add(random.random_range(-2..=2))),
            other => other.clone(),
        },
        _ => {
            let mut all = all.clone();
            let wanted = random.random_range(0..count(&all));
            values(&mut all, &mut 0, wanted).map(std::mem::take).unwrap_or_default()
        }
    }
}

#[test]
fn changed_topologies_do_not_panic() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut read = 0;
    for fixture in FIXTURES {
        let mut files = fixture.files();
        let original: Value = serde_json::from_slice(fixture.json).expect("a JSON");
        let total = count(&original);
        for _ in 0..800 {
            let mut json = original.clone();
            for _ in 0..random.random_range(1..3) {
                let wanted = random.random_range(0..total);
                if let Some(value) = values(&mut json, &mut 0, wanted) {
                    *value = replacement(&mut random, value, &original);
                }
            }
            files[0] = File::new(files[0].name.clone(), json.to_string().into_bytes());
            if let Ok(graph) = graph(&files[0], &files) {
                read += usize::from(Model::new(graph).is_ok());
            }
        }
    }
    // Some changes change nothing that counts, so that the readers went all the way.
    assert!(read > 500, "{read}");
}

#[test]
fn changed_bytes_do_not_panic() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for fixture in FIXTURES {
        let original = fixture.files();
        for _ in 0..400 {
            let mut files = original.clone();
            let i = random.random_range(0..files.len());
            let bytes = files[i].bytes.to_mut();
            let at = random.random_range(0..bytes.len());
            match random.random_range(0..5) {
                0 => bytes.truncate(at),
                1 => bytes[at] ^= 1 << random.random_range(0..8),
                2 => {
                    let end = (at + 40).min(bytes.len());
                    let part = bytes[at..end].to_vec();
                    let to = random.random_range(0..bytes.len());
                    bytes.splice(to..to, part);
                }
                3 => bytes[at] = random.random(),
                _ => {
                    files.remove(i);
                }
            }
            // With fewer files there may be none.
            let _ = open_model(&files, &ModelOptions::default());
        }
    }
}

/// Depth and width that a real model does not have.
#[test]
fn long_chains_and_deep_nests_end() {
    let bin = File::new("w.bin", &[][..]);
    let read = |topology: Value| {
        let manifest = json!([{ "paths": ["w.bin"], "weights": [] }]);
        let text = json!({ "modelTopology": topology, "weightsManifest": manifest }).to_string();
        let files = [File::new("model.json", text.into_bytes()), bin.clone()];
        graph(&files[0], &files).map(|graph| graph.nodes.len()).map_err(|error| error.message)
    };
    let relu = |name: usize, from: String| json!({ "class_name": "ReLU", "name": name.to_string(), "config": {}, "inbound_nodes": [[[from, 0, 0, {}]]] });
    let input = json!({ "class_name": "InputLayer", "name": "in", "config": { "batch_input_shape": [null, 4] }, "inbound_nodes": [] });
    let functional = |layers: Vec<Value>, last: &str| {
        let layers: Vec<Value> = std::iter::once(input.clone()).chain(layers).collect();
        let ends = json!([[last, 0, 0]]);
        json!({ "class_name": "Model", "config": { "layers": layers, "input_layers": [["in", 0, 0]], "output_layers": ends } })
    };
    // A chain of 20 000: it ends with an activation, which is what is said of it.
    let from = |i: usize| if i == 0 { "in".to_string() } else { (i - 1).to_string() };
    let long = read(functional((0..20_000).map(|i| relu(i, from(i))).collect(), "19999"));
    assert!(long.as_ref().is_err_and(|message| message.contains("ends with an activation")), "{long:?}");
    // One layer at 20 000 uses, each of the one before.
    let mut many = relu(0, "in".into());
    many["inbound_nodes"] =
        (0..20_000).map(|i| if i == 0 { json!([["in", 0, 0, {}]]) } else { json!([["0", i - 1, 0, {}]]) }).collect();
    let mut many = functional(vec![many], "0");
    many["config"]["output_layers"] = json!([["0", 19_999, 0]]);
    let many = read(many);
    assert!(many.as_ref().is_err_and(|message| message.contains("ends with an activation")), "{many:?}");
    // Rows that are put together with themselves, of two parts each at first.
    let layer = |name: &str, class: &str, from: &[&str]| {
        let from: Vec<Value> = from.iter().map(|from| json!([from, 0, 0, {}])).collect();
        json!({ "class_name": class, "name": name, "config": {}, "inbound_nodes": [from] })
    };
    let mut layers = vec![layer("c0", "Flatten", &["in"])];
    layers.extend((1..27).map(|i| layer(&format!("c{i}"), "Concatenate", &[&format!("c{}", i - 1)[..]; 2])));
    let mut doubled = functional(layers, "c26");
    doubled["config"]["layers"][0]["config"]["batch_input_shape"] = json!([null, 2, 1, 2]);
    let doubled = read(doubled);
    assert!(doubled.as_ref().is_err_and(|message| message.contains("over 1048576 parts")), "{doubled:?}");
    // A model that doubles what is in it at each depth.
    let mut doubled = json!({ "class_name": "ReLU", "name": "r", "config": {} });
    for depth in 0..14 {
        let one = |name: &str, from: &str| {
            let mut layer = doubled.clone();
            layer["name"] = name.into();
            layer["inbound_nodes"] =
                json!([[[from, 0, 0, {}]], [[name, 0, 0, {}]], [[name, 1, 0, {}]], [[name, 2, 0, {}]]]);
            layer
        };
        let mut model = functional(vec![one("x", "in")], "x");
        model["config"]["output_layers"] = json!([["x", 3, 0]]);
        doubled = model;
        doubled["name"] = format!("m{depth}").into();
    }
    let found = read(doubled);
    assert!(found.as_ref().is_err_and(|message| message.contains("over 262144 layers")), "{found:?}");
    // Deeper than is followed, and deeper than a JSON is read.
    let nested = |depth: usize| {
        (0..depth).fold(
            json!({ "class_name": "Dense", "config": { "batch_input_shape": [null, 4], "units": 2, "name": "d" } }),
            |inner, _| json!({ "class_name": "Sequential", "config": { "layers": [inner] } }),
        )
    };
    assert!(read(nested(18)).expect_err("deep").contains("more than 16 deep"));
    assert!(read(nested(16)).expect_err("no weights").contains("no weight \"d/kernel\""));
    assert!(read(nested(100)).expect_err("very deep").contains("is no JSON"));
}
