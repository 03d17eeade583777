//! Tensors of ONNX files as arrays: numbers as bytes, little end first, as fields of their own kind, or in a file beside.

use half::{bf16, f16};
use prost::bytes::Bytes;

use super::proto::TensorProto;
use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::io::array::count;
use crate::io::numbers::Stored;
use crate::io::{Array, Elements, File};
use crate::memory::{collected, copied};

/// Axes that a tensor may have.
pub const MOST_AXES: usize = 8;

/// What `data_location` is where the numbers lie in another file.
const EXTERNAL: i32 = 1;

/// Types by their number in onnx.proto.
pub fn stored(data_type: i32, name: &str) -> Result<Stored> {
    Ok(match data_type {
        1 => Stored::F32,
        2 => Stored::U8,
        3 => Stored::I8,
        4 => Stored::U16,
        5 => Stored::I16,
        6 => Stored::I32,
        7 => Stored::I64,
        9 => Stored::Bool,
        10 => Stored::F16,
        11 => Stored::F64,
        12 => Stored::U32,
        13 => Stored::U64,
        16 => Stored::Bf16,
        other => bail!(
            Parse,
            "the tensor {name} is of type {}, which is not read: export the model with floating-point weights",
            type_name(other)
        ),
    })
}

/// What onnx.proto calls a type.
pub fn type_name(data_type: i32) -> String {
    const NAMES: [&str; 27] = [
        "UNDEFINED",
        "FLOAT",
        "UINT8",
        "INT8",
        "UINT16",
        "INT16",
        "INT32",
        "INT64",
        "STRING",
        "BOOL",
        "FLOAT16",
        "DOUBLE",
        "UINT32",
        "UINT64",
        "COMPLEX64",
        "COMPLEX128",
        "BFLOAT16",
        "FLOAT8E4M3FN",
        "FLOAT8E4M3FNUZ",
        "FLOAT8E5M2",
        "FLOAT8E5M2FNUZ",
        "UINT4",
        "INT4",
        "FLOAT4E2M1",
        "FLOAT8E8M0",
        "UINT2",
        "INT2",
    ];
    let name = usize::try_from(data_type).ok().and_then(|i| NAMES.get(i));
    name.map_or_else(|| format!("number {data_type}"), |&name| name.into())
}

/// Is a type one of floating-point numbers?
pub fn is_floating(data_type: i32) -> bool {
    matches!(data_type, 1 | 10 | 11 | 16)
}

/// The lengths of a tensor's axes.
///
/// # Errors
/// `Parse` for a negative one, or too many.
pub fn shape(tensor: &TensorProto) -> Result<Vec<usize>> {
    let lengths = tensor.dims.iter().map(|&n| usize::try_from(n).ok()).collect::<Option<Vec<usize>>>();
    match lengths {
        Some(shape) if shape.len() <= MOST_AXES && count(&shape).is_some() => Ok(shape),
        _ => bail!(Parse, "the tensor {} has the shape {:?}", tensor.name, tensor.dims),
    }
}

/// The files that were opened with a model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside<'a> {
    /// The folder that the model is in, with what separates it from names.
    folder: &'a str,
    files: &'a [File<'a>],
}

impl<'a> Beside<'a> {
    pub fn new(model: &'a File, files: &'a [File<'a>]) -> Self {
        Self { folder: &model.name[..model.name.len() - model.base().len()], files }
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> u64 {
        self.files.iter().fold(0u64, |sum, file| sum.saturating_add(file.bytes.len() as u64))
    }

    /// The file at a place that the model names: beside the model, or of that name, or the only one of the name without folders.
    fn at(&self, location: &str, name: &str) -> Result<&'a File<'a>> {
        let path = location.strip_prefix("./").unwrap_or(location);
        let base = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let find = |wanted: &str| self.files.iter().find(|file| file.name == wanted);
        if let Some(file) = find(&format!("{}{path}", self.folder)).or_else(|| find(path)) {
            return Ok(file);
        }
        let mut files = self.files.iter().filter(|file| file.base() == base);
        match (files.next(), files.next()) {
            (Some(file), None) => Ok(file),
            (Some(_), Some(_)) => bail!(
                Parse,
                "the tensor {name} is in the file {path}, which several of the files could be: open them with their folders, or one \
                 model's alone"
            ),
            (None, _) => bail!(
                Parse,
                "the tensor {name} is in the file {base}, which was not opened: open it together with the model"
            ),
        }
    }
}

/// A tensor's numbers; `beside` are the files that were opened with the model.
///
/// # Errors
/// `Parse` where there are more or fewer than the shape says, for a type that is not known, or for a file that is not there.
pub fn read(tensor: &TensorProto, name: &str, beside: Beside) -> Result<Array> {
    let shape = shape(tensor)?;
    ensure!(
        tensor.segment.is_none(),
        Parse,
        "the tensor {name} is one of several segments, which are not read: save it whole"
    );
    let stored = stored(tensor.data_type, name)?;
    let expected = count(&shape).unwrap_or(usize::MAX);
    let elements = if tensor.data_location == EXTERNAL {
        stored.elements(sized(external(tensor, name, beside)?, expected, stored, name)?, false)?
    } else if tensor.raw_data.is_empty() {
        typed(tensor, stored)?
    } else {
        stored.elements(sized(&tensor.raw_data, expected, stored, name)?, false)?
    };
    ensure!(
        elements.len() == expected,
        Parse,
        "the tensor {name} is to have {expected} numbers by its shape {shape:?}, but has {}",
        elements.len()
    );
    Array::new(shape, elements)
}

/// A tensor's bytes, where they are as many as its shape says.
fn sized<'a>(bytes: &'a [u8], expected: usize, stored: Stored, name: &str) -> Result<&'a [u8]> {
    ensure!(
        expected.checked_mul(stored.size()) == Some(bytes.len()),
        Parse,
        "the tensor {name} is to have {expected} numbers of {} bytes by its shape, but has {} bytes",
        stored.size(),
        bytes.len()
    );
    Ok(bytes)
}

/// Numbers that are fields: half precisions by their bits, smaller whole numbers as larger ones.
fn typed(tensor: &TensorProto, stored: Stored) -> Result<Elements> {
    const WHAT: &str = "a tensor";
    let small = || tensor.int32_data.iter();
    Ok(match stored {
        Stored::F32 => Elements::F32(copied(WHAT, &tensor.float_data)?),
        Stored::F64 => Elements::F64(copied(WHAT, &tensor.double_data)?),
        Stored::F16 => Elements::F32(collected(WHAT, small().map(|&bits| f16::from_bits(bits as u16).to_f32()))?),
        Stored::Bf16 => Elements::F32(collected(WHAT, small().map(|&bits| bf16::from_bits(bits as u16).to_f32()))?),
        Stored::I64 => Elements::I64(copied(WHAT, &tensor.int64_data)?),
        Stored::U32 | Stored::U64 => {
            let values = tensor.uint64_data.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX));
            Elements::I64(collected(WHAT, values)?)
        }
        Stored::U8 | Stored::Bool => Elements::U8(collected(WHAT, small().map(|&n| n as u8))?),
        Stored::I8 | Stored::U16 | Stored::I16 | Stored::I32 => {
            Elements::I64(collected(WHAT, small().map(|&n| i64::from(n)))?)
        }
    })
}

/// Does a tensor's numbers lie in another file?
pub fn is_external(tensor: &TensorProto) -> bool {
    tensor.data_location == EXTERNAL
}

/// The bytes of a tensor that lie in another file.
///
/// # Errors
/// `Parse` where it was not opened, is too short, or could be several.
pub fn external<'a>(tensor: &TensorProto, name: &str, beside: Beside<'a>) -> Result<&'a [u8]> {
    let entry =
        |key: &str| tensor.external_data.iter().find(|entry| entry.key == key).map(|entry| entry.value.as_str());
    let number = |key: &str| match entry(key) {
        None => Ok(None),
        Some(text) => text.trim().parse::<usize>().map(Some).map_err(|_| {
            Error::new(ErrorCode::Parse, format!("the tensor {name} is in another file, but its {key} there is {text}"))
        }),
    };
    let Some(location) = entry("location") else {
        bail!(Parse, "the tensor {name} is in another file, but the model does not say in which")
    };
    let file = beside.at(location, name)?;
    let offset = number("offset")?.unwrap_or(0);
    let length = number("length")?.unwrap_or_else(|| file.bytes.len().saturating_sub(offset));
    let end = offset.checked_add(length);
    let Some(bytes) = end.and_then(|end| file.bytes.get(offset..end)) else {
        bail!(
            Parse,
            "the tensor {name} is {length} bytes at {offset} in the file {}, which has {}",
            file.name,
            file.bytes.len()
        )
    };
    Ok(bytes)
}

/// Numbers as the bytes of a type.
///
/// # Errors
/// `OutOfRange` where one is finite, but not in this type; `InvalidOption` for a type of whole numbers.
pub fn bytes_of(values: &[f64], data_type: i32, name: &str) -> Result<Bytes> {
    const WHAT: &str = "a tensor's bytes";
    let mut bytes = crate::memory::room(WHAT, values.len().saturating_mul(8))?;
    for &value in values {
        let written = match data_type {
            1 => f64::from(value as f32),
            10 => f16::from_f64(value).to_f64(),
            11 => value,
            16 => bf16::from_f64(value).to_f64(),
            other => bail!(
                InvalidOption,
                "the tensor {name} is of type {}, which does not hold weights: floating-point types do",
                type_name(other)
            ),
        };
        ensure!(
            written.is_finite() || !value.is_finite(),
            OutOfRange,
            "the tensor {name} is of type {}, in which {value} is infinite: save in isoflat's own format",
            type_name(data_type)
        );
        match data_type {
            1 => bytes.extend((value as f32).to_le_bytes()),
            10 => bytes.extend(f16::from_f64(value).to_le_bytes()),
            16 => bytes.extend(bf16::from_f64(value).to_le_bytes()),
            _ => bytes.extend(value.to_le_bytes()),
        }
    }
    Ok(bytes.into())
}

#[cfg(test)]
mod tests {
    use super::super::proto::StringStringEntryProto;
    use super::*;

    fn entry(key: &str, value: &str) -> StringStringEntryProto {
        StringStringEntryProto { key: key.into(), value: value.into() }
    }

    #[test]
    fn numbers_are_read_from_bytes_and_from_fields() {
        let typed =
            TensorProto { dims: vec![2], data_type: 10, int32_data: vec![0x3c00, 0xc000], ..Default::default() };
        let raw =
            TensorProto { dims: vec![2], data_type: 10, raw_data: vec![0, 0x3c, 0, 0xc0].into(), ..Default::default() };
        for tensor in [typed, raw] {
            assert_eq!(
                read(&tensor, "t", Beside::default()).expect("an array").elements(),
                &Elements::F32(vec![1.0, -2.0])
            );
        }
        let tensor = TensorProto { data_type: 11, double_data: vec![0.1], ..Default::default() };
        assert_eq!(read(&tensor, "t", Beside::default()).expect("a number").to_f64().expect("numbers"), [0.1]);
        for (dims, data_type) in
            [(vec![3], 10), (vec![-1], 10), (vec![i64::MAX, i64::MAX], 1), (vec![2], 8), (vec![2], 99)]
        {
            let tensor = TensorProto { dims, data_type, int32_data: vec![0x3c00, 0xc000], ..Default::default() };
            assert!(read(&tensor, "t", Beside::default()).is_err());
        }
    }

    #[test]
    fn numbers_in_other_files_are_found_by_the_base_of_the_name() {
        let bytes: Vec<u8> = [9.0f32, 1.5, -2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let files = [File::new("models/net.data", bytes)];
        let beside = Beside { folder: "", files: &files };
        let of = |entries: &[(&str, &str)]| TensorProto {
            dims: vec![2],
            data_type: 1,
            data_location: EXTERNAL,
            external_data: entries.iter().map(|(key, value)| entry(key, value)).collect(),
            ..Default::default()
        };
        for location in ["net.data", "../../etc/net.data", "/etc/net.data", "a\\net.data"] {
            let tensor = of(&[("location", location), ("offset", "4"), ("length", "8")]);
            assert_eq!(read(&tensor, "w", beside).expect("an array").elements(), &Elements::F32(vec![1.5, -2.0]));
        }
        for (entries, says) in [
            (vec![("location", "other.bin")], "open it together"),
            (vec![("location", "net.data"), ("offset", "8")], "4 bytes"),
            (vec![("location", "net.data"), ("offset", "99")], "0 bytes at 99"),
            (vec![("location", "net.data"), ("offset", "18446744073709551615"), ("length", "8")], "which has 12"),
            (vec![("location", "net.data"), ("offset", "-4")], "-4"),
            (vec![], "does not say"),
        ] {
            let error = read(&of(&entries), "w", beside).expect_err("not there");
            assert!(error.message.contains(says), "{error}");
        }
    }

    #[test]
    fn files_of_one_name_are_told_by_their_folders() {
        let of = |location: &str| TensorProto {
            dims: vec![],
            data_type: 1,
            data_location: EXTERNAL,
            external_data: vec![entry("location", location)],
            ..Default::default()
        };
        let number = |value: f32| value.to_le_bytes().to_vec();
        let value = |folder: &str, names: [&str; 2], location: &str| {
            let files = [File::new(names[0], number(1.0)), File::new(names[1], number(2.0))];
            let read = read(&of(location), "w", Beside { folder, files: &files })?;
            read.to_f64()
        };
        let names = ["m/layer0/weight.bin", "m/layer1/weight.bin"];
        for (i, location) in ["layer0/weight.bin", "./layer1/weight.bin"].into_iter().enumerate() {
            assert_eq!(value("m/", names, location).expect("a number"), [1.0 + i as f64]);
            let bare = names.map(|name| &name[2..]);
            assert_eq!(value("elsewhere/", bare, location).expect("a number"), [1.0 + i as f64]);
            let error = value("", names, location).expect_err("either");
            assert!(error.message.contains("which several of the files could be"), "{error}");
        }
        assert_eq!(value("b/", ["a/w.bin", "b/w.bin"], "w.bin").expect("a number"), [2.0]);
        assert_eq!(value("", ["a/w.bin", "b/v.bin"], "c/v.bin").expect("a number"), [2.0]);
    }

    #[test]
    fn numbers_are_written_in_the_type_that_they_had() {
        assert_eq!(bytes_of(&[1.0], 10, "w").expect("bytes")[..], [0, 0x3c]);
        assert_eq!(bytes_of(&[1.0], 16, "w").expect("bytes")[..], [0x80, 0x3f]);
        assert_eq!(bytes_of(&[0.1], 11, "w").expect("bytes")[..], 0.1f64.to_le_bytes());
        assert_eq!(bytes_of(&[1e5], 10, "w").expect_err("beyond f16").code, ErrorCode::OutOfRange);
        assert_eq!(bytes_of(&[1.0], 7, "w").expect_err("whole numbers").code, ErrorCode::InvalidOption);
    }
}
