use std::io::Write;
use std::rc::Rc;

use super::*;
use crate::error::Result;
use crate::io::{Array, DataOptions, Elements, open_dataset, open_share};
use crate::problem::Targets;

struct Bytes(Vec<u8>);

impl Source for Bytes {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<()> {
        (&self.0[..]).read_at(at, into)
    }
}

fn sliced(name: &str, bytes: &[u8]) -> Option<Sliced> {
    Sliced::of(name, Rc::new(Bytes(bytes.to_vec())))
}

/// `samples` images of CIFAR-10 of which each has other pixels.
fn cifar(samples: usize, of: impl Fn(usize) -> u8) -> Vec<u8> {
    let row = |i: usize| std::iter::once(of(i)).chain((0..3072).map(move |at| (at * 7 + i * 31) as u8));
    (0..samples).flat_map(row).collect()
}

fn idx(shape: &[u32], numbers: &[f64]) -> Vec<u8> {
    let axes = shape.iter().flat_map(|n| n.to_be_bytes());
    [0, 0, 0x0e, shape.len() as u8]
        .into_iter()
        .chain(axes)
        .chain(numbers.iter().flat_map(|x| x.to_be_bytes()))
        .collect()
}

fn npz(arrays: &[(&str, &[usize], Elements)]) -> Vec<u8> {
    let array = |(name, shape, elements): &(&str, &[usize], Elements)| {
        (name.to_string(), Array::new(shape.to_vec(), elements.clone()).expect("an array"))
    };
    let arrays = crate::io::Arrays { arrays: arrays.iter().map(array).collect(), ..crate::io::Arrays::default() };
    npz::write(&arrays).expect("an archive")
}

/// The same archive with its files deflated.
fn deflated(archive: &[u8]) -> Vec<u8> {
    let mut zip = crate::io::archive::Archive::open(archive).expect("an archive");
    let files: Vec<(String, Vec<u8>)> =
        zip.names().into_iter().map(|name| (name.clone(), zip.read(&name).expect("a file"))).collect();
    let pack = |content: &[u8]| {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).expect("in memory");
        encoder.finish().expect("in memory")
    };
    let packed = files.iter().map(|(name, content)| (name.as_str(), pack(content)));
    let mut bytes = crate::io::archive::write(packed).expect("an archive");
    let end = bytes.len() - 22;
    let mut at = u32::from_le_bytes(bytes[end + 16..end + 20].try_into().expect("four bytes")) as usize;
    for (name, content) in &files {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        bytes[at + 10] = 8;
        bytes[at + 16..at + 20].copy_from_slice(&crc.sum().to_le_bytes());
        bytes[at + 24..at + 28].copy_from_slice(&(content.len() as u32).to_le_bytes());
        at += 46 + name.len();
    }
    bytes
}

/// All shares of these files together are what all of them are at once, and every rank makes the same of them.
fn check(files: &[(&str, Vec<u8>)], options: &DataOptions) {
    let whole: Vec<File> = files.iter().map(|(name, bytes)| File::new(*name, &bytes[..])).collect();
    let whole = open_dataset(&whole, options).expect("data");
    let sliced: Vec<Sliced> = files
        .iter()
        .map(|(name, bytes)| sliced(name, bytes).unwrap_or_else(|| panic!("{name} is read whole")))
        .collect();
    for ranks in 1..=whole.samples().min(5) {
        let (mut inputs, mut targets) = (Vec::new(), Vec::new());
        for rank in 0..ranks {
            let at = |rank: usize| rank * whole.samples() / ranks;
            let share = open_share(&sliced, options, |samples| {
                assert_eq!(samples, whole.samples());
                Ok(at(rank)..at(rank + 1))
            });
            let share = share.expect("a share");
            assert_eq!((share.samples, share.held.len()), (whole.samples(), share.data.samples()));
            inputs.extend(share.data.inputs.to_f64());
            targets.push(share.data.targets.clone().expect("targets"));
            assert_eq!(share.data.notes, whole.notes);
            assert_eq!(
                (&share.data.shape, share.data.available, &share.data.classes),
                (&whole.shape, whole.available, &whole.classes)
            );
            assert_eq!(share.data.normalization, whole.normalization);
        }
        assert_eq!(inputs, whole.inputs.to_f64(), "{ranks} ranks");
        let joined = targets.into_iter().reduce(|all, more| match (all, more) {
            (Targets::Classes(a), Targets::Classes(b)) => Targets::Classes([a, b].concat()),
            (Targets::Vectors(a), Targets::Vectors(b)) => Targets::Vectors([a, b].concat()),
            _ => panic!("of several kinds"),
        });
        assert_eq!(joined, whole.targets, "{ranks} ranks");
    }
}

#[test]
fn shares_of_every_format_are_the_whole() {
    let numbers: Vec<f64> = (0..66).map(f64::from).map(|x| x.sin()).collect();
    let labels: Vec<f64> = (0..11).map(|i| f64::from(i % 3)).collect();
    let images = ("images.idx", idx(&[11, 2, 3], &numbers));
    let few = DataOptions { samples: Some(7), ..DataOptions::default() };
    let files = [images, ("labels.idx", idx(&[11], &labels))];
    check(&files, &DataOptions::default());
    check(&files, &few);
    let wide = (0..11).map(|i| i % 3).collect();
    let archive = npz(&[
        ("x", &[11, 6], Elements::F64(numbers.clone())),
        ("y", &[11], Elements::I64(wide)),
        ("spare", &[3], Elements::F64(vec![1.0; 3])),
    ]);
    check(&[("data.npz", archive.clone())], &DataOptions::default());
    check(&[("data.npz", deflated(&archive))], &DataOptions::default());
    check(&[("data.npz", deflated(&archive))], &few);
    check(&[("data.npz", archive)], &few);
    // As many samples as ranks, and another array that has as many rows as a share has.
    check(
        &[("data_batch_2.bin", cifar(3, |i| i as u8)), ("data_batch_1.bin", cifar(4, |i| 9 - i as u8))],
        &DataOptions::default(),
    );
    check(&[("train.bin", [vec![19], cifar(1, |_| 99), vec![0], cifar(1, |_| 42)].concat())], &DataOptions::default());
}

#[test]
fn errors_count_samples_in_the_whole_file() {
    let options = DataOptions { shape: Some(vec![2]), outputs: Some(3), ..DataOptions::default() };
    let fault = |numbers: Vec<f64>, labels: Vec<f64>| {
        let files = [("x.idx", idx(&[10, 2], &numbers)), ("y.idx", idx(&[10], &labels))];
        let whole: Vec<File> = files.iter().map(|(name, bytes)| File::new(*name, &bytes[..])).collect();
        let whole = open_dataset(&whole, &options).expect_err("a fault").message;
        let sliced: Vec<Sliced> = files.iter().map(|(name, bytes)| sliced(name, bytes).expect("an IDX file")).collect();
        assert!(open_share(&sliced, &options, |_| Ok(0..5)).is_ok(), "the fault is not of this share");
        assert_eq!(open_share(&sliced, &options, |_| Ok(5..10)).expect_err("a fault").message, whole);
        whole
    };
    let with = |at: usize, value: f64, length: usize| {
        (0..length).map(|i| if i == at { value } else { 1.0 }).collect::<Vec<f64>>()
    };
    assert!(fault(with(17, f64::NAN, 20), with(0, 0.0, 10)).contains("input 1 of sample 8 is NaN"));
    assert!(fault(with(0, 0.5, 20), with(7, 3.0, 10)).contains("target of sample 7 is class 3"));
    let file = sliced("test_batch.bin", &cifar(6, |i| if i == 4 { 10 } else { 1 })).expect("CIFAR");
    let error = open_share(&[file], &DataOptions::default(), |_| Ok(3..6)).expect_err("no class 10");
    assert!(error.message.contains("image 4 has the label 10"), "{error}");
}

#[test]
fn what_is_no_such_file_or_not_whole_is_read_as_a_whole() {
    let whole = idx(&[5, 2, 3], &[0.0; 30]);
    assert!(sliced("a", &whole).is_some());
    for length in [0, 3, 15, whole.len() - 1] {
        assert!(sliced("a", &whole[..length]).is_none(), "{length} bytes");
    }
    assert!(sliced("a", &[&whole[..], &[0]].concat()).is_none());
    assert!(sliced("a", b"\x1f\x8b\x08\x00").is_none());
    let huge = [0, 0, 0x0e, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0];
    assert!(sliced("a", &huge).is_none());
    let archive = npz(&[("x", &[4, 2], Elements::F32(vec![1.0; 8]))]);
    assert!(sliced("a.npz", &archive).is_some());
    for cut in 1..archive.len() {
        assert!(sliced("a.npz", &archive[..cut]).is_none(), "{cut} bytes of an archive");
    }
    // Alone, and a column behind the other.
    let begin = archive.windows(6).position(|window| window == b"\x93NUMPY").expect("a magic");
    let mut npy = archive[begin..begin + 128 + 32].to_vec();
    assert!(sliced("a.npy", &npy).is_some());
    let order = npy.windows(5).position(|window| window == b"False").expect("an order");
    npy[order..order + 5].copy_from_slice(b"True ");
    assert!(sliced("a.npy", &npy).is_none());
}

#[test]
fn what_is_damaged_where_it_is_deflated_is_found_by_who_reads_the_end() {
    let archive = deflated(&npz(&[("x", &[400, 1000], Elements::I64((0..400_000).map(|i| i * i % 97).collect()))]));
    let found = sliced("x.npz", &archive).expect("an archive");
    let rows = &found.found.arrays[0].1;
    let mut other = rows.clone();
    other.place.deflated = rows.place.deflated.map(|crc| crc ^ 1);
    // In pieces, and a part of one.
    for range in [0..400, 1..2, 399..400, 100..377] {
        let own: Vec<i64> = (range.start as i64 * 1000..range.end as i64 * 1000).map(|i| i * i % 97).collect();
        let read = rows.read(&*found.source, &range).expect("rows");
        assert_eq!((read.shape(), read.elements()), (&[range.len(), 1000][..], &Elements::I64(own)));
        assert_eq!(other.read(&*found.source, &range).is_err(), range.end == 400);
    }
    let error = other.read(&*found.source, &(399..400)).expect_err("another checksum");
    assert!(error.message.contains("checksum"), "{error}");
}
