//! Models in a few lines.

use prost::Message;

use super::super::proto::*;
use super::super::{Asked, read};
use crate::error::Error;
use crate::io::{File, Graph};

/// An attribute with whole numbers.
pub fn ints(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto { name: name.into(), ints: values.to_vec(), ..Default::default() }
}

pub fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto { name: name.into(), i, ..Default::default() }
}

pub fn node(op: &str, input: &[&str], output: &str, attribute: Vec<AttributeProto>) -> NodeProto {
    let input = input.iter().map(|name| name.to_string()).collect();
    NodeProto { op_type: op.into(), input, output: vec![output.into()], attribute, ..Default::default() }
}

pub fn tensor(name: &str, dims: &[i64], value: impl Fn(usize) -> f32) -> TensorProto {
    let count = dims.iter().product::<i64>() as usize;
    TensorProto {
        name: name.into(),
        dims: dims.to_vec(),
        data_type: 1,
        float_data: (0..count).map(value).collect(),
        ..Default::default()
    }
}

pub fn whole(name: &str, values: &[i64]) -> TensorProto {
    let dims = vec![values.len() as i64];
    TensorProto { name: name.into(), dims, data_type: 7, int64_data: values.to_vec(), ..Default::default() }
}

pub fn info(name: &str, lengths: &[i64]) -> ValueInfoProto {
    let open = Dimension { dim_value: None, dim_param: Some("N".into()) };
    let dim = lengths.iter().map(|&n| Dimension { dim_value: Some(n), dim_param: None });
    let shape = TensorShapeProto { dim: std::iter::once(open).chain(dim).collect() };
    let tensor_type = Some(TensorTypeProto { elem_type: 1, shape: Some(shape) });
    ValueInfoProto { name: name.into(), r#type: Some(TypeProto { tensor_type }) }
}

/// A model over x with these nodes, the last of which gives y.
pub fn model(shape: &[i64], node: Vec<NodeProto>, initializer: Vec<TensorProto>) -> ModelProto {
    let graph = GraphProto {
        node,
        initializer,
        input: vec![info("x", shape)],
        output: vec![info("y", &[])],
        sparse_initializer: Vec::new(),
    };
    let opset = OperatorSetIdProto { domain: String::new(), version: 13 };
    ModelProto { ir_version: 8, graph: Some(graph), opset_import: vec![opset], functions: Vec::new() }
}

pub fn opened(model: &ModelProto) -> Result<Graph, Error> {
    read(&File::new("m.onnx", model.encode_to_vec()), &[], Asked::default())
}

/// A model of one node between an input and a dense layer.
pub fn around(shape: &[i64], op: &str, more: &[&str], attribute: Vec<AttributeProto>) -> ModelProto {
    let inputs = [&["x"], more].concat();
    let features = shape.iter().product();
    let nodes = vec![
        node(op, &inputs, "a", attribute),
        node("Flatten", &["a"], "f", vec![]),
        node("MatMul", &["f", "w"], "y", vec![]),
    ];
    let mut tensors = vec![
        tensor("w", &[features, 2], |i| i as f32 / 7.0 - 1.0),
        tensor("k", &[2, 2, 3, 3], |i| i as f32 / 11.0 - 1.0),
        tensor("five", &[], |_| 5.0),
        tensor("six", &[], |_| 6.0),
        tensor("zero", &[], |_| 0.0),
        tensor("slopes", &[2, 1, 1], |i| 0.1 + i as f32),
        tensor("full", shape, |i| i as f32),
        tensor("channel", &[2, 1, 1], |i| 1.0 + i as f32),
    ];
    tensors.push(whole("one_each", &[0, 0, 1, 1, 0, 0, 1, 1]));
    model(shape, nodes, tensors)
}
