//! Tables as text: a line with the columns' names, then a line a sample; fields apart by commas, semicolons, tabs or bars, quoted where they
//! hold such. The text is gone through three times, and what is made of it has at most 16 times its bytes, names of classes among
//! it; of columns there are at most 65,536.

mod column;
mod records;

use std::collections::BTreeSet;

use self::column::{Column, number};
use self::records::{Records, is_table};
use super::array::Labelled;
use super::dataset::listed;
use super::format::{Content, Format};
use super::{Array, Arrays, Elements, File};
use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::memory::{collected, product, room, zeros};

pub(super) const FORMAT: Format =
    Format { name: "CSV", is, read: |file, _| Ok(Content::Arrays(read(&file.bytes, &Columns::default())?.arrays)) };

/// Most columns, and most classes.
const MOST: usize = 1 << 16;

/// What a column of targets is called, the surest name first.
const TARGETS: [&str; 7] = ["target", "targets", "label", "labels", "class", "y", "species"];

/// Which columns are taken, where somebody says so: names, several of them apart by commas.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Columns<'a> {
    pub inputs: Option<&'a str>,
    pub targets: Option<&'a str>,
}

/// Such a file: by its name, or, where that has no end, by its first lines.
pub(super) fn is(file: &File) -> bool {
    if ["csv", "tsv", "tab"].iter().any(|end| file.has_extension(end)) {
        return true;
    }
    let start = file.bytes.get(..file.bytes.len().min(1 << 16)).unwrap_or_default();
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        // It may be cut within a letter.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(start.get(..error.valid_up_to()).unwrap_or_default()).unwrap_or_default()
        }
        Err(_) => return false,
    };
    let is_plain = !text.bytes().any(|byte| byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r'));
    !file.base().contains('.') && is_plain && !text.trim_start().starts_with(['{', '[']) && is_table(text)
}

/// Reads a table: the arrays `inputs` [N, features] and `targets` ([N], or [N, columns] of several), and the names of the classes where
/// these were text.
///
/// # Errors
/// `Parse` for text that is none, lines of other lengths, missing values and text among numbers, with line and column;
/// `InvalidOption` for columns that there are not.
pub(super) fn read(bytes: &[u8], given: &Columns) -> Result<Labelled> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Error::new(ErrorCode::Parse, format!("the table's text is not UTF-8 (at byte {at}): save it as CSV in UTF-8"))
    })?;
    let mut records = Records::new(text);
    let mut columns = header(&mut records)?;
    let rows = survey(records.clone(), &mut columns)?;
    ensure_names(&columns, records.delimiter())?;
    ensure_one_mark(&columns)?;
    let mut notes = Vec::new();
    let targets = targets_of(&columns, given, &mut notes)?;
    let inputs = inputs_of(&columns, given, &targets, &mut notes)?;
    let mut arrays = vec![("inputs".into(), numbers(records.clone(), rows, &inputs, &columns)?)];
    let mut names = Vec::new();
    match targets[..] {
        [] => {}
        [target] if columns[target].text.is_some() => {
            names = classes(records.clone(), target, &mut notes)?;
            arrays.push(("targets".into(), numbers_of(records, rows, target, &names)?));
        }
        [_] => {
            let column = numbers(records, rows, &targets, &columns)?.into_elements();
            arrays.push(("targets".into(), Array::new(vec![rows], column)?));
        }
        _ => arrays.push(("targets".into(), numbers(records, rows, &targets, &columns)?)),
    }
    let columns = collected("the columns' names", inputs.iter().map(|&input| columns[input].name.clone()))?;
    Ok(Labelled { arrays: Arrays { arrays, notes, ..Arrays::default() }, classes: names, columns })
}

/// The columns' names.
fn header(records: &mut Records) -> Result<Vec<Column>> {
    let mut columns = Vec::new();
    let delimiter = records.delimiter();
    let found = records.next(|_, column, name| {
        ensure!(column < MOST, TooLarge, "the table has more than {MOST} columns");
        columns.push(Column::new(name.to_owned()));
        Ok(())
    })?;
    ensure!(found.is_some(), Parse, "the table is empty: its first line must name the columns");
    let values: Vec<Option<f64>> = columns.iter().map(|column| number(&column.name, delimiter)).collect();
    let counts = |first: usize| values.iter().enumerate().all(|(i, value)| *value == Some((first + i) as f64));
    ensure!(
        !values.iter().all(Option::is_some) || counts(0) || counts(1),
        Parse,
        "the first line has numbers alone, but must name the columns: put a line such as label,pixel1,pixel2 before it"
    );
    Ok(columns)
}

/// Fails where the first line is a row like the others: it has numbers wherever these have, and not such as columns are counted by.
fn ensure_names(columns: &[Column], delimiter: u8) -> Result<()> {
    let of_numbers = || columns.iter().filter(|column| !column.is_text());
    let Some(values) = of_numbers().map(|column| number(&column.name, delimiter)).collect::<Option<Vec<f64>>>() else {
        return Ok(());
    };
    let counts = values.iter().all(|value| value.fract() == 0.0) && values.is_sorted_by(|a, b| a < b);
    ensure!(
        counts,
        Parse,
        "the first line is a row like the others, but must name the columns: put a line such as label,pixel1,pixel2 before it"
    );
    Ok(())
}

/// Fails where some numbers have a comma, and others a point that may stand between thousands.
fn ensure_one_mark(columns: &[Column]) -> Result<()> {
    let first = |mark: fn(&Column) -> Option<usize>| columns.iter().filter_map(mark).min();
    if let (Some(comma), Some(point)) = (first(|column| column.comma), first(|column| column.thousands)) {
        bail!(
            Parse,
            "line {comma} has a number with a comma, and line {point} one with a point that may stand between thousands: save the \
             table with points alone, and nothing between thousands"
        );
    }
    Ok(())
}

/// What the columns' fields are, and how many rows there are.
fn survey(mut records: Records, columns: &mut [Column]) -> Result<usize> {
    let (delimiter, width, mut rows) = (records.delimiter(), columns.len(), 0);
    loop {
        let found = records.next(|line, at, field| {
            if let Some(column) = columns.get_mut(at) {
                column.see(line, field, delimiter);
            }
            Ok(())
        })?;
        let Some((line, fields)) = found else { break };
        ensure!(fields == width, Parse, "line {line} has {fields} fields, but the first line names {width} columns");
        rows += 1;
    }
    ensure!(rows > 0, Parse, "the table has no line behind the columns' names");
    Ok(rows)
}

/// The columns of a list of names.
fn named(columns: &[Column], list: &str, what: &str) -> Result<Vec<usize>> {
    let find = |name: &str| {
        let is = |exactly: bool| {
            move |column: &Column| column.name == name || (!exactly && column.name.eq_ignore_ascii_case(name))
        };
        columns.iter().position(is(true)).or_else(|| columns.iter().position(is(false)))
    };
    if let Some(column) = find(list) {
        return Ok(vec![column]);
    }
    list.split(',')
        .map(str::trim)
        .map(|name| match find(name) {
            Some(column) => Ok(column),
            None => {
                let all: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
                bail!(InvalidOption, "{what}: no column is named {name:?}; there are {}", listed(&all))
            }
        })
        .collect()
}

/// The columns that are targets; none where all are pixels.
fn targets_of(columns: &[Column], given: &Columns, notes: &mut Vec<String>) -> Result<Vec<usize>> {
    if let Some(list) = given.targets {
        let targets = named(columns, list, "targets")?;
        for &target in &targets {
            ensure_values(&columns[target], target, targets.len() > 1)?;
        }
        return Ok(targets);
    }
    let position = |name: &str| columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
    // Of coordinates x and y with something behind them, y is none more than x.
    let is_coordinate =
        |at: usize| at + 1 < columns.len() && columns[at].name.eq_ignore_ascii_case("y") && position("x").is_some();
    let known = |name: &&str| position(name).filter(|&at| !is_coordinate(at));
    let found = TARGETS.iter().find_map(known).or_else(|| {
        let last = columns.len().checked_sub(1).filter(|&last| last > 0 && !columns[last].is_pixel())?;
        notes.push(format!("No column is named as targets are: the last, {}, is taken.", columns[last].said(last)));
        Some(last)
    });
    if let Some(target) = found {
        ensure_values(&columns[target], target, false)?;
        let is_other = |name: &str| TARGETS[..TARGETS.len() - 2].iter().any(|known| name.eq_ignore_ascii_case(known));
        let others = columns.iter().enumerate().filter(|(i, column)| *i != target && is_other(&column.name));
        let others: Vec<String> =
            others.filter(|(_, column)| !column.is_text()).map(|(i, column)| column.said(i)).collect();
        if given.inputs.is_none() && !others.is_empty() {
            notes.push(format!(
                "The column {} is taken for the targets; {} are named so too, and are taken for inputs.",
                columns[target].said(target),
                listed(&others)
            ));
        }
    }
    Ok(found.into_iter().collect())
}

/// The columns that are inputs: those that are named, or all that have numbers and are nothing else.
fn inputs_of(columns: &[Column], given: &Columns, targets: &[usize], notes: &mut Vec<String>) -> Result<Vec<usize>> {
    let inputs = match given.inputs {
        Some(list) => named(columns, list, "inputs")?,
        None => {
            let (mut inputs, mut texts) = (Vec::new(), Vec::new());
            for (i, column) in columns.iter().enumerate().filter(|(i, _)| !targets.contains(i)) {
                if i == 0 && column.is_index() {
                    notes.push("The first column counts the rows, and is left out.".into());
                } else if column.is_text() {
                    texts.push(column.said(i));
                } else {
                    inputs.push(i);
                }
            }
            if !texts.is_empty() {
                notes.push(format!("Columns of text are left out: {}.", listed(&texts)));
            }
            inputs
        }
    };
    ensure!(!inputs.is_empty(), Parse, "the table has no column of numbers beside its targets");
    for &input in &inputs {
        ensure_values(&columns[input], input, true)?;
    }
    Ok(inputs)
}

/// Fails where a column lacks values, or has text where numbers are needed.
fn ensure_values(column: &Column, at: usize, are_numbers: bool) -> Result<()> {
    if let Some(line) = column.missing {
        bail!(
            Parse,
            "line {line}, column {}: a value is missing; fill it in, or name the columns that are the inputs without this one",
            column.said(at)
        );
    }
    if let Some(line) = column.text.filter(|_| are_numbers) {
        bail!(Parse, "line {line}, column {}: this is text, where a number was expected", column.said(at));
    }
    Ok(())
}

/// The names of the classes, in alphabetical order.
fn classes(mut records: Records, target: usize, notes: &mut Vec<String>) -> Result<Vec<String>> {
    let mut names = BTreeSet::new();
    let see = |_, at: usize, field: &str| {
        if at == target && !names.contains(field) {
            ensure!(
                names.len() < MOST,
                TooLarge,
                "the targets are more than {MOST} different texts: these are no classes"
            );
            names.insert(field.to_owned());
        }
        Ok(())
    };
    each(&mut records, see)?;
    let names: Vec<String> = names.into_iter().collect();
    notes.push(format!("The classes are numbered from 0 in alphabetical order: {}.", listed(&names)));
    Ok(names)
}

/// Every field behind the first line.
fn each(records: &mut Records, mut see: impl FnMut(usize, usize, &str) -> Result<()>) -> Result<()> {
    while records.next(&mut see)?.is_some() {}
    Ok(())
}

/// The numbers of these columns, row after row: bytes where all of them are pixels.
fn numbers(mut records: Records, rows: usize, chosen: &[usize], columns: &[Column]) -> Result<Array> {
    const WHAT: &str = "a table's numbers";
    let delimiter = records.delimiter();
    let mut slots: Vec<Option<usize>> = vec![None; columns.len()];
    for (slot, &column) in chosen.iter().enumerate() {
        let before = slots[column].replace(slot);
        ensure!(before.is_none(), InvalidOption, "the column {} is named twice", columns[column].said(column));
    }
    let mut values: Vec<f64> = zeros(WHAT, product::<f64>(WHAT, &[rows, chosen.len()])?)?;
    let mut row = values.chunks_exact_mut(chosen.len().max(1));
    let mut now: &mut [f64] = &mut [];
    let see = |_, at: usize, field: &str| {
        if at == 0 {
            now = row.next().unwrap_or_default();
        }
        if let Some(value) = slots.get(at).copied().flatten().and_then(|slot| now.get_mut(slot)) {
            *value = number(field, delimiter).unwrap_or_default();
        }
        Ok(())
    };
    each(&mut records, see)?;
    let are_pixels = chosen.iter().all(|&column| columns[column].is_pixel());
    let elements = match are_pixels {
        true => Elements::U8(collected(WHAT, values.iter().map(|&value| value as u8))?),
        false => Elements::F64(values),
    };
    Array::new(vec![rows, chosen.len()], elements)
}

/// The class numbers of the texts of a column.
fn numbers_of(mut records: Records, rows: usize, target: usize, classes: &[String]) -> Result<Array> {
    let mut numbers: Vec<i64> = room("a table's classes", rows)?;
    let see = |_, at: usize, field: &str| {
        if at == target {
            let class = classes.binary_search_by(|name| name.as_str().cmp(field));
            numbers.push(class.unwrap_or_default() as i64);
        }
        Ok(())
    };
    each(&mut records, see)?;
    Array::new(vec![rows], Elements::I64(numbers))
}

#[cfg(test)]
mod tests;
