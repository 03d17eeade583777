//! What a number format can hold: tensors on their way to a device, and numbers on their way back.

use super::activation::Activation;
use super::executor::Precision;
use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::network::{Layer, Layout, Network, ParametricLayer, Source};
use crate::numbers;
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

/// Fails where a hidden layer's values leave what the precision holds, though weights and inputs do not, and nothing would tell: where all
/// of them are so small that which units a ReLU lets pass would be lost with them, or so large before a tanh, which makes ±1 of what has
/// overflowed. `largest_input` is [`ensure_data`]'s.
pub(super) fn ensure_values(
    precision: Precision,
    network: &Network,
    largest_input: f64,
    parameters: &[f64],
) -> Result<()> {
    let (smallest, most) = match precision {
        Precision::F32 => (SMALLEST, f64::from(f32::MAX)),
        Precision::F64 => (0.0, f64::MAX),
    };
    let layout = network.layout();
    let layers = layout.layers();
    let mut parametric = layers.iter().enumerate();
    // No value that a layer gives is larger; and the number of the layer with parameters that it comes from, from 1.
    let mut bounds: Vec<(f64, usize)> = Vec::with_capacity(network.named_layers().len());
    for (i, layer) in network.layers().enumerate() {
        let reads = layout.sources(i).iter().map(|source| match source {
            Source::Input => (largest_input, 0),
            Source::Layer(j) => bounds[*j],
        });
        let largest = |a: (f64, usize), b: (f64, usize)| if b.0 > a.0 { b } else { a };
        let (bound, number) = reads.clone().fold((0.0, 0), largest);
        bounds.push(match layer {
            layer if layer.is_parametric() => {
                let Some((l, layer)) = parametric.next() else { break };
                let bound = largest_of(layer, parameters, bound);
                let number = l + 1;
                ensure!(
                    bound == 0.0 || bound >= smallest || number == layers.len(),
                    OutOfRange,
                    "the values of layer {number} are {bound:.3e} at most, and f32 keeps no full precision below {SMALLEST:.0e}: \
                     precision f64 does"
                );
                (bound, number)
            }
            Layer::Add => (reads.map(|(bound, _)| bound).sum(), number),
            // The others make nothing larger.
            layer => match Activation::of(layer) {
                Some(Activation::Piecewise { slope }) => (bound * slope.max(1.0), number),
                Some(Activation::Smooth(smooth)) => {
                    let fits = bound <= most;
                    ensure!(
                        fits,
                        OutOfRange,
                        "the values of layer {number} may be as large as {bound:.3e}, but {} ends at {most:.1e}, and a {} behind it \
                         would hide that they overflow",
                        precision.name(),
                        layer.name()
                    );
                    (smooth.largest(bound), number)
                }
                None => (bound, number),
            },
        });
    }
    Ok(())
}

/// The largest that a value of this layer can be, over inputs of at most so much.
fn largest_of(layer: &ParametricLayer, parameters: &[f64], input: f64) -> f64 {
    let rows = parameters[layer.weight.clone()].chunks_exact(layer.inputs.max(1));
    let row = rows.map(|row| row.iter().map(|w| w.abs()).sum()).fold(0.0, f64::max);
    let bias = layer.bias.clone().map_or(0.0, |range| numbers::largest(parameters[range].iter().copied()));
    if row == 0.0 { bias } else { row * input + bias }
}

/// [`ensure_in_range`] for a problem's data; the largest input.
pub(super) fn ensure_data(precision: Precision, problem: &Problem) -> Result<f64> {
    let name = |what: &str, len: usize| format!("the {len} {what}");
    let (input, inputs) = match problem.inputs() {
        Values::F32(values) => (largest(values, f32::abs), values.len()),
        Values::F64(values) => (largest(values, f64::abs), values.len()),
    };
    if precision == Precision::F64 {
        return Ok(input);
    }
    ensure_largest_in_range(input, || name("inputs", inputs))?;
    if let Targets::Vectors(values) = problem.targets() {
        ensure_largest_in_range(largest(values, f64::abs), || name("targets", values.len()))?;
    }
    Ok(input)
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
