//! Which inputs are the same in every sample, and what that leaves of a problem.

use std::collections::HashMap;
use std::ops::Range;

use crate::engine::cpu::real::Real;
use crate::engine::plan::Plan;
use crate::error::Result;
use crate::memory::{collected, filled, product, room};
use crate::network::Network;
use crate::problem::{Problem, Values};

const WHAT: &str = "a problem without its doubled inputs";

/// The share of a sample's inputs that may be left for it to be worth another copy of them.
const WORTHWHILE: f64 = 0.9;

/// Bytes that the copy may take.
const MOST_BYTES: usize = 64 << 20;

/// In [`Columns::place`]: of an input that is 0 in every sample.
const NOWHERE: u32 = u32::MAX;

/// P, which adds up the columns of a first layer's W whose inputs are the same in every sample, and leaves out those whose inputs are 0.
/// Other parameters stay as they are.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Columns {
    /// Where the first layer's W is, in θ.
    weight: Range<usize>,
    /// Its column's place among the narrow ones, for each input.
    place: Vec<u32>,
    /// Narrow columns.
    width: usize,
}

impl Columns {
    /// Of so many parameters those that are left.
    fn narrow(&self, parameters: usize) -> usize {
        parameters - self.weight.len() / self.place.len() * (self.place.len() - self.width)
    }

    /// `out` = P `v`, column by column.
    pub fn sum<T: Real>(&self, v: &[T], parameters: usize, out: &mut [T]) {
        let Self { weight, place, width } = self;
        for (v, out) in v.chunks_exact(parameters).zip(out.chunks_exact_mut(self.narrow(parameters))) {
            let (before, rest) = out.split_at_mut(weight.start);
            let (sums, behind) = rest.split_at_mut(weight.len() / place.len() * width);
            before.copy_from_slice(&v[..weight.start]);
            behind.copy_from_slice(&v[weight.end..]);
            sums.fill(T::ZERO);
            for (row, sums) in v[weight.clone()].chunks_exact(place.len()).zip(sums.chunks_exact_mut(*width)) {
                for (&w, &place) in row.iter().zip(place) {
                    if place != NOWHERE {
                        sums[place as usize] += w;
                    }
                }
            }
        }
    }

    /// `out` = Pᵀ `g`, column by column.
    pub fn spread<T: Real>(&self, g: &[T], parameters: usize, out: &mut [T]) {
        let Self { weight, place, width } = self;
        for (g, out) in g.chunks_exact(self.narrow(parameters)).zip(out.chunks_exact_mut(parameters)) {
            let (before, rest) = g.split_at(weight.start);
            let (sums, behind) = rest.split_at(weight.len() / place.len() * width);
            out[..weight.start].copy_from_slice(before);
            out[weight.end..].copy_from_slice(behind);
            for (row, sums) in out[weight.clone()].chunks_exact_mut(place.len()).zip(sums.chunks_exact(*width)) {
                for (w, &place) in row.iter_mut().zip(place) {
                    *w = if place == NOWHERE { T::ZERO } else { sums[place as usize] };
                }
            }
        }
    }
}

/// P and the problem that is left; `None` where a first layer is not dense, something else sees the inputs too, or too few of them are the
/// same.
///
/// # Errors
/// `TooLarge`.
pub(super) fn narrowed(problem: &Problem) -> Result<Option<(Columns, Problem)>> {
    let network = problem.network();
    let plan = Plan::new(network);
    let is_dense = plan.steps.first().is_some_and(|step| step.is_dense());
    if !plan.prefix.is_empty() || !is_dense || !plan.starts_affine() || plan.reads_input_later() {
        return Ok(None);
    }
    let (inputs, samples) = (network.input_len(), problem.samples());
    let most = (WORTHWHILE * inputs as f64) as usize;
    let rows = problem.shared_inputs();
    let bytes = if let Values::F32(_) = rows { 4 } else { 8 };
    let found = match rows {
        Values::F32(values) => places(&values[..samples * inputs], inputs, most, |x| u64::from((x + 0.0).to_bits()))?,
        Values::F64(values) => places(&values[..samples * inputs], inputs, most, |x| (x + 0.0).to_bits())?,
    };
    let Some(place) = found else { return Ok(None) };
    let width = place.iter().filter(|&&place| place != NOWHERE).max().map_or(0, |&last| last as usize + 1);
    if width == 0 || samples.saturating_mul(width).saturating_mul(bytes) > MOST_BYTES {
        return Ok(None);
    }
    // A flatten before the dense layer has nothing to do any more, and may stay.
    let Ok(narrow) = Network::graph(vec![width], network.named_layers().to_vec()) else { return Ok(None) };
    let Some(first) = network.layout().layers().first() else { return Ok(None) };
    let columns = Columns { weight: first.weight.clone(), place, width };
    if columns.narrow(network.parameter_count()) != narrow.parameter_count() {
        return Ok(None);
    }
    let rows = match rows {
        Values::F32(values) => Values::F32(kept(&values[..samples * inputs], &columns)?),
        Values::F64(values) => Values::F64(kept(&values[..samples * inputs], &columns)?),
    };
    Ok(Some((columns, problem.with_inputs(narrow, rows)?)))
}

/// For each input the number of the first that is the same in every sample, counted without gaps; `None` where there are more than `most`.
fn places<T: Copy + PartialEq + Default>(
    rows: &[T],
    inputs: usize,
    most: usize,
    bits: impl Fn(T) -> u64,
) -> Result<Option<Vec<u32>>> {
    // Of those that are no first ones, the first that is as they are as far as the rows have been read.
    let mut followers: Vec<[u32; 2]> = collected(WHAT, (1..inputs as u32).map(|j| [j, 0]))?;
    let mut count = 1;
    let mut parted: HashMap<(u32, u64), u32> = HashMap::new();
    for row in rows.chunks_exact(inputs) {
        let mut has_parted = false;
        for [j, first] in &mut followers {
            let x = row[*j as usize];
            if x == row[*first as usize] {
                continue;
            }
            let new = *parted.entry((*first, bits(x))).or_insert_with(|| {
                count += 1;
                *j
            });
            (*first, has_parted) = (new, true);
        }
        if count > most {
            return Ok(None);
        }
        if has_parted {
            parted.clear();
            followers.retain(|[j, first]| j != first);
        }
    }
    let mut first: Vec<u32> = collected(WHAT, 0..inputs as u32)?;
    for [j, of] in followers {
        first[j as usize] = of;
    }
    // Followers come after those that they follow.
    let (mut place, mut next) = (filled(WHAT, NOWHERE, inputs)?, 0);
    for j in 0..inputs {
        if first[j] as usize != j {
            place[j] = place[first[j] as usize];
        } else if rows.iter().skip(j).step_by(inputs).any(|x| *x != T::default()) {
            (place[j], next) = (next, next + 1);
        }
    }
    Ok(Some(place))
}

/// The inputs that are left, row by row.
fn kept<T: Copy>(rows: &[T], columns: &Columns) -> Result<Vec<T>> {
    let mut from = filled(WHAT, 0, columns.width)?;
    for (j, &place) in columns.place.iter().enumerate().rev().filter(|(_, place)| **place != NOWHERE) {
        from[place as usize] = j;
    }
    let samples = rows.len() / columns.place.len();
    let mut found = room(WHAT, product::<T>(WHAT, &[samples, columns.width])?)?;
    for row in rows.chunks_exact(columns.place.len()) {
        found.extend(from.iter().map(|&j| row[j]));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_inputs_have_one_place_and_zeros_none() {
        let rows = [1.0, 0.0, 2.0, 1.0, -0.0, 2.0, 1.0, 3.0, 0.0, 5.0, 4.0, 0.0, 5.0, 6.0];
        let found = places(&rows, 7, 7, f64::to_bits).expect("memory");
        assert_eq!(found, Some(vec![0, NOWHERE, 1, 2, NOWHERE, 1, 3]));
        assert_eq!(places(&rows, 7, 4, f64::to_bits).expect("memory"), None, "more than may be");
    }

    #[test]
    fn a_sum_and_its_transpose() {
        let columns = Columns { weight: 1..7, place: vec![0, NOWHERE, 0], width: 1 };
        let mut sum = [0.0; 4];
        columns.sum(&[9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0], 8, &mut sum);
        assert_eq!(sum, [9.0, 4.0, 10.0, 8.0]);
        let mut spread = [1.0; 8];
        columns.spread(&sum, 8, &mut spread);
        assert_eq!(spread, [9.0, 4.0, 0.0, 4.0, 10.0, 0.0, 10.0, 8.0]);
    }
}
