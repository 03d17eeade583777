//! Sums over what a window sees, by rows that are laid out: what goes forward through a step, and what goes back.

#![allow(unsafe_code)]

use super::laid::{
    Ahead, Grid, Layout, Meeting, Rows, Target, WINDOW_ROWS, by_registers, give_back, meetings, take_room,
};
use crate::engine::cpu::activation::Finish;
use crate::engine::cpu::lanes::{Register, Registers};
use crate::engine::cpu::real::Real;

/// The sums of every channel: of each term's weights, a channel's one after the other, times the image that they meet.
pub struct RowSums<'a, T, const N: usize> {
    pub grid: Grid<'a>,
    /// Of each channel, added to its sums.
    pub bias: Option<&'a [T]>,
    /// One or two.
    pub terms: &'a [(&'a [T], &'a [T])],
    pub finish: Finish<'a, T>,
}

impl<T: Real, const N: usize> RowSums<'_, T, N> {
    /// Does it where its loops suit the step, and says so.
    #[inline(always)]
    pub fn run<const FMA: bool>(&self, out: &mut [T]) -> bool {
        by_registers!(T, N, FMA, self.run_by(out))
    }

    /// # Safety
    /// The machine has V's instructions.
    #[inline(always)]
    unsafe fn run_by<V: Register<T>, const R: usize>(&self, out: &mut [T]) -> bool {
        // SAFETY: the caller's.
        unsafe {
            if self.grid.suits::<3>(1) {
                self.windows::<V, R, 3, 1>(out)
            } else if self.grid.suits::<5>(1) {
                self.windows::<V, R, 5, 1>(out)
            } else if self.grid.suits::<3>(2) {
                self.windows::<V, R, 3, 2>(out)
            } else {
                false
            }
        }
    }

    /// # Safety
    /// The machine has V's instructions.
    #[inline(always)]
    unsafe fn windows<V: Register<T>, const R: usize, const K: usize, const S: usize>(&self, out: &mut [T]) -> bool {
        let Self { grid, terms, .. } = self;
        let [rows, columns] = grid.sides;
        let Some(places) = columns.in_line::<K>() else { return false };
        let layout = Layout::new::<T, V, N>(grid, R, terms.len(), false);
        let band = layout.band::<T>(grid.channels);
        let len = band * layout.parts * layout.part();
        let Some(mut memory) = take_room(len * size_of::<T>()) else { return false };
        let room = &mut bytemuck::cast_slice_mut(&mut memory)[..len];
        layout.clear(grid, room);
        let mut images = [terms[0].1; 2];
        for (to, (_, image)) in images.iter_mut().zip(*terms) {
            *to = image;
        }
        let mut found = [Meeting::default(); WINDOW_ROWS];
        for first in (0..grid.channels).step_by(band) {
            let channels = first..grid.channels.min(first + band);
            let mut met = Rows { grid: *grid, layout, channels: channels.clone(), images, laid: 0 };
            for y in 0..rows.count {
                let count = meetings(grid, &layout, y, &mut found);
                // SAFETY: the caller's.
                unsafe {
                    met.meet::<V, N>(y, room);
                    let mut ahead = Ahead::nothing();
                    if y + 1 < rows.count {
                        for (_, image) in *terms {
                            ahead.add::<N>(image, met.laid * grid.met_width, S, grid.channels, first);
                        }
                        ahead.add::<N>(out, grid.pixel(y + 1), columns.step, grid.channels, first);
                        if let Finish::Derivative { a, .. } = self.finish {
                            ahead.add::<N>(a, grid.pixel(y + 1), columns.step, grid.channels, first);
                        }
                    }
                    let target = Target::new::<N>(grid, y, channels.clone(), ahead, self.finish, out);
                    self.row::<V, R, K, S>(&layout, places, &found[..count], &target, room);
                }
            }
        }
        give_back(memory);
        true
    }

    /// One row of points.
    ///
    /// # Safety
    /// The machine has V's instructions.
    #[inline(always)]
    unsafe fn row<V: Register<T>, const R: usize, const K: usize, const S: usize>(
        &self,
        layout: &Layout,
        places: [usize; K],
        met: &[Meeting],
        target: &Target<'_, T>,
        room: &mut [T],
    ) {
        let channels = target.channels.clone();
        let of_channel = self.grid.weights;
        let vector = const { size_of::<V>() / size_of::<T>() };
        let (part, parts, points) = (layout.part(), layout.parts, layout.points);
        assert!(room.len() >= channels.len() * parts * part);
        for (c, channel) in channels.enumerate() {
            let bias = self.bias.map_or(T::ZERO, |bias| bias[channel]);
            let mut weights = [&self.terms[0].0[channel * of_channel..][..of_channel]; 2];
            for (of_term, (all, _)) in weights.iter_mut().zip(self.terms) {
                *of_term = &all[channel * of_channel..][..of_channel];
            }
            for p in 0..parts {
                for x in (0..points).step_by(R) {
                    target.ahead.ask(x, R, c * N + p * vector);
                    // SAFETY: the caller's; a run's points and what they meet are within the rows that are laid out, and the places of a
                    // window within a channel's weights.
                    unsafe {
                        let room = room.as_mut_ptr().add((c * parts + p) * part);
                        let mut sums = [V::splat(bias); R];
                        for t in 0..self.terms.len() {
                            for &Meeting { begin, row } in met {
                                let row = room.add(layout.of_term(t) + row + x * S * vector);
                                let mut w = [V::splat(T::ZERO); K];
                                for k in 0..K {
                                    w[k] = V::splat(*weights[t].get_unchecked(begin + places[k]));
                                }
                                for l in 0..(R - 1) * S + K {
                                    let met = V::load(row.add(l * vector));
                                    for k in 0..K {
                                        if l >= k && (l - k) % S == 0 && (l - k) / S < R {
                                            let j = (l - k) / S;
                                            sums[j] = sums[j].plus_product(w[k], met);
                                        }
                                    }
                                }
                            }
                        }
                        for j in 0..R {
                            target.write(x + j, c * N + p * vector, sums[j]);
                        }
                    }
                }
            }
        }
    }
}
