//! Models with other weights.

use std::collections::BTreeMap;

use super::super::Asked;
use super::super::proto::{ModelProto, TensorProto};
use super::super::tensor::{self, Beside};
use super::super::wire::{Fields, put_key};
use super::*;
use crate::error::ErrorCode;
use prost::Message;

/// Parameters that are others, but of the same size; whole multiples of 2⁻⁸, which half precisions have too.
fn moved(parameters: &[f64]) -> Vec<f64> {
    let drawn = |i: usize| ((i * 7919 + 13) % 257) as f64 / 256.0 - 0.5;
    parameters.iter().enumerate().map(|(i, _)| drawn(i)).collect()
}

/// A file with the parameters moved, and what they are.
fn rewritten(name: &str, files: &[File]) -> (Vec<u8>, Vec<f64>) {
    let model = Model::new(super::super::read(&files[0], files, Asked::default()).expect("a graph")).expect("a model");
    let parameters = moved(&model.parameters);
    let tensors = model.tensors(&parameters).unwrap_or_else(|error| panic!("{name}: {error}"));
    (super::super::write(&files[0], files, &tensors).unwrap_or_else(|error| panic!("{name}: {error}")), parameters)
}

#[test]
fn weights_that_are_written_are_those_that_are_read_again() {
    let records = records();
    for (name, bytes) in FIXTURES {
        let files = files(name, bytes);
        let (written, parameters) = rewritten(name, &files);
        // Alone: what lay in another file is within now.
        let again = super::super::read(&File::new("again.onnx", written), &[], Asked::default()).expect("a graph");
        let again = Model::new(again).expect("a model");
        let inputs = &records[*name].inputs;
        let before = Model::new(opened(name)).expect("a model");
        let found = naive::outputs(&again.network, &again.parameters, inputs);
        let expected = naive::outputs(&before.network, &parameters, inputs);
        assert_near(name, &found, &expected, 2e-6);
        let unmoved = naive::outputs(&before.network, &before.parameters, inputs);
        assert!(unmoved.iter().zip(&found).any(|(a, b)| (a - b).abs() > 1e-3), "{name} has not changed");
    }
}

#[test]
fn all_but_the_numbers_stays_as_it_is() {
    // Fields that are not known, in the model, in the graph and in a tensor.
    let strange = {
        let mut field = Vec::new();
        put_key(&mut field, 1234, 5);
        field.extend(b"fresh");
        field
    };
    let mut file = Vec::new();
    for field in Fields::of(bytes_of("mlp")) {
        let field = field.expect("a field");
        if field.number != 7 {
            file.extend(field.bytes);
            continue;
        }
        let mut graph = strange.clone();
        for field in Fields::of(field.content()) {
            let field = field.expect("a field");
            if field.number == 5 {
                let tensor = [field.content(), &strange].concat();
                put_key(&mut graph, 5, tensor.len());
                graph.extend(tensor);
            } else {
                graph.extend(field.bytes);
            }
        }
        put_key(&mut file, 7, graph.len());
        file.extend(graph);
    }
    file.extend(&strange);
    let count = |bytes: &[u8]| bytes.windows(strange.len()).filter(|window| *window == strange).count();
    let files = files("mlp", &file);
    let (written, _) = rewritten("mlp", &files);
    assert_eq!((count(&file), count(&written)), (8, 8));
    let without = |bytes: &[u8]| {
        let mut model = ModelProto::decode(bytes).expect("a model");
        model.graph.as_mut().expect("a graph").initializer.iter_mut().for_each(|tensor| tensor.raw_data.clear());
        model
    };
    assert_eq!(without(&file), without(&written));
    assert_eq!(super::super::write(&files[0], &files, &BTreeMap::new()).expect("the same"), file);
}

#[test]
fn a_model_is_saved_as_the_file_that_it_was() {
    let files = files("external", bytes_of("external"));
    let options = crate::io::ModelOptions::default();
    let parameters = moved(&crate::io::open_model(&files, &options).expect("a model").model.parameters);
    let saved = crate::io::save_model(&files, &options, &parameters, crate::io::SaveFormat::Onnx).expect("a file");
    let again = crate::io::open_model(&[File::new("again.onnx", saved)], &options).expect("a model");
    assert_eq!(again.model.parameters, parameters);
}

#[test]
fn tensors_keep_their_precision() {
    let files = files("half", bytes_of("half"));
    let (written, _) = rewritten("half", &files);
    let model = ModelProto::decode(&written[..]).expect("a model");
    let kinds: Vec<i32> = model.graph.expect("a graph").initializer.iter().map(|tensor| tensor.data_type).collect();
    assert_eq!(kinds, [10; 4]);
}

#[test]
fn tensors_that_do_not_fit_are_refused() {
    let files = files("mlp", bytes_of("mlp"));
    let of = |name: &str, values: Vec<f64>| {
        super::super::write(&files[0], &files, &BTreeMap::from([(name.to_string(), values)]))
            .expect_err("no such tensor")
    };
    assert_eq!(of("missing", vec![1.0]).code, ErrorCode::InvalidOption);
    assert!(of("layers.0.bias", vec![1.0]).message.contains("[7]"));
    assert_eq!(of("layers.0.bias", vec![1e39; 7]).code, ErrorCode::OutOfRange);
}

#[test]
fn a_bias_of_another_file_is_written_into_this_one() {
    let files = files("external", bytes_of("external"));
    let values = BTreeMap::from([("b1".to_string(), vec![1.0, 2.0, 3.0])]);
    let written = super::super::write(&files[0], &files, &values).expect("a file");
    let graph = ModelProto::decode(&written[..]).expect("a model").graph.expect("a graph");
    let of =
        |name: &str| -> TensorProto { graph.initializer.iter().find(|t| t.name == name).expect("a tensor").clone() };
    let old = ModelProto::decode(bytes_of("external")).expect("a model").graph.expect("a graph");
    for tensor in &old.initializer {
        let found = tensor::read(&of(&tensor.name), "", Beside::default()).expect("within").to_f64().expect("numbers");
        let expected =
            tensor::read(tensor, "", Beside::new(&files[0], &files)).expect("beside").to_f64().expect("numbers");
        assert_eq!(found, if tensor.name == "b1" { vec![1.0, 2.0, 3.0] } else { expected });
    }
    assert!(super::super::write(&files[0], &[], &values).is_err(), "the other file is needed");
}
