//! Weights that PyTorch computes from others whenever a layer is used: pruned ones, those divided by their spectral norm, and those
//! in length and direction. A checkpoint has what they are computed from, under names of both ways in which PyTorch does it
//! (`weight_orig`, `parametrizations.weight.original`); what the network computes with is made of that here, as in evaluation.

use std::collections::HashMap;

use super::super::{Array, Arrays, Elements};
use crate::error::{Result, bail, ensure};
use crate::memory::collected;

/// What an array is to the weight that is computed from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The weight before anything is done to it.
    Original,
    /// 0 where it is pruned.
    Mask,
    /// A singular vector on the side of the outputs.
    Left,
    /// A singular vector on the side of the inputs, or a weight's direction.
    Right,
    /// A weight's length, or those of its rows.
    Length,
    /// Something that only the program knows that wrote it.
    Unknown,
}

/// How a weight is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Pruned,
    Spectral,
    WeightNorm,
}

const RULES: [(Rule, &str); 3] = [
    (Rule::Pruned, "are pruned by their masks: what is 0 is a parameter all the same"),
    (Rule::Spectral, "are divided by their spectral norms, as they are when the network is evaluated"),
    (Rule::WeightNorm, "are computed from their length and direction"),
];

/// The arrays of one weight.
#[derive(Debug, Default)]
struct Parts<'a> {
    arrays: Vec<(Part, &'a str, &'a Array)>,
    /// Do the names say that it is computed, whatever else there is?
    is_computed: bool,
}

/// The same arrays, with weights in the place of what they are computed from.
///
/// # Errors
/// `InvalidNetwork` for a weight that is computed in a way that the file does not tell; `TooLarge`.
pub(in crate::io) fn composed(arrays: Arrays) -> Result<Arrays> {
    let mut weights: HashMap<String, Parts> = HashMap::new();
    for (name, array) in &arrays.arrays {
        if let Some((weight, part)) = part(name) {
            let is_weight = weight.ends_with("weight") || weight.ends_with("bias");
            let parts = weights.entry(weight).or_default();
            parts.is_computed |= (part == Part::Original && is_weight) || name.contains(LIST);
            parts.arrays.push((part, name, array));
        }
    }
    // Other names may end so, too.
    const PAIRS: [[Part; 2]; 2] = [[Part::Length, Part::Right], [Part::Original, Part::Mask]];
    weights.retain(|_, parts| parts.is_computed || PAIRS.iter().any(|pair| pair.iter().all(|&part| parts.has(part))));
    if weights.is_empty() {
        return Ok(arrays);
    }
    let (mut rules, mut made) = (Vec::new(), HashMap::new());
    for (name, _) in &arrays.arrays {
        let Some((weight, _)) = part(name) else { continue };
        if let Some(parts) = weights.remove(&weight) {
            let (rule, array) = parts.computed(&weight)?;
            rules.push(rule);
            made.insert(weight, Some(array));
        }
    }
    let mut out = Arrays { arrays: Vec::new(), ..arrays };
    for (name, array) in arrays.arrays {
        match part(&name).and_then(|(weight, _)| Some((made.get_mut(&weight)?.take(), weight))) {
            None => out.arrays.push((name, array)),
            // It stands where the first of its parts did.
            Some((Some(array), weight)) => out.arrays.push((weight, array)),
            Some((None, _)) => {}
        }
    }
    for (rule, said) in RULES {
        let count = rules.iter().filter(|of| **of == rule).count();
        if count > 0 {
            out.notes.push(format!("{count} of the weights and biases {said}"));
        }
    }
    out.notes.push(String::from(
        "what is saved has these weights themselves: before load_state_dict, the model has to be rid of what computes them \
         (torch.nn.utils' remove_parametrizations, remove_weight_norm, remove_spectral_norm, prune.remove)",
    ));
    Ok(out)
}

/// Where a module of PyTorch keeps what computes its weights.
const LIST: &str = "parametrizations.";

/// The weight that an array may be a part of, and which.
fn part(name: &str) -> Option<(String, Part)> {
    let listed = name.rfind(LIST).filter(|&at| at == 0 || name[..at].ends_with('.'));
    if let Some((at, (weight, what))) = listed.and_then(|at| Some((at, name[at + LIST.len()..].split_once('.')?))) {
        let part = match what {
            "original" => Part::Original,
            "original0" => Part::Length,
            "original1" | "0._v" => Part::Right,
            "0._u" => Part::Left,
            _ => Part::Unknown,
        };
        return Some((format!("{}{weight}", &name[..at]), part));
    }
    let (weight, what) = name.rsplit_once('_')?;
    let part = match what {
        "orig" => Part::Original,
        "mask" => Part::Mask,
        "u" => Part::Left,
        "v" => Part::Right,
        "g" => Part::Length,
        _ => return None,
    };
    Some((weight.into(), part))
}

impl Parts<'_> {
    fn has(&self, part: Part) -> bool {
        self.arrays.iter().any(|(of, ..)| *of == part)
    }

    /// The weight.
    fn computed(self, weight: &str) -> Result<(Rule, Array)> {
        let mut sorted = self.arrays;
        sorted.sort_by_key(|(part, ..)| *part as usize);
        let parts: Vec<Part> = sorted.iter().map(|(part, ..)| *part).collect();
        let arrays: Vec<&Array> = sorted.iter().map(|(_, _, array)| *array).collect();
        let found = match (&parts[..], &arrays[..]) {
            ([Part::Original, Part::Mask], [whole, mask]) => pruned(whole, mask)?.map(|array| (Rule::Pruned, array)),
            ([Part::Original, Part::Left, Part::Right], [whole, left, right]) => {
                spectral(whole, left, right)?.map(|array| (Rule::Spectral, array))
            }
            ([Part::Right, Part::Length], [direction, length]) => {
                normed(direction, length)?.map(|array| (Rule::WeightNorm, array))
            }
            _ => None,
        };
        let names = || sorted.iter().map(|(_, name, array)| format!("{name} {:?}", array.shape())).collect::<Vec<_>>();
        let Some((rule, array)) = found else {
            bail!(
                InvalidNetwork,
                "{weight} is computed from {} in a way that is not known, or that the file does not tell: of such weights, those of \
                 torch.nn.utils' weight_norm, spectral_norm and prune are; make it a weight of its own before it is saved \
                 (torch.nn.utils.parametrize.remove_parametrizations, prune.remove, …)",
                names().join(", ")
            )
        };
        let is_finite = match array.elements() {
            Elements::F64(values) => values.iter().all(|value| value.is_finite()),
            _ => true,
        };
        ensure!(
            is_finite,
            InvalidNetwork,
            "{weight}, which is computed from {}, is not finite: a length or a norm is 0, or a number is none",
            names().join(", ")
        );
        Ok((rule, array))
    }
}

/// A weight times its mask.
fn pruned(whole: &Array, mask: &Array) -> Result<Option<Array>> {
    if whole.shape() != mask.shape() {
        return Ok(None);
    }
    let (values, mask) = (whole.to_f64()?, mask.to_f64()?);
    of_shape(whole, values.iter().zip(&mask).map(|(value, mask)| value * mask)).map(Some)
}

/// A weight over its spectral norm uᵀ W v, by the singular vectors that training has left.
fn spectral(whole: &Array, left: &Array, right: &Array) -> Result<Option<Array>> {
    let (values, left, right) = (whole.to_f64()?, left.to_f64()?, right.to_f64()?);
    if right.is_empty() || whole.shape().first() != Some(&left.len()) || values.len() != left.len() * right.len() {
        return Ok(None);
    }
    let rows = values.chunks_exact(right.len()).zip(&left);
    let norm: f64 = rows.map(|(row, u)| u * row.iter().zip(&right).map(|(w, v)| w * v).sum::<f64>()).sum();
    of_shape(whole, values.iter().map(|value| value / norm)).map(Some)
}

/// A direction in its length: one for all of it, or one for each place along an axis.
fn normed(direction: &Array, length: &Array) -> Result<Option<Array>> {
    let shape = direction.shape();
    let (values, lengths) = (direction.to_f64()?, length.to_f64()?);
    let axis = match lengths.len() {
        1 => None,
        count => {
            let mut long = length.shape().iter().enumerate().filter(|(_, n)| **n > 1);
            match (long.next(), long.next()) {
                (Some((axis, _)), None) if length.shape().len() == shape.len() && shape[axis] == count => Some(axis),
                _ => return Ok(None),
            }
        }
    };
    // Numbers with the same place along the axis lie in runs of this length.
    let run = axis.map_or(values.len().max(1), |axis| shape[axis + 1..].iter().product::<usize>().max(1));
    let place = |i: usize| i / run % lengths.len();
    let mut norms = crate::memory::zeros::<f64>("lengths of a weight", lengths.len())?;
    values.iter().enumerate().for_each(|(i, value)| norms[place(i)] += value * value);
    let scaled = values.iter().enumerate().map(|(i, value)| value * (lengths[place(i)] / norms[place(i)].sqrt()));
    of_shape(direction, scaled).map(Some)
}

fn of_shape(like: &Array, values: impl Iterator<Item = f64>) -> Result<Array> {
    Array::new(like.shape().to_vec(), Elements::F64(collected("a weight", values)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{npz, pytorch};

    fn fixture() -> (Arrays, Arrays) {
        let file = include_bytes!("../../../tests/fixtures/pytorch/parametrized.pt");
        let expected = include_bytes!("../../../tests/fixtures/pytorch/parametrized.npz");
        (pytorch::read(file).expect("a checkpoint").arrays, npz::read(expected).expect("weights"))
    }

    #[test]
    fn weights_are_those_that_pytorch_computes() {
        let (given, expected) = fixture();
        let found = composed(given).expect("weights");
        assert_eq!(found.arrays.len(), expected.arrays.len(), "{}", found.listed());
        for (name, array) in &found.arrays {
            let wanted = expected.get(name).unwrap_or_else(|| panic!("{name} is not PyTorch's"));
            assert_eq!(array.shape(), wanted.shape(), "{name}");
            let (array, wanted) = (array.to_f64().expect("numbers"), wanted.to_f64().expect("numbers"));
            for (a, b) in array.iter().zip(&wanted) {
                assert!((a - b).abs() <= 1e-14 * b.abs().max(1.0), "{name}: {a} {b}");
            }
        }
        assert_eq!(
            found.notes[2..5],
            [
                "3 of the weights and biases are pruned by their masks: what is 0 is a parameter all the same",
                "3 of the weights and biases are divided by their spectral norms, as they are when the network is evaluated",
                "5 of the weights and biases are computed from their length and direction",
            ]
        );
    }

    #[test]
    fn what_the_file_does_not_tell_is_refused() {
        let (given, _) = fixture();
        let only = |keep: &dyn Fn(&str) -> bool| {
            let arrays = given.arrays.iter().filter(|(name, _)| keep(name)).cloned().collect();
            composed(Arrays { arrays, ..Arrays::default() })
        };
        for lost in ["pruned.weight_mask", "spectral.weight_u", "listed.parametrizations.weight.0._v"] {
            let error = only(&|name| name != lost).expect_err(lost);
            assert!(error.message.contains("is computed from") && error.message.contains("prune.remove"), "{error}");
        }
        let mut odd = given.clone();
        let array = Array::new(vec![2], Elements::F64(vec![0.0; 2])).expect("an array");
        odd.arrays.push(("listed.parametrizations.weight.0.base".into(), array));
        assert!(composed(odd).is_err());
        // A direction without a length, and such an end of a name, may be anything.
        assert!(
            only(&|name| name == "normed.weight_v" || name == "normed.bias").expect("as they are").notes.is_empty()
        );
    }
}
