//! safetensors: a JSON header with names, types, shapes and places, and the numbers. The library checks that the places neither
//! overlap nor leave holes. What is read takes eight times the file at most, where bytes with a sign become whole numbers; the header
//! some sixty times its own length while it is read.

use std::collections::{HashMap, HashSet};

use safetensors::tensor::{Dtype, Metadata, TensorInfo, TensorView, serialize};

use super::dataset::natural;
use super::format::{Content, Format};
use super::numbers::{Stored, bytes_of};
use super::own::are_own;
use super::{Array, Arrays, Elements, File};
use crate::error::{Error, ErrorCode, Result, bail, ensure};

pub(super) const FORMAT: Format = Format {
    name: "safetensors",
    is: |file| has_header(&file.bytes),
    read: |file: &File, _| Ok(Content::Arrays(in_order(read(&file.bytes)?))),
};

/// By name, numbers as numbers: files lie by type and alphabet (`10` before `2`), which is not the order of the layers.
fn in_order(mut arrays: Arrays) -> Arrays {
    arrays.arrays.sort_by(|(a, _), (b, _)| natural(a, b));
    arrays
}

/// Eight bytes that are the length of a JSON object, and its brace.
fn has_header(bytes: &[u8]) -> bool {
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else { return false };
    rest.first() == Some(&b'{') && u64::from_le_bytes(*length) <= rest.len() as u64
}

fn broken(error: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorCode::Parse, format!("the safetensors file cannot be read: {error}"))
}

fn stored(dtype: Dtype, name: &str) -> Result<Stored> {
    Ok(match dtype {
        Dtype::BOOL => Stored::Bool,
        Dtype::U8 => Stored::U8,
        Dtype::I8 => Stored::I8,
        Dtype::I16 => Stored::I16,
        Dtype::U16 => Stored::U16,
        Dtype::F16 => Stored::F16,
        Dtype::BF16 => Stored::Bf16,
        Dtype::I32 => Stored::I32,
        Dtype::U32 => Stored::U32,
        Dtype::F32 => Stored::F32,
        Dtype::F64 => Stored::F64,
        Dtype::I64 => Stored::I64,
        Dtype::U64 => Stored::U64,
        other => bail!(Parse, "{name} is of type {other:?}, which is not read: save it as F32, F16 or BF16"),
    })
}

/// The header and the numbers. The library's own function adds lengths that a file may choose without looking whether they
/// overflow, which is a panic wherever overflow is one.
fn split(bytes: &[u8]) -> Result<(Metadata, &[u8])> {
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else { return Err(broken(&"it ends too early")) };
    let parts = usize::try_from(u64::from_le_bytes(*length)).ok().and_then(|length| rest.split_at_checked(length));
    let Some((header, numbers)) = parts else { return Err(broken(&"its header is longer than the file")) };
    let header: Metadata = serde_json::from_slice(header).map_err(|error| broken(&error))?;
    ensure!(
        header.data_len() == numbers.len(),
        Parse,
        "the safetensors file cannot be read: its header says that {} bytes of numbers follow, but there are {}",
        header.data_len(),
        numbers.len()
    );
    Ok((header, numbers))
}

/// Reads a file's bytes; the arrays are in the order in which they lie.
///
/// # Errors
/// `Parse` for what is no such file, or a type that is not known.
pub(super) fn read(bytes: &[u8]) -> Result<Arrays> {
    let (header, numbers) = split(bytes)?;
    let mut tensors: Vec<(String, &TensorInfo)> = header.tensors().into_iter().collect();
    tensors.sort_unstable_by(|(a, one), (b, other)| (one.data_offsets, a).cmp(&(other.data_offsets, b)));
    let is_own = header.metadata().as_ref().is_some_and(are_own);
    let mut found = Arrays { is_own, ..Arrays::default() };
    for (name, tensor) in tensors {
        let (start, end) = tensor.data_offsets;
        let Some(bytes) = numbers.get(start..end) else { bail!(Parse, "{name} reaches beyond the end of the file") };
        let elements = stored(tensor.dtype, &name)?.elements(bytes, false)?;
        found.arrays.push((name, Array::new(tensor.shape.clone(), elements)?));
    }
    found.shared = header.metadata().as_ref().map_or(Vec::new(), |said| shared(said, &found));
    Ok(found)
}

/// Of tensors that are the same, `safetensors.torch.save_model` keeps one, and says of each other's name which one that is.
fn shared(metadata: &HashMap<String, String>, found: &Arrays) -> Vec<[String; 2]> {
    let names: HashSet<&str> = found.arrays.iter().map(|(name, _)| name.as_str()).collect();
    let is_pair = |(other, kept): &(&String, &String)| names.contains(kept.as_str()) && !names.contains(other.as_str());
    let mut pairs: Vec<[String; 2]> =
        metadata.iter().filter(is_pair).map(|(other, kept)| [other.clone(), kept.clone()]).collect();
    pairs.sort_unstable();
    pairs
}

/// What a file says of itself under `__metadata__`.
pub(super) fn metadata(bytes: &[u8]) -> HashMap<String, String> {
    split(bytes).ok().and_then(|(header, _)| header.metadata().clone()).unwrap_or_default()
}

/// A file of these arrays.
///
/// # Errors
/// `InvalidOption` for a name that is there twice; `TooLarge`.
pub(super) fn write(arrays: &Arrays, metadata: Option<HashMap<String, String>>) -> Result<Vec<u8>> {
    arrays.ensure_distinct()?;
    let bytes: Vec<Vec<u8>> =
        arrays.arrays.iter().map(|(_, array)| bytes_of(array.elements())).collect::<Result<_>>()?;
    let failed = |error: &dyn std::fmt::Display| {
        Error::new(ErrorCode::InvalidOption, format!("a safetensors file cannot be written: {error}"))
    };
    let mut views = Vec::new();
    for ((name, array), bytes) in arrays.arrays.iter().zip(&bytes) {
        let dtype = match array.elements() {
            Elements::U8(_) => Dtype::U8,
            Elements::I64(_) => Dtype::I64,
            Elements::F32(_) => Dtype::F32,
            Elements::F64(_) => Dtype::F64,
        };
        let view = TensorView::new(dtype, array.shape().to_vec(), bytes).map_err(|error| failed(&error))?;
        views.push((name.as_str(), view));
    }
    serialize(views, metadata).map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::mutations::survived;
    use crate::io::told;

    macro_rules! fixture {
        ($name:literal, $end:literal) => {
            include_bytes!(concat!("../../tests/fixtures/safetensors/", $name, $end)).as_slice()
        };
    }

    const FILES: [(&[u8], &[u8]); 3] = [
        (fixture!("model", ".safetensors"), fixture!("model", ".json")),
        (fixture!("half", ".safetensors"), fixture!("half", ".json")),
        (fixture!("kinds", ".safetensors"), fixture!("kinds", ".json")),
    ];

    /// A file with this header and so many bytes of numbers.
    fn file(header: &str, numbers: usize) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &vec![0; numbers]].concat()
    }

    #[test]
    fn files_have_the_numbers_that_pytorch_reads() {
        for (bytes, expected) in FILES {
            told::compare(&read(bytes).expect("arrays"), serde_json::from_slice(expected).expect("numbers"));
        }
        assert_eq!(metadata(FILES[0].0).get("of").map(String::as_str), Some("a small network"));
        assert!(metadata(FILES[1].0).is_empty() && metadata(b"none").is_empty());
        let names: Vec<String> = read(FILES[2].0).expect("arrays").arrays.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["i64", "f64", "none", "number", "i32", "bf16", "i16", "i8", "u8", "bool"]);
    }

    #[test]
    fn what_is_written_is_read() {
        let mut arrays = Arrays::default();
        let mut add = |name: &str, elements: Elements| {
            let array = Array::new(vec![elements.len(), 1], elements).expect("an array");
            arrays.arrays.push((name.into(), array));
        };
        add("b", Elements::F64(vec![0.1, f64::MIN_POSITIVE, -0.0]));
        add("a", Elements::F64(vec![]));
        add("i", Elements::I64(vec![i64::MIN, 7]));
        add("f", Elements::F32(vec![0.1, f32::MAX]));
        add("u", Elements::U8(vec![0, 255, 3]));
        let said = HashMap::from([("isoflat".into(), "{\"a\": \"ä\"}".into())]);
        let bytes = write(&arrays, Some(said.clone())).expect("bytes");
        let found = read(&bytes).expect("arrays");
        assert_eq!(found.arrays.len(), arrays.arrays.len());
        for (name, array) in &arrays.arrays {
            assert_eq!(found.get(name), Some(array));
        }
        assert_eq!(metadata(&bytes), said);
        arrays.arrays.push(arrays.arrays[0].clone());
        assert!(write(&arrays, None).expect_err("twice").message.contains("b is there twice"));
    }

    #[test]
    fn names_of_tensors_that_were_left_out_are_read() {
        let mut arrays = Arrays::default();
        for name in ["a.weight", "b.bias"] {
            arrays.arrays.push((name.into(), Array::new(vec![2], Elements::F32(vec![1.0; 2])).expect("an array")));
        }
        let said = [("b.weight", "a.weight"), ("format", "pt"), ("b.bias", "a.weight"), ("c.weight", "d.weight")];
        let said = said.map(|(key, value)| (key.to_owned(), value.to_owned())).into_iter().collect();
        let found = read(&write(&arrays, Some(said)).expect("bytes")).expect("arrays");
        assert_eq!(found.shared, [["b.weight", "a.weight"]]);
    }

    #[test]
    fn places_that_overlap_leave_holes_or_overflow_are_refused() {
        let one = |a: &str| format!(r#"{{"a":{{"dtype":"F32","shape":[2],"data_offsets":{a}}}}}"#);
        assert!(read(&file(&one("[0,8]"), 8)).is_ok());
        for (offsets, numbers) in [("[0,8]", 9), ("[0,8]", 7), ("[4,12]", 12), ("[8,0]", 8), ("[0,12]", 12)] {
            assert!(read(&file(&one(offsets), numbers)).is_err(), "{offsets} of {numbers}");
        }
        let two = |a: &str, b: &str| {
            let entry = |offsets: &str| format!(r#"{{"dtype":"U8","shape":[4],"data_offsets":{offsets}}}"#);
            format!(r#"{{"a":{},"b":{}}}"#, entry(a), entry(b))
        };
        assert!(read(&file(&two("[0,4]", "[4,8]"), 8)).is_ok());
        for (a, b, numbers) in [("[0,4]", "[2,6]", 6), ("[0,4]", "[0,4]", 4), ("[0,4]", "[5,9]", 9)] {
            assert!(read(&file(&two(a, b), numbers)).is_err(), "{a} and {b} of {numbers}");
        }
        // Together as many bytes as there are addresses, so that any header's length is too much.
        let large = (1u64 << 61) - 1;
        let ends: Vec<u64> = (1..=8).map(|i| i * large).chain([u64::MAX]).collect();
        let entry = |(i, end): (usize, &u64)| {
            let start = if i == 0 { 0 } else { ends[i - 1] };
            format!(r#""{i}":{{"dtype":"U8","shape":[{}],"data_offsets":[{start},{end}]}}"#, end - start)
        };
        let entries: Vec<String> = ends.iter().enumerate().map(entry).collect();
        let error = read(&file(&format!("{{{}}}", entries.join(",")), 8)).expect_err("too many bytes");
        assert!(error.message.contains("18446744073709551615 bytes"), "{error}");
    }

    #[test]
    fn broken_files_do_no_harm() {
        for (bytes, _) in FILES {
            let survived = survived(bytes, 3000, |bytes| read(bytes).is_ok());
            assert!((1..3000).contains(&survived), "{survived}");
        }
    }
}
