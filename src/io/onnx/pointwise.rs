//! Nodes that compute number by number: activations, sums of layers, and constants that are biases or factors.

use super::activation::Activation;
use super::constant::{Constant, View};
use super::function::{self, Function, layer_of};
use super::node::Node;
use super::reader::{Reader, Value};
use crate::error::{Result, bail, ensure};
use crate::io::{BatchNormNode, Operation, Slot};
use crate::memory::collected;
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
            "Relu" => self.apply(node, &|x| x.max(0.0)),
            "LeakyRelu" => {
                let slope = node.float("alpha", 0.01);
                self.apply(node, &|x| if x > 0.0 { x } else { slope * x })
            }
            "Tanh" => self.apply(node, &f64::tanh),
            "Sigmoid" => self.apply(node, &function::logistic),
            "Softplus" => self.apply(node, &function::softplus),
            "Swish" => {
                let alpha = node.float("alpha", 1.0);
                self.apply(node, &|x| x * function::logistic(alpha * x))
            }
            "Gelu" => match node.text("approximate", "none") {
                "none" => self.apply(node, &function::gelu),
                "tanh" => self.apply(node, &function::gelu_tanh),
                other => bail!(Parse, "{} has approximate {other}, but none and tanh are known", node.title()),
            },
            "Erf" => self.apply(node, &libm::erf),
            "Exp" => self.apply(node, &f64::exp),
            "Log" => self.apply(node, &f64::ln),
            "Neg" => self.apply(node, &|x| -x),
            "Abs" => self.apply(node, &f64::abs),
            "Sqrt" => self.apply(node, &f64::sqrt),
            _ => self.apply(node, &|x| 1.0 / x),
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
        self.apply(node, &|x| if x > 0.0 { x } else { first * x })
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
        self.apply(node, &|x| x.max(least).min(most))
    }

    /// A node that computes with two tensors.
    pub(super) fn binary(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&[])?;
        if node.proto.input.len() != 2 {
            return match node.op() {
                "Sum" => self.sum_of_inputs(node, node.proto.input.len()),
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
            (false, false) if self.fold_two(node, &|a, b| computed(node.op(), a, b))? => Ok(()),
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
            let function = Function { base: a.base, samples, node: node.index, scaled: None };
            return self.give(node, Value::Function(Box::new(function)));
        }
        ensure!(
            is_sum,
            InvalidNetwork,
            "{} computes with what two layers give, of which isoflat has sums (Add) and Concat alone: attention, gates and squeeze-and-\
             excitation are not known",
            node.title()
        );
        self.sum_of_inputs(node, 2)
    }

    /// The sum of what a node's first inputs are.
    fn sum_of_inputs(&mut self, node: Node<'a>, count: usize) -> Result<()> {
        let mut all = Vec::new();
        for at in 0..count {
            all.push(self.unpadded(node, at)?);
        }
        self.sum(node, all)
    }

    /// The sum of what several layers give.
    pub(super) fn sum(&mut self, node: Node<'a>, mut all: Vec<Activation>) -> Result<()> {
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
                Some(&[number]) => return self.with_number(node, active, number as f64, None),
                _ => bail!(InvalidNetwork, "{} computes with shapes and activations together", node.title()),
            },
            _ => bail!(InvalidNetwork, "{} computes with zeros that stand for no layer: take them out", node.title()),
        };
        if self.give_bias(node, active, &constant)? {
            return Ok(());
        }
        match self.scalar(&constant)? {
            Some(number) => self.with_number(node, active, number, Some(&constant)),
            None => self.with_channels(node, active, &constant),
        }
    }

    /// One number for all, perhaps a tensor's.
    fn with_number(
        &mut self,
        node: Node<'a>,
        active: usize,
        number: f64,
        constant: Option<&Constant<'a>>,
    ) -> Result<()> {
        if node.op() == "Mul" && number == 0.0 {
            let found = self.activation(node, active)?;
            let zeros = Value::Zeros(super::shapes::sizes(&found));
            return self.give(node, zeros);
        }
        let name = node.input(active)?;
        if let Value::Function(before) = self.value(node, name)?
            && before.is_whole()
        {
            self.settle(node, name)?;
        }
        let before = self.function(node, active)?;
        let of = |x: f64| match active {
            0 => computed(node.op(), x, number),
            _ => computed(node.op(), number, x),
        };
        let step = constant.filter(|constant| constant.is_floating && is_affine(node, active)).map(|constant| {
            // A number without axes is no channel's, but may stand among those that are.
            let is_of_channel = !constant.view.lengths.is_empty() && before.base.shape.channels == 1;
            ((node.index, active), is_of_channel && channels(constant, &before.base).is_some())
        });
        let function = before.then(node, step, &of);
        self.give(node, Value::Function(Box::new(function)))
    }

    /// What was computed with a channel's numbers, one step after the other.
    ///
    /// # Errors
    /// As [`Reader::affine`].
    pub fn scaled(&mut self, mut found: Activation, steps: &[(usize, usize)]) -> Result<Activation> {
        for &(index, active) in steps {
            let Some(node) = self.node(index) else { continue };
            let constant = self.constant(node, 1 - active)?;
            let Some(view) = channels(&constant, &found) else { continue };
            // It was looked at as a number for all before, which was no use of it where this is the only one.
            let is_read_once = self.readers.get(node.output()?).is_none_or(|readers| readers.len() == 1);
            if let Some(uses) = self.uses.get_mut(constant.tensor).filter(|_| is_read_once) {
                *uses = uses.saturating_sub(1);
            }
            found = self.affine(node, active, &constant, &view, found)?;
        }
        Ok(found)
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
        let Some(view) = channels(constant, &found) else { return Ok(false) };
        if !self.takes_bias(node, &found) {
            return Ok(false);
        }
        self.put_bias(node, constant, &view, factor, &found)?;
        self.give(node, Value::Activation(Activation { is_shared: false, ..found }))?;
        Ok(true)
    }

    /// Can what a node adds be the bias of the layer that it reads? Means that are taken off before a factor are a normalisation's.
    fn takes_bias(&mut self, node: Node<'a>, found: &Activation) -> bool {
        let is_mean = node.op() == "Sub" && self.is_scaled_next(node);
        match self.builder.operation_mut(found.source) {
            Some(Operation::Layer { layer, bias: None, .. }) => {
                layer.is_parametric()
                    && !found.is_shared
                    && found.padding.is_none()
                    && (!is_mean || matches!(layer, Layer::Scale { .. }))
            }
            _ => false,
        }
    }

    fn put_bias(
        &mut self,
        node: Node<'a>,
        constant: &Constant<'a>,
        view: &View,
        factor: f64,
        found: &Activation,
    ) -> Result<()> {
        let slot = self.slot(node, constant, view, factor)?;
        if let Some(Operation::Layer { layer, bias, .. }) = self.builder.operation_mut(found.source) {
            layer.add_bias();
            *bias = Some(slot);
        }
        Ok(())
    }

    /// Is what a node gives multiplied or divided by a constant, and read by nobody else?
    fn is_scaled_next(&self, node: Node<'a>) -> bool {
        let Ok(name) = node.output() else { return false };
        let Some([next]) = self.readers.get(name).map(Vec::as_slice) else { return false };
        let Some(next) = self.nodes.get(*next) else { return false };
        let other = match (next.op(), &next.proto.input[..]) {
            ("Mul" | "Div", [one, other]) if one == name => other,
            ("Mul", [other, one]) if one == name => other,
            _ => return false,
        };
        self.fixed.contains(&other[..])
    }

    /// A number for each channel: factors are scales, and with what is taken off before them or added behind a normalisation; what is
    /// added alone must be a layer's bias.
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
        let found = self.affine(node, active, constant, &view, found)?;
        self.give(node, Value::Activation(found))
    }

    /// One step of w x + b with numbers of channels. Batch normalisations that are spelled out, (x − μ)/σ · γ + β, become one scale of
    /// which γ and β are the parameters.
    ///
    /// # Errors
    /// `InvalidNetwork` for what is no such step, or adds where nothing takes a bias; what [`Reader::slot`] says.
    fn affine(
        &mut self,
        node: Node<'a>,
        active: usize,
        constant: &Constant<'a>,
        view: &View,
        found: Activation,
    ) -> Result<Activation> {
        let title = node.title();
        ensure!(
            is_affine(node, active),
            InvalidNetwork,
            "{title} is no function that isoflat has: Mul by a factor for each channel is"
        );
        let mut begun = match self.builder.operation_mut(found.source) {
            Some(Operation::BatchNorm(norm))
                if norm.is_scale
                    && norm.shift.is_none()
                    && norm.mean.values.len() == view.len()
                    && !found.is_shared =>
            {
                Some(norm.clone())
            }
            _ => None,
        };
        let sign = match node.op() {
            "Sub" => -1.0,
            "Add" | "Sum" => 1.0,
            _ => 0.0,
        };
        if sign != 0.0 && begun.is_none() && self.takes_bias(node, &found) {
            self.put_bias(node, constant, view, sign, &found)?;
            return Ok(Activation { is_shared: false, ..found });
        }
        let operation = match (&mut begun, sign != 0.0) {
            (Some(norm), true) => {
                norm.shift = Some(self.slot(node, constant, view, sign)?);
                None
            }
            (Some(norm), false) => {
                self.multiply(node, constant, view, norm)?;
                None
            }
            (None, true) => {
                ensure!(
                    self.is_scaled_next(node),
                    InvalidNetwork,
                    "{title} adds a number to each channel, but what it reads is not the output of a layer without a bias, read by it \
                     alone: isoflat has biases in dense layers, convolutions and scales; put it into the bias of the layer before it"
                );
                let mean = self.slot(node, constant, view, -sign)?;
                let ones = collected("variances", std::iter::repeat_n(1.0, view.len()))?;
                let variance = Slot { values: ones, place: None };
                let norm = BatchNormNode { scale: None, shift: None, mean, variance, epsilon: 0.0, is_scale: true };
                Some(Operation::BatchNorm(norm))
            }
            (None, false) => {
                let weight = match node.op() {
                    "Mul" => self.slot(node, constant, view, 1.0)?,
                    _ => {
                        let values = self.statistics(constant, view)?.iter().map(|value| 1.0 / value).collect();
                        Slot { values, place: None }
                    }
                };
                Some(Operation::Layer { layer: Layer::Scale { bias: false }, weight: Some(weight), bias: None })
            }
        };
        if let Some(operation) = operation {
            let source = self.builder.push(operation, vec![found.source], node.output()?);
            return Ok(Activation { source, is_shared: false, ..found });
        }
        if let (Some(norm), Some(operation)) = (begun, self.builder.operation_mut(found.source)) {
            *operation = Operation::BatchNorm(norm);
        }
        Ok(Activation { is_shared: false, ..found })
    }

    /// A factor of a normalisation that is spelled out: one that the file has as it is may be γ, others are of 1/σ where they can be.
    fn multiply(
        &mut self,
        node: Node<'a>,
        constant: &Constant<'a>,
        view: &View,
        norm: &mut BatchNormNode,
    ) -> Result<()> {
        let are_deviations = |values: &[f64]| values.iter().all(|&value| value > 0.0 && value.is_finite());
        let by = |variance: &mut Slot, values: &[f64], is_factor: bool| {
            for (variance, value) in variance.values.iter_mut().zip(values) {
                *variance *= if is_factor { value.powi(-2) } else { value.powi(2) };
            }
        };
        let is_factor = node.op() == "Mul";
        let is_own = is_factor && !self.inline.contains_key(constant.tensor);
        if is_own && norm.scale.as_ref().is_none_or(|scale| are_deviations(&scale.values)) {
            if let Some(before) = norm.scale.take() {
                by(&mut norm.variance, &before.values, true);
            }
            norm.scale = Some(self.slot(node, constant, view, 1.0)?);
            return Ok(());
        }
        let values = self.statistics(constant, view)?;
        if are_deviations(&values) {
            by(&mut norm.variance, &values, is_factor);
            return Ok(());
        }
        let of = |before: f64, value: f64| if is_factor { before * value } else { before / value };
        let before = norm.scale.take().map(|scale| scale.values);
        let at = |i: usize| before.as_ref().and_then(|before| before.get(i)).copied().unwrap_or(1.0);
        let values = collected("factors", values.iter().enumerate().map(|(i, &value)| of(at(i), value)))?;
        norm.scale = Some(Slot { values, place: None });
        Ok(())
    }
}

/// Does a node add or multiply, or take off or divide by, what is beside what it reads at a place?
fn is_affine(node: Node, active: usize) -> bool {
    matches!((node.op(), active), ("Add" | "Sum" | "Mul", _) | ("Sub" | "Div", 0))
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
