//! Back through a step by rows that are laid out, with its part of a product or gradient: what δ is loaded for is done at once.

#![allow(unsafe_code)]

use std::ops::Range;

use super::laid::{
    Ahead, Grid, Layout, Meeting, Piece, Rows, Run, Target, WINDOW_ROWS, by_registers, give_back, meetings, take_room,
};
use super::pull::Term;
use crate::engine::cpu::activation::Finish;
use crate::engine::cpu::lanes::{Register, Registers};
use crate::engine::cpu::real::Real;

/// The pixels of one residue modulo the stride.
pub struct RowPull<'a, T, const N: usize> {
    pub grid: Grid<'a>,
    /// One or two.
    pub terms: &'a [Term<'a, T>],
    pub finish: Finish<'a, T>,
}

impl<T: Real, const N: usize> RowPull<'_, T, N> {
    /// Does it where its loops suit the step, and says so. Lane by lane are added: to `sums` those of every channel's weights, to `bias`
    /// those of the first term's δ, if they are wanted and each is met.
    #[inline(always)]
    pub fn run<const FMA: bool>(&self, out: &mut [T], sums: &mut [T], bias: Option<&mut [T]>) -> bool {
        by_registers!(T, N, FMA, self.run_by(out, sums, bias))
    }

    /// # Safety
    /// The machine has V's instructions.
    #[inline(always)]
    unsafe fn run_by<V: Register<T>, const R: usize>(
        &self,
        out: &mut [T],
        sums: &mut [T],
        bias: Option<&mut [T]>,
    ) -> bool {
        // SAFETY: the caller's.
        unsafe {
            if self.grid.suits::<3>(1) {
                self.windows::<V, R, 3>(out, sums, bias)
            } else if self.grid.suits::<5>(1) {
                self.windows::<V, R, 5>(out, sums, bias)
            } else if self.grid.suits::<2>(1) {
                self.windows::<V, R, 2>(out, sums, bias)
            } else if self.grid.suits::<1>(1) {
                self.windows::<V, R, 1>(out, sums, bias)
            } else {
                false
            }
        }
    }

    /// # Safety
    /// The machine has V's instructions.
    #[inline(always)]
    unsafe fn windows<V: Register<T>, const R: usize, const K: usize>(
        &self,
        out: &mut [T],
        sums: &mut [T],
        mut bias: Option<&mut [T]>,
    ) -> bool {
        let Self { grid, terms, .. } = self;
        let [rows, columns] = grid.sides;
        let Some(places) = columns.in_line::<K>() else { return false };
        let layout = Layout::new::<T, V, N>(grid, R, terms.len(), true);
        let band = layout.band::<T>(grid.channels);
        let len = band * layout.parts * layout.part();
        let Some(mut memory) = take_room(len * size_of::<T>()) else { return false };
        let room = &mut bytemuck::cast_slice_mut(&mut memory)[..len];
        layout.clear(grid, room);
        let mut images = [terms[0].delta; 2];
        for (to, term) in images.iter_mut().zip(*terms) {
            *to = term.delta;
        }
        let mut found = [Meeting::default(); WINDOW_ROWS];
        for first in (0..grid.channels).step_by(band) {
            let channels = first..grid.channels.min(first + band);
            let sums = &mut sums[first * grid.weights * N..][..channels.len() * grid.weights * N];
            let mut met = Rows { grid: *grid, layout, channels: channels.clone(), images, laid: 0 };
            for y in 0..rows.count {
                let count = meetings(grid, &layout, y, &mut found);
                // SAFETY: the caller's.
                unsafe {
                    let laid = met.laid;
                    met.meet::<V, N>(y, room);
                    if let Some(bias) = bias.as_deref_mut() {
                        let bias = &mut bias[first * N..][..channels.len() * N];
                        add_bias::<T, V, N>(&layout, laid..met.laid, channels.len(), room, bias);
                    }
                    for (t, term) in terms.iter().enumerate() {
                        let piece = Piece {
                            layout: &layout,
                            pixels: Run { first: grid.pixel(y), step: columns.step, count: columns.count },
                            all_channels: grid.channels,
                            channels: channels.clone(),
                            at: layout.input_at(t),
                        };
                        piece.lay::<T, V, N>(term.input, room);
                    }
                    let mut ahead = Ahead::nothing();
                    if y + 1 < rows.count {
                        for term in *terms {
                            ahead.add::<N>(term.delta, met.laid * grid.met_width, 1, grid.channels, first);
                            ahead.add::<N>(term.input, grid.pixel(y + 1), columns.step, grid.channels, first);
                        }
                        ahead.add::<N>(out, grid.pixel(y + 1), columns.step, grid.channels, first);
                    }
                    let target = Target::new::<N>(grid, y, channels.clone(), ahead, self.finish, out);
                    self.row::<V, R, K>(&layout, places, &found[..count], &target, room, sums);
                }
            }
        }
        give_back(memory);
        true
    }

    /// One row of pixels.
    ///
    /// # Safety
    /// The machine has V's instructions.
    #[inline(always)]
    unsafe fn row<V: Register<T>, const R: usize, const K: usize>(
        &self,
        layout: &Layout,
        places: [usize; K],
        met: &[Meeting],
        target: &Target<'_, T>,
        room: &mut [T],
        sums: &mut [T],
    ) {
        let channels = target.channels.clone();
        let of_channel = self.grid.weights;
        let vector = const { size_of::<V>() / size_of::<T>() };
        let (part, parts, points) = (layout.part(), layout.parts, layout.points);
        assert!(sums.len() == channels.len() * of_channel * N && room.len() >= channels.len() * parts * part);
        for (c, channel) in channels.enumerate() {
            let mut weights = [&self.terms[0].weights[channel * of_channel..][..of_channel]; 2];
            for (of_term, term) in weights.iter_mut().zip(self.terms) {
                *of_term = &term.weights[channel * of_channel..][..of_channel];
            }
            for p in 0..parts {
                for x in (0..points).step_by(R) {
                    target.ahead.ask(x, R, c * N + p * vector);
                    // SAFETY: the caller's; a run's points and what they meet are within the rows that are laid out, and the places of a
                    // window within a channel's weights.
                    unsafe {
                        let room = room.as_mut_ptr().add((c * parts + p) * part + x * vector);
                        let sums = sums.as_mut_ptr().add(c * of_channel * N + p * vector);
                        let mut pulled = [V::splat(T::ZERO); R];
                        for &Meeting { begin, row } in met {
                            let mut of_weights = [V::splat(T::ZERO); K];
                            for k in 0..K {
                                of_weights[k] = V::load(sums.add((begin + places[k]) * N));
                            }
                            for t in 0..self.terms.len() {
                                let row = room.add(layout.of_term(t) + row);
                                let input = room.add(layout.input_at(t));
                                let mut w = [V::splat(T::ZERO); K];
                                for k in 0..K {
                                    w[k] = V::splat(*weights[t].get_unchecked(begin + places[k]));
                                }
                                for l in 0..R + K - 1 {
                                    let met = V::load(row.add(l * vector));
                                    for k in 0..K {
                                        if l >= k && l - k < R {
                                            pulled[l - k] = pulled[l - k].plus_product(w[k], met);
                                            let a = V::load(input.add((l - k) * vector));
                                            of_weights[k] = of_weights[k].plus_product(a, met);
                                        }
                                    }
                                }
                            }
                            for k in 0..K {
                                of_weights[k].store(sums.add((begin + places[k]) * N));
                            }
                        }
                        for j in 0..R {
                            target.write(x + j, c * N + p * vector, pulled[j]);
                        }
                    }
                }
            }
        }
    }
}

/// `bias` += Σ over rows of δ that are laid out, of every channel and lane.
///
/// # Safety
/// The machine has V's instructions.
#[inline(always)]
unsafe fn add_bias<T: Real, V: Register<T>, const N: usize>(
    layout: &Layout,
    lines: Range<usize>,
    channels: usize,
    room: &[T],
    bias: &mut [T],
) {
    for i in 0..channels * layout.parts {
        for line in lines.clone() {
            let row = &room[i * layout.part() + layout.met_at(line)..][..layout.met * layout.vector];
            let bias = &mut bias[i * layout.vector..][..layout.vector];
            // SAFETY: the caller's, and a row is a whole number of vectors.
            unsafe {
                let mut sum = V::load(bias.as_ptr());
                for x in 0..layout.met {
                    sum = sum.plus(V::load(row.as_ptr().add(x * layout.vector)));
                }
                sum.store(bias.as_mut_ptr());
            }
        }
    }
}
