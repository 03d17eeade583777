//! ONNX: a protocol buffer with a graph of operators and its weights, which may lie in a file beside it. A graph of dense layers,
//! convolutions, pools, activations and what goes between them becomes isoflat's layers; everything else is refused by name.
//!
//! What is read takes at most 200 times the files' bytes and 8 MiB more: up to 64 times the messages (`weigh.rs`) and as much the
//! numbers that are copied out of them (`reader.rs`), the rest tables of names. Models that programs write take 5 to 30.

mod activation;
mod builder;
mod constant;
mod convert;
mod ends;
mod function;
mod joins;
mod linear;
mod node;
mod parts;
mod pointwise;
mod proto;
mod reader;
mod reshape;
mod shapes;
mod slices;
mod tensor;
#[cfg(test)]
mod tests;
mod weigh;
mod weights;
mod whole;
mod windows;
mod wire;
mod write;

use prost::Message;
use prost::bytes::Bytes;

use super::format::{Content, Format};
use super::{File, Graph};
use crate::error::{Error, ErrorCode, Result};
use crate::memory::copied;
use proto::ModelProto;
use tensor::Beside;
use wire::Fields;

pub(super) use parts::{PART, named};
pub(super) use write::write;

pub(super) const FORMAT: Format = Format {
    name: "ONNX",
    is: is_model,
    read: |file, others| Ok(Content::Graph(read(file, others, Asked::default())?)),
};

/// Is it a model, by its name or its first fields?
fn is_model(file: &File) -> bool {
    /// Fields that a look at the beginning goes through.
    const MOST: usize = 64;
    if file.has_extension("onnx") {
        return true;
    }
    // The version of the format comes first, and is a small number.
    if !matches!(file.bytes.get(..2), Some([0x08, 1..=64])) {
        return false;
    }
    let known = |number: u64| matches!(number, 1..=8 | 14 | 20 | 25 | 26);
    for field in Fields::of(&file.bytes).take(MOST) {
        match field {
            Ok(field) if field.number == 7 => return true,
            Ok(field) if known(field.number) => {}
            _ => return false,
        }
    }
    false
}

/// What somebody has said of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Asked<'a> {
    /// The tensor that is the output; its first output where nothing is said, with the others on the way to it.
    pub output: Option<&'a str>,
    /// The shape of one input, for axes that the file leaves open.
    pub input: Option<&'a [usize]>,
}

/// The network of a model; the other files are those that were opened with it, with external weights among them.
///
/// # Errors
/// `Parse` for a broken file, or one that is missing; `InvalidNetwork` for what isoflat has no layer for; `InvalidOption` for a tensor that
/// is not there; `TooLarge`.
pub(super) fn read(file: &File, others: &[File], asked: Asked) -> Result<Graph> {
    let model = decoded(&file.bytes)?;
    convert::graph(&model, file.bytes.len() as u64, Beside::new(file, others), asked)
}

fn decoded(bytes: &[u8]) -> Result<ModelProto> {
    weigh::weigh(bytes)?;
    let bytes = Bytes::from(copied("an ONNX file", bytes)?);
    ModelProto::decode(bytes)
        .map_err(|error| Error::new(ErrorCode::Parse, format!("the ONNX file cannot be read: {error}")))
}
