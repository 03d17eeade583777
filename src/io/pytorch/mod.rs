//! PyTorch's checkpoints, what torch.save writes: a pickle that says which tensors there are, and their storages, as files of a zip
//! (since 1.6) or one after another. Nothing of the pickle is executed (`pickle.rs`, `globals.rs`); the model is searched in what it
//! holds (`state.rs`), and its tensors alone are read (`storage.rs`).
//!
//! What is read takes at most 32 times the file: four times as many numbers, of one byte that become eight; besides, an archive's
//! storages as they unfold (`archive/`), and 200 bytes for each step of the pickle, which are as many as its bytes, and two million
//! at most.

mod globals;
mod pickle;
mod state;
mod storage;
#[cfg(test)]
mod tests;
mod value;

use std::collections::HashMap;

use self::storage::Storages;
use self::value::{Heap, Tensor, Value};
use super::archive::{Archive, is_zip};
use super::array::count;
use super::format::{Content, Format};
use super::{Arrays, File};
use crate::error::{Error, ErrorCode, Result, bail, ensure};

/// What pickles of protocol 2 and later begin with.
const PICKLES: u8 = 0x80;

/// The number 0x1950a86a20f9469cfc6c, with which the older format begins, as a pickle has it.
const MAGIC: [u8; 12] = [0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19];
const PROTOCOL: i64 = 1001;

/// Names of what is refused in words: another pickle, a broken archive. `.bin` is many things, and known by its bytes alone.
const EXTENSIONS: [&str; 5] = ["pt", "pth", "th", "ckpt", "pkl"];

/// Most bytes of an archive's pickle: a few hundred for each tensor.
const PICKLE: usize = 16 << 20;

pub(super) const FORMAT: Format = Format {
    name: "PyTorch",
    is: |file| {
        let is_named = EXTENSIONS.iter().any(|extension| file.has_extension(extension));
        if is_zip(&file.bytes) {
            // A broken archive is told apart by its name.
            return Archive::open(&file.bytes).map_or(is_named, |zip| folder(&zip).is_some());
        }
        file.bytes.first() == Some(&PICKLES) && (is_named || is_legacy(&file.bytes))
    },
    read: |file: &File, _| read(&file.bytes).map(|checkpoint| Content::Arrays(checkpoint.arrays)),
};

/// A model's weights.
#[derive(Debug)]
pub(super) struct Checkpoint {
    /// Them, with names as the model itself has them.
    pub arrays: Arrays,
    /// What stood before every name in the file, `module.` for example: put there again, it is the file's name.
    #[cfg_attr(not(test), expect(dead_code, reason = "for those who write names back"))]
    pub prefix: String,
}

/// Reads a file's bytes.
///
/// # Errors
/// `Parse` for what is no checkpoint, has no tensors, or asks for more than tensors; `TooLarge`.
pub(super) fn read(bytes: &[u8]) -> Result<Checkpoint> {
    if is_zip(bytes) {
        read_zip(bytes)
    } else if is_legacy(bytes) {
        read_legacy(bytes)
    } else {
        bail!(
            Parse,
            "a pickle that torch.save did not write: isoflat executes nothing; save the weights as torch.save(model.state_dict(), …)"
        )
    }
}

fn is_legacy(bytes: &[u8]) -> bool {
    let start = bytes.get(..32).unwrap_or(bytes);
    start.first() == Some(&PICKLES) && start.windows(MAGIC.len()).any(|window| window == MAGIC)
}

/// The folder that an archive has its pickle in, with a slash, or none.
fn folder(zip: &Archive) -> Option<String> {
    const NAME: &str = "data.pkl";
    let names = zip.names().into_iter();
    let folders = names.filter_map(|name| name.strip_suffix(NAME).map(String::from));
    folders.filter(|folder| folder.is_empty() || folder.ends_with('/')).min_by_key(String::len)
}

fn read_zip(bytes: &[u8]) -> Result<Checkpoint> {
    let mut zip = Archive::open(bytes)?;
    let Some(folder) = folder(&zip) else { bail!(Parse, "the archive has no data.pkl, as those of torch.save have") };
    let is_script = zip.has(&format!("{folder}constants.pkl"));
    let order = format!("{folder}byteorder");
    let is_big_endian = zip.has(&order) && zip.read(&order)?.starts_with(b"big");
    let pickle = zip.read(&format!("{folder}data.pkl"))?;
    ensure!(
        pickle.len() <= PICKLE && pickle.len() as u64 <= 4 * bytes.len() as u64 + (1 << 16),
        TooLarge,
        "data.pkl is {} bytes long: the list of a model's tensors is shorter",
        pickle.len()
    );
    let found = pickle::load(&pickle, 0).and_then(|pickle::Loaded { mut heap, value, .. }| {
        collect(&mut heap, value, &mut Storages::of_zip(zip, &folder, is_big_endian, bytes.len()))
    });
    found.map_err(|error| if is_script { of_script(&error) } else { error })
}

fn of_script(error: &Error) -> Error {
    const WHY: &str = "a TorchScript file is a program, which is not executed: save torch.save(model.state_dict(), …) or an ONNX file";
    Error::new(error.code, format!("{WHY} ({})", error.message))
}

/// Four pickles, the magic, a number, sizes of types and what was saved; the list of the storages, and they themselves: how many
/// elements each has, and these.
fn read_legacy(bytes: &[u8]) -> Result<Checkpoint> {
    let magic = pickle::load(bytes, 0)?;
    let protocol = pickle::load(bytes, magic.end)?;
    ensure!(
        matches!(protocol.value, Value::Int(PROTOCOL)),
        Parse,
        "a checkpoint of another protocol than {PROTOCOL}, which torch.save of 0.4 to 1.5 and its older format have"
    );
    let system = pickle::load(bytes, protocol.end)?;
    let mut saved = pickle::load(bytes, system.end)?;
    let keys = pickle::load(bytes, saved.end)?;
    let Some(names) = keys.heap.items(keys.value) else { bail!(Parse, "the checkpoint has no list of its storages") };
    let sizes = saved.heap.storages();
    let (mut pieces, mut at) = (HashMap::new(), keys.end);
    for key in names {
        let Value::Text(key) = *key else { bail!(Parse, "a storage's key is no text") };
        let Some(&size) = sizes.get(key) else { bail!(Parse, "storage {key} is of no type that is known") };
        let cut = || Error::new(ErrorCode::Parse, format!("the checkpoint ends before or within storage {key}"));
        let rest = bytes.get(at..).ok_or_else(cut)?;
        let (count, rest) = rest.split_first_chunk::<8>().ok_or_else(cut)?;
        let length = usize::try_from(i64::from_le_bytes(*count)).ok().and_then(|count| count.checked_mul(size));
        let piece = length.and_then(|length| rest.get(..length)).ok_or_else(cut)?;
        ensure!(pieces.insert(key, piece).is_none(), Parse, "storage {key} is in the file twice");
        at += 8 + piece.len();
    }
    collect(&mut saved.heap, saved.value, &mut Storages::of_pieces(pieces, bytes.len()))
}

/// The model's tensors as arrays.
fn collect<'a>(heap: &mut Heap<'a>, root: Value<'a>, storages: &mut Storages) -> Result<Checkpoint> {
    let found = state::find(heap, root)?;
    let mut arrays = Arrays { notes: found.notes, ..Arrays::default() };
    let mut places: HashMap<Place, String> = HashMap::new();
    for (name, value) in found.tensors {
        let Some(tensor) = heap.tensor(value) else { continue };
        if let Some(place) = place(tensor) {
            match places.get(&place) {
                Some(first) => arrays.shared.push([name.clone(), first.clone()]),
                None => drop(places.insert(place, name.clone())),
            }
        }
        let named = |error: Error| Error::new(error.code, format!("{name}: {}", error.message));
        let array = storages.array(tensor).map_err(named)?;
        arrays.arrays.push((name, array));
    }
    Ok(Checkpoint { arrays, prefix: found.prefix })
}

/// Where a tensor's numbers lie: a storage's key, the first byte and how many numbers. A transposed view has the place of its original.
type Place<'a> = (&'a str, usize, usize);

/// Nothing of a tensor without numbers.
fn place<'a>(tensor: &Tensor<'a>) -> Option<Place<'a>> {
    let first = tensor.offset.checked_mul(tensor.stored.size())?.checked_add(tensor.storage.start)?;
    let count = count(&tensor.shape).filter(|&count| count > 0)?;
    Some((tensor.storage.key, first, count))
}
