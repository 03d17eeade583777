use std::io::Read;

use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::*;
use crate::error::ErrorCode;

macro_rules! fixture {
    ($name:literal) => {
        ($name, include_bytes!(concat!("../../../tests/fixtures/data/", $name)) as &[u8])
    };
}

const PNG: [(&str, &[u8]); 13] = [
    fixture!("grey.png"),
    fixture!("rgb.png"),
    fixture!("rgba.png"),
    fixture!("grey_alpha.png"),
    fixture!("bits.png"),
    fixture!("palette1.png"),
    fixture!("palette2.png"),
    fixture!("palette4.png"),
    fixture!("palette8.png"),
    fixture!("grey16.png"),
    fixture!("interlaced16.png"),
    fixture!("interlaced2.png"),
    fixture!("interlaced.png"),
];
const JPEG: [(&str, &[u8]); 4] =
    [fixture!("grey.jpg"), fixture!("full.jpg"), fixture!("half.jpg"), fixture!("progressive.jpg")];
const TINY: (&str, &[u8]) = fixture!("interlaced_tiny.png");
const CMYK: (&str, &[u8]) = fixture!("cmyk.jpg");
const ARCHIVE: (&str, &[u8]) = fixture!("animals.zip");

fn expected(name: &str) -> Vec<i32> {
    let all: serde_json::Value =
        serde_json::from_str(include_str!("../../../tests/fixtures/data/expected.json")).expect("JSON");
    serde_json::from_value(all[name].clone()).expect("numbers")
}

/// The pixels, channel after channel.
fn planes(bytes: &[u8]) -> Result<(Vec<i32>, bool, bool)> {
    let picture = decode(bytes)?;
    let channel = |c| picture.pixels.iter().skip(c).step_by(picture.channels).map(|&x| i32::from(x));
    Ok(((0..picture.channels).flat_map(channel).collect(), picture.has_alpha, picture.is_reduced))
}

#[test]
fn png_of_every_kind_is_read_to_the_last_bit() {
    for (name, bytes) in PNG.into_iter().chain([TINY]) {
        let (found, has_alpha, is_reduced) = planes(bytes).expect(name);
        assert_eq!(found, expected(name), "{name}");
        assert_eq!(has_alpha, ["rgba.png", "grey_alpha.png"].contains(&name), "{name}");
        assert_eq!(is_reduced, name.contains("16"), "{name}");
    }
}

#[test]
fn jpeg_is_read_as_another_decoder_does() {
    for (name, bytes) in JPEG {
        let (found, ..) = planes(bytes).expect(name);
        let expected = expected(name);
        assert_eq!(found.len(), expected.len(), "{name}");
        let furthest = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).max().expect("pixels");
        // Decoders may round otherwise.
        assert!(furthest <= 2, "{name}: {furthest}");
    }
    let error = planes(CMYK.1).expect_err("four channels");
    assert!(error.message.contains("4 channels"), "{error}");
}

#[test]
fn what_is_cut_or_damaged_is_refused() {
    for (name, bytes) in [PNG[1], PNG[8], PNG[12]] {
        for cut in 0..bytes.len() {
            assert!(planes(&bytes[..cut]).is_err(), "{name} cut to {cut}");
        }
        for at in 8..bytes.len() {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= 0x10;
            assert!(planes(&damaged).is_err(), "{name}: a bit of byte {at}");
        }
    }
    for (name, bytes) in [JPEG[0], JPEG[1]] {
        assert!(planes(&bytes[..bytes.len() * 3 / 4]).is_err(), "{name}");
        assert!(planes(&bytes[..bytes.len() / 2]).is_err(), "{name}");
    }
}

/// A PNG file of zeros, of this size.
fn compressed(width: u32, height: u32) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut encoder, &vec![0; ((width * 3 + 1) * height) as usize]).expect("memory");
    file(width, height, &encoder.finish().expect("memory"))
}

/// A PNG file without pixels that says that it is of this size.
fn empty(width: u32, height: u32) -> Vec<u8> {
    file(width, height, &[0x78, 0x9c, 3, 0, 0, 0, 0, 1])
}

fn file(width: u32, height: u32, data: &[u8]) -> Vec<u8> {
    let mut out = png::SIGNATURE.to_vec();
    let mut chunk = |kind: &[u8], content: &[u8]| {
        let mut sum = flate2::Crc::new();
        sum.update(kind);
        sum.update(content);
        out.extend([&(content.len() as u32).to_be_bytes(), kind, content, &sum.sum().to_be_bytes()].concat());
    };
    chunk(b"IHDR", &[&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat());
    chunk(b"IDAT", data);
    chunk(b"IEND", &[]);
    out
}

#[test]
fn a_size_that_no_file_has_takes_no_memory() {
    for (width, height) in [(u32::MAX, u32::MAX), (1 << 24, 1 << 24), (1 << 13, 1 << 14), (0, 5), (5, 0), (0, u32::MAX)]
    {
        assert!(planes(&empty(width, height)).is_err(), "{width}×{height}");
    }
    let error = planes(&empty(4096, 4096)).expect_err("so much in few bytes");
    assert!(error.message.contains("cannot be in"), "{error}");
    assert_eq!(planes(&empty(5000, 5000)).expect_err("too large").code, ErrorCode::TooLarge);
    let error = planes(&empty(5, 5)).expect_err("no pixels");
    assert!(error.message.contains("row 0"), "{error}");
}

/// A PNG file's chunks, their contents changed here and there, with sums that are right again; the pixels' too.
fn mutated(bytes: &[u8], rng: &mut impl rand::Rng) -> Vec<u8> {
    let (mut out, mut rest) = (png::SIGNATURE.to_vec(), &bytes[8..]);
    while let [a, b, c, d, kind0, kind1, kind2, kind3, content @ ..] = rest {
        let (content, behind) = content.split_at(u32::from_be_bytes([*a, *b, *c, *d]) as usize);
        let (kind, mut content) = ([*kind0, *kind1, *kind2, *kind3], content.to_vec());
        rest = &behind[4..];
        if kind == *b"IDAT" && rng.random_bool(0.5) {
            let mut pixels = Vec::new();
            let _ = ZlibDecoder::new(&content[..]).read_to_end(&mut pixels);
            let at = rng.random_range(0..=pixels.len());
            pixels.iter_mut().skip(at).take(1).for_each(|byte| *byte = rng.random_range(0..8));
            pixels.truncate(if rng.random_bool(0.2) { at } else { usize::MAX });
            let mut encoder = ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            std::io::Write::write_all(&mut encoder, &pixels).expect("memory");
            content = encoder.finish().expect("memory");
        } else if rng.random_bool(0.4) {
            let at = rng.random_range(0..=content.len());
            content.iter_mut().skip(at).take(1).for_each(|byte| *byte = rng.random_range(0..20));
            content.truncate(if rng.random_bool(0.1) { at } else { usize::MAX });
        }
        if rng.random_bool(0.05) {
            continue;
        }
        let mut sum = flate2::Crc::new();
        sum.update(&kind);
        sum.update(&content);
        out.extend([&(content.len() as u32).to_be_bytes(), &kind, &content[..], &sum.sum().to_be_bytes()].concat());
    }
    out
}

#[test]
fn a_png_whose_sums_are_right_may_still_be_wrong() {
    let mut rng = crate::random::generator(3);
    let (mut read, mut refused) = (0, 0);
    for (_, bytes) in PNG {
        for _ in 0..400 {
            match decode(&mutated(bytes, &mut rng)) {
                Ok(picture) => {
                    assert_eq!(picture.pixels.len(), picture.width * picture.height * picture.channels);
                    read += 1;
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(read > 1000 && refused > 1000, "{read} read, {refused} refused");
}

fn open(files: &[File], samples: Option<usize>) -> Result<Labelled> {
    let pictures = pictures(files.iter().collect(), &mut Vec::new())?;
    read(&pictures.iter().collect::<Vec<_>>(), &classes(&pictures), samples, MOST_OF_ALL)
}

#[test]
fn folders_are_classes_in_alphabetical_order() {
    let file = |name: &str, (_, bytes): (&str, &'static [u8])| File::new(name, bytes);
    let files = [
        file("pets/dogs/10.png", PNG[12]),
        file("pets/dogs/9.png", PNG[1]),
        file("pets/cats/2.jpg", JPEG[1]),
        file("pets/dogs/8.png", PNG[2]),
    ];
    let found = open(&files, None).expect("images");
    assert_eq!(found.classes, ["cats", "dogs"]);
    assert_eq!(found.arrays.get("targets").expect("targets").to_f64().expect("memory"), [0.0, 1.0, 1.0, 1.0]);
    let inputs = found.arrays.get("inputs").expect("inputs");
    assert_eq!(inputs.shape(), [4, 3, 11, 13]);
    let pixels = inputs.to_f64().expect("memory");
    for (i, name) in [(1, "rgba.png"), (2, "rgb.png"), (3, "interlaced.png")] {
        let expected: Vec<f64> = expected(name).into_iter().map(f64::from).collect();
        assert_eq!(pixels[i * 429..(i + 1) * 429], expected, "{name}");
    }
    assert!(found.arrays.notes[0].starts_with("1 images have transparency"), "{:?}", found.arrays.notes);
    let few = open(&files, Some(3)).expect("images");
    assert_eq!(few.arrays.get("targets").expect("targets").to_f64().expect("memory"), [0.0, 1.0, 1.0]);
    let two = open(&files, Some(2)).expect("images");
    assert_eq!(two.arrays.get("targets").expect("targets").to_f64().expect("memory"), [0.0, 1.0]);
}

#[test]
fn images_of_other_sizes_are_refused_by_name() {
    let files = [File::new("a/1.png", PNG[1].1), File::new("b/2.png", PNG[0].1), File::new("b/3.png", TINY.1)];
    let error = open(&files[..2], None).expect_err("grey and RGB");
    assert!(error.message.contains("a/1.png is 13×11 pixels (RGB), but b/2.png is 13×11 pixels (grey)"), "{error}");
    let error = open(&[files[0].clone(), files[2].clone()], None).expect_err("sizes");
    assert!(error.message.contains("b/3.png is 1×2 pixels"), "{error}");
    let error =
        open(&[File::new("a/1.png", PNG[1].1), File::new("b/2.png", PNG[1].1), File::new("3.png", PNG[1].1)], None);
    assert!(error.expect_err("no folder").message.starts_with("3.png is in no folder"));
    let error = open(&[File::new("a/1.png", &PNG[1].1[..99])], None).expect_err("cut");
    assert!(error.message.starts_with("a/1.png: "), "{error}");
}

#[test]
fn archives_are_unfolded_within_limits() {
    assert!(is_archive(&File::new("", ARCHIVE.1)) && !is_archive(&File::new("", &ARCHIVE.1[..200])));
    let mut notes = Vec::new();
    let archive = File::new("animals.zip", ARCHIVE.1);
    let found = pictures(vec![&archive], &mut notes).expect("an archive");
    assert_eq!(found.len(), 7);
    assert!(notes[0].contains("1 of the archive's files are no PNG"), "{notes:?}");
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.start_file("zeros.png", zip::write::SimpleFileOptions::default()).expect("memory");
    std::io::Write::write_all(&mut writer, &vec![0; 16 << 20]).expect("memory");
    let bomb = writer.finish().expect("memory").into_inner();
    assert_eq!(pictures(vec![&File::new("", bomb)], &mut Vec::new()).expect_err("a bomb").code, ErrorCode::TooLarge);
    // 3 MiB of pixels a file of 3 KB, twenty times.
    let blank = compressed(1024, 1024);
    let many: Vec<File> = (0..20).map(|i| File::new(format!("{i}.png"), &blank[..])).collect();
    let most = most_values(many.iter().take(1));
    let error = read(&many.iter().collect::<Vec<_>>(), &[], None, most).expect_err("more than of all");
    assert_eq!(error.code, ErrorCode::TooLarge, "{error}");
    assert!(read(&many.iter().take(3).collect::<Vec<_>>(), &[], None, most).is_ok());
}

#[test]
fn other_images_are_refused_by_their_kind() {
    let found = read_format(&File::new("a.gif", &b"GIF89a...."[..]), &[]).expect_err("GIF");
    assert!(found.message.contains("GIF image"), "{found}");
    assert!(
        (FORMAT.is)(&File::new("", &b"RIFF....WEBPVP8 "[..])) && !(FORMAT.is)(&File::new("", &b"RIFF....WAVEfmt "[..]))
    );
}
