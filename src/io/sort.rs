//! Which of several files are a model, and which are data.

use serde::Serialize;

use super::format::{Content, Together};
use super::{Arrays, File, checkpoint, cifar, csv, idx, images};
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
            (format, Content::Arrays(arrays)) => {
                is_for_weights(file) || (!are_data(format, &arrays) && checkpoint::has_layers(&arrays))
            }
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

/// Do a file's format, or the names of its arrays, say that they are data? A layer may be called as data are: `input.weight`.
pub(super) fn are_data(format: &str, arrays: &Arrays) -> bool {
    const WORDS: [&str; 8] = ["x", "y", "input", "inputs", "images", "labels", "targets", "data"];
    let is_data = |name: &str| {
        let lower = name.to_ascii_lowercase();
        lower.split(['_', '.', '/']).any(|word| WORDS.contains(&word)) && !checkpoint::is_of_a_layer(name)
    };
    [csv::FORMAT, idx::FORMAT, cifar::FORMAT, images::FORMAT].iter().any(|of_data| of_data.name == format)
        || arrays.arrays.iter().any(|(name, _)| is_data(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{Array, Elements, ModelOptions, npz, open_model, propose_network};

    fn archive(names: [&str; 2]) -> File<'static> {
        let array = |shape: Vec<usize>| {
            let count = shape.iter().product();
            Array::new(shape, Elements::F32(vec![0.5; count])).expect("an array")
        };
        let [matrix, row] = names.map(String::from);
        let arrays = vec![(matrix, array(vec![4, 3])), (row, array(vec![4]))];
        File::new("a.npz", npz::write(&Arrays { arrays, ..Arrays::default() }).expect("an archive"))
    }

    #[test]
    fn data_are_told_from_weights_and_are_no_model_unless_somebody_says_so() {
        let network = serde_json::json!({ "input": [3], "layers": [{ "type": "dense", "units": 4 }] });
        let named = ModelOptions { network: Some(network), ..ModelOptions::default() };
        let table = File::new("a.csv", &b"a,b,label\n1,2,0\n3,4,1\n"[..]);
        for (file, is_model) in [
            (archive(["x", "y"]), false),
            (archive(["x_train", "y_train"]), false),
            (archive(["fc.weight", "fc.bias"]), true),
            // A layer that is called as data are.
            (archive(["input.weight", "input.bias"]), true),
            (archive(["arr_0", "arr_1"]), true),
            (table, false),
        ] {
            let files = [file];
            let sorted = sort_files(&files).expect("a known format");
            assert_eq!(sorted.model.len(), usize::from(is_model), "{sorted:?}");
            match open_model(&files, &ModelOptions::default()) {
                Ok(_) => assert!(is_model),
                Err(error) => {
                    assert!(!is_model && error.message.contains("these are data, by their format or names"), "{error}");
                    assert!(propose_network(&files, None).is_err());
                }
            }
            if files[0].name.ends_with(".npz") {
                open_model(&files, &named).expect("weights of the network that is named");
            }
        }
    }
}
