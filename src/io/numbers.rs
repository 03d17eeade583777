//! Numbers as files store them.

use half::{bf16, f16};

use super::Elements;
use crate::error::Result;
use crate::memory::collected;

/// What one stored number is. Half precisions become F32, bytes stay, and all other whole numbers become I64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    Bool,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    Bf16,
    F32,
    F64,
}

impl Stored {
    /// Bytes of one.
    pub fn size(self) -> usize {
        match self {
            Self::Bool | Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// The numbers that bytes are, little end first or last; bytes that are no whole number are left out. Of u64 beyond i64 the
    /// nearest is taken.
    pub fn elements(self, bytes: &[u8], is_big_endian: bool) -> Result<Elements> {
        const WHAT: &str = "an array";
        /// The bytes of one number, little end first.
        fn turned<const N: usize>(chunk: &[u8; N], is_big_endian: bool) -> [u8; N] {
            let mut chunk = *chunk;
            if is_big_endian {
                chunk.reverse();
            }
            chunk
        }
        macro_rules! read {
            ($kind:ident, $size:literal, $of:expr) => {{
                let (chunks, _) = bytes.as_chunks::<$size>();
                Elements::$kind(collected(WHAT, chunks.iter().map(|chunk| $of(turned(chunk, is_big_endian))))?)
            }};
        }
        Ok(match self {
            Self::Bool => Elements::U8(collected(WHAT, bytes.iter().map(|&byte| u8::from(byte != 0)))?),
            Self::U8 => Elements::U8(collected(WHAT, bytes.iter().copied())?),
            Self::I8 => read!(I64, 1, |chunk| i64::from(i8::from_le_bytes(chunk))),
            Self::U16 => read!(I64, 2, |chunk| i64::from(u16::from_le_bytes(chunk))),
            Self::I16 => read!(I64, 2, |chunk| i64::from(i16::from_le_bytes(chunk))),
            Self::U32 => read!(I64, 4, |chunk| i64::from(u32::from_le_bytes(chunk))),
            Self::I32 => read!(I64, 4, |chunk| i64::from(i32::from_le_bytes(chunk))),
            Self::U64 => read!(I64, 8, |chunk| i64::try_from(u64::from_le_bytes(chunk)).unwrap_or(i64::MAX)),
            Self::I64 => read!(I64, 8, i64::from_le_bytes),
            Self::F16 => read!(F32, 2, |chunk| f16::from_le_bytes(chunk).to_f32()),
            Self::Bf16 => read!(F32, 2, |chunk| bf16::from_le_bytes(chunk).to_f32()),
            Self::F32 => read!(F32, 4, f32::from_le_bytes),
            Self::F64 => read!(F64, 8, f64::from_le_bytes),
        })
    }
}

/// The bytes of numbers, little end first.
pub(super) fn bytes_of(elements: &Elements) -> Result<Vec<u8>> {
    const WHAT: &str = "the bytes of an array";
    let size = match elements {
        Elements::U8(_) => 1,
        Elements::F32(_) => 4,
        Elements::I64(_) | Elements::F64(_) => 8,
    };
    let mut bytes = crate::memory::room(WHAT, elements.len() * size)?;
    match elements {
        Elements::U8(v) => bytes.extend_from_slice(v),
        Elements::I64(v) => bytes.extend(v.iter().flat_map(|x| x.to_le_bytes())),
        Elements::F32(v) => bytes.extend(v.iter().flat_map(|x| x.to_le_bytes())),
        Elements::F64(v) => bytes.extend(v.iter().flat_map(|x| x.to_le_bytes())),
    }
    Ok(bytes)
}
