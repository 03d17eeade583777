//! A network of residual blocks. What weights do not tell is the commonest: a block that changes the number of channels halves the
//! image, but for the first; where no convolution leads around it, every second pixel does, with channels of zeros (He et al. 2016,
//! option A); of blocks that normalise first, what leads around reads what is activated.

use super::blocks::{Block, Conv, Outside, Residual, Shape, dense};
use super::first_of;
use super::modules::{Kind, Module, Order};
use crate::network::{Conv2d, Layer, NamedLayer, Names, Network, Padding, Pool2d};

/// The network, and what was assumed.
pub(super) fn network(
    residual: &Residual,
    outside: &Outside,
    input: Option<&[usize]>,
) -> Option<(Network, Vec<String>)> {
    let Residual { stem, blocks, is_before } = residual;
    let Kind::Affine { order, .. } = stem.module.kind else { return None };
    let (layers, last) = (Vec::new(), String::new());
    let mut builder = Builder { layers, channels: 0, order, is_before: *is_before, is_large: false, last };
    builder.stem(*stem, outside)?;
    for (i, block) in blocks.iter().enumerate() {
        builder.block(block, i > 0)?;
    }
    builder.head(outside)?;
    let small = if stem.shape.inputs == 1 { 28 } else { 32 };
    let side = if builder.is_large { 224 } else { small };
    let usual = [stem.shape.inputs, side, side];
    let network = Network::graph(input.unwrap_or(&usual).to_vec(), builder.layers).ok()?;
    let order = match is_before {
        true => "ReLU and convolutions behind its normalisations, shortcuts that read what is activated,",
        false => "ReLU behind its normalisations",
    };
    let mut notes = vec![
        format!(
            "the weights' names come in {} blocks: a residual network is assumed, with {order} and half the size where the channels \
             change, by a block's first convolution of more than a pixel",
            blocks.len(),
        ),
        format!("nor do weights tell sizes of images and pools: {} is assumed", network.summary()),
    ];
    notes.extend(grouped(&network));
    Some((network, notes))
}

/// Says which convolutions are taken to have groups, which shapes alone tell: they take fewer channels than there are.
fn grouped(network: &Network) -> Option<String> {
    let groups = |named: &NamedLayer| match &named.layer {
        Layer::Conv2d(conv) if conv.groups > 1 => Some(format!("{} ({})", named.name.as_deref()?, conv.groups)),
        _ => None,
    };
    let names: Vec<String> = network.named_layers().iter().filter_map(groups).collect();
    let all = first_of(&names)?;
    Some(format!("nor do they tell groups: so many are assumed where a kernel takes a part of the channels: {all}"))
}

/// A network on the way; layers with weights have the names that the weights have.
struct Builder {
    layers: Vec<NamedLayer>,
    channels: usize,
    order: Order,
    is_before: bool,
    /// Are the images large, so that the stem makes them smaller?
    is_large: bool,
    /// The layer that the next block reads.
    last: String,
}

impl Builder {
    fn push(&mut self, layer: Layer, name: &str, from: Option<&str>) {
        // A network's input has its name already.
        let is_free = !name.is_empty() && name != "input";
        let (name, from) = (is_free.then(|| name.into()), from.map(|from| Names::One(from.into())));
        self.layers.push(NamedLayer { layer, name, from });
    }

    fn conv(&mut self, conv: Conv, before: usize, stride: usize, from: Option<&str>) {
        let padding = self.padding(conv.shape.kernel, stride);
        self.padded(conv, before, stride, padding, from);
    }

    fn padded(&mut self, conv: Conv, before: usize, stride: usize, padding: Padding, from: Option<&str>) {
        let Shape { kernel, inputs, channels } = conv.shape;
        let bias = matches!(conv.module.kind, Kind::Affine { bias: Some(_), .. });
        let layer =
            Conv2d { stride: [stride; 2], padding, groups: before / inputs, bias, ..Conv2d::new(channels, kernel) };
        self.push(Layer::Conv2d(layer), &conv.module.name, from);
    }

    /// What keeps an image's size, or halves it: PyTorch's is the same on all sides, Keras' and Flax' no more than is needed.
    fn padding(&self, kernel: [usize; 2], stride: usize) -> Padding {
        let [before, after] = match self.order {
            Order::OutputsLast => {
                let all = kernel.map(|side| side.saturating_sub(stride));
                [all.map(|all| all / 2), all.map(|all| all.div_ceil(2))]
            }
            _ => [kernel.map(|side| side / 2); 2],
        };
        Padding { before, after }
    }

    fn norm(&mut self, norm: &Module) {
        self.push(Layer::Scale { bias: true }, &norm.name, None);
    }

    /// The name of the last layer, which gets this one if it has none.
    fn named(&mut self, name: &str) -> String {
        let last = self.layers.last_mut().map(|layer| layer.name.get_or_insert_with(|| name.into()).clone());
        last.unwrap_or_default()
    }

    /// The first convolution: large kernels are those of large images, of which a pool follows.
    fn stem(&mut self, stem: Conv, outside: &Outside) -> Option<()> {
        self.is_large = stem.shape.kernel[0] >= 7;
        // Large ones have the same padding on all sides everywhere.
        let padding = Padding::from(stem.shape.kernel.map(|side| side / 2));
        self.padded(stem, stem.shape.inputs, if self.is_large { 2 } else { 1 }, padding, None);
        self.channels = stem.shape.channels;
        let has_norm = outside.norms.len() > usize::from(self.is_before);
        if has_norm {
            self.norm(outside.norms.iter().find(|norm| norm.width() == Some(self.channels))?);
        }
        if has_norm || !self.is_before {
            self.push(Layer::Relu, "", None);
        }
        if self.is_large {
            let pool = Pool2d { stride: Some([2; 2]), padding: self.padding([3, 3], 2), ..Pool2d::new([3, 3]) };
            self.push(Layer::MaxPool2d(pool), "", None);
        }
        self.last = self.named(&format!("{} active", stem.module.name));
        Some(())
    }

    fn block(&mut self, block: &Block, may_halve: bool) -> Option<()> {
        let (before, ends) = (self.channels, block.main.last()?.shape.channels);
        let name = block.main[0].module.name.clone();
        let stride = if may_halve && before != ends { 2 } else { 1 };
        let (input, mut active) = (std::mem::take(&mut self.last), String::new());
        if self.is_before
            && let Some(first) = block.norms.first()
        {
            self.norm(first);
            self.push(Layer::Relu, "", None);
            active = self.named(&format!("{name} active"));
        }
        let read = if active.is_empty() { &input } else { &active };
        let around = self.around(block, &input, read, before, ends, stride);
        // The image is halved by the first convolution that looks at more than a pixel.
        let halving = block.main.iter().position(|conv| conv.shape.kernel != [1, 1]).unwrap_or_default();
        for (i, &conv) in block.main.iter().enumerate() {
            let from = (i == 0).then_some(read.as_str());
            self.conv(conv, self.channels, if i == halving { stride } else { 1 }, from);
            self.channels = conv.shape.channels;
            let is_last = i + 1 == block.main.len();
            if let Some(norm) = block.norms.get(i + usize::from(self.is_before)) {
                self.norm(norm);
            }
            if !is_last {
                self.push(Layer::Relu, "", None);
            }
        }
        let inner = self.named(&format!("{name} inside"));
        self.layers.push(NamedLayer { layer: Layer::Add, name: None, from: Some(Names::Several(vec![inner, around])) });
        if !self.is_before {
            self.push(Layer::Relu, "", None);
        }
        self.last = self.named(&format!("{name} sum"));
        Some(())
    }

    /// What is added to a block's own: the name of the layer that gives it.
    fn around(&mut self, block: &Block, input: &str, read: &str, before: usize, ends: usize, stride: usize) -> String {
        if let Some(conv) = block.around {
            self.conv(conv, before, stride, Some(read));
            if let Some(norm) = block.around_norm {
                self.norm(norm);
            }
            return self.named("");
        }
        if before == ends && stride == 1 {
            return input.into();
        }
        let every = Pool2d { stride: Some([stride; 2]), ..Pool2d::new([1, 1]) };
        self.push(Layer::AvgPool2d(every), "", Some(input));
        let (new, half) = (ends - before, (ends - before) / 2);
        self.push(Layer::PadChannels { before: half, after: new - half }, "", None);
        self.named(&format!("{input} around"))
    }

    fn head(&mut self, outside: &Outside) -> Option<()> {
        // Blocks that normalise first leave a sum behind, which most networks normalise and activate, and some do not.
        let is_last = |norm: &&&Module| {
            norm.width() == Some(self.channels)
                && self.layers.iter().all(|layer| layer.name.as_ref() != Some(&norm.name))
        };
        if self.is_before
            && let Some(norm) = outside.norms.iter().find(is_last)
        {
            self.norm(norm);
            self.push(Layer::Relu, "", None);
        }
        self.push(Layer::GlobalAvgPool2d, "", None);
        self.push(Layer::Flatten, "", None);
        let mut before = self.channels;
        for (i, module) in outside.dense.iter().enumerate() {
            let [inputs, units] = dense(module)?;
            if inputs != before {
                return None;
            }
            if i > 0 {
                self.push(Layer::Relu, "", None);
            }
            let bias = matches!(module.kind, Kind::Affine { bias: Some(_), .. });
            self.push(Layer::Dense { units, bias }, &module.name, None);
            before = units;
        }
        (!outside.dense.is_empty()).then_some(())
    }
}
