//! Work over independent items: on all cores natively where there is enough of it, one after the other in a browser.
//!
//! What an item computes does not depend on how many threads there are, so neither do the results.

use crate::error::Result;
#[cfg(not(target_arch = "wasm32"))]
use crate::event_loop::now;
use crate::event_loop::worked;

/// Multiplications below which other threads would cost more than they save.
#[cfg(not(target_arch = "wasm32"))]
const WORTHWHILE: f64 = 1e6;

/// Multiplications that a single thread does without a look at the clock.
const IN_ONE_GO: f64 = 1e8;

/// Rows of a task that take much longer than laying out what they meet.
const FEWEST_ROWS: usize = 32;

/// How many threads may work.
pub fn threads() -> usize {
    #[cfg(not(target_arch = "wasm32"))]
    return rayon::current_num_threads();
    #[cfg(target_arch = "wasm32")]
    1
}

/// Rows that go together in a task, of so many rows whose work is so many multiplications: for each thread two tasks, or where
/// there is but one thread, tasks that an event loop may wait for. Each lays out for itself what all rows meet, so there are
/// no more of them.
pub fn rows_of_task(rows: usize, work: f64) -> usize {
    match threads() {
        1 => rows.div_ceil((work / IN_ONE_GO).ceil().max(1.0) as usize).max(FEWEST_ROWS),
        threads => rows.div_ceil(2 * threads),
    }
}

/// `f(workspace, index, item)` for all items, which are `work` multiplications together. The event loop of a browser may run
/// between two of them, and wherever `f` lets it.
///
/// # Errors
/// The first that `f` gives; other items may not have been done then.
pub async fn for_each<I: Send, S>(
    items: &mut [I],
    work: f64,
    workspace: impl Fn() -> S + Sync + Send,
    f: impl AsyncFn(&mut S, usize, &mut I) -> Result<()> + Sync + Send,
) -> Result<()> {
    #[cfg(not(target_arch = "wasm32"))]
    if work > WORTHWHILE && items.len() > 1 && threads() > 1 {
        use rayon::prelude::*;
        let each = |workspace: &mut S, (i, item): (usize, &mut I)| now(f(workspace, i, item));
        return items.par_iter_mut().enumerate().try_for_each_init(&workspace, each);
    }
    let work = work / items.len() as f64;
    let mut workspace = workspace();
    for (i, item) in items.iter_mut().enumerate() {
        f(&mut workspace, i, item).await?;
        worked(work).await?;
    }
    Ok(())
}
