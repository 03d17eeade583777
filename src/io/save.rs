//! Parameters as other programs read them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::own::own_weights;
use super::{Array, Arrays, Elements, File, ModelOptions, OpenedModel, npz, onnx, open_model, safetensors};
use crate::error::{Result, bail, ensure};
use crate::memory::{collected, copied};
use crate::network::Network;

/// What parameters are written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SaveFormat {
    /// The names, shapes and precision of the file that was opened, or isoflat's own. Half precisions become single, whole numbers double,
    /// and single double in a tensor with a number that it does not hold.
    Safetensors,
    /// Likewise, for NumPy.
    Npz,
    /// The ONNX file that was opened, with these weights, each in the file's own type: what is stored in half precision is rounded to it.
    Onnx,
}

/// The files of a model that was opened, with other parameters.
///
/// # Errors
/// What [`open_model`] says; `InvalidParameters`; `InvalidOption` for ONNX of a model that came as something else.
pub fn save_model(files: &[File], options: &ModelOptions, parameters: &[f64], format: SaveFormat) -> Result<Vec<u8>> {
    let opened = open_model(files, options)?;
    if format == SaveFormat::Onnx {
        let file = &files[opened.file];
        ensure!(
            opened.format == onnx::FORMAT.name,
            InvalidOption,
            "{}: this was no ONNX file, so it cannot be saved as one",
            file.name
        );
        return onnx::write(file, files, &opened.model.tensors(parameters)?);
    }
    write(&arrays_of(&opened, parameters)?, format)
}

/// Parameters alone, under the names that isoflat gives: `0.weight`, `0.bias`, the layers' numbers or names.
///
/// # Errors
/// `InvalidParameters`; `TooLarge`.
pub fn save_parameters(network: &Network, parameters: &[f64], format: SaveFormat) -> Result<Vec<u8>> {
    write(&own_arrays(network, parameters)?, format)
}

fn write(arrays: &Arrays, format: SaveFormat) -> Result<Vec<u8>> {
    match format {
        SaveFormat::Safetensors => safetensors::write(arrays, arrays.is_own.then(own_weights)),
        SaveFormat::Npz => npz::write(arrays),
        SaveFormat::Onnx => bail!(InvalidOption, "parameters alone are no ONNX file: safetensors or npz have them"),
    }
}

/// The arrays of the file, with what the parameters are now in their places; or isoflat's own.
fn arrays_of(opened: &OpenedModel, parameters: &[f64]) -> Result<Arrays> {
    let Some(source) = &opened.arrays else { return own_arrays(&opened.model.network, parameters) };
    let mut tensors: BTreeMap<String, Vec<f64>> = opened.model.tensors(parameters)?;
    let mut arrays = Vec::new();
    for (name, array) in &source.arrays {
        let array = match tensors.remove(name) {
            None => array.clone(),
            Some(values) => Array::new(array.shape().to_vec(), like(array.elements(), values)?)?,
        };
        arrays.push((name.clone(), array));
    }
    Ok(Arrays { arrays, is_own: source.is_own, ..Arrays::default() })
}

/// Numbers in the precision of others; in double precision where single has one of them at infinity, or nothing left of it.
fn like(elements: &Elements, values: Vec<f64>) -> Result<Elements> {
    let holds = |&x: &f64| x == 0.0 || (x as f32).is_normal();
    Ok(match elements {
        Elements::F32(_) if values.iter().all(holds) => {
            Elements::F32(collected("a tensor", values.iter().map(|&x| x as f32))?)
        }
        _ => Elements::F64(values),
    })
}

fn own_arrays(network: &Network, parameters: &[f64]) -> Result<Arrays> {
    network.check_parameters(parameters)?;
    let mut arrays = Vec::new();
    for place in network.layout().layers() {
        let named = &network.named_layers()[place.layer];
        let name = named.name.clone().unwrap_or_else(|| place.layer.to_string());
        let mut add = |leaf: &str, shape: Vec<usize>, range: &std::ops::Range<usize>| -> Result<()> {
            let values = Elements::F64(copied("a tensor", &parameters[range.clone()])?);
            arrays.push((format!("{name}.{leaf}"), Array::new(shape, values)?));
            Ok(())
        };
        add("weight", super::checkpoint::weight_shape(&named.layer, place), &place.weight)?;
        if let Some(bias) = &place.bias {
            add("bias", vec![place.outputs], bias)?;
        }
    }
    Ok(Arrays { arrays, is_own: true, ..Arrays::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_single_precision_does_not_hold_is_saved_in_double() {
        let open = |bytes: Vec<u8>, name: &str| {
            open_model(&[File::new(name, bytes)], &ModelOptions::default()).expect("a model").model.parameters
        };
        let weights = |rows: usize| Elements::F32((0..3 * rows).map(|i| 0.1 * i as f32 - 0.3).collect());
        let array = |rows| Array::new(vec![rows, 3], weights(rows)).expect("a matrix");
        let arrays = vec![("0.weight".into(), array(3)), ("2.weight".into(), array(2))];
        let model = safetensors::write(&Arrays { arrays, ..Arrays::default() }, None).expect("a file");
        let parameters = open(model.clone(), "m.safetensors");
        for value in [1e39, -1e300, 1e-39, -5e-324, 0.0, f64::from(f32::MAX)] {
            let moved = [&[value][..], &parameters[1..]].concat();
            for (format, name) in [(SaveFormat::Safetensors, "m.safetensors"), (SaveFormat::Npz, "m.npz")] {
                let files = [File::new("m.safetensors", model.clone())];
                let saved = save_model(&files, &ModelOptions::default(), &moved, format).expect("a file");
                assert_eq!(open(saved, name), moved, "{value:e} in {name}");
            }
        }
    }

    #[test]
    fn files_that_isoflat_wrote_say_so_of_their_scales() {
        let json = r#"{"input": [2], "layers": [{"type": "dense", "units": 3, "bias": false}, {"type": "scale"}, {"type": "relu"},
            {"type": "dense", "units": 2}]}"#;
        let network = Network::from_json(json).expect("a network");
        let parameters: Vec<f64> = (0..network.parameter_count()).map(|i| 0.1 * i as f64 - 0.4).collect();
        let options = ModelOptions { network: Some(json.into()), ..ModelOptions::default() };
        let is_doubted = |file: &File| {
            let opened = open_model(std::slice::from_ref(file), &options).expect("a model");
            assert_eq!(opened.model.parameters, parameters, "{}", file.name);
            opened.model.notes.iter().any(|note| note.contains("without statistics: taken for scales"))
        };
        let own = save_parameters(&network, &parameters, SaveFormat::Safetensors).expect("a file");
        let own = [File::new("own.safetensors", own)];
        assert!(!is_doubted(&own[0]));
        // With other parameters it is isoflat's file still.
        let again = save_model(&own, &options, &parameters, SaveFormat::Safetensors).expect("a file");
        assert!(!is_doubted(&File::new("again.safetensors", again)));
        // PyTorch's Sequential of a normalisation over groups has these names, shapes and precision too.
        let arrays = own_arrays(&network, &parameters).expect("arrays");
        let others = [File::new("others.safetensors", safetensors::write(&arrays, None).expect("a file"))];
        assert!(is_doubted(&others[0]));
        let again = save_model(&others, &options, &parameters, SaveFormat::Safetensors).expect("a file");
        assert!(is_doubted(&File::new("again.safetensors", again)));
        // An archive of NumPy's has no room to say it.
        let archive = save_parameters(&network, &parameters, SaveFormat::Npz).expect("a file");
        assert!(is_doubted(&File::new("own.npz", archive)));
    }
}
