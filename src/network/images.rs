//! Layers over images as JSON spells them: convolutions, pools, and the sizes they have.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Window;

fn yes() -> bool {
    true
}

fn one() -> usize {
    1
}

fn one_by_one() -> [usize; 2] {
    [1, 1]
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_one(n: &usize) -> bool {
    *n == 1
}

fn is_one_by_one(sizes: &[usize; 2]) -> bool {
    *sizes == [1, 1]
}

/// A cross-correlation with W of shape (channels, input channels / groups, kernel height, kernel width).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conv2d {
    /// Number of output channels.
    #[serde(deserialize_with = "count")]
    pub channels: usize,
    /// Size of the window.
    #[serde(deserialize_with = "pair")]
    pub kernel: [usize; 2],
    /// Steps of the window; 1 by default.
    #[serde(default = "one_by_one", deserialize_with = "pair")]
    pub stride: [usize; 2],
    /// Zeros around the image; none by default.
    #[serde(default)]
    pub padding: Padding,
    /// Steps within the window; 1 by default.
    #[serde(default = "one_by_one", deserialize_with = "pair", skip_serializing_if = "is_one_by_one")]
    pub dilation: [usize; 2],
    /// Parts that the channels are in, those that come in and those that go out: a part of these sees a part of those alone.
    #[serde(default = "one", deserialize_with = "count", skip_serializing_if = "is_one")]
    pub groups: usize,
    /// Whether there is a b, one number a channel.
    #[serde(default = "yes")]
    pub bias: bool,
}

impl Conv2d {
    /// One with a bias, of stride 1, without padding.
    pub const fn new(channels: usize, kernel: [usize; 2]) -> Self {
        let padding = Padding::NONE;
        Self { channels, kernel, stride: [1, 1], padding, dilation: [1, 1], groups: 1, bias: true }
    }

    /// Its window.
    pub const fn window(&self) -> Window {
        Window { size: self.kernel, stride: self.stride, padding: self.padding, dilation: self.dilation }
    }
}

/// A pool over the windows of every channel. Rows and columns that fill no window are left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool2d {
    /// Size of the window.
    #[serde(deserialize_with = "pair")]
    pub size: [usize; 2],
    /// Steps of the window; its size by default.
    #[serde(default, deserialize_with = "some_pair", skip_serializing_if = "Option::is_none")]
    pub stride: Option<[usize; 2]>,
    /// What is put around the image, none by default: −∞ by a max pool, by an average pool zeros that count.
    #[serde(default, skip_serializing_if = "Padding::is_none")]
    pub padding: Padding,
}

impl Pool2d {
    /// One whose windows lie side by side.
    pub const fn new(size: [usize; 2]) -> Self {
        Self { size, stride: None, padding: Padding::NONE }
    }

    /// Its window.
    pub const fn window(&self) -> Window {
        let stride = match self.stride {
            Some(stride) => stride,
            None => self.size,
        };
        Window { size: self.size, stride, padding: self.padding, dilation: [1, 1] }
    }
}

/// Values around an image. In JSON a number for all sides, `[vertical, horizontal]`, or `[top, left, bottom, right]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Padding {
    /// Rows above, and columns at the left.
    pub before: [usize; 2],
    /// Rows below, and columns at the right.
    pub after: [usize; 2],
}

impl Padding {
    /// None.
    pub const NONE: Self = Self { before: [0, 0], after: [0, 0] };

    /// Is there none?
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }

    /// Of both sides of an axis.
    pub(crate) fn along(self, axis: usize) -> u64 {
        (self.before[axis] as u64).saturating_add(self.after[axis] as u64)
    }
}

impl From<[usize; 2]> for Padding {
    /// `[vertical, horizontal]`.
    fn from(both: [usize; 2]) -> Self {
        Self { before: both, after: both }
    }
}

impl From<[usize; 4]> for Padding {
    /// `[top, left, bottom, right]`.
    fn from([top, left, bottom, right]: [usize; 4]) -> Self {
        Self { before: [top, left], after: [bottom, right] }
    }
}

impl fmt::Display for Padding {
    /// As JSON spells it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { before: [top, left], after: [bottom, right] } = self;
        if self.before == self.after {
            write!(f, "[{top}, {left}]")
        } else {
            write!(f, "[{top}, {left}, {bottom}, {right}]")
        }
    }
}

impl Serialize for Padding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { before: [top, left], after: [bottom, right] } = *self;
        if self.before == self.after {
            self.before.serialize(serializer)
        } else {
            [top, left, bottom, right].serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Padding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "a padding must be a whole number, two: [vertical, horizontal], or four: [top, left, bottom, right]"
        )]
        enum Sides {
            All(Count),
            Pair([Count; 2]),
            Each([Count; 4]),
        }
        Ok(match Sides::deserialize(deserializer)? {
            Sides::All(Count(n)) => [n, n].into(),
            Sides::Pair(pair) => pair.map(|Count(n)| n).into(),
            Sides::Each(sides) => sides.map(|Count(n)| n).into(),
        })
    }
}

/// `[height, width]`, or one number for both.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a size must be a whole number, or two: [height, width]")]
enum Size {
    Both(Count),
    Pair([Count; 2]),
}

impl From<Size> for [usize; 2] {
    fn from(size: Size) -> Self {
        match size {
            Size::Both(Count(n)) => [n, n],
            Size::Pair(pair) => pair.map(|Count(n)| n),
        }
    }
}

/// A whole number as files and options write it. They have 64 bits; where memory is addressed by 32, larger ones are refused in words.
#[derive(Clone, Copy)]
pub(super) struct Count(pub usize);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;
        impl serde::de::Visitor<'_> for Whole {
            type Value = Count;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "a whole number from 0 to {}", usize::MAX)
            }

            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Count, E> {
                let number = usize::try_from(value);
                number.map(Count).map_err(|_| E::invalid_value(serde::de::Unexpected::Unsigned(value), &self))
            }
        }
        deserializer.deserialize_u64(Whole)
    }
}

pub(super) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    Count::deserialize(deserializer).map(|Count(n)| n)
}

fn pair<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[usize; 2], D::Error> {
    Size::deserialize(deserializer).map(Into::into)
}

fn some_pair<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<[usize; 2]>, D::Error> {
    Ok(Option::<Size>::deserialize(deserializer)?.map(Into::into))
}
