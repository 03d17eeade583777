//! PNG, all of it: grey, RGB and palettes, with alpha or without, of 1 to 16 bits, interlaced or not. It is read with the inflate that
//! the crate has anyway. The pixels are bytes; 16 bits are rounded to 8, alpha is dropped.

use std::io::Read;

use flate2::Crc;
use flate2::read::ZlibDecoder;

use super::Picture;
use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::memory::{room, zeros};

pub(super) const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// What a file's chunks say.
struct Parts<'a> {
    header: Header,
    palette: &'a [u8],
    is_transparent: bool,
    /// The pixels, deflated.
    data: Vec<u8>,
}

/// What the first chunk says.
#[derive(Clone, Copy)]
struct Header {
    width: usize,
    height: usize,
    /// Bits of a sample.
    depth: usize,
    kind: Kind,
    is_interlaced: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Grey,
    Rgb,
    Palette,
    GreyAlpha,
    Rgba,
}

impl Kind {
    /// Samples of a pixel in the file.
    fn samples(self) -> usize {
        match self {
            Self::Grey | Self::Palette => 1,
            Self::GreyAlpha => 2,
            Self::Rgb => 3,
            Self::Rgba => 4,
        }
    }

    /// Channels that come out.
    fn channels(self) -> usize {
        if matches!(self, Self::Grey | Self::GreyAlpha) { 1 } else { 3 }
    }
}

/// First column and row, and steps between them, of the parts of an interlaced image.
const PASSES: [[usize; 4]; 7] =
    [[0, 0, 8, 8], [4, 0, 8, 8], [0, 4, 4, 8], [2, 0, 4, 4], [0, 2, 2, 4], [1, 0, 2, 2], [0, 1, 1, 2]];

/// Decodes a file.
///
/// # Errors
/// `Parse` for a broken file; `TooLarge`.
pub(super) fn decode(bytes: &[u8]) -> Result<Picture> {
    let parts = parts(bytes)?;
    let Header { width, height, depth, kind, is_interlaced } = parts.header;
    let len = super::ensure_size([kind.channels(), height, width], bytes.len())?;
    let mut pixels: Vec<u8> = zeros("an image", len)?;
    let mut data = ZlibDecoder::new(&parts.data[..]);
    let whole = [[0, 0, 1, 1]];
    for [x, y, right, down] in if is_interlaced { &PASSES[..] } else { &whole[..] }.iter().copied() {
        let (columns, rows) = (width.saturating_sub(x).div_ceil(right), height.saturating_sub(y).div_ceil(down));
        if columns == 0 {
            continue;
        }
        let row_bytes = (columns * kind.samples() * depth).div_ceil(8);
        let (mut row, mut before): (Vec<u8>, Vec<u8>) = (zeros("a row", row_bytes)?, zeros("a row", row_bytes)?);
        for i in 0..rows {
            let mut filter = [0];
            data.read_exact(&mut filter).and_then(|()| data.read_exact(&mut row)).map_err(|error| {
                Error::new(ErrorCode::Parse, format!("the image ends, or is broken, in row {}: {error}", y + i * down))
            })?;
            unfilter(filter[0], &mut row, &before, (kind.samples() * depth).div_ceil(8))?;
            let line = (y + i * down) * width;
            let places = (0..columns).map(|j| (line + x + j * right) * kind.channels());
            put(&mut pixels, places, &row, &parts)?;
            std::mem::swap(&mut row, &mut before);
        }
    }
    let has_alpha = parts.is_transparent || matches!(kind, Kind::GreyAlpha | Kind::Rgba);
    Ok(Picture { width, height, channels: kind.channels(), pixels, has_alpha, is_reduced: depth == 16 })
}

/// Walks over the chunks.
fn parts(bytes: &[u8]) -> Result<Parts<'_>> {
    let mut rest = bytes.get(SIGNATURE.len()..).unwrap_or_default();
    let (mut header, mut palette, mut is_transparent) = (None, &[][..], false);
    let mut data: Vec<u8> = room("an image's bytes", bytes.len())?;
    loop {
        let (kind, content, behind) = chunk(rest)?;
        rest = behind;
        match (kind, header) {
            (b"IHDR", None) => header = Some(read_header(content)?),
            (_, None) => bail!(Parse, "the PNG file's first chunk is no header"),
            (b"PLTE", _) => palette = content,
            (b"tRNS", _) => is_transparent = true,
            (b"IDAT", _) => data.extend_from_slice(content),
            (b"IEND", Some(header)) => return Ok(Parts { header, palette, is_transparent, data }),
            _ => {}
        }
    }
}

/// The first chunk's type and content, and what is behind it.
fn chunk(bytes: &[u8]) -> Result<(&[u8; 4], &[u8], &[u8])> {
    let broken = || Error::new(ErrorCode::Parse, "the PNG file ends before its last chunk");
    let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(broken)?;
    let length = u32::from_be_bytes(*length) as usize;
    let (named, behind) = length.checked_add(4).and_then(|end| rest.split_at_checked(end)).ok_or_else(broken)?;
    let (kind, content) = named.split_first_chunk::<4>().ok_or_else(broken)?;
    let (sum, behind) = behind.split_first_chunk::<4>().ok_or_else(broken)?;
    let mut found = Crc::new();
    found.update(named);
    ensure!(
        found.sum() == u32::from_be_bytes(*sum),
        Parse,
        "the PNG file's chunk {} is damaged: its check sum is another",
        kind.escape_ascii()
    );
    Ok((kind, content, behind))
}

fn read_header(content: &[u8]) -> Result<Header> {
    let &[w0, w1, w2, w3, h0, h1, h2, h3, depth, kind, compression, filter, interlace] = content else {
        bail!(Parse, "the PNG file's header has {} bytes, not 13", content.len())
    };
    let [width, height] = [[w0, w1, w2, w3], [h0, h1, h2, h3]].map(|bytes| u32::from_be_bytes(bytes) as usize);
    let (found, depths): (Kind, &[u8]) = match kind {
        0 => (Kind::Grey, &[1, 2, 4, 8, 16]),
        2 => (Kind::Rgb, &[8, 16]),
        3 => (Kind::Palette, &[1, 2, 4, 8]),
        4 => (Kind::GreyAlpha, &[8, 16]),
        6 => (Kind::Rgba, &[8, 16]),
        _ => bail!(Parse, "the PNG file's colour type is {kind}, which there is not"),
    };
    ensure!(depths.contains(&depth), Parse, "the PNG file has {depth} bits a sample, which its colour type has not");
    ensure!(
        compression == 0 && filter == 0 && interlace <= 1,
        Parse,
        "the PNG file's compression, filter and interlacing are {compression}, {filter} and {interlace}: there are 0, 0, and 0 or 1"
    );
    Ok(Header { width, height, depth: usize::from(depth), kind: found, is_interlaced: interlace == 1 })
}

/// Undoes a row's filter; `step` is the bytes from a pixel to the next.
fn unfilter(filter: u8, row: &mut [u8], above: &[u8], step: usize) -> Result<()> {
    ensure!(filter <= 4, Parse, "a row of the image has the filter {filter}, which there is not");
    for i in 0..row.len() {
        let at = |row: &[u8], i: Option<usize>| i.and_then(|i| row.get(i)).copied().map_or(0, i32::from);
        let back = i.checked_sub(step);
        let (left, up, corner) = (at(row, back), at(above, Some(i)), at(above, back));
        let guess = match filter {
            0 => return Ok(()),
            1 => left,
            2 => up,
            3 => (left + up) / 2,
            _ => {
                let [a, b, c] = [up - corner, left - corner, left + up - 2 * corner].map(i32::abs);
                if a <= b && a <= c {
                    left
                } else if b <= c {
                    up
                } else {
                    corner
                }
            }
        };
        row[i] = row[i].wrapping_add(guess as u8);
    }
    Ok(())
}

/// Puts a row's pixels where they belong.
fn put(pixels: &mut [u8], places: impl Iterator<Item = usize>, row: &[u8], parts: &Parts) -> Result<()> {
    let Header { depth, kind, .. } = parts.header;
    let sample = |i: usize| -> u32 {
        let byte = |i: usize| row.get(i).copied().map_or(0, u32::from);
        match depth {
            8 => byte(i),
            // The nearest of 8 bits: 65535 is 255 · 257.
            16 => ((byte(2 * i) << 8 | byte(2 * i + 1)) + 128) / 257,
            _ => (byte(i * depth / 8) >> (8 - depth - i * depth % 8)) & ((1 << depth) - 1),
        }
    };
    for (j, place) in places.enumerate() {
        let Some(pixel) = pixels.get_mut(place..place + kind.channels()) else { continue };
        match kind {
            Kind::Palette => {
                let i = sample(j) as usize;
                let Some(colour) = parts.palette.get(3 * i..3 * i + 3) else {
                    bail!(Parse, "a pixel has colour {i}, but the palette has {}", parts.palette.len() / 3)
                };
                pixel.copy_from_slice(colour);
            }
            Kind::Grey if depth < 8 => pixel.fill((sample(j) * 255 / ((1 << depth) - 1)) as u8),
            _ => {
                let first = j * kind.samples();
                pixel.iter_mut().enumerate().for_each(|(c, value)| *value = sample(first + c) as u8);
            }
        }
    }
    Ok(())
}
