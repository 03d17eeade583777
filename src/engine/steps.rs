//! The steps that a network's layers become, before they are a plan: activations join the steps before them, and what only
//! gives things other names is gone.

use super::activation::Activation;
use super::plan::{Operation, Read, Step};
use crate::network::{Layer, Network, ParametricLayer, Shape, Source, Window};

/// The steps of a network, each behind those that it reads; `starts` and `completes` are yet to be said.
pub(super) fn of(network: &Network) -> Vec<Step> {
    let layout = network.layout();
    let mut readers = vec![0; network.named_layers().len()];
    for i in 0..readers.len() {
        for source in layout.sources(i) {
            if let Source::Layer(j) = *source {
                readers[j] += 1;
            }
        }
    }
    let mut steps = Steps { network, readers, found: Vec::new(), given: Vec::new() };
    let mut parametric = layout.layers().iter();
    for (i, layer) in network.layers().enumerate() {
        let layer_with_weights = if layer.is_parametric() { parametric.next() } else { None };
        let given = steps.add(i, layer, layer_with_weights);
        steps.given.push(given);
    }
    steps.found
}

/// Where a layer's result is.
#[derive(Clone, Copy)]
struct Given {
    /// The step that computes it; `None` for what comes into the network.
    step: Option<usize>,
    /// Does nothing else read it, nor what it was called before?
    is_alone: bool,
}

struct Steps<'a> {
    network: &'a Network,
    /// How many reads each layer has.
    readers: Vec<usize>,
    found: Vec<Step>,
    given: Vec<Given>,
}

impl Steps<'_> {
    /// Layer i, and where its result is then.
    fn add(&mut self, i: usize, layer: &Layer, weights: Option<&ParametricLayer>) -> Given {
        let layout = self.network.layout();
        let sources = layout.sources(i);
        let before = layout.tensor(sources[0]).shape;
        let output = layout.tensor(Source::Layer(i)).shape;
        let is_alone = self.readers[i] == 1;
        let affine = |columns_per_unit| {
            let layer = weights.expect("a layer with parameters has weights");
            let (weight, bias) = (layer.weight.clone(), layer.bias.clone());
            Operation::Affine { weight, bias, columns_per_unit, groups: layer.groups }
        };
        let (operation, window) = match layer {
            Layer::Dense { .. } => (affine(1), Window::whole(before)),
            Layer::Conv2d(conv) => {
                let window = conv.window().within(before);
                (affine(window.area()), window)
            }
            Layer::Scale { .. } => (affine(1), Window::pixel()),
            Layer::MaxPool2d(pool) => (Operation::MaxPool, pool.window().within(before)),
            Layer::AvgPool2d(pool) => (Operation::AveragePool, pool.window().within(before)),
            Layer::GlobalAvgPool2d => (Operation::AveragePool, Window::whole(before)),
            // Nothing is added to what is alone.
            Layer::Add | Layer::Concat if sources.len() == 1 => return self.renamed(sources[0], output, is_alone),
            Layer::Add => (Operation::Add, Window::pixel()),
            Layer::Concat => (Operation::Concat, Window::pixel()),
            Layer::PadChannels { before: 0, after: 0 } => return self.renamed(sources[0], output, is_alone),
            Layer::PadChannels { before, .. } => (Operation::PadChannels { before: *before }, Window::pixel()),
            _ => {
                let given = self.renamed(sources[0], output, is_alone);
                let Some(activation) = Activation::of(layer) else { return given };
                if let Some(before) = self.joined(sources[0], activation) {
                    return Given { step: Some(before), is_alone };
                }
                let step = self.push(Operation::Copy, sources, before, output, Window::pixel());
                self.found[step].activation = activation;
                return Given { step: Some(step), is_alone };
            }
        };
        Given { step: Some(self.push(operation, sources, before, output, window)), is_alone }
    }

    /// What only has another name now; or the features of an image, one by one, where this layer gives those.
    fn renamed(&mut self, source: Source, output: Shape, is_alone: bool) -> Given {
        let before = self.given(source);
        let shape = self.network.layout().tensor(source).shape;
        if output.area() == 1 && shape.area() > 1 {
            return Given { step: Some(self.flattened(before.step, shape)), is_alone: false };
        }
        Given { step: before.step, is_alone: before.is_alone && is_alone }
    }

    fn given(&self, source: Source) -> Given {
        match source {
            Source::Input => Given { step: None, is_alone: false },
            Source::Layer(j) => self.given[j],
        }
    }

    /// The step that takes an activation to its own, if what it reads is read by nothing else and the two make one.
    fn joined(&mut self, source: Source, activation: Activation) -> Option<usize> {
        let Given { step, is_alone } = self.given(source);
        let step = step.filter(|_| is_alone)?;
        let both = self.found[step].activation.then(activation)?;
        self.found[step].activation = both;
        Some(step)
    }

    fn push(&mut self, operation: Operation, sources: &[Source], input: Shape, output: Shape, window: Window) -> usize {
        // A row of features that was an image: a dense layer sees the image, others the features one by one.
        let sees_features = output.area() == 1
            && !matches!(operation, Operation::MaxPool | Operation::AveragePool)
            && window == Window::pixel();
        let reads = sources
            .iter()
            .map(|&source| {
                let from = self.given(source).step;
                let shape = self.network.layout().tensor(source).shape;
                let from = if sees_features && shape.area() > 1 { Some(self.flattened(from, shape)) } else { from };
                Read { from, starts: false, completes: false }
            })
            .collect();
        let input = if sees_features { Shape::flat(input.len()) } else { input };
        self.found.push(Step { operation, reads, input, output, window, activation: Activation::IDENTITY });
        self.found.len() - 1
    }

    fn flattened(&mut self, from: Option<usize>, input: Shape) -> usize {
        let reads = vec![Read { from, starts: false, completes: false }];
        let (output, window, activation) = (Shape::flat(input.len()), Window::pixel(), Activation::IDENTITY);
        self.found.push(Step { operation: Operation::Flatten, reads, input, output, window, activation });
        self.found.len() - 1
    }
}
