//! A principal submatrix: an operator on some of its coordinates.

use std::cell::RefCell;
use std::ops::Range;

use super::SymmetricOperator;
use crate::control::LocalFuture;
use crate::engine::{Vector, Vectors};
use crate::error::{Result, ensure};

/// P A Pᵀ, where P picks ranges of coordinates: as long as those ranges together, so that spectra, traces and densities
/// have the part's dimension and no zeros of what was left out.
pub struct Restricted<A> {
    inner: A,
    ranges: Vec<Range<usize>>,
    len: usize,
    scratch: RefCell<Option<Scratch>>,
}

/// Vectors of the inner operator's length. `x` is zero outside the ranges, and stays so.
struct Scratch {
    x: Vector,
    y: Vector,
}

impl<A: SymmetricOperator> Restricted<A> {
    /// Restricts `inner` to these ranges of its coordinates, ascending and disjoint.
    ///
    /// # Errors
    /// `InvalidOption` for ranges out of order or beyond the operator's length, or without a coordinate.
    pub fn new(inner: A, ranges: Vec<Range<usize>>) -> Result<Self> {
        let n = inner.len();
        let mut end = 0;
        for range in &ranges {
            ensure!(
                end <= range.start && range.start <= range.end && range.end <= n,
                InvalidOption,
                "an operator of length {n} cannot be restricted to {}..{}: ranges ascend and do not overlap",
                range.start,
                range.end
            );
            end = range.end;
        }
        let len = ranges.iter().map(Range::len).sum();
        ensure!(len > 0, InvalidOption, "an operator cannot be restricted to no coordinate at all");
        Ok(Self { inner, ranges, len, scratch: RefCell::new(None) })
    }

    fn places(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let starts = self.ranges.iter().scan(0, |start, range| {
            let at = *start;
            *start += range.len();
            Some(at)
        });
        starts.zip(self.ranges.iter().cloned())
    }
}

impl<A: SymmetricOperator> SymmetricOperator for Restricted<A> {
    fn vectors(&self) -> &dyn Vectors {
        self.inner.vectors()
    }

    fn len(&self) -> usize {
        self.len
    }

    fn apply<'a>(&'a self, x: &'a Vector, y: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let vectors = self.vectors();
            let mut scratch = match self.scratch.take() {
                Some(scratch) if scratch.x.columns() == x.columns() => scratch,
                _ => {
                    let zeros = || vectors.zeros(self.inner.len(), x.columns());
                    Scratch { x: zeros()?, y: zeros()? }
                }
            };
            for (start, range) in self.places() {
                vectors.copy_rows(x, start..start + range.len(), &mut scratch.x, range.start)?;
            }
            self.inner.apply(&scratch.x, &mut scratch.y).await?;
            for (start, range) in self.places() {
                vectors.copy_rows(&scratch.y, range, y, start)?;
            }
            *self.scratch.borrow_mut() = Some(scratch);
            Ok(())
        })
    }
}
