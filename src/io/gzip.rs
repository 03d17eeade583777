//! gzip: a file is unfolded and read as what is inside, whose name is the file's without `.gz`. What is inside has at most 100 times
//! the file's bytes, and 1 MiB; nothing that isoflat reads folds up any smaller.

use std::io::Read;

use flate2::read::MultiGzDecoder;

use super::File;
use super::format::{self, Format};
use crate::error::{Error, ErrorCode, Result, ensure};
use crate::memory::{in_words, make_room};

pub(super) const FORMAT: Format = Format {
    name: "gzip",
    is,
    read: |file, others| format::read(&unfolded(file)?, others).map(|(_, content)| content),
};

/// Such a file, by its first bytes: two that all have, and the one method there is.
pub(super) fn is(file: &File) -> bool {
    file.bytes.starts_with(&[0x1f, 0x8b, 8])
}

/// The file inside.
///
/// # Errors
/// `Parse` for a broken file, another gzip file inside or a tar archive; `TooLarge` for over 100 times its size and 1 MiB.
pub(super) fn unfolded(file: &File) -> Result<File<'static>> {
    let inside = File::new(name_inside(&file.name), unfold(&file.bytes)?);
    ensure!(!is(&inside), Parse, "inside this gzip file is another one: unfold it before");
    let is_tar = inside.bytes.get(257..262) == Some(b"ustar");
    ensure!(
        !is_tar,
        Parse,
        "inside is a tar archive, which isoflat does not read: unpack it and open the files that were in it"
    );
    Ok(inside)
}

/// The bytes inside, of all members.
fn unfold(bytes: &[u8]) -> Result<Vec<u8>> {
    let limit = (bytes.len() as u64).saturating_mul(100).saturating_add(1 << 20);
    let mut decoder = MultiGzDecoder::new(bytes);
    // What 32 bits cannot address cannot be there either.
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let (mut out, mut piece) = (Vec::new(), [0; 1 << 14]);
    loop {
        let count = decoder.read(&mut piece).map_err(|error| {
            Error::new(ErrorCode::Parse, format!("the gzip file is broken after {} bytes: {error}", out.len()))
        })?;
        let Some(piece) = piece.get(..count).filter(|piece| !piece.is_empty()) else { return Ok(out) };
        ensure!(
            out.len() + count <= limit,
            TooLarge,
            "the gzip file of {} unfolds to more than {}: over 100 times its size, which no data do",
            in_words(bytes.len() as u64),
            in_words(limit as u64)
        );
        if out.capacity() - out.len() < count {
            let more = out.len().max(count).min(limit.saturating_sub(out.len()).max(count));
            make_room("what is in a gzip file", &mut out, more)?;
        }
        out.extend_from_slice(piece);
    }
}

fn name_inside(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((inside, end)) if end.eq_ignore_ascii_case("gz") => inside.into(),
        Some((inside, end)) if end.eq_ignore_ascii_case("tgz") => format!("{inside}.tar"),
        _ => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn folded(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).expect("memory");
        encoder.finish().expect("memory")
    }

    #[test]
    fn all_members_are_unfolded_and_the_name_loses_its_end() {
        let bytes = [folded(b"one "), folded(b""), folded(b"two")].concat();
        let found = unfolded(&File::new("a/labels.idx.GZ", bytes.clone())).expect("a valid file");
        assert_eq!((found.name.as_str(), &found.bytes[..]), ("a/labels.idx", &b"one two"[..]));
        for cut in 1..bytes.len() - 1 {
            let is_whole = cut == folded(b"one ").len() || cut == folded(b"one ").len() + folded(b"").len();
            assert_eq!(unfolded(&File::new("x", &bytes[..cut])).is_ok(), is_whole, "cut to {cut} bytes");
        }
    }

    #[test]
    fn what_unfolds_too_far_or_to_an_archive_is_refused() {
        let error = unfolded(&File::new("zeros.gz", folded(&vec![0; 64 << 20]))).expect_err("a bomb");
        assert_eq!(error.code, ErrorCode::TooLarge, "{error}");
        assert!(unfold(&folded(&vec![0; 1 << 20])).is_ok(), "1 MiB is always allowed");
        let error = unfolded(&File::new("x.gz", folded(&folded(b"x")))).expect_err("twice");
        assert!(error.message.contains("another"), "{error}");
        let mut tar = vec![0; 512];
        tar[257..262].copy_from_slice(b"ustar");
        let error = unfolded(&File::new("cifar.tar.gz", folded(&tar))).expect_err("an archive");
        assert!(error.message.contains("unpack"), "{error}");
    }
}
