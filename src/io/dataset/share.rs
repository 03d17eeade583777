//! Some of the samples of files of which the others are never read.

use std::ops::Range;
use std::rc::Rc;

use super::gather::{Entry, Shaped, named};
use super::{DataOptions, Dataset, Part, check, choose, taken};
use crate::error::{Result, ensure};
use crate::io::Sliced;
use crate::io::sliced::Rows;
use crate::io::source::Source;

/// Some samples of a data set.
#[derive(Debug, Clone, PartialEq)]
pub struct DatasetShare {
    /// Those that are here.
    pub data: Dataset,
    /// Which they are.
    pub held: Range<usize>,
    /// How many there are in all.
    pub samples: usize,
}

impl DatasetShare {
    /// What was made of the files, but for their samples. Others who have other samples have made the same of them where it is the same
    /// there, and otherwise somebody has to see them all to know what they are.
    pub fn reading(&self) -> String {
        use crate::problem::{Targets, Values};
        let Dataset { shape, inputs, targets, classes, normalization, available, notes } = &self.data;
        let is_wide = matches!(inputs, Values::F64(_));
        let are_classes = targets.as_ref().map(|targets| matches!(targets, Targets::Classes(_)));
        format!("{shape:?} {is_wide} {are_classes:?} {classes:?} {normalization:?} {available} {notes:?}")
    }
}

/// An array that is still in its file.
struct Located {
    rows: Rows,
    source: Rc<dyn Source>,
}

impl Shaped for Located {
    fn shape(&self) -> &[usize] {
        &self.rows.shape
    }
}

/// Opens some samples of what [`super::open`] would make of these files: those that `share` says, who is told how many there are. Of what
/// is deflated, all before them is unfolded too, and forgotten.
///
/// # Errors
/// As [`super::open`], with the numbers that samples have in the whole; those of `share`; `InvalidOption` for what are no samples.
pub fn open_share(
    files: &[Sliced],
    options: &DataOptions,
    share: impl FnOnce(usize) -> Result<Range<usize>>,
) -> Result<DatasetShare> {
    check(options)?;
    let (mut entries, mut notes) = (Vec::new(), Vec::new());
    for file in files {
        notes.extend(file.found.notes.iter().cloned());
        for (name, rows) in &file.found.arrays {
            let array = Located { rows: rows.clone(), source: file.source.clone() };
            entries.push(Entry::new(file.name(), name.clone(), array, &file.found.classes));
        }
    }
    let picked = choose::pick(entries, options, &mut notes)?;
    let available: usize = picked.inputs.iter().map(Entry::rows).sum();
    let samples = available.min(options.samples.unwrap_or(usize::MAX));
    ensure!(samples > 0, InvalidProblem, "the data have no samples");
    let held = share(samples)?;
    ensure!(
        !held.is_empty() && held.end <= samples,
        InvalidOption,
        "samples {} to {} are none of {samples}",
        held.start,
        held.end
    );
    let read = |entries: Vec<Entry<Located>>| -> Result<Vec<Entry>> {
        let mut before = 0;
        let own = |entry: Entry<Located>| {
            let (begin, file) = (before, entry.file.clone());
            before += entry.rows();
            let own = held.start.clamp(begin, before) - begin..held.end.clamp(begin, before) - begin;
            entry.map(|array| array.rows.read(&*array.source, &own)).map_err(|error| named(error, &file))
        };
        entries.into_iter().map(own).collect()
    };
    let picked =
        choose::Picked { inputs: read(picked.inputs)?, targets: read(picked.targets)?, classes: picked.classes };
    let part = Part { first: held.start, all: samples, available };
    Ok(DatasetShare { data: taken(picked.joined()?, options, part, notes)?, held, samples })
}
