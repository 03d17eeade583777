//! Arrays of what is no layer here: layers that are not known, a loss' own, and what no name tells. Without them the rest may be another
//! network, so that nothing is made of it unless somebody names the network.

use super::super::{Array, Arrays, Elements};
use super::first_of;
use crate::error::{Result, bail, some_of};

/// Parts of names of layers that are not known, by what these are.
const RECURRENT: &[&str] = &[
    "weight_ih",
    "weight_hh",
    "bias_ih",
    "bias_hh",
    "recurrent_kernel",
    "lstm",
    "grucell",
    "gru_cell",
    "rnncell",
    "rnn_cell",
];
const ATTENTION: &[&str] =
    &["in_proj_weight", "in_proj_bias", "q_proj", "k_proj", "v_proj", "qkv", "attn", "attention"];
const EMBEDDING: &[&str] = &["embed", "wte", "wpe"];

/// Words of names of what training keeps beside a network, which does not compute with it.
const BESIDE: &[&str] =
    &["optim", "optimizer", "optimiser", "avg", "momentum", "momentums", "grad", "grads", "ema", "shadow", "averaged"];

/// The words between a name's points and slashes.
fn parts(name: &str) -> impl Iterator<Item = String> {
    name.split(['.', '/', ':']).map(str::to_ascii_lowercase)
}

fn has_part(name: &str, words: &[&str]) -> bool {
    parts(name).any(|part| words.iter().any(|word| part.contains(word)))
}

/// Does a name say that it belongs to a loss? Its weights of classes are no layer's.
pub(super) fn is_of_a_loss(name: &str) -> bool {
    let is_loss = |word: &str| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        word.ends_with("loss") || word.starts_with("criteri")
    };
    parts(name).any(|part| part.split('_').any(is_loss))
}

/// Does training keep it, and the network not compute with it? Whole numbers and booleans are counts, places and masks of buffers.
fn is_beside(name: &str, array: &Array) -> bool {
    array.elements().is_empty()
        || matches!(array.elements(), Elements::U8(_) | Elements::I64(_))
        || is_of_a_loss(name)
        || parts(name).any(|part| part.split('_').any(|word| BESIDE.contains(&word)))
}

/// The layer that is not known, of which an array is by its name.
fn unknown_layer(name: &str, array: &Array, arrays: &Arrays) -> Option<&'static str> {
    if has_part(name, RECURRENT) {
        return Some("a recurrent layer");
    }
    if has_part(name, ATTENTION) || parts(name).any(|part| part == "query") {
        return Some("attention");
    }
    // A dense layer may be called so as well, and has a bias.
    let layer = name.rfind(['.', '/', '_']).map_or(name, |at| &name[..=at]);
    let is_bias = |(other, _): &(String, Array)| other.strip_prefix(layer).is_some_and(|leaf| leaf.starts_with("bias"));
    let is_table = array.shape().len() == 2 && !arrays.arrays.iter().any(is_bias);
    let is_embedding = is_table && (has_part(name, EMBEDDING) || parts(name).any(|part| part == "emb"));
    is_embedding.then_some("an embedding")
}

/// Fails where nobody has named a network, and a file has layers that are not known, or a matrix of which nothing says what it is.
pub(super) fn ensure_known(left: &[&str], arrays: &Arrays) -> Result<()> {
    const OTHERWISE: &str = "without it the others may be another network: say which network they are of, or open a format that has the \
                             graph, as ONNX does";
    let with_layer = |(name, array): &(String, Array)| {
        Some((name.clone(), unknown_layer(name, array, arrays)?, array.shape().to_vec()))
    };
    let known = arrays.arrays.iter().filter(|(name, array)| !is_beside(name, array));
    if let Some((name, layer, shape)) = known.clone().find_map(with_layer) {
        bail!(InvalidNetwork, "{name} {shape:?} is of {layer}, by its name, which is no layer here; {OTHERWISE}")
    }
    let is_wide = |array: &Array| array.shape().iter().filter(|&&len| len > 1).count() > 1;
    let mut open = known.filter(|(name, array)| left.contains(&name.as_str()) && is_wide(array));
    if let Some((name, array)) = open.next() {
        bail!(InvalidNetwork, "no name says what {name} {:?} is of a layer, and {OTHERWISE}", array.shape())
    }
    Ok(())
}

/// What is said of arrays that are left out, a sentence for those of each kind.
pub(super) fn told(left: &[&str], arrays: &Arrays) -> Vec<String> {
    const MOST: usize = 12;
    let mut notes = Vec::new();
    let (of_loss, others): (Vec<&str>, Vec<&str>) = left.iter().partition(|name| is_of_a_loss(name));
    let is_quiet = |name: &&&str| arrays.get(name).is_none_or(|array| is_beside(name, array));
    let (beside, open): (Vec<&str>, Vec<&str>) = others.iter().partition(|name| is_quiet(name));
    if !open.is_empty() {
        notes.push(format!(
            "left out, since no name says what they are of a layer: {}. If the network computes with them, as with a factor, a temperature \
             or a mean that is taken off its inputs, then what is measured here is another network",
            some_of(&open[..open.len().min(MOST)], open.len())
        ));
    }
    if let Some(all) = first_of(&of_loss) {
        notes.push(format!(
            "left out, since the name says that it is the loss' own: {all}; classes have no weights here, and the loss is the one without"
        ));
    }
    if !beside.is_empty() {
        notes.push(format!("arrays that are no layer's weights are left out: {}", beside.join(", ")));
    }
    notes
}
