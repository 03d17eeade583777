//! How the places of a window meet an image, along each of its sides.
//!
//! Output o of a convolution sees input o s + k d − p through place k of a window (stride s, dilation d, padding p). Backwards,
//! the inputs of one residue of i + p modulo s are seen by outputs that lie side by side. So both ways are one thing: points on
//! a line, and for each place k of the window the point that it meets, which moves on from one to the next.

use super::affine::residues;
use crate::error::Result;
use crate::memory::room;
use crate::network::{Shape, Window};

/// The sides of a step whose channels see one channel each.
#[derive(Debug, Clone)]
pub struct Stencil {
    pub forward: [Side; 2],
    /// For every residue modulo the stride.
    pub backward: [Vec<Side>; 2],
}

impl Stencil {
    /// # Errors
    /// `TooLarge`.
    pub fn new(input: Shape, window: Window, output: Shape) -> Result<Self> {
        let sides = [(input.height, output.height), (input.width, output.width)];
        let forward = |axis: usize| Side::forward(window, axis, sides[axis].0, sides[axis].1);
        let backward = |axis: usize| Side::backward(window, axis, sides[axis].0, sides[axis].1);
        Ok(Self { forward: [forward(0)?, forward(1)?], backward: [backward(0)?, backward(1)?] })
    }
}

/// Points along one side of an image, in order, and what the window's places meet at each.
#[derive(Debug, Clone)]
pub struct Side {
    /// The first point that is computed, from one to the next, and how many.
    pub first: usize,
    pub step: usize,
    pub count: usize,
    /// From what a place meets at one point to what it meets at the next.
    pub stride: usize,
    pub places: Vec<Place>,
    /// Points at which every place meets something.
    pub inner: [usize; 2],
}

/// A row or column of a window.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Which.
    pub k: usize,
    /// What it meets at the first point; in front of the image there is nothing.
    from: isize,
    /// The points, from and to, at which it meets something.
    meets: [usize; 2],
}

impl Place {
    /// Does it meet something at this point?
    #[inline(always)]
    pub fn is_met(&self, point: usize) -> bool {
        (self.meets[0]..self.meets[1]).contains(&point)
    }

    /// What it meets there.
    #[inline(always)]
    pub fn at(&self, point: usize, stride: usize) -> usize {
        // In front of the image only where nothing is met.
        (self.from + (point * stride) as isize) as usize
    }
}

impl Side {
    /// Outputs, and the inputs that they see.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn forward(window: Window, axis: usize, inputs: usize, outputs: usize) -> Result<Self> {
        let (stride, dilation) = (window.stride[axis], window.dilation[axis]);
        let padding = window.padding.before[axis] as isize;
        let places = (0..window.size[axis]).map(|k| (k, (k * dilation) as isize - padding));
        Self::new([0, 1, outputs], stride, places, inputs)
    }

    /// Inputs, and the outputs that see them: a side for every residue modulo the stride.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn backward(window: Window, axis: usize, inputs: usize, outputs: usize) -> Result<Vec<Self>> {
        let (stride, dilation, padding) = (window.stride[axis], window.dilation[axis], window.padding.before[axis]);
        let mut sides = room("residues of pixels", stride.min(inputs))?;
        for residue in residues(inputs, window, axis)? {
            let first = (residue + stride - padding % stride) % stride;
            let met = (0..window.size[axis]).filter(|k| k * dilation % stride == residue);
            let places = met.map(|k| (k, ((first + padding) as isize - (k * dilation) as isize) / stride as isize));
            sides.push(Self::new([first, stride, (inputs - first).div_ceil(stride)], 1, places, outputs)?);
        }
        Ok(sides)
    }

    /// From the first that a point meets to behind the last.
    #[inline(always)]
    pub fn met(&self, point: usize) -> [usize; 2] {
        let mut met = [usize::MAX, 0];
        for place in self.places.iter().filter(|place| place.is_met(point)) {
            let at = place.at(point, self.stride);
            met = [met[0].min(at), met[1].max(at + 1)];
        }
        met
    }

    /// So many neighbours have what all places meet at a point.
    #[inline(always)]
    pub fn reach(&self) -> usize {
        let leftmost = self.leftmost();
        self.places.iter().map(|place| (place.from - leftmost) as usize + 1).max().unwrap_or(0)
    }

    /// Is each of so many met at some point, where points meet neighbours?
    #[inline(always)]
    pub fn meets_all(&self, length: usize) -> bool {
        let leftmost = self.leftmost();
        let end = leftmost + (self.count + self.reach()) as isize - 1;
        self.stride == 1 && self.reach() == self.places.len() && leftmost <= 0 && end >= length as isize
    }

    /// The places from left to right, if there are so many and they meet neighbours.
    #[inline(always)]
    pub fn in_line<const K: usize>(&self) -> Option<[usize; K]> {
        let mut places = [0; K];
        let leftmost = self.leftmost();
        if self.places.len() != K {
            return None;
        }
        for place in &self.places {
            // Places meet different points, so as many as there are within reach fill it.
            *places.get_mut((place.from - leftmost) as usize)? = place.k;
        }
        Some(places)
    }

    /// What the place furthest to the left meets at the first point, where there are places.
    #[inline(always)]
    pub fn leftmost(&self) -> isize {
        self.places.iter().map(|place| place.from).min().unwrap_or(0)
    }

    fn new(
        [first, step, count]: [usize; 3],
        stride: usize,
        met: impl Iterator<Item = (usize, isize)> + Clone,
        length: usize,
    ) -> Result<Self> {
        let mut places = room("places of a window", met.clone().count())?;
        let mut inner = [0, count];
        for (k, from) in met {
            // The first points at which it is at 0 or behind, and at the length or behind.
            let reaches = |end: isize| ((end - from).max(0) as usize).div_ceil(stride).min(count);
            let meets = [reaches(0), reaches(length as isize)];
            inner = [inner[0].max(meets[0]), inner[1].min(meets[1])];
            places.push(Place { k, from, meets });
        }
        Ok(Self { first, step, count, stride, places, inner })
    }
}
