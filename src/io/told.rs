//! What other programs say that their files hold, for the tests of what reads them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Number;

use super::{Arrays, Elements};

/// An array as JSON has it; true and false are one and zero.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Told {
    shape: Vec<usize>,
    values: Vec<Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Value {
    Bool(bool),
    Number(Number),
}

pub(super) type File = BTreeMap<String, Told>;

/// The arrays of several files.
pub(super) fn files(json: &str) -> BTreeMap<String, File> {
    serde_json::from_str(json).expect("files with arrays")
}

/// Fails unless the arrays are those, to the last bit.
pub(super) fn compare(found: &Arrays, expected: File) {
    assert_eq!(found.arrays.len(), expected.len(), "{}", found.listed());
    for (name, told) in expected {
        let array = found.get(&name).unwrap_or_else(|| panic!("no {name} among {}", found.listed()));
        assert_eq!(array.shape(), told.shape, "{name}");
        let integers = || {
            told.values.iter().map(|value| match value {
                Value::Bool(value) => i64::from(*value),
                Value::Number(value) => value.as_i64().expect("a whole number"),
            })
        };
        let floats = || {
            told.values.iter().map(|value| match value {
                Value::Number(value) => value.as_f64().expect("a number"),
                Value::Bool(_) => panic!("no number"),
            })
        };
        match array.elements() {
            Elements::U8(values) => assert!(values.iter().map(|&x| i64::from(x)).eq(integers()), "{name}"),
            Elements::I64(values) => assert!(values.iter().copied().eq(integers()), "{name}"),
            Elements::F32(values) => {
                assert!(values.iter().map(|&x| f64::from(x).to_bits()).eq(floats().map(f64::to_bits)), "{name}")
            }
            Elements::F64(values) => {
                assert!(values.iter().map(|x| x.to_bits()).eq(floats().map(f64::to_bits)), "{name}")
            }
        }
    }
}
