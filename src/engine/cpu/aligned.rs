//! Numbers that begin at a cache line. Allocators hand out large memory from 16 bytes behind one, and then every vector of 64 bytes
//! lies across two lines, which costs two accesses.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};

use crate::error::Result;
use crate::memory::{length, refusal};

/// What comes from memory in one go on all common processors.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Line([u8; 64]);

/// A vector whose first number begins a cache line.
pub struct Aligned<T> {
    lines: Vec<Line>,
    len: usize,
    numbers: PhantomData<T>,
}

impl<T> Default for Aligned<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Aligned<T> {
    /// Without numbers.
    pub const fn new() -> Self {
        Self { lines: Vec::new(), len: 0, numbers: PhantomData }
    }
}

impl<T: Pod> Aligned<T> {
    /// Numbers that there is memory for.
    pub fn capacity(&self) -> usize {
        self.lines.capacity() * size_of::<Line>() / size_of::<T>()
    }

    /// `len` numbers: those that are there stay, but where the memory is too small for all, they are lost. New ones are 0.
    ///
    /// # Errors
    /// `TooLarge`, which names `what` they are.
    pub fn resize(&mut self, what: &str, len: usize) -> Result<&mut [T]> {
        const { assert!(size_of::<Line>().is_multiple_of(size_of::<T>()), "a line is a whole number of numbers") };
        let lines = length::<T>(what, len as u64)?;
        let lines = (lines * size_of::<T>()).div_ceil(size_of::<Line>());
        if lines > self.lines.capacity() {
            // What is there need not be kept: two pieces at once would be twice the memory.
            *self = Self::default();
            let refused = |_| refusal(what, len as u64, size_of::<T>());
            self.lines.try_reserve_exact(lines).map_err(refused)?;
        }
        let before = self.len;
        self.lines.resize(lines, Line::zeroed());
        self.len = len;
        // What was beyond the end in its last line.
        if before < len {
            let end = before.next_multiple_of(size_of::<Line>() / size_of::<T>()).min(len);
            self[before..end].fill(T::zeroed());
        }
        Ok(self)
    }

    /// `len` times 0.
    ///
    /// # Errors
    /// As [`Self::resize`].
    pub fn zeros(&mut self, what: &str, len: usize) -> Result<&mut [T]> {
        self.lines.clear();
        self.len = 0;
        self.resize(what, len)
    }
}

impl<T: Pod> Deref for Aligned<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &cast_slice(&self.lines)[..self.len]
    }
}

impl<T: Pod> DerefMut for Aligned<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut cast_slice_mut(&mut self.lines)[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::Aligned;
    use crate::error::ErrorCode;

    #[test]
    fn numbers_begin_a_cache_line_and_keep_their_memory_where_that_is_large_enough() {
        let mut numbers = Aligned::<f64>::default();
        numbers.resize("numbers", 1000).expect("memory").fill(1.0);
        let at = numbers.as_ptr();
        assert_eq!(at as usize % 64, 0);
        assert_eq!(*numbers.resize("numbers", 3).expect("memory"), [1.0; 3]);
        // As of a vector: what comes back is new.
        assert_eq!(*numbers.resize("numbers", 7).expect("memory"), [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(numbers.resize("numbers", 1000).expect("memory")[500..], [0.0; 500]);
        assert_eq!(numbers.as_ptr(), at);
        assert_eq!(*numbers.zeros("numbers", 2).expect("memory"), [0.0; 2]);
    }

    #[test]
    fn what_cannot_be_had_is_an_error() {
        for len in [usize::MAX, usize::MAX / 16] {
            let found = Aligned::<f32>::default().resize("numbers", len).map(|_| ()).expect_err("more than there is");
            assert_eq!(found.code, ErrorCode::TooLarge);
            assert!(found.message.contains("values of 4 bytes"), "{found}");
        }
    }
}
