//! Files as they were chosen.

use std::borrow::Cow;

/// A file: its name, perhaps with folders before it, and its bytes. Several together may be one model: weights beside a graph.
#[derive(Debug, Clone)]
pub struct File<'a> {
    /// The name, with `/` between folders.
    pub name: String,
    /// The bytes.
    pub bytes: Cow<'a, [u8]>,
}

impl<'a> File<'a> {
    /// A file.
    pub fn new(name: impl Into<String>, bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self { name: name.into(), bytes: bytes.into() }
    }

    /// The name without folders.
    pub fn base(&self) -> &str {
        self.name.rsplit(['/', '\\']).next().unwrap_or(&self.name)
    }

    /// Does the name end so, whatever its case?
    pub fn has_extension(&self, extension: &str) -> bool {
        self.base().rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case(extension))
    }
}
