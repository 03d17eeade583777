//! Weighted sums over the ranks, always in their order.
//!
//! Each rank adds up its own piece of the numbers, of which it gets every rank's, and all get all pieces: two exchanges in which every rank
//! sends and receives 2 n (P − 1) / P numbers, as much as any reduction of n numbers over P ranks must. What is short goes whole to all in
//! one exchange. An entry is the same sum either way.

use std::cell::RefCell;

use bytemuck::{Pod, cast_slice, cast_slice_mut};

use super::Ranks;
use crate::error::Result;
use crate::memory::zeros;

/// Numbers that go whole to all ranks, times the ranks: what costs less than a second exchange.
pub(super) const SHORT: usize = 1 << 12;

/// Numbers that are added up at once: at least so many, and so many for each rank.
pub(super) const AT_ONCE: usize = 1 << 18;
pub(super) const PIECE: usize = 1 << 12;

/// A number format that sums over ranks are of. They are added up in double precision.
pub trait Number: Pod {
    /// In double precision.
    fn wide(self) -> f64;
    /// Rounded from double precision.
    fn narrow(value: f64) -> Self;
}

impl Number for f64 {
    fn wide(self) -> f64 {
        self
    }

    fn narrow(value: f64) -> Self {
        value
    }
}

impl Number for f32 {
    fn wide(self) -> f64 {
        f64::from(self)
    }

    fn narrow(value: f64) -> Self {
        value as Self
    }
}

/// Room for what goes to other ranks and comes from them, taken before the work: a reduction itself asks for no memory, so that it fails on
/// no rank alone.
pub(super) struct Buffers {
    numbers: RefCell<[Vec<f64>; 2]>,
    at_once: usize,
}

impl Buffers {
    pub fn new(size: usize) -> Result<Self> {
        // A multiple of the ranks, so that all pieces are of the same length.
        let at_once = AT_ONCE.max(PIECE * size).next_multiple_of(size);
        let room = || zeros("numbers on their way between ranks", at_once);
        Ok(Self { numbers: RefCell::new([room()?, room()?]), at_once })
    }
}

impl Ranks {
    /// `numbers[i]` becomes Σ over the ranks of weight · their `numbers[i]`, on all of them to the same bits. What ranks of weight 0 have is
    /// not looked at.
    ///
    /// # Errors
    /// `DeviceLost` where a rank is gone.
    pub fn sum<T: Number>(&self, weights: &[f64], numbers: &mut [T]) -> Result<()> {
        let Buffers { numbers: buffers, at_once } = &self.buffers;
        let [first, second] = &mut *buffers.borrow_mut();
        let (first, second): (&mut [T], &mut [T]) = (cast_slice_mut(first), cast_slice_mut(second));
        let size = self.size();
        let communicator = &*self.communicator;
        if numbers.len() * size <= SHORT {
            let all = &mut first[..numbers.len() * size];
            communicator.all_gather(cast_slice(numbers), cast_slice_mut(all))?;
            add_up(weights, all, numbers);
            return Ok(());
        }
        for numbers in numbers.chunks_mut(*at_once) {
            let piece = numbers.len().div_ceil(size);
            let (own, theirs) = (&mut first[..piece * size], &mut second[..piece * size]);
            own[..numbers.len()].copy_from_slice(numbers);
            communicator.all_to_all(cast_slice(own), cast_slice_mut(theirs))?;
            let (sums, all) = (&mut own[..piece], theirs);
            add_up(weights, all, sums);
            communicator.all_gather(cast_slice(sums), cast_slice_mut(all))?;
            numbers.copy_from_slice(&all[..numbers.len()]);
        }
        Ok(())
    }
}

/// `out[i]` becomes Σ_k weight k · all[k n + i], n numbers of each rank.
fn add_up<T: Number>(weights: &[f64], all: &[T], out: &mut [T]) {
    let n = out.len();
    for (i, out) in out.iter_mut().enumerate() {
        let mut sum = 0.0;
        for (k, &weight) in weights.iter().enumerate() {
            if weight > 0.0 {
                sum += weight * all[k * n + i].wide();
            }
        }
        *out = T::narrow(sum);
    }
}
