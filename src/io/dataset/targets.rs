//! Targets from an array: class numbers, or vectors.

use super::DataOptions;
use crate::error::{Result, bail, ensure};
use crate::io::{Array, Elements};
use crate::memory::{collected, product, room, zeros};
use crate::problem::{Loss, Targets};

/// The targets that an array is, a row a sample, of which the first one is number `first`. Without a loss, one whole number a sample
/// is a class, unless there is one output, and so are rows of zeros with one 1 each, of which there are two columns at least and one an
/// output; all else are vectors. What a loss could have said is in a note.
///
/// # Errors
/// `InvalidProblem` for what does not suit the loss or the outputs; `NotFinite`; `TooLarge`.
pub(super) fn targets(array: &Array, options: &DataOptions, first: usize, notes: &mut Vec<String>) -> Result<Targets> {
    let rows = array.shape().first().copied().unwrap_or(1).max(1);
    let width = array.elements().len() / rows;
    let outputs = options.outputs;
    ensure!(width > 0, InvalidProblem, "the targets have samples of shape {:?}, without any values", array.shape());
    let wants_vectors = match options.loss {
        Some(loss) => loss == Loss::SquaredError,
        // What takes rows has as many outputs, known here or not.
        None if width > 1 => {
            outputs.is_some_and(|outputs| outputs != width) || places_of_ones(&array.to_f64()?, width, first).is_err()
        }
        None => {
            let fault = fault_of(array.elements());
            notes.extend(quantities(array.elements(), outputs, fault, first));
            outputs == Some(1) || fault.is_some()
        }
    };
    match (wants_vectors, width) {
        (false, 1) => classes(array.elements(), outputs, first).map(Targets::Classes),
        (false, _) => {
            let instead = if options.loss.is_none() { "; squared_error would take the rows as they are" } else { "" };
            notes.push(format!(
                "The targets are rows of zeros with a 1 each: the place of the 1 is the class{instead}."
            ));
            let classes = places_of_ones(&array.to_f64()?, width, first)?;
            ensure_in_outputs(&classes, outputs, first)?;
            Ok(Targets::Classes(classes))
        }
        (true, 1) if outputs.is_some_and(|outputs| outputs > 1) => {
            let outputs = outputs.unwrap_or(1);
            let classes = classes(array.elements(), Some(outputs), first)?;
            notes
                .push(format!("The class numbers became vectors of {outputs} values, 1 at the class and 0 elsewhere."));
            one_hot(&classes, outputs).map(Targets::Vectors)
        }
        (true, _) => vectors(array, width, outputs, first).map(Targets::Vectors),
    }
}

/// What is to be said of whole numbers that are taken for quantities, since people number classes so too.
fn quantities(
    elements: &Elements,
    outputs: Option<usize>,
    fault: Option<(usize, f64)>,
    first: usize,
) -> Option<String> {
    let are_whole = match elements {
        Elements::U8(_) | Elements::I64(_) => true,
        Elements::F32(v) => v.iter().all(|x| x.fract() == 0.0),
        Elements::F64(v) => v.iter().all(|x| x.fract() == 0.0),
    };
    let taken = "and go with squared_error";
    match fault.filter(|_| are_whole) {
        Some((sample, found)) => Some(format!(
            "The targets are whole numbers, but that of sample {} is {found}: they were taken for quantities, {taken}; classes are \
             numbered from 0.",
            first + sample
        )),
        None if are_whole && outputs == Some(1) => Some(format!(
            "The targets are whole numbers, and there is one output: they were taken for quantities, {taken}; cross_entropy has an \
             output a class."
        )),
        None => None,
    }
}

/// The first number that is no class: its sample, and the number.
fn fault_of(elements: &Elements) -> Option<(usize, f64)> {
    let is_class = |x: f64| x.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&x);
    let find = |values: &mut dyn Iterator<Item = f64>| values.enumerate().find(|&(_, x)| !is_class(x));
    match elements {
        Elements::U8(_) => None,
        Elements::I64(v) => find(&mut v.iter().map(|&x| x as f64)),
        Elements::F32(v) => find(&mut v.iter().map(|&x| f64::from(x))),
        Elements::F64(v) => find(&mut v.iter().copied()),
    }
}

fn classes(elements: &Elements, outputs: Option<usize>, first: usize) -> Result<Vec<u32>> {
    const WHAT: &str = "the targets";
    if let Some((sample, found)) = fault_of(elements) {
        bail!(
            InvalidProblem,
            "the target of sample {} is {found}, which is no class number (whole, from 0): targets that are quantities go with \
             squared_error, and as many outputs as they have columns",
            first + sample
        );
    }
    let classes = match elements {
        Elements::U8(v) => collected(WHAT, v.iter().map(|&x| u32::from(x)))?,
        Elements::I64(v) => collected(WHAT, v.iter().map(|&x| x as u32))?,
        Elements::F32(v) => collected(WHAT, v.iter().map(|&x| x as u32))?,
        Elements::F64(v) => collected(WHAT, v.iter().map(|&x| x as u32))?,
    };
    ensure_in_outputs(&classes, outputs, first)?;
    Ok(classes)
}

fn ensure_in_outputs(classes: &[u32], outputs: Option<usize>, first: usize) -> Result<()> {
    let Some(outputs) = outputs else { return Ok(()) };
    let Some(sample) = classes.iter().position(|&class| class as usize >= outputs) else { return Ok(()) };
    let [least, most] = [classes.iter().min(), classes.iter().max()].map(|class| class.copied().unwrap_or_default());
    let is_from_one = least == 1 && most as usize == outputs;
    bail!(
        InvalidProblem,
        "the target of sample {} is class {}, but the network has {outputs} outputs (classes 0 to {}){}",
        first + sample,
        classes.get(sample).copied().unwrap_or_default(),
        outputs.saturating_sub(1),
        if is_from_one { ": the classes are numbered from 1, so subtract 1 from them" } else { "" }
    )
}

/// The classes that one-hot rows are.
fn places_of_ones(values: &[f64], width: usize, first: usize) -> Result<Vec<u32>> {
    let mut classes = room("the targets", values.len() / width)?;
    for (sample, row) in values.chunks_exact(width).enumerate() {
        let place = row.iter().position(|&x| x == 1.0);
        let others = row.iter().filter(|&&x| x != 0.0).count();
        match place {
            Some(class) if others == 1 => classes.push(class as u32),
            _ => bail!(
                InvalidProblem,
                "the targets have {width} columns, and that of sample {} is no row of zeros with one 1: cross_entropy needs a class a \
                 sample; rows of other numbers go with squared_error",
                first + sample
            ),
        }
    }
    Ok(classes)
}

fn one_hot(classes: &[u32], outputs: usize) -> Result<Vec<f64>> {
    const WHAT: &str = "the targets";
    let mut out: Vec<f64> = zeros(WHAT, product::<f64>(WHAT, &[classes.len(), outputs])?)?;
    for (row, &class) in out.chunks_exact_mut(outputs.max(1)).zip(classes) {
        if let Some(value) = row.get_mut(class as usize) {
            *value = 1.0;
        }
    }
    Ok(out)
}

fn vectors(array: &Array, width: usize, outputs: Option<usize>, first: usize) -> Result<Vec<f64>> {
    if let Some(outputs) = outputs {
        ensure!(
            width == outputs,
            InvalidProblem,
            "the targets have {width} values a sample, but the network has {outputs} outputs"
        );
    }
    let values = array.to_f64()?;
    if let Some(i) = values.iter().position(|x| !x.is_finite()) {
        let sample = first + i / width;
        bail!(NotFinite, "target {} of sample {sample} is {}, but must be finite", i % width, values[i]);
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shape: &[usize], values: &[f64], loss: Option<Loss>, outputs: Option<usize>) -> Result<Targets> {
        let array = Array::new(shape.to_vec(), Elements::F64(values.to_vec())).expect("an array");
        targets(&array, &DataOptions { loss, outputs, ..DataOptions::default() }, 0, &mut Vec::new())
    }

    #[test]
    fn the_loss_says_what_targets_are() {
        let (entropy, square) = (Some(Loss::CrossEntropy), Some(Loss::SquaredError));
        let classes = |values: &[u32]| Targets::Classes(values.to_vec());
        let vectors = |values: &[f64]| Targets::Vectors(values.to_vec());
        type Case = (&'static [usize], &'static [f64], Option<Loss>, Option<usize>, Targets);
        let cases: [Case; 15] = [
            (&[2], &[3.0, 0.0], None, None, classes(&[3, 0])),
            (&[2, 1], &[3.0, 0.0], entropy, Some(4), classes(&[3, 0])),
            (&[2], &[3.5, 0.0], None, None, vectors(&[3.5, 0.0])),
            (&[2], &[-1.0, 1.0], None, None, vectors(&[-1.0, 1.0])),
            (&[2], &[3.0, 0.0], None, Some(1), vectors(&[3.0, 0.0])),
            (&[2], &[3.0, 0.0], square, None, vectors(&[3.0, 0.0])),
            (&[2, 1], &[3.0, 0.0], square, Some(1), vectors(&[3.0, 0.0])),
            (&[2], &[2.0, 0.0], square, Some(3), vectors(&[0.0, 0.0, 1.0, 1.0, 0.0, 0.0])),
            (&[2, 3], &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0], entropy, Some(3), classes(&[2, 0])),
            (&[2, 3], &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0], None, None, classes(&[2, 0])),
            (&[2, 3], &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0], None, Some(3), classes(&[2, 0])),
            (&[2, 3], &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0], square, Some(3), vectors(&[0.0, 0.0, 1.0, 1.0, 0.0, 0.0])),
            (&[2, 3], &[0.0, 0.5, 0.5, 1.0, 0.0, 0.0], None, Some(3), vectors(&[0.0, 0.5, 0.5, 1.0, 0.0, 0.0])),
            (&[1, 2], &[0.5, -2.0], square, Some(2), vectors(&[0.5, -2.0])),
            (&[1, 2, 2], &[0.5, -2.0, 1.0, 2.0], square, Some(4), vectors(&[0.5, -2.0, 1.0, 2.0])),
        ];
        for (shape, values, loss, outputs, expected) in cases {
            assert_eq!(of(shape, values, loss, outputs).expect("targets"), expected, "{values:?} under {loss:?}");
        }
    }

    #[test]
    fn what_was_guessed_is_said() {
        let said = |shape: &[usize], values: &[f64], loss, outputs| {
            let array = Array::new(shape.to_vec(), Elements::F64(values.to_vec())).expect("an array");
            let mut notes = Vec::new();
            targets(&array, &DataOptions { loss, outputs, ..DataOptions::default() }, 5, &mut notes).expect("targets");
            notes.join(" ")
        };
        let square = Some(Loss::SquaredError);
        assert!(said(&[2, 2], &[0.0, 1.0, 1.0, 0.0], None, None).contains("squared_error would take the rows"));
        assert!(
            said(&[2], &[1.0, -1.0], None, None).contains("that of sample 6 is -1: they were taken for quantities")
        );
        assert!(said(&[2], &[1.0, 0.0], None, Some(1)).contains("there is one output"));
        for silent in [
            said(&[2], &[1.0, 0.0], None, None),
            said(&[2], &[1.0, 0.5], None, None),
            said(&[2], &[1.0, 0.5], None, Some(1)),
            said(&[2], &[1.0, -1.0], square, None),
            said(&[2, 2], &[0.0, 1.0, 1.0, 0.0], square, None),
        ] {
            assert_eq!(silent, "");
        }
    }

    #[test]
    fn what_does_not_suit_is_refused_with_its_sample() {
        let (entropy, square) = (Some(Loss::CrossEntropy), Some(Loss::SquaredError));
        let fault = |shape: &[usize], values: &[f64], loss, outputs| {
            of(shape, values, loss, outputs).expect_err("a fault").message
        };
        assert!(fault(&[2], &[0.0, 1.5], entropy, None).starts_with("the target of sample 1 is 1.5"));
        assert!(fault(&[2], &[0.0, -1.0], entropy, None).contains("sample 1 is -1"));
        assert!(fault(&[2], &[0.0, f64::NAN], entropy, None).contains("sample 1 is NaN"));
        assert!(fault(&[2], &[0.0, 5e9], entropy, None).contains("sample 1 is 5000000000"));
        assert!(
            fault(&[3], &[1.0, 2.0, 3.0], entropy, Some(3))
                .ends_with("(classes 0 to 2): the classes are numbered from 1, so subtract 1 from them")
        );
        assert!(
            fault(&[2], &[0.0, 7.0], entropy, Some(3))
                .ends_with("sample 1 is class 7, but the network has 3 outputs (classes 0 to 2)")
        );
        for row in [[0.0, 0.0], [1.0, 1.0], [0.5, 0.5], [2.0, 0.0], [1.0, f64::NAN]] {
            assert!(
                fault(&[2, 2], &[&[0.0, 1.0], &row[..]].concat(), entropy, None).contains("sample 1 is no row"),
                "{row:?}"
            );
        }
        assert!(fault(&[2, 2], &[0.0; 4], square, Some(3)).contains("2 values a sample, but the network has 3"));
        assert!(fault(&[1, 2], &[0.0, f64::INFINITY], square, None).contains("target 1 of sample 0 is inf"));
        assert!(fault(&[2], &[0.5, 0.0], square, Some(3)).contains("sample 0 is 0.5"));
    }
}
