//! Networks of residual and of depthwise separable blocks. Batch normalisations are scales here: frozen statistics are what
//! curvature is taken at.

use super::{Conv2d, Layer, NamedLayer, Names, Network, Pool2d};
use crate::error::Result;

/// What leads around a block that changes the image's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shortcut {
    /// Every second pixel, and channels of zeros for those that are new (He et al. 2016, option A).
    Padded,
    /// A convolution of 1 × 1 with stride 2 (option B).
    Projection,
}

/// A network on the way, layer behind layer.
#[derive(Default)]
struct Stack {
    layers: Vec<NamedLayer>,
    channels: usize,
}

impl Stack {
    fn push(&mut self, layer: Layer) {
        self.layers.push(layer.into());
    }

    /// A convolution without a bias, and a scale, which has one.
    fn conv(&mut self, side: usize, channels: usize, stride: usize, groups: usize) {
        let conv = Conv2d {
            stride: [stride; 2],
            padding: [side / 2; 2].into(),
            groups,
            bias: false,
            ..Conv2d::new(channels, [side; 2])
        };
        self.push(Layer::Conv2d(conv));
        self.push(Layer::Scale { bias: true });
        self.channels = channels;
    }

    /// What the last layer is called from here on.
    fn name(&mut self, name: &str) {
        if let Some(last) = self.layers.last_mut() {
            last.name = Some(name.into());
        }
    }

    /// The next layer reads these.
    fn push_from(&mut self, layer: Layer, names: &[&str]) {
        let from = match names {
            [name] if !layer.is_joining() => Names::One((*name).into()),
            _ => Names::Several(names.iter().map(|&name| name.into()).collect()),
        };
        self.layers.push(NamedLayer { layer, name: None, from: Some(from) });
    }

    /// What the layer of this name gives, at the size and with the channels that a block has. The name of that.
    fn shortcut(&mut self, kind: Shortcut, from: &str, before: usize, channels: usize, stride: usize) -> String {
        if before == channels && stride == 1 {
            return from.into();
        }
        match kind {
            Shortcut::Padded => {
                let every = Pool2d { stride: Some([stride; 2]), ..Pool2d::new([1, 1]) };
                self.push_from(Layer::AvgPool2d(every), &[from]);
                let (new, half) = (channels - before, (channels - before) / 2);
                self.push(Layer::PadChannels { before: half, after: new - half });
            }
            Shortcut::Projection => {
                let conv = Conv2d { stride: [stride; 2], bias: false, ..Conv2d::new(channels, [1, 1]) };
                self.push_from(Layer::Conv2d(conv), &[from]);
                self.push(Layer::Scale { bias: true });
            }
        }
        let name = format!("{from} around");
        self.name(&name);
        name
    }

    /// The mean of every channel, and a dense layer over them.
    fn finish(mut self, input: &[usize], classes: usize) -> Result<Network> {
        self.push(Layer::GlobalAvgPool2d);
        self.push(Layer::Flatten);
        self.push(Layer::Dense { units: classes, bias: true });
        Network::graph(input.to_vec(), self.layers)
    }
}

/// He et al. 2016, section 4.2: a convolution, three stages of `blocks` blocks of two convolutions each with these channels, every
/// stage but the first at half the size.
pub(super) fn resnet(input: &[usize], stages: [usize; 3], blocks: usize, kind: Shortcut) -> Result<Network> {
    let mut stack = Stack::default();
    stack.conv(3, stages[0], 1, 1);
    stack.push(Layer::Relu);
    stack.name("stem");
    let mut last = String::from("stem");
    for (s, &channels) in stages.iter().enumerate() {
        for b in 0..blocks {
            let (stride, before) = (if s > 0 && b == 0 { 2 } else { 1 }, stack.channels);
            let name = format!("block {}.{}", s + 1, b + 1);
            let around = stack.shortcut(kind, &last, before, channels, stride);
            let first = stack.layers.len();
            stack.conv(3, channels, stride, 1);
            if around != last {
                stack.layers[first].from = Some(Names::One(last));
            }
            stack.push(Layer::Relu);
            stack.conv(3, channels, 1, 1);
            let inner = format!("{name} inside");
            stack.name(&inner);
            stack.push_from(Layer::Add, &[&inner, &around]);
            stack.push(Layer::Relu);
            stack.name(&name);
            last = name;
        }
    }
    stack.finish(input, 10)
}

/// He et al. 2016, “Identity mappings”: blocks that normalise and activate before their convolutions, so that nothing stands between
/// one sum and the next. Around a block that changes the size leads a convolution of what is activated.
pub(super) fn preactivated(input: &[usize], stages: [usize; 3], blocks: usize) -> Result<Network> {
    let conv = |channels, side: usize, stride| {
        Layer::Conv2d(Conv2d {
            stride: [stride; 2],
            padding: [side / 2; 2].into(),
            bias: false,
            ..Conv2d::new(channels, [side; 2])
        })
    };
    let mut stack = Stack { layers: Vec::new(), channels: stages[0] };
    stack.push(conv(stages[0], 3, 1));
    stack.name("stem");
    let mut last = String::from("stem");
    for (s, &channels) in stages.iter().enumerate() {
        for b in 0..blocks {
            let (stride, before) = (if s > 0 && b == 0 { 2 } else { 1 }, stack.channels);
            let name = format!("block {}.{}", s + 1, b + 1);
            let active = format!("{name} active");
            stack.push(Layer::Scale { bias: true });
            stack.push(Layer::Relu);
            stack.name(&active);
            let mut around = last;
            if before != channels || stride != 1 {
                stack.push(conv(channels, 1, stride));
                around = format!("{name} around");
                stack.name(&around);
            }
            stack.push_from(conv(channels, 3, stride), &[&active]);
            stack.push(Layer::Scale { bias: true });
            stack.push(Layer::Relu);
            stack.push(conv(channels, 3, 1));
            let inner = format!("{name} inside");
            stack.name(&inner);
            stack.push_from(Layer::Add, &[&inner, &around]);
            stack.name(&name);
            stack.channels = channels;
            last = name;
        }
    }
    stack.push(Layer::Scale { bias: true });
    stack.push(Layer::Relu);
    stack.finish(input, 10)
}

/// After Howard et al. 2017: a convolution, then blocks of a depthwise convolution and one of 1 × 1, (channels, stride) each.
pub(super) fn separable(input: &[usize], stem: usize, blocks: &[(usize, usize)]) -> Result<Network> {
    let mut stack = Stack::default();
    stack.conv(3, stem, 1, 1);
    stack.push(Layer::Relu);
    for &(channels, stride) in blocks {
        let before = stack.channels;
        stack.conv(3, before, stride, before);
        stack.push(Layer::Relu);
        stack.conv(1, channels, 1, 1);
        stack.push(Layer::Relu);
    }
    stack.finish(input, 10)
}
