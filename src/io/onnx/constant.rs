//! Tensors that do not depend on the network's input: weights, and the few whole numbers that shapes are computed from.

/// A tensor of the file, looked at with its axes in some order.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant<'a> {
    /// Its name among the initialisers, or that of the `Constant` node's output.
    pub tensor: &'a str,
    /// Is it of floating-point numbers?
    pub is_floating: bool,
    /// How it is looked at.
    pub view: View,
}

/// Lengths of axes, and how far apart their values lie.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct View {
    /// Lengths.
    pub lengths: Vec<usize>,
    /// Distances.
    pub strides: Vec<usize>,
}

impl View {
    /// An array as it lies.
    pub fn whole(lengths: Vec<usize>) -> Self {
        let mut strides = vec![1usize; lengths.len()];
        for i in (1..lengths.len()).rev() {
            strides[i - 1] = strides[i].saturating_mul(lengths[i]);
        }
        Self { lengths, strides }
    }

    /// Values in it.
    pub fn len(&self) -> usize {
        self.lengths.iter().product()
    }

    /// Do the values lie as they are counted?
    pub fn is_whole(&self) -> bool {
        let expected = Self::whole(self.lengths.clone()).strides;
        let axes = self.lengths.iter().zip(self.strides.iter().zip(&expected));
        axes.filter(|(length, _)| **length > 1).all(|(_, (stride, expected))| stride == expected)
    }

    /// The axes in another order, where that is one.
    pub fn transposed(&self, order: &[usize]) -> Option<Self> {
        let of = |values: &[usize]| order.iter().map(|&i| values.get(i).copied()).collect::<Option<Vec<usize>>>();
        Some(Self { lengths: of(&self.lengths)?, strides: of(&self.strides)? })
    }

    /// With other lengths, where that only puts in or leaves out axes of length 1, or the values lie as they are counted.
    pub fn reshaped(&self, lengths: &[usize]) -> Option<Self> {
        if self.is_whole() {
            return (crate::io::array::count(lengths)? == self.len()).then(|| Self::whole(lengths.to_vec()));
        }
        let long = self.lengths.iter().zip(&self.strides).filter(|(length, _)| **length != 1);
        let mut long = long.map(|(&length, &stride)| (length, stride));
        let strides = lengths.iter().map(|&length| match length {
            1 => Some(1),
            length => long.next().filter(|(found, _)| *found == length).map(|(_, stride)| stride),
        });
        let strides = strides.collect::<Option<Vec<usize>>>()?;
        long.next().is_none().then(|| Self { lengths: lengths.to_vec(), strides })
    }

    /// The one axis that is longer than 1, and where it is; of a single number, the last.
    pub fn vector(&self) -> Option<(usize, Self)> {
        let mut long = (0..self.lengths.len()).filter(|&i| self.lengths[i] != 1);
        match (long.next(), long.next()) {
            (Some(i), None) => Some((i, Self { lengths: vec![self.lengths[i]], strides: vec![self.strides[i]] })),
            _ => None,
        }
    }

    /// Places of the values, in the order in which this view counts them.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        let mut index = vec![0usize; self.lengths.len()];
        let mut at = 0usize;
        (0..self.len()).map(move |_| {
            let found = at;
            for axis in (0..index.len()).rev() {
                index[axis] += 1;
                at += self.strides[axis];
                if index[axis] < self.lengths[axis] {
                    break;
                }
                at -= self.strides[axis] * self.lengths[axis];
                index[axis] = 0;
            }
            found
        })
    }
}

/// A whole number, perhaps times the number of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The number.
    pub factor: i64,
    /// Is it times the number of samples?
    pub is_batch: bool,
}

impl Size {
    /// The number of samples.
    pub const BATCH: Self = Self { factor: 1, is_batch: true };

    /// A number.
    pub const fn known(factor: i64) -> Self {
        Self { factor, is_batch: false }
    }

    /// A shape of such lengths, for messages: `[1, N, 20]`.
    pub fn listed(shape: &[Self]) -> String {
        let words = shape.iter().map(|size| match (size.is_batch, size.factor) {
            (true, 1) => "N".into(),
            (true, factor) => format!("{factor} N"),
            (false, factor) => factor.to_string(),
        });
        format!("[{}]", words.collect::<Vec<String>>().join(", "))
    }

    /// The number, where it does not hang on the samples.
    pub fn number(self) -> Option<i64> {
        (!self.is_batch).then_some(self.factor)
    }
}

/// A small array of whole numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers {
    /// Lengths of its axes.
    pub shape: Vec<usize>,
    /// The numbers, row-major.
    pub values: Vec<Size>,
    /// Does the file have them in floating point, where a division leaves no rest?
    pub is_floating: bool,
}

impl Numbers {
    /// Of these in a row.
    pub fn row(values: Vec<Size>) -> Self {
        Self { shape: vec![values.len()], values, is_floating: false }
    }

    /// All of them, where none hangs on the samples.
    pub fn known(&self) -> Option<Vec<i64>> {
        self.values.iter().map(|size| size.number()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_counts_values_in_its_own_order() {
        let view = View::whole(vec![2, 3]);
        assert!(view.is_whole());
        assert_eq!(view.places().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        let turned = view.transposed(&[1, 0]).expect("an order");
        assert!(!turned.is_whole());
        assert_eq!(turned.places().collect::<Vec<_>>(), [0, 3, 1, 4, 2, 5]);
        assert_eq!(turned.reshaped(&[3, 1, 2]).expect("a one").places().collect::<Vec<_>>(), [0, 3, 1, 4, 2, 5]);
        assert_eq!((turned.reshaped(&[2, 3]), turned.reshaped(&[6]), view.reshaped(&[5])), (None, None, None));
        assert_eq!(view.reshaped(&[3, 2]).expect("as they lie").places().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(View::whole(vec![]).places().collect::<Vec<_>>(), [0]);
        assert_eq!(View::whole(vec![2, 0]).places().count(), 0);
        assert_eq!(View::whole(vec![1, 4, 1]).vector().expect("a row").0, 1);
    }
}
