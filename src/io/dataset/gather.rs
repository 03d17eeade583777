//! The arrays that all files have together, with what their names say.

use super::names::{Role, Split, role, split};
use crate::error::{Error, Result, bail, ensure};
use crate::io::array::Labelled;
use crate::io::format::{Content, Together};
use crate::io::{Array, Arrays, Elements, File, cifar, csv, gzip, images};
use crate::memory::{collected, copied};
use crate::problem::{ProblemFile, Targets, Values};

use super::DataOptions;

/// What has a shape: an array, or what is known of one that is still in its file.
pub(super) trait Shaped {
    /// Lengths of the axes.
    fn shape(&self) -> &[usize];
}

impl Shaped for Array {
    fn shape(&self) -> &[usize] {
        self.shape()
    }
}

/// An array and where it is from.
#[derive(Debug, Clone)]
pub(super) struct Entry<A = Array> {
    /// The array's name, empty where it has none.
    pub name: String,
    /// The file's.
    pub file: String,
    pub role: Option<Role>,
    pub split: Option<Split>,
    /// Of a table, which took its columns by the options' names already?
    pub is_table: bool,
    pub array: A,
    /// Of targets whose file has names of the classes.
    pub classes: Vec<String>,
    /// The columns' names, of a table's inputs.
    pub columns: Vec<String>,
}

impl<A> Entry<A> {
    /// An array of a file, which has names of classes perhaps.
    pub fn new(file: &str, name: String, array: A, classes: &[String]) -> Self {
        let own = if name.is_empty() { stem(base(file)) } else { &name };
        let role = role(own);
        Self {
            role,
            split: split(own).or_else(|| split_of(file)),
            classes: if role == Some(Role::Targets) { classes.to_vec() } else { Vec::new() },
            file: file.into(),
            is_table: false,
            columns: Vec::new(),
            name,
            array,
        }
    }

    /// The same with another array in its place.
    ///
    /// # Errors
    /// Those of `of`.
    pub fn map<B>(self, of: impl FnOnce(A) -> Result<B>) -> Result<Entry<B>> {
        let Self { name, file, role, split, is_table, array, classes, columns } = self;
        Ok(Entry { name, file, role, split, is_table, array: of(array)?, classes, columns })
    }

    /// Is this what somebody means by a name? The array's, or, where it has none, the file's, with its end or without.
    pub fn is_called(&self, name: &str) -> bool {
        if !self.name.is_empty() {
            return self.name == name;
        }
        let base = base(&self.file);
        [self.file.as_str(), base, stem(base)].contains(&name)
    }
}

impl<A: Shaped> Entry<A> {
    /// Samples.
    pub fn rows(&self) -> usize {
        self.array.shape().first().copied().unwrap_or(1)
    }

    /// Name and shape, for messages.
    pub fn said(&self) -> String {
        let name = if self.name.is_empty() { &self.file } else { &self.name };
        format!("{name} {:?}", self.array.shape())
    }
}

/// A file's name without folders.
fn base(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

/// A name without its end.
fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Which split a file is of, by its name or else by its folders'.
fn split_of(path: &str) -> Option<Split> {
    path.rsplit(['/', '\\']).find_map(split)
}

/// All arrays of all files, without pictures: these come later, when the split is known.
///
/// # Errors
/// What the readers say; `InvalidOption` for a model.
pub(super) fn gather(files: &[File], options: &DataOptions, notes: &mut Vec<String>) -> Result<Vec<Entry>> {
    let (mut entries, together) = (Vec::new(), Together::new(files));
    for file in files {
        let found = read(file, &together, options).map_err(|error| named(error, &file.name))?;
        notes.extend(found.arrays.notes);
        for (name, array) in found.arrays.arrays {
            let columns = if name == "inputs" { found.columns.clone() } else { Vec::new() };
            let entry = Entry::new(&file.name, name, array, &found.classes);
            entries.push(Entry { is_table: csv::is(file), columns, ..entry });
        }
    }
    Ok(entries)
}

/// With the file's name before it, once.
pub(super) fn named(error: Error, file: &str) -> Error {
    if error.message.starts_with(file) {
        return error;
    }
    Error::new(error.code, format!("{file}: {}", error.message))
}

fn read(file: &File, together: &Together, options: &DataOptions) -> Result<Labelled> {
    if csv::is(file) {
        let columns = csv::Columns { inputs: options.inputs.as_deref(), targets: options.targets.as_deref() };
        return csv::read(&file.bytes, &columns);
    }
    let of = |arrays: Arrays| Labelled { arrays, classes: Vec::new(), columns: Vec::new() };
    match together.read(file)? {
        (_, Content::Arrays(arrays)) if cifar::is_cifar_10(file) => {
            let classes = cifar::CLASSES.map(str::to_owned).to_vec();
            Ok(Labelled { classes, ..of(arrays) })
        }
        (_, Content::Arrays(arrays)) => Ok(of(arrays)),
        (_, Content::Problem(problem)) => of_problem(&problem).map(of),
        (_, Content::Part) => Ok(of(Arrays::default())),
        (format, Content::Graph(_) | Content::Network(_)) => {
            bail!(InvalidOption, "this is a model ({format}), not data: open it as a model")
        }
    }
}

/// The data of a problem of isoflat's own.
fn of_problem(file: &ProblemFile) -> Result<Arrays> {
    const WHAT: &str = "a problem's data";
    let problem = &file.problem;
    let elements = match problem.inputs() {
        Values::F32(v) => Elements::F32(copied(WHAT, v)?),
        Values::F64(v) => Elements::F64(copied(WHAT, v)?),
    };
    let shape = [&[problem.samples()], problem.network().input()].concat();
    let targets = match problem.targets() {
        Targets::Classes(v) => {
            Array::new(vec![v.len()], Elements::I64(collected(WHAT, v.iter().map(|&class| i64::from(class)))?))?
        }
        Targets::Vectors(v) => {
            Array::new(vec![problem.samples(), problem.network().output_len()], Elements::F64(copied(WHAT, v)?))?
        }
    };
    let arrays = vec![("inputs".into(), Array::new(shape, elements)?), ("targets".into(), targets)];
    Ok(Arrays { arrays, ..Arrays::default() })
}

/// The files themselves: what is folded up is unfolded, and what systems put beside files is left out.
///
/// # Errors
/// What [`gzip::unfolded`] says.
pub(super) fn unfolded<'a>(files: &'a [File<'a>]) -> Result<Vec<File<'a>>> {
    let is_seen = |file: &&File| {
        let base = file.base();
        !base.starts_with('.') && !["thumbs.db", "desktop.ini"].contains(&base.to_ascii_lowercase().as_str())
    };
    let unfold = |file: &'a File<'a>| match gzip::is(file) {
        true => gzip::unfolded(file).map_err(|error| named(error, &file.name)),
        false => Ok(File::new(file.name.clone(), &file.bytes[..])),
    };
    let found = files.iter().filter(is_seen).map(unfold).collect::<Result<Vec<_>>>()?;
    ensure!(!found.is_empty(), InvalidOption, "no file was given");
    Ok(found)
}

/// Pictures of files, if all files are pictures or archives of them.
///
/// # Errors
/// `InvalidOption` where other files are among them; what [`images::read`] says.
pub(super) fn of_pictures(files: &[File], options: &DataOptions, notes: &mut Vec<String>) -> Result<Option<Labelled>> {
    let is = |file: &File| images::is_picture(file) || images::is_archive(file);
    if !files.iter().any(is) {
        return Ok(None);
    }
    if let Some(other) = files.iter().find(|file| !is(file)) {
        bail!(
            InvalidOption,
            "{} is no PNG or JPEG image, while other files are: the folders say the images' classes, so open the images alone",
            other.name
        );
    }
    let pictures = images::pictures(files.iter().collect(), notes)?;
    let classes = images::classes(&pictures);
    // A picture's own name and class say nothing of splits: what is above them does.
    let above = |path: &str| path.rsplit(['/', '\\']).skip(2).find_map(split);
    let splits: Vec<Option<Split>> = pictures.iter().map(|file| above(&file.name)).collect();
    let chosen = super::choose::split(splits.iter().copied(), options, notes)?;
    let of_split = |found: &Option<Split>| chosen.is_none() || found.is_none() || *found == chosen;
    let taken: Vec<&File> =
        pictures.iter().zip(&splits).filter(|(_, split)| of_split(split)).map(|(file, _)| file).collect();
    images::read(&taken, &classes, options.samples, images::most_values(files.iter())).map(Some)
}
