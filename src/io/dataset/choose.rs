//! Which arrays are the inputs and which the targets: by what was asked for, by names, or by shapes.

use std::collections::BTreeSet;

use super::DataOptions;
use super::gather::{Entry, Shaped};
use super::names::{Role, Split, natural};
use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::io::array::count;
use crate::io::{Array, Elements};
use crate::memory::make_room;

/// Inputs and targets of all samples.
#[derive(Debug)]
pub(super) struct Chosen {
    pub inputs: Array,
    pub targets: Option<Array>,
    pub classes: Vec<String>,
}

/// How to say it.
const HOW: &str = "say which are which by the options inputs and targets";

/// The split that is taken, of those that there are: the one that was asked for, or else the test's, or what else is not trained on.
///
/// # Errors
/// `InvalidOption` for one that there is not.
pub(super) fn split(
    found: impl Iterator<Item = Option<Split>>,
    options: &DataOptions,
    notes: &mut Vec<String>,
) -> Result<Option<Split>> {
    let found: BTreeSet<Split> = found.flatten().collect();
    let names: Vec<&str> = found.iter().map(|split| split.name()).collect();
    let names = names.join(", ");
    if let Some(asked) = &options.split {
        let all = [Split::Test, Split::Validation, Split::Train];
        let Some(split) = all.into_iter().find(|split| split.name() == asked) else {
            bail!(InvalidOption, "no split is named \"{asked}\"; there are test, validation and train");
        };
        ensure!(
            found.is_empty() || found.contains(&split),
            InvalidOption,
            "there are no {asked} data: by their names the files are of {names}"
        );
        if found.is_empty() {
            notes.push(format!("No name says which data are of {asked}: all are taken."));
            return Ok(None);
        }
        return Ok(Some(split));
    }
    let first = found.first().copied();
    if let Some(first) = first.filter(|_| found.len() > 1) {
        notes.push(format!(
            "There are data of {names}: those of {} are taken; the option split says which.",
            first.name()
        ));
    }
    Ok(first)
}

/// What was picked, an array of each file, in the order in which they are one data set.
#[derive(Debug)]
pub(super) struct Picked<A> {
    pub inputs: Vec<Entry<A>>,
    pub targets: Vec<Entry<A>>,
    pub classes: Vec<String>,
}

/// Chooses among arrays.
///
/// # Errors
/// As [`pick`]; `InvalidProblem` for arrays that do not fit behind each other.
pub(super) fn choose(entries: Vec<Entry>, options: &DataOptions, notes: &mut Vec<String>) -> Result<Chosen> {
    pick(entries, options, notes)?.joined()
}

impl Picked<Array> {
    /// One array of each.
    ///
    /// # Errors
    /// `InvalidProblem` for arrays that do not fit behind each other; `TooLarge`.
    pub fn joined(self) -> Result<Chosen> {
        let Self { inputs, targets, classes } = self;
        let targets = if targets.is_empty() { None } else { Some(joined(targets)?) };
        Ok(Chosen { inputs: joined(inputs)?, targets, classes })
    }
}

/// Picks among arrays, by what is said of them.
///
/// # Errors
/// `InvalidOption` where it is not clear which they are, with all names and shapes; `InvalidProblem` for counts that differ.
pub(super) fn pick<A: Shaped>(
    mut entries: Vec<Entry<A>>,
    options: &DataOptions,
    notes: &mut Vec<String>,
) -> Result<Picked<A>> {
    // An array that is asked for by its name says the split too.
    let is_asked =
        |entry: &&Entry<A>| [&options.inputs, &options.targets].into_iter().flatten().any(|name| entry.is_called(name));
    let asked: Vec<Option<Split>> = entries.iter().filter(is_asked).map(|entry| entry.split).collect();
    let all: Vec<Option<Split>> = entries.iter().map(|entry| entry.split).collect();
    let split = split(if asked.is_empty() { all } else { asked }.into_iter(), options, notes)?;
    entries.retain(|entry| entry.split.is_none() || entry.split == split);
    // Scalars and the like are no data.
    entries.retain(|entry| !entry.array.shape().is_empty());
    let listed = listed(&entries);
    ensure!(!entries.is_empty(), InvalidOption, "there are no arrays in these files");
    let mut inputs = of_role(&entries, Role::Inputs, options.inputs.as_deref(), split)?;
    let mut targets = of_role(&entries, Role::Targets, options.targets.as_deref(), split)?;
    if inputs.is_empty() {
        inputs = vec![largest(&entries, &targets, &listed)?];
    }
    if targets.is_empty() && inputs.len() == 1 {
        targets = as_many(&entries, inputs[0], &listed)?;
        if targets.is_empty() && entries.len() > 1 {
            notes.push(format!("There are no targets: no other array has as many rows as the inputs ({listed})."));
        }
    }
    if let Some(both) = inputs.iter().find(|i| targets.contains(i)) {
        bail!(InvalidOption, "{} cannot be both inputs and targets", entries[*both].said());
    }
    for (what, list) in [("inputs", &mut inputs), ("targets", &mut targets)] {
        let files: BTreeSet<&str> = list.iter().map(|&i| entries[i].file.as_str()).collect();
        ensure!(files.len() == list.len(), InvalidOption, "several arrays could be the {what} ({listed}): {HOW}");
        list.sort_by(|&a, &b| natural(&entries[a].file, &entries[b].file));
    }
    ensure_pairs(&entries, &inputs, &targets)?;
    if inputs.len() > 1 {
        let names: Vec<&str> = inputs.iter().map(|&i| entries[i].file.as_str()).collect();
        notes.push(format!("{} files are one data set, in this order: {}.", inputs.len(), super::listed(&names)));
    }
    notes.extend(unused(&entries, &inputs, &targets, split));
    ensure_columns(&entries, &inputs)?;
    let classes = classes(&entries, &targets)?;
    let mut entries: Vec<Option<Entry<A>>> = entries.into_iter().map(Some).collect();
    let mut take = |list: Vec<usize>| -> Vec<Entry<A>> { list.into_iter().filter_map(|i| entries[i].take()).collect() };
    Ok(Picked { inputs: take(inputs), targets: take(targets), classes })
}

/// Files of which nothing is taken, and why.
fn unused<A>(entries: &[Entry<A>], inputs: &[usize], targets: &[usize], split: Option<Split>) -> Option<String> {
    let used: BTreeSet<&str> = inputs.iter().chain(targets).map(|&i| entries[i].file.as_str()).collect();
    let left: Vec<&Entry<A>> = entries.iter().filter(|entry| !used.contains(entry.file.as_str())).collect();
    let files: BTreeSet<&str> = left.iter().map(|entry| entry.file.as_str()).collect();
    if files.is_empty() {
        return None;
    }
    let files: Vec<&str> = files.into_iter().collect();
    let why = match split {
        Some(split) if left.iter().any(|entry| entry.role.is_some()) => {
            format!("no name says that it is of {}, as those of others do", split.name())
        }
        _ => "neither names nor shapes say that it is inputs or targets".to_owned(),
    };
    Some(format!("Not taken: {} ({why}).", super::listed(&files)))
}

fn listed<A: Shaped>(entries: &[Entry<A>]) -> String {
    super::listed(&entries.iter().map(Entry::said).collect::<Vec<_>>())
}

/// The arrays of a role: those of this name, or those whose names say so. Of the split itself, if it has any.
fn of_role<A: Shaped>(
    entries: &[Entry<A>],
    role: Role,
    asked: Option<&str>,
    split: Option<Split>,
) -> Result<Vec<usize>> {
    let all = entries.iter().enumerate();
    let found: Vec<usize> = match asked {
        Some(name) => {
            let is = |entry: &Entry<A>| entry.is_called(name) || (entry.is_table && entry.role == Some(role));
            let found: Vec<usize> = all.filter(|(_, entry)| is(entry)).map(|(i, _)| i).collect();
            ensure!(!found.is_empty(), InvalidOption, "no array is named {name:?}; there are {}", listed(entries));
            found
        }
        None => all.filter(|(_, entry)| entry.role == Some(role)).map(|(i, _)| i).collect(),
    };
    let own: Vec<usize> = found.iter().copied().filter(|&i| entries[i].split == split).collect();
    Ok(if own.is_empty() { found } else { own })
}

/// The array with the most elements, if there is one.
fn largest<A: Shaped>(entries: &[Entry<A>], targets: &[usize], listed: &str) -> Result<usize> {
    let is_weight = |entry: &Entry<A>| {
        let leaf = entry.name.rsplit(['.', '/']).next().unwrap_or_default();
        ["weight", "bias", "kernel", "running_mean"].contains(&leaf)
    };
    ensure!(
        !entries.iter().any(is_weight),
        InvalidOption,
        "the arrays are named as weights are, and none as data ({listed}): open them as a model, or {HOW}"
    );
    let rows = targets.first().map(|&i| entries[i].rows());
    let candidates = entries.iter().enumerate().filter(|(i, entry)| {
        !targets.contains(i) && entry.role.is_none() && rows.is_none_or(|rows| rows == entry.rows())
    });
    let mut sizes: Vec<(usize, usize)> =
        candidates.map(|(i, entry)| (count(entry.array.shape()).unwrap_or(usize::MAX), i)).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    match sizes[..] {
        [] => Err(Error::new(
            ErrorCode::InvalidOption,
            format!(
                "there are targets, but no inputs among the arrays ({listed}): add the file that has them, or {HOW}"
            ),
        )),
        [(largest, _), (next, _), ..] if largest == next => {
            bail!(InvalidOption, "it is not clear which array is the inputs ({listed}): {HOW}")
        }
        [(_, i), ..] => Ok(i),
    }
}

/// The one array with as many rows as the inputs, if there is one.
fn as_many<A: Shaped>(entries: &[Entry<A>], inputs: usize, listed: &str) -> Result<Vec<usize>> {
    let others = entries.iter().enumerate().filter(|(i, entry)| *i != inputs && entry.role.is_none());
    let found: Vec<usize> =
        others.filter(|(_, entry)| entry.rows() == entries[inputs].rows()).map(|(i, _)| i).collect();
    ensure!(
        found.len() < 2,
        InvalidOption,
        "it is not clear which array is the targets: several have as many rows as the inputs ({listed}): {HOW}"
    );
    Ok(found)
}

/// Fails where inputs and targets are not of as many samples, file by file.
fn ensure_pairs<A: Shaped>(entries: &[Entry<A>], inputs: &[usize], targets: &[usize]) -> Result<()> {
    if targets.is_empty() {
        return Ok(());
    }
    ensure!(
        inputs.len() == targets.len(),
        InvalidProblem,
        "there are {} arrays of inputs, but {} of targets: {}",
        inputs.len(),
        targets.len(),
        listed(entries)
    );
    for (&i, &j) in inputs.iter().zip(targets) {
        let (inputs, targets) = (&entries[i], &entries[j]);
        ensure!(
            inputs.rows() == targets.rows(),
            InvalidProblem,
            "the inputs {} are of {} samples, but the targets {} of {}",
            inputs.said(),
            inputs.rows(),
            targets.said(),
            targets.rows()
        );
    }
    Ok(())
}

/// The names of the classes, which all files must have in common.
fn classes<A>(entries: &[Entry<A>], targets: &[usize]) -> Result<Vec<String>> {
    let Some(first) = targets.first().map(|&i| &entries[i]) else { return Ok(Vec::new()) };
    for &i in targets {
        ensure!(
            entries[i].classes == first.classes,
            InvalidProblem,
            "{} and {} have other classes, so that their numbers do not agree: put them in one file",
            first.file,
            entries[i].file
        );
    }
    Ok(first.classes.clone())
}

/// Fails unless all tables have the same columns in the same order: rows are put together by place.
fn ensure_columns<A>(entries: &[Entry<A>], inputs: &[usize]) -> Result<()> {
    let mut tables = inputs.iter().map(|&i| &entries[i]).filter(|entry| !entry.columns.is_empty());
    let Some(first) = tables.next() else { return Ok(()) };
    // Of other numbers of columns more is said where they are joined.
    for other in tables.filter(|other| other.columns.len() == first.columns.len()) {
        if let Some((one, another)) = first.columns.iter().zip(&other.columns).find(|(one, another)| one != another) {
            bail!(
                InvalidProblem,
                "{} and {} are not one table: where the first has the column {one:?}, the other has {another:?}; give them the \
                 same columns in the same order",
                first.file,
                other.file
            );
        }
    }
    Ok(())
}

/// One array of all rows of several.
fn joined(entries: Vec<Entry>) -> Result<Array> {
    let mut entries = entries.into_iter();
    let Some(first) = entries.next() else { bail!(InvalidProblem, "there are no arrays to join") };
    let (mut rows, axes) = (first.rows(), first.array.shape().get(1..).unwrap_or_default().to_vec());
    let (said, mut all) = (format!("{}: {}", first.file, first.said()), first.array.into_elements());
    for entry in entries {
        ensure!(
            entry.array.shape().get(1..) == Some(&axes[..]),
            InvalidProblem,
            "{said} and {}: {} have samples of other shapes, so they are not one data set",
            entry.file,
            entry.said()
        );
        rows += entry.rows();
        let (kind, said_too) = (all.kind(), format!("{}: {}", entry.file, entry.said()));
        let is_same = append(&mut all, entry.array.into_elements())?;
        ensure!(is_same, InvalidProblem, "{said} is of {kind}, but {said_too} of others, so they are not one data set");
    }
    Array::new([&[rows], &axes[..]].concat(), all)
}

/// Puts numbers behind others of their kind; false for those of another.
fn append(all: &mut Elements, more: Elements) -> Result<bool> {
    fn put<T: Copy>(all: &mut Vec<T>, more: &[T]) -> Result<bool> {
        make_room("the data of several files", all, more.len())?;
        all.extend_from_slice(more);
        Ok(true)
    }
    match (all, more) {
        (Elements::U8(all), Elements::U8(more)) => put(all, &more),
        (Elements::I64(all), Elements::I64(more)) => put(all, &more),
        (Elements::F32(all), Elements::F32(more)) => put(all, &more),
        (Elements::F64(all), Elements::F64(more)) => put(all, &more),
        _ => Ok(false),
    }
}
