//! The list of formats. A new one is a file with a `Format`, and a line here.

use std::collections::HashSet;

use serde::de::IgnoredAny;

use super::archive::EMPTY_ARCHIVE;
use super::{
    Arrays, File, Graph, cifar, csv, gzip, idx, images, npy, npz, onnx, others, own, pytorch, safetensors, tfjs,
};
use crate::error::{Result, bail, ensure};
use crate::problem::ProblemFile;

/// What a file holds.
#[derive(Debug, Clone)]
pub enum Content {
    /// A network with its weights.
    Graph(Graph),
    /// Arrays with names: weights or data.
    Arrays(Arrays),
    /// A network's JSON, without weights.
    Network(String),
    /// A problem of isoflat's own.
    Problem(Box<ProblemFile>),
    /// Nothing by itself: it belongs to another file, as external weights do.
    Part,
}

/// A format: how it is known, and how it is read.
pub(super) struct Format {
    /// What people call it.
    pub name: &'static str,
    /// Is this such a file? By its first bytes wherever the format has some, else by its name.
    pub is: fn(&File) -> bool,
    /// Reads it; the other files are those that were opened with it.
    pub read: fn(&File, &[File]) -> Result<Content>,
}

/// All of them; the first that knows a file reads it.
const FORMATS: &[Format] = &[
    // Both are safetensors: isoflat's own says so.
    own::BINARY,
    safetensors::FORMAT,
    own::JSON,
    tfjs::FORMAT,
    npy::FORMAT,
    npz::FORMAT,
    onnx::FORMAT,
    onnx::PART,
    pytorch::FORMAT,
    // Refused, with what would do instead.
    tfjs::KERAS,
    images::FORMAT,
    gzip::FORMAT,
    cifar::FORMAT,
    idx::FORMAT,
    // Every other file that is called .bin.
    tfjs::SHARD,
    csv::FORMAT,
];

/// The same for people.
const READ: &str = "ONNX, PyTorch's state_dict (.pth, .pt, .th), safetensors, NumPy (.npz, .npy), TensorFlow.js (model.json with its \
                    shards), isoflat's own JSON; of data also IDX, CIFAR's binaries, CSV, and PNG or JPEG images, in a zip or alone";

/// Files that were opened together.
pub(crate) struct Together<'a> {
    files: &'a [File<'a>],
    /// Names without folders, of those that a model among the files says are its parts.
    parts: HashSet<&'a str>,
}

impl<'a> Together<'a> {
    pub fn new(files: &'a [File<'a>]) -> Self {
        let bases = files.iter().map(File::base).collect();
        Self { files, parts: files.iter().flat_map(|file| onnx::named(file, &bases)).collect() }
    }

    /// Is the file of a format that isoflat reads, or is it meant to be? Of the rest there is nothing more to say than that it is none.
    pub fn knows(&self, file: &File) -> bool {
        self.parts.contains(file.base())
            || FORMATS.iter().any(|format| (format.is)(file))
            || stand_in(&file.bytes).is_some()
            || unreadable_json(file).is_some()
    }

    /// What a file holds, and what its format is called.
    ///
    /// # Errors
    /// `Parse` for a file of no format that isoflat reads, and what its format's reader says, with the file's name before it.
    pub fn read(&self, file: &File) -> Result<(&'static str, Content)> {
        if self.parts.contains(file.base()) {
            return Ok((onnx::PART.name, Content::Part));
        }
        read(file, self.files)
    }
}

/// The same of a model, of which somebody has said more.
///
/// # Errors
/// As [`Together::read`]; `InvalidOption` for a tensor that is not there, or of a file that is no ONNX.
pub(super) fn read_as(together: &Together, file: &File, asked: onnx::Asked) -> Result<(&'static str, Content)> {
    if asked == onnx::Asked::default() {
        return together.read(file);
    }
    let inside = if gzip::is(file) { Some(gzip::unfolded(file)?) } else { None };
    let model = inside.as_ref().unwrap_or(file);
    let is_onnx = (onnx::FORMAT.is)(model) && !together.parts.contains(file.base());
    if !is_onnx || stand_in(&model.bytes).is_some() {
        let (format, content) = together.read(file)?;
        let is_chosen = asked.output.is_some() && !matches!(content, Content::Part | Content::Network(_));
        ensure!(!is_chosen, InvalidOption, "output: {} is no ONNX file, of which alone a tensor is chosen", file.name);
        return Ok((format, content));
    }
    let found = onnx::read(model, together.files, asked);
    let graph = found.map_err(|error| crate::Error::new(error.code, format!("{}: {}", file.name, error.message)))?;
    Ok((onnx::FORMAT.name, Content::Graph(graph)))
}

/// What a file holds that is no other's part.
///
/// # Errors
/// As [`Together::read`].
pub(super) fn read(file: &File, others: &[File]) -> Result<(&'static str, Content)> {
    if let Some(why) = stand_in(&file.bytes) {
        bail!(Parse, "{}: {why}", file.name)
    }
    let Some(format) = FORMATS.iter().find(|format| (format.is)(file)) else {
        if let Some(why) = unreadable_json(file).or_else(|| others::told(file)) {
            bail!(Parse, "{}: {why}", file.name)
        }
        bail!(Parse, "{}: none of the formats that isoflat reads: {READ}", file.name)
    };
    match (format.read)(file, others) {
        Ok(content) => Ok((format.name, content)),
        Err(error) => Err(crate::Error::new(error.code, format!("{}: {}", file.name, error.message))),
    }
}

/// Where a file that is to be JSON is none.
fn unreadable_json(file: &File) -> Option<String> {
    let is_meant = file.has_extension("json") || file.bytes.trim_ascii_start().starts_with(b"{");
    let text = std::str::from_utf8(if is_meant { &file.bytes } else { return None }).ok()?;
    if text.starts_with('\u{feff}') {
        return Some("the JSON begins with a byte order mark: save it as UTF-8 without one".into());
    }
    serde_json::from_str::<IgnoredAny>(text).err().map(|error| format!("not valid JSON: {error}"))
}

/// What downloads leave in the place of a file, whatever that is called.
fn stand_in(bytes: &[u8]) -> Option<&'static str> {
    let start = bytes.get(..64).unwrap_or(bytes).trim_ascii_start().to_ascii_lowercase();
    if bytes.is_empty() {
        Some("the file is empty")
    } else if start.starts_with(b"version https://git-lfs") {
        Some("a pointer of Git LFS, which has the file itself elsewhere: git lfs pull fetches it")
    } else if bytes.starts_with(EMPTY_ARCHIVE) {
        Some("the archive is empty: there is no file in it")
    } else if start.starts_with(b"<!doctype html") || start.starts_with(b"<html") {
        Some("a web page, perhaps that of the file: download the file itself")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_that_is_cut_off_says_where() {
        for (text, said) in [
            ("{\"network\": ", "line 1"),
            ("{}\n{}", "line 2"),
            ("{\"loss\": Infinity}", "line 1"),
            ("\u{feff}{}", "byte order mark"),
        ] {
            let found = read(&File::new("a.json", text.as_bytes()), &[]).expect_err("a fault").message;
            assert!(found.starts_with("a.json: ") && found.contains(said), "{found}");
        }
        let other = read(&File::new("a.json", &b"{\"a\": 1}"[..]), &[]).expect_err("a fault").message;
        assert!(other.contains("none of the formats"), "{other}");
    }

    #[test]
    fn what_stands_in_a_files_place_is_told() {
        for (name, bytes, says) in [
            ("a.onnx", &b""[..], "empty"),
            ("a.pth", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "git lfs pull"),
            ("a.safetensors", b"\n<!DOCTYPE html><html lang=\"en\">", "web page"),
            ("a.csv", b"<HTML>", "web page"),
            ("a.npz", b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "archive is empty"),
        ] {
            let error = read(&File::new(name, bytes), &[]).expect_err(name);
            assert!(error.message.starts_with(name) && error.message.contains(says), "{error}");
        }
    }
}
