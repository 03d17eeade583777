//! A node of an ONNX graph, and what it has beside its inputs.

use super::proto::{AttributeProto, NodeProto, TensorProto};
use crate::error::{Error, ErrorCode, Result, bail, ensure};

/// One node, by its place in the graph.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    /// What the file says.
    pub proto: &'a NodeProto,
    /// Its number among the graph's nodes.
    pub index: usize,
}

impl<'a> Node<'a> {
    /// Which operator it is.
    pub fn op(&self) -> &'a str {
        &self.proto.op_type
    }

    /// What messages call it: `Conv "features.0" (x, weight → y)`.
    pub fn title(&self) -> String {
        const MOST: usize = 6;
        let list = |names: &[String]| {
            let some: Vec<&str> = names.iter().take(MOST).map(String::as_str).collect();
            format!("{}{}", some.join(", "), if names.len() > MOST { ", …" } else { "" })
        };
        let named = match &self.proto.name {
            name if name.is_empty() => format!("node {}", self.index),
            name => format!("\"{name}\""),
        };
        format!("{} {named} ({} → {})", self.op(), list(&self.proto.input), list(&self.proto.output))
    }

    /// The tensor that it reads at a place; an optional one may not be there.
    pub fn optional(&self, at: usize) -> Option<&'a str> {
        self.proto.input.get(at).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// The tensor that it reads at a place.
    ///
    /// # Errors
    /// `Parse` where there is none.
    pub fn input(&self, at: usize) -> Result<&'a str> {
        let missing = || Error::new(ErrorCode::Parse, format!("{} has no input {at}", self.title()));
        self.optional(at).ok_or_else(missing)
    }

    /// The tensor that it gives.
    ///
    /// # Errors
    /// `Parse` where there is none.
    pub fn output(&self) -> Result<&'a str> {
        let name = self.proto.output.first().filter(|name| !name.is_empty());
        name.map(String::as_str).ok_or_else(|| Error::new(ErrorCode::Parse, format!("{} gives nothing", self.title())))
    }

    /// Fails for an attribute that is not among these: what is not known is not passed over.
    ///
    /// # Errors
    /// `Parse`.
    pub fn ensure_known(&self, names: &[&str]) -> Result<()> {
        // Exporters' own notes begin so.
        let is_known = |name: &str| names.contains(&name) || name.starts_with('_');
        match self.proto.attribute.iter().find(|attribute| !is_known(&attribute.name)) {
            None => Ok(()),
            Some(attribute) => {
                bail!(Parse, "{} has the attribute {}, which is not known", self.title(), attribute.name)
            }
        }
    }

    fn attribute(&self, name: &str) -> Option<&'a AttributeProto> {
        self.proto.attribute.iter().find(|attribute| attribute.name == name)
    }

    /// Is there an attribute of this name?
    pub fn has(&self, name: &str) -> bool {
        self.attribute(name).is_some()
    }

    /// A whole number.
    pub fn int(&self, name: &str, default: i64) -> i64 {
        self.attribute(name).map_or(default, |attribute| attribute.i)
    }

    /// A number.
    pub fn float(&self, name: &str, default: f32) -> f64 {
        f64::from(self.attribute(name).map_or(default, |attribute| attribute.f))
    }

    /// Whole numbers.
    pub fn ints(&self, name: &str) -> Option<&'a [i64]> {
        self.attribute(name).map(|attribute| &attribute.ints[..])
    }

    /// Numbers.
    pub fn floats(&self, name: &str) -> Option<&'a [f32]> {
        self.attribute(name).map(|attribute| &attribute.floats[..])
    }

    /// A text.
    pub fn text(&self, name: &str, default: &'static str) -> &'a str {
        self.attribute(name).map_or(default, |attribute| std::str::from_utf8(&attribute.s).unwrap_or("?"))
    }

    /// A tensor.
    pub fn tensor(&self, name: &str) -> Option<&'a TensorProto> {
        self.attribute(name).and_then(|attribute| attribute.t.as_deref())
    }

    /// Two sizes of an image, [height, width], of at least `least`.
    ///
    /// # Errors
    /// `InvalidNetwork` for another number of them, as one-dimensional and volume layers have, or a smaller one.
    pub fn pair(&self, name: &str, default: Option<[usize; 2]>) -> Result<[usize; 2]> {
        let Some(values) = self.ints(name) else {
            let missing = || Error::new(ErrorCode::Parse, format!("{} has no {name}", self.title()));
            return default.ok_or_else(missing);
        };
        ensure!(
            values.len() == 2,
            InvalidNetwork,
            "{} has {name} {values:?}: of layers over images, [height, width], there are two-dimensional ones alone",
            self.title()
        );
        let sizes = [values[0], values[1]].map(|n| usize::try_from(n).ok().filter(|&n| n > 0));
        match sizes {
            [Some(height), Some(width)] => Ok([height, width]),
            _ => bail!(InvalidNetwork, "{} has {name} {values:?}, but they must be positive", self.title()),
        }
    }
}
