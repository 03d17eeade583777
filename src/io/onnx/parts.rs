//! Files of weights beside a model. They are known by the model, which names them, or by the names that exporters give them.

use std::collections::HashSet;

use super::is_model;
use super::wire::Fields;
use crate::io::File;
use crate::io::format::{Content, Format};

/// Weights without their model; `.data` alone is many a thing.
pub const PART: Format = Format {
    name: "weights of ONNX (.onnx.data)",
    is: |file| file.has_extension("onnx_data") || file.base().to_ascii_lowercase().ends_with(".onnx.data"),
    read: |_, _| Ok(Content::Part),
};

/// Those of these names without folders that a model says its numbers lie in, whatever they are called.
pub fn named<'a>(model: &File, bases: &HashSet<&'a str>) -> HashSet<&'a str> {
    let mut found = HashSet::new();
    if is_model(model) {
        for way in WAYS {
            visit(&model.bytes, way, &mut |location| {
                let base = location.rsplit(|&byte| matches!(byte, b'/' | b'\\')).next().unwrap_or(location);
                found.extend(str::from_utf8(base).ok().and_then(|base| bases.get(base)));
            });
        }
        found.remove(model.base());
    }
    found
}

/// `ModelProto.graph`, `GraphProto.initializer`, `TensorProto.external_data`, `StringStringEntryProto.value`; and of a Constant
/// `GraphProto.node`, `NodeProto.attribute`, `AttributeProto.t` and so on.
const WAYS: [&[u64]; 2] = [&[7, 5, 13, 2], &[7, 1, 5, 5, 13, 2]];

/// Every field that these numbers lead to, one message in the other. Only keys are looked at, so it takes no longer for many weights.
fn visit<'a>(message: &'a [u8], way: &[u64], see: &mut dyn FnMut(&'a [u8])) {
    let Some((number, way)) = way.split_first() else { return see(message) };
    for field in Fields::of(message).map_while(Result::ok).filter(|field| field.number == *number) {
        visit(field.content(), way, see);
    }
}
