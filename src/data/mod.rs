//! Data: files as MNIST comes in, and synthetic problems.

mod idx;
mod synthetic;

pub use idx::IdxFile;
pub use synthetic::synthetic;
