//! Union–find: which of many things are one.

use crate::error::Result;
use crate::memory::collected;

/// Sets of numbers, each known by its smallest member.
pub(super) struct Union {
    parent: Vec<u32>,
}

impl Union {
    /// Numbers from 0, each a set of its own.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn new(what: &str, count: usize) -> Result<Self> {
        Ok(Self { parent: collected(what, 0..count as u32)? })
    }

    /// The set of a number.
    pub fn find(&mut self, mut a: u32) -> u32 {
        while self.parent[a as usize] != a {
            let above = self.parent[self.parent[a as usize] as usize];
            self.parent[a as usize] = above;
            a = above;
        }
        a
    }

    /// Makes the sets of two numbers one.
    pub fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}
