//! Which shapes the operations of [`Vectors`](super::Vectors) take: what every implementation asks before it begins.

use std::ops::Range;

use super::vector::{Segments, Vector};
use crate::error::{Result, ensure};

fn fit(is_fit: bool, operation: &str) -> Result<()> {
    ensure!(is_fit, InvalidParameters, "the vectors of a {operation} do not fit each other");
    Ok(())
}

fn within(range: &Range<usize>, len: usize) -> bool {
    range.start <= range.end && range.end <= len
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
    let is_inside = within(columns, from.columns()) && to_column + columns.len() <= to.columns();
    fit(from.len() == to.len() && is_inside, "copy of columns")
}

pub fn copy_rows(from: &Vector, rows: &Range<usize>, to: &Vector, to_row: usize) -> Result<()> {
    let is_inside = within(rows, from.len()) && to_row + rows.len() <= to.len();
    fit(from.columns() == to.columns() && is_inside, "copy of rows")
}

pub fn axpy(x: &Vector, y: &Vector) -> Result<()> {
    fit(x.len() == y.len() && (x.columns() == y.columns() || x.columns() == 1), "sum")
}

pub fn multiply_add(d: &Vector, x: &Vector, y: &Vector) -> Result<()> {
    let is_same = x.len() == y.len() && x.columns() == y.columns();
    fit(d.len() == y.len() && d.columns() == 1 && is_same, "product entry by entry")
}

pub fn segment_inner(
    segments: &Segments,
    a: &Vector,
    x: &Vector,
    columns: &Range<usize>,
    out: &Vector,
    out_offset: usize,
) -> Result<()> {
    let is_inside = within(columns, x.columns()) && out_offset + segments.count() * columns.len() <= size(out);
    fit(a.len() == x.len() && a.columns() == 1 && segments.len() <= a.len() && is_inside, "inner product")
}

pub fn segment_axpy(segments: &Segments, coefficients: &Vector, a: &Vector, y: &Vector) -> Result<()> {
    let is_inside = segments.count() * y.columns() <= size(coefficients);
    fit(a.len() == y.len() && a.columns() == 1 && segments.len() == a.len() && is_inside, "sum over segments")
}

pub fn combine(q: &Vector, columns: &Range<usize>, c: &Vector, offset: usize, y: &Vector) -> Result<()> {
    let is_inside = within(columns, q.columns()) && offset + columns.len() * y.columns() <= size(c);
    fit(q.len() == y.len() && is_inside, "combination")
}

pub fn normalize(x: &Vector, q: &Vector, column: usize, norms: &Vector, index: usize) -> Result<()> {
    fit(x.len() == q.len() && x.columns() == 1 && column < q.columns() && index < size(norms), "normalisation")
}

pub fn adam(gradient: &Vector, mean: &Vector, square: &Vector, theta: &Vector) -> Result<()> {
    let all = [gradient, mean, square, theta];
    fit(all.iter().all(|vector| vector.len() == theta.len() && vector.columns() == 1), "step of Adam")
}
