//! Data: files become inputs and targets. All files together are one data set: images and labels as two arrays, several batches, or
//! pictures in folders. What the files do not say, the options say; what was assumed, the notes say.
//!
//! Beside what the readers make of the files, an element of an array takes eight bytes at most, and a class that becomes a vector as
//! many numbers as the network has outputs.

mod choose;
mod gather;
mod layout;
mod names;
mod normalization;
mod overview;
mod share;
mod targets;
mod values;

use serde::Deserialize;

pub(super) use self::names::{listed, natural};
pub use self::normalization::Normalization;
pub use self::overview::Overview;
pub use self::share::{DatasetShare, open_share};

use super::array::Labelled;
use super::{Array, Elements, File};
use crate::error::{Result, bail, ensure};
use crate::problem::{Loss, Targets, Values};

/// Data as a problem takes them.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Of one input: `[features]` or `[channels, height, width]`.
    pub shape: Vec<usize>,
    /// Samples × product of the shape, row-major, as the network is to see them.
    pub inputs: Values,
    /// What the outputs are compared with, if the files have it.
    pub targets: Option<Targets>,
    /// The names of the classes, in the order of their numbers; none where the files do not say them.
    pub classes: Vec<String>,
    /// What was done to the files' numbers; nothing, where there is none.
    pub normalization: Option<Normalization>,
    /// How many samples the files have: more, where only the first were asked for.
    pub available: usize,
    /// What was assumed, left out or changed, a sentence each.
    pub notes: Vec<String>,
}

/// What files do not say of data.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DataOptions {
    /// The shape of one input that the network takes: `[features]` or `[channels, height, width]`.
    pub shape: Option<Vec<usize>>,
    /// How many outputs it has.
    pub outputs: Option<usize>,
    /// The loss, which says whether targets are classes or vectors.
    pub loss: Option<Loss>,
    /// Of files of several splits: `test`, which is the default, `validation` or `train`.
    pub split: Option<String>,
    /// The name of the array that is the inputs, or of an array's file; of a table, the columns, apart by commas.
    pub inputs: Option<String>,
    /// The same of the targets.
    pub targets: Option<String>,
    /// So many are taken, the first; of pictures in folders the first of each class in turn.
    pub samples: Option<usize>,
    /// What is done to the inputs. By default bytes, which are pixels, are divided by 255, and nothing is done to other numbers.
    pub normalization: Option<Normalization>,
}

impl Dataset {
    /// Samples.
    pub fn samples(&self) -> usize {
        self.inputs.len() / self.shape.iter().product::<usize>().max(1)
    }

    /// What came in, in a few numbers.
    pub fn overview(&self) -> Overview {
        Overview::of(self)
    }
}

/// Opens data: one file, or several that are one data set.
///
/// # Errors
/// `Parse` for what cannot be read; `InvalidOption` where it is not clear which arrays are meant, with their names and shapes, and for
/// a normalization that does not fit; `InvalidProblem` for data that do not fit the network, the loss or each other; `NotFinite`;
/// `TooLarge`.
pub fn open(files: &[File], options: &DataOptions) -> Result<Dataset> {
    check(options)?;
    let files = gather::unfolded(files)?;
    let mut notes = Vec::new();
    let (mut inputs, mut targets, classes) = match gather::of_pictures(&files, options, &mut notes)? {
        Some(pictures) => parts(pictures, &mut notes)?,
        None => {
            let entries = gather::gather(&files, options, &mut notes)?;
            let chosen = choose::choose(entries, options, &mut notes)?;
            (chosen.inputs, chosen.targets, chosen.classes)
        }
    };
    drop(files);
    let available = inputs.shape().first().copied().unwrap_or(0);
    if let Some(samples) = options.samples {
        inputs = first(inputs, samples)?;
        targets = targets.map(|targets| first(targets, samples)).transpose()?;
    }
    let all = inputs.shape().first().copied().unwrap_or(1);
    let chosen = choose::Chosen { inputs, targets, classes };
    taken(chosen, options, Part { first: 0, all, available }, notes)
}

/// Which of the samples are here.
#[derive(Clone, Copy)]
struct Part {
    /// The number of the first one.
    first: usize,
    /// How many are taken in all.
    all: usize,
    /// How many there are.
    available: usize,
}

/// Inputs and targets as a problem takes them.
fn taken(chosen: choose::Chosen, options: &DataOptions, part: Part, mut notes: Vec<String>) -> Result<Dataset> {
    let Some((_, axes)) = chosen.inputs.shape().split_first() else {
        bail!(InvalidProblem, "the inputs are one number")
    };
    ensure!(part.all > 0, InvalidProblem, "the data have no samples");
    if let Some(asked) = options.samples.filter(|&asked| asked > part.all) {
        notes.push(format!("There are {} samples, not {asked}: all are taken.", part.all));
    }
    let layout = layout::layout(axes, options.shape.as_deref(), &mut notes)?;
    let targets =
        chosen.targets.map(|targets| targets::targets(&targets, options, part.first, &mut notes)).transpose()?;
    let normalization = options.normalization.as_ref();
    let inputs = values::inputs(chosen.inputs.into_elements(), &layout, part, normalization, &mut notes)?;
    Ok(Dataset {
        shape: layout.shape,
        inputs: inputs.values,
        targets,
        classes: chosen.classes,
        normalization: inputs.normalization,
        available: part.available,
        notes,
    })
}

fn check(options: &DataOptions) -> Result<()> {
    if let Some(shape) = &options.shape {
        ensure!(
            matches!(shape.len(), 1 | 3) && !shape.contains(&0),
            InvalidOption,
            "shape is [features] or [channels, height, width], not {shape:?}"
        );
    }
    ensure!(options.samples != Some(0), InvalidOption, "samples must be at least 1");
    ensure!(options.outputs != Some(0), InvalidOption, "outputs must be at least 1");
    Ok(())
}

/// Inputs, targets and classes of what a reader has put under these names itself.
fn parts(found: Labelled, notes: &mut Vec<String>) -> Result<(Array, Option<Array>, Vec<String>)> {
    notes.extend(found.arrays.notes);
    let (mut inputs, mut targets) = (None, None);
    for (name, array) in found.arrays.arrays {
        if name == "inputs" { inputs = Some(array) } else { targets = Some(array) }
    }
    let Some(inputs) = inputs else { bail!(InvalidProblem, "there are no images") };
    Ok((inputs, targets, found.classes))
}

/// The first rows of an array, all where it has fewer.
fn first(array: Array, samples: usize) -> Result<Array> {
    let mut shape = array.shape().to_vec();
    let Some(rows) = shape.first_mut().filter(|rows| **rows > samples) else { return Ok(array) };
    let count = array.elements().len() / *rows * samples;
    *rows = samples;
    let mut elements = array.into_elements();
    match &mut elements {
        Elements::U8(v) => v.truncate(count),
        Elements::I64(v) => v.truncate(count),
        Elements::F32(v) => v.truncate(count),
        Elements::F64(v) => v.truncate(count),
    }
    Array::new(shape, elements)
}

#[cfg(test)]
mod tests;
