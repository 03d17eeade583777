//! Files of weights beside a model. They are known by the model, which names them, or by the names that exporters give them.

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

/// Does a model among these files say that some of its numbers lie in this one, whatever it is called?
pub fn is_named(file: &File, files: &[File]) -> bool {
    let others = files.iter().filter(|other| other.base() != file.base());
    others.filter(|other| is_model(other)).any(|model| names(&model.bytes, file.base()))
}

/// Does an initializer's `location` end in this name? Only keys are looked at, so it takes no longer for many weights.
fn names(model: &[u8], base: &str) -> bool {
    /// `ModelProto.graph`, `GraphProto.initializer`, `TensorProto.external_data`, `StringStringEntryProto.value`.
    const WAY: [u64; 4] = [7, 5, 13, 2];
    let mut found = vec![model];
    for number in WAY {
        let of = |message| Fields::of(message).map_while(Result::ok).filter(|field| field.number == number);
        found = found.into_iter().flat_map(of).map(|field| field.content()).collect();
    }
    found.iter().any(|value| value.rsplit(|&byte| matches!(byte, b'/' | b'\\')).next() == Some(base.as_bytes()))
}
