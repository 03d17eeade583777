//! JPEG, baseline and progressive: grey ones, and colours as RGB. The decoder is a crate's, which is told to take no broken file for a
//! whole one.

use zune_jpeg::JpegDecoder;
use zune_jpeg::errors::DecodeErrors;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::Picture;
use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::memory::zeros;

pub(super) const SIGNATURE: &[u8] = b"\xff\xd8\xff";

/// Longest side, and most scans of a progressive image: each goes over all pixels.
const LONGEST: usize = 1 << 15;
const SCANS: usize = 32;

/// The decoder fills images up to whole groups of blocks, four of eight pixels a side at most.
const GROUP: usize = 32;

/// Decodes a file.
///
/// # Errors
/// `Parse` for a broken file, and for four channels (CMYK); `TooLarge`.
pub(super) fn decode(bytes: &[u8]) -> Result<Picture> {
    let options = DecoderOptions::default()
        .set_strict_mode(true)
        .set_max_width(LONGEST)
        .set_max_height(LONGEST)
        .jpeg_set_max_scans(SCANS);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(broken)?;
    let Some(info) = decoder.info() else { bail!(Parse, "the JPEG file has no header") };
    let (width, height) = (usize::from(info.width), usize::from(info.height));
    let (channels, space) = match info.components {
        1 => (1, ColorSpace::Luma),
        3 => (3, ColorSpace::RGB),
        other => bail!(
            Parse,
            "the JPEG file has {other} channels; isoflat reads grey and RGB: convert it (CMYK is for printing)"
        ),
    };
    let len = super::ensure_size([channels, height, width], bytes.len())?;
    super::ensure_size([channels, height.next_multiple_of(GROUP), width.next_multiple_of(GROUP)], bytes.len())?;
    decoder.set_options(options.jpeg_set_out_colorspace(space));
    ensure!(decoder.output_buffer_size() == Some(len), Parse, "the JPEG file's size is not that of its pixels");
    let mut pixels: Vec<u8> = zeros("an image", len)?;
    decoder.decode_into(&mut pixels).map_err(broken)?;
    Ok(Picture { width, height, channels, pixels, has_alpha: false, is_reduced: false })
}

fn broken(error: DecodeErrors) -> Error {
    Error::new(ErrorCode::Parse, format!("the JPEG file is broken, or of a kind that is not read: {error:?}"))
}
