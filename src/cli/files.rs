//! Which files are the model, and which data.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::invocation::{Command, Invocation};
use crate::error::Error;
use crate::io::{File, Together};

/// The files of a command.
#[derive(Debug, Default)]
pub(super) struct Split<'a> {
    /// The model's, or its weights', and what belongs to them.
    pub model: Vec<File<'a>>,
    /// The data's.
    pub data: Vec<File<'a>>,
    /// The network's JSON that `--network` or `--preset` names.
    pub network: Option<File<'a>>,
    /// Names of what else is in folders.
    pub passed_over: Vec<String>,
}

/// Splits what the door has read. A file from a folder has the folder's name, as it was given, before its own. What `--data` names is
/// data; else the first is the model, with those that belong to it (a network's JSON, parts that it names), and the rest is data. What is of
/// no format is passed over where nobody named it, as a README beside a model is, unless there is nothing else.
pub(super) fn split<'a>(invocation: &Invocation, files: &[File<'a>]) -> Split<'a> {
    let mut out = Split::default();
    let named = if invocation.command == Command::Train && invocation.train.preset.is_some() {
        &invocation.train.preset
    } else {
        &invocation.model.network
    };
    let begins_at_random = invocation.command == Command::Train && invocation.train.preset.is_some();
    let first = invocation.files.first().filter(|_| !begins_at_random);
    let mut rest = Vec::new();
    for (file, is_stray) in files.iter().zip(strays(invocation, files)) {
        if is_stray {
            out.passed_over.push(file.name.clone());
        } else if named.as_ref() == Some(&file.name) {
            out.network = Some(file.clone());
        } else if invocation.data_files.iter().any(|name| is_under(file, name)) {
            out.data.push(file.clone());
        } else if first.is_some_and(|name| is_under(file, name)) {
            out.model.push(file.clone());
        } else {
            rest.push(file.clone());
        }
    }
    for file in rest {
        let has_weights = out.model.iter().any(|file| !is_network(file));
        if !begins_at_random && (!has_weights || is_network(&file) || belongs(&file, &out.model)) {
            out.model.push(file);
        } else {
            out.data.push(file);
        }
    }
    out
}

/// Which files nobody named and no format knows, in folders that have others. Where all are named, none has to be looked into.
fn strays(invocation: &Invocation, files: &[File]) -> Vec<bool> {
    let names = invocation.reads();
    let is_named = |file: &File| names.contains(&file.name.as_str());
    if files.iter().all(is_named) {
        return vec![false; files.len()];
    }
    let together = Together::new(files);
    let known: Vec<bool> = files.iter().map(|file| is_named(file) || together.knows(file)).collect();
    let folder = |file: &File| names.iter().position(|name| is_under(file, name));
    let folders: Vec<_> = files.iter().map(folder).collect();
    let has_others = |folder| folders.iter().zip(&known).any(|(other, &known)| known && *other == folder);
    folders.iter().zip(&known).map(|(&folder, &known)| !known && has_others(folder)).collect()
}

/// Is it this file, or one of this folder?
fn is_under(file: &File, name: &str) -> bool {
    let name = name.trim_end_matches(['/', '\\']);
    file.name == *name || file.name.strip_prefix(name).is_some_and(|rest| rest.starts_with(['/', '\\']))
}

/// An error with the name of the first of these files before it, unless it names one itself.
pub(super) fn named(error: Error, names: &[String]) -> Error {
    match names.first() {
        Some(first) if !names.iter().any(|name| error.message.contains(name)) => {
            Error::new(error.code, format!("{first}: {}", error.message))
        }
        _ => error,
    }
}

/// Is it a network's JSON without weights?
fn is_network(file: &File) -> bool {
    #[derive(Deserialize)]
    struct Keys {
        layers: Option<IgnoredAny>,
        network: Option<IgnoredAny>,
    }
    let is_network = |keys: Keys| keys.layers.is_some() && keys.network.is_none();
    file.has_extension("json") && serde_json::from_slice(&file.bytes).is_ok_and(is_network)
}

/// Is it a part of one of these: does its name begin as theirs, or is it named in them? Only what looks like a part is looked for.
fn belongs(file: &File, model: &[File]) -> bool {
    const PARTS: [&str; 5] = ["bin", "data", "weights", "onnx_data", "pb"];
    let base = file.base();
    let may_be = PARTS.iter().any(|extension| file.has_extension(extension));
    model.iter().any(|whole| {
        let begins = base.strip_prefix(whole.base()).is_some_and(|rest| rest.starts_with(['.', '_']));
        begins || (may_be && contains(&whole.bytes, base.as_bytes()))
    })
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    let Some(&first) = part.first() else { return false };
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|&byte| byte == first) {
        if rest[at..].starts_with(part) {
            return true;
        }
        rest = &rest[at + 1..];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::split;
    use crate::cli::parse;
    use crate::io::File;

    const NETWORK: &[u8] = br#"{"input": [2], "layers": []}"#;

    /// Names of the model's files, and of the data's.
    fn sorted(line: &str, files: &[(&str, &[u8])]) -> [String; 2] {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        let files: Vec<File> = files.iter().map(|&(name, bytes)| File::new(name, bytes)).collect();
        let found = split(&parse(&words).expect("a command"), &files);
        [found.model, found.data].map(|files| files.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn the_first_is_the_model_with_what_belongs_to_it() {
        let x: &[u8] = b"x";
        for (line, files, model, data) in [
            ("report m d e", &[("m", x), ("d", x), ("e", x)][..], "m", "d e"),
            ("report m --data d e", &[("m", x), ("e", x), ("d", x)], "m", "d e"),
            ("report d m --data d", &[("d", x), ("m", x)], "m", "d"),
            ("report m.npz n.json d.npz", &[("m.npz", x), ("n.json", NETWORK), ("d.npz", x)], "m.npz n.json", "d.npz"),
            ("report n.json m.npz d.npz", &[("n.json", NETWORK), ("m.npz", x), ("d.npz", x)], "n.json m.npz", "d.npz"),
            (
                "report m.npz --network n.json d.npz",
                &[("m.npz", x), ("d.npz", x), ("n.json", NETWORK)],
                "m.npz",
                "d.npz",
            ),
            (
                "report a/m.json a/g1.bin test_batch.bin",
                &[("a/m.json", b"{\"paths\": [\"g1.bin\"]}"), ("a/g1.bin", x), ("test_batch.bin", x)],
                "a/m.json a/g1.bin",
                "test_batch.bin",
            ),
            (
                "report m.onnx m.onnx.data d.npz",
                &[("m.onnx", x), ("m.onnx.data", x), ("d.npz", x)],
                "m.onnx m.onnx.data",
                "d.npz",
            ),
            (
                "report m images/",
                &[("m", x), ("images/cat/1.png", x), ("images/dog/2.png", x)],
                "m",
                "images/cat/1.png images/dog/2.png",
            ),
            (
                "report model images",
                &[("model/a.json", x), ("model/b.bin", x), ("images/c.bin", x)],
                "model/a.json model/b.bin",
                "images/c.bin",
            ),
            ("train --preset lenet d e -o a.npz", &[("d", x), ("e", x)], "", "d e"),
            ("train --preset n.json d e -o a.npz", &[("n.json", NETWORK), ("d", x), ("e", x)], "", "d e"),
        ] {
            assert_eq!(sorted(line, files), [model, data].map(String::from), "{line}");
        }
    }

    #[test]
    fn what_a_folder_has_besides_is_passed_over() {
        let words = ["report".to_owned(), "model".to_owned(), "d.csv".to_owned()];
        let invocation = parse(&words).expect("a command");
        let passed_over = |files: &[(&str, &[u8])]| {
            let files: Vec<File> = files.iter().map(|&(name, bytes)| File::new(name, bytes)).collect();
            split(&invocation, &files).passed_over.join(" ")
        };
        let (text, shard): (&[u8], _) = (b"# A model", ("model/a.bin", &b"x"[..]));
        assert_eq!(passed_over(&[("model/README.md", text), shard]), "model/README.md");
        // What was named itself, what is meant to be a model, and the only files that there are.
        assert_eq!(passed_over(&[("d.csv", text), shard]), "");
        assert_eq!(passed_over(&[("model/b.json", b"{"), ("model/c.npz", b""), shard]), "");
        assert_eq!(passed_over(&[("model/README.md", text)]), "");
        let (graph, table): (_, &[u8]) = (("model/saved_model.pb", &b"\x08\x01"[..]), b"a,b\n1,2\n");
        assert_eq!(passed_over(&[graph, ("d.csv", table)]), "", "the only one of its folder");
    }
}
