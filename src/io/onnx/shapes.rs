//! Nodes that only change how numbers are looked at: reshapes, transposes, squeezes.

use super::activation::{Activation, Axis, ROW};
use super::constant::{Constant, Numbers, Size};
use super::node::Node;
use super::reader::{Reader, Value};
use super::tensor::{MOST_AXES, is_floating, type_name};
use crate::error::{Result, bail, ensure};
use crate::network::{Layer, Source};

/// The lengths of an activation's axes.
pub fn sizes(found: &Activation) -> Vec<Size> {
    let size = |&axis: &Axis| match axis {
        Axis::Batch => Size::BATCH,
        axis => Size::known(found.length(axis) as i64),
    };
    found.axes.iter().map(size).collect()
}

/// Axes by number; negative ones count from the end.
pub fn places(node: Node, axes: &[i64], rank: usize) -> Result<Vec<usize>> {
    let place = |&axis: &i64| {
        let at = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
        at.and_then(|at| usize::try_from(at).ok()).filter(|&at| at < rank)
    };
    match axes.iter().map(place).collect::<Option<Vec<usize>>>() {
        Some(places) if places.len() <= MOST_AXES => Ok(places),
        _ => bail!(Parse, "{} names axes {axes:?} of a tensor that has {rank}", node.title()),
    }
}

impl<'a> Reader<'a> {
    /// As a row of features, which a dense layer reads.
    pub(super) fn as_row(&mut self, node: Node<'a>, found: Activation) -> Result<Activation> {
        ensure!(
            found.is(&ROW),
            InvalidNetwork,
            "{} reads {}, but a dense layer reads rows of features, [N, features]: put a Flatten before it",
            node.title(),
            found.described()
        );
        let is_image = !found.is_row || found.source == Source::Input && self.input.len() == 3;
        if is_image {
            self.plain(node, Layer::Flatten, &found).map(|row| row.with_axes(ROW.to_vec()))
        } else {
            Ok(found)
        }
    }

    /// Passes on what a node reads.
    pub(super) fn identity(&mut self, node: Node<'a>) -> Result<()> {
        if node.op() == "Dropout" {
            node.ensure_known(&["ratio", "seed"])?;
            let is_training = self.known(node, 2)?.is_some_and(|mode| mode != [0]);
            ensure!(
                !is_training,
                InvalidNetwork,
                "{} drops values at random, as in training: export the model for inference",
                node.title()
            );
        }
        let value = self.value(node, node.input(0)?)?.clone();
        self.shared(node, value)
    }

    /// Gives a value under another name, which what others do to the first may not change.
    fn shared(&mut self, node: Node<'a>, value: Value<'a>) -> Result<()> {
        let value = match value {
            Value::Function(function) if !function.is_whole() => Value::Function(function),
            Value::Activation(_) | Value::Function(_) => Value::Activation(self.activation(node, 0)?),
            other => other,
        };
        self.give(node, value)
    }

    /// A change of type: among floating-point numbers, and of whole ones to others.
    pub(super) fn cast(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&["to", "saturate", "round_mode"])?;
        let to = i32::try_from(node.int("to", 0)).unwrap_or(0);
        let value = self.value(node, node.input(0)?)?.clone();
        match value {
            Value::Activation(_) | Value::Function(_) => {
                ensure!(
                    is_floating(to),
                    InvalidNetwork,
                    "{} makes whole numbers of what a layer gives ({}): isoflat's networks are smooth almost everywhere",
                    node.title(),
                    type_name(to)
                );
                if !matches!(to, 1 | 11) {
                    self.builder.note("the model rounds to half precision on the way, isoflat does not".into());
                }
            }
            Value::Constant(Constant { is_floating: true, .. }) if !is_floating(to) => {
                let numbers = self.whole_numbers(node, node.input(0)?)?;
                let Some(numbers) = numbers else {
                    bail!(InvalidNetwork, "{} makes whole numbers of weights ({})", node.title(), type_name(to))
                };
                return self.give(node, Value::Numbers(Numbers { is_floating: false, ..numbers }));
            }
            Value::Constant(Constant { is_floating: true, .. }) if !matches!(to, 1 | 11) => {
                self.builder.note("the model rounds weights to half precision, isoflat does not".into());
            }
            Value::Numbers(numbers) => {
                return self.give(node, Value::Numbers(Numbers { is_floating: is_floating(to), ..numbers }));
            }
            _ => {}
        }
        self.shared(node, value)
    }

    /// Axes in another order.
    pub(super) fn transpose(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&["perm"])?;
        let value = self.value(node, node.input(0)?)?.clone();
        let rank = match &value {
            Value::Constant(constant) => constant.view.lengths.len(),
            Value::Numbers(numbers) => numbers.shape.len(),
            Value::Zeros(sizes) => sizes.len(),
            Value::Activation(found) => found.axes.len(),
            Value::Function(function) => function.base.axes.len(),
        };
        let order = match node.ints("perm") {
            Some(axes) => places(node, axes, rank)?,
            None => (0..rank).rev().collect(),
        };
        let mut sorted = order.clone();
        sorted.sort_unstable();
        ensure!(sorted.into_iter().eq(0..rank), Parse, "{} has no order of {rank} axes: {order:?}", node.title());
        match value {
            Value::Constant(constant) => {
                let view = constant.view.transposed(&order).unwrap_or_default();
                self.give(node, Value::Constant(Constant { view, ..constant }))
            }
            Value::Zeros(sizes) => {
                let sizes = order.iter().filter_map(|&i| sizes.get(i).copied()).collect();
                self.give(node, Value::Zeros(sizes))
            }
            Value::Numbers(numbers) => self.transpose_numbers(node, &numbers, &order),
            Value::Activation(_) | Value::Function(_) => {
                let found = self.activation(node, 0)?;
                ensure!(
                    order.first() == Some(&0),
                    InvalidNetwork,
                    "{} puts the samples, the first axis of {}, elsewhere",
                    node.title(),
                    found.described()
                );
                let axes = order.iter().filter_map(|&i| found.axes.get(i).copied()).collect();
                self.give(node, Value::Activation(found.with_axes(axes)))
            }
        }
    }

    /// Puts axes of length 1 in, or takes them out: an attribute before version 13, then an input.
    pub(super) fn squeeze(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&["axes"])?;
        let axes = match node.ints("axes") {
            Some(axes) => Some(axes.to_vec()),
            None => self.known(node, 1)?,
        };
        let sizes = match self.value(node, node.input(0)?)? {
            Value::Constant(constant) => known_sizes(&constant.view.lengths),
            Value::Numbers(numbers) => known_sizes(&numbers.shape),
            Value::Zeros(sizes) => sizes.clone(),
            Value::Activation(_) | Value::Function(_) => sizes(&self.activation(node, 0)?),
        };
        let rank = sizes.len();
        let is_one = |at: usize| sizes.get(at) == Some(&Size::known(1));
        let mut target = Vec::new();
        if node.op() == "Unsqueeze" {
            let axes = axes.unwrap_or_default();
            let places = places(node, &axes, rank.saturating_add(axes.len()).min(MOST_AXES))?;
            let mut old = sizes.iter();
            for at in 0..rank + places.len() {
                let size = if places.contains(&at) { Some(Size::known(1)) } else { old.next().copied() };
                target.extend(size);
            }
        } else {
            let places = match axes {
                Some(axes) => places(node, &axes, rank)?,
                None => (0..rank).filter(|&at| is_one(at)).collect(),
            };
            ensure!(
                places.iter().all(|&at| is_one(at)),
                InvalidNetwork,
                "{} takes axes {places:?} out, which are not all of length 1",
                node.title()
            );
            target.extend(sizes.iter().enumerate().filter(|(at, _)| !places.contains(at)).map(|(_, size)| *size));
        }
        self.reshape_to(node, &target)
    }

    /// Another shape.
    pub(super) fn reshape(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&["allowzero"])?;
        let target = node.input(1)?;
        let Some(Numbers { values: mut target, .. }) = self.whole_numbers(node, target)? else {
            bail!(
                InvalidNetwork,
                "{} has a shape that hangs on the input, or is no shape: export the model with a fixed shape of its input",
                node.title()
            )
        };
        if node.int("allowzero", 0) == 0 {
            let from = match self.value(node, node.input(0)?)? {
                Value::Constant(constant) => known_sizes(&constant.view.lengths),
                Value::Numbers(numbers) => known_sizes(&numbers.shape),
                Value::Zeros(sizes) => sizes.clone(),
                Value::Activation(_) | Value::Function(_) => sizes(&self.activation(node, 0)?),
            };
            for (size, old) in target.iter_mut().zip(from).filter(|(size, _)| **size == Size::known(0)) {
                *size = old;
            }
        }
        self.reshape_to(node, &target)
    }

    /// (N, everything else).
    pub(super) fn flatten(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&["axis"])?;
        let found = self.activation(node, 0)?;
        let axis = node.int("axis", 1);
        ensure!(
            axis == 1 || axis.checked_add(found.axes.len() as i64) == Some(1),
            InvalidNetwork,
            "{} flattens {} from axis {axis}, but samples stay apart: axis 1",
            node.title(),
            found.described()
        );
        self.reshape_to(node, &[Size::BATCH, Size::known(-1)])
    }
}

fn known_sizes(lengths: &[usize]) -> Vec<Size> {
    lengths.iter().map(|&n| Size::known(n as i64)).collect()
}
