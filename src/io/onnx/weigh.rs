//! What a file takes once it is apart: a message of two bytes is a struct of hundreds. Asked before, so that no small file asks for
//! much memory.

use super::proto::{
    AttributeProto, Dimension, FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, SparseTensorProto,
    StringStringEntryProto, TensorProto, ValueInfoProto,
};
use super::wire::{Fields, Payload};
use crate::error::{Result, ensure};
use crate::memory::{ask_for, in_words};

/// How much larger than itself a file may become, and what is always allowed. Models of many small nodes come to 25.
const TIMES: u64 = 64;
const SPARE: u64 = 1 << 20;

/// Kinds of messages.
#[derive(Clone, Copy)]
enum Kind {
    Model,
    Opset,
    Function,
    Graph,
    Node,
    Attribute,
    Tensor,
    Entry,
    Sparse,
    ValueInfo,
    Type,
    TensorType,
    Shape,
    Dimension,
}

impl Kind {
    /// The messages within, by the number of their field.
    fn child(self, field: u64) -> Option<Self> {
        Some(match (self, field) {
            (Self::Model, 7) => Self::Graph,
            (Self::Model, 8) => Self::Opset,
            (Self::Model, 25) => Self::Function,
            (Self::Graph, 1) => Self::Node,
            (Self::Graph, 5) => Self::Tensor,
            (Self::Graph, 11 | 12) => Self::ValueInfo,
            (Self::Graph, 15) => Self::Sparse,
            (Self::Node, 5) => Self::Attribute,
            (Self::Attribute, 5) | (Self::Sparse, 1) => Self::Tensor,
            (Self::Tensor, 13) => Self::Entry,
            (Self::ValueInfo, 2) => Self::Type,
            (Self::Type, 1) => Self::TensorType,
            (Self::TensorType, 2) => Self::Shape,
            (Self::Shape, 1) => Self::Dimension,
            _ => return None,
        })
    }

    /// Bytes of its struct.
    fn size(self) -> usize {
        match self {
            Self::Model => size_of::<ModelProto>(),
            Self::Opset => size_of::<OperatorSetIdProto>(),
            Self::Function => size_of::<FunctionProto>(),
            Self::Graph => size_of::<GraphProto>(),
            Self::Node => size_of::<NodeProto>(),
            Self::Attribute => size_of::<AttributeProto>(),
            Self::Tensor => size_of::<TensorProto>(),
            Self::Entry => size_of::<StringStringEntryProto>(),
            Self::Sparse => size_of::<SparseTensorProto>(),
            Self::ValueInfo => size_of::<ValueInfoProto>(),
            // They lie within the one above.
            Self::Type | Self::TensorType | Self::Shape => 0,
            Self::Dimension => size_of::<Dimension>(),
        }
    }

    /// What a field that is no message takes: of lists, twice the room, since they grow.
    fn leaf(self, field: u64, payload: Payload) -> u64 {
        let length = match payload {
            Payload::Bytes(bytes) => bytes.len() as u64,
            Payload::Number | Payload::Fixed => 1,
        };
        match (self, field) {
            // Numbers that are a byte or more each.
            (Self::Tensor, 1 | 7 | 11) | (Self::Attribute, 8) => 16 * length,
            (Self::Tensor, 5) => 8 * length,
            // Single numbers that are a list's.
            (Self::Tensor, 4 | 10) | (Self::Attribute, 7) => 2 * length.max(8),
            // A part of the file's own bytes.
            (Self::Tensor, 9) | (Self::Attribute, 4) => 0,
            (Self::Node, 1 | 2) => length + 2 * size_of::<String>() as u64,
            _ => length,
        }
    }
}

/// Fails where a file would take out of proportion to what it has, or what there is.
///
/// # Errors
/// `Parse` for what is no such message; `TooLarge`.
pub fn weigh(file: &[u8]) -> Result<()> {
    let most = (file.len() as u64).saturating_mul(TIMES).saturating_add(SPARE);
    let mut total = 0u64;
    add(Kind::Model, file, &mut total, most)?;
    ask_for("an ONNX file", total.saturating_add(file.len() as u64))
}

/// No kind of message is within itself, so this goes six deep.
fn add(kind: Kind, message: &[u8], total: &mut u64, most: u64) -> Result<()> {
    *total += 2 * kind.size() as u64;
    for field in Fields::of(message) {
        let field = field?;
        match kind.child(field.number) {
            Some(child) => add(child, field.content(), total, most)?,
            None => *total += kind.leaf(field.number, field.payload),
        }
        ensure!(
            *total <= most,
            TooLarge,
            "the ONNX file would take over {} once it is read, {TIMES} times what it is: no program writes such a one",
            in_words(most)
        );
    }
    Ok(())
}
