//! Which shapes the operations of [`Vectors`](super::Vectors) take: what every implementation asks before it begins.

use std::ops::Range;

use super::vector::{Segments, Vector};
use crate::error::{Result, ensure};

fn fit(is_fit: bool, operation: &str) -> Result<()> {
    ensure!(is_fit, InvalidParameters, "the vectors of a {operation} do not fit each other");
    Ok(())
}

fn size(vector: &Vector) -> usize {
    vector.len() * vector.columns()
}

pub fn copy_columns(from: &Vector, columns: &Range<usize>, to: &Vector, to_column: usize) -> Result<()> {
    let is_inside = columns.end <= from.columns() && to_column + columns.len() <= to.columns();
    fit(from.len() == to.len() && is_inside, "copy of columns")
}

pub fn copy_rows(from: &Vector, rows: &Range<usize>, to: &Vector, to_row: usize) -> Result<()> {
    let is_inside = rows.end <= from.len() && to_row + rows.len() <= to.len();
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
    let is_inside = columns.end <= x.columns() && out_offset + segments.count() * columns.len() <= size(out);
    fit(a.len() == x.len() && segments.len() <= a.len() && is_inside, "inner product")
}

pub fn segment_axpy(segments: &Segments, coefficients: &Vector, a: &Vector, y: &Vector) -> Result<()> {
    let is_inside = segments.count() * y.columns() <= size(coefficients);
    fit(a.len() == y.len() && segments.len() == a.len() && is_inside, "sum over segments")
}

pub fn combine(q: &Vector, columns: &Range<usize>, c: &Vector, offset: usize, y: &Vector) -> Result<()> {
    let is_inside = columns.end <= q.columns() && offset + columns.len() * y.columns() <= size(c);
    fit(q.len() == y.len() && is_inside, "combination")
}

pub fn normalize(x: &Vector, q: &Vector, column: usize, norms: &Vector, index: usize) -> Result<()> {
    fit(x.len() == q.len() && column < q.columns() && index < size(norms), "normalisation")
}

pub fn adam(gradient: &Vector, mean: &Vector, square: &Vector, theta: &Vector) -> Result<()> {
    fit([gradient, mean, square].iter().all(|vector| size(vector) == size(theta)), "step of Adam")
}
