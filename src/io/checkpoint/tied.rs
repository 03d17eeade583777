//! Weights that two layers share. Each layer has parameters of its own here, so that one weight would become two; and where a file has it
//! under one of its names alone, a layer would be lost.

use std::collections::{HashMap, HashSet};

use super::super::{Arrays, Graph, GraphNode, Operation};
use crate::error::{Result, bail};

/// Fails where two weights of a network are the same numbers of a file; what is said where a file has a network's weights under other
/// names too, as of a model that wraps itself. Has somebody named the network?
///
/// # Errors
/// `InvalidNetwork`.
pub(super) fn ensure_apart(graph: &Graph, arrays: &Arrays, is_named: bool) -> Result<Option<String>> {
    if arrays.shared.is_empty() {
        return Ok(None);
    }
    let used: HashSet<&str> = graph.nodes.iter().flat_map(tensors).collect();
    let held: HashSet<&str> = arrays.arrays.iter().map(|(name, _)| name.as_str()).collect();
    let is_whole = is_twice(&used, &held, arrays);
    let (mut first, mut other_names) = (HashMap::new(), Vec::new());
    for [other, kept] in &arrays.shared {
        let among = |name: &str| used.contains(name);
        let pair = if held.contains(other.as_str()) {
            // Of more than two with the same numbers, the network may have any.
            let before = first.entry(kept.as_str()).or_insert_with(|| among(kept).then_some(kept.as_str()));
            let pair = before.filter(|_| among(other)).map(|before| [other.as_str(), before]);
            *before = before.or_else(|| among(other).then_some(other.as_str()));
            pair
        } else {
            // A layer that has nothing but this name may be another name of the one that is there.
            let is_alias = is_whole || is_named && !has_more(other, &held);
            if is_alias && among(kept) {
                other_names.push(other.as_str());
            }
            (among(kept) && !is_alias).then_some([other.as_str(), kept.as_str()])
        };
        if let Some([other, kept]) = pair {
            bail!(
                InvalidNetwork,
                "{other} and {kept} are the same numbers in the file: two layers share a weight, but in isoflat each layer has parameters \
                 of its own, so that one weight would become two; save a tensor for each (tensor.clone()) if the network without this tie \
                 is meant"
            )
        }
    }
    let all = super::first_of(&other_names);
    Ok(all.map(|all| format!("the file has other names of weights that are taken once: {all}")))
}

/// The names of what a layer's parameters come from.
fn tensors(node: &GraphNode) -> impl Iterator<Item = &str> {
    let pair = match &node.operation {
        Operation::Layer { weight, bias, .. } => [weight, bias],
        Operation::BatchNorm(norm) => [&norm.scale, &norm.shift],
    };
    pair.into_iter().flatten().filter_map(|slot| Some(slot.place.as_ref()?.tensor.as_str()))
}

/// Does a file have other arrays of the layer whose array of this name it has not?
fn has_more(name: &str, held: &HashSet<&str>) -> bool {
    let layer = |name: &str| name.rsplit_once(['.', '/']).map(|(layer, _)| layer.to_owned());
    layer(name).is_some_and(|own| held.iter().any(|other| layer(other).as_ref() == Some(&own)))
}

/// Is a whole network under two names, so that all its arrays have others that begin in another way?
fn is_twice(used: &HashSet<&str>, held: &HashSet<&str>, arrays: &Arrays) -> bool {
    let pairs = || arrays.shared.iter().filter(|[other, _]| !held.contains(other.as_str()));
    let kept: HashSet<&str> = pairs().map(|[_, kept]| kept.as_str()).collect();
    let mut beginnings = pairs().map(|[other, kept]| beginnings(other, kept));
    let Some(Some(first)) = beginnings.next() else { return false };
    beginnings.all(|found| found == Some(first)) && used.iter().all(|name| kept.contains(name))
}

/// What two names begin with before the layer and its array that both end with; nothing where they are of layers of other names.
fn beginnings<'a>(one: &'a str, other: &'a str) -> Option<[&'a str; 2]> {
    let same = one.rsplit('.').zip(other.rsplit('.')).take_while(|(a, b)| a == b);
    let (count, len) = same.fold((0, 0), |(count, len), (part, _)| (count + 1, len + part.len() + 1));
    let before = |name: &'a str| name.get(..(name.len() + 1).saturating_sub(len));
    if count > 1 { Some([before(one)?, before(other)?]) } else { None }
}
