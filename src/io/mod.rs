//! Files of other programs: models, weights and data are opened, and parameters written back. Nothing here computes with them.
//!
//! A file becomes `Content`: a graph, arrays with names, or a problem of isoflat's own (`format.rs` is the list of formats, each
//! in a file of its own). Arrays are matched to a network (`checkpoint/`), which makes a graph of them too; a graph becomes a
//! network with parameters (`model.rs`), and parameters go back to where they came from by the places that the graph kept. Arrays
//! that are data become inputs and targets (`dataset/`).

mod archive;
mod array;
mod checkpoint;
mod cifar;
mod csv;
mod dataset;
mod file;
mod format;
mod graph;
mod gzip;
pub(crate) mod idx;
mod images;
mod model;
#[cfg(test)]
mod mutations;
#[cfg(test)]
#[allow(dead_code, unreachable_patterns, reason = "those outside use more of it, and know fewer layers")]
#[path = "../../tests/native/support/naive.rs"]
mod naive;
mod npy;
mod npz;
mod numbers;
mod onnx;
mod open;
mod others;
mod own;
mod pytorch;
mod safetensors;
mod save;
mod shards;
mod sliced;
mod sort;
mod source;
mod tfjs;
#[cfg(test)]
mod told;

pub use array::{Array, Arrays, Elements};
pub use dataset::{DataOptions, Dataset, DatasetShare, Normalization, Overview, open as open_dataset, open_share};
pub use file::File;
pub(crate) use format::Together;
pub use graph::{BatchNormNode, Graph, GraphNode, Operation, Place, Slot};
pub use model::Model;
pub use open::{BatchNormChoice, ModelOptions, OpenedModel, open_model, propose_network};
pub use own::save_problem;
pub use save::{SaveFormat, save_model, save_parameters};
pub use sliced::Sliced;
pub use sort::{SortedFiles, sort_files};
pub use source::Source;
