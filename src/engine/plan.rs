//! A network as the ordered steps that both executors walk.

use std::ops::Range;

use super::activation::Activation;
use super::steps;
use crate::network::{Network, Shape, Window};

/// What a step computes before its activation.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// Σ over the window and the input channels of W times the input, plus b. A dense layer is one whose window is the
    /// whole input: W's index is ((row · C + c) · window height + y) · window width + x for both, with C the channels of one group.
    Affine {
        /// W in the parameter vector.
        weight: Range<usize>,
        /// b in the parameter vector, one number an output channel.
        bias: Option<Range<usize>>,
        /// Consecutive columns of W that read one unit (1, of a dense layer) or channel (the window's size, of a
        /// convolution): what ρ(j) is summed over.
        columns_per_unit: usize,
        /// Parts that the channels are in: those that go out see the part of those that come in with the same number. A scale
        /// has as many as channels.
        groups: usize,
    },
    /// The largest of each window, channel by channel; the first of equals in row-major order. Padding is never chosen.
    MaxPool,
    /// The mean of each window, channel by channel. Padding counts.
    AveragePool,
    /// The sum of what the step reads.
    Add,
    /// The channels of what the step reads, one after the other.
    Concat,
    /// Channels of zeros around those of what the step reads: so many before them.
    PadChannels {
        /// How many.
        before: usize,
    },
    /// An image's values as channels of their own, (c, y, x): what a flatten is where features are told apart.
    Flatten,
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
    /// What comes in; of a concatenation, what its first part has.
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

    /// Parts that an affine step's channels are in; 1 of others.
    pub fn groups(&self) -> usize {
        match self.operation {
            Operation::Affine { groups, .. } => groups,
            _ => 1,
        }
    }

    /// Does its window see the whole input once (a dense layer)?
    pub fn is_dense(&self) -> bool {
        self.is_affine() && self.groups() == 1 && self.window == Window::whole(self.input)
    }

    /// Multiplications of one sample: window × input channels × outputs for an affine step, one an element read otherwise.
    pub fn multiplications(&self) -> f64 {
        let reads = self.window.area() as f64 * self.output.len() as f64;
        if self.is_affine() { reads * (self.input.channels / self.groups()) as f64 } else { reads }
    }
}

/// The steps of a network, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Steps that are constant in θ, one after the other, where nothing else reads what they make anything of: they are taken
    /// once, when the data are loaded.
    pub prefix: Vec<Step>,
    /// The steps, those with parameters in the order of the layers; see [`Plan::starts_affine`].
    pub steps: Vec<Step>,
    /// What comes in, behind the prefix.
    pub input: Shape,
    /// Length of the parameter vector.
    pub parameter_count: usize,
}

impl Plan {
    /// The plan of a network.
    pub fn new(network: &Network) -> Self {
        Self::of(steps::of(network), network.input_shape(), network.parameter_count())
    }

    fn of(mut steps: Vec<Step>, input: Shape, parameter_count: usize) -> Self {
        let mut rest = steps.split_off(prefix_len(&steps));
        let before = steps.len();
        for read in rest.iter_mut().flat_map(|step| &mut step.reads) {
            // What the prefix gives is what comes in.
            read.from = read.from.and_then(|from| from.checked_sub(before));
        }
        start_with_affine(&mut rest);
        link(&mut rest);
        let input = steps.last().map_or(input, |step| step.output);
        Self { prefix: steps, steps: rest, input, parameter_count }
    }

    /// Is the first step affine in what comes in, so that it is linear in the parameters, whatever they are?
    pub fn starts_affine(&self) -> bool {
        self.steps.first().is_some_and(|step| step.is_affine() && step.reads[0].from.is_none())
    }

    /// Does a step behind the first read what comes in?
    pub fn reads_input_later(&self) -> bool {
        self.steps.iter().skip(1).flat_map(|step| &step.reads).any(|read| read.from.is_none())
    }

    /// The shape of what a read finds.
    pub fn shape_of(&self, read: &Read) -> Shape {
        read.from.map_or(self.input, |from| self.steps[from].output)
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
}

/// How many steps may be taken once: a chain without parameters, whose last step alone is read by others.
fn prefix_len(steps: &[Step]) -> usize {
    let is_chain = |(i, step): &(usize, &Step)| {
        !step.is_affine() && step.reads.len() == 1 && step.reads[0].from == i.checked_sub(1)
    };
    let longest = steps.iter().enumerate().take_while(is_chain).count();
    let is_closed = |len: &usize| {
        let reads = || steps[*len..].iter().flat_map(|step| &step.reads);
        reads().all(|read| read.from.is_some_and(|from| from + 1 >= *len))
    };
    (1..=longest).rev().find(is_closed).unwrap_or(0)
}

/// Moves the first affine step to the front, if it reads what comes in: it waits for nothing then.
fn start_with_affine(steps: &mut [Step]) {
    let Some(first) = steps.iter().position(Step::is_affine) else { return };
    if steps[first].reads[0].from.is_some() {
        return;
    }
    steps[..=first].rotate_right(1);
    for read in steps.iter_mut().flat_map(|step| &mut step.reads) {
        read.from = read.from.map(|from| match from {
            from if from == first => 0,
            from if from < first => from + 1,
            from => from,
        });
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
        Plan { prefix: Vec::new(), steps, input: shape, parameter_count: 0 }
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
