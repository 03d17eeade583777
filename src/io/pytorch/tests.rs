//! Checkpoints that PyTorch wrote, with what torch.load gave back of them; and those that are attacks.

use std::time::{Duration, Instant};

use serde::Deserialize;

use super::*;
use crate::io::mutations::survived;
use crate::io::{Elements, archive, npz};

macro_rules! fixture {
    ($($name:literal),+) => {
        include_bytes!(concat!("../../../tests/fixtures/pytorch/", $($name),+)).as_slice()
    };
}

/// A checkpoint, what torch.load gives, what stood before all names, and what is said.
macro_rules! cases {
    ($($name:literal . $end:literal, $prefix:literal, $notes:expr;)+) => {
        [$(($name, fixture!($name, ".", $end), fixture!($name, ".npz"), $prefix, $notes)),+]
    };
}

const TAKEN: &[&str] =
    &["the weights were taken from state_dict", "left out: optimizer (6 tensors)", "module. was taken off all names"];

type Case = (&'static str, &'static [u8], &'static [u8], &'static str, &'static [&'static str]);

fn cases() -> Vec<Case> {
    const MINE: &[&str] = &["the weights were taken from my_weights", "left out: optimizer (6 tensors)"];
    const NET: &[&str] = &["the weights were taken from net", "_orig_mod.module. was taken off all names"];
    const NONE: &[&str] = &[];
    const SETTINGS: &[&str] = &["the weights were taken from state_dict"];
    let cases: [Case; 22] = cases! {
        "zip"."pt", "", NONE;
        "legacy"."th", "", NONE;
        "protocol4"."pt", "", NONE;
        "protocol5"."pt", "", NONE;
        "half"."pt", "", NONE;
        "bf16"."pt", "", NONE;
        "double"."pt", "", NONE;
        "double_legacy"."pt", "", NONE;
        "views"."pt", "", NONE;
        "views_legacy"."pt", "", NONE;
        "kinds"."pt", "", NONE;
        "kinds_legacy"."pt", "", NONE;
        "training"."pt", "module.", TAKEN;
        "training_legacy"."pt", "module.", TAKEN;
        "compiled"."pt", "_orig_mod.module.", NET;
        "nested"."pt", "", NONE;
        "list"."pt", "", NONE;
        "unusual"."pt", "", MINE;
        "tensor"."pt", "", NONE;
        "attributes"."pt", "", NONE;
        "settings"."pt", "", SETTINGS;
        "settings_legacy"."pt", "", SETTINGS;
    };
    cases.to_vec()
}

#[test]
fn checkpoints_have_the_numbers_that_pytorch_reads() {
    for (name, bytes, expected, prefix, notes) in cases() {
        let found = read(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(found.prefix, prefix, "{name}");
        assert_eq!(found.arrays.notes, notes, "{name}");
        let expected = npz::read(expected).expect("what PyTorch reads");
        assert_eq!(found.arrays.arrays.len(), expected.arrays.len(), "{name}: {}", found.arrays.listed());
        for ((known, expected), (given, array)) in expected.arrays.iter().zip(&found.arrays.arrays) {
            assert_eq!((given, array), (known, expected), "{name}");
        }
    }
}

#[test]
fn both_formats_are_known_by_their_first_bytes() {
    for bytes in [fixture!("zip.pt"), fixture!("legacy.th")] {
        assert!((FORMAT.is)(&File::new("without extension", bytes)));
    }
    assert!(!(FORMAT.is)(&File::new("a.npz", fixture!("zip.npz"))));
    assert!((FORMAT.is)(&File::new("broken.pt", &fixture!("zip.pt")[..900])));
    assert!(!(FORMAT.is)(&File::new("a.pt", &b"{}"[..])));
}

#[test]
fn what_is_not_read_is_refused_by_name() {
    for (bytes, says) in [
        (fixture!("module.pt"), "a whole model, not its weights (it asks for torch.nn.modules.linear.Linear)"),
        (
            fixture!("module_legacy.pt"),
            "__main__.Plain: isoflat executes nothing; save the state_dict alone: torch.save(",
        ),
        (fixture!("sparse.pt"), "sparse tensor (torch._utils._rebuild_sparse_tensor)"),
        (fixture!("quantised.pt"), "quantised tensor (torch._utils._rebuild_qtensor)"),
        (fixture!("complex.pt"), "complex numbers (torch.ComplexFloatStorage)"),
        (fixture!("meta.pt"), "without numbers"),
        (fixture!("expanded.pt"), "w: its shape is [1000000], 3 MiB of numbers"),
        (fixture!("empty.pt"), "no tensors"),
        (fixture!("script.pt"), "TorchScript"),
        (&[0x80, 2, b'}', b'.'], "torch.save did not write"),
    ] {
        let error = read(bytes).expect_err(says);
        assert!(error.message.contains(says), "{error}");
    }
}

#[derive(Deserialize)]
struct Malicious {
    name: String,
    pickle: String,
    says: String,
}

/// A pickle as the archive and as the older format have it, with a storage 0 of 16 bytes.
fn wrapped(pickle: &[u8]) -> [Vec<u8>; 2] {
    let files = [("a/data.pkl", pickle.to_vec()), ("a/data/0", vec![1; 16])];
    let zip = archive::write(files.into_iter()).expect("a zip");
    let start = fixture!("legacy.th");
    let magic = pickle::load(start, 0).expect("the magic").end;
    let head = pickle::load(start, pickle::load(start, magic).expect("a protocol").end).expect("sizes of types").end;
    let keys: &[u8] = b"\x80\x02]X\x01\x00\x00\x000a.\x04\x00\x00\x00\x00\x00\x00\x00";
    [zip, [&start[..head], pickle, keys, &[1; 16]].concat()]
}

/// Fails unless a pickle is refused in both formats, for this reason, and soon.
fn ensure_refused(name: &str, pickle: &[u8], says: &str) {
    let since = Instant::now();
    // The older format may fail at its list of storages first.
    let [zip, _] = wrapped(pickle).map(|bytes| read(&bytes).err().unwrap_or_else(|| panic!("{name} is read")));
    assert!(zip.message.contains(says), "{name}: {zip}");
    assert!(since.elapsed() < Duration::from_secs(2), "{name} takes {:?}", since.elapsed());
}

#[test]
fn attacks_are_refused() {
    let text = include_str!("../../../tests/fixtures/pytorch/malicious.json");
    let cases: Vec<Malicious> = serde_json::from_str(text).expect("a list");
    assert_eq!(cases.len(), 44);
    for case in cases {
        let pairs: Vec<char> = case.pickle.chars().collect();
        let pairs = pairs.chunks(2).map(|pair| u8::from_str_radix(&String::from_iter(pair), 16).expect("a byte"));
        let pickle: Vec<u8> = pairs.collect();
        ensure_refused(&case.name, &pickle, &case.says);
    }
}

/// The pickle of one tensor of 4 numbers under the name w, without its end.
fn one() -> Vec<u8> {
    let mut found =
        b"\x80\x02}X\x01\x00\x00\x00wctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storage".to_vec();
    found.extend(b"ctorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x04tQK\x00K\x04\x85K\x01\x85\x89}tRs");
    found
}

#[test]
fn what_grows_or_nests_without_end_is_refused() {
    for bytes in wrapped(&[&one()[..], b"."].concat()) {
        let found = read(&bytes).expect("one tensor").arrays;
        assert_eq!(found.get("w").expect("w").elements(), &Elements::F32(vec![f32::from_bits(0x0101_0101); 4]));
    }
    ensure_refused("marks", &[b"\x80\x02", &b"(".repeat(1_000_000)[..], b"."].concat(), "stack");
    ensure_refused("tuples", &[b"\x80\x02)", &b"\x85".repeat(1_000_000)[..], b"."].concat(), "in each other");
    ensure_refused("too many", &[b"\x80\x02", &b"N0".repeat(2_000_000)[..], b"."].concat(), "steps");
    // Lists of the list before, twice: 2^40 of the tensor.
    let mut laughs = one();
    laughs.extend(b"q\x00");
    for _ in 0..14 {
        laughs.extend(b"]q\x01(h\x00h\x00h\x00h\x00h\x00h\x00h\x00h\x00eh\x01q\x00");
    }
    laughs.extend(b".");
    ensure_refused("laughs", &laughs, "steps");
    // A mapping of a long list of pairs, again and again.
    let pairs = [&b"\x80\x02](K\x01K\x02\x86"[..], &b"K\x01K\x02\x86".repeat(5_000), b"eq\x00"].concat();
    let copies = b"ccollections\nOrderedDict\nq\x02h\x00\x85R0".to_vec();
    let more = b"h\x02h\x00\x85R0".repeat(5_000);
    ensure_refused("pairs", &[&pairs[..], &copies, &more, b"h\x00."].concat(), "steps");
    // Names that become longer and longer.
    let mut names = one();
    for _ in 0..12 {
        let key = [b"X\xe8\x03\x00\x00".to_vec(), vec![b'n'; 1000]].concat();
        names = [names, b"q\x00}".to_vec(), key, b"h\x00s".to_vec()].concat();
    }
    ensure_refused("names", &[names, b".".to_vec()].concat(), "names");
}

/// A mapping of these names to weights of 4 numbers, and of the last to a whole number where it says so.
fn mapping(names: &[&str], counter: Option<&str>) -> Vec<u8> {
    let text = |text: &str| [&b"X"[..], &(text.len() as u32).to_le_bytes(), text.as_bytes()].concat();
    let tensor = |of: &str, key: &str, count: u8, shape: &[u8]| {
        let storage = [text("storage"), format!("ctorch\n{of}\n").into_bytes(), text(key), text("cpu")].concat();
        [&b"ctorch._utils\n_rebuild_tensor_v2\n(("[..], &storage, &[b'K', count], b"tQK\x00", shape, b"\x89}tR"]
            .concat()
    };
    let mut found = b"}".to_vec();
    for name in names {
        found.extend([text(name), tensor("FloatStorage", "0", 4, b"K\x04\x85K\x01\x85"), b"s".to_vec()].concat());
    }
    if let Some(name) = counter {
        found.extend([text(name), tensor("LongStorage", "1", 1, b"))"), b"s".to_vec()].concat());
    }
    found
}

#[test]
fn counters_make_no_mean_of_weights_the_model() {
    let text = |text: &str| [&b"X"[..], &(text.len() as u32).to_le_bytes(), text.as_bytes()].concat();
    let read = |parts: &[(&str, Vec<u8>)]| {
        let parts = parts.iter().flat_map(|(name, part)| [text(name), part.clone(), b"s".to_vec()].concat());
        let pickle = [b"\x80\x02}".to_vec(), parts.collect(), b".".to_vec()].concat();
        let files = [("a/data.pkl", pickle), ("a/data/0", vec![0; 16]), ("a/data/1", vec![0; 8])];
        let found = read(&archive::write(files.into_iter()).expect("a zip")).expect("weights");
        let names: Vec<String> = found.arrays.arrays.into_iter().map(|(name, _)| name).collect();
        (names.join(" "), found.arrays.notes.join("; "))
    };
    let averaged = || mapping(&["module.fc.weight", "module.fc.bias"], Some("n_averaged"));
    let both = [("model_ema", averaged()), ("model", mapping(&["fc.weight", "fc.bias"], None))];
    let (names, notes) = read(&both);
    assert_eq!(names, "fc.weight fc.bias");
    assert_eq!(notes, "the weights were taken from model; left out: model_ema (2 tensors)");
    let (names, notes) = read(&both[..1]);
    assert_eq!(names, "fc.weight fc.bias n_averaged");
    assert_eq!(notes, "the weights were taken from model_ema; module. was taken off all names");
    assert_eq!(read(&[("module.", mapping(&[], Some("module.n")))]).0, "module..module.n");
}

#[test]
fn tensors_of_the_same_numbers_are_told() {
    let read = |names: &[&str]| {
        let pickle = [b"\x80\x02".to_vec(), mapping(names, Some("n")), b".".to_vec()].concat();
        let files = [("a/data.pkl", pickle), ("a/data/0", vec![0; 16]), ("a/data/1", vec![0; 8])];
        read(&archive::write(files.into_iter()).expect("a zip")).expect("weights").arrays.shared
    };
    let none: [[&str; 2]; 0] = [];
    assert_eq!(read(&["a.weight"]), none);
    // Under the names that they have when a wrapper's is taken off.
    let wrapped = ["module.a.weight", "module.b.weight", "module.c.weight"];
    assert_eq!(read(&wrapped), [["b.weight", "a.weight"], ["c.weight", "a.weight"]]);
    // Views of one storage that begin elsewhere or are shorter are tensors of their own.
    let views = super::read(fixture!("views.pt")).expect("views").arrays.shared;
    assert_eq!(views, [["once_more", "tied"]]);
}

#[test]
fn great_ends_first_are_turned() {
    let floats: Vec<u8> = [1.0f32, -2.5, 3.0, 0.1].iter().flat_map(|x| x.to_be_bytes()).collect();
    let pickle = [&one()[..], b"."].concat();
    let files = [("a/data.pkl", pickle), ("a/byteorder", b"big".to_vec()), ("a/data/0", floats)];
    let found = read(&archive::write(files.into_iter()).expect("a zip")).expect("a tensor").arrays;
    assert_eq!(found.get("w").expect("w").elements(), &Elements::F32(vec![1.0, -2.5, 3.0, 0.1]));
}

#[test]
fn broken_checkpoints_do_no_harm() {
    for (name, bytes, ..) in cases() {
        let survived = survived(bytes, 800, |bytes| read(bytes).is_ok());
        assert!((1..800).contains(&survived), "{name}: {survived}");
    }
    // An archive's checksum finds most changes; a pickle by itself has none.
    for pickle in [fixture!("training.pt"), fixture!("views.pt"), fixture!("attributes.pt")] {
        let mut zip = Archive::open(pickle).expect("an archive");
        let names = zip.names();
        let files: Vec<(String, Vec<u8>)> =
            names.into_iter().map(|name| (name.clone(), zip.read(&name).expect("a file"))).collect();
        let at = files.iter().position(|(name, _)| name.ends_with("data.pkl")).expect("a pickle");
        let survived = survived(&files[at].1, 2000, |pickle| {
            let broken = files
                .iter()
                .enumerate()
                .map(|(i, (name, content))| (name.as_str(), if i == at { pickle.to_vec() } else { content.clone() }));
            read(&archive::write(broken).expect("an archive")).is_ok()
        });
        assert!((1..2000).contains(&survived), "{survived}");
    }
}
