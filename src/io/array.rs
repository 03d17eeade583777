//! Arrays as files have them.

use std::collections::HashSet;

use crate::error::{Result, ensure, some_of};
use crate::memory::{collected, copied};

/// An array's numbers, row-major. Half precisions are F32 here, bytes U8, and all other whole numbers I64, booleans too.
#[derive(Debug, Clone, PartialEq)]
pub enum Elements {
    /// Bytes: pixels, mostly.
    U8(Vec<u8>),
    /// Whole numbers.
    I64(Vec<i64>),
    /// Single precision, or what fits in it.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
}

impl Elements {
    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Self::U8(v) => v.len(),
            Self::I64(v) => v.len(),
            Self::F32(v) => v.len(),
            Self::F64(v) => v.len(),
        }
    }

    /// None at all?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What they are, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::U8(_) => "bytes",
            Self::I64(_) => "whole numbers",
            Self::F32(_) => "f32",
            Self::F64(_) => "f64",
        }
    }
}

/// An array: a shape, and as many elements as it says.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    shape: Vec<usize>,
    elements: Elements,
}

impl Array {
    /// An array of this shape; `[]` is one number.
    ///
    /// # Errors
    /// `Parse` where the shape is not that of so many elements.
    pub fn new(shape: Vec<usize>, elements: Elements) -> Result<Self> {
        let expected = count(&shape);
        ensure!(
            expected == Some(elements.len()),
            Parse,
            "an array's shape is {shape:?}, but it has {} elements",
            elements.len()
        );
        Ok(Self { shape, elements })
    }

    /// Lengths of the axes.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The numbers, row-major.
    pub fn elements(&self) -> &Elements {
        &self.elements
    }

    /// The numbers themselves.
    pub fn into_elements(self) -> Elements {
        self.elements
    }

    /// All numbers in double precision.
    ///
    /// # Errors
    /// `TooLarge` where they do not fit in memory.
    pub fn to_f64(&self) -> Result<Vec<f64>> {
        const WHAT: &str = "an array in double precision";
        match &self.elements {
            Elements::U8(v) => collected(WHAT, v.iter().map(|&x| f64::from(x))),
            Elements::I64(v) => collected(WHAT, v.iter().map(|&x| x as f64)),
            Elements::F32(v) => collected(WHAT, v.iter().map(|&x| f64::from(x))),
            Elements::F64(v) => copied(WHAT, v),
        }
    }
}

/// How many elements a shape has, if that can be counted.
pub(super) fn count(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |product, &n| product.checked_mul(n))
}

/// Arrays with their names, in the file's order. Where a file has one without a name, that is empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Arrays {
    /// Names and arrays.
    pub arrays: Vec<(String, Array)>,
    /// What a reader should know of how they were read.
    pub notes: Vec<String>,
    /// Does the file say that isoflat wrote it, and gave the names?
    pub is_own: bool,
    /// Names of the same numbers, of which the file says so: the second is an array's, and the first one's too, or it is not there.
    pub shared: Vec<[String; 2]>,
}

impl Arrays {
    /// The array of this name.
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.arrays.iter().find(|(known, _)| known == name).map(|(_, array)| array)
    }

    /// Fails where two arrays have one name: files have room for one of them.
    pub(super) fn ensure_distinct(&self) -> Result<()> {
        let mut names = HashSet::new();
        for (name, _) in &self.arrays {
            ensure!(names.insert(name), InvalidOption, "the arrays cannot be written: {name} is there twice");
        }
        Ok(())
    }

    /// What there is, for messages: names and shapes.
    pub fn listed(&self) -> String {
        const MOST: usize = 12;
        let some: Vec<String> =
            self.arrays.iter().take(MOST).map(|(name, array)| format!("{name} {:?}", array.shape())).collect();
        some_of(&some, self.arrays.len())
    }
}

/// Arrays that are data, `inputs` and `targets`, with the names of the classes where the file has them.
#[derive(Debug, Clone)]
pub(super) struct Labelled {
    pub arrays: Arrays,
    /// In the order of their numbers.
    pub classes: Vec<String>,
    /// The names of the inputs' columns, of a table.
    pub columns: Vec<String>,
}
