//! How a problem's samples are divided, and what of a pass over all of them belongs to a share.

use std::borrow::Cow;
use std::ops::Range;

use crate::engine::sweep::Cotangent;
use crate::error::{Result, ensure};
use crate::memory::{copied, room};

/// Runs of samples, one behind the other, that make up a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shares(Vec<Range<usize>>);

impl Shares {
    /// These ones, where they make up all samples in order.
    ///
    /// # Errors
    /// `InvalidProblem` where they do not.
    pub fn of(ranges: Vec<Range<usize>>, samples: usize) -> Result<Self> {
        let starts = std::iter::once(0).chain(ranges.iter().map(|range| range.end));
        let meets = ranges.iter().zip(starts).position(|(range, start)| range.start != start || range.is_empty());
        let is_whole = meets.is_none() && ranges.last().is_some_and(|last| last.end == samples);
        ensure!(
            is_whole,
            InvalidProblem,
            "share {} does not begin where the one before it ends: together they have to be all {samples} samples, each once",
            meets.unwrap_or(ranges.len())
        );
        Ok(Self(ranges))
    }

    /// At most `shares` of them, of about the same length. All but the last are multiples of `unit`.
    pub fn split(samples: usize, shares: usize, unit: usize) -> Self {
        let units = samples.div_ceil(unit);
        let shares = shares.clamp(1, units.max(1));
        let at = |share: usize| (share * units / shares * unit).min(samples);
        Self((0..shares).map(|share| at(share)..at(share + 1)).collect())
    }

    /// The points of a plane, of which a rank may have none.
    pub fn of_points(points: usize, ranks: usize) -> Self {
        let at = |rank: usize| rank * points / ranks;
        Self((0..ranks).map(|rank| at(rank)..at(rank + 1)).collect())
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// One of them.
    pub fn range(&self, share: usize) -> Range<usize> {
        self.0[share].clone()
    }

    /// All of them in order.
    pub fn iter(&self) -> impl Iterator<Item = &Range<usize>> {
        self.0.iter()
    }

    /// Of each share the part of all samples: the weights of its means.
    pub fn weights(&self) -> Vec<f64> {
        let samples = self.0.last().map_or(0, |last| last.end);
        self.0.iter().map(|share| share.len() as f64 / samples as f64).collect()
    }

    /// The same of a batch's samples.
    pub fn weights_of(&self, rows: &[u32]) -> Vec<f64> {
        self.0.iter().map(|share| own_count(rows, share) as f64 / rows.len() as f64).collect()
    }
}

/// How many of a batch's samples belong to a share.
fn own_count(rows: &[u32], samples: &Range<usize>) -> usize {
    rows.iter().filter(|&&row| samples.contains(&(row as usize))).count()
}

/// Those of a batch's samples that belong to a share, counted from its first.
///
/// # Errors
/// `TooLarge`.
pub fn own_rows(rows: &[u32], samples: &Range<usize>) -> Result<Vec<u32>> {
    let mut own = room("sample numbers of a batch", own_count(rows, samples))?;
    own.extend(rows.iter().filter(|&&row| samples.contains(&(row as usize))).map(|&row| row - samples.start as u32));
    Ok(own)
}

/// Cotangents at the outputs of a share's samples, of those at the outputs of all.
///
/// # Errors
/// `TooLarge`.
pub fn own_cotangents<'a>(
    cotangents: &'a [Cotangent],
    samples: &Range<usize>,
    outputs: usize,
) -> Result<Cow<'a, [Cotangent]>> {
    const WHAT: &str = "a share's cotangents";
    if cotangents.iter().all(|cotangent| matches!(cotangent, Cotangent::Class(_))) {
        return Ok(Cow::Borrowed(cotangents));
    }
    let own = |cotangent: &Cotangent| {
        Ok(match cotangent {
            Cotangent::Class(class) => Cotangent::Class(*class),
            Cotangent::Signs(signs) => {
                Cotangent::Signs(copied(WHAT, &signs[outputs * samples.start..outputs * samples.end])?)
            }
        })
    };
    Ok(Cow::Owned(cotangents.iter().map(own).collect::<Result<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_all_samples_once_and_differ_by_a_unit() {
        for samples in [1, 2, 7, 8, 9, 63, 64, 1000] {
            for (shares, unit) in [(1, 1), (2, 1), (3, 8), (7, 1), (7, 8), (64, 1)] {
                let found = Shares::split(samples, shares, unit);
                assert_eq!(found.count(), shares.min(samples.div_ceil(unit)));
                let mut at = 0;
                for share in found.iter() {
                    assert_eq!(share.start, at);
                    assert!(
                        !share.is_empty() && share.len() <= (samples.div_ceil(unit).div_ceil(found.count())) * unit
                    );
                    at = share.end;
                }
                assert_eq!(at, samples);
                assert!((found.weights().iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_batch_and_cotangents_are_divided_as_the_samples_are() {
        let shares = Shares::split(10, 3, 1);
        assert_eq!(shares.iter().cloned().collect::<Vec<_>>(), [0..3, 3..6, 6..10]);
        let rows = [9, 0, 4, 4, 5, 3, 2, 9];
        let own: Vec<_> = shares.iter().map(|share| own_rows(&rows, share).expect("rows")).collect();
        assert_eq!(own, [vec![0, 2], vec![1, 1, 2, 0], vec![3, 3]]);
        assert_eq!(shares.weights_of(&rows), [0.25, 0.5, 0.25]);
        let all = [Cotangent::Class(1), Cotangent::Signs((0..20).map(|i| i as f32).collect())];
        let found = own_cotangents(&all, &shares.range(1), 2).expect("cotangents");
        assert_eq!(found[..], [Cotangent::Class(1), Cotangent::Signs(vec![6.0, 7.0, 8.0, 9.0, 10.0, 11.0])]);
    }
}
