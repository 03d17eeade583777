//! What a number format can hold: tensors on their way to a device, and numbers on their way back.

use super::executor::Precision;
use crate::error::{Error, ErrorCode, Result, bail};
use crate::network::Layout;
use crate::problem::{Problem, Targets, Values};

/// A tensor whose largest number is below this keeps no full precision in f32, whose smallest normal number is 1.2e-38: numbers a
/// ten-millionth of the largest would be gone.
const SMALLEST: f64 = 1e-31;

/// Fails where these values as a whole leave what the precision holds. Single tiny numbers beside others may vanish; `what` they
/// are is asked for in that case alone.
///
/// # Errors
/// `OutOfRange`.
pub(crate) fn ensure_in_range(
    precision: Precision,
    values: impl IntoIterator<Item = f64>,
    what: impl FnOnce() -> String,
) -> Result<()> {
    if precision == Precision::F64 {
        return Ok(());
    }
    ensure_largest_in_range(values.into_iter().fold(0.0, |m: f64, x| f64::max(m, x.abs())), what)
}

fn ensure_largest_in_range(largest: f64, what: impl FnOnce() -> String) -> Result<()> {
    if largest > f64::from(f32::MAX) {
        bail!(
            OutOfRange,
            "the largest of {} is {largest:.3e}, but f32 ends at {:.1e}: precision f64 holds it",
            what(),
            f32::MAX
        );
    }
    if largest > 0.0 && largest < SMALLEST {
        bail!(
            OutOfRange,
            "the largest of {} is {largest:.3e}, and f32 keeps no full precision below {SMALLEST:.0e}: precision f64 does",
            what()
        );
    }
    Ok(())
}

/// [`ensure_in_range`] for parameters, block by block.
pub(super) fn ensure_parameters(precision: Precision, layout: &Layout, parameters: &[f64]) -> Result<()> {
    for (l, layer) in layout.layers().iter().enumerate() {
        let blocks = [("weights", Some(&layer.weight)), ("biases", layer.bias.as_ref())];
        for (kind, range) in blocks.into_iter().filter_map(|(kind, range)| Some((kind, range?.clone()))) {
            let name = || format!("the {} {kind} of layer {}", range.len(), l + 1);
            ensure_in_range(precision, parameters[range.clone()].iter().copied(), name)?;
        }
    }
    Ok(())
}

/// [`ensure_in_range`] for a problem's data.
pub(super) fn ensure_data(precision: Precision, problem: &Problem) -> Result<()> {
    if precision == Precision::F64 {
        return Ok(());
    }
    let name = |what: &str, len: usize| format!("the {len} {what}");
    match problem.inputs() {
        Values::F32(values) => {
            ensure_largest_in_range(largest(values, f32::abs), || name("inputs", values.len()))?;
        }
        Values::F64(values) => ensure_largest_in_range(largest(values, f64::abs), || name("inputs", values.len()))?,
    }
    match problem.targets() {
        Targets::Classes(_) => Ok(()),
        Targets::Vectors(values) => {
            ensure_largest_in_range(largest(values, f64::abs), || name("targets", values.len()))
        }
    }
}

/// The largest magnitude, in lanes: data are many millions of numbers, and an event loop waits for them.
fn largest<T: Copy + Default + PartialOrd + Into<f64>>(values: &[T], abs: impl Fn(T) -> T) -> f64 {
    let (blocks, rest) = values.as_chunks::<16>();
    let mut lanes = [T::default(); 16];
    let larger = |a: T, b: T| if b > a { b } else { a };
    for block in blocks {
        lanes.iter_mut().zip(block).for_each(|(lane, &x)| *lane = larger(*lane, abs(x)));
    }
    rest.iter().map(|&x| abs(x)).chain(lanes).fold(T::default(), larger).into()
}

/// What is said of a result that is no finite number.
pub(crate) fn overflows(what: &str, precision: Precision) -> String {
    let more = match precision {
        Precision::F32 => "; precision f64 holds larger ones",
        Precision::F64 => "",
    };
    format!("{what} is not finite at this point: its numbers overflow in {}{more}", precision.name())
}

/// Fails with `NotFinite` where one of these results is no finite number.
pub(crate) fn ensure_number(what: &str, precision: Precision, values: &[f64]) -> Result<()> {
    if values.iter().all(|v| v.is_finite()) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::NotFinite, overflows(what, precision)))
}
