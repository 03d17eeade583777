//! NumPy's arrays, `.npy`: a magic, a version, a header that is a Python literal (`{'descr': '<f4', 'fortran_order': False, 'shape':
//! (3, 4), }`), and the numbers. What is read takes at most eight times the file's size, where bytes with a sign
//! become whole numbers, and as much again while columns are turned into rows.

use super::array::count;
use super::format::{Content, Format};
use super::numbers::{Stored, bytes_of};
use super::sliced::{self, Place, Rows};
use super::source::{Source, some};
use super::{Array, Arrays, Elements, File};
use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::memory::zeros;

const MAGIC: &[u8] = b"\x93NUMPY";

pub(super) const FORMAT: Format = Format {
    name: "NumPy (.npy)",
    is,
    read: |file: &File, _| {
        Ok(Content::Arrays(Arrays { arrays: vec![(name_of(file), read(&file.bytes)?)], ..Arrays::default() }))
    },
};

/// Such a file, by its first bytes.
pub(super) fn is(file: &File) -> bool {
    file.bytes.starts_with(MAGIC)
}

fn name_of(file: &File) -> String {
    file.base().trim_end_matches(".npy").to_string()
}

/// The header, before it is looked at.
struct Header<'a> {
    descr: &'a str,
    is_fortran: bool,
    shape: Vec<usize>,
}

/// Reads a file's bytes.
///
/// # Errors
/// `Parse` for another format, objects, structures and texts, or a length that is not the shape's.
pub(super) fn read(bytes: &[u8]) -> Result<Array> {
    let (header, numbers) = split(bytes)?;
    let header = parse(header)?;
    let (stored, is_big_endian) = stored(header.descr)?;
    ensure_length(&header, stored, numbers.len() as u64)?;
    let elements = stored.elements(numbers, is_big_endian)?;
    let elements = if header.is_fortran { row_major(elements, &header.shape)? } else { elements };
    Array::new(header.shape, elements)
}

fn ensure_length(header: &Header, stored: Stored, found: u64) -> Result<()> {
    let expected = count(&header.shape).and_then(|n| n.checked_mul(stored.size()));
    ensure!(
        expected.map(|expected| expected as u64) == Some(found),
        Parse,
        "an array of shape {:?} and type {} has another length than the {found} bytes that follow its header",
        header.shape,
        header.descr
    );
    Ok(())
}

/// The most bytes of a header that are read where only some rows are wanted.
pub(super) const HEADER: usize = (1 << 16) + 12;

/// What lies row after row in a file.
pub(super) fn sliced(file: &File, source: &dyn Source) -> Option<sliced::Arrays> {
    let head = some(source, 0, source.len().min(HEADER as u64) as usize).ok()?;
    let place = Place { range: 0..source.len(), deflated: None };
    let rows = rows(&head, source.len(), place).ok()??;
    Some(sliced::Arrays { arrays: vec![(name_of(file), rows)], ..sliced::Arrays::default() })
}

/// The rows of an array whose bytes, so many, begin so. `None` where its columns lie one behind the other, or it has no rows.
///
/// # Errors
/// As [`read`].
pub(super) fn rows(head: &[u8], length: u64, place: Place) -> Result<Option<Rows>> {
    let (text, numbers) = match split(head) {
        Err(_) if (head.len() as u64) < length => return Ok(None),
        found => found?,
    };
    let header = parse(text)?;
    let (stored, is_big_endian) = stored(header.descr)?;
    let before = (head.len() - numbers.len()) as u64;
    ensure_length(&header, stored, length - before)?;
    if header.is_fortran && header.shape.len() > 1 {
        return Ok(None);
    }
    Ok(Rows::new(header.shape, stored, is_big_endian, place, before))
}

/// Header and numbers.
fn split(bytes: &[u8]) -> Result<(&str, &[u8])> {
    let cut = || Error::new(ErrorCode::Parse, "the NumPy file ends within its header");
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| Error::new(ErrorCode::Parse, "not a NumPy file"))?;
    let (&[major, _], rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
    let (length, rest) = match major {
        1 => rest.split_first_chunk::<2>().map(|(n, rest)| (u16::from_le_bytes(*n) as usize, rest)).ok_or_else(cut)?,
        2 | 3 => {
            rest.split_first_chunk::<4>().map(|(n, rest)| (u32::from_le_bytes(*n) as usize, rest)).ok_or_else(cut)?
        }
        _ => bail!(Parse, "a NumPy file of version {major} is not known: 1, 2 and 3 are"),
    };
    let (header, numbers) = rest.split_at_checked(length).ok_or_else(cut)?;
    let header =
        std::str::from_utf8(header).map_err(|_| Error::new(ErrorCode::Parse, "the NumPy header is no text"))?;
    Ok((header, numbers))
}

/// What follows `'key':` in the literal.
fn value_of<'a>(header: &'a str, key: &str) -> Result<&'a str> {
    let found = [format!("'{key}'"), format!("\"{key}\"")].iter().find_map(|quoted| {
        let rest = &header[header.find(quoted.as_str())? + quoted.len()..];
        rest.trim_start().strip_prefix(':').map(str::trim_start)
    });
    found.ok_or_else(|| Error::new(ErrorCode::Parse, format!("the NumPy header has no {key}: {header}")))
}

fn parse(header: &str) -> Result<Header<'_>> {
    let descr = value_of(header, "descr")?;
    let quote = descr.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let Some(descr) = quote.and_then(|quote| descr[1..].split(quote).next()) else {
        bail!(Parse, "arrays of structures are not read, only of numbers: {header}")
    };
    let is_fortran = value_of(header, "fortran_order")?.starts_with("True");
    let shape = value_of(header, "shape")?;
    let inner = shape.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(inner, _)| inner);
    let lengths = inner.and_then(|inner| {
        let lengths = inner.split(',').map(str::trim).filter(|text| !text.is_empty());
        lengths.map(|text| text.trim_end_matches('L').parse().ok()).collect::<Option<Vec<usize>>>()
    });
    match lengths {
        Some(shape) if shape.len() <= 32 => Ok(Header { descr, is_fortran, shape }),
        _ => bail!(Parse, "the NumPy header's shape cannot be read: {header}"),
    }
}

/// What numbers are, and whether their great end comes first.
fn stored(descr: &str) -> Result<(Stored, bool)> {
    let (order, kind) = match descr.split_at_checked(1) {
        Some((order @ ("<" | ">" | "|" | "="), kind)) => (order, kind),
        _ => ("=", descr),
    };
    let stored = match kind {
        "f2" => Stored::F16,
        "f4" => Stored::F32,
        "f8" => Stored::F64,
        "u1" => Stored::U8,
        "u2" => Stored::U16,
        "u4" => Stored::U32,
        "u8" => Stored::U64,
        "i1" => Stored::I8,
        "i2" => Stored::I16,
        "i4" => Stored::I32,
        "i8" => Stored::I64,
        "b1" | "?" => Stored::Bool,
        _ if kind.starts_with('O') => {
            bail!(Parse, "pickled objects are not read, as that would execute them: save arrays of numbers alone")
        }
        // How many of its bytes are the number, and what they mean, is the machine's own.
        "f10" | "f12" | "f16" => bail!(
            Parse,
            "arrays of longdouble (float{}, {descr}) are not read, as they are different on each machine: save them as \
             .astype(\"float64\")",
            8 * kind[1..].parse::<usize>().unwrap_or_default()
        ),
        _ => bail!(
            Parse,
            "arrays of type {descr} are not read: floating-point numbers of 2, 4 or 8 bytes and whole numbers are"
        ),
    };
    Ok((stored, order == ">"))
}

/// Numbers whose first axis runs fastest, in the order in which the last one does.
fn row_major(elements: Elements, shape: &[usize]) -> Result<Elements> {
    fn turned<T: Copy + Default>(from: &[T], shape: &[usize]) -> Result<Vec<T>> {
        let mut to = zeros("an array in row-major order", from.len())?;
        let mut index = vec![0usize; shape.len()];
        for value in &mut to {
            let at = index.iter().zip(shape).rev().fold(0, |at, (i, n)| at * n + i);
            *value = from.get(at).copied().unwrap_or_default();
            for (i, &n) in index.iter_mut().zip(shape).rev() {
                *i += 1;
                if *i < n {
                    break;
                }
                *i = 0;
            }
        }
        Ok(to)
    }
    Ok(match &elements {
        Elements::U8(v) => Elements::U8(turned(v, shape)?),
        Elements::I64(v) => Elements::I64(turned(v, shape)?),
        Elements::F32(v) => Elements::F32(turned(v, shape)?),
        Elements::F64(v) => Elements::F64(turned(v, shape)?),
    })
}

/// An array as NumPy writes it.
///
/// # Errors
/// `TooLarge`.
pub(super) fn write(array: &Array) -> Result<Vec<u8>> {
    let descr = match array.elements() {
        Elements::U8(_) => "|u1",
        Elements::I64(_) => "<i8",
        Elements::F32(_) => "<f4",
        Elements::F64(_) => "<f8",
    };
    let lengths: Vec<String> = array.shape().iter().map(|n| format!("{n},")).collect();
    let shape = lengths.join(" ");
    let shape = if lengths.len() > 1 { shape.trim_end_matches(',') } else { &shape };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Numbers begin at a multiple of 64 bytes.
    let length = (MAGIC.len() + 4 + header.len() + 1).next_multiple_of(64) - MAGIC.len() - 4;
    header.extend(std::iter::repeat_n(' ', length - header.len() - 1));
    header.push('\n');
    let mut bytes = [MAGIC, &[1, 0], &(length as u16).to_le_bytes(), header.as_bytes()].concat();
    bytes.extend(bytes_of(array.elements())?);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array() -> Array {
        Array::new(vec![2, 3], Elements::F32(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])).expect("an array")
    }

    #[test]
    fn what_is_written_is_read() {
        for array in [
            array(),
            Array::new(vec![], Elements::F64(vec![0.1])).expect("an array"),
            Array::new(vec![4], Elements::I64(vec![1, -2, i64::MAX, 0])).expect("an array"),
            Array::new(vec![2, 0, 3], Elements::U8(Vec::new())).expect("an array"),
        ] {
            let bytes = write(&array).expect("bytes");
            assert_eq!(read(&bytes).expect("an array"), array);
            for cut in 0..bytes.len() {
                assert!(read(&bytes[..cut]).is_err(), "cut to {cut}");
            }
        }
    }

    #[test]
    fn columns_first_and_great_ends_first_are_turned() {
        let text = String::from_utf8_lossy(&write(&array()).expect("bytes")).into_owned();
        assert!(text.contains("(2, 3)"), "{text}");
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
        let mut bytes = [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat();
        bytes.extend([1i16, 4, 2, 5, 3, 6].iter().flat_map(|x| x.to_be_bytes()));
        let found = read(&bytes).expect("an array");
        assert_eq!(found.elements(), &Elements::I64(vec![1, 2, 3, 4, 5, 6]));
    }

    #[test]
    fn what_is_no_array_of_numbers_says_so() {
        for (descr, says) in [("|O", "objects"), ("<c8", "<c8"), ("<U3", "<U3")] {
            let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1,), }}\n");
            let bytes = [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat();
            let error = read(&bytes).expect_err("no numbers");
            assert!(error.message.contains(says), "{error}");
        }
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296), }\n";
        let bytes = [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat();
        assert!(read(&bytes).is_err());
    }

    #[test]
    fn numbers_that_a_machine_has_in_its_own_way_are_named_with_what_to_do() {
        for (descr, name) in [("<f16", "float128"), (">f16", "float128"), ("<f12", "float96")] {
            let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1,), }}\n");
            let bytes = [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes(), &[0; 16]].concat();
            let error = read(&bytes).expect_err("a longdouble");
            for says in ["longdouble", name, descr, ".astype(\"float64\")"] {
                assert!(error.message.contains(says), "{says}: {error}");
            }
        }
    }

    macro_rules! fixtures {
        ($($name:literal)+) => {
            [$(($name, include_bytes!(concat!("../../tests/fixtures/numpy/", $name)).as_slice())),+]
        };
    }

    const FILES: [(&str, &[u8]); 26] = fixtures! {
        "f2.npy" "f4.npy" "f8.npy" "great_f2.npy" "great_f4.npy" "great_f8.npy"
        "i1.npy" "i2.npy" "i4.npy" "i8.npy" "u1.npy" "u2.npy" "u4.npy" "u8.npy" "b1.npy"
        "great_i2.npy" "great_i4.npy" "great_i8.npy" "great_u2.npy" "great_u4.npy" "great_u8.npy"
        "fortran.npy" "number.npy" "none.npy" "version2.npy" "version3.npy"
    };

    #[test]
    fn files_have_the_numbers_that_numpy_reads() {
        let expected = crate::io::told::files(include_str!("../../tests/fixtures/numpy/expected.json"));
        for (name, bytes) in FILES {
            let Ok(Content::Arrays(arrays)) = (FORMAT.read)(&File::new(name, bytes), &[]) else { panic!("{name}") };
            crate::io::told::compare(&arrays, expected[name].clone());
        }
    }

    #[test]
    fn what_numpy_writes_but_is_no_number_is_refused_by_name() {
        for ((name, bytes), says) in fixtures!("objects.npy" "structure.npy" "texts.npy" "complex.npy" "dates.npy")
            .into_iter()
            .zip(["pickled objects", "arrays of structures", "type <U2", "type <c16", "type <M8[D]"])
        {
            let error = read(bytes).expect_err(name);
            assert!(error.message.contains(says), "{name}: {error}");
        }
    }

    #[test]
    fn broken_files_do_no_harm() {
        for (name, bytes) in FILES {
            let survived = crate::io::mutations::survived(bytes, 500, |bytes| read(bytes).is_ok());
            assert!((1..500).contains(&survived), "{name}: {survived}");
        }
    }
}
