//! Which layers read which: names, and what they stand for.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::Layer;
use crate::error::{Result, bail, ensure};

/// A layer in its place in a network: in JSON the layer's own keys with `name` and `from` beside them.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedLayer {
    /// What it computes.
    pub layer: Layer,
    /// Its name, by which others can read it.
    pub name: Option<String>,
    /// What it reads: names of layers before it, or `"input"`. Where nothing is said, what the layer before it gives.
    pub from: Option<Names>,
}

impl From<Layer> for NamedLayer {
    fn from(layer: Layer) -> Self {
        Self { layer, name: None, from: None }
    }
}

/// What a layer reads: a name, or a list of names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "from must be the name of a layer, or a list of names")]
pub enum Names {
    /// One.
    One(String),
    /// Several, in order.
    Several(Vec<String>),
}

impl Names {
    /// What comes into the network.
    pub const INPUT: &str = "input";

    /// The names, in order.
    pub fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }

    /// The names, in order.
    pub fn names_mut(&mut self) -> &mut [String] {
        match self {
            Self::One(name) => std::slice::from_mut(name),
            Self::Several(names) => names,
        }
    }
}

/// Something that a layer reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// What comes into the network.
    Input,
    /// What this layer gives.
    Layer(usize),
}

impl NamedLayer {
    /// How messages call the layer at this place of a network's JSON.
    pub(super) fn title(&self, i: usize) -> String {
        match &self.name {
            Some(name) => format!("layers[{i}] ({} \"{name}\")", self.layer.name()),
            None => format!("layers[{i}] ({})", self.layer.name()),
        }
    }
}

/// What every layer reads.
///
/// # Errors
/// `InvalidNetwork` for a name that is empty, taken or not there (yet), a wrong number of inputs, or a layer that none reads.
pub(super) fn resolve(layers: &[NamedLayer]) -> Result<Vec<Vec<Source>>> {
    let mut known: HashMap<&str, Source> = HashMap::from([(Names::INPUT, Source::Input)]);
    let mut sources: Vec<Vec<Source>> = Vec::with_capacity(layers.len());
    let mut is_read = vec![false; layers.len()];
    for (i, named) in layers.iter().enumerate() {
        let before = i.checked_sub(1).map_or(Source::Input, Source::Layer);
        let find = |name: &String| match known.get(&name[..]) {
            Some(source) => Ok(*source),
            None if layers[i..].iter().any(|later| later.name.as_ref() == Some(name)) => {
                bail!(InvalidNetwork, "{} reads from \"{name}\", which does not come before it", named.title(i))
            }
            None => bail!(InvalidNetwork, "{} reads from \"{name}\", but no layer has that name", named.title(i)),
        };
        let reads = match &named.from {
            None => vec![before],
            Some(from) => from.names().iter().map(find).collect::<Result<_>>()?,
        };
        let count = reads.len();
        match named.layer.is_joining() {
            true => ensure!(count > 0, InvalidNetwork, "{} has an empty list in from", named.title(i)),
            false => {
                ensure!(count == 1, InvalidNetwork, "{} reads one thing, but from lists {count}", named.title(i));
            }
        }
        for source in &reads {
            if let Source::Layer(j) = *source {
                is_read[j] = true;
            }
        }
        sources.push(reads);
        if let Some(name) = &named.name {
            ensure!(!name.is_empty(), InvalidNetwork, "{} has an empty name", named.title(i));
            ensure!(name != Names::INPUT, InvalidNetwork, "{} has the name of the network's input", named.title(i));
            let is_new = known.insert(name, Source::Layer(i)).is_none();
            ensure!(is_new, InvalidNetwork, "{} has a name that another layer has too", named.title(i));
        }
    }
    if let Some(i) = is_read.iter().take(layers.len().saturating_sub(1)).position(|read| !read) {
        bail!(
            InvalidNetwork,
            "{} is read by no layer: the network gives what its last layer gives, and this would be computed for nothing",
            layers[i].title(i)
        );
    }
    Ok(sources)
}
