//! Files whose samples can be read without the rest: of arrays that lie row after row it is known where each row is.
//!
//! IDX, NumPy's arrays in C's order (alone, or in an archive as they are or deflated) and CIFAR's binaries are such files. Everything that
//! a file says of itself is held against its length before; of one with a fault nothing is said here, and its reader says it.

mod rows;
#[cfg(test)]
mod tests;

use std::fmt;
use std::rc::Rc;

pub(super) use self::rows::{Place, Rows};
use super::source::{Source, some};
use super::{File, cifar, idx, npy, npz};

/// The most bytes of a file's beginning that tell what it is.
const BEGINNING: u64 = 1 << 12;

/// What of a file lies row after row.
#[derive(Debug, Default)]
pub(super) struct Arrays {
    /// Names and rows, in the file's order.
    pub arrays: Vec<(String, Rows)>,
    /// What was left out.
    pub notes: Vec<String>,
    /// The names of the classes that its targets are of.
    pub classes: Vec<String>,
}

/// A file of which some samples can be read without the rest.
#[derive(Clone)]
pub struct Sliced {
    name: String,
    pub(super) source: Rc<dyn Source>,
    pub(super) found: Rc<Arrays>,
}

impl fmt::Debug for Sliced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sliced").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Sliced {
    /// How a file lies. `None` for one that has to be read as a whole, or that is not whole itself.
    pub fn of(name: &str, source: Rc<dyn Source>) -> Option<Self> {
        let beginning = some(&*source, 0, source.len().min(BEGINNING) as usize).ok()?;
        let file = File::new(name, &beginning[..]);
        let found = if npy::is(&file) {
            npy::sliced(&file, &*source)
        } else if idx::is(&beginning) {
            idx::sliced(&beginning, source.len())
        } else if super::archive::is_zip(&beginning) {
            npz::sliced(&*source)
        } else {
            cifar::sliced(&file, source.len())
        };
        Some(Self { name: name.into(), source, found: Rc::new(found?) })
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All that is known of how it lies: files that are the same say the same.
    pub fn description(&self) -> String {
        format!("{} bytes: {:?}", self.source.len(), self.found)
    }
}
