//! Numbers as files store them.

use half::{bf16, f16};

use super::Elements;
use crate::error::Result;
use crate::memory::{make_room, room};

const WHAT: &str = "an array";

/// What one stored number is. Half precisions become F32, bytes stay, and all other whole numbers become I64, truth values too: they are no pixels.
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

    /// Room for so many of them, and none yet.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn room(self, count: usize) -> Result<Elements> {
        Ok(match self {
            Self::U8 => Elements::U8(room(WHAT, count)?),
            Self::F16 | Self::Bf16 | Self::F32 => Elements::F32(room(WHAT, count)?),
            Self::F64 => Elements::F64(room(WHAT, count)?),
            _ => Elements::I64(room(WHAT, count)?),
        })
    }

    /// The numbers that bytes are, little end first or last; bytes that are no whole number are left out. Of u64 beyond i64 the
    /// nearest is taken.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn elements(self, bytes: &[u8], is_big_endian: bool) -> Result<Elements> {
        let mut all = self.room(bytes.len() / self.size())?;
        self.append(bytes, is_big_endian, &mut all)?;
        Ok(all)
    }

    /// Puts the same behind others, for which there is room already or not.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn append(self, bytes: &[u8], is_big_endian: bool, all: &mut Elements) -> Result<()> {
        /// The bytes of one number, little end first.
        fn turned<const N: usize>(chunk: &[u8; N], is_big_endian: bool) -> [u8; N] {
            let mut chunk = *chunk;
            if is_big_endian {
                chunk.reverse();
            }
            chunk
        }
        /// Behind those of their kind.
        fn put<T>(all: &mut Vec<T>, more: impl ExactSizeIterator<Item = T>) -> Result<()> {
            make_room(WHAT, all, more.len())?;
            all.extend(more);
            Ok(())
        }
        macro_rules! put {
            ($all:expr, $size:literal, $of:expr) => {
                put($all, bytes.as_chunks::<$size>().0.iter().map(|chunk| $of(turned(chunk, is_big_endian))))
            };
        }
        match (all, self) {
            (Elements::U8(all), _) => put(all, bytes.iter().copied()),
            (Elements::I64(all), Self::Bool) => put(all, bytes.iter().map(|&byte| i64::from(byte != 0))),
            (Elements::I64(all), Self::I8) => put!(all, 1, |chunk| i64::from(i8::from_le_bytes(chunk))),
            (Elements::I64(all), Self::U16) => put!(all, 2, |chunk| i64::from(u16::from_le_bytes(chunk))),
            (Elements::I64(all), Self::I16) => put!(all, 2, |chunk| i64::from(i16::from_le_bytes(chunk))),
            (Elements::I64(all), Self::U32) => put!(all, 4, |chunk| i64::from(u32::from_le_bytes(chunk))),
            (Elements::I64(all), Self::I32) => put!(all, 4, |chunk| i64::from(i32::from_le_bytes(chunk))),
            (Elements::I64(all), Self::U64) => {
                put!(all, 8, |chunk| i64::try_from(u64::from_le_bytes(chunk)).unwrap_or(i64::MAX))
            }
            (Elements::I64(all), _) => put!(all, 8, i64::from_le_bytes),
            (Elements::F32(all), Self::F16) => put!(all, 2, |chunk| f16::from_le_bytes(chunk).to_f32()),
            (Elements::F32(all), Self::Bf16) => put!(all, 2, |chunk| bf16::from_le_bytes(chunk).to_f32()),
            (Elements::F32(all), _) => put!(all, 4, f32::from_le_bytes),
            (Elements::F64(all), _) => put!(all, 8, f64::from_le_bytes),
        }
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
