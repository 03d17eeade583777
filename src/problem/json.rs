//! The problem file as text: read and written number by number, in memory that is asked for first.

use std::fmt;
use std::io;

use serde::de::{DeserializeOwned, Deserializer, Error as _, SeqAccess, Visitor};
use serde::ser::{SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};

use super::Loss;
use crate::error::{Error, ErrorCode, Result};
use crate::network::{Network, RawNetwork};
use crate::symmetry::Transformation;

/// What an error of the reader says where memory was lacking: serde has no other way to tell.
const NO_MEMORY: &str = "the numbers do not fit in memory";

/// Reads a value.
///
/// # Errors
/// `Parse`; `TooLarge` where the numbers do not fit in memory.
pub(super) fn read<T: DeserializeOwned>(json: &str) -> Result<T> {
    crate::json::read(json).map_err(|error| match error.message.contains(NO_MEMORY) {
        true => Error::new(ErrorCode::TooLarge, format!("{NO_MEMORY}: the file has {} MiB of text", json.len() >> 20)),
        false => error,
    })
}

/// Writes a value.
///
/// # Errors
/// `TooLarge` where the text does not fit in memory.
pub(super) fn write(value: &impl Serialize) -> Result<String> {
    struct Text(Vec<u8>);
    impl io::Write for Text {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.try_reserve(bytes.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
            self.0.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut text = Text(Vec::new());
    if let Err(error) = serde_json::to_writer(&mut text, value) {
        return Err(match error.is_io() {
            true => Error::new(ErrorCode::TooLarge, "the problem's text does not fit in memory"),
            false => error.into(),
        });
    }
    String::from_utf8(text.0).map_err(|_| Error::new(ErrorCode::Parse, "a problem's text is no UTF-8"))
}

/// Takes one more value.
fn push<T, E: serde::de::Error>(values: &mut Vec<T>, value: T) -> std::result::Result<(), E> {
    if values.len() == values.capacity() {
        values.try_reserve(1).map_err(|_| E::custom(NO_MEMORY))?;
    }
    values.push(value);
    Ok(())
}

/// A list of numbers.
pub(super) struct Numbers(pub Vec<f64>);

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Numbers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> std::result::Result<Numbers, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = access.next_element()? {
                    push(&mut values, value)?;
                }
                Ok(Numbers(values))
            }
        }
        deserializer.deserialize_seq(Visit)
    }
}

/// Rows of numbers, one behind the other: of one length, or the first that has another.
#[derive(Default)]
pub(super) struct Rows {
    values: Vec<f64>,
    /// Length of the first row.
    width: Option<usize>,
    count: usize,
    /// The first row of another length, and that.
    odd: Option<(usize, usize)>,
}

impl Rows {
    /// All values, if every row has this many; `says` the fault otherwise, of a row with its length and the one it needs.
    pub fn flat(self, width: usize, says: impl Fn(usize, usize, usize) -> String) -> Result<Vec<f64>> {
        let fault = match self.width {
            Some(found) if found != width => Some((0, found)),
            _ => self.odd,
        };
        match fault {
            None => Ok(self.values),
            Some((row, found)) => Err(Error::new(ErrorCode::InvalidProblem, says(row, found, width))),
        }
    }

    fn add(&mut self, values: usize) {
        match self.width {
            None => self.width = Some(values),
            Some(width) if width != values && self.odd.is_none() => self.odd = Some((self.count, values)),
            Some(_) => {}
        }
        self.count += 1;
    }
}

impl<'de> Deserialize<'de> for Rows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        match RawTargets::deserialize(deserializer)? {
            RawTargets::Vectors(rows) => Ok(rows),
            RawTargets::Classes(classes) if classes.is_empty() => Ok(Self::default()),
            RawTargets::Classes(_) => {
                Err(D::Error::custom("expected rows of numbers, [[…], […], …], but found numbers alone"))
            }
        }
    }
}

/// Targets: class numbers, or rows of numbers.
pub(super) enum RawTargets {
    Classes(Vec<u32>),
    Vectors(Rows),
}

impl<'de> Deserialize<'de> for RawTargets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = RawTargets;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of class numbers, or of rows of numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> std::result::Result<RawTargets, A::Error> {
                let (mut classes, mut rows) = (Vec::new(), Rows::default());
                while let Some(element) = access.next_element_seed(Element(&mut rows))? {
                    if let Some(class) = element {
                        push(&mut classes, class)?;
                    }
                    if !classes.is_empty() && rows.count > 0 {
                        return Err(A::Error::custom("there are class numbers and rows in one list"));
                    }
                }
                Ok(if rows.count > 0 { RawTargets::Vectors(rows) } else { RawTargets::Classes(classes) })
            }
        }
        deserializer.deserialize_seq(Visit)
    }
}

/// One element of a list: a class number, or a row that joins these.
struct Element<'a>(&'a mut Rows);

impl<'de> serde::de::DeserializeSeed<'de> for Element<'_> {
    type Value = Option<u32>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Option<u32>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Element<'_> {
    type Value = Option<u32>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a class number from 0 to 4294967295, or a row of numbers")
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> std::result::Result<Option<u32>, E> {
        let class = u32::try_from(value);
        class.map(Some).map_err(|_| E::invalid_value(serde::de::Unexpected::Unsigned(value), &self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> std::result::Result<Option<u32>, A::Error> {
        let before = self.0.values.len();
        while let Some(value) = access.next_element()? {
            push(&mut self.0.values, value)?;
        }
        self.0.add(self.0.values.len() - before);
        Ok(None)
    }
}

/// A problem file, not yet checked.
#[derive(Deserialize)]
pub(super) struct RawFile {
    pub name: Option<String>,
    pub network: RawNetwork,
    pub loss: Loss,
    pub parameters: Numbers,
    pub inputs: Rows,
    pub targets: RawTargets,
    pub direction: Option<Numbers>,
    #[serde(default)]
    pub transformations: Vec<Transformation>,
}

/// A problem file to write.
#[derive(Serialize)]
pub(super) struct FileOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: &'a Option<String>,
    pub network: &'a Network,
    pub loss: Loss,
    pub parameters: &'a [f64],
    pub inputs: RowsOut<'a>,
    pub targets: RowsOut<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: &'a Option<Vec<f64>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub transformations: &'a [Transformation],
}

/// Rows of this width, or a number a sample.
pub(super) enum RowsOut<'a> {
    F32(&'a [f32], usize),
    F64(&'a [f64], usize),
    Classes(&'a [u32]),
}

impl Serialize for RowsOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        struct Wide<'a>(&'a [f32]);
        impl Serialize for Wide<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.collect_seq(self.0.iter().map(|&value| f64::from(value)))
            }
        }
        match *self {
            Self::F32(values, width) => serializer.collect_seq(values.chunks(width).map(Wide)),
            Self::F64(values, width) => serializer.collect_seq(values.chunks(width)),
            Self::Classes(labels) => {
                let mut list = serializer.serialize_seq(Some(labels.len()))?;
                labels.iter().try_for_each(|label| list.serialize_element(label))?;
                list.end()
            }
        }
    }
}
