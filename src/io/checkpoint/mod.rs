//! Weights without a graph: matched to a network that somebody names, to a preset, or to one that their names and shapes propose.

mod blocks;
mod chains;
mod choices;
mod doubts;
mod foreign;
mod matching;
mod modules;
mod order;
mod parametrized;
mod partners;
mod proposal;
mod residual;
mod slots;
mod tied;

#[cfg(test)]
mod tests;

use serde_json::Value;

use self::matching::Matched;
use self::modules::Module;
pub(super) use self::modules::is_of_a_layer;
pub(super) use self::slots::shape as weight_shape;
use super::dataset::natural;
use super::{Array, Arrays, Elements, Graph};
use crate::error::{Result, bail};
use crate::network::{Network, Preset};

/// A file's arrays as those of layers: weights in the place of what they are computed from, and in an order that is the layers'.
///
/// # Errors
/// `InvalidNetwork` for a weight that is computed in a way that is not known; `TooLarge`.
pub(super) fn prepared(arrays: Arrays) -> Result<Arrays> {
    let mut arrays = parametrized::composed(arrays)?;
    // Whoever sorts names by alphabet has 10 before 2, which is not the order of the layers.
    if arrays.arrays.is_sorted_by(|(a, _), (b, _)| a < b) {
        arrays.arrays.sort_by(|(a, _), (b, _)| natural(a, b));
    }
    Ok(arrays)
}

/// The graph of a network with these weights. Without a network it is the preset that they fit, a residual network by
/// the names of its blocks, or a chain; notes say so.
///
/// # Errors
/// `InvalidNetwork` where they are no such network's, with what there is.
pub(super) fn graph(arrays: &Arrays, network: Option<&Network>, input: Option<&[usize]>) -> Result<Graph> {
    let (modules, left) = modules::modules(arrays);
    if modules.is_empty() {
        bail!(InvalidNetwork, "there are no weights of layers among the file's arrays: {}", arrays.listed());
    }
    ensure_told(&modules, &left, arrays)?;
    let (mut graph, four_rows) = match network {
        Some(network) => {
            let mut matched = matching::matched(network, &modules, arrays.is_own)?;
            let four_rows = std::mem::take(&mut matched.open_rows);
            (matched.with_order(), four_rows)
        }
        None => {
            let four_rows = doubts::four_rows(&modules).map(|m| modules[m].name.clone()).collect();
            foreign::ensure_known(&left, arrays)?;
            (unnamed(&modules, input, arrays)?, four_rows)
        }
    };
    graph.notes.extend(tied::ensure_apart(&graph, arrays, network.is_some())?);
    graph.notes.splice(0..0, arrays.notes.iter().cloned());
    graph.notes.extend(guessed(&modules, arrays));
    if let Some(all) = first_of(&four_rows) {
        graph.notes.push(format!(
            "the four rows behind {all} were taken for γ, β, mean and variance: a layer with a bias has that and three where its \
             normalisation is without γ or β (Keras' scale=False and center=False); if so, name the arrays"
        ));
    }
    graph.notes.extend(foreign::told(&left, arrays));
    Ok(graph)
}

/// Does no array's name say what it is of a layer?
fn are_nameless(arrays: &Arrays) -> bool {
    !arrays.arrays.iter().any(|(name, _)| is_of_a_layer(name))
}

/// The first of these names and how many others there are; `None` of none.
fn first_of(names: &[impl AsRef<str>]) -> Option<String> {
    let [first, others @ ..] = names else { return None };
    let first = first.as_ref();
    Some(if others.is_empty() { first.into() } else { format!("{first} and {} more", others.len()) })
}

/// What was taken for weights though nothing says so, a sentence each.
fn guessed(modules: &[Module], arrays: &Arrays) -> Vec<String> {
    let mut notes = Vec::new();
    if are_nameless(arrays) {
        let taken: Vec<String> = modules.iter().map(Module::described).collect();
        notes.push(format!(
            "no array has a name of weights: {} were taken for layers, in the file's order",
            taken.join(", ")
        ));
    }
    let is_whole = |module: &Module| {
        let (name, array) = module.weight()?;
        matches!(array.elements(), Elements::U8(_) | Elements::I64(_)).then(|| name.to_owned())
    };
    let whole: Vec<String> = modules.iter().filter_map(is_whole).collect();
    if let Some(all) = first_of(&whole) {
        notes.push(format!(
            "{all} are whole numbers, and were taken as they are: a model that was quantised has scales beside them, and must be saved \
             before it is"
        ));
    }
    notes
}

/// Layers of weights that nobody has named a network for, as JSON: a chain that need not fit.
///
/// # Errors
/// `InvalidNetwork` where there are none.
pub(super) fn draft(arrays: &Arrays, input: Option<&[usize]>) -> Result<Value> {
    match proposal::draft(&modules::modules(arrays).0, input) {
        Some(network) => Ok(network),
        None => bail!(InvalidNetwork, "there are no weights of layers among the file's arrays: {}", arrays.listed()),
    }
}

/// Do arrays have the names of layers' weights?
pub(super) fn has_layers(arrays: &Arrays) -> bool {
    modules::modules(arrays).0.iter().any(|module| module.width().is_none())
}

/// Of weights that nobody has named a network for.
fn unnamed(modules: &[Module], input: Option<&[usize]>, arrays: &Arrays) -> Result<Graph> {
    let fitting = Preset::ALL.into_iter().filter_map(|preset| {
        let network = preset.network();
        let fits = input.is_none_or(|input| input == network.input());
        fits.then(|| matching::matched(&network, modules, arrays.is_own).ok().map(|matched| (preset, matched)))?
    });
    // Of a normalisation that computes its statistics anew, the weights fit too: nobody has said that they are scales.
    let (mut fitting, doubtful): (Vec<(Preset, Matched)>, Vec<_>) =
        fitting.partition(|(_, matched)| matched.doubtful.is_none());
    if !fitting.is_empty() {
        let names: Vec<&str> = fitting.iter().map(|(preset, _)| preset.name()).collect();
        let said = match &names[..] {
            [one] => format!("the weights fit the preset {one}: its activations, pools and shortcuts are assumed"),
            [first, others @ ..] => format!(
                "the weights fit the preset {first}, which is assumed, but also {}: name the one that is meant",
                others.join(", ")
            ),
            [] => String::new(),
        };
        let mut graph = fitting.swap_remove(0).1.with_order();
        graph.notes.insert(0, said);
        return Ok(graph);
    }
    if let Some((preset, Matched { doubtful: Some(names), .. })) = doubtful.first() {
        bail!(
            InvalidNetwork,
            "the weights fit the preset {0}, but {names} without statistics may be a layer, group or instance normalisation or a PReLU, \
             which are not known: name {0} as their network if they are scales",
            preset.name()
        )
    }
    let of = |(network, notes): (Network, Vec<String>)| -> Result<Graph> {
        let mut graph = matching::matched(&network, modules, arrays.is_own)?.graph;
        graph.notes.splice(0..0, notes);
        Ok(graph)
    };
    match blocks::proposed(modules, input)?.and_then(|residual| of(residual).ok()) {
        Some(graph) => Ok(graph),
        None => of(proposal::proposed(modules, input)?),
    }
}

/// Fails where rows without names that say so stand behind a layer as wide: they may be scales, statistics or biases, and without them
/// another network would be measured.
fn ensure_told(modules: &[Module], left: &[&str], arrays: &Arrays) -> Result<()> {
    if !are_nameless(arrays) {
        return Ok(());
    }
    let widths: Vec<usize> = modules
        .iter()
        .filter_map(|module| match &module.kind {
            modules::Kind::Affine { bias: Some(bias), .. } => Some(bias.1.elements().len()),
            _ => None,
        })
        .collect();
    let is_open = |(name, array): &&(String, Array)| {
        left.contains(&name.as_str()) && matches!(array.shape(), [len] if widths.contains(len))
    };
    let open: Vec<&str> = arrays.arrays.iter().filter(is_open).map(|(name, _)| name.as_str()).collect();
    if open.is_empty() {
        return Ok(());
    }
    bail!(
        InvalidNetwork,
        "nothing says what {} are: behind a matrix or a kernel without names there may be its bias, and four rows of a normalisation, \
         γ, β, mean and variance; name the arrays (layer.kernel, layer.bias, norm.gamma and so on)",
        open.join(", ")
    )
}
