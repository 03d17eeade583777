//! A principal submatrix: an operator on some of its coordinates.

use std::ops::Range;

use super::{Scratch, SymmetricOperator};
use crate::control::LocalFuture;
use crate::engine::{Vector, Vectors};
use crate::error::{Result, ensure};

/// P A Pᵀ, where P picks ranges of coordinates: as long as those ranges together, so that spectra, traces and densities
/// have the part's dimension and no zeros of what was left out.
pub struct Restricted<A> {
    inner: A,
    ranges: Vec<Range<usize>>,
    len: usize,
    /// Vectors of the inner operator's length. What goes in is zero outside the ranges, and stays so.
    into: Scratch,
    from: Scratch,
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
        Ok(Self { inner, ranges, len, into: Scratch::default(), from: Scratch::default() })
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
            let take = |scratch: &Scratch| scratch.take(vectors, self.inner.len(), x.columns());
            let (mut into, mut from) = (take(&self.into)?, take(&self.from)?);
            for (start, range) in self.places() {
                vectors.copy_rows(x, start..start + range.len(), &mut into, range.start)?;
            }
            self.inner.apply(&into, &mut from).await?;
            for (start, range) in self.places() {
                vectors.copy_rows(&from, range, y, start)?;
            }
            self.into.leave(into);
            self.from.leave(from);
            Ok(())
        })
    }
}
