//! Which shapes the operations of [`Vectors`](super::Vectors) take: what every implementation asks before it begins.

use std::ops::Range;

use super::vector::{Segments, Vector};
use crate::error::{Result, ensure};

fn fit(is_fit: bool, operation: &str) -> Result<()> {
    ensure!(is_fit, InvalidParameters, "the vectors of {operation} do not fit each other");
    Ok(())
}

fn within(range: &Range<usize>, len: usize) -> bool {
    range.start <= range.end && range.end <= len
}

/// Are there so many of `len` from there on?
fn has(len: usize, from: usize, count: usize) -> bool {
    len.checked_sub(from).is_some_and(|rest| count <= rest)
}

fn size(vector: &Vector) -> usize {
    vector.len() * vector.columns()
}

/// The length of each of so many columns.
pub fn upload(values: &[f64], columns: usize) -> Result<usize> {
    let is_whole = columns > 0 && values.len().is_multiple_of(columns);
    ensure!(is_whole, InvalidParameters, "{} values are no {columns} columns of one length", values.len());
    Ok(values.len() / columns)
}

pub fn copy_columns(from: &Vector, columns: &Range<usize>, to: &Vector, to_column: usize) -> Result<()> {
    let is_inside = within(columns, from.columns()) && has(to.columns(), to_column, columns.len());
    fit(from.len() == to.len() && is_inside, "a copy of columns")
}

pub fn copy_rows(from: &Vector, rows: &Range<usize>, to: &Vector, to_row: usize) -> Result<()> {
    let is_inside = within(rows, from.len()) && has(to.len(), to_row, rows.len());
    fit(from.columns() == to.columns() && is_inside, "a copy of rows")
}

pub fn axpy(x: &Vector, y: &Vector) -> Result<()> {
    fit(x.len() == y.len() && (x.columns() == y.columns() || x.columns() == 1), "a sum")
}

pub fn multiply_add(d: &Vector, x: &Vector, y: &Vector) -> Result<()> {
    let is_same = x.len() == y.len() && x.columns() == y.columns();
    fit(d.len() == y.len() && d.columns() == 1 && is_same, "a product entry by entry")
}

pub fn segment_inner(
    segments: &Segments,
    a: &Vector,
    x: &Vector,
    columns: &Range<usize>,
    out: &Vector,
    out_offset: usize,
) -> Result<()> {
    let is_inside = within(columns, x.columns()) && has(size(out), out_offset, segments.count() * columns.len());
    fit(a.len() == x.len() && a.columns() == 1 && segments.len() <= a.len() && is_inside, "an inner product")
}

pub fn segment_axpy(segments: &Segments, coefficients: &Vector, a: &Vector, y: &Vector) -> Result<()> {
    let is_inside = segments.count() * y.columns() <= size(coefficients);
    fit(a.len() == y.len() && a.columns() == 1 && segments.len() == a.len() && is_inside, "a sum over segments")
}

pub fn combine(q: &Vector, columns: &Range<usize>, c: &Vector, offset: usize, y: &Vector) -> Result<()> {
    let is_inside = within(columns, q.columns()) && has(size(c), offset, columns.len() * y.columns());
    fit(q.len() == y.len() && is_inside, "a combination")
}

pub fn normalize(x: &Vector, q: &Vector, column: usize, norms: &Vector, index: usize) -> Result<()> {
    fit(x.len() == q.len() && x.columns() == 1 && column < q.columns() && index < size(norms), "a normalisation")
}

pub fn adam(gradient: &Vector, mean: &Vector, square: &Vector, theta: &Vector) -> Result<()> {
    let all = [gradient, mean, square, theta];
    fit(all.iter().all(|vector| vector.len() == theta.len() && vector.columns() == 1), "a step of Adam")
}
