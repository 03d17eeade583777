//! Nodes that compute number by number: activations, sums of layers, and constants that are biases or factors.

use super::activation::Activation;
use super::constant::{Constant, View};
use super::function::{self, Function, layer_of};
use super::node::Node;
use super::reader::{Reader, Value};
use crate::error::{Result, bail, ensure};
use crate::io::{Operation, Slot};
use crate::network::{Layer, Source};

/// What a node with two inputs does to two numbers.
fn computed(op: &str, a: f64, b: f64) -> f64 {
    match op {
        "Add" | "Sum" => a + b,
        "Sub" => a - b,
        "Mul" => a * b,
        "Div" => a / b,
        "Pow" => a.powf(b),
        "Max" => a.max(b),
        _ => a.min(b),
    }
}

impl<'a> Reader<'a> {
    /// A node that is a function of one number.
    pub(super) fn unary(&mut self, node: Node<'a>) -> Result<()> {
        let known: &[&str] = match node.op() {
            "LeakyRelu" | "Swish" => &["alpha"],
            "Gelu" => &["approximate"],
            _ => &[],
        };
        node.ensure_known(known)?;
        match node.op() {
            "Relu" => self.apply(node, |x| x.max(0.0)),
            "LeakyRelu" => {
                let slope = node.float("alpha", 0.01);
                self.apply(node, |x| if x > 0.0 { x } else { slope * x })
            }
            "Tanh" => self.apply(node, f64::tanh),
            "Sigmoid" => self.apply(node, function::logistic),
            "Softplus" => self.apply(node, function::softplus),
            "Swish" => {
                let alpha = node.float("alpha", 1.0);
                self.apply(node, |x| x * function::logistic(alpha * x))
            }
            "Gelu" => match node.text("approximate", "none") {
                "none" => self.apply(node, function::gelu),
                "tanh" => self.apply(node, function::gelu_tanh),
                other => bail!(Parse, "{} has approximate {other}, but none and tanh are known", node.title()),
            },
            "Erf" => self.apply(node, libm::erf),
            "Exp" => self.apply(node, f64::exp),
            "Log" => self.apply(node, f64::ln),
            "Neg" => self.apply(node, |x| -x),
            "Abs" => self.apply(node, f64::abs),
            _ => self.apply(node, |x| 1.0 / x),
        }
    }

    /// The one number of a slope.
    pub(super) fn prelu(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&[])?;
        let slope = self.constant(node, 1)?;
        let values = self.statistics(&slope, &slope.view)?;
        let Some(&first) = values.first() else { bail!(Parse, "{} has no slope", node.title()) };
        ensure!(
            values.iter().all(|&value| value == first) && first > 0.0,
            InvalidNetwork,
            "{} has {} slopes from {} to {}, but isoflat's leaky_relu has one positive slope for all: train the network with \
             PReLU(1), or LeakyRelu",
            node.title(),
            values.len(),
            values.iter().copied().fold(f64::INFINITY, f64::min),
            values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
        );
        self.builder.note("the slopes of PRelu are no parameters here, but stay as they are".into());
        self.apply(node, |x| if x > 0.0 { x } else { first * x })
    }

    /// Bounds on both sides: before version 11 attributes, then inputs.
    pub(super) fn clip(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&["min", "max"])?;
        let mut bound = |at: usize, name: &str, none: f64| -> Result<f64> {
            if node.has(name) {
                return Ok(node.float(name, 0.0));
            }
            if node.optional(at).is_none() {
                return Ok(none);
            }
            let constant = self.constant(node, at)?;
            match self.scalar(&constant)? {
                Some(value) => Ok(value),
                None => bail!(Parse, "{} has {} numbers as its {name}", node.title(), constant.view.len()),
            }
        };
        let (least, most) = (bound(1, "min", f64::NEG_INFINITY)?, bound(2, "max", f64::INFINITY)?);
        // The largest numbers that there are bound nothing.
        let least = if least <= f64::from(f32::MIN) { f64::NEG_INFINITY } else { least };
        let most = if most >= f64::from(f32::MAX) { f64::INFINITY } else { most };
        self.apply(node, |x| x.max(least).min(most))
    }

    /// A node that computes with two tensors.
    pub(super) fn binary(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&[])?;
        if node.proto.input.len() != 2 {
            return match node.op() {
                "Sum" => self.sum(node, node.proto.input.len()),
                _ => bail!(
                    InvalidNetwork,
                    "{} reads {} tensors, but two are known",
                    node.title(),
                    node.proto.input.len()
                ),
            };
        }
        let is_active = |value: &Value| matches!(value, Value::Activation(_) | Value::Function(_));
        let [left, right] = [0, 1].map(|at| node.input(at).and_then(|name| self.value(node, name).map(is_active)));
        match (left?, right?) {
            (true, true) => self.both(node),
            (true, false) => self.with_constant(node, 0, 1),
            (false, true) => self.with_constant(node, 1, 0),
            (false, false) => self.whole_binary(node),
        }
    }

    /// Two tensors that depend on the input: functions of one thing are one function, else a sum joins two layers.
    fn both(&mut self, node: Node<'a>) -> Result<()> {
        let (a, b) = (self.function(node, 0)?, self.function(node, 1)?);
        let is_sum = matches!(node.op(), "Add" | "Sum");
        let are_layers = layer_of(&a.samples).is_some() && layer_of(&b.samples).is_some();
        if a.base.source == b.base.source && a.base.is_like(&b.base) && !(is_sum && are_layers) {
            let samples = std::array::from_fn(|i| computed(node.op(), a.samples[i], b.samples[i]));
            return self.give(node, Value::Function(Function { base: a.base, samples, node: node.index }));
        }
        ensure!(
            is_sum,
            InvalidNetwork,
            "{} computes with what two layers give, of which isoflat has sums (Add) and Concat alone: attention, gates and squeeze-and-\
             excitation are not known",
            node.title()
        );
        self.sum(node, 2)
    }

    /// The sum of what several layers give.
    fn sum(&mut self, node: Node<'a>, count: usize) -> Result<()> {
        let mut all = Vec::new();
        for at in 0..count {
            all.push(self.unpadded(node, at)?);
        }
        let Some(first) = all.first() else { bail!(Parse, "{} reads nothing", node.title()) };
        for other in &all {
            ensure!(
                first.is_like(other),
                InvalidNetwork,
                "{} adds {} and {}, but isoflat's add takes what has one shape and one order of axes",
                node.title(),
                first.described(),
                other.described()
            );
        }
        if all.iter().any(|one| one.is_row != all[0].is_row) {
            all = all.into_iter().map(|one| self.as_row(node, one)).collect::<Result<_>>()?;
        }
        let sources = all.iter().map(|one| one.source).collect();
        let operation = Operation::Layer { layer: Layer::Add, weight: None, bias: None };
        let source = self.builder.push(operation, sources, node.output()?);
        let Some(first) = all.into_iter().next() else { return Ok(()) };
        self.give(node, Value::Activation(Activation { source, is_shared: false, ..first }))
    }

    /// A tensor that depends on the input, at `active`, and one of the file.
    fn with_constant(&mut self, node: Node<'a>, active: usize, at: usize) -> Result<()> {
        let name = node.input(at)?;
        let constant = match self.value(node, name)? {
            Value::Constant(constant) => constant.clone(),
            Value::Numbers(_) => match self.known(node, at)?.as_deref() {
                Some(&[number]) => return self.with_number(node, active, number as f64),
                _ => bail!(InvalidNetwork, "{} computes with shapes and activations together", node.title()),
            },
            _ => bail!(InvalidNetwork, "{} computes with zeros that stand for no layer: take them out", node.title()),
        };
        if self.give_bias(node, active, &constant)? {
            return Ok(());
        }
        match self.scalar(&constant)? {
            Some(number) => self.with_number(node, active, number),
            None => self.with_channels(node, active, &constant),
        }
    }

    /// One number for all.
    fn with_number(&mut self, node: Node<'a>, active: usize, number: f64) -> Result<()> {
        if node.op() == "Mul" && number == 0.0 {
            let found = self.activation(node, active)?;
            let zeros = Value::Zeros(super::shapes::sizes(&found));
            return self.give(node, zeros);
        }
        let name = node.input(active)?;
        if let Value::Function(before) = self.value(node, name)?
            && layer_of(&before.samples).is_some()
        {
            self.settle(node, name)?;
        }
        let before = self.function(node, active)?;
        let of = |x: f64| match active {
            0 => computed(node.op(), x, number),
            _ => computed(node.op(), number, x),
        };
        let samples = before.samples.map(of);
        self.give(node, Value::Function(Function { base: before.base, samples, node: node.index }))
    }

    /// Adds a constant to what a layer without a bias gives: then it is the layer's bias.
    fn give_bias(&mut self, node: Node<'a>, active: usize, constant: &Constant<'a>) -> Result<bool> {
        let factor = match (node.op(), active) {
            ("Add" | "Sum", _) => 1.0,
            ("Sub", 0) => -1.0,
            _ => return Ok(false),
        };
        let name = node.input(active)?;
        if !matches!(self.value(node, name)?, Value::Activation(_)) {
            return Ok(false);
        }
        let found = self.activation(node, active)?;
        let takes = match self.builder.operation_mut(found.source) {
            Some(Operation::Layer { layer, bias: None, .. }) => layer.is_parametric(),
            _ => false,
        };
        let Some(view) = channels(constant, &found).filter(|_| takes && !found.is_shared && found.padding.is_none())
        else {
            return Ok(false);
        };
        let slot = self.slot(node, constant, &view, factor)?;
        if let Some(Operation::Layer { layer, bias, .. }) = self.builder.operation_mut(found.source) {
            layer.add_bias();
            *bias = Some(slot);
        }
        self.give(node, Value::Activation(Activation { is_shared: false, ..found }))?;
        Ok(true)
    }

    /// A number for each channel: a factor is a scale; what is added must be a layer's bias.
    fn with_channels(&mut self, node: Node<'a>, active: usize, constant: &Constant<'a>) -> Result<()> {
        let found = self.unpadded(node, active)?;
        let title = node.title();
        let Some(view) = channels(constant, &found) else {
            bail!(
                InvalidNetwork,
                "{title} computes with a constant of shape {:?} and {}: isoflat has factors and biases of channels, not of single \
                 values",
                constant.view.lengths,
                found.described()
            )
        };
        ensure!(
            found.source != Source::Input,
            InvalidNetwork,
            "{title} shifts or scales the network's input channel by channel: normalise the data so before, and export the network \
             without it"
        );
        let weight = match (node.op(), active) {
            ("Mul", _) => self.slot(node, constant, &view, 1.0)?,
            ("Div", 0) => {
                let values = self.statistics(constant, &view)?.iter().map(|value| 1.0 / value).collect();
                Slot { values, place: None }
            }
            ("Add" | "Sum" | "Sub", _) => bail!(
                InvalidNetwork,
                "{title} adds a number to each channel, but what it reads is not the output of a layer without a bias, read by it \
                 alone: isoflat has biases in dense layers, convolutions and scales; put it into the bias of the layer before it"
            ),
            _ => bail!(InvalidNetwork, "{title} is no function that isoflat has: Mul by a factor for each channel is"),
        };
        let operation = Operation::Layer { layer: Layer::Scale { bias: false }, weight: Some(weight), bias: None };
        let source = self.builder.push(operation, vec![found.source], node.output()?);
        self.give(node, Value::Activation(Activation { source, is_shared: false, ..found }))
    }
}

/// A constant's numbers in the order of an activation's channels or features, if it has one for each.
pub fn channels(constant: &Constant, found: &Activation) -> Option<View> {
    let offset = found.axes.len().checked_sub(constant.view.lengths.len())?;
    if found.shape.channels == 1 && constant.view.len() == 1 {
        return Some(View::whole(vec![1]));
    }
    let (at, view) = constant.view.vector()?;
    let fits = found.has_at(offset + at, super::activation::Axis::Channel) && view.lengths == [found.shape.channels];
    fits.then(|| features(&view, found)).flatten()
}

/// A row of numbers, one a channel or feature, in isoflat's order.
pub fn features(row: &View, found: &Activation) -> Option<View> {
    let (&length, &stride) = (row.lengths.first()?, row.strides.first()?);
    if length != found.shape.channels {
        return None;
    }
    let Some(flattened) = &found.flattened else { return Some(row.clone()) };
    let (lengths, strides) = flattened.strides();
    Some(View { lengths: lengths.to_vec(), strides: strides.map(|apart| apart.saturating_mul(stride)).to_vec() })
}
