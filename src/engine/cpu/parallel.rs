//! Work over independent items: on all cores natively where there is enough of it, one after the other in a browser.
//!
//! What an item computes does not depend on how many threads there are, so neither do the results.

use crate::error::Result;

/// Multiplications below which other threads would cost more than they save.
#[cfg(not(target_arch = "wasm32"))]
const WORTHWHILE: f64 = 1e6;

/// How many threads may work.
pub fn threads() -> usize {
    #[cfg(not(target_arch = "wasm32"))]
    return rayon::current_num_threads();
    #[cfg(target_arch = "wasm32")]
    1
}

/// `f(scratch, index, item)` for all items, which are `work` multiplications together.
///
/// # Errors
/// The first that `f` gives; other items may not have been done then.
pub fn for_each<I: Send, S>(
    items: &mut [I],
    work: f64,
    scratch: impl Fn() -> S + Sync + Send,
    f: impl Fn(&mut S, usize, &mut I) -> Result<()> + Sync + Send,
) -> Result<()> {
    #[cfg(not(target_arch = "wasm32"))]
    if work > WORTHWHILE && items.len() > 1 && threads() > 1 {
        use rayon::prelude::*;
        return items.par_iter_mut().enumerate().try_for_each_init(&scratch, |scratch, (i, item)| f(scratch, i, item));
    }
    let _ = work;
    let mut scratch = scratch();
    for (i, item) in items.iter_mut().enumerate() {
        f(&mut scratch, i, item)?;
    }
    Ok(())
}
