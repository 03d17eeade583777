//! `weightsManifest`: groups of shards, put together in order, and the weights in them one after the other.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;

use super::super::File;
use super::super::array::count;
use super::config::{Config, items, size};
use crate::error::{Error, ErrorCode, Result, bail, ensure, some_of};
use crate::memory::{collected, room};

/// All weights of a model.
pub(super) struct Weights<'a> {
    entries: Vec<Entry<'a>>,
    /// The bytes of each group.
    groups: Vec<Cow<'a, [u8]>>,
    /// By name.
    names: HashMap<&'a str, usize>,
    /// By the last two parts of the name, which Keras 3 puts the model's before; none where several have the same.
    ends: HashMap<&'a str, Option<usize>>,
}

struct Entry<'a> {
    name: &'a str,
    shape: Vec<usize>,
    format: Number,
    group: usize,
    range: Range<usize>,
    /// Has a layer taken it?
    is_taken: bool,
    /// Is it the optimizer's?
    is_optimizer: bool,
}

/// How a number is stored.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Number {
    F32,
    F16,
    I32,
    U8,
    /// value · scale + min, of one byte or two, rounded where the weight is of whole numbers.
    Affine {
        bytes: usize,
        scale: f64,
        min: f64,
        is_whole: bool,
    },
}

/// A weight that a layer takes.
pub(super) struct Taken {
    /// Its name in the manifest.
    pub name: String,
    /// Its numbers, in its own order.
    pub values: Vec<f64>,
    /// Are they the numbers of the file, not quantised?
    pub is_exact: bool,
}

impl<'a> Weights<'a> {
    /// Those that a model's manifest lists, in the shards among the files.
    ///
    /// # Errors
    /// `Parse` for a shard that is missing, or sizes that do not fit.
    pub fn new(json: &'a Value, model: &File, files: &'a [File]) -> Result<Self> {
        let mut shards = shards(json, model, files)?.into_iter();
        let mut found = Self { entries: Vec::new(), groups: Vec::new(), names: HashMap::new(), ends: HashMap::new() };
        for (g, group) in groups(json)?.into_iter().enumerate() {
            let own = shards.by_ref().take(paths(group)?.len());
            let parts: Vec<&'a [u8]> = own.filter_map(|i| files.get(i)).map(|file| &file.bytes[..]).collect();
            let bytes = match parts[..] {
                [one] => Cow::Borrowed(one),
                _ => {
                    let mut all = room("the shards of weights", parts.iter().map(|part| part.len()).sum())?;
                    parts.iter().for_each(|part| all.extend_from_slice(part));
                    Cow::Owned(all)
                }
            };
            found.add(g, group, bytes)?;
        }
        for (i, entry) in found.entries.iter().enumerate() {
            let is_new = found.names.insert(entry.name, i).is_none();
            ensure!(is_new, Parse, "the weightsManifest has two weights of the name \"{}\"", entry.name);
            found.ends.entry(end(entry.name)).and_modify(|known| *known = None).or_insert(Some(i));
        }
        Ok(found)
    }

    /// The weights of one group.
    fn add(&mut self, g: usize, group: &'a Value, bytes: Cow<'a, [u8]>) -> Result<()> {
        let what = format!("weightsManifest[{g}]");
        let mut at = 0usize;
        for entry in Config::new(Some(group), &what).list("weights")? {
            let name = entry.get("name").and_then(Value::as_str).unwrap_or_default();
            let name = name.strip_suffix(":0").unwrap_or(name);
            let what = format!("the weight \"{name}\" of {what}");
            let shape = entry.get("shape").and_then(items);
            let shape: Option<Vec<usize>> = shape.and_then(|sizes| sizes.into_iter().map(size).collect());
            let Some(shape) = shape else { bail!(Parse, "{what} has no shape") };
            let format = Number::of(Config::new(Some(entry), &what))?;
            let end = count(&shape).and_then(|n| n.checked_mul(format.bytes())).and_then(|n| at.checked_add(n));
            let Some(end) = end.filter(|&end| end <= bytes.len()) else {
                bail!(
                    Parse,
                    "{what}, of shape {shape:?}, begins at byte {at} and goes beyond the {} bytes of its shards: they are cut off, \
                     or not this model's",
                    bytes.len()
                )
            };
            let is_optimizer = entry.get("group").is_some_and(|group| group == "optimizer");
            self.entries.push(Entry { name, shape, format, group: g, range: at..end, is_taken: false, is_optimizer });
            at = end;
        }
        ensure!(
            at == bytes.len(),
            Parse,
            "the shards of {what} have {} bytes, but its weights take {at}: they are not this model's",
            bytes.len()
        );
        self.groups.push(bytes);
        Ok(())
    }

    /// Takes a layer's weight, which must have this shape. `leaves` are the names that it may have.
    ///
    /// # Errors
    /// `Parse` where it is not there; `InvalidNetwork` for another shape, or a weight that another layer has taken.
    pub fn take(&mut self, what: &str, layer: &str, leaves: &[&str], shape: &[usize]) -> Result<Taken> {
        let known = leaves.iter().find_map(|leaf| {
            let name = format!("{layer}/{leaf}");
            self.names.get(&name[..]).copied().or_else(|| self.ends.get(end(&name)).copied().flatten())
        });
        let Some((entry, bytes)) = known.and_then(|i| {
            let entry = self.entries.get_mut(i)?;
            let bytes = self.groups.get(entry.group)?.get(entry.range.clone())?;
            Some((entry, bytes))
        }) else {
            let leaf = leaves.first().copied().unwrap_or_default();
            bail!(Parse, "{what}: the weightsManifest has no weight \"{layer}/{leaf}\": {}", self.listed())
        };
        ensure!(
            entry.shape == shape,
            InvalidNetwork,
            "{what}: the weight \"{}\" has shape {:?}, but must have {shape:?}",
            entry.name,
            entry.shape
        );
        ensure!(
            !entry.is_taken,
            InvalidNetwork,
            "{what} is used twice, or shares \"{}\" with another layer: in isoflat each layer has parameters of its own, so that one \
             weight would become two; build the model with a layer for each use",
            entry.name
        );
        entry.is_taken = true;
        let values = entry.format.decoded(bytes)?;
        let is_exact = !matches!(entry.format, Number::Affine { .. } | Number::F16);
        Ok(Taken { name: entry.name.into(), values, is_exact })
    }

    /// Has a layer this weight?
    pub fn shape(&self, layer: &str, leaf: &str) -> Option<&[usize]> {
        let name = format!("{layer}/{leaf}");
        let i = self.names.get(&name[..]).copied().or_else(|| self.ends.get(end(&name)).copied().flatten())?;
        self.entries.get(i).map(|entry| &entry.shape[..])
    }

    fn listed(&self) -> String {
        match named(self.entries.iter()) {
            None => "it has none".into(),
            Some(names) => format!("it has {names}"),
        }
    }

    /// What is to be said of them when all layers have taken theirs.
    pub fn notes(&self) -> Vec<String> {
        let mut found = Vec::new();
        let quantised = |entry: &&Entry| matches!(entry.format, Number::Affine { .. } | Number::F16);
        let count = self.entries.iter().filter(quantised).count();
        if count > 0 {
            found.push(format!(
                "{count} of {} weights were quantised, and are as they were rounded",
                self.entries.len()
            ));
        }
        if let Some(names) = named(self.entries.iter().filter(|entry| !entry.is_taken && !entry.is_optimizer)) {
            found.push(format!("weights that no layer takes are left out: {names}"));
        }
        if self.entries.iter().any(|entry| entry.is_optimizer) {
            found.push("the optimizer's weights are left out".into());
        }
        found
    }
}

/// A few names, if there are any.
fn named<'a>(mut entries: impl Iterator<Item = &'a Entry<'a>>) -> Option<String> {
    const MOST: usize = 12;
    let some: Vec<&str> = entries.by_ref().take(MOST).map(|entry| entry.name).collect();
    let count = some.len() + entries.count();
    (!some.is_empty()).then(|| some_of(&some, count))
}

/// The last two parts of a name.
fn end(name: &str) -> &str {
    match name.rmatch_indices('/').nth(1) {
        Some((at, _)) => &name[at + 1..],
        None => name,
    }
}

impl Number {
    fn of(entry: Config) -> Result<Self> {
        let what = entry.what;
        let dtype = entry.text("dtype", "float32")?;
        let Some(quantization) = entry.get("quantization") else {
            return match dtype {
                "float32" => Ok(Self::F32),
                "int32" => Ok(Self::I32),
                "bool" | "uint8" => Ok(Self::U8),
                "float16" => Ok(Self::F16),
                _ => {
                    bail!(Parse, "{what} has dtype {dtype}, but isoflat reads float32, float16, int32, uint8 and bool")
                }
            };
        };
        let quantization = Config::new(Some(quantization), what);
        let is_whole = match dtype {
            "float32" => false,
            "int32" => true,
            _ => bail!(Parse, "{what} is quantised, but has dtype {dtype}: it must be float32 or int32"),
        };
        let [scale, min] = [quantization.number("scale", f64::NAN)?, quantization.number("min", f64::NAN)?];
        match quantization.text("dtype", "none")? {
            "float16" if !is_whole => Ok(Self::F16),
            kind @ ("uint8" | "uint16") => {
                ensure!(
                    scale.is_finite() && min.is_finite(),
                    Parse,
                    "{what} is quantised as {kind}, but has no scale and min that are numbers"
                );
                Ok(Self::Affine { bytes: if kind == "uint8" { 1 } else { 2 }, scale, min, is_whole })
            }
            other => bail!(Parse, "{what} is quantised as {other}, but isoflat reads uint8, uint16 and float16"),
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F16 => 2,
            Self::U8 => 1,
            Self::Affine { bytes, .. } => bytes,
        }
    }

    /// The numbers of little-endian bytes. What is quantised is rounded to single precision, as TensorFlow.js does.
    fn decoded(self, bytes: &[u8]) -> Result<Vec<f64>> {
        const WHAT: &str = "a weight";
        let affine = |q: f64, scale: f64, min: f64, is_whole: bool| {
            let value = q * scale + min;
            // As JavaScript rounds: halves go up.
            if is_whole { (value + 0.5).floor() } else { f64::from(value as f32) }
        };
        let pairs = || bytes.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair));
        let words = || bytes.as_chunks::<4>().0.iter();
        match self {
            Self::F32 => collected(WHAT, words().map(|word| f64::from(f32::from_le_bytes(*word)))),
            Self::I32 => collected(WHAT, words().map(|word| f64::from(i32::from_le_bytes(*word)))),
            Self::F16 => collected(WHAT, pairs().map(|bits| half::f16::from_bits(bits).to_f64())),
            Self::U8 => collected(WHAT, bytes.iter().map(|&byte| f64::from(byte))),
            Self::Affine { bytes: 1, scale, min, is_whole } => {
                collected(WHAT, bytes.iter().map(|&q| affine(f64::from(q), scale, min, is_whole)))
            }
            Self::Affine { scale, min, is_whole, .. } => {
                collected(WHAT, pairs().map(|q| affine(f64::from(q), scale, min, is_whole)))
            }
        }
    }
}

fn groups(json: &Value) -> Result<Vec<&Value>> {
    let Some(groups) = json.get("weightsManifest").and_then(Value::as_array) else {
        bail!(Parse, "there is no weightsManifest: the model was saved without its weights")
    };
    Ok(groups.iter().collect())
}

fn paths(group: &Value) -> Result<Vec<&str>> {
    let paths = group.get("paths").and_then(Value::as_array);
    let paths: Option<Vec<&str>> = paths.and_then(|paths| paths.iter().map(Value::as_str).collect());
    paths.ok_or_else(|| Error::new(ErrorCode::Parse, "a group of the weightsManifest has no paths"))
}

/// Which of the files are the shards that a manifest names, in its order.
///
/// # Errors
/// `Parse` where one is missing, named twice, or could be either of two files.
pub(super) fn shards(json: &Value, model: &File, files: &[File]) -> Result<Vec<usize>> {
    let mut wanted = Vec::new();
    for group in groups(json)? {
        wanted.extend(paths(group)?);
    }
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    let mut by_base: HashMap<&str, Option<usize>> = HashMap::new();
    for (i, file) in files.iter().enumerate() {
        by_name.entry(&file.name).or_insert(i);
        by_base.entry(file.base()).and_modify(|known| *known = None).or_insert(Some(i));
    }
    let folder = &model.name[..model.name.len() - model.base().len()];
    let (mut found, mut missing, mut used) = (Vec::new(), Vec::new(), vec![false; files.len()]);
    for path in wanted {
        let path = path.strip_prefix("./").unwrap_or(path);
        let base = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let beside = format!("{folder}{path}");
        let known = by_name.get(&beside[..]).or_else(|| by_name.get(path)).copied().map(Some);
        match known.or_else(|| by_base.get(base).copied()) {
            None => missing.push(path),
            Some(None) => {
                bail!(Parse, "several of the files could be \"{path}\" of the weightsManifest: open one model's alone")
            }
            Some(Some(i)) => {
                let is_used = used.get_mut(i).is_some_and(|used| std::mem::replace(used, true));
                ensure!(!is_used, Parse, "the weightsManifest names \"{path}\" twice");
                found.push(i);
            }
        }
    }
    ensure!(
        missing.is_empty(),
        Parse,
        "the weights are in {}, which {} not there: open them together with the model's JSON",
        missing.iter().take(8).copied().collect::<Vec<_>>().join(", "),
        if missing.len() == 1 { "is" } else { "are" }
    );
    Ok(found)
}
