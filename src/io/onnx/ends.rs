//! Where a graph ends: which tensor is the output, what behind it is taken off, and which nodes it needs.

use std::collections::HashSet;

use super::activation::Activation;
use super::convert::givers;
use super::node::Node;
use super::proto::{GraphProto, ValueInfoProto};
use super::shapes::places;
use crate::error::{Result, bail, ensure, some_of};

/// The output, and what it needs.
pub struct Ends<'a> {
    /// The tensor.
    pub output: &'a str,
    /// Numbers of the nodes that it needs.
    pub needed: HashSet<usize>,
    /// Nodes that were taken off behind it, with the axis over which each goes.
    pub takes: Vec<(Node<'a>, i64)>,
    /// Sentences for the reader.
    pub notes: Vec<String>,
}

impl<'a> Ends<'a> {
    /// Of a graph's first output, or the one that is asked for.
    ///
    /// # Errors
    /// `InvalidNetwork` where others are no intermediate results of that; `InvalidOption` where the one that is asked for is not
    /// there.
    pub fn of(graph: &'a GraphProto, nodes: &[Node<'a>], opset: i64, output: Option<&str>) -> Result<Self> {
        let givers = givers(nodes);
        let mut names: Vec<&'a str> = graph.output.iter().map(|info| &info.name[..]).collect();
        let mut notes = Vec::new();
        let tensors: HashSet<&str> = graph.initializer.iter().map(|tensor| &tensor.name[..]).collect();
        let inputs: HashSet<&str> = graph.input.iter().map(|info| &info.name[..]).collect();
        // What is declared and not there is no second output, and says nothing of the first.
        let is_there = |name: &str| givers.contains_key(name) || tensors.contains(name) || inputs.contains(name);
        let absent: Vec<&str> = names.iter().copied().filter(|name| !is_there(name)).collect();
        names.retain(|name| is_there(name));
        if let Some(wanted) = output.filter(|wanted| absent.contains(wanted)) {
            bail!(
                InvalidOption,
                "the graph declares the output {wanted}, but none of its nodes gives it; its outputs are {}",
                names.join(", ")
            )
        }
        if let (Some(first), true, None) = (absent.first(), names.is_empty(), output) {
            bail!(
                Parse,
                "the graph declares the output {first}, but none of its nodes gives it: export the model again, or say by the option \
                 output which tensor is meant"
            )
        }
        if !absent.is_empty() {
            notes.push(format!(
                "outputs that the graph declares, but none of its nodes gives, are left out: {}",
                listed(&absent)
            ));
        }
        // Classes that a model has chosen are no outputs that a loss could be of, where it has others.
        let labels = graph.output.iter().filter(|info| is_whole(info)).map(|info| &info.name[..]);
        let labels: Vec<&str> = labels.filter(|name| names.contains(name)).collect();
        if output.is_none() && !labels.is_empty() && labels.len() < names.len() {
            names.retain(|name| !labels.contains(name));
            notes.push(format!("outputs of whole numbers or text are left out: {}", labels.join(", ")));
        }
        let chosen = match output {
            None => names.first().copied(),
            Some(wanted) => {
                let found = givers.get_key_value(wanted).map(|(name, _)| *name);
                ensure!(
                    found.is_some(),
                    InvalidOption,
                    "the model has no output or tensor {wanted}; its outputs are {}",
                    names.join(", ")
                );
                found
            }
        };
        let Some(chosen) = chosen else { bail!(Parse, "the graph has no output") };
        ensure!(
            !tensors.contains(chosen) || inputs.contains(chosen),
            InvalidNetwork,
            "the model's output {chosen} is a tensor of the file, and does not depend on its input"
        );
        let giver = |name: &str| givers.get(name).and_then(|&i| nodes.get(i)).copied();
        let (end, takes) = stripped(chosen, opset, nodes.len(), giver)?;
        let needed = needed(end, giver);
        let mut found = Self { output: end, needed, takes, notes };
        if output.is_none() {
            let is_open = |name: &str| inputs.contains(name) && !tensors.contains(name);
            found.ensure_intermediate(chosen, &names, opset, nodes.len(), giver, is_open)?;
        }
        for (node, _) in &found.takes {
            found.notes.push(format!(
                "{} at the end is taken off: outputs are what comes into it, as the cross-entropy loss takes them",
                node.op()
            ));
        }
        Ok(found)
    }

    /// Fails for outputs that do not lie on the way to the one that is taken, unless no input changes them.
    fn ensure_intermediate(
        &mut self,
        chosen: &str,
        names: &[&'a str],
        opset: i64,
        count: usize,
        giver: impl Fn(&str) -> Option<Node<'a>>,
        is_open: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let mut fixed = Vec::new();
        // Each is followed back, and their nodes may be the same.
        for name in names.iter().skip(1).take(64) {
            let (other, _) = stripped(name, opset, count.min(8), &giver)?;
            let is_between = is_open(other) || giver(other).is_some_and(|node| self.needed.contains(&node.index));
            if other != self.output && !is_between && !depends(other, &giver, &is_open) {
                fixed.push(*name);
                continue;
            }
            ensure!(
                other == self.output || is_between,
                InvalidNetwork,
                "the model has {} outputs ({}), but isoflat's networks have one: say which is meant by the option output, or export \
                 the model with one",
                names.len(),
                names.iter().take(8).copied().collect::<Vec<_>>().join(", ")
            );
        }
        ensure!(
            names.len() <= 64,
            InvalidNetwork,
            "the model has {} outputs, but isoflat's networks have one",
            names.len()
        );
        if !fixed.is_empty() {
            self.notes.push(format!("outputs that no input changes are left out: {}", listed(&fixed)));
        }
        let count = names.len() - fixed.len();
        if count > 1 {
            self.notes
                .push(format!("of the model's {count} outputs, {chosen} is taken; the others lie on the way to it"));
        }
        Ok(())
    }
}

/// Names in a sentence, of very many the first ones.
fn listed(names: &[&str]) -> String {
    const MOST: usize = 8;
    some_of(&names[..names.len().min(MOST)], names.len())
}

/// Has a tensor whole numbers or text?
fn is_whole(info: &ValueInfoProto) -> bool {
    let of_type = info.r#type.as_ref().and_then(|of| of.tensor_type.as_ref());
    of_type.is_some_and(|of| matches!(of.elem_type, 2..=9 | 12 | 13))
}

/// A tensor without the softmax and the like behind it.
fn stripped<'a>(
    output: &'a str,
    opset: i64,
    most: usize,
    giver: impl Fn(&str) -> Option<Node<'a>>,
) -> Result<(&'a str, Vec<(Node<'a>, i64)>)> {
    let (mut name, mut takes) = (output, Vec::new());
    for _ in 0..most {
        let Some(node) = giver(name) else { break };
        let is_standard = match &node.proto.domain[..] {
            "" | "ai.onnx" => node.op() != "ZipMap",
            domain => domain == "ai.onnx.ml" && node.op() == "ZipMap",
        };
        let axis = match node.op() {
            "Softmax" | "LogSoftmax" | "Hardmax" => Some(node.int("axis", if opset < 13 { 1 } else { -1 })),
            "ArgMax" => Some(node.int("axis", 0)),
            // Numbers with the classes' names, as scikit-learn's converter writes them.
            "Identity" | "ZipMap" => None,
            "Cast" | "Flatten" | "Reshape" | "Squeeze"
                if giver(node.input(0)?)
                    .is_some_and(|before| matches!(before.op(), "ArgMax" | "Softmax" | "LogSoftmax")) =>
            {
                None
            }
            _ => break,
        };
        // Of two softmaxes the loss has one; a second logarithm of shares changes nothing.
        let is_other = takes.iter().any(|(after, _): &(Node, i64)| after.op().ends_with("Softmax"));
        if !is_standard || (is_other && node.op() == "Softmax") {
            break;
        }
        takes.extend(axis.map(|axis| (node, axis)));
        name = node.input(0)?;
    }
    Ok((name, takes))
}

/// The nodes that a tensor needs.
fn needed<'a>(output: &'a str, giver: impl Fn(&str) -> Option<Node<'a>>) -> HashSet<usize> {
    let mut found = HashSet::new();
    let mut open = vec![output];
    while let Some(name) = open.pop() {
        if let Some(node) = giver(name)
            && found.insert(node.index)
        {
            open.extend(node.proto.input.iter().filter(|name| !name.is_empty()).map(String::as_str));
        }
    }
    found
}

/// Does a tensor hang on an input?
fn depends<'a>(output: &'a str, giver: impl Fn(&str) -> Option<Node<'a>>, is_open: impl Fn(&str) -> bool) -> bool {
    let (mut seen, mut open) = (HashSet::new(), vec![output]);
    while let Some(name) = open.pop() {
        if is_open(name) {
            return true;
        }
        if let Some(node) = giver(name)
            && seen.insert(node.index)
        {
            open.extend(node.proto.input.iter().filter(|name| !name.is_empty()).map(String::as_str));
        }
    }
    false
}

/// Fails where what was taken off does not go over the classes.
///
/// # Errors
/// `InvalidNetwork`.
pub fn ensure_over_classes((node, axis): &(Node, i64), found: &Activation) -> Result<()> {
    let rank = found.axes.len();
    let at = places(*node, &[*axis], rank)?;
    ensure!(
        at.first().copied() == found.channel_axis(),
        InvalidNetwork,
        "{} at the end goes over axis {axis} of {}, which is not that of the outputs",
        node.title(),
        found.described()
    );
    Ok(())
}
