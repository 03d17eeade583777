//! Pictures: PNG and JPEG files, opened together or in a zip archive. The folder that a picture is in is its class. All of them have
//! one size; they become bytes, [N, C, H, W], with class numbers in the order of the folders' names.
//!
//! An archive unfolds to what [`Archive`] allows; a picture has at most 2^26 values and 2048 times its file's bytes (deflate makes
//! 1032 of one, JPEG's coarsest blocks a little more), each of which takes eight bytes at most while it is read; all together have at
//! most 256 times the bytes of the files that were opened and 16 Mi, and never over 2^30.

mod jpeg;
mod png;

use std::borrow::Cow;

use super::archive::{self, Archive};
use super::array::Labelled;
use super::dataset::{listed, natural};
use super::format::{Content, Format};
use super::{Array, Arrays, Elements, File};
use crate::error::{Error, Result, bail, ensure};
use crate::memory::{collected, in_words, room};

pub(super) const FORMAT: Format = Format {
    name: "PNG and JPEG images",
    is: |file| is_picture(file) || unread(&file.bytes).is_some() || is_archive(file),
    read: read_format,
};

/// Most values of a picture, and of all of them; and most values for a byte of the file.
const MOST: usize = 1 << 26;
const MOST_OF_ALL: u64 = 1 << 30;
const MOST_AT_ONCE: u64 = 1 << 24;
const MOST_OF_ALL_OF_A_BYTE: u64 = 256;
const MOST_OF_A_BYTE: usize = 2048;

/// A decoded picture.
struct Picture {
    width: usize,
    height: usize,
    /// 1 or 3.
    channels: usize,
    /// Row after row, a pixel's channels beside each other.
    pixels: Vec<u8>,
    /// Had it an alpha channel, which is dropped?
    has_alpha: bool,
    /// Had it 16 bits, which are 8 now?
    is_reduced: bool,
}

/// Is it a picture, by its first bytes?
pub(super) fn is_picture(file: &File) -> bool {
    file.bytes.starts_with(png::SIGNATURE) || file.bytes.starts_with(jpeg::SIGNATURE)
}

/// Is it an archive with pictures, by their names?
pub(super) fn is_archive(file: &File) -> bool {
    archive::is_zip(&file.bytes)
        && Archive::open(&file.bytes).is_ok_and(|archive| archive.names().iter().any(|name| is_name(name)))
}

/// The name of a picture?
fn is_name(name: &str) -> bool {
    let end = name.rsplit_once('.').map(|(_, end)| end);
    end.is_some_and(|end| ["png", "jpg", "jpeg"].iter().any(|known| end.eq_ignore_ascii_case(known)))
}

/// Pictures of other formats.
fn unread(bytes: &[u8]) -> Option<&'static str> {
    let is_riff = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    let kinds: [(&[u8], &str); 4] = [(b"GIF8", "GIF"), (b"II*\0", "TIFF"), (b"MM\0*", "TIFF"), (b"RIFF", "WebP")];
    let found = kinds.into_iter().find(|(start, kind)| bytes.starts_with(start) && (*kind != "WebP" || is_riff));
    found.map(|(_, kind)| kind)
}

fn read_format(file: &File, others: &[File]) -> Result<Content> {
    if let Some(kind) = unread(&file.bytes) {
        bail!(Parse, "this is a {kind} image; isoflat reads PNG and JPEG: convert it")
    }
    let files: Vec<&File> = if is_picture(file) {
        let mut all = others.iter().filter(|other| is_picture(other)).peekable();
        match all.peek() {
            // The first one reads all of them.
            Some(first) if first.name != file.name => return Ok(Content::Part),
            Some(_) => all.collect(),
            None => vec![file],
        }
    } else {
        vec![file]
    };
    let (mut notes, most) = (Vec::new(), most_values(files.iter().copied()));
    let pictures = pictures(files, &mut notes)?;
    let mut found = read(&pictures.iter().collect::<Vec<_>>(), &classes(&pictures), None, most)?;
    found.arrays.notes.extend(notes);
    Ok(Content::Arrays(found.arrays))
}

/// The pictures among files, those in archives too. Paths begin with the archive's name where that says which split it is.
///
/// # Errors
/// What [`Archive`] says; `Parse` for an archive without pictures.
pub(super) fn pictures<'a>(files: Vec<&'a File<'a>>, notes: &mut Vec<String>) -> Result<Vec<File<'a>>> {
    let mut out = Vec::new();
    for file in files {
        if is_picture(file) {
            out.push(File::new(file.name.clone(), Cow::Borrowed(&file.bytes[..])));
            continue;
        }
        let mut archive = Archive::open(&file.bytes)?;
        let (before, mut others) = (out.len(), 0);
        for name in archive.names() {
            let is_hidden =
                name.rsplit('/').next().is_some_and(|base| base.starts_with('.')) || name.starts_with("__MACOSX/");
            let content = if is_name(&name) && !is_hidden { archive.read(&name)? } else { Vec::new() };
            let entry = File::new(name, content);
            if is_picture(&entry) {
                out.push(entry);
            } else if !is_hidden {
                others += 1;
            }
        }
        ensure!(out.len() > before, Parse, "{}: none of the archive's files is a PNG or JPEG image", file.name);
        if others > 0 {
            notes.push(format!(
                "{}: {others} of the archive's files are no PNG or JPEG images, and left out.",
                file.name
            ));
        }
    }
    Ok(out)
}

/// Most values that the pictures of these files may have together.
pub(super) fn most_values<'a>(files: impl Iterator<Item = &'a File<'a>>) -> u64 {
    let bytes = files.fold(0u64, |sum, file| sum.saturating_add(file.bytes.len() as u64));
    bytes.saturating_mul(MOST_OF_ALL_OF_A_BYTE).saturating_add(MOST_AT_ONCE).min(MOST_OF_ALL)
}

/// The folder that a picture is in, by which its class is called; empty where it is in none.
fn class_of(path: &str) -> &str {
    path.rsplit(['/', '\\']).nth(1).unwrap_or_default()
}

/// The names of the classes, in alphabetical order; none where there are not two.
pub(super) fn classes(pictures: &[File]) -> Vec<String> {
    let names: std::collections::BTreeSet<&str> = pictures.iter().map(|file| class_of(&file.name)).collect();
    if names.len() < 2 { Vec::new() } else { names.into_iter().map(str::to_owned).collect() }
}

/// Decodes pictures, in the order of their names; of fewer samples than there are, the first of each class in turn. They have at most so
/// many values together.
///
/// # Errors
/// `Parse` for a picture that is broken, or of another size than the first, and one outside of the classes' folders; `TooLarge`.
pub(super) fn read(pictures: &[&File], classes: &[String], samples: Option<usize>, most: u64) -> Result<Labelled> {
    let mut order: Vec<(&File, usize)> = Vec::new();
    for &file in pictures {
        let class = class_of(&file.name);
        ensure!(
            classes.is_empty() || !class.is_empty(),
            Parse,
            "{} is in no folder, while others are in folders, which say their classes",
            file.name
        );
        order.push((file, classes.iter().position(|name| name == class).unwrap_or_default()));
    }
    order.sort_by(|(a, _), (b, _)| natural(&a.name, &b.name));
    let mut notes = Vec::new();
    if let Some(samples) = samples.filter(|&samples| samples < order.len()) {
        let mut seen = vec![0usize; classes.len().max(1)];
        let turn = |&(_, class): &(&File, usize)| {
            seen[class] += 1;
            seen[class]
        };
        let turns: Vec<usize> = order.iter().map(turn).collect();
        let mut sorted: Vec<_> = order.into_iter().zip(turns).collect();
        sorted.sort_by_key(|&((_, class), turn)| (turn, class));
        order = sorted.into_iter().map(|(entry, _)| entry).take(samples).collect();
        if classes.len() > 1 {
            notes.push(
                "Of each class in turn the first image is taken, so that fewer samples are of all classes.".into(),
            );
        }
    }
    let mut arrays = vec![("inputs".into(), decoded(&order, most, &mut notes)?)];
    if !classes.is_empty() {
        let numbers = collected("classes", order.iter().map(|&(_, class)| class as i64))?;
        arrays.push(("targets".into(), Array::new(vec![order.len()], Elements::I64(numbers))?));
        notes.push(format!("The folders are the classes, numbered from 0 in alphabetical order: {}.", listed(classes)));
    }
    Ok(Labelled {
        arrays: Arrays { arrays, notes, ..Arrays::default() },
        classes: classes.to_vec(),
        columns: Vec::new(),
    })
}

/// All pictures as one array, [N, C, H, W].
fn decoded(files: &[(&File, usize)], most: u64, notes: &mut Vec<String>) -> Result<Array> {
    let (mut values, mut size, mut alpha, mut reduced): (Vec<u8>, _, _, _) = (Vec::new(), [0; 3], 0, 0);
    let Some((first, _)) = files.first() else { bail!(InvalidProblem, "there are no images") };
    for (i, (file, _)) in files.iter().enumerate() {
        let picture =
            decode(&file.bytes).map_err(|error| Error::new(error.code, format!("{}: {}", file.name, error.message)))?;
        let found = [picture.channels, picture.height, picture.width];
        if i == 0 {
            size = found;
            let all = (files.len() as u64).saturating_mul(picture.pixels.len() as u64);
            ensure!(
                all <= most,
                TooLarge,
                "{} images of {} are {}; of these files isoflat takes {} at most: fewer samples, or smaller images",
                files.len(),
                said(size),
                in_words(all),
                in_words(most)
            );
            values = room("images", all as usize)?;
        }
        ensure!(
            found == size,
            Parse,
            "{} is {}, but {} is {}: all images must have one size; scale or cut them before",
            first.name,
            said(size),
            file.name,
            said(found)
        );
        alpha += usize::from(picture.has_alpha);
        reduced += usize::from(picture.is_reduced);
        for channel in 0..picture.channels {
            values.extend(picture.pixels.iter().skip(channel).step_by(picture.channels));
        }
    }
    if alpha > 0 {
        notes.push(format!("{alpha} images have transparency, which is dropped."));
    }
    if reduced > 0 {
        notes.push(format!("{reduced} images have 16 bits a channel, which are rounded to 8."));
    }
    Array::new([&[files.len()], &size[..]].concat(), Elements::U8(values))
}

/// A size for messages.
fn said([channels, height, width]: [usize; 3]) -> String {
    format!("{width}×{height} pixels ({})", if channels == 1 { "grey" } else { "RGB" })
}

fn decode(bytes: &[u8]) -> Result<Picture> {
    if bytes.starts_with(png::SIGNATURE) { png::decode(bytes) } else { jpeg::decode(bytes) }
}

/// How many values an image of [channels, height, width] has, if a file of so many bytes may have that many.
fn ensure_size([channels, height, width]: [usize; 3], bytes: usize) -> Result<usize> {
    ensure!(width > 0 && height > 0, Parse, "the image is {width}×{height} pixels, which is none");
    let values = (channels as u64).saturating_mul(height as u64).saturating_mul(width as u64);
    ensure!(
        values <= MOST as u64,
        TooLarge,
        "the image is {width}×{height} pixels of {channels} channels; isoflat takes {MOST} values of an image at most"
    );
    ensure!(
        values as usize / MOST_OF_A_BYTE <= bytes,
        Parse,
        "the image says that it is {width}×{height} pixels, which cannot be in {bytes} bytes"
    );
    Ok(values as usize)
}

#[cfg(test)]
mod tests;
