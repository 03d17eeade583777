//! A network as the ordered steps that both executors walk.

use std::ops::Range;

use super::activation::Activation;
use crate::network::{Layer, Network, Shape, Window};

/// What a step computes before its activation.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// Σ over the window and the input channels of W times the input, plus b. A dense layer is one whose window is the
    /// whole input: W's index is ((row · C + c) · window height + y) · window width + x for both.
    Affine {
        /// W in the parameter vector.
        weight: Range<usize>,
        /// b in the parameter vector, one number an output channel.
        bias: Option<Range<usize>>,
        /// Consecutive columns of W that read one unit (1, of a dense layer) or channel (the window's size, of a
        /// convolution): what ρ(j) is summed over.
        columns_per_unit: usize,
    },
    /// The largest of each window, channel by channel; the first of equals in row-major order.
    MaxPool,
    /// The mean of each window, channel by channel.
    AveragePool,
    /// Nothing: the step is its activation alone.
    Copy,
}

/// What a step reads, and what that means on the way back, when each reader adds what it pulls back to the reads' cotangent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    /// The step whose result it is; `None` is what comes into the network, or out of the prefix, where nothing is pulled back to.
    pub from: Option<usize>,
    /// Is it the first on the way back, which finds nothing to add to?
    pub starts: bool,
    /// Is it the last, after which the cotangent is complete?
    pub completes: bool,
}

/// One operation with the activation after it.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What it computes.
    pub operation: Operation,
    /// What of, in the operation's order; steps come before those that read them.
    pub reads: Vec<Read>,
    /// What comes in.
    pub input: Shape,
    /// What goes out.
    pub output: Shape,
    /// How the operation slides over its input; 1×1 for a copy.
    pub window: Window,
    /// Applied to the operation's result; the identity after the last step.
    pub activation: Activation,
}

impl Step {
    /// W in the parameter vector; empty for a step without parameters.
    pub fn weight(&self) -> Range<usize> {
        match &self.operation {
            Operation::Affine { weight, .. } => weight.clone(),
            _ => 0..0,
        }
    }

    /// b in the parameter vector, if there is one.
    pub fn bias(&self) -> Option<Range<usize>> {
        match &self.operation {
            Operation::Affine { bias, .. } => bias.clone(),
            _ => None,
        }
    }

    /// Is it one with parameters?
    pub fn is_affine(&self) -> bool {
        matches!(self.operation, Operation::Affine { .. })
    }

    /// Does its window see the whole input once (a dense layer)?
    pub fn is_dense(&self) -> bool {
        self.is_affine() && self.window == Window::whole(self.input)
    }

    /// Multiplications of one sample: window × input channels × outputs for an affine step, one an element read otherwise.
    pub fn multiplications(&self) -> f64 {
        let reads = self.window.area() as f64 * self.output.len() as f64;
        if self.is_affine() { reads * self.input.channels as f64 } else { reads }
    }
}

/// The steps of a network, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Steps before the first affine one: constant in θ, so they are taken once, when the data are loaded.
    pub prefix: Vec<Step>,
    /// The steps; the first and the last are affine.
    pub steps: Vec<Step>,
    /// Length of the parameter vector.
    pub parameter_count: usize,
}

impl Plan {
    /// The plan of a network.
    pub fn new(network: &Network) -> Self {
        let input = network.input_shape();
        let mut steps: Vec<Step> = Vec::new();
        let mut parametric = network.layout().layers().iter();
        let shapes = network.layout().shapes();
        for (i, layer) in network.layers().iter().enumerate() {
            let before = if i == 0 { input } else { shapes[i - 1] };
            let step = |operation, window| Step {
                operation,
                reads: Vec::new(),
                input: before,
                output: shapes[i],
                window,
                activation: Activation::IDENTITY,
            };
            let mut affine = |columns_per_unit| {
                let layer = parametric.next().expect("the layout lists every parametric layer");
                Operation::Affine { weight: layer.weight.clone(), bias: layer.bias.clone(), columns_per_unit }
            };
            let pool = |size: [usize; 2], stride: Option<[usize; 2]>| {
                Window { size, stride: stride.unwrap_or(size), padding: [0, 0] }.within(before)
            };
            match *layer {
                Layer::Dense { .. } => steps.push(step(affine(1), Window::whole(before))),
                Layer::Conv2d { kernel, stride, padding, .. } => {
                    let window = Window { size: kernel, stride, padding }.within(before);
                    steps.push(step(affine(window.area()), window));
                }
                Layer::MaxPool2d { size, stride } => steps.push(step(Operation::MaxPool, pool(size, stride))),
                Layer::AvgPool2d { size, stride } => steps.push(step(Operation::AveragePool, pool(size, stride))),
                _ => {
                    let Some(activation) = Activation::of(layer) else { continue };
                    let last = steps.last_mut();
                    match last.and_then(|last| Some((last.activation.then(activation)?, last))) {
                        Some((both, last)) => last.activation = both,
                        None => steps.push(Step { activation, ..step(Operation::Copy, Window::pixel()) }),
                    }
                }
            }
        }
        let first = steps.iter().position(Step::is_affine).unwrap_or(0);
        let mut rest = steps.split_off(first);
        for (l, step) in rest.iter_mut().enumerate() {
            step.reads = vec![Read { from: l.checked_sub(1), starts: false, completes: false }];
        }
        link(&mut rest);
        Self { prefix: steps, steps: rest, parameter_count: network.parameter_count() }
    }

    /// For every step the number of the buffer that its result may lie in where nothing is kept: one whose content no step reads
    /// any more.
    pub fn buffers(&self) -> Vec<usize> {
        let mut last_use = vec![self.steps.len(); self.steps.len()];
        for (l, step) in self.steps.iter().enumerate() {
            step.reads.iter().filter_map(|read| read.from).for_each(|from| last_use[from] = l);
        }
        // For each buffer the last step that reads what lies there.
        let mut taken: Vec<usize> = Vec::new();
        let place = |(l, until)| match taken.iter().position(|&until| until < l) {
            Some(buffer) => {
                taken[buffer] = until;
                buffer
            }
            None => {
                taken.push(until);
                taken.len() - 1
            }
        };
        last_use.into_iter().enumerate().map(place).collect()
    }

    /// What comes into the first step.
    pub fn input(&self) -> Shape {
        self.steps[0].input
    }
}

/// Says of every read whether it starts or completes what is pulled back to a step.
fn link(steps: &mut [Step]) {
    let mut started = vec![false; steps.len()];
    for read in steps.iter_mut().rev().flat_map(|step| &mut step.reads) {
        if let Some(from) = read.from {
            read.starts = !std::mem::replace(&mut started[from], true);
        }
    }
    let mut completed = vec![false; steps.len()];
    for read in steps.iter_mut().flat_map(|step| step.reads.iter_mut().rev()) {
        if let Some(from) = read.from {
            read.completes = !std::mem::replace(&mut completed[from], true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies that read these steps.
    fn plan(reads: &[&[usize]]) -> Plan {
        let shape = Shape::flat(1);
        let read = |&from: &usize| Read { from: Some(from), starts: false, completes: false };
        let step = |reads: &&[usize]| Step {
            operation: Operation::Copy,
            reads: reads.iter().map(read).collect(),
            input: shape,
            output: shape,
            window: Window::whole(shape),
            activation: Activation::IDENTITY,
        };
        let mut steps: Vec<Step> = reads.iter().map(step).collect();
        link(&mut steps);
        Plan { prefix: Vec::new(), steps, parameter_count: 0 }
    }

    #[test]
    fn a_buffer_is_used_again_after_its_last_reader() {
        assert_eq!(plan(&[&[], &[0], &[1], &[2]]).buffers(), [0, 1, 0, 1]);
        // A skip connection around two steps.
        assert_eq!(plan(&[&[], &[0], &[1], &[2, 0], &[3]]).buffers(), [0, 1, 2, 1, 0]);
    }

    #[test]
    fn the_last_reader_starts_the_way_back_and_the_first_completes_it() {
        let plan = plan(&[&[], &[0], &[1, 0, 1], &[2]]);
        let of = |l: usize| -> Vec<_> { plan.steps[l].reads.iter().map(|r| (r.starts, r.completes)).collect() };
        assert_eq!(of(3), [(true, true)]);
        assert_eq!(of(2), [(true, false), (true, false), (false, true)]);
        assert_eq!(of(1), [(false, true)]);
    }
}
