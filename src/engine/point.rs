//! Where an engine stands, for work that takes a while: whether it does so still.

use super::Engine;
use crate::error::{Result, ensure};

/// One of the points that an engine has been prepared at, one after the other. Who comes back to the same parameters is at another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Point(u64);

impl Engine {
    /// Where it stands.
    pub(crate) fn point(&self) -> Point {
        Point(self.moves.get())
    }

    /// Goes to a point that is not prepared yet.
    pub(super) fn leave(&self) -> Point {
        *self.prepared.borrow_mut() = None;
        self.moves.set(self.moves.get() + 1);
        self.point()
    }

    /// Numbers of two points would be one result otherwise, without a word.
    ///
    /// # Errors
    /// `InvalidParameters` where it stands elsewhere by now.
    pub(crate) fn ensure_at(&self, point: Point) -> Result<()> {
        ensure!(
            self.point() == point,
            InvalidParameters,
            "the engine was prepared at another point before this work was over: do one thing after the other, or have an engine for each"
        );
        Ok(())
    }
}
