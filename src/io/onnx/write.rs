//! The same ONNX file with other weights: the messages are walked field by field, and what is not a changed tensor stays as it is,
//! known or not.

use std::collections::{BTreeMap, BTreeSet};

use prost::Message;
use prost::bytes::Bytes;

use super::proto::TensorProto;
use super::tensor::Beside;
use super::wire::{Field, Fields, put_key};
use super::{tensor, weigh};
use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::io::File;
use crate::io::array::count;
use crate::memory::{copied, make_room};

/// Protocol buffers of more than this are read by no program.
const LONGEST: usize = i32::MAX as usize;

/// The file with these tensors' numbers in the place of its own, each in the file's precision and in the tensor's own order, which
/// must be complete. Tensors that lay in other files are in this one then.
///
/// # Errors
/// `Parse` for a broken file or one that is missing; `InvalidOption` for a tensor that is not in the file, or of another length;
/// `OutOfRange` where a number is infinite in the file's precision; `TooLarge`.
pub(in crate::io) fn write(file: &File, others: &[File], tensors: &BTreeMap<String, Vec<f64>>) -> Result<Vec<u8>> {
    weigh::weigh(&file.bytes)?;
    let values = tensors.values().fold(0u64, |sum, values| sum.saturating_add(values.len() as u64));
    let beside = Beside::new(file, others);
    let files = beside.bytes().saturating_add(file.bytes.len() as u64);
    let mut writer = Writer {
        beside,
        tensors,
        written: BTreeSet::new(),
        left: files.saturating_add(values.saturating_mul(8)).saturating_mul(2).saturating_add(1 << 20),
    };
    let out = writer.message(&file.bytes, Kind::Model)?;
    let is_missing = |name: &&String| !writer.written.contains(name);
    if let Some(name) = tensors.keys().find(is_missing) {
        bail!(InvalidOption, "the ONNX file has no tensor {name} whose numbers could be replaced");
    }
    ensure!(out.len() <= LONGEST, TooLarge, "the ONNX file would have over 2 GiB, more than a protocol buffer can");
    Ok(out)
}

/// Messages on the way to a tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind<'a> {
    Model,
    Graph,
    Node,
    /// An attribute of a `Constant` node that gives a tensor of this name.
    Attribute(&'a str),
}

struct Writer<'a> {
    beside: Beside<'a>,
    tensors: &'a BTreeMap<String, Vec<f64>>,
    /// Tensors that were found.
    written: BTreeSet<&'a String>,
    /// Bytes that may still be copied: several tensors may name the same part of a file.
    left: u64,
}

impl<'a> Writer<'a> {
    /// A message with the changed tensors within.
    fn message(&mut self, message: &[u8], kind: Kind) -> Result<Vec<u8>> {
        let constant = if kind == Kind::Node { constant(message)? } else { None };
        let mut out = Vec::new();
        make_room("an ONNX file", &mut out, message.len())?;
        for field in Fields::of(message) {
            let field = field?;
            let content = field.content();
            let changed = match (kind, field.number) {
                (Kind::Model, 7) => Some(self.message(content, Kind::Graph)?),
                (Kind::Graph, 1) => Some(self.message(content, Kind::Node)?),
                (Kind::Graph, 5) => self.tensor(content, None)?,
                (Kind::Node, 5) => match &constant {
                    Some(name) => Some(self.message(content, Kind::Attribute(name))?),
                    None => None,
                },
                (Kind::Attribute(name), 5) => self.tensor(content, Some(name))?,
                _ => None,
            };
            match changed {
                None => append(&mut out, field.bytes)?,
                Some(changed) => {
                    put_key(&mut out, field.number, changed.len());
                    append(&mut out, &changed)?;
                }
            }
        }
        Ok(out)
    }

    /// A tensor with other numbers, or with those of another file; nothing where it stays as it is.
    fn tensor(&mut self, message: &[u8], name: Option<&str>) -> Result<Option<Vec<u8>>> {
        let old = TensorProto::decode(Bytes::from(copied("a tensor", message)?)).map_err(|error| {
            Error::new(ErrorCode::Parse, format!("a tensor of the ONNX file cannot be read: {error}"))
        })?;
        let name = name.unwrap_or(&old.name);
        let numbers = match self.tensors.get_key_value(name) {
            Some((key, values)) => {
                ensure!(
                    count(&tensor::shape(&old)?) == Some(values.len()),
                    InvalidOption,
                    "the tensor {name} has the shape {:?}, but {} numbers were given",
                    old.dims,
                    values.len()
                );
                ensure!(self.written.insert(key), Parse, "the graph has two tensors of the name {name}");
                tensor::bytes_of(values, old.data_type, name)?
            }
            None if tensor::is_external(&old) => {
                let bytes = tensor::external(&old, name, self.beside)?;
                self.left = self.left.checked_sub(bytes.len() as u64).ok_or_else(|| {
                    Error::new(ErrorCode::TooLarge, "the model's tensors name the same parts of files again and again")
                })?;
                Bytes::from(copied("a tensor", bytes)?)
            }
            None => return Ok(None),
        };
        let mut out = Vec::new();
        for field in Fields::of(message) {
            let field = field?;
            if !is_number(&field) {
                append(&mut out, field.bytes)?;
            }
        }
        put_key(&mut out, 9, numbers.len());
        append(&mut out, &numbers)?;
        Ok(Some(out))
    }
}

/// Is a tensor's field its numbers, or where they are?
fn is_number(field: &Field) -> bool {
    matches!(field.number, 4..=7 | 9..=11 | 13 | 14)
}

/// The name of the tensor that a `Constant` node gives.
fn constant(node: &[u8]) -> Result<Option<String>> {
    let (mut is_constant, mut name) = (false, None);
    for field in Fields::of(node) {
        let field = field?;
        match field.number {
            2 if name.is_none() => name = std::str::from_utf8(field.content()).ok().map(String::from),
            4 => is_constant = field.content() == b"Constant",
            _ => {}
        }
    }
    Ok(name.filter(|_| is_constant))
}

fn append(out: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    if out.capacity() - out.len() < bytes.len() {
        // Room for more than this, since others follow.
        make_room("an ONNX file", out, bytes.len().max(out.len() / 2))?;
    }
    out.extend_from_slice(bytes);
    Ok(())
}
