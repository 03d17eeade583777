//! Which of several files are a model, and which are data.

use serde::Serialize;

use super::format::{Content, Together};
use super::{Arrays, File, checkpoint};
use crate::error::Result;

/// Indices of files that belong together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SortedFiles {
    /// A network, weights, or a problem of isoflat's own.
    pub model: Vec<usize>,
    /// Inputs and targets.
    pub data: Vec<usize>,
}

/// Tells models from data by what the files hold: arrays are weights where their names say so, or where only PyTorch and
/// safetensors would have them; others are data.
///
/// # Errors
/// `Parse` for a file of no format that isoflat reads.
pub fn sort_files(files: &[File]) -> Result<SortedFiles> {
    let (mut sorted, together) = (SortedFiles::default(), Together::new(files));
    for (i, file) in files.iter().enumerate() {
        let is_model = match together.read(file)? {
            (_, Content::Arrays(arrays)) => is_for_weights(file) || are_weights(&arrays),
            (..) => true,
        };
        if is_model { sorted.model.push(i) } else { sorted.data.push(i) }
    }
    Ok(sorted)
}

/// Formats in which nobody keeps data.
fn is_for_weights(file: &File) -> bool {
    ["pth", "pt", "th", "ckpt", "safetensors"].iter().any(|end| file.has_extension(end))
}

fn are_weights(arrays: &Arrays) -> bool {
    const DATA: [&str; 8] = ["x", "y", "input", "inputs", "images", "labels", "targets", "data"];
    let is_data =
        |name: &str| DATA.iter().any(|word| name.to_ascii_lowercase().split(['_', '.', '/']).any(|w| w == *word));
    !arrays.arrays.iter().any(|(name, _)| is_data(name)) && checkpoint::has_layers(arrays)
}
