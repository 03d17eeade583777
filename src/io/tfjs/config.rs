//! A layer's configuration: values by their keys, and what is said where one is not what it must be.

use serde_json::{Map, Value};

use crate::error::{Error, ErrorCode, Result, bail, ensure};

/// Axes that a shape may have: TensorFlow.js computes with six.
pub(super) const MOST_AXES: usize = 8;

/// The configuration of one layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Config<'a, 'w> {
    map: Option<&'a Map<String, Value>>,
    /// What messages call the layer.
    pub what: &'w str,
}

impl<'a, 'w> Config<'a, 'w> {
    /// Of a layer; one without a configuration has the default values.
    pub fn new(value: Option<&'a Value>, what: &'w str) -> Self {
        Self { map: value.and_then(Value::as_object), what }
    }

    /// The value of a key, where there is one other than null.
    pub fn get(&self, key: &str) -> Option<&'a Value> {
        self.map?.get(key).filter(|value| !value.is_null())
    }

    fn fault<T>(&self, key: &str, must: &str, found: Option<&Value>) -> Result<T> {
        match found {
            None => bail!(Parse, "{} has no {key}", self.what),
            Some(found) => {
                let found: String = found.to_string().chars().take(80).collect();
                bail!(Parse, "{}: {key} must be {must}, not {found}", self.what)
            }
        }
    }

    /// A whole number; none where the key is absent.
    pub fn size(&self, key: &str) -> Result<Option<usize>> {
        let value = self.get(key);
        match value.map(size) {
            None => Ok(None),
            Some(Some(found)) => Ok(Some(found)),
            Some(None) => self.fault(key, "a whole number of at least 0", value),
        }
    }

    /// A whole number that must be there.
    pub fn needed(&self, key: &str) -> Result<usize> {
        match self.size(key)? {
            Some(found) => Ok(found),
            None => self.fault(key, "a whole number", None),
        }
    }

    /// `[height, width]`, or a number for both; none where the key is absent.
    pub fn pair(&self, key: &str) -> Result<Option<[usize; 2]>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let found = match items(value).as_deref() {
            Some([height, width]) => size(height).zip(size(width)),
            Some([both]) => size(both).map(|n| (n, n)),
            Some(_) => None,
            None => size(value).map(|n| (n, n)),
        };
        match found {
            Some((height, width)) => Ok(Some([height, width])),
            None => self.fault(key, "a whole number, or two: [height, width]", Some(value)),
        }
    }

    /// An axis, where 0 counts samples and −1 is the last; none where the key is absent.
    pub fn axis(&self, key: &str) -> Result<Option<i64>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let found = match items(value).as_deref() {
            Some([one]) => one.as_i64(),
            _ => value.as_i64(),
        };
        found.map_or_else(|| self.fault(key, "the number of one axis", Some(value)), |axis| Ok(Some(axis)))
    }

    /// A number, or what it is where the key is absent.
    pub fn number(&self, key: &str, default: f64) -> Result<f64> {
        match self.get(key) {
            None => Ok(default),
            Some(value) => value.as_f64().map_or_else(|| self.fault(key, "a number", Some(value)), Ok),
        }
    }

    /// Yes or no, or what it is where the key is absent.
    pub fn flag(&self, key: &str, default: bool) -> Result<bool> {
        match self.get(key) {
            None => Ok(default),
            Some(value) => value.as_bool().map_or_else(|| self.fault(key, "true or false", Some(value)), Ok),
        }
    }

    /// A word, or what it is where the key is absent.
    pub fn text(&self, key: &str, default: &'a str) -> Result<&'a str> {
        match self.get(key) {
            None => Ok(default),
            Some(value) => value.as_str().map_or_else(|| self.fault(key, "a text", Some(value)), Ok),
        }
    }

    /// A list, or what it is where the key is absent.
    pub fn list(&self, key: &str) -> Result<Vec<&'a Value>> {
        match self.get(key) {
            None => Ok(Vec::new()),
            Some(value) => items(value).map_or_else(|| self.fault(key, "an array", Some(value)), Ok),
        }
    }
}

/// A whole number, where a value is one.
pub(super) fn size(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|n| usize::try_from(n).ok())
}

/// The items of an array, or of a tuple of Keras 3.
pub(super) fn items(value: &Value) -> Option<Vec<&Value>> {
    let tuple = || {
        let object = value.as_object().filter(|object| object.get("class_name").is_some_and(|c| c == "__tuple__"))?;
        object.get("items").or_else(|| object.get("config"))?.as_array()
    };
    Some(value.as_array().or_else(tuple)?.iter().collect())
}

/// The shape of one input, without the axis of samples.
///
/// # Errors
/// `Parse` where it is no shape; `InvalidNetwork` where a length is left open.
pub(super) fn input_shape(what: &str, value: &Value) -> Result<Vec<usize>> {
    let fault = || {
        Error::new(ErrorCode::Parse, format!("{what}: the shape of a batch of inputs must be an array, not {value}"))
    };
    let items = items(value).ok_or_else(fault)?;
    let (_, sizes) = items.split_first().ok_or_else(fault)?;
    ensure!(
        sizes.len() <= MOST_AXES,
        TooLarge,
        "{what}: inputs have {} axes, but {MOST_AXES} at most are read",
        sizes.len()
    );
    let sizes = sizes.iter().map(|value| match value {
        Value::Null => bail!(
            InvalidNetwork,
            "{what}: the inputs' shape leaves a length open, but isoflat's networks are of one size: build the model with a fixed \
             input shape"
        ),
        value => size(value).ok_or_else(fault),
    });
    sizes.collect()
}
