//! Keras' own files: HDF5 (`.h5`), or a zip with HDF5 in it (`.keras`). They are known, so that the refusal can say what to do.

use super::super::File;
use super::super::format::Format;
use crate::error::bail;

/// Refuses them.
pub(in crate::io) const FORMAT: Format = Format {
    name: "Keras by way of tensorflowjs_converter",
    is: |file| is_hdf5(file) || is_keras_zip(file),
    read: |file, _| {
        let what = if is_hdf5(file) { "an HDF5 file, as Keras writes" } else { "Keras' own format, HDF5 in a zip" };
        bail!(
            Parse,
            "{what}, which isoflat does not read: convert the model (tensorflowjs_converter --input_format=keras gives a \
             model.json with its weights, python -m tf2onnx.convert an ONNX file), or save its arrays \
             (np.savez(\"weights.npz\", *model.get_weights())) and name the network"
        )
    },
};

/// HDF5's first bytes.
fn is_hdf5(file: &File) -> bool {
    file.bytes.starts_with(b"\x89HDF\r\n\x1a\n")
}

/// A zip whose directory, which is at its end, lists the weights of Keras 3.
fn is_keras_zip(file: &File) -> bool {
    const WEIGHTS: &[u8] = b"model.weights.h5";
    const DIRECTORY: usize = 1 << 16;
    let end = &file.bytes[file.bytes.len().saturating_sub(DIRECTORY)..];
    file.bytes.starts_with(b"PK\x03\x04") && end.windows(WEIGHTS.len()).any(|window| window == WEIGHTS)
}
