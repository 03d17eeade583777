//! Functions of single numbers. Exporters spell many an activation with several nodes: x · σ(x), or x · ½ · (1 + erf(x/√2)). Such a
//! chain is followed at a number of points, and where a layer is asked for, it is the activation that has these values there.

use super::activation::Activation;
use super::node::Node;
use super::reader::{Reader, Value};
use crate::error::{Result, bail, ensure};
use crate::network::{GeluApproximation, Layer};

/// Where functions are compared: near 0, where they bend, and far out, where a bound would show.
pub const POINTS: [f64; 24] = [
    0.0, -1.0, 1.0, 1e-3, -1e-3, 0.1, -0.1, 0.4, -0.4, 0.7, -0.7, 1.6, -1.6, 2.4, -2.4, 4.0, -4.0, 7.5, -7.5, 30.0,
    -30.0, 1e4, -1e30, 1e30,
];

/// Values of a function at all points.
pub type Samples = [f64; POINTS.len()];

/// A function of what a layer gives.
#[derive(Debug, Clone)]
pub struct Function {
    /// What it is a function of.
    pub base: Activation,
    /// Its values.
    pub samples: Samples,
    /// The node that it comes from.
    pub node: usize,
    /// Where it begins with a channel's own numbers, of the one channel that there is, what it is behind them.
    pub scaled: Option<Box<Scaled>>,
}

/// A function that begins with a factor or a shift: of one channel, a number for each channel looks as one for all.
#[derive(Debug, Clone)]
pub struct Scaled {
    /// The nodes, and at which place each reads what comes before.
    steps: Vec<(usize, usize)>,
    /// What follows them, as a function of what they give; `None` where nothing does.
    behind: Option<Samples>,
}

/// More steps than this are no normalisation.
const MOST_STEPS: usize = 16;

impl Function {
    /// Is it a layer, or a scale and one, so that what comes next is another?
    pub fn is_whole(&self) -> bool {
        let Some(scaled) = &self.scaled else { return layer_of(&self.samples).is_some() };
        scaled.behind.is_some_and(|behind| layer_of(&self.samples).is_some() || layer_of(&behind).is_some())
    }

    /// Another function of it, which may be a step with a number; is that a channel's own?
    pub fn then(self, node: Node, step: Option<((usize, usize), bool)>, function: &dyn Fn(f64) -> f64) -> Self {
        let scaled = match (self.scaled, step) {
            (None, Some((step, true))) if self.samples == POINTS => {
                Some(Box::new(Scaled { steps: vec![step], behind: None }))
            }
            (Some(mut scaled), step) => {
                match step.filter(|_| scaled.behind.is_none() && scaled.steps.len() < MOST_STEPS) {
                    Some((step, _)) => scaled.steps.push(step),
                    None => scaled.behind = Some(scaled.behind.unwrap_or(POINTS).map(function)),
                }
                Some(scaled)
            }
            (None, _) => None,
        };
        Self { base: self.base, samples: self.samples.map(function), node: node.index, scaled }
    }
}

/// How close values must be: constants in files have seven digits.
const TOLERANCE: f64 = 2e-6;

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// x Φ(x).
pub fn gelu(x: f64) -> f64 {
    0.5 * x * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// The same with an approximate Φ.
pub fn gelu_tanh(x: f64) -> f64 {
    let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
    0.5 * x * (1.0 + inner.tanh())
}

/// Constants of [`gelu`] and [`gelu_tanh`] as files of half precision have them, IEEE's and the brain's.
mod halves {
    /// 1/√2, and what is multiplied by the inverse of a rounded √2.
    pub const INVERSE_ROOT: [f64; 2] = [0.707_031_25, 1.0 / 1.414_062_5];
    /// √(2/π) and 0.044715.
    pub const TANH: [[f64; 2]; 2] = [[0.797_851_562_5, 0.044_708_251_953_125], [0.796_875, 0.044_677_734_375]];
}

/// Is it [`gelu`], or [`gelu_tanh`], with constants of half precision?
fn gelu_of_halves(samples: &Samples) -> Option<GeluApproximation> {
    let exact = |factor: f64| are_of(samples, |x| 0.5 * x * libm::erfc(-x * factor));
    let approximate =
        |[root, cube]: [f64; 2]| are_of(samples, |x| 0.5 * x * (1.0 + (root * (x + cube * x * x * x)).tanh()));
    if halves::INVERSE_ROOT.into_iter().any(exact) {
        return Some(GeluApproximation::None);
    }
    halves::TANH.into_iter().any(approximate).then_some(GeluApproximation::Tanh)
}

/// max(x, 0) + log(1 + e^(−|x|)).
pub fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// x σ(x).
pub fn silu(x: f64) -> f64 {
    x * sigmoid(x)
}

/// 1/(1 + e⁻ˣ).
pub fn logistic(x: f64) -> f64 {
    sigmoid(x)
}

/// Do the values belong to this function? Where a chain has become infinite on the way nothing is compared, but not at the points
/// up to 30.
fn are_of(samples: &Samples, function: impl Fn(f64) -> f64) -> bool {
    POINTS.iter().zip(samples).all(|(&x, &found)| {
        let expected = function(x);
        let is_lost = !found.is_finite() && x.abs() > 100.0;
        is_lost || (found - expected).abs() <= TOLERANCE * expected.abs().max(x.abs().min(1.0) * 0.1)
    })
}

/// The layer that has these values.
pub fn layer_of(samples: &Samples) -> Option<Layer> {
    let [_, at_minus_one, ..] = *samples;
    let slope = -at_minus_one;
    let leaky = move |x: f64| if x > 0.0 { x } else { slope * x };
    Some(match samples {
        _ if are_of(samples, |x| x) => Layer::Identity,
        _ if are_of(samples, |x| x.max(0.0)) => Layer::Relu,
        _ if are_of(samples, |x| x.clamp(0.0, 6.0)) => Layer::Relu6,
        _ if slope.is_finite() && slope > 0.0 && are_of(samples, leaky) => Layer::LeakyRelu { slope },
        _ if are_of(samples, f64::tanh) => Layer::Tanh,
        _ if are_of(samples, sigmoid) => Layer::Sigmoid,
        _ if are_of(samples, softplus) => Layer::Softplus,
        _ if are_of(samples, silu) => Layer::Silu,
        _ if are_of(samples, gelu) => Layer::Gelu { approximate: GeluApproximation::None },
        _ if are_of(samples, gelu_tanh) => Layer::Gelu { approximate: GeluApproximation::Tanh },
        _ => Layer::Gelu { approximate: gelu_of_halves(samples)? },
    })
}

/// The numbers of a·x + b, where it is that.
fn affine(samples: &Samples) -> Option<(f64, f64)> {
    let [offset, _, at_one, ..] = *samples;
    let factor = at_one - offset;
    are_of(samples, |x| factor * x + offset).then_some((factor, offset))
}

impl<'a> Reader<'a> {
    /// A tensor as a function of something: of itself, where a layer gives it.
    ///
    /// # Errors
    /// What [`Reader::value`] says.
    pub fn function(&mut self, node: Node<'a>, at: usize) -> Result<Function> {
        if let Value::Function(function) = self.value(node, node.input(at)?)? {
            return Ok((**function).clone());
        }
        Ok(Function { base: self.activation(node, at)?, samples: POINTS, node: node.index, scaled: None })
    }

    /// Applies a function to what a node reads.
    ///
    /// # Errors
    /// Likewise.
    pub fn apply(&mut self, node: Node<'a>, function: &dyn Fn(f64) -> f64) -> Result<()> {
        if self.fold(node, function)? {
            return Ok(());
        }
        let name = node.input(0)?;
        // A whole activation before this one is a layer of its own.
        if let Value::Function(before) = self.value(node, name)?
            && before.is_whole()
        {
            self.settle(node, name)?;
        }
        let function = self.function(node, 0)?.then(node, None, function);
        self.give(node, Value::Function(Box::new(function)))
    }

    /// Makes a layer of a tensor that is a function.
    ///
    /// # Errors
    /// `InvalidNetwork` where isoflat has no such activation.
    pub fn settle(&mut self, node: Node<'a>, name: &'a str) -> Result<()> {
        let Value::Function(function) = self.value(node, name)? else { return Ok(()) };
        let function = function.clone();
        let alone = layer_of(&function.samples);
        // Of a channel's own numbers a factor of one is a factor too.
        let is_other = |scaled: &&Scaled| alone.is_none() || scaled.behind.is_none();
        if let Some(scaled) = function.scaled.as_deref().filter(is_other)
            && !self.is_input(&function.base)
            && function.base.padding.is_none()
        {
            let behind = scaled.behind.as_ref().map_or(Some(Layer::Identity), layer_of);
            let Some(layer) = behind else { return self.refuse(node, &function) };
            let mut found = self.scaled(function.base.clone(), &scaled.steps)?;
            if layer != Layer::Identity {
                let giver = self.node(function.node).unwrap_or(node);
                found = self.plain(giver, layer, &found)?;
            }
            self.values.insert(name, Value::Activation(found));
            return Ok(());
        }
        let Some(layer) = alone else { return self.refuse(node, &function) };
        let found = if layer == Layer::Identity {
            function.base
        } else {
            ensure!(
                function.base.padding.is_none() || function.samples[0] == 0.0,
                InvalidNetwork,
                "{} is a function of a padded image that does not leave its zeros as they are: pad behind it",
                node.title()
            );
            let padding = function.base.padding;
            let giver = self.node(function.node).unwrap_or(node);
            let mut found = self.plain(giver, layer, &function.base)?;
            found.padding = padding;
            found
        };
        self.values.insert(name, Value::Activation(found));
        Ok(())
    }

    /// The node of a number; they are in order, though some are left out.
    pub(super) fn node(&self, index: usize) -> Option<Node<'a>> {
        let at = self.nodes.binary_search_by_key(&index, |node| node.index).ok()?;
        self.nodes.get(at).copied()
    }

    fn refuse(&self, reader: Node<'a>, function: &Function) -> Result<()> {
        let giver = self.node(function.node).unwrap_or(reader);
        let title = giver.title();
        if let Some((factor, offset)) = affine(&function.samples) {
            let does = match (factor == 1.0, offset == 0.0) {
                (true, _) => format!("adds {offset}"),
                (_, true) => format!("multiplies by {factor}"),
                _ => format!("computes {factor} x + {offset}"),
            };
            let instead = if self.is_input(&function.base) {
                "normalise the data so before, and export the network without it"
            } else if factor == 1.0 {
                "put it into the bias of the layer before it, a number for each output"
            } else {
                "put the factor into the weights of the layer beside it"
            };
            bail!(InvalidNetwork, "{title} {does}, which is no layer of isoflat: {instead}");
        }
        // Where it is what comes before that no layer computes, that is said.
        if let Some(Value::Function(before)) = giver.input(0).ok().and_then(|name| self.values.get(name))
            && before.node != function.node
            && layer_of(&before.samples).is_none()
            && affine(&before.samples).is_some()
        {
            return self.refuse(giver, before);
        }
        let is_bounded = function.samples[POINTS.len() - 1].abs() < 1e6;
        let clip = if giver.op() == "Clip" && is_bounded {
            " of Clips with an upper bound, isoflat computes with the one from 0 to 6, ReLU6;"
        } else {
            ""
        };
        bail!(
            InvalidNetwork,
            "{title} ends in a function that is none of isoflat's activations:{clip} these are Relu, ReLU6, LeakyRelu (also PRelu with one \
             positive slope), Tanh, Sigmoid, Softplus, silu and Gelu; train the network with one of them"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_activation_is_known_by_its_values_and_no_other_is() {
        let of = |function: &dyn Fn(f64) -> f64| layer_of(&POINTS.map(function));
        assert_eq!(of(&|x| x), Some(Layer::Identity));
        assert_eq!(of(&|x| x.max(0.0)), Some(Layer::Relu));
        assert_eq!(of(&|x| x.max(0.25 * x)), Some(Layer::LeakyRelu { slope: 0.25 }));
        assert_eq!(of(&|x| x.clamp(0.0, f64::from(f32::MAX))), Some(Layer::Relu));
        assert_eq!(of(&|x| 2.0 / (1.0 + (-2.0 * x).exp()) - 1.0), Some(Layer::Tanh));
        assert_eq!(of(&|x| 0.5 * (x / 2.0).tanh() + 0.5), Some(Layer::Sigmoid));
        assert_eq!(of(&|x| (1.0 + x.exp()).ln()), Some(Layer::Softplus));
        assert_eq!(of(&|x| x * sigmoid(x)), Some(Layer::Silu));
        let root = f64::from(std::f32::consts::SQRT_2);
        assert_eq!(
            of(&|x| 0.5 * (x * (libm::erf(x / root) + 1.0))),
            Some(Layer::Gelu { approximate: GeluApproximation::None })
        );
        assert_eq!(of(&gelu_tanh), Some(Layer::Gelu { approximate: GeluApproximation::Tanh }));
        // The same where a file has its constants in half precision.
        let root = 1.414_062_5;
        for inverse in [1.0 / root, 0.707_031_25] {
            let found = of(&|x| x * 0.5 * (libm::erf(x * inverse) + 1.0));
            assert_eq!(found, Some(Layer::Gelu { approximate: GeluApproximation::None }), "{inverse}");
        }
        for (factor, cube) in [(0.797_851_562_5, 0.044_708_251_953_125), (0.796_875, 0.044_677_734_375)] {
            let found = of(&|x| 0.5 * x * (1.0 + (factor * (x + cube * x.powi(3))).tanh()));
            assert_eq!(found, Some(Layer::Gelu { approximate: GeluApproximation::Tanh }), "{factor}");
        }
        assert_eq!(of(&|x| x.clamp(0.0, 6.0)), Some(Layer::Relu6));
        let others: [&dyn Fn(f64) -> f64; 14] = [
            &|x| x.clamp(0.0, 5.99),
            &|x| x.clamp(0.0, 1e5),
            &|x| x.max(-2e4),
            &|x| x + 1e-4,
            &|x| 0.99999 * x,
            &|x| -x,
            &|x| x.abs(),
            &|_| 0.0,
            &|x| x * sigmoid(1.702 * x),
            &|x| 0.5 * x * (1.0 + libm::erf(0.7065 * x)),
            &|x| x * ((x + 3.0) / 6.0).clamp(0.0, 1.0),
            &|x| if x > 0.0 { x } else { x.exp() - 1.0 },
            &|x| if x > 0.0 { x } else { -0.1 * x },
            &|x| x * softplus(x).tanh(),
        ];
        for (i, function) in others.iter().enumerate() {
            assert_eq!(of(function), None, "function {i}");
        }
    }
}
