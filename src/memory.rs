//! Memory that may not be there: in a browser a failed allocation ends the module, and with it the page's work.

use crate::error::{Error, ErrorCode, Result};

/// An empty vector with room for this many values; `TooLarge` where they cannot be had.
pub(crate) fn reserve<T>(values: usize) -> Result<Vec<T>> {
    let mut memory = Vec::new();
    match memory.try_reserve_exact(values) {
        Ok(()) => Ok(memory),
        Err(_) => Err(Error::new(
            ErrorCode::TooLarge,
            format!("{values} values of {} bytes do not fit in memory", size_of::<T>()),
        )),
    }
}
