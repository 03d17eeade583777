//! What is refused, and what is said of it.

use serde_json::{Value, json};

use super::super::super::{File, ModelOptions, Operation, format, open_model};
use super::{Fixture, changed, graph};
use crate::error::ErrorCode;
use crate::network::Layer;

/// The layer of a name, wherever in the model it is.
fn layer<'a>(json: &'a mut Value, name: &str) -> &'a mut Value {
    let topology = &mut json["modelTopology"];
    let model = if topology.get("model_config").is_some() { &mut topology["model_config"] } else { topology };
    let layers = model["config"]["layers"].as_array_mut().expect("layers");
    layers.iter_mut().find(|layer| layer["config"]["name"] == name).expect("a layer of that name")
}

fn refused(fixture: &str, code: ErrorCode, says: &[&str], change: impl Fn(&mut Value)) {
    let error = changed(Fixture::get(fixture), change).expect_err(says[0]);
    assert_eq!(error.code, code, "{error}");
    for says in says {
        assert!(error.message.contains(says), "{says}: {error}");
    }
}

#[test]
fn layers_that_are_not_there_are_refused_by_name() {
    use ErrorCode::InvalidNetwork;
    let class = |name: &'static str, class: &'static str| {
        move |json: &mut Value| layer(json, name)["class_name"] = class.into()
    };
    refused(
        "mlp",
        InvalidNetwork,
        &["layer \"dropout\" (LSTM)", "isoflat has no LSTM", "no sequences"],
        class("dropout", "LSTM"),
    );
    refused("mlp", InvalidNetwork, &["\"dropout\" (Rescaling)", "to the data before"], class("dropout", "Rescaling"));
    refused("mlp", InvalidNetwork, &["(Nonsense)", "it has Dense"], class("dropout", "Nonsense"));
    refused("residual", InvalidNetwork, &["layer \"sum\" (Multiply)", "Add and Concatenate"], class("sum", "Multiply"));
    refused("residual", InvalidNetwork, &["layer \"sum_relu\" (ELU)", "activation ELU"], class("sum_relu", "ELU"));
    let activation =
        |name: &'static str| move |json: &mut Value| layer(json, "first")["config"]["activation"] = name.into();
    refused("mlp", InvalidNetwork, &["the activation selu"], activation("selu"));
    refused("mlp", InvalidNetwork, &["layer \"second\" (Dense) reads a softmax", "none within"], activation("softmax"));
}

/// A name within a layer, or a ReLU with that largest value.
#[test]
fn a_relu_that_ends_at_6_is_known() {
    let capped = |fixture, change: &dyn Fn(&mut Value)| {
        let found = changed(Fixture::get(fixture), change).expect("a graph");
        found.nodes.iter().filter(|node| matches!(node.operation, Operation::Layer { layer: Layer::Relu6, .. })).count()
    };
    assert_eq!(capped("mlp", &|json| layer(json, "first")["config"]["activation"] = "relu6".into()), 1);
    let inner = |json: &mut Value| layer(json, "inner")["config"]["layers"][1]["config"]["max_value"] = 6.into();
    assert_eq!(capped("nested", &inner), 1);
}

#[test]
fn ends_and_values_are_checked() {
    use ErrorCode::{InvalidNetwork, Parse};
    refused("mlp", InvalidNetwork, &["ends with an activation, sigmoid", "several sigmoids"], |json| {
        layer(json, "last")["config"]["activation"] = "sigmoid".into();
    });
    refused("nested", InvalidNetwork, &["layer \"inner/deep_relu\" (ReLU)", "max_value 5", "cut off above"], |json| {
        layer(json, "inner")["config"]["layers"][1]["config"]["max_value"] = 5.into();
    });
    refused("lenet", InvalidNetwork, &["\"s4\" (AveragePooling2D)", "not in the mean of TensorFlow"], |json| {
        layer(json, "s4")["config"]["padding"] = "same".into();
    });
    refused("lenet", Parse, &["\"c1\" (Conv2D)", "strides must be", "[1,-1]"], |json| {
        layer(json, "c1")["config"]["strides"] = json!([1, -1]);
    });
    refused("lenet", InvalidNetwork, &["\"f5/kernel\" has shape", "must have [8, 7]"], |json| {
        layer(json, "f5")["config"]["units"] = 7.into()
    });
    refused("residual", InvalidNetwork, &["\"a_norm\" (BatchNormalization)", "axis 1 of [3, 3, 4]"], |json| {
        layer(json, "a_norm")["config"]["axis"] = 1.into();
    });
    refused("lenet", InvalidNetwork, &["differ in data_format"], |json| {
        layer(json, "s2")["config"]["data_format"] = "channels_first".into();
    });
    refused("lenet", InvalidNetwork, &["leaves a length open"], |json| {
        layer(json, "c1")["config"]["batch_input_shape"][1] = Value::Null;
    });
    refused("mlp", InvalidNetwork, &["does not say what shape"], |json| {
        layer(json, "first")["config"]["batch_input_shape"] = Value::Null;
    });
    // Around the image of a maximum there are no zeros, unless they are below all values.
    refused("keras2/model", InvalidNetwork, &["\"pool\" (MaxPooling2D)", "may be negative"], |json| {
        layer(json, "stem_relu")["config"]["activation"] = "linear".into();
    });
    refused("keras2/model", InvalidNetwork, &["\"stem\" (BatchNormalization)", "ZeroPadding2D"], |json| {
        layer(json, "stem")["class_name"] = "BatchNormalization".into();
    });
}

#[test]
fn a_weight_that_two_layers_share_is_refused() {
    // The last row is read by the first layer again, as a functional model may.
    refused(
        "keras3_grouped/model",
        ErrorCode::InvalidNetwork,
        &["\"depthwise\" (DepthwiseConv2D) is used twice"],
        |json| {
            layer(json, "shared")["class_name"] = "Dropout".into();
            let nodes = layer(json, "depthwise")["inbound_nodes"].as_array().expect("nodes").clone();
            layer(json, "depthwise")["inbound_nodes"] = json!([nodes[0], nodes[0]]);
            let text = layer(json, "narrow")["inbound_nodes"].to_string();
            layer(json, "narrow")["inbound_nodes"] =
                serde_json::from_str(&text.replace("[\"depthwise\",0,0]", "[\"depthwise\",1,0]")).expect("a JSON");
        },
    );
}

#[test]
fn wiring_is_checked() {
    use ErrorCode::{InvalidNetwork, Parse};
    let ends =
        |key: &'static str, ends: Value| move |json: &mut Value| json["modelTopology"]["config"][key] = ends.clone();
    refused(
        "residual",
        InvalidNetwork,
        &["has 2 outputs"],
        ends("output_layers", json!([["last", 0, 0], ["mean", 0, 0]])),
    );
    refused(
        "residual",
        InvalidNetwork,
        &["has 2 inputs"],
        ends("input_layers", json!([["image", 0, 0], ["image", 0, 0]])),
    );
    refused("residual", Parse, &["no layer \"nobody\""], ends("output_layers", json!([["nobody", 0, 0]])));
    refused("residual", Parse, &["reads what it gives itself"], |json| {
        layer(json, "start")["inbound_nodes"] = json!([[["sum", 0, 0, {}]]]);
    });
    refused("residual", InvalidNetwork, &["training = true"], |json| {
        layer(json, "b")["inbound_nodes"][0][0][3] = json!({ "training": true });
    });
    refused("residual", InvalidNetwork, &["whose layers are in a program"], |json| {
        json["modelTopology"]["class_name"] = "Custom".into();
    });
    // One output without the list around it is as good, and layers that it does not need are left out.
    let graph = changed(Fixture::get("residual"), |json| {
        json["modelTopology"]["config"]["output_layers"] = json!(["last", 0, 0]);
        json["modelTopology"]["config"]["input_layers"] = json!(["image", 0, 0]);
    });
    assert!(graph.expect("a graph").notes.iter().all(|note| !note.contains("softmax")));
}

#[test]
fn weights_are_checked() {
    use ErrorCode::{InvalidNetwork, Parse};
    let weight = |at: usize, key: &'static str, value: Value| {
        move |json: &mut Value| json["weightsManifest"][0]["weights"][at][key] = value.clone()
    };
    refused(
        "mlp",
        InvalidNetwork,
        &["\"first/kernel\" has shape [5, 4], but must have [4, 5]"],
        weight(0, "shape", json!([5, 4])),
    );
    refused("mlp", Parse, &["goes beyond the 328 bytes"], weight(0, "shape", json!([400, 5])));
    refused("mlp", Parse, &["goes beyond"], weight(0, "shape", json!([u64::MAX, 5])));
    refused("mlp", Parse, &["have 328 bytes", "take 324"], weight(5, "shape", json!([2])));
    refused(
        "mlp",
        Parse,
        &["no weight \"first/kernel\"", "it has other, first/bias"],
        weight(0, "name", json!("other")),
    );
    refused("mlp", Parse, &["two weights of the name \"first/bias\""], weight(0, "name", json!("first/bias")));
    refused("mlp", Parse, &["dtype string"], weight(0, "dtype", json!("string")));
    refused("mlp", Parse, &["there is no weightsManifest"], |json| json["weightsManifest"] = Value::Null);
    refused("mlp", Parse, &["names \"mlp.bin\" twice"], |json| {
        json["weightsManifest"][0]["paths"] = json!(["mlp.bin", "./mlp.bin"]);
    });
    refused("quantized", Parse, &["no scale and min"], weight(0, "quantization", json!({ "dtype": "uint8" })));
    // A model's name before the layers', as Keras 3 may write it.
    let graph = changed(Fixture::get("mlp"), weight(0, "name", json!("mlp/first/kernel:0")));
    assert_eq!(
        graph,
        changed(Fixture::get("mlp"), |_| ()).map(|mut graph| {
            if let super::super::super::Operation::Layer { weight: Some(weight), .. } = &mut graph.nodes[0].operation {
                weight.place.as_mut().expect("a place").tensor = "mlp/first/kernel".into();
            }
            graph
        })
    );
}

#[test]
fn shards_are_found_and_missed() {
    let fixture = Fixture::get("lenet");
    let all = fixture.files();
    let error = graph(&all[0], &all[..2]).expect_err("two are missing");
    assert!(
        error.message.contains("lenet-group1-shard2of3.bin, lenet-group1-shard3of3.bin, which are not there"),
        "{error}"
    );
    let error = open_model(&all[1..2], &ModelOptions::default()).expect_err("a shard alone");
    assert!(error.message.contains("together with the model.json"), "{error}");
    let mut more = all.clone();
    more.push(File::new("other.bin", &b"1234"[..]));
    let error = open_model(&more, &ModelOptions::default()).expect_err("a shard of another model");
    assert!(error.message.starts_with("other.bin: ") && error.message.contains("does not name it"), "{error}");
    let opened = open_model(&all, &ModelOptions::default()).expect("a model");
    assert_eq!(opened.format, "TensorFlow.js layers model");
    // In another folder, and in another order.
    let mut moved: Vec<File> =
        all.iter().map(|file| File::new(format!("a/b/{}", file.name), file.bytes.clone())).collect();
    moved.reverse();
    let found = open_model(&moved, &ModelOptions::default()).expect("a model");
    assert_eq!(found.model.parameters, opened.model.parameters);
    // The same names in two folders.
    let twice: Vec<File> =
        moved[..3].iter().map(|file| File::new(file.name.replace("a/", "c/"), file.bytes.clone())).collect();
    let beside: Vec<File> = [&moved[..], &twice].concat();
    assert!(graph(&beside[3], &beside).is_ok());
    let apart = File::new("lenet.json", fixture.json);
    let files: Vec<File> = [&[apart][..], &moved[..3], &twice].concat();
    let error = graph(&files[0], &files).expect_err("which?");
    assert!(error.message.contains("several of the files could be"), "{error}");
}

#[test]
fn what_is_no_layers_model_is_refused_with_a_way_on() {
    let read = |name: &str, bytes: &[u8]| {
        let file = File::new(name, bytes.to_vec());
        format::read(&file, std::slice::from_ref(&file)).map(|_| ()).expect_err(name).message
    };
    let hdf5 = read("model.h5", b"\x89HDF\r\n\x1a\n....");
    assert!(hdf5.contains("HDF5") && hdf5.contains("tensorflowjs_converter") && hdf5.contains("np.savez"), "{hdf5}");
    let zip = read("model.keras", b"PK\x03\x04....model.weights.h5....");
    assert!(zip.contains("HDF5 in a zip"), "{zip}");
    assert!(read("model.zip", b"PK\x03\x04....model.weights....").contains("zip archive without arrays or images"));
    let frozen = read("model.json", br#"{"format": "graph-model", "modelTopology": {"node": []}}"#);
    assert!(frozen.contains("graph model") && frozen.contains("tf2onnx"), "{frozen}");
    let empty = read("model.json", br#"{"modelTopology": {}}"#);
    assert!(empty.contains("no class_name"), "{empty}");
}
