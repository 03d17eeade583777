//! Memory that may not be there: in a browser a failed allocation ends the module, and with it the page's work. What grows with
//! a file's or an option's numbers is counted in 64 bits, and asked for here before it is touched.

use crate::error::{Error, ErrorCode, Result};

/// What is said of memory that cannot be had.
pub(crate) fn refusal(what: &str, values: u64, size: usize) -> Error {
    let bytes = values.saturating_mul(size as u64);
    #[cfg(target_arch = "wasm32")]
    let room = format!(
        "a WebAssembly module has 4096 MiB at most, of which this one has taken {} MiB",
        core::arch::wasm32::memory_size(0) >> 4
    );
    #[cfg(not(target_arch = "wasm32"))]
    let room = "there is no such piece of memory left";
    Error::new(
        ErrorCode::TooLarge,
        format!(
            "{what}: {values} values of {size} bytes ({}) are needed, but {room}; fewer samples, or a smaller network, need less",
            in_words(bytes)
        ),
    )
}

/// Bytes for people.
pub(crate) fn in_words(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..0x10_0000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

/// The product of some numbers as a length; `TooLarge` where a vector of such values could not be addressed. `what` names it.
pub(crate) fn product<T>(what: &str, factors: &[usize]) -> Result<usize> {
    let values = factors.iter().try_fold(1u64, |product, &factor| product.checked_mul(factor as u64));
    length::<T>(what, values.unwrap_or(u64::MAX))
}

/// A number of values as a length, likewise.
pub(crate) fn length<T>(what: &str, values: u64) -> Result<usize> {
    let fits = values.checked_mul(size_of::<T>().max(1) as u64).is_some_and(|bytes| bytes <= isize::MAX as u64);
    if fits { Ok(values as usize) } else { Err(refusal(what, values, size_of::<T>())) }
}

/// An empty vector with room for this many values; `TooLarge` where they cannot be had.
pub(crate) fn reserve<T>(values: usize) -> Result<Vec<T>> {
    room("an array", values)
}

/// An empty vector with room for this many values; `what` names them where they cannot be had.
///
/// # Errors
/// `TooLarge`.
pub(crate) fn room<T>(what: &str, values: usize) -> Result<Vec<T>> {
    let mut memory = Vec::new();
    make_room(what, &mut memory, values)?;
    Ok(memory)
}

/// Room for so many values more than a vector has.
///
/// # Errors
/// `TooLarge`.
pub(crate) fn make_room<T>(what: &str, memory: &mut Vec<T>, more: usize) -> Result<()> {
    memory.try_reserve_exact(more).map_err(|_| refusal(what, more as u64, size_of::<T>()))
}

/// A vector of `len` times this value.
///
/// # Errors
/// `TooLarge`.
pub(crate) fn filled<T: Clone>(what: &str, value: T, len: usize) -> Result<Vec<T>> {
    let mut memory = room(what, len)?;
    memory.resize(len, value);
    Ok(memory)
}

/// A vector of zeros, or what else a type begins with.
///
/// # Errors
/// `TooLarge`.
pub(crate) fn zeros<T: Clone + Default>(what: &str, len: usize) -> Result<Vec<T>> {
    filled(what, T::default(), len)
}

/// A copy.
///
/// # Errors
/// `TooLarge`.
pub(crate) fn copied<T: Clone>(what: &str, values: &[T]) -> Result<Vec<T>> {
    let mut memory = room(what, values.len())?;
    memory.extend_from_slice(values);
    Ok(memory)
}

/// A vector of what an iterator gives, which knows how much that is.
///
/// # Errors
/// `TooLarge`.
pub(crate) fn collected<T>(what: &str, values: impl Iterator<Item = T>) -> Result<Vec<T>> {
    let mut memory = room(what, values.size_hint().0)?;
    memory.extend(values);
    Ok(memory)
}

/// Fails where so many bytes cannot be had, and gives them back. Where memory comes in small pieces they are at hand then: a
/// WebAssembly module that grows by pages takes a second for each 60 MiB.
///
/// # Errors
/// `TooLarge`.
pub(crate) fn ask_for(what: &str, bytes: u64) -> Result<()> {
    // One vector has half of what can be addressed at most: there may be twice as much.
    const PIECES: u64 = 4;
    const PIECE: u64 = usize::MAX as u64 / PIECES;
    let mut pieces = [const { Vec::<u8>::new() }; PIECES as usize];
    for (i, piece) in pieces.iter_mut().enumerate() {
        let left = bytes.saturating_sub(i as u64 * PIECE).min(PIECE) as usize;
        piece.try_reserve_exact(left).map_err(|_| refusal(what, bytes, 1))?;
    }
    let is_addressable = bytes <= PIECES * PIECE;
    if is_addressable { Ok(()) } else { Err(refusal(what, bytes, 1)) }
}

#[cfg(test)]
mod tests {
    use super::{length, product, room};
    use crate::error::ErrorCode;

    #[test]
    fn what_cannot_be_had_is_an_error_that_says_how_much() {
        let found = room::<f64>("a vector of parameters", usize::MAX / 16).expect_err("more than there is");
        assert_eq!(found.code, ErrorCode::TooLarge);
        assert!(found.message.starts_with("a vector of parameters: "), "{found}");
        assert!(found.message.contains("values of 8 bytes"), "{found}");
        for factors in [[usize::MAX, 2], [usize::MAX / 8, 1], [usize::MAX / 2, usize::MAX / 2]] {
            assert_eq!(product::<f64>("a table", &factors).expect_err("no length").code, ErrorCode::TooLarge);
        }
        assert_eq!(product::<f64>("a table", &[3, 5]).expect("a length"), 15);
        assert!(length::<u8>("a table", u64::MAX).is_err());
    }
}
