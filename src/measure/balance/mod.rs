//! Sums of exponentials of differences, Σ share · e^(2 (u_column − u_row)), and their least values: what factors u = ln Λ can make of terms
//! that each multiply one of them and divide by another. `newton.rs` finds a minimum; where terms can be made as small as one likes at no
//! other's cost there is an infimum and no minimum, and `ways.rs` finds these.

mod newton;
mod ways;

pub(super) use newton::{Minimum, minimum};
pub(super) use ways::Ways;

use crate::error::Result;
use crate::memory::room;
use crate::numbers::power_near;

const WHAT: &str = "the terms of a measure";

/// From here on to the smallest number of full precision is room for sums and steps.
pub(super) const SMALLEST: f64 = 1e-290;

/// A power of two that numbers of this size together are taken in units of: of that size, but where the least of them would be below
/// `smallest` in such units, halfway to it. What underflows may be the largest once factors are balanced.
pub(super) fn unit_of(size: f64, numbers: impl Iterator<Item = f64>, smallest: f64) -> f64 {
    if !(size > 0.0 && size.is_finite()) {
        return 1.0;
    }
    let least = numbers.filter(|number| *number > 0.0).fold(f64::INFINITY, f64::min);
    let unit = power_near(size);
    if least / unit >= smallest { unit } else { power_near(size.sqrt() * least.sqrt()) }
}

/// What weights that multiply one factor and divide by another have of the sum, all together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Term {
    pub row: u32,
    pub column: u32,
    pub share: f64,
}

/// The sum as a function of the factors' logarithms.
pub(super) struct Terms {
    /// Of positive shares and two different factors.
    pub list: Vec<Term>,
    /// The shares of what no factor changes.
    pub fixed: f64,
    /// How many factors there are.
    pub count: usize,
    /// What all shares are in units of.
    pub unit: f64,
}

impl Terms {
    /// Of `count` factors, from the row, the column and the share of each that `visit` goes through, twice and in one order.
    pub fn of(count: usize, unit: f64, visit: impl Fn(&mut dyn FnMut(u32, u32, f64))) -> Result<Self> {
        let (mut fixed, mut length) = (0.0, 0);
        visit(&mut |row, column, share| match row == column {
            true => fixed += share,
            false => length += usize::from(share > 0.0),
        });
        let mut list = room(WHAT, length)?;
        visit(&mut |row, column, share| {
            if row != column && share > 0.0 {
                list.push(Term { row, column, share });
            }
        });
        Ok(Self { list, fixed, count, unit })
    }

    /// The sum where all factors are 1.
    pub fn total(&self) -> f64 {
        self.fixed + self.list.iter().map(|term| term.share).sum::<f64>()
    }
}
