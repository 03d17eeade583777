//! Rows of an image laid out channel by channel, for the channels of a band.
//!
//! In a block all channels of a pixel come before the next pixel: neighbours of one channel are pages apart, which share few sets of a
//! cache, and to read some of several rows at a time is more streams than a processor looks ahead on. So a row is read once, as it
//! lies, and laid out in a place that stays in the cache: a channel's neighbours side by side, between the zeros that a window sees
//! beyond the image. Loops over a channel's row know no borders then.

#![allow(unsafe_code)]

use std::cell::Cell;
use std::ops::Range;

use crate::engine::cpu::activation::Finish;
use crate::engine::cpu::aligned::Aligned;
use crate::engine::cpu::lanes::{Register, ask_for};
use crate::engine::cpu::real::Real;
use crate::engine::cpu::stencil::Side;

/// Are rows laid out? Where lanes are left to the compiler it needs loops over them alone.
pub const LAYS_ROWS: bool = cfg!(any(target_arch = "x86_64", target_arch = "wasm32"));

/// Bytes that may be laid out together: half of a second cache of 1 MiB.
const ROOM: usize = 320 << 10;

/// Rows of a window at most.
pub const WINDOW_ROWS: usize = 7;

thread_local! {
    /// One thread's room, which is in its cache. A step has no other memory of its own.
    static SPARE: Cell<Aligned<u8>> = const { Cell::new(Aligned::new()) };
}

/// Room for so many bytes or more, if there is memory for them. What is there is what was there before.
pub fn take_room(bytes: usize) -> Option<Aligned<u8>> {
    let mut room = SPARE.take();
    // What is longer stays so: what is new would be filled with zeros first.
    let bytes = bytes.max(room.len());
    room.resize("rows of a band", bytes).is_ok().then_some(room)
}

/// Room that is free again.
pub fn give_back(room: Aligned<u8>) {
    SPARE.set(room);
}

/// How windows move over an image whose channels come out one each.
#[derive(Clone, Copy)]
pub struct Grid<'a> {
    /// Along rows and columns.
    pub sides: [&'a Side; 2],
    /// Columns of the window.
    pub window: usize,
    /// Weights and channels of a pixel.
    pub weights: usize,
    pub channels: usize,
    /// Pixels of a row that is met, and of a row that comes out.
    pub met_width: usize,
    pub width: usize,
}

impl Grid<'_> {
    /// Do the loops over laid out rows suit it: windows' rows of `K` places side by side?
    pub fn suits<const K: usize>(&self, stride: usize) -> bool {
        let [rows, columns] = self.sides;
        rows.reach() <= WINDOW_ROWS && columns.stride == stride && columns.in_line::<K>().is_some()
    }

    /// Where row `y` of what comes out begins, in pixels.
    pub fn pixel(&self, y: usize) -> usize {
        let [rows, columns] = self.sides;
        (rows.first + y * rows.step) * self.width + columns.first
    }
}

/// How the rows of a channel are laid out.
#[derive(Clone, Copy)]
pub struct Layout {
    /// Numbers of a vector, and vectors of a pixel.
    pub vector: usize,
    pub parts: usize,
    /// Points that are computed, in whole runs, and pixels that they meet.
    pub points: usize,
    pub met: usize,
    /// Rows of every term that are laid out at a time.
    pub slots: usize,
    pub terms: usize,
    /// Are there rows of inputs too?
    pub has_inputs: bool,
}

impl Layout {
    /// For points in runs of so many.
    pub fn new<T, V, const N: usize>(grid: &Grid<'_>, run: usize, terms: usize, has_inputs: bool) -> Self {
        let vector = size_of::<V>() / size_of::<T>();
        let [rows, columns] = grid.sides;
        let points = columns.count.next_multiple_of(run);
        let met = (points - 1) * columns.stride + columns.places.len();
        Self { vector, parts: N / vector, points, met, slots: rows.reach(), terms, has_inputs }
    }

    /// Numbers of one part of a channel: what is met of every term, then inputs. An odd number of vectors, so that channels do not
    /// share sets of a cache.
    pub fn part(&self) -> usize {
        let inputs = if self.has_inputs { self.terms } else { 0 };
        (self.of_term(self.terms) + inputs * self.points * self.vector) | self.vector
    }

    /// Where a term's rows that are met begin, in a part.
    #[inline(always)]
    pub fn of_term(&self, term: usize) -> usize {
        term * self.slots * self.met * self.vector
    }

    /// Where a row that is met begins, among a term's.
    #[inline(always)]
    pub fn met_at(&self, line: usize) -> usize {
        line % self.slots * self.met * self.vector
    }

    /// Where a term's row of inputs begins.
    #[inline(always)]
    pub fn input_at(&self, term: usize) -> usize {
        self.of_term(self.terms) + term * self.points * self.vector
    }

    /// The places in a row that is met which are within the image, from and to.
    #[inline(always)]
    pub fn columns(&self, grid: &Grid<'_>) -> [usize; 2] {
        let leftmost = grid.sides[1].leftmost();
        [0, grid.met_width as isize].map(|column| (column - leftmost).clamp(0, self.met as isize) as usize)
    }

    /// Zeros where there is no image, in room for some channels: nothing is written over them.
    #[inline(always)]
    pub fn clear<T: Real>(&self, grid: &Grid<'_>, room: &mut [T]) {
        let [first, last] = self.columns(grid);
        let inputs = if self.has_inputs { self.terms } else { 0 };
        for part in room.chunks_exact_mut(self.part()) {
            for row in part[..self.of_term(self.terms)].chunks_exact_mut(self.met * self.vector) {
                row[..first * self.vector].fill(T::ZERO);
                row[last * self.vector..].fill(T::ZERO);
            }
            for term in 0..inputs {
                let row = &mut part[self.input_at(term)..][..self.points * self.vector];
                row[grid.sides[1].count * self.vector..].fill(T::ZERO);
            }
        }
    }

    /// Channels that are laid out together.
    pub fn band<T>(&self, channels: usize) -> usize {
        (ROOM / (self.part() * self.parts * size_of::<T>())).clamp(4, channels.max(4)).min(channels)
    }
}

/// Some pixels of an image's row: where the first begins among an image's pixels, from one to the next, and how many.
#[derive(Clone, Copy)]
pub struct Run {
    pub first: usize,
    pub step: usize,
    pub count: usize,
}

/// The channels of a band at some pixels of an image, and where they are laid out: `at` in every part.
pub struct Piece<'a> {
    pub layout: &'a Layout,
    pub pixels: Run,
    pub all_channels: usize,
    pub channels: Range<usize>,
    pub at: usize,
}

impl Piece<'_> {
    /// Lays pixels out.
    ///
    /// # Safety
    /// The machine has V's instructions.
    #[inline(always)]
    pub unsafe fn lay<T: Real, V: Register<T>, const N: usize>(&self, image: &[T], room: &mut [T]) {
        let Run { first, step, count } = self.pixels;
        if count == 0 {
            return;
        }
        let layout = self.layout;
        let vector = const { size_of::<V>() / size_of::<T>() };
        let (part, parts) = (layout.part(), layout.parts);
        let last = ((first + (count - 1) * step) * self.all_channels + self.channels.end) * N;
        assert!(last <= image.len() && self.fits(room.len()));
        for x in 0..count {
            let from = ((first + x * step) * self.all_channels + self.channels.start) * N;
            let to = self.at + x * vector;
            for i in 0..self.channels.len() * parts {
                // SAFETY: the caller's; within what was asked for above.
                unsafe {
                    V::load(image.as_ptr().add(from + i * vector)).store(room.as_mut_ptr().add(to + i * part));
                }
            }
        }
    }

    /// Is everything within room for so many numbers?
    fn fits(&self, len: usize) -> bool {
        let parts = self.channels.len() * self.layout.parts;
        parts * self.layout.part() <= len && self.at + self.pixels.count * self.layout.vector <= self.layout.part()
    }
}

/// Where a row of points goes, of the channels of a band, and what is asked for meanwhile.
pub struct Target<'a, T> {
    pub channels: Range<usize>,
    pub ahead: Ahead<T>,
    finish: Finish<'a, T>,
    out: *mut T,
    /// The first point's first channel, from one point to the next, and how many points.
    begin: usize,
    step: usize,
    count: usize,
}

impl<'a, T: Real> Target<'a, T> {
    /// Row `y`.
    #[inline(always)]
    pub fn new<const N: usize>(
        grid: &Grid<'_>,
        y: usize,
        channels: Range<usize>,
        ahead: Ahead<T>,
        finish: Finish<'a, T>,
        out: &mut [T],
    ) -> Self {
        let columns = grid.sides[1];
        let pixel = grid.pixel(y);
        let end = ((pixel + (columns.count - 1) * columns.step) * grid.channels + channels.end) * N;
        assert!(end <= out.len());
        if let Finish::Derivative { a, .. } = finish {
            assert!(end <= a.len());
        }
        let begin = (pixel * grid.channels + channels.start) * N;
        let (out, step) = (out.as_mut_ptr(), columns.step * grid.channels * N);
        Self { channels, ahead, finish, out, begin, step, count: columns.count }
    }

    /// Writes what came out at point `x`, `at` behind the first channel of the band; nothing behind the last point.
    ///
    /// # Safety
    /// The machine has V's instructions, and so many numbers are behind the first channel.
    #[inline(always)]
    pub unsafe fn write<V: Register<T>>(&self, x: usize, at: usize, values: V) {
        if x >= self.count {
            return;
        }
        let at = self.begin + x * self.step + at;
        // SAFETY: the caller's; all points were found to be within what is written and what the derivative is taken at.
        unsafe {
            let values = match self.finish {
                Finish::Nothing => values,
                Finish::Activation { slope } => values.choose(values, V::splat(slope).times(values)),
                Finish::Derivative { slope, a } => {
                    let slope = V::load(a.as_ptr().add(at)).choose(V::splat(T::ONE), V::splat(slope));
                    values.times(slope)
                }
            };
            values.store(self.out.add(at));
        }
    }
}

/// Calls what is compiled for the registers of a level, and for runs of as many points as they hold.
macro_rules! by_registers {
    ($T:ident, $N:ident, $FMA:ident, $self:ident.$call:ident($($argument:expr),*)) => {
        // SAFETY: as in `lanes`: rows of 128 bytes are AVX-512's, and `FMA` says what the machine has.
        unsafe {
            if const { $FMA && size_of::<[$T; $N]>() == 128 } {
                $self.$call::<<$T as Registers>::Wide, 8>($($argument),*)
            } else if const { $FMA } {
                $self.$call::<<$T as Registers>::Fused, 4>($($argument),*)
            } else {
                $self.$call::<<$T as Registers>::Base, 4>($($argument),*)
            }
        }
    };
}
pub(super) use by_registers;

/// Rows that are met, of some terms: each is laid out when a row of points first meets it.
pub struct Rows<'a, T> {
    pub grid: Grid<'a>,
    pub layout: Layout,
    pub channels: Range<usize>,
    pub images: [&'a [T]; 2],
    /// Rows before this one are laid out, as far as they are met.
    pub laid: usize,
}

impl<T: Real> Rows<'_, T> {
    /// Lays out what row `y` of points meets.
    ///
    /// # Safety
    /// The machine has V's instructions.
    #[inline(always)]
    pub unsafe fn meet<V: Register<T>, const N: usize>(&mut self, y: usize, room: &mut [T]) {
        let Self { grid, layout, .. } = self;
        let [first, last] = layout.columns(grid);
        let rows = grid.sides[0];
        let [_, to] = rows.met(y);
        // Rows between those that are met are met by a later row of points, where a window has gaps.
        let from = (rows.leftmost() + (y * rows.stride) as isize).max(0) as usize;
        for line in from.max(self.laid)..to {
            for (term, image) in self.images.iter().enumerate().take(layout.terms) {
                let column = (first as isize + grid.sides[1].leftmost()) as usize;
                let piece = Piece {
                    layout,
                    pixels: Run { first: line * grid.met_width + column, step: 1, count: last - first },
                    all_channels: grid.channels,
                    channels: self.channels.clone(),
                    at: layout.of_term(term) + layout.met_at(line) + first * layout.vector,
                };
                // SAFETY: the caller's.
                unsafe { piece.lay::<T, V, N>(image, room) };
            }
        }
        self.laid = self.laid.max(to);
    }
}

/// Rows that will be laid out or written next. They are asked for while others are computed: memory would have nothing to do then.
pub struct Ahead<T> {
    /// Of each its first number, and from one pixel to the next.
    rows: [(*const T, usize); 5],
    count: usize,
}

impl<T: Real> Ahead<T> {
    pub fn nothing() -> Self {
        Self { rows: [(std::ptr::null(), 0); 5], count: 0 }
    }

    /// A row of an image that begins at this pixel, if there is one.
    #[inline(always)]
    pub fn add<const N: usize>(&mut self, image: &[T], pixel: usize, step: usize, channels: usize, channel: usize) {
        if let Some(from) = image.get((pixel * channels + channel) * N) {
            self.rows[self.count] = (from, step * channels * N);
            self.count += 1;
        }
    }

    /// Asks for so many pixels from `x` on, `at` behind the first channel of the band.
    #[inline(always)]
    pub fn ask(&self, x: usize, count: usize, at: usize) {
        for &(row, step) in &self.rows[..self.count] {
            for j in x..x + count {
                ask_for(row.wrapping_add(j * step + at));
            }
        }
    }
}

/// A row of the window, and what a row of points meets through it.
#[derive(Clone, Copy, Default)]
pub struct Meeting {
    /// Where its weights begin, among a channel's.
    pub begin: usize,
    /// Where the row that is met begins, among a term's.
    pub row: usize,
}

/// The rows of the window through which row `y` of points meets something: how many.
pub fn meetings(grid: &Grid<'_>, layout: &Layout, y: usize, found: &mut [Meeting; WINDOW_ROWS]) -> usize {
    let rows = grid.sides[0];
    let mut count = 0;
    for place in rows.places.iter().filter(|place| place.is_met(y)) {
        found[count] = Meeting { begin: place.k * grid.window, row: layout.met_at(place.at(y, rows.stride)) };
        count += 1;
    }
    count
}
