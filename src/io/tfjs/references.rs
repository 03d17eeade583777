//! What a layer of a functional model reads, in the ways in which Keras has written it.

use serde_json::{Map, Value};

use super::config::{items, size};
use crate::error::{Result, bail, ensure};

/// Lists within lists of arguments that are followed.
const DEEPEST: usize = 8;

/// What a call of a layer gives.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point<'a> {
    /// The layer's name.
    pub layer: &'a str,
    /// The number of the call.
    pub call: usize,
}

/// `["name", 0, 0]`, or a list of such.
pub(super) fn points<'a>(what: &str, value: &'a Value) -> Result<Vec<Point<'a>>> {
    let Some(list) = items(value) else { bail!(Parse, "{what}: what is read must be an array, not {value}") };
    match list.first() {
        Some(Value::String(_)) => Ok(vec![point(what, &list)?]),
        _ => list
            .into_iter()
            .map(|value| match items(value) {
                Some(parts) => point(what, &parts),
                None => bail!(Parse, "{what}: what is read must be [name, call, tensor], not {value}"),
            })
            .collect(),
    }
}

/// `["name", call, tensor, arguments]`.
fn point<'a>(what: &str, parts: &[&'a Value]) -> Result<Point<'a>> {
    let (Some(Value::String(layer)), Some(call), tensor) =
        (parts.first(), parts.get(1).and_then(|value| size(value)), parts.get(2).and_then(|value| size(value)))
    else {
        bail!(Parse, "{what}: what is read must be [name, call, tensor]")
    };
    ensure!(
        tensor == Some(0),
        InvalidNetwork,
        "{what} reads a further output of \"{layer}\", which isoflat's layers do not have"
    );
    ensure_plain(what, parts.get(3).copied())?;
    Ok(Point { layer, call })
}

/// The tensors among the arguments of a call, as Keras 3 writes them.
pub(super) fn tensors<'a>(what: &str, value: &'a Value, found: &mut Vec<Point<'a>>, depth: usize) -> Result<()> {
    if let Some(list) = items(value) {
        ensure!(depth < DEEPEST, Parse, "{what}: lists within lists are read");
        return list.into_iter().try_for_each(|value| tensors(what, value, found, depth + 1));
    }
    let history = value.get("config").and_then(|config| config.get("keras_history")).and_then(items);
    let Some(history) = history else {
        bail!(InvalidNetwork, "{what} has an argument that isoflat does not know: {value}")
    };
    found.push(point(what, &history)?);
    Ok(())
}

/// Fails for arguments that change what a layer computes.
pub(super) fn ensure_plain(what: &str, arguments: Option<&Value>) -> Result<()> {
    let none = Map::new();
    for (key, value) in arguments.and_then(Value::as_object).unwrap_or(&none) {
        let is_plain = value.is_null() || (key == "training" && value == false);
        ensure!(is_plain, InvalidNetwork, "{what} is called with {key} = {value}, which isoflat does not know");
    }
    Ok(())
}
