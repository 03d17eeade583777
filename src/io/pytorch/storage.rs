//! Where the numbers of a checkpoint lie, and tensors as arrays of them: strided views become row-major.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::value::{Storage, Tensor};
use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::io::archive::Archive;
use crate::io::array::count;
use crate::io::{Array, Elements};
use crate::memory::{in_words, room};

/// How much more than the file has its tensors may have together: shared weights have them twice, and expanded ones more.
const TIMES: u64 = 4;

/// The storages of a file.
pub(super) struct Storages<'a> {
    source: Source<'a>,
    is_big_endian: bool,
    /// Bytes of elements that may still be read.
    left: u64,
}

enum Source<'a> {
    /// Files of an archive under `folder`, and those that were read.
    Zip { archive: Archive<'a>, folder: String, read: HashMap<String, Vec<u8>> },
    /// Pieces of the file.
    Pieces(HashMap<&'a str, &'a [u8]>),
}

impl<'a> Storages<'a> {
    /// Those of an archive: `data/KEY` each; the folder ends with a slash, or is none.
    pub fn of_zip(archive: Archive<'a>, folder: &str, is_big_endian: bool, file: usize) -> Self {
        let source = Source::Zip { archive, folder: format!("{folder}data/"), read: HashMap::new() };
        Self { source, is_big_endian, left: (file as u64).saturating_mul(TIMES) }
    }

    /// Those that follow each other in a file.
    pub fn of_pieces(pieces: HashMap<&'a str, &'a [u8]>, file: usize) -> Self {
        Self { source: Source::Pieces(pieces), is_big_endian: false, left: (file as u64).saturating_mul(TIMES) }
    }

    /// A tensor as an array.
    ///
    /// # Errors
    /// `Parse` where it reaches beyond its storage, or that is not there; `TooLarge` where the tensors together have much more
    /// numbers than the file.
    pub fn array(&mut self, tensor: &Tensor) -> Result<Array> {
        let size = tensor.stored.size();
        let bytes = count(&tensor.shape).and_then(|n| n.checked_mul(size)).map_or(u64::MAX, |n| n as u64);
        ensure!(
            bytes <= self.left,
            TooLarge,
            "its shape is {:?}, {} of numbers: all tensors together have more than {TIMES} times the file, as expanded ones do: \
             save tensor.clone()",
            tensor.shape,
            in_words(bytes)
        );
        self.left -= bytes;
        let is_big_endian = self.is_big_endian;
        let elements = if bytes == 0 {
            tensor.stored.elements(&[], false)?
        } else {
            elements(tensor, self.bytes(&tensor.storage)?, bytes as usize, is_big_endian)?
        };
        Array::new(tensor.shape.clone(), elements)
    }

    /// The bytes of a storage.
    fn bytes(&mut self, storage: &Storage) -> Result<&[u8]> {
        let whole: &[u8] = match &mut self.source {
            Source::Pieces(pieces) => pieces.get(storage.key).copied().ok_or_else(|| missing(storage.key))?,
            Source::Zip { archive, folder, read } => match read.entry(storage.key.to_string()) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(archive.read(&format!("{folder}{}", storage.key))?),
            },
        };
        ensure!(
            whole.len() == storage.whole,
            Parse,
            "storage {} is to have {} bytes, but has {}",
            storage.key,
            storage.whole,
            whole.len()
        );
        let view = whole.get(storage.start..).and_then(|rest| rest.get(..storage.len));
        view.ok_or_else(|| missing(storage.key))
    }
}

fn missing(key: &str) -> Error {
    Error::new(ErrorCode::Parse, format!("storage {key} is not in the file"))
}

/// The numbers of a tensor, which are so many bytes, more than none.
fn elements(tensor: &Tensor, storage: &[u8], bytes: usize, is_big_endian: bool) -> Result<Elements> {
    let (size, stored) = (tensor.stored.size(), tensor.stored);
    // The last element's place; those before it lie before it, as no stride is negative.
    let last = tensor.shape.iter().zip(&tensor.strides).try_fold(tensor.offset, |at, (&n, &stride)| {
        n.saturating_sub(1).checked_mul(stride).and_then(|more| at.checked_add(more))
    });
    let end = last.and_then(|last| last.checked_add(1)).and_then(|n| n.checked_mul(size));
    ensure!(
        end.is_some_and(|end| end <= storage.len()),
        Parse,
        "its shape {:?} with strides {:?} from element {} reaches beyond its storage {}, which has {} elements",
        tensor.shape,
        tensor.strides,
        tensor.offset,
        tensor.storage.key,
        storage.len() / size
    );
    let start = tensor.offset * size;
    if is_row_major(tensor) {
        return stored
            .elements(storage.get(start..).and_then(|rest| rest.get(..bytes)).unwrap_or_default(), is_big_endian);
    }
    let mut gathered = room("a tensor in row-major order", bytes)?;
    let mut index = vec![0usize; tensor.shape.len()];
    let mut at = tensor.offset;
    while gathered.len() < bytes {
        let Some(element) = storage.get(at * size..(at + 1) * size) else {
            bail!(Parse, "a tensor has no element {at}")
        };
        gathered.extend_from_slice(element);
        for ((i, &n), &stride) in index.iter_mut().zip(&tensor.shape).zip(&tensor.strides).rev() {
            *i += 1;
            if *i < n {
                at += stride;
                break;
            }
            at -= (n - 1) * stride;
            *i = 0;
        }
    }
    stored.elements(&gathered, is_big_endian)
}

/// Do the elements lie one after another? The strides of axes of length 1 say nothing.
fn is_row_major(tensor: &Tensor) -> bool {
    let mut expected = 1usize;
    tensor.shape.iter().zip(&tensor.strides).rev().all(|(&n, &stride)| {
        let fits = n == 1 || stride == expected;
        expected = expected.saturating_mul(n);
        fits
    })
}
